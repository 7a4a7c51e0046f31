"""What became of recorded lines. A trace is append-only: what was recorded stays as and where it
is, and what is new stands below.

How a record is laid out says nothing, nor does the copy of a line. What readers reject may be
mended; of a feed's line no word may be another one then, as what it says decides a verdict.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from enum import StrEnum
from functools import cached_property
from itertools import pairwise
from operator import itemgetter

import msgspec

from drive_trace.json_text import STRING, WHITESPACE, first_string, line_count, strings_named
from drive_trace.text.spans import is_blank
from drive_trace.text.wording import short_hash
from drive_trace.trace.line import EVENT_ID, feed_named, feed_with_fields
from drive_trace.trace.reading import read_lines
from drive_trace.vocabulary import ALWAYS_KEPT

_ID = ALWAYS_KEPT[EVENT_ID]
_TALLEST = 200
"""Lines of an object that is spread over several."""
_MOST_ALIKE = 16
"""So many records of one id are looked for in one that was mended."""
_WORD = re.compile(rf'{STRING}|[^\s{{}}\[\],:"]+')


class Fate(StrEnum):
    """What became of a recorded line."""

    CHANGED = "changed"
    REMOVED = "removed"
    MOVED = "moved"


class Version(msgspec.Struct, frozen=True):
    """What a trace was."""

    records: Sequence[str]
    commit: str = ""
    """The hash of the commit that changed it; empty where that is not committed."""
    subject: str = ""
    """What that commit says of itself. Untrusted."""
    lost: frozenset[int] | None = None
    """The lines, from 0, that the commit did not leave as they were; None where all are meant."""

    @property
    def short(self) -> str:
        """The beginning of the hash."""
        return short_hash(self.commit)


class Rewriting(msgspec.Struct, frozen=True):
    """A line that is no longer as it was recorded, or where."""

    fate: Fate
    old: int
    """Its number in the version that had it, from 0."""
    new: int | None
    """The number of the line that stands for it now, from 0; where it was removed, of the nearest
    one above it that is still there, if any.
    """
    version: Version

    @property
    def text(self) -> str:
        """As it was recorded."""
        return self.version.records[self.old].removesuffix("\r")

    @property
    def is_feed(self) -> bool:
        """Whether it is of a feed, or may be."""
        return _is_feed(self.text)


class History(msgspec.Struct, frozen=True):
    """What git's commits made of a trace."""

    versions: Sequence[Version] = ()
    """Those of which a commit did not leave every line as it was, the oldest first."""
    since: str = ""
    """The hash of the commit from which on that is known; empty where it was never committed."""
    commits: int = 0
    """How many changed it."""
    head: Sequence[str] | None = None
    """Its records as they are committed now."""

    def uncommitted(self, records: Iterable[str]) -> int:
        """How many of the records that it has were never committed as they are."""
        known = {text.removesuffix("\r") for text in self.head or ()}
        return sum(text.removesuffix("\r") not in known for text in records if not is_blank(text))

    def rewritings(self, records: Sequence[str]) -> Sequence[Rewriting]:
        """The recorded lines that it no longer has as they were."""
        last = (Version(self.head),) if self.head is not None else ()
        return tuple(rewritings((*self.versions, *last), records))


def rewritings(versions: Iterable[Version], records: Sequence[str]) -> Iterator[Rewriting]:
    """The lines of some versions, the first one first, that a trace no longer has as they were. A
    line of several versions is told of the first one that lost it.
    """
    known = set[str]()
    for version in versions:
        for each in compare(version.records, records):
            found = Rewriting(*each, version)
            if (version.lost is None or found.old in version.lost) and found.text not in known:
                known.add(found.text)
                yield found


Change = tuple[Fate, int, int | None]
"""As the first members of :class:`Rewriting`."""


def compare(old: Sequence[str], new: Sequence[str]) -> list[Change]:
    """What became of the recorded lines of a trace, in their order, but for those that stayed."""
    last = next((at for at in range(len(old), 0, -1) if not is_blank(old[at - 1])), 0)
    # As good as always something was appended, or nothing.
    return _Comparison(old, new).changes() if old[:last] != new[:last] else []


