"""Findings as the protocol's diagnostics, made as JSON text.

A file can have a thousand of them, and all are sent again after each keystroke:
those that an edit left alone are not made again, and no converter looks at them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from drive_trace.api import Analysis
from drive_trace.features.json_text import dumps
from drive_trace.rules.base import Finding
from drive_trace.text import PositionEncoding, Span
from drive_trace.trace.document import Point
from drive_trace.trace.line import Line

SOURCE = "drive-trace"
_UNNECESSARY = 1
_INFORMATION = 3


class DiagnosticOptions(NamedTuple):
    """How diagnostics are made for one client."""

    uri: str
    encoding: PositionEncoding
    most: int
    """How many findings are shown at the most."""
    url_of: Callable[[str], str | None]
    """Gives the address of a rule's page by the rule's code."""
    members: frozenset[str] = frozenset({"relatedInformation", "codeDescription", "tags"})
    """The optional members that the client reads."""


class _Made(NamedTuple):
    """The diagnostics of one line, and what they were made of."""

    findings: Sequence[Finding]
    shape: int
    number: int
    """The line's index from 0 in a document of that shape."""
    is_movable: bool
    texts: list[bytes]


_START = b'{"range":{"start":{"line":'
_END = b'},"end":{"line":'


class DiagnosticMaker:
    """Makes a document's diagnostics, and remembers the last ones."""

    def __init__(self, analysis: Analysis, options: DiagnosticOptions) -> None:
        self._analysis = analysis
        self._options = options
        self._made: dict[Line, _Made] = {}
        self._distance = 0
        self._last: tuple[tuple[int, int], bytes] = ((-1, -1), b"")

    def as_json(self, near: Line | None = None) -> bytes:
        """The JSON text of the list of diagnostics; ``near`` is where somebody is editing."""
        analysis, most = self._analysis, self._options.most
        left_out = max(0, analysis.finding_count - most)
        state = (analysis.finding_revision, analysis.document.shape)
        if state == self._last[0] and not left_out:
            return self._last[1]
        before, self._made = self._made, {}
        texts: list[bytes] = []
        selection = analysis.select_findings(most, near)
        for line in selection.lines:
            made = self._made[line] = self._make(line, before.get(line))
            texts += made.texts if line is not selection.cut else made.texts[: selection.kept]
        if left_out:
            texts.append(dumps(self._more(left_out)))
        text = b"[" + b",".join(texts) + b"]"
        self._last = (state, text)
        return text

    def _make(self, line: Line, before: _Made | None) -> _Made:
        findings, document = self._analysis.findings_of(line), self._analysis.document
        if before is not None and before.findings is findings:
            if before.shape == document.shape:
                return before
            if before.is_movable and not document.is_divided:
                return self._moved(line, before)
        texts = [dumps(self._diagnostic(finding)) for finding in findings]
        movable = not document.is_divided and all(map(_is_movable, findings))
        return _Made(findings, document.shape, document.number(line), movable, texts)

    def _moved(self, line: Line, before: _Made) -> _Made:
        document = self._analysis.document
        # Most lines move as far as the one before them did.
        number = before.number + self._distance
        if not (number < len(document.lines) and document.lines[number] is line):
            number = document.number(line)
            self._distance = number - before.number
        texts = before.texts
        if number != before.number:
            texts = [_on_line(text, b"%d" % number) for text in texts]
        return _Made(before.findings, document.shape, number, True, texts)

    def _diagnostic(self, finding: Finding) -> Mapping[str, object]:
        rule = finding.rule
        record, span = self._analysis.where(finding)
        diagnostic: dict[str, object] = {
            "range": self._range(record, span),
            "severity": int(rule.severity),
            "code": rule.code,
            "source": SOURCE,
            "message": self._analysis.words(finding.words),
        }
        members = self._options.members
        url = self._options.url_of(rule.code) if "codeDescription" in members else None
        if url is not None:
            diagnostic["codeDescription"] = {"href": url}
        if rule.unnecessary and "tags" in members:
            diagnostic["tags"] = [_UNNECESSARY]
        if finding.related and "relatedInformation" in members:
            diagnostic["relatedInformation"] = self._related(finding)
        return diagnostic

    def _related(self, finding: Finding) -> Sequence[Mapping[str, object]]:
        return [
            {
                "location": {
                    "uri": self._options.uri,
                    "range": self._range(*self._analysis.where(each)),
                },
                "message": self._analysis.words(each.words),
            }
            for each in finding.related
        ]

    def _more(self, left_out: int) -> Mapping[str, object]:
        last = len(self._analysis.document.lines) - 1
        end = len(self._analysis.document.lines[last].text)
        return {
            "range": self._range(last, Span(end, end)),
            "severity": _INFORMATION,
            "code": "more-findings",
            "source": SOURCE,
            "message": f"{left_out:,} more findings are not shown here; "
            "`drive-trace check` prints them all",
        }

    def _range(self, record: int, span: Span) -> Mapping[str, object]:
        document, encoding = self._analysis.document, self._options.encoding
        start = document.position_of(Point(record, span.start), encoding)
        end = document.position_of(Point(record, span.end), encoding)
        return {
            "start": {"line": start.line, "character": start.character},
            "end": {"line": end.line, "character": end.character},
        }


def _is_movable(finding: Finding) -> bool:
    """Whether nothing but its own line's number would change when lines are inserted above."""
    return not finding.related and len(finding.words) == 1


def _on_line(text: bytes, number: bytes) -> bytes:
    """A diagnostic within one line, moved to another line."""
    start = text.index(b",", len(_START))
    end = text.index(_END, start) + len(_END)
    return b"".join((_START, number, text[start:end], number, text[text.index(b",", end) :]))
