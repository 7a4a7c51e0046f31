"""The page of a fleet: what it says of many runs, and what it never says."""

import re
from base64 import b64decode
from html import unescape
from pathlib import Path
from zlib import decompress

import pytest

from tests.cli.support import run, write
from tests.comparison.support import CORRECT, INCORRECT, UNGRADED, Sides
from tests.support.client_text import apart, event, graded, tokens, triage

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


def test_the_share_of_each_month_is_told_with_its_uncertainty(tmp_path: Path) -> None:
    graded_in(tmp_path, "2026-03", *[INCORRECT] * 9, CORRECT)
    told = said(page_of(tmp_path), "Share of CORRECT over time")
    assert "2026-03\n10\n1\n0\n9\n0\n0.10 [0.02, 0.40]" in told


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


def test_a_caption_that_repeats_its_heading_is_for_screen_readers(tmp_path: Path) -> None:
    write(tmp_path, "trace.jsonl", graded(*CORRECT))
    captions = re.findall(r"<caption.*?</caption>", page_of(tmp_path))
    assert '<caption class="same">All runs</caption>' in captions


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
