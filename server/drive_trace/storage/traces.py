"""Reading traces from disk; :mod:`finding` finds them."""

from __future__ import annotations

import errno
import io
import sys
from pathlib import Path
from typing import NamedTuple

from drive_trace.storage.regular_files import LARGEST, is_open_already, read_regular, read_stream
from drive_trace.text.spans import decode

STDIN = "-"
HEAD = 64
"""So many bytes tell of a file how its text is encoded."""
_MARKS = {
    b"\xff\xfe\0\0": "is UTF-32",  # begins with the mark of UTF-16
    b"\0\0\xfe\xff": "is UTF-32",
    b"\xff\xfe": "is UTF-16",
    b"\xfe\xff": "is UTF-16",
}
"""What the byte order marks say, the longer ones first."""


class Problem(NamedTuple):
    """Why something could not be read, written or used."""

    path: str
    """As it was given or found; a configuration's with the line and column that are wrong."""
    reason: str
    """In a few words, as ``permission denied``; without the path."""

    @property
    def message(self) -> str:
        """One sentence for the person who asked for it."""
        return f"{self.path}: {self.reason}" if self.path else self.reason


class TraceFile(NamedTuple):
    """A trace that was read."""

    path: str
    """As it was given or found; ``-`` is standard input."""
    records: list[str]
    """Its text, split at each ``\\n``; the last is empty after a final newline."""


def read_trace(path: str) -> TraceFile | Problem:
    """Read one trace whole."""
    if path == STDIN and sys.stdin is None:
        return Problem(STDIN, "standard input is closed")
    data = read_bytes(path)
    if isinstance(data, Problem):
        return data
    reason = why_not_utf8(data)
    return Problem(path, reason) if reason is not None else TraceFile(path, records_of(data))


def read_bytes(path: str, most: int = LARGEST) -> bytes | Problem:
    """Read a file whole, of at most ``most`` bytes; ``-`` is standard input. Never waits for
    anybody to write to a pipe, but for what this process was started with, as ``<(git show …)`` in
    a shell.
    """
    try:
        if path == STDIN:
            return read_stream(sys.stdin.buffer, most)
        if is_open_already(path, "/dev/stdin"):
            with Path(path).open("rb") as stream:
                return read_stream(stream, most)
        return read_regular(path, most)
    except (OSError, ValueError) as error:
        return Problem(path, why_not_read(error))


def records_of(data: bytes) -> list[str]:
    """The records of a trace, split at each ``\\n``, as readers decode them."""
    # Record by record: one emoji would make each character of the whole text four bytes, and
    # all at once would need each record's bytes and text in memory at the same time.
    try:
        records = [record.rstrip(b"\n").decode() for record in io.BytesIO(data)]
    except UnicodeDecodeError:
        records = [decode(record.rstrip(b"\n")) for record in io.BytesIO(data)]
    if not data or data.endswith(b"\n"):
        records.append("")
    return records


def why_not_utf8(data: bytes) -> str | None:
    """Why a file is not read that begins with these bytes, of which no reader makes anything:
    they are UTF-16 or UTF-32. None where it is read.
    """
    phrase = next((each for mark, each in _MARKS.items() if data.startswith(mark)), None)
    if phrase is None and _has_half_nul(data[:HEAD]):
        phrase = "looks like UTF-16"
    return f"{phrase}; save it as UTF-8" if phrase is not None else None


def _has_half_nul(head: bytes) -> bool:
    """Whether every second byte is NUL, and no other: so UTF-16 without a mark has ASCII."""
    halves = head[::2], head[1::2]
    return len(head) > 3 and any(
        all(ascii_half) and not any(nul_half) for ascii_half, nul_half in (halves, halves[::-1])
    )


def why_not_read(error: OSError | ValueError) -> str:
    """Why a file cannot be read, in a few words."""
    match error:
        case FileNotFoundError():
            return "no such file or folder"
        case IsADirectoryError():
            return "is a folder, not a trace"
        case PermissionError():
            return "permission denied"
        case OSError(errno=errno.EFBIG):
            return f"is too large: {error.strerror}"
        case _:
            return why(error)


def why(error: OSError | ValueError) -> str:
    """What the system says of an error."""
    return (isinstance(error, OSError) and error.strerror) or str(error)
