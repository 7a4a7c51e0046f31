"""The tokens of a record that is not JSON, read as its writer meant them."""

import json
import re
import unicodedata
from enum import Enum, auto

import msgspec

from drive_trace.json_text import Member, Node, NodeKind, ProblemKind
from drive_trace.json_text.problems import MergedProblems, name, putting, quote
from drive_trace.text.spans import Span

# Before 3.11.5 Python gets possessive groups wrong (python/cpython#106052): only sets are repeated
# possessively here, groups are greedy and atomic.
_WS = r"[ \t\n\r]*+"
_NUMBER = r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?"
SCALAR_WORD = re.compile(rf"{_NUMBER}|true|false|null")
# White space and invisible separators of Unicode that JSON does not skip.
_ODD = (
    r"\x0b\x0c\x1c-\x1f\x85\xa0\xad\u1680\u180e\u2000-\u200f\u2028-\u202f\u205f-\u2064\u3000\ufeff"
)
_SKIP = re.compile(_WS)
_SOUND = r'"([^"\\\x00-\x1f]*+)"'
_PAIR = re.compile(rf'{_SOUND}:({_SOUND}|(?>{SCALAR_WORD.pattern})),(?=")')
_ODD_RUN = re.compile(rf"[{_ODD}]++")
_COLON = re.compile(rf"{_WS}(?:[:\uff1a]|=>?)")
_WRONG_COLON = re.compile("=>?")
_FULL_WIDTH = dict(zip("\uff5b\uff5d\uff3b\uff3d\uff0c\u3001\uff1a", "{}[],,:", strict=True))
_LEFT_OUT = re.compile(rf"(?:\.\.\.+|\u2026)(?={_WS}(?:[,}}\]]|\Z))")
_TOKEN_STARTS = frozenset("{}[],:\"'-0123456789")
_LINE_COMMENT = re.compile(r"//|#(?![^ \t!#])")
_CLOSING = r",}\]\uff0c\u3001\uff5d\uff3d"
_END = r" \t\n\r{}\[\],:\"\uff0c\u3001\uff5d\uff3d" + _ODD
_KEY_WORD = re.compile(rf"(?>(?:[^{_END}/=\uff1a]++|/(?![/*]))+)")
# A time or an address has colons of its own.
_VALUE_PART = rf"(?>(?:[^{_END}/]++|/(?![/*])|:(?=[0-9A-Za-z])|://)+)"
_VALUE_WORD = re.compile(_VALUE_PART)
_MORE_WORDS = re.compile(rf"(?>(?:[ \t]++{_VALUE_PART}(?!{_WS}:))*)")
_GROUPED_NUMBER = re.compile(
    rf"[+-]?[1-9][0-9]{{0,2}}(?>(?:,[0-9]{{3}})+)(?:\.[0-9]++)?(?={_WS}(?:,(?!{_WS}[0-9])|\}}|\Z))"
)
_LOOSE_STRING = re.compile(r'"[^"\\]*+(?>(?:\\.[^"\\]*+)*)"', re.DOTALL)
_ILL = re.compile(
    r"\\(?:[\"\\/bfnrt]|u[0-9a-fA-F]{4})|(\\(?:u[0-9a-fA-F]{0,3}|.)?)|([\x00-\x1f])", re.DOTALL
)
_KEY_AFTER_STRING = re.compile(rf'[\w.-]++"{_WS}:')
_DOUBLED = {
    is_key: re.compile(
        r'"(?P<first>"(?=[^ \t,:{}\[\]]))?(?P<body>[^"\\\x00-\x1f]++)"(?P<last>"?)'
        rf"(?={_WS}{end})"
    )
    for is_key, end in ((True, ":"), (False, rf'(?:[}}\]]|,{_WS}"|\Z)'))
}
_LOST_VALUE_END = re.compile(r"[^\\{}\[\]]*?(?=[,{][ \t]*+\Z)")
_LOST_KEY_END = re.compile(rf"[\w.-]++(?={_WS}:)")
_LOST_COLON = re.compile(rf"[\w.-]++(?={_WS}:{_WS}\Z)")

