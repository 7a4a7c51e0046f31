"""Files that may be anything: opened without waiting, read only where that is sure to end."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from drive_trace.storage.files import open_regular, read_regular
from tests.support.systems import NO_DEVICES, NO_FIFOS, not_on_windows

posix = not_on_windows(NO_DEVICES)


def test_a_file_is_read_through_a_link_too(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"content")
    (tmp_path / "link").symlink_to("file")
    with open_regular(tmp_path / "link") as file:
        assert file.read() == b"content"
    assert read_regular(tmp_path / "file", most=7) == b"content"


def test_a_file_with_more_bytes_than_allowed_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"content")
    with pytest.raises(OSError, match="it has more than 6 bytes"):
        read_regular(tmp_path / "file", most=6)
    os.truncate(tmp_path / "file", 1 << 40)
    with pytest.raises(OSError, match="it has more than 1 MB"):
        read_regular(tmp_path / "file")


@posix
@pytest.mark.parametrize("device", ["/dev/zero", "/dev/null"])
def test_a_device_is_not_read(device: str, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(device)
    for path in (Path(device), tmp_path / "link"):
        with pytest.raises(OSError, match="it is a pipe or a device, not a file"):
            open_regular(path)


@not_on_windows(NO_FIFOS)
@posix
def test_nobody_waits_for_a_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="it is a pipe or a device, not a file"):
        read_regular(tmp_path / "pipe")


def test_a_folder_and_nothing_are_what_they_are(tmp_path: Path) -> None:
    with pytest.raises(OSError) as raised:  # noqa: PT011 - Windows has its own error for it
        open_regular(tmp_path)
    assert isinstance(raised.value, IsADirectoryError | PermissionError)
    with pytest.raises(FileNotFoundError):
        open_regular(tmp_path / "nothing")
