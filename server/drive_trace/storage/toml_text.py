"""TOML: a document, and where what stands in it is, which tomllib does not say.

Time and memory grow with the length of a document only: :func:`excess` finds what would make
tomllib slow, and only the places that a caller wants are kept.
"""

import re
import tomllib
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from drive_trace.storage.projects import TextProblem
from drive_trace.text.spans import Span

KeyPath = tuple[str | int, ...]
"""Keys and indices from the document down to a value."""

DEEPEST = 32
"""The most levels of tables, arrays and dotted keys; a configuration needs six."""
MOST_KEYS = 10_000
"""Each may be a glob that every rule is matched with."""
LONGEST_WORD = 1000
"""In characters; no number and no bare key is that long."""

_SPACE = re.compile(r"(?:[ \t\n]|#[^\n]*)*")
# Atomic groups: Python 3.11.0 to 3.11.4 match possessive ones wrongly.
# A string that nothing closes runs to the end, so that no part is searched again and again.
_STRING = re.compile(
    r'"""(?>(?:[^"\\]+|\\.|"{1,2}(?!"))*)(?:"{3,5}|\Z|\\)'
    r"|'''(?>(?:[^']+|'{1,2}(?!'))*)(?:'{3,5}|\Z)"
    r'|"(?>(?:[^"\\\n]+|\\.)*)(?:"|(?=\n)|\Z|\\)'
    r"|'[^'\n]*(?:'|(?=\n)|\Z)",
    re.DOTALL,
)
_TOKEN = re.compile(
    rf"#[^\n]*|(?:{_STRING.pattern})"
    r"|(?P<opening>[\[{])|(?P<closing>[\]}])|(?P<dot>\.)|(?P<end>[=,\n])|(?P<word>[\w-]+)",
    re.DOTALL,
)
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_BARE_VALUE = re.compile(r"[^,\]}#\n]*")


class TomlPlace(NamedTuple):
    """The place of a key and its value, in code points of the whole text. For an item of an array,
    and for a table that a header or a dotted key opens, both spans are the same.
    """

    key: Span
    value: Span


def excess(text: str) -> tuple[Span, str] | None:
    """The first part of a text that no configuration needs and that would take long to read: its
    place, and what it is. None if there is none. The text need not be TOML.
    """
    depth = dots = keys = 0
    for token in _TOKEN.finditer(text):
        match token.lastgroup:
            case "opening":
                depth, dots = depth + 1, 0
            case "closing":
                depth, dots = depth - 1, 0
            case "dot":
                dots += 1
            case "end":
                dots, keys = 0, keys + (token[0] == "=")
            case "word" if len(token[0]) > LONGEST_WORD:
                phrase = f"a number or key of more than {LONGEST_WORD} characters"
                return Span(*token.span()), phrase
        if keys > MOST_KEYS:
            return Span(*token.span()), f"it has more than {MOST_KEYS:,} keys"
        if depth + dots > DEEPEST:
            return Span(*token.span()), f"it is nested too deeply, in more than {DEEPEST} levels"
    return None


def toml_places(text: str, wanted: Iterable[KeyPath]) -> Mapping[KeyPath, TomlPlace]:
    """The places of the ``wanted`` keys and values, and of the tables and arrays around them.
    Lines must end with ``\\n``.

    Only for documents that ``tomllib`` has read, and without :func:`excess`.
    """
    scan = _TomlReader(text, {each[:count] for each in wanted for count in range(1, len(each) + 1)})
    scan.document()
    return scan.found


