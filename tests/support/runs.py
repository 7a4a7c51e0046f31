"""Whole runs as agents record them: what tests damage, copy and move."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from random import Random
from typing import Any
from uuid import UUID

from drive_trace.vocabulary import EVENTS

Triple = tuple[str | None, str | None, str | None]
PASS: Triple = ("pass", "pass", "pass")
FAIL: Triple = ("pass", "fail", "pass")
PART: Triple = ("pass", None, "pass")

_START = datetime(2026, 5, 28, 14, tzinfo=UTC)
_MINUTES = 10


class Recorder:
    """Writes events of one run after another, ten minutes apart, each with an id of its own."""

    def __init__(self, seed: int = 1) -> None:
        self._random = Random(seed)
        self._numbers = count()

    def id(self) -> str:
        """A new UUID."""
        return str(UUID(int=self._random.getrandbits(128), version=4))

    def event(self, event_type: str, run: str, **fields: Any) -> str:
        """A line, with the vocabulary's example for what is not given."""
        ts = _START + timedelta(minutes=_MINUTES * next(self._numbers))
        said = dict(EVENTS[event_type].example) | {
            "event_id": self.id(),
            "ts": ts.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "project_run_id": run,
        }
        return json.dumps(said | fields, separators=(",", ":")) + "\n"

    def dispatch(self, run: str) -> list[str]:
        """A dispatch of one round."""
        ids = {"dispatch_id": self.id(), "round_id": self.id()}
        just_dispatch = {"dispatch_id": ids["dispatch_id"]}
        claimed = {"wall_clock_ms": 2 * _MINUTES * 60_000}
        return [
            self.event("dispatch-start", run, **just_dispatch),
            self.event("round-start", run, **ids),
            self.event("brief-issued", run, **ids),
            self.event("round-end", run, **ids, **claimed),
            self.event("dispatch-end", run, **just_dispatch, wall_clock_ms=4 * _MINUTES * 60_000),
        ]

    def grade(self, run: str, triple: Triple) -> str:
        """A grade of the run."""
        given = dict(zip(("mechanical", "qa", "intent"), triple, strict=True))
        return self.event("correctness-recorded", run, **given)

    def run(self, run: str, *grades: Triple, works_on: bool = False) -> list[str]:
        """A run from start to close, graded so often; with work after the last grade if asked."""
        lines = [
            self.event("project-started", run, project_slug=run),
            self.event("spec-authored", run),
            self.event("plan-authored", run),
            self.event("slice-started", run),
            *self.dispatch(run),
            self.event("slice-completed", run),
            self.event("project-closed", run, slices_completed=1),
            self.event("tokens-recorded", run),
        ]
        lines += [self.grade(run, triple) for triple in grades]
        return lines + (self.dispatch(run) if works_on else [])


def write(path: Path, lines: list[str]) -> Path:
    """A trace of these lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(lines), "utf-8", newline="")
    return path
