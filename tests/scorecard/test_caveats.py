"""Caveats: what takes the green away from a CORRECT, and what does not."""

from pathlib import Path
from typing import Any

import pytest

from drive_trace.scorecard.caveats import TABLE
from drive_trace.vocabulary import TOKEN_FIELDS
from tests.cli.support import run, write
from tests.scorecard.support import PASSED, card_of, event, graded
from tests.support.fixtures import trace

PAGE = Path(__file__).parents[2] / "docs" / "caveats.md"
EARLY, LATE = "2026-05-28T13:00:00.000Z", "2026-05-28T15:00:00.000Z"
WORK = "round-start"
DONE = event(WORK, ts=EARLY, round_number=0)
FAILED: dict[str, Any] = {"mechanical": "pass", "qa": "fail", "intent": "pass"}
BEFORE = graded("pass", "pass", "pass", ts=EARLY)
REGRADED = graded("pass", "pass", "pass", ts="2026-05-28T16:00:00.000Z")
COSTS: dict[str, Any] = dict.fromkeys(TOKEN_FIELDS, 1)


def test_the_page_has_the_table_of_the_code() -> None:
    rows = [f"| `{code}` | {what} | {when.value} |" for code, (what, when) in TABLE.items()]
    assert [each for each in PAGE.read_text("utf-8").split("\n") if each[:3] == "| `"] == rows


