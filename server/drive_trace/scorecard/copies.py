"""Which events stand more than once. What has the id, type and ``ts`` of another event is a copy of
it, wherever it stands: paths, slugs and run ids may have been changed. Within a run a copy does not
count; between runs either may be the copy. The same id with another type or ``ts`` is a conflict,
and both events count.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Collection, Hashable, Iterable, KeysView, Mapping, Sequence
from hashlib import blake2b
from itertools import chain
from typing import NamedTuple, TypeAlias, cast

from drive_trace.trace.index import Index
from drive_trace.trace.line import Line
from drive_trace.trace.run import Run
from drive_trace.vocabulary import LIFETIMES, Entity

ById = Mapping[str, Sequence[Line]]
"""Events by their ids, none of them empty."""
Number = Callable[[Line], int]
"""Gives a line's number from 1."""
Hashes: TypeAlias = "array[int]"
"""Sorted, of each event a number that its copies have in any file, process and run."""
Held: TypeAlias = tuple[str, str, Collection[Hashable]]
"""The id of a run, a file that has a part of it, and by what its events there are known."""


class Noted(NamedTuple):
    """What is kept of an event, to know it in another file and to count it once."""

    line: int
    """From 1."""
    name: str
    """Its type."""
    dispatch: object
    """The dispatch that a start, an end or a round's start is of; else None."""
    claims: int | None
    """The milliseconds that the end of one claims; else None."""
    ts: str

    @property
    def kind(self) -> tuple[str, str]:
        """What two events of one id have in common if one is a copy."""
        return self.name, self.ts


_DISPATCH = LIFETIMES[Entity.DISPATCH]
_COUNTED = (_DISPATCH.opener, _DISPATCH.closer, LIFETIMES[Entity.ROUND].opener)


class Events:
    """The events of a trace, or of a run in one, by their ids, as they were at some moment."""

    __slots__ = ("_known", "_noted")

    def __init__(self, noted: Mapping[str, Sequence[Noted]], hashes: Hashes | None = None) -> None:
        """The hashes are given where nothing else is kept."""
        self._noted = noted
        self._known = hashes

    def hashes(self) -> Hashes:
        """Of all of them."""
        if self._known is not None:
            return self._known
        return _hashes(
            (name, *each.kind) for name, events in self._noted.items() for each in events
        )

    def ids(self) -> KeysView[str]:
        """The ids of all of them."""
        return self._noted.keys()

    def of(self, event_id: str) -> Sequence[Noted]:
        """Those with an id, in their order."""
        return self._noted[event_id]

    def kept(self) -> Events:
        """The same, whatever becomes of the trace, and without its text."""
        return self

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Events) and self.kept()._noted == other.kept()._noted

    __hash__ = None  # type: ignore[assignment]


NO_EVENTS = Events({})


class LiveEvents(Events):
    """The same of a trace that is at hand: costs nothing until somebody asks."""

    __slots__ = ("_number", "_table")

    def __init__(self, table: Callable[[], ById], number: Number) -> None:
        """``table`` gives the lines by their ids."""
        self._table = table
        self._number = number

    def ids(self) -> KeysView[str]:
        """See :meth:`Events.ids`."""
        return self._table().keys()

    def hashes(self) -> Hashes:
        """See :meth:`Events.hashes`."""
        lines = chain.from_iterable(self._table().values())
        return _hashes((line.text_fact("event_id"), *_kind(line)) for line in lines)

    def of(self, event_id: str) -> Sequence[Noted]:
        """See :meth:`Events.of`."""
        return [_noted(line, self._number) for line in self._table()[event_id]]

    def kept(self) -> Events:
        """See :meth:`Events.kept`."""
        noted = {
            event_id: tuple(_noted(line, self._number) for line in lines)
            for event_id, lines in self._table().items()
        }
        return Events(noted)


def _noted(line: Line, number: Number) -> Noted:
    event, facts = line.event, line.facts
    assert event is not None
    dispatch = line.fact(_DISPATCH.field) if event.name in _COUNTED else None
    claims = cast("int", line.fact("wall_clock_ms")) if event.name == _DISPATCH.closer else None
    return Noted(number(line), event.name, dispatch, claims, str(facts[0]))


def _kind(line: Line) -> tuple[str, str]:
    """As :attr:`Noted.kind`."""
    assert line.event is not None
    return line.event.name, line.text_fact("ts")


def _hashes(events: Iterable[tuple[str, str, str]]) -> Hashes:
    texts = ("\0".join(each).encode("utf-8", "surrogatepass") for each in events)
    digests = [blake2b(each, digest_size=8).digest() for each in texts]
    return array("Q", sorted(array("Q", b"".join(digests))))


