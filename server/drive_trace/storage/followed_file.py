"""Following a file that others write to: what is new of it since it was last looked at.

A trace grows by whole lines at its end, so that a look reads only what was appended, if
the file is the same and still ends, up to there, as it did. What this cannot notice (an
edit in place of just as many bytes, and more behind it) is noticed once the file has
been left alone for a while and is compared as a whole. What stands behind the last
newline and is no whole object yet waits until then, too: somebody is writing it.
"""

from __future__ import annotations

import hashlib
import os
import time
from io import FileIO
from pathlib import Path
from typing import NamedTuple

import orjson

from drive_trace.storage.files import Problem, open_regular, records_of, why_not_read, why_not_utf8
from drive_trace.text.spans import BrokenText

QUIET = 5.0
"""Seconds without a change after which nobody is writing any more."""
_TAIL = 512
"""So many bytes before the old end have to be what they were."""
_CHUNK = 1 << 20


class Whole(NamedTuple):
    """The file was read anew."""

    records: list[str]
    """Its text, split at each ``\\n``."""


class More(NamedTuple):
    """The file goes on."""

    text: str
    """What comes behind everything given so far."""


Content = tuple[bytes, int]
"""The digest of all bytes that were read, and how many of them wait."""


class _Stamp(NamedTuple):
    """What tells that a file may have changed."""

    device: int
    file: int
    size: int
    modified: int
    changed: int


class FollowedFile:
    """One file, looked at again and again, by one thread at a time."""

    def __init__(self, path: Path, most: int) -> None:
        self.path = path
        self._most = most
        """A larger file, in bytes, is not read."""
        self._stamp: _Stamp | None = None
        self._tail = b""
        self._waiting = b""
        self._is_kept = False
        self._is_settled = False
        self._digest = hashlib.blake2b()
        self.size = 0
        """How many bytes have been read, those that wait as well."""

    @property
    def is_settled(self) -> bool:
        """Whether everything that was read has been judged, and was compared as a whole."""
        return self._is_settled

    @property
    def content(self) -> Content:
        """Names what was given: equal for equal texts."""
        return self._digest.digest(), len(self._waiting)

    def forget(self) -> None:
        """What was given is not kept: the next change is given as the whole file."""
        self._is_kept = False

    def look(self, *, anew: bool = False, settle: bool = False) -> Whole | More | Problem | None:
        """What is new; None where nothing is.

        ``anew`` asks for the whole file, changed or not. ``settle`` says that the caller has
        seen no change for :data:`QUIET` seconds.
        """
        try:
            return self._look(anew=anew, settle=settle)
        except (OSError, ValueError) as error:
            return self._lost(Problem(str(self.path), why_not_read(error)))

    def _look(self, *, anew: bool, settle: bool) -> Whole | More | Problem | None:
        stamp, age = _stamp_of(self.path.stat())
        is_same = stamp == self._stamp
        is_quiet = (settle and is_same) or abs(age) >= QUIET
        if is_same and not anew and (self._is_settled or not is_quiet):
            return None
        with open_regular(self.path) as file:  # a pipe may have taken its place meanwhile
            status = os.fstat(file.fileno())
            if status.st_size > self._most:
                reason = f"has {status.st_size} bytes and is left out"
                return self._lost(Problem(str(self.path), reason))
            before, (self._stamp, _) = self._stamp, _stamp_of(status)
            if anew or before is None or not self._is_continued(file, before, self._stamp):
                return self._read_whole(file, is_quiet=is_quiet)
            if self._stamp.size > self.size:
                return self._read_more(file)
            if is_quiet and self._waiting and not self._is_kept:
                return self._read_whole(file, is_quiet=True)
            self._is_settled = is_quiet
            return self._give(file, self._waiting, is_quiet=True) if is_quiet else None

    def _is_continued(self, file: FileIO, before: _Stamp, now: _Stamp) -> bool:
        """Whether the file begins with what was read of it."""
        if (now.device, now.file) != (before.device, before.file) or now.size < self.size:
            return False
        if now.size > self.size:
            if not self._is_kept:
                return False
            file.seek(self.size - len(self._tail))
            return file.read(len(self._tail)) == self._tail
        return _digest_of(file) == self._digest.digest()

    def _read_whole(self, file: FileIO, *, is_quiet: bool) -> Whole | Problem:
        file.seek(0)
        data = file.read()
        self._digest = hashlib.blake2b(data)
        self.size, self._tail = len(data), data[-_TAIL:]
        self._is_settled = is_quiet
        reason = why_not_utf8(data)
        if reason is not None:
            self._is_kept, self._waiting = False, b""
            return Problem(str(self.path), reason)
        given, self._waiting = _split(data, is_quiet=is_quiet)
        records = records_of(given)
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
        given, waiting = _split(data, is_quiet=is_quiet)
        try:
            text = given.decode()
        except UnicodeDecodeError:  # only whole records know their broken bytes
            return self._read_whole(file, is_quiet=is_quiet)
        self._waiting = waiting
        return More(text) if text else None

    def _lost(self, problem: Problem) -> Problem:
        self._stamp, self._is_kept, self._is_settled = None, False, True
        return problem


def _stamp_of(status: os.stat_result) -> tuple[_Stamp, float]:
    """A file's stamp, and how many seconds ago it was written."""
    stamp = _Stamp(
        status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
    )
    return stamp, time.time() - status.st_mtime


def _digest_of(file: FileIO) -> bytes:
    """The digest of a whole file, read in pieces."""
    digest = hashlib.blake2b()
    file.seek(0)
    while chunk := file.read(_CHUNK):
        digest.update(chunk)
    return digest.digest()


def _split(data: bytes, *, is_quiet: bool) -> tuple[bytes, bytes]:
    """What can be judged, and the piece of a line that waits behind it."""
    end = data.rfind(b"\n") + 1
    rest = data[end:]
    return (data, b"") if is_quiet or _is_object(rest) else (data[:end], rest)


def _is_object(data: bytes) -> bool:
    """Whether a piece is a whole JSON object, which no beginning of another one is."""
    if not data.rstrip().endswith(b"}"):
        return False
    try:
        return isinstance(orjson.loads(data), dict)
    except ValueError:
        return False