CASES = {
    "earned": ([trace(event(WORK), PASSED)], None),
    "work below the grade": (
        [trace(PASSED, event(WORK), event(WORK))],
        "stale: 2 events after the grade",
    ),
    "graded again": ([trace(PASSED, event(WORK), REGRADED)], None),
    "a copy of the grade below work": (
        [trace(PASSED, event(WORK), PASSED)],
        "the grade is a copied line",
    ),
    "a copy of an earlier grade below a failed one": (
        [trace(PASSED, event("correctness-recorded", **FAILED), PASSED)],
        "the grade is a copied line",
    ),
    "graded again after a copy": (
        [trace(PASSED, event("correctness-recorded", **FAILED), PASSED, REGRADED)],
        None,
    ),
    "a grade below one that is later": (
        [trace(event("correctness-recorded", ts=LATE, **FAILED), PASSED)],
        "an earlier line has a later grade",
    ),
    "a grade below one that is later in another file": (
        [trace(PASSED), trace(event("correctness-recorded", ts=LATE, **FAILED), BEFORE)],
        "an earlier line has a later grade",
    ),
    "graded again after grades out of order": (
        [trace(event("correctness-recorded", ts=LATE, **FAILED), PASSED, REGRADED)],
        None,
    ),
    "work that was copied": ([trace(event(WORK), event(WORK), PASSED)], None),
    "what belongs after the work": ([trace(PASSED, event("retro-landed"))], None),
    "later work in another file": (
        [trace(PASSED), trace(event(WORK, ts=LATE))],
        "stale: 1 event after the grade",
    ),
    "work of the grade's moment in another file": (
        [trace(PASSED), trace(event(WORK))],
        "stale: 1 event after the grade",
    ),
    "earlier work in another file": ([trace(PASSED), trace(event(WORK, ts=EARLY))], None),
    "later work by another zone": (
        [trace(PASSED), trace(event(WORK, ts="2026-05-28T13:00:00-05:00"))],
        "stale: 1 event after the grade",
    ),
    "work of an unreadable time in another file": (
        [trace(PASSED), trace(event(WORK, ts="soon"))],
        "stale: 1 event after the grade",
    ),
    "a rejected grade below": (
        [trace(PASSED, graded("pass", "failed", "pass"))],
        "1 correctness line rejected (line 2), not counted",
    ),
    "a rejected grade above": ([trace(graded("pass", "failed", "pass"), PASSED)], None),
    "a later rejected grade in another file": (
        [trace(PASSED), trace(graded("pass", "failed", "pass", ts=LATE))],
        "1 correctness line rejected (line 1), not counted",
    ),
    "an earlier rejected grade in another file": (
        [trace(PASSED), trace(graded("pass", "failed", "pass", ts=EARLY))],
        None,
    ),
    "a grade on the line of another event": (
        [trace(PASSED, event(WORK) + graded("pass", "fail", "pass"))],
        "1 correctness line rejected (line 2), not counted",
    ),
    "an unknown type below": (
        [trace(PASSED, event("correctness-record"))],
        "line 2 of an unknown type looks like correctness-recorded; it does not count",
    ),
    "a later rejected grade of an unreadable run in another file": (
        [trace(PASSED), trace(DONE, graded("pass", "failed", "pass", run=None, ts=LATE))],
        "1 correctness line rejected, which may be of this run",
    ),
    "an earlier one": (
        [trace(PASSED), trace(DONE, graded("pass", "failed", "pass", run=None, ts=EARLY))],
        None,
    ),
    "a later unknown type without a run in another file": (
        [trace(PASSED), trace(DONE, event("correctness-record", run=None, ts=LATE))],
        "1 correctness line of an unknown type, which may be of this run",
    ),
    "an unknown type without a run below": (
        [trace(PASSED, event("correctness-record", run=None))],
        "line 2 of an unknown type looks like correctness-recorded; it does not count",
    ),
    "an unknown type without a run above": (
        [trace(event("correctness-record", run=None), PASSED)],
        None,
    ),
    "a rejected cost": ([trace(PASSED, event("tokens-recorded", input_tokens=-1))], None),
    "a regrade in another file": (
        [trace(graded("pass", "fail", "pass")), trace(graded("pass", "pass", "pass", ts=LATE))],
        None,
    ),
    "two grades of one moment": (
        [trace(graded("pass", "fail", "pass")), trace(PASSED)],
        "1 other file grades it differently",
    ),
    "two grades of one moment, of which one has less": (
        [trace(graded("pass", None, "pass")), trace(PASSED)],
        "1 other file grades other components",
    ),
    "a rejected line below": (
        [trace(PASSED, event(WORK), event(WORK), event(WORK, round_number="two"))],
        "stale: 2 events and 1 rejected line after the grade",
    ),
    "a rejected line above": ([trace(event(WORK, round_number="two"), PASSED)], None),
    "an unknown event below": (
        [trace(PASSED, event("round-begun"))],
        "stale: 1 unknown event after the grade",
    ),
    "an unknown event above": ([trace(event("round-begun"), PASSED)], None),
    "a later rejected line and a later unknown event in another file": (
        [trace(PASSED), trace(event(WORK, round_number=0, ts=LATE), event("begun", ts=LATE))],
        "stale: 1 rejected line and 1 unknown event after the grade",
    ),
    "earlier ones in another file": (
        [trace(PASSED), trace(event(WORK, round_number=0, ts=EARLY), event("begun", ts=EARLY))],
        None,
    ),
    "a cost and work on one line below": (
        [trace(PASSED, event(WORK) + event("tokens-recorded"))],
        "stale: 1 rejected line after the grade",
    ),
    "a grade of another name below": (
        [trace(PASSED, event("verdict-given", **FAILED))],
        "line 2 of an unknown type looks like correctness-recorded; it does not count",
    ),
    "a grade without a type below": (
        [trace(PASSED, event(None, **FAILED))],
        "1 correctness line rejected (line 2), not counted",
    ),
    "a grade without a type and without a run below": (
        [trace(PASSED, event(None, run=None, **FAILED))],
        "1 correctness line rejected (line 2), not counted, which may be of this run",
    ),
    "a cost of another name and one without a type below": (
        [
            trace(
                PASSED,
                event("spent", **COSTS),
                event(None, **COSTS),
            )
        ],
        None,
    ),
    "an earlier grade in another file whose time has no zone": (
        [trace(graded("pass", "fail", "pass", ts=EARLY[:-1])), trace(PASSED)],
        "1 other file grades it differently",
    ),
    "earlier work in another file whose time has no zone": (
        [trace(PASSED), trace(event(WORK, ts=EARLY[:-1]))],
        "stale: 1 event after the grade",
    ),
    "an end that is missing": (
        [trace(event("dispatch-start"), event("dispatch-start", dispatch_id="d"), PASSED)],
        None,
    ),
}


WITH_A_COPY = {
    "work below": (
        [PASSED, event(WORK, ts=EARLY)],
        "stale: 1 event after the grade",
    ),
    "work below that both have": (
        [PASSED, event(WORK, ts=EARLY), event(WORK, ts=LATE)],
        "stale: 2 events after the grade",
    ),
    "work below a grade below": (
        [PASSED, REGRADED, event(WORK, ts=EARLY)],
        "stale: 1 event after the grade",
    ),
    "work that was graded again": ([PASSED, event(WORK, ts=EARLY), REGRADED], None),
    "a rejected grade below": (
        [PASSED, graded("pass", "failed", "pass", ts=EARLY)],
        "1 correctness line rejected (line 2), not counted",
    ),
    "a look-alike below": (
        [PASSED, event("correctness-record", ts=EARLY)],
        "line 2 of an unknown type looks like correctness-recorded; it does not count",
    ),
}


