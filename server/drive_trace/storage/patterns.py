"""Patterns of paths: those of traces and of ``.gitignore``, and editors' globs of further traces.

The library pathspec translates a pattern of ``.gitignore`` to a regular expression. This module
makes that match the path itself and nothing below it, as git looks at one folder after another. No
pattern can make it slow: patterns come with traces that others wrote.

Editors' globs are different: they match whole paths of files, have ``{a,b}``, and no ``!``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache, cached_property
from pathlib import Path
from typing import NamedTuple

TRACE_GLOBS = ("**/trace.jsonl", "**/wip/drive-trace/*.jsonl")
"""The files that a search of a folder takes for traces."""
JUDGEMENTS_SUFFIX = ".judgements.ndjson"
"""Behind a trace's name: the record of the judging, which no pattern makes a trace."""
_MANY_FOLDERS, _ANY = "(?:/.+)?", "[^/]*"
"""What pathspec makes of a ``**`` between folders, and of a ``*``."""
_ENDS = {
    "(?:(?P<ps_d>/)|$)": r"/?\Z",
    "(?P<ps_d>/)": r"/\Z",
    "/": r"/.",
}
"""How pathspec's expressions end, and how they end to match the path itself. A path with a ``/`` at
its end is a folder's.
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
"""The most patterns of a file: each is compiled, and matched with each path."""
_FIRST_STAND_IN = 0xE000
"""Characters for private use stand in for brackets: no byte is one of them."""


def is_trace(path: Path) -> bool:
    """Whether a search takes a file of that name for a trace."""
    return path.name == "trace.jsonl" or (in_wip(path) and path.name.endswith(".jsonl"))


def in_wip(path: Path) -> bool:
    """Whether a file is where those of runs without a project are."""
    return path.parent.parts[-2:] == ("wip", "drive-trace")


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
        """The patterns of a ``.gitignore``. Raises ValueError where they are too many."""
        text = data.removeprefix(b"\xef\xbb\xbf").decode("latin-1")
        lines = [line.removesuffix("\r") for line in text.split("\n")]
        if sum(bool(line) and not line.startswith("#") for line in lines) > _MOST:
            raise ValueError(f"has more than {_MOST} patterns")
        return cls(lines)

    def decide(self, path: str) -> bool | None:
        """Whether a path is ignored; None if no pattern matches it. The path has ``/`` between its
        steps, and at its end if it is a folder's; it comes from :func:`as_bytes`.
        """
        for pattern in reversed(self._patterns):
            if pattern.expression.search(path):
                return pattern.ignores
        return None

    def hold(self, path: str) -> bool:
        """Whether a pattern matches a file, or a folder above it."""
        steps = as_bytes(path).split("/")
        above = ("/".join(steps[:count]) + "/" for count in range(1, len(steps)))
        return any(self.decide(each) for each in (*above, "/".join(steps)))


@cache
def patterns_of(lines: tuple[str, ...]) -> Patterns:
    """The patterns of some lines of text, compiled once."""
    return Patterns(as_bytes(each) for each in lines)


def is_pattern(line: str) -> bool:
    """Whether a line is a pattern that can match anything."""
    return _pattern(as_bytes(line)) is not None


def as_bytes(path: str) -> str:
    """A path with each byte as a character, as git's ``?`` matches one byte."""
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
    except (ValueError, re.error, OverflowError):  # as for git, it matches nothing
        return None


def _without_trailing_spaces(line: str) -> str:
    kept = line.rstrip(" ")
    is_escaped = (len(kept) - len(kept.rstrip("\\"))) % 2 == 1
    return f"{kept} " if is_escaped and kept != line else kept


def _bracket(negation: str, content: str) -> str:
    """The expression of ``[…]``, which never matches a ``/``."""
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
    """The expression, but for paths below those that it matches."""
    if expression == ".":
        return r"/\Z" if folders_only else expression
    end, new = next(each for each in _ENDS.items() if expression.endswith(each[0]))
    if folders_only:
        new = r"/.+/\Z"
    return expression.removesuffix(end) + new


def _in_linear_time(expression: str) -> str:
    """The same expression without backtracking: for all but the last ``**`` of a pattern, and the
    last ``*`` of a name, the first match is as good as any other.
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
"""The most patterns that one with alternatives stands for."""
_ALTERNATIVES = re.compile(r"\{([^{}]*)\}")


@dataclass(frozen=True)
class MoreFiles:
    """Some patterns: ``*`` and ``?`` stay within a step of a path, ``**`` stands for any number
    of steps, ``{a,b}`` for one of them, ``[a-z]`` for a character. A pattern matches a path from a
    folder on, or a whole path.
    """

    patterns: tuple[str, ...] = ()

    @cached_property
    def _wanted(self) -> list[list[str]]:
        """The steps of each pattern without alternatives."""
        plain = [each for pattern in self.patterns for each in _alternatives(pattern)]
        return [[step for step in each.split("/") if step not in ("", ".")] for each in plain]

    def may_name(self, name: str) -> bool:
        """Whether a file of that name may match, in whatever folder. This is fast."""
        return any(fnmatchcase(name, each[-1]) for each in self._wanted if each)

    def hold(self, path: Path, folder: Path) -> bool:
        """Whether a path inside a folder matches."""
        if not self._wanted or path.name.endswith(JUDGEMENTS_SUFFIX):
            return False
        inner, whole = path.relative_to(folder).parts, path.parts[1:]
        return any(_match(each, inner) or _match(each, whole) for each in self._wanted)


def _match(wanted: Sequence[str], names: Sequence[str]) -> bool:
    """Whether a pattern matches a path. Keeps all numbers of steps that the names so far may have
    matched, so that no pattern takes longer than its length times the path's.
    """
    states = _with_skipped({0}, wanted)
    for name in names:
        reached = {
            state + (wanted[state] != _ANY_FOLDERS)
            for state in states
            if state < len(wanted)
            and (wanted[state] == _ANY_FOLDERS or fnmatchcase(name, wanted[state]))
        }
        states = _with_skipped(reached, wanted)
    return len(wanted) in states


def _with_skipped(states: set[int], wanted: Sequence[str]) -> set[int]:
    """With the states that follow where a ``**`` matches no folder at all."""
    for state, step in enumerate(wanted):
        if state in states and step == _ANY_FOLDERS:
            states.add(state + 1)
    return states


def _alternatives(pattern: str) -> list[str]:
    """The patterns that one with ``{a,b}`` stands for, the innermost braces first."""
    done: list[str] = []
    left = [pattern]
    while left and len(done) + len(left) <= _MOST_ALTERNATIVES:
        each = left.pop(0)
        braces = _ALTERNATIVES.search(each)
        if braces is None:
            done.append(each)
        else:
            before, after = each[: braces.start()], each[braces.end() :]
            left += [f"{before}{one}{after}" for one in braces[1].split(",")]
    return list(dict.fromkeys(done + left))[:_MOST_ALTERNATIVES]
