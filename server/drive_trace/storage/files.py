"""Opening and reading files that anybody may have written: without waiting, within bounds, and as
readers of traces decode them; the boundary that no link leads out of; and the records beside
traces. :mod:`finding` finds traces.
"""

from __future__ import annotations

import errno
import io
import os
import re
import stat
import sys
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cache, partial
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from drive_trace.storage.patterns import JUDGEMENTS_SUFFIX, PROVENANCE_SUFFIX
from drive_trace.text.quick import blake2b
from drive_trace.text.spans import decode

if TYPE_CHECKING:
    from drive_trace.grading.judgements import Judgements, Verdicts
    from drive_trace.scorecard.scoring import TraceSummary
    from drive_trace.trace.provenance import ProvenanceRecord


STDIN = "-"
HEAD = 64
"""The first bytes of a file, which show how its text is encoded."""
_MARKS = {
    b"\xff\xfe\0\0": "is UTF-32; save it as UTF-8",  # begins with the mark of UTF-16
    b"\0\0\xfe\xff": "is UTF-32; save it as UTF-8",
    b"\xff\xfe": "is UTF-16; save it as UTF-8",
    b"\xfe\xff": "is UTF-16; save it as UTF-8",
    b"\x1f\x8b": "is packed by gzip; unpack it",
    b"PK\3\4": "is a zip archive; unpack it",
    b"\x28\xb5\x2f\xfd": "is packed by Zstandard; unpack it",
}
"""What marks at the beginning mean, and what to do, the longer ones first."""

_PIECE = 1 << 24
"""Bytes that are read at once."""
_DESCRIPTOR = r"/dev/fd/\d+|/proc/self/fd/\d+"
SMALL = 1 << 20
"""The most bytes of a file that is written by hand or for one purpose, as a configuration."""
LARGEST = 1 << 30
"""The most bytes of a trace, or of standard input: work on it takes up to six times as much."""


DIGEST = 20
"""Bytes of a digest."""


class Problem(NamedTuple):
    """Why something could not be read, written or used."""

    path: str
    """As it was given or found; a configuration's with the line and column that are wrong."""
    reason: str
    """In a few words, as ``permission denied``; without the path."""

    @property
    def message(self) -> str:
        """The path and the reason in one sentence."""
        return f"{self.path}: {self.reason}" if self.path else self.reason


class LeftOut(Problem):
    """What a search found and does not read: a file, a folder, or patterns. Or a file that is none
    of ours: no reason to fail.
    """


class FoundPath(str):
    """The path of a trace that a search found, as people know it. It is read at ``real``, where the
    search has looked: what leads elsewhere when it is opened is not read.
    """

    real = base = ""
    """A path with no link in it, and the folder that was searched, as of :func:`inside`."""
    is_alone = False
    """Whether no record stood beside it when its folder was searched."""


class TraceRecords(NamedTuple):
    """A trace that was read."""

    path: str
    """As it was given or found; ``-`` is standard input."""
    records: list[str]
    """Its text, split at each ``\\n``; the last is empty after a final newline."""
    provenance: ProvenanceRecord | None = None
    """The record of where its events come from, where one stands beside it."""
    found: str = ""
    """Its path to read it again: a FoundPath if a search found it."""


def read_trace(path: str) -> TraceRecords | Problem:
    """Read one trace whole."""
    if path == STDIN and sys.stdin is None:
        return Problem(STDIN, "standard input is closed")
    provenance = provenance_beside(path)
    data = read_bytes(path)
    found = data if isinstance(data, Problem) else decoded(path, data)
    if isinstance(found, Problem):
        return found
    return found._replace(provenance=provenance, found=path)


def records_at(path: str) -> Sequence[str] | Problem:
    """The records of a trace; where it is another file of that name, those of an empty one."""
    found = read_trace(path)
    if isinstance(found, TraceRecords):
        return found.records
    return [""] if isinstance(found, LeftOut) else found


def decoded(path: str, data: bytes) -> TraceRecords | Problem:
    """A trace of these bytes; LeftOut where it is another file, called ``trace.jsonl`` as well."""
    path, reason = str(path), why_not_utf8(data)
    if reason is not None:
        return Problem(path, reason)
    records = records_of(data)
    from drive_trace.trace.line import why_no_trace  # noqa: PLC0415 - not for --help

    other = why_no_trace(records) if os.path.basename(path) == "trace.jsonl" else None  # noqa: PTH119
    return TraceRecords(path, records) if other is None else LeftOut(path, other)


