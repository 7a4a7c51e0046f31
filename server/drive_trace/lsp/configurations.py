"""The configurations and baselines that hold for the client's traces, as they are on disk now."""

from __future__ import annotations

import time
from itertools import chain
from pathlib import Path
from typing import Any

from drive_trace.api import Spot
from drive_trace.features.diagnostics import SOURCE
from drive_trace.features.raw_json import dumps
from drive_trace.lsp.client import path_of
from drive_trace.rules.base import Severity
from drive_trace.rules.settings import RuleSettings
from drive_trace.storage.projects import FileProblem, Projects
from drive_trace.text import PositionEncoding, Span, units_before

CONFIGURATION_GLOBS = ("**/drive-trace.toml", "**/drive-trace-baseline.json")
_PERIOD = 1.0
"""Seconds after which a client that is typing has the disk looked at, where nobody tells of it."""


class Configurations:
    """Finds what holds for a trace. Asked again, it notices what changed."""

    def __init__(self, base: str) -> None:
        self._projects = Projects(base)
        self._problems: dict[Path, tuple[FileProblem, ...]] = {}
        """What is wrong with the files that hold for a trace, by the trace's path."""
        self._told: set[Path] = set()
        """The files that something has been wrong with."""
        self._look_again = 0.0

    def rules_for(self, uri: str, over: RuleSettings) -> RuleSettings:
        """How the rules are run over a trace; ``over`` is what the client sets itself."""
        path = path_of(uri)
        if path is None:
            return over
        project = self._projects.of(str(path))
        self._problems.pop(path, None)
        if project.problems:
            self._problems[path] = project.problems
        return project.settings_for(str(path)).under(over)

    def is_due(self) -> bool:
        """Whether it is time to look at the disk again."""
        now = time.monotonic()
        if now < self._look_again:
            return False
        self._look_again = now + _PERIOD
        return True

    def diagnostics(self, encoding: PositionEncoding) -> dict[str, bytes]:
        """What is wrong with configurations and baselines: by URI, lists as JSON text, empty once
        mended.
        """
        found = dict.fromkeys(chain.from_iterable(self._problems.values()))
        by_file: dict[Path, list[dict[str, Any]]] = {path: [] for path in self._told}
        for problem in found:
            by_file.setdefault(problem.file, []).append(_diagnostic(problem, encoding))
        self._told |= by_file.keys()
        return {path.as_uri(): dumps(items) for path, items in by_file.items()}


def _diagnostic(problem: FileProblem, encoding: PositionEncoding) -> dict[str, Any]:
    record, span = problem.spot or Spot(0, Span(0, 0))
    start, end = (units_before(problem.line, each, encoding) for each in span)
    return {
        "range": {
            "start": {"line": record, "character": start},
            "end": {"line": record, "character": end},
        },
        "severity": int(Severity.ERROR),
        "source": SOURCE,
        "message": problem.reason,
    }
