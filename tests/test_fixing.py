"""Fixing whole traces: what holds whatever is wrong with them."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drive_trace.analysis import Analysis
from drive_trace.authoring.fixing import fix_all, with_fixes
from drive_trace.linter.rule import Level
from drive_trace.linter.settings import RuleSettings, fingerprint
from tests.rules.test_examples import NUMBERED
from tests.support.drawing import examples
from tests.support.fixtures import read, trace
from tests.support.growth import assert_linear
from tests.support.models import TEXTS, everything
from tests.support.scored import score_of

LINES = Path(__file__).parent / "conformance/lines.jsonl"
RAW = [json.loads(line)["raw"] for line in LINES.read_text("utf-8").split("\n") if line]
"""Valid and mutated lines of every event."""

MUTATED = st.lists(st.sampled_from(RAW), max_size=6).map("\n".join)
EXAMPLES = st.deferred(
    lambda: st.lists(
        st.sampled_from([read(each.values[1].before).text for each in NUMBERED]), max_size=4
    ).map("".join)
)
ANY = TEXTS | MUTATED | EXAMPLES

fixing = settings(max_examples=examples(150))


def fixed(text: str, *, suggestions: bool = False) -> tuple[int, str]:
    analysis = Analysis(text)
    count = fix_all(analysis, suggestions=suggestions)
    return count, analysis.document.text


@fixing
@given(ANY, st.booleans())
def test_fixing_makes_every_safe_fix_loses_no_event_and_leaves_an_analysis_like_a_fresh_one(
    text: str, suggestions: bool
) -> None:
    analysis = Analysis(text)
    accepted = sum(line.event is not None for line in analysis.document.lines)
    count = fix_all(analysis, suggestions=suggestions)
    assert not any(fix.safe for each in analysis.findings() for fix in analysis.fixes(each))
    assert sum(line.event is not None for line in analysis.document.lines) >= accepted
    assert everything(analysis) == everything(Analysis(analysis.document.text))
    assert (count == 0) == (analysis.document.text == text)


@fixing
@given(ANY, st.booleans())
def test_fixing_twice_changes_nothing_more(text: str, suggestions: bool) -> None:
    _, once = fixed(text, suggestions=suggestions)
    assert fixed(once, suggestions=suggestions) == (0, once)


@fixing
@given(ANY)
def test_safe_fixes_leave_verdicts_figures_and_feeds_alone(text: str) -> None:
    analysis = Analysis(text)
    before = what_counts(analysis)
    fix_all(analysis)
    assert what_counts(analysis) == before


def what_counts(analysis: Analysis) -> tuple[object, ...]:
    """Verdicts, token figures and the valid events of the feeds, wherever their lines are."""
    card = score_of(analysis)
    graded = [
        (run.run_id, run.gate, run.correctness and run.correctness.values, run.measured.tokens)
        for run in card.runs
        if run.correctness or run.tokens
    ]
    feeds = [
        line.facts
        for line in analysis.document.lines
        if line.event is not None and line.event.is_feed
    ]
    return graded, card.correct_tokens, feeds


@fixing
@given(ANY)
def test_lines_without_a_fix_stay_as_they_are(text: str) -> None:
    analysis = Analysis(text)
    lines = [
        line.text
        for line in analysis.document.lines
        if not any(fix.safe for each in analysis.findings_of(line) for fix in analysis.fixes(each))
    ]
    fix_all(analysis)
    left = iter(line.text for line in analysis.document.lines)
    assert all(line in left for line in lines), "in their order"


# What is made, and what is not


def test_a_safe_fix_that_saves_a_line_is_made_whatever_it_reveals() -> None:
    broken = 'EVENT{"event_type":"slice-started","a":1,"b":2,}'
    assert fixed(trace(broken)) == (1, trace(broken.replace(",}", "}")))


def test_a_safe_fix_is_made_also_where_it_saves_nothing_and_uncovers_more() -> None:
    broken = 'EVENT{"event_type":"slice-started","slice_index":0,"a":1,"b":2,}'
    assert fixed(trace(broken)) == (1, trace(broken.replace(",}", "}")))


def test_a_placeholder_that_keeps_an_error_is_not_put_in() -> None:
    text = trace('EVENT{"event_type":"slice-started","slice_index":<absent>,"linear_ref":<absent>}')
    assert fixed(text, suggestions=True) == (0, text)
    analysis = Analysis(text)
    assert [each.rule.code for each in analysis.findings()] == ["missing-field"]
    assert with_fixes(analysis) == {Level.BY_HAND: 1}


def test_a_null_that_is_a_value_is_put_in_where_it_saves_the_line() -> None:
    text = trace('EVENT{"event_type":"slice-started","linear_ref":<absent>}')
    count, after = fixed(text, suggestions=True)
    assert count == 1
    assert after == text.replace("}", ',"linear_ref":null}')


def test_the_fixes_of_one_line_are_made_together() -> None:
    text = trace('EVENT{"event_type":"slice-started","slice_index":1,"slice_index":1, "x": 1}')
    count, after = fixed(text)
    assert (count, after) == (2, trace('EVENT{"event_type":"slice-started","slice_index":1,"x":1}'))


def test_copies_of_one_brief_are_fixed_alike() -> None:
    """A copy is no earlier brief. One of them may share its line with another event."""
    start = 'EVENT{"event_type":"round-start","round_number":1}'
    text = trace(start, 'EVENT{"event_type":"brief-issued","brief_disposition":"another-round"}')
    lines = text.split("\n")[:2]
    assert lines[1].count("another-round") == 1
    after = "".join(f"{each}\n" for each in (*lines, lines[1])).replace("another-round", "initial")
    for between in ("\n", ""):
        assert fixed(f"{between.join(lines)}\n{lines[1]}\n", suggestions=True)[1] == after


def test_a_fix_may_take_a_line_away_or_make_two_of_one() -> None:
    one = 'EVENT{"event_type":"slice-started","event_id":"8d2f6c1a-52a3-4c40-9a44-0f3b7c1f2e11"}'
    two = one.replace("2e11", "2e12").replace("started", "completed")
    text = trace(one)[:-1] + trace(two)
    assert fixed(text) == (1, trace(one, two))
    assert fixed(f"\n\n{trace(one)}\n{trace(two)}") == (3, trace(one, two))


def test_what_is_known_or_off_is_not_fixed() -> None:
    text = trace('EVENT{"event_type":"slice-started",}', 'EVENT{"event_type":"slice-completed",}')
    first = text.split("\n")[0]
    known = RuleSettings(known={fingerprint("invalid-json", first): 1})
    analysis = Analysis(text, known)
    assert fix_all(analysis) == 1
    assert analysis.document.text == text[:-3] + "}\n"
    off = Analysis(text, RuleSettings({"invalid-json": None}))
    assert fix_all(off) == 0


def many(line: str, count: int) -> str:
    return "".join(
        line.replace("EVENT_ID", f"0b9c2a4e-6f1d-4c3b-8a57-{n:012x}") for n in range(count)
    )


OF_ONE_RUN = trace('EVENT{"event_type":"slice-started","event_id":"EVENT_ID"}')
LINE = OF_ONE_RUN.replace('"checkout-retry"', '"run-EVENT_ID"')
OPEN = LINE.rstrip("}\n")


@pytest.mark.parametrize(("count", "fixes"), [(100, 99), (101, 0)])
def test_what_nobody_wrote_by_hand_is_not_fixed_in_bulk(count: int, fixes: int) -> None:
    text = many(OPEN + ',"k":1' * count + "}\n", 1)
    assert fixed(text, suggestions=True)[0] == fixes
    analysis = Analysis(text)
    found = [fix for each in analysis.findings() for fix in analysis.fixes(each)]
    assert sum(fix.safe for fix in found) == fixes
    assert len(found) == 100  # by hand each can be made


# How long it takes


GROWING: dict[str, tuple[Callable[[int], str], int]] = {
    "many lines": (lambda count: many(LINE.replace("}", ",}"), count), 1),
    "many lines of a run": (lambda count: many(OF_ONE_RUN.replace("}", ",}"), count), 1),
    "many blank lines": (lambda count: "\n" * count + many(LINE, 1), 1),
    "keys": (lambda count: many(OPEN + ',"k":1' * count + "}\n", 1), 0),
    "spaces": (lambda count: many(OPEN + ', "k": 1' * count + "}\n", 1), 0),
}
"""Texts with so many things to fix, and how many of each are fixed: none of a crowded line."""


@pytest.mark.parametrize("name", GROWING)
def test_what_grows_with_the_findings_grows_no_faster(name: str) -> None:
    made, each = GROWING[name]

    def fixing_of(count: int) -> Callable[[], None]:
        text = made(count)

        def fix() -> None:
            assert fixed(text, suggestions=True)[0] == count * each

        return fix

    assert_linear(fixing_of, 4000)
