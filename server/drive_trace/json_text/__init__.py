"""One record as JSON: whether it is, its tree with spans, and what is wrong with it.

:func:`parse` never raises, whatever the text, and takes time that grows with its
length only. It accepts exactly what JavaScript's ``JSON.parse`` accepts. Nodes may be
nested a million deep: walk them with a stack of your own, as :meth:`Syntax.to_python` does.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum, StrEnum, unique
from itertools import islice, repeat
from typing import Any, NoReturn

import msgspec

from drive_trace.stopping import unless_stopped
from drive_trace.text.quick import Frozen
from drive_trace.text.spans import Span
from drive_trace.text.wording import shown


class NodeKind(StrEnum):
    """The type of a value; ``BROKEN`` is text in a value's place that is no JSON."""

    OBJECT = "object"
    ARRAY = "array"
    STRING = "string"
    NUMBER = "number"
    BOOLEAN = "boolean"
    NULL = "null"
    BROKEN = "broken"


class Node(msgspec.Struct, eq=False):
    """A value and its place in the text. No node changes after it is made.

    ``span`` counts code points and includes quotes and brackets. ``value`` is
    a scalar's value: a number is an ``int`` if its IEEE double is finite and
    whole, else a ``float``; a broken value is its text. Objects and arrays have
    the value None, and ``members`` or ``items`` in text order, duplicate keys
    included.
    """

    kind: NodeKind
    span: Span
    value: str | float | None = None
    members: tuple[Member, ...] = ()
    items: tuple[Node, ...] = ()
    _by_key: dict[str, list[Member]] | None = None

    def members_named(self, key: str) -> Sequence[Member]:
        """The members with this key, in text order."""
        if self._by_key is None:  # a search for each name would take long in a large object
            self._by_key = {}
            for member in self.members:
                self._by_key.setdefault(member.key, []).append(member)
        return self._by_key.get(key, ())


class Member(msgspec.Struct, frozen=True):
    """A ``"key": value`` pair of an object: the key unescaped, its span with the quotes."""

    key: str
    key_span: Span
    value: Node | None
    """None when the line breaks before the value."""


@unique  # kinds that say the same would be one
class ProblemKind(Enum):
    """Why a record is not JSON."""

    def __init__(self, message: str, repair: str = "") -> None:
        self.message = message
        """What is said of it: ``found`` is the text of the record, ``what`` a part that differs."""
        self.repair = repair
        """What repairing all mistakes of the kind is called."""

    EMPTY = "a blank line: no event"
    """Nothing but white space and comments."""
    BYTE_ORDER_MARK = (
        "byte-order mark (U+FEFF) before the object: a record begins with `{{`",
        "Remove the byte-order mark",
    )
    ODD_WHITESPACE = (
        "{what} is no white space in JSON: use plain spaces",
        "Remove the odd white space",
    )
    COMMENT = "a comment: JSON has none", "Remove the comment"
    QUOTES = "{what}: JSON strings take double quotes", "Use double quotes"
    """Single, curly or back quotes around a string."""
    MISSING_QUOTE = "missing quote: the string {found} {what}", "Add the quote"
    """A string that is opened or closed only."""
    DOUBLED_QUOTE = (
        "doubled quote in {found}: a string has one quote on each side",
        "Remove the doubled quote",
    )
    CONTROL_CHARACTER = "control character {what}", "Escape control characters"
    """A character below U+0020 as itself inside a string."""
    BAD_ESCAPE = "bad escape {found}: {what}", "Double the backslash"
    TRAILING_COMMA = "trailing comma: {what}", "Remove the comma"
    """A comma with nothing after it, inside or behind the object."""
    EXTRA_COMMA = "extra comma: nothing stands before this comma", "Remove the comma"
    MISSING_COMMA = "missing comma: `,` is expected before {found}", "Add the comma"
    MISSING_COLON = "missing colon: `:` is expected before {found}", "Add the colon"
    WRONG_COLON = (
        "{found} is not JSON: a colon stands between a key and its value",
        "Write a colon",
    )
    """``=`` or ``=>`` behind a key."""
    FULL_WIDTH = "{found} is not JSON: write `{what}`", "Use plain punctuation"
    """A fullwidth bracket, comma or colon."""
    MISSING_VALUE = "{what}"
    MISSING_BRACKET = "{what}", "Add the brace"
    """A brace or bracket that is opened or closed only, in the middle of a line."""
    UNQUOTED_KEY = (
        "{found} is not JSON: a key stands in double quotes",
        "Put double quotes around it",
    )
    UNQUOTED_VALUE = (
        "{found} is not JSON: a text stands in double quotes",
        "Put double quotes around it",
    )
    NOT_FINITE = (
        "{found} is not JSON: use null where there is no finite number",
        "Replace with null",
    )
    """``NaN`` and ``Infinity``."""
    MISSPELT_LITERAL = (
        "{found} is not JSON: write `{what}`",
        "Write true, false and null as JSON does",
    )
    """``True``, ``None``, ``NULL``, ``undefined`` and the like."""
    MALFORMED_NUMBER = "{found} is not a JSON number{what}", "Write it as a JSON number"
    """``01``, ``+1``, ``.5``, ``1.``, ``0x1f``, ``1,900`` and the like."""
    TWO_OBJECTS = "{what}: each event stands on a line of its own"
    """More than one object on the line."""
    SPREAD_OBJECT = "{what} over several lines: a record must stand on one line"
    """A part of an object that is spread over several lines."""
    UNFINISHED = "unfinished: the line ends {what}", "Add `}`"
    """The line ends inside a string, before a value, or before a closing brace."""
    TEXT_AFTER = "{found} after the end of the object: a record is one object and nothing else"
    MERGE_CONFLICT = "a merge conflict: keep one side, or both, and remove its markers"
    """A marker that a version control system left."""
    LEFT_OUT = "{found} stands for what was left out: write all of it"
    """``...`` in place of keys or values."""
    FENCE = "a Markdown fence: a trace has nothing around its records"
    """A line that Markdown has around code."""
    ARRAY = "a bracket alone on its line: a trace is no array, but a record on each line"
    """A bracket alone on its line, as around the records of a file that is one array."""
    UNEXPECTED = "unexpected {found}: {what} is expected here"
    """Anything else."""


