"""Tables of many runs: what score says, a row a run, however often and with whatever is kept."""

import csv
import io
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import msgspec
import pytest

from drive_trace.fleet import kept as looking
from drive_trace.fleet.engine import RAY, engine
from drive_trace.fleet.scan import FleetScan, Inputs
from drive_trace.report.fleet import Row
from drive_trace.storage.files import Problem
from drive_trace.storage.finding import find_traces
from drive_trace.storage.fleet_cache import Cache, checksum_of
from tests.bench.traces import TraceOptions, trace_bytes
from tests.cli.support import REJECTED, git, process, run, write
from tests.cli.test_cores import on_one_core
from tests.cli.test_spread_runs import at, graded_at
from tests.support.client_text import apart, event, graded, tokens, triage
from tests.support.fixtures import provenance_of
from tests.support.judging import UNCALIBRATED, judge, judgement
from tests.support.systems import NO_SIGNALS, not_on_windows

CONFORMANCE = Path(__file__).parent.parent / "conformance" / "traces.jsonl"
FIRST = [
    *("run_id", "verdict", "mechanical", "qa", "intent", "input_tokens", "output_tokens"),
    *("cache_read_tokens", "cache_write_tokens", "wall_clock_ms"),
]
LONG_AGO = 10_000_000_000


