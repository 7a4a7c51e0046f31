"""The benchmark's traces are what the benchmark says they are."""

from collections import Counter, defaultdict
from datetime import datetime
from typing import Any

import orjson
import pytest

from drive_trace.analysis import Analysis
from tests.bench.__main__ import main
from tests.bench.table import Heading, Row, Target, render
from tests.bench.traces import TraceOptions, trace_bytes, trace_events, trace_lines

LINES = 2_000


@pytest.fixture(scope="module")
def events() -> list[dict[str, Any]]:
    return list(trace_events(TraceOptions(LINES)))


def milliseconds(event: dict[str, Any]) -> int:
    return round(datetime.fromisoformat(event["ts"]).timestamp() * 1000)


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


def test_ids_are_unique_and_times_rise(events: list[dict[str, Any]]) -> None:
    assert len({event["event_id"] for event in events}) == len(events)
    times = [event["ts"] for event in events]
    assert times == sorted(times)


def test_durations_equal_the_difference_of_their_times(events: list[dict[str, Any]]) -> None:
    began: dict[str, int] = {}
    for event in events:
        identity = str(event.get("round_id") or event.get("dispatch_id"))
        if event["event_type"] in {"dispatch-start", "round-start"}:
            began[identity] = milliseconds(event)
        elif event["event_type"] in {"dispatch-end", "round-end"}:
            assert event["wall_clock_ms"] == milliseconds(event) - began.pop(identity)
    assert not began


def test_rounds_count_from_one_and_briefs_follow_their_hashes(
    events: list[dict[str, Any]],
) -> None:
    rounds: Counter[str] = Counter()
    hashes: defaultdict[str, list[str]] = defaultdict(list)
    dispositions: Counter[str] = Counter()
    for event in events:
        if event["event_type"] == "round-start":
            rounds[event["dispatch_id"]] += 1
            assert event["round_number"] == rounds[event["dispatch_id"]]
        elif event["event_type"] == "brief-issued":
            earlier = hashes[event["dispatch_id"]]
            same = event["brief_content_hash"] in earlier
            expected = "reissue" if same else "amended" if earlier else "initial"
            assert event["brief_disposition"] == expected
            earlier.append(event["brief_content_hash"])
            dispositions[expected] += 1
    assert len(dispositions) == 3


@pytest.mark.parametrize(("share", "spoiled"), [(0.01, 20), (0.95, 1_900)])
def test_as_many_lines_differ_from_the_clean_trace_as_asked_for(share: float, spoiled: int) -> None:
    clean = trace_lines(TraceOptions(LINES))
    lines = trace_lines(TraceOptions(LINES, defects=share))
    assert sum(map(bytes.__ne__, clean, lines)) == spoiled


def test_a_part_can_be_measured_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--quick", "--only", "floors"]) == 0
    shown = capsys.readouterr().out
    assert "msgspec, tagged union of structs" in shown
    assert shown.endswith("missed: 0 of 0 rows with a target\n")


def test_a_miss_and_a_failure_are_never_hidden() -> None:
    rows: list[Row | Heading] = [
        Heading("part"),
        Row("fast", [1, 2, 3], targets=[Target(2)]),
        Row("slow", [9], base=[2], targets=[Target(10), Target(4, of="ratio")]),
        Row("broken", targets=[Target(1)], failure="no such program"),
    ]
    _, _, _, fast, slow, broken = render(rows).splitlines()
    assert "| ok " in fast
    assert "4.50×" in slow
    assert "| MISS " in slow
    assert "MISS (failed)" in broken
