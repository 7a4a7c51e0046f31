"""Remembers which runs were compared, so that a comparison can say that it is not the first one."""

from __future__ import annotations

from contextlib import suppress
from typing import TypeAlias

import msgspec

from drive_trace.comparison.runs import Side
from drive_trace.grading.prompts import hash_of
from drive_trace.storage.files import cache_folder, read_regular
from drive_trace.storage.projects import absolute
from drive_trace.storage.replace import write_whole

_MOST = 50
_Look: TypeAlias = tuple[frozenset[str], frozenset[str]]
"""The runs of each side."""


def earlier_look(sides: tuple[Side, Side]) -> tuple[int, int] | None:
    """How many runs of each side the largest earlier comparison had that was of a part of these
    runs, and of no others; None where none is known. This one is remembered. What is remembered may
    be deleted at any time: it decides nothing.
    """
    path, looks = cache_folder() / "looks.json", list[_Look]()
    with suppress(OSError, ValueError):
        looks = msgspec.json.decode(read_regular(path), type=list[_Look])
    now = _runs_of(sides[0]), _runs_of(sides[1])
    if all(now) and now not in looks:  # of no runs all are a part
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, msgspec.json.encode([*looks[1 - _MOST :], now]))
    before = [each for each in looks if each[0] <= now[0] and each[1] <= now[1] and each != now]
    most = max(before, key=lambda each: len(each[0]) + len(each[1]), default=None)
    return most and (len(most[0]), len(most[1]))


def _runs_of(side: Side) -> frozenset[str]:
    paths = ((part.path, run.run_id) for run in side.runs for part in run.score.parts)
    return frozenset(hash_of(f"{absolute(path)}\0{run_id}")[:12] for path, run_id in paths)
