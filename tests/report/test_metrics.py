"""Metrics and assertions, where the reference's own cases say little."""

import json
import re
from typing import Any

import pytest

from drive_trace.report.assertions import ASSERTIONS
from drive_trace.report.contents import to_json
from drive_trace.report.html import report_html
from drive_trace.report.metrics import METRICS, Polarity
from drive_trace.report.sections import report_markdown
from tests.report.support import json_of, report_of
from tests.scorecard.support import PASSED, event
from tests.support.fixtures import trace


def assertion(shown: Any, id_: str) -> Any:
    return next(each for each in shown["assertions"] if each["id"] == id_)


# Metrics


def test_nothing_recorded_is_null_and_not_zero() -> None:
    rework = json_of(event("project-started"))["metrics"]["rework"]
    assert set(rework.values()) == {None}


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.key)
def test_every_metric_says_how_to_read_it_and_why_it_has_no_value(metric: Any) -> None:
    notes = json_of()["metric_notes"]
    (note,) = [each for each in notes if each["key"] == metric.key]
    assert note["polarity"] in {str(each) for each in Polarity}
    assert note["source"]
    assert note["no_signal"] or json_of()["metrics"][metric.group][metric.key] is not None


def test_polarity_is_said_in_words() -> None:
    polarity = {metric.key: str(metric.polarity) for metric in METRICS}
    assert polarity["rounds_per_dispatch"] == "lower is better"
    assert polarity["first_pass_acceptance_rate"] == "higher is better"
    assert polarity["tier_mix"] == "neither way is better"


def test_numbers_are_read_as_the_reference_reads_them() -> None:
    line = event("dispatch-end", dispatch_id="d", wall_clock_ms=0)
    written = line.replace('"wall_clock_ms":0', '"wall_clock_ms":15e2')
    clock = json_of(written, event("dispatch-end", dispatch_id="d", wall_clock_ms=500))["metrics"][
        "rework"
    ]["dispatch_wallclock_ms"]
    assert clock == {"per_dispatch": {"d": 500}, "mean": 1000, "total": 2000}


def test_a_sum_that_no_double_holds_is_null() -> None:
    largest = 17976931348623157 * 10**292
    ends = [event("dispatch-end", wall_clock_ms=largest)] * 2
    clock = json_of(*ends)["metrics"]["rework"]["dispatch_wallclock_ms"]
    assert (clock["total"], clock["mean"]) == (None, None)


@pytest.mark.parametrize("is_swapped", [False, True])
def test_events_of_a_run_in_several_files_follow_one_another_by_ts(is_swapped: bool) -> None:
    first, last = "2026-05-28T14:00:00.000Z", "2026-05-28T14:00:03.500Z"
    early = trace(
        event("slice-started", slice_slug="s", ts=first),
        event("triage-verdict", input_ref="T-1", verdict="direct-change", ts=last),
    )
    late = trace(
        event("triage-verdict", input_ref="T-1", verdict="new-project", ts=first),
        event("slice-completed", slice_slug="s", ts="2026-05-28T14:00:01.500Z"),
    )
    report = report_of(*((late, early) if is_swapped else (early, late)))
    values = {each.metric.key: each.value for each in report.metrics}
    assert values["slice_wallclock_ms"] == {"s": 1500}
    assert values["triage_stability"] == {
        "T-1": {
            "count": 2,
            "distinct_verdict_count": 2,
            "verdicts": ["new-project", "direct-change"],
        }
    }


# Assertions


def test_there_are_thirty_one_in_their_order() -> None:
    ids = [each.id for each in ASSERTIONS]
    assert ids == [
        *(f"I{number}" for number in range(1, 13)),
        *(f"Cascade-{number}" for number in range(1, 9)),
        *(f"BD-{number}" for number in range(1, 12)),
    ]
    for each in json_of()["assertions"]:
        assert each["title"]
        assert each["note"].endswith(".")


