"""When something was: in words, where the reader is, and how long after what."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from drive_trace.features.hover.entities import named
from drive_trace.features.hover.lengths import exact, plural
from drive_trace.features.hover.pointed import Pointed, run_at
from drive_trace.features.hover.references import text_at
from drive_trace.text.escaping import code
from drive_trace.trace.line import Line, run_of
from drive_trace.trace.times import milliseconds_between, moment
from drive_trace.vocabulary import LIFETIMES, Entity

_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_UNITS = (
    (365 * 86_400, "year"),
    (30 * 86_400, "month"),
    (86_400, "day"),
    (3_600, "hour"),
    (60, "minute"),
)
_DISPATCH = LIFETIMES[Entity.DISPATCH]


def about_moment(at: Pointed) -> str | None:
    """What a timestamp says; None where it is none."""
    if not isinstance(at.value, str):
        return None
    when = moment(at.value)
    if when is None:
        return None
    try:
        said = f"**{_in_words(when.astimezone(UTC))} UTC**{_local(at, when)}"
    except (OverflowError, ValueError, OSError):  # on the verge of what a calendar holds
        return None
    now = at.options.now
    lines = [said + (f" · {_related(when, now)}" if now is not None else "")]
    for what, line in _landmarks(at):
        passed = milliseconds_between(text_at(line, "ts"), at.value)
        if passed is not None:
            sign = "+" if passed >= 0 else ""
            lines.append(f"- **{sign}{exact(passed)}** since {what} ({at.link(line)})")
    return "\n".join([lines[0], "", *lines[1:]]).rstrip()


def _landmarks(at: Pointed) -> Iterator[tuple[str, Line]]:
    """What happened before the event: the starts of its run and dispatch, and the last thing."""
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
    found = named(at.analysis, at.line, at.event.fields[_DISPATCH.field], value)
    return found.starts.before(at.line) if found is not None else None


def _dispatch_words(start: Line | None) -> str:
    name = start.text_fact("dispatch_name") if start is not None else ""
    return f"the start of {code(name, 60)}"


def _in_words(when: datetime) -> str:
    return (
        f"{_DAYS[when.weekday()]} {when.day} {_MONTHS[when.month - 1]} {when.year}, {when:%H:%M:%S}"
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
