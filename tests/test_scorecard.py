"""The two-tier scorecard: who is judged by what, what it cost, and how it is said."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from itertools import product
from typing import Any

import pytest

from drive_trace.api import Analysis, summarize_text
from drive_trace.scorecard.card import (
    RunScore,
    ScoreCard,
    as_double,
    rejected_phrase,
    score,
    to_json,
)
from drive_trace.scorecard.efficiency import milliseconds_between
from drive_trace.scorecard.render import (
    brief,
    card_markdown,
    compact,
    duration,
    lens_title,
    markdown,
    run_page,
    text,
)
from drive_trace.scorecard.summary import Rejected
from drive_trace.scorecard.verdict import Verdict, headline, what_would_change_it
from tests.support.fixtures import dumps, trace
from tests.support.snapshots import Snapshots, stored

COMPONENTS = ("mechanical", "qa", "intent")
TRIPLES = list(product(("pass", "fail", None), repeat=3))
TOKENS = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")


def event(event_type: str, run: str = "checkout-retry", **fields: object) -> str:
    """An event in short: the vocabulary's example with fields changed."""
    pairs = {"event_type": event_type, "project_run_id": run, **fields}
    return "EVENT" + dumps(pairs)


def graded(mechanical: object, qa: object, intent: object, **fields: Any) -> str:
    return event("correctness-recorded", mechanical=mechanical, qa=qa, intent=intent, **fields)


def card_of(*traces: str) -> ScoreCard:
    """The card of traces called a.jsonl, b.jsonl, …; each way of reading them must agree."""
    paths = [f"{chr(ord('a') + number)}.jsonl" for number in range(len(traces))]
    card = score([summarize_text(each, path) for each, path in zip(traces, paths, strict=True)])
    slowly = score([Analysis(each).summary(path) for each, path in zip(traces, paths, strict=True)])
    assert card == slowly
    return card


def run_of(*lines: str) -> RunScore:
    """The one run of a trace of these events."""
    (run,) = card_of(trace(*lines)).runs
    assert Analysis(trace(*lines)).score_run(run.run_id, "a.jsonl") == run
    return run


PASSED = graded("pass", "pass", "pass")


# Tier 1


@pytest.mark.parametrize("triple", TRIPLES)
def test_the_verdict_of_every_triple(triple: tuple[str | None, ...]) -> None:
    gate = run_of(graded(*triple)).gate
    values = dict(zip(COMPONENTS, triple, strict=True))
    assert gate.missing == tuple(name for name in COMPONENTS if values[name] is None)
    assert gate.failed == tuple(name for name in COMPONENTS if values[name] == "fail")
    if None in triple:
        assert gate.verdict is Verdict.NOT_COMPUTABLE
        assert headline(gate) == f"not computable — missing: {', '.join(gate.missing)}"
    elif "fail" in triple:
        assert gate.verdict is Verdict.INCORRECT
        assert headline(gate) == f"INCORRECT — {', '.join(gate.failed)} failed"
    else:
        assert gate.verdict is Verdict.CORRECT
        assert headline(gate) == "CORRECT"


def test_without_a_correctness_event_the_signal_itself_is_missing() -> None:
    gate = run_of(event("project-started"), event("tokens-recorded")).gate
    assert gate.verdict is Verdict.NOT_COMPUTABLE
    assert headline(gate) == "not computable — missing: external correctness signal"


