"""Inlay hints: what numbers and ids say, behind them."""

import pytest
from lsprotocol import types

from drive_trace.analysis import Analysis
from drive_trace.features import HintOptions
from drive_trace.features.hover import MOST_LINES, resolve_hint
from drive_trace.linter.settings import RuleSettings
from drive_trace.trace.document import Point
from tests.support.aids import check_hints, explained, hints_in
from tests.support.fixtures import read

HINTS = {
    "ids are followed by what they name": """
        EVENT{"event_type":"dispatch-start","dispatch_id":"d-1","dispatch_name":"coder"}
        EVENT{"event_type":"round-start","dispatch_id":"d-1","round_id":"r-1"}
        EVENT{"event_type":"round-start","dispatch_id":"d-1","round_number":2}
        EVENT{"event_type":"brief-issued","dispatch_id":"d-1","round_id":"r-1"«round 1»}
        EVENT{"event_type":"dispatch-start","parent_dispatch_id":"d-1"«coder»}
        """,
    "a dispatch is named where it changes": """
        EVENT{"event_type":"dispatch-start","dispatch_id":"d-1","dispatch_name":"D1 R2: codec"}
        EVENT{"event_type":"dispatch-start","dispatch_id":"d-2","dispatch_name":"6c-D4 — examples"}
        EVENT{"event_type":"round-start","dispatch_id":"d-2"}
        EVENT{"event_type":"round-start","dispatch_id":"d-1"«D1 R2»}
        EVENT{"event_type":"brief-issued","dispatch_id":"d-1"}
        EVENT{"event_type":"brief-issued","dispatch_id":"d-2"«D4»}
        EVENT{"event_type":"brief-issued","dispatch_id":"d-2","project_run_id":"another"}
        """,
    "each run has its own dispatches": """
        EVENT{"event_type":"dispatch-start","project_run_id":"a","dispatch_id":"1","dispatch_name":"a"}
        EVENT{"event_type":"dispatch-start","project_run_id":"b","dispatch_id":"1","dispatch_name":"b"}
        EVENT{"event_type":"round-start","project_run_id":"a","dispatch_id":"1"«a»}
        EVENT{"event_type":"round-start","project_run_id":"b","dispatch_id":"1"«b»}
        EVENT{"event_type":"round-start","project_run_id":"c","dispatch_id":"1"}
        """,
    "a dispatch that is started again is called as it was then": """
        EVENT{"event_type":"round-start","dispatch_id":"d-1"«before»}
        EVENT{"event_type":"dispatch-start","dispatch_id":"d-1","dispatch_name":"before"}
        EVENT{"event_type":"project-started"}
        EVENT{"event_type":"round-start","dispatch_id":"d-1"«before»}
        EVENT{"event_type":"dispatch-start","dispatch_id":"d-1","dispatch_name":"after"}
        EVENT{"event_type":"project-started"}
        EVENT{"event_type":"round-start","dispatch_id":"d-1"«after»}
        """,
    "long numbers are followed by short ones": """
        EVENT{"event_type":"tokens-recorded","input_tokens":1912408«1.9M»,"output_tokens":0,"cache_read_tokens":950}
        EVENT{"event_type":"spec-amended","byte_length":1204551«1.2 MB»,"bytes_delta":0}
        EVENT{"event_type":"spec-amended","bytes_delta":-12400«−12.4 kB»}
        EVENT{"event_type":"spec-amended","byte_length":8705,"bytes_delta":415}
        EVENT{"event_type":"dispatch-end","wall_clock_ms":3900000«1h 05m»}
        EVENT{"event_type":"dispatch-end","wall_clock_ms":45200«45.2s»}
        EVENT{"event_type":"dispatch-end","wall_clock_ms":999}
        """,
    "a broken line has them as far as it can be read": """
        EVENT{"event_type":"dispatch-start","dispatch_id":"d-1","dispatch_name":"coder"}
        EVENT{"event_type":"dispatch-end","dispatch_id":"d-1","wall_clock_ms":1680000«28m»,}
        EVENT{"event_type":"dispatch-end","dispatch_id":"d-1","wall_clock_ms":1680000«28m»
        EVENT{"event_type":"dispatch-end","dispatch_id":["d-1"],"wall_clock_ms":"1680000"}
        ["dispatch-end"]
        not json
        EVENT{"event_type":"tool-called","wall_clock_ms":1680000}
        """,
    "text beyond the bmp stands before and in them": """
        EVENT{"event_type":"dispatch-start","dispatch_id":"🚀","dispatch_name":"日本 🚀"}
        EVENT{"event_type":"project-started"}
        EVENT{"event_type":"round-start","orchestrator_agent_id":"é🚀","dispatch_id":"🚀"«日本 🚀»}
        """,
    "an empty file has none": "",
    "names from a trace are short and harmless": f"""
        EVENT{{"event_type":"dispatch-start","dispatch_id":"d-1","dispatch_name":"{"x" * 60}"}}
        EVENT{{"event_type":"project-started"}}
        EVENT{{"event_type":"round-start","dispatch_id":"d-1"«{"x" * 23}…»}}
        EVENT{{"event_type":"dispatch-start","dispatch_id":"d-2","dispatch_name":"a\\u202e\\nb"}}
        EVENT{{"event_type":"project-started"}}
        EVENT{{"event_type":"round-start","dispatch_id":"d-2"«a<U+202E><U+000A>b»}}
        EVENT{{"event_type":"dispatch-start","dispatch_id":"d-3","dispatch_name":""}}
        EVENT{{"event_type":"project-started"}}
        EVENT{{"event_type":"round-start","dispatch_id":"d-3"}}
        """,
}


