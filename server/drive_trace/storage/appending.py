"""Appending to traces: whole lines or nothing, with several writers at once.

A writer locks a trace before it reads and appends. The event goes out in one write at the end of
the file, wherever that is by then (``O_APPEND``), and is synced to the disk, as is the name of a
new file. A write that fails half-way is undone.

The lock is on the file itself, so that no lock file is left behind. It belongs to the open file, so
the system releases it when the process ends, however it ends. It is advisory: readers never wait.
"""

import errno
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from drive_trace.storage import files as disk

_COMMON = getattr(os, "O_BINARY", 0) | disk.NO_LINK
_FLAGS = os.O_RDWR | os.O_APPEND | _COMMON
_READING = os.O_RDONLY | _COMMON | getattr(os, "O_NONBLOCK", 0)
_TAIL = 1 << 20
"""The bytes in which the last line of a record stands."""
_ATTEMPTS = 1000
"""How often a file may be replaced while we wait for its lock."""


class AppendError(Exception):
    """Nothing was appended, or the message says what stands there. It is one sentence on why."""

    def __init__(self, path: str, reason: str) -> None:
        self.problem = disk.Problem(path, reason)
        super().__init__(self.problem.message)


class LockedTrace:
    """A trace whose lock this process has."""

    def __init__(self, path: str, handle: int, *, is_new: bool) -> None:
        self.path = path
        self._handle = handle
        self._is_new = is_new

    def read(self) -> bytes:
        """All of it, as it is now."""
        with open(self._handle, "rb", buffering=0, closefd=False) as file:
            disk.refuse_large(file)
            file.seek(0)
            return file.readall()

    @property
    def last_line(self) -> bytes:
        """The last line that is not blank and no mark of a merge conflict, which is to be removed,
        without white space around it; empty if there is none. It may not be ended, and is cut at a
        megabyte.
        """
        tail = self._bytes(max(os.fstat(self._handle).st_size - _TAIL, 0), _TAIL).split(b"\n")
        return next((each for each in map(bytes.strip, tail[::-1]) if each[:1] not in b"<|=>"), b"")

    def append(self, *records: str) -> None:
        """Append records in one write, and what ends them, as the line before is ended, each on a
        line of its own. Raises AppendError, and then leaves the file as it was, or says what
        stands in it.
        """
        assert not any("\n" in record for record in records)
        size = os.fstat(self._handle).st_size
        ending = b"\r\n" if self._bytes(max(size - 2, 0), 2) == b"\r\n" else b"\n"
        lines = (record.encode() + ending for record in records)
        is_ended = size == 0 or self._bytes(size - 1, 1) == b"\n"
        data = b"\n" * (not is_ended) + b"".join(lines)
        rest = memoryview(data)
        try:
            while rest:  # an almost full disk takes a part, and fails then
                rest = rest[os.write(self._handle, rest) :]
            os.fsync(self._handle)
            if self._is_new:
                sync_folder(Path(os.path.realpath(self.path)).parent)
        except OSError as error:
            left = self._failed(size, data, len(data) - len(rest))
            raise AppendError(self.path, f"cannot be written: {error.strerror}; {left}") from error
        except BaseException:  # as Ctrl-C, after which a message says that this failed
            self._take_back(size, data)
            raise

    def _failed(self, size: int, data: bytes, written: int) -> str:
        """What has become of the file when so many bytes were written."""
        if not written or self._take_back(size, data):
            return "it was left as it was"
        if written < len(data):
            return "the event stands in it in part, as a line that readers reject"
        return "the event stands in it, but may not outlast a crash of the system"

    def _take_back(self, size: int, data: bytes) -> bool:
        """Remove what was written of ``data``, but nothing that others have appended since."""
        try:
            is_ours = data.startswith(self._bytes(size, len(data) + 1))
            if is_ours:
                os.ftruncate(self._handle, size)
        except OSError:
            return False
        return is_ours

    def _bytes(self, start: int, count: int) -> bytes:
        os.lseek(self._handle, start, os.SEEK_SET)  # O_APPEND: writes do not depend on it
        return os.read(self._handle, count)


