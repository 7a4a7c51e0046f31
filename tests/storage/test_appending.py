"""Appending to a trace when something is in the way: a clear sentence, and the file as it was."""

import errno
import os
import subprocess
import sys
import uuid
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from drive_trace.storage import appending
from drive_trace.storage.appending import lock, locked_trace, locked_with
from drive_trace.storage.files import Problem
from drive_trace.storage.recording import Appended
from tests.storage.support import append_event, events, slice_started
from tests.support.client_text import triage
from tests.support.systems import NO_FIFOS, skip_on_windows


def append(path: Path) -> str:
    """Append a valid event; gives the sentence that says why it was not done."""
    written = append_event(str(path), slice_started())
    if isinstance(written, Appended):
        return ""
    assert isinstance(written, Problem)
    assert "\n" not in written.message
    return written.message


# Where it goes


def test_folders_and_file_are_made(tmp_path: Path) -> None:
    path = tmp_path / "projects" / "shop" / "trace.jsonl"
    assert append(path) == append(path) == ""
    assert [event["event_type"] for event in events(path)] == ["slice-started"] * 2


def test_new_folders_are_on_the_disk_before_the_event_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[Path] = []
    monkeypatch.setattr(appending, "sync_folder", synced.append)
    append_event(str(tmp_path / "a/b/trace.jsonl"), slice_started())
    assert set(synced) == {tmp_path, tmp_path / "a", tmp_path / "a/b"}


def test_a_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("real")
    assert append(tmp_path / "link") == ""
    assert (tmp_path / "link").is_symlink()
    assert len(events(tmp_path / "real")) == 1


@pytest.mark.parametrize("end", ["", "\r", '{"event_type":"slice-sta', "\ufeff", "  "])
def test_nothing_lands_on_a_line_that_was_not_ended(tmp_path: Path, end: str) -> None:
    path = tmp_path / "trace.jsonl"
    before = triage() + (end or triage()[:-1])
    path.write_bytes(before.encode())
    written = append_event(str(path), slice_started())
    assert isinstance(written, Appended)
    assert path.read_bytes().decode() == f"{before}\n{written.record}\n"
    (note,) = written.notes
    assert note.startswith("line 2 was not ended by a newline, so one was put before the new event")
    assert ("readers reject that line" in note) == ("slice-sta" in end)


def test_a_torn_character_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_bytes(b'{"a":"\xc3')
    written = append_event(str(path), slice_started())
    assert isinstance(written, Appended)
    assert path.read_bytes() == b'{"a":"\xc3\n' + written.record.encode() + b"\n"


# Where it cannot go


def folder(tmp_path: Path) -> tuple[Path, str]:
    return tmp_path, "is a folder, not a file"


def below_a_file(tmp_path: Path) -> tuple[Path, str]:
    (tmp_path / "file").write_text("")
    return tmp_path / "file" / "trace.jsonl", "Not a directory"


def pipe(tmp_path: Path) -> tuple[Path, str]:
    skip_on_windows(NO_FIFOS)
    os.mkfifo(tmp_path / "pipe")
    return tmp_path / "pipe", "it is a pipe or a device, not a file"


def device(_: Path) -> tuple[Path, str]:
    return Path("/dev/null"), "it is a pipe or a device, not a file"


def loop(tmp_path: Path) -> tuple[Path, str]:
    (tmp_path / "loop").symlink_to("loop")
    return tmp_path / "loop", "symbolic links"


def long_name(tmp_path: Path) -> tuple[Path, str]:
    return tmp_path / ("a" * 300), "File name too long"


def where_no_file_can_be(_: Path) -> tuple[Path, str]:
    if not Path("/proc/self").is_dir():
        pytest.skip("needs a file system that takes no files")
    return Path("/proc/self/trace.jsonl"), "no such file or folder"


def utf16(tmp_path: Path) -> tuple[Path, str]:
    (tmp_path / "trace.jsonl").write_bytes(triage().encode("utf-16"))
    return tmp_path / "trace.jsonl", "is UTF-16"


@pytest.mark.parametrize(
    "make", [folder, below_a_file, pipe, device, loop, long_name, where_no_file_can_be, utf16]
)
def test_where_no_trace_can_be(tmp_path: Path, make: object) -> None:
    assert callable(make)
    path, why = make(tmp_path)
    before = {each: each.lstat() for each in tmp_path.iterdir()}
    message = append(path)
    assert message.startswith(f"{path}: ")
    assert why in message
    after = {each: each.lstat() for each in tmp_path.iterdir()}
    assert {each: status.st_size for each, status in after.items()} == {
        each: status.st_size for each, status in before.items()
    }