class Repair(Frozen, frozen=True):
    """Edits that repair one problem; ``safe`` when they cannot change what the record says."""

    title: str
    safe: bool
    edits: tuple[tuple[Span, str], ...]
    """In text order, apart from each other."""


class SyntaxProblem(Frozen, frozen=True):
    """One cause for which a record is not JSON; its span may be empty (a place)."""

    kind: ProblemKind
    span: Span
    message: str
    repairs: tuple[Repair, ...] = ()


class Syntax(msgspec.Struct, frozen=True):
    """One record, read: ``root`` is as much of its first value as could be made out."""

    text: str
    root: Node | None
    problems: tuple[SyntaxProblem, ...] = ()
    """None of them where JavaScript's ``JSON.parse`` accepts the record."""

    def to_python(self) -> object:
        """The root as dicts, lists and scalars: the last of duplicate keys counts.

        A member without a value is left out, a broken value is its text.
        """
        return None if self.root is None else _to_python(self.root)


def refuse_number(written: str) -> NoReturn:
    """What the standard library calls for a number: it is not wanted here."""
    raise ValueError(f"{written} is not JSON")


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) < len(pairs):
        ((twice, _),) = Counter(name for name, _ in pairs).most_common(1)
        raise ValueError(f"a key stands twice in one object ({shown(twice)})")
    return members


def _whole(written: str) -> int:
    if len(written) > _MOST_DIGITS:
        raise ValueError(f"a number has more than {_MOST_DIGITS:,} digits")
    return int(written)


_MOST_DIGITS = 4_300
"""Python reads no longer integer (:func:`sys.get_int_max_str_digits`)."""
STRICT: Mapping[str, Any] = {
    "object_pairs_hook": _once,
    "parse_constant": refuse_number,
    "parse_int": _whole,
}
"""For :func:`json.loads`: ValueError also for what readers of JSON take in different ways, which is
a key that an object has twice, ``NaN`` and a very long number.
"""


_MOST_VALUES = 2_000_000
CROWDED = f"has more than {_MOST_VALUES:,} lists, objects and commas"
_STRING_OR_MARK = r'"[^"]*"?|([\[{,])'


def is_crowded(text: str) -> bool:
    """Whether a text would take far more memory or time than its length, as each list or object
    takes 60 to 300 bytes and two characters. What stands inside strings is text.
    """
    if sum(map(text.count, "[{,")) <= _MOST_VALUES:
        return False
    plain = text.replace(r"\\", "").replace(r"\"", "")
    found = (each for each in re.finditer(_STRING_OR_MARK, plain) if each.lastindex is not None)
    return next(islice(found, _MOST_VALUES, None), None) is not None


def from_json(text: str, **how: Any) -> Any:
    """:func:`json.loads` of a stranger's text. ValueError also for one that is crowded."""
    if is_crowded(text):
        raise ValueError(f"it {CROWDED}")
    return json.loads(text, **how)


def find_member(node: Node | None, key: str, occurrence: int = -1) -> Member | None:
    """The member of an object with this key; of duplicates the last, as for a JSON reader.

    ``occurrence`` is an index into the members with that key, in text order.
    """
    if node is None:
        return None
    found = node.members_named(key)
    return found[occurrence] if -len(found) <= occurrence < len(found) else None


