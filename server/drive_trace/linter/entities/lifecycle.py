"""The entities of a project's and its slices' lifecycle: what comes once, and what adds up."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from operator import itemgetter
from typing import Any, NamedTuple, cast

from drive_trace.linter.entities import (
    RUN_FIELD,
    EntityKind,
    Mention,
    WholeTrace,
    kind_of,
)
from drive_trace.linter.rule import Finding, Related, Rule
from drive_trace.trace.durations import facts_of
from drive_trace.trace.index import Index
from drive_trace.trace.line import Line, LineSet, earliest
from drive_trace.trace.places import Place
from drive_trace.trace.run_index import RunIndex
from drive_trace.vocabulary import EVENTS, LIFETIMES, WRITERS, Entity, Form, Lifetime

_STARTED, _CLOSED, _RETRO = "project-started", "project-closed", "retro-landed"
_SLICE, _DISPATCH, _ROUND = map(
    LIFETIMES.__getitem__, (Entity.SLICE, Entity.DISPATCH, Entity.ROUND)
)
_ONCE = {
    _STARTED: RUN_FIELD,
    _CLOSED: RUN_FIELD,
    _SLICE.opener: _SLICE.field,
    _SLICE.closer: _SLICE.field,
}
"""The events that come once in a run, each with the field that names what comes once."""
MOST_ROUNDS = 100
"""Of a dispatch with more ends of rounds, the durations are not added up."""


class Repetition(NamedTuple):
    """A start or an end of a project or a slice that has an earlier one in its run; no copy
    of it.
    """

    line: Line
    previous: Line
    """The nearest of them."""

    def is_a(self, *names: str) -> bool:
        """Whether the event is one of these."""
        return self.line.event is not None and self.line.event.name in names

    def finding(self, rule: Rule[Any], what: str) -> Finding:
        """The finding that says ``what`` comes twice. It marks what names it."""
        assert self.line.event is not None
        field = _ONCE[self.line.event.name]
        place = Place.value("event_type" if field == RUN_FIELD else field)
        message = (f"{what} on line ", self.previous, " already")
        return Finding(rule, self.line, place, message, (Related(self.previous, place, "here"),))


class Closing(NamedTuple):
    """The last `project-closed` of a run."""

    line: Line
    run: RunIndex
    trace: Index

    @property
    def merged(self) -> LineSet | None:
        """The ends of merged slices, in the whole run. None where nobody can tell how many slices
        these are: a slice ended twice, or a line that cannot be read may end another one.
        """
        if self.run.table(_SLICE.closer, _SLICE.field).several or self._is_unread(_SLICE.closer):
            return None
        return self.run.table(_SLICE.closer, "result").of("merged")

    @property
    def has_ended_slices(self) -> bool:
        """Whether the trace has ends of the run's slices. They may stand in files of their own."""
        return _SLICE.closer in self.run.by_event

    @property
    def lacks_final_retro(self) -> bool:
        """Whether the run has no mandatory final retro, as far as can be read."""
        retros = self.run.table(_RETRO, "trigger_class").of("mandatory-final")
        return not retros and not self._is_unread(_RETRO)

    def _is_unread(self, name: str) -> bool:
        return bool(self.trace.in_doubt_naming(self.run.run_id, "event_type", name))


class PlanOfSpec(NamedTuple):
    """The first authoring of a plan whose path is that of a spec."""

    line: Line
    spec: Line | None
    """The first event of the spec; None where the path alone says that it is one."""


class RoundsTotal(NamedTuple):
    """The only end of a dispatch that was started, and whose rounds claim more time than it."""

    line: Line
    claimed_ms: int
    """What the end says."""
    rounds: Sequence[Line]
    """The rounds' ends, the last one of each."""

    @property
    def total_ms(self) -> int:
        """What the rounds claim together."""
        return sum(map(_claimed, self.rounds))

    def exceeds(self, tolerance_ms: float, tolerance_percent: float) -> bool:
        """Whether the rounds claim more by more than both tolerances."""
        excess = self.total_ms - self.claimed_ms
        return excess > tolerance_ms and 100 * excess > tolerance_percent * self.claimed_ms


# What comes once


def _repetition_keys(mention: Mention) -> Iterable[Line | None]:
    event = mention.event
    if event is None or _ONCE.get(event.name) != mention.field:
        return ()
    return mention.line, _same(mention.run, event.name, mention.value).after(mention.line)


def _repetition(trace: WholeTrace, line: Line) -> Iterable[Repetition]:
    assert line.event is not None
    name = line.event.name
    previous = _same(trace.index.runs[line.run], name, line.fact(_ONCE[name])).before(line)
    if previous is not None and not line.is_copy_of(previous):
        yield Repetition(line, previous)


def _same(run: RunIndex, name: str, value: object) -> LineSet:
    return run.events(name) if _ONCE[name] == RUN_FIELD else run.table(name, _ONCE[name]).of(value)


