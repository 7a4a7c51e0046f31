"""Finding and reading traces on disk."""

from __future__ import annotations

import io
import os
import stat
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from drive_trace.storage.more_files import MoreFiles

NO_MORE = MoreFiles()
STDIN = "-"
TRACE_GLOBS = ("**/trace.jsonl", "**/wip/drive-trace/*.jsonl")
"""What a search of a folder finds."""
_SKIPPED_FOLDERS = {".git", ".hg", ".svn", "node_modules", ".venv", "__pycache__"}


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


class Trace(NamedTuple):
    """A trace that was read."""

    path: str
    """As it was given or found; ``-`` is standard input."""
    records: list[str]
    """Its text, split at each ``\\n``; the last is empty after a final newline."""


def find_traces(paths: Sequence[str], more: MoreFiles = NO_MORE) -> Iterator[str | Problem]:
    """The traces that the paths mean, each once, in the order given.

    A file is itself, whatever its name. A folder is searched for ``trace.jsonl``
    and ``wip/drive-trace/*.jsonl``, and for ``more``, in the order of their paths.
    """
    seen: set[str] = set()
    for path in paths:
        for found in _expand(path, more):
            key = found.message if isinstance(found, Problem) else _identity(found)
            if key not in seen:
                seen.add(key)
                yield found


def read_trace(path: str) -> Trace | Problem:
    """Read one trace whole."""
    if path == STDIN and sys.stdin is None:
        return Problem(STDIN, "standard input is closed")
    try:
        data = sys.stdin.buffer.read() if path == STDIN else Path(path).read_bytes()
    except FileNotFoundError:
        return Problem(path, "no such file or folder")
    except IsADirectoryError:
        return Problem(path, "is a folder, not a trace")
    except PermissionError:
        return Problem(path, "permission denied")
    except (OSError, ValueError) as error:
        return Problem(path, why(error))
    try:
        return Trace(path, _records(data))
    except UnicodeDecodeError as error:
        return not_utf8(path, data, error)


def _records(data: bytes) -> list[str]:
    # Record by record: one emoji would make each character of the whole text four bytes, and
    # all at once would need each record's bytes and text in memory at the same time.
    records = [record.rstrip(b"\n").decode() for record in io.BytesIO(data)]
    if not data or data.endswith(b"\n"):
        records.append("")
    return records


def not_utf8(path: str, data: bytes, error: UnicodeDecodeError) -> Problem:
    """Where a trace is no UTF-8, given the error that one of its records raised."""
    line = data.split(b"\n").index(error.object) + 1
    return Problem(
        path,
        f"is not UTF-8 (byte 0x{error.object[error.start]:02x} in line {line}); "
        "save it as UTF-8 and try again",
    )


def _identity(path: str) -> str:
    """One name for all spellings of a path, as far as it can be followed."""
    try:
        return path if path == STDIN else os.path.realpath(path)
    except (OSError, ValueError):  # as in a current folder that is gone
        return path


def _expand(path: str, more: MoreFiles) -> Iterator[str | Problem]:
    if not path:
        yield Problem("", "the empty path names no file or folder")
    # Not Path.is_dir, which raises for names that the system refuses.
    elif path == STDIN or not os.path.isdir(path):  # noqa: PTH112
        yield path
    else:
        try:
            yield from _in_folder(path, more)
        except OSError as error:
            yield _not_searched(path, error)


def _in_folder(path: str, more: MoreFiles) -> Iterator[str | Problem]:
    problems: list[Problem] = []
    found = False
    for each in _search(path, more, problems):
        found = True
        yield each
    yield from problems
    if not found and not problems:
        others = sum(1 for _ in Path(path).glob("*.jsonl"))
        hint = f"; name its {others} other .jsonl files to read them" if others else ""
        yield Problem(
            path,
            f"holds no trace (looked for trace.jsonl and wip/drive-trace/*.jsonl in it){hint}",
        )


def _search(root: str, more: MoreFiles, problems: list[Problem]) -> Iterator[str]:
    def note(error: OSError) -> None:
        problems.append(_not_searched(error.filename, error))

    for folder, folders, files in os.walk(root, onerror=note):
        folders[:] = sorted(name for name in folders if name not in _SKIPPED_FOLDERS)
        for name in sorted(
            each for each in files if each.endswith(".jsonl") or more.may_name(each)
        ):
            path = Path(folder, name)
            if (is_trace(path) or more.hold(path, Path(root))) and _may_be_read(path):
                yield os.path.relpath(path, root) if root == "." else str(path)


def is_trace(path: Path) -> bool:
    """Whether a search takes a file of that name for a trace."""
    in_wip = path.parent.parts[-2:] == ("wip", "drive-trace") and path.name.endswith(".jsonl")
    return path.name == "trace.jsonl" or in_wip


def _may_be_read(path: Path) -> bool:
    """Whether reading a file that was only found is sure to end: a pipe may never do.

    What cannot be looked at is read all the same, which tells why it cannot.
    """
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except OSError:
        return True


def _not_searched(path: str, error: OSError) -> Problem:
    return Problem(path, f"cannot be searched: {why(error)}")


def why(error: OSError | ValueError) -> str:
    """What the system says of an error."""
    return (isinstance(error, OSError) and error.strerror) or str(error)
