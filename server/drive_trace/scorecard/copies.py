"""Which events stand in several files. An event whose id and content an earlier file has is one
event with that; the same id with another content is a conflict, and both events count. Within one
file each line is an event.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, KeysView, Mapping, Sequence
from typing import NamedTuple, cast

from drive_trace.trace.line import Line
from drive_trace.trace.run_index import FactTable
from drive_trace.vocabulary import EVENTS, LIFETIMES, Entity, EventType

Number = Callable[[Line], int]
"""Gives a line's number from 1."""


class Noted(NamedTuple):
    """What is kept of an event, to know it in another file and to count it once."""

    line: int
    """From 1."""
    content: int
    """The same, within one process, for all that is written with the same characters but for white
    space.
    """
    event: EventType
    dispatch: object
    """The dispatch that a start, an end or a round's start is of; else None."""
    claims: int | None
    """The milliseconds that the end of one claims; else None."""
    ts: str


_DISPATCH = LIFETIMES[Entity.DISPATCH]
_UNTOLD = EVENTS[_DISPATCH.opener]
"""Stands for the event where nothing is counted."""
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

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Events) and self.kept()._noted == other.kept()._noted

    __hash__ = None  # type: ignore[assignment]


NO_EVENTS = Events({})


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
        return [_noted(line, self._number) for line in self._table().of(event_id)]

    def kept(self) -> Events:
        """See :meth:`Events.kept`."""
        table, number = self._table(), self._number
        noted: dict[str, Sequence[Noted]] = {
            str(name): (_noted(line, number),) for name, line in table.first.items()
        }
        for event_id, lines in table.several.items():
            noted[str(event_id)] = tuple(_noted(line, number) for line in lines)
        return Events(noted)


def _noted(line: Line, number: Number) -> Noted:
    event, facts = line.event, line.facts
    assert event is not None
    dispatch = line.fact(_DISPATCH.field) if event.name in _COUNTED else None
    claims = cast("int", line.fact("wall_clock_ms")) if event.name == _DISPATCH.closer else None
    return Noted(number(line), _content(line), event, dispatch, claims, str(facts[0]))


class ListedEvents(Events):
    """The events of a trace that another process has read, to be compared and not counted."""

    __slots__ = ("_listed",)

    def __init__(self, listed: Mapping[str, Sequence[tuple[int, int]]]) -> None:
        """``listed`` has by id the lines from 1, and the content of each."""
        self._listed = listed

    @classmethod
    def of_table(cls, table: FactTable, number: Number) -> ListedEvents:
        """The events of a trace by its table of ids. Pickled, they are small and quick."""
        listed: dict[str, Sequence[tuple[int, int]]] = {
            str(name): ((number(line), _content(line)),) for name, line in table.first.items()
        }
        for event_id, lines in table.several.items():
            listed[str(event_id)] = [(number(line), _content(line)) for line in lines]
        return cls(listed)

    def ids(self) -> KeysView[str]:
        """See :meth:`Events.ids`."""
        return self._listed.keys()

    def of(self, event_id: str) -> Sequence[Noted]:
        """See :meth:`Events.of`."""
        return [Noted(*each, _UNTOLD, None, None, "") for each in self._listed[event_id]]


def _content(line: Line) -> int:
    return hash("".join(line.text.split()))


class Twin(NamedTuple):
    """An event, and one with the same id in an earlier file."""

    here: Noted
    file: int
    """Which of the files, from 0, has the other one."""
    there: Noted


class Overlap(NamedTuple):
    """What of a file's events stands in earlier ones; each in the order of the lines."""

    copies: Sequence[Twin] = ()
    """With the same content."""
    conflicts: Sequence[Twin] = ()
    """With another content."""


def _line(twin: Twin) -> int:
    return twin.here.line


class Overlaps:
    """Takes in files one after another. The cost is that of the ids, and what they share."""

    def __init__(self) -> None:
        self._files: list[Events] = []
        self._first: dict[str, int] = {}
        """The first file that has an id, but for those that the last file has first."""
        self._shared: dict[str, dict[int, tuple[int, Noted]]] = {}
        """Of ids in several files, by content, the first file that has it."""

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
            if is_plain and others[0].content == found[0].content:  # by far the most frequent case
                copies.append(Twin(found[0], file, others[0]))
                continue
            known = self._shared.setdefault(event_id, {})
            for each in others:
                known.setdefault(each.content, (file, each))
            earlier = next(iter(known.values()))
            for each in found:
                holder, other = known.setdefault(each.content, (number, each))
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
