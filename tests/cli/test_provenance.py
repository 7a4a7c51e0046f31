"""A trace that is not what the record beside it says: told by each command, and never green."""

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from drive_trace.analysis import Analysis
from drive_trace.features.hover import hover
from drive_trace.features.results import View
from drive_trace.linter.settings import DEFAULTS
from drive_trace.text.spans import PositionEncoding
from drive_trace.trace.document import Point
from drive_trace.trace.provenance import Origin, read_provenance
from tests.cli.support import git, run
from tests.cli.test_nothing_turns_green import LAYOUTS, RUNS, Graded, laid_out, score
from tests.support.damage import Files
from tests.support.drawing import examples
from tests.support.fixtures import provenance_of
from tests.support.runs import FAIL, PASS, Recorder, write

RECORD = ".provenance.ndjson"


def recorded(path: Path, lines: list[str]) -> Path:
    """A trace whose lines were appended one after another by a command."""
    write(path.with_name(path.name + RECORD), [provenance_of("".join(lines))])
    return write(path, lines)


# Clean degradations, which the trace alone cannot tell


def _drop(files: Files, path: str, chance: Random) -> None:
    files[path].pop(_any(files[path], chance))


def _move(files: Files, path: str, chance: Random) -> None:
    line = files[path].pop(_any(files[path], chance))
    there = files[chance.choice([path, *sorted(files)])]
    there.insert(chance.randrange(len(there) + 1), line)


def _copy(files: Files, path: str, chance: Random) -> None:
    line = files[path][_any(files[path], chance)]
    files[path].insert(chance.randrange(len(files[path]) + 1), line)


def _change(files: Files, path: str, chance: Random) -> None:
    """One value of an event is another one; the event stays valid."""
    at = _any(files[path], chance)
    event = json.loads(files[path][at])
    changes: dict[str, Callable[[], Any]] = {
        "qa": lambda: "pass",
        "wall_clock_ms": lambda: event["wall_clock_ms"] // 2,
        "input_tokens": lambda: 1,
        "project_run_id": lambda: f"run-{chance.randrange(4)}",
        "event_id": lambda: Recorder(chance.randrange(99)).id(),
        "ts": lambda: event["ts"].replace("T1", "T0").replace("T2", "T0"),
    }
    likely = [name for name in ("qa", *changes) if name in event]
    name = likely[0] if chance.random() < 0.5 else chance.choice(likely)
    event[name] = changes[name]()
    files[path][at] = json.dumps(event, separators=(",", ":")) + "\n"


def _any(lines: list[str], chance: Random) -> int:
    """A line, and as often as not a grade."""
    grades = [at for at, line in enumerate(lines) if "correctness-recorded" in line]
    return chance.choice(grades if grades and chance.random() < 0.5 else range(len(lines)))


DEGRADATIONS = [_drop, _move, _copy, _change]


@given(
    RUNS,
    LAYOUTS,
    st.lists(st.sampled_from(DEGRADATIONS), min_size=1, max_size=3),
    st.integers(0, 10**6),
)
@settings(max_examples=examples(200, 20_000), suppress_health_check=list(HealthCheck))
def test_no_clean_degradation_of_a_recorded_trace_turns_it_green(
    runs: list[Graded], layout: str, degradations: list[Any], seed: int
) -> None:
    files, chance = laid_out(runs, layout), Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        for path, lines in files.items():
            recorded(Path(folder, path), lines)
        before, was_bare = score(Path(folder))
        for degrade in degradations:
            degrade(files, chance.choice([each for each in sorted(files) if files[each]]), chance)
        for path, lines in files.items():
            write(Path(folder, path), lines)
        after, is_bare = score(Path(folder))
    assert is_bare <= was_bare, sorted(is_bare - was_bare)
    if before.code:
        assert after.code, after.out


# What is said of it


