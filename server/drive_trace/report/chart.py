"""The timeline of one run, laid out: reports and the editor's view draw exactly this.

Places are shares of the axis. Texts are untrusted, but for words of the vocabulary.

Length is time: while a dispatch is open nothing is folded, and any two bars have lengths in the
ratio of their durations. Idle time between dispatches is folded where it is long, and marked. What
is too narrow or too near to others stands together, at each level of zoom, until there is room.
"""

from bisect import bisect_left, bisect_right, insort
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from math import ceil, log2
from typing import NamedTuple

from drive_trace.scorecard import dispatches
from drive_trace.scorecard.caveats import LineRef
from drive_trace.scorecard.dispatches import SPANNING, DispatchSpan, Event, Outcome, Period
from drive_trace.scorecard.run_score import RunScore
from drive_trace.text.wording import LONGEST, plural, short_time
from drive_trace.trace.times import epoch_milliseconds

_WIDTH = 900
"""Pixels that an axis has on a desk; shares follow from it."""
_NARROWEST = 616
"""Pixels that it has at least: labels have room there, too."""
_LEAST = 4 / _WIDTH
"""What can be pointed at is at least so wide."""
_FOLDED = 44 / _WIDTH
"""Idle time is no wider than the words on its length."""
_DEEPEST = 6
_SECOND = 1000
_APART = 11 / _NARROWEST
"""Marks that are nearer than this to one another stand together."""
ROOMS = (_APART, 52 / _NARROWEST, 64 / _NARROWEST)
"""So much room has what stands for one, for several, or for more than nine."""
_REACH = 24 / _WIDTH
"""A cluster is no wider than a number on it needs."""
_MOST_LANES = 24
REJECTED = "rejected"
SERIOUS = ("falsified-assumption", REJECTED, Outcome.HALTED, "correctness-recorded", Outcome.AGAIN)
"""The kinds of marks that are seen at every zoom, also where several stand together."""


# The axis


class Fold(NamedTuple):
    """Idle time that is drawn shorter than it is long."""

    left: float
    right: float
    milliseconds: int


@dataclass(frozen=True)
class TimeAxis:
    """Moments are milliseconds since 1970."""

    moments: Sequence[int]
    """The ends of the stretches that are even, sorted; at least two."""
    places: Sequence[float]
    """Of each of them."""
    folds: Sequence[Fold]
    scale: float
    """The width of a millisecond that is not folded."""
    levels: int
    """How often the axis has to be doubled for its shortest dispatch to be pointed at."""

    def place(self, moment: int) -> float:
        """Where a moment is; what is beyond the axis is at its end."""
        at = min(max(bisect_right(self.moments, moment), 1), len(self.moments) - 1)
        start, end = self.moments[at - 1], self.moments[at]
        share = min(max((moment - start) / (end - start), 0.0), 1.0)
        return self.places[at - 1] + share * (self.places[at] - self.places[at - 1])


def time_axis(moments: Iterable[int], busy: Iterable[tuple[int, int]]) -> TimeAxis | None:
    """The axis for all moments at which something happened; None if there are none. ``busy`` are
    the times in which some dispatch was open.
    """
    known, spans = sorted(set(moments)), sorted(busy)
    if not known:
        return None
    if len(known) == 1:
        known.append(known[0] + _SECOND)
    until = list(accumulate((end for _, end in spans), max))
    starts = [start for start, _ in spans]

    def is_busy(start: int) -> bool:
        at = bisect_right(starts, start)
        return at > 0 and until[at - 1] > start

    idle = sorted(
        ((end - start, start) for start, end in pairwise(known) if not is_busy(start)), reverse=True
    )
    narrow, rest = min(_FOLDED, 0.5 / (len(idle) or 1)), known[-1] - known[0]
    scale, folded = 1 / rest, dict[int, float]()
    for length, start in idle:
        if length * scale <= narrow:
            break
        folded[start], rest = narrow, rest - length
        scale = (1 - narrow * len(folded)) / rest if rest else 0
    if not rest:
        folded = dict.fromkeys(folded, 1 / len(folded))
    ends, places, folds = [known[0]], [0.0], list[Fold]()
    for start, end in pairwise(known):
        if start in folded:
            folds.append(Fold(places[-1], places[-1] + folded[start], end - start))
        elif len(ends) > 1 and ends[-2] not in folded:
            del ends[-1], places[-1]  # it goes on evenly
        ends.append(end)
        places.append(places[-1] + folded.get(start, (end - ends[-2]) * scale))
    least = min([_LEAST, 0.5 / len(known), *((end - start) * scale for start, end in spans)])
    levels = min(_DEEPEST, max(2, ceil(log2(_LEAST / (least or _LEAST))) + 1))
    return TimeAxis(tuple(ends), tuple(places), tuple(folds), scale, levels)


