"""Reduces a trace to what the scorecard needs to know of its runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from drive_trace.scorecard.copies import NO_EVENTS, Events, LiveEvents, Noted, Number, repeats
from drive_trace.scorecard.provenance import Provenance, provenance
from drive_trace.scorecard.uncounted import Rejected, UnknownEvent, rejected_lines, unknown_lines
from drive_trace.trace.index import Index
from drive_trace.trace.line import Line, run_of
from drive_trace.trace.run import Run, Work
from drive_trace.trace.times import sortable
from drive_trace.vocabulary import COST, ENVELOPE, GRADE

if TYPE_CHECKING:  # most traces are scored without
    from drive_trace.grading.judgements import Judgement, Verdicts

MOST_UNPLACED = 10
"""A file's summary names at most so many lines whose run cannot be read, as every run names them.
"""


_NO_COUNTS: Mapping[str, int] = {}


class Recorded(NamedTuple):
    """A feed's event that counts: the last one of the run in its trace."""

    values: Mapping[str, object]
    """Its components."""
    ts: str
    path: str
    line: int
    """From 1."""
    judgement: Judgement | None = None
    """What the intent rests on; None if that is not known. See :func:`judged`."""


class Unplaced(NamedTuple):
    """A line that may grade any run, as none can be read from it."""

    path: str
    line: int
    """From 1."""
    ts: str | None
    """When it was recorded, where that can be read."""
    is_alike: bool
    """Whether it looks like a grade; else readers reject a grade."""


class Nameless(NamedTuple):
    """Rejected lines that name no run and may be work of any."""

    number: int = 0
    last_line: int = 0
    """From 1; 0 where there is none."""


class Worked(NamedTuple):
    """How a run was worked on in one trace."""

    after_grade: int = 0
    """So many events stand below the grade that counts in the trace."""
    last_line: int | None = None
    """The last of these, from 1."""
    times: Sequence[str] = ()
    """The moments of all work that has one: see :func:`drive_trace.trace.times.sortable`. Empty in
    a trace that is joined with no other.
    """
    untimed: int = 0
    """So many events have none, and stand below the trace's grade if there is one."""
    last_work: int | None = None
    """The last line that shows work, from 1; None where the trace is joined with no other."""
    nameless: Nameless = Nameless()
    """Below the grade that counts in the trace."""
    nameless_at_end: Nameless = Nameless()
    """Below the run's last event in the trace: when others were written, their neighbours tell."""


class RunSummary(NamedTuple):
    """One run's part in one trace."""

    run_id: str
    path: str
    first_line: int
    """From 1."""
    event_count: int = 0
    correctness: Recorded | None = None
    tokens: Recorded | None = None
    started: str | None = None
    """``ts`` of the first project-started."""
    closed: str | None = None
    """``ts`` of the first project-closed."""
    last: str | None = None
    """``ts`` of the last event."""
    dispatch_ms: int | None = None
    """Sum over the dispatches' ends; None where none ended."""
    starts: Mapping[str, int] = _NO_COUNTS
    """How often each dispatch was started; no zeros."""
    ends: Mapping[str, int] = _NO_COUNTS
    """How often each dispatch was ended; no zeros."""
    rounds_per_dispatch: Mapping[str, int] = _NO_COUNTS
    rejected: tuple[Rejected, ...] = ()
    worked: Worked = Worked()
    events: Events = NO_EVENTS
    """By their ids, for what stands in other files, too."""
    unplaced: tuple[Rejected, ...] = ()
    """The last of the trace's rejected feed lines that may be this run's: they name none, or one
    without a valid event in the trace.
    """
    unplaced_count: int = 0
    """How many such lines there are."""
    unknown: tuple[UnknownEvent, ...] = ()
    """Lines of unknown types that name the run; the last of the trace's that look like a feed's and
    may be of any run, too.
    """
    provenance: Provenance = Provenance()
    """How its events in the trace were written."""
    verdicts: Verdicts = ()
    """The intent's, as they stand beside the trace."""
    copies: tuple[int, ...] = ()
    """The lines, from 1, that are copies of one above them. The sums are without them."""
    newest_grade: tuple[int, str] | None = None
    """The line and ``ts`` of the trace's grade with the latest moment, if it is not the last one.
    """


def as_it_is(part: RunSummary) -> RunSummary:
    """A copy of a run's part that no edit of the trace changes."""
    return part._replace(
        starts=dict(part.starts),
        ends=dict(part.ends),
        rounds_per_dispatch=dict(part.rounds_per_dispatch),
        worked=part.worked._replace(times=tuple(part.worked.times)),
        events=part.events.kept(),
    )


def judged(parts: Sequence[RunSummary]) -> Sequence[RunSummary]:
    """The parts of a run, each grade with the judgement that it rests on: of those beside all of
    them, as a verdict is merged into whatever file of the run is graded next.
    """
    verdicts = [part.verdicts for part in parts if part.verdicts]
    return [_judged(part, verdicts) for part in parts] if verdicts else parts