@pytest.fixture
def lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Of a run that was CORRECT, worked on, and is INCORRECT now."""
    monkeypatch.chdir(tmp_path)
    found = Recorder().run("shop", PASS, FAIL)
    recorded(tmp_path / "trace.jsonl", found)
    return found


def unrecorded() -> list[tuple[int, str]]:
    ran = run("check", "trace.jsonl", "--select", "unrecorded-change", "--output-format", "json")
    return [(each["line"], each["message"].partition(":")[0]) for each in ran.json]


def caveats() -> list[tuple[str, bool]]:
    (scored,) = run("score", "trace.jsonl", "--format", "json").json["runs"]
    found = [each for each in scored["caveats"] if each["code"] == "unrecorded-change"]
    return [(each["message"], each["qualifies"]) for each in found]


def test_a_grade_that_is_gone_is_told_by_each_command(lines: list[str], tmp_path: Path) -> None:
    trace = Path("trace.jsonl")
    assert (unrecorded(), caveats()) == ([], [])
    assert "INCORRECT" in run("score", trace).out
    write(trace, lines[:-1])
    number = len(lines) - 1
    assert unrecorded() == [(number, "a line below this one is gone")]
    assert caveats() == [
        ("1 recorded line gone: the trace is not what the record beside it says", True)
    ]
    words = "CORRECT, but 1 recorded line gone"
    assert words in run("score", trace).out
    assert words in run("report", trace).out
    assert run("score", "--require-correct", trace).code == 1
    row = json.loads(run("fleet", trace, "--out", "-").out)
    assert row["caveats"] == ["unrecorded-change"]
    recorded(tmp_path / "other" / "trace.jsonl", Recorder(2).run("cart", PASS))
    sides = ("--baseline", trace, "--candidate", "other/trace.jsonl")
    assert "1 CORRECT run may be something else, as a caveat says" in run("compare", *sides).out


def test_what_became_of_a_line_is_told_where_it_stands(lines: list[str]) -> None:
    trace = Path("trace.jsonl")
    worked = lines[5]
    write(trace, [*lines[:5], *lines[6:9], worked, *lines[9:], lines[3]])
    assert unrecorded() == [
        (6, "this line was recorded below line 9"),
        (7, "this line was recorded below line 9"),
        (8, "this line was recorded below line 9"),
        (len(lines) + 1, "this line is a copy of line 4"),
    ]
    write(trace, [*lines, lines[-1].replace('"qa":"fail"', '"qa":"pass"')])
    said = f"this line has other values and the id of line {len(lines)}"
    assert unrecorded() == [(len(lines) + 1, said)]
    # Readers reject it now, and so it has no id for them.
    write(
        trace,
        [*lines[:2], lines[2].replace('"schema_version":"1"', '"schema_version":1'), *lines[3:]],
    )
    assert unrecorded() == [(3, "this line is not what was recorded")]
    # A slice's spec that was written before the grades is neither of them nor a figure.
    assert [qualifies for _, qualifies in caveats()] == [False]
    # Laid out anew, and with more below, it says what was recorded.
    spread = [json.dumps(json.loads(each), ensure_ascii=True) + "\r\n" for each in lines]
    write(trace, [*spread, Recorder(5).grade("shop", PASS)])
    assert (unrecorded(), caveats()) == ([], [])


def test_two_branches_may_be_merged_in_any_order(lines: list[str]) -> None:
    ours, theirs = Recorder(3).run("ours", PASS), Recorder(4).run("theirs", PASS)
    entries = [provenance_of("".join([*lines, *each])).splitlines(True) for each in (ours, theirs)]
    own = [each[len(lines) :] for each in entries]
    write(Path(f"trace.jsonl{RECORD}"), [*entries[0][: len(lines)], *own[0], *own[1]])
    write(Path("trace.jsonl"), [*lines, *theirs, *ours])
    assert unrecorded() == []
    write(Path("trace.jsonl"), [*lines, *theirs, ours[1], ours[0], *ours[2:]])
    assert [line for line, _ in unrecorded()] == [len(lines) + len(theirs) + 1]


def test_a_record_that_was_cut_off_is_told(lines: list[str]) -> None:
    path = Path(f"trace.jsonl{RECORD}")
    entries = path.read_text().splitlines(keepends=True)
    write(path, entries[1:])
    assert unrecorded() == [(1, "the record of where the events come from is damaged")]
    assert caveats() == [("its record of provenance is damaged: entries of it are missing", True)]
    # Its writer was killed, and the next one goes on below it: no entry is missing.
    write(path, [*entries[:3], entries[3][:50]])
    assert (unrecorded(), caveats()) == ([], [])
    write(path, [*entries[:2], entries[2][:50] + "\n", *entries[3:]])
    assert "a line of it cannot be read" in caveats()[0][0]
    # A mark of the byte order says nothing, in either of the two.
    write(path, ["\ufeff", *entries])
    write(Path("trace.jsonl"), ["\ufeff", *lines])
    assert (unrecorded(), caveats()) == ([], [])
    write(path, ["<<<<<<< ours\n", *entries, "=======\n", ">>>>>>> theirs\n"])
    (told,) = run("check", "--select", "unrecorded-change", "--output-format", "json").json
    assert "trace.jsonl.provenance.ndjson has conflict markers" in told["message"]
    # What is appended meanwhile names an entry, and no mark, which goes.
    named = ("--project-run-id", "shop", "--trace-file", "trace.jsonl")
    run("emit", "triage-verdict", "verdict=defer", "input_shape=chat-ask", *named)
    marked = path.read_text().splitlines(keepends=True)
    write(path, [each for each in marked if each.startswith("{")])
    assert (unrecorded(), caveats()) == ([], [])
    write(Path("trace.jsonl"), lines)
    write(path, ["[" * 100_000])
    assert "a line of it cannot be read" in caveats()[0][0]
    write(path, ["garbage\n", "and more\n"])
    assert unrecorded() == [(1, "the record of where the events come from is damaged")]
    assert "damaged: not one line of it is an entry" in caveats()[0][0]
    write(path, [entries[0][:9]])
    assert (unrecorded(), caveats()) == ([], [])
    path.unlink()
    path.symlink_to("/etc/passwd")
    assert "damaged: not read: link out of the repository" in caveats()[0][0]
    path.unlink()
    assert (unrecorded(), caveats()) == ([], [])


def test_a_record_that_git_does_not_track_with_its_trace_says_nothing(lines: list[str]) -> None:
    """Another branch brings another trace, and leaves the record as it was."""
    git(Path(), "init", "-q")
    git(Path(), "add", "trace.jsonl")
    write(Path("trace.jsonl"), lines[:-1])
    write(Path(f"trace.jsonl{RECORD}"), ["[" * 100_000])
    assert (unrecorded(), caveats()) == ([], [])
    recorded(Path("trace.jsonl"), lines)
    write(Path("trace.jsonl"), lines[:-1])
    assert (unrecorded(), caveats()) == ([], [])
    git(Path(), "add", f"trace.jsonl{RECORD}")
    assert unrecorded() == [(len(lines) - 1, "a line below this one is gone")]
    git(Path(), "rm", "-fq", "--cached", "trace.jsonl", f"trace.jsonl{RECORD}")
    assert len(unrecorded()) == len(caveats()) == 1


def test_a_record_takes_nothing_away(tmp_path: Path) -> None:
    """Of a trace with a finding and a caveat of its own."""
    lines = Recorder().run("shop", PASS, works_on=True)
    lines[2] = lines[2].replace('"schema_version":"1"', '"schema_version":1')
    trace = write(tmp_path / "trace.jsonl", lines)
    said = (run("check", trace), run("score", trace, "--format", "json").json["runs"][0])
    assert "warning" in said[0].out
    write(tmp_path / f"trace.jsonl{RECORD}", [provenance_of("".join(lines))])
    again = (run("check", trace), run("score", trace, "--format", "json").json["runs"][0])
    counts = {"recorded": len(lines) - 1, "measured": 0, "logged": 0}
    assert again[1].pop("provenance") == said[1].pop("provenance") | counts
    assert again == said


def test_what_was_measured_is_said_beside_a_duration(tmp_path: Path) -> None:
    lines = [each for each in Recorder().run("shop", PASS) if "project-closed" not in each]
    trace = write(tmp_path / "trace.jsonl", lines)
    assert "1 of 1 dispatch, as claimed" in run("score", trace).out
    entries = provenance_of("".join(lines), Origin("hook", ("wall_clock_ms",), (), "session-1"))
    write(tmp_path / f"trace.jsonl{RECORD}", [entries])
    assert "1 of 1 dispatch, as measured" in run("score", trace).out
    said = f"{len(lines)} events recorded beside, {len(lines)} with a measured value"
    assert said in " ".join(run("score", trace).out.split())
    (scored,) = run("score", trace, "--format", "json").json["runs"]
    assert scored["provenance"]["recorded"] == scored["provenance"]["measured"] == len(lines)
    assert "40m (measured)" in run("report", trace).out
    analysis = Analysis(lines, DEFAULTS, None, None, read_provenance(entries.encode()))
    at = next(number for number, line in enumerate(lines) if "dispatch-end" in line)
    place = Point(at, lines[at].index("wall_clock_ms") + 20)
    shown = hover(View(analysis, PositionEncoding.UTF16), place)
    assert shown is not None
    assert "Measured, as the record beside the trace says." in str(shown.contents)
    # A claim that took the place of what was measured is one again.
    write(trace, [each.replace(":2400000", ":2400001") for each in lines])
    assert "as claimed" in run("score", trace).out
    # Nor is it believed where the timestamps say something else, or entries are missing.
    late = [each.replace("T14:40:00", "T17:40:00") for each in lines]
    known = provenance_of("".join(late), Origin("hook", ("wall_clock_ms",), (), "session-1"))
    for text, record in ((late, known), (lines, "".join(entries.splitlines(keepends=True)[1:]))):
        assert text != lines or record != entries
        write(trace, text)
        write(tmp_path / f"trace.jsonl{RECORD}", [record])
        assert "as claimed" in run("score", trace).out


def test_a_run_that_is_gone_concerns_the_others_of_its_file(tmp_path: Path) -> None:
    recorder = Recorder()
    one, two = recorder.run("shop", PASS), recorder.run("gone", PASS)
    trace = write(tmp_path / "trace.jsonl", one + two)
    write(tmp_path / f"trace.jsonl{RECORD}", [provenance_of("".join(one + two))])
    assert "unrecorded" not in run("score", "--format", "json", trace).out
    write(trace, one)
    said = " ".join(run("score", "--format", "text", trace).out.split())
    assert f"CORRECT, but {len(two)} recorded lines gone" in said