class _Comparison:
    def __init__(self, old: Sequence[str], new: Sequence[str]) -> None:
        self._old, self._new = old, new
        self._before, self._after = _first_places(old), _first_places(new)
        self._known: dict[str | None, Mapping[str, int]] = {}

    def changes(self) -> list[Change]:
        """See :func:`compare`."""
        after = self._after
        there = [(at, after[text]) for text, at in self._before.items() if text in after]
        gone = _records(self._old, self._before, after)
        lost = []
        for at, text in gone.items():
            event_id = first_string(text, _ID)
            alike = self._alike(event_id)
            place = alike.get(_said(text)) if alike else None
            if place is not None:
                there.append((at, place))
            elif not self._is_mended(text, event_id):
                lost.append((at, event_id))
        there.sort()
        events = [each for each in there if f'"{_ID}"' in self._old[each[0]]]
        changes: list[Change] = [(Fate.MOVED, *each) for each in _out_of_order(events)]
        taken = {place for _, place in there}
        left = {
            event_id: [at for at in reversed(places) if at not in taken]
            for event_id, places in (self._fresh if lost else {}).items()
        }
        for at, event_id in lost:
            places = left.get(event_id) if event_id is not None else None
            instead = places.pop() if places else None
            changes.append((Fate.REMOVED if instead is None else Fate.CHANGED, at, instead))
        return [*_placed(there, sorted(changes, key=itemgetter(1)))]

    @cached_property
    def _came(self) -> Mapping[int, str]:
        """The records that were not there before, by their first lines."""
        return _records(self._new, self._after, self._before)

    @cached_property
    def _fresh(self) -> Mapping[str | None, Sequence[int]]:
        """Their places by the id of the event."""
        found = defaultdict[str | None, list[int]](list)
        for at, text in self._came.items():
            found[first_string(text, _ID)].append(at)
        return found

    def _alike(self, event_id: str | None) -> Mapping[str, int]:
        """By what they say, the places of those with an id."""
        if event_id not in self._known:
            places = reversed(self._fresh.get(event_id, ()))
            self._known[event_id] = {_said(self._came[at]): at for at in places}
        return self._known[event_id]

    @cached_property
    def _ids(self) -> set[str | None]:
        return {first_string(text, _ID) for text in self._new}

    def _is_mended(self, text: str, event_id: str | None) -> bool:
        """Whether readers rejected a record that is gone, and nothing is lost with it."""
        if not read_lines([text], only_score=True)[0].is_rejected:
            return False
        if not _is_feed(text):
            return event_id is None or event_id in self._ids
        left = _words(text)
        for each in {value for value, _ in strings_named(text, _ID)}:
            for at in self._fresh.get(each, ())[:_MOST_ALIKE]:
                left = left.replace(_words(self._came[at]), " \n ", 1)
        return '"' not in left


def _placed(there: Iterable[tuple[int, int]], changes: Sequence[Change]) -> Iterator[Change]:
    """Changes with the place above what was removed."""
    moved = {at for fate, at, _ in changes if fate is Fate.MOVED}
    stayed = sorted(each for each in there if each[0] not in moved)
    places = dict(stayed) | {at: new for _, at, new in changes if new is not None}
    above: int | None = None
    by_old = {at: fate for fate, at, _ in changes}
    for at in sorted({*places, *by_old}):
        fate = by_old.get(at)
        if fate is not None:
            yield fate, at, above if fate is Fate.REMOVED else places[at]
        if fate is not Fate.MOVED:
            above = places.get(at, above)


def _first_places(texts: Sequence[str]) -> Mapping[str, int]:
    """By the texts of lines where each stands first."""
    return {texts[at].removesuffix("\r"): at for at in range(len(texts) - 1, -1, -1)}


def _records(
    texts: Sequence[str], places: Mapping[str, int], others: Container[str]
) -> Mapping[int, str]:
    """By their first lines the records with a line that is none of some others, nor blank: an
    object may be spread over more lines.
    """
    found = dict[int, str]()
    end = 0
    for at in sorted(at for text, at in places.items() if text not in others):
        if at >= end and not is_blank(texts[at]):
            first, end = _record_around(texts, at)
            found[first] = " ".join(texts[first:end])
    return found


def _record_around(texts: Sequence[str], at: int) -> tuple[int, int]:
    for first in range(at, max(at - _TALLEST, -1), -1):
        if texts[first].lstrip(WHITESPACE).startswith("{"):
            end = first + line_count(texts[first : first + _TALLEST])
            return (first, end) if end > at else (at, at + 1)
    return at, at + 1


def _said(text: str) -> str:
    """What a record says: the same however it is laid out, and in whatever order its keys are."""
    try:
        return repr(
            json.loads(text, object_pairs_hook=_by_key, parse_int=Decimal, parse_float=Decimal)
        )
    except (ValueError, RecursionError):
        return _words(text)


def _by_key(pairs: list[tuple[str, object]]) -> tuple[tuple[str, object], ...]:
    return tuple(sorted(pairs, key=itemgetter(0)))  # of equal ones the last counts


def _words(text: str) -> str:
    """The strings, numbers and words of a record, whatever stands between them."""
    return f" {' '.join(_WORD.findall(text))} "


def _is_feed(text: str) -> bool:
    return feed_named(text) is not None or feed_with_fields(text) is not None


def _out_of_order(places: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The fewest lines without which all others, given by where they were and are, keep their
    order.
    """
    if all(one[1] <= other[1] for one, other in pairwise(places)):
        return iter(())
    ends, tops, before = list[int](), list[int](), list[int]()
    for number, (_, new) in enumerate(places):
        size = bisect_right(ends, new)
        before.append(tops[size - 1] if size else -1)
        ends[size : size + 1], tops[size : size + 1] = [new], [number]
    kept, number = set[int](), tops[-1] if tops else -1
    while number >= 0:
        kept.add(number)
        number = before[number]
    return (each for number, each in enumerate(places) if number not in kept)
