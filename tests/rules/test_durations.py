"""What is said of durations: once a dispatch, and nothing where the timestamps tell nothing."""

from __future__ import annotations

from drive_trace.analysis import Analysis
from drive_trace.linter.entities import MOST
from drive_trace.trace.line import name_of
from tests.support.fixtures import trace

START, END = "2026-05-28T14:00:00.000Z", "2026-05-28T14:10:00.000Z"


def event(name: str, ts: str, *pairs: str) -> str:
    return "EVENT{" + ",".join((f'"event_type":"{name}","ts":"{ts}"', *pairs)) + "}"


def of_rounds(*claims: int, whole: int) -> str:
    """A dispatch of ten minutes with rounds of ten minutes each, which claim so many minutes."""
    lines = [event("dispatch-start", START)]
    for number, claim in enumerate(claims, 1):
        round_id = f'"round_id":"R{number}"'
        lines += [
            event("round-start", START, round_id, f'"round_number":{number}'),
            event("round-end", END, round_id, f'"wall_clock_ms":{claim * 60_000}'),
        ]
    return trace(*lines, event("dispatch-end", END, f'"wall_clock_ms":{whole * 60_000}'))


def found(text: str) -> list[str]:
    return [
        f"{each.rule.code.split('-')[2]} on {name_of(each.line)}"
        for each in Analysis(text).findings()
        if each.rule.code.startswith("wall-clock")
    ]


def test_of_one_round_the_round_speaks_for_its_dispatch() -> None:
    assert found(of_rounds(20, whole=20)) == ["exceeds on round-end"]
    assert found(of_rounds(5, whole=5)) == ["below on round-end"]
    assert found(of_rounds(10, whole=20)) == ["exceeds on dispatch-end"]
    assert found(of_rounds(20, whole=10)) == ["exceeds on round-end"]


def test_of_several_rounds_the_dispatch_speaks_for_them() -> None:
    assert found(of_rounds(20, 20, whole=20)) == ["exceeds on dispatch-end"]
    assert found(of_rounds(20, 10, whole=10)) == ["exceeds on round-end"]


def test_what_is_wrong_in_another_way_is_said_as_well() -> None:
    assert found(of_rounds(20, whole=5)) == ["exceeds on round-end", "below on dispatch-end"]


def test_a_dispatch_does_not_speak_for_very_many_rounds() -> None:
    rounds = [20] * MOST
    assert found(of_rounds(*rounds, whole=20)) == ["exceeds on dispatch-end"]
    assert len(found(of_rounds(20, *rounds, whole=20))) == MOST + 2


def test_what_was_recorded_afterwards_is_one_finding_a_run_and_nothing_replaces_the_claim() -> None:
    lines = of_rounds(30, whole=31).replace(END, START).splitlines()
    other = [line.replace("checkout-retry", "cart") for line in lines]
    analysis = Analysis("\n".join([*lines, *other]))
    findings = [each for each in analysis.findings() if each.rule.code == "recorded-afterwards"]
    assert [analysis.line_number(each.line) for each in findings] == [3, 7]
    assert {analysis.message(each.message) for each in findings} == {
        "recorded afterwards: start and end lie 0 ms apart, so the claim cannot be checked; "
        "so it is with 1 more end of this run"
    }
    assert not any(analysis.fixes(each) for each in findings)
    assert not found(analysis.document.text)
