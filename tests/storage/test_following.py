"""A file that others write to, looked at again and again."""

import os
from pathlib import Path

import pytest

from drive_trace.storage.files import Problem
from drive_trace.storage.followed_file import QUIET, FollowedFile
from drive_trace.text.spans import BrokenText
from tests.support.systems import NO_FIFOS, not_on_windows

_MOST = 1 << 20
ROCKET = "🚀".encode()


class Trace:
    """A file with somebody who writes it, and somebody who follows it."""

    def __init__(self, path: Path, data: bytes) -> None:
        self.path = path
        self.path.write_bytes(data)
        self.file = FollowedFile(path, _MOST)

    def append(self, data: bytes) -> list[str] | Problem | None:
        """What is seen after an append."""
        with self.path.open("ab") as file:
            file.write(data)
        return self.file.look()

    def write(self, data: bytes) -> list[str] | Problem | None:
        """What is seen after the file was written again, in place."""
        before = self.path.stat().st_mtime_ns
        self.path.write_bytes(data)
        os.utime(self.path, ns=(before + 1, before + 1))  # clocks may be coarser than a test
        return self.file.look()

    def left_alone(self) -> list[str] | Problem | None:
        """What is seen when nobody has written for a while."""
        old = self.path.stat().st_mtime - 2 * QUIET
        os.utime(self.path, (old, old))
        return self.file.look()


@pytest.fixture
def trace(tmp_path: Path) -> Trace:
    trace = Trace(tmp_path / "trace.jsonl", b"one\n")
    assert trace.file.look() == ["one", ""]
    return trace


def test_a_text_is_given_when_it_has_changed(trace: Trace) -> None:
    assert trace.file.look() is None
    assert trace.append(b"two\nthree\n") == ["one", "two", "three", ""]
    assert trace.file.look() is None
    assert trace.append(b"\r\n") == ["one", "two", "three", "\r", ""]
    assert trace.file.look(anew=True) == ["one", "two", "three", "\r", ""]


def test_a_torn_line_waits_for_its_end(trace: Trace) -> None:
    assert trace.append(b'{"event') is None
    assert trace.append(b'_type":') is None
    assert trace.append(b'"x"}\n') == ["one", '{"event_type":"x"}', ""]


def test_a_torn_line_that_nobody_goes_on_with_is_given_in_the_end(trace: Trace) -> None:
    assert trace.append(b'{"event') is None
    assert not trace.file.is_settled
    assert trace.file.look(settle=True) == ["one", '{"event']
    assert trace.file.is_settled
    # Somebody does go on with it.
    assert trace.append(b'":1}\n') == ["one", '{"event":1}', ""]


def test_a_whole_object_does_not_wait_for_its_newline(trace: Trace) -> None:
    assert trace.append(b'{"a":{}}') == ["one", '{"a":{}}']
    assert trace.append(b"\n") == ["one", '{"a":{}}', ""]


@pytest.mark.parametrize("is_late", [False, True])
@pytest.mark.parametrize("cut", range(1, 4))
def test_a_character_that_is_torn_and_mended(cut: int, is_late: bool, trace: Trace) -> None:
    assert trace.append(b"two " + ROCKET[:cut]) is None
    assert trace.file.look(settle=is_late) == (["one", "two \ufffd"] if is_late else None)
    assert trace.append(ROCKET[cut:] + b"\n") == ["one", "two 🚀", ""]


def test_broken_bytes_cost_their_line_alone(trace: Trace) -> None:
    news = trace.append(b"tw\xe9\nthree\n")
    assert news == ["one", "tw\ufffd", "three", ""]
    assert [type(record) is BrokenText for record in news] == [False, True, False, False]


def test_utf16_is_not_read(trace: Trace) -> None:
    for encoding in ("utf-16-le", "utf-16-be"):
        data = "\ufeff{}\n{".encode(encoding)
        assert trace.write(data) == Problem(str(trace.path), "is UTF-16; save it as UTF-8")
        assert trace.file.look(settle=True) is None
        assert trace.write(b"one\n") == ["one", ""]


def test_what_is_torn_when_the_file_is_first_seen(tmp_path: Path) -> None:
    trace = Trace(tmp_path / "trace.jsonl", b'one\n{"tw')
    assert trace.file.look() == ["one", ""]
    assert trace.append(b'o":2}\n') == ["one", '{"two":2}', ""]
    old = Trace(tmp_path / "old.jsonl", b'one\n{"tw')
    assert old.left_alone() == ["one", '{"tw']


def test_a_file_that_is_cut_off(trace: Trace) -> None:
    trace.append(b"two\n")
    assert trace.write(b"one\n") == ["one", ""]
    assert trace.write(b"") == [""]
    assert trace.append(b"two\n") == ["two", ""]


def test_a_file_that_is_written_again(trace: Trace) -> None:
    assert trace.write(b"one\n") is None
    assert trace.write(b"two\n") == ["two", ""]
    assert trace.write(b"another\nand longer\n") == ["another", "and longer", ""]


def test_a_file_that_takes_the_place_of_another(trace: Trace, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_bytes(b"one\ntwo\n")
    other.rename(trace.path)
    assert trace.file.look() == ["one", "two", ""]


def test_a_file_that_goes_and_comes_back(trace: Trace) -> None:
    trace.path.unlink()
    assert isinstance(trace.file.look(), Problem)
    assert isinstance(trace.file.look(), Problem)
    trace.path.write_bytes(b"one\n")
    assert trace.file.look() == ["one", ""]


def test_links(trace: Trace, tmp_path: Path) -> None:
    link, other = tmp_path / "link", tmp_path / "other"
    link.symlink_to(trace.path)
    file = FollowedFile(link, _MOST)
    assert file.look() == ["one", ""]
    trace.append(b"two\n")
    assert file.look() == ["one", "two", ""]
    other.write_bytes(b"other\n")
    link.unlink()
    link.symlink_to(other)
    assert file.look() == ["other", ""]


@not_on_windows(NO_FIFOS)
def test_what_cannot_be_read(trace: Trace, tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "loop", tmp_path / "pipe"):
        if path.name == "loop":
            path.symlink_to("loop")
        if path.name == "pipe":
            os.mkfifo(path)
        assert isinstance(FollowedFile(path, _MOST).look(), Problem)
    assert isinstance(FollowedFile(trace.path, 3).look(), Problem)
