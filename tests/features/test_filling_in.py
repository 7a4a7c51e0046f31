"""A line that leaves out what its run tells has it filled in, and nothing that nobody knows."""

import pytest

from drive_trace.analysis import Analysis
from drive_trace.authoring.fixing import fix_all
from drive_trace.features.filling import fill_offers, known_offers
from drive_trace.trace.document import Point
from tests.support.changing import changes_of, check_filled_in, is_filled_in
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
        'Fill in `schema_version`: "1", `project_run_id`: "checkout-retry", '
        '`orchestrator_agent_id`: "agent-7" and 5 more',
        f"""{OPEN}
        {{"event_type":"round-end","event_id":"11111111-2222-4333-8444-555555555555","schema_version":"1","ts":"2026-05-28T15:00:00.000Z","project_run_id":"checkout-retry","orchestrator_agent_id":"agent-7","dispatch_id":"D🚀","round_id":"R1","wall_clock_ms":3480000}}
        """,
    )


def test_the_title_shows_what_is_written() -> None:
    ended = """
        EVENT{"event_type":"dispatch-end","dispatch_id":"D🚀","ts":"2026-05-28T14:12:24.000Z","wall_clock_ms":<absent>$0}
    """
    check_filled_in(
        OPEN + ended,
        "Fill in `wall_clock_ms`: 744000 (12m 24s)",
        OPEN
        + ended.replace(',"wall_clock_ms":<absent>$0', "").replace("}", ',"wall_clock_ms":744000}'),
    )


def test_durations_that_are_null_are_filled_in_by_their_own_fix() -> None:
    null = '"event_type":"dispatch-end","ts":"2026-05-28T14:12:24.000Z","wall_clock_ms":null'
    lines = [
        f'EVENT{{{event},"dispatch_id":"D{number}"}}'
        for number in range(3)
        for event in ('"event_type":"dispatch-start"', null)
    ]
    unstarted = f'EVENT{{{null},"dispatch_id":"D9"}}'
    analysis = Analysis(trace(*lines, unstarted))
    assert known_offers(analysis, Point(1, 0), None) == []
    fix_all(analysis, suggestions=True)
    assert analysis.document.text == trace(
        *(line.replace("null", "744000") for line in lines), unstarted
    )


def test_what_a_payload_holds_is_not_filled_in_beside_it() -> None:
    lacking = '"event_type":"round-end","dispatch_id":<absent>,"round_id":<absent>'
    line = f'EVENT{{{lacking},"payload":{{"dispatch_id":"D9","round_id":"R9"}}$0}}'
    assert not is_filled_in(OPEN + f"        {line}\n")


def test_what_another_key_may_say_is_not_filled_in_beside_it() -> None:
    line = 'EVENT{"event_type":"round-end","dispatch_id":<absent>,"round_id":<absent>$0}'
    assert is_filled_in(OPEN + f"        {line}\n")
    beside = line.replace("$0", ',"of":"R9"$0')
    assert not is_filled_in(OPEN + f"        {beside}\n")


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


def test_what_follows_from_a_file_is_filled_in_with_its_length() -> None:
    authored = 'EVENT{"event_type":"spec-authored","spec_path":"spec.md"}'
    amended = '"event_type":"spec-amended","byte_length":<absent>,"bytes_delta":<absent>'
    analysis = Analysis(trace(authored, f'EVENT{{{amended},"spec_path":"spec.md"}}'))
    (offer,) = fill_offers(analysis, Point(1, 0), None, lambda *_: True, lambda _: (9_000, ""))
    assert offer.title == "Fill in length from spec.md"
    (change,) = changes_of(offer)
    assert change.text == ',"byte_length":9000,"bytes_delta":295'