class Twin(NamedTuple):
    """An event, and one with the same id in an earlier file."""

    here: Noted
    file: int
    """Which of the files, from 0, has the other one."""
    there: Noted


class Overlap(NamedTuple):
    """What of a file's events stands in earlier ones; each in the order of the lines."""

    copies: Sequence[Twin] = ()
    """Of several in this file the first."""
    conflicts: Sequence[Twin] = ()
    """With another type or ``ts``."""


class Overlaps:
    """Takes in files one after another. The cost is that of the ids, and what they share."""

    def __init__(self) -> None:
        self._files: list[Events] = []
        self._first: dict[str, int] = {}
        """The first file that has an id, but for those that the last file has first."""
        self._shared: dict[str, dict[tuple[str, str], tuple[int, Noted]]] = {}
        """Of ids in several files, by :attr:`Noted.kind`, the first file that has it."""

    def add(self, events: Events) -> Overlap:
        """Compare a file with those before. Their events are kept, see :meth:`Events.kept`."""
        number = len(self._files)
        for event_id in self._files[-1].ids() if self._files else ():
            self._first.setdefault(event_id, number - 1)
        copies: list[Twin] = []
        conflicts: list[Twin] = []
        for event_id in events.ids() & self._first.keys():
            if event_id not in self._shared:
                file = self._first[event_id]
                others = self._files[file].of(event_id)
                self._shared[event_id] = {each.kind: (file, each) for each in reversed(others)}
            known = self._shared[event_id]
            earlier = min(known.values())
            for kind, each in {each.kind: each for each in reversed(events.of(event_id))}.items():
                holder = known.setdefault(kind, (number, each))
                is_copy = holder[0] != number
                twins = copies if is_copy else conflicts
                twins.append(Twin(each, *(holder if is_copy else earlier)))
        self._files.append(events)
        return Overlap(sorted(copies), sorted(conflicts))

    def keep(self) -> None:
        """Let go of the text of the last file."""
        if self._files:
            self._files[-1] = self._files[-1].kept()


def overlaps(files: Iterable[Events]) -> Sequence[Overlap]:
    """What each file has in common with those before it."""
    seen = Overlaps()
    return [seen.add(each) for each in files]


def repeats(run: Run, number: Number) -> Sequence[Noted]:
    """The events of a run in a trace that are copies of one above them."""
    found: list[Noted] = []
    for lines in run.repeated_ids.values():
        first: dict[tuple[str, str], Noted] = {}
        each_noted = (_noted(line, number) for line in lines)
        found += [each for each in each_noted if first.setdefault(each.kind, each) is not each]
    return sorted(found, key=lambda each: each.line)


def is_copied_within(index: Index, run_id: str) -> bool:
    """Whether another run of a trace has events of one."""
    for lines in index.repeated_ids.values() if len(index.runs) > 1 else ():
        kinds = {_kind(line) for line in lines if line.run == run_id}
        if any(line.run != run_id and _kind(line) in kinds for line in lines):
            return True
    return False


class Holders:
    """Which runs hold an event, over many files."""

    def __init__(self) -> None:
        self.first: dict[Hashable, tuple[str, str]] = {}
        """The id of the first of them, and its file."""
        self._second: dict[Hashable, tuple[str, str]] = {}
        """The same of another run."""

    def add(self, parts: Iterable[Held]) -> Holders:
        """Take in parts of runs, and return itself."""
        for run_id, path, keys in parts:
            for key in keys:
                if self.first.setdefault(key, (run_id, path))[0] != run_id:
                    self._second.setdefault(key, (run_id, path))
        return self

    def other(self, run_id: str, keys: Iterable[Hashable]) -> str | None:
        """The file of another run that holds one of these events; None if there is none."""
        found = (each.get(key) for key in keys for each in (self.first, self._second))
        return next((each[1] for each in found if each and each[0] != run_id), None)


def copied_runs(parts: Sequence[Held]) -> Mapping[str, str]:
    """By the id of each run that has events of another one, a file of the other."""
    keys = [each[2] for each in parts]
    if len(set(chain(*keys))) == sum(map(len, keys)):  # as good as always
        return {}
    holders = Holders().add(parts)
    found = ((run_id, holders.other(run_id, keys)) for run_id, _, keys in parts)
    return {run_id: path for run_id, path in found if path is not None}


def copied_among_many(parts: Sequence[tuple[str, str, Hashes]]) -> Mapping[str, str]:
    """The same in little memory: a sixteenth of the events is looked at together."""
    found: dict[str, str] = {}
    for low in range(0, 1 << 64, 1 << 60):
        high = low + (1 << 60)
        share: list[Held] = [
            (run_id, path, some[bisect_left(some, low) : bisect_left(some, high)])
            for run_id, path, some in parts
        ]
        found |= copied_runs(share)
    return found
