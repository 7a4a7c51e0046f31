"""Findings as every format has them: with their file, severity and message."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple, Protocol, TextIO

import orjson

from drive_trace.analysis import Analysis
from drive_trace.linter.rule import Finding, Related, Rule, Severity, UnreadFile
from drive_trace.linter.rules import RULES
from drive_trace.scorecard.caveats import Unread
from drive_trace.text.escaping import in_json
from drive_trace.text.spans import Span


class Location(NamedTuple):
    """A place in a file. Lines and columns count from 1, and the end is exclusive."""

    path: str
    line: int
    column: int
    end_line: int
    end_column: int

    @classmethod
    def of(cls, path: str, record: int, text: str, span: Span) -> Location:
        """The place of a span in a record. A span beyond the text includes the line's end."""
        if span.end > len(text):
            return cls(path, record + 1, span.start + 1, record + 2, 1)
        return cls(path, record + 1, span.start + 1, record + 1, span.end + 1)


class RelatedPlace(NamedTuple):
    """Another place that explains a finding."""

    location: Location
    message: str


class ReportedEdit(NamedTuple):
    """Put ``text`` in place of what stands at a location."""

    location: Location
    text: str


class ReportedFix(NamedTuple):
    """A way to mend a finding."""

    title: str
    safe: bool
    edits: Sequence[ReportedEdit]


class Reported(NamedTuple):
    """A finding, ready to be printed."""

    rule: Rule[Any]
    severity: Severity
    location: Location
    message: str
    text: str | None
    """The text of its line; None if nothing could be read."""
    related: Callable[[], Sequence[RelatedPlace]]
    fixes: Callable[[], Sequence[ReportedFix]]


class Totals(NamedTuple):
    """What a format shows after the findings."""

    files: int
    notes: Sequence[str] = ()
    """What a person must know to understand the findings: what was fixed, what is hidden."""
    unread: Sequence[Unread] = ()
    """What could not be read; each is a finding, too."""
    is_quiet: bool = False
    """Whether the findings are all that is wanted."""


RuleUrl = Callable[[str], str | None]
"""Gives the address of a rule's page by its code."""


class FindingWriter(Protocol):
    """Writes one finding after another."""

    shows_totals: bool
    """Whether the format has a place for the totals."""

    def __init__(self, out: TextIO, url_of: RuleUrl) -> None: ...

    def write(self, report: Reported) -> None:
        """Write a finding."""

    def finish(self, totals: Totals) -> None:
        """Write what comes after all."""


def reported(analysis: Analysis, path: str) -> Iterator[Reported]:
    """The findings of a trace, in order."""
    for finding in analysis.findings():
        yield Reported(
            finding.rule,
            analysis.severity_of(finding),
            _location(analysis, path, finding),
            analysis.message(finding.message),
            finding.line.text,
            partial(_related, analysis, path, finding),
            partial(_fixes, analysis, path, finding),
        )


def unreadable(unread: Unread, severity: Severity = Severity.ERROR) -> Reported:
    """The finding on what could not be read, whatever is set."""
    rule = RULES["unreadable-file"]
    (finding,) = rule.check(UnreadFile(unread.reason))
    location = Location.of(unread.path, 0, "", Span(0, 0))
    message = "".join(map(str, finding.message))
    return Reported(rule, severity, location, message, None, tuple, tuple)


def _location(analysis: Analysis, path: str, found: Finding | Related) -> Location:
    record, span = analysis.where(found)
    other = analysis.other_file(found.line)
    path = path if other is None else other.path
    location = Location.of(path, record, found.line.text, span)
    last = found.last if isinstance(found, Finding) else None
    if last is None:
        return location
    end = len(last.text.rstrip("\r")) + 1
    return location._replace(end_line=analysis.line_number(last), end_column=end)


def _related(analysis: Analysis, path: str, finding: Finding) -> list[RelatedPlace]:
    return [
        RelatedPlace(_location(analysis, path, each), analysis.message(each.message))
        for each in finding.related
    ]


def _fixes(analysis: Analysis, path: str, finding: Finding) -> list[ReportedFix]:
    number = analysis.document.number
    return [
        ReportedFix(
            fix.title,
            fix.safe,
            [
                ReportedEdit(Location.of(path, number(line), line.text, span), text)
                for line, span, text in fix.edits
            ],
        )
        for fix in analysis.fixes(finding)
    ]


def dumps(value: object) -> str:
    """JSON text of a value; a lone surrogate becomes its escape."""
    try:
        return in_json(orjson.dumps(value).decode())
    except TypeError:
        return in_json(json.dumps(value, separators=(",", ":")))