@pytest.fixture(autouse=True)
def kept(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's cache folder of one test."""
    folder = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("DRIVE_TRACE_CACHE", str(folder))
    return folder


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is long after the files were written."""
    now = time.time_ns
    monkeypatch.setattr("time.time_ns", lambda: now() + LONG_AGO)


def rows(*args: str | Path, code: int = 0) -> list[Any]:
    ran = run("fleet", *args, "--out", "-")
    assert ran.code == code, ran.err
    return [json.loads(line) for line in ran.out.splitlines()]


def scored(*args: str | Path) -> list[Any]:
    """What score and check say of the same runs, in the shape of rows."""
    return [_as_row(each) for each in run("score", "--format", "json", *args).json["runs"]]


def _as_row(said: Any) -> dict[str, Any]:
    triple = said["correctness"] or dict.fromkeys(("mechanical", "qa", "intent"))
    unknown = dict.fromkeys(
        f"{name}_tokens" for name in ("input", "output", "cache_read", "cache_write")
    )
    cost = said["efficiency"] or {}
    clock, rounds = cost.get("wall_clock", {}), cost.get("rounds", {})
    return {
        "run_id": said["run_id"],
        "verdict": said["verdict"],
        **triple,
        **(said["tokens"] or unknown),
        "wall_clock_ms": cost.get("wall_clock_ms"),
        "wall_clock_counted": clock.get("counted"),
        "wall_clock_of": clock.get("of"),
        "rounds_per_dispatch": cost.get("rounds_per_dispatch"),
        "rounds_counted": rounds.get("counted"),
        "rounds_of": rounds.get("of"),
        "missing_inputs": said["missing_inputs"],
        "caveats": [each["code"] for each in said["caveats"]],
        "provenance": (said["provenance"] or {}).get("origin"),
        "judge": (said["judged"] or {}).get("model"),
        "events": sum(each["events"] for each in said["files"]),
        "rejected_lines": len(said["rejected_lines"]),
        "files": [each["path"] for each in said["files"]],
    }


def alike(row: dict[str, Any]) -> dict[str, Any]:
    """What score says, too."""
    return {name: row[name] for name in _as_row(dict.fromkeys(_SAID) | {"files": []} | _EMPTY)}


_SAID = ("run_id", "verdict", "correctness", "efficiency", "tokens", "provenance", "judged")
_EMPTY: dict[str, Any] = {"missing_inputs": [], "caveats": [], "rejected_lines": []}


@pytest.fixture
def fleet(here: Path) -> Path:
    write_fleet(here)
    return here


def write_fleet(tmp_path: Path) -> None:
    """Runs of all kinds: in one file and in several, copied, damaged, judged, and unreadable."""
    for number in range(12):
        options = TraceOptions(90, runs=3, defects=0.03 * (number % 3), seed=number)
        name = b'run_id":"r%d-' % (number // 2 if number < 6 else number)
        data = re.sub(rb'run_id":"[a-z-]*', name, trace_bytes(options))
        write(tmp_path, f"made/projects/p{number}/trace.jsonl", data)
    shutil.copytree(tmp_path / "made/projects/p3", tmp_path / "made/projects/copy")
    trace = write(tmp_path, "judged/trace.jsonl", apart(triage() + graded("pass", "pass", "pass")))
    judge(trace, UNCALIBRATED)
    odd = triage(project_run_id="odd ID") + tokens(9**30, 1, None, 3, project_run_id="odd ID")
    write(tmp_path, "odd/trace.jsonl", apart(odd.replace("ID", "\\ud800")))


def test_rows_are_what_score_says(fleet: Path) -> None:
    expected = scored(".")
    files = Counter(len(each["files"]) for each in expected)
    assert files[1] > 5
    assert files[2] + files[3] > 5
    for _ in range(2):
        found = rows(".")
        assert [alike(each) for each in found] == expected
    assert rows(".", "--no-cache") == found
    with on_one_core():
        assert rows(".", "--no-cache") == found
    assert list(found[0])[: len(FIRST)] == FIRST


@pytest.mark.parametrize("is_joined", [True, False])
def test_rows_of_conformance_traces_are_what_score_says(here: Path, is_joined: bool) -> None:
    texts = [json.loads(line)["text"] for line in CONFORMANCE.read_bytes().splitlines()]
    for number, text in enumerate(texts):
        own = text if is_joined else text.replace('run_id":"', f'run_id":"{number}-')
        write(here, f"{number:03}/trace.jsonl", own)
    write(here, "999/trace.jsonl", "\ufeff".encode("utf-16"))
    expected = scored(".")
    assert len(expected) > 2
    for _ in range(2):
        assert [alike(each) for each in rows(".", code=2)] == expected


def test_findings_are_those_of_check(fleet: Path) -> None:
    found = run("check", "--output-format", "json", "made/projects/p1").json
    checked = Counter(each["code"] for each in found)
    in_rows = found_in("made/projects/p1")
    assert in_rows
    assert in_rows <= checked
    off = "[rules]\n" + "".join(f'{each} = "off"\n' for each in in_rows)
    write(fleet, "made/projects/p1/drive-trace.toml", off)
    # What followed from a finding stands alone now.
    assert not found_in("made/projects/p1") & in_rows
    assert found_in("made/projects") & in_rows
    write(fleet, "drive-trace.toml", off)
    assert not found_in("made/projects") & in_rows
    write(fleet, "drive-trace.toml", "[rules]\nblank-line = 3\n")
    assert {
        each["findings"] is None for each in rows("made/projects/p2", "--findings", code=2)
    } == {True}
    assert rows("made/projects/p2")  # for which nobody has to read a configuration


def test_a_run_in_several_files_is_judged_as_by_check(here: Path) -> None:
    start = at(1, "dispatch-start", dispatch_id="d1", parent_dispatch_id=None)
    write(here, "a/trace.jsonl", start + graded_at(5, "pass", "pass", "pass"))
    write(here, "b/trace.jsonl", at(9, "dispatch-end", dispatch_id="d1", wall_clock_ms=480_000))
    write(here, "c/trace.jsonl", triage(project_run_id="alone", ts="yesterday"))
    checked = Counter(each["code"] for each in run("check", "--output-format", "json", ".").json)
    assert {"stale-verdict", "malformed-timestamp"} <= checked.keys()
    assert "unknown-dispatch" not in checked
    for _ in range(2):
        assert found_in(".") == checked
    write(here, "b/drive-trace.toml", "[rules]\nblank-line = 3\n")
    ungraded, joined = sorted(rows(".", "--findings", code=2), key=lambda row: len(row["files"]))
    assert ungraded["findings"] is not None
    assert joined["findings"] is None


def found_in(path: str) -> Counter[str]:
    found: Counter[str] = Counter()
    for row in rows(path, "--findings"):
        found.update(row["findings"])
    return found


def opened(folder: Path) -> set[str]:
    """The folders of the traces that a scan opens."""
    paths: list[str] = []
    _watched.append(paths)
    with on_one_core():
        rows(folder)
    _watched.clear()
    return {Path(each).parent.name for each in paths if each.endswith(".jsonl")}


_watched: list[list[str]] = []


def _watch(name: str, args: tuple[Any, ...]) -> None:
    if name == "open" and _watched:
        _watched[-1].append(os.fspath(args[0]) if not isinstance(args[0], int) else "")


@pytest.mark.usefixtures("later")
def test_a_second_scan_opens_what_has_changed(fleet: Path) -> None:
    sys.addaudithook(_watch)
    assert len(opened(fleet)) == 15
    assert opened(fleet) == {"odd"}  # which the cache does not take
    changed = fleet / "made/projects/p5/trace.jsonl"
    with changed.open("a") as file:
        file.write(triage(project_run_id="new"))
    # And the other file of the runs in it, as they are joined anew.
    assert opened(fleet) == {"odd", "p4", "p5"}
    judge(fleet / "judged/trace.jsonl", judgement())
    assert opened(fleet) == {"judged", "odd"}
    assert [alike(each) for each in rows(fleet)] == scored(fleet)


@pytest.mark.parametrize("options", [(), ("--findings",)])
def test_what_is_kept_says_nothing_of_where_a_trace_was_found(
    here: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...]
) -> None:
    """A line that may grade any run: that of another file, whatever the file was called before."""
    stray = graded("fail", "fail", "fail").replace('"project_run_id":"run-1",', "")
    own = triage(project_run_id="own") + graded("pass", "pass", "pass", project_run_id="own")
    write(here, "own/t.jsonl", apart(own))
    other = triage(project_run_id="other") + graded("pass", "pass", "pass", project_run_id="other")
    write(here, "other/t.jsonl", apart(other + stray))
    monkeypatch.chdir(here / "other")
    rows("t.jsonl", *options)
    monkeypatch.chdir(here / "own")
    found = rows("t.jsonl", "../other/t.jsonl", *options)
    assert found == rows("t.jsonl", "../other/t.jsonl", *options, "--no-cache")
    assert [each["caveats"] for each in found] == [["rejected-grade"]] * 2


@pytest.mark.usefixtures("later")
def test_a_record_that_git_tracks_now_says_something_again(here: Path) -> None:
    text = triage() + graded("pass", "pass", "pass")
    write(here, "trace.jsonl", text)
    write(
        here, "trace.jsonl.provenance.ndjson", provenance_of(text + graded("fail", "pass", "pass"))
    )
    git(here, "init", "-q")
    git(here, "add", "trace.jsonl")
    for _ in range(2):
        assert rows(here)[0]["caveats"] == []
    git(here, "add", "trace.jsonl.provenance.ndjson")
    for _ in range(2):
        assert rows(here)[0]["caveats"] == ["unrecorded-change"]


@pytest.mark.usefixtures("later")
def test_a_record_that_comes_after_the_search_is_gone_when_it_goes(fleet: Path, kept: Path) -> None:
    record = fleet / "judged/trace.jsonl.judgements.ndjson"
    text = record.read_text("utf-8")

    def caveats(comes: str) -> list[tuple[str, ...]]:
        """Of the run, where that is what has come since the folder was searched."""
        record.unlink()
        found = [*find_traces(["judged"])]
        record.write_text(comes, "utf-8")
        with closing(Cache(kept)) as cache:
            scan = FleetScan(Inputs(found, print, findings=False), cache)
            scan.read()
            return [each.caveats for each in scan.rows()]

    assert caveats(text) == [("uncalibrated-judge",)]
    assert caveats("") == [()]


def test_what_was_just_written_is_read_again(fleet: Path) -> None:
    """A file may change twice within one tick of the clock that its timestamp comes from."""
    trace = fleet / "judged/trace.jsonl"
    before = trace.stat()
    assert rows(trace)[0]["verdict"] == "correct"
    data = trace.read_bytes()
    trace.write_bytes(data.replace(b'"qa":"pass"', b'"qa":"fail"'))
    os.utime(trace, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert rows(trace)[0]["verdict"] == "incorrect"


def test_what_cannot_be_read_back_is_not_kept(
    fleet: Path, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = rows(".", "--no-cache")
    for part in ("state_from", "read_back", "summary_from"):
        with monkeypatch.context() as patched:
            patched.setattr(f"drive_trace.fleet.kept.{part}", lambda *_: None)
            for _ in range(2):
                assert rows(".") == expected
    assert (kept / "fleet.sqlite").is_file()


def test_a_trace_that_cannot_be_asked_for_its_state_is_not_as_it_was(
    fleet: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = fleet / "made/projects/p1/trace.jsonl"

    def refuse(_: str) -> None:
        raise PermissionError

    with monkeypatch.context() as patched:
        asked = SimpleNamespace(stat=refuse, path=os.path)
        patched.setattr(looking, "os", asked)
        file = looking.File(str(trace), "x", None)
        seen = looking.look_at_file(file)
    assert isinstance(seen, looking.TraceState)
    trace.unlink()
    (found,) = looking.KeptTraces(Cache(None)).look_at([file._replace(known=seen)])
    assert isinstance(found, Problem)


@pytest.mark.parametrize("options", [(), ("--no-cache",)])
def test_a_file_without_an_event_is_named(tmp_path: Path, options: tuple[str, ...]) -> None:
    for name, text in UNREADABLE.items():
        path = write(tmp_path, f"bad/{name}.jsonl", text)
        for _ in range(2):
            ran = run("fleet", path, *options)
            said = f"drive-trace: {path}: no line of it names a run\n"
            assert (ran.code, ran.err) == (2, said)
            assert ran.out == "0 runs in 1 file\n1 input could not be read\n"
    good = write(tmp_path, "good.jsonl", apart(graded("pass", "pass", "pass")))
    ran = run("fleet", *sorted((tmp_path / "bad").iterdir()), good, *options)
    assert ran.code == 2
    assert ran.out.splitlines()[:2] == [
        "1 run in 4 files: 1 CORRECT with caveats",
        "3 inputs could not be read, so no CORRECT is free of caveats",
    ]
    empty = write(tmp_path, "empty.jsonl", "")
    ran = run("fleet", empty, *options)
    assert (ran.code, ran.out, ran.err) == (0, "0 runs in 1 file\n", "")


UNREADABLE = {
    "garbage": "\0\1garbage\n",
    "pointer": "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n",
    "other": '{"name": "not a trace"}\n',
}


def test_a_cache_that_cannot_be_removed_does_no_harm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on Windows while another process reads it."""

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError

    cache = Cache(tmp_path)
    cache._database.execute("DROP TABLE kept")
    assert not cache.get_many([b"key"])
    monkeypatch.setattr(Path, "unlink", refuse)
    cache.close()


@not_on_windows(NO_SIGNALS)
def test_a_killed_scan_leaves_a_cache_that_works(fleet: Path, kept: Path) -> None:
    expected = rows(".", "--no-cache")
    code = (
        "import sys\n"
        "from drive_trace.storage import fleet_cache\n"
        "put, left = fleet_cache.Cache.put_many, int(sys.argv.pop())\n"
        "def put_some(self, values):\n"
        "    put(self, dict(list(values.items())[:left]))\n"
        "    import os, signal; os.kill(os.getpid(), signal.SIGKILL)\n"
        "fleet_cache.Cache.put_many = put_some\n"
        "from drive_trace.__main__ import main\n"
        "main()\n"
    )
    for puts in (1, 15, 20):
        ended = subprocess.run(
            [sys.executable, "-c", code, "fleet", ".", str(puts)], capture_output=True, check=False
        )
        assert ended.returncode == -9
        assert rows(".") == expected
        (kept / "fleet.sqlite").unlink()


def test_a_corrupt_or_foreign_cache_is_not_believed(fleet: Path, kept: Path) -> None:
    expected = rows(".")
    path = kept / "fleet.sqlite"
    whole = path.read_bytes()
    for damaged in (
        b"",
        b"not a database",
        whole[: len(whole) // 2],
        whole[:5000] + b"\xff" * 5000 + whole[10000:],
        whole.replace(b'"pass"', b'"fail"'),
    ):
        path.write_bytes(damaged)
        assert rows(".") == expected
    path.unlink()
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE kept (key, value, sum)")
        other.execute("CREATE TRIGGER t AFTER INSERT ON kept BEGIN DELETE FROM kept; END")
    other.close()
    assert rows(".") == expected


def _cut(value: bytes) -> bytes:
    return value[:-9]


def _with_a_text_for_a_number(value: bytes) -> bytes:
    """The same, whole, but that the rows in it have a text where their events are counted."""
    whole = msgspec.msgpack.decode(value)
    at = looking.TraceState._fields.index("shown")
    is_state = isinstance(whole, list) and isinstance(whole[at], bytes)
    rows = msgspec.msgpack.decode(whole[at]) if is_state else [whole] * isinstance(whole, list)
    for row in rows:
        row[Row.__struct_fields__.index("events")] = "many"
    if is_state:
        whole[at] = msgspec.msgpack.encode(rows)
    return msgspec.msgpack.encode(whole)


@pytest.mark.usefixtures("later")
@pytest.mark.parametrize("forge", [_cut, _with_a_text_for_a_number])
def test_what_has_another_type_is_not_believed(
    fleet: Path, kept: Path, forge: Callable[[bytes], bytes]
) -> None:
    """Not even with the right checksum."""
    expected = rows(".")
    with sqlite3.connect(kept / "fleet.sqlite") as database:
        found = database.execute("SELECT key, value FROM kept WHERE length(value)").fetchall()
        for key, value in found:
            forged = forge(value)
            database.execute(
                "UPDATE kept SET value = ?, sum = ? WHERE key = ?",
                (forged, checksum_of(key, forged), key),
            )
    database.close()
    assert sum(forge(value) != value for _, value in found) > 15
    assert rows(".") == expected


def test_another_process_has_the_cache(
    fleet: Path, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("drive_trace.commands.fleet._PATIENCE", 0)
    expected = rows(".")
    other = Cache(kept)
    ran = run("fleet", ".", "--out", "-")
    assert "nothing is kept: another process has its database open" in ran.err
    assert [json.loads(line) for line in ran.out.splitlines()] == expected
    other.close()


def test_a_cache_that_is_no_folder_is_named(
    fleet: Path, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DRIVE_TRACE_CACHE", str(write(fleet, "file", "")))
    assert run("fleet", ".").err.endswith("file: nothing is kept: File exists\n")


def test_no_table_takes_the_place_of_a_trace(fleet: Path) -> None:
    path = write(fleet, "old.csv", ROUND)
    ran = run("fleet", "made", "--out", "old.csv")
    assert (ran.code, path.read_text("utf-8")) == (2, ROUND)
    assert "a table must not take the place of a trace" in ran.err


def test_a_file_that_changes_meanwhile_puts_its_runs_in_doubt(fleet: Path) -> None:
    with on_one_core():
        paths = ("judged/trace.jsonl", *(f"made/projects/p{each}/trace.jsonl" for each in (0, 1)))
        inputs = Inputs(paths, lambda _: None, findings=False)
        scan = FleetScan(inputs, Cache(None))
        scan.read()
        found = scan.rows()
        assert next(found).caveats == ("uncalibrated-judge",)
        with (fleet / "made/projects/p1/trace.jsonl").open("a") as file:
            file.write(REJECTED)
        doubted = list(found)
        assert ["unread-input" in each.caveats for each in doubted] == [True] * 3
        assert [each.files for each in doubted] == [paths[1:]] * 3
    assert {each.reason for each in inputs.unread} == {"changed while runs were joined"}


@pytest.mark.parametrize("is_full", [False, True])
def test_what_the_cache_does_not_take_is_made_again(
    fleet: Path, monkeypatch: pytest.MonkeyPatch, is_full: bool
) -> None:
    """As lone surrogates, or anything on a full disk; and only of what it was."""
    odd, other = "odd/trace.jsonl", "made/projects/p7/trace.jsonl"
    expected = rows(odd, other)
    if is_full:
        monkeypatch.setattr(Cache, "put_many", lambda *_: None)
    with on_one_core():
        scans = [
            FleetScan(Inputs((odd, other), lambda _: None, findings=False), Cache(None))
            for _ in range(2)
        ]
        for each in scans:
            each.read()
        found = list(scans[0].rows())
        assert [each.run_id for each in found] == [each["run_id"] for each in expected]
        assert [each.verdict for each in found] == [each["verdict"] for each in expected]
        (fleet / odd).unlink()
        with pytest.raises(looking.ScanError, match="changed while runs were joined; try again"):
            list(scans[1].rows())


# Tables


def test_a_table_takes_hostile_text(tmp_path: Path) -> None:
    hostile = ("=1+1", "-2", "@x", " +x", "\t=x", "a,b\n::error::x\x1b[31m", 'q"')
    write(tmp_path, "x.jsonl", "".join(triage(project_run_id=each) for each in hostile))
    out = tmp_path / "runs.csv"
    ran = run("fleet", tmp_path / "x.jsonl", "--out", out)
    assert "\x1b" not in ran.out + out.read_text("utf-8")
    header, *found = csv.reader(io.StringIO(out.read_text("utf-8")))
    assert header[: len(FIRST)] == FIRST
    ids = [each[0] for each in found]
    assert ids[:4] == ["'=1+1", "'-2", "'@x", "' +x"]
    assert ids[4:] == ["'<U+0009>=x", "a,b<U+000A>::error::x<U+001B>[31m", 'q"']
    assert dict(zip(header, found[0], strict=True))["input_tokens"] == ""
    assert [each["run_id"] for each in rows(tmp_path / "x.jsonl")] == list(hostile)


def test_a_table_takes_the_place_of_no_trace(fleet: Path) -> None:
    broken = write(fleet, "broken.jsonl", "{}\n" + triage())
    trace = fleet / "judged/trace.jsonl"
    for path, inputs in ((trace, trace), (fleet / "trace.jsonl", trace), (broken, broken)):
        before = path.read_bytes() if path.exists() else None
        ran = run("fleet", inputs, "--out", path)
        assert ran.code == 2
        assert "is not written" in ran.err
        assert before == (path.read_bytes() if path.exists() else None)
    assert run("fleet", trace, "--out", fleet / "runs.jsonl").code == 0
    assert run("fleet", trace, "--out", fleet / "runs.jsonl").code == 0
    assert not [*fleet.glob(".drive-trace-*")]


def test_patterns(fleet: Path) -> None:
    assert len({path for each in rows("made/projects/p[0-3]") for path in each["files"]}) == 4
    assert {each["project"] for each in rows("**/projects/*/*.jsonl")} == {"made"}
    ran = run("fleet", "nothing/*.jsonl")
    assert (ran.code, "no such file" in ran.err) == (2, True)
    if sys.platform != "win32":
        (fleet / "made/projects/out").symlink_to(fleet / "judged")
        ran = run("fleet", "made/**/*.jsonl", "--out", "-")
        assert (ran.code, "run-1" in ran.out) == (2, False)
        said = "made/projects/out/trace.jsonl: not read: link out of the repository; exclude it"
        assert said in ran.err.replace(os.sep, "/")


def test_what_cannot_be_asked() -> None:
    assert "ends with none of" in run("fleet", "--out", "runs.xml").err
    assert "is no file" in run("fleet", "-").err
    assert "--address is for --runner ray" in run("fleet", "--address", "head:6379").err
    assert "Error: '--address' is empty" in run("fleet", "--runner", "ray", "--address", "").err


@pytest.mark.parametrize(
    ("named", "address", "joined"),
    [(None, None, "local"), ("", None, "local"), ("auto", None, "auto"), ("auto", "a", "a")],
)
def test_no_cluster_is_joined_that_nobody_named(
    monkeypatch: pytest.MonkeyPatch, named: str | None, address: str | None, joined: str
) -> None:
    addresses: list[str] = []
    ray = ModuleType("ray")
    setattr(ray, "init", lambda address, **_: addresses.append(address))  # noqa: B010
    setattr(ray, "cluster_resources", dict)  # noqa: B010
    monkeypatch.setitem(sys.modules, "ray", ray)
    monkeypatch.setitem(sys.modules, "daft", MagicMock())
    monkeypatch.setattr(os, "environ", dict(os.environ))
    os.environ.pop("RAY_ADDRESS", None)
    os.environ.update({"RAY_ADDRESS": named} if named is not None else {})
    engine(RAY, address)
    assert addresses == [joined]


@pytest.mark.parametrize(
    ("args", "missing", "extra"),
    [
        (("--out", "runs.parquet"), "pyarrow", "drive-trace[fleet]"),
        (("--runner", "daft"), "daft", "drive-trace[fleet]"),
        (("--runner", "ray"), "daft", "drive-trace[fleet-ray]"),
    ],
)
def test_an_extra_that_is_missing_is_named(
    here: Path, monkeypatch: pytest.MonkeyPatch, args: tuple[str, ...], missing: str, extra: str
) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    ran = run("fleet", ".", *args)
    needs = f"drive-trace: {args[0]} {args[1]} needs an extra: pip install '{extra}'\n"
    assert (ran.code, ran.out, ran.err) == (2, "", needs)
    assert not [*here.iterdir()]


def test_the_summary_names_first_what_needs_somebody(tmp_path: Path) -> None:
    day = "2026-06-01T10:00:00.000Z"
    for name, text in {
        "api/projects/good": graded("pass", "pass", "pass", project_run_id="good"),
        "api/projects/bad": graded("pass", "fail", "pass", project_run_id="bad"),
        "web/projects/old": graded("pass", "pass", "pass", project_run_id="old") + ROUND,
        "web/projects/new": triage(project_run_id="new", ts=day, severity="low"),
    }.items():
        write(tmp_path, f"{name}/trace.jsonl", apart(text))
    ran = process("fleet", ".", "--no-cache", "--findings", cwd=tmp_path)
    assert ran.code == 0
    assert ran.out.replace("\\", "/").splitlines() == SUMMARY.splitlines()
    ran = process("fleet", ".", "--no-cache", cwd=tmp_path)
    before, _, _ = SUMMARY.partition("Commonest findings")
    unasked = "Findings: not looked at (--findings counts them)\n"
    assert ran.out.replace("\\", "/").splitlines() == f"{before.rstrip()}\n{unasked}".splitlines()


def test_findings_that_nobody_asks_for_are_unknown(tmp_path: Path) -> None:
    trace = write(tmp_path, "trace.jsonl", apart(triage(ts="yesterday") + "{\n"))
    for options in ((), ("--findings",), (), ("--findings",)):
        (row,) = rows(trace, *options)
        assert bool(row.pop("findings")) == bool(options)
        assert row == {name: row[name] for name in rows(trace)[0] if name != "findings"}


def test_an_incorrect_that_is_stale_may_be_correct(tmp_path: Path) -> None:
    text = graded("pass", "fail", "pass", project_run_id="old") + ROUND
    write(tmp_path, "api/projects/old/trace.jsonl", apart(text))
    ran = process("fleet", ".", "--no-cache", "--out", "-", cwd=tmp_path)
    assert json.loads(ran.out)["is_certain"] is False
    assert "not known" in ran.err


ROUND = event("round-start", "old", dispatch_id="d", round_id="r", round_number=1)
SUMMARY = """\
4 runs in 4 files: 1 CORRECT · 1 CORRECT with caveats · 1 INCORRECT · 1 not computable

Stale, to be graded again: 1 run
  old  web/projects/old/trace.jsonl

Not graded: 1 run
  new  web/projects/new/trace.jsonl

By project
       runs  CORRECT  caveats  INCORRECT  no verdict  share of CORRECT
  api     2        1        0          1           0  0.50 [0.09, 0.91]
  web     2        0        1          0           1  not known

By month
           runs  CORRECT  caveats  INCORRECT  no verdict  share of CORRECT
  2026-05     3        1        1          1           0  0.33 to 0.67 [0.06, 0.94]
  2026-06     1        0        0          0           1  not known

Commonest findings
  rule              places  runs
  stale-verdict          1     1
  undeclared-field       1     1
  unknown-dispatch       1     1
"""
