"""Brings together an edited trace and what others have appended to its file, before it is saved.

An editor that finds its file changed offers to overwrite it, which would drop what was appended. So
the appended lines are put into the editor's text first. The file is locked from then on until it is
written, so that those who lock it lose nothing. Its time is set back, by which the editor knows
that it has read all of the file. Whatever is appended without a lock sets that time again, and the
editor asks as before.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import NamedTuple

from drive_trace.storage.appending import AppendError, locked_trace
from drive_trace.storage.files import open_regular
from drive_trace.text.spans import decode

_LONG_AGO = 0


class KnownStart:
    """The whole lines that a file begins with, as an editor has read or written them."""

    def __init__(self, path: str, text: bytes) -> None:
        self.path = os.path.realpath(path)  # the editor writes through a link, wherever it leads
        self._size = len(text)
        self._digest = hashlib.blake2b(text)
        self.modified = _LONG_AGO
        """When the file was last modified while it was no longer than that, in nanoseconds."""

    def note_time(self) -> None:
        """Ask the disk when that was. Never raises."""
        with suppress(OSError):
            status = Path(self.path).stat()
            if status.st_size == self._size:
                self.modified = status.st_mtime_ns

    def begins(self, data: bytes) -> bool:
        """Whether a file still begins so."""
        return hashlib.blake2b(data[: self._size]).digest() == self._digest.digest()

    def divide(self, data: bytes) -> Divided:
        """The lines of a file that begins so."""
        parts = data[: self._size], data[self._size :]
        return Divided(*([decode(line) for line in part.split(b"\n") if line] for part in parts))

    def extend(self, text: bytes) -> bool:
        """Take in the text behind it, if that is what the file has there. Says whether it was."""
        try:
            with open_regular(self.path) as file:
                file.seek(self._size)
                if file.read(len(text)) != text:
                    return False
        except (OSError, ValueError):
            return False
        self._size += len(text)
        self._digest.update(text)
        self.note_time()
        return True


class Divided(NamedTuple):
    """The lines of a file that are not empty."""

    known: list[str]
    appended: list[str]


class Held:
    """A trace that is locked while an editor saves it."""

    def __init__(self, known: KnownStart) -> None:
        self._known = known
        self._stack = ExitStack()
        self._set_back_to: int | None = None

    def read(self) -> Divided | None:
        """Lock the file, and return its lines. None, and nothing is locked, if it does not begin
        as it is known, or its last line is not ended. Never raises.
        """
        known = self._known
        try:
            data = self._stack.enter_context(locked_trace(known.path, create=False)).read()
        except (AppendError, OSError):
            self.release()
            return None
        if not known.begins(data) or not (data.endswith(b"\n") or not data):
            self.release()
            return None
        return known.divide(data)

    def set_back(self) -> None:
        """Set the file's time to that at which the editor read it. Only an editor that still waits
        for what was appended may see that: another one would overwrite it.
        """
        known = self._known
        with suppress(OSError):
            os.utime(known.path, ns=(known.modified, known.modified))
            self._set_back_to = known.modified

    def release(self) -> None:
        """Let others append again. If the editor has not written the file, its time is now."""
        if self._set_back_to is not None:
            with suppress(OSError):
                if Path(self._known.path).stat().st_mtime_ns == self._set_back_to:
                    os.utime(self._known.path)
        self._stack.close()
