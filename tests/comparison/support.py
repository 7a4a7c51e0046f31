"""Sides of runs, written as traces with their manifests, and compared from outside."""

import json
from itertools import count
from pathlib import Path
from random import Random
from typing import Any
from uuid import UUID

from tests.cli.support import Ran, run
from tests.support.client_text import event, graded, tokens, triage
from tests.support.judging import HASH, NO_FIGURES, judge, judgement

CORRECT, INCORRECT = ("pass", "pass", "pass"), ("pass", "pass", "fail")
UNGRADED = (None, None, None)
KNOWN = {
    "base_commit": "4c0ffee",
    "model": "sonnet",
    "bundle": "v1",
    "judge": "gpt-5.5",
    "prompt_hash": "p1",
    "rubric_hash": "r1",
    "acceptance_hash": "a1",
}


class Sides:
    """Two folders with a folder for each run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._numbers = count(1)
        self._random = Random(1)

    def add(
        self,
        side: str,
        *triples: tuple[str | None, ...],
        case: str | None = None,
        costs: list[tuple[int | None, int | None]] | None = None,
        minutes: list[int] | None = None,
        **manifest: str,
    ) -> list[Path]:
        """Runs of a side, each with its grade, its input and output tokens, and how long it took.
        Gives their traces.
        """
        return [
            self.write(
                side,
                triple,
                {"case": case, **manifest} if case is not None else manifest,
                cost=costs[at] if costs is not None else None,
                minutes=minutes[at] if minutes is not None else None,
            )
            for at, triple in enumerate(triples)
        ]

    def write(
        self,
        side: str,
        triple: tuple[str | None, ...],
        manifest: dict[str, Any],
        *,
        cost: tuple[int | None, int | None] | None = None,
        minutes: int | None = None,
        events: str = "",
    ) -> Path:
        run_id = f"{side}-{next(self._numbers)}"
        lines = events
        if minutes is not None:
            started = {"project_slug": "x", "origin": "promote", "has_linear_project": False}
            closed = {"dod_status": "all-met", "slices_completed": 0, "final_retro_done": True}
            lines += event("project-started", run_id, **started)
            ts = f"2026-05-28T{14 + minutes // 60}:{minutes % 60:02}:00.000Z"
            lines += event("project-closed", run_id, ts=ts, **closed)
        if cost is not None:
            lines += tokens(*cost, None, None)
        if triple != UNGRADED:
            lines += graded(*triple, ts="2026-05-28T20:00:00.000Z")
        path = self.folder / side / run_id / "trace.jsonl"
        path.parent.mkdir(parents=True)
        path.write_text(self._apart(lines, run_id), "utf-8")
        if manifest:
            path.with_name("trace.run.json").write_text(json.dumps(manifest), "utf-8")
        return path

    def _apart(self, lines: str, run_id: str) -> str:
        events = [json.loads(line) for line in lines.splitlines()]
        for each in events:
            each["project_run_id"] = run_id
            each["event_id"] = str(UUID(int=self._random.getrandbits(128), version=4))
        return "".join(json.dumps(each, separators=(",", ":")) + "\n" for each in events)

    def compare(self, *options: str) -> Ran:
        paths = ("--baseline", self.folder / "b", "--candidate", self.folder / "c")
        return run("compare", *paths, *options)

    def json(self, *options: str) -> Any:
        return self.compare("--output-format", "json", *options).json

    def allowed(self, *options: str) -> Any:
        """The comparison, whatever is unknown."""
        return self.json("--allow-unverified", *options)


def judged(trace: Path, verdict: str = "pass", **changes: Any) -> None:
    """A record of the judging of a run's intent beside its trace."""
    judge(trace, judgement(project_run_id=trace.parent.name, verdict=verdict, **changes))


SAME = {**KNOWN, "rubric_hash": HASH, "acceptance_hash": HASH, "case": "x"}


def known(
    sides: Sides,
    side: str,
    *,
    events: str | None = None,
    cost: tuple[int, int] | None = None,
    **changes: Any,
) -> Path:
    """A run of which everything is known, with some of that changed."""
    record = {key: changes.pop(key) for key in list(changes) if key in NO_FIGURES | {"asked": 0}}
    said = {key: value for key, value in {**SAME, **changes}.items() if value is not None}
    wrote = triage(ts="2026-05-28T13:00:01.123Z") * 3 if events is None else events
    path = sides.write(side, CORRECT, said, cost=cost, events=wrote)
    judged(path, **record)
    return path
