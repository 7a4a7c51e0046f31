"""A file that others write to, looked at again and again."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from drive_trace.storage.files import Problem
from drive_trace.storage.followed_file import QUIET, FollowedFile, More, Whole
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

    def append(self, data: bytes) -> Whole | More | Problem | None:
        """What is seen after an append."""
        with self.path.open("ab") as file:
            file.write(data)
        return self.file.look()

    def write(self, data: bytes) -> Whole | More | Problem | None:
        """What is seen after the file was written again, in place."""
        before = self.path.stat().st_mtime_ns
        self.path.write_bytes(data)
        os.utime(self.path, ns=(before + 1, before + 1))  # clocks may be coarser than a test
        return self.file.look()

    def left_alone(self) -> Whole | More | Problem | None:
        """What is seen when nobody has written for a while."""
        old = self.path.stat().st_mtime - 2 * QUIET
        os.utime(self.path, (old, old))
        return self.file.look()


@pytest.fixture
def trace(tmp_path: Path) -> Trace:
    trace = Trace(tmp_path / "trace.jsonl", b"one\n")
    assert trace.file.look() == Whole(["one", ""])
    return trace


def test_only_what_is_new_is_given(trace: Trace) -> None:
    assert trace.file.look() is None
    assert trace.append(b"two\nthree\n") == More("two\nthree\n")
    assert trace.file.look() is None
    assert trace.append(b"\r\n") == More("\r\n")


def test_only_what_is_new_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trace = Trace(tmp_path / "trace.jsonl", b"x" * 500_000 + b"\n")
    trace.file.look()
    read = _count_reads(monkeypatch)
    assert trace.append(b"two\n") == More("two\n")
    assert sum(read) < 1000


def _count_reads(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many bytes are read from files that are opened from now on, read by read."""
    counts: list[int] = []
    really_open = open

    def counting(*given: object, **more: object) -> object:
        file = really_open(*given, **more)  # type: ignore[call-overload]

        class Counted:
            def read(self, *size: int) -> bytes:
                data: bytes = file.read(*size)
                counts.append(len(data))
                return data

            def __enter__(self) -> Counted:
                return self

            def __exit__(self, *_: object) -> None:
                file.close()

            def __getattr__(self, name: str) -> object:
                return getattr(file, name)

        return Counted()

    monkeypatch.setattr("drive_trace.storage.followed_file.open", counting, raising=False)
    return counts


def test_a_torn_line_waits_for_its_end(trace: Trace) -> None:
    assert trace.append(b'{"event') is None
    assert trace.append(b'_type":') is None
    assert trace.append(b'"x"}\n') == More('{"event_type":"x"}\n')


def test_a_torn_line_that_nobody_goes_on_with_is_given_in_the_end(trace: Trace) -> None:
    assert trace.append(b'{"event') is None
    assert not trace.file.is_settled
    assert trace.file.look(settle=True) == More('{"event')
    assert trace.file.is_settled
    # Somebody does go on with it.
    assert trace.append(b'":1}\n') == More('":1}\n')


def test_a_whole_object_does_not_wait_for_its_newline(trace: Trace) -> None:
    assert trace.append(b'{"a":{}}') == More('{"a":{}}')
    assert trace.append(b"\n") == More("\n")


@pytest.mark.parametrize("cut", range(1, 4))
def test_a_character_that_is_torn(cut: int, trace: Trace) -> None:
    assert trace.append(b"two " + ROCKET[:cut]) is None
    assert trace.append(ROCKET[cut:] + b"\n") == More("two 🚀\n")


@pytest.mark.parametrize("cut", range(1, 4))
def test_a_character_that_is_torn_and_mended_late(cut: int, trace: Trace) -> None:
    assert trace.append(b"two " + ROCKET[:cut]) is None
    assert trace.file.look(settle=True) == Whole(["one", "two \ufffd"])
    assert trace.append(ROCKET[cut:] + b"\n") == Whole(["one", "two 🚀", ""])
    assert trace.append(b"three\n") == More("three\n")


