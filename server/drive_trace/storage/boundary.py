"""The boundary of files: no link that a stranger may have made leads out of its repository.

:func:`inside` decides for every file that is found or that stands beside one, and for every file
that is written. Two things are not noticed: a second name of a file that lies elsewhere (a hard
link, which git does not make), and a folder that becomes a link between the check and the opening.
"""

from __future__ import annotations

import os
from pathlib import Path

from drive_trace.storage.files import LinkOutError, read_regular

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


def git_folder_of(root: Path) -> Path | None:
    """The git folder of a repository with this root; None if the folder is no root."""
    found = root / ".git"
    try:
        if found.is_file():
            phrase = os.fsdecode(read_regular(found))
            if not phrase.startswith("gitdir: "):
                return None
            found = root / phrase.removeprefix("gitdir: ").rstrip("\n")
        return found if (found / "HEAD").exists() else None
    except (OSError, ValueError):
        return None
