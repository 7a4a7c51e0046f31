"""``emit``: appends events to a trace, and fills in what can be known of them."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import click

from drive_trace.authoring.drafts import draft_event, may_erase, plain_object
from drive_trace.authoring.emitting import Wanted, said_in
from drive_trace.commands import options, reading
from drive_trace.commands.terminal import EXIT_REFUSED, EXIT_UNUSABLE, Ended, notify, take_failure
from drive_trace.commands.writing import NOTHING_BESIDE, done, found_beside
from drive_trace.storage import emitting, files, recording
from drive_trace.vocabulary import GRADE

_LARGEST = 16 << 20
"""In bytes: of a payload, and of a batch."""
_MOST = 500
"""Events of a batch: each of them is made of the trace anew, while others wait for its lock."""
_BESIDE_FIELDS = ("event", "file", "dispatch", "round")
"""What a line of a batch has beside the fields of its event."""
_FILLING = ("file", "dispatch", "round", "as_given")
"""What the long form does without."""

_text = partial(click.option, callback=options.is_text)


@click.command()
@click.argument(
    "words", metavar="[EVENT [FIELD=VALUE]...]", nargs=-1, shell_complete=options.complete_words
)
@options.trace_file_or_recorded
@options.run_id_or_open
@options.file("--file", "The brief, spec or plan that the event is about.")
@_text("--dispatch", metavar="NAME", help="Which open dispatch is meant, by its name or id.")
@options.value("--round", "N", "Which open round is meant, by its number.", type=options.Whole(1))
@options.flag("--as-given", "Keep what the trace or the file contradicts.")
@options.file("--batch", "Append an event for each line of FILE; - is standard input.")
@_text("--event", metavar="TYPE", shell_complete=options.complete_events, help="With --payload.")
@_text("--payload", metavar="JSON", help="All fields of the --event; - reads standard input.")
@_text("--orchestrator-agent-id", metavar="ID", help="The orchestrator's session, if known.")
@options.flag("--dry-run", "Print what would be appended, and write nothing.")
@options.only_this_file
def emit(words: tuple[str, ...], batch: str | None, dry_run: bool, **said: Any) -> None:
    """Append an event to a trace, with what can be known of it filled in, and print it.

    Filled in are: the envelope; the run, slice, dispatch and round that stand open in FILE; fresh
    ids; the numbers of slices and rounds; wall_clock_ms, by the clock; slices_completed and
    final_retro_done; of the --file of a brief its length, hash and disposition, of a spec or plan
    its path in the repository, length and bytes_delta; the run's orchestrator_agent_id; null for
    what is not given and may be null, but not for what the kind of a spec or plan asks for; and
    what a value that is given leaves as the only one. No outcome, grade or count of findings is.

    VALUE is null, the text of a field that takes text, else JSON. What is missing or could be
    several things is refused, with the choices. So is what contradicts the trace or the --file,
    with both values, unless --as-given; and what readers would reject, keep apart or ignore.
    Of a grade and of tokens nothing is filled in: record and tokens merge.

    --batch takes JSON Lines: {"event": EVENT, FIELD: VALUE, …}, and beside them "file", "dispatch"
    and "round" as the options. All are appended, or none; each sees those above it. At most 500.

    The long form, --event with --payload, takes the event as it is: it fills in the envelope alone,
    and prints nothing.

    For a grade with a null, what was graded before is looked for in all files of the run, as by
    record; --only-this-file does without them. All else is told from FILE alone.

    The file and its folders are made if need be. Several processes may write to one trace at once:
    what is filled in holds when the event is appended. A last line without a newline is left as it
    is, and the event put on a line of its own.

    Exit code: 0 appended; 2 refused or ambiguous, wrong usage, or a file cannot be read or written;
    with --payload 1 is refused. After 1 and 2 the file is as it was, or the message says what
    stands in it.

    \b
    Examples:
      drive-trace emit --trace-file projects/shop/trace.jsonl slice-started \\
        slice_slug=retry
      export DRIVE_TRACE_FILE=projects/shop/trace.jsonl
      drive-trace emit dispatch-start dispatch_name=D1 subagent_type=reviewer
      drive-trace emit round-start
      drive-trace emit brief-issued --file brief.md
      drive-trace emit round-end verdict=satisfied findings_filed=0
      drive-trace emit dispatch-end result=completed --dispatch D1
      drive-trace emit --batch events.jsonl
      drive-trace emit --project-run-id shop --event slice-started --payload \\
        '{"slice_slug":"retry","slice_index":1,"linear_ref":null}'
      drive-trace schema dispatch-start     which fields it has
    """
    event, payload, run_id = said["event"], said["payload"], said["project_run_id"]
    trace_file, is_whole = said["trace_file"], bool(event and payload)
    ways = (words or None, batch, event or payload)
    if ways.count(None) != 2 or (ways[2] and not is_whole):
        raise click.UsageError("give an EVENT, or --batch, or --event with --payload")
    if is_whole and (run_id is None or any(said[each] for each in _FILLING)):
        raise click.UsageError("--event needs --project-run-id, and nothing is filled in")
    wanted, made = dict[str, Wanted](), list[recording.NewEvent]()
    if is_whole:
        text = reading.read_text(files.STDIN, _LARGEST) if payload == files.STDIN else payload
        agent_id = said["orchestrator_agent_id"]
        draft = done(draft_event(event, run_id, agent_id, text), trace_file)
        made, is_erasing = [recording.NewEvent(draft, recording.EMITTED)], may_erase(draft)
    else:
        wanted = _wanted_in(words, batch, said)
        grades = (each.given.values() for each in wanted.values() if each.event == GRADE)
        is_erasing = any(None in each for each in grades)
    beside = NOTHING_BESIDE
    if is_erasing and not said["only_this_file"]:
        if run_id is None:
            raise click.UsageError("a grade with a null needs --project-run-id")
        beside = found_beside(trace_file, run_id)
    recorded = click.get_current_context().meta.get("recorded_run")
    outcome = recording.append_events(
        trace_file,
        made or (lambda data: emitting.filled(wanted, data, trace_file, run_id, recorded)),
        {run_id or "": beside.paths},
        waiting=notify,
        dry_run=dry_run,
    )
    for each in done(outcome, trace_file, beside, EXIT_REFUSED if made else EXIT_UNUSABLE):
        for note in each.notes:
            notify(f"{trace_file}: {note}")
        if dry_run or not made:
            click.echo(each.record)
    if not dry_run and take_failure() is not None:
        notify("appended, but the output cannot be written")


def _wanted_in(
    words: tuple[str, ...], batch: str | None, said: Mapping[str, Any]
) -> dict[str, Wanted]:
    """What is wanted, by the line of the batch."""
    if batch is None:
        fields = done(said_in(words[0], words[1:]), said["trace_file"], refused=EXIT_UNUSABLE)
        return {"": _wanted(fields, {**said, "event": words[0]})}
    found: dict[str, Wanted] = {}
    for number, line in enumerate(reading.read_text(batch, _LARGEST).split("\n"), 1):
        given = plain_object(line) or {}
        if line.strip() and len(found) == _MOST:
            what = f"line {number}: a batch has at most {_MOST} events; append the rest afterwards"
            raise Ended(EXIT_UNUSABLE, f"{batch}: {what}")
        if "event" in given:
            beside = {name: given.pop(name) for name in _BESIDE_FIELDS if name in given}
            found[f"line {number}: "] = _wanted(given, {**said, **beside})
        elif line.strip():
            expected = 'expected {"event": EVENT, FIELD: VALUE, …}, each key once'
            raise Ended(EXIT_UNUSABLE, f"{batch}: line {number}: {expected}")
    if not found:
        notify(f"{batch}: has no event: nothing is appended")
    return found


def _wanted(given: dict[str, object], said: Mapping[str, Any]) -> Wanted:
    """An event with what is given, and what its file says."""
    event, file, dispatch, round_ = (said[name] for name in _BESIDE_FIELDS)
    facts: Mapping[str, object] = {}
    if file is not None:
        found = emitting.measured(str(event), options.followed(str(file)))
        facts = done(found, said["trace_file"], refused=EXIT_UNUSABLE)
    agent_id, as_given = said["orchestrator_agent_id"], said["as_given"]
    return Wanted(str(event), given, facts, dispatch, round_, agent_id, as_given)
