"""Follows a file that others write to: reads it again when it has changed.

A trace grows by whole lines at its end. Text after the last newline that is no whole object yet
waits until nobody has written to the file for a while: somebody is writing it.
"""

from __future__ import annotations

import os
import stat
import time
from pathlib import Path
from typing import NamedTuple

import orjson

from drive_trace.storage.files import (
    Problem,
    decoded,
    digest_of,
    inside,
    open_regular,
    why_not_read,
    why_not_utf8,
)

QUIET = 5.0
"""Seconds without a change after which nobody seems to be writing."""


class Whole(NamedTuple):
    """The text of the file has changed."""

    records: list[str]
    """All of it, split at each ``\\n``, but what waits."""


class FileState(NamedTuple):
    """If this is different, the file may have changed."""

    device: int
    file: int
    size: int
    modified: int
    changed: int


class FollowedFile:
    """One file that one thread at a time looks at again and again."""

    def __init__(self, path: Path, most: int, base: Path | None = None) -> None:
        """No link may lead out of ``base``, the folder that it was found in, or its repository."""
        self.path = path
        self._base = base
        self._most = most
        """A larger file, in bytes, is not read."""
        self._state: FileState | None = None
        self.is_settled = False
        """Whether nothing waits, and the file was read since somebody seemed to write to it."""
        self.content = b""
        """Identifies what was returned last: equal for equal texts."""
        self.size = 0
        """The number of bytes read last, with those that wait."""

    def quiet_state(self) -> FileState | None:
        """The state of a file that can be read and that nobody seems to be writing; else None."""
        try:
            status = self._real().stat()
        except (OSError, ValueError):
            return None
        state, age = _state_of(status)
        is_file = stat.S_ISREG(status.st_mode) and state.size <= self._most
        return state if is_file and abs(age) >= QUIET else None

    def adopt(self, state: FileState, digest: bytes) -> None:
        """Go on where somebody else has read the whole file, which had this :meth:`quiet_state`
        before that, and this digest.
        """
        self._state, self.content, self.size, self.is_settled = state, digest, state.size, True

    def look(self, *, anew: bool = False, settle: bool = False) -> Whole | Problem | None:
        """The text if it has changed; None if it has not.

        With ``anew``, the text, changed or not. With ``settle``, the caller has seen no change for
        :data:`QUIET` seconds.
        """
        try:
            return self._look(anew=anew, settle=settle)
        except (OSError, ValueError) as error:
            return self._lost(Problem(str(self.path), why_not_read(error)))

    def _real(self) -> Path:
        return self.path if self._base is None else inside(self.path, self._base)

    def _look(self, *, anew: bool, settle: bool) -> Whole | Problem | None:
        state, age = _state_of(self.path.stat())
        is_same = state == self._state
        is_quiet = (is_same and (settle or self.is_settled)) or abs(age) >= QUIET
        if is_same and not anew and (self.is_settled or not is_quiet):
            return None
        with open_regular(self._real()) as file:  # a pipe may have taken its place meanwhile
            status = os.fstat(file.fileno())
            if status.st_size > self._most:
                reason = f"has {status.st_size} bytes and is left out"
                return self._lost(Problem(str(self.path), reason))
            data = file.read()
        self._state, self.size, self.is_settled = _state_of(status)[0], len(data), is_quiet
        text = data if why_not_utf8(data) else split_waiting(data, is_quiet=is_quiet)[0]
        before, self.content = self.content, digest_of(text)
        if self.content == before and not anew:
            return None
        found = decoded(str(self.path), text)
        return found if isinstance(found, Problem) else Whole(found.records)

    def _lost(self, problem: Problem) -> Problem:
        self._state, self.content, self.is_settled = None, b"", True
        return problem


def _state_of(status: os.stat_result) -> tuple[FileState, float]:
    """A file's state, and its age in seconds."""
    state = FileState(
        status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
    )
    return state, time.time() - status.st_mtime


def split_waiting(data: bytes, *, is_quiet: bool) -> tuple[bytes, bytes]:
    """The text that can be read now, and the piece of a line after it that waits."""
    end = data.rfind(b"\n") + 1
    rest = data[end:]
    return (data, b"") if is_quiet or _is_object(rest) else (data[:end], rest)


def _is_object(data: bytes) -> bool:
    """Whether a piece is a whole JSON object. No prefix of an object is one."""
    if not data.rstrip().endswith(b"}"):
        return False
    try:
        return isinstance(orjson.loads(data), dict)
    except ValueError:
        return False
