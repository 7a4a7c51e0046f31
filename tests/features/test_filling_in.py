"""A line that leaves out what its run tells has it filled in, and nothing that nobody knows."""

from __future__ import annotations

import pytest

from drive_trace.analysis import Analysis
from drive_trace.features.code_actions.filling import fill_from_run, known_offers
from drive_trace.features.code_actions.offers import CannotMake
from drive_trace.trace.document import Point
from tests.support.changing import NOW, check_filled_in, is_filled_in
from tests.support.fixtures import trace

OPEN = """
        EVENT{"event_type":"dispatch-start","dispatch_id":"D🚀","orchestrator_agent_id":"agent-7"}
        EVENT{"event_type":"round-start","dispatch_id":"D🚀","round_id":"R1","ts":"2026-05-28T14:02:00.000Z","orchestrator_agent_id":"agent-7"}
"""


def test_what_the_run_tells_is_filled_in_and_the_rest_is_left_to_a_person() -> None:
    check_filled_in(
        f"""{OPEN}
        {{"event_type":"round-end"$0}}
        """,
        "Fill in `event_id`, `schema_version`, `ts` and 5 more from the run",
        f"""{OPEN}
        {{"event_type":"round-end","event_id":"11111111-2222-4333-8444-555555555555","schema_version":"1","ts":"2026-05-28T15:00:00.000Z","project_run_id":"checkout-retry","orchestrator_agent_id":"agent-7","dispatch_id":"D🚀","round_id":"R1","wall_clock_ms":3480000}}
        """,
    )


def test_a_null_that_is_no_value_becomes_what_was_measured() -> None:
    ended = """
        EVENT{"event_type":"dispatch-end","dispatch_id":"D🚀","ts":"2026-05-28T14:28:00.000Z","wall_clock_ms":nu$0ll}
    """
    check_filled_in(
        OPEN + ended,
        "Fill in `wall_clock_ms` from the run",
        OPEN + ended.replace("nu$0ll", "1680000"),
    )


def test_between_two_open_dispatches_nobody_chooses() -> None:
    lacking = """
        EVENT{"event_type":"dispatch-end","dispatch_id":<absent>,"wall_clock_ms":null$0}
    """
    assert is_filled_in(OPEN + lacking)
    other = """
        EVENT{"event_type":"dispatch-start","dispatch_id":"D2"}
    """
    assert not is_filled_in(OPEN + other + lacking)


@pytest.mark.parametrize(
    "line",
    [
        """EVENT{"event_type":"round-start"$0}""",
        """EVENT{"event_type":"correctness-recorded","qa":<absent>$0}""",
        """EVENT{"event_type":"retro-landed","trigger_class":null,"is_mandatory_final":null$0}""",
        """{"event_type":"round_end"$0}""",
        """{"event_type":"round-end",$0}""",
        """not JSON$0""",
        "$0",
    ],
)
def test_elsewhere_there_is_nothing_to_fill_in(line: str) -> None:
    assert not is_filled_in(line)


def test_only_where_fixes_are_asked_for() -> None:
    line = """{"event_type":"round-end"$0}"""
    assert is_filled_in(line, ["quickfix"])
    assert not is_filled_in(line, ["source"])


def test_a_line_that_has_changed_meanwhile_is_left_alone() -> None:
    (offer,) = known_offers(Analysis('{"event_type":"round-end"}'), Point(0, 0), None)
    mended = Analysis(trace('EVENT{"event_type":"round-end"}'))
    assert isinstance(fill_from_run(mended, offer.data, NOW), CannotMake)
    assert isinstance(fill_from_run(mended, {**offer.data, "record": 7}, NOW), CannotMake)
    with pytest.raises(TypeError):
        fill_from_run(mended, {"record": "0"}, NOW)
