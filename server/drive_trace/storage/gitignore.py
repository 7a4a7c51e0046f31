"""Patterns of ``.gitignore``: which paths they mean, bytes for bytes as git reads them.

The library pathspec translates a pattern to a regular expression. What is here makes of that one
which means a path itself, and not what lies below it, as git looks at one folder after another;
and one that no pattern can make slow, as patterns come with traces that others wrote.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from functools import cache
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
