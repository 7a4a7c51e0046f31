"""Standard output and error: width, colours and progress for a person, and failures to write."""

from __future__ import annotations

import io
import os
import shutil
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, TextIO, TypeVar

import click

from drive_trace.text.escaping import printable

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
"""Seconds before the first progress line."""
_PAUSE = 0.1


def is_terminal(stream: TextIO | None) -> bool:
    """Whether a person reads the stream."""
    return stream is not None and stream.isatty()


def notify(message: str) -> None:
    """Write a message to standard error, beside the output."""
    click.echo(f"drive-trace: {printable(message, 8192)}", err=True)


def columns() -> int:
    """How wide a table may be."""
    return min(shutil.get_terminal_size().columns, _WIDEST)


def paint(text: str, role: str) -> str:
    """The text in the colours of its role; click takes them out where no colour is wanted."""
    return click.style(text, **_STYLES[role])


class ProgressLine:
    """Shows the progress of something slow on standard error, if that is a terminal."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._shown = 0
        """The columns that the current line takes."""

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
        """Remove the line, so that something else can be written."""
        if self._shown:
            click.echo(f"\r{' ' * self._shown}\r", nl=False, err=True)
            self._shown = 0

    def _show(self, line: str) -> None:
        self.clear()
        click.echo(line, nl=False, err=True)
        self._shown = len(line)


if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class OutputError(Exception):
    """The output cannot be written. The cause is the reason.

    No OSError: click would make exit code 1 of a broken pipe.
    """


class _Output(io.BufferedWriter):
    """Below the text layer, so that every write to the stream comes by."""

    def write(self, data: ReadableBuffer, /) -> int:
        """Write, or raise OutputError."""
        with _output_errors():
            return super().write(data)

    def flush(self) -> None:
        """Flush, or raise OutputError."""
        with _output_errors():
            super().flush()


def open_streams() -> None:
    """Make standard output and error raise OutputError, and take any character."""
    sys.stdout = _opened(sys.stdout)
    sys.stderr = _opened(sys.stderr)


def give_up_output() -> None:
    """Detach standard output, as Python would report its error once more at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _opened(stream: TextIO | None) -> TextIO:
    if not isinstance(stream, io.TextIOWrapper):  # our parent closed it
        return Path(os.devnull).open("w", encoding="utf-8")
    raw: Any = getattr(stream.buffer, "raw", stream.buffer)  # python -u leaves out the buffer
    return io.TextIOWrapper(
        _Output(raw),
        encoding=stream.encoding,
        errors="backslashreplace",
        line_buffering=stream.line_buffering or stream.write_through,
    )


@contextmanager
def _output_errors() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise OutputError from error
