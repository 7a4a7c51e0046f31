"""How a run's events were written: as they happened, afterwards, or by hand. Information for a
reader of the trace, with its evidence; never a grade, and no verdict depends on it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum
from operator import itemgetter
from typing import NamedTuple, cast

from drive_trace.text.wording import plural
from drive_trace.trace.durations import TIMED, TimeSpan
from drive_trace.trace.line import Line
from drive_trace.trace.run import Run
from drive_trace.trace.times import milliseconds_between
from drive_trace.vocabulary import ALWAYS_KEPT, EVENTS, Form, looks_invented

_MOST = 8
"""Of each event of a run, so many of the first and of the last ones are looked at."""
_FEWEST = 3
"""Fewer events show no habit."""
_event_id_of = itemgetter(ALWAYS_KEPT.index("event_id"))
_ts_of = itemgetter(ALWAYS_KEPT.index("ts"))
_FULL_MINUTE = (":00.000Z", ":00Z")


class Origin(StrEnum):
    """How a run's events were written."""

    NATIVE = "native"
    """As they happened: no sign of anything else."""
    BACK_FILLED = "back-filled"
    """Afterwards: most ends stand at the moment of their start, and claim minutes."""
    HAND_WRITTEN = "hand-written"
    """By hand: most ids are not random, or most times are on full minutes."""


class Provenance(NamedTuple):
    """What the events of a run that were looked at show. Those of several files add up."""

    events: int = 0
    """So many were looked at; none of a feed, as others record these."""
    odd_ids: int = 0
    """So many ``event_id`` are no random UUIDs."""
    full_minutes: int = 0
    """So many ``ts`` are on a full minute."""
    ends: int = 0
    """The ends of dispatches and rounds among them that follow their start."""
    afterwards: int = 0
    """So many of these stand at the moment of their start, and claim minutes."""

    def plus(self, other: Provenance) -> Provenance:
        """Both together."""
        return Provenance(*map(sum, zip(self, other, strict=True)))

    @property
    def origin(self) -> Origin | None:
        """What most of the events show; None where they are too few."""
        if self.events < _FEWEST:
            return None
        if 2 * max(self.odd_ids, self.full_minutes) >= self.events:
            return Origin.HAND_WRITTEN
        is_filled = self.ends and 2 * self.afterwards >= self.ends
        return Origin.BACK_FILLED if is_filled else Origin.NATIVE

    @property
    def evidence(self) -> Sequence[str]:
        """What speaks for something else than native, a phrase each."""
        events = plural(self.events, "event")
        phrases = (
            (self.odd_ids, f"of {events}, {self.odd_ids:,} have an id that is no random UUID"),
            (self.full_minutes, f"of {events}, {self.full_minutes:,} are timed on a full minute"),
            (
                self.afterwards,
                f"of {plural(self.ends, 'end')} of dispatches and rounds, {self.afterwards:,} "
                "stand at the moment of the start and claim minutes",
            ),
        )
        return [phrase for count, phrase in phrases if count]

    @property
    def sentence(self) -> str | None:
        """All of it for people; None where there is nothing to say."""
        if self.origin is None:
            return None
        because = (
            "; ".join(self.evidence) or f"no sign of another in {plural(self.events, 'event')}"
        )
        return f"Provenance: {self.origin} ({because})."


def provenance(run: Run) -> Provenance:
    """How a run's events of one trace were written. Costs the same for a run of any length."""
    own = (lines for name, lines in run.by_event.items() if not EVENTS[name].is_feed)
    facts = [line.facts for each in own for line in _some(each)]
    spans = list(_spans(run))
    return Provenance(
        events=len(facts),
        odd_ids=sum(map(_is_odd, map(_event_id_of, facts))),
        full_minutes=sum([ts.endswith(_FULL_MINUTE) for ts in map(_ts_of, facts)]),
        ends=len(spans),
        afterwards=sum(span.is_recorded_afterwards for span in spans),
    )


def _some(lines: Sequence[Line]) -> Sequence[Line]:
    return lines if len(lines) <= 2 * _MOST else [*lines[:_MOST], *lines[-_MOST:]]


def _is_odd(event_id: str) -> bool:
    return event_id not in Form.UUID or looks_invented(event_id.replace("-", ""))


def _spans(run: Run) -> Iterator[TimeSpan]:
    """The ways from a start to the end that most likely is its own: no table is needed for that."""
    for of in TIMED:
        for end in _some(run.events(of.closer)):
            start = run.events(of.opener).before(end)
            if start is not None and start.fact(of.field) == end.fact(of.field):
                measured = milliseconds_between(start.text_fact("ts"), end.text_fact("ts"))
                if measured is not None and measured >= 0:
                    yield TimeSpan(start, end, cast("int", end.fact("wall_clock_ms")), measured)
