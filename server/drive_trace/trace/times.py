"""Timestamps as moments: ISO 8601, to the millisecond; without a zone it is UTC."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

_MILLISECOND = timedelta(milliseconds=1)


def milliseconds_between(start: str | None, end: str | None) -> int | None:
    """From one timestamp to another; None unless both are ISO 8601."""
    if start is None or end is None:
        return None
    begin, finish = moment(start), moment(end)
    if begin is None or finish is None:
        return None
    return (finish - begin) // _MILLISECOND


def moment(ts: str) -> datetime | None:
    """When a timestamp was; None unless it is ISO 8601."""
    try:
        read = datetime.fromisoformat(ts)
    except ValueError:
        return None
    if read.tzinfo is None:
        read = read.replace(tzinfo=UTC)
    return read.replace(microsecond=read.microsecond // 1000 * 1000)
