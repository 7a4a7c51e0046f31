r"""Traces as tests write them, and one ``check_…`` helper a kind of answer.

A fixture is a piece of a trace as somebody has it open, indented as the test is::

    check_findings('''
        EVENT{"event_type":"correctness-recorded","qa":"passed"}
                                                       ^^^^^^^^ unknown-value: did you mean "pass"
        {"event_type":"tokens-recorded",}
                                       ^ invalid-json
    ''')

``EVENT{…}``
    The vocabulary's example of the event named by ``event_type``, written compactly, with the
    given pairs put in: in the place of the field of that name, else at the end. Each line has an
    ``event_id`` of its own. A pair is taken as
    it is written, so it may be anything but JSON (``"qa":NaN``, ``qa:'pass'``), stand twice, or
    have the value ``<absent>``, which takes the field out. What stands behind the last pair (a
    comma, say, or nothing where the brace is missing) stays there. With an event type that is none,
    or without one, the example is the envelope alone. All other lines are taken as they are.

``^^^ code`` or ``^^^ code: part of the message``
    Under a line: a finding on what stands above the ``^``, as it is written there; a mark under
    ``EVENT{…}`` follows what it marks into the whole line. ``|`` instead of ``^^^`` marks the
    empty place before a character, or behind the last one. Several marks of one line stand under
    each other. What is said may stand on the left where there is no room on the right. In the
    examples of a rule the code is understood: ``^^^`` or ``^^^ … part of the message``. Columns are
    code points.

``$0``
    The cursor, at most one.

``<eof>``
    At the end of the last line: no newline follows. All other lines end with one.

Whatever leaves the engine with positions is asked for in all three encodings of the protocol, and
read back by code of the tests' own.
"""

import json
import re
from collections.abc import Callable, Sequence
from random import Random
from textwrap import dedent
from typing import Any, NamedTuple, TypeVar
from uuid import UUID

from lsprotocol import converters, types

from drive_trace.analysis import Analysis
from drive_trace.authoring.drafts import Stamp
from drive_trace.features import findings, results
from drive_trace.features.findings import DiagnosticMaker, DiagnosticOptions
from drive_trace.features.hover import hover
from drive_trace.features.referents import HoverOptions
from drive_trace.features.runs import code_lenses, resolve_lens
from drive_trace.linter.rule import Fix
from drive_trace.linter.settings import DEFAULTS
from drive_trace.storage.files import records_of
from drive_trace.text.spans import PositionEncoding, Span, encode_exactly
from drive_trace.trace.document import Point
from drive_trace.trace.provenance import Origin, digest_of_line, entry_line, read_provenance
from drive_trace.vocabulary import ENVELOPE, EVENTS, GRADE
from tests.support.client_text import apply_edits, offset_in, position
from tests.support.rule_examples import Example
from tests.support.scored import score_of

URI = "file:///traces/checkout-retry/trace.jsonl"
ENCODINGS = tuple(PositionEncoding)
PLAIN = converters.get_converter()
_ALL = 10_000
T = TypeVar("T")

_CURSOR = "$0"
_EOF = "<eof>"
_ENVELOPE = {name: EVENTS[GRADE].example[name] for name in ENVELOPE} | {"event_type": ""}
_ABSENT = "<absent>"
_SHORTHAND = "EVENT{"
_NOTE = r"(?:([a-z-]+)(?:: ([^ ].*?))?|… (.+?))"
_MARK = re.compile(rf" *(?:{_NOTE} +)?(\^+|\|)(?: +{_NOTE})?")


class Mark(NamedTuple):
    """A finding that is expected."""

    record: int
    span: Span
    code: str | None
    message: str


class Fixture(NamedTuple):
    """What a fixture says."""

    text: str
    cursor: Point | None
    marks: tuple[Mark, ...]

    @property
    def lines(self) -> list[str]:
        return self.text.split("\n")

    def at(self, encoding: PositionEncoding) -> types.Position:
        """The cursor, as a client would say it."""
        assert self.cursor is not None, "this check needs a $0 in its fixture"
        return to_position(self.text, self.cursor, encoding)


# Reading a fixture


