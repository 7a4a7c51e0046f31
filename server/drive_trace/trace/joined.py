"""Files that share runs, as one sequence of lines: what is judged is a run, wherever its lines are.

Within a file lines stand in their order, between files by ``ts``. So the lines of a run that is
spread over files are in the order in which they would stand in one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from heapq import merge
from itertools import chain
from typing import NamedTuple

from drive_trace.trace.index import EVENT_ID, Index
from drive_trace.trace.line import Line
from drive_trace.trace.references import time_in
from drive_trace.trace.times import sortable
from drive_trace.vocabulary import ALWAYS_KEPT

_TS = ALWAYS_KEPT.index("ts")

Identity = tuple[object, ...]
"""The id, type and ``ts`` of an event, and what an event of a feed records."""


class JoinedFile(NamedTuple):
    """One of the files."""

    path: str
    """How it is called in messages."""
    lines: Sequence[Line]
    is_beside: bool = False
    """Whether it is only looked at for the sake of the others."""
    uri: str = ""
    """Its address, where somebody follows it."""


class JoinedFiles:
    """Files that share runs. The lines here are copies of theirs, which know their file and their
    place among all. A line that stands in another file, too, is here once.
    """

    def __init__(self, files: Sequence[JoinedFile]) -> None:
        """The files in the order in which they are joined: of equal moments the later file's is
        the later one.
        """
        self.files = files
        self.origin: dict[Line, Line] = {}
        """By a line here the line of its file."""
        self.copies: dict[Line, list[tuple[int, Line]]] = {}
        """By a line of a file its copies, each with the number of its file."""
        lines: list[Line] = []
        for order, (_, file, _, line) in enumerate(merge(*self._in_order())):
            copy = line.copied(order, file)
            self.origin[copy] = line
            lines.append(copy)
        self.lines = lines
        self.kept: dict[object, object] = {}
        """What was computed of them, once."""

    @cached_property
    def index(self) -> Index:
        """The lines by run."""
        return Index(self.lines, finds_slips=True)

    @cached_property
    def file_of(self) -> dict[Line, JoinedFile]:
        """By a line the file that it stands in."""
        return {line: each for each in self.files for line in each.lines}

    def with_lines(self, file: int, lines: Sequence[Line]) -> JoinedFiles:
        """The same files after an edit of one."""
        changed = self.files[file]._replace(lines=lines)
        return JoinedFiles([*self.files[:file], changed, *self.files[file + 1 :]])

    def _in_order(self) -> Iterator[Iterator[tuple[str, int, int, Line]]]:
        """For each file its lines with what they are merged by. A line without a moment stays
        behind the one above it; so does one whose ``ts`` goes back, as position outranks it.
        """
        copies = self._copies()
        for number, file in enumerate(self.files):
            yield _by_moment(number, file.lines, copies[number])

    def _copies(self) -> Sequence[set[Line]]:
        """The lines of each file that stand in a file before it, too, with the very same text; of
        files that are only beside the others, in any of these. What differs is looked at: nobody
        knows which of the two was meant.
        """
        found: list[set[Line]] = [set() for _ in self.files]
        seen: dict[str, Line] = {}
        for number in sorted(range(len(self.files)), key=lambda each: self.files[each].is_beside):
            own = {}
            for line in self.files[number].lines:
                if line.event is not None:
                    text = line.text.strip()
                    if text in seen:
                        found[number].add(line)
                        self.copies.setdefault(seen[text], []).append((number, line))
                    else:
                        own[text] = line
            seen |= own
        return found


def identity(line: Line) -> Identity:
    """What an event and its copies have in common, wherever they stand: paths, slugs and run ids
    may have been changed. Of a feed, all that is recorded counts: two grades that differ are two.
    """
    event = line.event
    assert event is not None
    recorded = line.facts if event.is_feed else ()
    return line.facts[EVENT_ID], event.name, line.facts[_TS], *recorded


def _by_moment(
    file: int, lines: Iterable[Line], without: set[Line]
) -> Iterator[tuple[str, int, int, Line]]:
    latest = ""
    for number, line in enumerate(lines):
        ts = line.facts[_TS] if line.event is not None else time_in(line.text)
        latest = max(latest, sortable(str(ts)) or "")
        if line not in without:
            yield latest, file, number, line


def sharing(run_ids: Sequence[Iterable[str]]) -> Sequence[Sequence[int]]:
    """Which files belong together, given the ids of the runs in each: groups of their numbers, as
    each file shares a run with another one of its group. A group is as early as its first file.
    """
    parent = list(range(len(run_ids)))

    def root(file: int) -> int:
        while parent[file] != file:
            parent[file] = parent[parent[file]]
            file = parent[file]
        return file

    first: dict[str, int] = {}
    for file, run_id in chain.from_iterable(
        ((file, each) for each in ids) for file, ids in enumerate(run_ids)
    ):
        one, other = root(file), root(first.setdefault(run_id, file))
        parent[max(one, other)] = min(one, other)
    groups: dict[int, list[int]] = {}
    for file in range(len(run_ids)):
        groups.setdefault(root(file), []).append(file)
    return list(groups.values())
