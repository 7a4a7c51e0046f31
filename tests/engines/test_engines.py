"""The runs of many traces, joined by engines: the same rows, in the same order, as without one.

`make fleet-test` installs the extra that these tests need, and runs them.
"""

import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from drive_trace.fleet.engine import DAFT, engine
from drive_trace.fleet.kept import ScanError
from drive_trace.fleet.scan import FleetScan, Inputs
from drive_trace.storage.fleet_cache import Cache
from tests.bench.traces import TraceOptions, trace_bytes
from tests.cli.support import process, write
from tests.cli.test_fleet import CONFORMANCE, write_fleet
from tests.support.client_text import triage

NEEDED = "needs the extra drive-trace[fleet-ray]: see make fleet-test"
pytest.importorskip("daft", reason=NEEDED)
pytest.importorskip("ray", reason=NEEDED)

pytestmark = pytest.mark.timeout(1_000)  # thousands of traces, on a machine that may be busy
ROOT = Path(__file__).parent.parent.parent
TRACES = 3_000
SILENT = {"RAY_USAGE_STATS_ENABLED": "0", "DO_NOT_TRACK": "1"}
LOOPBACK = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}
"""As Ray does by itself on other systems: it has other nodes on this machine only."""


@pytest.fixture(scope="module")
def traces(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Thousands of generated traces, the conformance traces, each as runs of its own and joined,
    runs in several files, configurations, and what cannot be read.
    """
    folder = tmp_path_factory.mktemp("engines")
    for number in range(TRACES):
        options = TraceOptions(60, runs=1 + number % 2, defects=0.02 * (number % 3), seed=number)
        name = number // 2 if number % 7 == 0 else number
        data = re.sub(rb'run_id":"[a-z-]*', b'run_id":"r%d-' % name, trace_bytes(options))
        write(folder, f"team{number % 10}/projects/p{number}/trace.jsonl", data)
    for number, line in enumerate(CONFORMANCE.read_bytes().splitlines()):
        text = json.loads(line)["text"]
        write(folder, f"joined/{number:03}/trace.jsonl", text)
        apart = text.replace('run_id":"', f'run_id":"{number}-')
        write(folder, f"apart/{number:03}/trace.jsonl", apart)
    write_fleet(folder / "kinds")
    many = "".join(triage(project_run_id=f"many-{number}") for number in range(300))
    for copy in ("one", "two"):
        write(folder, f"{copy}/trace.jsonl", many)
    write(folder, "team1/drive-trace.toml", '[rules]\nunknown-dispatch = "off"\n')
    write(folder, "team2/drive-trace.toml", "[rules]\nblank-line = 3\n")
    write(folder, "garbage/trace.jsonl", b"\xff\xfe\0\1" * 999)
    write(folder, "binary/trace.jsonl", b"\x80\n" * 9)
    write(folder, "pointer/trace.jsonl", b"version https://git-lfs.github.com/spec/v1\n")
    write(folder, "empty/trace.jsonl", b"")
    (folder / "folder/trace.jsonl").mkdir(parents=True)
    return folder


@pytest.fixture(scope="module", params=[(), ("--findings",)], ids=["verdicts", "findings"])
def options(request: pytest.FixtureRequest) -> tuple[str, ...]:
    """Whether the rules run, too."""
    given: tuple[str, ...] = request.param
    return given


@pytest.fixture(scope="module")
def local(traces: Path, options: tuple[str, ...]) -> list[str]:
    return table(traces, *options)


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    """The address of a cluster with two workers, on this machine alone."""
    command = [sys.executable, "-m", "tests.engines.cluster"]
    env = os.environ | SILENT | LOOPBACK
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, cwd=ROOT, env=env, **pipes, text=True) as own:
        assert own.stdout is not None
        yield own.stdout.readline().strip()


def table(folder: Path, *args: str) -> list[str]:
    """The lines of a table, and of its summary."""
    env = os.environ | LOOPBACK
    asked = ("fleet", ".", "--no-cache", "--out", "-", *args)
    ran = process(*asked, cwd=folder, env=env, timeout=900)  # on a busy machine
    assert ran.code == 2, ran.err  # as some traces cannot be read
    for unread in ("folder", "garbage", "pointer"):
        assert f"{unread}/trace.jsonl" in ran.err
    assert ("team2/drive-trace.toml" in ran.err) == ("--findings" in args)
    _, _, summary = ran.err.rpartition(" runs in ")
    return [*ran.out.splitlines(), *summary.splitlines()]


def test_local_rows_are_of_all_kinds(local: list[str], options: tuple[str, ...]) -> None:
    rows = [json.loads(line) for line in local if line.startswith("{")]
    assert len(rows) > TRACES
    assert {row["verdict"] for row in rows} == {"correct", "incorrect", "not-computable"}
    assert len([row for row in rows if len(row["files"]) > 1]) > 500
    assert {row["findings"] is None for row in rows} == {True, not options}


def test_daft_on_this_machine_gives_the_same_rows(
    traces: Path, local: list[str], options: tuple[str, ...]
) -> None:
    assert table(traces, "--runner", "daft", *options) == local


def test_a_cluster_gives_the_same_rows(
    traces: Path, local: list[str], cluster: str, options: tuple[str, ...]
) -> None:
    assert table(traces, "--runner", "ray", "--address", cluster, *options) == local


def test_no_runs(tmp_path: Path) -> None:
    write(tmp_path, "trace.jsonl", b"")
    ran = process("fleet", ".", "--runner", "daft", "--out", "-", cwd=tmp_path)
    assert (ran.code, ran.out) == (0, "")
    assert "0 runs in 1 file" in ran.err


def test_a_file_without_an_event_is_named(tmp_path: Path) -> None:
    write(tmp_path, "trace.jsonl", b"garbage\n")
    ran = process("fleet", ".", "--runner", "daft", cwd=tmp_path)
    assert ran.code == 2
    assert "trace.jsonl: no line of it names a run" in ran.err
    assert ran.out.splitlines() == ["0 runs in 1 file", "1 input could not be read"]


def test_a_file_that_changes_meanwhile_puts_its_runs_in_doubt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("one", "two"):
        write(tmp_path, f"{name}.jsonl", triage(project_run_id="joined") + triage())
    inputs = Inputs(("one.jsonl", "two.jsonl"), lambda _: None, findings=True)
    scan = FleetScan(inputs, Cache(None), on_all=engine(DAFT, None))
    assert scan.read() == 2
    write(tmp_path, "two.jsonl", triage(project_run_id="joined"))
    found = list(scan.rows())
    assert [each.run_id for each in found] == ["joined", "run-1"]
    assert [each.files for each in found] == [("one.jsonl", "two.jsonl")] * 2
    assert ["unread-input" in each.caveats for each in found] == [True] * 2
    assert {each.reason for each in inputs.unread} == {"changed while runs were joined"}


def test_a_worker_of_another_version_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("drive_trace.fleet.engine.__version__", "9.9.9")
    inputs = Inputs((str(write(tmp_path, "trace.jsonl")),), print, findings=False)
    scan = FleetScan(inputs, Cache(None), on_all=engine(DAFT, None))
    with pytest.raises(
        ScanError, match=r"^a worker has drive-trace [\d.]+; 9\.9\.9 is needed there$"
    ):
        scan.read()


def test_a_cluster_that_does_not_answer_is_named(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    ran = process("fleet", ".", "--runner", "ray", "--address", address, cwd=tmp_path)
    assert ran.code == 2
    assert ran.err.startswith(f"drive-trace: no cluster answers at {address}: ")
