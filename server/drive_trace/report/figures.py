"""Metrics and dispatches as figures and tables, for whatever renders a report.

First cells of rows, and the text of paths and names, are untrusted: who renders
them escapes them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from drive_trace.report.event_log import Event
from drive_trace.report.metrics import Breakdown, Figure, FigureUnit, Measured, Value
from drive_trace.report.timeline import DispatchSpan
from drive_trace.scorecard.card import RunScore
from drive_trace.scorecard.render import NO_SIGNAL, clocked
from drive_trace.text.escaping import plain
from drive_trace.text.wording import compact, duration

UNREADABLE = "n/a (a timestamp cannot be read)"
_LONGEST = 10**15
"""Milliseconds beyond this are some mistake, and shown as a bare number."""


class FigureTable(NamedTuple):
    """Rows under headers; the first cell of a row names it, and is untrusted."""

    caption: str
    headers: Sequence[str]
    rows: Sequence[Sequence[str]]
    left_out: int
    """How many more rows there are."""


class View(NamedTuple):
    """A metric as figures and tables."""

    figures: Sequence[tuple[str, str]]
    """Label and value."""
    tables: Sequence[FigureTable]


def view(measured: Measured, most: int) -> View:
    """A metric's figures, and its tables of at most ``most`` rows."""
    metric, value = measured
    if value is None:
        return View([("value", f"n/a ({metric.no_signal})")], [])
    figures, tables = [], []
    for each in metric.shows:
        part = _at(value, each.at)
        if isinstance(each, Figure):
            figures.append((each.label, quantity(part, each.unit)))
        else:
            tables.append(_table(each, part, most))
    if not figures and not any(table.rows for table in tables):
        figures.append(("value", "none recorded"))
    return View(figures, [table for table in tables if table.rows])


def _table(shape: Breakdown, value: Value, most: int) -> FigureTable:
    rows = [
        [name, *(_cell(_at(item, at), shape.unit) for _, at in shape.columns)]
        for name, item in islice(_items(value), most)
    ]
    headers = [shape.key, *(header for header, _ in shape.columns)]
    count = len(value) if isinstance(value, Mapping | list) else 0
    return FigureTable(shape.caption, headers, rows, max(0, count - most))


def _items(value: Value) -> Iterator[tuple[str, Value]]:
    """The rows of an object, or of a list of objects whose first value names each."""
    if isinstance(value, Mapping):
        yield from ((str(key), item) for key, item in value.items())
    elif isinstance(value, list):
        yield from ((str(next(iter(item.values()))), item) for item in value)


def _at(value: Value, path: Sequence[str]) -> Value:
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def _cell(value: Value, unit: FigureUnit) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if value is None:
        # A count that stands in no table is of events, of which there were none.
        return "0" if unit is FigureUnit.COUNT else UNREADABLE
    return quantity(value, unit)


def quantity(value: Value, unit: FigureUnit) -> str:
    """One figure with its unit."""
    if value is None:
        return NO_SIGNAL
    if not isinstance(value, int | float):
        return str(value)
    if unit is FigureUnit.SHARE:
        return f"{value:.0%}"
    if unit is FigureUnit.MILLISECONDS:
        return milliseconds(value)
    return _number(value)


def milliseconds(value: float | None) -> str:
    """``28m (1,720,000 ms)``."""
    if value is None:
        return NO_SIGNAL
    if not math.isfinite(value) or abs(value) > _LONGEST:
        return f"{_number(value)} ms"
    whole = round(value)
    return f"{duration(whole)} ({whole:,} ms)" if abs(whole) >= 1000 else f"{whole} ms"


def _number(value: float) -> str:
    if abs(value) > _LONGEST:
        return f"{float(value):.3g}"
    return f"{value:,}" if isinstance(value, int) else f"{value:,.2f}"


# Dispatches

DISPATCH_HEADERS = (
    "dispatch",
    "model",
    "result",
    "rounds",
    "verdicts of rounds",
    "claimed",
    "by the clock",
)


def dispatch_rows(dispatches: Sequence[DispatchSpan]) -> list[list[str]]:
    """The dispatches of a run as rows under :data:`DISPATCH_HEADERS`; names are untrusted."""
    return [
        [
            dispatch_name(each),
            each.model or "not recorded",
            each.said or "no end recorded",
            f"{each.round_starts:,}",
            ", ".join(span.said or "no end recorded" for span in each.rounds) or "none recorded",
            short_time(each.claimed_ms) + " (more than the clock)" * claims_more(each),
            short_time(each.clock_ms),
        ]
        for each in dispatches
    ]


def dispatch_name(dispatch: DispatchSpan) -> str:
    """What people call a dispatch; untrusted."""
    return dispatch.name or dispatch.dispatch_id


def short_time(value: int | None) -> str:
    """``28m``, or ``n/a`` for a time without a value."""
    if value is None:
        return "n/a"
    return duration(value) if abs(value) <= _LONGEST else f"{float(value):.3g} ms"


def claims_more(dispatch: DispatchSpan) -> bool:
    """Whether the author claims clearly more time than the clock allows: over 2 s and 2 %."""
    claimed, clock = dispatch.claimed_ms, dispatch.clock_ms
    if claimed is None or clock is None:
        return False
    return claimed - clock > max(2000, clock // 50)


def chosen(dispatches: Sequence[DispatchSpan], most: int) -> list[DispatchSpan]:
    """At most ``most`` dispatches, in order: those with the most rounds, then the first."""
    if len(dispatches) <= most:
        return list(dispatches)
    ranked = sorted(range(len(dispatches)), key=lambda at: (-dispatches[at].round_starts, at))
    return [dispatches[at] for at in sorted(ranked[:most])]


def cut_dispatches(every: Sequence[DispatchSpan], shown: Sequence[DispatchSpan]) -> str | None:
    """A sentence on the dispatches that are not shown; None if all are."""
    if len(shown) == len(every):
        return None
    return (
        f"{len(shown)} of {len(every):,} dispatches are shown, those with the most rounds; "
        "the JSON report has them all."
    )


# Runs


def run_figures(run: RunScore) -> list[tuple[float, str]]:
    """Tokens, wall-clock and rounds, each to sort by and in words. Tier 2 is for CORRECT runs."""
    efficiency = run.efficiency
    if efficiency is None:
        return [(-1, "hidden")] * 3
    tokens = [efficiency.tokens[f"{name}_tokens"] for name in ("input", "output")]
    said = " / ".join("n/a" if each is None else compact(each) for each in tokens)
    clock, rounds = efficiency.wall_clock, efficiency.rounds.mean
    took = "n/a" if clock.ms is None else f"{duration(clock.ms)} ({clocked(clock)})"
    return [
        (sum(each or 0 for each in tokens), said),
        (-1 if clock.ms is None else clock.ms, took),
        (-1, "n/a") if rounds is None else (rounds, f"{rounds:.1f}"),
    ]


def last_event(events: Sequence[Event]) -> tuple[str, str]:
    """``2026-06-08 14:19`` and ``dispatch-end``; empty if there is none. The time is what a
    stranger wrote: any text.
    """
    last = max(events, key=lambda event: event.ts, default=None)
    return ("", "") if last is None else (plain(last.ts[:16]).replace("T", " "), last.name)