@pytest.mark.parametrize("names", ["ab", "ba"])
@pytest.mark.parametrize("case", WITH_A_COPY)
def test_the_names_of_files_with_the_same_grade_decide_nothing(
    case: str, names: str, tmp_path: Path
) -> None:
    longer, qualifier = WITH_A_COPY[case]
    shorter = [PASSED, longer[-1]] if "both have" in case else [PASSED]
    for name, lines in zip(names, (shorter, longer), strict=True):
        write(tmp_path, f"{name}/trace.jsonl", trace(*lines) + "\n")
    ran = run("score", "--require-correct", tmp_path)
    reason = f"drive-trace: --require-correct: checkout-retry: CORRECT, but {qualifier}\n"
    assert (ran.code, ran.err) == ((0, "") if qualifier is None else (1, reason))


@pytest.mark.parametrize("name", CASES)
def test_only_an_earned_correct_is_green_and_bare(name: str, tmp_path: Path) -> None:
    traces, qualifier = CASES[name]
    paths = [write(tmp_path, f"{at}.jsonl", each + "\n") for at, each in enumerate(traces)]
    headline = "CORRECT" if qualifier is None else f"CORRECT, but {qualifier}"
    ran = run("score", "--require-correct", *paths)
    reason = f"drive-trace: --require-correct: checkout-retry: {headline}\n"
    assert (ran.code, ran.err) == ((0, "") if qualifier is None else (1, reason))
    assert " ".join(ran.out.split()).startswith(f"checkout-retry {headline} ")
    assert f"**{headline}**" in run("score", "--format", "markdown", *paths).out
    page = run("report", "--format", "html", *paths).out
    assert ('"headline correct"' in page) == (qualifier is None)
    assert qualifier is None or 'chip correct"' not in page
    (scored,) = run("score", "--format", "json", *paths).json["runs"]
    assert scored["verdict"] == "correct"
    assert any(each["qualifies"] for each in scored["caveats"]) == (qualifier is not None)


def test_later_work_is_named_with_its_file(tmp_path: Path) -> None:
    here = write(tmp_path, "a.jsonl", trace(PASSED, event(WORK)) + "\n")
    there = write(tmp_path, "b.jsonl", trace(event(WORK, ts=EARLY), event(WORK, ts=LATE)) + "\n")
    (scored,) = run("score", "--format", "json", here, there).json["runs"]
    (stale,) = scored["caveats"]
    said = "stale: 2 events after the grade, up to line 2; grade it again; 1 of them in"
    assert stale["message"] == f"{said} {there}"
    places = [(str(here), 2), (str(there), 2)]
    assert stale["lines"] == [{"path": path, "line": line} for path, line in places]


def test_coverage_stands_beside_the_sum(tmp_path: Path) -> None:
    ended = event("dispatch-end", dispatch_id="d-1", wall_clock_ms=60_000)
    lost = event("dispatch-end", dispatch_id="d-2", wall_clock_ms=None)
    starts = [event("dispatch-start", dispatch_id=f"d-{at}") for at in (1, 2, 3)]
    path = write(tmp_path, "trace.jsonl", trace(*starts, ended, lost, PASSED) + "\n")
    for output_format in ("text", "markdown"):
        said = run("score", "--format", output_format, path).out
        assert "1m (60,000 ms; 1 of 3 dispatches, as claimed)" in said
    (scored,) = run("score", "--format", "json", path).json["runs"]
    assert scored["efficiency"]["wall_clock"] == {"counted": 1, "of": 3, "by_the_clock": 0}
    assert "partial-coverage" in [each["code"] for each in scored["caveats"]]


def test_what_looks_like_a_feed_by_its_fields_is_told_as_that(tmp_path: Path) -> None:
    feeds = [event(None, **FAILED), event(4, **COSTS)]
    path = write(tmp_path, "trace.jsonl", trace(PASSED, *feeds) + "\n")
    (scored,) = run("score", "--format", "json", path).json["runs"]
    assert [(each["code"], each["lines"][0]["line"]) for each in scored["caveats"]] == [
        ("lookalike-grade", 2),
        ("lookalike-cost", 3),
    ]


