"""The command line, from outside: what it says of its rules."""

import json
import re

import pytest

from drive_trace.linter.rules import RULES
from tests.cli.support import run

MARKUP = re.compile(r"\*\*|^#|^```", re.MULTILINE)


@pytest.mark.parametrize("code", RULES)
def test_a_rule_is_explained(code: str) -> None:
    ran = run("explain", code)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith(f"{code}\n")
    assert f"{RULES[code].severity.label.capitalize()} by default. {RULES[code].summary}" in ran.out
    for part in ("\nFix. ", "\nExample. ", "\nOptions. ", f"[{code}]"):
        assert part in ran.out
    for option in RULES[code].options:
        assert f"{option.name} = {json.dumps(option.default)}" in ran.out
        assert option.prose in ran.out
    assert not MARKUP.search(ran.out)
    assert max(map(len, ran.out.splitlines())) < 200


def test_markdown_is_the_page_that_findings_link_to() -> None:
    page = run("explain", "unknown-value", "--format", "markdown").out
    assert page.startswith("# unknown-value\n\n*Error by default.*")
    assert "\n```text\ntrace.jsonl:1:" in page
    assert page.endswith("\n")
    assert not page.endswith("\n\n")


def test_json_is_for_programs() -> None:
    rule = run("explain", "wall-clock-exceeds-timestamps", "--format", "json").json
    assert rule["page"].startswith("# wall-clock-exceeds-timestamps\n")
    assert {"code", "severity", "summary", "options", "page"} == rule.keys()
    options = {each["name"]: (each["default"], each["minimum"]) for each in rule["options"]}
    assert options["tolerance-ms"] == (2000, 0)


def test_without_a_code_all_rules_are_listed() -> None:
    lines = run("explain").out.splitlines()
    assert [line.split()[:2] for line in lines] == [
        [code, rule.severity.label] for code, rule in RULES.items()
    ]
    assert all(line.endswith(RULES[line.split()[0]].summary) for line in lines)
    listed = run("explain", "--format", "json").json
    assert [each["code"] for each in listed] == list(RULES)
    rows = run("explain", "--format", "markdown").out.splitlines()
    assert len(rows) == len(RULES) + 2


@pytest.mark.parametrize("spelt", ["Unknown-Value", "unknown_value", " unknown-value "])
def test_a_code_is_known_however_it_is_spelt(spelt: str) -> None:
    assert run("explain", spelt).out == run("explain", "unknown-value").out


@pytest.mark.parametrize(
    ("code", "hint"),
    [
        ("unknown-vale", 'did you mean "unknown-value"?'),
        ("round-gap", 'did you mean "round-number-gap"?'),
        (
            "wall-clock",
            'did you mean "wall-clock-below-timestamps" or "wall-clock-exceeds-timestamps"?',
        ),
        ("qqq", "`drive-trace explain` lists them all"),
        ("", "`drive-trace explain` lists them all"),
        ("\x1b[31m", "`drive-trace explain` lists them all"),
    ],
)
def test_a_code_that_no_rule_has(code: str, hint: str) -> None:
    ran = run("explain", code)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith('drive-trace: no rule is called "')
    assert ran.err.endswith(f"{hint}\n")
    assert ran.err.strip().isprintable()
