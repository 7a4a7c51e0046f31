"""The page of a fleet: what it says of many runs, and what it never says."""

import re
from base64 import b64decode
from functools import partial
from html import unescape
from pathlib import Path
from random import Random
from zlib import decompress

import pytest

from drive_trace.fleet.page import changes, likeliest
from tests.cli.support import run, write
from tests.comparison.support import CORRECT, INCORRECT, UNGRADED, Sides
from tests.support.client_text import apart, event, graded, tokens, triage
from tests.support.growth import assert_linear

ROUND = event("round-start", "old", dispatch_id="d", round_id="r", round_number=1)


def page_of(*args: str | Path) -> str:
    ran = run("fleet", *args, "--no-cache", "--html", "-")
    assert ran.code == 0, ran.err
    return ran.out


def said(page: str, title: str) -> str:
    """What a section says, a cell or sentence a line."""
    section = page.partition(f'">{title}</h2>')[2].partition("</section>")[0]
    return unescape("\n".join(filter(None, re.sub(r"<[^>]*>", "\n", section).split("\n"))))


def graded_in(folder: Path, month: str, *triples: tuple[str | None, ...]) -> None:
    for at, triple in enumerate(triples):
        ts, run_id = f"{month}-{at + 1:02}T10:00:00.000Z", f"{month}-{at}"
        grade = graded(*triple, ts=ts, project_run_id=run_id)
        write(folder, f"{month}/{at}/trace.jsonl", apart(grade))


def test_a_change_is_told_with_its_uncertainty(tmp_path: Path) -> None:
    graded_in(tmp_path, "2026-01", *[CORRECT] * 9, INCORRECT)
    graded_in(tmp_path, "2026-02", *[CORRECT] * 10)
    graded_in(tmp_path, "2026-03", *[INCORRECT] * 9, CORRECT)
    told = said(page_of(tmp_path), "Share of CORRECT over time")
    assert (
        "Of runs with a certain verdict, the share fell from 0.95 [0.76, 0.99] to 0.10 "
        "[0.02, 0.40] with 2026-03: a difference of −0.85 [−0.94, −0.49], p < 0.0001 for "
        "the best of 2 moments. It says when, and not why.\n"
    ) in told
    assert "2026-03\n10\n1\n0\n9\n0\n0.10 [0.02, 0.40]" in told


def test_a_change_that_chance_explains_is_none(tmp_path: Path) -> None:
    graded_in(tmp_path, "2026-01", CORRECT, INCORRECT)
    assert "takes verdicts of two months" in said(page_of(tmp_path), "Share of CORRECT over time")
    graded_in(tmp_path, "2026-02", CORRECT, CORRECT)
    told = said(page_of(tmp_path), "Share of CORRECT over time")
    assert "No change of the share can be told from chance: the likeliest is 2026-02" in told


def test_changes_are_seldom_false_and_hold_the_month() -> None:
    random = Random(1)

    def months(*rates: float) -> list[tuple[int, int]]:
        return [(sum(random.random() < rate for _ in range(30)), 30) for rate in rates]

    false = sum(bool([*changes(months(*[0.6] * 12))]) for _ in range(200))
    found = [likeliest(months(*[0.8] * 5, *[0.5] * 7)) for _ in range(200)]
    held = sum(each is not None and each.earliest <= 5 <= each.latest for each in found)
    assert false <= 10  # of 5 %
    assert held >= 190  # of 95 %


def test_of_very_many_runs_a_change_is_told_alike() -> None:
    few = likeliest([(4_000, 4_960), (3_900, 5_000)])
    many = likeliest([(4_036, 5_005), (3_900, 5_000)])
    assert few is not None
    assert many is not None
    assert few.p == pytest.approx(many.p, rel=0.3)
    assert [each.first for each in changes([(80_000, 100_000), (60_000, 100_000)])] == [1]


def test_two_changes_are_told_in_their_order() -> None:
    found = [*changes([(30, 30), (29, 30), (2, 30), (1, 30), (28, 30), (30, 30)])]
    assert [each.first for each in found] == [2, 4]
    assert [each.difference > 0 for each in found] == [False, True]


