"""Findings as the protocol's diagnostics, made as JSON text.

A file can have a thousand of them, and all are sent again after each keystroke:
those that an edit left alone are not made again, and no converter looks at them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from drive_trace.analysis import Analysis
from drive_trace.features.raw_json import dumps
from drive_trace.linter.rule import Finding, Message, Related
from drive_trace.linter.settings import DEFAULTS, RuleSettings
from drive_trace.text.spans import PositionEncoding, Span, units_before
from drive_trace.trace.document import Point
from drive_trace.trace.line import Line
from drive_trace.trace.places import resolve

SOURCE = "drive-trace"
_UNNECESSARY = 1
_INFORMATION = 3
_MOST_NUMBERS = 20_000
"""So many lines' numbers are remembered, gone lines' too."""


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
    rules: RuleSettings = DEFAULTS
    """How the rules are run."""


class _Text(NamedTuple):
    """A diagnostic as JSON text, cut where the numbers of lines stand."""

    parts: Sequence[bytes]
    """One more than there are numbers."""
    slots: Sequence[_Slot] | None
    """What stands between them; None where it is the number of its own line each time."""


class _Slot(NamedTuple):
    """A place for a line's number."""

    line: Line
    counts_from: int
    """0 in a position, 1 in a message."""


class _Made(NamedTuple):
    """The diagnostics of one line, and what they were made of."""

    findings: Sequence[Finding]
    shape: int
    cut: Sequence[_Text] | None
    """What they can be made of again in a document of another shape."""
    texts: Sequence[bytes]


# Private characters, which no message holds: it shows what is not printable in another way.
_IN_POSITION, _IN_MESSAGE, _BEHIND = "\ue000", "\ue001", "\ue002"
_MARK = re.compile(f'"{_IN_POSITION}([0-9]+)"|{_IN_MESSAGE}([0-9]+){_BEHIND}'.encode())


