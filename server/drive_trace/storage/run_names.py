"""Which run was meant by an id that a trace does not have."""

from __future__ import annotations

import re
from collections.abc import Sequence

from drive_trace.scorecard.feed_state import has_run, runs_named
from drive_trace.vocabulary.slips import nearest

_MOST = 1000
"""So many runs are compared for how near they are: the last ones, as that takes time."""
_SEPARATORS = re.compile(r"[\s_-]+")
_DIGITS = re.compile(r"\d+")


def nearest_run(run_id: str, data: bytes) -> str | None:
    """The run of a trace that an id is most likely a slip of, if any is near enough."""
    return _nearest(run_id, [name for name in runs_named(data) if name != run_id])


def run_meant(run_id: str, data: bytes) -> str | None:
    """The same where a new run may have been meant as well: a trace may hold several, and their
    names differ in numbers. None where the trace has the run.
    """
    if b'"project_run_id":"%b"' % run_id.encode("utf-8", "replace") in data:
        return None  # as good as always, and fast
    numbers = _DIGITS.findall(run_id)
    names = runs_named(data)
    if run_id in names:
        return None
    guess = _nearest(run_id, [name for name in names if _DIGITS.findall(name) == numbers])
    return guess if guess is not None and not has_run(data, run_id) else None


def _nearest(run_id: str, names: Sequence[str]) -> str | None:
    plain = _plain(run_id)
    same = next((name for name in names if _plain(name) == plain), None)
    return same if same is not None else nearest(run_id, names[-_MOST:])


def _plain(name: str) -> str:
    return _SEPARATORS.sub("-", name.strip().casefold())
