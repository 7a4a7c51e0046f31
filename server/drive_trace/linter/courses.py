"""What rules on dispatches, rounds and slices share: what belongs to each, how it starts, goes on
and ends, how long it took, and what starts or ends twice. All of it is told once for a run.
"""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Any

import msgspec

from drive_trace import vocabulary
from drive_trace.linter.rule import Explained, Finding, Findings, Message, Option, Rule
from drive_trace.text.wording import duration, exact_duration, shown
from drive_trace.trace.line import TS, Line, LineSet, earliest, name_of
from drive_trace.trace.run import TIMED, Run, TimeSpan, in_order, span_ended_by
from drive_trace.trace.times import milliseconds_between

MOST = 16
"""At most so many lines of each event get a finding that one line causes: more would say nothing
new.
"""
CLAIM = "wall_clock_ms"


TOLERANCES = (
    Option("tolerance-ms", 2000, "Milliseconds that a duration may be off, whatever its length."),
    Option("tolerance-percent", 10, "Percent of what it should be that a duration may be off."),
)
"""What rules about durations let pass."""
_order = attrgetter("order")
_MOVE_ON = {
    vocabulary.DISPATCH: (vocabulary.DISPATCH.opener, vocabulary.SLICE.closer, "project-closed"),
    vocabulary.ROUND: (vocabulary.ROUND.opener, vocabulary.DISPATCH.closer),
}
"""Events that show that a dispatch, or a round of the same dispatch, before them is over."""


_NAMED = {
    name: [(kind, event.positions[of.field]) for kind, of in enumerate(TIMED) if name in of.members]
    for name, event in vocabulary.EVENTS.items()
}
"""By event, the kinds of what it belongs to, and where the ids of these stand among its facts."""


class Course(msgspec.Struct, frozen=True):
    """How a dispatch or round goes, in its run."""

    of: vocabulary.Lifetime
    id: str
    lines: Sequence[Line]
    """All events of it."""
    bounds: Sequence[Line]
    """Its starts and ends."""
    run: Run

    @property
    def is_started(self) -> bool:
        """Whether it has a start, wherever that is."""
        return any(map(self.starts, self.bounds))

    def starts(self, line: Line | None) -> bool:
        """Whether an event starts it."""
        return line is not None and name_of(line) == self.of.opener

    def ends(self, line: Line | None) -> bool:
        """Whether an event ends it."""
        return line is not None and name_of(line) == self.of.closer

    def between(self, begin: Line | None, end: Line | None) -> Iterator[Line]:
        """Its events between two of them, the first ones of each type."""
        first = bisect_right(self.lines, begin.order, key=_order) if begin is not None else 0
        seen = Counter[str | None]()
        # By number, as a slice would copy what is asked for again and again.
        for line in map(self.lines.__getitem__, range(first, len(self.lines))):
            if line is end:
                return
            seen[name_of(line)] += 1
            if seen[name_of(line)] <= MOST:
                yield line

    @property
    def unread(self) -> Sequence[Line]:
        """The lines that name it and may be the run's: what is missing may be there."""
        return self.run.in_doubt(self.of.field, self.id)

    def finding(
        self, rule: Rule[Any], line: Line, message: Message, *related: Explained
    ) -> Finding:
        """The finding on a line. It marks the id of the dispatch or round."""
        return rule.finding(line, self.of.field, message, *related, run=self.run)


def courses(run: Run, *kinds: vocabulary.Lifetime) -> Iterator[Course]:
    """The courses of the dispatches and rounds of a run, or of one of the two kinds; but of those
    that start, go on and end as they should. A run whose id is a slip has none of its own.
    """
    return (each for each in run.kept(_unusual)[0] if each.of in (kinds or TIMED))


def durations(run: Run) -> Sequence[TimeSpan]:
    """The dispatches and rounds of a run that did not take what their ends say, to the digit."""
    return run.kept(_unusual)[1]


def _unusual(run: Run) -> tuple[list[Course], list[TimeSpan]]:
    members = [defaultdict[object, list[Line]](list) for _ in TIMED]
    for line in run.lines:
        for kind, position in _NAMED[line.event.name] if line.event is not None else ():
            members[kind][line.facts[position]].append(line)
    unusual, durations = list[Course](), list[TimeSpan]()
    for of, by_id in zip(TIMED, members, strict=True):
        by_id.pop(None, None)
        odd = {value: lines for value, lines in by_id.items() if not _is_usual(of, lines)}
        if run.meant is None:
            for value, lines in odd.items():
                bounds = [line for line in lines if name_of(line) in (of.opener, of.closer)]
                unusual.append(Course(of, str(value), lines, bounds, run))
        place, claim = map(vocabulary.EVENTS[of.closer].positions.__getitem__, (of.field, CLAIM))
        for end in run.events(of.closer):
            value = end.facts[place]
            passed = milliseconds_between(by_id[value][0].facts[TS], end.facts[TS])
            span = span_ended_by(run, end) if value in odd or passed != end.facts[claim] else None
            if span is not None and span.excess_ms:
                durations.append(span)
    return unusual, durations


