"""How ``check`` writes findings: one class a format."""

from __future__ import annotations

import json
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Protocol, TextIO

import click
import orjson

from drive_trace.api import Analysis
from drive_trace.rules.base import Finding, Fix, Severity, printable
from drive_trace.storage.pages import rule_url
from drive_trace.text import Span

_COLOURS = {
    Severity.ERROR: "red",
    Severity.WARNING: "yellow",
    Severity.INFORMATION: "blue",
    Severity.HINT: "cyan",
}
_WIDTH = 96
"""How much of a line the full format shows around a finding, in code points."""


class Writer(Protocol):
    """Writes the findings of one trace after another."""

    def __init__(self, out: TextIO) -> None: ...

    def write(self, analysis: Analysis, path: str) -> Severity | None:
        """Write one trace's findings; gives the worst severity among them."""

    def finish(self) -> None:
        """Write what comes after all."""


class ConciseWriter:
    """``path:line:column: severity[code] message``, a line a finding."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._counts: Counter[Severity] = Counter()
        self._files = 0

    def write(self, analysis: Analysis, path: str) -> Severity | None:
        """Write one trace's findings; gives the worst severity among them."""
        self._files += 1
        worst: Severity | None = None
        for finding in analysis.findings():
            severity = finding.rule.severity
            self._counts[severity] += 1
            worst = severity if worst is None else min(worst, severity)
            self._write_finding(analysis, path, finding)
        return worst

    def finish(self) -> None:
        """Write the totals."""
        if not self._files:
            return
        said = [
            f"{count} {severity.label}{'s' * (count > 1 and severity is not Severity.INFORMATION)}"
            for severity in Severity
            if (count := self._counts[severity])
        ]
        files = f"{self._files} trace{'s' * (self._files != 1)}"
        total = f"{', '.join(said)} in {files}" if said else f"no findings in {files}"
        click.secho(total, bold=True, file=self._out)

    def _write_finding(self, analysis: Analysis, path: str, finding: Finding) -> None:
        record, span = analysis.where(finding)
        click.echo(_headline(analysis, path, finding, record, span.start), file=self._out)


class FullWriter(ConciseWriter):
    """The finding, its line with a caret under the token, and its first fix."""

    def _write_finding(self, analysis: Analysis, path: str, finding: Finding) -> None:
        record, span = analysis.where(finding)
        number = str(record + 1)
        gutter = " " * len(number)
        shown, carets = _excerpt(finding.line.text.removesuffix("\r"), span)
        colour = _COLOURS[finding.rule.severity]
        lines = [
            _headline(analysis, path, finding, record, span.start),
            f"{gutter} |",
            f"{number} | {shown}",
            f"{gutter} | {click.style(carets, fg=colour, bold=True)}",
        ]
        lines += [
            f"{gutter} = {'fix' if fix.safe else 'suggestion'}: {fix.title}"
            for fix in analysis.fixes(finding)[:1]
        ]
        click.echo("\n".join(lines) + "\n", file=self._out)


class JsonWriter:
    """One list of all findings; see ``docs/cli.md`` for its keys."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._empty = True
        self._urls: dict[str, str | None] = {}
        out.write("[")

    def write(self, analysis: Analysis, path: str) -> Severity | None:
        """Write one trace's findings; gives the worst severity among them."""
        worst: Severity | None = None
        for finding in analysis.findings():
            severity = finding.rule.severity
            worst = severity if worst is None else min(worst, severity)
            self._out.write("\n" if self._empty else ",\n")
            self._out.write(_dumps(self._finding(analysis, path, finding)))
            self._empty = False
        return worst

    def finish(self) -> None:
        """Close the list."""
        self._out.write("]\n" if self._empty else "\n]\n")

    def _finding(self, analysis: Analysis, path: str, finding: Finding) -> Mapping[str, object]:
        code = finding.rule.code
        if code not in self._urls:
            self._urls[code] = rule_url(code)
        record, span = analysis.where(finding)
        return {
            "path": path,
            **_range(record, span),
            "code": code,
            "severity": finding.rule.severity.label,
            "message": analysis.words(finding.words),
            "url": self._urls[code],
            "fixes": [_fix(analysis, fix) for fix in analysis.fixes(finding)],
        }


def _fix(analysis: Analysis, fix: Fix) -> Mapping[str, object]:
    edits = [
        {**_range(analysis.document.number(edit.line), edit.span), "text": edit.text}
        for edit in fix.edits
    ]
    return {"title": fix.title, "safe": fix.safe, "edits": edits}


def _range(record: int, span: Span) -> Mapping[str, int]:
    line = record + 1
    return {
        "line": line,
        "column": span.start + 1,
        "end_line": line,
        "end_column": span.end + 1,
    }


def _dumps(value: object) -> str:
    try:
        return orjson.dumps(value).decode()
    except TypeError:  # a lone surrogate
        return json.dumps(value, separators=(",", ":"))


def _headline(analysis: Analysis, path: str, finding: Finding, record: int, offset: int) -> str:
    severity = finding.rule.severity
    place = click.style(f"{printable(path, 4096)}:{record + 1}:{offset + 1}", bold=True)
    label = click.style(f"{severity.label}[{finding.rule.code}]", fg=_COLOURS[severity], bold=True)
    return f"{place}: {label} {analysis.words(finding.words)}"


def _excerpt(text: str, span: Span) -> tuple[str, str]:
    """The part of a line around a span, and carets to go under it."""
    end = max(span.end, span.start + 1)
    start = max(0, min(span.start - _WIDTH // 3, len(text) - _WIDTH))
    stop = min(len(text), start + _WIDTH)
    head, tail = "…" * (start > 0), "…" * (stop < len(text))
    before = "".join(_cells(text[start : span.start]))
    marked = "".join(_cells(text[span.start : min(end, stop)])) or " "
    after = "".join(_cells(text[min(end, stop) : stop]))
    carets = "^" * max(1, _columns(marked))
    return f"{head}{before}{marked}{after}{tail}", " " * _columns(head + before) + carets


def _cells(text: str) -> Iterator[str]:
    """Characters as a terminal can show them: nothing that moves the cursor."""
    for character in text:
        yield character if character.isprintable() else "\ufffd"


def _columns(text: str) -> int:
    """How many terminal columns a text takes."""
    width = 0
    for character in text:
        if unicodedata.combining(character):
            continue
        width += 2 if unicodedata.east_asian_width(character) in "WF" else 1
    return width


FORMATS: Mapping[str, type[Writer]] = {
    "concise": ConciseWriter,
    "full": FullWriter,
    "json": JsonWriter,
}
