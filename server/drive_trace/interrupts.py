"""What Ctrl-C does: a command ends with 130, and without a word."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from typing import NoReturn

EXIT_INTERRUPTED = 130


class Interrupted(BaseException):
    """Somebody pressed Ctrl-C. No KeyboardInterrupt: click would make exit code 1 of that."""


def end_when_interrupted() -> None:
    """End at once, from now on: there is nothing to take back."""
    _handle(_end)


def raise_when_interrupted() -> None:
    """Raise Interrupted, once, from now on: what was begun is taken back."""
    _handle(_raise)


def _handle(handler: Callable[..., NoReturn]) -> None:
    # Whoever started us may want it ignored, as a shell does for what runs in the background.
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, handler)


def _end(*_: object) -> NoReturn:
    os._exit(EXIT_INTERRUPTED)


def _raise(*_: object) -> NoReturn:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    raise Interrupted