def read(fixture: str) -> Fixture:
    """The trace, the cursor and the marks of a fixture."""
    source = dedent(fixture).removeprefix("\n")
    source = re.sub(r"\n *\Z", "", source)
    lines: list[_Line] = []
    marks: list[Mark] = []
    for written in source.split("\n"):
        mark = _MARK.fullmatch(written)
        if mark is None:
            lines.append(_Line(written, len(lines)))
            continue
        assert lines, "a mark stands under a line"
        left, symbols, right = mark.group(1, 2, 3), mark[4], mark.group(5, 6, 7)
        code, with_code, without = left if any(left) else right
        span = lines[-1].span_of(mark.start(4), mark.end(4), empty=symbols == "|")
        marks.append(Mark(len(lines) - 1, span, code, with_code or without or ""))
    cursors = [Point(at, line.cursor) for at, line in enumerate(lines) if line.cursor is not None]
    assert len(cursors) <= 1, "a fixture has one cursor"
    text = "\n".join(line.text for line in lines)
    text = text.removesuffix(_EOF) if text.endswith(_EOF) else text + "\n"
    return Fixture(text, cursors[0] if cursors else None, tuple(marks))


def records(text: str) -> list[str]:
    """A fixture's text as it is read from a file: a lone surrogate is a byte that is not UTF-8."""
    return records_of(encode_exactly(text))


def event_id(number: int) -> str:
    """The ``event_id`` of the shorthand on a line, from 0: that of the examples on the first."""
    if not number:
        return str(_ENVELOPE["event_id"])
    return str(UUID(int=Random(number).getrandbits(128), version=4))


def trace(*events: str) -> str:
    """The text of a trace of shorthands or whole lines."""
    return read("\n".join(events)).text


class _Line:
    """One line of a fixture: what it says, and what became of each character that was written."""

    def __init__(self, written: str, number: int) -> None:
        self._written = written
        self._number = number
        self._places: dict[int, int] = {}
        self._parts: list[str] = []
        self._length = 0
        kept = [at for at in range(len(written)) if not self._is_cursor(at)]
        self.text = "".join(written[at] for at in kept)
        if self.text.startswith(_SHORTHAND):
            self._expand(self.text, kept)
            self.text = "".join(self._parts)
        else:
            self._places = {at: place for place, at in enumerate(kept)}
        found = written.find(_CURSOR)
        self.cursor = None if found < 0 else self._cursor_place(found)

    def span_of(self, start: int, stop: int, *, empty: bool) -> Span:
        """The span of the line that written columns became."""
        first = self._place(start)
        return Span(first, first) if empty else Span(first, self._place(stop - 1) + 1)

    def _is_cursor(self, at: int) -> bool:
        return self._written.startswith(_CURSOR, at) or (
            at > 0 and self._written.startswith(_CURSOR, at - 1)
        )

    def _cursor_place(self, at: int) -> int:
        behind = at + len(_CURSOR)
        if self._written[behind : behind + 1] in (",", "}") and at - 1 in self._places:
            return self._places[at - 1] + 1  # at the end of a value, wherever that went
        return self._place(behind)

    def _place(self, at: int) -> int:
        if at == len(self._written):
            return len(self.text.removesuffix(_EOF))
        assert at in self._places, f"nothing of the line is written in column {at}: {self._written}"
        return self._places[at]

    def _copy(self, text: str, start: int, stop: int, kept: Sequence[int]) -> None:
        for at in range(start, stop):
            self._places[kept[at]] = self._length + at - start
        self._add(text[start:stop])

    def _add(self, text: str) -> None:
        self._parts.append(text)
        self._length += len(text)

    def _expand(self, text: str, kept: Sequence[int]) -> None:
        pairs, behind = _pairs(text, len(_SHORTHAND))
        given: dict[str, list[_Pair]] = {}
        for pair in pairs:
            given.setdefault(pair.name, []).append(pair)
        name = _unquoted(given["event_type"][-1].value(text)) if "event_type" in given else ""
        known = EVENTS.get(name)
        example = dict(known.example if known is not None else _ENVELOPE)
        example["event_id"] = event_id(self._number)
        self._copy(text, len(_SHORTHAND) - 1, len(_SHORTHAND), kept)
        self._places[kept[0]] = 0
        separator = ""
        for field in (*example, *(each for each in given if each not in example)):
            if field not in given:
                self._add(f"{separator}{dumps(field)}:{dumps(example[field])}")
                separator = ","
            for pair in given.get(field, ()):
                if pair.value(text) != _ABSENT:
                    self._add(separator)
                    self._copy(text, *pair.span, kept)
                    separator = ","
        self._copy(text, behind, len(text), kept)


class _Pair(NamedTuple):
    name: str
    span: Span
    value_start: int

    def value(self, text: str) -> str:
        return text[self.value_start : self.span.end].strip()


