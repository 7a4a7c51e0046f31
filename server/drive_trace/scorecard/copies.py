"""Which events stand more than once. What has the id, type and ``ts`` of another event is a copy of
it, wherever it stands: paths, slugs and run ids may have been changed. Within a run a copy does not
count; between runs each of the two may be the copy. The same id with another type or ``ts`` is a
conflict, and both events count.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Collection, Hashable, Iterable, KeysView, Mapping, Sequence
from hashlib import blake2b
from typing import NamedTuple, TypeAlias, cast

from drive_trace.trace.index import Index
from drive_trace.trace.line import Line
from drive_trace.trace.run_index import FactTable
from drive_trace.vocabulary import EVENTS, LIFETIMES, Entity, EventType

Number = Callable[[Line], int]
"""Gives a line's number from 1."""
Hashes: TypeAlias = "array[int]"
"""See :meth:`Events.hashes`."""


class Noted(NamedTuple):
    """What is kept of an event, to know it in another file and to count it once."""

    line: int
    """From 1."""
    event: EventType
    dispatch: object
    """The dispatch that a start, an end or a round's start is of; else None."""
    claims: int | None
    """The milliseconds that the end of one claims; else None."""
    ts: str

    @property
    def kind(self) -> tuple[str, str]:
        """The same for a copy, if the id is the same."""
        return self.event.name, self.ts


_DISPATCH = LIFETIMES[Entity.DISPATCH]
_COUNTED = (_DISPATCH.opener, _DISPATCH.closer, LIFETIMES[Entity.ROUND].opener)


class Events:
    """The events of a trace, or of a run in one, by their ids, as they were at some moment."""

    __slots__ = ("_noted",)

    def __init__(self, noted: Mapping[str, Sequence[Noted]]) -> None:
        self._noted = noted

    def ids(self) -> KeysView[str]:
        """The ids of all of them."""
        return self._noted.keys()

    def of(self, event_id: str) -> Sequence[Noted]:
        """Those with an id, in their order."""
        return self._noted[event_id]

    def kept(self) -> Events:
        """The same, whatever becomes of the trace, and without its text."""
        return self

    def hashes(self) -> Hashes:
        """Of each event a number that its copies have in any file, process and run; sorted."""
        return array(
            "Q", sorted({_hash(name, *each.kind) for name in self.ids() for each in self.of(name)})
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Events) and self.kept()._noted == other.kept()._noted

    __hash__ = None  # type: ignore[assignment]


NO_EVENTS = Events({})


class EventHashes(Events):
    """The events of a trace that was read before, of which only the keys are known."""

    __slots__ = ("_hashes",)

    def __init__(self, hashes: Hashes) -> None:
        super().__init__({})
        self._hashes = hashes

    def hashes(self) -> Hashes:
        """See :meth:`Events.hashes`."""
        return self._hashes


def _hash(*identity: str) -> int:
    text = "\0".join(identity).encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(text, digest_size=8).digest(), "big")


class LiveEvents(Events):
    """The same of a trace that is at hand: costs nothing until somebody asks."""

    __slots__ = ("_number", "_table")

    def __init__(self, table: Callable[[], FactTable], number: Number) -> None:
        """``table`` gives the lines by their ids."""
        self._table = table
        self._number = number

    def ids(self) -> KeysView[str]:
        """See :meth:`Events.ids`."""
        return cast("KeysView[str]", self._table().first.keys())

    def of(self, event_id: str) -> Sequence[Noted]:
        """See :meth:`Events.of`."""
        return [noted(line, self._number) for line in self._table().of(event_id)]

    def kept(self) -> Events:
        """See :meth:`Events.kept`."""
        table, number = self._table(), self._number
        kept: dict[str, Sequence[Noted]] = {
            str(name): (noted(line, number),) for name, line in table.first.items()
        }
        for event_id, lines in table.several.items():
            kept[str(event_id)] = tuple(noted(line, number) for line in lines)
        return Events(kept)


def noted(line: Line, number: Number) -> Noted:
    """What is kept of a valid line."""
    event, facts = line.event, line.facts
    assert event is not None
    dispatch = line.fact(_DISPATCH.field) if event.name in _COUNTED else None
    claims = cast("int", line.fact("wall_clock_ms")) if event.name == _DISPATCH.closer else None
    return Noted(number(line), event, dispatch, claims, str(facts[0]))


class ListedEvents(Events):
    """The events of a trace that another process has read, to be compared and not counted."""

    __slots__ = ("_listed",)

    def __init__(self, listed: Mapping[str, Sequence[tuple[int, str, str]]]) -> None:
        """``listed`` has by id the lines from 1, and the type and ``ts`` of each."""
        self._listed = listed

    @classmethod
    def of_table(cls, table: FactTable, number: Number) -> ListedEvents:
        """The events of a trace by its table of ids. Pickled, they are small and quick."""
        listed: dict[str, Sequence[tuple[int, str, str]]] = {
            str(name): ((number(line), *_kind(line)),) for name, line in table.first.items()
        }
        for event_id, lines in table.several.items():
            listed[str(event_id)] = [(number(line), *_kind(line)) for line in lines]
        return cls(listed)

    def ids(self) -> KeysView[str]:
        """See :meth:`Events.ids`."""
        return self._listed.keys()

    def of(self, event_id: str) -> Sequence[Noted]:
        """See :meth:`Events.of`."""
        return [
            Noted(line, EVENTS[name], None, None, ts) for line, name, ts in self._listed[event_id]
        ]


