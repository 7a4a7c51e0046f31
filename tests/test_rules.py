"""Every rule by its own examples, and what holds of all rules."""

from __future__ import annotations

import json
import pkgutil
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

import pytest

from drive_trace import rules
from drive_trace.api import Analysis
from drive_trace.rules import RULES, documentation
from drive_trace.rules.base import Example, Finding, Fix, Rule
from drive_trace.scorecard.card import ScoreCard
from drive_trace.storage.pages import rule_url
from drive_trace.trace.document import Point
from drive_trace.vocabulary import EVENTS
from tests.support.fixtures import (
    ENCODINGS,
    Fixture,
    apply_fix,
    check_edited,
    check_findings,
    check_fix,
    check_marks,
    findings_of,
    read,
    text_edits,
    trace,
)

MODULES = sorted(
    each.name for each in pkgutil.iter_modules(rules.__path__) if each.name not in ("base", "edits")
)


def examples_of(code: str) -> tuple[Example, ...]:
    module = import_module(f"drive_trace.rules.{code.replace('-', '_')}")
    examples: tuple[Example, ...] = module.EXAMPLES
    return examples


EXAMPLES = [
    pytest.param(code, example, id=f"{code}-{number}")
    for code in RULES
    for number, example in enumerate(examples_of(code), start=1)
]
FEEDS = [event.name for event in EVENTS.values() if event.is_feed]


def fixture_of(code: str, example: Example) -> Fixture:
    fixture = read(example.before)
    marks = tuple(mark._replace(code=mark.code or code) for mark in fixture.marks)
    assert {mark.code for mark in marks} <= {code}, "an example marks what its rule finds"
    return fixture._replace(marks=marks)


def findings_by(analysis: Analysis, code: str) -> list[Finding]:
    return [each for each in analysis.findings() if each.rule.code == code]


# Rules as such


@pytest.mark.parametrize("name", MODULES)
def test_a_module_is_one_rule_named_like_its_file(name: str) -> None:
    module = import_module(f"drive_trace.rules.{name}")
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
def test_a_rule_has_an_example_and_a_near_miss(code: str) -> None:
    fires = [bool(read(example.before).marks) for example in examples_of(code)]
    assert True in fires
    assert False in fires


@pytest.mark.parametrize("code", RULES)
def test_a_rule_that_offers_fixes_shows_one(code: str) -> None:
    offered = [
        fix
        for example in examples_of(code)
        for analysis in [Analysis(read(example.before).text)]
        for finding in findings_by(analysis, code)
        for fix in analysis.fixes(finding)
    ]
    shown = [example.after for example in examples_of(code) if example.after is not None]
    assert bool(offered) == bool(shown)


# Examples


@pytest.mark.parametrize(("code", "example"), EXAMPLES)
def test_a_rule_finds_what_its_example_marks(code: str, example: Example) -> None:
    fixture = fixture_of(code, example)
    found = [each for each in findings_of(Analysis(fixture.text)) if each.code == code]
    check_marks(fixture, found)


@pytest.mark.parametrize(("code", "example"), EXAMPLES)
def test_a_fix_does_what_the_example_says(code: str, example: Example) -> None:
    fixture = fixture_of(code, example)
    analysis = Analysis(fixture.text)
    fixes = [fix for each in findings_by(analysis, code)[:1] for fix in analysis.fixes(each)]
    if example.after is None:
        assert [fix.title for fix in fixes] == []
        return
    fitting = [fix for fix in fixes if example.fix in (None, fix.title)]
    assert fitting, f"no fix {example.fix!r}, only {[fix.title for fix in fixes]}"
    assert apply_fix(fixture.text, fitting[0], analysis) == read(example.after).text


def offered_fixes(code: str, example: Example) -> Iterator[tuple[str, Analysis, Fix]]:
    text = read(example.before).text
    analysis = Analysis(text)
    for finding in findings_by(analysis, code):
        for fix in analysis.fixes(finding):
            yield text, analysis, fix


