"""The lines of a run in all its files: which of its grades counts, and which lines stand after that
one, or may.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from drive_trace.scorecard.copies import SharedEvent, SharedIds, kinds_of, repeats
from drive_trace.scorecard.run_score import Recorded, RunInFile, recorded_in
from drive_trace.scorecard.uncounted import (
    MOST_STRAYS,
    Rejected,
    UnknownEvent,
    rejected_lines,
    unknown_lines,
)
from drive_trace.trace.index import Index
from drive_trace.trace.line import Line
from drive_trace.trace.run import Run
from drive_trace.trace.times import is_later, latest_recorded, sortable
from drive_trace.vocabulary import COST, EVENTS, GRADE


class TraceLines:
    """The lines of a trace by run, and those that may be of any run."""

    def __init__(self, index: Index, path: str = "") -> None:
        """``path`` is how the trace is called in what is shown."""
        self.index, self.path = index, path

    @cached_property
    def unknown(self) -> tuple[UnknownEvent, ...]:
        """All lines of unknown types."""
        return unknown_lines(self.index.unknown, self.path)

    @cached_property
    def strays(self) -> tuple[Rejected, ...]:
        """See :attr:`RunInFile.strays`."""
        return rejected_lines(self.index.strays[0][-MOST_STRAYS:])

    @cached_property
    def _unknown_by_run(self) -> Mapping[str | None, Sequence[UnknownEvent]]:
        """Under None the last of those that look like a feed's and may be of any run: they name
        none, or one without a valid event, as its id may be bent.
        """
        found: dict[str | None, list[UnknownEvent]] = {}
        for each in self.unknown:
            found.setdefault(each.run_id if each.run_id in self.index.runs else None, []).append(
                each
            )
        strays = [each for each in found.get(None, ()) if each.meant is not None]
        return {**found, None: strays[-MOST_STRAYS:]}

    def part_of(self, run_id: str) -> RunInFile:
        """What the trace has of a run, which it names."""
        index, path = self.index, self.path
        run = index.runs.get(run_id)
        if run is None:
            lines = index.uncounted[run_id]
            rejected = rejected_lines(each for each in lines if each.is_rejected)
            others = unknown_lines((each for each in lines if not each.is_rejected), path)
            return RunInFile(path, lines[0].order + 1, rejected=rejected, unknown=others)
        unknown = self._unknown_by_run
        grade, cost = run.events(GRADE).last, run.events(COST).last
        return RunInFile(
            path,
            run.first_line.order + 1,
            len(run),
            recorded_in(grade, path) if grade is not None else None,
            recorded_in(cost, path) if cost is not None else None,
            run.last_line.text_fact("ts"),
            rejected=rejected_lines(index.rejected.get(run_id, ())),
            strays=self.strays,
            stray_count=len(index.strays[0]),
            unknown=tuple(sorted((*unknown.get(run_id, ()), *unknown[None]))),
            copies=tuple(line.order + 1 for line in repeats(run)),
            newest_grade=newest_grade(run),
        )


def newest_grade(run: Run) -> tuple[int, str] | None:
    """See :attr:`RunInFile.newest_grade`."""
    grades = run.events(GRADE)
    newest = max(grades, key=lambda line: sortable(line.text_fact("ts")) or "", default=None)
    if newest is None or newest is grades.last:
        return None
    return newest.order + 1, newest.text_fact("ts")


class RunLines:
    """A run in all its files."""

    def __init__(self, run_id: str, files: Sequence[TraceLines]) -> None:
        """The files that name the run, in the order in which they are joined."""
        self.run_id, self.files = run_id, files
        self.runs = [each.index.runs.get(run_id) or Run(run_id) for each in files]
        """Its events in each file."""
        self.copies: Sequence[Sequence[SharedEvent]] = [()]
        """Of each file the events that stand in an earlier one."""
        self.conflicts: Sequence[Sequence[SharedEvent]] = [()]
        """The same of those that have the id of another one."""
        if len(files) > 1:
            shared = SharedIds()
            found = [shared.add(kinds_of(each.lines)) for each in self.runs]
            self.copies, self.conflicts = zip(*found, strict=True)
        self.parts = tuple(map(self._part, range(len(files))))
        self.correctness = self._counted(GRADE, [part.correctness for part in self.parts])
        """The grade that counts."""
        self.tokens = self._counted(COST, [part.tokens for part in self.parts])

    def _part(self, file: int) -> RunInFile:
        part = self.files[file].part_of(self.run_id)
        if not any(self.copies):
            return part
        return part._replace(copied=(*part.copies, *(each.line for each in self.copies[file])))

    @cached_property
    def counted_once(self) -> Run:
        """Its events without the copies, for sums: those of several files are in no order."""
        dropped = [{*part.copies, *part.copied} for part in self.parts]
        if len(self.runs) == 1 and not dropped[0]:
            return self.runs[0]
        files = zip(self.runs, dropped, strict=True)
        lines = (
            line for run, numbers in files for line in run.lines if line.order + 1 not in numbers
        )
        return Run(self.run_id, lines)

    def first_ts(self, name: str) -> str | None:
        """``ts`` of the first event of a name; of several files' first ones the earliest."""
        first = [line for run in self.runs if (line := run.events(name).first) is not None]
        return min((line.text_fact("ts") for line in first), default=None)

    # Which grade counts

    def _counted(self, feed: str, own: Sequence[Recorded | None]) -> Recorded | None:
        """Which of the files' own last events of a feed counts. The copy of an event that another
        file supersedes further down does not, whatever the timestamps say.
        """
        superseded: set[int] = set()
        for file, copies in enumerate(self.copies):
            for each in copies:
                if each.event == feed:
                    superseded |= _superseded(own, {file: each.line, each.file: each.other})
        left = [each for file, each in enumerate(own) if each and file not in superseded]
        return latest_recorded(left or filter(None, own), lambda each: each.ts)

    @cached_property
    def latest(self) -> set[int]:
        """The files whose own last grade may be the latest of all: that of the deciding one, those
        of grades whose timestamp may be the latest, and those that have a copy of the deciding
        one, as it stands there below that. What is below such a grade is later than it, whatever
        the timestamps say.
        """
        deciding = self.correctness
        if deciding is None:
            return set()
        found = {
            file
            for file, part in enumerate(self.parts)
            if (own := part.correctness) is not None
            and (own is deciding or not is_later(deciding.ts, own.ts))
        }
        for file, copies in enumerate(self.copies):
            for each in copies:
                if each.event == GRADE and self._ts_at(file, each.line) == deciding.ts:
                    found |= {file, each.file}
        return found

    def _ts_at(self, file: int, number: int) -> str:
        line = self.runs[file].lines.at(number - 1)
        assert line is not None
        return line.text_fact("ts")

    # What is after it

    def is_after(self, file: int, line: int, ts: str | None, *, grades: bool = False) -> bool:
        """Whether a line of a file stands after the grade that decides, or may; see
        :func:`may_be_after`. No line does where none decides.
        """
        if self.correctness is None:
            return False
        own = self.parts[file].correctness
        return may_be_after(
            ts,
            self.correctness.ts,
            is_below=own is None or line > own.line,
            is_latest=file in self.latest,
            grades=grades,
        )

    def work_after(self, file: int) -> Sequence[Line]:
        """The work in a file that is after it, or may be."""
        run = self.runs[file]
        grade = run.events(GRADE).last
        if file in self.latest and grade is not None:
            return run.work_after(grade)
        return [
            line for line in run.work if self.is_after(file, line.order + 1, line.text_fact("ts"))
        ]

    def counted_twice(self, after: Sequence[Sequence[Line]]) -> int:
        """How much of the work after the grade stands in several files. It is the files with the
        latest grades that say, by their lines, whether what they have is later.
        """
        numbers = [{line.order + 1 for line in lines} for lines in after]
        found: dict[tuple[int, int], dict[int, bool]] = {}
        for file, copies in enumerate(self.copies):
            for each in copies:
                if EVENTS[each.event].is_work:
                    first = each.file, each.other
                    said = found.setdefault(first, {each.file: each.other in numbers[each.file]})
                    said[file] = each.line in numbers[file]
        return sum(
            sum(said.values())
            - any([said[file] for file in said if file in self.latest] or said.values())
            for said in found.values()
        )

    def nameless_after(self, file: int) -> Sequence[Line]:
        """The rejected lines that name no run, may be work of any, and stand below the grade of a
        file that may be the latest, else below the run's last event there: when others were
        written, their neighbours tell.
        """
        run, lines = self.runs[file], self.files[file].index.strays[1]
        if not run.lines:
            return ()
        below = run.events(GRADE).last if file in self.latest else run.last_line
        return lines[lines.position(below) :] if below is not None else ()


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


def _superseded(own: Sequence[Recorded | None], lines: Mapping[int, int]) -> set[int]:
    """Which of two files end with an event of a feed that has later ones in the other."""
    last = {file: each.line for file in lines if (each := own[file]) is not None}
    is_last = {file for file, line in last.items() if line == lines[file]}
    return is_last if is_last != set(lines) else set()
