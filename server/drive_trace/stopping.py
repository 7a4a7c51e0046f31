"""Long work in a thread, which stops soon once nobody wants its result any more, and keeps nobody
waiting; and commands, which Ctrl-C ends.
"""

import functools
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NoReturn, TypeVar

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


# Ctrl-C: a command ends with exit code 130, and prints nothing, but where a gate ran

EXIT_INTERRUPTED = 130


class Interrupted(BaseException):
    """Somebody pressed Ctrl-C. No KeyboardInterrupt: click would make exit code 1 of that."""


def end_when_interrupted() -> None:
    """From now on Ctrl-C ends the process at once: there is nothing to undo."""
    _handle(lambda *_: os._exit(EXIT_INTERRUPTED))


def raise_when_interrupted() -> None:
    """From now on Ctrl-C raises Interrupted, once, so that callers can undo what they began."""
    _handle(_raise)


@contextmanager
def raising_when_ended() -> Iterator[None]:
    """Raise Interrupted when somebody ends the process: what it has started ends with it."""
    numbers = [getattr(signal, each) for each in ("SIGTERM", "SIGHUP") if hasattr(signal, each)]
    if threading.current_thread() is not threading.main_thread():
        numbers = []  # only the main thread gets signals
    before = {number: signal.signal(number, _raise) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _handle(handler: Callable[..., NoReturn]) -> None:
    # The parent process may want it ignored, as a shell does for a background job.
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, handler)


def _raise(*_: object) -> NoReturn:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    raise Interrupted
