"""What the files of a run hold while one of them is written to."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from drive_trace.scorecard.feed_state import FileFeed, JoinedFeed, feed_state, mentions
from drive_trace.storage.appending import AppendError
from drive_trace.storage.traces import Problem, read_bytes, why_not_utf8
from drive_trace.vocabulary import EventType


class _Seen(NamedTuple):
    """What was seen of a file."""

    version: tuple[int, ...]
    names_run: bool
    data: bytes | None
    """None where nothing in it concerns the run; what may be of any run does."""


class RunTexts:
    """The files beside a trace that concern a run, in the order in which they are joined.

    Each is read once, and again only if it has changed, as while we waited for its lock.
    """

    def __init__(self, path: str, beside: Iterable[str], feed: EventType, run_id: str) -> None:
        self._path, self._feed, self._run_id = path, feed, run_id
        real = os.path.realpath
        self._beside = [path if real(each) == real(path) else each for each in beside]
        self._seen: dict[str, _Seen] = {}

    def look(self) -> list[str]:
        """Read the files, and name those that have the run. Raises AppendError."""
        for each in self._beside:
            if each != self._path:
                version, seen = _version(each), self._seen.get(each)
                if seen is None or seen.version != version:
                    self._seen[each] = self._read(each, version)
        return [each for each, seen in self._seen.items() if seen.names_run]

    def with_own(self, own: bytes) -> Mapping[str, bytes]:
        """What they hold, and the trace itself."""
        texts = {
            each: own if each == self._path else self._seen[each].data for each in self._beside
        }
        texts.setdefault(self._path, own)
        return {each: data for each, data in texts.items() if data is not None}

    def joined(self, own: bytes) -> JoinedFeed:
        """What those that have the run say of its feed, and the trace itself."""
        states = {
            each: feed_state(as_read(data), self._feed, self._run_id)
            for each, data in self.with_own(own).items()
            if each == self._path or self._seen[each].names_run
        }
        files = [FileFeed(each, state) for each, state in states.items()]
        return JoinedFeed(states[self._path], files)

    def _read(self, path: str, version: tuple[int, ...]) -> _Seen:
        data = read_bytes(path)
        if isinstance(data, Problem):
            raise AppendError(*data)
        reason = why_not_utf8(data)
        if reason is not None:
            raise AppendError(path, reason)
        text = as_read(data)
        names_run = mentions(text, self._run_id)
        state = None if names_run else feed_state(text, self._feed, self._run_id)
        concerns = state is None or state.rejected or state.hidden or state.lookalikes
        return _Seen(version, names_run, data if concerns else None)


def as_read(data: bytes) -> bytes:
    """A trace in UTF-8, as readers see it that replace what is none; with the same lines."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return data.decode("utf-8", "replace").encode()
    return data


def _version(path: str) -> tuple[int, ...]:
    try:
        status = Path(path).stat()
    except (OSError, ValueError):  # whoever reads it says why
        return ()
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns
