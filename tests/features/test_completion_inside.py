"""Completion inside a line: fields that are missing, and values."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol import types

from drive_trace.features.completion import Abilities, resolve_completion
from drive_trace.trace.cursor import cursor_at
from drive_trace.trace.document import Point
from tests.support.completing import (
    MODERN,
    PLAIN,
    Offered,
    at_each_place,
    check_completion,
    labels,
    made,
    notes,
    offered,
)
from tests.support.fixtures import Fixture, trace

ABOVE = """
        EVENT{"event_type":"dispatch-start","dispatch_id":"D1"}
        EVENT{"event_type":"round-start","dispatch_id":"D1","round_id":"R1","ts":"2026-05-28T14:02:00.000Z"}
"""
BEGUN = '{"event_type":"round-end","ts":"2026-05-28T14:05:00.000Z"'


def line(text: str) -> str:
    """A fixture whose last line is half-written."""
    return f"{ABOVE}        {text}"


FIELDS = {
    "after a comma": (BEGUN + ",$0}", BEGUN + ',"dispatch_id":"D1"}'),
    "in quotes": (BEGUN + ',"disp$0"}', BEGUN + ',"dispatch_id":"D1"}'),
    "in a quote that is not closed": (BEGUN + ',"disp$0', BEGUN + ',"dispatch_id":"D1"'),
    "without quotes": (BEGUN + ",disp$0}", BEGUN + ',"dispatch_id":"D1"}'),
    "after a value": (BEGUN + "$0}", BEGUN + ',"dispatch_id":"D1"}'),
    "at the end of a line": (BEGUN + ",$0", BEGUN + ',"dispatch_id":"D1"'),
    "before a pair": (
        '{$0"event_type":"round-end","round_id":"R1"}',
        '{"dispatch_id":"D1","event_type":"round-end","round_id":"R1"}',
    ),
    "before a comma": (BEGUN + ',"disp$0","qa":1}', BEGUN + ',"dispatch_id":"D1","qa":1}'),
    "as the key of a pair": (BEGUN + ',"dipsatch_id$0":"D1"}', BEGUN + ',"dispatch_id":"D1"}'),
    "behind text beyond the BMP": (
        '{"note":"🚀 日本","event_type":"round-end",$0}',
        '{"note":"🚀 日本","event_type":"round-end","dispatch_id":"D1"}',
    ),
}


@pytest.mark.parametrize("case", FIELDS)
def test_no_quote_colon_or_comma_is_doubled_or_missing(case: str) -> None:
    before, after = FIELDS[case]
    check_completion(line(before), "dispatch_id", line(after))


VALUES = {
    "after a colon": (BEGUN + ',"verdict":$0}', BEGUN + ',"verdict":"satisfied"}'),
    "in quotes": (BEGUN + ',"verdict":"sat$0"}', BEGUN + ',"verdict":"satisfied"}'),
    "in a quote before more": (
        BEGUN + ',"verdict":"sat$0,"findings_filed":0}',
        BEGUN + ',"verdict":"satisfied","findings_filed":0}',
    ),
    "without quotes": (BEGUN + ',"verdict":sat$0}', BEGUN + ',"verdict":"satisfied"}'),
    "without a comma": (
        BEGUN + ',"verdict":$0"findings_filed":0}',
        BEGUN + ',"verdict":"satisfied","findings_filed":0}',
    ),
    "without a colon": (BEGUN + ',"verdict"$0}', BEGUN + ',"verdict":"satisfied"}'),
    "before another value": (
        BEGUN + ',"verdict":$0"stop-condition"}',
        BEGUN + ',"verdict":"satisfied"}',
    ),
    "in the middle of another value": (
        BEGUN + ',"verdict":"s$0top-condition","a":1}',
        BEGUN + ',"verdict":"satisfied","a":1}',
    ),
    "instead of a slip": (BEGUN + ',"verdict":"satsified$0"}', BEGUN + ',"verdict":"satisfied"}'),
    "of an event that is misspelt": (
        '{"event_type":"round-ended","verdict":"$0"}',
        '{"event_type":"round-ended","verdict":"satisfied"}',
    ),
}


@pytest.mark.parametrize("case", VALUES)
def test_a_value_takes_the_place_of_what_stands_there(case: str) -> None:
    before, after = VALUES[case]
    check_completion(line(before), "satisfied", line(after))


def test_the_missing_fields_come_in_order_and_say_what_they_would_hold() -> None:
    assert notes(line('{"event_type":"round-end","event_id":"e","schema_version":"1",$0}')) == [
        Offered("ts", "now"),
        Offered(
            "all 8 missing fields",
            "ts, project_run_id, orchestrator_agent_id, dispatch_id, round_id, verdict, "
            "findings_filed, wall_clock_ms",
        ),
        Offered("project_run_id", '"checkout-retry", the run here'),
        Offered("orchestrator_agent_id", "null"),
        Offered("dispatch_id", "implementer D1 R1, open since 14:00"),
        Offered("round_id", "round 1 of implementer D1 R1, open since 14:02"),
        Offered(
            "verdict",
            '"satisfied", "another-round-needed", "escalating-to-user" or "stop-condition"',
        ),
        Offered("findings_filed", "an integer of at least 0"),
        Offered("wall_clock_ms", "1680000, 28m, measured from its start"),
    ]


def test_all_missing_fields_come_at_once() -> None:
    begun = (
        '{"event_id":"e","schema_version":"1","ts":"t","project_run_id":"r",'
        '"orchestrator_agent_id":null'
    )
    check_completion(
        begun + ',"event_type":"slice-completed","slice_slug":"s",$0}',
        "all 2 missing fields",
        begun + ',"event_type":"slice-completed","slice_slug":"s",'
        '"result":"${1|merged,abandoned|}","pr_ref":${2:null}}',
    )


def test_what_stands_there_is_not_offered_again() -> None:
    assert labels('EVENT{"event_type":"round-end",$0}') == []
    assert labels('EVENT{"event_type":"round-end"}$0') == []


def test_measured_from_what_the_line_says() -> None:
    """Its own time and its own round count, not the moment and the open one."""
    above = 'EVENT{"event_type":"round-start","round_id":"R0","ts":"2026-05-28T13:00:00.000Z"}'
    found = notes(
        f"{above}{ABOVE}        "
        '{"event_type":"round-end","round_id":"R0","ts":"2026-05-28T13:30:00.000Z","wall_clock_ms":$0}'
    )
    assert found == [Offered("1800000", "30m, measured from its start")]


def test_the_numbers_of_rounds_and_slices_go_on() -> None:
    assert labels(line('{"event_type":"round-start","dispatch_id":"D1","round_number":$0}')) == [
        "2"
    ]
    assert labels('{"event_type":"slice-started","slice_index":$0}') == ["1"]


def test_ids_say_what_they_are() -> None:
    fixture = """
        EVENT{"event_type":"dispatch-start","dispatch_id":"D1","dispatch_name":"implementer"}
        EVENT{"event_type":"dispatch-end","dispatch_id":"D1","ts":"2026-05-27T14:28:00.000Z"}
        EVENT{"event_type":"dispatch-start","dispatch_id":"D2","dispatch_name":"reviewer"}
        {"event_type":"dispatch-end","dispatch_id":"$0"}
    """
    assert notes(fixture) == [
        Offered("D2", "reviewer, open since 14:00"),
        Offered("D1", "implementer, completed 2026-05-27 14:28"),
    ]


def test_rounds_are_those_of_the_dispatch_on_the_line() -> None:
    fixture = """
        EVENT{"event_type":"dispatch-start","dispatch_id":"D1"}
        EVENT{"event_type":"round-start","dispatch_id":"D1","round_id":"R1"}
        EVENT{"event_type":"dispatch-start","dispatch_id":"D2"}
        EVENT{"event_type":"round-start","dispatch_id":"D2","round_id":"R2"}
        {"event_type":"round-end","dispatch_id":"D1","round_id":"$0"}
    """
    assert labels(fixture) == ["R1"]
    assert labels(fixture.replace('"dispatch_id":"D1","round_id":"$0"', '"round_id":"$0"')) == [
        "R2",
        "R1",
    ]


def test_fresh_ids_and_the_time() -> None:
    assert notes(line('{"event_type":"round-start","round_id":"$0"}'))[0].note == "a fresh id"
    assert notes('{"event_id":$0}')[0].note == "a fresh id"
    assert notes('{"ts":"2026$0"}') == [Offered("2026-05-28T14:30:00.000Z", "now")]


def test_runs_of_the_trace() -> None:
    fixture = """
        EVENT{"event_type":"slice-started","project_run_id":"run-a"}
        EVENT{"event_type":"slice-started","project_run_id":"run-b"}
        {"event_type":"slice-started","project_run_id":"$0"}
    """
    assert notes(fixture) == [
        Offered("run-b", "the run here"),
        Offered("run-a", "a run of this trace"),
    ]


def test_ids_are_found_by_the_names_of_what_they_name() -> None:
    fixture = """
        EVENT{"event_type":"dispatch-start","dispatch_id":"c732","dispatch_name":"retry policy"}
        EVENT{"event_type":"dispatch-start","dispatch_id":"32d0","dispatch_name":"payment captures"}
        {"event_type":"dispatch-end","dispatch_id":"retry$0"}
    """
    assert labels(fixture) == ["c732"]
    check_completion(fixture, "c732", fixture.replace("retry$0", "c732"))


def test_null_where_it_is_a_value() -> None:
    assert labels('{"event_type":"slice-completed","pr_ref":$0}') == ["null"]
    check_completion(
        '{"event_type":"slice-completed","pr_ref":"$0"}',
        "null",
        '{"event_type":"slice-completed","pr_ref":null}',
    )
    assert labels('{"event_type":"slice-completed","result":$0}') == ["merged", "abandoned"]
    assert labels('{"event_type":"project-closed","final_retro_done":t$0}') == ["true"]


def test_fields_of_the_other_kind_are_null() -> None:
    fixture = '{"event_type":"plan-authored","plan_kind":"project","dispatch_count":$0}'
    assert labels(fixture) == ["null"]
    assert labels(fixture.replace("project", "slice")) == []
    sizes = fixture.replace("dispatch_count", "dispatch_size_distribution")
    assert notes(sizes) == [Offered("null", "only slice plans plan dispatches")]
    assert labels(sizes.replace("project", "slice")) == ["{…}"]


def test_fields_that_follow_from_others() -> None:
    final = (
        '{"event_type":"retro-landed","trigger_class":"mandatory-final","is_mandatory_final":$0}'
    )
    assert labels(final)[0] == "true"
    signals = '{"event_type":"health-check-fired","drift_signal_count":0,"max_drift_severity":$0}'
    assert labels(signals)[0] == "none"
    fixture = """
        EVENT{"event_type":"spec-authored","spec_path":"a.md","byte_length":1000}
        EVENT{"event_type":"spec-amended","spec_path":"a.md","byte_length":900,"bytes_delta":$0}
    """
    assert notes(fixture) == [Offered("-100", "since 14:00")]


def test_values_that_were_used_before() -> None:
    fixture = """
        EVENT{"event_type":"dispatch-start","dispatch_id":"D1","model":"composer-2"}
        EVENT{"event_type":"dispatch-start","dispatch_id":"D2","model":"composer-1"}
        EVENT{"event_type":"dispatch-start","dispatch_id":"D3","model":$0}
    """
    assert labels(fixture) == ["null", "composer-1", "composer-2"]
    again = fixture.replace("composer-1", "composer-2")
    assert notes(again) == [
        Offered("composer-2", "used 2×"),
        Offered("null", "the model was not recorded"),
    ]


def test_arrays_and_objects() -> None:
    retro = '{"event_type":"retro-landed","landing_surfaces":["adr",$0]}'
    assert labels(retro) == ["canonical-skill", "project-context-readme"]
    check_completion(
        '{"event_type":"retro-landed","landing_surfaces":$0}',
        '["adr"]',
        '{"event_type":"retro-landed","landing_surfaces":["adr"]}',
    )
    sizes = '{"event_type":"plan-authored","dispatch_size_distribution":'
    check_completion(
        sizes + "$0}",
        "{…}",
        sizes + '{"S":${1:count},"M":${2:count},"L":${3:count},"XL":${4:count}}}',
    )
    assert labels(sizes + '{"S":1,"$0"}}') == ["M", "all 3 missing fields", "L", "XL"]
    assert labels(sizes + '{"S":1,"M":$0}}') == []


def test_event_types_in_the_order_of_what_comes_next() -> None:
    assert labels(line('{"event_type":"$0"}'))[:2] == ["brief-issued", "round-end"]
    check_completion(
        line('{"event_type":"rund-end$0"}'), "round-end", line('{"event_type":"round-end"}')
    )


def test_an_event_that_is_not_known_still_has_an_envelope() -> None:
    assert labels('{"event_type":"tool-called","$0"}') == [
        "event_id",
        "all 5 missing fields",
        "schema_version",
        "ts",
        "project_run_id",
        "orchestrator_agent_id",
    ]
    assert labels('{"ts":"t",$0}')[:3] == ["event_id", "all 5 missing fields", "schema_version"]
    assert labels('{"event_type":"tool-called","tool":"$0"}') == []


def test_paths_of_the_run_are_offered() -> None:
    fixture = """
        EVENT{"event_type":"spec-authored","spec_path":"projects/checkout-retry/old.md"}
        EVENT{"event_type":"plan-authored","plan_path":"projects/checkout-retry/plan.md"}
        {"event_type":"spec-amended","spec_path":"$0"}
    """
    assert notes(fixture) == [
        Offered("projects/checkout-retry/old.md", "used 1×"),
        Offered("projects/checkout-retry/plan.md", "used 1×"),
    ]


def test_a_client_that_replaces_nothing_behind_the_cursor_need_not() -> None:
    """As Neovim: it would leave the quote, and insert a text up to its first space only."""
    fixture = """
        EVENT{"event_type":"dispatch-start","dispatch_name":"the $1 one"}
        {"event_type":"dispatch-start","dispatch_name":"the$0"}
    """
    (item,) = offered(fixture, client=Abilities(snippets=True))
    assert isinstance(item.text_edit, types.TextEdit)
    assert item.text_edit.new_text == r'"the \$1 one'
    assert item.insert_text_format is types.InsertTextFormat.Snippet
    begun = '{"event_type":"dispatch-start","dispatch_name":"the'
    assert item.text_edit.range.end.character == len(begun)
    (item,) = offered(fixture)
    assert isinstance(item.text_edit, types.TextEdit)
    assert item.text_edit.new_text == r'"the \$1 one"'


def test_documentation_of_fields_and_values() -> None:
    (item, *_) = offered(line('{"event_type":"round-end","verdict":"stop$0"}'))
    resolved = resolve_completion(item, types.MarkupKind.PlainText)
    assert isinstance(resolved.documentation, types.MarkupContent)
    assert (
        resolved.documentation.value.splitlines()[0] == "verdict — What the round's review decided."
    )
    assert resolved.documentation.value.endswith(
        "- stop-condition — a stop condition was met; the dispatch ends unaccepted"
    )


@pytest.mark.parametrize(
    "text",
    [
        'EVENT{"event_type":"plan-amended","note":"🚀 a, \\"b\\": {c}"}',
        'EVENT{"event_type":"retro-landed"}',
        'EVENT{"event_type":"dispatch-start","dispatch_name":"日, \\\\","parent_dispatch_id":"D1"}',
    ],
)
def test_a_line_that_is_json_stays_json_wherever_something_is_taken(text: str) -> None:
    above = trace('EVENT{"event_type":"dispatch-start","dispatch_id":"D1"}')
    full = above + trace(text)
    for fixture in at_each_place(full, 1):
        for item in offered(fixture, PLAIN):
            json.loads(made(fixture, item).split("\n")[1])


def test_half_a_line_with_anything_behind_it() -> None:
    """Every beginning of a line, alone, closed, and with the rest of another behind it: what is
    offered keeps what stands before the cursor's token, and what stands behind it.
    """
    above = trace('EVENT{"event_type":"dispatch-start","dispatch_id":"D1"}')
    full = trace('EVENT{"event_type":"plan-amended","note":"🚀 a, \\"b\\": {c}"}').rstrip("\n")
    for at in range(0, len(full) + 1, 2):
        for behind in ("", "}", '"}', ',"verdict":"x"}'):
            text = f"{above}{full[:at]}{behind}\n"
            fixture = Fixture(text, Point(1, at), ())
            for item in offered(fixture, MODERN):
                after = made(fixture, item)
                assert after.startswith(above)
                assert after.endswith("\n")


@given(st.text('{}[]",:\\ \r\ta1é🚀', max_size=30), st.integers(0, 30))
def test_no_text_is_too_odd(text: str, at: int) -> None:
    cursor = cursor_at(text, min(at, len(text)))
    if cursor is not None:
        assert 0 <= cursor.span.start <= min(at, len(text)) <= cursor.span.end <= len(text)
        assert "\r" not in text[slice(*cursor.span)]
    fixture = Fixture(f"{text}\n", Point(0, min(at, len(text))), ())
    if "\r" not in text:
        offered(fixture)


def test_nothing_is_offered_in_a_line_that_nobody_writes_by_hand() -> None:
    assert labels('{"event_type":"slice-started","note":"' + "x" * 70_000 + '",$0}') == []
