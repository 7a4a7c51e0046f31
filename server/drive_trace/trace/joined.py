"""Files that share runs, as one sequence of lines: what is judged is a run, wherever its lines are.

Within a file lines stand in their order, between files by ``ts``. So the lines of a run that is
spread over files are in the order in which they would stand in one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from heapq import merge
from itertools import chain
from typing import Any, NamedTuple

from drive_trace.trace.index import Index
from drive_trace.trace.line import TS, Line, name_of
from drive_trace.trace.references import time_in
from drive_trace.trace.times import sortable
from drive_trace.vocabulary import EVENTS, Entity

_OUTER_FIRST = (Entity.RUN, Entity.SLICE, Entity.DISPATCH, Entity.ROUND)
_AMONG_EQUALS = {
    name: _OUTER_FIRST.index(event.opens)
    if event.opens is not None
    else 2 * len(_OUTER_FIRST) - _OUTER_FIRST.index(event.closes)
    for name, event in EVENTS.items()
    if event.opens is not None or event.closes is not None
}
"""Where events stand among those of other files at the same moment: what starts something before
what is in it, and what ends it behind that.
"""
_INSIDE = len(_OUTER_FIRST)


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
        first = self._copies()
        here: dict[Line, Line] = {}
        """By a line of a file the line here."""
        for order, (*_, file, _, line) in enumerate(merge(*self._in_order())):
            here[line] = line.copied(order, file)
        self.origin = {copy: line for line, copy in here.items()}
        self.lines = [copy for line, copy in here.items() if line not in first]
        self.first = {here[copy]: here[line] for copy, line in first.items()}
        """By a copy of a line in another file that line, as they are here."""
        self.copies = defaultdict[Line, list[Line]](list)
        """By a line the copies of it."""
        for copy, line in self.first.items():
            self.copies[line].append(copy)
        self.index = Index(self.lines, finds_slips=True, copies=self.first)
        """The lines by run."""
        self.findings: dict[str, Mapping[int, Sequence[Any]]] = {}
        """By settings, what was found in each file; see ``linter/engine.py``."""

    @cached_property
    def file_of(self) -> dict[Line, JoinedFile]:
        """By a line the file that it stands in."""
        return {line: each for each in self.files for line in each.lines}

    def with_lines(self, file: int, lines: Sequence[Line]) -> JoinedFiles:
        """The same files after an edit of one."""
        changed = self.files[file]._replace(lines=lines)
        return JoinedFiles([*self.files[:file], changed, *self.files[file + 1 :]])

    def _in_order(self) -> Iterator[Iterator[_Place]]:
        """For each file its lines with what they are merged by. A line without a moment stays
        behind the one above it; so does one whose ``ts`` goes back, as position outranks it.
        """
        for number, file in enumerate(self.files):
            yield _by_moment(number, file.lines)

    def _copies(self) -> dict[Line, Line]:
        """The lines that stand in a file before theirs, too, with the very same text, each with the
        line there; of files that are only beside the others, in any of these. What differs is
        looked at: nobody knows which of the two was meant.
        """
        found: dict[Line, Line] = {}
        seen: dict[str, Line] = {}
        for number in sorted(range(len(self.files)), key=lambda each: self.files[each].is_beside):
            own = {}
            for line in self.files[number].lines:
                if line.event is not None:
                    text = line.text.strip()
                    if text in seen:
                        found[line] = seen[text]
                    else:
                        own[text] = line
            seen |= own
        return found


_Place = tuple[str, int, int, int, Line]
"""The latest moment up to a line, its place among equal ones, its file, and its number there."""


def _by_moment(file: int, lines: Iterable[Line]) -> Iterator[_Place]:
    latest = ""
    for number, line in enumerate(lines):
        ts = line.facts[TS] if line.event is not None else time_in(line.text)
        latest = max(latest, sortable(str(ts)) or "")
        yield latest, _AMONG_EQUALS.get(name_of(line) or "", _INSIDE), file, number, line


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
