"""The record of the judging, and what a grade rests on."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from msgspec import structs

from drive_trace.grading.judgements import (
    Calibrated,
    Judge,
    Judgement,
    Judgements,
    read_calibrated,
    read_judgements,
    rests_on,
    to_record,
)
from tests.support.mutating import SPELLINGS, Spelling, changed
from tests.support.schemas import schema, strict_validator

HASH = "0" * 64
JUDGE = Judge(model="gpt-x", prompt_version="1", rubric_hash=HASH)


def judgement(ts: str, verdict: str | None, run: str = "shop", **more: object) -> Judgement:
    record = {
        "ts": ts,
        "project_run_id": run,
        "judge": {"model": "gpt-x", "prompt_version": "1", "rubric_hash": HASH},
        "prompt_hash": HASH,
        "acceptance_hash": HASH,
        "diff_hash": HASH,
        "verdict": verdict,
        "reply": f'{{"reasons": ["x"], "intent": "{verdict}"}}',
        "reasons": ["x"],
        "judging": ts,
        **more,
    }
    ((found,), _, rejected) = read_judgements([json.dumps(record)])
    assert not rejected
    return found


def test_what_is_written_is_read_again() -> None:
    one = judgement("2026-05-28T10:00:00.000Z", "pass")
    assert read_judgements([to_record(one), "", "{}", "[" * 100_000]) == ([one], [], 2)


AT = [f"2026-05-28T1{hour}:00:00.000Z" for hour in range(4)]


@pytest.mark.parametrize(
    ("verdicts", "fits"),
    [
        ([(AT[0], "pass")], True),
        ([(AT[0], "fail"), (AT[1], "pass")], True),
        ([(AT[1], "pass"), (AT[0], "fail")], True),
        ([(AT[0], "pass"), (AT[1], "fail")], False),
        ([(AT[0], "pass"), (AT[1], None)], True),
        ([(AT[0], "pass"), (AT[3], "fail")], True),
        ([(AT[3], "pass")], False),
        ([("soon", "pass")], False),
        ([(AT[0], None)], False),
        ([], False),
    ],
)
def test_a_grade_rests_on_the_latest_verdict_before_it(
    verdicts: list[tuple[str, str | None]], fits: bool
) -> None:
    found = [judgement(*each) for each in verdicts]
    others = [judgement(AT[2], "fail", "other")]
    assert (rests_on([Judgements([*found, *others]).on("shop")], "pass", AT[2]) is not None) == fits


@pytest.mark.parametrize(
    ("verdicts", "fits"),
    [
        (["pass", "pass"], True),
        ([None, "pass", "pass"], True),
        (["pass", "fail"], False),
        (["pass"], False),
        (["pass", None], False),
    ],
)
def test_what_was_asked_several_times_has_to_be_unanimous(
    verdicts: list[str | None], fits: bool
) -> None:
    numbers = [1, 1, 2] if verdicts[0] is None else [1, 2]
    found = [
        judgement(AT[0], each, judging="j", repeats=2, repeat=number)
        for number, each in zip(numbers, verdicts, strict=False)
    ]
    assert (rests_on([Judgements(found).on("shop")], "pass", AT[2]) is not None) == fits


def calibrated(**changes: int) -> Calibrated:
    counts = {"fail_fail": 12, "fail_pass": 1, "pass_fail": 1, "pass_pass": 40, "invalid": 0}
    return Calibrated(**{"ts": AT[0], "judge": JUDGE, **counts, **changes})


def test_a_calibration_has_a_schema() -> None:
    record = json.loads(to_record(calibrated()))
    validator = Draft202012Validator(schema("calibration"))
    validator.validate(record)
    assert not validator.is_valid({**record, "pass_pass": -1})


def test_a_calibration_holds_for_the_judge_that_it_was_made_with() -> None:
    found = read_calibrated(to_record(calibrated()))
    assert found.lacks_of(JUDGE) == ()
    other = Judge(model="gpt-y", prompt_version="2", rubric_hash="1" * 64)
    assert [each.split()[-1] for each in found.lacks_of(other)] == ["model", "prompt", "rubric"]
    assert calibrated(fail_fail=0).lacks_of(JUDGE)


@pytest.mark.parametrize(
    ("then", "now", "holds"),
    [(True, False, False), (False, True, False), (True, True, True), (None, True, True)],
)
def test_a_calibration_holds_for_the_form_of_reply_that_it_was_made_with(
    then: bool | None, now: bool | None, holds: bool
) -> None:
    found = calibrated(judge=structs.replace(JUDGE, schema_held=then))
    lacks = read_calibrated(to_record(found)).lacks_of(structs.replace(JUDGE, schema_held=now))
    another = "its calibration is of another form of reply (a JSON Schema, or none)"
    assert lacks == (() if holds else (another,))


@pytest.mark.parametrize("text", ["", "{}", "[" * 100_000, '{"calibrated":true}'])
def test_what_is_no_calibration_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"\S"):
        read_calibrated(text)


# Any record


RECORD = json.loads(to_record(judgement(AT[0], "pass", agreement_interval=[0.7, 0.9])))
BY_SCHEMA = strict_validator(schema("judgement"))


@given(changed(st.just(RECORD)), SPELLINGS)
@example({**RECORD, "diff_hash": HASH + "\n"}, Spelling()).via("a hash could end in a newline")
def test_any_record_is_read_as_the_schema_says(record: Any, how: Spelling) -> None:
    assume("\\ud800" not in json.dumps(record))  # which is in no file, as the writer replaces it
    found, _, rejected = read_judgements([replace(how, numbers=False).of(record)])
    assert (len(found), rejected) == ((1, 0) if BY_SCHEMA.is_valid(record) else (0, 1))


TIMES = st.sampled_from([*AT, AT[1].replace("T1", "T0"), "soon"])
CALLS = st.sampled_from([1, 2]).flatmap(
    lambda repeats: st.lists(
        st.builds(
            judgement,
            TIMES,
            verdict=st.sampled_from(["pass", "pass", "pass", "fail", None]),
            reasons=st.sampled_from([["x"], ["x"], ["x"], ["y"]]),
            judging=st.sampled_from("aab"),
            repeats=st.just(repeats),
            repeat=st.integers(1, repeats),
            agreement=st.sampled_from([None, None, None, 0.1]),
        ),
        max_size=5,
    )
)


@given(CALLS, TIMES, st.sampled_from(["pass", "fail"]))
def test_a_grade_rests_only_on_calls_that_all_say_it(
    calls: list[Judgement], ts: str, verdict: str
) -> None:
    found = rests_on([Judgements(calls).on("shop")], verdict, ts)
    if found is None:
        return
    of_it = [each for each in calls if each.judging == found.judging]
    last = {each.repeat: each for each in of_it}
    assert found == of_it[-1]
    assert sorted(last) == list(range(1, found.repeats + 1))
    assert found.ts <= ts
    for each in last.values():
        assert each.verdict == verdict
        assert json.loads(each.reply or "") == {"reasons": list(each.reasons), "intent": verdict}