class Levels:
    """Finds room for labels: each is so far from all others that are shown where it is."""

    def __init__(self, apart: float, most: int) -> None:
        self._apart = apart
        self._placed: list[list[float]] = [[] for _ in range(most + 1)]

    def take(self, place: float) -> int | None:
        """The first level of zoom at which there is room; None if there is at none."""
        nearest = 2.0
        for level, placed in enumerate(self._placed):
            at = bisect_left(placed, place)
            if at and place - placed[at - 1] < nearest:
                nearest = place - placed[at - 1]
            if at < len(placed) and placed[at] - place < nearest:
                nearest = placed[at] - place
            if nearest * 2**level >= self._apart:
                insort(placed, place)
                return level
        return None


# What stands on it


class RoundBar(NamedTuple):
    """A round in its dispatch, in shares of the axis."""

    left: float
    right: float
    outcome: Outcome
    words: str
    lines: Sequence[LineRef]
    """Those of its start and its end, as far as they are recorded, and then of its first brief."""
    level: int
    """Of zoom, from which on it is shown."""


class Bar(NamedTuple):
    """A dispatch. Those that overlap in time are in different lanes."""

    lane: int
    left: float
    right: float
    claimed: float | None
    """Where it would end by its author's claim."""
    outcome: Outcome
    round_starts: int
    name: str
    words: str
    lines: Sequence[LineRef]
    rounds: Sequence[RoundBar]
    level: int
    """Of zoom, from which on it is shown by itself."""

    @property
    def look(self) -> Outcome:
        """How it came out; of one that needed another round, that, where its rounds have no
        room.
        """
        is_plain = self.outcome is Outcome.PASSED
        return Outcome.AGAIN if is_plain and self.round_starts > 1 else self.outcome


class Cluster(NamedTuple):
    """What stands for neighbours of one lane that are too narrow, at one level of zoom alone."""

    lane: int
    left: float
    right: float
    level: int
    bars: Sequence[Bar]


class ChartMark(NamedTuple):
    """What happened at a moment, or at several that are too near to one another."""

    place: float
    kinds: Sequence[str]
    """The events, :data:`REJECTED`, or how a round came out: those that are shown."""
    lines: Sequence[LineRef]
    """Of all that stand together."""
    level: int
    """Of zoom, from which on it is shown ..."""
    until: int | None
    """... and from which on it is no more."""


@dataclass(frozen=True)
class Chart:
    """The timeline of one run."""

    axis: TimeAxis
    lanes: int
    names: Sequence[str]
    """Of the dispatch in each lane, where each has one of its own."""
    bars: Sequence[Bar]
    clusters: Sequence[Cluster]
    marks: Sequence[ChartMark]
    stale_from: float | None
    """Where the grade is, if the run went on after it."""
    untimed: int
    """How many dispatches have no time that can be read."""

    def drawn(self) -> Iterator[Bar | RoundBar]:
        """The bars of dispatches, and of their rounds."""
        yield from self.bars
        for bar in self.bars:
            yield from bar.rounds


class _Timed(NamedTuple):
    begin: int
    end: int
    last: int
    """Where it is over for its lane: the last that is known of it."""


_RoundKey = tuple[str, str]
"""The ids of a dispatch, and of a round of it."""


def chart_of(run: RunScore, events: Sequence[Event], spans: Sequence[DispatchSpan]) -> Chart | None:
    """Lay out a run, given all its events; None if no time of it can be read."""
    timed = {each.dispatch_id: at for each in spans if (at := _timed(each)) is not None}
    rounds: dict[_RoundKey, _Timed] = {
        (each.dispatch_id, span.round_id): at
        for each in spans
        for span in each.rounds
        if (at := _timed(span)) is not None
    }
    briefs = _first_briefs(events, rounds)
    others = [*_others(run, events, set(briefs.values())), *_sent_back(spans, rounds)]
    moments = [moment for moment, _, _ in others]
    moments += (moment for each in (*timed.values(), *rounds.values()) for moment in each)
    axis = time_axis(moments, ((each.begin, each.last) for each in timed.values()))
    if axis is None:
        return None
    lanes = _lanes(timed)
    inside = {key: (at, briefs.get(key)) for key, at in rounds.items()}
    drawn = [
        _bar(axis, each, lanes[each.dispatch_id], timed[each.dispatch_id], inside)
        for each in spans
        if each.dispatch_id in timed
    ]
    bars = sorted(drawn, key=lambda bar: (bar.left, bar.lane))
    grade = epoch_milliseconds(run.correctness.ts) if run.correctness and run.stale else None
    return Chart(
        axis,
        lanes=max(lanes.values(), default=-1) + 1,
        names=[bar.name for bar in bars] if len(bars) <= _MOST_LANES else [],
        bars=bars,
        clusters=tuple(_clusters(bars, axis.levels)),
        marks=_marks(axis, others),
        stale_from=axis.place(grade) if grade is not None else None,
        untimed=len(spans) - len(timed),
    )