def _judged(part: RunSummary, verdicts: Iterable[Verdicts]) -> RunSummary:
    from drive_trace.grading.judgements import rests_on  # noqa: PLC0415 - as above

    grade = part.correctness
    if grade is None:
        return part
    found = rests_on(verdicts, grade.values["intent"], grade.ts)
    return part._replace(correctness=grade._replace(judgement=found))


def without_copies(part: RunSummary, copies: Sequence[Noted]) -> RunSummary:
    """A part whose sums leave out events that stand elsewhere, too."""
    starts, ends, rounds = map(Counter, (part.starts, part.ends, part.rounds_per_dispatch))
    sums = {"dispatch-start": starts, "dispatch-end": ends, "round-start": rounds}
    claimed = 0
    for each in copies:
        if each.name in sums:
            sums[each.name][str(each.dispatch)] -= 1
        claimed += each.claims or 0
    return part._replace(
        dispatch_ms=None if part.dispatch_ms is None else part.dispatch_ms - claimed,
        starts=+starts,
        ends=+ends,
        rounds_per_dispatch=+rounds,
    )


class TraceSummary(NamedTuple):
    """Everything that the scorecard needs to know of one trace."""

    path: str
    runs: tuple[RunSummary, ...]
    """Every run that a line names, in the order of their first lines: those with valid events
    before those of which readers count no line.
    """
    unowned: tuple[Rejected, ...]
    """Rejected lines from which no run can be read."""
    unknown: tuple[UnknownEvent, ...]
    """All lines of unknown types, in their order."""
    is_illegible: bool = False
    """See :attr:`Index.is_illegible`."""

    @property
    def unknown_lines(self) -> tuple[int, ...]:
        """Their numbers, from 1."""
        return tuple(each.line for each in self.unknown)

    @property
    def lookalikes(self) -> tuple[UnknownEvent, ...]:
        """Those of them that look like a feed's."""
        return tuple(each for each in self.unknown if each.meant is not None)


def without_text(trace: TraceSummary) -> TraceSummary:
    """A summary that no longer holds on to the text of the trace."""
    return trace._replace(runs=tuple(map(as_it_is, trace.runs)))


def parts_by_run(trace: TraceSummary) -> dict[str, RunSummary]:
    """A trace's part of each run."""
    return {run.run_id: run for run in trace.runs}


def unplaced_grades(trace: TraceSummary) -> Sequence[Unplaced]:
    """The latest of the lines of a trace that may grade any run."""
    return _unplaced_grades(trace.path, trace.unowned, trace.unknown)


def finding_unplaced(index: Index, number: Number, path: str = "") -> Sequence[Unplaced]:
    """The same of a trace that is not summed up."""
    rejected = rejected_lines(index.strays[0], number)
    unknown = unknown_lines(_naming_no_run(index), number, path)
    return _unplaced_grades(path, rejected, unknown)


def _unplaced_grades(
    path: str, rejected: Iterable[Rejected], unknown: Iterable[UnknownEvent]
) -> Sequence[Unplaced]:
    found = [
        Unplaced(path, each.line, each.ts, each.is_alike)
        for each in rejected
        if each.feed == GRADE and each.run_id is None
    ]
    found += [
        Unplaced(path, each.line, each.ts, is_alike=True)
        for each in unknown
        if each.run_id is None and each.meant == GRADE
    ]
    # What has no moment may be later than all.
    found.sort(key=lambda each: (each.ts is not None and sortable(each.ts)) or "~")
    return found[-MOST_UNPLACED:]


def summarize(index: Index, number: Number, path: str = "", *, alone: bool = False) -> TraceSummary:
    """Sum a trace up; ``path`` is how it is called in what is shown. ``alone`` saves the time to
    look for what matters only where the trace is joined with others.
    """
    unowned = rejected_lines(index.rejected.get(None, ()), number)
    unknown = unknown_lines(index.unknown, number, path)
    by_run: dict[str | None, list[UnknownEvent]] = {}
    for each in unknown:
        by_run.setdefault(each.run_id if each.run_id in index.runs else None, []).append(each)
    nobodys = _may_be_any_run(by_run.get(None, ()))
    runs: list[RunSummary] = []
    for run in index.runs_in_order:
        own = by_run.get(run.run_id, ())
        part = _run_summary(index, run, number, path)
        worked = _worked(index, run, number, alone=alone)
        runs.append(part._replace(worked=worked, unknown=tuple(sorted((*own, *nobodys)))))
    for run_id, lines in index.uncounted.items():
        runs.append(_without_events(run_id, lines, number, path))
    return TraceSummary(path, tuple(runs), unowned, unknown, index.is_illegible)


