"""Findings as the protocol's diagnostics, made as JSON text.

A file can have a thousand of them, and all are sent again after each keystroke. Those of a line are
made once, until its findings change or an edit moves lines.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from drive_trace.analysis import Analysis
from drive_trace.features.raw_json import dumps
from drive_trace.linter.rule import Finding, Related
from drive_trace.linter.settings import DEFAULTS, RuleSettings
from drive_trace.text.spans import PositionEncoding, Span, units_before
from drive_trace.trace.document import Point
from drive_trace.trace.line import Line
from drive_trace.trace.places import Place, resolve

SOURCE = "drive-trace"
_UNNECESSARY = 1
_INFORMATION = 3


class DiagnosticOptions(NamedTuple):
    """How diagnostics are made for one client."""

    uri: str
    encoding: PositionEncoding
    most: int
    """The most findings that are shown."""
    url_of: Callable[[str], str | None]
    """Gives the URL of a rule's page by the rule's code."""
    members: frozenset[str] = frozenset({"relatedInformation", "codeDescription", "tags"})
    """The optional members that the client reads."""
    rules: RuleSettings = DEFAULTS
    """The settings of the rules."""


class _LineDiagnostics(NamedTuple):
    """The diagnostics of one line, and what they were made from."""

    findings: Sequence[Finding]
    shape: int
    """The document's shape, which tells the numbers of all lines."""
    texts: Sequence[bytes]


class DiagnosticMaker:
    """Makes a document's diagnostics, and keeps the last ones."""

    def __init__(self, analysis: Analysis, options: DiagnosticOptions) -> None:
        self.analysis = analysis
        self.options = options
        self._document = analysis.document
        self._made: dict[Line, _LineDiagnostics] = {}
        self._odd_end: Line | None = None
        self._last: tuple[tuple[int, int, int], bytes] = ((-1, -1, -1), b"")

    def as_json(self, near: Line | None = None) -> bytes:
        """The JSON text of the list of diagnostics; ``near`` is the line of the last edit."""
        analysis, most = self.analysis, self.options.most
        left_out = max(0, analysis.finding_count - most)
        place = analysis.findings_before(near) if left_out and near is not None else 0
        state = (analysis.finding_revision, self._document.shape, place)
        if state == self._last[0]:
            return self._last[1]
        self._forget_end()
        before, self._made, shape = self._made, {}, self._document.shape
        texts: list[bytes] = []
        selection = analysis.select_findings(most, near)
        every = analysis.findings_of_each(selection.lines)
        for line, findings in zip(selection.lines, every, strict=True):
            made = before.get(line)
            if made is None or made.findings is not findings or made.shape != shape:
                # A single line can have a hundred thousand findings.
                made = _LineDiagnostics(findings, shape, [*map(self._text_of, findings[:most])])
            self._made[line] = made
            texts += made.texts if line is not selection.cut else made.texts[: selection.kept]
        if left_out:
            texts.append(self._more(left_out))
        text = b"[" + b",".join(texts) + b"]"
        self._last = (state, text)
        return text

    def _forget_end(self) -> None:
        """Make all anew when a line that ends in ``\\r`` becomes the last one, or no longer is:
        only there does the protocol count that as the end of a line.
        """
        last = self._document.lines[-1]
        odd_end = last if last.text.endswith("\r") else None
        if odd_end is not self._odd_end:
            self._made, self._odd_end = {}, odd_end

    def _text_of(self, finding: Finding) -> bytes:
        rule, members = finding.rule, self.options.members
        diagnostic: dict[str, object] = {
            "range": self._range(finding.line, finding.place, finding.last),
            "severity": int(self.analysis.severity_of(finding)),
            "code": rule.code,
            "source": SOURCE,
            "message": self.analysis.message(finding.message),
        }
        url = self.options.url_of(rule.code) if "codeDescription" in members else None
        if url is not None:
            diagnostic["codeDescription"] = {"href": url}
        if rule.unnecessary and "tags" in members:
            diagnostic["tags"] = [_UNNECESSARY]
        if finding.related and "relatedInformation" in members:
            diagnostic["relatedInformation"] = [*map(self._related, finding.related)]
        # A copy: what orjson returns keeps a buffer of 4 kB, and this stays.
        return b"%b" % dumps(diagnostic)

    def _related(self, related: Related) -> dict[str, object]:
        other = self.analysis.other_file(related.line)
        if other is None:
            where, uri = self._range(related.line, related.place), self.options.uri
        else:
            where, uri = self._range_elsewhere(related.line, related.place), other.uri
        location = {"uri": uri, "range": where}
        return {"location": location, "message": self.analysis.message(related.message)}

    def _range_elsewhere(self, line: Line, place: Place | Span) -> dict[str, object]:
        """In another file, whose lines are taken to end with its records."""
        number, encoding = self._document.number(line), self.options.encoding
        ends = (units_before(line.text, each, encoding) for each in resolve(line.text, place))
        start, end = ({"line": number, "character": each} for each in ends)
        return {"start": start, "end": end}

    def _range(
        self, line: Line, place: Place | Span, last: Line | None = None
    ) -> dict[str, object]:
        start, end = resolve(line.text, place)
        if last is None:
            return {"start": self._position(line, start), "end": self._position(line, end)}
        end_of_last = self._position(last, len(last.text.rstrip("\r")))
        return {"start": self._position(line, start), "end": end_of_last}

    def _position(self, line: Line, offset: int) -> dict[str, int]:
        point = Point(self._document.number(line), min(offset, len(line.text)))
        return self._document.position_of(point, self.options.encoding)._asdict()

    def _more(self, left_out: int) -> bytes:
        last = self._document.lines[-1]
        return dumps(
            {
                "range": self._range(last, Span(len(last.text), len(last.text))),
                "severity": _INFORMATION,
                "code": "more-findings",
                "source": SOURCE,
                "message": f"{left_out:,} more findings are not shown here; "
                "`drive-trace check` prints them all",
            }
        )