def _kind(line: Line) -> tuple[str, str]:
    """As :attr:`Noted.kind`."""
    assert line.event is not None
    return line.event.name, str(line.facts[0])


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


def _line(twin: Twin) -> int:
    return twin.here.line


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
        if not self._files:
            self._files.append(events)
            return Overlap()
        last = len(self._files) - 1
        for event_id in self._files[last].ids():
            self._first.setdefault(event_id, last)
        number = len(self._files)
        copies: list[Twin] = []
        conflicts: list[Twin] = []
        for event_id in events.ids() & self._first.keys():
            file, found = self._first[event_id], events.of(event_id)
            others = self._files[file].of(event_id)
            is_plain = event_id not in self._shared and len(others) == len(found) == 1
            if is_plain and others[0].kind == found[0].kind:  # by far the most frequent case
                copies.append(Twin(found[0], file, others[0]))
                continue
            known = self._shared.setdefault(event_id, {})
            for each in others:
                known.setdefault(each.kind, (file, each))
            earlier = next(iter(known.values()))
            for kind, each in {each.kind: each for each in reversed(found)}.items():
                holder, other = known.setdefault(kind, (number, each))
                if holder != number:
                    copies.append(Twin(each, holder, other))
                else:
                    conflicts.append(Twin(each, *earlier))
        self._files.append(events)
        return Overlap(sorted(copies, key=_line), sorted(conflicts, key=_line))

    def keep(self) -> None:
        """Let go of the text of the last file."""
        if self._files:
            self._files[-1] = self._files[-1].kept()


def overlaps(files: Iterable[Events]) -> Sequence[Overlap]:
    """What each file has in common with those before it."""
    seen = Overlaps()
    return [seen.add(each) for each in files]


def copies_within(index: Index, run_id: str) -> Sequence[Line]:
    """The lines of a run that are copies of one above them."""
    if not index.event_ids.several:  # as good as always; the run has no table then
        return ()
    found: list[Line] = []
    for lines in index.runs[run_id].event_ids.several.values():
        seen: set[tuple[str, str]] = set()
        for line in lines:
            kind = _kind(line)
            found += [line] if kind in seen else []
            seen.add(kind)
    return sorted(found, key=lambda line: line.order)


def runs_with_copies(index: Index, run_id: str | None = None) -> frozenset[str]:
    """The runs of which another one in the same trace has events; of one run, whether it is one."""
    several = index.event_ids.several if len(index.runs) > 1 else {}
    names = set(several)
    if several and run_id is not None:
        names &= index.runs[run_id].event_ids.first.keys()
    found: set[str] = set()
    for name in names:
        runs: dict[tuple[str, str], set[str]] = {}
        for line in several[name]:
            runs.setdefault(_kind(line), set()).add(line.run)
        found.update(*(each for each in runs.values() if len(each) > 1))
    return frozenset(found)


class Holders:
    """Which runs hold an event, over many files."""

    def __init__(self) -> None:
        self._first: dict[Hashable, tuple[str, str]] = {}
        """By key the id of a run, and the file."""
        self._second: dict[Hashable, tuple[str, str]] = {}
        """Of another run than the first."""

    def __len__(self) -> int:
        return len(self._first)

    @property
    def has_shared(self) -> bool:
        """Whether two runs hold one event."""
        return bool(self._second)

    def add(self, run_id: str, path: str, keys: Iterable[Hashable]) -> None:
        """Take in a run's part in a file."""
        holder = run_id, path
        for key in keys:
            if self._first.setdefault(key, holder)[0] != run_id:
                self._second.setdefault(key, holder)

    def other(self, run_id: str, keys: Iterable[Hashable]) -> str | None:
        """The file of another run that holds one of these events; None if there is none."""
        for key in keys:
            for found in (self._first.get(key), self._second.get(key)):
                if found is not None and found[0] != run_id:
                    return found[1]
        return None


Held: TypeAlias = tuple[str, str, Collection[Hashable]]
"""The id of a run, a file that has a part of it, and the keys of its events there."""


def copied_runs(parts: Sequence[Held]) -> Mapping[str, str]:
    """By the id of each run that has events of another one, a file of the other."""
    holders = Holders()
    for part in parts:
        holders.add(*part)
    if not holders.has_shared:
        return {}
    found = ((run_id, holders.other(run_id, keys)) for run_id, _, keys in parts)
    return {run_id: path for run_id, path in found if path is not None}


def copied_among_many(parts: Sequence[tuple[str, str, Hashes]]) -> Mapping[str, str]:
    """The same, in little memory: only a share of the keys is looked at together."""
    found: dict[str, str] = {}
    for start in range(0, 1 << 64, _SHARE):
        held = [
            (run_id, path, keys[bisect_left(keys, start) : bisect_left(keys, start + _SHARE)])
            for run_id, path, keys in parts
        ]
        found |= copied_runs(held)
    return found


_SHARE = 1 << 60
