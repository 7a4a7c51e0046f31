"""What stands open at a place of a trace, and whole events that are composed for it."""

from typing import Any

from drive_trace.analysis import Analysis
from drive_trace.authoring.drafts import Stamp
from drive_trace.authoring.events import Composed, compose
from drive_trace.authoring.values import Certainty
from drive_trace.features.runs import carried_at, nothing_joined
from drive_trace.trace.scope import Scope, scope_at
from drive_trace.vocabulary import EVENTS, GRADE
from tests.support.fixtures import trace

STAMP = Stamp("fresh", "2026-05-28T15:00:00.000Z", "opened")


def scope_of(*events: str, at: int | None = None, path: str | None = None) -> Scope:
    """What holds behind all of some events, or before one of them."""
    analysis = Analysis(trace(*events).removesuffix("\n"), path=path)
    lines = analysis.document.lines
    return scope_at(analysis.index, lines, len(lines) if at is None else at)


def open_in(scope: Scope) -> list[str]:
    return [each.id for kind in scope.opened.values() for each in kind]


def written(event: str, scope: Scope, given: dict[str, object]) -> Any:
    """The fields of an event; None while a person has to fill some in."""
    composed = compose(EVENTS[event], scope, STAMP, given)
    return None if composed.blanks else fields_of(composed)


def fields_of(composed: Composed) -> dict[str, object]:
    return {slot.field.name: slot.value for slot in composed.slots}


DISPATCH = 'EVENT{"event_type":"dispatch-start","dispatch_id":"D1"}'
ROUND = 'EVENT{"event_type":"round-start","dispatch_id":"D1","round_id":"R1"}'
ROUND_END = 'EVENT{"event_type":"round-end","dispatch_id":"D1","round_id":"R1"}'
DISPATCH_END = 'EVENT{"event_type":"dispatch-end","dispatch_id":"D1"}'
SLICE = 'EVENT{"event_type":"slice-started","slice_slug":"S1"}'


def test_what_was_started_is_open_until_it_ends() -> None:
    events = (SLICE, DISPATCH, ROUND, ROUND_END, DISPATCH_END)
    found = [open_in(scope_of(*events, at=at)) for at in range(6)]
    assert found == [[], ["S1"], ["D1", "S1"], ["D1", "R1", "S1"], ["D1", "S1"], ["S1"]]


def test_what_is_started_again_is_open_again_and_told_of_once() -> None:
    assert open_in(scope_of(DISPATCH, DISPATCH_END, DISPATCH, DISPATCH)) == ["D1"]


def test_the_end_of_a_dispatch_ends_its_rounds() -> None:
    assert open_in(scope_of(DISPATCH, ROUND, DISPATCH_END)) == []


def test_an_end_that_is_rejected_is_an_end() -> None:
    rejected = 'EVENT{"event_type":"dispatch-end","dispatch_id":"D1","wall_clock_ms":null}'
    assert open_in(scope_of(DISPATCH, rejected)) == []
    assert open_in(scope_of(rejected, DISPATCH)) == ["D1"]
    mentioned = 'EVENT{"event_type":"round-start","dispatch_id":"D1","round_number":0}'
    assert open_in(scope_of(DISPATCH, mentioned)) == ["D1"]


def test_other_runs_have_their_own() -> None:
    other = DISPATCH.replace('{"', '{"project_run_id":"other","', 1)
    assert open_in(scope_of(other, SLICE)) == ["S1"]
    assert open_in(scope_of(SLICE, other)) == ["D1"]


def test_a_run_may_have_an_id_without_a_letter() -> None:
    nameless = SLICE.replace('{"', '{"project_run_id":"","', 1)
    analysis = Analysis(trace(nameless, DISPATCH), path="x/b/trace.jsonl")
    lines = analysis.document.lines
    assert open_in(scope_at(analysis.index, lines, len(lines), "")) == ["S1"]
    assert scope_of(nameless, path="x/b/trace.jsonl").run_id == ""