@pytest.mark.parametrize("case", HINTS)
def test_hints_stand_behind_what_means_something(case: str) -> None:
    check_hints(HINTS[case])


@pytest.mark.parametrize(
    ("ended", "claimed"),
    [
        ("14:28:00", "3600000«1h · clock says 28m»"),
        ("14:28:00", "1680000«28m»"),
        ("14:00:30", "32900«32.9s»"),
        ("14:00:30", "33100«33.1s · clock says 30s»"),
        ("14:01:50", "70000«1m 10s · clock says 1m 50s»"),
        ("14:05:00", "0«clock says 5m»"),
        ("14:00:00", "59000«59s · clock says 0ms»"),
        ("14:00:00", "1800000«30m»"),
        ("13:00:00", "1800000«30m»"),
    ],
)
@pytest.mark.parametrize("what", ["dispatch", "round"])
def test_a_claim_far_from_the_clock_is_followed_by_what_that_says(
    what: str, ended: str, claimed: str
) -> None:
    check_hints(
        f"""
        EVENT{{"event_type":"{what}-start"}}
        EVENT{{"event_type":"{what}-end","ts":"2026-05-28T{ended}Z","wall_clock_ms":{claimed}}}
        """,
        HintOptions(names=False),
    )


@pytest.mark.parametrize(
    ("kind", "without"),
    [
        ("durations", "«clock says 28m»"),
        ("clock", "«1h»"),
        ("names", "«1h · clock says 28m»"),
        ("tokens", "«1h · clock says 28m»"),
        ("sizes", "«1h · clock says 28m»"),
    ],
)
def test_each_kind_can_be_left_out(kind: str, without: str) -> None:
    name = "" if kind == "names" else "«D1»"
    tokens = "" if kind == "tokens" else "«1.9M»"
    size = "" if kind == "sizes" else "«1.2 MB»"
    check_hints(
        f"""
        EVENT{{"event_type":"dispatch-start","dispatch_id":"d-1","dispatch_name":"D1"}}
        EVENT{{"event_type":"project-started"}}
        EVENT{{"event_type":"dispatch-end","ts":"2026-05-28T14:28:00.000Z","dispatch_id":"d-1"{name},"wall_clock_ms":3600000{without}}}
        EVENT{{"event_type":"tokens-recorded","input_tokens":1912408{tokens},"output_tokens":0,"cache_read_tokens":0}}
        EVENT{{"event_type":"spec-authored","byte_length":1204551{size}}}
        """,
        HintOptions(**{kind: False}),
    )