@pytest.mark.parametrize(
    ("triple", "sentence"),
    [
        (
            ("pass", "pass", "pass"),
            "A later correctness-recorded with a fail or a null in it would change the verdict.",
        ),
        (
            ("pass", "fail", "pass"),
            "It becomes CORRECT only when qa is recorded again as pass, "
            "with the other components repeated.",
        ),
        (
            ("fail", "fail", "pass"),
            "It becomes CORRECT only when mechanical and qa are recorded again as pass, "
            "with the other components repeated.",
        ),
        (
            ("fail", "fail", "fail"),
            "It becomes CORRECT only when mechanical, qa and intent are recorded again as pass.",
        ),
        (
            ("pass", "pass", None),
            "It becomes CORRECT when intent is recorded as pass, and INCORRECT on a fail; "
            "the other components must be repeated.",
        ),
        (
            (None, "pass", None),
            "It becomes CORRECT when mechanical and intent are recorded as pass, and INCORRECT "
            "on a fail; the other components must be repeated.",
        ),
        (
            (None, None, None),
            "It becomes CORRECT when mechanical, qa and intent are recorded as pass, "
            "and INCORRECT on a fail.",
        ),
        (
            ("pass", "fail", None),
            "Recording intent alone cannot make it CORRECT: qa failed, and must be recorded again.",
        ),
        (
            ("fail", None, None),
            "Recording qa and intent alone cannot make it CORRECT: mechanical failed, "
            "and must be recorded again.",
        ),
        (
            ("fail", "fail", None),
            "Recording intent alone cannot make it CORRECT: mechanical and qa failed, "
            "and must be recorded again.",
        ),
    ],
)
def test_what_would_change_the_verdict(triple: tuple[str | None, ...], sentence: str) -> None:
    run = run_of(graded(*triple))
    assert what_would_change_it(run.gate) == sentence
    assert sentence in card_markdown(run)


def test_what_would_give_an_ungraded_run_a_verdict() -> None:
    said = what_would_change_it(run_of(event("project-started")).gate)
    assert said == "Record mechanical, qa and intent: the run is CORRECT when all three pass."


@pytest.mark.parametrize("triple", TRIPLES)
def test_what_would_change_the_verdict_does_change_it(triple: tuple[str | None, ...]) -> None:
    before = run_of(graded(*triple)).gate
    named = set(re.findall("mechanical|qa|intent", what_would_change_it(before)))
    if before.verdict is not Verdict.CORRECT:
        assert named == {*before.missing, *before.failed}
        mended = ["pass" if name in named else old for name, old in zip(COMPONENTS, triple)]  # noqa: B905
        assert run_of(graded(*mended)).gate.verdict is Verdict.CORRECT


# The event that counts


def test_the_last_event_of_a_file_counts_as_a_whole() -> None:
    run = run_of(
        graded("pass", "pass", "pass", ts="2026-05-28T18:00:00.000Z"),
        event("tokens-recorded", input_tokens=10, output_tokens=20),
        event("tokens-recorded", input_tokens=None, output_tokens=5),
        graded(None, "fail", None, ts="2026-05-28T09:00:00.000Z"),
    )
    assert headline(run.gate) == "not computable — missing: mechanical, intent"
    assert run.correctness is not None
    assert run.correctness.line == 4
    assert run.tokens is not None
    assert (run.tokens.values["input_tokens"], run.tokens.values["output_tokens"]) == (None, 5)


def test_a_rejected_or_unknown_line_replaces_nothing() -> None:
    run = run_of(
        PASSED,
        graded("pass", "failed", "pass"),
        graded("pass", "fail", "pass", schema_version="2"),
        event("correctness-recorde", mechanical="fail", qa="fail", intent="fail"),
    )
    assert run.gate.verdict is Verdict.CORRECT
    assert [rejected.line for rejected in run.rejected] == [2, 3]


def test_runs_come_in_first_seen_order_and_are_judged_apart() -> None:
    card = card_of(
        trace(
            event("project-started", run="b"),
            graded("pass", "pass", "pass", run="a"),
            graded("pass", "fail", "pass", run="b"),
            event("project-started", run="c"),
        )
    )
    assert [(run.run_id, str(run.gate.verdict)) for run in card.runs] == [
        ("b", "incorrect"),
        ("a", "correct"),
        ("c", "not-computable"),
    ]


