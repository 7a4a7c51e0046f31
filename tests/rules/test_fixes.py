"""Fixes of the rules, beyond what their examples show: what they do, and which are safe."""

import json
import re
from collections.abc import Iterator

import pytest
from tools.generate import fix_levels

from drive_trace.analysis import Analysis
from drive_trace.authoring.fixing import fix_all
from drive_trace.linter.edits import object_on
from drive_trace.linter.rule import Level
from drive_trace.linter.rules import RULES
from drive_trace.trace.line import event_of
from drive_trace.vocabulary import CORRECTNESS_FIELDS, EVENTS, FieldType
from tests.support.fixtures import apply_fix, trace
from tests.test_fixing import RAW

# What the examples do not show


def test_half_of_a_surrogate_pair_does_not_end_a_suggestion() -> None:
    text = trace('EVENT{"event_type":"slice-completed","event_id":"x"}').replace('"x"', '"\ud800"')
    analysis = Analysis(text)
    titles = [fix.title for each in analysis.findings() for fix in analysis.fixes(each)]
    assert "Give the event a new UUID" in titles


def test_a_record_of_another_log_is_made_no_event_although_it_has_an_id() -> None:
    log = '{"level":"info","time":"2026-05-28T14:00:00.000Z","msg":"started","id":"abc"}\n'
    analysis = Analysis(log)
    assert [fix for each in analysis.findings() for fix in analysis.fixes(each)] == []


@pytest.mark.parametrize(
    ("pair", "levels"),
    [
        ('"schema_version":1', [Level.IN_BULK]),
        ('"schema_version":"1.0"', [Level.BY_HAND]),
        ('"schema_version":"2"', []),
        ('"event_type":"slice-complete"', [Level.BY_HAND]),
        ('"event_type":"tool-called"', []),
    ],
)
def test_what_a_record_is_is_changed_by_a_person_but_for_the_number_1(
    pair: str, levels: list[Level]
) -> None:
    text = trace('EVENT{"event_type":"slice-completed"}')
    analysis = Analysis(
        text.replace('"schema_version":"1"', pair)
        if "version" in pair
        else text.replace('"event_type":"slice-completed"', pair)
    )
    (finding,) = analysis.findings()
    assert [fix.level for fix in analysis.fixes(finding)] == levels


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


@pytest.mark.parametrize("wrapper", ["payload", "data", "body", "fields", "details"])
@pytest.mark.parametrize(
    ("event", "level"), [("slice-completed", Level.SAFE), ("correctness-recorded", Level.BY_HAND)]
)
def test_a_wrapper_of_any_name_is_flattened_but_on_a_feed_by_a_person(
    event: str, level: Level, wrapper: str
) -> None:
    field = list(EVENTS[event].fields)[-1]
    text = trace(
        f'EVENT{{"event_type":"{event}","{field}":<absent>,"{wrapper}":{{"{field}":null,"x":1}}}}'
    )
    analysis = Analysis(text)
    (finding,) = analysis.findings()
    (fix,) = analysis.fixes(finding)
    assert (fix.title, fix.level) == (f"Flatten `{wrapper}`", level)
    for suggestions in (False, True):
        fix_all(analysis, suggestions=suggestions)
    flat = f'"{field}":null,"x":1}}\n'
    assert analysis.document.text.endswith(flat) is (level is Level.SAFE)
    assert apply_fix(text, fix, Analysis(text)).endswith(flat)


def test_an_object_without_a_missing_field_is_no_wrapper() -> None:
    analysis = Analysis(trace('EVENT{"event_type":"slice-completed","data":{"result":"merged"}}'))
    finding = next(each for each in analysis.findings() if each.rule.code == "undeclared-field")
    assert [fix.level for fix in analysis.fixes(finding)] == [Level.BY_HAND]


