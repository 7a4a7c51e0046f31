"""Work on many traces at once: the same as one after another."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from drive_trace.storage.processes import on_all_cores
from tests.bench.traces import TraceOptions, trace_bytes
from tests.cli.support import process

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or len(os.sched_getaffinity(0)) < 2,
    reason="processes are forked on Linux, where there are two cores",
)


@contextmanager
def on_one_core() -> Iterator[None]:
    if sys.platform != "linux":  # where all work is done in one process
        yield
        return
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)


@pytest.mark.parametrize("output_format", ["full", "json"])
def test_many_traces_have_the_findings_that_they_have_one_by_one(
    tmp_path: Path, output_format: str
) -> None:
    """With copies of events and grades of one run in several files, and a baseline."""
    texts = [trace_bytes(TraceOptions(1_200 + each, runs=1, defects=0.05)) for each in range(4)]
    for place in range(8):
        folder = tmp_path / f"projects/p{place}"
        folder.mkdir(parents=True)
        (folder / "trace.jsonl").write_bytes(texts[place % 4] + texts[(place + 1) % 4][:90_000])
    (tmp_path / "projects/p8").mkdir()
    (tmp_path / "projects/p8/trace.jsonl").write_bytes("{}".encode("utf-16"))
    (tmp_path / "drive-trace.toml").write_text('[rules]\nblank-line = "warning"\n')
    baseline = process("check", "--write-baseline", "projects/p6", cwd=tmp_path)
    assert baseline.code == 0
    command = ("check", "--output-format", output_format)
    with on_one_core():
        expected = process(*command, cwd=tmp_path)
    shown = process(*command, cwd=tmp_path)
    assert "UTF-16" in expected.out
    assert "conflicting-event-id" in expected.out or "copied-events" in expected.out
    assert (shown.out, shown.err, shown.code) == (expected.out, expected.err, expected.code)


def test_what_a_process_does_not_finish_is_done_here() -> None:
    here = os.getpid()

    def work(item: int) -> int:
        if item == 3 and os.getpid() != here:
            os.kill(os.getpid(), signal.SIGKILL)
        return 10 * item

    assert list(on_all_cores(work, range(6))) == [(each, 10 * each) for each in range(6)]


@pytest.mark.parametrize("forks", [0, 1])
def test_where_not_all_processes_can_be_forked_the_work_is_done_here(forks: int) -> None:
    script = f"""
import os
from drive_trace.storage.processes import on_all_cores

fork, left = os.fork, [None] * {forks}

def fork_while_it_goes():
    if not left:
        raise BlockingIOError
    left.pop()
    return fork()

os.fork = fork_while_it_goes
assert list(on_all_cores(str, range(9))) == [(each, str(each)) for each in range(9)]
"""
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)


def test_no_process_is_left_where_nobody_wants_the_rest() -> None:
    before = psutil.Process().children()
    results = on_all_cores(str, range(100))
    assert next(results) == (0, "0")
    assert len(psutil.Process().children()) > len(before)
    results.close()
    assert psutil.Process().children() == before


def test_no_process_outlives_a_command_that_is_killed() -> None:
    script = (
        "from threading import Event; from drive_trace.storage.processes import on_all_cores; "
        "list(on_all_cores(lambda _: Event().wait(), range(9)))"
    )
    with subprocess.Popen([sys.executable, "-c", script]) as command:
        known = psutil.Process(command.pid)
        while not (forked := known.children()):
            assert command.poll() is None
        command.kill()
    assert forked
    while any(map(is_alive, forked)):
        psutil.wait_procs(forked, timeout=0.1)


def is_alive(process: psutil.Process) -> bool:
    """Nobody may ask a process how it ended after the one that forked it has gone."""
    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False
