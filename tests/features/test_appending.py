"""Events that one pick adds to a run: a grade, or the end of what stands open."""

import pytest

from drive_trace.analysis import Analysis
from drive_trace.features.findings import picked
from drive_trace.features.new_events import appending_offers, closing_offers, graded
from drive_trace.features.results import CannotMake
from drive_trace.features.runs import JoinedRun
from drive_trace.scorecard.card import score
from drive_trace.trace.document import Point
from tests.support.changing import NOW, changes_of, check_appended, check_offers, offers_at
from tests.support.fixtures import read
from tests.support.scored import summarize_text

GRADES = ["refactor.driveTrace.record"]
UNGRADED = """
EVENT{"event_type":"project-started"$0}
EVENT{"event_type":"project-closed"}
"""
OPEN = """
EVENT{"event_type":"dispatch-start","ts":"2026-05-28T14:00:00.000Z","dispatch_id":"d1"$0}
EVENT{"event_type":"round-start","dispatch_id":"d1","round_id":"r1","round_number":2}
EVENT{"event_type":"project-closed"}
"""


def test_a_run_is_graded_one_component_at_a_time() -> None:
    assert check_offers(UNGRADED, GRADES) == [
        f"Record {name}: {value}" for name in ("mechanical", "qa", "intent") for value in PASS_FAIL
    ]
    check_appended(UNGRADED, "Record qa: fail", '"mechanical":null,"qa":"fail","intent":null}')


PASS_FAIL = ("pass", "fail")


def test_what_is_recorded_is_repeated_and_missing_components_stand_first() -> None:
    graded = UNGRADED + (
        'EVENT{"event_type":"correctness-recorded","mechanical":"pass","qa":"pass","intent":null}'
    )
    assert check_offers(graded, GRADES) == [
        "Record intent: pass → CORRECT",
        "Record intent: fail → INCORRECT",
        "Record mechanical: fail",
        "Record qa: fail",
    ]
    check_appended(
        graded,
        "Record intent: pass → CORRECT",
        '"event_type":"correctness-recorded"',
        '"mechanical":"pass","qa":"pass","intent":"pass"}',
    )


def test_a_grade_names_the_agent_that_the_run_names_if_it_names_one() -> None:
    one = """
        EVENT{"event_type":"project-started"$0}
        EVENT{"event_type":"project-started","project_run_id":"b","orchestrator_agent_id":"b-7"}
        EVENT{"event_type":"slice-started","orchestrator_agent_id":"agent 🚀"}
        EVENT{"event_type":"project-closed","orchestrator_agent_id":"agent 🚀"}
        """
    title = "Record qa: fail (run checkout-retry)"
    check_appended(one, title, '"agent 🚀","event_type":"correctness-recorded","mechanical":null')
    two = one + 'EVENT{"event_type":"retro-landed","orchestrator_agent_id":"agent-8"}'
    check_appended(two, title, '"orchestrator_agent_id":null,"event_type":"correctness-recorded"')


def test_a_grade_that_was_rejected_is_not_passed_over() -> None:
    graded = UNGRADED + 'EVENT{"event_type":"correctness-recorded","qa":"passed"}'
    (offer,) = offers_at(graded, GRADES)
    assert offer.title == "Record a grade"
    assert offer.disabled is not None
    assert offer.disabled.startswith(
        "1 correctness line rejected (line 3), not counted: mend that first"
    )
    # Nor by a pick that was offered before.
    assert picked([offer], {"kind": offer.kind, "id": "qa: pass"}) == CannotMake(offer.disabled)


def test_what_is_kept_of_a_stale_grade_is_told() -> None:
    graded = """
        EVENT{"event_type":"correctness-recorded","mechanical":"pass","qa":"pass","intent":null$0}
        EVENT{"event_type":"dispatch-start"}
        EVENT{"event_type":"dispatch-end"}
        """
    stale = "stale: 2 events after the grade"
    assert check_offers(graded, GRADES) == [
        f"Record intent: pass → CORRECT (keeps mechanical and qa; {stale})",
        f"Record intent: fail → INCORRECT (keeps mechanical and qa; {stale})",
        f"Record mechanical: fail (keeps qa; {stale})",
        f"Record qa: fail (keeps mechanical; {stale})",
    ]


def joined_with(text: str, elsewhere: str) -> JoinedRun:
    """The run of a trace that stands in another one, too."""
    traces = [summarize_text(elsewhere, "slices/a"), summarize_text(text, "own")]
    (run,) = score(traces).runs
    return JoinedRun(run, None, ["file:///a", "file:///own"], "file:///own")


def test_what_is_kept_of_another_file_is_told() -> None:
    grade = (
        'EVENT{"event_type":"correctness-recorded","mechanical":"pass","qa":"pass","intent":null}\n'
    )
    text = read(UNGRADED).text
    joined = joined_with(text, read(grade).text)
    analysis = Analysis(text)
    offers = appending_offers(analysis, Point(0, 0), GRADES, lambda _: joined, is_crowded=False)
    assert "Record intent: pass → CORRECT (keeps mechanical and qa of slices/a)" in [
        each.title for each in offers
    ]


def test_nothing_is_recorded_that_would_not_count() -> None:
    """As where another file of the run has a grade of the future."""
    text, elsewhere = read(UNGRADED).text, read(LATER).text
    joined = joined_with(text, elsewhere)
    made = graded(Analysis(text), "checkout-retry", {"qa": "pass"}, lambda _: joined, NOW)
    assert made == CannotMake(
        'slices/a: line 1 has the ts "2999-01-01T00:00:00.000Z", which is later than now: a grade '
        "recorded now would not count; a clock was wrong, so correct that ts by hand"
    )


