"""What is kept of a trace says what the trace says."""

import json
from pathlib import Path

import pytest

from drive_trace.analysis import summarize_text
from drive_trace.scorecard.stored import Stored, from_bytes, to_bytes, without_events

LINES = (Path(__file__).parent.parent / "conformance/traces.jsonl").read_bytes().splitlines()


@pytest.mark.parametrize("at", range(len(LINES)))
def test_a_trace_that_was_kept_is_the_trace(at: int) -> None:
    summary = summarize_text(json.loads(LINES[at])["text"].split("\n"), "trace.jsonl")
    stored = Stored(without_events(summary), {"run-1": {"blank-line": 2}}, is_clean=False)
    data = to_bytes(stored)
    assert data is not None
    assert from_bytes(data, "trace.jsonl") == stored
