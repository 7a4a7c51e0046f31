"""``concise`` and ``full``: for people."""

from __future__ import annotations

from collections import Counter
from typing import Any, TextIO

import click

from drive_trace.commands.formats.findings import Reported, RuleUrl, Totals
from drive_trace.commands.terminal import is_terminal
from drive_trace.linter.rule import Severity
from drive_trace.text.escaping import cells, printable
from drive_trace.text.spans import Span, terminal_columns
from drive_trace.text.wording import plural

_COLOURS = {
    Severity.ERROR: "red",
    Severity.WARNING: "yellow",
    Severity.INFORMATION: "blue",
    Severity.HINT: "cyan",
}
_WIDTH = 96
"""How much of a line the full format shows around a finding, in code points."""


class ConciseWriter:
    """``path:line:column: severity[code] message``, a line a finding."""

    shows_totals = True

    def __init__(self, out: TextIO, _url_of: RuleUrl) -> None:
        self._out = out
        self._counts: Counter[Severity] = Counter()
        # What click does to find out for each piece of text adds up, as do its flushes.
        self._is_terminal = is_terminal(out)
        self._path = self._shown_path = ""

    def write(self, report: Reported) -> None:
        """Write a finding."""
        self._counts[report.severity] += 1
        self._write(report)

    def finish(self, totals: Totals) -> None:
        """Write the totals."""
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
            click.secho(total, bold=True, file=self._out)
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
        return click.style(text, **style) if self._is_terminal else text

    def _headline(self, report: Reported) -> str:
        severity, (path, line, column, *_) = report.severity, report.location
        place = self._style(f"{self._shown(path)}:{line}:{column}", bold=True)
        label = self._style(
            f"{severity.label}[{report.rule.code}]", fg=_COLOURS[severity], bold=True
        )
        return f"{place}: {label} {report.message}"

    def _shown(self, path: str) -> str:
        if path != self._path:
            self._path, self._shown_path = path, printable(path, 4096)
        return self._shown_path


class FullWriter(ConciseWriter):
    """The finding, its line with a caret under the token, and its first fix."""

    def _write(self, report: Reported) -> None:
        if report.text is None:
            self._say(f"{self._headline(report)}\n")
            return
        _, line, column, _, end_column = report.location
        number = str(line)
        gutter = " " * len(number)
        shown, carets = excerpt(report.text.removesuffix("\r"), Span(column - 1, end_column - 1))
        lines = [
            self._headline(report),
            f"{gutter} |",
            f"{number} | {shown}",
            f"{gutter} | {self._style(carets, fg=_COLOURS[report.severity], bold=True)}",
        ]
        lines += [
            f"{gutter} = {'fix' if fix.safe else 'suggestion'}: {fix.title}"
            for fix in report.fixes()[:1]
        ]
        self._say("\n".join(lines) + "\n")


def _plural(severity: Severity) -> str:
    return severity.label if severity is Severity.INFORMATION else f"{severity.label}s"


def excerpt(text: str, span: Span) -> tuple[str, str]:
    """The part of a line around a span, and carets to go under it."""
    end = max(span.end, span.start + 1)
    start = max(0, min(span.start - _WIDTH // 3, len(text) - _WIDTH))
    stop = min(len(text), start + _WIDTH)
    head, tail = "…" * (start > 0), "…" * (stop < len(text))
    before = cells(text[start : span.start])
    marked = cells(text[span.start : min(end, stop)]) or " "
    after = cells(text[min(end, stop) : stop])
    carets = "^" * max(1, terminal_columns(marked))
    return cells(f"{head}{before}{marked}{after}{tail}"), " " * terminal_columns(
        head + before
    ) + carets