@pytest.mark.parametrize(
    ("first", "second", "verdict"),
    [
        ("2026-05-28T15:00:00.000Z", "2026-05-28T14:00:00.000Z", Verdict.INCORRECT),
        ("2026-05-28T14:00:00.000Z", "2026-05-28T15:00:00.000Z", Verdict.CORRECT),
        ("2026-05-28T14:00:00.000Z", "2026-05-28T14:00:00.000Z", Verdict.CORRECT),
    ],
)
def test_between_files_the_latest_counts_and_on_a_tie_the_later_file(
    first: str, second: str, verdict: Verdict
) -> None:
    card = card_of(
        trace(graded("pass", "fail", "pass", ts=first)),
        trace(event("project-started"), graded("pass", "pass", "pass", ts=second)),
    )
    (run,) = card.runs
    assert run.gate.verdict is verdict
    assert run.correctness is not None
    where = ("a.jsonl", 1) if verdict is Verdict.INCORRECT else ("b.jsonl", 2)
    assert (run.correctness.path, run.correctness.line) == where
    assert [part.path for part in run.parts] == ["a.jsonl", "b.jsonl"]


def test_within_a_file_the_last_counts_before_files_are_compared() -> None:
    card = card_of(
        trace(
            graded("pass", "fail", "pass", ts="2026-05-28T20:00:00.000Z"),
            graded("pass", None, "pass", ts="2026-05-28T10:00:00.000Z"),
        ),
        trace(graded("pass", "pass", "pass", ts="2026-05-28T11:00:00.000Z")),
    )
    assert card.runs[0].gate.verdict is Verdict.CORRECT


def test_the_two_feeds_may_come_from_different_files() -> None:
    card = card_of(trace(event("tokens-recorded", input_tokens=7)), trace(PASSED))
    (run,) = card.runs
    assert run.efficiency is not None
    assert run.efficiency.tokens["input_tokens"] == 7


# Tier 2


def test_a_run_that_is_not_correct_has_no_efficiency() -> None:
    for grade in ([graded("pass", "fail", "pass")], [graded("pass", None, "pass")], []):
        run = run_of(event("tokens-recorded"), *grade)
        assert run.efficiency is None
        for said in (lens_title(run), card_markdown(run), run_page(run), text(card_of_run(run))):
            assert "1,912,408" not in said
            assert "1.9M" not in said


def card_of_run(run: RunScore) -> ScoreCard:
    return ScoreCard((run,), ())


def test_wall_clock_is_from_the_first_start_to_the_first_close() -> None:
    run = run_of(
        event("project-started", ts="2026-05-28T14:00:00.000Z"),
        event("project-started", ts="2026-05-28T14:10:00.000Z"),
        event("dispatch-end", wall_clock_ms=5),
        event("project-closed", ts="2026-05-28T14:30:00.250Z"),
        event("project-closed", ts="2026-05-28T19:00:00.000Z"),
        PASSED,
    )
    assert run.measured.wall_clock_ms == 30 * 60_000 + 250


@pytest.mark.parametrize(
    "lines",
    [
        (event("project-started"),),
        (event("project-closed"),),
        (event("project-started", ts="yesterday"), event("project-closed")),
        (event("project-started"), event("project-closed", ts="2026-13-45T99:00:00Z")),
        (),
    ],
)
def test_without_both_ends_it_is_the_sum_of_the_dispatches(lines: tuple[str, ...]) -> None:
    ends = (event("dispatch-end", wall_clock_ms=1500), event("dispatch-end", wall_clock_ms=5e2))
    assert run_of(*lines, *ends).measured.wall_clock_ms == 2000
    assert run_of(*lines, PASSED).measured.wall_clock_ms is None


@pytest.mark.parametrize(
    ("start", "end", "milliseconds"),
    [
        ("2026-05-28T14:00:00.000Z", "2026-05-28T14:00:00.001Z", 1),
        ("2026-05-28T14:00:00Z", "2026-05-28T16:00:00+02:00", 0),
        ("2026-05-28T14:00:01.000Z", "2026-05-28T14:00:00.000Z", -1000),
        ("2026-05-28T14:00:00.0009Z", "2026-05-28T14:00:00.001Z", 1),
        ("2026-05-28T14:00:00.000Z", "soon", None),
        ("", "2026-05-28T14:00:00.000Z", None),
    ],
)
def test_durations(start: str, end: str, milliseconds: int | None) -> None:
    assert milliseconds_between(start, end) == milliseconds


