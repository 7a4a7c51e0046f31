"""Reads a record: its tree, and every cause for which ``JSON.parse`` refuses it.

The reader is a machine with a stack of its own. It takes one token after the other,
and either consumes it or closes a frame, so it always ends. It recovers as much as
possible of any text. A record in which it finds nothing wrong is JSON.
"""

import itertools
import json
import re

import msgspec

from drive_trace import json_text
from drive_trace.json_text import Member, Node, NodeKind, ProblemKind, Syntax, SyntaxProblem
from drive_trace.json_text.problems import MergedProblems, no_record_at_all, putting, quote
from drive_trace.json_text.tokens import SCALAR_WORD, Expect, Token, TokenReader, value_of
from drive_trace.stopping import unless_stopped
from drive_trace.text.codec import loads
from drive_trace.text.spans import Span, replace_spans

_NAME = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")
_RECORD_START = re.compile(r"\{[ \t]*[\"'A-Za-z_]")
_MOST_TOKENS = 50_000
"""How many tokens of a record that is not JSON are read: nobody writes more by hand, and a record
may cost a second at the most.
"""
_MOST_PROBLEMS = 3
_KEY = "a key in double quotes"
_OBJECT = "an object `{…}`"
_LOST = {
    ProblemKind.MISSING_QUOTE,
    ProblemKind.MISSING_BRACKET,
    ProblemKind.UNEXPECTED,
    ProblemKind.UNFINISHED,
    ProblemKind.TWO_OBJECTS,
    ProblemKind.TEXT_AFTER,
}
"""After one of these the reading is a guess, and later problems are mostly consequences of it."""
_NO_TOKEN = Token("end", Span(0, 0))


def parse(text: str) -> Syntax:
    """Read one record, given without the newline that ends it."""
    root, problems = _read(text)
    if not problems or _is_certain(text, problems):
        return Syntax(text, root, tuple(problems))
    return Syntax(text, root, tuple(map(_suggestion, _essential(problems))))


def _is_certain(text: str, problems: list[SyntaxProblem]) -> bool:
    """Whether safe repairs alone make JSON of the record, in whatever order they are made.

    A line that is understood in part only is not repaired in part: what looks
    like a comment or a trailing comma there may be something else.
    """
    if not all(map(_is_safe, problems)) or not _is_json(_apply(text, problems)):
        return False
    return len(problems) == 1 or all(
        len(_read(_apply(text, [problem]))[1]) < len(problems) for problem in problems
    )


def _is_json(text: str) -> bool:
    try:
        loads(text)  # what it accepts JSON.parse accepts, too, and in a fiftieth of the time
    except ValueError:
        return not _read(text)[1]
    return True


def _suggestion(problem: SyntaxProblem) -> SyntaxProblem:
    if not _is_safe(problem):
        return problem
    return problem._replace(repairs=tuple(each._replace(safe=False) for each in problem.repairs))


def _essential(problems: list[SyntaxProblem]) -> tuple[SyntaxProblem, ...]:
    """The first few problems, without those that mostly follow from another one."""
    kept = []
    for problem in problems[:_MOST_PROBLEMS]:
        kept.append(problem)
        if problem.kind in _LOST:
            break
    return tuple(kept)


def _is_safe(problem: SyntaxProblem) -> bool:
    """Whether the problem has a safe repair."""
    return any(repair.safe for repair in problem.repairs)


def _apply(text: str, problems: list[SyntaxProblem]) -> str:
    """The text after the first repair of each problem."""
    edits = [edit for each in problems for repair in each.repairs[:1] for edit in repair.edits]
    return replace_spans(text, sorted(edits))


def _read(text: str) -> tuple[Node | None, list[SyntaxProblem]]:
    """As much of a record as can be recovered, and its problems."""
    no_record = no_record_at_all(text)
    if no_record is not None:
        return None, [no_record]
    return _Reader(text).read()


