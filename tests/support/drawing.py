"""How much the property tests draw."""

from __future__ import annotations

from hypothesis import settings


def examples(count: int) -> int:
    """So many of a test that needs more than others, or fewer; ten times as many in `make fuzz`."""
    return count if settings().derandomize else 10 * count
