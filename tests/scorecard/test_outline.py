"""What happened in a run, in words: the same in every view, and no word of praise."""

import json
import re
import shlex

import pytest

from drive_trace.report.fleet import row_of
from drive_trace.scorecard.render import decided_by, grading, in_short, outline
from drive_trace.scorecard.run_score import RunScore
from drive_trace.text.document import as_markdown, as_text, unmarked
from drive_trace.text.html import as_html
from tests.cli.support import run as command
from tests.scorecard.support import PASSED, card_of, event, graded, run_of
from tests.support.fixtures import trace


def at(minutes: int) -> str:
    return f"2026-05-28T{14 + minutes // 60:02}:{minutes % 60:02}:00.000Z"


def dispatch(name: str, start: int, *ends: int, result: str | None = "completed") -> list[str]:
    """A dispatch with a round up to each of ``ends``."""
    ids = {"dispatch_id": name}
    lines, began = [event("dispatch-start", **ids, dispatch_name=name, ts=at(start))], start
    for number, end in enumerate(ends, 1):
        of = {**ids, "round_id": f"{name}-{number}"}
        is_last = end == ends[-1]
        verdict = "satisfied" if is_last else "another-round-needed"
        lines.append(event("round-start", **of, round_number=number, ts=at(began)))
        lines.append(event("round-end", **of, verdict=verdict, ts=at(end)))
        began = end
    if result is not None:
        lines.append(event("dispatch-end", **ids, result=result, ts=at(ends[-1])))
    return lines


def said(run: RunScore) -> list[str]:
    return [unmarked(each) for each in outline(run)]


HALT = event("falsified-assumption", assumption_summary="The gateway repeats itself", ts=at(70))
SLICE = event("slice-started", slice_slug="one", ts=at(0))


def test_an_outline_says_what_happened_and_names_what_stands_out() -> None:
    rejected = event("round-end", verdict="fine")
    run = run_of(SLICE, *dispatch("D1", 0, 10, 30), HALT, *dispatch("D2", 100, 190), rejected)
    assert said(run) == [
        "2 of 2 dispatches completed in 1 slice over 2h of work (3h 10m by the clock); most time: "
        "D2 (line 9), 1h 30m; 1 dispatch needed another round: D1 (line 2), 2 rounds.",
        "Halted once: “The gateway repeats itself” (line 8).",
        "1 line rejected: 1 round-end.",
    ]
    assert in_short(run) == "halted once · 2 dispatches · 2h work · 1 reworked · 1 rejected"


def test_a_run_of_which_nothing_but_a_grade_is_known_is_told() -> None:
    alone = "Nothing but its grade was recorded: is its run id right?"
    for grades in ([PASSED], [graded("pass", None, None), graded("pass", "pass", None), PASSED]):
        assert said(run_of(*grades)) == [alone]
    with_tokens = said(run_of(event("tokens-recorded"), PASSED))
    assert with_tokens == [alone.replace("grade", "grade and tokens")]
    for other in (SLICE, event("retro-landed"), event("round-end", verdict="fine")):
        assert said(run_of(other, PASSED))[0] == "No dispatch was recorded."


def test_what_did_not_end_or_failed_is_counted_and_waiting_is_no_work() -> None:
    lines = [*dispatch("D1", 0, 10, result=None), *dispatch("D2", 20, 30, result="failed")]
    late = event("dispatch-end", dispatch_id="D3", result="aborted", ts=at(200))
    lines += [*dispatch("D3", 40, 60, result=None), late]
    assert said(run_of(*lines)) == [
        "0 of 3 dispatches completed over 40m of work (3h 20m by the clock); 1 failed: D2 (line 4);"
        " 1 aborted: D3 (line 8); 1 without an end: D1 (line 1); most time: D3 (line 8), 2h 40m "
        "as a whole, 20m of it in rounds."
    ]


def test_of_many_dispatches_that_did_not_end_the_first_are_named() -> None:
    lines = [line for name in "ABCDE" for line in dispatch(name, 0, 1, result=None)]
    assert "5 without an end: A (line 1), B (line 4), C (line 7), …." in said(run_of(*lines))[0]


def test_rounds_that_stopped_or_have_no_valid_end_are_told() -> None:
    lines = dispatch("D1", 0, 10, 30)
    stopped = lines[2].replace("another-round-needed", "stop-condition")
    told = said(run_of(*lines[:2], stopped, lines[3], lines[4].replace("satisfied", "fine")))[0]
    assert "over 10m of work, not counting 1 round without a valid end (" in told
    assert told.endswith("; 1 round ended at a stop condition.")
    alone = [each.replace("satisfied", "fine") for each in dispatch("D2", 0, 10)]
    assert "over 10m of work, with no valid end of a round (" in said(run_of(*alone))[0]


def test_a_grade_that_readers_reject_is_to_be_mended() -> None:
    run = run_of(*dispatch("D1", 0, 10), graded(True, "PASS", "pass"))
    mend = "mend line 5 (see drive-trace check), or record it again"
    assert decided_by(run) == f"No grade counts: {mend}."


