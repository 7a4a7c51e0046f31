"""The configurations and baselines that hold for the client's traces, as they are on disk now."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from drive_trace.features.diagnostics import SOURCE
from drive_trace.features.json_text import dumps
from drive_trace.lsp.client import path_of
from drive_trace.rules.base import Severity
from drive_trace.rules.settings import RuleSettings
from drive_trace.storage.configuration import Configuration
from drive_trace.storage.projects import Projects
from drive_trace.text import PositionEncoding, units_before

CONFIGURATION_GLOBS = ("**/drive-trace.toml", "**/drive-trace-baseline.json")
_PERIOD = 1.0
"""Seconds after which a client that is typing has the disk looked at, where nobody tells of it."""


class Configurations:
    """Finds what holds for a trace. Asked again, it notices what changed."""

    def __init__(self, base: str) -> None:
        self._projects = Projects(base)
        self._broken: set[Path] = set()
        self._look_again = 0.0

    def rules_for(self, uri: str, over: RuleSettings) -> RuleSettings:
        """How the rules are run over a trace; ``over`` is what the client sets itself."""
        path = path_of(uri)
        if path is None:
            return over
        project = self._projects.of(str(path))
        if project.problems and project.configuration_path is not None:
            self._broken.add(project.configuration_path)
        return project.settings_for(str(path)).under(over)

    def is_due(self) -> bool:
        """Whether it is time to look at the disk again."""
        now = time.monotonic()
        if now < self._look_again:
            return False
        self._look_again = now + _PERIOD
        return True

    def diagnostics(self, encoding: PositionEncoding) -> dict[str, bytes]:
        """What is wrong with configurations: by URI, lists as JSON text, empty once mended."""
        return {path.as_uri(): dumps(_diagnostics(path, encoding)) for path in self._broken}


def _diagnostics(path: Path, encoding: PositionEncoding) -> list[dict[str, Any]]:
    from drive_trace.storage.configuration_text import read_configuration  # noqa: PLC0415 - seldom

    try:
        text = path.read_bytes().decode("utf-8-sig")
    except (OSError, ValueError):
        return []
    problems = read_configuration(text)
    if isinstance(problems, Configuration):
        return []
    lines = text.split("\n")
    found = []
    for spot, message in problems:
        line = lines[spot.record]
        start, end = (units_before(line, each, encoding) for each in spot.span)
        found.append(
            {
                "range": {
                    "start": {"line": spot.record, "character": start},
                    "end": {"line": spot.record, "character": end},
                },
                "severity": int(Severity.ERROR),
                "source": SOURCE,
                "message": message,
            }
        )
    return found
