"""The command line among files that are not what their names say."""

import os
import tracemalloc
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pytest

from drive_trace.commands import cli
from drive_trace.trace.provenance import Origin, entry_line
from drive_trace.vocabulary import EVENTS
from tests.cli.support import REJECTED, process, run, write
from tests.support.client_text import apart, event, graded, triage
from tests.support.fixtures import event_id
from tests.support.systems import NO_DEVICES, not_on_windows

NAMES = ("drive-trace.toml", "drive-trace-baseline.json")

pytestmark = not_on_windows(NO_DEVICES)


@pytest.mark.parametrize("name", NAMES)
def test_a_pipe_or_a_device_is_neither_waited_for_nor_read(name: str, tmp_path: Path) -> None:
    write(tmp_path, "trace.jsonl", REJECTED)
    said = f"{name}: cannot be read: it is a pipe or a device, not a file\n"
    os.mkfifo(tmp_path / name)
    first = process("check", cwd=tmp_path)
    assert (first.code, first.err) == (2, f"drive-trace: {said}")
    told = f"{name}:1:1: error[unreadable-file] not read: 1 trace, as this "
    assert said.replace(f"{name}: ", told) in first.out
    (tmp_path / name).unlink()
    (tmp_path / name).symlink_to("/dev/zero")
    linked = process("check", cwd=tmp_path)
    assert linked.code == 2
    assert "as this cannot be used: not read: link out of the repository\n" in linked.out


@pytest.mark.parametrize("name", NAMES)
def test_a_file_of_any_size_costs_little(name: str, tmp_path: Path) -> None:
    write(tmp_path, "trace.jsonl", REJECTED)
    os.truncate(write(tmp_path, name, ""), 1 << 40)
    ran = run("check", tmp_path)
    assert ran.code == 2
    assert "unreadable-file" in ran.out
    assert ran.err == f"drive-trace: {tmp_path / name}: cannot be read: it has more than 1 MB\n"


@pytest.mark.parametrize("record", ["{}", '{"ts":1}'])
def test_no_rejected_line_takes_more_than_a_kilobyte(record: str, tmp_path: Path) -> None:
    """All findings are written, and never held together."""

    def peak(lines: int) -> int:
        path = write(tmp_path, "trace.jsonl", f"{record}\n" * lines)
        arguments = ["check", "--output-format", "concise", str(path)]
        tracemalloc.start()
        try:
            with redirect_stdout(Path(os.devnull).open("w")), pytest.raises(SystemExit):
                cli.main(arguments)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peak(100)
    assert peak(4000) - peak(2000) < 2000 * 1000


EMIT = (
    *("emit", "--project-run-id", "r", "--event", "slice-started"),
    *("--payload", '{"slice_slug":"retry","slice_index":1,"linear_ref":null}', "--trace-file"),
)
RECORD = ("record", "--project-run-id", "run-1", "--qa", "pass", "--trace-file")
TOKENS = ("tokens", "--project-run-id", "run-1", "--input-tokens", "1", "--trace-file")


@pytest.mark.parametrize("command", [EMIT, (*EMIT[:-1], "--dry-run", EMIT[-1]), RECORD, TOKENS])
def test_nothing_is_appended_to_a_pipe(command: tuple[str, ...], tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "trace.jsonl")
    ran = process(*command, "trace.jsonl", cwd=tmp_path)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("drive-trace: trace.jsonl: ")
    assert "it is a pipe or a device, not a file" in ran.err
    assert ran.err.count("\n") == 1


@pytest.mark.parametrize(
    "command",
    [
        ("check",),
        ("score",),
        ("report",),
        EMIT,
        (*EMIT[:-1], "--dry-run", EMIT[-1]),
        RECORD,
        TOKENS,
    ],
)
def test_a_trace_that_memory_does_not_hold_is_refused(
    command: tuple[str, ...], tmp_path: Path
) -> None:
    path = write(tmp_path, "trace.jsonl", "")
    os.truncate(path, 20 << 30)
    ran = run(*command, path)
    assert ran.code == 2
    said = "is too large" if len(command) < 2 or "--dry-run" in command else "cannot be written"
    assert ran.err.startswith(f"drive-trace: {path}: {said}: it has more than 1 GB\n")
    assert path.stat().st_size == 20 << 30


def test_without_a_baseline_the_findings_are_told(tmp_path: Path) -> None:
    write(tmp_path, "trace.jsonl", REJECTED)
    (tmp_path / "drive-trace-baseline.json").mkdir()
    ran = run("check", "--write-baseline", tmp_path)
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert "unknown-value" in ran.out
    assert "no findings" not in ran.out
    ran = run("check", "--write-baseline", "--output-format", "json", tmp_path)
    assert [each["code"] for each in ran.json] == ["unknown-value"]


def test_the_baseline_is_not_written_over_somebodys_file(tmp_path: Path) -> None:
    theirs = write(tmp_path, "home/notes.json", '{"dear": "diary"}')
    write(tmp_path, "tree/trace.jsonl", REJECTED)
    link = tmp_path / "tree/drive-trace-baseline.json"
    link.symlink_to("../home/notes.json")
    write(tmp_path, "tree/drive-trace.toml", "")
    ran = run("check", "--write-baseline", tmp_path / "tree")
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert "not read: link out of the repository (it is not replaced)" in ran.err
    theirs.write_text('{"version": 2, "files": {}}')  # even if it is one
    ran = run("check", "--write-baseline", tmp_path / "tree")
    assert ran.code == 2
    assert "not read: link out of the repository (it is not replaced)" in ran.err
    assert theirs.read_text() == '{"version": 2, "files": {}}'


def test_a_folder_whose_name_is_no_text_is_on_every_page(tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"q\xff")
    try:
        folder.mkdir()
    except OSError:
        pytest.skip("this file system takes no such name")
    write(folder, "trace.jsonl", REJECTED)
    assert "vscode://file/" in run("report", "--format", "html", tmp_path).out
    assert "q%FF/trace.jsonl" in run("report", "--format", "html", tmp_path).out
    assert run("fleet", "--html", tmp_path / "fleet.html", tmp_path).code == 0
    assert "q%FF/trace.jsonl" in (tmp_path / "fleet.html").read_text()


@pytest.mark.parametrize("command", ["check", "score", "report", "report --format html", "fleet"])
def test_no_figure_date_or_depth_is_a_defect(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    most, last = 10**308 * 1.7, "9999-12-31T23:59:59.999Z"
    examples: dict[str, dict[str, Any]] = {name: {**each.example} for name, each in EVENTS.items()}
    ends = [
        event(**examples[name] | {"event_type": name, "ts": last, "dispatch_id": to} | more)
        for to in (event_id(1), event_id(2))
        for name, more in {"dispatch-start": {}, "dispatch-end": {"wall_clock_ms": most}}.items()
    ]
    deep = triage(input_ref="a").replace('"input_ref"', f'"x":{"[" * 900}{"]" * 900},"input_ref"')
    graded_run = apart("".join(ends)) + deep + graded("pass", "pass", "pass")
    trace = write(tmp_path, "trace.jsonl", graded_run)
    entry = entry_line(triage(input_ref="a"), Origin("emit"), None, "1")
    write(tmp_path, "trace.jsonl.provenance.ndjson", entry + "\n")
    monkeypatch.chdir(tmp_path)
    page = ("--html", "page.html", "--no-cache") if command == "fleet" else ()
    assert run(*command.split(), trace, *page).code in (0, 1)
