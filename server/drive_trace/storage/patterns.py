"""Patterns of paths: those of ``.gitignore``, and editors' globs of further trace files.

The library pathspec translates a pattern of ``.gitignore`` to a regular expression. This module
turns it into one that means a path itself, and not what lies below it, as git looks at one folder
after another. No pattern can make it slow: patterns come with traces that others wrote.

Editors' globs are different: they mean whole paths of files, have ``{a,b}``, and know no ``!``.
"""

from __future__ import annotations

import os
import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import NamedTuple

_MANY_FOLDERS, _ANY = "(?:/.+)?", "[^/]*"
"""What pathspec makes of a ``**`` between folders, and of a ``*``."""
_ENDS = {
    "(?:(?P<ps_d>/)|$)": r"/?\Z",
    "(?P<ps_d>/)": r"/\Z",
    "/": r"/.",
}
"""How its expressions end, and what they end in to mean the path itself: with a ``/`` behind it,
a path is a folder's.
"""
_ESCAPED_OR_BRACKETS = re.compile(
    r"(?s)\\(?P<escaped>.)|\[(?P<negation>[!^]?)(?P<inside>\]?(?:\[:\w+:\]|\\.|[^\]\\])*)\]"
)
_IN_BRACKETS = re.compile(
    r"(?s)\[:(?P<named>\w+):\]|(?P<low>\\?.)(?:-(?P<high>\\.|[^\]\\]))?",
)
_MANY_STARS = re.compile(r"(?<!\\)\*{3,}")
_NAMED = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "blank": r" \t",
    "cntrl": r"\x00-\x1f\x7f",
    "digit": "0-9",
    "graph": r"\x21-\x7e",
    "lower": "a-z",
    "print": r"\x20-\x7e",
    "punct": r"!-/:-@\[-`{-~",
    "space": r"\s",
    "upper": "A-Z",
    "xdigit": "0-9A-Fa-f",
}
_MOST = 4000
"""The most patterns of a file: each of them is made an expression, and held against each path."""
_FIRST_STAND_IN = 0xE000
"""Characters for private use stand in for brackets; a byte is none of them."""


class _Pattern(NamedTuple):
    expression: re.Pattern[str]
    ignores: bool
    """False for one with a ``!``."""


class Patterns:
    """The patterns of one file, for the paths below its folder."""

    def __init__(self, lines: Iterable[str]) -> None:
        """Lines of text, or of bytes that were read as Latin-1."""
        self._patterns = [found for line in lines if (found := _pattern(line)) is not None]

    @classmethod
    def of_file(cls, data: bytes) -> Patterns:
        """Those of a ``.gitignore``. Raises ValueError where they are more than anybody writes."""
        text = data.removeprefix(b"\xef\xbb\xbf").decode("latin-1")
        lines = [line.removesuffix("\r") for line in text.split("\n")]
        if sum(bool(line) and not line.startswith("#") for line in lines) > _MOST:
            raise ValueError(f"has more than {_MOST} patterns")
        return cls(lines)

    def decide(self, path: str) -> bool | None:
        """Whether a path is ignored; None where no pattern means it. With ``/`` between its steps,
        and behind it if it is a folder's; as :func:`as_bytes` gives it.
        """
        for pattern in reversed(self._patterns):
            if pattern.expression.search(path):
                return pattern.ignores
        return None

    def hold(self, path: str) -> bool:
        """Whether a path of a file, or a folder above it, is meant."""
        steps = as_bytes(path).split("/")
        above = ("/".join(steps[:count]) + "/" for count in range(1, len(steps)))
        return any(self.decide(each) for each in (*above, "/".join(steps)))


@cache
def patterns_of(lines: tuple[str, ...]) -> Patterns:
    """Patterns that somebody has written in text, made once."""
    return Patterns(as_bytes(each) for each in lines)


def is_pattern(line: str) -> bool:
    """Whether a line can mean anything."""
    return _pattern(as_bytes(line)) is not None


def as_bytes(path: str) -> str:
    """A path's bytes, each as a character: git's ``?`` is a byte."""
    return os.fsencode(path).decode("latin-1")


