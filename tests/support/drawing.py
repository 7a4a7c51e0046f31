"""How much the property tests draw."""

from hypothesis import settings


def examples(count: int, explored: int | None = None) -> int:
    """So many of a test that needs more than others, or fewer: as many times more in `make fuzz` as
    others have there, or ``explored`` in a whole pass of it.
    """
    times = settings().max_examples // 100
    return explored if explored is not None and times > 1 else count * times
