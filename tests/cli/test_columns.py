"""The command line, from outside: where findings and fixes stand."""

from typing import Any

import pytest

from tests.cli.support import REJECTED, findings, marked
from tests.support.client_text import apply_columns, triage

HOSTILE = "\u2028\u2029\x85 🚀 日本 \xa0\ufeff e\u0301"


def one(found: list[Any], code: str) -> Any:
    (only,) = [finding for finding in found if finding["code"] == code]
    return only


# Columns are code points, lines end at a newline only, and fixes applied by them are right


def text_of(ref: str = "", end: str = "\n", **payload: Any) -> str:
    """A line before, then a line with `ref` before what is wrong with it."""
    return (triage(input_ref=ref) + triage(input_ref=ref, **payload)).replace("\n", end)


@pytest.mark.parametrize("end", ["\n", "\r\n", " \r \n"])
@pytest.mark.parametrize("ref", ["", HOSTILE], ids=["ascii", "hostile"])
class TestColumns:
    def test_a_value(self, ref: str, end: str) -> None:
        text = text_of(ref, end, verdict="direct-chance")
        finding = one(findings(text), "unknown-value")
        assert (finding["line"], marked(text, finding)) == (2, '"direct-chance"')
        (fix,) = finding["fixes"]
        assert apply_columns(text, fix["edits"]) == text.replace(
            '"direct-chance"', '"direct-change"'
        )

    def test_a_key(self, ref: str, end: str) -> None:
        text = text_of(ref, end, severity=ref)
        finding = one(findings(text), "undeclared-field")
        assert marked(text, finding) == '"severity"'
        (fix,) = finding["fixes"]
        fixed = apply_columns(text, fix["edits"])
        assert fixed == text_of(ref, end)
        assert "undeclared-field" not in {each["code"] for each in findings(fixed)}

    def test_a_missing_field(self, ref: str, end: str) -> None:
        head, tail = text_of(ref, end).rsplit(',"input_shape":"chat-ask"', 1)
        finding = one(findings(head + tail), "missing-field")
        assert marked(head + tail, finding) == '"triage-verdict"'
        (fix,) = finding["fixes"]
        fixed = apply_columns(head + tail, fix["edits"])
        assert fixed == f'{head},"input_shape":""{tail}'

    def test_a_safe_repair(self, ref: str, end: str) -> None:
        text = text_of(ref, end)
        broken = text[: text.rindex("}")] + ",}" + text[text.rindex("}") + 1 :]
        finding = one(findings(broken), "invalid-json")
        assert marked(broken, finding) == ","
        (fix,) = finding["fixes"]
        assert fix["safe"]
        assert apply_columns(broken, fix["edits"]) == text

    def test_a_dead_key(self, ref: str, end: str) -> None:
        text = text_of(ref, end)
        head, tail = text.rsplit('"verdict"', 1)
        twice = f'{head}"verdict":"{ref}","verdict"{tail}'
        finding = one(findings(twice), "duplicate-key")
        assert marked(twice, finding) == '"verdict"'
        (fix,) = finding["fixes"]
        assert apply_columns(twice, fix["edits"]) == text


@pytest.mark.parametrize("end", ["", " ", "\t", "\r"])
def test_a_missing_newline_is_added_behind_everything(end: str) -> None:
    text = triage(input_ref=HOSTILE)[:-1] + end
    finding = one(findings(text), "missing-final-newline")
    (fix,) = finding["fixes"]
    assert fix["safe"]
    fixed = apply_columns(text, fix["edits"])
    assert fixed.endswith("\n")
    assert fixed.replace("\n", "") == text
    assert {each["code"] for each in findings(fixed)} <= {"not-compact"}


def test_separators_of_other_programs_end_no_line() -> None:
    """What `str.splitlines` splits at stays inside a record, so line numbers are the file's."""
    blank = "\x0b\x0c\u2028\u2029\xa0\r\n"
    odd = "\x1c\x1d\x1e\x85\n"
    text = blank + odd + triage(input_ref=HOSTILE) + REJECTED
    assert [(each["code"], each["line"]) for each in findings(text)] == [
        ("blank-line", 1),
        ("invalid-json", 2),
        ("unknown-value", 4),
    ]
