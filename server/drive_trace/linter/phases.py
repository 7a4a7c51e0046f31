"""What rules on dispatches, rounds and slices share: what belongs to each, how it starts, goes on
and ends, how long it took, and what starts or ends twice. All of it is told once for a run.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from operator import attrgetter
from typing import Any, cast

import msgspec

from drive_trace.linter.rule import Explained, Finding, Findings, Message, Option, Rule
from drive_trace.trace.line import TS, Line, earliest, latest
from drive_trace.trace.run import TIMED, Run, TimeSpan, span_ended_by
from drive_trace.trace.times import in_words, milliseconds_between
from drive_trace.vocabulary import DISPATCH, EVENTS, ROUND, SLICE, Entity, Lifetime

MOST = 16
"""At most so many lines of each event get a finding that one line causes: more would say nothing
new.
"""
CLAIM = "wall_clock_ms"


def tolerances(percent: int, of_time: str, of_share: str) -> tuple[Option, Option]:
    """The options of a rule on durations, with what each lets pass, a sentence each."""
    time = Option("tolerance-ms", 2000, of_time, minimum=0)
    return time, Option("tolerance-percent", percent, of_share, minimum=0)


TOLERANCES = tolerances(
    10,
    "Milliseconds that a duration may differ from its timestamps, whatever its length.",
    "Percent of the time between the timestamps that a duration may differ from it.",
)
"""What rules about durations let pass; see :meth:`Duration.excess_ms`."""
_BRIEF = "brief-issued"
_MOVE_ON = {
    DISPATCH: (DISPATCH.opener, SLICE.closer, "project-closed"),
    ROUND: (ROUND.opener, DISPATCH.closer),
}
"""Events that show that a dispatch, or a round of the same dispatch, before them is over."""


_NAMED = {
    name: [(kind, event.positions[of.field]) for kind, of in enumerate(TIMED) if name in of.members]
    for name, event in EVENTS.items()
}
"""By event, the kinds of what it belongs to, and where the ids of these stand among its facts."""


class Phase(msgspec.Struct, frozen=True):
    """A phase of a dispatch or round, in its run: from one of its starts or ends to the next."""

    of: Lifetime
    id: str
    begin: Line | None
    """The start or end that it begins with; None for what stands before the first one."""
    end: Line | None
    """The start or end that it goes on to; None after the last one."""
    previous_start: Line | None
    """The nearest start above ``begin``."""
    previous_end: Line | None
    members: Sequence[Line]
    """All events of the dispatch or round."""
    run: Run

    @property
    def is_open(self) -> bool:
        """Whether it begins with a start."""
        return _is_a(self.begin, self.of.opener)

    @property
    def is_over(self) -> bool:
        """Whether it begins with an end."""
        return _is_a(self.begin, self.of.closer)

    @property
    def is_first(self) -> bool:
        """Whether it begins with the first start or end of all."""
        return self.begin is not None and self.before is None

    @property
    def is_ended(self) -> bool:
        """Whether it goes on to an end."""
        return _is_a(self.end, self.of.closer)

    @property
    def unstarted(self) -> Sequence[Line]:
        """Its lines up to its end if it has no start at all, as far as can be read."""
        if self.begin is not None or self.unread:
            return ()
        if any(_is_a(each, self.of.opener) for each in self.members):
            return ()
        return [line for line in (*self.lines, self.end) if line is not None]

    @property
    def has_brief(self) -> bool:
        """Whether a brief names it, wherever that stands."""
        return any(_is_a(each, _BRIEF) for each in self.members)

    @property
    def before(self) -> Line | None:
        """The start or end before ``begin``."""
        return latest((self.previous_start, self.previous_end))

    @property
    def lines(self) -> Iterator[Line]:
        """Its lines between the two, the first ones of each event."""
        seen, first = Counter[str](), 0
        if self.begin is not None:
            first = bisect_right(self.members, self.begin.order, key=attrgetter("order"))
        # By number, as a slice would copy what all phases of the same id share.
        for line in map(self.members.__getitem__, range(first, len(self.members))):
            if line is self.end:
                return
            name = line.event.name if line.event is not None else ""
            seen[name] += 1
            if seen[name] <= MOST:
                yield line

    @property
    def strays(self) -> Iterator[Line]:
        """Of a round that goes on, the lines that name another dispatch than its start does, if
        that one is started as well; of that dispatch, too, among the first ones of each event.
        """
        if self.begin is None or self.of is not ROUND or not self.is_open:
            return
        field, own = DISPATCH.field, self.begin.fact(DISPATCH.field)
        for line in (*self.lines, self.end if self.is_ended else None):
            if line is None or line.event is None or line.fact(field) == own:
                continue
            named = line.fact(field)
            place = self.run.of(line.event.name, field, named).position(line)
            if place < MOST and self.run.of(DISPATCH.opener, field, named):
                yield line

    @property
    def unread(self) -> Sequence[Line]:
        """The lines that name it and may be the run's: what is missing may be there."""
        return self.run.in_doubt(self.of.field, self.id)

    @property
    def moved_on(self) -> Line | None:
        """What shows that it is over, though nothing ends it: the next thing of its kind, or the
        end of what holds it. None where something ends it, or may, as a line below that cannot be
        read names it.
        """
        begin = self.begin
        if begin is None or not self.is_open or not self.is_first or self.end is not None:
            return None
        if any(line.order > begin.order for line in self.unread):
            return None
        if self.of is DISPATCH:
            starts_show_it = not self.run.kept(_is_parallel)
            return self.run.next_of(_MOVE_ON[DISPATCH][not starts_show_it :], begin)
        field, dispatch_id = DISPATCH.field, begin.fact(DISPATCH.field)
        return earliest(
            self.run.of(name, field, dispatch_id).after(begin) for name in _MOVE_ON[ROUND]
        )

    def finding(
        self, rule: Rule[Any], line: Line, message: Message, *related: Explained
    ) -> Finding:
        """The finding on a line. It marks the id of the dispatch or round."""
        return rule.finding(line, self.of.field, message, *related, run=self.run)


