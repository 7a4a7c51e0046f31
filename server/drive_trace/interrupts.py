"""Ctrl-C: a command ends with exit code 130, and prints nothing."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from typing import NoReturn

EXIT_INTERRUPTED = 130


class Interrupted(BaseException):
    """Somebody pressed Ctrl-C. No KeyboardInterrupt: click would make exit code 1 of that."""


def end_when_interrupted() -> None:
    """From now on Ctrl-C ends the process at once: there is nothing to undo."""
    _handle(_end)


def raise_when_interrupted() -> None:
    """From now on Ctrl-C raises Interrupted, once, so that callers can undo what they began."""
    _handle(_raise)


def _handle(handler: Callable[..., NoReturn]) -> None:
    # The parent process may want it ignored, as a shell does for a background job.
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, handler)


def _end(*_: object) -> NoReturn:
    os._exit(EXIT_INTERRUPTED)


def _raise(*_: object) -> NoReturn:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    raise Interrupted