def test_time_that_was_recorded_afterwards_is_called_a_claim() -> None:
    lines = [
        event(kind, dispatch_id="D1", dispatch_name="D1", ts=at(0))
        for kind in ("dispatch-start", "dispatch-end")
    ]
    assert "over 28m of work, 28m of it as claimed (0ms by the clock)" in said(run_of(*lines))[0]
    # As it is where the clock of one of the two was wrong.
    lines[0] = lines[0].replace(at(0), "1970-01-01T00:00:00.000Z")
    started, closed = (event(f"project-{each}", ts=at(0)) for each in ("started", "closed"))
    from_1970 = run_of(started.replace(at(0), "1970-01-01T00:00:00.000Z"), *lines, closed, PASSED)
    assert "over 28m of work, 28m of it as claimed; most" in said(from_1970)[0]
    assert from_1970.efficiency is not None
    assert from_1970.efficiency.wall_clock.ms == 1_680_000


def test_the_clock_goes_by_times_wherever_a_merge_put_the_lines() -> None:
    lines = [*dispatch("D1", 10, 20), event("retro-landed", ts=at(300))]
    merged = run_of(*lines, event("project-started", ts=at(0)))
    assert "(5h by the clock)" in said(merged)[0]
    assert row_of(merged, "p", None).clock_ms == 18_000_000


def test_no_time_is_measured_from_a_year_that_is_wrong() -> None:
    began, closed = event("project-started", ts=at(0)), event("project-closed", ts=at(60))
    odd = event("retro-landed", ts="2029-05-28T14:00:00.000Z")
    within = run_of(began, *dispatch("D1", 0, 30), odd, closed, PASSED)
    assert "(1h by the clock)" in said(within)[0]
    began = began.replace("2026", "2023")
    off = run_of(began, *dispatch("D1", 0, 30), closed, PASSED)
    assert "by the clock" not in said(off)[0]
    assert off.efficiency is not None
    assert off.efficiency.wall_clock.ms == 1_680_000  # as the dispatch claims
    assert row_of(off, "p", None).month == "2026-05"


def test_what_a_round_claims_fills_no_more_than_its_dispatch_leaves_open() -> None:
    lines = dispatch("D1", 0, 30, 30, result=None)  # the second round is recorded afterwards
    end = {"dispatch_id": "D1", "result": "completed"}
    for until, told in ((30, "over 30m of work ("), (40, "over 40m of work, 10m of it as claimed")):
        run = run_of(*lines, event("dispatch-end", **end, ts=at(until)))
        assert told in said(run)[0]
    without_an_end = said(run_of(*lines))[0]
    assert "over 51m of work, 21m of it as claimed" in without_an_end


def test_a_run_in_several_files_is_told_once_with_the_files_of_its_lines() -> None:
    first, second = trace(*dispatch("D1", 0, 10)), trace(HALT, *dispatch("D2", 20, 100))
    (run,) = card_of(first, second).runs
    work, halts = said(run)
    assert work.startswith("2 of 2 dispatches completed over 1h 30m of work (1h 40m by the clock)")
    assert "D2 (line 2 of b.jsonl)" in work
    assert halts == "Halted once: “The gateway repeats itself” (line 1 of b.jsonl)."


def test_many_halts_are_cut_and_one_without_a_reason_says_so() -> None:
    halts = [event("falsified-assumption", assumption_summary=None, ts=at(n)) for n in range(30)]
    (told,) = said(run_of(*halts))[1:]
    assert told.startswith("Halted 30 times: no reason recorded (line 1); ")
    assert told.endswith("; and 25 more.")


@pytest.mark.parametrize(
    ("grade", "gates", "judges"),
    [
        ([], True, True),
        ([graded("pass", None, "pass")], True, False),
        ([graded("pass", "pass", None)], False, True),
        ([PASSED], False, False),
        ([graded("fail", "pass", "pass")], False, False),
    ],
)
def test_the_commands_are_those_for_what_the_grade_lacks(
    grade: list[str], gates: bool, judges: bool
) -> None:
    told = [*grading(run_of(*dispatch("D1", 0, 10), *grade))]
    asked = as_text(told)
    where = "--trace-file a.jsonl --project-run-id checkout-retry"
    assert (f"drive-trace gate {where} --component " in asked) == gates
    assert (f"drive-trace judge {where} --acceptance" in asked) == judges
    assert (told == []) == (not gates and not judges)


def test_the_commands_can_be_copied_and_run_once_their_names_are_filled_in() -> None:
    (run,) = card_of(trace(event("dispatch-start", run="shop"))).runs
    told = [*grading(run)]
    commands = [each.strip() for each in as_text(told).splitlines()[1:]]
    assert [each.split()[1] for each in commands] == ["gate", "gate", "judge"]
    assert "\n".join(["```", *commands, "```"]) in as_markdown(told)
    assert "".join(["<pre>", *(f"{each}\n" for each in commands), "</pre>"]) in as_html(told)
    filled = commands[-1].replace("PROVIDER", "openai").replace("FAMILY", "claude")
    filled = filled.replace("--model ID", "--model gpt-5.5")
    # The command line finds nothing missing: it is the file that is not there.
    ended = command(*shlex.split(filled)[1:])
    assert "no such file" in ended.err.lower(), ended.err
    assert "Usage" not in ended.err


def test_a_command_for_a_hostile_run_is_one_word_to_a_shell() -> None:
    (run,) = card_of(trace(event("dispatch-start", run="x; rm -rf / '"))).runs
    assert """--project-run-id 'x; rm -rf / '"'"''""" in as_text(grading(run))


def test_no_word_praises() -> None:
    words = json.dumps([*said(run_of(*dispatch("D1", 0, 10), PASSED))])
    assert not re.search(r"\b(good|well|great|success|clean|fast|only|just)", words)
