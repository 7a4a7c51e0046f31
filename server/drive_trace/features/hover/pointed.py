"""What somebody points at, and how what is said of it refers to other places."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import NamedTuple
from urllib.parse import quote

from drive_trace.analysis import Analysis
from drive_trace.features.joined_runs import JoinedRun
from drive_trace.trace.index import Run
from drive_trace.trace.line import Line
from drive_trace.trace.places import Place
from drive_trace.vocabulary import EventType, FieldType

_HAS_PLACE = re.compile(r"[a-zA-Z][\w.+-]*://[^\s\ud800-\udfff]+")


class HoverOptions(NamedTuple):
    """What a hover may know beside the trace."""

    uri: str = ""
    """The trace's own: lines are links to it."""
    now: datetime | None = None
    """The moment to which others are related."""
    zone: tzinfo | None = None
    """Where the reader is; None is where this machine is."""
    url_of: Callable[[str], str | None] = lambda _: None
    """Gives the address of a rule's page by the rule's code."""
    joined: JoinedRun | None = None
    """The run of the line over all its files, where more than this one are known."""


@dataclass(frozen=True, slots=True)
class Pointed:
    """A key or a scalar value of a line."""

    analysis: Analysis
    line: Line
    place: Place
    event: EventType | None
    """The event that the line records or was meant to record."""
    field: FieldType | None
    """What is declared of it."""
    value: object
    """The scalar that stands there, if it is a value."""
    is_null: bool
    options: HoverOptions

    def link(self, line: Line) -> str:
        """A line by its number, in Markdown: a link where there is something to link to."""
        if line is self.line:
            return "this line"
        number, document = self.analysis.line_number(line), self.analysis.document
        uri = self.options.uri
        if not _HAS_PLACE.fullmatch(uri):
            return f"line {number}"
        # What would end a link, or a code span around it, is escaped; what is, already, stays.
        target = quote(uri, safe="%/:@!$&'*+,;=?~")
        return f"[line {number}]({target}#L{document.protocol_line(number - 1) + 1})"


def run_at(analysis: Analysis, run_id: str | None) -> Run | None:
    """A run that has a valid event."""
    return analysis.index.runs.get(run_id) if run_id is not None else None