def _pairs(text: str, start: int) -> tuple[list[_Pair], int]:
    """The pairs of an object as they are written, and where the last one ends."""
    pairs: list[_Pair] = []
    depth, in_string, colon, begin = 0, False, -1, start
    behind = at = start
    while at <= len(text) and depth >= 0:
        character = text[at : at + 1] or "}"  # the object may be unfinished
        if in_string:
            at += character == "\\"
            in_string = character != '"'
        elif character == '"':
            in_string = True
        elif character in "{[":
            depth += 1
        elif character in "]}":
            depth -= 1
        elif character == ":" and not depth and colon < 0:
            colon = at
        if (character == "," and not depth and not in_string) or depth < 0:
            if colon >= 0:
                name = _unquoted(text[begin:colon].strip())
                pairs.append(_Pair(name, Span(begin, at), colon + 1))
                behind = at
            begin, colon = at + 1, -1
        at += 1
    return pairs, behind


def _unquoted(text: str) -> str:
    try:
        return str(json.loads(text))
    except ValueError:
        return text.strip("\"'")


def dumps(value: object) -> str:
    """JSON as the vocabulary wants it written."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def to_position(text: str, point: Point, encoding: PositionEncoding) -> types.Position:
    """A place in a text as a client says it."""
    at = sum(len(each) + 1 for each in text.split("\n")[: point.record]) + point.offset
    return types.Position(**position(text, at, encoding))


def alike(ask: Callable[[PositionEncoding], T]) -> T:
    """An answer, which is the same in every encoding once its positions are read."""
    answers = [ask(each) for each in ENCODINGS]
    assert answers.count(answers[0]) == len(answers), answers
    return answers[0]


# Findings


def check_findings(fixture: str) -> Analysis:
    """Exactly the marked findings are there, in every encoding."""
    wanted = read(fixture)
    assert all(mark.code for mark in wanted.marks), "a mark here names the code of a finding"
    analysis = Analysis(wanted.text)
    check_marks(wanted, findings_of(analysis))
    return analysis


class Found(NamedTuple):
    """A finding as a client has it."""

    record: int
    span: Span
    code: str
    message: str


def findings_of(analysis: Analysis) -> list[Found]:
    """The findings of a trace. Every encoding shows alike which are told, and all their places."""
    found, shown = [], []
    text = analysis.document.text
    silent = {id(each) for told in analysis.told() for each in told.follows}
    for finding in analysis.findings():
        record, span = analysis.where(finding)
        found.append(Found(record, span, finding.rule.code, analysis.message(finding.message)))
        start, end = _offsets(text, found[-1])
        if finding.last is not None:
            last = finding.last.text.rstrip("\r")
            number = analysis.document.number(finding.last)
            end = _offsets(text, found[-1]._replace(record=number, span=Span(0, len(last))))[1]
        if id(finding) not in silent:
            shown.append((*found[-1][2:], start, end))
    if "\r" not in text.replace("\r\n", "\n"):
        for encoding in ENCODINGS:
            diagnostics = _diagnostics(analysis, encoding)
            for each, (code, message, *where) in zip(diagnostics, shown, strict=True):
                shown_code, shown_message, *shown_where = _shown(text, each, encoding)
                assert (shown_code, shown_where) == (code, where)
                assert message in shown_message, "the first of several says how many they are"
    return found


def analysis_of(example: Example) -> Analysis:
    """The trace of a rule's example."""
    head = records(read(example.head).text) if example.head is not None else None
    text = read(example.recorded).text if example.recorded is not None else ""
    provenance = read_provenance(provenance_of(text).encode()) if text else None
    return Analysis(records(read(example.before).text), DEFAULTS, example.path, head, provenance)


def provenance_of(text: str, origin: Origin = Origin("emit")) -> str:  # noqa: B008 - is frozen
    """The record that a trace has beside it when each of its lines was appended by a command."""
    lines: list[str] = []
    for each in text.splitlines():
        previous = digest_of_line(lines[-1].encode()) if lines else None
        lines.append(entry_line(each, origin, previous, "0.1.0"))
    return "".join(f"{line}\n" for line in lines)


def check_marks(wanted: Fixture, found: Sequence[Found]) -> None:
    """What was found is what is marked, and says what the marks say."""
    expected = sorted(_line_of(wanted, mark) for mark in wanted.marks)
    assert sorted(_line_of(wanted, each) for each in found) == expected, _told(wanted, found)
    left = list(found)
    for mark in sorted(wanted.marks, key=lambda mark: -len(mark.message)):
        fitting = [
            each
            for each in left
            if (each.record, each.span, each.code) == mark[:3] and mark.message in each.message
        ]
        assert fitting, f"no finding here says {mark.message!r}:\n{_told(wanted, found)}"
        left.remove(fitting[0])