def _timed(span: Period) -> _Timed | None:
    """When something was, at least a millisecond; what has no end is as long as is known."""
    start, end = epoch_milliseconds(span.started), epoch_milliseconds(span.ended)
    inner = span.rounds if isinstance(span, DispatchSpan) else ()
    stamps = (stamp for each in inner for stamp in (each.started, each.ended))
    known = [moment for stamp in stamps if (moment := epoch_milliseconds(stamp)) is not None]
    begin = start
    if begin is None:
        begin = min([*known, *([] if end is None else [end])], default=None)
    if begin is None:
        return None
    last = max(begin + 1, *known, end or begin)
    return _Timed(begin, max(end, begin + 1) if end is not None else last, last)


def _lanes(timed: Mapping[str, _Timed]) -> dict[str, int]:
    """A lane for each dispatch; of many the first that is free when one begins, and if none is, the
    one that soonest will.
    """
    free: list[int] = []
    ordered = sorted(timed.items(), key=lambda item: item[1].begin)
    if len(timed) <= _MOST_LANES:
        return {key: lane for lane, (key, _) in enumerate(ordered)}
    lanes = {}
    for key, each in ordered:
        lane = next((n for n, until in enumerate(free) if until <= each.begin), len(free))
        if lane == _MOST_LANES:
            lane = free.index(min(free))
        free[lane : lane + 1] = [each.last]
        lanes[key] = lane
    return lanes


def _bar(
    axis: TimeAxis,
    span: DispatchSpan,
    lane: int,
    at: _Timed,
    rounds: Mapping[_RoundKey, tuple[_Timed, LineRef | None]],
) -> Bar:
    pieces = [
        _piece(axis, each, *rounds[key])
        for each in span.rounds
        if (key := (span.dispatch_id, each.round_id)) in rounds
    ]
    left, right = axis.place(at.begin), axis.place(at.end)
    claimed = span.claimed_ms
    claim = None if claimed is None else min(left + min(claimed, LONGEST) * axis.scale, 1.0)
    name = span.called
    words = [name, span.said or "no end recorded", plural(span.round_starts, "round")]
    words += [*_lengths(span), *span.waiting, *([span.model] if span.model else [])]
    said, lines, level = " · ".join(words), _lines(span), _level_of(right - left, axis.levels)
    starts, how = span.round_starts, span.outcome
    return Bar(lane, left, right, claim, how, starts, name, said, lines, pieces, level)


def _piece(
    axis: TimeAxis, span: dispatches.RoundSpan, at: _Timed, brief: LineRef | None
) -> RoundBar:
    number = "?" if span.number is None else f"{span.number:,}"
    words = [f"round {number}", span.said or "no end recorded"]
    words += [plural(span.findings, "finding")] if span.findings else []
    left, right = axis.place(at.begin), axis.place(at.end)
    said = " · ".join([*words, *_lengths(span)])
    lines = [*_lines(span), *([brief] if brief else [])]
    level = _level_of(right - left, axis.levels)
    return RoundBar(left, right, span.outcome, said, lines, level)


def _lengths(span: Period) -> Iterator[str]:
    if span.clock_ms is not None:
        yield f"{short_time(span.clock_ms)} by the clock"
    if span.claimed_ms is not None:
        yield f"{short_time(span.claimed_ms)} {span.how}"


def _lines(span: Period) -> list[LineRef]:
    return [each.place for each in (span.start, span.end) if each is not None]


def _first_briefs(
    events: Iterable[Event], rounds: Container[_RoundKey]
) -> dict[_RoundKey, LineRef]:
    """The first brief of each round that is drawn, which it does not need a mark of its own for,
    unless the brief changed.
    """
    found: dict[_RoundKey, LineRef] = {}
    for event in events:
        if event.name == "brief-issued" and event.text("brief_disposition") == "initial":
            key = event.text("dispatch_id"), event.text("round_id")
            if key in rounds:
                found.setdefault(key, event.place)
    return found


