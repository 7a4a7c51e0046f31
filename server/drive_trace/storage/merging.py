"""Brings together an edited trace and what others have appended to its file, before it is saved.

An editor that finds its file changed offers to overwrite it, which would drop what was appended. So
the appended lines are put into the editor's text first. The file is locked from then on until it is
written, so that those who lock it lose nothing. Its time is set back, by which the editor knows
that it has read all of the file. Whatever is appended without a lock sets that time again, and the
editor asks as before.

A line is foreign if the file had it before the editor wrote it there. It is looked for in the text
at each save, as an undo may have taken it out since.
"""

from __future__ import annotations

import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path

from drive_trace.storage.appending import AppendError, locked_trace
from drive_trace.storage.files import LARGEST, read_regular, records_of, version_of
from drive_trace.storage.followed_file import split_waiting

_LONG_AGO = 0
_EVENT_ID = re.compile(r'"event_id"\s*:\s*"([^"\\]+)"')


def lines_of(records: Iterable[str]) -> list[str]:
    """The records that are not blank, alike whichever way they are ended and marked."""
    return [line for each in records if (line := each.strip("\r\ufeff")).strip()]


def without(lines: Iterable[str], others: Iterable[str]) -> list[str]:
    """The lines that are not among others, each as often as that is so."""
    rest = Counter(others)
    return [each for each in lines if not _take(rest, each)]


def among(lines: Iterable[str], others: Iterable[str]) -> list[str]:
    """The lines that are among others, each as often as that is so."""
    rest = Counter(others)
    return [each for each in lines if _take(rest, each)]


def rewritten(gone: Iterable[str], come: Iterable[str]) -> dict[str, str]:
    """What has become of lines that are gone: one that came with the same event id."""
    same = defaultdict(list)
    for each in come:
        same[event_id(each)].append(each)
    return {each: same[event_id(each)].pop(0) for each in gone if same[event_id(each)]}


def event_id(line: str) -> str:
    """The id in a line, whether or not that can be read; without one, the line."""
    found = _EVENT_ID.search(line)
    return found[1] if found else line


class KnownFile:
    """The lines of a file that are not blank, as they were when it was looked at last. No method
    but ``show`` may be called while another thread is in one.
    """

    def __init__(self, path: str) -> None:
        self.path = os.path.realpath(path)  # the editor writes through a link, wherever it leads
        self.lines: list[str] = []
        self.foreign: list[str] = []
        self.own: list[str] = []
        """What the editor is about to write."""
        self.modified: int | None = None
        """When the file was modified while the editor knew all of it but foreign lines, in
        nanoseconds; None if it knows another file.
        """
        self._version: tuple[int, ...] = ()
        self._shown: dict[str, str] = {}
        """The lines of the file that the editor shows in another way, by what it shows."""

    def show(self, became: Mapping[str, str]) -> None:
        """The editor shows other lines in place of some."""
        for before, after in became.items():
            line = self._shown.pop(before, before)
            if line != after:
                self._shown[after] = line

    def look(self, shown: list[str], *, is_new: bool = False, is_told: bool = False) -> None:
        """Look at the file, which an editor shows so. It ``is_new`` if the editor has just opened
        it. With ``is_told``, the editor has said that the file has changed, maybe by its own save.
        Never raises.
        """
        with suppress(OSError, ValueError):
            status = Path(self.path).stat()
            if is_new or self.modified is None or version_of(status) != self._version:
                lines = _lines_in(read_regular(self.path, LARGEST))
                if is_new and not self._version:
                    self.lines = shown
                if not is_told or lines != shown:
                    self.take_in(lines)
                    self.note_read(shown, status)

    def take_in(self, lines: list[str]) -> list[str]:
        """Note what the file has now. New lines are foreign, unless the editor may have written
        them. Returns the foreign lines that are no more.
        """
        before, self.lines = self.lines, lines
        new, gone = lines[len(before) :], []
        if lines[: len(before)] != before:
            self.modified = None
            new = without(lines, before)
            old, shown = without(before, lines), dict(self._shown)
            became = rewritten(old, new) | {shown[each]: each for each in new if each in shown}
            self._shown = {each: became.get(line, line) for each, line in (became | shown).items()}
            now = [became.get(each, each) for each in self.foreign]
            gone = without(now, lines)
            self.foreign, new = without(now, gone), without(new, became.values())
        self.foreign += without(new, self.own)
        return gone

    def absent(self, shown: Iterable[str]) -> list[str]:
        """The lines of the file that are not among those that an editor shows."""
        return without(self.lines, self.in_file(shown))

    def in_file(self, shown: Iterable[str]) -> list[str]:
        """What an editor shows, where it has edited a line of the file, as the file has it."""
        return [self._shown.get(each, each) for each in shown]

    def saved(self, shown: list[str]) -> list[str]:
        """The editor has written what it shows. Append what foreign lines that has dropped, and
        return them. Raises AppendError, and OSError.
        """
        with locked_trace(self.path, create=False) as trace:
            status = Path(self.path).stat()
            self.own = shown
            dropped = self.take_in(_lines_in(trace.read()))
            self.note_read(shown, status)
            self.own = []
            for each in dropped:
                trace.append(each)
            self.take_in(_lines_in(trace.read()))
        return dropped

    def note_read(self, shown: list[str], status: os.stat_result) -> None:
        """The editor knows what it shows, and the file's time before that was looked at."""
        rest = self.lines[len(shown) :]
        self._version = version_of(status)
        if self.lines[: len(shown)] == shown and not without(rest, self.foreign):
            self.modified = (self.modified or _LONG_AGO) if rest else status.st_mtime_ns


class Held:
    """A trace that is locked while an editor saves it."""

    def __init__(self, known: KnownFile) -> None:
        self.known = known
        self._stack = ExitStack()
        self._set_back_to: int | None = None
        self._is_ended = False

    def read(self, shown: list[str]) -> list[str] | None:
        """Lock the file, and return the foreign lines that the editor does not show. None, and
        nothing is locked, if it cannot be locked. Never raises.
        """
        try:
            data = self._stack.enter_context(locked_trace(self.known.path, create=False)).read()
        except (AppendError, OSError):
            self.release()
            return None
        self.known.take_in(_lines_in(data))
        self.known.own = shown
        self._is_ended = data.endswith(b"\n")
        return among(self.known.absent(shown), self.known.foreign)

    def set_back(self) -> None:
        """Set the file's time to that at which the editor read it, if it has read all but what was
        appended in whole lines. Only an editor that still waits for these may see that time:
        another one would overwrite the file.
        """
        path, time = self.known.path, self.known.modified
        with suppress(OSError):
            if time is not None and self._is_ended and Path(path).stat().st_mtime_ns != time:
                os.utime(path, ns=(time, time))
                self._set_back_to = time

    def release(self) -> None:
        """Let others append again. If the editor has not written the file, its time is now."""
        if self._set_back_to is not None:
            with suppress(OSError):
                if Path(self.known.path).stat().st_mtime_ns == self._set_back_to:
                    os.utime(self.known.path)
        self._stack.close()


def _lines_in(data: bytes) -> list[str]:
    """Without a last one that is still being written."""
    return lines_of(records_of(split_waiting(data, is_quiet=False)[0]))


def _take(rest: Counter[str], line: str) -> bool:
    is_there = rest[line] > 0
    rest[line] -= is_there
    return is_there
