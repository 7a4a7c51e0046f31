"""What a token of a line refers to: the dispatch, round or slice that an id names, the events of a
file, the briefs with a hash.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import NamedTuple
from urllib.parse import quote

from drive_trace import vocabulary
from drive_trace.analysis import Analysis
from drive_trace.features import runs, structure
from drive_trace.linter.edits import object_on
from drive_trace.text.wording import code, duration, in_full, listed, plural
from drive_trace.trace.line import Line, LineSet, event_of, run_of
from drive_trace.trace.places import Place
from drive_trace.trace.run import Run
from drive_trace.vocabulary import DISPATCH, EVENTS, LIFETIMES, Entity, EventType, FieldType, Form

_HAS_PLACE = re.compile(r"[a-zA-Z][\w.+-]*://[^\s\ud800-\udfff]+")
_MOST_WRITERS = 8


class HoverOptions(NamedTuple):
    """What a hover knows beside the trace."""

    uri: str = ""
    """The trace's own: lines are links to it."""
    now: datetime | None = None
    """The current time, to which other times are related."""
    zone: tzinfo | None = None
    """The reader's time zone; None for that of this machine."""
    url_of: Callable[[str], str | None] = lambda _: None
    """Gives the address of a rule's page by the rule's code."""
    messages: bool = True
    """Whether to begin with the messages of findings."""
    joined: runs.JoinedRun | None = None
    """The run of the line over all its files, if others are known."""


@dataclass(frozen=True, slots=True)
class Pointed:
    """A key or a scalar value of a line."""

    analysis: Analysis
    line: Line
    place: Place
    event: EventType | None
    """The event that the line records or was meant to record."""
    field: FieldType | None
    """Its declaration."""
    value: object
    """The scalar itself, if it is a value."""
    is_null: bool
    options: HoverOptions

    def link(self, line: Line) -> str:
        """The number of a line in Markdown, as a link if the trace has a URI."""
        if line is self.line:
            return "this line"
        number, document = self.analysis.line_number(line), self.analysis.document
        uri = self.options.uri
        if not _HAS_PLACE.fullmatch(uri):
            return f"line {number}"
        # Escapes what would end the link or a code span around it, but not twice.
        target = quote(uri, safe="%/:@!$&'*+,;=?~")
        return f"[line {number}]({target}#L{document.protocol_line(number - 1) + 1})"


def run_at(analysis: Analysis, run_id: str | None) -> Run | None:
    """A run that has a valid event."""
    return analysis.index.runs.get(run_id) if run_id is not None else None


class Referent(NamedTuple):
    """The dispatch, round or slice that a value names."""

    of: vocabulary.Lifetime
    id: str
    run: Run | None
    """Its run; None if no event starts it."""
    starts: LineSet
    ends: LineSet

    def start_for(self, line: Line) -> Line | None:
        """The start that a line means: the nearest one before it, else the first."""
        return self.starts.before(line) or self.starts.first

    def name_for(self, line: Line) -> str | None:
        """Its name for people: a dispatch's name, ``round 2``."""
        start = self.start_for(line)
        if start is None:
            return None
        if self.of.entity is Entity.DISPATCH:
            return start.text_fact("dispatch_name")
        return f"round {start.fact('round_number')}" if self.of.entity is Entity.ROUND else None


def referent_of(analysis: Analysis, line: Line, field: FieldType, value: object) -> Referent | None:
    """The thing that a field's value names. It is searched in the run of the line, but in all runs
    for a resumed dispatch, and for a line whose run cannot be read.
    """
    of = LIFETIMES.get(field.names) if field.names is not None else None
    if of is None or not isinstance(value, str):
        return None
    run = run_at(analysis, run_of(line)) if field.name == of.field else None
    if run is None:
        starts = analysis.index.having(of.opener, of.field, value)
        start = starts.before(line) or starts.first
        run = analysis.index.runs[start.run] if start is not None else None
    if run is None:
        return Referent(of, value, None, LineSet(), LineSet())
    starts = run.of(of.opener, of.field, value)
    return Referent(of, value, run, starts, run.of(of.closer, of.field, value))


def dispatch_of(analysis: Analysis, line: Line) -> Referent | None:
    """The dispatch that a line names."""
    event = event_of(line)
    if event is None or DISPATCH.field not in event.fields:
        return None
    value = object_on(line).get(DISPATCH.field)
    return referent_of(analysis, line, event.fields[DISPATCH.field], value)


def introduces(event: EventType, field: FieldType) -> bool:
    """Whether an event starts the thing that the field names."""
    of = LIFETIMES.get(field.names) if field.names is not None else None
    return of is not None and event.name == of.opener and field.name == of.field


# In words


def about_reference(at: Pointed) -> str | None:
    """The thing that a value refers to; None if it is no reference."""
    field, value = at.field, at.value
    if field is None or not isinstance(value, str):
        return None
    if field.name == "dispatch_name":
        return _about_called(at)
    if field.names is Entity.PATH:
        return _about_path(at, value)
    if field.names is Entity.EVENT:
        return _about_event_id(at, value)
    if isinstance(field.shape, vocabulary.StringShape) and field.shape.form is Form.HASH:
        return _about_hash(at, field.name, value)
    found = referent_of(at.analysis, at.line, field, value)
    return _about_referent(at, found) if found is not None else None