def summarize_part(index: Index, run_id: str, number: Number, path: str = "") -> RunSummary | None:
    """As :func:`parts_by_run`, of one run; None where the trace has no line of it. Costs nothing
    that grows with the run, but for its rejected lines and the trace's unknown ones.
    """
    run = index.runs.get(run_id)
    if run is None:
        lines = index.uncounted.get(run_id)
        return _without_events(run_id, lines, number, path) if lines else None
    own = (line for line in index.unknown if run_of(line) == run_id)
    unknown = unknown_lines(own, number, path)
    part = _run_summary(index, run, number, path)
    nobodys = unknown_lines(_naming_no_run(index), number, path)
    unknown = tuple(sorted((*unknown, *_may_be_any_run(nobodys))))
    return part._replace(worked=_worked(index, run, number), unknown=unknown)


def _without_events(run_id: str, lines: Sequence[Line], number: Number, path: str) -> RunSummary:
    """The part in a trace of a run of which readers count no line there."""
    rejected = rejected_lines((each for each in lines if each.is_rejected), number)
    others = (each for each in lines if not each.is_rejected)
    unknown = unknown_lines(others, number, path)
    return RunSummary(run_id, path, number(lines[0]), rejected=rejected, unknown=unknown)


def _naming_no_run(index: Index) -> Iterable[Line]:
    """Or one without a valid event, as its id may be bent."""
    return (line for line in index.unknown if run_of(line) not in index.runs)


def _may_be_any_run(nobodys: Iterable[UnknownEvent]) -> Sequence[UnknownEvent]:
    """The last of the lines that name no run and look like a feed's."""
    return [each for each in nobodys if each.meant is not None][-MOST_UNPLACED:]


def _run_summary(index: Index, run: Run, number: Number, path: str) -> RunSummary:
    """All but how the run was worked on, and the lines of unknown types."""
    rejected = rejected_lines(index.rejected.get(run.run_id, ()), number)
    unplaced = rejected_lines(index.strays[0][-MOST_UNPLACED:], number)
    copies = repeats(run, number)
    part = RunSummary(
        run_id=run.run_id,
        path=path,
        first_line=number(run.first_line),
        event_count=len(run),
        correctness=_last_recorded(run, GRADE, number, path),
        tokens=_last_recorded(run, COST, number, path),
        started=_first_ts(run, "project-started"),
        closed=_first_ts(run, "project-closed"),
        last=run.last_line.text_fact("ts"),
        dispatch_ms=run.dispatch_ms if run.events("dispatch-end") else None,
        starts=run.count_by_dispatch("dispatch-start"),
        ends=run.count_by_dispatch("dispatch-end"),
        rounds_per_dispatch=run.count_by_dispatch("round-start"),
        rejected=rejected,
        events=LiveEvents(lambda: run.event_ids, number),
        unplaced=unplaced,
        unplaced_count=len(index.strays[0]),
        provenance=provenance(run),
        copies=tuple(each.line for each in copies),
        newest_grade=newest_grade(run, number),
    )
    return without_copies(part, copies) if copies else part


def newest_grade(run: Run, number: Number) -> tuple[int, str] | None:
    """See :attr:`RunSummary.newest_grade`."""
    grades = [(sortable(line.text_fact("ts")) or "", line) for line in run.events(GRADE)]
    _, newest = max(grades, key=itemgetter(0), default=("", None))
    if newest is None or newest is run.events(GRADE).last:
        return None
    return number(newest), newest.text_fact("ts")


def _last_recorded(run: Run, feed: str, number: Number, path: str) -> Recorded | None:
    line = run.events(feed).last
    return recorded_in(line, number(line), path) if line is not None else None


def recorded_in(line: Line, number: int, path: str = "") -> Recorded:
    """What an event of a feed records, given its number from 1."""
    assert line.event is not None
    values = {name: line.fact(name) for name in line.event.fields if name not in ENVELOPE}
    return Recorded(values, line.text_fact("ts"), path, number)


def _worked(index: Index, run: Run, number: Number, *, alone: bool = False) -> Worked:
    grade = run.events(GRADE).last
    work = run.work_after(grade) if grade is not None else Work(0, None)
    after = Worked(
        work.events,
        number(work.last) if work.last is not None else None,
        nameless=_nameless(index, grade, number),
        nameless_at_end=_nameless(index, run.last_line, number),
    )
    if alone:
        return after
    times = run.work_times
    before = times.untimed.position(grade) if grade is not None else 0
    last = run.work.last
    return after._replace(
        times=times.timed,
        untimed=len(times.untimed) - before,
        last_work=number(last) if last is not None else None,
    )


def _nameless(index: Index, below: Line | None, number: Number) -> Nameless:
    lines = index.strays[1]
    count = len(lines) - lines.position(below) if below is not None else 0
    return Nameless(count, number(lines[-1]) if count else 0)


def _first_ts(run: Run, name: str) -> str | None:
    line = run.events(name).first
    return line.text_fact("ts") if line is not None else None