def _pattern(line: str) -> _Pattern | None:
    from pathspec.patterns.gitignore.spec import (  # noqa: PLC0415 - most searches need it not
        GitIgnoreSpecPattern,
    )

    kept = _without_trailing_spaces(line)
    rest = kept.removeprefix("!")
    if rest == "/" or rest.startswith("\\/") or rest.endswith("\\/"):
        return None  # no path begins with a /, and an escaped one at the end is no folder's
    brackets: list[str] = []

    def stand_in(found: re.Match[str]) -> str:
        if found["escaped"] is not None:
            return "/" if found["escaped"] == "/" else found[0]
        brackets.append(_bracket(found["negation"], found["inside"]))
        return chr(_FIRST_STAND_IN + len(brackets) - 1)

    try:
        plain = _MANY_STARS.sub("**", _ESCAPED_OR_BRACKETS.sub(stand_in, kept))
        if "/" in kept.rstrip("/") and "/" not in plain.rstrip("/"):  # one in brackets counts, too
            plain = re.sub(r"\A(!?)", r"\1/", plain)
        folders_only = plain.endswith("/**/")
        expression, ignores = GitIgnoreSpecPattern.pattern_to_regex(plain[: -folders_only or None])
        if expression is None or ignores is None:
            return None
        whole = _in_linear_time(_of_itself(expression, folders_only=folders_only))
        for number, bracket in enumerate(brackets):
            whole = whole.replace(chr(_FIRST_STAND_IN + number), bracket)
        return _Pattern(re.compile(whole, re.DOTALL), ignores)
    except (
        ValueError,
        re.error,
        OverflowError,
    ):  # as for git, it means nothing
        return None


def _without_trailing_spaces(line: str) -> str:
    kept = line.rstrip(" ")
    is_escaped = (len(kept) - len(kept.rstrip("\\"))) % 2 == 1
    return f"{kept} " if is_escaped and kept != line else kept


def _bracket(negation: str, content: str) -> str:
    """The expression of ``[…]``, which never means a ``/``."""
    parts = []
    for each in _IN_BRACKETS.finditer(content):
        if each["named"] is not None:
            parts.append(_NAMED.get(each["named"], ""))
            continue
        low = ord(each["low"][-1])
        high = ord(each["high"][-1]) if each["high"] is not None else low
        if low <= high:
            parts.append(f"\\x{low:02x}-\\x{high:02x}")
        elif each["high"] is not None:  # git looks at the first alone before it sees the range
            parts.append(f"\\x{low:02x}")
    inside = "".join(parts)
    if negation:
        return f"[^/{inside}]"
    return f"(?!/)[{inside}]" if inside else "(?!)"


def _of_itself(expression: str, *, folders_only: bool) -> str:
    """An expression that means no path below what it means."""
    if expression == ".":
        return r"/\Z" if folders_only else expression
    end, new = next(each for each in _ENDS.items() if expression.endswith(each[0]))
    if folders_only:
        new = r"/.+/\Z"
    return expression.removesuffix(end) + new


def _in_linear_time(expression: str) -> str:
    """The same without trying again what was found: the first place that fits is as good as any
    other for all but the last ``**`` of a pattern, and the last ``*`` of a name.
    """
    first, *others = map(_with_atomic_stars, expression.split(_MANY_FOLDERS))
    if not others:
        return first
    if first.startswith("^(?:.+/)?"):
        first = f"^(?>(?:.+?/)??{first.removeprefix('^(?:.+/)?')}(?=/))"
    *middle, last = others
    return first + "".join(f"(?>(?:/.+?)??{each}(?=/))" for each in middle) + _MANY_FOLDERS + last


def _with_atomic_stars(expression: str) -> str:
    first, *others = expression.split(_ANY)
    if not others:
        return first
    *middle, last = others
    return first + "".join(f"(?>[^/]*?{each})" for each in middle) + _ANY + last


_ANY_FOLDERS = "**"
_MOST_ALTERNATIVES = 64
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
    while left and len(done) + len(left) <= _MOST_ALTERNATIVES:
        each = left.pop(0)
        opened, closed = _braces(each)
        if closed < 0:
            done.append(each)
            continue
        before, after = each[:opened], each[closed + 1 :]
        left += [f"{before}{one}{after}" for one in _split(each[opened + 1 : closed])]
    return (done + left)[:_MOST_ALTERNATIVES]


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
