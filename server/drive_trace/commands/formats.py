"""How ``check`` writes findings for people: a class a format."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, TextIO

import click
import msgspec

from drive_trace.commands.reported import Reported
from drive_trace.commands.terminal import fitting, frame_columns, in_colour, is_terminal
from drive_trace.linter.rule import Level
from drive_trace.linter.rules import RULES
from drive_trace.linter.settings import Severity
from drive_trace.scorecard.caveats import Unread
from drive_trace.text import codec
from drive_trace.text.escaping import cells, in_json, printable
from drive_trace.text.spans import Span, terminal_columns
from drive_trace.text.wording import numbered_lines, plural


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


RuleUrl = Callable[[str], str | None]
"""Gives the address of a rule's page by its code."""


class FindingWriter(ABC):
    """Writes one finding after another."""

    shows_totals = False
    """Whether the format has a place for the totals."""

    def __init__(self, out: TextIO, url_of: RuleUrl) -> None:
        self._out, self._url_of = out, cache(url_of)

    @abstractmethod
    def write(self, report: Reported) -> None:
        """Write a finding."""

    def finish(self, totals: Totals) -> None:  # noqa: B027 - most formats end with nothing
        """Write what comes after all."""


# For people

_COLOURS = {
    Severity.ERROR: "red",
    Severity.WARNING: "yellow",
    Severity.INFORMATION: "blue",
    Severity.HINT: "cyan",
}
_WIDTH = 97
"""How many columns an excerpt takes where no terminal says how many there are."""
_NARROWEST = 20
_FIXABLE = "[*]"
_BETWEEN = 22
"""Columns that statistics take for severities, marks and the space around them."""


class ConciseWriter(FindingWriter):
    """``path:line:column: severity[code] message``, a line a finding."""

    shows_totals = True

    def __init__(self, out: TextIO, url_of: RuleUrl) -> None:
        super().__init__(out, url_of)
        self._counts: Counter[Severity] = Counter()
        self._fixable = self._in_bulk = 0
        # What click does to find out for each piece of text adds up, as do its flushes.
        self._is_terminal = is_terminal(out)
        self._in_colour = in_colour(out)

    def write(self, report: Reported) -> None:
        """Write a finding."""
        self._counts[report.severity] += 1
        self._fixable += report.has_fix(Level.SAFE)
        self._in_bulk += report.has_fix(Level.IN_BULK) and not report.has_fix(Level.SAFE)
        self._write(report)

    def finish(self, totals: Totals) -> None:
        """Write the totals."""
        if totals.is_quiet:
            return
        if totals.files or totals.unread:
            phrases = [
                f"{count} {_plural(severity) if count > 1 else severity.label}"
                for severity in Severity
                if (count := self._counts[severity])
            ]
            files = plural(totals.files, "trace")
            total = f"{', '.join(phrases)} in {files}" if phrases else f"no findings in {files}"
            if totals.unread:
                total += f"; {plural(len(totals.unread), 'input')} not read"
            self._say(self._style(total, bold=True))
            if self._fixable:
                self._say(f"{_FIXABLE} {self._fixable:,} fixable with --fix")
            if self._in_bulk and not totals.is_fixed:
                self._say(f"up to {self._in_bulk:,} fixable only with --fix --unsafe-fixes")
        for note in totals.notes:
            click.echo(note, file=self._out)

    def _write(self, report: Reported) -> None:
        self._say(self._headline(report))

    def _say(self, text: str) -> None:
        if self._is_terminal:
            click.echo(text, file=self._out)
        else:
            self._out.write(f"{text}\n")

    def _style(self, text: str, **style: Any) -> str:
        return click.style(text, **style) if self._in_colour else text

    def _headline(self, report: Reported) -> str:
        severity, (path, line, column, *_) = report.severity, report.location
        place = self._style(f"{printable(path, 4096)}:{line}:{column}", bold=True)
        label = self._style(f"{severity.label}[{report.code}]", fg=_COLOURS[severity], bold=True)
        mark = f"{self._style(_FIXABLE, fg='cyan')} " if report.has_fix(Level.SAFE) else ""
        return f"{place}: {label} {mark}{report.message}"


class FullWriter(ConciseWriter):
    """The finding, its line with a caret under the token, and its first fix."""

    def _write(self, report: Reported) -> None:
        headline = self._headline(report)
        if report.text is None:
            self._say(f"{headline}\n")
            return
        _, line, column, _, end_column = report.location
        gutter = " " * len(str(line))
        columns = frame_columns(self._out)
        width = _WIDTH if columns is None else columns - len(gutter) - len(" | ")
        span = Span(column - 1, end_column - 1)
        shown, carets = excerpt(report.text.removesuffix("\r"), span, max(width, _NARROWEST))
        marks = self._style(carets, fg=_COLOURS[report.severity], bold=True)
        lines = [headline, f"{gutter} |", f"{line} | {shown}", f"{gutter} | {marks}"]
        lines += [
            f"{gutter} = {'fix' if fix.level is Level.SAFE else 'suggestion'}: {fix.title}"
            for fix in report.fixes[:1]
        ]
        if report.places:
            also = sorted({each.location.line for each in report.places})
            lines.append(f"{gutter} = also on {numbered_lines(also, 12)}")
        self._say("\n".join(lines) + "\n")


class StatisticsWriter(ConciseWriter):
    """How many findings each rule has, the most first; as JSON for programs."""

    def __init__(self, out: TextIO, url_of: RuleUrl, *, as_json: bool) -> None:
        super().__init__(out, url_of)
        self.shows_totals = not as_json
        self._found: Counter[tuple[str, Severity]] = Counter()
        self._safe: Counter[tuple[str, Severity]] = Counter()

    def finish(self, totals: Totals) -> None:
        """Write the counts, then the totals."""
        rows = sorted(self._found.items(), key=lambda row: (-row[1], row[0]))
        if not self.shows_totals:
            found = [
                {
                    "code": code,
                    "severity": severity.label,
                    "count": count,
                    "fixable": self._safe[code, severity],
                }
                for (code, severity), count in rows
            ]
            self._out.write(f"{dumps(found)}\n")
            return
        width = max((len(f"{count:,}") for _, count in rows), default=0)
        mark = max((len(code) for (code, _), _ in rows), default=0)
        for (code, severity), count in rows:
            label = self._style(code.ljust(mark), fg=_COLOURS[severity], bold=True)
            fix = _FIXABLE if self._safe[code, severity] else " " * len(_FIXABLE)
            used = width + mark + _BETWEEN
            summary = fitting(RULES[code].summary, self._out, used)
            self._say(f"{count:>{width},}  {label}  {severity.label:<11}  {fix}  {summary}")
        super().finish(totals)

    def _write(self, report: Reported) -> None:
        for each in (report, *report.places):
            self._found[report.code, report.severity] += 1
            is_safe = any(fix.level is Level.SAFE for fix in each.fixes)
            self._safe[report.code, report.severity] += is_safe


def _plural(severity: Severity) -> str:
    return severity.label if severity is Severity.INFORMATION else f"{severity.label}s"


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


FOR_PEOPLE: Mapping[str, type[FindingWriter]] = {"concise": ConciseWriter, "full": FullWriter}
FOR_PROGRAMS = ("github", "gitlab", "json", "junit", "sarif")
"""Those of ``machine_formats.py``, which is loaded where one is asked for."""