@pytest.mark.parametrize("path", ["", "a\0b"])
def test_names_that_name_nothing(path: str) -> None:
    assert isinstance(append_event(path, slice_started()), Problem)


@pytest.mark.parametrize(
    ("code", "why"), [(errno.EROFS, "Read-only file system"), (errno.EACCES, "permission denied")]
)
def test_a_place_that_may_not_be_written_to(
    tmp_path: Path, code: int, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "open", refuse)
    path = tmp_path / "trace.jsonl"
    assert append(path) == f"{path}: cannot be written: {why}"
    monkeypatch.undo()
    assert not path.exists()


# A disk that fails half-way


def failing(code: int, after: int, also: bytes = b"") -> object:
    """A ``write`` that takes some bytes and then fails; perhaps another program writes, too."""
    write, calls = os.write, 0

    def fail(handle: int, data: memoryview) -> int:
        nonlocal calls
        calls += 1
        if calls == 1:
            return write(handle, bytes(data)[:after])
        if also:
            write(handle, also)
        raise OSError(code, os.strerror(code))

    return fail


def test_what_others_have_appended_meanwhile_is_not_taken_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a program that asks for no lock: its line is more than the end of a file."""
    path = tmp_path / "trace.jsonl"
    path.write_text(triage())
    theirs = triage(input_ref="theirs").encode()
    monkeypatch.setattr(os, "write", failing(errno.EIO, after=50, also=b"\n" + theirs))
    assert "stands in it in part, as a line that readers reject" in append(path)
    assert path.read_bytes().endswith(b"\n" + theirs)


def test_a_short_write_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, write = tmp_path / "trace.jsonl", os.write
    monkeypatch.setattr(os, "write", lambda handle, data: write(handle, bytes(data)[:7]))
    assert append(path) == ""
    assert len(events(path)) == 1


def test_ctrl_c_before_it_is_on_the_disk_takes_it_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_text(triage())

    def interrupt(_: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt), locked_trace(str(path)) as trace:
        trace.append("{}")
    assert path.read_text() == triage()


# The lock


def test_a_trace_that_is_replaced_while_we_wait_is_opened_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_text(triage())
    changes = [
        lambda: (tmp_path / "new").write_text(triage(input_ref="new")),
        lambda: (tmp_path / "new").replace(path),
        path.unlink,
    ]

    def lock_late(handle: int) -> None:
        if changes:
            changes.pop(0)()
        lock(handle)

    # Replaced in between, then gone, then nothing happens any more.
    changes.pop(0)()
    monkeypatch.setattr(appending, "lock", lock_late)
    assert append(path) == ""
    assert not changes
    assert len(events(path)) == 1


def test_a_trace_that_is_replaced_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "trace.jsonl"
    monkeypatch.setattr(appending, "lock", lambda _: path.unlink())
    assert "again and again" in append(path)


def test_another_process_does_not_get_the_lock_and_reads_all_the_same(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_text(triage(), newline="")
    code = (
        "import os, pathlib, sys\n"
        "from drive_trace.storage import appending\n"
        "handle = os.open(sys.argv[1], appending._FLAGS)\n"
        "print(appending._try_lock(handle), len(pathlib.Path(sys.argv[1]).read_bytes()))\n"
    )
    read = [sys.executable, "-c", code, path]
    with locked_trace(str(path)):
        assert subprocess.check_output(read, text=True).split() == ["False", f"{len(triage())}"]
    assert subprocess.check_output(read, text=True).split()[0] == "True"
    assert append(path) == ""


def test_an_id_and_a_time_are_fresh(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    for _ in range(50):
        append(path)
    lines = events(path)
    assert len({uuid.UUID(line["event_id"]).version and line["event_id"] for line in lines}) == 50
    for line in lines:
        assert datetime.fromisoformat(line["ts"]).utcoffset() == timedelta(0)
        assert line["ts"].endswith("Z")
        assert len(line["ts"]) == len("2026-05-28T14:00:00.000Z")


def test_a_file_with_two_names_has_one_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two writers who know it by different names take the locks in the same order, so that
    neither waits for the other for good.
    """
    first, other, last = (tmp_path / name for name in ("a.jsonl", "m.jsonl", "z.jsonl"))
    first.touch()
    other.touch()
    last.hardlink_to(first)
    locked: list[int] = []

    def noted(handle: int) -> None:
        locked.append(os.fstat(handle).st_ino)
        lock(handle)

    monkeypatch.setattr(appending, "lock", noted)
    orders = []
    for path, beside in ((first, other), (other, first), (last, other), (other, last)):
        with locked_with(str(path), [str(beside)]):
            orders.append(tuple(locked))
        locked.clear()
    assert set(orders) == {(other.stat().st_ino, first.stat().st_ino)}
