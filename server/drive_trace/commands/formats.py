"""Findings as every format has them, and how ``check`` writes them for people."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from typing import NamedTuple, TextIO, TypeAlias

import click
import msgspec

from drive_trace.analysis import Analysis
from drive_trace.commands.terminal import fitting, frame_columns, in_colour
from drive_trace.linter.rule import Finding, Level, Related, UnreadFile
from drive_trace.linter.rules import RULES
from drive_trace.linter.settings import Severity
from drive_trace.scorecard.caveats import Gone, Unread
from drive_trace.text import codec
from drive_trace.text.spans import Span, terminal_columns
from drive_trace.text.wording import cells, in_json, numbered_lines, plural, printable


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
    is_gone = isinstance(unread.reason, Gone)
    message = unread.reason if is_gone else "".join(map(str, finding.message))
    return Reported(rule.code, severity, location, message, None)


def _location(analysis: Analysis, path: str, found: Finding | Related) -> Location:
    record, span = analysis.where(found)
    other = analysis.other_file(found.line)
    location = Location.of(path if other is None else other.path, record, found.line.text, span)
    last = found.last if isinstance(found, Finding) else None
    if last is None:
        return location
    end = len(last.text.rstrip("\r")) + 1
    return location._replace(end_line=analysis.line_number(last), end_column=end)


# How they are written: a function a format


def dumps(value: object) -> str:
    """JSON text of a value; a lone surrogate becomes its escape."""
    try:
        return in_json(codec.dumps(value).decode())
    except TypeError:
        return in_json(json.dumps(value, separators=(",", ":")))


class Totals(msgspec.Struct, frozen=True):
    """What a format shows after the findings."""

    files: int
    notes: Sequence[str] = ()
    """What a person must know to understand the findings: what was fixed, what is hidden."""
    unread: Sequence[Unread] = ()
    """What could not be read; each is a finding, too."""
    is_quiet: bool = False
    """Whether the findings are all that is wanted."""
    is_fixed: bool = False
    """Whether the findings are what fixing left; a note says then what is to be fixed."""


class Findings:
    """Findings as they come, and the totals after the last one: nobody knows them before."""

    totals: Totals

    def __init__(
        self,
        reports: Generator[Reported, None, Totals],
        stream: TextIO,
        url_of: Callable[[str], str | None],
    ) -> None:
        """``reports`` gives findings, and returns the totals. They go to the ``stream``; ``url_of``
        gives the address of a rule's page by its code.
        """
        self._reports, self.stream, self.url_of = reports, stream, url_of

    def __iter__(self) -> Iterator[Reported]:
        self.totals = yield from self._reports


Format: TypeAlias = Callable[[Findings], Iterator[str]]
"""Gives the text of findings as they come."""


# For people

_COLOURS = dict(zip(Severity, ("red", "yellow", "blue", "cyan"), strict=True))
_WIDTH = 97
"""How many columns an excerpt takes where no terminal says how many there are."""
_NARROWEST = 20
_FIXABLE = "[*]"
_BETWEEN = 22
"""Columns that statistics take for severities, marks and the space around them."""


def concise(reports: Findings) -> Iterator[str]:
    """``path:line:column: severity[code] message``, a line a finding."""
    style, tally = _style_of(reports.stream), _Tally()
    for report in reports:
        tally.add(report)
        yield f"{_headline(report, style)}\n"
    yield from tally.lines(reports.totals, style)


def full(reports: Findings) -> Iterator[str]:
    """The finding, its line with a caret under the token, and its first fix."""
    style, tally = _style_of(reports.stream), _Tally()
    columns = frame_columns(reports.stream)
    for report in reports:
        tally.add(report)
        yield "\n".join([_headline(report, style), *_framed(report, style, columns), "\n"])
    yield from tally.lines(reports.totals, style)


def _framed(report: Reported, style: _Style, columns: int | None) -> Iterator[str]:
    if report.text is None:
        return
    _, line, column, _, end_column = report.location
    gutter = " " * len(str(line))
    width = _WIDTH if columns is None else columns - len(gutter) - len(" | ")
    span = Span(column - 1, end_column - 1)
    shown, carets = excerpt(report.text.removesuffix("\r"), span, max(width, _NARROWEST))
    yield f"{gutter} |"
    yield f"{line} | {shown}"
    yield f"{gutter} | {style(carets, fg=_COLOURS[report.severity], bold=True)}"
    for fix in report.fixes[:1]:
        yield f"{gutter} = {'fix' if fix.level is Level.SAFE else 'suggestion'}: {fix.title}"
    if also := sorted({each.location.line for each in report.places} - {line}):
        yield f"{gutter} = also on {numbered_lines(also, 12)}"


def statistics(reports: Findings, *, as_json: bool) -> Iterator[str]:
    """In how many places each rule finds something, the most first; as JSON for programs."""
    style, tally = _style_of(reports.stream), _Tally()
    found, safe = Counter[tuple[str, Severity]](), Counter[tuple[str, Severity]]()
    for report in reports:
        tally.add(report)
        for each in (report, *report.places):
            found[each.code, each.severity] += 1
            is_safe = any(fix.level is Level.SAFE for fix in each.fixes)
            safe[each.code, each.severity] += is_safe
    rows = sorted(found.items(), key=lambda row: (-row[1], row[0]))
    if as_json:
        keys = ("code", "severity", "count", "fixable")
        said = ((code, of.label, count, safe[code, of]) for (code, of), count in rows)
        yield f"{dumps([dict(zip(keys, each, strict=True)) for each in said])}\n"
        return
    width = max((len(f"{count:,}") for _, count in rows), default=0)
    mark = max((len(code) for (code, _), _ in rows), default=0)
    for (code, severity), count in rows:
        label = style(code.ljust(mark), fg=_COLOURS[severity], bold=True)
        fix = _FIXABLE if safe[code, severity] else " " * len(_FIXABLE)
        summary = fitting(RULES[code].summary, reports.stream, width + mark + _BETWEEN)
        yield f"{count:>{width},}  {label}  {severity.label:<11}  {fix}  {summary}\n"
    places, told = found.total(), tally.total
    if places > told and not reports.totals.is_quiet:
        yield f"counted by place: {places:,} places, told as {plural(told, 'finding')}\n"
    yield from tally.lines(reports.totals, style)


_Style: TypeAlias = Callable[..., str]


def _style_of(stream: TextIO) -> _Style:
    """As :func:`click.style`. What click does to find out for each piece of text adds up."""
    return click.style if in_colour(stream) else lambda text, **_: text


def _headline(report: Reported, style: _Style) -> str:
    severity, (path, line, column, *_) = report.severity, report.location
    place = style(f"{printable(path, 4096)}:{line}:{column}", bold=True)
    label = style(f"{severity.label}[{report.code}]", fg=_COLOURS[severity], bold=True)
    mark = f"{style(_FIXABLE, fg='cyan')} " if report.has_fix(Level.SAFE) else ""
    return f"{place}: {label} {mark}{report.message}"


class _Tally:
    """Counts findings for what a person reads after them."""

    def __init__(self) -> None:
        self._counts: Counter[Severity] = Counter()
        self._fixable = self._in_part = self._in_bulk = 0

    def add(self, report: Reported) -> None:
        """Count a finding."""
        is_safe = report.has_fix(Level.SAFE)
        own = (report, *report.places)
        is_whole = all(any(fix.level is Level.SAFE for fix in each.fixes) for each in own)
        self._counts[report.severity] += 1
        self._fixable += is_safe
        self._in_part += is_safe and not is_whole
        self._in_bulk += not is_safe and report.has_fix(Level.IN_BULK)

    @property
    def total(self) -> int:
        """How many findings there are."""
        return self._counts.total()

    def lines(self, totals: Totals, style: _Style) -> Iterator[str]:
        """What is said, each line with its end."""
        if totals.is_quiet:
            return
        if totals.files or totals.unread:
            phrases = [
                plural(count, severity.label, "s" * (severity is not Severity.INFORMATION))
                for severity in Severity
                if (count := self._counts[severity])
            ]
            files = plural(totals.files, "trace")
            total = f"{', '.join(phrases)} in {files}" if phrases else f"no findings in {files}"
            if totals.unread:
                total += f"; {plural(len(totals.unread), 'input')} not read"
            yield f"{style(total, bold=True)}\n"
            if self._fixable:
                part = f", {self._in_part:,} of them in part" * bool(self._in_part)
                yield f"{_FIXABLE} {self._fixable:,} fixable with --fix{part}\n"
            if self._in_bulk and not totals.is_fixed:
                yield f"up to {self._in_bulk:,} fixable only with --fix --unsafe-fixes\n"
        yield from (f"{note}\n" for note in totals.notes)


def excerpt(text: str, span: Span, width: int = _WIDTH) -> tuple[str, str]:
    """The part of a line around a span in at most ``width`` columns, and carets to go under it."""
    start = max(0, span.start - width)
    window = cells(text[start : span.start + width])
    before, rest = window[: span.start - start], window[span.start - start :]
    is_cut = span.start + width < len(text)
    # A third is for what stands before the mark, and more where little is behind it.
    room = max(width // 3, width - is_cut - terminal_columns(rest))
    head = tail = ""
    if start or terminal_columns(before) > room:
        head, before = "…", _beginning(before[::-1], room - 1)[::-1]
    room = width - terminal_columns(head + before)
    if is_cut or terminal_columns(rest) > room:
        tail, rest = "…", _beginning(rest, room - 1)
    marked = rest[: max(span.end - span.start, 1)]
    carets = "^" * max(1, terminal_columns(marked))
    return f"{head}{before}{rest}{tail}", " " * terminal_columns(head + before) + carets


def _beginning(text: str, width: int) -> str:
    """As much of a text as goes into some columns."""
    used = 0
    for place, each in enumerate(text):
        used += terminal_columns(each)
        if used > width:
            return text[:place]
    return text


FOR_PEOPLE: Mapping[str, Format] = {"concise": concise, "full": full}
FOR_PROGRAMS = ("github", "gitlab", "json", "junit", "sarif")
"""Those of ``machine_formats.py``, which is loaded where one is asked for."""
