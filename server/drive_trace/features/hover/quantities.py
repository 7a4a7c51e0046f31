"""The meaning of numbers and timestamps: in full, in words, and compared with the clock."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from drive_trace.analysis import Analysis
from drive_trace.features.hover.pointed import Pointed, referent_of, run_at, text_at
from drive_trace.linter.rules import wall_clock_below_timestamps, wall_clock_exceeds_timestamps
from drive_trace.text.escaping import code
from drive_trace.text.wording import LONGEST, MONTHS, compact, duration, plural
from drive_trace.trace.durations import TimeSpan, span_ended_by
from drive_trace.trace.line import Line, run_of
from drive_trace.trace.places import Place
from drive_trace.trace.times import milliseconds_between, moment
from drive_trace.vocabulary import LIFETIMES, Entity


def size(count: int) -> str:
    """``12.4 kB``, ``−1.2 MB``, ``950 B``."""
    if count < 0:
        return f"−{size(-count)}"
    if count >= LONGEST:
        return f"{compact(count)}B"
    for unit, suffix in ((10**9, "GB"), (10**6, "MB"), (10**3, "kB")):
        if count * 2000 >= unit * 1999:
            scaled = count / unit
            return f"{scaled:.1f} {suffix}" if scaled < 99.95 else f"{scaled:.0f} {suffix}"
    return f"{count} B"


def in_full(count: int) -> str:
    """A count with all its digits, unless these are a mistake."""
    return f"{count:,}" if abs(count) < LONGEST else compact(count)


# Numbers


_LONG = 1000
"""Smaller numbers are easy to read."""


def about_quantity(at: Pointed) -> str | None:
    """A number with a unit; None if there is nothing to add to it."""
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
        return duration(value)
    return size(value) if unit == "bytes" else compact(value)


def _clock(at: Pointed, value: int) -> str | None:
    found = measured(at.analysis, at.line)
    if found is None:
        return None
    between = f"from {at.link(found.start)} to {at.link(found.end)}"
    text = f"The clock says **{duration(found.measured_ms)}**, {between}"
    if not is_off(at.analysis, found):
        return f"{text}."
    how = "less" if found.excess_ms > 0 else "more"
    return f"{text}: {duration(abs(found.measured_ms - value))} {how}."


def measured(analysis: Analysis, line: Line) -> TimeSpan | None:
    """The claimed duration of a dispatch or round, and the one by the timestamps."""
    return span_ended_by(analysis.index.runs[line.run], line) if line.event is not None else None


def is_off(analysis: Analysis, found: TimeSpan) -> bool:
    """Whether a claimed duration is far from the one by the timestamps, by the options of the rules
    that compare them, even if these rules are off.
    """
    exceeds = found.excess_ms > 0
    module = wall_clock_exceeds_timestamps if exceeds else wall_clock_below_timestamps
    return found.is_off(**analysis.options_of(module.RULE))


# Moments


_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_UNITS = (
    (365 * 86_400, "year"),
    (30 * 86_400, "month"),
    (86_400, "day"),
    (3_600, "hour"),
    (60, "minute"),
)
_DISPATCH = LIFETIMES[Entity.DISPATCH]


def about_moment(at: Pointed) -> str | None:
    """A timestamp in words; None if it is invalid."""
    if not isinstance(at.value, str):
        return None
    when = moment(at.value)
    if when is None:
        return None
    try:
        text = f"**{_in_words(when.astimezone(UTC))} UTC**{_local(at, when)}"
    except (OverflowError, ValueError, OSError):  # at the limits of the calendar
        return None
    now = at.options.now
    lines = [text + (f" · {_related(when, now)}" if now is not None else "")]
    for what, line in _landmarks(at):
        passed = milliseconds_between(text_at(line, "ts"), at.value)
        if passed is not None:
            sign = "+" if passed >= 0 else ""
            lines.append(f"- **{sign}{duration(passed)}** since {what} ({at.link(line)})")
    return "\n".join([lines[0], "", *lines[1:]]).rstrip()


def _landmarks(at: Pointed) -> Iterator[tuple[str, Line]]:
    """Earlier events: the starts of its run and its dispatch, and the event before."""
    run = run_at(at.analysis, run_of(at.line))
    if run is None:
        return
    seen = [at.line]
    first, start, before = run.first_line, _dispatch_start(at), run.lines.before(at.line)
    for what, line in (("the run's start", first), (_dispatch_words(start), start)):
        if line is not None and line.order < at.line.order and line not in seen:
            seen.append(line)
            yield what, line
    if before is not None and before not in seen:
        yield "the event before", before


def _dispatch_start(at: Pointed) -> Line | None:
    value = text_at(at.line, _DISPATCH.field)
    if at.event is None or value is None or _DISPATCH.field not in at.event.fields:
        return None
    found = referent_of(at.analysis, at.line, at.event.fields[_DISPATCH.field], value)
    return found.starts.before(at.line) if found is not None else None


def _dispatch_words(start: Line | None) -> str:
    name = start.text_fact("dispatch_name") if start is not None else ""
    return f"the start of {code(name, 60)}"


def _in_words(when: datetime) -> str:
    return (
        f"{_DAYS[when.weekday()]} {when.day} {MONTHS[when.month - 1]} {when.year}, {when:%H:%M:%S}"
    )


def _local(at: Pointed, when: datetime) -> str:
    """The reader's time, unless it is the same."""
    local = when.astimezone(at.options.zone)
    offset = local.utcoffset()
    if not offset:
        return ""
    minutes = int(offset.total_seconds()) // 60
    zone = f"UTC{'+' if minutes >= 0 else '−'}{abs(minutes) // 60}"
    zone += f":{abs(minutes) % 60:02}" if minutes % 60 else ""
    day = "" if local.date() == when.astimezone(UTC).date() else f"{_DAYS[local.weekday()]} "
    return f" · {day}{local:%H:%M} local ({zone})"


def _related(when: datetime, now: datetime) -> str:
    seconds = int((now - when).total_seconds())
    for size, unit in _UNITS:
        if abs(seconds) >= size:
            count = plural(abs(seconds) // size, unit)
            return f"{count} ago" if seconds > 0 else f"in {count}"
    return "just now"
