"""Lines of a trace as the engine keeps them: what was read, without spans."""

from __future__ import annotations

import re
from bisect import bisect_left, insort
from collections.abc import Iterable, Sequence, Set
from copy import copy
from enum import Enum, StrEnum
from operator import attrgetter
from typing import Any, ClassVar

import msgspec

from drive_trace import vocabulary
from drive_trace.json_text import SyntaxProblem, first_string, strings_named
from drive_trace.text.codec import loads
from drive_trace.text.quick import Frozen
from drive_trace.text.spans import Span
from drive_trace.text.wording import listed
from drive_trace.vocabulary import ALWAYS_KEPT, COST, EVENTS, GRADE, NAMING, Entity, EventType

Path = tuple[str | int, ...]
"""Keys and indices from the event's object down to a value; ``()`` is the object itself."""

Facts = tuple[Any, ...]
"""The values of ``EventType.keeps``, in that order."""


class LineStatus(Enum):
    """How the reference reader judges a line."""

    VALID = "valid"
    UNKNOWN = "unknown"
    INVALID = "invalid"
    BLANK = "blank"


class DiagnosticKind(StrEnum):
    """What can be wrong with one line, beside a form or an agreement of fields that the vocabulary
    declares, and that has a code there; each is the code of the one rule that reports it.
    """

    INVALID_JSON = "invalid-json"
    BYTE_ORDER_MARK = "byte-order-mark"
    NOT_AN_OBJECT = "not-an-object"
    MISSING_FIELD = "missing-field"
    WRONG_TYPE = "wrong-type"
    UNKNOWN_VALUE = "unknown-value"
    OUT_OF_RANGE = "out-of-range"
    UNSUPPORTED_SCHEMA_VERSION = "unsupported-schema-version"
    UNKNOWN_EVENT_TYPE = "unknown-event-type"
    UNDECLARED_FIELD = "undeclared-field"
    DUPLICATE_KEY = "duplicate-key"
    NULL_AS_TEXT = "null-as-text"
    NOT_COMPACT = "not-compact"
    BLANK_LINE = "blank-line"
    INVALID_UTF8 = "invalid-utf8"


EVENT_ID, TS, RUN_POSITION = map(ALWAYS_KEPT.index, ("event_id", "ts", "project_run_id"))
"""Where these stand among the facts of every event."""

REJECTING = frozenset(
    {
        DiagnosticKind.INVALID_JSON,
        DiagnosticKind.BYTE_ORDER_MARK,
        DiagnosticKind.NOT_AN_OBJECT,
        DiagnosticKind.MISSING_FIELD,
        DiagnosticKind.WRONG_TYPE,
        DiagnosticKind.UNKNOWN_VALUE,
        DiagnosticKind.OUT_OF_RANGE,
        DiagnosticKind.UNSUPPORTED_SCHEMA_VERSION,
    }
)
"""The kinds for which the reference reader rejects a line."""


MOST_DIAGNOSTICS = 100
"""So many of one line are told one by one: nobody reads more, and a record may hold a million."""


class Diagnostic(Frozen, frozen=True):
    """One thing that is wrong with a line."""

    kind: str
    """A :class:`DiagnosticKind`, or the code of a form or an agreement."""
    path: Path = ()
    field: vocabulary.FieldType | None = None
    """What the vocabulary expects at ``path``."""
    found: object = None
    """The value at ``path``."""
    names: tuple[str, ...] = ()
    """The fields that it is about, where it may be about several."""
    occurrence: int = -1
    """Which of several equal keys is meant; the last is the one that counts."""
    problem: SyntaxProblem | None = None
    broken: tuple[Span, bytes] | None = None
    """Bytes that are not UTF-8, and the span of the text in their place."""
    more: int = 0
    """How many more of its kind the line has, where it stands for these."""


class Line(msgspec.Struct, eq=False, gc=False):
    """A line that is valid and clean, or the common part of one that is not.

    It is read once, from its text alone, and compared by identity: an edit makes new lines of those
    that it touches, and only numbers the others anew.
    """

    text: str
    """The record, without its ``\\n``; a ``\\r`` before that is part of it."""
    event: EventType | None = None
    """The event of a valid line, else None."""
    facts: Facts = ()
    """The kept values of a valid line, else empty."""
    order: int = 0
    """Its place among the lines that are looked at together, from 0."""
    file: int = 0
    """The number of its file, from 0, where lines of several are looked at together."""

    status: ClassVar = LineStatus.VALID
    diagnostics: ClassVar[tuple[Diagnostic, ...]] = ()

    def copied(self, order: int, file: int) -> Line:
        """The line, to be looked at together with others."""
        line = copy(self)
        line.order, line.file = order, file
        return line

    def fact(self, name: str) -> object:
        """The kept value of field ``name``; the event must keep it."""
        assert self.event is not None
        return self.facts[self.event.positions[name]]

    def text_fact(self, name: str) -> str:
        """The kept value of a field that is a string in every valid event."""
        return str(self.fact(name))

    @property
    def run(self) -> str:
        """The run id of a valid line."""
        return self.facts[RUN_POSITION]  # type: ignore[no-any-return]  # a cast takes longer

    def is_copy_of(self, other: Line) -> bool:
        """Whether the line is another one over again, its ``event_id`` too."""
        return self.text.strip() == other.text.strip()

    @property
    def is_crowded(self) -> bool:
        """Whether it has more diagnostics than are told one by one. The last stand for the rest."""
        return bool(self.diagnostics and self.diagnostics[-1].more)

    @property
    def is_rejected(self) -> bool:
        """Whether the reference reader drops the line as invalid."""
        return self.status is LineStatus.INVALID


