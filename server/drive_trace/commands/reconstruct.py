"""``drive-trace reconstruct``: what a transcript tells of a run."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator

import click

from drive_trace.agent_logs.transcripts import Reconstruction
from drive_trace.agent_logs.transcripts import reconstruct as read_transcript
from drive_trace.commands import options
from drive_trace.commands.reading import read_text
from drive_trace.commands.terminal import write_document
from drive_trace.text.escaping import in_json, visible
from drive_trace.text.wording import listed, plural

_MOST = 256 << 20
"""A transcript has no more bytes: it is read whole."""
_TOLD = ("dispatch_name", "spec_path", "plan_path")
"""Fields that say what an event is about."""


@click.command()
@click.argument("transcript", type=options.FILE)
@options.out()
@options.output_format(["text", "json"], default="text", show_default=True)
def reconstruct(transcript: str, out: str | None, output_format: str) -> None:
    """Tell from an agent's TRANSCRIPT what a run did that nobody traced; - is standard input.

    A transcript has one turn a line, as Cursor's agents and Claude Code log their sessions. A call
    of the tool Task is the start of a dispatch. Writing a spec.md or a plan.md is its authoring.
    The turns of a person are counted.

    This is a guess, and each event says how sure it is. Times and counts are null, as a transcript
    does not tell them: readers would reject these events, so they are never written into a trace.

    Exit code: 0, or 2 where something cannot be read or written.

    \b
    Examples:
      drive-trace reconstruct session.jsonl
      drive-trace reconstruct session.jsonl --format json --out reconstructed.json
    """
    found = read_transcript(read_text(transcript, _MOST), transcript)
    made = _json(found) if output_format == "json" else "\n".join(_lines(found))
    write_document(f"{made}\n", out, traces=[transcript])


def _json(found: Reconstruction) -> str:
    said = {
        "events": [each._asdict() for each in found.events],
        "operatorTurnCount": found.operator_turns,
        "notes": found.notes,
    }
    return in_json(json.dumps(said, indent=2, ensure_ascii=False))


def _lines(found: Reconstruction) -> Iterator[str]:
    sure = Counter(each.confidence for each in found.events)
    parts = [f"{count} of {each} confidence" for each, count in sure.items()]
    tail = f" ({listed(parts)})" if parts else ""
    turns = plural(found.operator_turns, "turn")
    yield f"{plural(len(found.events), 'event')}{tail}, {turns} of a person"
    for event, confidence, _ in found.events:
        about = next((event[name] for name in _TOLD if event.get(name) is not None), "—")
        yield (
            f"  {event['event_id']!s:<16}  {event['event_type']!s:<14}  {confidence:<6}  "
            f"{visible(str(about))[:200]}"
        )
    for note, count in Counter(found.notes).items():
        yield f"note: {visible(note)}" + (f" ({count} times)" if count > 1 else "")
