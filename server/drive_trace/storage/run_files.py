"""Which files may hold a run, beside the trace that somebody names."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from drive_trace.scorecard.feed_state import mentions
from drive_trace.storage.configuration import CONFIGURATION_NAME
from drive_trace.storage.finding import Found, LeftOut, NoTraces, Reason, find_traces
from drive_trace.storage.projects import shown_path
from drive_trace.storage.repositories import git_folder_of
from drive_trace.storage.traces import Problem, read_bytes


class Around(NamedTuple):
    """Where the other files of a run are looked for."""

    folder: Path | None
    """None where it is nowhere."""
    lack: str | None
    """Why others may be missed, in one sentence without a full stop."""


def files_beside(folder: Path | None, paths: Sequence[str] = ()) -> Iterator[Found]:
    """The traces of a folder, and those that further paths mean, in the order in which ``score``
    joins them; what cannot be searched, and what is left out.
    """
    searched = [shown_path(folder)] if folder is not None else []
    for found in find_traces([*searched, *paths]):
        if not (isinstance(found, NoTraces) and found.path in searched):
            yield found


def may_be_missed(left_out: LeftOut, run_id: str) -> bool:
    """Whether something that was left out may hold a run."""
    if left_out.reason in {Reason.LINKED, Reason.PATTERNS}:
        return left_out.reason is Reason.LINKED
    data = read_bytes(left_out.path)
    return isinstance(data, Problem) or mentions(data, run_id)


def around(trace: str) -> Around:
    """The repository that a trace stands in, or else the folder whose configuration holds for it.
    A folder that has the home folder in it is not searched, as that could be all of a disk.
    """
    above = Path(os.path.realpath(trace)).parents
    repositories = (each for each in above if git_folder_of(each) is not None)
    configured = (each for each in above if os.path.lexists(each / CONFIGURATION_NAME))
    home = Path(os.path.realpath(os.path.expanduser("~")))  # noqa: PTH111 - raises where none is
    too_large = None
    for each in chain(repositories, configured):
        if not home.is_relative_to(each):
            return Around(each, None)
        too_large = too_large or each
    if too_large is None:
        return Around(
            None,
            "only this file was looked at, as it stands in no repository and no drive-trace.toml "
            "is above it; record and tokens take the run's other files as PATH",
        )
    folder = above[0] if not home.is_relative_to(above[0]) else None
    where = "only this file was" if folder is None else "only its folder was"
    return Around(folder, f"{where} looked at, as {too_large} has the home folder in it")