def _is_parallel(run: Run) -> bool:
    """Whether a dispatch started while another one went on that ended later."""
    starts, ends = run.events(DISPATCH.opener), run.events(DISPATCH.closer)
    began = ((run.open_at(DISPATCH, end.fact(DISPATCH.field), end), end) for end in ends)
    return any(each and starts.position(end) - starts.position(each) > 1 for each, end in began)


def phases(run: Run) -> Sequence[Phase]:
    """The phases of the dispatches and rounds of a run, but of those that start, go on and end as
    they should. A run whose id is a slip has none of its own.
    """
    return run.kept(_unusual).phases


def phases_of(run: Run, entity: Entity) -> Iterator[Phase]:
    """Those of the dispatches alone, or of the rounds."""
    return (phase for phase in phases(run) if phase.of.entity is entity)


def durations(run: Run) -> Sequence[Duration]:
    """The dispatches and rounds of a run that did not take what their ends say, to the digit."""
    return run.kept(_unusual).durations


class _Unusual(msgspec.Struct, frozen=True):
    phases: list[Phase]
    durations: list[Duration]


def _unusual(run: Run) -> _Unusual:
    members = [defaultdict[object, list[Line]](list) for _ in TIMED]
    for line in run.lines:
        for kind, position in _NAMED[line.event.name] if line.event is not None else ():
            members[kind][line.facts[position]].append(line)
    found = _Unusual([], [])
    for of, by_id in zip(TIMED, members, strict=True):
        by_id.pop(None, None)
        odd = {value: lines for value, lines in by_id.items() if not _is_usual(of, lines)}
        for value, lines in odd.items() if run.meant is None else ():
            found.phases.extend(_phases_between(run, of, cast("str", value), lines))
        place, claim = map(EVENTS[of.closer].positions.__getitem__, (of.field, CLAIM))
        for end in run.events(of.closer):
            value = end.facts[place]
            passed = milliseconds_between(by_id[value][0].facts[TS], end.facts[TS])
            span = span_ended_by(run, end) if value in odd or passed != end.facts[claim] else None
            if span is not None and span.excess_ms:
                found.durations.append(Duration(span, run))
    return found


def _is_usual(of: Lifetime, lines: Sequence[Line]) -> bool:
    """Whether a dispatch or round, given its events, starts once, goes on and ends once. So nearly
    all do, and need no phases.
    """
    names = [line.event.name for line in lines if line.event is not None]
    if not (names[0] == of.opener and names[-1] == of.closer):
        return False
    if not names.count(of.opener) == names.count(of.closer) == 1:
        return False
    if of is DISPATCH:
        return _BRIEF in names
    return len({line.fact(DISPATCH.field) for line in lines}) == 1