def read_bytes(path: str, most: int = LARGEST) -> bytes | Problem:
    """Read a whole file of at most ``most`` bytes; ``-`` is standard input. Never waits for
    somebody to write to a pipe, unless a shell opened the pipe for this process, as for
    ``<(git show …)``.
    """
    try:
        if path != STDIN and not is_open_already(path, "/dev/stdin"):
            return read_regular(path, most)
        with opened(path) as stream:
            return read_stream(stream, most)
    except (OSError, ValueError) as error:
        return Problem(str(path), why_not_read(error))


def cache_folder() -> Path:
    """Where the user's cache is: in the folder that ``DRIVE_TRACE_CACHE`` names, if it is set."""
    named = os.environ.get("DRIVE_TRACE_CACHE")
    if not named:
        from platformdirs import user_cache_dir  # noqa: PLC0415 - few need it

        named = user_cache_dir("drive-trace")
    return Path(os.path.realpath(named))


def config_folder() -> Path:
    """Where the user's own settings are: in the folder that ``DRIVE_TRACE_CONFIG`` names, if it is
    set.
    """
    from platformdirs import user_config_path  # noqa: PLC0415 - few need it

    named = os.environ.get("DRIVE_TRACE_CONFIG")
    return Path(named) if named else user_config_path("drive-trace")


def digest_of(*parts: bytes) -> bytes:
    """Of bytes, each with its length."""
    made = blake2b(digest_size=DIGEST)
    for part in parts:
        made.update(len(part).to_bytes(8, "big"))
        made.update(part)
    return made.digest()


def records_of(data: bytes) -> list[str]:
    """The records of a trace, split at each ``\\n``, as readers decode them."""
    # Record by record: one emoji would make each character of the whole text four bytes, and
    # all at once would need each record's bytes and text in memory at the same time.
    try:
        records = [record.rstrip(b"\n").decode() for record in io.BytesIO(data)]
    except UnicodeDecodeError:  # asked once: to ask of each record takes a fiftieth of `score`
        records = [decode(record.rstrip(b"\n")) for record in io.BytesIO(data)]
    if not data or data.endswith(b"\n"):
        records.append("")
    return records


def why_not_utf8(data: bytes) -> str | None:
    """Why no reader can use a file that begins with these bytes: it is UTF-16 or UTF-32, or binary.
    None for others.
    """
    phrase = next((each for mark, each in _MARKS.items() if data.startswith(mark)), None)
    if phrase is None and 0 in data[:HEAD] and _has_half_nul(data[:HEAD]):
        phrase = "looks like UTF-16; save it as UTF-8"
    return phrase


def _has_half_nul(head: bytes) -> bool:
    """Whether every second byte is NUL, and no other: ASCII in UTF-16 without a mark."""
    halves = head[::2], head[1::2]
    return len(head) > 3 and any(
        all(ascii_half) and not any(nul_half) for ascii_half, nul_half in (halves, halves[::-1])
    )


SPECIAL = "it is a pipe or a device, not a file"
"""Why a file is neither read nor written that is no regular one."""


class LinkOutError(OSError):
    """A link leads out of the repository, or into what git keeps there; see
    :func:`drive_trace.storage.files.inside`.
    """

    def __init__(self, path: str, words: str = "link out of the repository") -> None:
        super().__init__(errno.EPERM, words, path)


def why_not_read(error: OSError | ValueError) -> str:
    """Why a file cannot be read, in a few words."""
    match error:
        case LinkOutError():
            return f"not read: {error.strerror}"
        case IsADirectoryError():
            return "is a folder, not a file"
        case OSError(strerror=str(words)) if words == SPECIAL:
            return f"{words}; save its text as one"
        case OSError(errno=errno.EFBIG):
            return f"is too large: {error.strerror}"
        case _:
            return why(error)


def why(error: OSError | ValueError) -> str:
    """The system's message for an error; the commonest are always told alike."""
    if isinstance(error, PermissionError):
        return "permission denied"
    if isinstance(error, FileNotFoundError):
        return "no such file or folder"
    return (isinstance(error, OSError) and error.strerror) or str(error)


# Regular files: a name can be a pipe, a device, or a link to one


