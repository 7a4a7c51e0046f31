"""The plugin for Claude Code that is made from the declarations: its manifest, and the skill that
tells an agent when to emit what.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from drive_trace.authoring.values import _MEASURES
from drive_trace.vocabulary import (
    DISPATCH,
    ENVELOPE,
    EVENTS,
    FILES,
    ROUND,
    BooleanShape,
    EventType,
    Family,
    IntegerShape,
    ListShape,
    ObjectShape,
    OneOfShape,
    Shape,
    StringShape,
)

_BRIEF = FILES[-1]
_RECORDED = {DISPATCH.opener, ROUND.opener}
"""What the hook records, as well as briefs and tokens."""
_TOLD = {DISPATCH.field, ROUND.field}
"""What emit takes from what stands open."""


def manifest(version: str, addresses: Mapping[str, str]) -> dict[str, Any]:
    """``.claude-plugin/plugin.json``."""
    return {
        "$schema": "https://json.schemastore.org/claude-code-plugin-manifest.json",
        "name": "drive-trace",
        "version": version,
        "description": "Records Drive runs in trace.jsonl, and checks what agents write there.",
        "author": {"name": "Drive Trace"},
        "homepage": addresses["Homepage"],
        "repository": addresses["Repository"],
        "license": "Apache-2.0",
        "keywords": ["drive", "trace", "hooks", "language-server"],
    }


def skill(notice: str) -> str:
    """``skills/drive-trace/SKILL.md``."""
    lines = [*_HEAD, "", notice, "", *_BODY]
    for family in Family:
        events = [each for each in EVENTS.values() if each.family is family]
        lines += ["", f"## {family.value.capitalize()}", ""]
        for each in events:
            lines += [f"- **{each.name}**: {' '.join(each.prose.split())} {_how(each)}"]
    return "\n".join([*lines, "", "## Values", "", *_values(), ""])


def _how(event: EventType) -> str:
    """What to type, or who records the event."""
    if event.name in _RECORDED or _BRIEF.length in event.fields:
        return "*The hook records it of subagents.*"
    if event.is_feed:
        command = (
            "`drive-trace tokens`" if event.name.startswith("tokens") else "`drive-trace record`"
        )
        return f"*Not yours to emit: graders and the hook use {command}.*"
    return f"`{' '.join(['drive-trace emit', event.name, *_words(event)])}`"


def _words(event: EventType) -> Iterator[str]:
    """What to say of an event; in brackets, what may be unknown."""
    of_event = [each for each in FILES if each.path in event.fields]
    described = {name for each in of_event for name in (each.path, each.length)}
    if described:
        yield "--file FILE"
    for name, field in event.fields.items():
        if not {name} & {*ENVELOPE, *_MEASURES, *_TOLD, *described} and field.is_required:
            word = f"{name}={_value(field.shape)}"
            yield f"[{word}]" if field.nullable else word


def _value(shape: Shape) -> str:
    match shape:
        case ListShape(item=StringShape()):
            return """'["TEXT"]'"""
        case ListShape():
            return """'["…"]'"""
        case IntegerShape():
            return "N"
        case BooleanShape():
            return "true|false"
        case ObjectShape(fields=fields):
            inner = ",".join(f'"{name}":N' for name in fields)
            return f"'{{{inner}}}'"
        case OneOfShape():
            return "…"
        case _:
            return "TEXT"


def _values() -> Iterator[str]:
    """The words that fields take which have a few."""
    for event in EVENTS.values():
        for name, field in event.fields.items():
            shape = field.shape.item if isinstance(field.shape, ListShape) else field.shape
            if isinstance(shape, OneOfShape) and not event.is_feed and name not in _MEASURES:
                words = ", ".join(f"`{each}`" for each in shape.meanings)
                if len(shape.meanings) > 1:
                    yield f"- `{name}` of {event.name}: {words}"


_HEAD = (
    "---",
    "name: drive-trace",
    "description: Records a Drive run (project, slices, dispatches, rounds, specs, plans, triage, "
    "retros) in its trace.jsonl. Use it when you orchestrate such work in a project whose "
    "drive-trace.toml has a table [record], before and after each step, and when a hook of "
    "drive-trace tells you that something is wrong or stands open.",
    "---",
)
_BODY = (
    "# Record the run",
    "",
    "`drive-trace emit EVENT FIELD=VALUE …` appends one event, and prints it. It fills in what is "
    "known: ids, times, durations, numbers, the run, and what a `--file` says of itself. Emit an "
    "event at the moment when it happens: its time is the clock's.",
    "",
    "- **Say only what you know.** Never make up an id, a time, a count or a hash. A verdict, a "
    "result and a number of findings are yours to say, and nobody else says them.",
    "- **Subagents are recorded for you.** When one begins, the hook records its dispatch and its "
    "round; when it stops, its brief. Do not emit these. You say how it ended: the round, and the "
    "dispatch if you will not resume the agent. An agent that you resume after its round has ended "
    "gets the next round.",
    "- **Several stand open?** `--dispatch NAME` and `--round N` say which. A refused event (exit "
    "code 2) was not written; the message names the choices.",
    "- **Do not edit the trace by hand.** It is append-only. After an edit, a hook checks it, and "
    "tells you what to mend.",
    "- Grades (`correctness-recorded`) are not yours: whoever is graded does not grade.",
    "",
    "`drive-trace check` lists what is wrong, `drive-trace schema EVENT` says what an event has. "
    "Below, `…` is one of the values at the end, `N` a number, and what is in brackets may be "
    "unknown.",
)