class FlaggedLine(Line, eq=False, gc=False, kw_only=True):
    """A line that is not an event, or that has diagnostics."""

    status: LineStatus  # type: ignore[misc]
    diagnostics: tuple[Diagnostic, ...] = ()  # type: ignore[misc]
    event_name: str | None = None
    """The line's ``event_type``, as far as it can be read."""
    run_id: str | None = None
    """The line's ``project_run_id``, as far as it can be read."""


def run_of(line: Line) -> str | None:
    """The run that a line belongs to, as far as it can be read."""
    if line.event is not None:
        return line.run
    return line.run_id if isinstance(line, FlaggedLine) else None


def name_of(line: Line) -> str | None:
    """The name of a line's event, as far as it can be read; it may be outside the vocabulary."""
    if line.event is not None:
        return line.event.name
    return line.event_name if isinstance(line, FlaggedLine) else None


def event_of(line: Line) -> EventType | None:
    """The event that a line records or was meant to record."""
    return line.event or EVENTS.get(name_of(line) or "")


_order = attrgetter("order")


class LineSet(list[Line]):
    """Lines in their order, none twice."""

    __slots__ = ()

    def add(self, line: Line) -> None:
        """Put in ``line``, which must not be in the set."""
        if not self or self[-1].order < line.order:  # as most are that are added one by one
            self.append(line)
        else:
            insort(self, line, key=_order)

    def discard(self, line: Line) -> None:
        """Take out ``line`` if it is in the set."""
        if self.has(line):
            del self[self.position(line)]

    def position(self, line: Line) -> int:
        """How many lines of the set stand before ``line``."""
        return bisect_left(self, line.order, key=_order)

    def has(self, line: Line) -> bool:
        """Whether ``line`` is in the set."""
        return self.at(line.order) is line

    def at(self, order: int) -> Line | None:
        """The line at a place."""
        position = bisect_left(self, order, key=_order)
        found = self[position] if position < len(self) else None
        return found if found is not None and found.order == order else None

    def before(self, line: Line) -> Line | None:
        """The nearest earlier line of the set."""
        position = self.position(line)
        return self[position - 1] if position else None

    def nearest_before(self, line: Line, most: int) -> list[Line]:
        """At most ``most`` lines of the set before ``line``, the nearest last."""
        position = self.position(line)
        return self[max(0, position - most) : position]

    def after(self, line: Line) -> Line | None:
        """The nearest later line of the set."""
        position = bisect_left(self, line.order + 1, key=_order)
        return self[position] if position < len(self) else None

    @property
    def first(self) -> Line | None:
        """The earliest line."""
        return self[0] if self else None

    @property
    def last(self) -> Line | None:
        """The latest line."""
        return self[-1] if self else None


def latest(lines: Iterable[Line | None]) -> Line | None:
    """The last of some lines in the document."""
    return max((line for line in lines if line is not None), key=_order, default=None)


def earliest(lines: Iterable[Line | None]) -> Line | None:
    """The first of some lines in the document."""
    return min((line for line in lines if line is not None), key=_order, default=None)


# What can be read from the text of a line that is rejected or outside the vocabulary. These are
# guesses by name: the line may be broken JSON, and a key may stand anywhere in it.

MOST_RUNS = 100
"""A line that names more runs names none: each would be a run with a line of its own."""
RUN_FIELD = next(name for name, entity in NAMING.items() if entity is Entity.RUN)
_SIGNS = {
    feed: tuple(f'"{field}"' for field in fields)
    for feed, fields in ((GRADE, vocabulary.CORRECTNESS_FIELDS), (COST, vocabulary.TOKEN_FIELDS))
}
_ON_EVERY_EVENT = (Entity.RUN, Entity.EVENT)
_ALL_FIELDS = tuple(field for field, entity in NAMING.items() if entity not in _ON_EVERY_EVENT)
_FIELDS = {
    name: tuple(field for field in _ALL_FIELDS if field in event.fields)
    for name, event in EVENTS.items()
}


def references_in_text(line: FlaggedLine) -> Sequence[tuple[str, str]]:
    """What a line names: its event, if readers know that; then fields and values, in the order of
    the vocabulary.
    """
    text, found = line.text, list[tuple[str, str]]()
    if line.event_name is not None and line.event_name in EVENTS:
        found.append(("event_type", line.event_name))
    for field in _FIELDS.get(line.event_name or "", _ALL_FIELDS):
        for value, _ in strings_named(text, field):
            if (field, value) not in found:
                found.append((field, value))
    return found


