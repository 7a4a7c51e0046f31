"""Brings together an edited trace and what others have appended to its file, before it is saved.

An editor that finds its file changed offers to overwrite it, which would drop what was appended. So
the appended lines are put into the editor's text first. The file is locked from then on until it is
written, so that those who lock it lose nothing. Its time is set back, by which the editor knows
that it has read all of the file. Whatever is appended without a lock sets that time again, and the
editor asks as before.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

from drive_trace.storage.appending import AppendError, locked_trace
from drive_trace.storage.files import Problem, read_bytes

_LONG_AGO = (0, 0)


class Held:
    """A trace that is locked while an editor saves it."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._stack = ExitStack()
        self._is_aged = False

    def merge(self, known: Sequence[str]) -> list[str]:
        """Lock the file, and return the lines that were appended to it since it had the lines
        ``known``. Empty, and nothing is locked, if it was changed otherwise. Never raises.
        """
        try:
            trace = self._stack.enter_context(locked_trace(self._path, create=False))
            text = trace.read().decode("utf-8", "surrogateescape")
        except (AppendError, OSError):
            self.release()
            return []
        rest = appended_text("\n".join(known), text)
        if rest is None:
            self.release()
            return []
        if rest:
            with suppress(OSError):
                os.utime(self._path, _LONG_AGO)
                self._is_aged = True
        return [line for line in rest.split("\n") if line]

    def release(self) -> None:
        """Let others append again. If the editor has not written the file, its time is now."""
        if self._is_aged:
            with suppress(OSError):
                if Path(self._path).stat().st_mtime == 0:
                    os.utime(self._path)
        self._stack.close()


def appended_text(before: str, now: str) -> str | None:
    """What was appended to a text; None if that is not all that has changed, or it is not ended
    yet.
    """
    if not now.startswith(before):
        return None
    rest = now[len(before) :]
    is_apart = not rest or not before or before.endswith("\n") or rest.startswith("\n")
    return rest if is_apart and (not rest or rest.endswith("\n")) else None


def begins_with(path: str, text: str) -> bool:
    """Whether a file begins with a text, and a line ends there."""
    data = read_bytes(path)
    return not isinstance(data, Problem) and data.startswith(text.encode()) and text.endswith("\n")
