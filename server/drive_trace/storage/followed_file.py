"""Follows a file that others write to: reads what is new since the last look.

A trace grows by whole lines at its end. So a look reads only what was appended, if the file is the
same and its last bytes before that are unchanged. An edit further up that keeps the length would go
unnoticed, so the file is compared as a whole once nobody has written to it for a while. Text after
the last newline that is no whole object yet waits until then, too: somebody is writing it.
"""

from __future__ import annotations

import hashlib
import os
import stat
import time
from io import FileIO
from pathlib import Path
from typing import NamedTuple

import orjson

from drive_trace.storage.boundary import inside
from drive_trace.storage.files import (
    DIGEST,
    Problem,
    decoded,
    open_regular,
    why_not_read,
    why_not_utf8,
)
from drive_trace.text.spans import BrokenText

QUIET = 5.0
"""Seconds without a change after which nobody seems to be writing."""
_TAIL = 512
"""The bytes before the old end that have to be unchanged."""
_CHUNK = 1 << 20


class Whole(NamedTuple):
    """The file was read anew."""

    records: list[str]
    """Its text, split at each ``\\n``."""


class More(NamedTuple):
    """The file goes on."""

    text: str
    """The text after all that was returned so far."""


Content = tuple[bytes, int]
"""The digest of all bytes that were read, and the number of those that wait."""


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
        self._tail = b""
        self._waiting = b""
        self._is_kept = False
        self._is_settled = False
        self._digest = hashlib.blake2b(digest_size=DIGEST)
        self._adopted = b""
        """The digest of the whole file, where somebody else has read it."""
        self.size = 0
        """The number of bytes read so far, with those that wait."""

    @property
    def is_settled(self) -> bool:
        """Whether nothing waits, and the file was compared as a whole."""
        return self._is_settled

    @property
    def content(self) -> Content:
        """Identifies what was returned so far: equal for equal texts."""
        return self._adopted or self._digest.digest(), len(self._waiting)

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
        self._state, self._adopted, self.size, self._is_settled = state, digest, state.size, True

    def forget(self) -> None:
        """The caller dropped the text, so the next change returns the whole file."""
        self._is_kept = False

    def look(self, *, anew: bool = False, settle: bool = False) -> Whole | More | Problem | None:
        """What is new; None if nothing is.

        With ``anew``, the whole file, changed or not. With ``settle``, the caller has seen no
        change for :data:`QUIET` seconds.
        """
        try:
            return self._look(anew=anew, settle=settle)
        except (OSError, ValueError) as error:
            return self._lost(Problem(str(self.path), why_not_read(error)))

    def _real(self) -> Path:
        return self.path if self._base is None else inside(self.path, self._base)

    def _look(self, *, anew: bool, settle: bool) -> Whole | More | Problem | None:
        state, age = _state_of(self.path.stat())
        is_same = state == self._state
        is_quiet = (settle and is_same) or abs(age) >= QUIET
        if is_same and not anew and (self._is_settled or not is_quiet):
            return None
        with open_regular(self._real()) as file:  # a pipe may have taken its place meanwhile
            status = os.fstat(file.fileno())
            if status.st_size > self._most:
                reason = f"has {status.st_size} bytes and is left out"
                return self._lost(Problem(str(self.path), reason))
            before, (self._state, _) = self._state, _state_of(status)
            if anew or before is None or not self._is_continued(file, before, self._state):
                return self._read_whole(file, is_quiet=is_quiet)
            if self._state.size > self.size:
                return self._read_more(file)
            if is_quiet and self._waiting and not self._is_kept:
                return self._read_whole(file, is_quiet=True)
            self._is_settled = is_quiet
            return self._give(file, self._waiting, is_quiet=True) if is_quiet else None

    def _is_continued(self, file: FileIO, before: FileState, now: FileState) -> bool:
        """Whether the file begins with what was read of it."""
        if (now.device, now.file) != (before.device, before.file) or now.size < self.size:
            return False
        if now.size > self.size:
            if not self._is_kept:
                return False
            file.seek(self.size - len(self._tail))
            return file.read(len(self._tail)) == self._tail
        return _digest_of(file) == self.content[0]

    def _read_whole(self, file: FileIO, *, is_quiet: bool) -> Whole | Problem:
        file.seek(0)
        data = file.read()
        self._digest = hashlib.blake2b(data, digest_size=DIGEST)
        self._adopted = b""
        self.size, self._tail = len(data), data[-_TAIL:]
        self._is_settled = is_quiet
        given, self._waiting = split_waiting(data, is_quiet=is_quiet)
        found = decoded(str(self.path), data if why_not_utf8(data) else given)
        if isinstance(found, Problem):
            self._is_kept, self._waiting = False, b""
            return found
        records = found.records
        # What is appended to a line with broken bytes may mend a character that was cut off.
        self._is_kept = not isinstance(records[-1], BrokenText)
        return Whole(records)

    def _read_more(self, file: FileIO) -> Whole | More | Problem | None:
        file.seek(self.size)
        data = file.read()
        self._digest.update(data)
        self.size += len(data)
        self._tail = (self._tail + data)[-_TAIL:]
        self._is_settled = False
        return self._give(file, self._waiting + data, is_quiet=False)

    def _give(self, file: FileIO, data: bytes, *, is_quiet: bool) -> Whole | More | Problem | None:
        given, waiting = split_waiting(data, is_quiet=is_quiet)
        try:
            text = given.decode()
        except UnicodeDecodeError:  # only whole records know their broken bytes
            return self._read_whole(file, is_quiet=is_quiet)
        self._waiting = waiting
        return More(text) if text else None

    def _lost(self, problem: Problem) -> Problem:
        self._state, self._is_kept, self._is_settled = None, False, True
        return problem


def _state_of(status: os.stat_result) -> tuple[FileState, float]:
    """A file's state, and its age in seconds."""
    state = FileState(
        status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
    )
    return state, time.time() - status.st_mtime


def _digest_of(file: FileIO) -> bytes:
    """The digest of a whole file, read in pieces."""
    digest = hashlib.blake2b(digest_size=DIGEST)
    file.seek(0)
    while chunk := file.read(_CHUNK):
        digest.update(chunk)
    return digest.digest()


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
