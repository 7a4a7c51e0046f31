"""Each system call of each command that writes, failing and as the last before a kill: what was
recorded stays, and what the command says is true. ``docs/reliability.md`` shows what was found.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import pytest

from drive_trace.text.wording import listed
from tests.cli.support import Ran
from tests.storage.faults import ERRORS, FOLDER, LOOKS, TEMPORARY, Call, Fault, FaultySystem
from tests.storage.operations import OPERATIONS, PROVENANCE, Operation
from tests.storage.support import ROOT
from tests.support.snapshots import Snapshots, stored

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the tables hold for Linux")

MEMORY = Path("/dev/shm")


class Outcome(NamedTuple):
    """What came of an operation."""

    ran: Ran | None
    """None where it was killed."""
    disk: Mapping[str, str]
    """What has become of files, in words; without those that are as they were."""
    system: FaultySystem


EMPTY, LINE, TORN, NEW = "empty", "one line more", "a torn line more", "the new one"
PARTIAL = "a new one, which says what was not read"
LEFT = "left behind"


class World:
    """The files of an operation, as it finds them each time."""

    def __init__(self, operation: Operation) -> None:
        self._do, self._after = operation, dict[Path, bytes]()
        operation.write()
        self._start = {path: path.read_bytes() for path in Path().iterdir()}
        self._written = [Path(operation.folder, each) for each in operation.written]
        self.whole = self.attempt({})
        self._after = self._contents()

    def attempt(self, faults: Mapping[int | Call, Fault]) -> Outcome:
        """What comes of the operation with some faults."""
        self.reset()
        watched = {*self._do.written, *self._do.read}
        system = FaultySystem(Path(self._do.folder).absolute(), watched, faults)
        if {Fault.KILLED, Fault.TORN}.isdisjoint(faults.values()):
            outcome = Outcome(_run(system, self._do.run), self._disk(), system)
        else:
            _run_to_death(system, self._do.run)
            outcome = Outcome(None, self._disk(), system)
        self._check_recorded(outcome.disk)
        return outcome

    @staticmethod
    def _check_recorded(disk: Mapping[str, str]) -> None:
        """An entry of a record, and be it torn, is of an event that stands in the trace."""
        if disk.get(PROVENANCE, EMPTY) != EMPTY:
            assert disk["trace.jsonl"] == LINE

    def reset(self) -> None:
        """Make the files what they were."""
        for path in {*Path().iterdir()} - self._start.keys():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        for path, data in self._start.items():
            path.write_bytes(data)

    def check_next(self, outcome: Outcome) -> None:
        """The next one, without faults, appends below what is there, or replaces it."""
        before = self._contents()
        ran = (self._do.following or self._do.run)()
        assert ran.code == 0, ran
        for path, now in self._contents().items():
            if path.name == self._do.replaced:
                assert now == self._after[path]
            else:
                start, is_torn = before.get(path, b""), outcome.disk.get(path.name) == TORN
                assert now.startswith(start + b"\n" * is_torn)
                assert _is_line(now.removeprefix(start + b"\n" * is_torn))
        assert any(Path().glob("*.tmp")) == (TEMPORARY in outcome.disk)

    def _contents(self) -> dict[Path, bytes]:
        return {path: path.read_bytes() for path in self._written if path.exists()}

    def _disk(self) -> dict[str, str]:
        contents = self._contents()
        states = {path.name: self._state(path, contents.get(path)) for path in self._written}
        states[TEMPORARY] = LEFT if any(Path().glob(".drive-trace-*.tmp")) else ""
        return {name: state for name, state in states.items() if state}

    def _state(self, path: Path, now: bytes | None) -> str:
        before = self._start.get(path)
        if now == before:
            return ""
        assert now is not None
        if path.name == self._do.replaced:
            if now == self._after.get(path, now):
                return NEW
            assert b"**Not complete: " in now, "neither old nor new"
            return PARTIAL
        assert now.startswith(before or b"")
        more = now.removeprefix(before or b"")
        if b"\n" in more:
            assert _is_line(more)
        return LINE if b"\n" in more else TORN if more else EMPTY


def _is_line(data: bytes) -> bool:
    return data.count(b"\n") == 1 and data.endswith(b"\n") and isinstance(json.loads(data), dict)


def _run(system: FaultySystem, run: Callable[[], Ran]) -> Ran:
    with pytest.MonkeyPatch.context() as patch:
        system.install(patch)
        ran = run()
    assert system.open == {}
    return ran


def _run_to_death(system: FaultySystem, run: Callable[[], Ran]) -> None:
    child = os.fork()
    if not child:
        with suppress(BaseException):
            _run(system, run)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status)
    assert os.WTERMSIG(status) == signal.SIGKILL


CLAIMS = {
    "left as it was": "",
    "nothing was written": "",
    "is not fixed": "",
    "stands in it in part": TORN,
    "stands in it, but may not outlast": LINE,
    "the new one is there": NEW,
}
"""What a command may say of a file when it fails, and what has become of that then."""


UNRECORDED = "the event was appended, but not where it comes from"


def check_told(operation: Operation, outcome: Outcome, whole: Outcome) -> None:
    """What a command says is true, and what it says it has done is on the disk."""
    assert outcome.ran is not None
    code, out, err = outcome.ran
    written = list(operation.written)
    if UNRECORDED in err:
        written.remove(PROVENANCE)
    if code == 0:
        assert {**outcome.disk, PROVENANCE: None} == {**whole.disk, PROVENANCE: None}
        for file in written:
            assert_synced(outcome.system.done, TEMPORARY if file == operation.replaced else file)
        return
    assert code == 2
    assert err.startswith("drive-trace: ") or "unreadable-file" in out
    last = outcome.disk.get([each for each in written if each != PROVENANCE][-1], "")
    last = last.replace(EMPTY, "")  # a new file that holds nothing
    said = {state for claim, state in CLAIMS.items() if claim in err}
    there = {NEW if each == PARTIAL else each for each in outcome.disk.values()}
    assert said <= {last, *there}
    assert last in {"", PARTIAL, *said}
    assert TEMPORARY not in outcome.disk or len(outcome.system.faults) > 1


def assert_synced(done: Sequence[Call], file: str) -> None:
    order = ["write", "fsync", "replace"] if file == TEMPORARY else ["write", "fsync"]
    assert [name for name, each in done if each == file and name in order] == order
    if ("mkdir", FOLDER) in done or file == TEMPORARY:
        assert Call("fsync", FOLDER) in done[done.index(Call(order[-1], file)) :]


@pytest.fixture(params=OPERATIONS)
def name(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Of each operation, for a folder in memory where that can be."""
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as folder:
        monkeypatch.chdir(folder)
        yield request.param
        monkeypatch.undo()


