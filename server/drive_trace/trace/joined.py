"""Files that share runs: what is judged is a run, wherever its lines are.

Within a file lines stand in their order, between files by ``ts``; and an event that stands in two
files is one event. Rules look at all lines of such files as one sequence. Which grade counts, and
what is after it, is decided file by file, here alone, for rules and for the score.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import merge
from itertools import chain, count
from typing import Any, cast

import msgspec

from drive_trace.stopping import cached_property
from drive_trace.text.quick import Frozen
from drive_trace.trace.index import Identity, Index, identity_of
from drive_trace.trace.line import TS, FlaggedLine, Line, name_of, time_in
from drive_trace.trace.run import Run, in_order
from drive_trace.trace.times import is_later, latest_recorded, sortable
from drive_trace.vocabulary import EVENTS, GRADE, Entity

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


class JoinedFile(Frozen, frozen=True):
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
        for order, (*_, file, _, line) in enumerate(merge(*map(_by_moment, count(), self.files))):
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


def _by_moment(number_of_file: int, file: JoinedFile) -> Iterator[_Place]:
    """The lines of a file with what they are merged by. A line without a moment stays behind the
    one above it; so does one whose ``ts`` goes back, as position outranks it.
    """
    latest = ""
    for number, line in enumerate(file.lines):
        ts = line.facts[TS] if line.event is not None else time_in(line.text)
        latest = max(latest, sortable(str(ts)) or "")
        yield latest, _AMONG_EQUALS.get(name_of(line) or "", _INSIDE), number_of_file, number, line


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


# A run file by file


def identities(lines: Iterable[Line]) -> list[tuple[Identity, int]]:
    """By what events are known in other files, with their numbers from 1."""
    return [(identity_of(line), line.order + 1) for line in lines]


class SharedEvent(msgspec.Struct, frozen=True):
    """An event of a file, and one with the same id in an earlier file."""

    line: int
    """From 1; of several equal ones in this file the first."""
    file: int
    """Which of the files, from 0, has the other one."""
    other: int
    """The line of the other one, from 1."""
    event: str
    """Its type."""


class SharedIds:
    """Takes in the events of files one after another. It keeps no text."""

    def __init__(self) -> None:
        self._count = 0
        self._known: dict[object, dict[Identity, tuple[int, int]]] = {}
        """By id, and by all that copies have in common, the first file and line."""

    def add(
        self, events: Iterable[tuple[Identity, int]]
    ) -> tuple[list[SharedEvent], list[SharedEvent]]:
        """What of a file stands in earlier ones: copies, and the ids of other events."""
        file, self._count = self._count, self._count + 1
        copies: list[SharedEvent] = []
        conflicts: list[SharedEvent] = []
        own: dict[Identity, tuple[int, int]] = {}
        for kind, line in events:
            if kind in own:
                continue
            own[kind] = file, line
            known = self._known.get(kind[0])
            if known is not None:
                other = known.get(kind)
                found = conflicts if other is None else copies
                found.append(SharedEvent(line, *(other or min(known.values())), str(kind[1])))
        for kind, place in own.items():
            self._known.setdefault(kind[0], {}).setdefault(kind, place)
        return copies, conflicts


class SpreadRun:
    """A run file by file."""

    def __init__(self, runs: Sequence[Run]) -> None:
        """The events of the run in each file, in the order in which the files are joined."""
        self.runs = runs
        self.copies: Sequence[Sequence[SharedEvent]] = [()]
        """Of each file the events that stand in an earlier one."""
        self.conflicts: Sequence[Sequence[SharedEvent]] = [()]
        """The same of those that have the id of another one."""
        if len(runs) > 1:
            shared = SharedIds()
            found = [shared.add(identities(each.lines)) for each in runs]
            self.copies, self.conflicts = zip(*found, strict=True)
        self.grades = [each.events(GRADE).last for each in runs]
        """Each file's own last grade."""
        self.grade = self.counted(GRADE)
        """The grade that counts; None where there is none."""

    # Which event of a feed counts

    def counted(self, feed: str) -> Line | None:
        """The event of a feed that counts: the last one of a file; of several files' last ones that
        with the latest ``ts``, compared as strings as readers do, and on a tie the later file's.
        The copy of an event that another file supersedes further down does not count, whatever the
        timestamps say.
        """
        last = [each.events(feed).last for each in self.runs]
        own = {file: line for file, line in enumerate(last) if line is not None}
        superseded: set[int] = set()
        for file, copies in enumerate(self.copies):
            for each in copies:
                if each.event == feed:
                    superseded |= _superseded(own, {file: each.line, each.file: each.other})
        left = [line for file, line in own.items() if file not in superseded]
        return latest_recorded(left or own.values(), lambda line: line.text_fact("ts"))

    @cached_property
    def latest(self) -> set[int]:
        """The files whose own last grade may be the latest of all: that of the deciding one, those
        of grades whose timestamp may be the latest, and those that have a copy of the deciding
        one, as it stands there below that. What is below such a grade is later than it, whatever
        the timestamps say.
        """
        if self.grade is None:
            return set()
        ts = self.grade.text_fact("ts")
        found = {
            file
            for file, own in enumerate(self.grades)
            if own is not None and (own is self.grade or not is_later(ts, own.text_fact("ts")))
        }
        for file, copies in enumerate(self.copies):
            for each in copies:
                line = self.runs[file].lines.at(each.line - 1) if each.event == GRADE else None
                if line is not None and line.text_fact("ts") == ts:
                    found |= {file, each.file}
        return found

    # What is after the grade that counts

    def is_after(self, file: int, number: int, ts: str | None, *, grades: bool = False) -> bool:
        """Whether a line of a file, counted from 1, stands after the grade that counts, or may; see
        :func:`may_be_after`. No line does where none counts.
        """
        if self.grade is None:
            return False
        own = self.grades[file]
        return may_be_after(
            ts,
            self.grade.text_fact("ts"),
            is_below=own is None or number > own.order + 1,
            is_latest=file in self.latest,
            grades=grades,
        )

    @cached_property
    def work_after(self) -> Sequence[Sequence[Line]]:
        """Of each file the work that is after it, or may be; none where no grade counts."""
        return [self._work_after(file) if self.grade else () for file in range(len(self.runs))]

    def unknown_after(self, file: int) -> Sequence[FlaggedLine]:
        """The lines of unknown types in a file that are after it, or may be."""
        odd = cast("Sequence[FlaggedLine]", self.runs[file].odd if self.grade else ())
        return [
            line
            for line in odd
            if not line.is_rejected and self.is_after(file, line.order + 1, time_in(line.text))
        ]

    def _work_after(self, file: int) -> Sequence[Line]:
        run, grade = self.runs[file], self.grades[file]
        if file in self.latest and grade is not None:
            return run.work_after(grade)
        return [
            line
            for line in run.lines
            if line.event is not None
            and line.event.is_work
            and self.is_after(file, line.order + 1, line.text_fact("ts"))
        ]

    @cached_property
    def work_count(self) -> int:
        """How much work that is. What stands in several files counts once: it is the files with the
        latest grades that say, by their lines, whether what they have is later.
        """
        numbers = [{line.order + 1 for line in lines} for lines in self.work_after]
        found: dict[tuple[int, int], dict[int, bool]] = {}
        for file, copies in enumerate(self.copies):
            for each in copies:
                if EVENTS[each.event].is_work:
                    first = each.file, each.other
                    said = found.setdefault(first, {each.file: each.other in numbers[each.file]})
                    said[file] = each.line in numbers[file]
        return sum(map(len, numbers)) - sum(
            sum(said.values())
            - any([said[file] for file in said if file in self.latest] or said.values())
            for said in found.values()
        )


