"""Every rule by its own examples, and what holds of all rules."""

import pkgutil
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

import pytest
from tools.rule_faults import rule_faults

from drive_trace.analysis import Analysis
from drive_trace.commands.formats import unreadable
from drive_trace.linter import rules
from drive_trace.linter.rule import Finding, Fix, Rule
from drive_trace.linter.rules import RULES, documentation
from drive_trace.scorecard.card import ScoreCard
from drive_trace.scorecard.caveats import Unread
from drive_trace.storage.files import Problem, read_trace
from drive_trace.storage.linked_files import rule_url
from drive_trace.text.spans import Span
from drive_trace.vocabulary import EVENTS
from tests.cli.support import run
from tests.support import fixtures
from tests.support.rule_examples import Example, examples_of
from tests.support.scored import score_of

MODULES = sorted(each.name for each in pkgutil.iter_modules(rules.__path__))


if faults := "\n".join(rule_faults()):
    pytest.fail(f"rules are not declared as they should be:\n{faults}", pytrace=False)

NUMBERED = [
    pytest.param(code, example, id=f"{code}-{number}")
    for code in RULES
    for number, example in enumerate(examples_of(code), start=1)
]
EXAMPLES = [
    each
    for each in NUMBERED
    if each.values[1].beside is None and each.values[1].encoding == "utf-8"
]
EXAMPLES_IN_OTHER_ENCODINGS = [each for each in NUMBERED if each.values[1].encoding != "utf-8"]
EXAMPLES_OF_FILES = [each for each in NUMBERED if each.values[1].beside is not None]
FEEDS = [event.name for event in EVENTS.values() if event.is_feed]


def fixture_of(code: str, example: Example) -> fixtures.Fixture:
    fixture = fixtures.read(example.before)
    marks = tuple(mark._replace(code=mark.code or code) for mark in fixture.marks)
    assert {mark.code for mark in marks} <= {code}, "an example marks what its rule finds"
    return fixture._replace(marks=marks)


def findings_by(analysis: Analysis, code: str) -> list[Finding]:
    return [each for each in analysis.findings() if each.rule.code == code]


# Rules as such


@pytest.mark.parametrize("name", MODULES)
def test_a_module_is_one_rule_named_like_its_file(name: str) -> None:
    module = import_module(f"drive_trace.linter.rules.{name}")
    code = name.replace("_", "-")
    assert module.RULE.code == code
    assert RULES[code] is module.RULE
    made_here = [each for each in vars(module).values() if isinstance(each, Rule)]
    assert made_here == [module.RULE]


def test_nothing_but_the_modules_is_a_rule() -> None:
    assert sorted(RULES) == sorted(name.replace("_", "-") for name in MODULES)


@pytest.mark.parametrize("code", RULES)
def test_a_rule_is_documented(code: str) -> None:
    rule = RULES[code]
    assert rule.summary.endswith(".")
    assert "\n" not in rule.summary
    assert "**Fix.**" in documentation(rule)
    url = rule_url(code)
    assert url is not None, "make generate writes the rule's page"
    page = Path(url2pathname(urlsplit(url).path)).read_text(encoding="utf-8")
    assert rule.summary in page
    assert documentation(rule) in page


@pytest.mark.parametrize("code", RULES)
def test_a_rule_that_offers_fixes_shows_one(code: str) -> None:
    offered = [
        fix
        for example in examples_of(code)
        for analysis in [fixtures.analysis_of(example)]
        for finding in findings_by(analysis, code)
        for fix in analysis.fixes(finding)
    ]
    shown = [example.after for example in examples_of(code) if example.after is not None]
    assert bool(offered) == bool(shown)


# Examples


@pytest.mark.parametrize(("code", "example"), EXAMPLES)
def test_a_rule_finds_what_its_example_marks(code: str, example: Example) -> None:
    fixture = fixture_of(code, example)
    found = [
        each for each in fixtures.findings_of(fixtures.analysis_of(example)) if each.code == code
    ]
    fixtures.check_marks(fixture, found)


