"""A reply is one JSON object of the shape asked for, or it is no answer."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drive_trace.grading import prompts
from drive_trace.json_text import parse
from tests.support.mutating import changed, garbled, spelt

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
    assert prompts.read_answer(reply, "intent", ALLOWED) == prompts.ModelAnswer(
        ("pass",), ("AC-1 holds (src/a.ts:3)",)
    )


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
    f"```json\n{GOOD}": "is not one JSON object",
    f"So:\n```json\n{GOOD}\n```": "is not one JSON object",
    GOOD[:-2]: "is not one JSON object",
    GOOD.replace('"', "'"): "is not one JSON object",
    "I cannot judge this.": "is not one JSON object",
    '{"intent": "pass", "reasons": ["late"]}': (
        'has to be {"reasons": ["..."], "intent": "pass" or "fail"}'
    ),
    '{"intent": "pass"}': "in this order",
    '{"reasons": ["a"], "intent": "pass", "qa": "pass"}': "with nothing else",
    '{"reasons": ["a"], "intent": "fail", "intent": "pass"}': "a key stands twice",
    '{"reasons": ["a"], "reasons": ["b"], "intent": "pass"}': "a key stands twice",
    '{"reasons": ["a"], "intent": {"x": 1, "x": 2}}': "a key stands twice",
    '{"reasons": [], "intent": "pass"}': "no array of 1 to 20 texts",
    '{"reasons": "good", "intent": "pass"}': "no array of 1 to 20 texts",
    '{"reasons": [" "], "intent": "pass"}': "a reason is no text",
    json.dumps({"reasons": ["a"] * 21, "intent": "pass"}): "no array of 1 to 20 texts",
    f'{{"reasons": ["{"a" * 2_001}"], "intent": "pass"}}': "no text of 1 to 2,000 characters",
    '{"reasons": [1], "intent": "pass"}': "a reason is no text",
    '{"reasons": ["a"], "intent": "Pass"}': 'is "Pass", and has to be "pass" or "fail"',
    '{"reasons": ["a"], "intent": null}': "is null, and has to be",
    '{"reasons": ["a"], "intent": true}': "is true, and has to be",
    '{"reasons": ["a"], "intent": ["pass"]}': "is an array, and has to be",
    '{"reasons": ["a"], "intent": NaN}': "NaN is not JSON",
    "[" * 100_000: "is not one JSON object",
    "x" * (prompts.LARGEST_REPLY + 1): "more than 100,000 characters",
}


@pytest.mark.parametrize("reply", NO_ANSWERS, ids=range(len(NO_ANSWERS)))
def test_anything_else_is_none(reply: str) -> None:
    answer = prompts.read_answer(reply, "intent", ALLOWED)
    assert isinstance(answer, prompts.NoAnswer)
    assert NO_ANSWERS[reply] in answer.reason
    assert not answer.reason.endswith(".")


def test_a_reason_can_be_written_whatever_it_holds() -> None:
    answer = prompts.read_answer('{"reasons": ["ok \\ud800"], "intent": "fail"}', "intent", ALLOWED)
    assert answer == prompts.ModelAnswer(("fail",), ("ok ?",))


# Any reply

WORDS = st.sampled_from(["a", " ", "\n", "\u2028", "\ud800", "{}", '"', "```", "\n```\n", "é🚀"])
REASONS = st.lists(st.lists(WORDS, min_size=1, max_size=3).map("".join), min_size=1, max_size=3)
ANSWERS = st.builds(
    lambda reasons, verdict: {"reasons": reasons, "intent": verdict},
    REASONS | st.sampled_from([["a"] * 21, ["a" * 2_001], [], ["\u200b"]]),
    st.sampled_from([*ALLOWED] * 3 + ["Pass", "pass ", "", None, ["pass"], ["fail", "pass"], []]),
)
FRAMES = st.sampled_from(
    [
        *["{}"] * 4,
        *("\n {}\t\r\n", "```json\n{}\n```", "```JSON \t\r\n{}\n```\n", "```\n{}\n```", "```{}```"),
        *("{}\n{}", "So:\n{}", "```json\n{}\n```\n```json\n{}\n```", "\ufeff{}", "\xa0{}", "{}\v"),
        *("```yaml\n{}\n```", "So:\n```\n{}\n```", "```\n{}\n ```", "```\n\n{}\n\n```"),
    ]
)


def read_strictly(reply: str) -> tuple[list[str], object] | None:
    """The reasons and what is answered, by a reader that the product uses for traces alone; None
    unless the reply is exactly that object, as :func:`read_answer` describes it.
    """
    text = reply.strip(" \t\r\n")
    first, *middle = text.split("\n")
    if middle and middle[-1] == "```" and re.match(r"```(json)?[ \t\r]*$", first, re.IGNORECASE):
        text = "\n".join(middle[:-1])
    syntax = parse(text)
    if syntax.problems or syntax.root is None or len(reply.strip()) > prompts.LARGEST_REPLY:
        return None
    if [each.key for each in syntax.root.members] != ["reasons", "intent"]:
        return None
    reasons, said = syntax.to_python().values()  # type: ignore[attr-defined]
    if not isinstance(reasons, list) or not 1 <= len(reasons) <= prompts.MOST_REASONS:
        return None
    if not all(isinstance(each, str) and len(each) <= prompts.LONGEST_REASON for each in reasons):
        return None
    if not all(any(c.isprintable() and not c.isspace() for c in each) for each in reasons):
        return None
    return reasons, said


@given(
    st.builds(str.replace, FRAMES, st.just("{}"), garbled(spelt(changed(ANSWERS)), most=1)),
    st.booleans(),
)
def test_an_answer_is_what_a_strict_reader_finds_in_the_reply(reply: str, many: bool) -> None:
    answer, strict = prompts.read_answer(reply, "intent", ALLOWED, many=many), read_strictly(reply)
    said = strict[1] if strict is not None else None
    values = said if many else [said]
    is_one = isinstance(values, list) and all(
        isinstance(each, str) and each in ALLOWED and values.count(each) == 1 for each in values
    )
    if strict is not None and is_one:
        reasons = tuple(re.sub("[\ud800-\udfff]", "?", each) for each in strict[0])
        assert answer == prompts.ModelAnswer(tuple(values), reasons)
    else:
        assert isinstance(answer, prompts.NoAnswer)
        assert answer.reason.isprintable()
