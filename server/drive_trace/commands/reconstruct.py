"""``reconstruct``: tells from the logs of an agent's session what nobody traced."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from io import StringIO
from typing import TYPE_CHECKING
from uuid import NAMESPACE_OID, uuid5

import click

from drive_trace.authoring import transcripts
from drive_trace.authoring.drafts import Refused, Stamp, draft_event
from drive_trace.authoring.transcripts import Reconstruction
from drive_trace.commands import options
from drive_trace.commands.reading import lines_of_log, read_text, usable
from drive_trace.commands.terminal import EXIT_REFUSED, Ended, notify, write_document
from drive_trace.commands.writing import RecordRequest, append_feed, done, preview
from drive_trace.json_text import as_json
from drive_trace.storage.files import STDIN, records_of
from drive_trace.storage.recording import NewEvent, append_events, new_stamp
from drive_trace.storage.session_logs import LONGEST, logs_of, meta_beside
from drive_trace.text.escaping import in_json, visible
from drive_trace.text.wording import listed, plural
from drive_trace.trace.provenance import Origin
from drive_trace.trace.reading import read_lines
from drive_trace.vocabulary import COST

if TYPE_CHECKING:
    from drive_trace.authoring.sessions import Session, Told
    from drive_trace.authoring.usage import Usage

_TOLD = ("dispatch_name", "spec_path", "plan_path")
"""Fields that say what an event is about."""
_PLAIN = re.compile(r"[\w-]{1,100}", re.ASCII)


@click.command()
@click.argument("session", type=options.FILE)
@click.option(
    "--project-run-id",
    metavar="ID",
    envvar="DRIVE_TRACE_RUN",
    show_envvar=True,
    callback=options.is_text,
    help="The run that the session is of. By default the session's id, as of a new run.",
)
@options.into
@click.option("--dry-run", is_flag=True, help="With --into: print the events, and write nothing.")
@options.out()
@options.output_format(["text", "json", "jsonl"], default="text", show_default=True)
def reconstruct(  # noqa: PLR0913, PLR0917 - one for each option
    session: str,
    project_run_id: str | None,
    into: str | None,
    dry_run: bool,
    out: str | None,
    output_format: str,
) -> None:
    """Tell from the logs of an agent's SESSION what a run did that nobody traced; - is standard
    input.

    SESSION is the log of a session of Claude Code, its folder, or its id. Each subagent is a
    dispatch, each time that it was sent to work is a round with its brief, and the times and
    durations are those of the logs. Nothing is graded: what the logs do not say, such as what a
    round decided, is left out and listed. --format jsonl prints the events as a trace, and json
    with the lines of the log that they are from, and the tokens of each dispatch.

    --into writes them to a trace, with a record of where they come from, or prints them first with
    --dry-run. A run that FILE does not have is written whole. One that it has gets what is missing
    and known: the ends of dispatches that have the same brief or name, and the tokens.

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
    from drive_trace.authoring import sessions, usage  # noqa: PLC0415 - not for --help

    if dry_run and into is None:
        raise click.UsageError("--dry-run goes with --into")
    if into is not None and out is not None:
        raise click.UsageError("--into does not go with --out")
    paths = usable(logs_of([session]))
    typed = read_text(STDIN, LONGEST) if session == STDIN else ""

    def lines(path: str) -> Iterable[str]:
        return StringIO(typed) if path == STDIN else lines_of_log(path)

    if not sessions.is_session(lines(paths[0])):
        if into is not None or output_format == "jsonl":
            raise Ended(EXIT_REFUSED, f"{session}: is no session of Claude Code with times")
        found = transcripts.reconstruct("".join(lines(paths[0])), session)
        made = _json(found) if output_format == "json" else "\n".join(_lines(found))
        write_document(f"{made}\n", out, traces=paths)
        return
    told = sessions.read_session(
        {each: lines(each) for each in paths}, {each: meta_beside(each) for each in paths}
    )
    if not _PLAIN.fullmatch(told.id):
        raise Ended(EXIT_REFUSED, f"{paths[0]}: its sessionId is no id")
    cost = usage.total_usage({each: lines(each) for each in paths})
    if into is not None:
        _fill(into, told, cost, project_run_id, dry_run=dry_run)
        return
    records = [_record(_new(told, each, project_run_id or told.id)) for each in told.events]
    events = [
        transcripts.Reconstructed(json.loads(each), "high", "session", told.lines)
        for each, told in zip(records, told.events, strict=True)
    ]
    found = Reconstruction(events, told.operator_turns, [*told.left_out, *_lacks(cost)])
    if output_format == "json":
        costs = [
            usage.total_usage({each.log: lines(each.log)}, partial=True) if each.log else cost
            for each in told.dispatches
        ]
        of = [
            {"agent": each.agent, "reported_ms": each.reported_ms, "tokens": _figures(own)}
            for each, own in zip(told.dispatches, costs, strict=True)
        ]
        made = _json(found, dispatches=of, tokens=_figures(cost))
    else:
        made = "\n".join(records if output_format == "jsonl" else _lines(found))
    write_document(f"{made}\n", out, traces=paths)


