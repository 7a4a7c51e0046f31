"""A diff, cut to a length by whole files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from drive_trace.text.escaping import printable

LARGEST = 200_000
"""Characters of a diff that are shown to a judge."""

_NAMED = 200
"""So many of the files that are left out are named."""
_BINARY = re.compile(r"\0|^(?:Binary files .* differ|GIT binary patch)$", re.MULTILINE)
_HEAD = re.compile(r"^diff --git |^--- (?=[^\n]*\n\+\+\+ )", re.MULTILINE)


_CHANGE = re.compile(r"^(?:diff -|--- [^\n]*\n\+\+\+ |\*\*\* [^\n]*\n--- |@@+ -)", re.MULTILINE)


def is_diff(text: str) -> bool:
    """Whether there is a file's header or a hunk in a text."""
    return _CHANGE.search(text) is not None


class CutDiff(NamedTuple):
    """What of a diff is shown."""

    text: str
    left_out: tuple[str, ...] = ()
    """``src/a.ts (+120 −3)`` for each file that is not."""


def cut_diff(text: str, most: int = LARGEST) -> CutDiff:
    """Keep whole files, the short ones first, in the order of the diff; name the others."""
    files = list(_files(text))
    room = most
    kept = set()
    for number, each in sorted(enumerate(files), key=lambda pair: len(pair[1])):
        if _BINARY.search(each):
            continue
        room -= len(each)
        if room < 0:
            break
        kept.add(number)
    left_out = [_name(each) for number, each in enumerate(files) if number not in kept]
    if len(left_out) > _NAMED:
        left_out[_NAMED:] = [f"{len(left_out) - _NAMED:,} more files"]
    shown = (each for number, each in enumerate(files) if number in kept)
    return CutDiff("".join(shown), tuple(left_out))


def _files(text: str) -> Iterator[str]:
    """The parts of a diff, a file each. The header lines of git belong to the file below them."""
    starts = [found.start() for found in _HEAD.finditer(text)]
    if any(text.startswith("diff --git ", start) for start in starts):
        starts = [start for start in starts if text.startswith("diff --git ", start)]
    bounds = sorted({0, *starts, len(text)})
    yield from (text[start:end] for start, end in pairwise(bounds))


def _name(part: str) -> str:
    lines = part.split("\n")
    head = next((each[4:] for each in lines if each.startswith("+++ ")), "")
    if head in {"", "/dev/null"}:
        head = next((each[4:] for each in lines if each.startswith("--- ")), lines[0])
    added = sum(each.startswith("+") and not each.startswith("+++ ") for each in lines)
    removed = sum(each.startswith("-") and not each.startswith("--- ") for each in lines)
    return f"{printable(head.removeprefix('b/').removeprefix('a/'), 200)} (+{added:,} −{removed:,})"
