"""The reference reader's own results, case by case."""

import json
from itertools import compress
from pathlib import Path

import pytest

from drive_trace.analysis import Analysis
from drive_trace.linter.rule import Severity
from drive_trace.report.contents import report_on
from drive_trace.report.contents import to_json as report_to_json
from drive_trace.scorecard.card import score, to_json
from drive_trace.scorecard.scoring import summarize
from tests.support.scored import read_log, score_of, summarize_text

CASES = Path(__file__).parent / "conformance"
VERDICTS = {
    "valid": (False, False),
    "invalid": (True, False),
    "unknown": (False, True),
    "blank": (False, False),
}


def load(name: str) -> list[dict]:
    return [json.loads(line) for line in (CASES / name).read_text("utf-8").split("\n") if line]


def test_every_line_is_judged_as_the_reference_judges_it() -> None:
    wrong = []
    for case in load("lines.jsonl"):
        analysis = Analysis(case["raw"] + "\n")
        found = list(analysis.findings())
        has_error = any(finding.rule.severity is Severity.ERROR for finding in found)
        is_unknown = any(finding.rule.code == "unknown-event-type" for finding in found)
        status = analysis.document.lines[0].status.value
        if (has_error, is_unknown) != VERDICTS[case["verdict"]] or status != case["verdict"]:
            wrong.append((case["verdict"], status, [finding.rule.code for finding in found]))
    assert wrong == []


def test_every_finding_of_every_line_can_be_shown_and_its_fixes_made() -> None:
    for case in load("lines.jsonl"):
        analysis = Analysis(case["raw"] + "\n")
        for finding in analysis.findings():
            record, span = analysis.where(finding)
            text = analysis.document.lines[record].text
            assert 0 <= span.start <= span.end <= len(text)
            assert analysis.message(finding.message)
            for fix in analysis.fixes(finding):
                assert fix.edits
                for edit in fix.edits:
                    # One past the text takes the newline, too.
                    assert 0 <= edit.span.start <= edit.span.end <= len(text) + 1


@pytest.mark.parametrize("number", range(120))
def test_trace(number: int) -> None:
    case = load_traces()[number]
    analysis = Analysis(case["text"])
    errors = {
        analysis.where(finding).record + 1
        for finding in analysis.findings()
        if finding.rule.severity is Severity.ERROR
    }
    assert sorted(errors) == case["invalid_lines"]
    assert list(summarize(analysis.index).unknown_lines) == case["unknown_lines"]
    card = to_json(score_of(analysis))
    assert only_keys_of(counted(card), case["scorecard"]) == case["scorecard"]
    assert to_json(score([summarize_text(case["text"])])) == card


@pytest.mark.parametrize("number", range(120))
def test_report_of_a_trace(number: int) -> None:
    case = load_traces()[number]
    made = json.loads(json.dumps(report_to_json(report_on([read_log(case["text"], "x")]))))
    assert only_keys_of(counted(made["scorecard"]), case["scorecard"]) == case["scorecard"]
    assert made["metrics"] == case["metrics"]
    decided = {each["id"]: each for each in made["assertions"]}
    assert [only_keys_of(decided[each["id"]], each) for each in case["assertions"]] == case[
        "assertions"
    ]
    (file,) = made["files"]
    assert (file["invalid_lines"], file["unknown_lines"]) == (
        case["invalid_lines"],
        case["unknown_lines"],
    )


def counted(card: dict) -> dict:
    """A scorecard without the runs that have no valid event: the reference does not list them. They
    stand behind all others.
    """
    has_events = [any(file["events"] for file in run["files"]) for run in card["runs"]]
    assert has_events == sorted(has_events, reverse=True)
    return card | {"runs": [*compress(card["runs"], has_events)]}


def only_keys_of(ours: object, theirs: object) -> object:
    """Ours without the keys that stand beside the reference's."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return {key: only_keys_of(ours.get(key), value) for key, value in theirs.items()}
    if isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        return [only_keys_of(mine, other) for mine, other in zip(ours, theirs, strict=True)]
    return ours


_TRACES: list[dict] = []


def load_traces() -> list[dict]:
    if not _TRACES:
        _TRACES.extend(load("traces.jsonl"))
    return _TRACES
