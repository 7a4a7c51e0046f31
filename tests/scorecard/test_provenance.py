"""How a run was written: native, back-filled or by hand, with the evidence; never a grade."""

import re
from pathlib import Path

import pytest

from drive_trace.analysis import Analysis
from drive_trace.scorecard.measures import Manner
from tests.cli.support import run
from tests.scorecard.support import card_markdown
from tests.support.fixtures import trace
from tests.support.scored import score_of

AFTERWARDS = (
    'EVENT{"event_type":"dispatch-start","ts":"2026-06-05T14:28:10.580Z"}',
    'EVENT{"event_type":"round-start","ts":"2026-06-05T14:28:10.629Z"}',
    'EVENT{"event_type":"round-end","ts":"2026-06-05T14:28:10.734Z","wall_clock_ms":427475}',
    'EVENT{"event_type":"dispatch-end","ts":"2026-06-05T14:28:10.782Z","wall_clock_ms":427475}',
)
IN_TIME = (
    'EVENT{"event_type":"dispatch-start","ts":"2026-06-05T14:28:10.580Z"}',
    'EVENT{"event_type":"round-start","ts":"2026-06-05T14:28:10.629Z"}',
    'EVENT{"event_type":"dispatch-end","ts":"2026-06-05T14:35:18.055Z","wall_clock_ms":427475}',
)
FULL_MINUTES = (
    'EVENT{"event_type":"dispatch-start","ts":"2026-06-05T14:00:00Z"}',
    'EVENT{"event_type":"round-start","ts":"2026-06-05T14:00:00Z"}',
    'EVENT{"event_type":"dispatch-end","ts":"2026-06-05T14:30:00Z","wall_clock_ms":1800000}',
)
NUMBERED = tuple(
    f'EVENT{{"event_type":"{name}","event_id":"{number:08}-0000-4000-8000-{number:012}"}}'
    for number, name in enumerate(("triage-verdict", "spec-authored", "plan-authored"))
)


def origin_of(*lines: str) -> Manner | None:
    (scored,) = score_of(Analysis(trace(*lines))).runs
    return scored.provenance.origin


@pytest.mark.parametrize(
    ("lines", "origin"),
    [
        (IN_TIME, Manner.NATIVE),
        (AFTERWARDS, Manner.BACK_FILLED),
        (FULL_MINUTES, Manner.HAND_WRITTEN),
        (NUMBERED, Manner.HAND_WRITTEN),
        (IN_TIME[:2], None),
    ],
)
def test_a_run_shows_how_it_was_written(lines: tuple[str, ...], origin: Manner | None) -> None:
    assert origin_of(*lines) is origin


def test_the_card_says_it_with_its_evidence_and_the_verdict_stays() -> None:
    grade = (
        'EVENT{"event_type":"correctness-recorded","mechanical":"pass","qa":"pass","intent":"pass"}'
    )
    for lines in (IN_TIME, AFTERWARDS):
        (scored,) = score_of(Analysis(trace(*lines, grade))).runs
        assert scored.is_earned
    card = card_markdown(scored)
    assert "Provenance: back-filled (" in card
    assert "of 2 ends of dispatches and rounds, 2 written at the moment of the start" in card


def test_the_files_of_a_run_are_looked_at_together(tmp_path: Path) -> None:
    for name, lines in (("a", IN_TIME), ("b", AFTERWARDS)):
        folder = tmp_path / name
        folder.mkdir()
        text = re.sub('(?<="event_id":").', name, trace(*lines))
        (folder / "trace.jsonl").write_text(text)
    found = run("score", tmp_path, "--format", "json").json
    (only,) = found["runs"]
    assert only["provenance"] == {
        "origin": "back-filled",
        "evidence": [
            "of 3 ends of dispatches and rounds, 2 written at the moment of the start, "
            "claiming minutes"
        ],
        "events": 7,
        "odd_ids": 0,
        "full_minutes": 0,
        "ends": 3,
        "afterwards": 2,
    }


def test_a_copy_is_no_sign_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "trace.jsonl").write_text(trace(*IN_TIME))
    (tmp_path / "other").mkdir()
    (tmp_path / "other/trace.jsonl").write_text(trace(*IN_TIME, *AFTERWARDS[-1:]))
    (only,) = run("score", tmp_path, "--format", "json").json["runs"]
    assert (only["provenance"]["events"], only["provenance"]["ends"]) == (4, 1)


def test_a_long_run_costs_no_more_than_a_short_one() -> None:
    lines = ['EVENT{"event_type":"triage-verdict"}'] * 100
    (scored,) = score_of(Analysis(trace(*lines))).runs
    assert scored.provenance.events == 16
