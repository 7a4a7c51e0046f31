"""A system whose calls fail, one at a time, below a program that writes files.

Python's files are made of :mod:`_pyio` meanwhile, which goes through :mod:`os` for each system
call. So every call on a watched file is counted, and any of them can fail, or be the last.
"""

import _pyio
import builtins
import errno
import io
import os
import signal
import sys
from collections.abc import Callable, Collection, Mapping
from enum import Enum
from pathlib import Path
from typing import Any, NamedTuple

import pytest

if sys.platform == "win32":
    import msvcrt as locks

    _LOCK = "locking"
else:
    import fcntl as locks

    _LOCK = "flock"

LOOKS = ("fstat", "stat", "lstat", "access")
_CALLS = (
    *("open", "close", "read", "write", "fsync", "ftruncate"),
    *("mkdir", "chmod", "chown", "replace", "unlink", "scandir"),
)
_OTHER_ERRORS = {"write": errno.ENOSPC, "lock": errno.ENOLCK}
ERRORS = {errno.EIO, *_OTHER_ERRORS.values()}
TEMPORARY = "temporary file"
FOLDER = "folder"


class Fault(Enum):
    """What becomes of one call."""

    ERROR = "fails"
    HALF = "takes a half, and fails then"
    KILLED = "killed after it"
    TORN = "killed after a half of it"


class Call(NamedTuple):
    """A system call on a watched file."""

    name: str
    file: str
    """Its name in the folder; :data:`TEMPORARY`, or :data:`FOLDER` for the folder itself."""


class FaultySystem:
    """Counts the calls on the watched files of a folder, and lets some of them fail."""

    def __init__(
        self, folder: Path, watched: Collection[str], faults: Mapping[int | Call, Fault]
    ) -> None:
        self._folder, self._watched, self.faults = str(folder), watched, faults
        self._full: set[str] = set()
        self.calls: list[Call] = []
        self.done: list[Call] = []
        """Those that did not fail."""
        self.open: dict[int, str] = {}
        """The files that are open, by their handles."""

    def install(self, patch: pytest.MonkeyPatch) -> None:
        """Put it between Python and the system."""
        for module, name in ((io, "open"), (builtins, "open"), (io, "FileIO")):
            patch.setattr(module, name, getattr(_pyio, name))
        for name in (*_CALLS, *LOOKS):
            if hasattr(os, name):
                patch.setattr(os, name, self._around(name, getattr(os, name)))
        patch.setattr(locks, _LOCK, self._around("lock", getattr(locks, _LOCK)))

    def _around(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **options: Any) -> Any:
            file = self.watched_file(args[0])
            # The files of the system's own library do without the answer; these do not.
            if file is None or (name == "fstat" and sys._getframe(1).f_globals is vars(_pyio)):
                return real(*args, **options)
            this = Call(name, file)
            fault = self.faults.get(len(self.calls), self.faults.get(this))
            self.calls.append(this)
            if fault in {Fault.HALF, Fault.TORN}:
                written: int = real(args[0], bytes(args[1])[: len(args[1]) // 2])
                self._full.add(file)
                _end_if(fault is Fault.TORN)
                return written
            if fault is Fault.ERROR or (name == "write" and file in self._full):
                if name == "close":  # as on Linux, which closes it all the same
                    real(*args)
                    del self.open[args[0]]
                code = _OTHER_ERRORS.get(name, errno.EIO)
                path = None if isinstance(args[0], int) else os.fspath(args[0])
                raise OSError(code, os.strerror(code), path)
            try:
                result = real(*args, **options)
            finally:  # also where nothing is there
                _end_if(fault is Fault.KILLED)
            self.done.append(this)
            if name == "open":
                self.open[result] = file
            elif name == "close":
                del self.open[args[0]]
            return result

        return call

    def watched_file(self, given: Any) -> str | None:
        if isinstance(given, int):
            return self.open.get(given)
        path = os.path.abspath(os.fsdecode(given))  # noqa: PTH100 - that would ask the system
        if path == self._folder:
            return FOLDER
        folder, name = os.path.split(path)
        if folder != self._folder:
            return None
        if name.startswith(".drive-trace-") and name.endswith(".tmp"):
            return TEMPORARY
        return name if name in self._watched else None


def _end_if(condition: bool) -> None:
    if condition:
        os.kill(os.getpid(), signal.SIGKILL)
