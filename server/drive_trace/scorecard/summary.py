"""What the scorecard needs to know of a run in one trace, without the trace."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, cast

from drive_trace.json_text.strings import strings_named
from drive_trace.scorecard.copies import NO_EVENTS, Events, LiveEvents, Noted, Number
from drive_trace.scorecard.lookalikes import Lookalike, lookalikes
from drive_trace.steps import Steps, in_batches
from drive_trace.trace.index import Index, Run, Work
from drive_trace.trace.line import Line, OddLine
from drive_trace.trace.times import sortable
from drive_trace.vocabulary import CORRECTNESS_FIELDS, COST, GRADE, TOKEN_FIELDS

FEEDS = (GRADE, COST)

_NAMED = 10
"""So many lines of unreadable runs are named at the most; every run of the trace names them."""


class Recorded(NamedTuple):
    """A feed's event that counts: the last one of the run in its trace."""

    values: Mapping[str, object]
    ts: str
    path: str
    line: int
    """From 1."""


class Rejected(NamedTuple):
    """A line that the reader dropped."""

    line: int
    """From 1."""
    event_name: str | None
    """The line's event type, where it can be read."""
    run_id: str | None = None
    """The line's run, where it can be read."""
    hides: str | None = None
    """The feed whose name stands in the line somewhere, as where two were written on one line."""
    ts: str | None = None
    """When a line that may be of a feed was recorded, where it can be read."""

    @property
    def feed(self) -> str | None:
        """The feed that the line is of, or may be."""
        return self.event_name if self.event_name in FEEDS else self.hides


class Unplaced(NamedTuple):
    """A line that may grade any run, as none can be read from it."""

    path: str
    line: int
    """From 1."""
    ts: str | None
    """When it was recorded, where that can be read."""
    is_rejected: bool
    """Else its type looks like a grade's."""


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


class RunSummary(NamedTuple):
    """One run's part in one trace."""

    run_id: str
    path: str
    first_line: int
    """From 1."""
    event_count: int
    correctness: Recorded | None
    tokens: Recorded | None
    started: str | None
    """``ts`` of the first project-started."""
    closed: str | None
    """``ts`` of the first project-closed."""
    dispatch_ms: int | None
    """Sum over the dispatches' ends; None where none ended."""
    dispatches: Mapping[str, bool]
    """Every dispatch that was started or ended, and whether it was ended."""
    rounds_per_dispatch: Mapping[str, int]
    rejected: tuple[Rejected, ...]
    worked: Worked = Worked()
    events: Events = NO_EVENTS
    """By their ids, for what stands in other files, too."""
    unplaced: tuple[Rejected, ...] = ()
    """The last of the trace's rejected feed lines that may be this run's: no run can be read
    from them.
    """
    unplaced_count: int = 0
    """How many such lines there are."""
    lookalikes: tuple[Lookalike, ...] = ()
    """Lines of unknown types that look like one of the run's feeds, and name it; the last of the
    trace's that name none, too.
    """


def without_events(
    path: str, run_id: str, rejected: Sequence[Rejected], alike: Sequence[Lookalike]
) -> RunSummary:
    """The part in a trace of a run that has rejected or unknown lines there and nothing else."""
    return RunSummary(
        run_id=run_id,
        path=path,
        first_line=min([*(each.line for each in rejected), *(each.line for each in alike)]),
        event_count=0,
        correctness=None,
        tokens=None,
        started=None,
        closed=None,
        dispatch_ms=None,
        dispatches={},
        rounds_per_dispatch={},
        rejected=tuple(rejected),
        lookalikes=tuple(alike),
    )


def as_it_is(part: RunSummary) -> RunSummary:
    """A run's part that stays as it is, whatever becomes of the trace."""
    return part._replace(
        dispatches=dict(part.dispatches),
        rounds_per_dispatch=dict(part.rounds_per_dispatch),
        worked=part.worked._replace(times=tuple(part.worked.times)),
        events=part.events.kept(),
    )


