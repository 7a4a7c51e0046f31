"""That work costs no more than its size allows, held against the same work on less of the same.

It is measured in the processor's time of this thread, which a busy machine hardly changes, and as
a ratio, which a slow one does not change.
"""

import gc
from collections.abc import Callable, Mapping
from time import thread_time

Work = Callable[[], object]

TIMES = 4
"""How much larger the larger one is: what is quadratic costs 16 times as much."""
MOST = 9
"""So many times as much is still no square; the rest is the machine's caches."""
NOTHING = 0.1
"""So few seconds of the processor say nothing of how work grows."""
TRIES = 3


def assert_linear(prepare: Callable[[int], Work], size: int) -> None:
    """Hold that what is prepared for ``size`` grows no faster than the size."""
    assert_all_linear(lambda size: {"this": prepare(size)}, size)


def assert_all_linear(prepare: Callable[[int], Mapping[str, Work]], size: int) -> None:
    """The same of several things that are done one after the other, by their names."""
    grown: dict[str, str] = {}
    for _ in range(TRIES):
        small, large = _costs(prepare(size // TIMES)), _costs(prepare(size))
        grown = {
            name: f"{small[name]:.3f} s, and {cost:.3f} s for {TIMES} times as much"
            for name, cost in large.items()
            if cost > NOTHING and cost > small[name] * MOST
        }
        if not grown:
            return
    raise AssertionError(grown)


def _costs(works: Mapping[str, Work]) -> dict[str, float]:
    return {name: _cost(work) for name, work in works.items()}


def _cost(work: Work) -> float:
    # A collection walks all that the tests before this one have left behind.
    gc.disable()
    try:
        started = thread_time()
        work()
        return thread_time() - started
    finally:
        gc.enable()
