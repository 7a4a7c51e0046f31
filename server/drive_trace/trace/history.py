"""What became of recorded lines. A trace is append-only: what was recorded stays as and where it
is, and what is new stands below.

How a record is laid out says nothing, nor does the copy of a line. What readers reject may be
mended; of a feed's line no word may be another one then, as what it says decides a verdict.
"""

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from functools import cache
from itertools import islice

import msgspec

from drive_trace.json_text import STRING, WHITESPACE, first_string, line_count, strings_named
from drive_trace.stopping import cached_property
from drive_trace.text.spans import is_blank
from drive_trace.text.wording import short_hash
from drive_trace.trace.line import EVENT_ID, RUN_FIELD, feed_named, feed_with_fields
from drive_trace.trace.provenance import digest_of_event
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
    MENDED = "mended"
    """Of what readers rejected: it was made another line, or taken out."""


class Version(msgspec.Struct, frozen=True):
    """What a trace was."""

    records: Sequence[str]
    commit: str = ""
    """The hash of the commit that changed it; empty where that is not committed."""
    subject: str = ""
    """What that commit says of itself. Untrusted."""
    lost: frozenset[int] | None = None
    """The lines, from 0, that the commit did not leave as they were; None where all are meant."""
    path: str = ""
    """The other trace that it was of, which the commit deleted. Untrusted."""
    mended: int = 0
    """How many rejected lines that commit mended."""
    old_path: str = ""
    """Where the trace was then, if it was moved later. Untrusted."""

    @property
    def short(self) -> str:
        """The beginning of the hash."""
        return short_hash(self.commit)


class Rewriting(msgspec.Struct, frozen=True, dict=True):
    """A line that is no longer as it was recorded, or where."""

    fate: Fate
    old: int
    """Its number in the version that had it, from 0."""
    new: int | None
    """The number of the line that stands for it now, from 0; where it was removed, of the nearest
    one above it that is still there, if any.
    """
    version: Version
    now: str | None
    """The line that stands for it now; None where it was removed."""

    @property
    def text(self) -> str:
        """As it was recorded."""
        return self.version.records[self.old].removesuffix("\r")

    @property
    def is_feed(self) -> bool:
        """Whether it is of a feed, or may be."""
        return _is_feed(self.text)

    @cached_property
    def run_ids(self) -> frozenset[str]:
        """The runs that it names, and that the line names that stands for it."""
        named = (first_string(text, RUN_FIELD) for text in (self.text, self.now or ""))
        return frozenset(each for each in named if each is not None)


class History(msgspec.Struct, frozen=True):
    """What git's commits made of a trace."""

    versions: Sequence[Version] = ()
    """Those of which a commit did not leave every line as it was, the oldest first."""
    since: str = ""
    """The hash of the commit from which on that is known; empty where it was never committed."""
    commits: frozenset[str] = frozenset()
    """The hashes of those that changed it."""
    head: Sequence[str] | None = None
    """Its records as they are committed now."""
    mended: int = 0
    """How many rejected lines its commits mended."""

    def uncommitted(self, records: Iterable[str]) -> int:
        """How many of the records that it has were never committed as they are."""
        known = {text.removesuffix("\r") for text in self.head or ()}
        return sum(text.removesuffix("\r") not in known for text in records if not is_blank(text))

    def rewritings(self, texts: Iterable[str]) -> Iterator[Rewriting]:
        """The recorded lines that it no longer has as they were, given the texts of its lines. One
        of several versions is told of the first one that lost it.
        """
        known = set[str]()
        last = (Version(self.head),) if self.head is not None else ()
        versions = (*self.versions, *last)
        records = [*texts] if versions else []  # each keystroke asks, mostly of what has none
        for version in versions:
            for fate, old, new in compare(version.records, records):
                now = None if new is None or fate is Fate.REMOVED else records[new]
                found = Rewriting(fate, old, new, version, now)
                is_lost = fate is not Fate.MENDED and (version.lost is None or old in version.lost)
                if is_lost and found.text not in known:
                    known.add(found.text)
                    yield found


Change = tuple[Fate, int, int | None]
"""As the first members of :class:`Rewriting`."""


def compare(old: Sequence[str], new: Sequence[str]) -> Sequence[Change]:
    """What became of the recorded lines of a trace, in their order, but for those that stayed."""
    last = next((at for at in range(len(old), 0, -1) if not is_blank(old[at - 1])), 0)
    # As good as always something was appended, or nothing.
    return tuple(_changes(old, new)) if old[:last] != new[:last] else ()


