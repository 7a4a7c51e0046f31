"""How far a judge agrees with people, and of which family a model is."""

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drive_trace.grading.calibration import (
    Calibration,
    LabelError,
    LabelledCase,
    calibrate,
    families_of,
    once_each,
    read_labels,
    wilson,
)


def table(ff: int, fp: int, pf: int, pp: int, invalid: int = 0) -> Calibration:
    return calibrate(
        LabelledCase(f"c{number}", human, judge)
        for number, (human, judge) in enumerate(
            [("fail", "fail")] * ff
            + [("fail", "pass")] * fp
            + [("pass", "fail")] * pf
            + [("pass", "pass")] * pp
            + [("pass", None)] * invalid
        )
    )


COUNTS = st.integers(0, 500)


@given(COUNTS, COUNTS, COUNTS, COUNTS)
def test_any_table_has_the_figures_of_their_definitions(ff: int, fp: int, pf: int, pp: int) -> None:
    found, n = table(ff, fp, pf, pp), ff + fp + pf + pp
    if n:
        # Kappa is what is left of chance's disagreement.
        chance = Fraction((ff + fp) * (fp + pp) + (pf + pp) * (ff + pf), n * n)
        kappa: Any = None if chance == 0 else float(1 - Fraction(fp + pf, n) / chance)
        assert found.kappa == (None if kappa is None else pytest.approx(kappa, abs=1e-12))
    for rate in (found.agreement, found.tpr, found.tnr):
        # A bound is a share that is 1.96 of its own standard errors away.
        for bound in rate.interval or ():
            far = (rate.hits / rate.of - bound) ** 2
            error = 1.959963984540054**2 * bound * (1 - bound) / rate.of
            assert far == pytest.approx(error, abs=1e-9)


def test_where_no_number_of_labels_would_do_none_is_named() -> None:
    found = [each.rpartition(": ")[2] for each in table(0, 1, 0, 1).lacks[:2]]
    assert found == [f"no number of {each} would do" for each in ("labels", "human fails")]


def test_how_many_labels_are_needed() -> None:
    needed = [each.rpartition(": ")[2] for each in table(3, 0, 0, 7).lacks]
    phrases = ("6 more labels", "1 more human fail")
    assert needed == [f"{each} would do, with results as those so far" for each in phrases]
    assert wilson(16, 16)[0] >= 0.8 > wilson(15, 15)[0]


def test_a_row_that_is_repeated_makes_nothing_more_certain() -> None:
    rows = [LabelledCase("a", "pass", "pass")] * 50 + [
        LabelledCase("b", "fail", judge) for judge in ("fail", "pass")
    ]
    assert calibrate(once_each(rows)) == Calibration(0, 1, 0, 1, 0)


def test_rows_are_read_from_json_lines_and_csv() -> None:
    rows = (LabelledCase("a", "pass", "fail"), LabelledCase("b", "fail", None))
    text = (
        '{"case":"a","human":"pass","judge":"fail","labelled_by":"Ann"}\n\n'
        '{"case":"b","human":"fail","judge":null}\n'
    )
    assert read_labels(text).rows == rows
    assert read_labels(text).unsigned == 1
    text = "case,human,judge,labelling_rule\r\na,pass,fail,v1\r\nb,fail,,v1\r\n"
    assert read_labels(text).rows == rows
    assert read_labels(text).rules == {"v1"}
    assert read_labels("").rows == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"case":"a","human":"pass"', "line 1: this is not one JSON object"),
        ('{"case":"a","human":"pass","human":"fail"}', "line 1: this is not one JSON object"),
        ('{"case":"a","human":"good"}', 'line 1: `human` is "good", and has to be'),
        ('{"case":"a","human":"pass","judge":"ok"}', 'line 1: `judge` is "ok", and has to be'),
        ('{"case":"a"}', "line 1: `human` is missing"),
        ("name,human\nx,pass\n", "line 1: there is no column `case`"),
        ('{"case":"a","human":"pass","labelled_by":"gpt-5"}', "line 1: `labelled_by` is"),
    ],
)
def test_a_row_that_cannot_be_used_is_named(text: str, message: str) -> None:
    with pytest.raises(LabelError) as error:
        read_labels(text)
    assert message in str(error.value)


# The family of a model is read from its id

FAMILIES = {
    "claude": "claude-4.6-sonnet-high-thinking anthropic/claude-opus-4 claude-sonnet-4@20250514"
    " us.anthropic.claude-3-5-haiku-20241022-v1:0",
    "gpt": "gpt-5.5 openai/gpt-oss-120b o4-mini openai/o3 openai.o1-preview gpt4o GPT"
    " ft:gpt-4o-mini:acme::abc",
    "gemini": "models/gemini-3-pro",
    "composer": "composer-2",
    "grok": "x-ai/grok-4",
    "llama": "meta-llama/Llama-4-Scout us.meta.llama3-3-70b-instruct-v1:0 TheBloke/Llama-2-7B-GPTQ",
    "mistral": "mistralai/Mixtral-8x7B codestral-latest",
    "qwen": "Qwen/Qwen3-Coder qwq-32b ollama/qwen2.5",
    "deepseek": "deepseek-chat",
    "": "my-model azure/prod command-r o foo-o3 llamafile/x",
}


@pytest.mark.parametrize("family", FAMILIES)
def test_a_model_is_of_the_family_that_its_id_names(family: str) -> None:
    for model in FAMILIES[family].split():
        assert families_of(model) == ({family} if family else set()), model


def test_a_distilled_model_is_of_both_and_no_name_is_of_none() -> None:
    assert families_of("deepseek-r1-distill-llama-70b") == {"deepseek", "llama"}
    assert families_of("") == set()


def test_the_configuration_knows_more_families() -> None:
    more = {"cohere": ["command"], "claude": ["prod-7"]}
    assert families_of("command-r", more) == {"cohere"}
    assert families_of("PROD-7", more) == {"claude"}
    assert families_of("cohere", more) == {"cohere"}
