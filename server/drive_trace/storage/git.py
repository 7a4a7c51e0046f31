"""Asking git about a repository that a stranger may have made. Nothing that its files or its
configuration name is run, and nothing is fetched.
"""

from __future__ import annotations

import os
import shlex
import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from drive_trace.storage.boundary import git_folder_of, inside
from drive_trace.storage.files import LARGEST, SMALL, STDIN, Problem, records_of, why
from drive_trace.storage.processes import Program, run_shell

_GIT = (
    *("git", "--no-pager", "--no-optional-locks"),
    *("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"),
)
_ENVIRONMENT = {
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_TERMINAL_PROMPT": "0",
}
_MOST_ERRORS = 1 << 12
_LONGEST_ANSWER = 1 << 20
_MOST_TRACKED = 64 << 20
"""Bytes of the names of all files that a repository tracks."""
_PATIENCE = 10.0
"""Seconds that git may take to answer a short question."""


def run_git(
    folder: str,
    *arguments: str,
    seconds: float,
    most: int,
    with_errors: bool = True,
) -> bytes | Problem:
    """What git writes to its standard output; ``with_errors`` the problem has the first line of
    its errors. It ends after some ``seconds``, or with more than ``most`` bytes.
    """
    written, said = bytearray(), bytearray()

    def take(data: bytes) -> None:
        written.extend(data)
        if len(written) > most:
            raise OSError(f"git wrote more than {most >> 20} MB")

    def tell(data: bytes) -> None:
        said.extend(data[: _MOST_ERRORS - len(said)])

    command = f"exec {shlex.join((*_GIT, *arguments))}"
    try:
        ran = run_shell(
            command,
            seconds=seconds,
            take=take,
            folder=folder,
            environment=_ENVIRONMENT,
            errors=tell,
        )
    except OSError as error:
        return Problem(folder, f"git cannot be asked: {why(error)}")
    if ran.problem is not None or ran.code:
        first = said.decode("utf-8", "replace").partition("\n")[0] if with_errors else ""
        ended = ran.problem or f"exited with {ran.code}"
        return Problem(folder, f"git {ended}{f': {first}' if first else ''}")
    return bytes(written)


def tracked_files(root: Path, git_folder: Path) -> frozenset[str]:
    """The files that a repository tracks, by their paths from its root; none where git does not
    say. The repository is named, so that git looks for no other one above it.
    """
    named = (f"--git-dir={git_folder}", f"--work-tree={root}")
    found = run_git(str(root), *named, "ls-files", "-z", seconds=_PATIENCE, most=_MOST_TRACKED)
    names = b"" if isinstance(found, Problem) else found
    return frozenset(map(os.fsdecode, names.split(b"\0")))


class CommittedTraces:
    """What git's ``HEAD`` has of traces, one after another. One process answers for all traces of a
    repository: starting one takes longer than checking a small trace.
    """

    def __init__(self, *, seconds: float = _PATIENCE) -> None:
        """A repository whose git does not answer within some ``seconds`` is not asked again."""
        self._seconds = seconds
        self._root: Path | None = None
        self._git: Program | None = None

    def __enter__(self) -> CommittedTraces:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def records(self, path: str) -> Sequence[str] | None:
        """The records of a trace; None outside of a repository, of a file that is not committed,
        and where git does not say.
        """
        if path == STDIN:
            return None
        try:
            real = inside(path, Path(path).parent).resolve(strict=True)
        except (OSError, RuntimeError, ValueError):
            return None
        root = _root_above(real)
        if root is None or "\n" in (name := real.relative_to(root).as_posix()):
            return None  # git reads a name a line
        if root != self._root:
            self._end()
            self._root, self._git = root, _started(root)
        try:
            data = self._asked(f"HEAD:./{name}")
        except OSError as error:
            self._end()
            if not isinstance(error, TimeoutError):  # it ended, as over a damaged object
                self._root = None
            return None
        return None if data is None else records_of(data)

    def _asked(self, name: str) -> bytes | None:
        """The content of a file; None where there is none. Raises OSError for no answer."""
        if self._git is None:
            return None
        end = time.monotonic() + self._seconds
        self._git.tell(os.fsencode(f"{name}\n"))
        read = bytearray()
        while b"\n" not in read:
            read += self._git.hear(end)
            if len(read) > _LONGEST_ANSWER:
                raise OSError("git answers something else")
        answer, _, data = read.partition(b"\n")
        kind, _, size = answer.partition(b" ")[2].partition(b" ")
        if not size.isdigit():  # "missing"
            return None
        if int(size) > LARGEST:
            raise OSError("is too large")
        while len(data) <= int(size):  # a newline stands after it
            data += self._git.hear(end)
        return bytes(data[:-1]) if kind == b"blob" else None

    def _end(self) -> None:
        if self._git is not None:
            self._git.end()
        self._git = None


@cache
def committed_file(commit: str, path: str) -> bytes | None:
    """A small file as a commit has it, which is named by its hash; None where there is none."""
    folder, name = os.path.split(path)
    real = Path(os.path.realpath(folder), name)  # git, too, starts from where a link leads
    root = _root_above(real)
    if root is None or real not in _committed_paths(commit, root):
        return None
    asked = ("cat-file", "blob", f"{commit}:./{name}")
    found = run_git(folder, *asked, seconds=_PATIENCE, most=SMALL)
    return None if isinstance(found, Problem) else found


@cache
def _committed_paths(commit: str, root: Path) -> frozenset[Path]:
    """The files that a commit has and whose paths are like those of our settings. They are asked
    for together: most folders have none, and starting git for each takes long.
    """
    asked = ("ls-tree", "-r", "-z", "--name-only", commit)
    found = run_git(str(root), *asked, seconds=_PATIENCE, most=LARGEST)
    names = [] if isinstance(found, Problem) else found.split(b"\0")
    return frozenset(root / os.fsdecode(each) for each in names if b"drive-trace" in each)


def _root_above(path: Path) -> Path | None:
    return next((each for each in path.parents if git_folder_of(each)), None)


def commit_named(name: str) -> str | None:
    """The hash of a commit of the current folder's repository; None where there is none."""
    asked = ("rev-parse", "--verify", "--end-of-options", f"{name}^{{commit}}")
    found = run_git(".", *asked, seconds=_PATIENCE, most=SMALL)
    return None if isinstance(found, Problem) else found.decode().strip()


def _started(root: Path) -> Program | None:
    try:
        return Program((*_GIT, "cat-file", "--batch"), folder=root, environment=_ENVIRONMENT)
    except OSError:
        return None


def committed_records(path: str) -> Sequence[str] | None:
    """The records of one trace as git's ``HEAD`` has it, or None, as above."""
    with CommittedTraces() as git:
        return git.records(path)