def _new(session: Session, told: Told, run_id: str) -> NewEvent:
    draft = done(
        draft_event(told.name, run_id, session.id, as_json(dict(told.payload))), session.id
    )
    seen = [name for name, value in told.payload.items() if value is not None]
    measured = ("ts", *(name for name in seen if name not in told.computed))
    computed = ("event_id", *told.computed)
    return NewEvent(
        draft, Origin("reconstruct", measured, computed, session.id, told.lines), told.ts
    )


def _record(new: NewEvent) -> str:
    """The same for the same log."""
    id_ = uuid5(NAMESPACE_OID, new.draft.record(Stamp("", new.ts or "")))
    return new.draft.record(Stamp(str(id_), new.ts or ""))


def _fill(
    into: str, session: Session, cost: Usage | Refused, named: str | None, *, dry_run: bool
) -> None:
    """Write to a trace what it lacks, or print that."""
    from drive_trace.authoring.sessions import missing_in  # noqa: PLC0415 - not for --help

    run_id, has_cost = named or session.id, False
    left_out = [*session.left_out, *_lacks(cost)]

    def made(data: bytes) -> Sequence[NewEvent] | Refused:
        nonlocal has_cost
        lines = [each for each in read_lines(records_of(data)) if each.event]
        run = [json.loads(each.text) for each in lines if each.run == run_id]
        if lines and not run and named is None:
            return Refused(("the trace has other runs: which? --project-run-id ID says it",))
        has_cost = any(each["event_type"] == COST for each in run)
        told, unknown = missing_in(run, session)
        left_out.extend(unknown)
        return [_new(session, each, run_id) for each in told]

    written = done(append_events(into, made, waiting=notify, dry_run=dry_run), into)
    records = [each.record for each in written]
    if not isinstance(cost, Refused) and not has_cost:
        origin = Origin("reconstruct", tuple(cost.figures), source=session.id)
        changes = dict(cost.figures)
        request = RecordRequest(
            COST, changes, into, run_id, only_this_file=False, paths=(), new_run=True, origin=origin
        )
        new = preview(request)[0].draft.record(new_stamp()) if dry_run else None
        records.append(new or append_feed(request).written.record)
    if dry_run:
        click.echo("".join(f"{each}\n" for each in records), nl=False)
    notify(f"{into}: {plural(len(records), 'event')} {'would be ' * dry_run}appended")
    for each in left_out:
        notify(f"left out: {each}")


def _lacks(cost: Usage | Refused) -> list[str]:
    reasons = cost.reasons if isinstance(cost, Refused) else ()
    return [f"the tokens: {reason}" for reason in reasons]


def _figures(cost: Usage | Refused) -> dict[str, object] | None:
    return None if isinstance(cost, Refused) else {**cost.figures, "cost_usd": cost.cost}


def _json(found: Reconstruction, **more: object) -> str:
    events = [each._asdict() for each in found.events]
    said = {
        "events": [{key: each[key] for key in each if each[key] is not None} for each in events],
        "operatorTurnCount": found.operator_turns,
        "notes": found.notes,
        **more,
    }
    return in_json(json.dumps(said, indent=2, ensure_ascii=False))


def _lines(found: Reconstruction) -> Iterator[str]:
    sure = Counter(each.confidence for each in found.events)
    parts = [f"{count} of {each} confidence" for each, count in sure.items()]
    tail = f" ({listed(parts)})" if parts else ""
    turns = plural(found.operator_turns, "turn")
    yield f"{plural(len(found.events), 'event')}{tail}, {turns} of a person"
    for event, confidence, *_ in found.events:
        about = next((event[name] for name in _TOLD if event.get(name) is not None), "—")
        yield (
            f"  {event['event_id']!s:<16}  {event['event_type']!s:<14}  {confidence:<6}  "
            f"{visible(str(about))[:200]}"
        )
    for note, count in Counter(found.notes).items():
        yield f"note: {visible(note)}" + (f" ({count} times)" if count > 1 else "")