def test_broken_bytes_cost_their_line_alone(trace: Trace) -> None:
    news = trace.append(b"tw\xe9\nthree\n")
    assert news == Whole(["one", "tw\ufffd", "three", ""])
    assert [type(record) is BrokenText for record in news.records] == [False, True, False, False]
    assert trace.append(b"four\n") == More("four\n")


def test_utf16_is_not_read(trace: Trace) -> None:
    for encoding in ("utf-16-le", "utf-16-be"):
        data = "\ufeff{}\n{".encode(encoding)
        assert trace.write(data) == Problem(str(trace.path), "is UTF-16; save it as UTF-8")
        assert trace.file.look(settle=True) is None
        assert trace.write(b"one\n") == Whole(["one", ""])


def test_what_is_torn_when_the_file_is_first_seen(tmp_path: Path) -> None:
    trace = Trace(tmp_path / "trace.jsonl", b'one\n{"tw')
    assert trace.file.look() == Whole(["one", ""])
    assert trace.append(b'o":2}\n') == More('{"two":2}\n')
    old = Trace(tmp_path / "old.jsonl", b'one\n{"tw')
    assert old.left_alone() == Whole(["one", '{"tw'])


def test_a_file_that_is_cut_off(trace: Trace) -> None:
    trace.append(b"two\n")
    assert trace.write(b"one\n") == Whole(["one", ""])
    assert trace.write(b"") == Whole([""])
    assert trace.append(b"two\n") == More("two\n")


def test_a_file_that_is_written_again(trace: Trace) -> None:
    assert trace.write(b"two\n") == Whole(["two", ""])
    assert trace.write(b"another and longer\n") == Whole(["another and longer", ""])


def test_an_edit_in_place_with_more_behind_it_is_noticed_in_the_end(tmp_path: Path) -> None:
    tail = b"x" * 2000 + b"\n"
    trace = Trace(tmp_path / "trace.jsonl", b"fail\n" + tail)
    trace.file.look()
    assert trace.write(b"pass\n" + tail + b"more\n") == More("more\n")
    assert trace.left_alone() == Whole(["pass", "x" * 2000, "more", ""])


def test_a_file_that_takes_the_place_of_another(trace: Trace, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_bytes(b"one\ntwo\n")
    other.rename(trace.path)
    assert trace.file.look() == Whole(["one", "two", ""])


def test_a_file_that_goes_and_comes_back(trace: Trace) -> None:
    trace.path.unlink()
    assert isinstance(trace.file.look(), Problem)
    assert isinstance(trace.file.look(), Problem)
    trace.path.write_bytes(b"one\n")
    assert trace.file.look() == Whole(["one", ""])


def test_a_file_that_is_merely_touched(trace: Trace) -> None:
    assert trace.write(b"one\n") is None


def test_links(trace: Trace, tmp_path: Path) -> None:
    link, other = tmp_path / "link", tmp_path / "other"
    link.symlink_to(trace.path)
    file = FollowedFile(link, _MOST)
    assert file.look() == Whole(["one", ""])
    trace.append(b"two\n")
    assert file.look() == More("two\n")
    other.write_bytes(b"other\n")
    link.unlink()
    link.symlink_to(other)
    assert file.look() == Whole(["other", ""])


@not_on_windows(NO_FIFOS)
def test_what_cannot_be_read(trace: Trace, tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "loop", tmp_path / "pipe"):
        if path.name == "loop":
            path.symlink_to("loop")
        if path.name == "pipe":
            os.mkfifo(path)
        assert isinstance(FollowedFile(path, _MOST).look(), Problem)
    assert isinstance(FollowedFile(trace.path, 3).look(), Problem)


def test_who_does_not_keep_the_text_is_given_the_whole(trace: Trace) -> None:
    trace.file.forget()
    assert trace.file.look() is None
    assert trace.append(b"two\n") == Whole(["one", "two", ""])
    trace.file.forget()
    assert trace.file.look(anew=True) == Whole(["one", "two", ""])
    assert trace.append(b"three\n") == More("three\n")
    trace.append(b"torn")
    trace.file.forget()
    assert trace.file.look(settle=True) == Whole(["one", "two", "three", "torn"])