def test_nothing_is_lost_whatever_fails_and_what_is_said_is_true(
    name: str, snapshots: Snapshots
) -> None:
    operation = OPERATIONS[name]
    world = World(operation)
    table = Table(world.whole)
    for at, call in enumerate(world.whole.system.calls):
        for fault in (Fault.ERROR, Fault.HALF)[: 1 + (call.name == "write")]:
            outcome = world.attempt({at: fault})
            check_told(operation, outcome, world.whole)
            world.check_next(outcome)
            table.add(fault, call, outcome)
            later = outcome.system.calls[at + 1 :] if outcome.ran.code else []
            for number, second in enumerate(later, at + 1):
                both = world.attempt({at: fault, number: Fault.ERROR})
                check_told(operation, both, world.whole)
                world.check_next(both)
                if both.disk != outcome.disk:
                    table.add(fault, call, both, second)
        for fault in (Fault.KILLED, Fault.TORN)[: 1 + (call.name == "write")]:
            outcome = world.attempt({at: fault})
            world.check_next(outcome)
            table.add(fault, call, outcome)
    snapshots.check(f"faults/{name}.md", table.text())
    assert stored("faults") == {*OPERATIONS}


SYSTEM_CALL = re.compile(r'\d+ +(\w+?)(?:at2?)?\((?:AT_FDCWD<[^>]*>, )?(?:"([^"]*)"|\d+<([^>]*)>)')
OF_PYTHON = {"flock": "lock", "rename": "replace"}
RUN = """
import os, sys
from tests.storage.operations import OPERATIONS
for name, operation in OPERATIONS.items():
    os.chdir(os.path.join(sys.argv[1], name))
    assert operation.run().code == 0
"""


