"""The names of the files that a git repository tracks, read from its index.

Git is not run for it: in a repository that somebody else has written, its configuration may name
programs that git starts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from drive_trace.storage.regular_files import read_regular

_MOST, _MOST_SHARED = 256 << 20, 64
"""The most bytes of all files of an index, and the most files that a split one has beside it."""
_LONGEST, _MOST_TOGETHER = 4096, 64 << 20
"""The most bytes of a name, and of all names: in version 4 a few bytes stand for a long name."""
_SHA256 = re.compile(rb"(?im)^\s*objectformat\s*=\s*sha256\s*$")
_HEADER, _STATUS, _FLAGS = 12, 40, 2
"""Bytes before the first entry, before an entry's hash, and of its flags."""
_EXTENDED = 0x4000
"""Set in the flags of an entry that has two more bytes of them."""


class Tracked(NamedTuple):
    """What a repository tracks; paths with ``/``, each byte a character."""

    names: frozenset[str]
    folders: tuple[str, ...] = ()
    """Folders that stand in the index as one, with a ``/`` at the end."""

    def holds(self, path: str) -> bool:
        """Whether a file, or the root of a repository in this one, is tracked."""
        return path in self.names or path.startswith(self.folders or "\0")


def tracked_files(git_folder: Path, common_folder: Path) -> Tracked | None:
    """What the index in a git folder names; None where it cannot be told."""
    try:
        index = git_folder / "index"
        if not index.exists():
            return Tracked(frozenset())
        config = common_folder / "config"
        hash_size = 32 if config.exists() and _SHA256.search(read_regular(config)) else 20
        # Of an index that is split, the larger part stands in another file.
        shared = list(islice(git_folder.glob("sharedindex.*"), _MOST_SHARED + 1))
        if len(shared) > _MOST_SHARED:
            return None
        names = list(_names_of([index, *shared], hash_size))
    except (OSError, ValueError, IndexError):
        return None
    return Tracked(frozenset(names), tuple(each for each in names if each.endswith("/")))


def _names_of(files: list[Path], hash_size: int) -> Iterator[str]:
    """The names in all files of an index. Raises ValueError, IndexError or OSError."""
    bytes_left, names_left = _MOST, _MOST_TOGETHER
    for file in files:
        data = read_regular(file, bytes_left)
        bytes_left -= len(data)
        for name in _names_in(data, hash_size):
            names_left -= len(name)
            if names_left < 0:
                raise ValueError("has too many names")
            yield name


def _names_in(data: bytes, hash_size: int) -> Iterator[str]:
    """The names in an index of version 2, 3 or 4. Raises ValueError or IndexError for no such."""
    version, count = int.from_bytes(data[4:8], "big"), int.from_bytes(data[8:12], "big")
    if data[:4] != b"DIRC" or version not in (2, 3, 4):
        raise ValueError("is no index")
    at, name = _HEADER, b""
    for _ in range(count):
        start = at
        at += _STATUS + hash_size
        at += _FLAGS * (2 if (data[at] << 8) & _EXTENDED else 1)
        kept = 0
        if version == 4:
            dropped, at = _dropped(data, at)
            kept = len(name) - dropped
            if kept < 0:
                raise ValueError("drops more of a name than there is")
        end = data.index(b"\0", at)
        name = name[:kept] + data[at:end]
        if len(name) > _LONGEST:
            raise ValueError("has a name that is too long")
        # Entries of the older versions are filled up to a multiple of eight.
        at = end + 1 if version == 4 else start + (end - start + 8) // 8 * 8
        yield name.decode("latin-1")


def _dropped(data: bytes, at: int) -> tuple[int, int]:
    """How many bytes of the name before do not stand in this one, and where the rest begins."""
    value = data[at] & 127
    while data[at] & 128:
        at += 1
        value = ((value + 1) << 7) | (data[at] & 127)
    return value, at + 1