@pytest.mark.parametrize(("code", "example"), EXAMPLES)
def test_no_fix_makes_things_worse(code: str, example: Example) -> None:
    for text, analysis, fix in offered_fixes(code, example):
        fixed = apply_fix(text, fix, analysis)
        assert fixed != text
        assert len(list(Analysis(fixed).findings())) <= len(list(analysis.findings())), fix.title


@pytest.mark.parametrize(("code", "example"), EXAMPLES)
def test_a_safe_fix_leaves_verdicts_and_figures_alone(code: str, example: Example) -> None:
    for text, analysis, fix in offered_fixes(code, example):
        if fix.safe:
            fixed = Analysis(apply_fix(text, fix, analysis))
            assert what_counts(fixed) == what_counts(analysis), fix.title


@pytest.mark.parametrize(("code", "example"), EXAMPLES)
def test_a_fix_made_in_the_open_document_leaves_what_a_fresh_one_has(
    code: str, example: Example
) -> None:
    for text, analysis, fix in offered_fixes(code, example):
        for encoding in ENCODINGS:
            edits = text_edits(fix, analysis, encoding)
            check_edited(text, edits, encoding)


def what_counts(analysis: Analysis) -> tuple[Any, ...]:
    """What no tool may change unasked: verdicts, token figures, the valid feed events."""
    card: ScoreCard = analysis.score()
    graded = [(run.run_id, run.gate, run.correctness, run.tokens) for run in card.runs]
    feeds = [
        (analysis.line_number(line), line.facts)
        for line in analysis.document.lines
        if line.event is not None and line.event.name in FEEDS
    ]
    return [each for each in graded if each[2] or each[3]], card.correct_tokens, feeds


# What the examples do not show


def test_several_findings_of_a_line_come_by_where_they_stand() -> None:
    analysis = check_findings(
        """
        EVENT{"event_type":"project-closed","dod_status":"ok","slices_completed":-1,"x":0,"ts":0}
                                                         ^^^^ unknown-value
                                                                                 ^^ out-of-range
        undeclared-field                                                            ^^^
        wrong-type                                                                             ^
        """
    )
    spots = [analysis.where(each) for each in analysis.findings()]
    assert spots == sorted(spots)


def test_marks_stand_right_beyond_the_basic_plane() -> None:
    check_findings(
        """
        EVENT{"event_type":"correctness-recorded","project_run_id":"🚀 日本 é","qa":"✅🚀","🚀":1}
                                                                                 ^^^^ unknown-value
        undeclared-field                                                              ^^^
        """
    )


def test_the_last_of_equal_keys_is_judged_however_it_is_written() -> None:
    check_findings(
        r"""
        EVENT{"event_type":"correctness-recorded","qa":"pass","q\u0061":"passed"}
                                                  ^^^^ duplicate-key
                                                                        ^^^^^^^^ unknown-value
        """
    )
    check_fix(
        r"""
        EVENT{"event_type":"correctness-recorded","qa":"pass","q\u0061":"pass$0ed"}
        """,
        r"""
        EVENT{"event_type":"correctness-recorded","qa":"pass","q\u0061":"pass"}
        """,
    )


def test_what_looks_like_a_pair_inside_a_string_is_none() -> None:
    check_findings(
        r"""
        EVENT{"event_type":"dispatch-end","ts":",\"result\":\"x\",","result":"ok!"}
                                                                             ^^^^^ unknown-value
        """
    )


def test_an_edit_beyond_the_basic_plane_lands_where_it_should() -> None:
    check_fix(
        """
        EVENT{"event_type":"correctness-recorded","project_run_id":"🚀🚀","qa":"pa$0ssed"}
        """,
        """
        EVENT{"event_type":"correctness-recorded","project_run_id":"🚀🚀","qa":"pass"}
        """,
        title='Replace with "pass"',
    )


def test_a_carriage_return_before_the_newline_is_no_mistake() -> None:
    check_findings(
        """
        EVENT{"event_type":"project-started"}\r
        EVENT{"event_type":"correctness-recorded","qa":"failed"}\r
                                                       ^^^^^^^^ unknown-value
        """
    )