def _is_usual(of: vocabulary.Lifetime, lines: Sequence[Line]) -> bool:
    """Whether a dispatch or round, given its events, starts once, goes on and ends once. So nearly
    all do, and need no courses.
    """
    names = [line.event.name for line in lines if line.event is not None]
    if (names[0], names[-1]) != (of.opener, of.closer):
        return False
    if names.count(of.opener) + names.count(of.closer) > 2:
        return False
    if of is vocabulary.DISPATCH:
        return "brief-issued" in names
    return len({line.fact(vocabulary.DISPATCH.field) for line in lines}) == 1


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


def going_on(run: Run, of: vocabulary.Lifetime, line: Line) -> str | None:
    """The id of what was started last above a line, of a round in its dispatch, if nothing ends it
    up to there, as far as can be read.
    """
    field = vocabulary.DISPATCH.field
    is_round = of is vocabulary.ROUND
    starts = run.of(of.opener, field, line.fact(field)) if is_round else run.events(of.opener)
    start = starts.before(line)
    value = start.text_fact(of.field) if start is not None else None
    is_open = run.open_at(of, value, line) is not None and not run.in_doubt(of.field, value)
    return value if is_open else None


def unstarted(rule: Rule[Any], course: Course) -> Findings:
    """The findings on what names a dispatch or round up to its end, if nothing starts it, as far as
    can be read.
    """
    if course.is_started or course.unread:
        return
    what = course.of.entity
    message = f"no `{what}-start` of this run starts the {what} {shown(course.id)}"
    lone = course.run.kept(_lone_starts)[course.of].before(course.lines[0])
    started = [(lone, course.of.field, f"nothing goes on with this {what}")] if lone else []
    end = next(iter(course.bounds), None)
    for line in (*course.between(None, end), end):
        if line is not None:
            yield course.finding(rule, line, message, *started)


def _lone_starts(run: Run) -> Mapping[vocabulary.Lifetime, LineSet]:
    """By what they start: the starts whose id nothing else has, so that it may be a slip."""
    alone = [each for each in courses(run) if len(each.lines) == 1 and each.is_started]
    return {of: in_order(each.lines[0] for each in alone if each.of is of) for of in TIMED}


def unclosed(rule: Rule[Any], run: Run, of: vocabulary.Lifetime, around: str) -> Findings:
    """The findings on dispatches or rounds that nothing ends, though the run or dispatch around
    them went on.
    """
    its = "the" if of is vocabulary.DISPATCH else "its"
    for course in courses(run, of):
        line = course.bounds[0] if course.is_started and len(course.bounds) == 1 else None
        # A line below that cannot be read may end it.
        if line is None or any(each.order > line.order for each in course.unread):
            continue
        moved_on = _moved_on(course, line)
        if moved_on is not None:
            what = f"this {of.entity} never ends, though {its} {around} went on with line "
            went_on = (moved_on, "event_type", f"the {around} went on here")
            yield course.finding(rule, line, (what, moved_on), went_on)


def _moved_on(course: Course, start: Line) -> Line | None:
    """What shows that a dispatch or round is over: the next one, or the end of what holds it."""
    run, last = course.run, course.lines[-1]
    if course.of is vocabulary.ROUND:
        of = vocabulary.DISPATCH.field, start.fact(vocabulary.DISPATCH.field)
        return earliest(run.of(name, *of).after(start) for name in _MOVE_ON[vocabulary.ROUND])
    # It may go on beside others until its round is satisfied.
    is_done = name_of(last) == vocabulary.ROUND.closer and last.fact("verdict") == "satisfied"
    ends = run.next_of(_MOVE_ON[vocabulary.DISPATCH][not is_done :], last)
    return earliest((ends, run.kept(_verdicts).after(last)))


def _verdicts(run: Run) -> LineSet:
    """The grades that say anything."""
    grades = run.events(vocabulary.GRADE)
    return in_order(each for each in grades if any(map(each.fact, vocabulary.CORRECTNESS_FIELDS)))


def misclaimed(rule: Rule[Any], run: Run, tolerances: tuple[float, float], way: int) -> Findings:
    """The findings on durations that are longer than the timestamps say (``way`` above 0), or
    shorter: by more than the tolerances, in milliseconds and in percent of the time between.
    """
    for span in durations(run):
        if way * span.excess_ms > 0 and span.is_off(*tolerances):
            claimed, measured = duration(span.claimed_ms), exact_duration(span.measured_ms)
            said = (f"{claimed} claimed, but {measured} lie between line ", span.start, " and this")
            started, expected = (span.start, "ts", "it started then"), span.measured_ms
            yield rule.finding(span.end, CLAIM, said, started, expected=expected, run=run)