def test_a_payload_that_would_repeat_a_field_is_not_flattened() -> None:
    """Of the two results the last one would count, whichever was meant."""
    analysis = Analysis(
        trace(
            'EVENT{"event_type":"slice-completed","pr_ref":<absent>,'
            '"payload":{"pr_ref":null,"result":"abandoned"}}'
        )
    )
    (finding,) = analysis.findings()
    assert not analysis.fixes(finding)


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
    said = analysis.message(finding.message)
    assert said.endswith(f"did you mean {meant}?" if meant else f'found "{word}"')
    titles = [fix.title for fix in analysis.fixes(finding)]
    assert titles == ([f"Replace with {meant}"] if meant else [])
    assert not any(fix.safe for fix in analysis.fixes(finding))


@pytest.mark.parametrize(
    ("field", "title", "text"),
    [
        ("pr_ref", "Insert `pr_ref`: null", "null"),
        ("schema_version", 'Insert `schema_version`: "1"', '"1"'),
        ("event_id", "Insert `event_id`, to be filled in", "null"),
        ("result", "Insert `result`, to be filled in", '""'),
    ],
)
def test_a_title_says_what_is_put_in(field: str, title: str, text: str) -> None:
    line = f'EVENT{{"event_type":"slice-completed","{field}":<absent>}}'
    analysis = Analysis(trace(line))
    (finding,) = (each for each in analysis.findings() if each.rule.code == "missing-field")
    (fix,) = analysis.fixes(finding)
    assert fix.title == title
    assert [each.text for each in fix.edits] == [f',"{field}":{text}']


@pytest.mark.parametrize(
    ("event", "field"),
    [("slice-completed", "ts"), ("round-end", "event_id"), ("brief-issued", "brief_content_hash")],
)
def test_no_number_becomes_a_string_that_its_field_does_not_take(event: str, field: str) -> None:
    analysis = Analysis(trace(f'EVENT{{"event_type":"{event}","{field}":5}}'))
    findings = [each for each in analysis.findings() if each.rule.code == "wrong-type"]
    assert [analysis.fixes(each) for each in findings] == [[]]


def test_every_field_of_every_event_can_be_put_in() -> None:
    for event in EVENTS.values():
        line = f'EVENT{{"event_type":"{event.name}"'
        line += "".join(f',"{name}":<absent>' for name in event.fields if name != "event_type")
        text = trace(line + "}")
        analysis = Analysis(text)
        finding = next(iter(analysis.findings()))
        fix = analysis.fixes(finding)[0]
        gaps = sum(not field.nullable for field in event.fields.values()) - 2
        assert fix.title == (
            f"Insert all {len(event.fields) - 1} fields, {gaps} of them to be filled in"
        ), "all but the event's type, the version and what may be null"
        fixed = Analysis(apply_fix(text, fix, analysis))
        assert json.loads(fixed.document.lines[0].text).keys() == event.fields.keys()
        assert not fixed.index.runs, "a fix must not make up an event"
        assert {each.rule.code for each in fixed.findings()} <= {"wrong-type", "unknown-value"}


def test_the_rules_page_names_how_every_fix_is_made() -> None:
    shown = {code: fix_levels(rule) for code, rule in RULES.items()}
    for text in RAW:
        analysis = Analysis(f"{text}\n")
        for finding in analysis.findings():
            levels = {fix.level for fix in analysis.fixes(finding)}
            assert levels <= shown[finding.rule.code], (finding.rule.code, text)


def test_suggestions_in_bulk_take_nothing_away() -> None:
    """No field that somebody wrote, no outcome, and no number that its field takes."""
    for text in RAW:
        analysis = Analysis(f"{text}\n")
        must_stay = [each for each in pairs_of(analysis) if is_kept(each[0], each[2])]
        fix_all(analysis, suggestions=True)
        left = [pair for _, *pair in pairs_of(analysis)]
        values = [value for _, value in left]
        for field, *pair in must_stay:
            assert pair in left or (field is None and pair[1] in values), text


def is_kept(field: FieldType | None, value: object) -> bool:
    is_number = isinstance(value, int) and field is not None and "integer" in field.describe()
    return field is None or field.is_outcome or is_number


def pairs_of(analysis: Analysis) -> Iterator[tuple[FieldType | None, str, object]]:
    """The pairs of each event, also of one in a wrapper; keys without their case and separators."""
    for line in analysis.document.lines:
        event = event_of(line)
        for pairs in (object_on(line), *object_on(line).values()) if event is not None else ():
            for key, value in pairs.items() if isinstance(pairs, dict) else ():
                if event is not None and not isinstance(value, dict):
                    yield event.fields.get(key), re.sub("[^a-z]", "", key.lower()), value


