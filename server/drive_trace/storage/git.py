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


def run_git(
    folder: str,
    *arguments: str,
    seconds: float,
    most: int,
    with_errors: bool = True,
) -> bytes | Problem:
    """What git writes to its standard output; its errors go to ours, or ``with_errors=False``
    nowhere. It ends after some ``seconds``, or with more than ``most`` bytes.
    """
    written = bytearray()

    def take(data: bytes) -> None:
        written.extend(data)
        if len(written) > most:
            raise OSError(f"git wrote more than {most >> 20} MB")

    command = f"{_COMMAND} {shlex.join(arguments)}{'' if with_errors else ' 2>/dev/null'}"
    try:
        ran = run_shell(
            command,
            seconds=seconds,
            take=take,
            folder=folder,
            environment=_ENVIRONMENT,
            with_errors=False,
        )
    except OSError as error:
        return Problem(folder, f"git cannot be asked: {why(error)}")
    if ran.problem is not None or ran.code:
        return Problem(folder, f"git {ran.problem or f'exited with {ran.code}'}")
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
