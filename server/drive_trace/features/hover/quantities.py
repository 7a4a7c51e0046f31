"""What numbers mean: durations beside the clock, tokens and bytes in full and in short."""

from __future__ import annotations

from drive_trace.features.hover.entities import is_off, measured
from drive_trace.features.hover.lengths import exact, in_full, size
from drive_trace.features.hover.pointed import Pointed
from drive_trace.text.wording import compact
from drive_trace.trace.places import Place

_LONG = 1000
"""Numbers that are shorter are read as they stand."""


def about_quantity(at: Pointed) -> str | None:
    """A number with a unit; None where there is nothing to add to it."""
    field, value = at.field, at.value
    if field is None or not field.unit or not isinstance(value, int) or isinstance(value, bool):
        return None
    parts = []
    if abs(value) >= _LONG:
        parts.append(f"= {in_full(value)} {field.unit} · {_short(value, field.unit)}")
    clock = _clock(at, value) if at.place == Place.value("wall_clock_ms") else None
    return "\n\n".join([*parts, clock] if clock else parts) or None


def _short(value: int, unit: str) -> str:
    if unit == "milliseconds":
        return exact(value)
    return size(value) if unit == "bytes" else compact(value)


def _clock(at: Pointed, value: int) -> str | None:
    found = measured(at.analysis, at.line)
    if found is None:
        return None
    between = f"from {at.link(found.start)} to {at.link(found.end)}"
    said = f"The clock says **{exact(found.measured_ms)}**, {between}"
    if not is_off(at.analysis, found):
        return f"{said}."
    how = "less" if found.excess_ms > 0 else "more"
    return f"{said}: {exact(abs(found.measured_ms - value))} {how}."