def _others(
    run: RunScore, events: Iterable[Event], drawn: Container[LineRef]
) -> Iterator[tuple[int, str, LineRef]]:
    """What neither starts nor ends a dispatch or round, has a time, and is not drawn with one. A
    rejected line has the time of the event above it.
    """
    rejected = [LineRef(part.path, each.line) for part in run.parts for each in part.rejected]
    above: dict[str, tuple[list[int], list[int]]] = {}
    for event in events:
        moment = epoch_milliseconds(event.ts)
        if moment is None:
            continue
        numbers, moments = above.setdefault(event.path, ([], []))
        numbers.append(event.line)
        moments.append(moment)
        here = event.place
        if event.name not in SPANNING and here not in drawn:
            yield moment, event.name, here
    for line in rejected:
        numbers, moments = above.get(line.path, ([], []))
        at = bisect_left(numbers, line.line)
        if moments:
            yield moments[max(at - 1, 0)], REJECTED, line


def _sent_back(
    spans: Iterable[DispatchSpan], timed: Mapping[_RoundKey, _Timed]
) -> Iterator[tuple[int, str, LineRef]]:
    """The ends of rounds after which there had to be another one, or that a person was asked."""
    for span in spans:
        for each in span.rounds:
            at = timed.get((span.dispatch_id, each.round_id))
            if at and each.end and each.outcome in (Outcome.AGAIN, Outcome.HALTED):
                yield at.end, each.outcome, each.end.place


def _marks(axis: TimeAxis, others: Iterable[tuple[int, str, LineRef]]) -> list[ChartMark]:
    """What stands alone or together at each level of zoom, in the order of time."""
    every = sorted((axis.place(moment), line, kind) for moment, kind, line in others)
    rare = Counter(kind for *_, kind in every)
    marks = []
    for first, end, level, until in together([place for place, *_ in every], axis.levels, ROOMS):
        some = every[first:end]
        found = dict.fromkeys(kind for *_, kind in some)  # in order: the first of the rarest
        kinds = [kind for kind in SERIOUS if kind in found] or [min(found, key=rare.__getitem__)]
        marks.append(ChartMark(some[0][0], kinds, [line for _, line, _ in some], level, until))
    return sorted(marks, key=lambda mark: (mark.place, mark.level))


def together(
    places: Sequence[float], levels: int, rooms: tuple[float, float, float]
) -> Iterator[tuple[int, int, int, int | None]]:
    """What stands together at each level of zoom: from which place to before which other one, and
    from which level to before which other one. Given are the ``rooms`` that one needs, or several,
    or more than nine.
    """
    shown: dict[tuple[int, int], int] = {}
    for level in range(levels + 1):
        now, first = dict[tuple[int, int], int](), 0
        for at in range(1, len(places) + 1):
            end, left = places[first] + room_of(at - first, level, rooms), len(places) - at
            behind = room_of(left, level, rooms)
            # What has no room in front of the end stands at the end.
            is_last = left > 0 and places[at] + behind > 1 and end > 1 - behind
            if not left or (places[at] >= end and not is_last):
                now[first, at] = shown.pop((first, at), level)
                first = at
        yield from ((*key, begun, level) for key, begun in shown.items())
        shown = now
    yield from ((*key, begun, None) for key, begun in shown.items())


def room_of(count: int, level: int, rooms: tuple[float, float, float] = ROOMS) -> float:
    """What so many that stand together need at a level of zoom, as a share of the axis."""
    return rooms[(count > 1) + (count > 9)] * 0.5**level


# What is too narrow to be pointed at stands together, until there is room


def _level_of(width: float, most: int) -> int:
    """The first level of zoom at which something of this width can be pointed at; at most ``most``,
    where everything is shown.
    """
    if width <= 0:
        return most
    return min(max(ceil(log2(_LEAST / width) - 0.01), 0), most)


def _clusters(bars: Sequence[Bar], most: int) -> Iterator[Cluster]:
    """The clusters of each level below ``most``, for bars in order of time."""
    for level in range(most):
        if all(bar.level <= level for bar in bars):
            return
        near: dict[int, list[Bar]] = {}
        for bar in bars:
            group = near.setdefault(bar.lane, [])
            is_narrow = bar.level > level
            if group and not (is_narrow and bar.right - group[0].left <= _REACH / 2**level):
                yield _cluster(group, level)
                group.clear()
            if is_narrow:
                group.append(bar)
        yield from (_cluster(group, level) for group in near.values() if group)


def _cluster(group: Sequence[Bar], level: int) -> Cluster:
    left = group[0].left
    right = max(left + _LEAST / 2**level, *(bar.right for bar in group))
    return Cluster(group[0].lane, left, right, level, tuple(group))