def test_changes_cost_what_there_are_months() -> None:
    def look(size: int) -> partial[object]:
        months = [(10**6 * at // size, 10**6) for at in range(size)]  # each unlike the one before
        return partial(list, changes(months))

    assert_linear(look, 4_000)


def test_that_there_may_be_more_changes_is_told(tmp_path: Path) -> None:
    months = [(year, month) for year in range(2024, 2026) for month in range(1, 13)]
    text = "".join(
        graded(
            *(CORRECT, INCORRECT)[month % 2],
            ts=f"{year}-{month:02}-02T10:00:00Z",
            project_run_id=f"{year}-{month}-{at}",
        )
        for year, month in months
        for at in range(40)
    )
    write(tmp_path, "trace.jsonl", apart(text))
    told = said(page_of(tmp_path), "Share of CORRECT over time")
    assert told.count("the share rose") + told.count("the share fell") == 12
    assert "There may be more changes: at most 12 within one another are looked for." in told


def test_a_correct_run_costs_what_the_others_cost_too(tmp_path: Path) -> None:
    sides = Sides(tmp_path)
    sides.add("b", CORRECT, INCORRECT, costs=[(1000, 100), (2000, 200)])
    told = said(page_of(tmp_path), "Cost for each CORRECT run")
    assert told.endswith("all\n2\n3.3k\nn/a")
    sides.add("b", UNGRADED, costs=[(3000, 300)])  # which may be CORRECT
    assert "all\n3\n3.3k to 6.6k\n" in said(page_of(tmp_path), "Cost for each CORRECT run")
    sides.add("b", CORRECT)  # which tells no tokens
    told = said(page_of(tmp_path), "Cost for each CORRECT run")
    assert "all\n4\nat least 2.2k (3 of 4 tell)\n" in told


def test_a_case_that_comes_out_both_ways_is_flaky(tmp_path: Path) -> None:
    sides = Sides(tmp_path)
    sides.add("b", CORRECT, INCORRECT, UNGRADED, case="shaky", costs=[(1, 1)] * 3)
    sides.add("b", CORRECT, CORRECT, UNGRADED, case="steady", costs=[(1, 1)] * 3)
    sides.add("b", CORRECT, INCORRECT)
    told = said(page_of(tmp_path), "Flaky cases")
    assert told.startswith(
        "1 case of 2 came out CORRECT and INCORRECT; 6 of 8 runs have a manifest that says their "
        "case."
    )
    assert "shaky\n3\n1\n0\n1\n1\n0.33 to 0.67" in told
    # 1 − (1 − share)³ and share³, from Wilson's 0.0615 for 1 of 3 to his 0.9385 for 2 of 3: as the
    # ungraded run may be either, nobody knows how likely one of three, or each, is CORRECT.
    assert "\n3\nn/a [0.173, 1.000]\nn/a [0.000, 0.827]\n" in told
    assert "pass@k: one of k runs at least is CORRECT; pass^k: all are" in told
    assert "steady" not in told


def test_nothing_is_green_without_its_signal(tmp_path: Path) -> None:
    old = graded(*CORRECT, project_run_id="old") + ROUND + tokens(1, 2, 3, 4, project_run_id="old")
    write(tmp_path, "old/trace.jsonl", apart(old))
    graded_in(tmp_path, "2026-01", INCORRECT, ("pass", "pass", None))
    page = page_of(tmp_path)
    assert "CORRECT with caveats</span>" in page
    assert "chip correct" not in page
    assert "headline correct" not in page
    assert "\nstale\n" not in said(page, "Most work")
    graded_in(tmp_path, "2026-02", CORRECT)
    assert page_of(tmp_path).count("chip correct") == 1


def test_a_page_without_a_run_says_so_and_nothing_else(tmp_path: Path) -> None:
    page = page_of(tmp_path)
    assert said(page, "All runs") == "No run was found."
    assert page.count("<h2") == 1
    assert "<table" not in page


def test_a_run_without_a_name_has_a_link_that_can_be_seen(tmp_path: Path) -> None:
    write(tmp_path, "trace.jsonl", graded(*CORRECT, project_run_id=""))
    assert re.search(
        r'<a href="vscode:[^"]*trace.jsonl"><bdi>\(empty\)</bdi></a>', page_of(tmp_path)
    )


def test_what_is_not_known_is_sorted_by_no_figure(tmp_path: Path) -> None:
    write(tmp_path, "trace.jsonl", graded(*CORRECT))
    cells = re.findall(r'data-v="([^"]*)"><div>([^<\n]*)', page_of(tmp_path))
    assert ("0", "0") in cells
    assert ("nan", "n/a / n/a") in cells
    assert all((value == "nan") == said.startswith("n/a") for value, said in cells)


def test_many_runs_are_packed_and_none_is_left_out(tmp_path: Path) -> None:
    hostile = '<img src=x onerror="run()">\u202e\x1e'
    names = [*(f"run-{at:03}" for at in range(400)), hostile]
    text = "".join(graded(*CORRECT, project_run_id=each) for each in names)
    write(tmp_path, "trace.jsonl", apart(text))
    page = page_of(tmp_path)
    assert "… and 101 more runs, which the script of this page shows." in page
    (data,) = re.findall(r'<data value="([^"]*)" hidden="">', page)
    rows = decompress(b64decode(unescape(data))).decode().split("\n")
    assert len(rows) == len(names)
    assert {re.findall(r"run-\d{3}", each)[0] for each in rows if "run-" in each} == {*names[:-1]}
    (odd,) = (each for each in rows if "img" in each)
    assert "<img" not in odd
    assert "\u202e" not in odd
    assert page.count("<tr>") + page.count("<tr ") < 400


@pytest.mark.parametrize("name", ["trace.jsonl", "runs.csv", "trace.run.json"])
def test_the_page_takes_no_place_of_another_file(tmp_path: Path, name: str) -> None:
    trace = write(tmp_path, "trace.jsonl", graded(*CORRECT))
    write(tmp_path, "trace.run.json", '{"case":"one"}')
    before = trace.read_bytes()
    other = tmp_path / name
    ran = run("fleet", trace, "--out", tmp_path / "runs.csv", "--html", other)
    assert ran.code == 2
    assert trace.read_bytes() == before
    assert (tmp_path / "trace.run.json").read_text("utf-8") == '{"case":"one"}'


def test_a_grade_moves_no_run_to_another_month(tmp_path: Path) -> None:
    work = triage(project_run_id="work", ts="2026-01-31T10:00:00.000Z")
    write(tmp_path, "trace.jsonl", apart(work))
    assert "\n2026-01\n1\n" in said(page_of(tmp_path), "Share of CORRECT over time")
    grade = graded(*CORRECT, ts="2026-03-01T10:00:00.000Z", project_run_id="work")
    write(tmp_path, "trace.jsonl", apart(work + grade))
    told = said(page_of(tmp_path), "Share of CORRECT over time")
    assert "\n2026-01\n1\n1\n" in told
    assert "2026-03" not in told


def test_where_nothing_is_correct_nothing_is_priced_or_drawn(tmp_path: Path) -> None:
    sides = Sides(tmp_path)
    sides.add("b", UNGRADED, UNGRADED, costs=[(1000, 100), (2000, 200)])
    page = page_of(tmp_path)
    assert said(page, "Cost for each CORRECT run").endswith(
        "all\n2\nno CORRECT run\nno CORRECT run"
    )
    over_time = page.partition('">Share of CORRECT over time</h2>')[2].partition("</section>")[0]
    (chart,) = re.findall("<svg.*</svg>", over_time, re.DOTALL)
    assert ": not known</text>" in chart
    assert chart.count("<line") == 3  # the axis alone
    grade = graded("pass", "passed", None) + graded(*CORRECT)
    write(tmp_path, "trace.jsonl", apart(grade))
    assert "caveats: rejected grade\n" in said(page_of(tmp_path), "All runs")
