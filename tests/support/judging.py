"""Records of the judging, as `judge` leaves them beside a trace."""

import json
from pathlib import Path
from typing import Any

HASH = "0" * 64
INTERVAL = [0.8051, 0.95]


def judgement(**changes: Any) -> str:
    """A line of a record: a calibrated judge passed run-1 before its grade of 14:00."""
    model = changes.pop("asked", "gpt-5.5")
    version = changes.pop("prompt_version", "3")
    said = {
        "ts": "2026-05-28T13:59:59.000Z",
        "project_run_id": "run-1",
        "judge": {"model": model, "prompt_version": version, "rubric_hash": HASH},
        "model": "gpt-5.5",
        "prompt_hash": HASH,
        "acceptance_hash": HASH,
        "diff_hash": HASH,
        "verdict": "pass",
        "reasons": ["AC-1 holds", "AC-2 holds"],
        "judging": "one",
        "agreement": 0.8986,
        "agreement_interval": INTERVAL,
    }
    said |= changes
    answer = {"reasons": said["reasons"], "intent": said["verdict"]}
    return json.dumps({"reply": json.dumps(answer), **said}) + "\n"


NO_FIGURES = {"agreement": None, "agreement_interval": None}
UNCALIBRATED = judgement(**NO_FIGURES)


def record_of(trace: Path) -> Path:
    """Where the record of a trace is."""
    return trace.with_name(f"{trace.name}.judgements.ndjson")


def judge(trace: Path, *lines: str) -> Path:
    """Put a record of these lines beside a trace."""
    path = record_of(trace)
    path.write_text("".join(lines), "utf-8")
    return path