def _phases_between(run: Run, of: Lifetime, value: str, lines: Sequence[Line]) -> Iterator[Phase]:
    begin = previous_start = previous_end = None
    bounds = [line for line in lines if _is_a(line, of.opener) or _is_a(line, of.closer)]
    for end in (*bounds, None):
        yield Phase(of, value, begin, end, previous_start, previous_end, lines, run)
        if _is_a(begin, of.opener):
            previous_start = begin
        elif begin is not None:
            previous_end = begin
        begin = end


def _is_a(line: Line | None, name: str) -> bool:
    return line is not None and line.event is not None and line.event.name == name


class Duration(msgspec.Struct, frozen=True):
    """The way from a start to an end of a dispatch or round, which did not take what the end says;
    with that of the round of a dispatch that has one round, or of the dispatch of one of its up to
    16 rounds: what is wrong with both is said there.
    """

    span: TimeSpan
    run: Run

    def excess_ms(self, tolerance_ms: float, tolerance_percent: float) -> int:
        """How much more is claimed than was measured, negative where it is less; 0 within the
        tolerances, and where the other one is off in the same way.
        """
        tolerances, excess = (tolerance_ms, tolerance_percent), self.span.excess_ms
        if not self.span.is_off(*tolerances):
            return 0
        speaker = _speaker(self.run, self.span.end)
        other = span_ended_by(self.run, speaker) if speaker is not None else None
        if other is not None and other.is_off(*tolerances) and other.excess_ms * excess > 0:
            return 0
        return excess

    def finding(self, rule: Rule[Any], message: Message) -> Finding:
        """The finding on the duration."""
        span = self.span
        started = (span.start, "ts", "it started then")
        expected = span.measured_ms
        return rule.finding(span.end, CLAIM, message, started, expected=expected, run=self.run)


def _speaker(run: Run, end: Line) -> Line | None:
    """The end that speaks for this one, if what both claim is wrong."""
    dispatch = end.fact(DISPATCH.field)
    rounds = run.of(ROUND.opener, DISPATCH.field, dispatch)
    ends = run.of(DISPATCH.closer, DISPATCH.field, dispatch)
    if len(ends) != 1:
        return None
    if ends[0] is not end:
        of_rounds = run.of(ROUND.closer, DISPATCH.field, dispatch)
        is_one_of_few = 1 < len(rounds) <= MOST and len(of_rounds) <= MOST
        return ends[0] if is_one_of_few else None
    if len(rounds) != 1:
        return None
    round_id = rounds[0].fact(ROUND.field)
    starts, ends = (run.of(name, ROUND.field, round_id) for name in (ROUND.opener, ROUND.closer))
    return ends[0] if len(starts) == len(ends) == 1 else None


def repetitions(rule: Rule[Any], run: Run, event: str, field: str | None, what: str) -> Findings:
    """The findings on events of one name that have an earlier one in their run, by the value of a
    field if that is given; but copies, of which duplicate-event-id speaks.
    """
    found_before = dict[object, Line]()
    place = field or "event_type"
    for line in run.events(event):
        key = line.fact(field) if field is not None else None
        previous = found_before.get(key)
        if previous is not None and not line.is_copy_of(previous):
            message = (f"{what} on line ", previous, " already")
            yield rule.finding(line, place, message, (previous, place, "here"))
        found_before[key] = line


def unclosed(rule: Rule[Any], run: Run, of: Lifetime, around: str) -> Findings:
    """The findings on dispatches or rounds that nothing ends, though the run or dispatch around
    them went on.
    """
    its = "the" if of is DISPATCH else "its"
    for phase in phases_of(run, of.entity):
        line, moved_on = phase.begin, phase.moved_on
        if line is not None and moved_on is not None:
            what = f"this {of.entity} never ends, though {its} {around} went on with line "
            went_on = (moved_on, "event_type", f"the {around} went on here")
            yield phase.finding(rule, line, (what, moved_on), went_on)


def misclaimed(rule: Rule[Any], run: Run, tolerances: tuple[float, float], way: int) -> Findings:
    """The findings on durations that are longer than the timestamps say (``way`` above 0), or
    shorter.
    """
    for found in durations(run):
        span = found.span
        if way * span.excess_ms > 0 and found.excess_ms(*tolerances):
            claimed, measured = in_words(span.claimed_ms), in_words(span.measured_ms, exactly=True)
            said = f"{claimed} claimed, but {measured} lie between line "
            yield found.finding(rule, (said, span.start, " and this"))
