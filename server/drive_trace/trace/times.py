"""Timestamps as moments: ISO 8601, to the millisecond. Durations take a timestamp without a zone
for UTC. Comparisons do not use such a timestamp.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import TypeVar

Item = TypeVar("Item")

_MILLISECOND = timedelta(milliseconds=1)
_LENGTH = len("2026-05-28T14:00:00.000Z")
_FIRST, _END, _DECADE, _FAR_MORE = "2020", "2050", 10, 10
"""A clock that was set shows a year from the first on, and before the end. No run takes a decade;
so many times as many timestamps outweigh earlier ones.
"""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def milliseconds_between(start: str | None, end: str | None) -> int | None:
    """From one timestamp to another; None unless both are ISO 8601."""
    if start is None or end is None:
        return None
    if len(start) == len(end) == _LENGTH and start[19] + start[23] == end[19] + end[23] == ".Z":
        try:  # as nearly all: to the millisecond, in UTC
            return (datetime.fromisoformat(end) - datetime.fromisoformat(start)) // _MILLISECOND
        except ValueError:
            return None
    begin, finish = moment(start), moment(end)
    return None if begin is None or finish is None else (finish - begin) // _MILLISECOND


def epoch_milliseconds(ts: str | None) -> int | None:
    """Milliseconds since 1970 in UTC; None unless the timestamp is ISO 8601."""
    read = moment(ts) if ts is not None else None
    return (read - _EPOCH) // _MILLISECOND if read is not None else None


def sortable(ts: str) -> str | None:
    """A timestamp in a form whose strings sort as moments do; None unless it is ISO 8601 with a
    zone.
    """
    if len(ts) == _LENGTH and ts[0] == "2" and ts[10] == "T" and ts[23] == "Z":
        return ts  # as nearly all are; parsing each would take longer than all else
    read = _read(ts)
    if read is None or read.tzinfo is None:
        return None
    try:
        utc = read.astimezone(UTC)
    except OverflowError:
        return None
    return f"{utc.replace(tzinfo=None).isoformat(timespec='milliseconds')}Z"


def latest_recorded(items: Iterable[Item], ts: Callable[[Item], str]) -> Item | None:
    """The event of several files' that counts: the one with the latest timestamp, compared as
    strings as readers do, and on a tie that of the later file. None if there is none.
    """
    return max(reversed([*items]), key=ts, default=None)


def is_later(one: str, other: str) -> bool:
    """Whether one timestamp is later than another, beyond doubt."""
    moment, earlier = sortable(one), sortable(other)
    return moment is not None and earlier is not None and moment > earlier


def year_of(stamps: Sequence[str]) -> int | None:
    """The year of a run, given its timestamps, sorted: the one around which most of them lie; of
    years that are a decade or more apart an early one, unless far more are late. None if none can
    be right.
    """
    late = [int(ts[:4]) for ts in stamps if _FIRST <= ts < _END and ts[:4].isdecimal()]
    early: list[int] = []
    while late and len(late) >= len(early) * _FAR_MORE:
        early = [year for year in late if year < late[0] + _DECADE]
        late = late[len(early) :]
    counts = Counter(early)
    return max(counts, key=lambda year: sum(counts[year + by] for by in (-1, 0, 1)), default=None)


def is_of_year(ts: str, year: int | None) -> bool:
    """Whether a timestamp can be of a run of that year: it is, or of the one before or after."""
    return year is not None and str(year - 1) <= ts[:4] <= str(year + 1) and _FIRST <= ts < _END


def moment(ts: str) -> datetime | None:
    """When a timestamp was; None unless it is ISO 8601."""
    read = _read(ts)
    if read is None:
        return None
    if read.tzinfo is None:
        read = read.replace(tzinfo=UTC)
    below = read.microsecond % 1000
    return read.replace(microsecond=read.microsecond - below) if below else read


def _read(ts: str) -> datetime | None:
    try:
        return datetime.fromisoformat(ts)
    except ValueError:
        return None
