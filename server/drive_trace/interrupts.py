"""Ctrl-C: a command ends with exit code 130, and prints nothing, but where a gate ran."""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NoReturn

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
