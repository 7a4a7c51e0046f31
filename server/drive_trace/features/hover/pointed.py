"""The token that a hover is about, the thing that it refers to, and links to lines."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import NamedTuple
from urllib.parse import quote

from drive_trace.analysis import Analysis
from drive_trace.features.runs import JoinedRun
from drive_trace.trace.line import Line, LineSet, run_of
from drive_trace.trace.places import Place, node_at, syntax_of
from drive_trace.trace.run import Run
from drive_trace.vocabulary import LIFETIMES, Entity, EventType, FieldType, Lifetime

_HAS_PLACE = re.compile(r"[a-zA-Z][\w.+-]*://[^\s\ud800-\udfff]+")


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
    joined: JoinedRun | None = None
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


def text_at(line: Line, name: str) -> str | None:
    """The string of a field, also on a line that is not valid."""
    node = node_at(syntax_of(line.text).root, (name,))
    return node.value if node is not None and isinstance(node.value, str) else None


class Referent(NamedTuple):
    """The dispatch, round or slice that a value names."""

    of: Lifetime
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
    starts = run.table(of.opener, of.field).of(value)
    return Referent(of, value, run, starts, run.table(of.closer, of.field).of(value))


def introduces(event: EventType, field: FieldType) -> bool:
    """Whether an event starts the thing that the field names."""
    of = LIFETIMES.get(field.names) if field.names is not None else None
    return of is not None and event.name == of.opener and field.name == of.field
