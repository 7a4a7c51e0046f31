"""What stands open at a place of a trace, and whole events that are composed for it."""

from drive_trace.analysis import Analysis
from drive_trace.authoring.drafts import Stamp
from drive_trace.authoring.events import compose
from drive_trace.trace.scope import Scope, scope_at
from drive_trace.vocabulary import EVENTS
from tests.support.fixtures import trace

STAMP = Stamp("fresh", "2026-05-28T15:00:00.000Z", "opened")


def scope_of(*events: str, at: int | None = None, path: str | None = None) -> Scope:
    """What holds behind all of some events, or before one of them."""
    analysis = Analysis(trace(*events).removesuffix("\n"), path=path)
    lines = analysis.document.lines
    return scope_at(analysis.index, lines, len(lines) if at is None else at)


def open_in(scope: Scope) -> list[str]:
    return [each.id for kind in scope.opened.values() for each in kind]


DISPATCH = 'EVENT{"event_type":"dispatch-start","dispatch_id":"D1"}'
ROUND = 'EVENT{"event_type":"round-start","dispatch_id":"D1","round_id":"R1"}'
DISPATCH_END = 'EVENT{"event_type":"dispatch-end","dispatch_id":"D1"}'
SLICE = 'EVENT{"event_type":"slice-started","slice_slug":"S1"}'


def test_what_is_started_again_is_open_again_and_told_of_once() -> None:
    assert open_in(scope_of(DISPATCH, DISPATCH_END, DISPATCH, DISPATCH)) == ["D1"]


def test_the_end_of_a_dispatch_ends_its_rounds() -> None:
    assert open_in(scope_of(DISPATCH, ROUND, DISPATCH_END)) == []


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


def test_nothing_is_measured_where_the_clock_goes_back() -> None:
    scope = scope_of(DISPATCH.replace('{"', '{"ts":"2026-05-28T16:00:00.000Z","', 1))
    assert compose(EVENTS["dispatch-end"], scope, STAMP, {"result": "completed"}).blanks