def _to_python(root: Node) -> object:
    """The value of a tree as dicts, lists and scalars, without recursion."""
    holder: list[object] = []
    waiting: list[tuple[Node, dict[str, object] | list[object], str]] = [(root, holder, "")]
    for _ in unless_stopped(repeat(None)):
        if not waiting:
            break
        node, container, key = waiting.pop()
        value: object = node.value
        if node.kind is NodeKind.OBJECT:
            last = {m.key: m.value for m in node.members if m.value is not None}
            # Filled at once, so that keys keep their order; then each is replaced.
            value = fields = dict.fromkeys(last, value)
            waiting.extend((child, fields, name) for name, child in last.items())
        elif node.kind is NodeKind.ARRAY:
            value = elements = list[object]()
            waiting.extend((child, elements, "") for child in reversed(node.items))
        if isinstance(container, list):
            container.append(value)
        else:
            container[key] = value
    return holder[0]


def parse(text: str) -> Syntax:
    """Read one record, given without the newline that ends it."""
    # Its patterns take longer to make than a small trace takes to check, and clean lines need none.
    from drive_trace.json_text.reader import parse as read_record  # noqa: PLC0415

    return read_record(text)


# The tokens of a record without a tree of it, however broken the record is. An escape is a
# backslash and any character. Where nothing closes a string, its inside reaches to the end of the
# text, so that no quote in it is tried anew.

# Atomic groups, as Python 3.11.0 to 3.11.4 match possessive ones wrongly.
INSIDE = r'(?>[^"\\]*(?:\\.[^"\\]*)*)'
STRING = rf'"{INSIDE}"'
_VALUE = rf"[ \t]*:[ \t]*({STRING})"
_ESCAPE = re.compile(r"\\.", re.DOTALL)
WHITESPACE = " \t\n\r"


def split_strings(text: str) -> list[str]:
    """The text cut at the quotes of its strings: by turns what is outside of strings and inside.

    Escapes are masked, so that each piece has its length but no quote. If the last string is not
    closed, the number of pieces is even.
    """
    return (_ESCAPE.sub("\0\0", text) if "\\" in text else text).split('"')


def outside_strings(text: str) -> str | None:
    """What is outside of the strings; None if the last string is not closed."""
    pieces = split_strings(text)
    return "".join(pieces[::2]) if len(pieces) % 2 else None


def line_count(texts: Iterable[str]) -> int:
    """Over how many of some lines an object goes that begins on the first one, by its brackets; 0
    if it does not end on another one. A string may go on on the next line, as in wrapped text.

    No object goes on behind a line that begins with a brace, as no event has objects in an array.
    So each line is read once, whatever the trace consists of.
    """
    depth, quote = 0, ""
    for count, text in enumerate(texts, 1):
        if text.lstrip(WHITESPACE).startswith("{") is not (count == 1):
            return 0
        pieces = split_strings(quote + text)
        quote, signs = '"' * (len(pieces) % 2 == 0), "".join(pieces[::2])
        depth += sum(map(signs.count, "{[")) - sum(map(signs.count, "}]"))
        if depth <= 0:
            return count if depth == 0 and count > 1 else 0
    return 0


def strings_named(text: str, field: str) -> Iterator[tuple[str, Span]]:
    """The value and the span (quotes included) of every string behind a key of this name, wherever
    the key is in a record.
    """
    key = f'"{field}"'
    at = text.find(key)
    while at >= 0:
        key_end = at + len(key)
        found = _string_after(text, key_end)
        if found is not None:
            yield found
        at = text.find(key, key_end)


def first_string(text: str, field: str) -> str | None:
    """The value of the first of them; None where there is none."""
    return next((value for value, _ in strings_named(text, field)), None)


def _string_after(text: str, key_end: int) -> tuple[str, Span] | None:
    if text.startswith(':"', key_end):
        start = key_end + 2
        end = text.find('"', start)
        value = text[start:end]
        if end >= 0 and "\\" not in value:
            return value, Span(start - 1, end + 1)
    match = re.compile(_VALUE).match(text, key_end)
    try:
        return (str(json.loads(match[1])), Span(*match.span(1))) if match is not None else None
    except ValueError:
        return None


def space_count(text: str) -> int:
    """How many characters of white space a JSON record has between, before and after its tokens."""
    return sum(map("".join(split_strings(text)[::2]).count, WHITESPACE))


_COMPACT = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def as_json(value: object) -> str:
    """Compact JSON text of a value; a lone surrogate is written as its escape."""
    text = _COMPACT.encode(value)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":"))
    return text


def compacted(text: str) -> str:
    """A JSON record without white space between its tokens, which stay as they are written.

    The ``\\r`` of a line break is white space here, too.
    """
    pieces = re.split(f"({STRING})", text)
    pieces[::2] = ["".join(between.split()) for between in pieces[::2]]
    return "".join(pieces)
