"""Findings as the protocol's diagnostics, made as JSON text.

A file can have a thousand of them, and all are sent again after each keystroke:
those that an edit left alone are not made again, and no converter looks at them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import NamedTuple

import orjson

from drive_trace.api import Analysis
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


class _Made(NamedTuple):
    finding: Finding
    shape: int
    text: bytes


class DiagnosticMaker:
    """Makes a document's diagnostics, and remembers the last ones."""

    def __init__(self, analysis: Analysis, options: DiagnosticOptions) -> None:
        self._analysis = analysis
        self._options = options
        self._made: dict[int, _Made] = {}

    def as_json(self, near: Line | None = None) -> bytes:
        """The JSON text of the list of diagnostics; ``near`` is where somebody is editing."""
        findings, left_out = self._analysis.select_findings(self._options.most, near)
        shape = self._analysis.document.shape
        before, self._made = self._made, {}
        texts: list[bytes] = []
        for finding in findings:
            made = before.get(id(finding))
            if made is None or made.shape != shape or made.finding is not finding:
                made = _Made(finding, shape, dumps(self._diagnostic(finding)))
            self._made[id(finding)] = made
            texts.append(made.text)
        if left_out:
            texts.append(dumps(self._more(left_out)))
        return b"[" + b",".join(texts) + b"]"

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
        url = self._options.url_of(rule.code)
        if url is not None:
            diagnostic["codeDescription"] = {"href": url}
        if rule.unnecessary:
            diagnostic["tags"] = [_UNNECESSARY]
        related = [
            {
                "location": {
                    "uri": self._options.uri,
                    "range": self._range(*self._analysis.where(each)),
                },
                "message": self._analysis.words(each.words),
            }
            for each in finding.related
        ]
        if related:
            diagnostic["relatedInformation"] = related
        return diagnostic

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


def dumps(value: object) -> bytes:
    """JSON text of a value; a lone surrogate becomes its escape."""
    try:
        return orjson.dumps(value)
    except TypeError:
        return json.dumps(value, separators=(",", ":")).encode()