def is_open_already(path: str, *devices: str) -> bool:
    """Whether a path names what a shell has opened for the command, or is one of some devices."""
    return path in devices or re.fullmatch(_DESCRIPTOR, path) is not None


def opened(path: str) -> AbstractContextManager[BinaryIO | io.BufferedReader]:
    """A file to read, standard input, or what a shell has opened. Raises OSError."""
    if path == STDIN:
        return nullcontext(sys.stdin.buffer)
    if is_open_already(path, "/dev/stdin"):
        return Path(path).open("rb")
    return io.BufferedReader(open_regular(path))


def open_regular(path: str | Path, mode: str = "r", *, is_real: bool = False) -> io.FileIO:
    """Open a file, by default to read it, which never waits for anybody. Links are followed, unless
    the path ``is_real``, as one is that :func:`inside` gave.

    Raises OSError, also for a folder, and for what is no regular file: reading from a pipe or a
    device may never end.
    """
    file = io.FileIO(path, mode, opener=partial(_open, is_real=is_real))
    try:
        refuse_special(os.fstat(file.fileno()))
        if is_real:
            refuse_moved(file.fileno(), str(path))
    except OSError:
        file.close()
        raise
    return file


def refuse_special(status: os.stat_result) -> None:
    """Raise OSError for what is no regular file, and for a file that the system makes up when it is
    read, such as the environment of a process.
    """
    if not stat.S_ISREG(status.st_mode) or status.st_dev in _made_up():
        raise OSError(errno.EINVAL, SPECIAL)


@cache
def _made_up() -> frozenset[int]:
    """The devices of such files."""
    places = filter(os.path.ismount, ("/proc", "/sys"))
    return frozenset(os.stat(each).st_dev for each in places)  # noqa: PTH116 - fast


def refuse_moved(handle: int, real: str) -> None:
    """Raise LinkOutError unless an open file stands at this real path, with no link on the way: one
    may have been put there since the path was checked.
    """
    try:
        # The system tells the path by which it was opened. It may have been replaced since.
        found = os.readlink(f"/proc/self/fd/{handle}")  # noqa: PTH115 - fast
        is_there = found in {real, f"{real} (deleted)"}
    except OSError:  # as on macOS and Windows
        is_same = os.path.samestat(os.lstat(real), os.fstat(handle))
        is_there = is_same and os.path.realpath(real) == real
    if not is_there:
        raise LinkOutError(real, "moved, or made a link, while it was opened")


def read_regular(path: str | Path, most: int = SMALL, *, is_real: bool = False) -> bytes:
    """All bytes of a regular file. Raises OSError, also where it has more than ``most``."""
    if isinstance(path, FoundPath):
        path, is_real = path.real, True
    with io.BufferedReader(open_regular(path, is_real=is_real)) as file:
        size = refuse_large(file, most)
        return read_stream(file, most, size or _PIECE)  # in one piece, which is never copied


def read_stream(stream: BinaryIO, most: int = LARGEST, piece_size: int = _PIECE) -> bytes:
    """All bytes until the end. Raises OSError where there are more than ``most``."""
    pieces, size = [], 0
    while piece := stream.read(piece_size):
        pieces.append(piece)
        size += len(piece)
        if size > most:
            raise _too_large(most)
    return b"".join(pieces)


def refuse_large(file: BinaryIO | io.RawIOBase, most: int = LARGEST) -> int:
    """The size of an open file in bytes. Raises OSError where it has more than ``most``, before one
    is read.
    """
    size = os.fstat(file.fileno()).st_size
    if size > most:
        raise _too_large(most)
    return size


def _too_large(most: int) -> OSError:
    units = (("GB", 30), ("MB", 20), ("bytes", 0))
    unit, shift = next(each for each in units if most >> each[1])
    return OSError(errno.EFBIG, f"it has more than {most >> shift} {unit}")


NO_LINK = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NOFOLLOW_ANY", 0)
"""Opens no real path whose last step has become a link, on macOS none with any."""


def _open(path: str, flags: int, *, is_real: bool) -> int:
    # A pipe that nobody writes to is opened at once, and a terminal does not become ours.
    flags |= getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
    return open_handle(path, flags | NO_LINK if is_real else flags)


def open_handle(path: str, flags: int) -> int:
    """``os.open``, which raises IsADirectoryError for a folder on Windows, too."""
    try:
        return os.open(path, flags, 0o666)
    except PermissionError:
        if sys.platform == "win32" and os.path.isdir(path):  # noqa: PTH112 - Path may raise
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path) from None
        raise


