"""Globs that name files below a folder, by the rules of ``.gitignore`` without its negation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase

_ANY_FOLDERS = "**"


def glob_problem(glob: str) -> str | None:
    """What is wrong with a glob, if it cannot mean a file below the folder."""
    if not glob.strip("/"):
        return "an empty glob names no file"
    if glob.startswith("!"):
        return "a glob cannot be negated; set other rules for the exception in a later override"
    if "\\" in glob:
        return "folders in a glob are separated by `/`"
    if ".." in glob.split("/"):
        return "a glob cannot lead out of the folder of the configuration"
    return None


def glob_matches(glob: str, path: str) -> bool:
    """Whether a glob means a path, which is relative to the folder, with ``/`` in between.

    ``*``, ``?`` and ``[…]`` stay within a name, ``**`` is any number of folders. Without a ``/``
    before its end, a glob means that name in every folder. A folder means all that is in it.
    """
    wanted = glob.strip("/").split("/")
    if "/" not in glob.rstrip("/"):
        wanted.insert(0, _ANY_FOLDERS)
    if glob.endswith("/"):
        wanted += [_ANY_FOLDERS, "*"]
    return any(len(wanted) in states for states in states_of(wanted, path.split("/")))


def states_of(wanted: Sequence[str], names: Iterable[str]) -> Iterator[set[int]]:
    """After each name of a path: how many names of a glob may be matched by those so far. All at
    once, so that no glob takes longer than its length times the path's.
    """
    states = _with_skipped({0}, wanted)
    for name in names:
        states = _with_skipped(
            {
                state + (wanted[state] != _ANY_FOLDERS)
                for state in states
                if state < len(wanted)
                and (wanted[state] == _ANY_FOLDERS or fnmatchcase(name, wanted[state]))
            },
            wanted,
        )
        yield states


def _with_skipped(states: set[int], wanted: Sequence[str]) -> set[int]:
    """With the states that are reached as ``**`` may match no folder at all."""
    reached = set(states)
    for state in range(len(wanted)):
        if state in reached and wanted[state] == _ANY_FOLDERS:
            reached.add(state + 1)
    return reached
