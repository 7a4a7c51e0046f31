"""The two-tier scorecard: how it is said to people."""

import json
import re
from collections.abc import Mapping

import pytest

from drive_trace.scorecard.card import score, to_json
from drive_trace.scorecard.render import markdown, table, text
from drive_trace.text.wording import byte_size, compact, duration
from tests.report.support import HOSTILE
from tests.scorecard.support import PASSED, TRIPLES, card_markdown, card_of, event, graded
from tests.support.fixtures import trace
from tests.support.scored import summarize_text
from tests.support.snapshots import Snapshots, stored

# In words


def test_numbers_and_durations_are_cut_to_what_people_read() -> None:
    numbers = (0, 7, 999, 1000, 1049, 9_949, 9_950, 42_117, 999_499, 999_500, 1_912_408)
    assert [compact(each) for each in (*numbers, 999_999_999, 1_234_567_890_123)] == [
        *("0", "7", "999", "1.0k", "1.0k", "9.9k", "10k", "42k", "999k", "1.0M", "1.9M"),
        *("1.0G", "1,235G"),
    ]
    short = (0, 999, 1000, 45_250, 59_999, 60_000, 1_198_000, 1_700_000, 3_599_999, 3_600_000)
    long = (3_900_000, 86_399_999, 90_061_000, 183_600_000, -5_000, -1_700_000, 10**400)
    assert [duration(each) for each in (*short, *long)] == [
        *("0ms", "999ms", "1s", "45.2s", "1m", "1m", "19m 58s", "28m 20s", "1h", "1h"),
        *("1h 05m", "1d", "1d 1h", "2d 3h", "−5s", "−28m 20s", "1.157e+392d"),
    ]
    sizes = (0, 950, 12_408, 1_204_551, 999_999, 10**9, -12_400, 10**400)
    assert [byte_size(each) for each in sizes] == [
        *("0 B", "950 B", "12.4 kB", "1.2 MB", "1.0 MB", "1.0 GB", "−12.4 kB"),
        "1.000e+400B",
    ]


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


def _graded(triple: tuple[str | None, ...]) -> tuple[str]:
    return (trace(graded(*triple), event("tokens-recorded")),)


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_card_in_text_markdown_and_json(name: str, snapshots: Snapshots) -> None:
    card = card_of(*EXAMPLES[name])
    snapshots.check(f"scorecard/{name}.txt", text(card) + "\n")
    snapshots.check(f"scorecard/{name}.md", markdown(card) + "\n")
    snapshots.check(f"scorecard/{name}.json", json.dumps(to_json(card), indent=2) + "\n")


def test_no_snapshot_is_left_over() -> None:
    assert stored("scorecard") == {*EXAMPLES}


@pytest.mark.parametrize("traces", [*EXAMPLES.values(), *map(_graded, TRIPLES)])
def test_a_terminal_is_wide_enough(traces: tuple[str, ...]) -> None:
    card = card_of(*traces)
    for columns in (60, 61, 80, 100):
        shown = table(card, columns, lambda words, _: words)
        assert max(map(len, shown.split("\n"))) <= columns
    assert max(map(len, text(card).split("\n"))) <= 80


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_the_lines_of_a_table_end_between_two_items(columns: int) -> None:
    card = card_of(*EXAMPLES["all-verdicts"])
    rows = table(card, columns, lambda words, _: words).split("\n\n")[0].split("\n")
    at, told = rows[0].index("WHAT"), list[str]()
    for row in rows[1:]:
        if row[0] == " " and row[at:].strip():
            assert told[-1].endswith(" ·"), f"this line began within an item: {row}"
        told += [row[at:].rstrip()] * bool(row[at:].strip())
    assert "28m 40s by the clock" in " ".join(told)
    assert all(each.count(" work") == 0 for each in told if "by the clock" in each)


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
    for said in (markdown(card), card_markdown(card.runs[0])):
        outside = re.sub(r"(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)", "", said)
        assert all(line.isprintable() for line in said.split("\n"))
        for mark in ("`", "<b>", "**bold**", "[link]"):
            assert mark not in outside