def test_a_feed_event_that_is_rejected_is_one_mistake_of_one_rule() -> None:
    check_findings(
        """
        EVENT{"event_type":"correctness-recorded"}
        EVENT{"event_type":"correctness-recorded","mechanical":null,"qa":true,"intent":null}
                                                                         ^^^^ wrong-type: found true
        """
    )


def test_a_version_that_is_missing_is_a_missing_field() -> None:
    check_findings(
        """
        EVENT{"event_type":"project-closed","schema_version":<absent>}
        missing-field: `schema_version`                              ^
        """
    )


def test_without_an_event_type_only_the_envelope_is_expected() -> None:
    check_findings(
        """
        {"ts":"2026-05-28T14:00:00.000Z","schema_version":"1"}
                                                             ^ missing-field: `event_id`
                                                             ^ missing-field: `event_type`
                                                             ^ missing-field: `project_run_id`
        missing-field: `orchestrator_agent_id`               ^
        """
    )


def test_what_is_missing_from_a_payload_and_from_the_event_is_said_apart() -> None:
    check_findings(
        """
        EVENT{"event_type":"dispatch-end","result":<absent>,"ts":<absent>,"payload":{"ts":""}}
        missing-field: events are flat: `ts` must stand                   ^^^^^^^^^
        missing-field: `result` is missing                                                   ^
        """
    )


def test_both_feeds_are_superseded_run_by_run() -> None:
    check_findings(
        """
        EVENT{"event_type":"correctness-recorded"}
                           ^^^^^^^^^^^^^^^^^^^^^^ superseded-feed: superseded by line 4
        EVENT{"event_type":"tokens-recorded"}
                           ^^^^^^^^^^^^^^^^^ superseded-feed: superseded by line 5
        EVENT{"event_type":"correctness-recorded","project_run_id":"search-index"}
        EVENT{"event_type":"correctness-recorded"}
        EVENT{"event_type":"tokens-recorded"}
        """
    )


def test_the_line_that_a_message_names_moves_with_it() -> None:
    analysis = check_findings(
        """
        EVENT{"event_type":"correctness-recorded","qa":"fail"}
                           ^^^^^^^^^^^^^^^^^^^^^^ superseded-feed: superseded by line 2
        EVENT{"event_type":"correctness-recorded","qa":null}
        erased-verdict: `qa` was "fail" on line 1      ^^^^
        """
    )
    start = Point(0, 0)
    analysis.edit(start, start, trace('EVENT{"event_type":"project-started"}') * 2)
    messages = [each.message for each in findings_of(analysis)]
    assert messages[0].startswith("superseded by line 4")
    assert messages[1] == '`qa` was "fail" on line 3; this null erases it'


def test_a_superseded_event_is_shown_faded_and_points_at_its_successor() -> None:
    analysis = Analysis(trace(*['EVENT{"event_type":"tokens-recorded"}'] * 2))
    (finding,) = analysis.findings()
    assert finding.rule.unnecessary
    (related,) = finding.related
    assert analysis.where(related).record == 1
    assert analysis.words(related.words) == "this event replaces it"


GRADED = 'EVENT{"event_type":"correctness-recorded"}'


@pytest.mark.parametrize(
    "text",
    [
        trace(GRADED.replace("}", ",}")),
        trace(GRADED.replace("-recorded", r"\u002drecorded").replace("}", ",}")),
        trace(GRADED).replace('"correctness-recorded"', "'correctness-recorded'"),
        trace(GRADED).replace("}", "} // graded by hand"),
        "\ufeff" + trace(GRADED),
        trace('EVENT{"event_type":"project-closed"}').rstrip("\n") + trace(GRADED),
        trace('EVENT{"event_type":"tokens-recorded",}'),
    ],
)
def test_to_repair_a_feed_event_is_never_safe(text: str) -> None:
    analysis = Analysis(text)
    fixes = [fix for finding in analysis.findings() for fix in analysis.fixes(finding)]
    assert fixes
    assert not any(fix.safe for fix in fixes)


def test_to_repair_another_event_is_safe() -> None:
    analysis = Analysis(trace('EVENT{"event_type":"project-closed",}'))
    (finding,) = analysis.findings()
    assert [fix.safe for fix in analysis.fixes(finding)] == [True]


