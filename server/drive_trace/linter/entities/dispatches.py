"""The entities of dispatches, rounds and briefs, but for their phases, see ``phases.py``."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from itertools import chain, compress
from operator import itemgetter
from typing import Any, NamedTuple, cast

from drive_trace.linter.entities import (
    MOST,
    EntityKind,
    Mention,
    WholeTrace,
    any_between,
    kind_of,
)
from drive_trace.trace.durations import facts_of
from drive_trace.trace.line import Line
from drive_trace.trace.run_index import RunIndex
from drive_trace.vocabulary import EVENTS, LIFETIMES, NULL_TEXTS, Entity, Form

_DISPATCH = LIFETIMES[Entity.DISPATCH]
_RESUMES = "parent_dispatch_id"
_WITHIN_DISPATCH = tuple(each for each in _DISPATCH.members if each != _DISPATCH.opener)
_ROUND = LIFETIMES[Entity.ROUND]
_BRIEF = "brief-issued"
MOST_BRIEFS = 100
"""The briefs of a dispatch with more are not compared."""
_FILED = EVENTS[_ROUND.closer].keeps.index("findings_filed")
_BRIEF_FACTS = (_DISPATCH.field, "brief_content_hash", "brief_disposition")
_IDS = (_DISPATCH.field, _ROUND.field)


class Resumption(NamedTuple):
    """A dispatch that resumes itself, or one that no event of the trace starts; of those that
    resume the same one, among the first.
    """

    line: Line
    run: RunIndex
    is_itself: bool
    """Whether it names itself."""


class Review(NamedTuple):
    """The end of a round whose review filed findings."""

    line: Line


class Misnumbered(NamedTuple):
    """The start of a round, started once, whose number is not one more than that of the one before
    it in its dispatch; unless something unread stands between the two.
    """

    line: Line
    previous: Line | None
    """The start before it in its dispatch."""
    expected: int


class Brief(NamedTuple):
    """A brief whose disposition is not what the hashes of its dispatch's briefs say; only where all
    of them can be compared.
    """

    line: Line
    first: Line | None
    """The first brief, if that is another one."""
    same: Line | None
    """The nearest earlier one with the same hash."""
    expected: str


# A dispatch that is resumed


def _resumption_keys(mention: Mention) -> Iterable[object]:
    return (
        (mention.value,) if mention.field == _RESUMES or not mention.is_a(*_WITHIN_DISPATCH) else ()
    )


def _resumptions(trace: WholeTrace, parent: str) -> Iterator[Resumption]:
    index = trace.index
    if parent in NULL_TEXTS:  # null-as-text speaks
        return
    count = len(index.table(_DISPATCH.opener, _DISPATCH.field).of(parent))
    for line in index.table(_DISPATCH.opener, _RESUMES).of(parent)[:MOST]:
        run = index.runs[line.run]
        is_itself = line.fact(_DISPATCH.field) == parent
        # A run may resume what another run began, under the same id.
        own = len(run.table(_DISPATCH.opener, _DISPATCH.field).of(parent)) if is_itself else 0
        if own == count and not index.in_doubt_naming(line.run, _DISPATCH.field, parent):
            yield Resumption(line, run, is_itself)


def _all_resumptions(trace: WholeTrace) -> Iterator[object]:
    own, parent = map(EVENTS[_DISPATCH.opener].keeps.index, (_DISPATCH.field, _RESUMES))
    starts = [run.events(_DISPATCH.opener) for run in trace.index.runs.values()]
    started = {line.facts[own] for lines in starts for line in lines}
    started.add(None)
    for facts in map(facts_of, chain.from_iterable(starts)):
        if facts[parent] not in started or facts[parent] == facts[own]:
            yield facts[parent]


# Reviews


def _review(_: WholeTrace, line: Line) -> Iterable[Review]:
    return (Review(line),) if line.facts[_FILED] else ()


def _review_keys(mention: Mention) -> Iterable[Line]:
    return (mention.line,) if mention.is_a(_ROUND.closer) else ()


def _all_reviews(trace: WholeTrace) -> Iterator[tuple[Line, Review]]:
    # Many rounds file findings: to build each one by its key costs 1 % of judging a trace.
    for run in trace.index.runs.values():
        lines = run.by_event.get(_ROUND.closer, ())
        for line in compress(lines, map(itemgetter(_FILED), map(facts_of, lines))):
            yield line, Review(line)


# The numbers of rounds


def _number_keys(mention: Mention) -> Iterator[Line | None]:
    line, run = mention.line, mention.run
    numbered = run.table(_ROUND.opener, _DISPATCH.field)
    if mention.field == _DISPATCH.field:
        lines = numbered.of(mention.value)
        yield lines.after(line)
        if mention.is_a(_DISPATCH.opener):
            yield lines.first
    elif mention.is_a(_ROUND.opener):
        # Whether a round is started again decides whether the next one's number is judged.
        again = run.table(_ROUND.opener, _ROUND.field).beside(mention.value, line)[1]
        for start in (line, again):
            if start is not None:
                yield start
                yield numbered.of(start.fact(_DISPATCH.field)).after(start)


def _misnumbered(trace: WholeTrace, line: Line) -> Iterable[Misnumbered]:
    run, dispatch_id = trace.index.runs[line.run], line.text_fact(_DISPATCH.field)
    previous = run.table(_ROUND.opener, _DISPATCH.field).of(dispatch_id).before(line)
    expected = _number(previous) + 1 if previous is not None else 1
    if _number(line) == expected or _is_again(run, line):
        return
    if previous is None:
        if not run.table(_DISPATCH.opener, _DISPATCH.field).of(dispatch_id):
            return
    elif _is_again(run, previous):
        return
    unread = trace.index.in_doubt_naming(run.run_id, _DISPATCH.field, dispatch_id)
    if not any_between(unread, previous, line):
        yield Misnumbered(line, previous, expected)


def _number(start: Line) -> int:
    return cast("int", start.fact("round_number"))


def _is_again(run: RunIndex, line: Line) -> bool:
    return run.table(_ROUND.opener, _ROUND.field).first[line.fact(_ROUND.field)] is not line


def _all_misnumbered(trace: WholeTrace) -> Iterator[Line]:
    keeps = EVENTS[_ROUND.opener].keeps
    dispatch, number = keeps.index(_DISPATCH.field), keeps.index("round_number")
    for run in trace.index.runs.values():
        numbers: dict[object, int] = {}
        for line in run.by_event.get(_ROUND.opener, ()):
            facts = line.facts
            found = cast("int", facts[number])
            if numbers.get(facts[dispatch], 0) + 1 != found:
                yield line
            numbers[facts[dispatch]] = found


# Briefs


def _brief_keys(mention: Mention) -> Iterable[Hashable]:
    is_other = mention.event is not None and not mention.is_a(_BRIEF, _DISPATCH.opener)
    return () if is_other else ((mention.run.run_id, mention.value),)


def _briefs(trace: WholeTrace, key: tuple[str, str]) -> Iterator[Brief]:
    run_id, dispatch_id = key
    run = trace.run(run_id)
    if run is None or not run.table(_DISPATCH.opener, _DISPATCH.field).of(dispatch_id):
        return
    briefs = run.table(_BRIEF, _DISPATCH.field).of(dispatch_id)
    in_doubt = trace.index.in_doubt_naming(run_id, _DISPATCH.field, dispatch_id)
    if len(briefs) > MOST_BRIEFS or in_doubt:
        return
    hashes = [brief.text_fact("brief_content_hash") for brief in briefs]
    if not all(each in Form.SHA256 for each in hashes):
        return
    latest_with: dict[str, Line] = {}
    for line, content in zip(briefs, map(str.lower, hashes), strict=True):
        same = latest_with.get(content)
        first = briefs[0] if line is not briefs[0] else None
        expected = "initial" if first is None else "amended" if same is None else "reissue"
        if line.fact("brief_disposition") != expected:
            yield Brief(line, first, same, expected)
        latest_with[content] = line


def _all_briefs(trace: WholeTrace) -> Iterator[tuple[str, object]]:
    places = map(EVENTS[_BRIEF].keeps.index, _BRIEF_FACTS)
    pick = itemgetter(*places)
    for run in trace.index.runs.values():
        seen: dict[object, object] = {}
        begun: set[object] = set()
        for facts in map(facts_of, run.by_event.get(_BRIEF, ())):
            dispatch, content, found = pick(facts)
            content = content.lower()
            if dispatch not in begun:
                begun.add(dispatch)
                expected = "initial"
            elif content in seen:
                # In another dispatch first: whether in this one too is seen when it is built.
                expected = "reissue" if seen[content] == dispatch else ""
            else:
                expected = "amended"
            seen.setdefault(content, dispatch)
            if found != expected:
                yield run.run_id, dispatch


KINDS: Mapping[type[tuple[Any, ...]], EntityKind] = {
    Resumption: kind_of(
        (_DISPATCH.field, _RESUMES), _resumption_keys, _resumptions, _all_resumptions
    ),
    Review: EntityKind((_ROUND.field,), _review_keys, _review, _all_reviews),
    Misnumbered: kind_of(_IDS, _number_keys, _misnumbered, _all_misnumbered),
    Brief: kind_of((_DISPATCH.field,), _brief_keys, _briefs, _all_briefs),
}
