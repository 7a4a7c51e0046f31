"""Standard output and error whose failures can be told from those of anything else."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class OutputError(Exception):
    """The output cannot be written; its cause says why.

    No OSError: click would make exit code 1 of a broken pipe.
    """


class _Output(io.BufferedWriter):
    """Below the text layer, so that whoever writes to the stream, and however, comes by."""

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
    """Let go of standard output, of which Python would complain once more at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _opened(stream: TextIO | None) -> TextIO:
    if not isinstance(stream, io.TextIOWrapper):  # closed by whoever started us
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
