"""The configurations and baselines that hold for the client's traces, as they are on disk.

They are looked at beside the loop: a network folder may be long in answering, or never do so.
"""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import Iterable
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from drive_trace.analysis import Spot
from drive_trace.features.diagnostics import SOURCE
from drive_trace.features.raw_json import dumps
from drive_trace.linter.rule import Severity
from drive_trace.linter.settings import RuleSettings
from drive_trace.lsp.rpc.capabilities import path_of
from drive_trace.lsp.rpc.tasks import Turns, in_thread
from drive_trace.storage.projects import FileProblem, Project, Projects
from drive_trace.text.spans import PositionEncoding, Span, units_before

log = logging.getLogger(__name__)

CONFIGURATION_GLOBS = ("**/drive-trace.toml", "**/drive-trace-baseline.json")
_PERIOD = 1.0
"""Seconds after which a client that is typing has the disk looked at, where nobody tells of it."""


class Configurations:
    """Finds what holds for a trace, and remembers it for the trace's folder."""

    def __init__(self) -> None:
        self.start(os.curdir)
        self._found: dict[Path, Project] = {}
        """What the last look at a folder has found."""
        self._turns: Turns[None] = Turns()
        self._told: set[Path] = set()
        """The files that something has been wrong with."""
        self._look_again = 0.0

    def start(self, base: str) -> None:
        """Begin with the folder of the client's workspace."""
        self._projects = Projects(base)

    def rules_for(self, uri: str, over: RuleSettings) -> RuleSettings:
        """How the rules are run over a trace, by the last look at its folder; ``over`` is what the
        client sets itself.
        """
        path = _absolute(uri)
        project = self._found.get(path.parent) if path is not None else None
        # The project's folder is above the trace, so that nothing is looked up on disk here.
        return project.settings_for(str(path)).under(over) if project is not None else over

    async def look(self, uris: Iterable[str]) -> None:
        """Look at what holds for traces now; it begins after this was called."""
        paths = map(_absolute, uris)
        folders = {path.parent for path in paths if path is not None}
        looks = (self._turns.take(each, partial(self._look_at, each)) for each in folders)
        await asyncio.gather(*looks)

    async def _look_at(self, folder: Path) -> None:
        try:
            # Threads that read the same file at once are not in each other's way: each gets what
            # it read, and what is remembered of it is compared with the file the next time.
            found = await in_thread(self._projects.of, str(folder / "trace.jsonl"))
        except Exception:
            log.exception("what holds in %s cannot be looked at", folder)
        else:
            self._found[folder] = found

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
        found = dict.fromkeys(chain.from_iterable(each.problems for each in self._found.values()))
        by_file: dict[Path, list[dict[str, Any]]] = {path: [] for path in self._told}
        for problem in found:
            by_file.setdefault(problem.file, []).append(_diagnostic(problem, encoding))
        self._told |= by_file.keys()
        return {path.as_uri(): dumps(items) for path, items in by_file.items()}


def _absolute(uri: str) -> Path | None:
    path = path_of(uri)
    return Path(os.path.abspath(path)) if path is not None else None  # noqa: PTH100 - follows no link


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
