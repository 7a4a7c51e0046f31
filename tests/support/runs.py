"""Whole runs as agents record them: what tests damage, copy and move."""

import json
from collections.abc import Sequence
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

    def dispatch(self, run: str, rounds: int = 1) -> list[str]:
        """A dispatch of so many rounds."""
        dispatch = {"dispatch_id": self.id()}
        claimed = {"wall_clock_ms": 2 * _MINUTES * 60_000}
        lines = [self.event("dispatch-start", run, **dispatch)]
        for number in range(1, rounds + 1):
            ids = {**dispatch, "round_id": self.id()}
            how = {} if number == 1 else {"brief_disposition": "amended"}
            verdict = "satisfied" if number == rounds else "another-round-needed"
            lines += [
                self.event("round-start", run, **ids, round_number=number),
                self.event("brief-issued", run, **ids, **how),
                self.event("round-end", run, **ids, **claimed, verdict=verdict),
            ]
        took = (3 * rounds + 1) * _MINUTES * 60_000
        return [*lines, self.event("dispatch-end", run, **dispatch, wall_clock_ms=took)]

    def grade(self, run: str, triple: Triple) -> str:
        """A grade of the run."""
        given = dict(zip(("mechanical", "qa", "intent"), triple, strict=True))
        return self.event("correctness-recorded", run, **given)

    def run(
        self,
        run: str,
        *grades: Triple,
        works_on: bool = False,
        rounds: Sequence[int] = (1,),
        tokens: Sequence[int] = (1_000,),
    ) -> list[str]:
        """A run from start to close, graded so often; with work after the last grade if asked. It
        has a dispatch of each of so many rounds, and its tokens were counted so often.
        """
        lines = [
            self.event("project-started", run, project_slug=run),
            self.event("spec-authored", run),
            self.event("plan-authored", run),
            self.event("slice-started", run),
            *(line for count in rounds for line in self.dispatch(run, count)),
            self.event("slice-completed", run),
            self.event("project-closed", run, slices_completed=1),
            *(self.event("tokens-recorded", run, input_tokens=count) for count in tokens),
        ]
        lines += [self.grade(run, triple) for triple in grades]
        return lines + (self.dispatch(run) if works_on else [])


def write(path: Path, lines: list[str]) -> Path:
    """A trace of these lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(lines), "utf-8", newline="")
    return path
