"""Nothing turns green by getting worse: whatever happens to lines and files, a gate that fails goes
on failing, and no run becomes CORRECT.

What is left out: a line that is cleanly gone, and a digit that became another. A trace alone cannot
tell these.
"""

import json
import tempfile
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from typing import NamedTuple

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from drive_trace.vocabulary import EVENTS
from tests.cli.support import Ran, run
from tests.support.damage import FILES, ILLEGIBLE, LINES, Damage, Files, damaged
from tests.support.drawing import examples
from tests.support.runs import FAIL, PART, PASS, Recorder, Triple, write

GRADES = st.lists(st.sampled_from([PASS, PASS, FAIL, PART]), max_size=3)
LAYOUTS = st.sampled_from(["apart", "apart", "together", "split"])


class Graded(NamedTuple):
    grades: list[Triple]
    works_on: bool
    is_merged: bool
    """Whether the grades stand in another order than they were recorded in."""


RUNS = st.lists(
    st.builds(Graded, GRADES, st.booleans(), st.sampled_from([False, False, True])),
    min_size=1,
    max_size=4,
)


def laid_out(runs: list[Graded], layout: str) -> Files:
    """The runs, each in a file of its own, all in one, or each spread over two."""
    recorder = Recorder()
    files: Files = {}
    for number, each in enumerate(runs):
        name = f"run-{number}"
        lines = recorder.run(name, *each.grades, works_on=each.works_on)
        if each.is_merged and each.grades:
            graded = [at for at, line in enumerate(lines) if "correctness-recorded" in line]
            lines[graded[0] : graded[-1] + 1] = reversed(lines[graded[0] : graded[-1] + 1])
        if layout == "together":
            files.setdefault("all/trace.jsonl", []).extend(lines)
        elif layout == "split":
            files[f"{name}/trace.jsonl"] = lines[:7]
            files[f"{name}/slices/one/trace.jsonl"] = lines[7:]
        else:
            files[f"{name}/trace.jsonl"] = lines
    return files


DAMAGES = st.lists(
    st.builds(Damage, st.sampled_from([*LINES, *FILES]), st.integers(0, 10**6)),
    min_size=1,
    max_size=3,
)


def score(folder: Path) -> tuple[Ran, set[str]]:
    """What the gate says of a folder, and the runs that are CORRECT with nothing against it."""
    gate = run("score", "--require-correct", folder)
    card = run("score", "--format", "json", folder).json
    bare = {
        each["run_id"]
        for each in card["runs"]
        if each["verdict"] == "correct" and not any(c["qualifies"] for c in each["caveats"])
    }
    return gate, bare


@given(RUNS, LAYOUTS, DAMAGES)
@example([Graded([PASS, FAIL], False, True)], "apart", [Damage("outcome", 1)]).via(
    "a rejected grade above the one that decides was later"
)
@example([Graded([PASS, PART], False, False)], "apart", [Damage("another run", 2)]).via(
    "the run id of a rejected grade was bent"
)
@settings(max_examples=examples(300, 20_000), suppress_health_check=list(HealthCheck))
def test_no_damage_turns_a_gate_green(
    runs: list[Graded], layout: str, damages: list[Damage]
) -> None:
    if any(each.is_merged for each in runs):  # by its ts alone is its grade known for the latest
        damages = [each for each in damages if each.kind not in ILLEGIBLE]
    files = laid_out(runs, layout)
    with tempfile.TemporaryDirectory() as folder:
        for path, lines in files.items():
            write(Path(folder, "before", path), lines)
        for path, lines in damaged(files, damages).items():
            write(Path(folder, "after", path), lines)
        before, was_bare = score(Path(folder, "before"))
        after, is_bare = score(Path(folder, "after"))
    assert is_bare <= was_bare, sorted(is_bare - was_bare)
    if before.code:
        assert after.code, after.out


RUNS_A_SIDE = 16
SHARES = st.tuples(st.integers(0, RUNS_A_SIDE), st.integers(0, RUNS_A_SIDE))


class Spent(NamedTuple):
    """What each run of a side cost."""

    rounds: list[int]
    tokens: list[int]


SPENT = st.builds(
    Spent,
    st.lists(st.integers(1, 3), min_size=1, max_size=2),
    st.lists(st.sampled_from([500, 1_000, 2_000]), min_size=1, max_size=2),
)


class Loss(NamedTuple):
    """What becomes of some lines of all runs of the candidate from one on."""

    kind: str
    lines: str
    first: int


LINES_LOST = {
    "of fails": lambda line, run: '"fail"' in run,
    "grades of fails": lambda line, run: "correctness-recorded" in line and '"fail"' in run,
    "costs": lambda line, _: "tokens-recorded" in line,
    "the last cost": lambda line, run: (
        line == [x for x in run.splitlines(True) if "tokens" in x][-1]
    ),
    "ends": lambda line, _: "dispatch-end" in line or "project-closed" in line,
    "later rounds": lambda line, _: '"round-' in line and '"round_number":1' not in line,
}
LOSSES = st.builds(
    Loss,
    st.sampled_from(sorted(LINES)),
    st.sampled_from(sorted(LINES_LOST)),
    st.integers(0, RUNS_A_SIDE),
)


