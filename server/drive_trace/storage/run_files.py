"""Which files may hold a run, beside the trace that somebody names."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

from drive_trace.storage.configuration import CONFIGURATION_NAME
from drive_trace.storage.finding import LeftOut, NoTraces, find_traces
from drive_trace.storage.projects import shown_path
from drive_trace.storage.repositories import git_folder_of
from drive_trace.storage.traces import Problem


def files_beside(trace: str, paths: Sequence[str] = ()) -> Iterator[str | Problem]:
    """The traces of the repository that a trace stands in, or else of the folder whose
    configuration holds for it, and those that further paths mean; in the order in which ``score``
    joins them. A Problem for what cannot be searched.
    """
    root = root_of(trace)
    searched = [shown_path(root)] if root is not None else []
    for found in find_traces([*searched, *paths]):
        if isinstance(found, LeftOut) or (isinstance(found, NoTraces) and found.path in searched):
            continue
        yield found


def root_of(trace: str) -> Path | None:
    """The folder in which the run's other files are looked for; None where there is none."""
    above = Path(os.path.realpath(trace)).parents
    repositories = (each for each in above if git_folder_of(each) is not None)
    configured = (each for each in above if os.path.lexists(each / CONFIGURATION_NAME))
    return next(chain(repositories, configured), None)
