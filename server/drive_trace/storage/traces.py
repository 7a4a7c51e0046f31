"""Finding and reading traces on disk."""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from drive_trace.storage.more_files import MoreFiles
from drive_trace.storage.regular_files import open_regular
from drive_trace.text import decode

NO_MORE = MoreFiles()
STDIN = "-"
UTF16 = "is UTF-16; save it as UTF-8"
"""Why a file that :func:`is_utf16` is not read."""
_OPEN_ALREADY = re.compile(r"/dev/(fd/\d+|stdin)|/proc/self/fd/\d+")
"""Paths of what this process was started with, as ``<(git show …)`` in a shell: like standard
input it is read to its end, even if it is a pipe.
"""
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
    data = read_bytes(path)
    if isinstance(data, Problem):
        return data
    return Problem(path, UTF16) if is_utf16(data) else Trace(path, records_of(data))


def read_bytes(path: str) -> bytes | Problem:
    """Read a file whole; ``-`` is standard input. Never waits for anybody to write to a pipe."""
    try:
        if path == STDIN:
            return sys.stdin.buffer.read()
        if _OPEN_ALREADY.fullmatch(path):
            return Path(path).read_bytes()
        with io.BufferedReader(open_regular(path)) as file:
            return file.read()
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


def is_utf16(data: bytes) -> bool:
    """Whether the first bytes of a file are the byte order mark of UTF-16, in either order."""
    return data.startswith((b"\xff\xfe", b"\xfe\xff"))


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
            if is_trace(path) or more.hold(path, Path(root)):
                yield os.path.relpath(path, root) if root == "." else str(path)


def is_trace(path: Path) -> bool:
    """Whether a search takes a file of that name for a trace."""
    in_wip = path.parent.parts[-2:] == ("wip", "drive-trace") and path.name.endswith(".jsonl")
    return path.name == "trace.jsonl" or in_wip


def _not_searched(path: str, error: OSError) -> Problem:
    return Problem(path, f"cannot be searched: {why(error)}")


def why_not_read(error: OSError | ValueError) -> str:
    """Why a file cannot be read, in a few words."""
    match error:
        case FileNotFoundError():
            return "no such file or folder"
        case IsADirectoryError():
            return "is a folder, not a trace"
        case PermissionError():
            return "permission denied"
        case _:
            return why(error)


def why(error: OSError | ValueError) -> str:
    """What the system says of an error."""
    return (isinstance(error, OSError) and error.strerror) or str(error)