def references_of(line: Line) -> Sequence[tuple[str, object]]:
    """What an event names: its type, then the fields that are kept of it and their values."""
    assert line.event is not None
    fields = zip(line.event.keeps, line.facts, strict=True)
    named = [each for each in fields if each[0] not in ALWAYS_KEPT and each[1] is not None]
    return [("event_type", line.event.name), *named]


def time_in(text: str) -> str | None:
    """The ``ts`` in the text of a line; None if it has none, or several: nobody can say of which
    of them the rest is.
    """
    return first_string(text, "ts") if text.count('"ts"') == 1 else None


def names_several(text: str, key: str) -> bool:
    """Whether a line names several types, or runs: an event may have been appended to a torn line,
    and nobody can say of which of them the rest is.
    """
    return text.count(f'"{key}"') > 1 and len({value for value, _ in strings_named(text, key)}) > 1


def named_run(line: FlaggedLine) -> str | None:
    """The run of a rejected line, if it names one only."""
    return None if names_several(line.text, RUN_FIELD) else line.run_id


def runs_named(line: Line) -> Set[str]:
    """All runs that a line names, wherever it does so; none where these are too many."""
    found = {value for value, _ in strings_named(line.text, RUN_FIELD)}
    return found if len(found) <= MOST_RUNS else frozenset()


def feed_named(text: str) -> str | None:
    """The feed whose name is somewhere in the text of a line."""
    return _unless_shared(next((feed for feed in _SIGNS if feed in text), None), text)


def feed_with_fields(text: str) -> str | None:
    """The feed all of whose fields are in the text of a line, whatever its type is."""
    signs = _SIGNS.items()
    found = next((feed for feed, keys in signs if all(key in text for key in keys)), None)
    return _unless_shared(found, text)


def _unless_shared(feed: str | None, text: str) -> str | None:
    """The feed, but None for a cost that shares its line with another event: that may be work."""
    return None if feed == COST and names_several(text, "event_type") else feed


def run_id_of(line: Line) -> str | None:
    """The run that a line names, as far as it can be read."""
    known = run_of(line)
    if known is None and line.status is not LineStatus.BLANK:
        known = first_string(line.text, RUN_FIELD)
    return known


# Whether a text is a trace, by the fields that it names: others call their files trace.jsonl, too,
# and a text of any name that names two of the fields is a trace.

HEAD = 1 << 16
"""How much of a text shows what it is."""
_OF_EVERY_EVENT = ("event_type", "project_run_id", "schema_version")
"""Every event has them, and few other records do."""
_LETTERS = tuple(each.replace("_", "") for each in _OF_EVERY_EVENT)
_NO_LETTERS = bytes({*range(256)} - {*b"abcdefghijklmnopqrstuvwxyz"})
_ESCAPE = r"\\u([0-9a-f]{4})"
_BETWEEN = r"[^a-z\"',:={}\[\]]*"
"""What may stand between the letters of a name that is spelled otherwise."""
_END = rf"{_BETWEEN}[\"']\s*[:=]"
_NO_SPACE = _BETWEEN.replace("a-z", r"a-z\s")
"""The same without quotes: the rest is prose, as in "the event type: click"."""
_SPELLED = (f"{_BETWEEN.join(each)}{_END}|{_NO_SPACE.join(each)}[:=]" for each in _LETTERS)
_KEY = f"(?<![a-z])({'|'.join(_SPELLED)})"
"""A name of a field as a key, with quotes or without."""


def fields_named(text: str) -> list[str]:
    """Which of the fields of every event are keys in a text, whatever else it holds. What a string
    of JSON quotes has other quotes, and does not count.
    """
    # To look for the plain text first is much faster than a pattern.
    found = (each for each in _OF_EVERY_EVENT if f'"{each}"' in text)
    return [each for each in found if re.search(rf'"{each}"\s*:', text)]


def why_no_trace(records: Iterable[str]) -> str | None:
    """Why a text with the name of a trace is none: every line is an object, and none of them names
    a field of every event, at any depth, in any spelling, or inside a string. None for all others,
    whatever is wrong with them. An object without fields may become an event.
    """
    record = ""
    for record in filter(str.strip, records):
        if fields_named(record[:HEAD]):  # at once, as a record may be a whole file
            return None
        try:
            it = loads(record)
        except ValueError:
            return None
        if not isinstance(it, dict) or not it or _may_be_event(record):
            return None
    return f"not a trace, as no record has {listed(_OF_EVERY_EVENT, 'or')}" if record else None


def _may_be_event(record: str) -> bool:
    """Whether a record names a field of every event, as one does that somebody has wrapped or whose
    keys were renamed: ``{"log":"{\\"event_type\\":…}"}``, ``eventType``, ``Event-Type``.
    """
    text = re.sub(_ESCAPE, lambda escape: chr(int(escape[1], 16)), record.lower())
    # To look for plain names, or at letters alone, is much faster than the pattern.
    letters = text.encode(errors="replace").translate(None, _NO_LETTERS).decode()
    may_be = any(each in letters for each in _LETTERS)
    return may_be and (bool(fields_named(record)) or re.search(_KEY, text) is not None)