def test_rework_is_the_mean_of_rounds_over_the_dispatches_that_had_one() -> None:
    run = run_of(
        event("dispatch-start", dispatch_id="d-1"),
        event("dispatch-start", dispatch_id="d-2"),
        event("dispatch-start", dispatch_id="d-without-rounds"),
        event("round-start", dispatch_id="d-1"),
        event("round-start", dispatch_id="d-1", round_number=2),
        event("round-start", dispatch_id="d-2"),
        PASSED,
    )
    assert run.measured.rounds_per_dispatch == 1.5
    assert run_of(event("dispatch-start"), PASSED).measured.rounds_per_dispatch is None


def test_a_run_is_measured_by_its_own_events() -> None:
    card = card_of(
        trace(
            event("project-started", run="other", ts="2026-05-28T01:00:00.000Z"),
            event("round-start", run="other", dispatch_id="d-9"),
            event("round-start", run="other", dispatch_id="d-9", round_number=2),
            event("dispatch-end", run="other", wall_clock_ms=99),
            event("project-closed", run="other", ts="2026-05-28T23:00:00.000Z"),
            event("round-start", dispatch_id="d-1"),
            event("dispatch-end", dispatch_id="d-1", wall_clock_ms=1),
            PASSED,
        )
    )
    assert card.correct == (card.runs[1],)
    assert card.efficiency is not None
    for measured in (card.runs[1].measured, card.efficiency):
        assert measured.wall_clock_ms == 1
        assert measured.rounds_per_dispatch == 1


def test_a_run_in_several_files_is_measured_over_all_of_them() -> None:
    card = card_of(
        trace(
            event("project-started", ts="2026-05-28T14:00:00.000Z"),
            event("round-start", dispatch_id="d-1"),
            event("round-start", dispatch_id="d-2"),
        ),
        trace(
            event("round-start", dispatch_id="d-1", round_number=2),
            event("project-closed", ts="2026-05-28T14:01:00.000Z"),
            PASSED,
        ),
    )
    assert card.runs[0].measured.wall_clock_ms == 60_000
    assert card.runs[0].measured.rounds_per_dispatch == 1.5


def test_dispatches_of_several_files_add_up() -> None:
    card = card_of(
        trace(event("dispatch-end", wall_clock_ms=1)),
        trace(event("dispatch-end", wall_clock_ms=2)),
        trace(PASSED),
    )
    assert card.runs[0].measured.wall_clock_ms == 3


def test_tokens_are_summed_over_correct_runs_and_null_stays_null() -> None:
    card = card_of(
        trace(
            *(
                event("tokens-recorded", run=run, input_tokens=read, cache_write_tokens=None)
                for run, read in (("a", 1), ("b", 20), ("wrong", 300), ("ungraded", 4000))
            ),
            graded("pass", "pass", "pass", run="a"),
            graded("pass", "pass", "pass", run="b"),
            graded("pass", "pass", "pass", run="no tokens"),
            graded("pass", "fail", "pass", run="wrong"),
        )
    )
    assert [run.run_id for run in card.correct] == ["a", "b", "no tokens"]
    assert card.correct_tokens["input_tokens"] == 21
    assert card.correct_tokens["cache_write_tokens"] is None


def test_zero_is_a_figure_and_missing_is_none() -> None:
    run = run_of(event("tokens-recorded", input_tokens=0, output_tokens=None), PASSED)
    assert run.efficiency is not None
    assert brief(run.efficiency) == "0 in"
    said = card_markdown(run)
    assert "| input tokens | 0 |" in said
    assert "| output tokens | n/a (no signal) |" in said


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        ([event("tokens-recorded")], "no correctness signal was recorded"),
        ([graded("pass", None, "pass")], "no run was graded CORRECT"),
        (
            [graded("pass", "fail", "pass"), event("project-closed", run="b")],
            "no run was graded CORRECT",
        ),
        ([PASSED, event("project-closed", run="b")], None),
    ],
)
def test_why_there_is_no_tier_2(lines: list[str], reason: str | None) -> None:
    card = card_of(trace(*lines))
    assert card.hidden_reason == reason
    assert (card.efficiency is None) == (reason is not None)
    assert to_json(card)["efficiency_hidden"] == reason
    if reason:
        assert f"Efficiency hidden: {reason}." in text(card)
        assert f"- Efficiency hidden: {reason}." in markdown(card)


