"""That work costs no more than its size allows, held against the same work on less of the same.

It is measured in the processor's time of this thread, which a busy machine hardly changes, and as
a ratio, which a slow one does not change.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from time import thread_time

TIMES = 4
"""How much larger the larger one is: what is quadratic costs 16 times as much."""
MOST = 9
"""So many times as much is still no square; the rest is the machine's caches."""
NOTHING = 0.05
"""So few seconds of the processor say nothing of how work grows."""
TRIES = 3


def assert_linear(prepare: Callable[[int], Callable[[], object]], size: int) -> None:
    """Hold that what is prepared for ``size`` grows no faster than the size."""
    measured = []
    for _ in range(TRIES):
        small, large = _cost(prepare(size // TIMES)), _cost(prepare(size))
        if large < NOTHING or large < small * MOST:
            return
        measured.append(f"{small:.3f} s, and {large:.3f} s for {TIMES} times as much")
    raise AssertionError("; ".join(measured))


def _cost(work: Callable[[], object]) -> float:
    gc.collect()
    started = thread_time()
    work()
    return thread_time() - started
