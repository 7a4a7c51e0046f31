"""Which files may hold a run, beside the trace that somebody names."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from drive_trace.storage.configuration import CONFIGURATION_NAME
from drive_trace.storage.finding import LeftOut, NoTraces, find_traces
from drive_trace.storage.projects import shown_path
from drive_trace.storage.traces import Problem


def files_beside(trace: str, paths: Sequence[str] = ()) -> Iterator[str | Problem]:
    """The traces of the repository that a trace stands in, or else of the folder whose
    configuration holds for it, and those that further paths mean; in the order in which ``score``
    joins them. A Problem for what cannot be searched.
    """
    root = _root_of(trace)
    searched = [shown_path(root)] if root is not None else []
    for found in find_traces([*searched, *paths]):
        if isinstance(found, LeftOut) or (isinstance(found, NoTraces) and found.path in searched):
            continue
        yield found


def _root_of(trace: str) -> Path | None:
    above = Path(os.path.realpath(trace)).parents
    for name in (".git", CONFIGURATION_NAME):
        for folder in above:
            if os.path.lexists(folder / name):
                return folder
    return None
