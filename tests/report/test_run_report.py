"""The page of one run: its card, and below it the report on its events alone."""

import re

import pytest

from drive_trace.analysis import Analysis
from drive_trace.report.sections import run_report_markdown
from drive_trace.scorecard.dispatches import events_of
from drive_trace.scorecard.render import run_card
from drive_trace.scorecard.scoring import score_in
from tests.report.support import HOSTILE, hostile_trace
from tests.support.client_text import event, graded, triage


def page_of(text: str, run_id: str = "run-1") -> str:
    analysis = Analysis(text)
    run = score_in(analysis.index, run_id, "shop/trace.jsonl")
    assert run is not None
    events = events_of(analysis.document.lines, run_id)
    return run_report_markdown(run.headline, run_card(run), run, events)


def dispatch(number: int, run: str = "run-1", rounds: int = 1) -> str:
    ids = {"dispatch_id": f"d{number}"}
    start = event(
        "dispatch-start",
        run,
        **ids,
        dispatch_name=f"part {number}",
        subagent_type="implementer",
        model=None,
        parent_dispatch_id=None,
    )
    begun = (
        event("round-start", run, **ids, round_id=f"r{number}.{each}", round_number=each + 1)
        for each in range(rounds)
    )
    end = event("dispatch-end", run, **ids, result="completed", wall_clock_ms=1000)
    return "".join([start, *begun, end])


def test_the_verdict_stands_first_then_the_card_then_the_facts() -> None:
    page = page_of(dispatch(1, rounds=2) + graded("pass", "fail", None))
    said = "not computable — missing: intent"
    assert page.startswith(f"# {said}\n\nRun `run-1`\n")
    headings = re.findall(r"^## .*", page, re.MULTILINE)
    assert headings == [
        "## Metrics: facts, not a score",
        "## Dispatches",
        "## Assertions",
        "## Where the values come from",
    ]
    assert "| Rounds per dispatch | mean: 2 | lower is better | counted |" in page
    assert "\n| `part 1` | " in page
    assert len(re.findall(r"^\| (I|Cascade-|BD-)\d+ \|", page, re.MULTILINE)) == 31
    assert page.endswith("\n")


def test_only_the_runs_own_events_count() -> None:
    other = dispatch(2, "run-2", rounds=9)
    page = page_of(other + dispatch(1))
    below = page_of(dispatch(1) + other)
    assert re.sub(r"line 1\d", "line", page) == re.sub(r"line \d", "line", below)
    assert "part 2" not in page
    # Evidence is named by its line in the trace.
    merged = event("slice-completed", slice_slug="s", result="merged", pr_ref=None)
    assert "lines 3, 4" in page_of(triage(run="run-2") * 2 + merged * 2)


def test_a_page_is_short_however_long_the_run() -> None:
    page = page_of("".join(dispatch(number) for number in range(3000)))
    assert len(page) < 100_000
    assert "more rows: the JSON report has them all" in page


@pytest.mark.parametrize("said", HOSTILE)
def test_what_a_trace_says_stays_text(said: str) -> None:
    text = hostile_trace(said)
    (run_id,) = Analysis(text).index.runs
    page = page_of(text, run_id)
    assert page.replace("\n", "").isprintable()
    outside = re.sub(r"(`+).*?\1", "", page)
    assert "<script" not in outside
    assert "onerror" not in outside
