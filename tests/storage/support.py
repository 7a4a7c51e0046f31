"""Traces that real processes write to, and places in texts."""

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from drive_trace.authoring.drafts import Draft, Refused, draft_event
from drive_trace.storage.files import Problem
from drive_trace.storage.projects import TextProblem, spot_of
from drive_trace.storage.recording import Appended, NewEvent, append_events
from drive_trace.trace.provenance import Origin
from tests.support.systems import NO_SCRIPTS, skip_on_windows

ROOT = Path(__file__).parents[2]
SLICE = '{"slice_slug":"retry","slice_index":1,"linear_ref":null}'


def slice_started(run: str = "run-1", **payload: Any) -> Draft:
    fields = {"slice_slug": "retry", "slice_index": 1, "linear_ref": None}
    draft = draft_event("slice-started", run, None, json.dumps(fields | payload))
    assert isinstance(draft, Draft)
    return draft


def assert_within_lines(text: str, found: Iterable[TextProblem]) -> None:
    """What is wrong with a text stands on one of its lines."""
    text = text.replace("\r\n", "\n")
    lines = text.split("\n")
    for span, _ in found:
        record, (start, end) = spot_of(text, span)
        assert 0 <= start <= end <= len(lines[record])
        assert lines[record][start:end] == text[slice(*span)].split("\n", maxsplit=1)[0]


def append_event(path: str, draft: Draft) -> Appended | Refused | Problem:
    """Append one event, as ``emit`` does."""
    outcome = append_events(path, [NewEvent(draft, Origin("emit"))])
    return outcome if isinstance(outcome, Refused | Problem) else outcome[0]


def writer(
    trace: Path, name: str, count: int, verdicts: int = 0, *others: Path
) -> subprocess.Popen[bytes]:
    """A process that writes to a trace; see ``writers.py``."""
    return subprocess.Popen(
        [
            *(sys.executable, "-m", "tests.storage.writers"),
            *(trace, name, str(count), str(verdicts), *others),
        ],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=ROOT,
    )


def events(trace: Path) -> list[dict[str, Any]]:
    """Every line of a trace, each of which has to be whole."""
    text = trace.read_text("utf-8")
    assert text.endswith("\n")
    return [json.loads(line) for line in text.splitlines()]


def first_on_path(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """Have a script stand for git."""
    skip_on_windows(NO_SCRIPTS)
    command = folder / "bin" / "git"
    command.parent.mkdir()
    command.write_text(f"#!/bin/sh\n{script}\n")
    command.chmod(0o755)
    monkeypatch.setenv("PATH", str(command.parent), prepend=os.pathsep)
