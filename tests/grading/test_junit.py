"""A JUnit report is a pass only if a case ran and nothing failed."""

from __future__ import annotations

import pytest

from drive_trace.grading.junit import JUnitError, read_junit


def suite(*cases: str, **counts: int) -> bytes:
    told = "".join(f' {name}="{count}"' for name, count in counts.items())
    text = f"<testsuites><testsuite{told}>{''.join(cases)}</testsuite></testsuites>"
    return f"<?xml version='1.0'?>{text}".encode()


PASSED = '<testcase classname="shop.cart" name="adds"/>'
FAILED = '<testcase classname="shop.cart" name="pays"><failure message="no"/></testcase>'
BROKEN = '<testcase name="starts"><error/></testcase>'
SKIPPED = '<testcase name="later"><skipped/></testcase>'


@pytest.mark.parametrize(
    ("data", "outcome", "words"),
    [
        (suite(PASSED, SKIPPED), "pass", "0 of 1 case failed"),
        (suite(PASSED, FAILED, BROKEN), "fail", "2 of 3 cases failed: shop.cart.pays, starts"),
        (suite(SKIPPED), None, "no case ran"),
        (suite(), None, "no case ran"),
        (
            f"<testsuites failures='2'><testsuite>{PASSED}</testsuite></testsuites>".encode(),
            "fail",
            "2 failures more",
        ),
        (suite(PASSED, "<error/>"), "fail", "failed: a suite"),
        (suite('<testcase name="a" status="notrun"/>'), None, "no case ran"),
        (suite('<testcase name="a"><failure/><testcase name="b"/></testcase>'), "fail", ": a"),
        (suite(PASSED, errors=1, failures=0), "fail", "the suites count 1 failure more"),
        (suite(FAILED, failures=1), "fail", "1 of 1 case failed: shop.cart.pays"),
        (f"<testsuite>{PASSED}</testsuite>".encode(), "pass", "0 of 1 case failed"),
        (suite(PASSED.replace("/>", "><flakyFailure/></testcase>")), "pass", "0 of 1 case"),
    ],
)
def test_what_a_report_says(data: bytes, outcome: str | None, words: str) -> None:
    report = read_junit(data)
    assert report.outcome == outcome
    assert words in report.in_words()


BOMB = b'<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><testsuite>&b;</testsuite>'


@pytest.mark.parametrize(
    "data",
    [
        suite(PASSED, tests=500),
        f'<testsuite tests="1">{PASSED}</testsuite><testsuite tests="1"/>'.join(
            ["<testsuites>", "</testsuites>"]
        ).encode(),
        b"<?xml version='1.0' encoding='foo'?><testsuite/>",
        b"",
        b"{}",
        suite(PASSED)[:-5],
        b"<html/>",
        BOMB,
        b"<testsuite>" * 500,
        b"\xff\xfe\x00",
    ],
    ids=[
        "fewer cases",
        "a lost suite",
        "encoding",
        "empty",
        "json",
        "cut off",
        "another root",
        "entities",
        "deep",
        "bytes",
    ],
)
def test_what_is_no_report_says_nothing(data: bytes) -> None:
    with pytest.raises(JUnitError) as error:
        read_junit(data)
    assert str(error.value)
