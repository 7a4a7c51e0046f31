"""Caveats: what takes the green away from a CORRECT, and what does not."""

from pathlib import Path
from typing import Any

import pytest

from drive_trace.scorecard.caveats import ALWAYS_QUALIFY, NEVER_QUALIFY, CaveatCode
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
BAD, FAIL = ("pass", "failed", "pass"), ("pass", "fail", "pass")
FAILED_GRADE = event("correctness-recorded", **FAILED)
FAILED_LATE = event("correctness-recorded", ts=LATE, **FAILED)
COPIED = "the grade is a copied line"
OUT_OF_ORDER = "an earlier line has a later grade"
DIFFERS = "1 other file grades it differently"
REJECTED_1, REJECTED_2 = (f"1 correctness line rejected (line {at}), not counted" for at in (1, 2))
ALIKE = "line 2 of an unknown type looks like correctness-recorded; it does not count"


def work(**fields: Any) -> str:
    return event(WORK, **fields)


def alike(**fields: Any) -> str:
    """A line of an unknown type that looks like a grade."""
    return event("correctness-record", **fields)


def stale(what: str) -> str:
    return f"stale: {what} after the grade"


def test_the_page_says_of_each_code_when_it_qualifies() -> None:
    rows = [
        each[3:-2].split(" | ") for each in PAGE.read_text("utf-8").split("\n") if each[:3] == "| `"
    ]
    assert [code.rstrip("`") for code, *_ in rows] == [*CaveatCode]
    for code, _, when in rows:
        name = code.rstrip("`")
        assert (when == "always") == (name in ALWAYS_QUALIFY)
        assert (when == "never") == (name in NEVER_QUALIFY)


CASES: dict[str, tuple[Any, ...]] = {
    "earned": (None, [work(), PASSED]),
    "work below the grade": (stale("2 events"), [PASSED, work(), work()]),
    "graded again": (None, [PASSED, work(), REGRADED]),
    "a copy of the grade below work": (COPIED, [PASSED, work(), PASSED]),
    "a copy of an earlier grade below a failed one": (COPIED, [PASSED, FAILED_GRADE, PASSED]),
    "graded again after a copy": (None, [PASSED, FAILED_GRADE, PASSED, REGRADED]),
    "a grade below one that is later": (OUT_OF_ORDER, [FAILED_LATE, PASSED]),
    "a grade below one that is later in another file": (
        OUT_OF_ORDER,
        [PASSED],
        [FAILED_LATE, BEFORE],
    ),
    "graded again after grades out of order": (None, [FAILED_LATE, PASSED, REGRADED]),
    "work that was copied": (None, [work(), work(), PASSED]),
    "what belongs after the work": (None, [PASSED, event("retro-landed")]),
    "later work in another file": (stale("1 event"), [PASSED], [work(ts=LATE)]),
    "work of the grade's moment in another file": (stale("1 event"), [PASSED], [work()]),
    "earlier work in another file": (None, [PASSED], [work(ts=EARLY)]),
    "later work by another zone": (
        stale("1 event"),
        [PASSED],
        [work(ts="2026-05-28T13:00:00-05:00")],
    ),
    "work of an unreadable time in another file": (stale("1 event"), [PASSED], [work(ts="soon")]),
    "a rejected grade below": (REJECTED_2, [PASSED, graded(*BAD)]),
    "a rejected grade above": (None, [graded(*BAD), PASSED]),
    "a later rejected grade in another file": (REJECTED_1, [PASSED], [graded(*BAD, ts=LATE)]),
    "an earlier rejected grade in another file": (None, [PASSED], [graded(*BAD, ts=EARLY)]),
    "a grade on the line of another event": (REJECTED_2, [PASSED, work() + graded(*FAIL)]),
    "an unknown type below": (ALIKE, [PASSED, alike()]),
    "a later rejected grade of an unreadable run in another file": (
        "1 correctness line rejected, which may be of this run",
        [PASSED],
        [DONE, graded(*BAD, run=None, ts=LATE)],
    ),
    "an earlier one": (None, [PASSED], [DONE, graded(*BAD, run=None, ts=EARLY)]),
    "a later unknown type without a run in another file": (
        "1 correctness line of an unknown type, which may be of this run",
        [PASSED],
        [DONE, alike(run=None, ts=LATE)],
    ),
    "an unknown type without a run below": (ALIKE, [PASSED, alike(run=None)]),
    "an unknown type without a run above": (None, [alike(run=None), PASSED]),
    "a rejected cost": (None, [PASSED, event("tokens-recorded", input_tokens=-1)]),
    "a regrade in another file": (None, [graded(*FAIL)], [graded("pass", "pass", "pass", ts=LATE)]),
    "two grades of one moment": (DIFFERS, [graded(*FAIL)], [PASSED]),
    "two grades of one moment, of which one has less": (
        "1 other file grades other components",
        [graded("pass", None, "pass")],
        [PASSED],
    ),
    "a rejected line below": (
        stale("2 events and 1 rejected line"),
        [PASSED, work(), work(), work(round_number="two")],
    ),
    "a merge conflict below": ("a merge conflict", [PASSED, "<<<<<<< a", "=======", ">>>>>>> b"]),
    "a merge conflict above": ("a merge conflict", ["<<<<<<< a", "=======", ">>>>>>> b", PASSED]),
    "a rejected line above": (None, [work(round_number="two"), PASSED]),
    "an unknown event below": (stale("1 unknown event"), [PASSED, event("round-begun")]),
    "an unknown event above": (None, [event("round-begun"), PASSED]),
    "a later rejected line and a later unknown event in another file": (
        stale("1 rejected line and 1 unknown event"),
        [PASSED],
        [work(round_number=0, ts=LATE), event("begun", ts=LATE)],
    ),
    "earlier ones in another file": (
        None,
        [PASSED],
        [work(round_number=0, ts=EARLY), event("begun", ts=EARLY)],
    ),
    "a cost and work on one line below": (
        stale("1 rejected line"),
        [PASSED, work() + event("tokens-recorded")],
    ),
    "a grade of another name below": (ALIKE, [PASSED, event("verdict-given", **FAILED)]),
    "a grade without a type below": (REJECTED_2, [PASSED, event(None, **FAILED)]),
    "a grade without a type and without a run below": (
        "1 correctness line rejected (line 2), not counted, which may be of this run",
        [PASSED, event(None, run=None, **FAILED)],
    ),
    "a cost of another name and one without a type below": (
        None,
        [PASSED, event("spent", **COSTS), event(None, **COSTS)],
    ),
    "an earlier grade in another file whose time has no zone": (
        DIFFERS,
        [graded(*FAIL, ts=EARLY[:-1])],
        [PASSED],
    ),
    "earlier work in another file whose time has no zone": (
        stale("1 event"),
        [PASSED],
        [work(ts=EARLY[:-1])],
    ),
    "an end that is missing": (
        None,
        [event("dispatch-start"), event("dispatch-start", dispatch_id="d"), PASSED],
    ),
}
"""By its name what qualifies the CORRECT, and the lines of each file."""