def test_a_mean_says_what_it_is_over(tmp_path: Path) -> None:
    starts = [event("dispatch-start", dispatch_id=f"d-{at}") for at in (1, 2)]
    rounds = [event(WORK, dispatch_id="d-1"), event(WORK, dispatch_id="d-2", round_number=None)]
    path = write(tmp_path, "trace.jsonl", trace(*starts, *rounds, PASSED) + "\n")
    assert "1.00 (1 of 2 dispatches)" in run("score", path, "--format", "text").out
    assert "1.00 (1 of 2 dispatches)" in run("report", path, "--format", "html").out
    (scored,) = run("score", "--format", "json", path).json["runs"]
    assert scored["efficiency"]["rounds"] == {"counted": 1, "of": 2}
    (partial,) = [each for each in scored["caveats"] if each["code"] == "partial-coverage"]
    why = "of the others no round is recorded, or readers reject it"
    assert partial["message"] == f"rounds of 1 of 2 dispatches: {why}"
    assert partial["lines"] == [{"path": str(path), "line": 4}]


def test_a_figure_says_that_it_lacks_rejected_lines(tmp_path: Path) -> None:
    lines = [
        event("project-started"),
        event("project-closed", final_retro_done="no"),
        event(WORK, dispatch_id="d-1"),
        event(WORK, dispatch_id="d-1", round_number=0),
        event("project-closed", ts=LATE),
        PASSED,
    ]
    path = write(tmp_path, "trace.jsonl", trace(*lines) + "\n")
    (scored,) = run("score", "--format", "json", path).json["runs"]
    said = [each["message"] for each in scored["caveats"] if each["code"] == "partial-coverage"]
    assert said == ["wall-clock without 1 rejected line", "rounds without 1 rejected line"]


def test_an_event_that_shares_its_line_is_missed_where_it_is_summed(tmp_path: Path) -> None:
    starts = [event("dispatch-start", dispatch_id=f"d-{at}") for at in (1, 2)]
    ends = [event("dispatch-end", dispatch_id=f"d-{at}", wall_clock_ms=1000) for at in (1, 2)]
    lines = trace(*starts, ends[0], ends[1] + event("slice-completed"), PASSED)
    path = write(tmp_path, "trace.jsonl", lines + "\n")
    (scored,) = run("score", "--format", "json", path).json["runs"]
    (partial,) = [each for each in scored["caveats"] if each["code"] == "partial-coverage"]
    assert partial["message"].startswith("wall-clock of 1 of 2 dispatches")
    assert partial["lines"] == [{"path": str(path), "line": 4}]
    # Nor is the dispatch that it ends said to be open.
    assert "unclosed-dispatch" not in run("check", path).out


def test_two_ends_of_one_dispatch_are_not_one(tmp_path: Path) -> None:
    ends = [event("dispatch-end", dispatch_id="d", wall_clock_ms=each) for each in (1000, 2000)]
    path = write(tmp_path, "trace.jsonl", trace(*ends, PASSED) + "\n")
    assert "3s (3,000 ms; 2 of 2 ends of 1 dispatch, as claimed)" in run("score", path).out
    (scored,) = run("score", "--format", "json", path).json["runs"]
    assert scored["efficiency"]["wall_clock"] == {"counted": 2, "of": 2, "by_the_clock": 0}


def test_a_grade_that_another_file_erases_is_told(tmp_path: Path) -> None:
    failed, erasing = graded("pass", "fail", None, ts=EARLY), graded(None, None, "pass")
    paths = [
        write(tmp_path, f"{at}.jsonl", f"{trace(each)}\n")
        for at, each in enumerate((failed, erasing))
    ]
    (scored,) = run("score", "--format", "json", *paths).json["runs"]
    assert scored["verdict"] == "not-computable"
    (caveat,) = scored["caveats"]
    assert (caveat["code"], caveat["qualifies"]) == ("contradicting-grades", False)
    assert caveat["message"] == "1 other file grades other components; the latest grade counts"


def test_what_nobody_graded_is_not_called_incorrect(tmp_path: Path) -> None:
    path = write(tmp_path, "trace.jsonl", trace(event(WORK), event(WORK, run="b")) + "\n")
    said = run("score", path).out
    assert "not computable: 2 runs, none graded yet." in said
    assert "CORRECT runs" not in said


@pytest.mark.parametrize("ts", [EARLY, "2026-05-28T14:00:00.000Z", "soon"])
def test_a_copy_of_a_grade_does_not_overrule_what_supersedes_it(ts: str) -> None:
    last = graded("pass", "fail", "pass", ts=ts)
    (alone,) = card_of(trace(PASSED, last)).runs
    for traces in ([trace(PASSED, last), trace(PASSED)], [trace(PASSED), trace(PASSED, last)]):
        (found,) = card_of(*traces).runs
        assert found.headline == alone.headline == "INCORRECT — qa failed"