LATER = 'EVENT{"event_type":"correctness-recorded","ts":"2999-01-01T00:00:00.000Z"}\n'


def test_a_last_line_without_a_newline_gets_one_first() -> None:
    check_appended(f"{UNGRADED.rstrip()}<eof>", "Record qa: pass", '"qa":"pass"')
    check_appended(f"{UNGRADED.rstrip()[:-1]}<eof>", "Record qa: pass", '"qa":"pass"')


def test_several_runs_are_told_apart() -> None:
    two = """
        EVENT{"event_type":"project-started","project_run_id":"🚀 a"$0}
        EVENT{"event_type":"project-started","project_run_id":"b"}
        EVENT{"event_type":"correctness-recorded","project_run_id":"b"}
        """
    assert check_offers(two, GRADES)[0] == "Record mechanical: pass (run 🚀 a)"
    check_appended(
        two,
        "Record qa: pass (run 🚀 a)",
        '"project_run_id":"🚀 a"',
        '"mechanical":null,"qa":"pass"',
    )


@pytest.mark.parametrize(
    "fixture",
    [
        "$0",
        "EVENT{$0}",
        '$0{"event_type":',
        '{"event_type":"made-up"$0}',
        """
        EVENT{"event_type":"project-started"}
        EVENT{"event_type":"triage-verdict"$0}
        EVENT{"event_type":"project-closed"}
        """,
    ],
)
def test_elsewhere_nothing_is_offered(fixture: str) -> None:
    assert check_offers(fixture) == []


def test_by_name_grades_are_offered_on_every_line_of_a_run() -> None:
    middle = """
        EVENT{"event_type":"project-started"}
        EVENT{"event_type":"triage-verdict"$0}
        EVENT{"event_type":"project-closed"}
        """
    for kind in ("refactor.driveTrace", "refactor.driveTrace.record"):
        assert len(check_offers(middle, [kind])) == 6
    for kind in ("refactor.extract", "source", "quickfix", "refactor.drive", "refactor", ""):
        assert check_offers(middle, [kind]) == []
    assert check_offers(UNGRADED) == []  # who takes the first offer must not grade a run
    assert offers_at(UNGRADED, [""], is_crowded=True) == []


def test_what_stands_open_is_closed_and_measured() -> None:
    titles = [title for title in check_offers(OPEN) if title.startswith("Close")]
    assert titles == [
        f"Close dispatch implementer D1 R1: {result}"
        for result in ("completed", "failed", "aborted")
    ]
    check_appended(
        OPEN,
        titles[1],
        '"event_type":"dispatch-end"',
        '"dispatch_id":"d1","result":"failed","wall_clock_ms":3600000}',
    )


def test_a_round_ends_with_a_gap_for_what_only_a_person_knows() -> None:
    on_round = OPEN.replace("$0", "").replace('"round_number":2', '"round_number":2$0')
    title = "Close round 2 of implementer D1 R1: satisfied, then fill in findings_filed"
    assert title in check_offers(on_round)
    check_appended(
        on_round,
        title,
        '"event_type":"round-end"',
        '"round_id":"r1","verdict":"satisfied","findings_filed":null,"wall_clock_ms":',
    )


def test_each_of_several_open_dispatches_is_closed_by_name() -> None:
    other = 'EVENT{"event_type":"dispatch-start","dispatch_id":"d2","dispatch_name":"lexer"}'
    analysis = Analysis(read(OPEN.replace("$0", "") + other + "$0").text)
    end = Point(len(analysis.document.lines) - 1, 0)
    offers = [
        each
        for each in appending_offers(analysis, end, None, is_crowded=False)
        if each.title.endswith("completed")
    ]
    assert [each.title for each in offers] == [
        "Close dispatch lexer: completed",
        "Close dispatch implementer D1 R1: completed",
    ]
    (change,) = changes_of(offers[1])
    assert '"dispatch_id":"d1","result":"completed"' in change.text


def test_a_dispatch_that_was_open_for_over_a_day_is_not_measured() -> None:
    forgotten = (
        'EVENT{"event_type":"dispatch-start","dispatch_id":"d1","ts":"2026-05-01T00:00:00Z"$0}'
    )
    title = next(title for title in check_offers(forgotten) if title.endswith("completed"))
    check_appended(forgotten, title, '"dispatch_id":"d1","result":"completed","wall_clock_ms":null')


def test_what_was_never_ended_is_closed_by_a_quick_fix() -> None:
    analysis = Analysis(read(NEVER_ENDED).text)
    finding = next(each for each in analysis.findings() if each.rule.code == "unclosed-round")
    offers = closing_offers(analysis, finding, ["quickfix"])
    assert {each.kind for each in offers} == {"quickfix"}
    titles = [each.title.partition(":")[0] for each in offers]
    assert titles == 4 * ["Close round 1 of implementer D1 R1"]
    assert closing_offers(analysis, finding, ["refactor"]) == []


NEVER_ENDED = """
EVENT{"event_type":"dispatch-start","dispatch_id":"d1"}
EVENT{"event_type":"round-start","dispatch_id":"d1","round_id":"r1","round_number":1}
EVENT{"event_type":"round-start","dispatch_id":"d1","round_id":"r2","round_number":2}
EVENT{"event_type":"round-end","dispatch_id":"d1","round_id":"r2"}
"""


def test_what_was_closed_meanwhile_is_not_closed_again() -> None:
    offer = next(each for each in offers_at(OPEN) if each.title.startswith("Close"))
    closed = f'{OPEN}EVENT{{"event_type":"dispatch-end","dispatch_id":"d1"}}'
    gone = picked(offers_at(closed), {"kind": offer.kind, "id": offer.id})
    assert gone == CannotMake("This has changed meanwhile: ask again.")