def test_the_run_is_that_of_the_nearest_line_then_that_of_the_path() -> None:
    named = '{"project_run_id":"broken",'
    assert scope_of("", "{}", path="x/projects/a/trace.jsonl").run_id == "a"
    assert scope_of("", path="x/projects/a/slices/s/trace.jsonl").run_id == "a"
    assert scope_of("", path="x/b/trace.jsonl").run_id == "b"
    assert scope_of("", path="x/wip/drive-trace/direct-2026.jsonl").run_id == "direct-2026"
    assert scope_of("", path="x/other.jsonl").run_id is None
    assert scope_of(SLICE, named, "", path="x/b/trace.jsonl").run_id == "broken"
    assert scope_of("{}", SLICE, named, at=0).run_id == "checkout-retry"


def test_the_latest_open_one_is_found_among_very_many() -> None:
    events = [
        line
        for number in range(5_000)
        for line in (DISPATCH.replace("D1", f"E{number}"), DISPATCH_END.replace("D1", f"E{number}"))
    ]
    scope = scope_of(*events, DISPATCH)
    assert open_in(scope) == ["D1"]
    assert scope.count("dispatch-start") == 5_001


def test_an_event_is_written_once_nothing_is_left_to_say() -> None:
    scope = scope_of(DISPATCH, ROUND)
    composed = compose(EVENTS["round-end"], scope, STAMP)
    assert [slot.field.name for slot in composed.blanks] == ["verdict", "findings_filed"]
    assert written("round-end", scope, {"verdict": "satisfied", "findings_filed": 0}) == {
        "event_id": "fresh",
        "event_type": "round-end",
        "schema_version": "1",
        "ts": "2026-05-28T15:00:00.000Z",
        "project_run_id": "checkout-retry",
        "orchestrator_agent_id": None,
        "dispatch_id": "D1",
        "round_id": "R1",
        "verdict": "satisfied",
        "findings_filed": 0,
        "wall_clock_ms": 3_600_000,
    }


def test_a_duration_is_measured_from_the_start_of_what_is_given() -> None:
    later = (
        'EVENT{"event_type":"dispatch-start","dispatch_id":"D2","ts":"2026-05-28T14:59:00.000Z"}'
    )
    scope = scope_of(DISPATCH, later)
    ended = {"result": "completed"}
    assert written("dispatch-end", scope, ended)["wall_clock_ms"] == 60_000
    first = written("dispatch-end", scope, {**ended, "dispatch_id": "D1"})
    assert first["wall_clock_ms"] == 3_600_000


def test_nothing_is_measured_where_the_clock_goes_back() -> None:
    scope = scope_of(DISPATCH.replace('{"', '{"ts":"2026-05-28T16:00:00.000Z","', 1))
    assert written("dispatch-end", scope, {"result": "completed"}) is None


def grade_behind(event: str, given: dict[str, object]) -> Composed:
    analysis = Analysis(trace(event).removesuffix("\n"))
    lines = analysis.document.lines
    scope = scope_at(analysis.index, lines, len(lines))
    carried = carried_at(scope, EVENTS[GRADE], STAMP.ts, nothing_joined)
    return compose(EVENTS[GRADE], scope, STAMP, given, carried)


def test_a_grade_is_merged() -> None:
    graded = 'EVENT{"event_type":"correctness-recorded","qa":"fail","intent":null}'
    record = fields_of(grade_behind(graded, {"qa": "pass"}))
    assert (record["mechanical"], record["qa"], record["intent"]) == ("pass", "pass", None)
    slots = grade_behind(SLICE, {}).slots[-3:]
    assert [(slot.value, slot.certainty) for slot in slots] == [(None, Certainty.LIKELY)] * 3


def test_a_rejected_feed_behind_the_one_that_counts_is_known() -> None:
    graded = 'EVENT{"event_type":"correctness-recorded"}'
    rejected = 'EVENT{"event_type":"correctness-recorded","qa":"failed"}'
    assert scope_of(graded, rejected).rejected_feed(GRADE) is not None
    assert scope_of(rejected, graded).rejected_feed(GRADE) is None
    assert scope_of(graded, rejected, at=1).rejected_feed(GRADE) is None
    other = rejected.replace('{"', '{"project_run_id":"other","', 1)
    assert scope_of(other, graded).rejected_feed(GRADE) is None