_NOT_THERE = {errno.ENOENT, errno.ENOTDIR, errno.EACCES, errno.ENAMETOOLONG, errno.ELOOP}


def may_be_there(path: str | Path) -> bool:
    """Whether a path names a file, a folder or a link, or a disk fails to say: reading it says why.
    What is taken for missing there would be written anew, without what it holds.
    """
    try:
        os.lstat(path)
    except OSError as error:
        return error.errno not in {*_NOT_THERE, errno.EINVAL}
    except ValueError:
        return False
    return True


def version_of(status: os.stat_result) -> tuple[int, ...]:
    """Changes when another process writes or replaces a file."""
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def version_at(path: str) -> tuple[int, ...]:
    """The same of what stands at a path; empty if nothing does that can be read."""
    try:
        return version_of(os.stat(path))  # noqa: PTH116 - fast
    except (OSError, ValueError):
        return ()


# The boundary: no link that a stranger may have made leads out of its repository. `inside` decides
# for every file that is found or that stands beside one, and for every file that is written; what
# it gives is opened as a real path, so that nothing can become a link in between. Not noticed is a
# second name of a file that lies elsewhere (a hard link, which git does not make).


HISTORIES = {".git", ".hg", ".svn"}
"""What version control systems keep for themselves: credentials, and programs that they run."""


def inside(path: str | Path, base: str | Path | None = None) -> Path:
    """The real path of a file, for which there may be none yet. Raises LinkOutError if a link on
    the way leads out of the repository, or into what git keeps there.

    Links in ``base``, a folder that somebody named, do not count, nor do those above a repository.
    Without a repository nothing leads out of ``base``; without that, out of the file's own folder.
    """
    real = os.path.realpath(path)
    named = os.path.abspath(path)  # noqa: PTH100 - Path follows links
    if base is not None:
        below = os.path.relpath(named, os.path.abspath(base))  # noqa: PTH100
        named = os.path.join(os.path.realpath(base), below)  # noqa: PTH118
    if real == named:
        return Path(real)
    root = _root(named, base) if os.path.realpath(named) == real else None
    if root is None or not Path(real).is_relative_to(root):
        raise LinkOutError(str(path))
    for each in Path(real).relative_to(root).parts:
        if each.casefold() in HISTORIES:
            raise LinkOutError(str(path), f"link into {each}")
    return Path(real)


def leads_out(path: str | Path, base: str | Path | None = None) -> LinkOutError | None:
    """Why :func:`inside` refuses a path; None if it does not."""
    try:
        inside(path, base)
    except OSError as error:  # of others, opening it says why
        return error if isinstance(error, LinkOutError) else None
    return None


def holds_home(folder: str | Path) -> bool:
    """Whether a real folder is the user's home folder, or one above it."""
    home = os.path.realpath(os.path.expanduser("~"))  # noqa: PTH111 - Path raises where none is
    return Path(home).is_relative_to(folder)


def _root(named: str, base: str | Path | None) -> Path | None:
    """What a path may not leave: the innermost repository around it; None if a link has left one
    before. One with the home folder in it is none: anything may stand there.
    """
    root: Path | None = None
    for each in reversed(Path(named).parents):
        real = Path(os.path.realpath(each))
        if root is not None and not real.is_relative_to(root):
            return None
        if git_folder_of(real) is not None and not holds_home(real):
            root = real
    return root or Path(os.path.realpath(Path(named).parent if base is None else base))


def folders_above(path: str) -> Sequence[str]:
    """The folders that an absolute path is in, the innermost one first."""
    found = [os.path.dirname(path)]  # noqa: PTH120 - Path is slow, and there are many traces
    while (folder := os.path.dirname(found[-1])) != found[-1]:  # noqa: PTH120 - as above
        found.append(folder)
    return found


def git_folder_of(root: str | Path) -> Path | None:
    """The git folder of a repository with this root; None if the folder is no root."""
    if not may_be_there(os.path.join(root, ".git")):  # noqa: PTH118 - fast, as most have none
        return None
    found = Path(root, ".git")
    try:
        if found.is_file():
            phrase = os.fsdecode(read_regular(found))
            if not phrase.startswith("gitdir: "):
                return None
            found = Path(root, phrase.removeprefix("gitdir: ").rstrip("\n"))
        return found if (found / "HEAD").exists() else None
    except (OSError, ValueError):
        return None