def _all_repetitions(trace: WholeTrace) -> Iterator[Line]:
    for run in trace.index.runs.values():
        for name, field in _ONCE.items():
            if len(run.events(name)) > 1:
                several = run.table(name, field).several.values()
                yield from chain.from_iterable(each[1:] for each in several)


# The end of a project


def _closing_keys(mention: Mention) -> Iterable[Line | None]:
    closed, line = mention.run.events(_CLOSED), mention.line
    if mention.is_a(_CLOSED):
        return line, closed.before(line), closed.last
    event = mention.event
    counts = event is None or event.is_work or event.name in (_RETRO, _SLICE.closer)
    return (closed.last,) if counts else ()


def _closing(trace: WholeTrace, line: Line) -> Iterable[Closing]:
    run = trace.run(line.run)
    if run is not None and run.events(_CLOSED).last is line:
        yield Closing(line, run, trace.index)


def _all_closings(trace: WholeTrace) -> Iterator[Line]:
    for run in trace.index.runs.values():
        if _CLOSED in run.by_event:
            yield run.by_event[_CLOSED][-1]


# A plan that is a spec


def _plan_keys(mention: Mention) -> Iterable[object]:
    return (mention.value,)


def _plan_of_spec(trace: WholeTrace, path: str) -> Iterable[PlanOfSpec]:
    authored = trace.index.table(WRITERS["plan_path"][0], "plan_path").first.get(path)
    if authored is None or path not in Form.PATH:  # else malformed-path speaks
        return
    tables = (trace.index.table(name, "spec_path") for name in WRITERS["spec_path"])
    spec = earliest(each.first.get(path) for each in tables)
    if spec is not None or file_stem(path) == "spec":
        yield PlanOfSpec(authored, spec)


def file_stem(path: str) -> str:
    """What a file is called, without its folder and its ending, in small letters."""
    return path.rpartition("/")[2].partition(".")[0].lower()


def _all_plans_of_specs(trace: WholeTrace) -> Iterator[object]:
    specs = [trace.index.table(name, "spec_path").first for name in WRITERS["spec_path"]]
    for path in trace.index.table(WRITERS["plan_path"][0], "plan_path").first:
        if any(path in each for each in specs) or file_stem(cast("str", path)) == "spec":
            yield path


# The rounds of a dispatch


def _rounds_keys(mention: Mention) -> Iterable[object]:
    is_part = mention.is_a(_DISPATCH.opener, _DISPATCH.closer, _ROUND.closer)
    return ((mention.run.run_id, mention.value),) if is_part else ()


def _rounds_total(trace: WholeTrace, key: tuple[str, str]) -> Iterable[RoundsTotal]:
    run = trace.index.runs.get(key[0])
    if run is None:
        return
    starts, ends, rounds = (
        run.table(name, _DISPATCH.field).of(key[1])
        for name in (_DISPATCH.opener, _DISPATCH.closer, _ROUND.closer)
    )
    if not starts or len(ends) != 1 or len(rounds) > MOST_ROUNDS:
        return
    last = {each.fact(_ROUND.field): each for each in rounds}
    total = RoundsTotal(ends[0], _claimed(ends[0]), tuple(last.values()))
    if total.total_ms > total.claimed_ms:
        yield total


def _claimed(end: Line) -> int:
    return cast("int", end.fact("wall_clock_ms"))


def _all_rounds_totals(trace: WholeTrace) -> Iterator[tuple[str, object]]:
    for run in trace.index.runs.values():
        rounds, dispatches = (_claims(of, run.events(of.closer)) for of in (_ROUND, _DISPATCH))
        for dispatch_id, ms in dispatches.items():
            if rounds[dispatch_id] > ms:
                yield run.run_id, dispatch_id


def _claims(of: Lifetime, ends: Iterable[Line]) -> defaultdict[object, int]:
    """What ends claim together, by their dispatch."""
    keeps = EVENTS[of.closer].keeps
    pick = itemgetter(keeps.index(_DISPATCH.field), keeps.index("wall_clock_ms"))
    claimed = defaultdict[object, int](int)
    for dispatch_id, ms in map(pick, map(facts_of, ends)):
        claimed[dispatch_id] += ms
    return claimed


KINDS: Mapping[type[tuple[Any, ...]], EntityKind] = {
    Repetition: kind_of((RUN_FIELD, _SLICE.field), _repetition_keys, _repetition, _all_repetitions),
    Closing: kind_of((RUN_FIELD, "event_type"), _closing_keys, _closing, _all_closings),
    PlanOfSpec: kind_of(tuple(WRITERS), _plan_keys, _plan_of_spec, _all_plans_of_specs),
    RoundsTotal: kind_of((_DISPATCH.field,), _rounds_keys, _rounds_total, _all_rounds_totals),
}