def _line_of(fixture: Fixture, each: Mark | Found) -> str:
    marked = fixture.lines[each.record][slice(*each.span)]
    return f"line {each.record + 1}, {each.span.start}-{each.span.end} {marked!r}: {each.code}"


def _told(fixture: Fixture, found: Sequence[Found]) -> str:
    told = [f"  {_line_of(fixture, each)}: {each.message}" for each in found]
    return "\n".join(["found:", *(told or ["  nothing"]), "in:", fixture.text])


def _diagnostics(analysis: Analysis, encoding: PositionEncoding) -> list[dict[str, Any]]:
    options = DiagnosticOptions(URI, encoding, _ALL, lambda _: None)
    made: list[dict[str, Any]] = json.loads(DiagnosticMaker(analysis, options).as_json())
    return made


def _shown(
    text: str, diagnostic: dict[str, Any], encoding: PositionEncoding
) -> tuple[str, str, int, int]:
    start, end = diagnostic["range"]["start"], diagnostic["range"]["end"]
    return (
        diagnostic["code"],
        diagnostic["message"],
        offset_in(text, start, encoding),
        offset_in(text, end, encoding),
    )


def _offsets(text: str, found: Found) -> tuple[int, int]:
    before = sum(len(line) + 1 for line in text.split("\n")[: found.record])
    return before + found.span.start, before + found.span.end


# Fixes


def apply_fix(text: str, fix: Fix, analysis: Analysis) -> str:
    """The text after a fix, made by hand."""
    starts = [0]
    for line in analysis.document.lines:
        starts.append(starts[-1] + len(line.text) + 1)
    edits = sorted(
        (starts[analysis.document.number(edit.line)] + edit.span.start, edit.span, edit.text)
        for edit in fix.edits
    )
    for start, span, new in reversed(edits):
        text = text[:start] + new + text[start + span.end - span.start :]
    return text


def text_edits(fix: Fix, analysis: Analysis, encoding: PositionEncoding) -> list[types.TextEdit]:
    """A fix as a client would be sent it."""
    text = analysis.document.text
    return [
        types.TextEdit(
            types.Range(
                *(
                    to_position(text, Point(analysis.document.number(edit.line), at), encoding)
                    for at in edit.span
                )
            ),
            edit.text,
        )
        for edit in fix.edits
    ]


def check_fix(before: str, after: str, title: str | None = None) -> None:
    """The code action at the cursor called ``title`` (or the first) makes ``after`` of ``before``;
    made as an edit in the open document, it leaves what a fresh analysis of the result says.
    """
    fixture, wanted = read(before), read(after).text
    for encoding in ENCODINGS:
        actions = _actions(Analysis(fixture.text), fixture.at(encoding), encoding)
        fitting = [each for each in actions if title in (None, each.title)]
        assert fitting, f"no action {title!r} here, only {[each.title for each in actions]}"
        assert apply_edits(fixture.text, edits_of(fitting[0]), encoding) == wanted
        check_edited(fixture.text, edits_of(fitting[0]), encoding)


def check_edited(text: str, edits: Sequence[types.TextEdit], encoding: PositionEncoding) -> None:
    """An open document that gets the edits knows what a fresh one with the result knows."""
    analysis = Analysis(text)
    for edit in sorted(edits, key=lambda edit: _key(edit.range.start))[::-1]:
        start, end = (
            results.point_at(results.View(analysis, encoding), each)
            for each in (edit.range.start, edit.range.end)
        )
        analysis.edit(start, end, edit.new_text)
    fresh = Analysis(apply_edits(text, edits, encoding))
    assert analysis.document.text == fresh.document.text
    assert findings_of(analysis) == findings_of(fresh)
    assert score_of(analysis) == score_of(fresh)


def _key(position: types.Position) -> tuple[int, int]:
    return position.line, position.character


# Code actions


def check_actions(fixture: str, only: Sequence[str] | None = None) -> list[str]:
    """The titles of the code actions at the cursor."""
    wanted = read(fixture)

    def titles(encoding: PositionEncoding) -> list[str]:
        found = _actions(Analysis(wanted.text), wanted.at(encoding), encoding, only=only)
        return [each.title for each in found]

    return alike(titles)