class DiagnosticMaker:
    """Makes a document's diagnostics, and remembers the last ones."""

    def __init__(self, analysis: Analysis, options: DiagnosticOptions) -> None:
        self._analysis = analysis
        self._options = options
        self._made: dict[Line, _Made] = {}
        self._numbers: dict[Line, int] = {}
        """The numbers, from 0, that lines had when somebody last asked."""
        self._distance = 0
        self._lines: Sequence[Line] = ()
        self._is_simple = False
        """Whether each record is one line of the protocol."""
        self._last: tuple[tuple[int, int, int], bytes] = ((-1, -1, -1), b"")

    def as_json(self, near: Line | None = None) -> bytes:
        """The JSON text of the list of diagnostics; ``near`` is where somebody is editing."""
        analysis, most = self._analysis, self._options.most
        left_out = max(0, analysis.finding_count - most)
        place = analysis.findings_before(near) if left_out and near is not None else 0
        state = (analysis.finding_revision, analysis.document.shape, place)
        if state == self._last[0]:
            return self._last[1]
        before, self._made = self._made, {}
        lines = analysis.document.lines
        self._lines = lines
        self._is_simple = not analysis.document.is_divided and not lines[-1].text.endswith("\r")
        if len(self._numbers) > _MOST_NUMBERS:
            self._numbers.clear()
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
            if before.cut is not None and self._is_simple:
                return self._filled(line, findings, before.cut)
        if not self._is_simple:
            return self._plain(findings)
        cut = [self._cut(finding) for finding in self._shown(findings)]
        known = [text for text in cut if text is not None]
        return self._filled(line, findings, known) if known == cut else self._plain(findings)

    def _shown(self, findings: Sequence[Finding]) -> Sequence[Finding]:
        """Those of a line that can be shown: a single one may have a hundred thousand."""
        return findings[: self._options.most]

    def _plain(self, findings: Sequence[Finding]) -> _Made:
        plain = _Plain(self._analysis)
        texts = [dumps(self._diagnostic(finding, plain)) for finding in self._shown(findings)]
        return _Made(findings, self._analysis.document.shape, None, texts)

    def _cut(self, finding: Finding) -> _Text | None:
        """The text of a diagnostic; None where a mark got lost, as in escapes."""
        marked = _Marked(self._analysis)
        parts = _MARK.split(dumps(self._diagnostic(finding, marked)))
        slots = [
            _Slot(marked.lines[int(first or second)], 0 if first else 1)
            for first, second in zip(parts[1::3], parts[2::3], strict=True)
        ]
        if len(slots) != len(marked.lines) + marked.ranges:
            return None
        is_alone = all(slot == (finding.line, 0) for slot in slots)
        return _Text(parts[::3], None if is_alone else slots)

    def _filled(self, line: Line, findings: Sequence[Finding], cut: Sequence[_Text]) -> _Made:
        """Diagnostics with the numbers that lines have now."""
        own = b"%d" % self._number(line)
        texts = [
            own.join(text.parts) if text.slots is None else self._joined(text.parts, text.slots)
            for text in cut
        ]
        return _Made(findings, self._analysis.document.shape, cut, texts)

    def _joined(self, parts: Sequence[bytes], slots: Sequence[_Slot]) -> bytes:
        pieces = [parts[0]]
        for (line, counts_from), part in zip(slots, parts[1:], strict=True):
            pieces += (b"%d" % (self._number(line) + counts_from), part)
        return b"".join(pieces)

    def _number(self, line: Line) -> int:
        lines, before = self._lines, self._numbers.get(line, 0)
        # Most lines move as far as the one before them did.
        number = before + self._distance
        if not (0 <= number < len(lines) and lines[number] is line):
            number = self._analysis.document.number(line)
            self._distance = number - before
        self._numbers[line] = number
        return number

    def _diagnostic(self, finding: Finding, written: _Plain | _Marked) -> Mapping[str, object]:
        rule = finding.rule
        diagnostic: dict[str, object] = {
            "range": self._range(finding, written),
            "severity": int(self._analysis.severity_of(finding)),
            "code": rule.code,
            "source": SOURCE,
            "message": written.message(finding.message),
        }
        members = self._options.members
        url = self._options.url_of(rule.code) if "codeDescription" in members else None
        if url is not None:
            diagnostic["codeDescription"] = {"href": url}
        if rule.unnecessary and "tags" in members:
            diagnostic["tags"] = [_UNNECESSARY]
        if finding.related and "relatedInformation" in members:
            diagnostic["relatedInformation"] = self._related(finding, written)
        return diagnostic

    def _related(
        self, finding: Finding, written: _Plain | _Marked
    ) -> Sequence[Mapping[str, object]]:
        return [
            {
                "location": {"uri": self._options.uri, "range": self._range(each, written)},
                "message": written.message(each.message),
            }
            for each in finding.related
        ]

    def _more(self, left_out: int) -> Mapping[str, object]:
        last = self._analysis.document.lines[-1]
        end = len(last.text)
        return {
            "range": _Plain(self._analysis).range(last, Span(end, end), self._options.encoding),
            "severity": _INFORMATION,
            "code": "more-findings",
            "source": SOURCE,
            "message": f"{left_out:,} more findings are not shown here; "
            "`drive-trace check` prints them all",
        }

    def _range(
        self, place: Finding | Related, written: _Plain | _Marked
    ) -> Mapping[str, Mapping[str, object]]:
        span = resolve(place.line.text, place.place)
        return written.range(place.line, span, self._options.encoding)


class _Plain:
    """Writes lines by their numbers."""

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis

    def message(self, message: Message) -> str:
        """A message."""
        return self._analysis.message(message)

    def range(
        self, line: Line, span: Span, encoding: PositionEncoding
    ) -> Mapping[str, Mapping[str, object]]:
        """A range of the protocol."""
        document = self._analysis.document
        record = document.number(line)
        start = document.position_of(Point(record, span.start), encoding)
        end = document.position_of(Point(record, span.end), encoding)
        return {"start": start._asdict(), "end": end._asdict()}


class _Marked:
    """Writes marks instead of numbers, in a document each record of which is one line."""

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis
        self.lines: list[Line] = []
        """The lines by their marks."""
        self.ranges = 0
        """How many of the marks stand twice, at the start and the end of a range."""

    def message(self, message: Message) -> str:
        """A message."""
        if isinstance(message, str):
            return message
        return "".join(
            f"{_IN_MESSAGE}{self._mark(part)}{_BEHIND}" if isinstance(part, Line) else part
            for part in message
        )

    def range(
        self, line: Line, span: Span, encoding: PositionEncoding
    ) -> Mapping[str, Mapping[str, object]]:
        """A range of the protocol."""
        mark, text = f"{_IN_POSITION}{self._mark(line)}", line.text.removesuffix("\r")
        start, end = (min(each, len(text)) for each in span)
        self.ranges += 1
        return {
            "start": {"line": mark, "character": units_before(text, start, encoding)},
            "end": {"line": mark, "character": units_before(text, end, encoding)},
        }

    def _mark(self, line: Line) -> int:
        self.lines.append(line)
        return len(self.lines) - 1