# Rejected lines


@pytest.mark.parametrize(
    ("rejected", "phrase"),
    [
        ([], None),
        ([(12, "correctness-recorded")], "1 correctness line rejected (line 12), not counted"),
        (
            [(3, "correctness-recorded"), (9, "correctness-recorded")],
            "2 correctness lines rejected (lines 3, 9), not counted",
        ),
        ([(3, "tokens-recorded")], "1 token line rejected (line 3), not counted"),
        ([(3, "round-start")], "1 line rejected (line 3), not counted"),
        ([(3, None), (4, "x")], "2 lines rejected (lines 3, 4), not counted"),
        (
            [(1, None), (2, "tokens-recorded"), (3, "correctness-recorded")],
            "1 correctness line rejected (line 3), 1 token line rejected (line 2), "
            "1 other line rejected (line 1), not counted",
        ),
        (
            [(line, "dispatch-end") for line in range(1, 8)],
            "7 lines rejected (lines 1, 2, 3 and 4 more), not counted",
        ),
    ],
)
def test_what_was_rejected(rejected: list[tuple[int, str | None]], phrase: str | None) -> None:
    assert rejected_phrase([Rejected(*each) for each in rejected]) == phrase


def test_a_rejected_line_is_said_wherever_the_verdict_is() -> None:
    lines = (PASSED, graded("pass", "failed", "pass"))
    card, run = card_of(trace(*lines)), run_of(*lines)
    phrase = "1 correctness line rejected (line 2), not counted"
    for said in (lens_title(run), card_markdown(run), run_page(run), text(card), markdown(card)):
        assert said.index("CORRECT") < said.index(phrase)
    (shown,) = json_of(card)["runs"]
    assert shown["rejected_lines"] == [2]


def test_a_rejected_line_says_in_which_file_it_stands() -> None:
    card = card_of(trace(PASSED), trace(event("round-start"), graded("pass", "failed", "pass")))
    phrase = "1 correctness line rejected (line 2), not counted"
    assert f"  b.jsonl: {phrase}\n" in text(card)
    assert f"⚠ `b.jsonl`: {phrase}." in markdown(card)
    assert [each["rejected_lines"] for each in json_of(card)["runs"][0]["files"]] == [[], [2]]


def test_a_rejected_line_of_a_run_that_stands_in_another_file_is_said_of_that_run() -> None:
    card = card_of(trace(PASSED), trace(graded("pass", "failed", "pass"), "no json"))
    (run,) = card.runs
    assert headline(run.gate) == "CORRECT"
    assert "1 correctness line rejected (line 1), not counted" in lens_title(run)
    assert "  b.jsonl: 1 correctness line rejected (line 1), not counted\n" in text(card)
    assert "b.jsonl, in no known run: 1 line rejected (line 2), not counted." in text(card)
    shown = json_of(card)
    assert shown["runs"][0]["rejected_lines"] == [1]
    assert shown["runs"][0]["files"][1] == {
        "path": "b.jsonl",
        "first_line": 1,
        "events": 0,
        "rejected_lines": [1],
    }
    assert [each["rejected_lines"] for each in shown["files"]] == [[], [2]]


def test_a_rejected_line_does_not_change_the_order_of_runs() -> None:
    card = card_of(
        trace(event("correctness-recorded", run="b", qa="failed"), event("round-start", run="a")),
        trace(event("round-start", run="b")),
    )
    assert [run.run_id for run in card.runs] == ["a", "b"]
    assert [part.path for part in card.runs[1].parts] == ["a.jsonl", "b.jsonl"]


def test_a_rejected_line_of_no_run_is_said_of_its_file() -> None:
    card = card_of(trace(PASSED, "no json", graded("pass", "passed", "pass", run="gone")))
    assert card.runs[0].rejected == ()
    phrase = "1 correctness line rejected (line 3), 1 other line rejected (line 2), not counted"
    assert f"a.jsonl, in no known run: {phrase}." in text(card)
    assert f"- `a.jsonl`, in no known run: {phrase}." in markdown(card)
    assert json_of(card)["files"][0]["rejected_lines"] == [2, 3]


