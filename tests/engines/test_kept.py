"""What is kept of a trace says what the trace says."""

import json
from pathlib import Path

import pytest
from msgspec.msgpack import encode

from drive_trace.fleet.kept import File, TraceState, look_at_file, state_from, summary_from
from drive_trace.scorecard.scoring import without_lines
from tests.support.scored import summarize_text

LINES = (Path(__file__).parent.parent / "conformance/traces.jsonl").read_bytes().splitlines()


@pytest.mark.parametrize("at", range(len(LINES)))
def test_a_trace_that_was_kept_is_the_trace(at: int) -> None:
    text = json.loads(LINES[at])["text"]
    summary = without_lines(summarize_text(text, "trace.jsonl"))
    assert summary_from(encode(summary)) == summary


def test_what_cannot_be_true_is_no_summary() -> None:
    summary = without_lines(summarize_text(json.loads(LINES[0])["text"]))
    (run, *_) = summary.runs
    for told in (
        summary._replace(runs=(run._replace(parts=()),)),
        summary._replace(runs=(run._replace(judgement={"agreement": 1}),)),  # type: ignore[arg-type]
    ):
        assert summary_from(encode(told)) is None


def test_what_cannot_be_true_is_no_state(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_text(json.loads(LINES[0])["text"], "utf-8")
    state = look_at_file(File(str(path), "trace.jsonl", None))
    assert isinstance(state, TraceState)
    assert all(state.hashes.values())
    assert state_from(encode(state)) == state
    for told in (
        state._replace(hashes={run: each[:-1] for run, each in state.hashes.items()}),
        state._replace(digest=state.digest[:-1]),
    ):
        assert state_from(encode(told)) is None
