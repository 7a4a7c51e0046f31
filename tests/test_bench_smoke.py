"""The benchmark's traces are what the benchmark says they are."""

import sys
from pathlib import Path

import orjson
import pytest

from drive_trace.analysis import Analysis
from tests.bench import deciding
from tests.bench.__main__ import main
from tests.bench.editor import CAPABILITIES
from tests.bench.programs import CommandFailedError, Program
from tests.bench.rows import PLAIN_SERVER
from tests.bench.table import Part, Row, render
from tests.bench.traces import TraceOptions, trace_bytes, trace_lines
from tests.support.raw_client import RawClient

LINES = 2_000


def test_same_arguments_give_the_same_trace() -> None:
    options = TraceOptions(LINES, defects=0.01)
    assert trace_bytes(options) == trace_bytes(options)
    assert trace_bytes(options) != trace_bytes(TraceOptions(LINES, defects=0.01, seed=2))


@pytest.mark.parametrize(("lines", "runs"), [(30, 1), (1_000, 20), (1_001, 3), (LINES, 20)])
def test_exactly_as_many_lines_and_runs_as_asked_for(lines: int, runs: int) -> None:
    content = trace_bytes(TraceOptions(lines, runs=runs))
    assert content.count(b"\n") == lines
    assert content.endswith(b"}\n")
    ids = {orjson.loads(line)["project_run_id"] for line in content.splitlines()}
    assert len(ids) == runs


def test_too_few_lines_are_refused() -> None:
    with pytest.raises(ValueError, match="need 50 lines"):
        trace_bytes(TraceOptions(40, runs=2))


def test_a_clean_trace_is_compact_valid_and_of_realistic_size() -> None:
    lines = trace_lines(TraceOptions(LINES))
    assert all(orjson.dumps(orjson.loads(line)) == line for line in lines)
    assert 360 < sum(map(len, lines)) / len(lines) < 410
    text = b"\n".join(lines).decode()
    assert all(sign in text for sign in "é🚀日")
    assert list(Analysis(text + "\n").findings()) == []


@pytest.mark.parametrize(("share", "spoiled"), [(0.01, 20), (0.95, 1_900)])
def test_as_many_lines_differ_from_the_clean_trace_as_asked_for(share: float, spoiled: int) -> None:
    clean = trace_lines(TraceOptions(LINES))
    lines = trace_lines(TraceOptions(LINES, defects=share))
    assert sum(map(bytes.__ne__, clean, lines)) == spoiled


def test_a_part_can_be_measured_alone_and_beside_another_commit(
    capsys: pytest.CaptureFixture[str],
) -> None:
    small = ["--only", "start", "--repeats", "1", "--lines", "500", "--traces", "2"]
    main([*small, "--base", "HEAD"])
    table = capsys.readouterr().out
    (score,) = (row for row in table.splitlines() if row.startswith("| `score`"))
    assert [" × " in cell for cell in score.split("|")[3:6]] == [True, True, True]
    assert "FAILED" not in table


def test_a_miss_a_failure_and_what_got_worse_are_never_hidden() -> None:
    def failing(_: Program) -> float:
        raise CommandFailedError("exit code 2: no such program")

    here = Program(Path(), Path())
    floor = Row("floor", lambda _: 2)
    rows = [
        floor,
        Row("fast", lambda _: 3, floor, 1.5),
        Row("slow", lambda _: 9, floor, 4),
        Row("slower than it was", lambda program: 9 if program is here else 8),
        Row("broken", failing, limit=1),
    ]
    for row in rows:
        row.sample(here, Program(Path("base"), Path()))
    _, _, _, _, *shown = (
        [cell.strip() for cell in line.split("|")[3:7]]
        for line in render([Part("part", rows)]).splitlines()
    )
    failed = "FAILED: CommandFailedError: exit code 2: no such program"
    assert shown == [
        ["1.50 ×", "≤ 1.5 ×", "1.00 ×", "met"],
        ["4.50 ×", "≤ 4 ×", "1.00 ×", "missed"],
        ["", "", "1.12 ×", "WORSE"],
        ["–", "≤ 1 ms", "–", failed],
    ]
    assert [row.is_missed for row in rows] == [False, False, True, False, True]
    assert [row.is_worse for row in rows] == [False, False, False, True, False]


def test_the_plain_server_announces_what_ours_does() -> None:
    def announced(command: list[str]) -> set[tuple[str, object]]:
        with RawClient(command) as client:
            said = client.initialize(CAPABILITIES)["capabilities"]
            client.shutdown()
        resolves = "resolveProvider"
        return {(k, isinstance(v, dict) and v.get(resolves)) for k, v in said.items()}

    ours = announced([sys.executable, "-m", "drive_trace", "serve"])
    assert announced(PLAIN_SERVER) == {each for each in ours if each[0] != "experimental"}


def test_the_simulation_of_comparisons_gives_the_same_table_each_time() -> None:
    made = deciding.table(5, by_dollars=True)
    assert made == deciding.table(5, by_dollars=True)
    rows_of_each = len(deciding.TRUTHS) + 1  # and where failing runs cost more
    assert len(made.splitlines()) == 2 + len(deciding.DESIGNS) * rows_of_each
    # The one comparison in which 60 runs a side cost twice as much.
    assert "| 60 × 1 | twice the cost, 90% CORRECT | 1 | 0.0% | 100.0% | 0.0% | 100.0% |" in made