@pytest.mark.parametrize(("code", "example"), EXAMPLES_OF_FILES)
def test_a_rule_between_files_finds_what_its_example_marks(
    code: str, example: Example, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fixture = fixture_of(code, example)
    monkeypatch.chdir(tmp_path)
    for path, text in (
        ("other.jsonl", fixtures.read(example.beside or "").text),
        ("trace.jsonl", fixture.text),
    ):
        Path(path).write_bytes(text.encode())
    args = ("--no-config", "--output-format", "json", "--select", code)
    found = [
        fixtures.Found(
            each["line"] - 1,
            Span(each["column"] - 1, each["end_column"] - 1),
            code,
            each["message"],
        )
        for each in run("check", *args, "other.jsonl", "trace.jsonl").json
        if each["path"] == "trace.jsonl"
    ]
    fixtures.check_marks(fixture, found)


@pytest.mark.parametrize(("code", "example"), EXAMPLES_IN_OTHER_ENCODINGS)
def test_a_rule_on_files_finds_what_its_example_marks(
    code: str, example: Example, tmp_path: Path
) -> None:
    fixture = fixture_of(code, example)
    path = tmp_path / "trace.jsonl"
    path.write_bytes(fixture.text.encode(example.encoding))
    problem = read_trace(str(path))
    assert isinstance(problem, Problem)
    report = unreadable(Unread(*problem))
    (_, line, column, end_line, end_column), message = report.location, report.message
    assert (line, end_line) == (1, 1)
    fixtures.check_marks(
        fixture, [fixtures.Found(0, Span(column - 1, end_column - 1), report.code, message)]
    )


@pytest.mark.parametrize(("code", "example"), EXAMPLES)
def test_a_fix_does_what_the_example_says(code: str, example: Example) -> None:
    fixture = fixture_of(code, example)
    analysis = fixtures.analysis_of(example)
    fixes = [fix for each in findings_by(analysis, code)[:1] for fix in analysis.fixes(each)]
    if example.after is None:
        assert [fix.title for fix in fixes] == []
        return
    fitting = [fix for fix in fixes if example.fix in (None, fix.title)]
    assert fitting, f"no fix {example.fix!r}, only {[fix.title for fix in fixes]}"
    assert (
        fixtures.apply_fix(fixture.text, fitting[0], analysis) == fixtures.read(example.after).text
    )


def offered_fixes(code: str, example: Example) -> Iterator[tuple[str, Analysis, Fix]]:
    text = fixtures.read(example.before).text
    analysis = fixtures.analysis_of(example)
    for finding in findings_by(analysis, code):
        for fix in analysis.fixes(finding):
            yield text, analysis, fix


@pytest.mark.parametrize(("code", "example"), EXAMPLES)
def test_no_fix_makes_things_worse(code: str, example: Example) -> None:
    for text, analysis, fix in offered_fixes(code, example):
        fixed = fixtures.apply_fix(text, fix, analysis)
        assert fixed != text
        after = Analysis(fixed, path=example.path)
        assert alone(after, code) <= alone(analysis, code), fix.title


def alone(analysis: Analysis, code: str) -> int:
    """How much is found by one rule, or on one line alone: a line that is mended is compared with
    others. Of several missing fields each counts, as a gap that is put in stays a finding.
    """
    return sum(
        max(1, len(each.diagnostic.names) if each.diagnostic else 0)
        for each in analysis.findings()
        if each.diagnostic or each.rule.code == code
    )


@pytest.mark.parametrize(("code", "example"), EXAMPLES)
def test_a_safe_fix_leaves_verdicts_and_figures_alone(code: str, example: Example) -> None:
    for text, analysis, fix in offered_fixes(code, example):
        if fix.safe:
            fixed = Analysis(fixtures.apply_fix(text, fix, analysis))
            assert what_counts(fixed) == what_counts(analysis), fix.title


@pytest.mark.parametrize(("code", "example"), EXAMPLES)
def test_a_fix_made_in_the_open_document_leaves_what_a_fresh_one_has(
    code: str, example: Example
) -> None:
    for text, analysis, fix in offered_fixes(code, example):
        for encoding in fixtures.ENCODINGS:
            edits = fixtures.text_edits(fix, analysis, encoding)
            fixtures.check_edited(text, edits, encoding)


def what_counts(analysis: Analysis) -> tuple[Any, ...]:
    """What no tool may change unasked: verdicts, token figures, the valid feed events."""
    card: ScoreCard = score_of(analysis)
    graded = [(run.run_id, run.gate, run.correctness, run.tokens) for run in card.runs]
    feeds = [
        (analysis.line_number(line), line.facts)
        for line in analysis.document.lines
        if line.event is not None and line.event.name in FEEDS
    ]
    return [each for each in graded if each[2] or each[3]], card.correct_tokens, feeds
