"""Patterns of files that are traces, too, as editors' settings have them.

They are editors' globs, and not patterns of ``.gitignore``: they mean whole paths of files, have
``{a,b}``, and know no ``!``.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

_ANY_FOLDERS = "**"
_MOST = 64
"""So many patterns at the most come of one with alternatives."""


class MoreFiles:
    """Some patterns: ``*`` and ``?`` stay within a step of a path, ``**`` stands for any number
    of steps, ``{a,b}`` for one of them, ``[a-z]`` for a character. A pattern is one of a path
    from a folder on, or of a whole path.
    """

    def __init__(self, patterns: Sequence[str] = ()) -> None:
        self.patterns = tuple(patterns)
        plain = [each for pattern in patterns for each in _alternatives(pattern)]
        self._wanted = [
            [part for part in each.split("/") if part not in ("", ".")] for each in plain
        ]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MoreFiles) and self.patterns == other.patterns

    def __hash__(self) -> int:
        return hash(self.patterns)

    def may_name(self, name: str) -> bool:
        """Whether a file of that name may be meant, in whatever folder; quickly told."""
        return any(fnmatchcase(name, each[-1]) for each in self._wanted if each)

    def hold(self, path: Path, folder: Path) -> bool:
        """Whether a path inside a folder is meant."""
        if not self._wanted:
            return False
        inner, whole = path.relative_to(folder).parts, path.parts[1:]
        return any(_match(each, inner) or _match(each, whole) for each in self._wanted)


def _match(wanted: Sequence[str], names: Sequence[str]) -> bool:
    return any(len(wanted) in states for states in deque(_states_of(wanted, names), maxlen=1))


def _states_of(wanted: Sequence[str], names: Iterable[str]) -> Iterator[set[int]]:
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


def _alternatives(pattern: str) -> list[str]:
    """The patterns that one with ``{a,b}`` stands for."""
    done: list[str] = []
    left = [pattern]
    while left and len(done) + len(left) <= _MOST:
        each = left.pop(0)
        opened, closed = _braces(each)
        if closed < 0:
            done.append(each)
            continue
        before, after = each[:opened], each[closed + 1 :]
        left += [f"{before}{one}{after}" for one in _split(each[opened + 1 : closed])]
    return (done + left)[:_MOST]


def _braces(pattern: str) -> tuple[int, int]:
    """Where the first braces open and close; -1 for the latter where none do."""
    opened, depth = pattern.find("{"), 0
    for at in range(max(opened, 0), len(pattern)):
        depth += (pattern[at] == "{") - (pattern[at] == "}")
        if depth == 0:
            return opened, at if opened >= 0 else -1
    return opened, -1


def _split(inside: str) -> Iterator[str]:
    """The alternatives between braces; those of braces within stay together."""
    depth = start = 0
    for at, each in enumerate(inside):
        depth += (each == "{") - (each == "}")
        if each == "," and depth == 0:
            yield inside[start:at]
            start = at + 1
    yield inside[start:]
