"""Lines of a trace as the engine keeps them: what was read, without spans."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable
from copy import copy
from enum import Enum, StrEnum
from operator import attrgetter
from typing import ClassVar, NamedTuple, cast

import msgspec

from drive_trace.json_text import SyntaxProblem
from drive_trace.text.spans import Span
from drive_trace.vocabulary import ALWAYS_KEPT, EVENTS, EventType, FieldType

Path = tuple[str | int, ...]
"""Keys and indices from the event's object down to a value; ``()`` is the object itself."""

Facts = tuple[object, ...]
"""The values of ``EventType.keeps``, in that order."""


class LineStatus(Enum):
    """How the reference reader judges a line."""

    VALID = "valid"
    UNKNOWN = "unknown"
    INVALID = "invalid"
    BLANK = "blank"


class DiagnosticKind(StrEnum):
    """What can be wrong with one line; each is the code of the one rule that reports it."""

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
    MALFORMED_TIMESTAMP = "malformed-timestamp"
    MALFORMED_UUID = "malformed-uuid"
    MALFORMED_HASH = "malformed-hash"
    KIND_MISMATCH = "kind-mismatch"
    SIZE_DISTRIBUTION_SUM = "size-distribution-sum"
    DRIFT_SEVERITY_MISMATCH = "drift-severity-mismatch"
    MANDATORY_FINAL_MISMATCH = "mandatory-final-mismatch"
    ZERO_TOKENS = "zero-tokens"
    PROJECT_SLUG_MISMATCH = "project-slug-mismatch"
    MERGED_WITHOUT_PR = "merged-without-pr"
    IMPOSSIBLE_BYTES_DELTA = "impossible-bytes-delta"
    EMPTY_BRIEF = "empty-brief"
    INVENTED_HASH = "invented-hash"
    MALFORMED_PATH = "malformed-path"
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


class Diagnostic(NamedTuple):
    """One thing that is wrong with a line."""

    kind: DiagnosticKind
    path: Path = ()
    field: FieldType | None = None
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
        return cast("str", self.facts[RUN_POSITION])

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
        insort(self, line, key=_order)

    def discard(self, line: Line) -> None:
        """Take out ``line`` if it is in the set."""
        position = self.position(line)
        if position < len(self) and self[position] is line:
            del self[position]

    def position(self, line: Line) -> int:
        """How many lines of the set stand before ``line``."""
        return bisect_left(self, line.order, key=_order)

    def has(self, line: Line) -> bool:
        """Whether ``line`` is in the set."""
        position = self.position(line)
        return position < len(self) and self[position] is line

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
