"""Findings as the protocol's diagnostics, made as JSON text.

A file can have a thousand of them, and all are sent again after each keystroke. Each is made once,
as a template: later edits only change the numbers of lines in it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from drive_trace.analysis import Analysis
from drive_trace.features.raw_json import JsonText, dumps
from drive_trace.linter.rule import Finding, Message, Related
from drive_trace.linter.settings import DEFAULTS, RuleSettings
from drive_trace.text.spans import PositionEncoding, Span
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


class _Number(NamedTuple):
    """The number of a line, as a template leaves it open."""

    line: Line
    inner: int | None
    """Protocol lines between the record's start and the position; None in a message, which counts
    records from 1.
    """


_Template = tuple[bytes, Sequence[_Number]]
"""A diagnostic as JSON text, with a ``%d`` for each of these numbers."""


class _LineDiagnostics(NamedTuple):
    """The diagnostics of one line, and what they were made from."""

    findings: Sequence[Finding]
    templates: list[_Template]
    shape: int
    """The document's shape for which :attr:`texts` hold."""
    texts: Sequence[bytes]


class DiagnosticMaker:
    """Makes a document's diagnostics, and keeps the last ones."""

    def __init__(self, analysis: Analysis, options: DiagnosticOptions) -> None:
        self._analysis = analysis
        self._document = analysis.document
        self._options = options
        self._made: dict[Line, _LineDiagnostics] = {}
        self._odd_end: Line | None = None
        self._last: tuple[tuple[int, int, int], bytes] = ((-1, -1, -1), b"")

    def as_json(self, near: Line | None = None) -> bytes:
        """The JSON text of the list of diagnostics; ``near`` is the line of the last edit."""
        analysis, most = self._analysis, self._options.most
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
                made = self._make(line, findings, made)
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

    def _make(
        self, line: Line, findings: Sequence[Finding], before: _LineDiagnostics | None
    ) -> _LineDiagnostics:
        if before is None or before.findings is not findings:
            # A single line can have a hundred thousand findings.
            templates = [self._template(each) for each in findings[: self._options.most]]
        else:
            templates = before.templates
        document = self._document
        record = document.number(line)
        first = document.protocol_line(record)
        texts = [self._filled(each, line, record, first) for each in templates]
        return _LineDiagnostics(findings, templates, document.shape, texts)

    def _filled(self, template: _Template, own: Line, record: int, first: int) -> bytes:
        """A diagnostic with the numbers that lines have now. Most are of its own line: that is a
        ``record``, and begins on the protocol's line ``first``.
        """
        filled = []
        for line, inner in template[1]:
            if line is not own:
                record = self._document.number(line)
                first = self._document.protocol_line(record)
                own = line
            filled.append(record + 1 if inner is None else first + inner)
        return template[0] % tuple(filled)

    def _template(self, finding: Finding) -> _Template:
        numbers: list[_Number] = []
        rule, members = finding.rule, self._options.members
        # In the order of the text, as each part notes its numbers.
        diagnostic: dict[str, object] = {
            "range": self._range(finding.line, finding.place, numbers, finding.last),
            "severity": int(self._analysis.severity_of(finding)),
            "code": rule.code,
            "source": SOURCE,
            "message": _message(finding.message, numbers),
        }
        url = self._options.url_of(rule.code) if "codeDescription" in members else None
        if url is not None:
            diagnostic["codeDescription"] = {"href": _text(url)}
        if rule.unnecessary and "tags" in members:
            diagnostic["tags"] = [_UNNECESSARY]
        if finding.related and "relatedInformation" in members:
            diagnostic["relatedInformation"] = [
                self._related(each, numbers) for each in finding.related
            ]
        # A copy: what orjson returns keeps a buffer of 4 kB, and this stays.
        return b"%b" % dumps(diagnostic), numbers

    def _related(self, related: Related, numbers: list[_Number]) -> dict[str, object]:
        where = self._range(related.line, related.place, numbers)
        location = {"uri": _text(self._options.uri), "range": where}
        return {"location": location, "message": _message(related.message, numbers)}

    def _range(
        self, line: Line, place: Place | Span, numbers: list[_Number], last: Line | None = None
    ) -> JsonText:
        start, end = resolve(line.text, place)
        ends = [
            self._position(line, start, numbers),
            self._position(last, len(last.text.rstrip("\r")), numbers)
            if last is not None
            else self._position(line, end, numbers),
        ]
        return JsonText(
            b'{"start":{"line":%%d,"character":%d},"end":{"line":%%d,"character":%d}}'
            % (ends[0], ends[1])
        )

    def _position(self, line: Line, offset: int, numbers: list[_Number]) -> int:
        document = self._document
        record = document.number(line)
        point = Point(record, min(offset, len(line.text)))
        number, character = document.position_of(point, self._options.encoding)
        numbers.append(_Number(line, number - document.protocol_line(record)))
        return character

    def _more(self, left_out: int) -> bytes:
        last = self._document.lines[-1]
        numbers: list[_Number] = []
        end = Span(len(last.text), len(last.text))
        diagnostic = {
            "range": self._range(last, end, numbers),
            "severity": _INFORMATION,
            "code": "more-findings",
            "source": SOURCE,
            "message": f"{left_out:,} more findings are not shown here; "
            "`drive-trace check` prints them all",
        }
        record = len(self._document.lines) - 1
        first = self._document.protocol_line(record)
        return self._filled((dumps(diagnostic), numbers), last, record, first)


def _text(value: str) -> JsonText:
    """A string of the client, which may hold a lone surrogate or a ``%``."""
    return JsonText(dumps(value).replace(b"%", b"%%"))


def _message(message: Message, numbers: list[_Number]) -> JsonText:
    if isinstance(message, str):
        return _text(message)
    parts: list[bytes] = []
    for part in message:
        if isinstance(part, Line):
            numbers.append(_Number(part, None))
            parts.append(b"%d")
        else:
            parts.append(_text(part).text[1:-1])
    return JsonText(b'"%b"' % b"".join(parts))