def _changes(old: Sequence[str], new: Sequence[str]) -> Iterator[Change]:
    before, after = _first_places(old), _first_places(new)
    there = {at: after[text] for text, at in before.items() if text in after}
    gone = {at: (first_string(text, _ID), text) for at, text in _records(old, before, after)}
    came = defaultdict[str | None, dict[int, str]](dict)
    for at, text in _records(new, after, before) if gone else ():
        came[first_string(text, _ID)][at] = text
    ids = {event_id for event_id, _ in gone.values()}
    said = {
        (each, digest_of_event(text)): at
        for each in ids
        for at, text in reversed(came[each].items())
    }
    alike = {
        at: said[key]
        for at, (event_id, text) in gone.items()
        if (key := (event_id, digest_of_event(text))) in said
    }
    there |= alike
    events = sorted(each for each in there.items() if f'"{_ID}"' in old[each[0]])
    moved = dict(_out_of_order(events))
    taken, changed = {*there.values()}, dict[int, int | None]()
    left = {each: (at for at in came[each] if at not in taken) for each in ids - {None}}
    news = came, cache(lambda: {first_string(text, _ID) for text in new})
    mended = {at for at, old_one in gone.items() if at not in alike and _is_mended(*old_one, *news)}
    for at, (event_id, _) in gone.items():
        if at not in alike and at not in mended:
            changed[at] = next(left.get(event_id, iter(())), None)
    stayed = ((at, to) for at, to in (there | changed).items() if to is not None)
    stand = sorted(each for each in stayed if each[0] not in moved)
    yield from ((Fate.MENDED, at, None) for at in sorted(mended))
    for at in sorted({*moved, *changed}):
        place = moved[at] if at in moved else changed[at]
        if place is not None:
            yield Fate.MOVED if at in moved else Fate.CHANGED, at, place
        else:
            above = bisect_right(stand, (at,))
            yield Fate.REMOVED, at, stand[above - 1][1] if above else None


def _is_mended(
    event_id: str | None,
    text: str,
    came: Mapping[str | None, Mapping[int, str]],
    ids: Callable[[], Container[str | None]],
) -> bool:
    """Whether readers rejected a record that is gone, and nothing is lost with it: given its id,
    what came, and the ids that there are.
    """
    if not read_lines([text], only_score=True)[0].is_rejected:
        return False
    if not _is_feed(text):
        return event_id is None or event_id in ids()
    left = _words(text)
    for each in {value for value, _ in strings_named(text, _ID)}:
        for other in islice(came.get(each, {}).values(), _MOST_ALIKE):
            left = left.replace(_words(other), " \n ", 1)
    return '"' not in left


def _first_places(texts: Sequence[str]) -> Mapping[str, int]:
    """By the texts of lines where each stands first."""
    return {texts[at].removesuffix("\r"): at for at in range(len(texts) - 1, -1, -1)}


def _records(
    texts: Sequence[str], places: Mapping[str, int], others: Container[str]
) -> Iterator[tuple[int, str]]:
    """The records with a line that is none of some others, nor blank, each with its first line: an
    object may be spread over more lines.
    """
    end = 0
    for at in sorted(at for text, at in places.items() if text not in others):
        if at >= end and not is_blank(texts[at]):
            above = (
                each
                for each in range(at, max(at - _TALLEST, -1), -1)
                if texts[each].lstrip(WHITESPACE)[:1] == "{"
            )
            first = next(above, at)
            end = first + line_count(texts[first : first + _TALLEST])
            first, end = (first, end) if end > at else (at, at + 1)
            yield first, " ".join(texts[first:end])


def _words(text: str) -> str:
    """The strings, numbers and words of a record, whatever stands between them."""
    return f" {' '.join(_WORD.findall(text))} "


def _is_feed(text: str) -> bool:
    return feed_named(text) is not None or feed_with_fields(text) is not None


def _out_of_order(places: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The fewest lines without which all others, given by where they were and are, keep their
    order.
    """
    ends, tops = list[int](), list[int]()
    before = dict[int, int]()
    for old, new in places:
        size = bisect_right(ends, new)
        before[old] = tops[size - 1] if size else -1
        ends[size : size + 1], tops[size : size + 1] = [new], [old]
    kept = {at := tops[-1]} if tops else set[int]()
    while kept and (at := before[at]) >= 0:
        kept.add(at)
    return (each for each in places if each[0] not in kept)