@contextmanager
def locked_trace(
    path: str, *, create: bool = True, waiting: Callable[[str], None] | None = None
) -> Iterator[LockedTrace]:
    """A trace to append to, locked until the end of the block. Raises AppendError.

    ``waiting`` is called with a sentence if the lock takes long. With ``create`` a missing trace is
    created, with the folders above it. If nothing is appended, the empty file is removed again. A
    link is followed within its repository.
    """
    handle, is_new = _open_locked(path, create, waiting)
    try:
        trace = LockedTrace(path, handle, is_new=is_new)
        reason = disk.why_not_utf8(trace._bytes(0, disk.HEAD))
        if reason is not None:
            raise AppendError(path, reason)
        yield trace
    except OSError as error:
        raise _why_not(path, error) from error
    finally:
        with suppress(OSError):
            # Still locked: who waits for it sees then that it is gone, and creates another.
            if is_new and os.fstat(handle).st_size == 0:
                Path(path).unlink()
        _close(handle)


@contextmanager
def locked_with(
    path: str,
    others: Iterable[str],
    *,
    create: bool = True,
    waiting: Callable[[str], None] | None = None,
) -> Iterator[LockedTrace]:
    """The same, with the other files of its run locked, too, so that nobody appends to them
    meanwhile. All locks are taken in one order, so that no two writers wait for each other. A file
    that cannot be locked is passed over here; reading it reports why.
    """
    there = _each_once(path, others)
    before = [each for each in there if _lock_order(each) < _lock_order(path)]
    with ExitStack() as held:
        for each in before:
            held.enter_context(_locked_other(each, waiting))
        trace = held.enter_context(locked_trace(path, create=create, waiting=waiting))
        for each in there[len(before) :]:
            held.enter_context(_locked_other(each, waiting))
        yield trace


def _each_once(path: str, others: Iterable[str]) -> list[str]:
    """The real paths of other files in the order of locking, each file once: a process that took
    a lock twice would wait for itself.
    """
    found: dict[tuple[int, int], str] = {}
    for each in (path, *sorted(map(os.path.realpath, others))):
        with suppress(OSError, ValueError):
            status = Path(each).stat()
            found.setdefault((status.st_dev, status.st_ino), each)
    return sorted((each for each in found.values() if each != path), key=_lock_order)


def _lock_order(path: str) -> tuple[bool, int, int, str]:
    """The key of the order of locking: the real path, which a file has before it exists, and keeps
    when it is replaced. Files with several paths come last, by device and inode.
    """
    with suppress(OSError, ValueError):
        status = Path(path).stat()
        if status.st_nlink > 1:
            return True, status.st_dev, status.st_ino, ""
    return False, 0, 0, os.path.realpath(path)


@contextmanager
def _locked_other(path: str, waiting: Callable[[str], None] | None) -> Iterator[None]:
    handle = None
    for flags in (_FLAGS, _READING):  # some file systems lock only what can be written
        with suppress(AppendError):
            handle, _ = _open_locked(path, False, waiting, flags)
            break
    try:
        yield
    finally:
        if handle is not None:
            _close(handle)


def _open_locked(
    path: str, create: bool, waiting: Callable[[str], None] | None, flags: int = _FLAGS
) -> tuple[int, bool]:
    """A handle that has the lock, and whether the file is new."""
    try:
        for _ in range(_ATTEMPTS):
            real = path and str(disk.inside(path))
            handle, is_new = _open(real, create, flags)
            if _take_lock(path, real, handle, waiting):
                return handle, is_new
            _close(handle)
    except (OSError, ValueError) as error:
        raise _why_not(path, error) from error
    raise AppendError(path, "cannot be written: it is replaced again and again")


