"""Several processes that write to one trace at once, some of them killed: no line is lost or torn.

The traces lie in memory where that can be, as writing 10,000 lines to a disk takes a minute.
"""

import random
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from subprocess import Popen
from typing import Any

import pytest

from drive_trace.analysis import Analysis
from drive_trace.vocabulary import CORRECTNESS_FIELDS
from tests.cli.support import process
from tests.storage.support import SLICE, events, writer
from tests.storage.test_provenance import entries
from tests.support.client_text import triage
from tests.support.command import COMMAND

MEMORY = Path("/dev/shm")


@pytest.fixture
def trace() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as folder:
        yield Path(folder, "projects", "busy", "trace.jsonl")


def said(running: Popen[bytes]) -> list[str]:
    """What a writer says that it has written, to the last whole line."""
    assert running.stdout is not None
    assert running.stderr is not None
    with running:
        out = running.stdout.read()
        assert running.stderr.read() == b""
    return out.decode().split("\n")[:-1]


def check_grades(lines: list[dict[str, Any]], spoken: list[list[str]], killed: int = 0) -> None:
    """Every grade that a writer has recorded stands in the trace, and took nothing back."""
    grades = [line for line in lines if line["event_type"] == "correctness-recorded"]
    ids = {line["event_id"] for line in grades}
    recorded = [words for by_writer in spoken for words in by_writer if "{" in words]
    for words in recorded:
        assert words[words.index("{") :].split('"')[3] in ids
    assert 0 <= len(grades) - len(recorded) <= killed
    # One component at a time changes, however the writers take turns.
    before: dict[str, dict[str, Any]] = {}
    for line in grades:
        triple = {name: line[name] for name in CORRECTNESS_FIELDS}
        last = before.get(line["project_run_id"], dict.fromkeys(CORRECTNESS_FIELDS))
        changed = [name for name in CORRECTNESS_FIELDS if triple[name] != last[name]]
        assert len(changed) <= 1
        assert not [name for name in changed if triple[name] is None]
        before[line["project_run_id"]] = triple


def test_four_processes_lose_no_line_and_no_verdict(trace: Path) -> None:
    running = [writer(trace, f"w{each}", 1000, 40 if each < 2 else 0) for each in range(4)]
    spoken = [said(each) for each in running]
    assert [each.returncode for each in running] == [0, 0, 0, 0]
    lines = events(trace)
    counts = Counter(line["project_run_id"] for line in lines)
    assert counts == {"w0": 1000, "w1": 1000, "w2": 1000, "w3": 1000, "shared": 80}
    assert len({line["event_id"] for line in lines}) == len(lines)
    # In each writer's own order, and all of it valid: a grade is superseded at the worst.
    for name in counts.keys() - {"shared"}:
        order = [line["slice_index"] for line in lines if line.get("slice_slug", "")[:2] == name]
        assert order == sorted(order)
    findings = Analysis(trace.read_text("utf-8")).findings()
    assert {finding.rule.code for finding in findings} <= {"superseded-feed", "stale-verdict"}
    check_grades(lines, spoken)


def test_processes_that_grade_a_run_in_two_files_take_nothing_back(trace: Path) -> None:
    traces = [trace, trace.with_name("slice.jsonl")]
    trace.parent.mkdir(parents=True)
    for each in traces:
        each.write_text(triage(run="shared"))
    # Two for each file, as those wait for each other in another order.
    running = [
        writer(traces[each % 2], f"w{each}", 60, 60, traces[1 - each % 2]) for each in range(4)
    ]
    spoken = [said(each) for each in running]
    assert [each.returncode for each in running] == [0] * 4
    lines = [line for each in traces for line in events(each)]
    check_grades(sorted(lines, key=lambda line: str(line["ts"])), spoken)


def test_writers_that_are_killed_tear_and_lose_nothing(trace: Path) -> None:
    picks = random.Random(7)
    victims = [writer(trace, f"victim-{each}", 100_000, 50_000) for each in range(6)]
    running = [writer(trace, f"w{each}", 300, 60) for each in range(2)]
    begun = []
    for victim in victims:
        assert victim.stdout is not None
        begun.append([victim.stdout.readline().decode()[:-1] for _ in range(picks.randrange(40))])
        victim.kill()
    spoken = [first + said(victim) for first, victim in zip(begun, victims, strict=True)]
    assert 0 not in {victim.returncode for victim in victims}
    spoken += map(said, running)
    assert [each.returncode for each in running] == [0, 0]
    # Nothing of theirs is left half-written, nor a lock.
    ran = process(
        *("emit", "--trace-file", trace, "--project-run-id", "after"),
        *("--event", "slice-started", "--payload", SLICE),
    )
    assert ran == (0, "", "")
    lines = events(trace)
    counts = Counter(line["project_run_id"] for line in lines)
    assert counts["w0"] == counts["w1"] == 300
    for each, words in enumerate(spoken[: len(victims)]):
        own = sum(not line.startswith("shared") for line in words)
        assert counts[f"victim-{each}"] - own in (0, 1)
    check_grades(lines, spoken, killed=len(victims))
    # Nor has the record of provenance an entry of what is not there; a kill may come before one.
    ids, named = ([each["event_id"] for each in of] for of in (lines, entries(trace)))
    assert [each for each in ids if each in {*named}] == named
    assert sum(map(len, spoken)) <= len(named) <= len(ids) <= len(named) + len(victims)


def test_the_command_itself_with_others_beside_it(trace: Path) -> None:
    trace.parent.mkdir(parents=True)
    target = ["--trace-file", str(trace), "--project-run-id", "run-1"]
    emit = [COMMAND, "emit", *target, "--event", "slice-started", "--payload", SLICE]
    running = [Popen(emit) for _ in range(6)]
    running += [
        Popen([COMMAND, "record", *target, "--new-run", f"--{name}", "pass"], stdout=-3)
        for name in CORRECTNESS_FIELDS
    ]
    assert [each.wait(60) for each in running] == [0] * 9
    assert len(events(trace)) == 9
    scored = process("score", "--require-correct", trace)
    assert scored.code == 0, scored.out