def _about_called(at: Pointed) -> str | None:
    found = dispatch_of(at.analysis, at.line) if at.line.event is not None else None
    return _about_referent(at, found) if found is not None else None


def _about_referent(at: Pointed, found: Referent) -> str:
    start = found.start_for(at.line)
    if start is None:
        return f"No event of this trace starts this {found.of.entity}."
    end = found.ends.after(start) or found.ends.last
    text = f"{_title(at, found, start)}: started on {at.link(start)}"
    text += f", ended on {at.link(end)}{_outcome(end)}." if end is not None else _open(at, found)
    if found.of.entity is Entity.DISPATCH and found.run is not None:
        rounds = found.run.of(vocabulary.ROUND.opener, found.of.field, found.id)
        text += f" {plural(len(rounds), 'round')}." if rounds else ""
        text += _resumed(at, start)
    return text


def _open(at: Pointed, found: Referent) -> str:
    """That nothing ends it, with rejected lines that may be its end."""
    assert found.run is not None
    rejected = at.analysis.index.unread_naming(found.run.run_id, found.of.field, found.id)
    named_on = [at.link(line) for line in rejected[-3:]]
    if not named_on:
        return ", not ended."
    are = "is" if len(named_on) == 1 else "are"
    return f", not ended as far as readers know: {listed(named_on)} {are} rejected."


def _title(at: Pointed, found: Referent, start: Line) -> str:
    if found.of.entity is Entity.DISPATCH:
        model = start.fact("model")
        return code(start.text_fact("dispatch_name"), 60) + (
            f" on {code(str(model), 40)}" if model is not None else ""
        )
    if found.of.entity is Entity.ROUND:
        dispatch = _dispatch_name(at, start)
        return f"Round {start.fact('round_number')}" + (f" of {dispatch}" if dispatch else "")
    return f"Slice {start.fact('slice_index')}"


def _dispatch_name(at: Pointed, line: Line) -> str | None:
    """The name of the dispatch of a line."""
    found = dispatch_of(at.analysis, line)
    name = found.name_for(line) if found is not None else None
    return code(name, 60) if name is not None else None


def _outcome(end: Line) -> str:
    outcome, claimed = structure.ending_of(end)
    return (f" after {duration(claimed)}" if claimed is not None else "") + f", {outcome}"


def _resumed(at: Pointed, start: Line) -> str:
    parent = start.fact("parent_dispatch_id")
    before = (
        at.analysis.index.having(DISPATCH.opener, DISPATCH.field, parent).first if parent else None
    )
    if before is None:
        return ""
    return f" It resumes {code(before.text_fact('dispatch_name'), 60)}, {at.link(before)}."


def _about_event_id(at: Pointed, value: str) -> str | None:
    if at.line.event is None:
        return None
    run = run_at(at.analysis, at.line.run)
    if run is None:
        return None
    text = f"Event {run.lines.position(at.line) + 1:,} of {len(run):,} of run {code(at.line.run)}."
    others = [each for each in at.analysis.index.ids.get(value, ())[:3] if each is not at.line]
    if others:
        text += f" Also the id of the event on {', '.join(map(at.link, others))}."
    return text


def _about_hash(at: Pointed, name: str, value: str) -> str | None:
    if at.line.event is None or value not in Form.HASH:
        return None
    run = at.analysis.index.runs[at.line.run]
    same = run.of(at.line.event.name, name, value)
    before, after = same.before(at.line), same.after(at.line)
    if before is not None:
        dispatch = _dispatch_name(at, before)
        of = f" of {dispatch}" if dispatch else ""
        return f"The same content as on {at.link(before)}, a brief{of}."
    if after is not None:
        return f"No earlier brief of the run has this content; {at.link(after)} has it again."
    return "No other brief of the run has this content."


def _about_path(at: Pointed, value: str) -> str:
    lines = sorted(_naming(at, value), key=lambda line: line.order)
    if not lines:
        return "No valid event of this trace names this path."
    if len(lines) > _MOST_WRITERS:
        near = next((n for n, each in enumerate(lines) if each.order >= at.line.order), len(lines))
        first = max(0, min(near - _MOST_WRITERS // 2, len(lines) - _MOST_WRITERS))
        shown = lines[first : first + _MOST_WRITERS]
    else:
        shown = lines
    text = [f"- {at.link(each)}: {_deed(each)}" for each in shown]
    if len(shown) < len(lines):
        text.append(f"- and {plural(len(lines) - len(shown), 'more event')}")
    return "\n".join(text)


def _naming(at: Pointed, value: str) -> Iterator[Line]:
    for event in EVENTS.values():
        for field in event.fields.values():
            if field.names is Entity.PATH:
                yield from at.analysis.index.having(event.name, field.name, value)


def _deed(line: Line) -> str:
    """The change of a file by an event."""
    assert line.event is not None
    text = f"`{line.event.name}`"
    for name, sign in (("byte_length", ""), ("bytes_delta", "+")):
        count = line.fact(name) if name in line.event.keeps else None
        if isinstance(count, int):
            written = in_full(count) if not sign or count < 0 else f"+{in_full(count)}"
            text += f", {written} bytes" if not sign else f" ({written})"
    reason = line.fact("reason") if "reason" in line.event.keeps else None
    return text + (f", {reason}" if reason is not None else "")