_CLOSERS = {
    "'": "'",
    "`": "`",
    "\u201c": "\u201d\u201c",
    "\u201d": "\u201d",
    "\u201e": "\u201c\u201d",
    "\u00ab": "\u00bb",
    "\uff02": "\uff02",
}
_CLOSERS |= {"\u2018": "\u2019\u2018", "\u2019": "\u2019"}
_QUOTE_NAMES = {
    "'": "single quotes",
    "`": "back quotes",
    "\uff02": "fullwidth quotes",
    "\u00ab": "angle quotes",
}
_QUOTE_OR_ILL = re.compile(r"\\.|[\"\x00-\x1f]", re.DOTALL)
_CONTROL_ESCAPES = {"\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_ESCAPE_OR_ILL = re.compile(r"\\(?:[\"\\/bfnrt]|u[0-9a-fA-F]{4})|([\\\"])")
_LITERALS = {
    "true": (NodeKind.BOOLEAN, True),
    "false": (NodeKind.BOOLEAN, False),
    "null": (NodeKind.NULL, None),
}


class Expect(Enum):
    """What the reader expects: the same text can be a different token in another place."""

    KEY = auto()
    COLON = auto()
    VALUE = auto()
    FIELD_VALUE = auto()
    """A value in an object: what follows its comma is no other value."""
    COMMA = auto()
    END = auto()


class Token(msgspec.Struct, frozen=True):
    """``type`` is one of ``{ } [ ] , : ...``, ``string``, ``word`` or ``end``."""

    type: str
    span: Span
    node: Node | None = None


class TokenReader:
    """Reads tokens on demand, and reports what is wrong inside and between them."""

    def __init__(self, text: str, report: MergedProblems) -> None:
        self.text = text
        self.at = 0
        self.swallowed = False
        """Whether a comment or an open string has taken the rest of the line."""
        self._report = report
        # Where searches have already ended: without these, time would grow with the square.
        self._double_quote = -1
        self._no_closer: dict[tuple[str, Expect], int] = {}

    def skip(self, place: Expect) -> None:
        """Move on to the next token."""
        text = self.text
        while text[self.at : self.at + 1] not in _TOKEN_STARTS:
            found = _SKIP.match(text, self.at)
            self.at = found.end() if found else self.at
            odd = _ODD_RUN.match(text, self.at)
            if odd is not None:
                self._odd_whitespace(odd)
            elif text.startswith("/*", self.at):
                end = text.find("*/", self.at + 2)
                self._comment(end + 2 if end >= 0 else len(text))
            elif _LINE_COMMENT.match(text, self.at) or (
                place is Expect.END and text.startswith("#", self.at)
            ):
                self._comment(len(text))
                self.swallowed = True
            else:
                return

    def next(self, place: Expect) -> Token:
        """The next token, read for this place."""
        self.skip(place)
        start = self.at
        first = self.text[start : start + 1]
        if not first:
            return Token("end", Span(start, start))
        if first in _FULL_WIDTH:
            return self._wrong_mark(ProblemKind.FULL_WIDTH, start + 1, _FULL_WIDTH[first])
        if first in "{}[],:":
            self.at += 1
            return Token(first, Span(start, self.at))
        if place is Expect.COLON:
            if (wrong := _WRONG_COLON.match(self.text, start)) is not None:
                return self._wrong_mark(ProblemKind.WRONG_COLON, wrong.end(), ":")
            place = Expect.FIELD_VALUE
        if first == '"':
            return self._string(start, place)
        if first in _CLOSERS:
            return self._odd_string(start, place)
        left_out = _LEFT_OUT.match(self.text, start) if first in ".\u2026" else None
        if left_out is not None:
            self.at = left_out.end()
            return Token("...", Span(start, self.at))
        return self._word(start, place)

    def pairs(self, most: int) -> list[Member]:
        """The next sound pairs with a comma and a key behind them: most of a broken record is such
        pairs, and token by token they take ten times as long.
        """
        pairs: list[Member] = []
        while len(pairs) < most and (found := _PAIR.match(self.text, self.at)) is not None:
            self.at, value = found.end(), Span(*found.span(2))
            key = Span(found.start(), value.start - 1)
            pairs.append(Member(found[1], key, scalar(found[2], value)))
        return pairs

    def before_colon(self) -> bool:
        """Whether the next token is a colon."""
        return _COLON.match(self.text, self.at) is not None

    def _wrong_mark(self, kind: ProblemKind, end: int, meant: str) -> Token:
        span = Span(self.at, end)
        self.at = end
        self._report.add(kind, span, (span, meant), what=meant, safe=True)
        return Token(meant, span)

    def _odd_whitespace(self, found: re.Match[str]) -> None:
        start, end = found.span()
        self.at = end
        character = found[0][0]
        before = self.text[start - 1 : start]
        after = self.text[end : end + 1]
        alone = before in "{}[]:, \t" or after in "{}[]:, \t"
        edit = (Span(start, end), "" if alone else " ")
        if character == "\ufeff" and start == 0:
            self._report.add(ProblemKind.BYTE_ORDER_MARK, edit[0], edit, safe=True)
            return
        called = unicodedata.name(character, "control character").lower()
        what = f"{name(character)} ({called})"
        self._report.add(ProblemKind.ODD_WHITESPACE, edit[0], edit, what=what, safe=True)

    def _comment(self, end: int) -> None:
        span = Span(self.at, end)
        self.at = end
        self._report.add(ProblemKind.COMMENT, span, (span, ""), safe=True)

    def _string(self, start: int, place: Expect) -> Token:
        text = self.text
        doubled = _DOUBLED[place is Expect.KEY].match(text, start)
        if doubled is not None and (doubled["first"] or doubled["last"]):
            return self._doubled_quotes(doubled)
        found = _LOOSE_STRING.match(text, start)
        if found is None:
            return self._open_string(start)
        end = found.end()
        if _KEY_AFTER_STRING.match(text, end):
            body = place is Expect.KEY and _LOST_KEY_END.match(text, start + 1, end - 1)
            body = body or _LOST_VALUE_END.match(text, start + 1, end - 1)
            if body:
                return self._lost_quote(start, body)
        lost = place is Expect.KEY and _LOST_COLON.match(text, start + 1, end - 1)
        if lost and not _COLON.match(text, end):
            return self._lost_quote(start, lost)
        self.at = end
        inner = text[start + 1 : end - 1]
        if "\\" in inner or not inner.isprintable():
            self._check_body(start + 1, end - 1)
        span = Span(start, end)
        return Token("string", span, Node(NodeKind.STRING, span, unescape(inner)))

    def _doubled_quotes(self, found: re.Match[str]) -> Token:
        """A string with a quote too many on a side, or on both."""
        span, more = Span(*found.span()), (found.span("first"), found.span("last"))
        self.at = span.end
        edits = [(Span(*each), "") for each in more if -1 < each[0] < each[1]]
        self._report.add(ProblemKind.DOUBLED_QUOTE, span, *edits)
        return Token("string", span, Node(NodeKind.STRING, span, found["body"]))

    def _lost_quote(self, start: int, body: re.Match[str]) -> Token:
        """A string that was never closed, so that the next key's first quote closes it."""
        end = self.at = body.end()
        span = Span(start, end)
        if self.text[end] == "{":
            # A record was cut off inside a string, and the next was appended to it.
            return Token("string", span, Node(NodeKind.BROKEN, span, body[0]))
        edit = putting('"', end)
        self._report.add(ProblemKind.MISSING_QUOTE, span, edit, what="is never closed")
        return Token("string", span, Node(NodeKind.STRING, span, body[0]))

    def _check_body(self, start: int, end: int) -> None:
        """Report what JSON does not allow inside a string."""
        for found in _ILL.finditer(self.text, start, end):
            span = Span(*found.span())
            if found[2]:
                character = found[2]
                escape = _CONTROL_ESCAPES.get(character, f"\\u{ord(character):04x}")
                what = f"{name(character)} in a string: write it as `{escape}`"
                kind = ProblemKind.CONTROL_CHARACTER
                self._report.add(kind, span, (span, escape), what=what, safe=True)
            elif found[1]:
                what = 'after a backslash stands one of " \\ / b f n r t u'
                if found[0][1:2] == "u":
                    what = "four hex digits follow \\u"
                edit = putting("\\", span.start)
                self._report.add(ProblemKind.BAD_ESCAPE, span, edit, what=what)

    def _open_string(self, start: int) -> Token:
        """A string that the line ends in."""
        end = self.at = len(self.text)
        span = Span(start, end)
        self.swallowed = True
        if self.text.rstrip().endswith("}"):
            self._report.add(ProblemKind.MISSING_QUOTE, span, what="is never closed")
        else:
            self._report.add(ProblemKind.UNFINISHED, span, what="inside a string")
        return Token("string", span, Node(NodeKind.BROKEN, span, unescape(self.text[start + 1 :])))

    def _odd_string(self, start: int, place: Expect) -> Token:
        end, certain = self._odd_end(start, place)
        if end < 0:
            return self._open_string(start)
        self.at = end
        body, sound = _as_json(self.text[start + 1 : end - 1])
        span = Span(start, end)
        called = _QUOTE_NAMES.get(self.text[start], "curly quotes")
        edit, is_safe = (span, f'"{body}"'), certain and sound
        self._report.add(ProblemKind.QUOTES, span, edit, what=called, safe=is_safe)
        return Token("string", span, Node(NodeKind.STRING, span, unescape(body)))

    def _odd_end(self, start: int, place: Expect) -> tuple[int, bool]:
        """Where a string in other quotes ends, and whether that is beyond doubt."""
        closers = _CLOSERS[self.text[start]]
        following = ":\uff1a" if place is Expect.KEY else _CLOSING
        first = re.compile(rf"[^\\{closers}]*+(?>(?:\\.[^\\{closers}]*+)*)[{closers}]", re.DOTALL)
        good = re.compile(rf"(?<!\\)[{closers}](?={_WS}(?:[{following}]|\Z))")
        found = first.match(self.text, start + 1)
        if found is None:
            return -1, False
        if good.match(self.text, found.end() - 1):
            return found.end(), True
        # An apostrophe inside? Only text runs on behind it, never a whole `"string"`.
        if self._double_quote < start:
            self._double_quote = (self.text.find('"', start) + 1 or len(self.text) + 1) - 1
        limit = self._double_quote
        if self._no_closer.get((closers, place)) != limit:
            later = good.search(self.text, found.end(), limit)
            if later is not None:
                return later.end(), False
            self._no_closer[closers, place] = limit
        return found.end(), False

    def _word(self, start: int, place: Expect) -> Token:
        text = self.text
        if place is Expect.FIELD_VALUE and (grouped := _GROUPED_NUMBER.match(text, start)):
            self.at = grouped.end()
            return Token("word", Span(start, self.at))
        found = (_KEY_WORD if place is Expect.KEY else _VALUE_WORD).match(text, start)
        end = found.end() if found else start + 1
        if place is not Expect.KEY and not SCALAR_WORD.fullmatch(text, start, end):
            more = _MORE_WORDS.match(text, end)
            end = more.end() if more else end
        self.at = end
        closing = rf'"{_WS}:' if place is Expect.KEY else rf'"{_WS}[,}}\]]'
        if re.compile(closing).match(text, end):
            self.at = end + 1
            span = Span(start, self.at)
            edit = putting('"', start)
            self._report.add(ProblemKind.MISSING_QUOTE, span, edit, what="is never opened")
            return Token("string", span, Node(NodeKind.STRING, span, unescape(text[start:end])))
        return Token("word", Span(start, end))


def _as_json(body: str) -> tuple[str, bool]:
    """The body of a string in other quotes as JSON has it, and whether all of it was clear."""
    sound = True

    def convert(found: re.Match[str]) -> str:
        nonlocal sound
        part = found[0]
        if part == '"':
            return '\\"'
        if part[0] != "\\":
            return _CONTROL_ESCAPES.get(part, f"\\u{ord(part):04x}")
        if part[1] in "'`\u2018\u2019\u201c\u201d":
            return part[1]
        if part[1] in '"\\/bfnrt':
            return part
        follows = body[found.end() : found.end() + 4]
        if part[1] == "u" and re.fullmatch("[0-9a-fA-F]{4}", follows):
            return part
        sound = False
        return "\\\\" + part[1]

    return _QUOTE_OR_ILL.sub(convert, body), sound


# Unquoted text in the place of a value


GAPS = frozenset({"number", "count", "milliseconds", "tokens", "bytes"})
"""Placeholders for a number that somebody still has to fill in; inserted fields have them."""

_NOT_FINITE = re.compile(r"[+-]?(?:NaN|Inf(?:inity)?)", re.IGNORECASE)
_PYTHON = {"True", "False", "None"}
_OTHER_LITERALS = {each: each for each in _LITERALS}
_OTHER_LITERALS |= dict.fromkeys(("none", "nil", "undefined"), "null")
_ODD_NUMBER = re.compile(
    r"(?P<sign>[+-]?)(?=\.?[0-9])(?P<whole>[0-9]*+)\.?(?P<part>[0-9]*+)"
    r"(?P<exponent>(?:[eE][+-]?[0-9]++)?)"
)
"""``+1``, ``01``, ``.5``, ``1.``: numbers of JavaScript or Python."""
_GROUPED_WORD = re.compile(r"[+-]?[1-9][0-9]{0,2}(?:([,_])[0-9]{3})(?:\1[0-9]{3})*(?:\.[0-9]+)?")
_OTHER_NUMBER = re.compile(
    r"[+-]?[1-9][0-9]{0,2}(?:(?:\.[0-9]{3}){2,}|(?:['\u2019][0-9]{3})+)"
    r"|[+-]?(?:0[xX][0-9a-fA-F]++|0[oO][0-7]++|0[bB][01]++|[0-9][0-9_]*+n?)"
    r"|[+-]?(?=\.?[0-9])[0-9]*+\.?[0-9]*+[eE][+-]?"
)
"""Grouped in other ways, in other digits, or with half an exponent: nobody knows for
sure what was meant.
"""


def value_of(word: str, span: Span, report: MergedProblems) -> Node:
    """The node of an unquoted word in a value's place. The report gets what is wrong with it."""
    if SCALAR_WORD.fullmatch(word):
        return scalar(word, span)
    literal = _OTHER_LITERALS.get(word.lower())
    if literal is not None:
        kind, is_safe = ProblemKind.MISSPELT_LITERAL, word in _PYTHON
        report.add(kind, span, (span, literal), what=literal, safe=is_safe)
        return scalar(literal, span)
    if _NOT_FINITE.fullmatch(word):
        report.add(ProblemKind.NOT_FINITE, span, (span, "null"))
        return Node(NodeKind.BROKEN, span, word)
    plain = _plain_number(word)
    if plain is not None:
        what = f": write {quote(plain)}"
        report.add(ProblemKind.MALFORMED_NUMBER, span, (span, plain), what=what)
        return Node(NodeKind.NUMBER, span, number(plain))
    if word in GAPS:
        what = f"{quote(word)} is still to be filled in, with a number"
        report.add(ProblemKind.MISSING_VALUE, span, what=what)
        return Node(NodeKind.BROKEN, span, word)
    if _OTHER_NUMBER.fullmatch(word):
        what = ": write it in decimal digits alone"
        report.add(ProblemKind.MALFORMED_NUMBER, span, what=what)
        return Node(NodeKind.BROKEN, span, word)
    quoted = (span, json.dumps(word, ensure_ascii=False))
    report.add(ProblemKind.UNQUOTED_VALUE, span, *([quoted] if report.is_ended(span) else ()))
    return Node(NodeKind.BROKEN, span, word)


def _plain_number(word: str) -> str | None:
    """The JSON number that was meant by one that is written otherwise."""
    if _GROUPED_WORD.fullmatch(word):
        return re.sub("[,_+]", "", word)
    word = "".join(str(unicodedata.decimal(each, each)) for each in word)  # fullwidth ones
    odd = _ODD_NUMBER.fullmatch(word)
    if odd is None:
        return None
    part = f".{odd['part']}" if odd["part"] else ""
    sign = odd["sign"].replace("+", "")
    return f"{sign}{odd['whole'].lstrip('0') or '0'}{part}{odd['exponent']}"


def scalar(word: str, span: Span) -> Node:
    """The node of a JSON string, a number, ``true``, ``false`` or ``null``."""
    if word[0] == '"':
        return Node(NodeKind.STRING, span, unescape(word[1:-1]))
    kind, value = _LITERALS.get(word) or (NodeKind.NUMBER, number(word))
    return Node(kind, span, value)


def number(word: str) -> int | float:
    """The value of a JSON number: an int if its double is whole and finite, else that double."""
    if len(word) < 16 and word.lstrip("-").isdigit():
        return int(word)
    value = float(word)
    return int(value) if value.is_integer() else value


def unescape(body: str) -> str:
    """The text of a string, given its body without quotes.

    Two escaped surrogates that make a pair become one character. An escape that
    JSON does not know stays as it is.
    """
    if "\\" not in body:
        return body
    sound = _ESCAPE_OR_ILL.sub(lambda found: f"\\{found[1]}" if found[1] else found[0], body)
    plain = str(json.loads(f'"{sound}"', strict=False))
    if "\\ud" in body or "\\uD" in body:
        return plain.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    return plain
