"""How much the property tests draw."""

from __future__ import annotations

from hypothesis import settings


def examples(count: int) -> int:
    """So many of a test that needs more than others, or fewer: as many times more in `make fuzz` as
    others have there.
    """
    return count * settings().max_examples // 100