def without_copies(part: RunSummary, copies: Sequence[Noted]) -> RunSummary:
    """A part whose sums are not over some of its events, as an earlier part has them."""
    rounds, claimed = Counter(part.rounds_per_dispatch), 0
    for each in copies:
        if isinstance(each.counts, str):
            rounds[each.counts] -= 1
        elif isinstance(each.counts, int):
            claimed += each.counts
    return part._replace(
        dispatch_ms=None if part.dispatch_ms is None else part.dispatch_ms - claimed,
        rounds_per_dispatch=+rounds,
    )


class TraceSummary(NamedTuple):
    """Everything that the scorecard needs to know of one trace."""

    path: str
    runs: tuple[RunSummary, ...]
    """In the order of their first lines."""
    orphans: tuple[Rejected, ...]
    """Rejected lines of no run that has a valid event here."""
    unknown_lines: tuple[int, ...]
    """From 1."""
    lookalikes: tuple[Lookalike, ...] = ()
    """Those of the unknown lines whose types look like a feed's."""


def without_text(trace: TraceSummary) -> TraceSummary:
    """A summary that needs nothing of the trace any more, not even what it could be asked for."""
    return trace._replace(runs=tuple(map(as_it_is, trace.runs)))


def parts_by_run(trace: TraceSummary) -> dict[str, RunSummary]:
    """A trace's part of each run, also of those that have nothing but stray lines in it: rejected
    ones, and ones that look like a feed's.
    """
    strays: dict[str, tuple[list[Rejected], list[Lookalike]]] = {}
    for rejected in trace.orphans:
        if rejected.run_id is not None:
            strays.setdefault(rejected.run_id, ([], []))[0].append(rejected)
    known = {run.run_id: run for run in trace.runs}
    for alike in trace.lookalikes:
        if alike.run_id is not None and alike.run_id not in known:
            strays.setdefault(alike.run_id, ([], []))[1].append(alike)
    parts = {run_id: without_events(trace.path, run_id, *each) for run_id, each in strays.items()}
    return parts | known


def unplaced_grades(trace: TraceSummary) -> Sequence[Unplaced]:
    """The latest of the lines of a trace that may grade any run."""
    return _unplaced_grades(trace.path, trace.orphans, trace.lookalikes)


def finding_unplaced(index: Index, number: Number, path: str = "") -> Steps[Sequence[Unplaced]]:
    """The same of a trace that is not summed up, in steps."""
    rejected = yield from _rejected(index.unplaced_feeds, number)
    alike = yield from lookalikes(index.unknown, number, path)
    return _unplaced_grades(path, rejected, alike)


def _unplaced_grades(
    path: str, rejected: Iterable[Rejected], alike: Iterable[Lookalike]
) -> Sequence[Unplaced]:
    found = [
        Unplaced(path, each.line, each.ts, is_rejected=True)
        for each in rejected
        if each.run_id is None and each.feed == GRADE
    ]
    found += [
        Unplaced(path, each.line, each.ts, is_rejected=False)
        for each in alike
        if each.run_id is None and each.meant == GRADE
    ]
    # What has no moment may be later than all.
    found.sort(key=lambda each: (each.ts is not None and sortable(each.ts)) or "~")
    return found[-_NAMED:]


def summarize(
    index: Index, number: Number, path: str = "", *, alone: bool = False
) -> Steps[TraceSummary]:
    """Sum a trace up; ``path`` is how it is called in what is shown. ``alone`` saves the time to
    look for what matters only where the trace is joined with others.
    """
    known = index.runs
    orphans: list[Rejected] = []
    for run_id, lines in index.rejected.items():
        if run_id not in known:
            orphans += yield from _rejected(lines, number)
    alike = yield from lookalikes(index.unknown, number, path)
    by_run: dict[str | None, list[Lookalike]] = {}
    for each in alike:
        by_run.setdefault(each.run_id, []).append(each)
    nobodys = by_run.get(None, ())[-_NAMED:]
    runs: list[RunSummary] = []
    for batch in in_batches(index.runs_in_order()):
        for run in batch:
            worked = _worked(run, number, alone=alone)
            summed = yield from _run_summary(index, run, number, path, worked)
            runs.append(
                summed._replace(lookalikes=tuple(sorted((*by_run.get(run.run_id, ()), *nobodys))))
            )
        yield
    unknown: list[int] = []
    for strange in in_batches(index.unknown):
        unknown += map(number, strange)
        yield
    return TraceSummary(path, tuple(runs), tuple(sorted(orphans)), tuple(unknown), alike)


