"""Remembers which runs were compared, so that a comparison can say that it is not the first one."""

from __future__ import annotations

from contextlib import suppress
from typing import NamedTuple

import msgspec

from drive_trace.comparison.runs import Side
from drive_trace.grading.prompts import hash_of
from drive_trace.storage.files import cache_folder, read_regular
from drive_trace.storage.projects import absolute
from drive_trace.storage.replace import write_whole

_MOST = 50


class _Look(NamedTuple):
    """The runs of each side, and which look of which suite it was."""

    baseline: frozenset[str]
    candidate: frozenset[str]
    suite: str
    number: int
    of: int

    def warns(self, now: _Look) -> bool:
        """Whether a later look is one too many: this one was of a part of its runs alone, and not
        planned before it; or it was the same planned look, of other runs.
        """
        if self[:2] == now[:2]:
            return False
        if now.suite and self[2:] == now[2:]:
            return True
        is_planned = self.suite == now.suite and self.of == now.of and self.number < now.number
        is_part = self.baseline <= now.baseline and self.candidate <= now.candidate
        return is_part and not is_planned


def earlier_look(
    sides: tuple[Side, Side], suite: str | None, look: tuple[int, int]
) -> tuple[int, int] | None:
    """How many runs of each side the largest earlier comparison had after which nobody planned this
    one; None where none is known. This one is remembered. What is remembered may be deleted at any
    time: it decides nothing.
    """
    path, looks = cache_folder() / "looks.json", list[_Look]()
    with suppress(OSError, ValueError):
        looks = msgspec.json.decode(read_regular(path), type=list[_Look])
    plan = hash_of(absolute(suite))[:12] if suite is not None else ""
    now = _Look(_runs_of(sides[0]), _runs_of(sides[1]), plan, *look)
    if all(now[:2]) and now not in looks:  # of no runs all are a part
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, msgspec.json.encode([*looks[1 - _MOST :], now]))
    before = [each for each in looks if each.warns(now)]
    most = max(before, key=lambda each: len(each[0]) + len(each[1]), default=None)
    return most and (len(most[0]), len(most[1]))


def _runs_of(side: Side) -> frozenset[str]:
    paths = ((part.path, run.run_id) for run in side.runs for part in run.score.parts)
    return frozenset(hash_of(f"{absolute(path)}\0{run_id}")[:12] for path, run_id in paths)
