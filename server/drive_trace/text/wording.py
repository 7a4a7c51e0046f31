"""How counts, lists and values are worded in messages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from drive_trace.text.escaping import printable


def plural(count: int, what: str) -> str:
    """``1 round``, ``2,000 rounds``."""
    return f"{count:,} {what}{'s' * (count != 1)}"


def are(count: int) -> str:
    """``is`` or ``are``."""
    return "is" if count == 1 else "are"


def listed(names: Iterable[str], last: str = "and") -> str:
    """``mechanical, qa and intent``; nothing for nothing."""
    *others, final = [*names] or [""]
    return f"{', '.join(others)} {last} {final}" if others else final


def first_of(names: Sequence[object], most: int) -> str:
    """At most ``most`` of the names: ``1, 2, 3 and 7 more``."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(map(str, names[:most])) + more


def numbered_lines(numbers: Sequence[int], most: int) -> str:
    """``line 3``, or ``lines 1, 2, 3 and 7 more``."""
    return f"line{'s' * (len(numbers) != 1)} {first_of(numbers, most)}"


def shown(value: object) -> str:
    """A value in a message: short, and with nothing in it that could mislead."""
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case str():
            return f'"{printable(value)}"'
        case list():
            return "an array"
        case dict():
            return "an object"
        case float() if abs(value) == float("inf"):
            return "a number too large for a double"
    return printable(str(value))
