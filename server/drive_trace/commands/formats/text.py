"""``concise`` and ``full``: for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, TextIO

import click

from drive_trace.commands.formats.findings import Reported, ReportedFix, Totals, dumps
from drive_trace.commands.terminal import frame_columns, in_colour, is_terminal
from drive_trace.linter.rule import Rule, Severity
from drive_trace.text.escaping import cells, printable
from drive_trace.text.spans import Span, terminal_columns
from drive_trace.text.wording import plural

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


class ConciseWriter:
    """``path:line:column: severity[code] message``, a line a finding."""

    shows_totals = True

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._counts: Counter[Severity] = Counter()
        self._fixable = 0
        # What click does to find out for each piece of text adds up, as do its flushes.
        self._is_terminal = is_terminal(out)
        self._in_colour = in_colour(out)
        self._path = self._shown_path = ""

    def write(self, report: Reported) -> None:
        """Write a finding."""
        self._counts[report.severity] += 1
        fixes = report.fixes()
        self._fixable += any(fix.safe for fix in fixes)
        self._write(report, fixes)

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
                count = len(totals.unread)
                total += f"; {plural(count, 'input')} not read"
            self._say(self._style(total, bold=True))
            if self._fixable:
                self._say(f"{_FIXABLE} {self._fixable:,} fixable with --fix")
        for note in totals.notes:
            click.echo(note, file=self._out)

    def _write(self, report: Reported, fixes: Sequence[ReportedFix]) -> None:
        self._say(self._headline(report, fixes))

    def _say(self, text: str) -> None:
        if self._is_terminal:
            click.echo(text, file=self._out)
        else:
            self._out.write(f"{text}\n")

    def _style(self, text: str, **style: Any) -> str:
        return click.style(text, **style) if self._in_colour else text

    def _headline(self, report: Reported, fixes: Sequence[ReportedFix]) -> str:
        severity, (path, line, column, *_) = report.severity, report.location
        place = self._style(f"{self._shown(path)}:{line}:{column}", bold=True)
        label = self._style(
            f"{severity.label}[{report.rule.code}]", fg=_COLOURS[severity], bold=True
        )
        mark = f"{self._style(_FIXABLE, fg='cyan')} " if any(fix.safe for fix in fixes) else ""
        return f"{place}: {label} {mark}{report.message}"

    def _shown(self, path: str) -> str:
        if path != self._path:
            self._path, self._shown_path = path, printable(path, 4096)
        return self._shown_path


class FullWriter(ConciseWriter):
    """The finding, its line with a caret under the token, and its first fix."""

    def _write(self, report: Reported, fixes: Sequence[ReportedFix]) -> None:
        headline = self._headline(report, fixes)
        if report.text is None:
            self._say(f"{headline}\n")
            return
        _, line, column, _, end_column = report.location
        number = str(line)
        gutter = " " * len(number)
        columns = frame_columns(self._out)
        width = _WIDTH if columns is None else columns - len(gutter) - len(" | ")
        span = Span(column - 1, end_column - 1)
        shown, carets = _excerpt(report.text.removesuffix("\r"), span, max(width, _NARROWEST))
        lines = [
            headline,
            f"{gutter} |",
            f"{number} | {shown}",
            f"{gutter} | {self._style(carets, fg=_COLOURS[report.severity], bold=True)}",
        ]
        lines += [
            f"{gutter} = {'fix' if fix.safe else 'suggestion'}: {fix.title}" for fix in fixes[:1]
        ]
        self._say("\n".join(lines) + "\n")


class StatisticsWriter(ConciseWriter):
    """How many findings each rule has, the most first."""

    def __init__(self, out: TextIO, *, as_json: bool) -> None:
        super().__init__(out)
        self.shows_totals = not as_json
        self._as_json = as_json
        self._rules: dict[tuple[Rule[Any], Severity], list[int]] = {}
        """How many findings there are, and how many of them have a safe fix."""

    def finish(self, totals: Totals) -> None:
        """Write the counts, then the totals."""
        rows = sorted(self._rules.items(), key=lambda row: (-row[1][0], row[0][0].code))
        if self._as_json:
            found = [
                {"code": rule.code, "severity": severity.label, "count": count, "fixable": fixable}
                for (rule, severity), (count, fixable) in rows
            ]
            self._out.write(f"{dumps(found)}\n")
            return
        width = max((len(f"{count:,}") for _, (count, _) in rows), default=0)
        mark = max((len(rule.code) for (rule, _), _ in rows), default=0)
        for (rule, severity), (count, fixable) in rows:
            label = self._style(rule.code.ljust(mark), fg=_COLOURS[severity], bold=True)
            fix = _FIXABLE if fixable else " " * len(_FIXABLE)
            self._say(f"{count:>{width},}  {label}  {severity.label:<11}  {fix}  {rule.summary}")
        super().finish(totals)

    def _write(self, report: Reported, fixes: Sequence[ReportedFix]) -> None:
        counts = self._rules.setdefault((report.rule, report.severity), [0, 0])
        counts[0] += 1
        counts[1] += any(fix.safe for fix in fixes)


def _plural(severity: Severity) -> str:
    return severity.label if severity is Severity.INFORMATION else f"{severity.label}s"


def _excerpt(text: str, span: Span, width: int) -> tuple[str, str]:
    """The part of a line around a span in at most ``width`` columns, and carets to go under it."""
    start = max(0, span.start - width)
    window = cells(text[start : span.start + width])
    before, rest = window[: span.start - start], window[span.start - start :]
    is_cut = span.start + width < len(text)
    # A third is for what stands before the mark, and more where little is behind it.
    room = max(width // 3, width - is_cut - terminal_columns(rest))
    head = ""
    if start or terminal_columns(before) > room:
        head, before = "…", _beginning(before[::-1], room - 1)[::-1]
    room = width - terminal_columns(head + before)
    tail = ""
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