def traced(folder: Path) -> Iterator[tuple[str, Path]]:
    """The calls of all operations, each in the folder of its name, and the files that they name."""
    output, here = folder / "calls", folder
    strace = ["strace", "-f", "-y", "-e", "trace=%file,%desc", "-o", output]
    try:
        subprocess.run([*strace, "true"], capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("needs strace, and a system that lets it trace")
    subprocess.run([*strace, sys.executable, "-c", RUN, folder], cwd=ROOT, check=True)
    for found in map(SYSTEM_CALL.match, output.read_text("utf-8", "replace").splitlines()):
        if found is not None:
            path = here / (found[2] or found[3] or "")
            here = path if found[1] == "chdir" else here
            yield OF_PYTHON.get(found[1], found[1]), path


def test_strace_sees_the_same_calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    systems: dict[str, FaultySystem] = {}
    for name, operation in OPERATIONS.items():
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        world = World(operation)
        world.reset()
        systems[name] = world.whole.system
    looks = {"fst", "lst", "st", "newfstat", "faccess", "access", "readlink", "ioctl", "lseek"}
    seen: dict[str, list[Call]] = {name: [] for name in OPERATIONS}
    for call, path in traced(tmp_path):
        for name, system in systems.items():
            file = system.watched_file(path)
            # A folder is opened to be listed, which is one call of Python.
            if file is not None and file != FOLDER and call not in looks:
                seen[name].append(Call(call, file))
    for name, system in systems.items():
        counted = [each for each in system.calls if each.name not in LOOKS and each.file != FOLDER]
        assert seen[name] == counted, name


def _named(call: Call) -> Call:
    """By the name of the system call, where Python has another."""
    names = {"replace": "rename", "scandir": "list"}
    return call._replace(name=names.get(call.name, call.name))


class Table:
    """The rows of a table in Markdown; calls with the same outcome share one."""

    def __init__(self, whole: Outcome) -> None:
        assert whole.ran is not None
        self._expected = {*whole.ran.err.splitlines(), *whole.ran.out.splitlines()}
        self._rows: dict[tuple[str, str, str], list[tuple[Call, Call | None]]] = {}

    def add(self, fault: Fault, call: Call, outcome: Outcome, second: Call | None = None) -> None:
        """A call that failed; with a ``second`` one, while the first was undone."""
        if call.name in LOOKS or (second is not None and second.name in LOOKS):
            return
        if fault in {Fault.HALF, Fault.TORN}:
            call = call._replace(name=f"half a {call.name}")
        call, second = _named(call), second and _named(second)
        what = "the program is killed after it" if outcome.ran is None else "it fails"
        if second is not None:
            what = "it fails after {}"
        row = (what, self._disk(outcome), self._said(outcome.ran))
        self._rows.setdefault(row, []).append((second or call, second and call))

    def text(self) -> str:
        lines = ["| system call | fault | on the disk | what the command says |"]
        lines.append("| --- | --- | --- | --- |")
        for (what, disk, said), calls in self._rows.items():
            files: dict[str, dict[str, None]] = {}
            for call, _ in calls:
                files.setdefault(call.file, {})[call.name] = None
            firsts = dict.fromkeys(first.name for _, first in calls if first is not None)
            each = "; ".join(f"`{file}`: {', '.join(names)}" for file, names in files.items())
            fault = what.format(listed(firsts, "or"))
            lines.append(f"| {each} | {fault} | {disk} | {said} |")
        return "\n".join(lines) + "\n"

    @staticmethod
    def _disk(outcome: Outcome) -> str:
        states = (f"`{file}`: {state}" for file, state in outcome.disk.items())
        return "; ".join(states) or "as it was"

    def _said(self, ran: Ran | None) -> str:
        if ran is None:
            return ""
        lines = (*ran.err.splitlines(), *ran.out.splitlines())
        said = next((each for each in lines if each not in self._expected), "")
        said = (
            said.removeprefix("drive-trace: ")
            .replace(f"{Path.cwd()}/", "")
            .replace(f"{Path.cwd()}", "the folder")
        )
        for error in ERRORS:
            said = said.replace(os.strerror(error), "…")
        return f"{ran.code}: `{said}`" if said else str(ran.code)