class _OpenValue(msgspec.Struct, eq=False):
    """An object or array that is open."""

    start: int
    is_object: bool
    brace: bool = True
    # Made on first use: a hostile line opens a million frames.
    members: list[Member] | None = None
    items: list[Node] | None = None
    key: tuple[str, Span] | None = None
    comma: Span | None = None

    def add(self, node: Node | None) -> None:
        if not self.is_object:
            if node is not None:
                self.items = self.items or []
                self.items.append(node)
        elif self.key is not None:
            self.add_members([Member(*self.key, node)])
        self.key = None

    def add_members(self, members: list[Member]) -> None:
        self.members = self.members or []
        self.members += members

    def close(self, end: int) -> Node:
        if self.key is not None:
            self.add(None)
        span = Span(self.start, end)
        if self.is_object:
            return Node(NodeKind.OBJECT, span, members=tuple(self.members or ()))
        return Node(NodeKind.ARRAY, span, items=tuple(self.items or ()))


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.report = MergedProblems(text)
        self.tokens = TokenReader(text, self.report)
        self.frames: list[_OpenValue] = []
        self.root: Node | None = None
        self.expect = Expect.VALUE
        self.last = _NO_TOKEN
        self.root_comma: Span | None = None
        self.open_objects = 0

    def read(self) -> tuple[Node | None, list[SyntaxProblem]]:
        count = 0
        for _ in unless_stopped(itertools.repeat(None)):
            if self._ended():
                break
            if count >= _MOST_TOKENS and (
                self.report or (count == _MOST_TOKENS and not _may_close(self.text))
            ):
                self._give_up()
                break
            at_once = max(1, _MOST_TOKENS - count) if self.expect is Expect.KEY else 0
            if pairs := self.tokens.pairs(at_once):
                count += len(pairs)
                self.frames[-1].add_members(pairs)
                self.last = Token(",", Span(self.tokens.at - 1, self.tokens.at))
                self.frames[-1].comma = self.last.span
                continue
            count += 1
            token = self.tokens.next(self._place())
            if token.type == "end":
                break
            if token.type in "{[":
                self._open(token)
            elif token.type in "}]":
                self._close(token)
            elif token.type == ",":
                self._comma(token)
            elif token.type == ":":
                self._colon(token)
            elif token.type == "...":
                self._left_out(token)
            else:
                self._text(token)
            self.last = token
        self._finish()
        if self.root is not None and self.root.kind is not NodeKind.OBJECT:
            # A prefix, a quote or a fence may hide a record, which no repair of its form lays open.
            self.report.drop_repairs()
        return self.root, self.report.problems()

    def _give_up(self) -> None:
        """Leave the rest unread, and drop every repair: half a repair is no repair."""
        self.report.cut_off(Span(self.tokens.at, len(self.text)))
        self.tokens.at = len(self.text)
        self.tokens.swallowed = True

    def _place(self) -> Expect:
        in_object = bool(self.frames) and self.frames[-1].is_object
        if self.expect is Expect.COMMA:  # another token stands in the place of what follows it
            return Expect.KEY if in_object else Expect.VALUE
        return Expect.FIELD_VALUE if in_object and self.expect is Expect.VALUE else self.expect

    def _ended(self) -> bool:
        """Whether the reading stops here: behind a value only another object makes sense."""
        if self.expect is not Expect.END:
            return False
        self.tokens.skip(Expect.END)
        at = self.tokens.at
        if at == len(self.text):
            return True
        comma = self.text[at] == "," and self.root_comma is None
        if comma or (self.text[at] == "{" and self.root and self.root.kind is NodeKind.OBJECT):
            return False
        if self.root is None or self.root.kind is NodeKind.OBJECT:
            rest = Span(at, len(self.text.rstrip(json_text.WHITESPACE)))
            self.report.add(ProblemKind.TEXT_AFTER, rest)
        else:  # as the number of a line
            self._unexpected(self.root.span, _OBJECT)
        self.root_comma = None
        return True

    def _open(self, token: Token) -> None:
        is_object = token.type == "{"
        frame = self.frames[-1] if self.frames else None
        if self.expect is Expect.END:
            self.root_comma = None
            self.report.add(ProblemKind.TWO_OBJECTS, token.span, what="two objects on one line")
        elif (
            frame is not None
            and self.expect is not Expect.VALUE
            and not self._open_in_wrong_place(frame, token, is_object=is_object)
        ):
            return
        self._push(_OpenValue(token.span.start, is_object=is_object))
        self.expect = Expect.KEY if is_object else Expect.VALUE

    def _open_in_wrong_place(self, frame: _OpenValue, token: Token, *, is_object: bool) -> bool:
        """An opening bracket where no value may stand; whether to go into it."""
        cut = self.last.node is not None and self.last.node.kind is NodeKind.BROKEN
        if not frame.is_object:
            self._missing(",", token.span)
        elif self.expect is Expect.COLON and not cut:
            self._missing(":", token.span)
        elif is_object and self.last.type == "{":
            self._unexpected(token.span, _KEY)
            return False
        elif is_object and _RECORD_START.match(self.text, token.span.start):
            self._close_all(self.last.span.end)
            what = "a torn record, then a whole one"
            self.report.add(ProblemKind.TWO_OBJECTS, token.span, what=what)
        else:
            self._unexpected(token.span, _KEY)
        return True

    def _unexpected(self, span: Span, what: str) -> None:
        self.report.add(ProblemKind.UNEXPECTED, span, what=what)

    def _missing(self, mark: str, behind: Span) -> None:
        """A comma or a colon should stand where the last token ends, before ``behind``."""
        kind = ProblemKind.MISSING_COMMA if mark == "," else ProblemKind.MISSING_COLON
        self.report.add(kind, behind, putting(mark, self.last.span.end))

    def _push(self, frame: _OpenValue) -> None:
        self.frames.append(frame)
        self.open_objects += frame.is_object

    def _close(self, token: Token) -> None:
        closes_object = token.type == "}"
        if not self.frames:
            self.report.spread(token.span, is_start=False)
            self.tokens.at = len(self.text)
            return
        if self.frames[-1].is_object is not closes_object and not self._close_others(token):
            return
        frame = self.frames[-1]
        if self.expect is Expect.COLON or (frame.is_object and self.expect is Expect.VALUE):
            self._missing_value()
        elif self.expect is not Expect.COMMA and frame.comma is not None:
            self.report.trailing_comma(frame.comma, token.type)
        if not frame.brace:
            what, edit = "missing brace: `{` is expected before the first key", ("{", frame.start)
            kind, place = ProblemKind.MISSING_BRACKET, Span(frame.start, frame.start)
            self.report.add(kind, place, putting(*edit), what=what)
        self._close_frame(token.span.end)

    def _close_others(self, token: Token) -> bool:
        """Close what is open inside of what this bracket closes; False if it closes nothing."""
        wanted = token.type == "}"
        depth = self.open_objects if wanted else len(self.frames) - self.open_objects
        if not depth:
            self.report.closes_nothing(token.span)
            return False
        self.report.missing_bracket("]" if wanted else "}", token.span)
        while self.frames[-1].is_object is not wanted:
            self._close_frame(self.last.span.end)
        return True

    def _close_frame(self, end: int) -> None:
        frame = self.frames.pop()
        self.open_objects -= frame.is_object
        self._attach(frame.close(end))

    def _attach(self, node: Node) -> None:
        if self.frames:
            self.frames[-1].add(node)
            self.expect = Expect.COMMA
            return
        self.root = self.root or node
        self.expect = Expect.END

    def _comma(self, token: Token) -> None:
        if not self.frames:
            if self.expect is Expect.END:
                self.root_comma = token.span
            else:
                self.report.add(ProblemKind.EXTRA_COMMA, token.span, (token.span, ""))
            return
        frame = self.frames[-1]
        if self.expect is Expect.COLON or (frame.is_object and self.expect is Expect.VALUE):
            self._missing_value()
            frame.add(None)
        elif self.expect is not Expect.COMMA:
            self.report.add(ProblemKind.EXTRA_COMMA, token.span, (token.span, ""))
        frame.comma = token.span
        self.expect = Expect.KEY if frame.is_object else Expect.VALUE

    def _colon(self, token: Token) -> None:
        if self.expect is Expect.COLON:
            self.expect = Expect.VALUE
        elif self.expect is Expect.KEY:
            self._unexpected(token.span, _KEY)
        else:
            self._unexpected(token.span, "a value" if self.expect is Expect.VALUE else "`,`")

    def _left_out(self, token: Token) -> None:
        self.report.add(ProblemKind.LEFT_OUT, token.span)
        frame = self.frames[-1] if self.frames else None
        if self.expect is Expect.VALUE:
            self._attach(Node(NodeKind.BROKEN, token.span, self._text_of(token)))
        elif frame is not None:
            if self.expect is Expect.COLON:
                frame.add(None)
            self.expect = Expect.COMMA

    def _text(self, token: Token) -> None:
        """A string, or a word without quotes: a key or a value."""
        frame = self.frames[-1] if self.frames else None
        if frame is None and token.type == "string" and self.tokens.before_colon():
            frame = _OpenValue(token.span.start, is_object=True, brace=False)
            self._push(frame)
            self._key(frame, token)
        elif frame is None:
            self._root_text(token)
        elif self.expect is Expect.KEY:
            self._key(frame, token)
        elif frame.is_object:
            self._text_in_object(frame, token, begins_pair=self.tokens.before_colon())
        else:
            if self.expect is Expect.COMMA and self._goes_on(token):
                self._quote_inside(token, "]")
            elif self.expect is Expect.COMMA:
                self._missing(",", token.span)
            self._attach(self._value(token))

    def _goes_on(self, token: Token) -> bool:
        """Whether the string before this text may go on with it, its quote not escaped."""
        is_beside = self.last.span.end == token.span.start
        is_quoted = self.text[token.span.start] == '"'
        return self.last.type == "string" and (is_beside or not is_quoted)

    def _quote_inside(self, token: Token, closer: str) -> None:
        self.report.drop_repairs()
        what = f'`,`, `{closer}`, or `\\"` for a quote inside the string'
        self._unexpected(token.span, what)

    def _text_in_object(self, frame: _OpenValue, token: Token, *, begins_pair: bool) -> None:
        if self.expect is Expect.COMMA:
            is_beside = self.last.type == "string" and self.last.span.end == token.span.start
            if begins_pair and (not is_beside or self.text[token.span.start] == '"'):
                self._missing(",", token.span)
                self._key(frame, token)
            elif is_beside:
                self._quote_inside(token, "}")
            else:
                self._unexpected(token.span, "`,` or `}`")
        elif begins_pair:
            self._missing_value()
            frame.add(None)
            self._key(frame, token)
        else:
            if self.expect is Expect.COLON:
                self._missing(":", token.span)
            self._attach(self._value(token))

    def _key(self, frame: _OpenValue, token: Token) -> None:
        key = self._text_of(token)
        if token.type == "word":
            is_name = _NAME.fullmatch(key) is not None
            # What has no colon is the rest of a value, such as of `1,5`.
            is_key = is_name or self.tokens.before_colon()
            edits = [(token.span, json.dumps(key, ensure_ascii=False))] if is_key else []
            self.report.add(ProblemKind.UNQUOTED_KEY, token.span, *edits, safe=is_name)
        frame.key = (key, token.span)
        self.expect = Expect.COLON

    def _root_text(self, token: Token) -> None:
        if token.type == "string" or SCALAR_WORD.fullmatch(self._text_of(token)):
            self._attach(self._value(token))
            return
        span = Span(token.span.start, len(self.text.rstrip(json_text.WHITESPACE)))
        text = self.text[span.start : span.end]
        before = _RECORD_START.split(text, maxsplit=1)[0].rstrip(json_text.WHITESPACE)
        self._unexpected(Span(span.start, span.start + len(before)), _OBJECT)
        self._attach(Node(NodeKind.BROKEN, span, text))
        self.tokens.at = len(self.text)

    def _text_of(self, token: Token) -> str:
        if token.node is not None:
            return str(token.node.value)
        return self.text[token.span.start : token.span.end]

    def _value(self, token: Token) -> Node:
        return token.node or value_of(self._text_of(token), token.span, self.report)

    def _missing_value(self) -> None:
        key = self.frames[-1].key
        if key is None:
            self._unexpected(self.last.span, _KEY)
            return
        span = Span(key[1].start, max(key[1].end, self.last.span.end))
        self.report.missing_value(key[0], span)

    def _finish(self) -> None:
        if self.frames and not self.tokens.swallowed:
            self._unclosed()
        if self.root_comma is not None and not self.frames:
            if self.root is None or self.root.kind is NodeKind.OBJECT:
                self.report.trailing_comma(self.root_comma)
            else:  # more of an array follows
                self.report.spread(self.root.span, is_start=False)
        self._close_all(self.last.span.end)
        if self.root is None and not self.report:
            self.report.add(ProblemKind.EMPTY, Span(0, len(self.text)))

    def _unclosed(self) -> None:
        frame = self.frames[-1]
        if self.last.type in "{[," or not self.frames[0].brace:
            first = self.frames[0]
            is_key_known = not first.brace and first.members
            span = first.members[0].key_span if is_key_known and first.members else self.last.span
            is_array = first is frame and first.brace and not first.is_object
            self.report.spread(span, is_start=first.brace, is_array=is_array)
            return
        is_whole = self.expect is Expect.COMMA
        before = "a key"
        if is_whole:
            before = "`}`" if frame.is_object else "`]`"
        elif frame.key is not None:
            what = "value of" if self.expect is Expect.VALUE else "colon after"
            before = f"the {what} {quote(frame.key[0])}"
        # Where a line was torn, the end cuts whatever stands there: a number or a word may have
        # gone on, an array or an inner object may have had more. Only what its own last character
        # ends is whole.
        end = self.last.span.end
        can_close = is_whole and frame is self.frames[0] and self.text[end - 1] in '"}]'
        edits = [putting("}", end)] if can_close else []
        kind, what = ProblemKind.UNFINISHED, f"before {before}"
        self.report.add(kind, Span(end, end), *edits, what=what)

    def _close_all(self, end: int) -> None:
        while self.frames:
            self._close_frame(end)


def _may_close(text: str) -> bool:
    """Whether as many brackets close as open: else what is long need not be read to its end."""
    marks = "".join(json_text.split_strings(text)[::2])
    return all(marks.count(opens) == marks.count(closes) for opens, closes in ("{}", "[]"))