def actions_in(
    text: str,
    where: types.Range,
    *,
    encoding: PositionEncoding = PositionEncoding.UTF16,
    only: Sequence[str] | None = None,
    diagnostics: Sequence[types.Diagnostic] = (),
    with_document_changes: bool = True,
) -> list[types.CodeAction]:
    """The code actions of a range."""
    context = types.CodeActionContext(diagnostics=list(diagnostics), only=only)
    return fixes_in(
        results.View(Analysis(text), encoding),
        types.OptionalVersionedTextDocumentIdentifier(URI, version=7),
        types.CodeActionParams(types.TextDocumentIdentifier(URI), where, context),
        with_document_changes=with_document_changes,
    )


def fixes_in(
    view: results.View,
    document: types.OptionalVersionedTextDocumentIdentifier,
    params: types.CodeActionParams,
    *,
    with_document_changes: bool,
) -> list[types.CodeAction]:
    """The quick fixes that a request asks for, as the server should send them."""
    actions = []
    for each in findings.fix_offers(view, findings.touched(view, params), params.context.only):
        assert each.mends is not None
        assert not isinstance(each.make, findings.FixAll)
        made = each.make(Stamp("", ""))
        assert not isinstance(made, results.CannotMake | results.JsonText)
        edits = [(document, results.as_edits(view, made))]
        edit = results.workspace_edits(edits, with_document_changes=with_document_changes)
        actions.append(
            types.CodeAction(
                each.title,
                types.CodeActionKind(each.kind),
                diagnostics=findings.same(params.context.diagnostics, view, each.mends),
                is_preferred=each.is_preferred,
                edit=PLAIN.structure(json.loads(results.dumps(edit)), types.WorkspaceEdit),
            )
        )
    return actions


def _actions(
    analysis: Analysis,
    at: types.Position,
    encoding: PositionEncoding,
    only: Sequence[str] | None = None,
) -> list[types.CodeAction]:
    where = types.Range(at, at)
    return actions_in(analysis.document.text, where, encoding=encoding, only=only)


def edits_of(action: types.CodeAction) -> list[types.TextEdit]:
    """The edits of an action that changes the one open document."""
    assert action.edit is not None
    if action.edit.document_changes is None:
        assert action.edit.changes is not None
        assert list(action.edit.changes) == [URI]
        return list(action.edit.changes[URI])
    assert action.edit.changes is None, "a client takes one of the two"
    (change,) = action.edit.document_changes
    assert isinstance(change, types.TextDocumentEdit)
    assert change.text_document == types.OptionalVersionedTextDocumentIdentifier(URI, version=7)
    return [each for each in change.edits if isinstance(each, types.TextEdit)]


# Hover and lenses


def check_hover(
    fixture: str,
    options: HoverOptions | None = None,
    kind: types.MarkupKind = types.MarkupKind.Markdown,
) -> str | None:
    """The text at the cursor, whose range is the token that the cursor stands in."""
    wanted = read(fixture)
    analysis = Analysis(wanted.text)
    assert wanted.cursor is not None, "a hover needs a $0 in its fixture"
    here = sum(len(line) + 1 for line in wanted.lines[: wanted.cursor.record])
    here += wanted.cursor.offset

    def ask(encoding: PositionEncoding) -> tuple[str | None, int, int]:
        view = results.View(analysis, encoding)
        found = hover(
            view, results.point_at(view, wanted.at(encoding)), kind, options or HoverOptions()
        )
        if found is None:
            return None, 0, 0
        assert isinstance(found.contents, types.MarkupContent)
        assert found.contents.kind is kind
        assert found.range is not None
        start, end = (
            offset_in(wanted.text, each, encoding) for each in (found.range.start, found.range.end)
        )
        assert start <= here < end, "the range of a hover holds the cursor"
        return found.contents.value, start, end

    return alike(ask)[0]


def check_lenses(fixture: str) -> list[tuple[int, str]]:
    """The code lenses as they come into view: line from 1, and what stands there."""
    return lenses_of(Analysis(read(fixture).text))


def lenses_of(analysis: Analysis) -> list[tuple[int, str]]:
    """The code lenses of an open document."""
    shown = []
    for lens in code_lenses(analysis, URI):
        assert lens.range.start == lens.range.end == types.Position(lens.range.start.line, 0)
        resolved = resolve_lens(analysis, lens)
        assert resolved.command is not None
        shown.append((lens.range.start.line + 1, resolved.command.title))
    return shown
