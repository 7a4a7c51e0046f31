"""A reply is one JSON object of the shape asked for, or it is no answer."""

from __future__ import annotations

import pytest

from drive_trace.grading.answers import LARGEST, Answer, NoAnswer, read_answer

GOOD = '{"reasons": ["AC-1 holds (src/a.ts:3)"], "intent": "pass"}'
ALLOWED = ("pass", "fail")


@pytest.mark.parametrize(
    "reply",
    [
        GOOD,
        f"\n {GOOD}\n",
        f"```json\n{GOOD}\n```",
        f"```\n{GOOD}\n```\n",
        GOOD.replace(", ", ",\n"),
    ],
)
def test_one_object_is_an_answer(reply: str) -> None:
    assert read_answer(reply, "intent", ALLOWED) == Answer(("pass",), ("AC-1 holds (src/a.ts:3)",))


NO_ANSWERS = {
    "": "the reply is empty",
    " \n": "the reply is empty",
    f"\u00a0{GOOD}": "is not one JSON object",
    f"{GOOD}\u2028": "is not one JSON object",
    f"\ufeff{GOOD}": "is not one JSON object",
    "pass": "is not one JSON object",
    '"pass"': "JSON, but no object",
    "null": "JSON, but no object",
    f"[{GOOD}]": "JSON, but no object",
    f"Here it is:\n{GOOD}": "is not one JSON object",
    f"{GOOD}\nI hope this helps.": "is not one JSON object",
    f"{GOOD}\n{GOOD}": "is not one JSON object",
    f"```json\n{GOOD}\n```\nDone.": "is not one JSON object",
    f"```json\n{GOOD}\n```\n```json\n{GOOD}\n```": "is not one JSON object",
    GOOD[:-2]: "is not one JSON object",
    "I cannot judge this.": "is not one JSON object",
    '{"intent": "pass", "reasons": ["late"]}': 'has to have "reasons" and then "intent"',
    '{"intent": "pass"}': 'has to have "reasons" and then "intent"',
    '{"reasons": ["a"], "intent": "pass", "qa": "pass"}': "and nothing else",
    '{"reasons": ["a"], "intent": "fail", "intent": "pass"}': "a key stands twice",
    '{"reasons": ["a"], "intent": {"x": 1, "x": 2}}': "a key stands twice",
    '{"reasons": [], "intent": "pass"}': "at least one reason",
    '{"reasons": "good", "intent": "pass"}': "at least one reason",
    '{"reasons": [" "], "intent": "pass"}': "a reason is empty",
    f'{{"reasons": {["a"] * 21}, "intent": "pass"}}'.replace("'", '"'): "more than 20 reasons",
    f'{{"reasons": ["{"a" * 2_001}"], "intent": "pass"}}': "more than 2,000 characters",
    '{"reasons": [1], "intent": "pass"}': "a reason is empty or no string",
    '{"reasons": ["a"], "intent": "Pass"}': 'is "Pass", and has to be "pass" or "fail"',
    '{"reasons": ["a"], "intent": null}': "is null, and has to be",
    '{"reasons": ["a"], "intent": true}': "is true, and has to be",
    '{"reasons": ["a"], "intent": ["pass"]}': "is an array, and has to be",
    '{"reasons": ["a"], "intent": NaN}': "NaN is not JSON",
    "[" * 100_000: "is not one JSON object",
    "x" * (LARGEST + 1): "more than 100,000 characters",
}


@pytest.mark.parametrize("reply", NO_ANSWERS, ids=range(len(NO_ANSWERS)))
def test_anything_else_is_none(reply: str) -> None:
    answer = read_answer(reply, "intent", ALLOWED)
    assert isinstance(answer, NoAnswer)
    assert NO_ANSWERS[reply] in answer.reason
    assert not answer.reason.endswith(".")


def test_a_reason_can_be_written_whatever_it_holds() -> None:
    answer = read_answer('{"reasons": ["ok \\ud800"], "intent": "fail"}', "intent", ALLOWED)
    assert answer == Answer(("fail",), ("ok ?",))