WITH_A_COPY: dict[str, tuple[str | None, list[str]]] = {
    "work below": (stale("1 event"), [PASSED, work(ts=EARLY)]),
    "work below that both have": (stale("2 events"), [PASSED, work(ts=EARLY), work(ts=LATE)]),
    "work below a grade below": (stale("1 event"), [PASSED, REGRADED, work(ts=EARLY)]),
    "work that was graded again": (None, [PASSED, work(ts=EARLY), REGRADED]),
    "a rejected grade below": (REJECTED_2, [PASSED, graded(*BAD, ts=EARLY)]),
    "a look-alike below": (ALIKE, [PASSED, alike(ts=EARLY)]),
}


@pytest.mark.parametrize("names", ["ab", "ba"])
@pytest.mark.parametrize("case", WITH_A_COPY)
def test_the_names_of_files_with_the_same_grade_decide_nothing(
    case: str, names: str, tmp_path: Path
) -> None:
    qualifier, longer = WITH_A_COPY[case]
    shorter = [PASSED, longer[-1]] if "both have" in case else [PASSED]
    for name, lines in zip(names, (shorter, longer), strict=True):
        write(tmp_path, f"{name}/trace.jsonl", trace(*lines) + "\n")
    ran = run("score", "--require-correct", tmp_path)
    reason = f"drive-trace: --require-correct: checkout-retry: CORRECT, but {qualifier}\n"
    assert (ran.code, ran.err) == ((0, "") if qualifier is None else (1, reason))


@pytest.mark.parametrize("name", CASES)
def test_only_an_earned_correct_is_green_and_bare(name: str, tmp_path: Path) -> None:
    qualifier, *files = CASES[name]
    paths = [write(tmp_path, f"{at}.jsonl", trace(*each) + "\n") for at, each in enumerate(files)]
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


NAMESAKE = "line 3 grades a run with nearly the same id; it does not count"


@pytest.mark.parametrize(
    ("slip", "reason"),
    [("checkout-rety", NAMESAKE), ("checkout-retry-2", NAMESAKE), ("refund-retry", "")],
)
def test_a_later_grade_under_a_misspelt_id_takes_the_green_away(
    tmp_path: Path, slip: str, reason: str
) -> None:
    lines = work(ts=EARLY), PASSED, event("correctness-recorded", run=slip, ts=LATE, **FAILED)
    path = write(tmp_path, "trace.jsonl", trace(*lines) + "\n")
    ran = run("score", "--require-correct", "--run", "checkout-retry", path)
    assert ran.code == bool(reason)
    said = [card_of(trace(*lines, *more)).runs[0].headline for more in ((), [REGRADED])]
    assert said == [f"CORRECT, but {reason}" if reason else "CORRECT", "CORRECT"]
    (row,) = [
        each
        for each in run("report", path).out.split("\n")
        if each.startswith("| `checkout-retry`")
    ]
    assert row.count(NAMESAKE) == bool(reason)


def test_a_grade_of_run_10_is_none_of_run_1() -> None:
    other = event("correctness-recorded", run="checkout-retry0", ts=LATE, **FAILED)
    text = trace(work(ts=EARLY), PASSED, other).replace("checkout-retry", "run-1")
    assert card_of(text).runs[0].headline == "CORRECT"


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