PRETTY = json.dumps(EVENTS["plan-authored"].example, indent=2)
"""Spread over lines, with an object inside."""


def joins(text: str) -> list[str]:
    analysis = Analysis(text)
    return [
        apply_fix(text, fix, analysis)
        for finding in analysis.findings()
        for fix in analysis.fixes(finding)
        if fix.title.startswith("Join")
    ]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (f"{PRETTY}\n", ""),
        (PRETTY, ""),
        (PRETTY.replace("\n", "\r\n") + "\r\n", ""),
        (f"{PRETTY}\n{PRETTY[1:]}\n", f"{PRETTY[1:]}\n"),
        (PRETTY.replace("\n", "\n\n") + ",\n", ""),
        (PRETTY.replace("{\n", "{ ").replace(",\n", "\n,"), ""),
    ],
)
def test_an_object_that_is_spread_over_lines_is_joined(before: str, after: str) -> None:
    (joined, *_) = joins(before)
    first, rest = joined.split("\n", 1)
    assert first.rstrip("\r") == json.dumps(json.loads(PRETTY), separators=(",", ":"))
    assert rest == after


@pytest.mark.parametrize(
    "text",
    [
        PRETTY[:-1],
        PRETTY.replace('"plan_kind": ', '"plan_kind": "'),
        PRETTY.replace('"plan_kind": ', ""),
        "{\n" + '"a": 1,\n' * 199 + "}",
        '{"a": 1\n2}',
        "[\n1\n]",
    ],
)
def test_what_is_no_object_is_not_joined(text: str) -> None:
    assert joins(text) == []


def test_what_never_ends_is_not_joined() -> None:
    for line in ("{\n", '{"a":\n', '{"a":1,\n"b":[\n', '{"a":"\n', '"a":1,\n', "[[[{\n"):
        assert joins(line * 1000 + "}" * 50) == []


def test_of_two_spread_objects_each_is_joined() -> None:
    other = PRETTY.replace("7b8c90", "7b8c91").replace("plan.md", "other.md")
    analysis = Analysis(f"{PRETTY}\n{other}\n")
    fix_all(analysis, suggestions=True)
    first, second, end = analysis.document.text.split("\n")
    assert [json.loads(first), json.loads(second), end] == [
        json.loads(PRETTY),
        json.loads(other),
        "",
    ]


def test_no_spread_grade_is_joined_unasked() -> None:
    graded = EVENTS["correctness-recorded"].example | dict.fromkeys(CORRECTNESS_FIELDS, "pass")
    text = json.dumps(graded, indent=2)
    analysis = Analysis(text)
    fix_all(analysis, suggestions=True)
    assert analysis.document.text == text
    assert joins(text)


def test_bytes_that_are_no_trace_are_left_as_they_are() -> None:
    analysis = Analysis("\0\1bytes\n\n[1,]\n")
    assert analysis.finding_count
    assert not any(analysis.fixes(each) for each in analysis.findings())
    assert fix_all(analysis, suggestions=True) == 0
    torn = Analysis(trace('EVENT{"event_type":"project-closed"}') + "\0\0\n\n")
    assert fix_all(torn) == 1


@pytest.mark.parametrize(
    ("run_id", "slug", "titles"),
    [
        ("", "cart", ['Change `project_run_id` to "cart"']),
        ("cart", "", ['Change `project_slug` to "cart"']),
        ("a", "b", ['Change `project_slug` to "a"', 'Change `project_run_id` to "b"']),
    ],
)
def test_nothing_is_called_by_an_empty_name(run_id: str, slug: str, titles: list[str]) -> None:
    names = f'"project_run_id":"{run_id}","project_slug":"{slug}"'
    analysis = Analysis(trace(f'EVENT{{"event_type":"project-started",{names}}}'))
    found = [each for each in analysis.findings() if each.rule.code == "project-slug-mismatch"]
    assert [fix.title for each in found for fix in analysis.fixes(each)] == titles