def _take_lock(path: str, real: str, handle: int, waiting: Callable[[str], None] | None) -> bool:
    """Whether the file is still the one at ``path``, which is ``real``, when we have its lock."""
    try:
        disk.refuse_special(os.fstat(handle))
        disk.refuse_moved(handle, real)
        if waiting is None:
            lock(handle)
        else:
            message = f"{path}: another process has the lock; waiting for it"
            lock(handle, lambda: waiting(message))
        return os.path.samestat(os.fstat(handle), Path(path).stat())
    except FileNotFoundError:
        return False
    except BaseException:
        _close(handle)
        raise


def _close(handle: int) -> None:
    """Close a file whose content is on the disk, or does not matter; its lock goes with it."""
    with suppress(OSError):
        os.close(handle)


_NOT_ON_DISK = {errno.EIO, errno.ENOSPC, getattr(errno, "EDQUOT", errno.EIO)}


def sync_folder(folder: Path) -> None:
    """Make a file's new name survive a crash of the system, where the system can. Raises OSError if
    the disk fails.
    """
    try:
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            _close(handle)
    except OSError as error:  # others, as on Windows, where a folder cannot be opened
        if error.errno in _NOT_ON_DISK:
            raise


def _open(path: str, create: bool, flags: int) -> tuple[int, bool]:
    """A handle, and whether the file is new."""
    try:
        return disk.open_handle(path, flags), False
    except FileNotFoundError:
        if not create:
            raise
    folder = Path(path).parent
    new = [each for each in (folder, *folder.parents) if not each.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    for each in new:
        sync_folder(each.parent)
    return disk.open_handle(path, flags | os.O_CREAT), True


def _why_not(path: str, error: OSError | ValueError) -> AppendError:
    match error:
        case FileNotFoundError() if not path:
            return AppendError("", "the empty path names no file")
        case disk.LinkOutError():
            return AppendError(path, f"not written: {error.strerror}")
        case FileNotFoundError() | IsADirectoryError():
            return AppendError(path, disk.why_not_read(error))
        case _:
            return AppendError(path, f"cannot be written: {disk.why(error)}")


PATIENCE = 2.0
"""Seconds to wait for a lock before a message."""

if sys.platform == "win32":
    import msvcrt
    from errno import EDEADLK

    _FAR_AWAY = 1 << 62
    """Where no trace has a byte: a region that is locked here cannot be read by others."""

    def _try_lock(handle: int) -> bool:
        try:
            os.lseek(handle, _FAR_AWAY, os.SEEK_SET)
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:  # the same for each reason; waiting shows which it is
            return False
        return True

    def _wait_for_lock(handle: int) -> None:
        while True:
            os.lseek(handle, _FAR_AWAY, os.SEEK_SET)
            try:
                msvcrt.locking(handle, msvcrt.LK_LOCK, 1)
            except OSError as error:
                if error.errno != EDEADLK:  # it gives up after ten seconds
                    raise
            else:
                return

elif sys.platform == "emscripten":

    def _try_lock(handle: int) -> bool:  # noqa: ARG001 - as the others
        # Its flock does nothing: somebody else may write to the same file.
        raise OSError(errno.ENOLCK, "WebAssembly has no locks, so use Drive Trace with Python")

    _wait_for_lock = _try_lock

else:
    import fcntl

    # Not a POSIX lock (lockf): that is lost as soon as the process closes any handle of the file,
    # also one that it only read with.
    def _try_lock(handle: int) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _wait_for_lock(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX)


def lock(handle: int, notify: Callable[[], object] = bool) -> None:
    """Wait for the lock, and take it. Raises OSError where the system has no locks.

    If that takes longer than :data:`PATIENCE`, ``notify`` is called once, from another thread.
    """
    if _try_lock(handle):
        return
    from threading import Timer  # noqa: PLC0415 - most locks are free, and it takes a while to load

    timer = Timer(PATIENCE, notify)
    timer.daemon = True
    timer.start()
    try:
        _wait_for_lock(handle)
    finally:
        timer.cancel()
