"""Findings of the rules, beyond what their examples show."""

import json

import pytest

from drive_trace.analysis import Analysis
from drive_trace.trace.document import Point
from tests.support.fixtures import check_findings, check_fix, findings_of, trace

# What the examples do not show


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


def test_marks_stand_right_beyond_the_basic_plane() -> None:
    check_findings(
        """
        EVENT{"event_type":"correctness-recorded","project_run_id":"🚀 日本 é","qa":"✅🚀","🚀":1}
                                                                                 ^^^^ unknown-value
        undeclared-field                                                              ^^^
        """
    )


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


def test_what_looks_like_a_pair_inside_a_string_is_none() -> None:
    check_findings(
        r"""
        EVENT{"event_type":"dispatch-end","dispatch_id":",\"result\":\"x\",","result":"ok!"}
        unknown-value                                                                 ^^^^^
        """
    )


def test_a_carriage_return_before_the_newline_is_no_mistake() -> None:
    check_findings(
        """
        EVENT{"event_type":"project-started"}\r
        EVENT{"event_type":"correctness-recorded","qa":"failed"}\r
                                                       ^^^^^^^^ unknown-value
        """
    )


def test_a_feed_event_that_is_rejected_is_one_mistake_of_one_rule() -> None:
    check_findings(
        """
        EVENT{"event_type":"correctness-recorded"}
        EVENT{"event_type":"correctness-recorded","mechanical":null,"qa":true,"intent":null}
                                                                         ^^^^ wrong-type: found true
        """
    )


def test_a_version_that_is_missing_is_a_missing_field() -> None:
    check_findings(
        """
        EVENT{"event_type":"project-closed","schema_version":<absent>}
                           ^^^^^^^^^^^^^^^^ missing-field: `schema_version`
        """
    )


def test_without_an_event_type_only_the_envelope_is_expected() -> None:
    check_findings(
        """
        {"ts":"2026-05-28T14:00:00.000Z","schema_version":"1","note":"x"}
        ^ missing-field: `event_id`, `project_run_id`, `orchestrator_agent_id` and `event_type` are
        """
    )


def test_what_is_missing_from_a_payload_and_from_the_event_is_said_apart() -> None:
    check_findings(
        """
        EVENT{"event_type":"dispatch-end","result":<absent>,"ts":<absent>,"payload":{"ts":""}}
        missing-field: events are flat: `ts` must stand                   ^^^^^^^^^
                           ^^^^^^^^^^^^^^ missing-field: `result` is missing
        """
    )


def test_what_is_missing_and_what_is_misspelt_is_said_once_each() -> None:
    check_findings(
        """
        EVENT{"event_type":"dispatch-end","result":<absent>,"wall_clock_ms":<absent>,"wallClockMs":9}
                           ^^^^^^^^^^^^^^ missing-field: `result` is missing: expected
        missing-field: `wall_clock_ms` is missing: did you mean it by                ^^^^^^^^^^^^^
        """
    )


def test_what_is_no_event_is_no_alias_of_one() -> None:
    check_findings(
        """
        EVENT{"event_type":<absent>,"type":"tool-called"}
             ^ missing-field: `event_type` is missing
        """
    )


def test_without_a_type_the_fields_of_any_event_are_no_slips_of_the_envelope() -> None:
    check_findings(
        """
        EVENT{"event_type":<absent>,"project_run_id":<absent>,"project_slug":"cart"}
             ^ missing-field: `project_run_id` and `event_type` are missing
        """
    )


def test_both_feeds_are_superseded_run_by_run() -> None:
    check_findings(
        """
        EVENT{"event_type":"correctness-recorded"}
                           ^^^^^^^^^^^^^^^^^^^^^^ superseded-feed: superseded by line 4
        EVENT{"event_type":"tokens-recorded"}
                           ^^^^^^^^^^^^^^^^^ superseded-feed: superseded by line 5
        EVENT{"event_type":"correctness-recorded","project_run_id":"search-index"}
        EVENT{"event_type":"correctness-recorded"}
        EVENT{"event_type":"tokens-recorded"}
        """
    )


def test_the_line_that_a_message_names_moves_with_it() -> None:
    analysis = check_findings(
        """
        EVENT{"event_type":"correctness-recorded","qa":"fail"}
                           ^^^^^^^^^^^^^^^^^^^^^^ superseded-feed: superseded by line 2
        EVENT{"event_type":"correctness-recorded","qa":null}
        erased-verdict: `qa` was "fail" on line 1      ^^^^
        """
    )
    start = Point(0, 0)
    analysis.edit(start, start, "\n\n")
    messages = [each.message for each in findings_of(analysis) if each.code != "blank-line"]
    assert messages[0].startswith("superseded by line 4")
    assert messages[1] == '`qa` was "fail" on line 3; this null erases it'


def test_a_superseded_event_is_shown_faded_and_points_at_its_successor() -> None:
    analysis = Analysis(trace(*['EVENT{"event_type":"tokens-recorded"}'] * 2))
    (finding,) = analysis.findings()
    assert finding.rule.unnecessary
    (related,) = finding.related
    assert analysis.where(related).record == 1
    assert analysis.message(related.message) == "this event replaces it"


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
