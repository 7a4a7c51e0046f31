"""Findings as every format has them: plain data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec

from drive_trace.analysis import Analysis
from drive_trace.linter.rule import Finding, Level, Related, UnreadFile
from drive_trace.linter.rules import RULES
from drive_trace.linter.settings import Severity
from drive_trace.scorecard.caveats import Unread
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

    def range(self, *names: str) -> dict[str, int]:
        """Line, column, end line and end column under the names that a format has for them."""
        return dict(zip(names or self._fields[1:], self[1:], strict=True))


class RelatedPlace(NamedTuple):
    """Another place that explains a finding."""

    location: Location
    message: str


class ReportedFix(msgspec.Struct, frozen=True):
    """A way to mend a finding."""

    title: str
    level: Level
    edits: Sequence[tuple[Location, str]]
    """Each puts a text in place of what stands at a location."""


class Reported(msgspec.Struct, frozen=True):
    """A finding, ready to be printed: plain data, which goes from process to process."""

    code: str
    """Of its rule."""
    severity: Severity
    location: Location
    message: str
    text: str | None
    """The text of its line; None if nothing could be read."""
    related: Sequence[RelatedPlace] = ()
    fixes: Sequence[ReportedFix] = ()
    places: Sequence[Reported] = ()
    """The others that it sums up."""
    follows: Sequence[tuple[str, str, int]] = ()
    """Of what is not told, as it follows from it: its rule's code, its line's text and number."""
    fails: bool = False
    """Whether the check fails by it."""

    def has_fix(self, level: Level) -> bool:
        """Whether it has a fix of a level, or one of its places."""
        return any(fix.level is level for each in (self, *self.places) for fix in each.fixes)


def reported(analysis: Analysis, path: str) -> Iterator[Reported]:
    """What is told of the findings of a trace, in order."""
    for told in analysis.told():
        number = analysis.line_number
        places = [_reported(analysis, path, each) for each in told.places]
        follows = [(each.rule.code, each.line.text, number(each.line)) for each in told.follows]
        found = _reported(analysis, path, told.finding, places, follows)
        same = (each for each in found.places if each.location.line == found.location.line)
        fixes = [*found.fixes, *(fix for each in same for fix in each.fixes)]
        titles = {fix.title: fix for fix in reversed(fixes)}
        yield msgspec.structs.replace(found, fixes=[*reversed(titles.values())])


def _reported(
    analysis: Analysis,
    path: str,
    finding: Finding,
    places: Sequence[Reported] = (),
    follows: Sequence[tuple[str, str, int]] = (),
) -> Reported:
    number = analysis.document.number
    related = [
        RelatedPlace(_location(analysis, path, each), analysis.message(each.message))
        for each in finding.related
    ]
    fixes = [
        ReportedFix(
            fix.title,
            fix.level,
            [
                (Location.of(path, number(line), line.text, span), text)
                for line, span, text in fix.edits
            ],
        )
        for fix in analysis.fixes(finding)
    ]
    return Reported(
        finding.rule.code,
        analysis.severity_of(finding),
        _location(analysis, path, finding),
        analysis.message(finding.message),
        finding.line.text,
        related,
        fixes,
        places,
        follows,
    )


def unreadable(
    unread: Unread, severity: Severity = Severity.ERROR, at: Location | None = None
) -> Reported:
    """The finding on what could not be read, whatever is set."""
    rule = RULES["unreadable-file"]
    (finding,) = rule.check(UnreadFile(unread.reason))
    location = at or Location.of(unread.path, 0, "", Span(0, 0))
    return Reported(rule.code, severity, location, "".join(map(str, finding.message)), None)


def _location(analysis: Analysis, path: str, found: Finding | Related) -> Location:
    record, span = analysis.where(found)
    other = analysis.other_file(found.line)
    location = Location.of(path if other is None else other.path, record, found.line.text, span)
    last = found.last if isinstance(found, Finding) else None
    if last is None:
        return location
    end = len(last.text.rstrip("\r")) + 1
    return location._replace(end_line=analysis.line_number(last), end_column=end)