def lost(files: Files, loss: Loss) -> Files:
    chance, is_lost = Random(loss.first), LINES_LOST[loss.lines]
    found = {}
    for number, (path, lines) in enumerate(files.items()):
        run = "".join(lines)
        found[path] = [
            LINES[loss.kind](line, chance) if number >= loss.first and is_lost(line, run) else line
            for line in lines
        ]
    return found


def compared(folder: Path, sides: dict[str, Files]) -> Ran:
    for side, files in sides.items():
        for path, lines in files.items():
            write(folder / side / path, lines)
    paths = ("--baseline", folder / "b", "--candidate", folder / "c")
    fail_on = ("--fail-on", "worse", "--fail-on", "cannot-tell")
    return run("compare", *paths, *fail_on, "--allow-unverified")


@given(
    SHARES | st.just((RUNS_A_SIDE, RUNS_A_SIDE)),
    st.tuples(SPENT, SPENT),
    LOSSES,
    DAMAGES | st.just([]),
    st.booleans(),
)
@example(
    (RUNS_A_SIDE, RUNS_A_SIDE),
    (Spent([1], [1_000]), Spent([1], [500, 2_000])),
    Loss("schema version", "the last cost", 0),
    [],
    False,
).via("a rejected line told the higher cost")
@settings(max_examples=examples(60, 2_000), suppress_health_check=list(HealthCheck))
def test_no_damage_of_the_candidate_makes_it_better(
    passes: tuple[int, int],
    spent: tuple[Spent, Spent],
    loss: Loss,
    damages: list[Damage],
    with_copies_of_the_baseline: bool,
) -> None:
    recorder = Recorder()
    sides = {
        side: {
            f"{side}-{number}/trace.jsonl": recorder.run(
                f"{side}-run-{number}",
                PASS if number < share else FAIL,
                rounds=cost.rounds,
                tokens=[count + number for count in cost.tokens],
            )
            for number in range(RUNS_A_SIDE)
        }
        for side, share, cost in zip("bc", passes, spent, strict=True)
    }
    worse = {"b": sides["b"], "c": damaged(lost(sides["c"], loss), damages)}
    if with_copies_of_the_baseline:
        copies = [[line.replace("b-run", "x-run") for line in each] for each in sides["b"].values()]
        worse["c"] |= {f"x-{number}/trace.jsonl": each for number, each in enumerate(copies)}
    with tempfile.TemporaryDirectory() as folder:
        before = compared(Path(folder, "before"), sides)
        after = compared(Path(folder, "after"), worse)
    if before.code:
        assert after.code, after.out


REPORT = '<testsuite timestamp="{}"><testcase name="adds"/></testsuite>'
IN_PLACE = st.lists(
    st.builds(
        Damage, st.sampled_from([*LINES, *FILES.keys() - {"move", "unread"}]), st.integers(0, 10**6)
    ),
    min_size=1,
    max_size=3,
)
"""What happens where files stay where they are: one that is moved is told of, and no more."""


def last_work(files: Files) -> tuple[str, int, datetime]:
    """Where the first run was worked on last, and when."""
    found = [
        (json.loads(line)["ts"], path, at)
        for path, lines in files.items()
        for at, line in enumerate(lines)
        if EVENTS[json.loads(line)["event_type"]].is_work and '"run-0"' in line
    ]
    ts, path, at = max(found)
    return path, at, datetime.fromisoformat(ts)


def with_report(folder: Path, files: Files, began: datetime) -> int:
    """The exit code of a gate that reads a report from then."""
    for path, lines in files.items():
        write(folder / path, lines)
    (report := folder / "report.xml").write_text(REPORT.format(began.isoformat()))
    of_run = ("--trace-file", folder / min(files), "--project-run-id", "run-0", folder)
    return run("gate", *of_run, "--component", "qa", "--result", report).code


@given(RUNS, LAYOUTS, st.sampled_from(sorted(LINES)), IN_PLACE)
@settings(max_examples=examples(150, 5_000), suppress_health_check=list(HealthCheck))
def test_no_damage_makes_a_pass_of_an_old_report(
    runs: list[Graded], layout: str, kind: str, damages: list[Damage]
) -> None:
    files = laid_out(runs[:2], layout)
    path, at, worked = last_work(files)
    worse = {each: list(lines) for each, lines in files.items()}
    worse[path][at] = LINES[kind](worse[path][at], Random(damages[0].seed))
    began = worked - timedelta(minutes=5)
    with tempfile.TemporaryDirectory() as folder:
        assert with_report(Path(folder, "before"), files, began) == 3
        assert with_report(Path(folder, "after"), damaged(worse, damages[1:]), began)
