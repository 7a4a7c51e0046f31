"""A JUnit report is a pass only if a case ran and nothing failed."""

from pathlib import Path

import pytest

from drive_trace.grading.junit import JUnitError, read_junit
from tests.cli.support import run, write
from tests.grading.junit_reports import REPORTS
from tests.support.client_text import triage


def suite(*cases: str, **counts: int | str) -> bytes:
    told = "".join(f' {name}="{count}"' for name, count in counts.items())
    text = f"<testsuites><testsuite{told}>{''.join(cases)}</testsuite></testsuites>"
    return f"<?xml version='1.0'?>{text}".encode()


PASSED = '<testcase classname="shop.cart" name="adds"/>'
FAILED = '<testcase classname="shop.cart" name="pays"><failure message="no"/></testcase>'
BROKEN = '<testcase name="starts"><error/></testcase>'
SKIPPED = '<testcase name="later"><skipped/></testcase>'


FAILED_BY = (
    'type="failure"',
    *(
        f'status="{each}"'
        for each in ("fail", "failed", "Failure", "error", "ERRORED", "timed out")
    ),
    *('result="fail"', 'success="false"', 'passed="no"', 'outcome="crashed"'),
    *('status="run" result="failed"', 'status="skipped" success="false"', 'failure="it broke"'),
)
FAILED_WITHIN = (
    *("<Failure/>", "<FAILURE/>", "<timeout/>", "<crashed/>", "<failed/>", "<rerunError/>"),
    *(
        '<j:failure xmlns:j="urn:j"/>',
        '<error xmlns="urn:x"/>',
        "<system-out><error/></system-out>",
    ),
)
SKIPPED_BY = ('status="disabled"', 'status="run" result="suppressed"', 'skipped="true"')


@pytest.mark.parametrize(
    ("data", "outcome", "words"),
    [
        (suite(PASSED, SKIPPED), "pass", "0 of 1 case failed, 1 case skipped"),
        (suite(PASSED, FAILED, BROKEN), "fail", "2 of 3 cases failed: shop.cart.pays, starts"),
        (suite(SKIPPED), None, "no case ran, 1 case skipped"),
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
        *((suite(f"<testcase {each}/>"), "fail", "1 of 1 case failed") for each in FAILED_BY),
        *((suite(f"<testcase>{each}</testcase>"), "fail", "1 of 1") for each in FAILED_WITHIN),
        *((suite(f"<testcase {each}/>"), None, "1 case skipped") for each in SKIPPED_BY),
        (suite('<testcase name="a"><warning/></testcase>'), None, "1 case skipped"),
        (suite(PASSED, status="failed"), "fail", "failed: a suite"),
        (suite(PASSED, "<timeout/>"), "fail", "failed: a suite"),
        (suite(PASSED, failed=1, tests=1), "fail", "1 failure more"),
        # Where something failed for sure, nothing else matters.
        (suite(FAILED, "<strange/>", failures=1, tests=2, errors="x"), "fail", "1 of 1 case"),
    ],
)
def test_what_a_report_says(data: bytes, outcome: str | None, words: str) -> None:
    report = read_junit(data)
    assert report.outcome == outcome
    assert words in report.in_words()


def test_what_tools_write_is_harmless() -> None:
    cases = (
        '<testcase name="a" status="run" result="completed" time="0" timestamp="2026-05-28T14:00" '
        'classname="x" file="a.cc" line="7" value_param="1"><properties><property name="status" '
        'value="fail"/></properties><system-out>failed</system-out></testcase>',
        '<testcase name="b" assertions="3" class="B" status="passed"><system-err/></testcase>',
        '<testcase name="c" duration="1" success="true" failures="0" error="" skipped="false"/>',
    )
    names = {"tests": 3, "failures": 0, "disabled": 0, "skipped": 0, "name": "", "flakes": 1}
    text = suite("<properties/>", *cases, "<system-out/>", **names, hostname="h", random_seed=1)
    head = b'<testsuites xmlns:xsi="urn:xsi" xsi:noNamespaceSchemaLocation="x.xsd" id="">'
    assert read_junit(text.replace(b"<testsuites>", head)).outcome == "pass"


@pytest.mark.parametrize("tool", REPORTS)
@pytest.mark.parametrize("fails", [False, True])
def test_reports_of_common_tools_are_read(tool: str, fails: bool, tmp_path: Path) -> None:
    report = write(tmp_path, "report.xml", REPORTS[tool].report(fails=fails))
    trace = write(tmp_path, "trace.jsonl", triage())
    told = ("--trace-file", trace, "--project-run-id", "run-1", "--component", "qa")
    ran = run("gate", *told, "--result", report, "--accept-stale")
    assert (ran.code, f"qa {'fail' if fails else 'pass'}" in ran.out) == (int(fails), True), ran


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (suite('<testcase status="odd"/>'), "`status` of `odd`"),
        (suite('<testcase executed="false"/>'), "`executed` of `false`"),
        (suite('<testcase run="0"/>'), "`run` of `0`"),
        (
            suite("<testcase>Expected 1 got 2</testcase>"),
            "`Expected 1 got 2` as text in a testcase",
        ),
        (suite(PASSED, "<![CDATA[lost]]>"), "`lost` as text in a testsuite"),
        (suite(PASSED, tests=0), "counts 0 cases, 0 of them skipped, and has 1, 0 skipped"),
        (suite('<testcase wasBad="yes"/>'), "`wasBad` of `yes`"),
        (suite("<testcase><verdict/></testcase>"), "`<verdict>` in a testcase"),
        (suite(PASSED, "<aborting/>"), "`<aborting>` in a testsuite"),
        (suite(PASSED, result="\u202e"), "`result` of `<U+202E>`"),
        *((suite(PASSED, failures=each), "`failures` of") for each in (" 1", "1.0", "", "x", "-1")),
        *(
            (suite(PASSED, errors=each), "`errors` of")
            for each in ("\u0661", "0x1", "1e0", "false")
        ),
        (suite(PASSED, tests="1.0"), "`tests` of `1.0`"),
        (suite(PASSED, warnings="x"), "`warnings` of `x`"),
        (suite(PASSED, skip=1), "1 of them skipped, and has 1, 0 skipped"),
        (suite(PASSED, "<warning/>"), "`<warning>` in a testsuite"),
        (suite(PASSED, risky=1), "`risky` of `1`"),
        (suite(PASSED, PASSED, tests=1), "counts 1 case, 0 of them skipped, and has 2, 0 skipped"),
        (suite(PASSED, tests=1, skipped=1), "1 of them skipped, and has 1, 0 skipped"),
        (suite(PASSED, disabled=1), "1 of them skipped, and has 1, 0 skipped"),
    ],
)
def test_what_may_be_a_failure_is_no_pass(data: bytes, why: str) -> None:
    with pytest.raises(JUnitError) as error:
        read_junit(data)
    assert why in str(error.value)
    assert str(error.value).isprintable()


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
    ids=range(10),
)
def test_what_is_no_report_says_nothing(data: bytes) -> None:
    with pytest.raises(JUnitError) as error:
        read_junit(data)
    assert str(error.value)
