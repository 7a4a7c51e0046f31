"""What is said of durations: once a run, and nothing where the timestamps tell nothing."""

from drive_trace.analysis import Analysis
from drive_trace.trace.line import name_of
from tests.cli.support import run
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


def test_each_wrong_duration_counts_in_one_finding_of_the_run() -> None:
    assert found(of_rounds(20, whole=20)) == ["exceeds on round-end", "exceeds on dispatch-end"]
    assert found(of_rounds(5, whole=10)) == ["below on round-end"]
    assert found(of_rounds(20, whole=5)) == ["exceeds on round-end", "below on dispatch-end"]
    told = Analysis(of_rounds(20, 20, 10, whole=20)).told()
    exceeding = [each for each in told if "exceeds-timestamps" in each.finding.rule.code]
    assert [len(each.places) for each in exceeding] == [2]


def test_durations_of_a_run_are_one_finding_whichever_way_they_are_off() -> None:
    text, options = of_rounds(5, 20, 5, whole=10), ("--select", "wall-*", "--output-format", "json")
    longer, shorter = "wall-clock-exceeds-timestamps", "wall-clock-below-timestamps"
    # The more severe one tells both; alone, the other one tells its own.
    for ignored, code, severity, lines, message in (
        ("blank-line", longer, "warning", [5, 3, 7], "3 of 4 durations are off, 1 too long and 2"),
        (longer, shorter, "information", [3, 7], "2 of 4 durations are off, all too short: 5m cl"),
    ):
        (told,) = run("check", "-", *options, "--ignore", ignored, stdin=text).json
        assert (told["code"], told["severity"]) == (code, severity)
        assert [each["line"] for each in (told, *told["places"])] == lines
        assert told["message"].startswith(message)
        assert {each["code"] for each in told["places"]} == {shorter}
    counts = run("check", "-", "--statistics", *options, stdin=text).json
    assert {each["code"]: each["count"] for each in counts} == {shorter: 2, longer: 1}


def test_what_was_recorded_afterwards_is_one_finding_a_run_and_nothing_replaces_the_claim() -> None:
    lines = of_rounds(30, whole=31).replace(END, START).splitlines()
    other = [line.replace("checkout-retry", "cart") for line in lines]
    analysis = Analysis("\n".join([*lines, *other]))
    told = [each.finding for each in analysis.told()]
    findings = [each for each in told if each.rule.code == "recorded-afterwards"]
    assert [analysis.line_number(each.line) for each in findings] == [3, 7]
    assert {analysis.message(each.message) for each in findings} == {
        "recorded afterwards: start and end lie 0ms apart, so the claim cannot be checked, "
        "and at 1 more place"
    }
    assert not any(analysis.fixes(each) for each in findings)
    assert not found(analysis.document.text)


def offered(start: str, end: str, claimed_ms: int, *after: str) -> list[str]:
    """What is offered for the duration of a dispatch."""
    claim = f'"wall_clock_ms":{claimed_ms}'
    ends = (event("dispatch-start", start), event("dispatch-end", end, claim))
    found = Analysis(trace(*ends, *after))
    fixes = (found.fixes(each) for each in found.findings() if "wall-clock" in each.rule.code)
    return [fix.title for some in fixes for fix in some]


def test_a_time_that_cannot_have_passed_replaces_no_claim() -> None:
    claimed, end = 1_680_000, "2026-05-28T14:40:00.000Z"
    assert offered(START, end, claimed) == ["Replace with 2400000, as the timestamps say"]
    # A clock that was wrong: by years, and by a day.
    assert not offered("1990-05-28T14:00:00.054Z", END, claimed)
    assert not offered(START, "2026-05-29T15:12:00.000Z", claimed)
    # A local time that is marked as UTC: two hours more, and five and a half.
    assert not offered(START, "2026-05-28T16:28:01.000Z", claimed)
    assert not offered(START, "2026-05-28T19:57:59.000Z", claimed)
    # What comes next says that the end was earlier.
    assert not offered(START, end, claimed, event("slice-started", END))


def test_what_lies_more_than_a_day_apart_fills_in_no_duration() -> None:
    text = trace(event("round-start", START), event("round-end", END, '"wall_clock_ms":null'))
    for end, is_known in ((END, True), ("2026-05-29T14:10:00.000Z", False)):
        found = Analysis(text.replace(END, end))
        assert any(found.fixes(each) for each in found.findings()) is is_known
