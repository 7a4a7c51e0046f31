"""The two-tier scorecard: how it is said to programs."""

import json

import pytest

from drive_trace.scorecard.card import to_json
from drive_trace.scorecard.measures import as_double
from drive_trace.scorecard.render import markdown, text
from tests.scorecard.support import PASSED, card_of, event, graded, json_of
from tests.support.fixtures import trace

TOKENS = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")


# As JSON


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("5.0", "5"),
        ("5e2", "500"),
        ("9007199254740992", "9007199254740992"),
        ("9007199254740993", "9007199254740992"),
        ("123456789012345678901", "123456789012345680000"),
        ("999999999999999999999", "1e+21"),
        ("1" + "0" * 300, "1e+300"),
        ("17976931348623157" + "0" * 292, "1.7976931348623157e+308"),
    ],
)
def test_numbers_are_written_as_javascript_writes_them(written: str, shown: str) -> None:
    line = f'EVENT{{"event_type":"tokens-recorded","input_tokens":{written}}}'
    said = json.dumps(to_json(card_of(trace(line, PASSED))))
    assert said.count(f'"input_tokens": {shown},') == 4


def test_a_sum_too_large_for_a_double_is_null() -> None:
    largest = 17976931348623157 * 10**292
    assert as_double(largest) == float(largest)
    assert as_double(2 * largest) is None
    runs = [
        line
        for run in ("a", "b")
        for line in (
            event("tokens-recorded", run=run, input_tokens=largest),
            graded("pass", "pass", "pass", run=run),
        )
    ]
    card = card_of(trace(*runs))
    assert json_of(card)["correct_tokens"]["input_tokens"] is None
    assert text(card)
    assert markdown(card)