def summarize_part(
    index: Index, run_id: str, number: Number, path: str = ""
) -> Steps[RunSummary | None]:
    """As :func:`parts_by_run`, of one run; None where the trace has no line of it. Costs nothing
    that grows with the run, but for its rejected lines and the trace's unknown ones.
    """
    run = index.runs.get(run_id)
    found = yield from lookalikes(index.unknown, number, path)
    alike = [each for each in found if each.run_id == run_id]
    if run is None:
        rejected = yield from _rejected(index.rejected.get(run_id, ()), number)
        return without_events(path, run_id, rejected, alike) if rejected or alike else None
    worked = _worked(run, number)
    summed = yield from _run_summary(index, run, number, path, worked)
    alike += [each for each in found if each.run_id is None][-_NAMED:]
    return summed._replace(lookalikes=tuple(sorted(alike)))


def _run_summary(
    index: Index, run: Run, number: Number, path: str, worked: Worked
) -> Steps[RunSummary]:
    rejected = yield from _rejected(index.rejected.get(run.run_id, ()), number)
    unplaced = yield from _rejected(index.unplaced_feeds[-_NAMED:], number)
    return RunSummary(
        run_id=run.run_id,
        path=path,
        first_line=number(run.first_line),
        event_count=len(run),
        correctness=_recorded(run, GRADE, CORRECTNESS_FIELDS, number, path),
        tokens=_recorded(run, COST, TOKEN_FIELDS, number, path),
        started=_first_ts(run, "project-started"),
        closed=_first_ts(run, "project-closed"),
        dispatch_ms=run.dispatch_ms if run.events("dispatch-end") else None,
        dispatches=run.dispatches,
        rounds_per_dispatch=run.rounds_per_dispatch,
        rejected=rejected,
        worked=worked,
        events=LiveEvents(lambda: run.event_ids, number),
        unplaced=unplaced,
        unplaced_count=len(index.unplaced_feeds),
    )


def _recorded(
    run: Run, name: str, fields: tuple[str, ...], number: Number, path: str
) -> Recorded | None:
    line = run.events(name).last
    if line is None:
        return None
    values = {field: line.fact(field) for field in fields}
    return Recorded(values, line.text_fact("ts"), path, number(line))


def _worked(run: Run, number: Number, *, alone: bool = False) -> Worked:
    grade = run.events(GRADE).last
    work = run.work_after(grade) if grade is not None else Work(0, None)
    after = Worked(work.events, number(work.last) if work.last is not None else None)
    if alone:
        return after
    times = run.work_times
    before = times.untimed.position(grade) if grade is not None else 0
    last = run.last_work
    return after._replace(
        times=times.timed,
        untimed=len(times.untimed) - before,
        last_work=number(last) if last is not None else None,
    )


def _first_ts(run: Run, name: str) -> str | None:
    line = run.events(name).first
    return line.text_fact("ts") if line is not None else None


def _rejected(lines: Iterable[Line], number: Number) -> Steps[tuple[Rejected, ...]]:
    found: list[Rejected] = []
    for batch in in_batches(cast("Iterable[OddLine]", lines)):
        found += [dropped(line, number(line)) for line in batch]
        yield
    return tuple(found)


def dropped(line: OddLine, number: int) -> Rejected:
    """What is to be known of a rejected line."""
    hides = None
    if line.event_name not in FEEDS:
        hides = next((name for name in FEEDS if name in line.text), None)
    is_feed = hides is not None or line.event_name in FEEDS
    ts = time_in(line) if is_feed else None
    return Rejected(number, line.event_name, line.run_id, hides, ts)


def time_in(line: OddLine) -> str | None:
    """When a rejected line was written, as far as its text says that."""
    return next((value for value, _ in strings_named(line.text, "ts")), None)
