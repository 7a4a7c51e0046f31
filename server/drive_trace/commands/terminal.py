"""What is done for a person at a terminal, and for nobody else: width, colours, progress."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable, Iterator
from time import monotonic
from typing import Any, TextIO, TypeVar

import click

T = TypeVar("T")

_STYLES: dict[str, dict[str, Any]] = {
    "correct": {"fg": "green", "bold": True},
    "qualified": {"fg": "yellow", "bold": True},
    "incorrect": {"fg": "red", "bold": True},
    "not-computable": {"bold": True},
    "heading": {"dim": True},
    "soft": {"dim": True},
    "warning": {"fg": "yellow"},
}
_WIDEST = 100
_PATIENCE = 0.5
"""Seconds that something may take before there is word of it."""
_PAUSE = 0.1


def is_terminal(stream: TextIO | None) -> bool:
    """Whether a person reads the stream."""
    return stream is not None and stream.isatty()


def columns() -> int:
    """How wide a table may be."""
    return min(shutil.get_terminal_size().columns, _WIDEST)


def paint(text: str, role: str) -> str:
    """The text in the colours of its role; click takes them out where no colour is wanted."""
    return click.style(text, **_STYLES[role])


class Progress:
    """Tells on standard error how far something is that takes long; on a terminal only."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._shown = 0
        """How many columns the present line takes."""

    def over(self, items: Iterable[T]) -> Iterator[T]:
        """The items, one after another."""
        if not is_terminal(sys.stderr):
            yield from items
            return
        everything = list(items)
        due = monotonic() + _PATIENCE
        for number, item in enumerate(everything, 1):
            if monotonic() >= due:
                self._show(f"{self._what}: {number:,} of {len(everything):,}")
                due = monotonic() + _PAUSE
            yield item
        self.clear()

    def clear(self) -> None:
        """Take away the line, so that something else can be written."""
        if self._shown:
            click.echo(f"\r{' ' * self._shown}\r", nl=False, err=True)
            self._shown = 0

    def _show(self, line: str) -> None:
        self.clear()
        click.echo(line, nl=False, err=True)
        self._shown = len(line)
