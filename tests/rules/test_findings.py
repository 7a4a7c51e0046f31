"""Findings of the rules, beyond what their examples show."""

import json

import pytest

from drive_trace.analysis import Analysis
from tests.support.fixtures import check_findings, check_fix, findings_of, trace

# What the examples do not show

CASES = {
    "marks stand right beyond the basic plane": """
        EVENT{"event_type":"correctness-recorded","project_run_id":"🚀 日本 é","qa":"✅🚀","🚀":1}
                                                                                 ^^^^ unknown-value
        undeclared-field                                                              ^^^
        """,
    "what looks like a pair inside a string is none": r"""
        EVENT{"event_type":"dispatch-end","dispatch_id":",\"result\":\"x\",","result":"ok!"}
        unknown-value                                                                 ^^^^^
        """,
    "a carriage return before the newline is no mistake": """
        EVENT{"event_type":"project-started"}\r
        EVENT{"event_type":"correctness-recorded","qa":"failed"}\r
                                                       ^^^^^^^^ unknown-value
        """,
    "a feed event that is rejected is one mistake of one rule": """
        EVENT{"event_type":"correctness-recorded"}
        EVENT{"event_type":"correctness-recorded","mechanical":null,"qa":true,"intent":null}
                                                                         ^^^^ wrong-type: found true
        """,
    "a version that is missing is a missing field": """
        EVENT{"event_type":"project-closed","schema_version":<absent>}
                           ^^^^^^^^^^^^^^^^ missing-field: `schema_version`
        """,
    "without an event type only the envelope is expected": """
        {"ts":"2026-05-28T14:00:00.000Z","schema_version":"1","note":"x"}
        ^ missing-field: `event_id`, `project_run_id`, `orchestrator_agent_id` and `event_type` are
        """,
    "what is missing from a payload and from the event is said apart": """
        EVENT{"event_type":"dispatch-end","result":<absent>,"ts":<absent>,"payload":{"ts":""}}
        missing-field: events are flat: put what is inside `payload`      ^^^^^^^^^
                           ^^^^^^^^^^^^^^ missing-field: `result` is missing
        """,
    "what is missing and what is misspelt is said once each": """
        EVENT{"event_type":"dispatch-end","result":<absent>,"wall_clock_ms":<absent>,"wallClockMs":9}
                           ^^^^^^^^^^^^^^ missing-field: `result` is missing: expected
        missing-field: `wall_clock_ms` is missing: did you write it as               ^^^^^^^^^^^^^
        """,
    "what is no event is no alias of one": """
        EVENT{"event_type":<absent>,"type":"tool-called"}
             ^ missing-field: `event_type` is missing
        """,
    "without a type the fields of any event are no slips of the envelope": """
        EVENT{"event_type":<absent>,"project_run_id":<absent>,"project_slug":"cart"}
             ^ missing-field: `project_run_id` and `event_type` are missing
        """,
    "both feeds are superseded run by run": """
        EVENT{"event_type":"correctness-recorded"}
                           ^^^^^^^^^^^^^^^^^^^^^^ superseded-feed: superseded by line 4
        EVENT{"event_type":"tokens-recorded"}
                           ^^^^^^^^^^^^^^^^^ superseded-feed: superseded by line 5
        EVENT{"event_type":"correctness-recorded","project_run_id":"search-index"}
        EVENT{"event_type":"correctness-recorded"}
        EVENT{"event_type":"tokens-recorded"}
        """,
}


@pytest.mark.parametrize("text", CASES.values(), ids=CASES)
def test_what_is_found(text: str) -> None:
    check_findings(text)


def test_several_findings_of_a_line_come_by_where_they_stand() -> None:
    analysis = check_findings(
        """
        EVENT{"event_type":"project-closed","dod_status":"ok","slices_completed":-1,"x":0,"ts":0}
                                                         ^^^^ unknown-value
                                                                                 ^^ out-of-range
        undeclared-field                                                            ^^^
        wrong-type                                                                             ^
        """
    )
    spots = [analysis.where(each) for each in analysis.findings()]
    assert spots == sorted(spots)


def test_the_last_of_equal_keys_counts_however_it_is_written() -> None:
    check_findings(
        r"""
        EVENT{"event_type":"correctness-recorded","qa":"pass","q\u0061":"passed"}
                                                  ^^^^ duplicate-key
                                                                        ^^^^^^^^ unknown-value
        """
    )
    check_fix(
        r"""
        EVENT{"event_type":"correctness-recorded","qa":"pass","q\u0061":"pass$0ed"}
        """,
        r"""
        EVENT{"event_type":"correctness-recorded","qa":"pass","q\u0061":"pass"}
        """,
    )


HOSTILE = "a\x1b[31m\u202e\u2028`**b**<script>\ud800"


@pytest.mark.parametrize(
    "pair",
    [
        f'"qa":{json.dumps(HOSTILE)}',
        f"{json.dumps(HOSTILE)}:1",
        f'"event_type":{json.dumps(HOSTILE)}',
        f'"schema_version":{json.dumps(HOSTILE)}',
        f"{json.dumps(HOSTILE)}:1,{json.dumps(HOSTILE)}:2",
    ],
)
def test_nothing_in_a_message_or_a_title_obeys_a_trace(pair: str) -> None:
    analysis = Analysis(trace(f'EVENT{{"event_type":"correctness-recorded",{pair}}}'))
    findings = list(analysis.findings())
    assert findings
    for finding in findings:
        said = [analysis.message(finding.message)]
        said += [fix.title for fix in analysis.fixes(finding)]
        said += [analysis.message(related.message) for related in finding.related]
        for text in said:
            assert text.isprintable(), text


def test_a_long_value_is_cut_in_a_message() -> None:
    line = f'EVENT{{"event_type":"correctness-recorded","qa":"{"x" * 5000}"}}'
    ((found),) = findings_of(Analysis(trace(line)))
    assert len(found.message) < 200