@pytest.mark.parametrize(
    ("event", "is_safe"), [("slice-completed", True), ("correctness-recorded", False)]
)
def test_to_flatten_a_feed_event_is_no_safe_fix(event: str, is_safe: bool) -> None:
    field = list(EVENTS[event].fields)[-1]
    line = f'EVENT{{"event_type":"{event}","{field}":<absent>,"payload":{{"{field}":null}}}}'
    analysis = Analysis(trace(line))
    (finding,) = analysis.findings()
    (fix,) = analysis.fixes(finding)
    assert fix.title == "Flatten `payload`"
    assert fix.safe is is_safe


def test_a_payload_that_would_repeat_a_field_is_not_flattened_unasked() -> None:
    analysis = Analysis(
        trace(
            'EVENT{"event_type":"slice-completed","pr_ref":<absent>,'
            '"payload":{"pr_ref":null,"result":"abandoned"}}'
        )
    )
    (finding,) = analysis.findings()
    assert [fix.safe for fix in analysis.fixes(finding)] == [False]


HOSTILE = "a\x1b[31m\u202e\u2028`**b**<script>\ud800"


@pytest.mark.parametrize(
    "pair",
    [
        f'"qa":{json.dumps(HOSTILE)}',
        f"{json.dumps(HOSTILE)}:1",
        f'"event_type":{json.dumps(HOSTILE)}',
        f'"schema_version":{json.dumps(HOSTILE)}',
        f"{json.dumps(HOSTILE)}:1,{json.dumps(HOSTILE)}:2",
    ],
)
def test_nothing_in_a_message_or_a_title_obeys_a_trace(pair: str) -> None:
    analysis = Analysis(trace(f'EVENT{{"event_type":"correctness-recorded",{pair}}}'))
    findings = list(analysis.findings())
    assert findings
    for finding in findings:
        said = [analysis.words(finding.words)]
        said += [fix.title for fix in analysis.fixes(finding)]
        said += [analysis.words(related.words) for related in finding.related]
        for text in said:
            assert text.isprintable(), text


def test_a_long_value_is_cut_in_a_message() -> None:
    line = f'EVENT{{"event_type":"correctness-recorded","qa":"{"x" * 5000}"}}'
    ((found),) = findings_of(Analysis(trace(line)))
    assert len(found.message) < 200


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("passed", '"pass"'),
        ("PASS", '"pass"'),
        (" pass ", '"pass"'),
        ("true", '"pass"'),
        ("failed", '"fail"'),
        ("FAIL", '"fail"'),
        ("null", "null"),
        ("N/A", "null"),
        ("pending", None),
    ],
)
def test_what_was_meant_by_a_verdict(word: str, meant: str | None) -> None:
    analysis = Analysis(trace(f'EVENT{{"event_type":"correctness-recorded","qa":"{word}"}}'))
    (finding,) = analysis.findings()
    said = analysis.words(finding.words)
    assert said.endswith(f"did you mean {meant}?" if meant else f'found "{word}"')
    titles = [fix.title for fix in analysis.fixes(finding)]
    assert titles == ([f"Replace with {meant}"] if meant else [])
    assert not any(fix.safe for fix in analysis.fixes(finding))


def test_every_field_of_every_event_can_be_put_in() -> None:
    for event in EVENTS.values():
        line = f'EVENT{{"event_type":"{event.name}"'
        line += "".join(f',"{name}":<absent>' for name in event.fields if name != "event_type")
        text = trace(line + "}")
        analysis = Analysis(text)
        finding = next(iter(analysis.findings()))
        fix = analysis.fixes(finding)[-1]
        assert fix.title == f"Insert all {len(event.fields) - 1} missing fields"
        fixed = Analysis(apply_fix(text, fix, analysis))
        assert json.loads(fixed.document.lines[0].text).keys() == event.fields.keys()
        assert not fixed.index.runs, "a fix must not make up an event"
        assert {each.rule.code for each in fixed.findings()} <= {"wrong-type", "unknown-value"}