class _TomlReader:
    def __init__(self, text: str, wanted: set[KeyPath]) -> None:
        self.found: dict[KeyPath, TomlPlace] = {}
        self._wanted = wanted
        self._text = text
        self._at = 0
        self._last_of: dict[KeyPath, int] = {}
        """The index of the last table so far of each array of tables."""

    def document(self) -> None:
        table: KeyPath = ()
        self._skip()
        while self._at < len(self._text):
            if self._text[self._at] == "[":
                table = self._header()
            else:
                self._pair(table)
            self._skip()

    def _note(self, steps: KeyPath, key: Span, value: Span) -> None:
        if steps in self._wanted:
            self.found.setdefault(steps, TomlPlace(key, value))

    def _skip(self, count: int = 0) -> None:
        """Skip ``count`` characters, then space, line ends and comments."""
        space = _SPACE.match(self._text, self._at + count)
        assert space is not None
        self._at = space.end()

    def _header(self) -> KeyPath:
        """Read ``[a.b]`` or ``[[a.b]]``, and return the path of the table that it opens."""
        brackets = 2 if self._text.startswith("[[", self._at) else 1
        self._skip(brackets)
        keys = self._keys()
        steps: KeyPath = ()
        for place, (name, span) in enumerate(keys):
            steps = (*steps, name)
            if brackets == 2 and place == len(keys) - 1:
                self._last_of[steps] = self._last_of.get(steps, -1) + 1
            self._note(steps, span, span)
            if steps in self._last_of:
                steps = (*steps, self._last_of[steps])
                self._note(steps, span, span)
        self._skip(brackets)
        return steps

    def _pair(self, table: KeyPath) -> None:
        keys = self._keys()
        self._skip(len("="))
        steps = (*table, *(name for name, _ in keys))
        span = self._value(steps)
        for place, (_, key) in enumerate(keys[:-1], start=1):
            self._note(steps[: len(table) + place], key, key)
        self._note(steps, keys[-1][1], span)

    def _keys(self) -> list[tuple[str, Span]]:
        """Read a dotted key, and return its names with their places."""
        keys = []
        while True:
            token = _BARE_KEY.match(self._text, self._at) or _STRING.match(self._text, self._at)
            assert token is not None
            name = token[0]
            if name[0] in "\"'":
                name = tomllib.loads(f"key = {name}")["key"]
            keys.append((name, Span(*token.span())))
            self._skip(len(token[0]))
            if self._text[self._at] != ".":
                return keys
            self._skip(len("."))

    def _value(self, steps: KeyPath) -> Span:
        start = self._at
        closing = {"[": "]", "{": "}"}.get(self._text[start])
        if closing is None:
            token = _STRING.match(self._text, start) or _BARE_VALUE.match(self._text, start)
            assert token is not None
            self._at = start + len(token[0].rstrip())
            return Span(start, self._at)
        self._skip(len("["))
        count = 0
        while (mark := self._text[self._at]) != closing:
            if mark == ",":
                self._skip(len(","))
                continue
            if closing == "]":
                span = self._value((*steps, count))
                self._note((*steps, count), span, span)
                count += 1
            else:
                self._pair(steps)
            self._skip()
        self._at += len(closing)
        return Span(start, self._at)


# Documents, and places as lines and columns

_END_OF_MESSAGE = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")


def read_toml(text: str) -> dict[str, Any] | TextProblem:
    """A document whose lines end with ``\\n``, or why it cannot be read, and where."""
    too_much = excess(text)
    if too_much is not None:
        return TextProblem(*too_much)
    try:
        return tomllib.loads(text.removeprefix("\ufeff"))
    except ValueError as error:
        return _not_toml(text, error)


def _not_toml(text: str, error: ValueError) -> TextProblem:
    """Why tomllib refused a text, and where."""
    message, at = str(error), len(text)
    phrase = _END_OF_MESSAGE.search(message)
    if phrase is not None and phrase[1]:
        before = text.split("\n")[: int(phrase[1]) - 1]
        at = sum(len(each) + 1 for each in before) + int(phrase[2]) - 1
    return TextProblem(Span(at, at), f"is not TOML: {_END_OF_MESSAGE.sub('', message)}")


# What is wrong with one

_MOST_PROBLEMS = 100
"""Nobody reads more of one file at once."""


class Fault(NamedTuple):
    """One mistake."""

    at: KeyPath
    message: str
    of_key: bool = False
    """Whether the key is wrong, or missing, and not its value."""


def problems_at(text: str, faults: Iterable[Fault]) -> tuple[TextProblem, ...]:
    """The problems with a text that :func:`read_toml` has read, in their order."""
    faults = list(faults)
    places = toml_places(text, (each.at for each in faults))

    def span_of(fault: Fault) -> Span:
        steps = fault.at
        while steps and steps not in places:
            steps = steps[:-1]
        if not steps:
            return Span(0, 0)
        return places[steps].key if fault.of_key else places[steps].value

    told = sorted((span_of(each), each.message) for each in faults)[:_MOST_PROBLEMS]
    return tuple(TextProblem(*each) for each in told)