def file_by_file(run: Run) -> SpreadRun:
    """A run that was read from joined files, file by file. Its lines keep their order among all."""
    return run.kept(_file_by_file)


def _file_by_file(run: Run) -> SpreadRun:
    if run.copies is None:
        return SpreadRun([run])
    by_file = defaultdict[int, tuple[list[Line], list[Any]]](lambda: ([], []))
    for line in in_order([*run.lines, *run.copies, *run.odd]):
        by_file[line.file][line.event is None].append(line)
    return SpreadRun([Run(run.run_id, *by_file[file]) for file in sorted(by_file)])


def may_be_after(
    ts: str | None, decides: str, *, is_below: bool, is_latest: bool, grades: bool = False
) -> bool:
    """Whether a line of a file stands after the grade of a run that decides, or may: by the two
    timestamps, or, where these tell nothing or the grade stands in this file (``is_latest``), by
    whether the file has no grade of its own below it. Of a line that ``grades`` the run, timestamp
    and position have to agree, as of two valid grades.
    """
    moment, graded = sortable(ts or ""), sortable(decides)
    if not is_latest and moment is not None and graded is not None:
        return moment >= graded
    may_be_later = graded is not None and (moment is None or moment > graded)
    return is_below or (grades and may_be_later)


def _superseded(own: Mapping[int, Line], lines: Mapping[int, int]) -> set[int]:
    """Which of two files end with an event of a feed that has later ones in the other."""
    last = {file: own[file].order + 1 for file in lines if file in own}
    is_last = {file for file, number in last.items() if number == lines[file]}
    return is_last if is_last != set(lines) else set()