# What is asked for


def test_only_the_lines_in_the_range_have_them() -> None:
    text = read(30 * 'EVENT{"event_type":"dispatch-end"}\n').text
    lines = [hint.position.line for hint in hints_in(Analysis(text), 10, 12)]
    assert lines == [10, 11, 12]
    assert hints_in(Analysis(text), 100, 200) == []


def test_of_a_long_range_the_beginning_is_answered() -> None:
    text = read((MOST_LINES + 100) * 'EVENT{"event_type":"dispatch-end"}\n').text
    hints = hints_in(Analysis(text), 0, MOST_LINES + 100)
    assert len(hints) == MOST_LINES


# Explanations


def test_a_hint_is_explained_when_somebody_points_at_it() -> None:
    assert explained(
        """
        EVENT{"event_type":"dispatch-start","dispatch_id":"d-1","dispatch_name":"implementer D1"}
        EVENT{"event_type":"project-started"}
        EVENT{"event_type":"dispatch-end","ts":"2026-05-28T14:28:00.000Z","dispatch_id":"d-1","wall_clock_ms":3600000}
        EVENT{"event_type":"tokens-recorded","input_tokens":1912408,"output_tokens":0,"cache_read_tokens":0}
        """
    ) == [
        (
            "D1",
            "implementer D1 on composer-2: started on line 1, ended on this line after 1h, "
            "completed.",
        ),
        (
            "1h · clock says 28m",
            "= 3,600,000 milliseconds · 1h\n\n"
            "The clock says 28m, from line 1 to this line: 32m less.",
        ),
        ("1.9M", "= 1,912,408 tokens · 1.9M"),
    ]


def test_a_hint_whose_line_has_changed_stays_as_it_is() -> None:
    analysis = Analysis(read('EVENT{"event_type":"dispatch-end"}').text)
    (hint,) = hints_in(analysis, 0, 0)
    value = analysis.document.text.index("1680000")
    analysis.edit(Point(0, value), Point(0, value + 1), "2")
    assert resolve_hint(analysis, hint).tooltip is None
    assert resolve_hint(None, hint).tooltip is None


@pytest.mark.parametrize(
    "data",
    [
        None,
        7,
        {},
        {"order": "x", "field": "wall_clock_ms"},
        {"order": "0", "field": "wall_clock_ms"},
        {"order": 0, "field": ["x"]},
        {"order": 0, "field": "unheard_of"},
        {"order": 99, "field": "wall_clock_ms"},
        {"order": -1, "field": "wall_clock_ms"},
    ],
)
def test_a_hint_that_is_none_of_ours_stays_as_it_is(data: object) -> None:
    analysis = Analysis(read('EVENT{"event_type":"dispatch-end"}').text)
    hint = types.InlayHint(types.Position(0, 0), "28m", data=data)  # type: ignore[arg-type]
    assert resolve_hint(analysis, hint).tooltip is None


def test_the_tolerance_is_that_of_the_rules_also_when_these_are_off() -> None:
    settings = RuleSettings(
        severities={"wall-clock-exceeds-timestamps": None},
        options={"wall-clock-exceeds-timestamps": {"tolerance-ms": 60_000}},
    )
    text = read(
        """
        EVENT{"event_type":"dispatch-start","ts":"2026-05-28T14:00:00.000Z"}
        EVENT{"event_type":"dispatch-end","ts":"2026-05-28T14:10:00.000Z","wall_clock_ms":655000}
        EVENT{"event_type":"dispatch-start","ts":"2026-05-28T14:00:00.000Z","dispatch_id":"d-2"}
        EVENT{"event_type":"dispatch-end","ts":"2026-05-28T14:10:00.000Z","dispatch_id":"d-2","wall_clock_ms":665000}
        """
    ).text
    hints = hints_in(Analysis(text, settings), 0, 4)
    assert [hint.label for hint in hints if str(hint.label).startswith("1")] == [
        "10m 55s",
        "11m 05s · clock says 10m",
    ]
