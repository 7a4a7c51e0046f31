"""Putting a file in the place of another, whole or not at all."""

import os
import stat
from pathlib import Path
from threading import Thread

import pytest

from drive_trace.storage.recording import Appended
from drive_trace.storage.replace import replace_content, write_whole
from tests.storage.support import append_event, slice_started
from tests.support.systems import NO_FIFOS, NO_MODES, is_root, not_on_windows

OLD, NEW = b"old\r\n\xff", b"new\n"


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "trace.jsonl"
    path.write_bytes(OLD)
    return path


def said(path: Path, before: bytes = OLD) -> str:
    problem = replace_content(str(path), before, NEW)
    return problem.message.removeprefix(f"{path}: ") if problem is not None else ""


@not_on_windows(NO_MODES)
def test_a_file_is_replaced_with_its_permissions(path: Path) -> None:
    path.chmod(0o640)
    assert said(path) == ""
    assert path.read_bytes() == NEW
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert files(path.parent) == ["trace.jsonl"]


@not_on_windows(NO_MODES)
@pytest.mark.skipif(not is_root(), reason="only root can give files away")
def test_the_owner_stays(path: Path) -> None:
    os.chown(path, 12345, 23456)
    path.chmod(0o4755)
    assert said(path) == ""
    status = path.stat()
    assert (status.st_uid, status.st_gid) == (12345, 23456)
    assert stat.S_IMODE(status.st_mode) == 0o4755


def test_a_link_stays_a_link(path: Path, tmp_path: Path) -> None:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git/HEAD").touch()
    link = folder / "link.jsonl"
    link.symlink_to("../trace.jsonl")
    assert said(link) == ""
    assert link.is_symlink()
    assert path.read_bytes() == NEW
    assert files(folder) == ["link.jsonl"]


def test_what_changed_in_the_meantime_stays(path: Path) -> None:
    assert said(path, before=b"older") == "is not fixed: it changed in the meantime; try again"
    assert path.read_bytes() == OLD
    assert files(path.parent) == ["trace.jsonl"]


def test_what_is_replaced_in_the_meantime_stays(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also by one of the same content: somebody else is writing it."""
    read = Path.read_bytes

    def reading(self: Path) -> bytes:
        data = read(self)
        other = path.with_name("other")
        other.write_bytes(data)
        other.replace(path)
        return data

    monkeypatch.setattr(Path, "read_bytes", reading)
    assert "changed in the meantime" in said(path)
    monkeypatch.undo()
    assert path.read_bytes() == OLD


def test_a_read_only_file_stays(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert said(path) == "is not fixed: permission denied"
    assert path.read_bytes() == OLD


@not_on_windows(NO_FIFOS)
def test_what_is_no_file_is_not_replaced(path: Path) -> None:
    fifo = path.with_name("fifo")
    os.mkfifo(fifo)
    assert said(fifo) == "is not fixed: it is a pipe or a device, not a file"
    assert said(path.with_name("gone")) == "is not fixed: no such file or folder"


@not_on_windows(NO_MODES)
def test_a_new_file_has_the_permissions_of_new_files(tmp_path: Path) -> None:
    ordinary = tmp_path / "ordinary"
    ordinary.touch()
    write_whole(tmp_path / "new", NEW)
    assert (tmp_path / "new").read_bytes() == NEW
    assert (tmp_path / "new").stat().st_mode == ordinary.stat().st_mode
    (tmp_path / "new").chmod(0o600)
    write_whole(tmp_path / "new", OLD)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o600
    assert files(tmp_path) == ["new", "ordinary"]


def test_what_is_appended_while_a_file_is_replaced_is_kept(path: Path) -> None:
    """Whoever appends waits for the lock, and then appends to the new file."""
    path.write_bytes(b"{} \n")
    events = 60

    def append() -> None:
        for _ in range(events):
            assert isinstance(append_event(str(path), slice_started()), Appended)

    writer = Thread(target=append)
    writer.start()
    replaced = 0
    while writer.is_alive() or not replaced:
        before = path.read_bytes()
        spaced = not before.startswith(b"{}\n")
        after = before.replace(b"{} \n", b"{}\n") if spaced else before.replace(b"{}\n", b"{} \n")
        replaced += replace_content(str(path), before, after) is None
    writer.join()
    assert replaced
    assert path.read_bytes().count(b"slice-started") == events
