"""Asking git about a repository that a stranger may have made. Nothing that its files or its
configuration name is run, and nothing is fetched.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from drive_trace.storage.files import LARGEST, STDIN, Problem, records_of, why
from drive_trace.storage.processes import run_shell
from drive_trace.storage.repositories import git_folder_of

_COMMAND = (
    "exec git --no-pager --no-optional-locks -c core.fsmonitor=false -c core.hooksPath=/dev/null"
)
_ENVIRONMENT = {
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_TERMINAL_PROMPT": "0",
}
_MOST_ERRORS = 1 << 12


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

    command = f"{_COMMAND} {shlex.join(arguments)}"
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


def committed_records(path: str, *, seconds: float = 10.0) -> Sequence[str] | None:
    """The records of a trace as git's ``HEAD`` has it; None outside of a repository, of a file that
    is not committed, and where git does not say within some seconds.
    """
    if path == STDIN:
        return None
    try:
        real = Path(path).resolve(strict=True)
    except (OSError, RuntimeError, ValueError):
        return None
    if not any(git_folder_of(folder) for folder in real.parents):
        return None
    # The name counts from git's current folder.
    arguments = ("cat-file", "blob", f"HEAD:./{real.name}")
    found = run_git(str(real.parent), *arguments, seconds=seconds, most=LARGEST, with_errors=False)
    return None if isinstance(found, Problem) else records_of(found)