# The records beside traces: of the judging, for those who show what a grade rests on, and of where
# events come from


MOST_BYTES = 16 << 20
"""A larger record is not read."""


def _judgements_beside(trace: str, base: str | None = None) -> Judgements | None:
    """What the record beside a trace says; None where there is none."""
    data = record_beside(trace, JUDGEMENTS_SUFFIX, MOST_BYTES, base)
    if not data:
        return None
    # Most traces have no record, and are scored without loading what reads one.
    from drive_trace.grading.judgements import Judgements, read_judgements  # noqa: PLC0415

    if isinstance(data, Problem):
        return Judgements(is_whole=False)
    judgements, gates, others = read_judgements(records_of(data))
    return Judgements(judgements, gates, is_whole=not others)


def verdicts_beside(trace: str, run_id: str) -> Verdicts:
    """What the record beside a trace says of a run."""
    found = _judgements_beside(trace)
    return found.on(run_id) if found is not None else ()


def record_beside(
    trace: str, suffix: str, most: int = LARGEST, base: str | Path | None = None
) -> bytes | Problem:
    """What stands beside a trace under its name with a suffix; empty if nothing does. Links out of
    the repository are not followed, nor is what the folder of a FoundPath has become since.
    ``base`` is as of :func:`inside`.
    """
    path = f"{trace}{suffix}"
    if trace == STDIN or not may_be_there(path):  # most traces have none: links cost more to follow
        return b""
    try:
        real = inside(path, base or getattr(trace, "base", Path(path).parent))
        return read_regular(real, most, is_real=True)
    except (OSError, ValueError) as error:
        return Problem(str(Path(path)), why_not_read(error))


def provenance_beside(trace: str, base: str | Path | None = None) -> ProvenanceRecord | None:
    """The record of where the events of a trace come from; None where there is none. It has to be
    read before the trace is: what it names stands there by then, also while others append. ``base``
    is as of :func:`inside`; a FoundPath knows its own.
    """
    real, base = trace, getattr(trace, "base", base)
    if os.path.islink(trace):  # noqa: PTH114 - fast
        real, base = os.path.realpath(trace), base and os.path.realpath(base)
    found = record_beside(real, PROVENANCE_SUFFIX, base=base)
    if not found:
        return None
    from drive_trace.storage.git import is_tracked_without  # noqa: PLC0415 - it imports this file
    from drive_trace.trace.provenance import read_provenance  # noqa: PLC0415 - not for --help

    data, damage = (b"", found.reason) if isinstance(found, Problem) else (found, None)
    record = read_provenance(data, damage, f"{Path(real).name}{PROVENANCE_SUFFIX}")
    return record._replace(is_apart=partial(is_tracked_without, trace, PROVENANCE_SUFFIX))


def with_judgements(trace: TraceSummary, path: str) -> TraceSummary:
    """The summary of the trace at a path with what its grades rest on."""
    is_graded = any(each.correctness for each in trace.runs)
    found = _judgements_beside(path) if is_graded else None
    if found is None:
        return trace
    return trace._replace(verdicts={each.run_id: found.on(each.run_id) for each in trace.runs})


class JudgementFiles:
    """The records beside traces, as they were when last looked at. Threads may share it."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._known: dict[str, tuple[tuple[int, ...], Judgements | None]] = {}

    def look(self, traces: Iterable[str], roots: Sequence[str] = ()) -> bool:
        """Read what has changed beside these traces, by their real paths. Gives whether anything
        has. No folder below one of ``roots``, which are real, may have become a link.
        """
        has_changed = False
        with self._lock:
            for trace in traces:
                version = version_at(f"{trace}{JUDGEMENTS_SUFFIX}")
                if version != self._known.get(trace, ((), None))[0]:
                    around = (each for each in roots if Path(trace).is_relative_to(each))
                    base = min(around, key=len, default=None)
                    self._known[trace] = version, _judgements_beside(trace, base)
                    has_changed = True
        return has_changed

    def on(self, trace: str, run_id: str) -> Verdicts:
        """What is known of a run from the record beside a trace. Never waits."""
        found = self._known.get(trace, ((), None))[1]
        return found.on(run_id) if found is not None else ()
