"""Long work in a thread, which stops soon once nobody wants its result any more, and keeps nobody
waiting.
"""

import functools
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

if TYPE_CHECKING or sys.version_info >= (3, 12):
    cached_property = functools.cached_property
else:

    class cached_property(functools.cached_property):  # noqa: N801 - it stands for that one
        """Without its lock, which is one for all objects in Python 3.11: whatever asks for it of a
        small trace would wait for a thread that makes it of a large one.
        """

        def __get__(self, instance, owner=None):
            if instance is None:
                return self
            made = instance.__dict__[self.attrname] = self.func(instance)
            return made


_own = threading.local()


class StoppedError(Exception):
    """Nobody wants the result any more."""


def stoppable(stop: threading.Event, work: Callable[[], Result]) -> Result:
    """The result of some work in this thread. Raises StoppedError soon after ``stop`` is set."""
    _own.stop = stop
    try:
        return work()
    finally:
        del _own.stop


def unless_stopped(items: Iterable[Item]) -> Iterator[Item]:
    """The items of a loop that may be long. Raises StoppedError before the next one once the work
    around it is stopped; for everybody else they are just the items.
    """
    stop: threading.Event | None = getattr(_own, "stop", None)
    return iter(items) if stop is None else _until(stop, items)


def _until(stop: threading.Event, items: Iterable[Item]) -> Iterator[Item]:
    for item in items:
        if stop.is_set():
            raise StoppedError
        yield item
