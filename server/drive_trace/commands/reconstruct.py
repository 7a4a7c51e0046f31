"""``reconstruct``: tells from the logs of an agent's session what nobody traced."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import StringIO
from typing import Any

import click

from drive_trace.authoring import sessions, transcripts, usage
from drive_trace.authoring.drafts import Refused, Stamp, draft_event
from drive_trace.commands import options, reading, writing
from drive_trace.commands.terminal import EXIT_REFUSED, EXIT_UNUSABLE, Ended, notify, write_document
from drive_trace.json_text import as_json
from drive_trace.storage import files, session_logs
from drive_trace.storage.recording import NewEvent, append_events
from drive_trace.text.wording import in_json, listed, plural, visible
from drive_trace.trace.provenance import Origin
from drive_trace.trace.reading import read_lines
from drive_trace.vocabulary import COST

_TOLD = ("dispatch_name", "spec_path", "plan_path")
"""Fields that say what an event is about."""


@click.command()
@click.argument("session", type=options.FILE)
@options.run_id_of_session
@options.into
@options.flag("--dry-run", "With --into: print the events, and write nothing.")
@options.out()
@options.output_format(["text", "json"], default="text", show_default=True)
def reconstruct(session: str, into: str | None, output_format: str, **given: Any) -> None:
    """Tell from the logs of an agent's SESSION what a run did that nobody traced; - is standard
    input.

    SESSION is the log of a session of Claude Code, its folder, or its id. Each subagent is a
    dispatch, each time that it was sent to work is a round with its brief, and the times and
    durations are those of the logs. Nothing is graded: what the logs do not say, such as what a
    round decided, is left out and listed. --format json prints the events with the lines of the
    log that they are from, and the tokens of each dispatch.

    --into writes them to a trace, with a record of where they come from, or prints them first with
    --dry-run. A run that FILE does not have is written whole. One that it has gets what is missing
    and known: the ends of its dispatches, and the tokens.

    An older transcript has one turn a line, as Cursor's agents log their sessions, and no times. A
    call of the tool Task is the start of a dispatch. Writing a spec.md or a plan.md is its
    authoring. This is a guess, and each event says how sure it is. Times and counts are null:
    readers would reject these events, so they are never written into a trace.

    Exit code: 0, 1 where nothing can be written into FILE, or 2 where something cannot be read or
    written.

    \b
    Examples:
      drive-trace reconstruct 6f1c9a0e-3cdc-44ab-933e-a50e0efecd0a
      drive-trace reconstruct session.jsonl --into projects/shop/trace.jsonl \\
        --project-run-id shop --dry-run
      drive-trace reconstruct session.jsonl --format json --out reconstructed.json
    """
    if given["dry_run"] and into is None:
        raise click.UsageError("--dry-run goes with --into")
    if into is not None and given["out"] is not None:
        raise click.UsageError("--into does not go with --out")
    paths = reading.usable(session_logs.logs_of([session]))
    typed = reading.read_text(files.STDIN, session_logs.LONGEST) if session == files.STDIN else ""

    def lines(path: str) -> Iterable[str]:
        return StringIO(typed) if path == files.STDIN else reading.lines_of_log(path)

    told, more = sessions.read_session({each: lines(each) for each in paths}), dict[str, object]()
    cost = usage.total_usage({each: lines(each) for each in paths})
    reasons = cost.reasons if isinstance(cost, Refused) else ()
    lacks = [*told.left_out, *(f"the tokens: {reason}" for reason in reasons)]
    told = told._replace(left_out=[f"left out: {each}" for each in lacks])
    if told.id and into is not None:
        _fill(into, told, cost, given["project_run_id"], dry_run=given["dry_run"])
        return
    if told.id:
        found = _told(told, given["project_run_id"] or told.id)
        # What stands in the session's own log is not of one dispatch.
        logs = {
            each.agent: {each.log: lines(each.log)} if each.log not in {"", paths[0]} else {}
            for each in told.dispatches
        }
        costs = {each: usage.total_usage(log, partial=True) for each, log in logs.items()}
        of = [{"agent": each, "tokens": _figures(own)} for each, own in costs.items()]
        more = {"dispatches": of, "tokens": _figures(cost)}
    else:
        text = "".join(lines(paths[0]))
        found = transcripts.reconstruct(text, session)
        if not found.turns:
            is_trace = any(each.event for each in read_lines(text.split("\n")))
            what = "this is a Drive trace" if is_trace else "no line of a session"
            if not isinstance(cost, Refused):
                shape = cost.rows[0].shape
                what = f"this log ({shape}) tells `tokens --usage` what it cost, and no more"
            known = "a session of Claude Code, or an older transcript"
            raise Ended(EXIT_UNUSABLE, f"{session}: {what}; give the log of {known}")
        if into is not None:
            why = "its lines have no times, which every event of a trace has"
            raise Ended(EXIT_REFUSED, f"{session}: {why}; without --into it is told as a guess")
    made = _json(found, more) if output_format == "json" else "\n".join(_lines(found))
    write_document(f"{made}\n", given["out"], traces=paths)


def _told(session: sessions.SessionLogs, run_id: str) -> transcripts.Reconstruction:
    """What a session tells, in the words of what is told of a transcript."""
    events = []
    for number, told in enumerate(sessions.missing_in((), session)[0], 1):
        stamp = Stamp(f"{session.id}-{number}", str(told.ts))
        event = json.loads(_new(session, told, run_id).draft.record(stamp))
        events.append(transcripts.Reconstructed(event, "high", "session", told.lines))
    return transcripts.Reconstruction(events, session.operator_turns, session.left_out)


def _new(session: sessions.SessionLogs, told: sessions.LoggedEvent, run_id: str) -> NewEvent:
    draft = draft_event(told.name, run_id, session.id, as_json(dict(told.payload)))
    seen = ("ts", *(name for name, value in told.payload.items() if value is not None))
    # What a tool calls a result, nobody has measured.
    measured = tuple(name for name in seen if name not in (*told.computed, "result"))
    computed = ("event_id", *told.computed)
    origin = Origin("reconstruct", measured, computed, session.id, told.lines)
    return NewEvent(writing.done(draft, session.id), origin, told.ts)


def _fill(
    into: str,
    session: sessions.SessionLogs,
    cost: usage.Usage | Refused,
    named: str | None,
    *,
    dry_run: bool,
) -> None:
    """Write to a trace what it lacks, or print that."""
    run_id, unknown = named or session.id, list[str]()

    def made(data: bytes) -> Sequence[NewEvent] | Refused:
        lines = [each for each in read_lines(files.records_of(data)) if each.event]
        run = [json.loads(each.text) for each in lines if each.run == run_id]
        if lines and not run and named is None:
            return Refused(("the trace has other runs: which? --project-run-id ID says it",))
        told, unknown[:] = sessions.missing_in(run, session)
        is_new = all(each["event_type"] != COST for each in run)
        if is_new and not isinstance(cost, Refused) and {*cost.figures.values()} != {None}:
            told.append(sessions.LoggedEvent(COST, None, cost.figures, (), ("ts",)))
        return [_new(session, each, run_id) for each in told]

    written = writing.done(append_events(into, made, waiting=notify, dry_run=dry_run), into)
    if dry_run:
        click.echo("".join(f"{each.record}\n" for each in written), nl=False)
    notes = [note for each in written for note in each.notes]
    count = plural(len(written), "event")
    left_out = (*session.left_out, *(f"left out: {each}" for each in unknown))
    for each in (*notes, f"{into}: {count} {'would be ' * dry_run}appended", *left_out):
        notify(each)


def _figures(cost: usage.Usage | Refused) -> dict[str, object] | None:
    return None if isinstance(cost, Refused) else {**cost.figures, "cost_usd": cost.cost}


def _json(found: transcripts.Reconstruction, more: Mapping[str, object]) -> str:
    events = [each._asdict() for each in found.events]
    said = {
        "events": [{key: each[key] for key in each if each[key] is not None} for each in events],
        "operatorTurnCount": found.operator_turns,
        "notes": found.notes,
        **more,
    }
    return in_json(json.dumps(said, indent=2, ensure_ascii=False))


def _lines(found: transcripts.Reconstruction) -> Iterator[str]:
    sure = Counter(each.confidence for each in found.events)
    parts = [f"{count} of {each} confidence" for each, count in sure.items()]
    tail = f" ({listed(parts)})" if parts else ""
    turns = plural(found.operator_turns, "turn")
    yield f"{plural(len(found.events), 'event')}{tail}, {turns} of a person"
    names: dict[object, object] = {None: "—"}  # of dispatches
    for event, confidence, *_ in found.events:
        known = names.get(event.get("dispatch_id"), names[None])
        about = next((event[name] for name in _TOLD if event.get(name) is not None), known)
        names.setdefault(event.get("dispatch_id"), about)
        yield (
            f"  {event['event_id']!s:<16}  {event['event_type']!s:<14}  {confidence:<6}  "
            f"{visible(str(about))[:200]}"
        )
    for note, count in Counter(found.notes).items():
        said = visible(transcripts.IN_WORDS.get(note, note))
        yield f"note: {said}" + (f" ({count} times)" if count > 1 else "")