def test_what_no_trace_decides_is_not_checkable_but_carries_what_supports_it() -> None:
    shown = json_of(
        event("falsified-assumption", event_id="halt"),
        event("brief-issued", event_id="first"),
        event("brief-issued", event_id="again", brief_disposition="amended"),
    )
    undecided = [each for each in shown["assertions"] if each["status"] == "not-checkable"]
    assert len(undecided) == 25  # BD-8 as well: there is no slice spec
    evidence = {each["id"]: each["evidence"] for each in undecided if each["evidence"]}
    assert evidence == {"I12": ["halt"], "Cascade-4": ["halt"], "BD-9": ["again"]}


def test_evidence_says_where_it_stands() -> None:
    shown = json_of(PASSED, event("slice-completed"), event("slice-completed"))
    first = assertion(shown, "I1")
    assert first["status"] == "fail"
    assert first["evidence_lines"] == [
        {"path": "a.jsonl", "line": 2},
        {"path": "a.jsonl", "line": 3},
    ]


def test_a_brief_after_the_start_says_why_that_is_usual() -> None:
    shown = json_of(
        event("dispatch-start", dispatch_id="d", ts="2026-05-28T14:00:00.000Z"),
        event("brief-issued", dispatch_id="d", ts="2026-05-28T14:00:01.000Z"),
    )
    assert assertion(shown, "I8")["status"] == "fail"
    assert "after the dispatch has started" in assertion(shown, "I8")["note"]


def test_an_amended_project_spec_bears_an_assertion_out_but_is_no_evidence() -> None:
    shown = json_of(event("spec-amended", spec_kind="project", dod_items_count=1))
    assert (assertion(shown, "I10")["status"], assertion(shown, "I10")["evidence"]) == ("pass", [])
    assert assertion(shown, "I10")["note"] != assertion(json_of(), "I10")["note"]


def test_an_assertion_that_does_not_apply_is_no_pass() -> None:
    report = report_of(trace(event("triage-verdict"), PASSED))
    shown = json.loads(json.dumps(to_json(report)))
    # The reference calls all six a pass.
    passed = {
        each["id"]: each["applies"] for each in shown["assertions"] if each["status"] == "pass"
    }
    others = dict.fromkeys(["I1", "I4", "I6", "I8", "I10"], False)
    assert passed == {"Cascade-3": True, **others}
    counts = "1 pass, 0 fail, 5 not applicable, 25 cannot be checked from a trace."
    markdown = report_markdown(report)
    assert counts in markdown
    _, passes, others, _ = re.split(r"## Passed|## Not applicable|## Not checkable", markdown)
    assert re.findall(r"^\| ([A-Z]\S*) \|", passes, re.MULTILINE) == ["Cascade-3"]
    assert "| I1 | A slice delivers one pull request | It does not" in others
    page = report_html(report, "drive-trace")
    for title in ("Passed (1)", "Not applicable (5)", "Not checkable from a trace (25)"):
        assert f"## {title}\n" in markdown
        assert f"<summary>{title}</summary>" in page


# Timelines


def test_claimed_time_stands_beside_the_clock() -> None:
    shown = json_of(
        event("dispatch-start", dispatch_id="d", ts="2026-05-28T14:00:00.000Z"),
        event("round-start", dispatch_id="d", round_id="r", ts="2026-05-28T14:00:00.000Z"),
        event("round-end", dispatch_id="d", round_id="r", ts="yesterday", wall_clock_ms=9),
        event("dispatch-end", dispatch_id="d", ts="2026-05-28T14:01:00.000Z", wall_clock_ms=90_000),
        event("dispatch-end", dispatch_id="unstarted", wall_clock_ms=1),
    )
    first, second = shown["timelines"]["checkout-retry"]
    assert (first["clock_ms"], first["claimed_ms"], first["round_starts"]) == (60_000, 90_000, 1)
    assert (first["rounds"][0]["clock_ms"], first["rounds"][0]["claimed_ms"]) == (None, 9)
    assert (second["name"], second["started"], second["clock_ms"]) == (None, None, None)