# In words


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (0, "0"),
        (7, "7"),
        (999, "999"),
        (1000, "1.0k"),
        (1049, "1.0k"),
        (9_949, "9.9k"),
        (9_950, "10k"),
        (42_117, "42k"),
        (999_499, "999k"),
        (999_500, "1.0M"),
        (1_912_408, "1.9M"),
        (999_999_999, "1.0G"),
        (1_234_567_890_123, "1,235G"),
    ],
)
def test_compact_numbers(number: int, said: str) -> None:
    assert compact(number) == said


@pytest.mark.parametrize(
    ("milliseconds", "said"),
    [
        (0, "0ms"),
        (999, "999ms"),
        (1000, "1s"),
        (59_999, "59s"),
        (60_000, "1m"),
        (1_700_000, "28m"),
        (3_599_999, "59m"),
        (3_600_000, "1h 00m"),
        (3_900_000, "1h 05m"),
        (86_399_999, "23h 59m"),
        (183_600_000, "2d 3h"),
        (-1_700_000, "−28m"),
    ],
)
def test_durations_in_short(milliseconds: int, said: str) -> None:
    assert duration(milliseconds) == said


EXAMPLES: Mapping[str, tuple[str, ...]] = {
    "all-verdicts": (
        trace(
            event("project-started", ts="2026-05-28T14:00:00.000Z"),
            event("round-start", dispatch_id="d-1"),
            event("round-start", dispatch_id="d-1", round_number=2),
            event("round-start", dispatch_id="d-2"),
            event("project-closed", ts="2026-05-28T14:28:40.000Z"),
            event("tokens-recorded"),
            PASSED,
            event("project-started", run="search-index"),
            graded("pass", "fail", "pass", run="search-index"),
            graded("pass", "failed", "pass", run="search-index"),
            event("dispatch-end", run="orphan-flaky-test"),
            event("dispatch-end", run="direct-2026-05-28T14:00:00.000Z"),
            graded("fail", None, None, run="direct-2026-05-28T14:00:00.000Z"),
        ),
    ),
    "joined-files": (
        trace(event("project-started"), graded("pass", None, None, ts="2026-05-28T14:00:00.000Z")),
        trace(graded("pass", "fail", "pass", ts="2026-05-28T15:00:00.000Z"), "{"),
        trace(graded("pass", "failed", "pass"), event("tool-called")),
    ),
    "no-events": (trace("[]"),),
    "many-rejected-lines": (
        trace(
            PASSED,
            *[graded("pass", "failed", "pass")] * 12,
            *[event("tokens-recorded", input_tokens=-1)] * 11,
            *[event("dispatch-end", wall_clock_ms=None)] * 9,
        ),
    ),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_card_in_text_markdown_and_json(name: str, snapshots: Snapshots) -> None:
    card = card_of(*EXAMPLES[name])
    snapshots.check(f"scorecard/{name}.txt", text(card) + "\n")
    snapshots.check(f"scorecard/{name}.md", markdown(card) + "\n")
    snapshots.check(f"scorecard/{name}.json", json.dumps(to_json(card), indent=2) + "\n")


def test_no_snapshot_is_left_over() -> None:
    assert stored("scorecard") == {*EXAMPLES, "run-page"}


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_terminal_of_eighty_columns_is_wide_enough(name: str) -> None:
    assert max(map(len, text(card_of(*EXAMPLES[name])).split("\n"))) <= 80


@pytest.mark.parametrize("triple", TRIPLES)
def test_every_verdict_fits_into_eighty_columns(triple: tuple[str | None, ...]) -> None:
    card = card_of(trace(graded(*triple), event("tokens-recorded")))
    assert max(map(len, text(card).split("\n"))) <= 80


def test_a_page_of_a_run_stands_by_itself(snapshots: Snapshots) -> None:
    (run,) = card_of(*EXAMPLES["joined-files"]).runs
    page = run_page(run)
    assert page.startswith("# INCORRECT — qa failed\n")
    snapshots.check("scorecard/run-page.md", page)


HOSTILE = [
    "\x1b[2J\x1b[31mred\x1b]0;title\x07",
    "two\nlines\r\x0b\x85\u2028",
    "\u202ereversed\u2069\u200b",
    "\ud800",
    "\x9b31m\x00",
    "`code` **bold** <b>html</b> | [link](x)",
]


@pytest.mark.parametrize("run_id", HOSTILE, ids=range(len(HOSTILE)))
def test_a_terminal_obeys_no_run_id(run_id: str) -> None:
    written = json.dumps(run_id)
    lines = event("correctness-recorded", run="NAME").replace('"NAME"', written)
    plain = text(card_of(trace(event("correctness-recorded", run="NAME"))))
    said = text(card_of(trace(lines)))
    assert all(line.isprintable() for line in said.split("\n"))
    assert said.split("\n")[1:] == plain.split("\n")[1:]


@pytest.mark.parametrize("run_id", HOSTILE, ids=range(len(HOSTILE)))
def test_markdown_shows_a_run_id_and_a_path_as_code(run_id: str) -> None:
    lines = event("correctness-recorded", run="NAME").replace('"NAME"', json.dumps(run_id))
    given = trace(lines, "{}")
    card = score([summarize_text(given, run_id), summarize_text(given, "other")])
    for said in (markdown(card), run_page(card.runs[0])):
        outside = re.sub(r"(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)", "", said)
        assert all(line.isprintable() for line in said.split("\n"))
        for mark in ("`", "<b>", "**bold**", "[link]"):
            assert mark not in outside


# As JSON


def json_of(card: ScoreCard) -> Any:
    """The card as a program reads it."""
    return json.loads(json.dumps(to_json(card)))


def test_the_keys_of_the_interface() -> None:
    card = card_of(
        trace(event("tokens-recorded", input_tokens=5), graded("pass", "fail", None)),
        trace(graded("pass", "pass", "pass", run="b")),
    )
    shown = json_of(card)
    first, second = shown["runs"]
    assert first["run_id"] == "checkout-retry"
    assert first["verdict"] == "not-computable"
    assert first["missing_inputs"] == ["intent"]
    assert first["correctness"] == {"mechanical": "pass", "qa": "fail", "intent": None}
    assert first["tokens"]["input_tokens"] == 5
    assert first["efficiency"] is None
    assert first["decided_by"] == {"path": "a.jsonl", "line": 2}
    assert second["tokens"] is None
    assert shown["correct_run_ids"] == ["b"]
    assert shown["correct_tokens"] == dict.fromkeys(TOKENS)
    assert shown["has_any_correctness_signal"] is True


def test_a_trace_that_nobody_graded_has_no_signal() -> None:
    shown = json_of(card_of(trace(event("project-started"))))
    assert shown["has_any_correctness_signal"] is False
    assert shown["runs"][0]["correctness"] is None
    assert shown["runs"][0]["missing_inputs"] == ["external correctness signal"]


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("5.0", "5"),
        ("5e2", "500"),
        ("9007199254740992", "9007199254740992"),
        ("9007199254740993", "9007199254740992"),
        ("123456789012345678901", "123456789012345680000"),
        ("999999999999999999999", "1e+21"),
        ("1" + "0" * 300, "1e+300"),
        ("17976931348623157" + "0" * 292, "1.7976931348623157e+308"),
    ],
)
def test_numbers_are_written_as_javascript_writes_them(written: str, shown: str) -> None:
    line = f'EVENT{{"event_type":"tokens-recorded","input_tokens":{written}}}'
    said = json.dumps(to_json(card_of(trace(line, PASSED))))
    assert said.count(f'"input_tokens": {shown},') == 4


def test_a_sum_too_large_for_a_double_is_null() -> None:
    largest = 17976931348623157 * 10**292
    assert as_double(largest) == float(largest)
    assert as_double(2 * largest) is None
    runs = [
        line
        for run in ("a", "b")
        for line in (
            event("tokens-recorded", run=run, input_tokens=largest),
            graded("pass", "pass", "pass", run=run),
        )
    ]
    card = card_of(trace(*runs))
    assert json_of(card)["correct_tokens"]["input_tokens"] is None
    assert text(card)
    assert markdown(card)
