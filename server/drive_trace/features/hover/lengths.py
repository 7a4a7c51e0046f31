"""Lengths of time, and counts, as people read them."""

from __future__ import annotations

from drive_trace.text.wording import compact, duration

_HUGE = 10**15
"""From here on a number is some mistake, and its digits help nobody."""


def exact(milliseconds: int) -> str:
    """``1h 4m 5s``, ``28m 0s``, ``45.2s``, ``350ms``; of days no seconds."""
    if milliseconds < 0:
        return f"−{exact(-milliseconds)}"
    if milliseconds < 1000 or milliseconds >= _HUGE:
        return duration(milliseconds)
    if milliseconds < 60_000:
        return f"{milliseconds / 1000:.1f}s".replace(".0s", "s")
    minutes, seconds = divmod(milliseconds // 1000, 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    if days:
        return f"{days}d {hours}h {minutes}m"
    return f"{hours}h {minutes}m {seconds}s" if hours else f"{minutes}m {seconds}s"


def size(count: int) -> str:
    """``12.4 kB``, ``−1.2 MB``, ``950 B``."""
    if count < 0:
        return f"−{size(-count)}"
    if count >= _HUGE:
        return f"{compact(count)}B"
    for unit, suffix in ((10**9, "GB"), (10**6, "MB"), (10**3, "kB")):
        if count * 2000 >= unit * 1999:
            scaled = count / unit
            return f"{scaled:.1f} {suffix}" if scaled < 99.95 else f"{scaled:.0f} {suffix}"
    return f"{count} B"


def in_full(count: int) -> str:
    """A count with all its digits, unless these are a mistake."""
    return f"{count:,}" if abs(count) < _HUGE else compact(count)


def plural(count: int, what: str) -> str:
    """``1 round``, ``2 rounds``."""
    return f"{count:,} {what}{'s' * (count != 1)}"
