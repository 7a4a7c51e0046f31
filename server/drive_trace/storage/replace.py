"""Writing files so that they are whole whenever somebody reads them."""

import io
import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path

from drive_trace.storage import appending, patterns
from drive_trace.storage import files as disk
from drive_trace.text.codec import loads


def write_whole(path: Path, data: bytes | Iterable[bytes]) -> None:
    """Write a file as a whole, in place of one that exists. Raises OSError, and then leaves the old
    one, or says that the new one is there.
    """
    with file_beside(path, data) as temporary:
        try:
            _liken(temporary, path.stat())
        except FileNotFoundError:
            temporary.chmod(0o666 & ~_umask())
        temporary.replace(path)
    try:
        appending.sync_folder(path.parent)
    except OSError as error:
        raise OSError(error.errno, f"{error.strerror}; {_UNSYNCED}") from error


_UNSYNCED = "the new one is there, but a crash of the system may bring the old one back"


class Unsynced(disk.Problem):
    """A file was replaced, but that may not survive a crash of the system."""

    __slots__ = ()


def replace_content(path: str, before: bytes, after: bytes) -> disk.Problem | None:
    """Replace the content ``before`` of a file by ``after``, or return why not, or Unsynced.

    A link stays a link, and the file that it leads to is replaced, if that is in the repository.
    The new file has the permissions and, where possible, the owner of the old one.
    """
    try:
        real = disk.inside(path)
        status = real.stat()
        if not stat.S_ISREG(status.st_mode):
            return disk.Problem(path, f"is not fixed: {disk.SPECIAL}")
        if not os.access(real, os.W_OK):
            return disk.Problem(path, "is not fixed: permission denied")
        # A writer that takes the lock waits meanwhile, and then appends to the new file.
        with _kept_by_us(real), file_beside(real, after) as temporary:
            _liken(temporary, status)
            # As late as possible: what others append from here on would be lost.
            if real.read_bytes() != before or disk.version_of(real.stat()) != disk.version_of(
                status
            ):
                return disk.Problem(path, "is not fixed: it changed in the meantime; try again")
            temporary.replace(real)
    except disk.LinkOutError as error:
        hint = "name it with --follow-links to fix what it leads to"
        return disk.Problem(path, f"not written: {error.strerror}; {hint}")
    except OSError as error:
        return disk.Problem(path, f"is not fixed: {disk.why(error)}")
    except appending.AppendError as error:
        cause = error.__cause__
        phrase = disk.why(cause) if isinstance(cause, OSError) else error.problem.reason
        return disk.Problem(path, f"is not fixed: {phrase}")
    try:
        appending.sync_folder(real.parent)
    except OSError as error:
        return Unsynced(path, f"is fixed: {disk.why(error)}; {_UNSYNCED}")
    return None


def _kept_by_us(real: Path) -> AbstractContextManager[object]:
    # Windows replaces no file that is open.
    return nullcontext() if os.name == "nt" else appending.locked_trace(str(real), create=False)


@contextmanager
def file_beside(path: Path, data: bytes | Iterable[bytes]) -> Iterator[Path]:
    """A new file with that content in the folder of ``path``, to be moved into its place. If it is
    still there at the end it is removed, where it can be.
    """
    import tempfile  # noqa: PLC0415 - takes long to load, and only some commands write

    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".drive-trace-", suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file:
            disk.refuse_moved(handle, name)  # from here on no other folder has it
            file.writelines((data,) if isinstance(data, bytes) else data)
            file.flush()
            os.fsync(file.fileno())
        yield Path(name)
    finally:
        with suppress(OSError):  # as where it is in its place
            Path(name).unlink()


def _liken(path: Path, status: os.stat_result) -> None:
    if hasattr(os, "chown"):
        with suppress(OSError):  # only a privileged user can give a file away
            os.chown(path, status.st_uid, status.st_gid)
    path.chmod(stat.S_IMODE(status.st_mode))


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


_TRACE = "is not written: {} must not take the place of a trace"
_SETTINGS_NAMES = (".toml", patterns.BASELINE_NAME)
_SETTINGS = "is not written: a report must not take the place of a configuration or a baseline"
_INPUT = "is not written: a report must not take the place of what it is made from"
_DEVICES = ("/dev/stdout", "/dev/stderr", "/dev/null")


def write_report(
    path: str, data: bytes, traces: Sequence[str], inputs: Sequence[str] = ()
) -> disk.Problem | None:
    """Write a report on ``traces``, and on other files, or return why not.

    A link stays a link, and its target is written, if that is in the repository. Streams that a
    shell has opened, as ``/dev/stdout``, are written to, but no other pipes and devices.
    """
    try:
        if disk.is_open_already(path, *_DEVICES):
            with suppress(BrokenPipeError):  # its reader has enough, as of standard output
                Path(path).write_bytes(data)
            return None
        real = disk.inside(path)
        if may_be_trace(path, traces):
            return disk.Problem(path, _TRACE.format("a report"))
        if _is_one_of(real, inputs):
            return disk.Problem(path, _INPUT)
        if any(each.casefold().endswith(_SETTINGS_NAMES) for each in (path, real.name)):
            return disk.Problem(path, _SETTINGS)
        return _written(path, real, data)
    except (OSError, ValueError) as error:
        return disk.Problem(path, f"is not written: {disk.why(error)}")


def write_table(path: str, data: Iterable[bytes]) -> disk.Problem | None:
    """Write a table piece by piece, as in :func:`write_report`; here it is the caller who knows
    the traces, once the last piece is made.
    """
    try:
        real = disk.inside(path)
        if any(map(patterns.is_trace, (Path(path), real))) or _holds_events(real):
            return disk.Problem(path, _TRACE.format("a table"))
        return _written(path, real, data)
    except (OSError, ValueError) as error:
        return disk.Problem(path, f"is not written: {disk.why(error)}")


def _written(path: str, real: Path, data: bytes | Iterable[bytes]) -> disk.Problem | None:
    if real.is_dir():
        return disk.Problem(path, "is not written: it is a folder")
    if real.exists() and not real.is_file():
        return disk.Problem(path, f"is not written: {disk.SPECIAL}")
    write_whole(real, data)
    return None


def may_be_trace(path: str, traces: Sequence[str]) -> bool:
    """Whether a file is one of ``traces``, begins like a trace, or has the name of one. Raises
    OSError where it cannot be read.
    """
    real = Path(os.path.realpath(path))
    if any(name.casefold().endswith((".jsonl", ".ndjson")) for name in (path, real.name)):
        return True
    return _holds_events(real) or _is_one_of(real, traces)


def _is_one_of(real: Path, paths: Sequence[str]) -> bool:
    for each in paths:
        with suppress(OSError):  # as where a file is not there yet
            if each != disk.STDIN and (str(real) == os.path.realpath(each) or real.samefile(each)):
                return True
    return False


def _holds_events(path: Path) -> bool:
    """Whether an existing file begins like a trace, whatever its name."""
    if not path.is_file():
        return False
    with io.BufferedReader(disk.open_regular(path)) as file:
        head = file.read(disk.SMALL)
    first = next(filter(bytes.strip, head.split(b"\n")), b"")
    try:
        event = loads(first)
    except ValueError:
        return len(first) == disk.SMALL and b'"event_type"' in first
    return isinstance(event, dict) and "event_type" in event
