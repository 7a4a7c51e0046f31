"""The entity of what was recorded of a trace, as in git's ``HEAD``, and is not there any more."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from operator import attrgetter
from typing import Any, NamedTuple

from drive_trace.json_text.lexemes import compacted, strings_named
from drive_trace.linter.entities import MOST, EntityKind, WholeTrace, kind_of
from drive_trace.trace.line import Line
from drive_trace.trace.mentions import feed_named, feed_with_fields
from drive_trace.trace.reading import read_exactly
from drive_trace.trace.recorded import Gap, RecordedLines

_ID = "event_id"
_order = attrgetter("order")


class Rewritten(NamedTuple):
    """A line that was recorded and now says something else; or up to all of a gap, as one. Of a
    trace, the first ones.

    Left out is what only looks different, and what readers rejected and is no feed's: such a line
    may be mended.
    """

    line: Line
    """The line as it is now; of a gap, the one above it or else the first one of the trace."""
    old: str
    """What was recorded, of a gap the first line."""
    number: int
    """Its number in what was recorded, from 1."""
    gone: int
    """So many lines of a gap are gone; 0 where the line is another one."""
    is_below: bool = True
    """Whether a gap is below the line."""


def _rewritten(trace: WholeTrace, _: object) -> Iterator[Rewritten]:
    recorded = trace.index.recorded
    if recorded is not None:
        for gap in islice(recorded.gaps(), MOST):
            yield from _of_gap(trace, recorded, gap)


def _of_gap(trace: WholeTrace, recorded: RecordedLines, gap: Gap) -> Iterator[Rewritten]:
    above = _line_with(trace, recorded.texts[gap.first - 1]) if gap.first else None
    start = bisect_right(trace.lines, above.order, key=_order) if above is not None else 0
    beside = [each for each in trace.lines[start : start + MOST] if not recorded.has(each)]
    gone, size = list[int](), min(gap.size, MOST)
    for place in range(gap.first, gap.first + size):
        old = recorded.texts[place]
        line = _instead_of(trace, recorded, old, beside)
        if line is None:
            if not _may_be_mended(old):
                gone.append(place)
        elif compacted(old) != compacted(line.text) and not _may_be_mended(old):
            yield Rewritten(line, old, place + 1, 0)
    count = len(gone) + gap.size - size
    if count:
        first = gone[0] if gone else gap.first + size
        line = above or trace.lines[0]
        yield Rewritten(line, recorded.texts[first], first + 1, count, above is not None)


def _id_of(text: str) -> str | None:
    return next((value for value, _ in strings_named(text, _ID)), None)


def _line_with(trace: WholeTrace, text: str) -> Line | None:
    lines = trace.index.event_ids.of(_id_of(text))
    return next((each for each in lines if each.text.removesuffix("\r") == text), None)


def _instead_of(
    trace: WholeTrace, recorded: RecordedLines, old: str, beside: Sequence[Line]
) -> Line | None:
    """The line that stands for one that was recorded: it has the same id, wherever it stands, or
    beside it if readers reject it.
    """
    event_id = _id_of(old)
    if event_id is None:
        return None
    lines = [each for each in trace.index.event_ids.of(event_id) if not recorded.has(each)]
    # Where several have the id, one of them may be the line as it was, laid out anew.
    same = compacted(old)
    alike = (each for each in lines[:MOST] if compacted(each.text) == same)
    odd = (each for each in beside if each.event is None and _id_of(each.text) == event_id)
    return next(alike, None) or next(iter(lines), None) or next(odd, None)


def _may_be_mended(old: str) -> bool:
    is_feed = feed_named(old) is not None or feed_with_fields(old) is not None
    return not is_feed and read_exactly(old).is_rejected


KINDS: Mapping[type[tuple[Any, ...]], EntityKind] = {
    Rewritten: kind_of((), lambda _: (), _rewritten),
}
