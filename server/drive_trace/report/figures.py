"""The figures of a report in words, and metrics as figures and tables."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from drive_trace.report.metrics import Breakdown, Figure, FigureUnit, Measured, Value
from drive_trace.scorecard.render import NO_SIGNAL
from drive_trace.text import document as doc
from drive_trace.text.wording import LONGEST, duration

UNREADABLE = "n/a (a timestamp cannot be read)"


class View(NamedTuple):
    """A metric as figures and tables."""

    figures: Sequence[str]
    """Each with its label."""
    tables: Sequence[tuple[str, doc.Table]]
    """Each with its caption."""


def view(measured: Measured, most: int) -> View:
    """A metric's figures, and its tables of at most ``most`` rows."""
    metric, value = measured
    if value is None:
        return View([f"value: n/a ({metric.no_signal})"], [])
    figures, tables = [], []
    for each in metric.shows:
        part = _at(value, each.at)
        if isinstance(each, Figure):
            figures.append(f"{each.label}: {quantity(part, each.unit)}")
        elif isinstance(part, Mapping | list) and part:
            tables.append((each.caption, _table(each, part, most)))
    return View(figures or ([] if tables else ["value: none recorded"]), tables)


def _table(shape: Breakdown, value: Mapping[str, Value] | list[Value], most: int) -> doc.Table:
    rows = [
        [doc.name(key, 80), *(_cell(_at(item, at), shape.unit) for _, at in shape.columns)]
        for key, item in islice(_items(value), most)
    ]
    headers = [shape.key, *(header for header, _ in shape.columns)]
    return doc.Table(headers, rows, numbers_from=1, left_out=len(value) - len(rows))


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
    if not math.isfinite(value) or abs(value) > LONGEST:
        return f"{_number(value)} ms"
    whole = round(value)
    return f"{duration(whole)} ({whole:,} ms)" if abs(whole) >= 1000 else f"{whole} ms"


def _number(value: float) -> str:
    if abs(value) > LONGEST:
        return f"{float(value):.3g}"
    return f"{value:,}" if isinstance(value, int) else f"{value:,.2f}"


def short_time(value: int | None) -> str:
    """``28m``, or ``n/a`` for a time without a value."""
    if value is None:
        return "n/a"
    return duration(value) if abs(value) <= LONGEST else f"{float(value):.3g} ms"
