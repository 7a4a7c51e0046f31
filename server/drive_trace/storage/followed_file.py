"""Files that others write to, too.

One that is only followed is read again when it has changed. A trace grows by whole lines at its
end. Text after the last newline that is no whole object yet waits until nobody has written to the
file for a while: somebody is writing it.

One that an editor has edited is brought together with what others have appended, before it is
saved. An editor that finds its file changed offers to overwrite it, which would drop what was
appended. So the appended lines are put into the editor's text first. The file is locked from then
on until it is written, so that those who lock it lose nothing. Its time is set back, by which the
editor knows that it has read all of the file. Whatever is appended without a lock sets that time
again, and the editor asks as before.

A line is foreign if the file had it before the editor wrote it there. It is looked for in the text
at each save, as an undo may have taken it out since.
"""

import asyncio
import math
import os
import re
import stat
import time
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TypeAlias

from drive_trace.storage import files as disk
from drive_trace.storage.appending import AppendError, locked_trace
from drive_trace.text import codec, spans

QUIET = 5.0
"""Seconds without a change after which nobody seems to be writing."""


LONGEST_LINE = 250_000
"""Characters. What has a longer line is not worked on in an editor, as others would wait for it:
to free a million values takes 100 ms. The longest line of a real trace that we know has 817.
"""
HAS_LONG_LINE = f"has a line of more than {LONGEST_LINE:,} characters"


def has_long_line(records: Iterable[str]) -> bool:
    """Whether one of the records is longer than :data:`LONGEST_LINE`."""
    return any(len(each) > LONGEST_LINE for each in records)


FileState: TypeAlias = tuple[int, ...]
"""The size of a file, and what else is different if the file may have changed."""


class FollowedFile:
    """One file that one thread at a time looks at again and again."""

    def __init__(self, path: Path, most: int, base: Path | None = None) -> None:
        """No link may lead out of ``base``, the folder that it was found in, or its repository."""
        self.path = path
        self._base = base
        self._most = most
        """A larger file, in bytes, is not read."""
        self._state: FileState | None = None
        self.is_settled = False
        """Whether nothing waits, and the file was read since somebody seemed to write to it."""
        self.content = b""
        """Identifies what was returned last: equal for equal texts."""
        self.size = 0
        """The number of bytes read last, with those that wait."""

    def quiet_state(self) -> FileState | None:
        """The state of a file that can be read and that nobody seems to be writing; else None."""
        try:
            status = os.lstat(self.path)
            if stat.S_ISLNK(status.st_mode):  # a search follows no other link on the way
                status = self._real().stat()
        except (OSError, ValueError):
            return None
        state, age = _state_of(status)
        is_file = stat.S_ISREG(status.st_mode) and status.st_size <= self._most
        return state if is_file and abs(age) >= QUIET else None

    def adopt(self, state: FileState, digest: bytes) -> None:
        """Go on where somebody else has read the whole file, which had this :meth:`quiet_state`
        before that, and this digest.
        """
        self._state, self.content, self.size, self.is_settled = state, digest, state[0], True

    def look(self, *, anew: bool = False, settle: bool = False) -> list[str] | disk.Problem | None:
        """All records but what waits, if the text has changed; None if it has not.

        With ``anew``, the text, changed or not. With ``settle``, the caller has seen no change for
        :data:`QUIET` seconds.
        """
        try:
            return self._look(anew=anew, settle=settle)
        except (OSError, ValueError) as error:
            return self._lost(disk.Problem(str(self.path), disk.why_not_read(error)))

    def _real(self) -> Path:
        return self.path if self._base is None else disk.inside(self.path, self._base)

    def _look(self, *, anew: bool, settle: bool) -> list[str] | disk.Problem | None:
        state, age = _state_of(self.path.stat())
        is_same = state == self._state
        is_quiet = (is_same and (settle or self.is_settled)) or abs(age) >= QUIET
        if is_same and not anew and (self.is_settled or not is_quiet):
            return None
        is_real = self._base is not None
        # A pipe may have taken its place meanwhile.
        with disk.open_regular(self._real(), is_real=is_real) as file:
            status = os.fstat(file.fileno())
            if status.st_size > self._most:
                reason = f"has {status.st_size} bytes and is left out"
                return self._lost(disk.Problem(str(self.path), reason))
            data = file.read()
        self._state, self.size, self.is_settled = _state_of(status)[0], len(data), is_quiet
        text = data if disk.why_not_utf8(data) else split_waiting(data, is_quiet=is_quiet)[0]
        before, self.content = self.content, disk.digest_of(text)
        if self.content == before and not anew:
            return None
        found = disk.decoded(str(self.path), text)
        if isinstance(found, disk.Problem):
            return found
        if has_long_line(found.records):
            return disk.Problem(str(self.path), HAS_LONG_LINE)
        return found.records

    def _lost(self, problem: disk.Problem) -> disk.Problem:
        self._state, self.content, self.is_settled = None, b"", True
        return problem


def _state_of(status: os.stat_result) -> tuple[FileState, float]:
    """A file's state, and its age in seconds."""
    # The last one changes also where the time of the file is set back.
    state = (status.st_size, *disk.version_of(status), status.st_ctime_ns)
    return state, time.time() - status.st_mtime


def split_waiting(data: bytes, *, is_quiet: bool) -> tuple[bytes, bytes]:
    """The text that can be read now, and the piece of a line after it that waits."""
    end = data.rfind(b"\n") + 1
    rest = data[end:]
    return (data, b"") if is_quiet or _is_object(rest) else (data[:end], rest)


def _is_object(data: bytes) -> bool:
    """Whether a piece is a whole JSON object. No prefix of an object is one."""
    if not data.rstrip().endswith(b"}"):
        return False
    try:
        return isinstance(codec.loads(data), dict)
    except ValueError:
        return False


# One that an editor has edited

_EVENT_ID = re.compile(r'"event_id"\s*:\s*"([^"\\]+)"')


def lines_of(records: Iterable[str]) -> list[str]:
    """The records that are not blank, alike whichever way they are ended and marked."""
    return [line for each in records if (line := spans.stripped(each, "\r\ufeff")).strip()]


def without(lines: Iterable[str], others: Iterable[str]) -> list[str]:
    """The lines that are not among others, each as often as that is so."""
    counts = _count(lines)
    return list((counts - _count(others)).elements()) if counts else []


def among(lines: Iterable[str], others: Iterable[str]) -> list[str]:
    """The lines that are among others, each as often as that is so."""
    return list((_count(lines) & _count(others)).elements())


def _count(lines: Iterable[str]) -> Counter[str]:
    # One by one, as of each sum here: to take all at once keeps other threads waiting.
    return Counter(each for each in lines)


class KnownFile:
    """What is known of a file that an editor shows: its lines that are not blank, as they were when
    it was looked at last. Who works on it in a thread has the lock; ``changed`` needs none.
    """

    def __init__(self, path: str, lines: list[str]) -> None:
        """``lines`` is what the editor shows first."""
        self.path = os.path.realpath(path)  # the editor writes through a link, wherever it leads
        self.leads_out = disk.leads_out(path) is not None
        self.lines = lines
        self.lock = asyncio.Lock()
        self.foreign: list[str] = []
        self.own: list[str] = []
        """What the editor is about to write."""
        self.removed: list[str] = []
        """The lines that were removed by hand; nobody has been asked about them yet."""
        self.is_behind: Callable[[], bool] = bool
        """Whether the editor may show, and have written, something newer than is known here."""
        self.modified: int | None = None
        """When the file was modified while the editor knew all of it but foreign lines, in
        nanoseconds; None if it knows another file.
        """
        self._version: tuple[int, ...] = ()
        self._shown: dict[str, str] = {}
        """The lines of the file that the editor shows in another way, by what it shows."""
        self.read_version: tuple[int, ...] = ()
        """That of the file when it was read for a save."""
        self._before_read: tuple[list[str], list[str], dict[str, str], int | None]
        """What was known before that."""
        self.states: deque[int] = deque([sum(hash(each) for each in lines)], maxlen=5_000)
        """Sums of the hashes of the lines that were shown, the present ones last."""
        self._shows, self._looked = 1, 0
        """How many states there have been, and how many of them before the file was read last."""

    def changed(self, before: Iterable[str], after: Iterable[str]) -> bool:
        """The editor shows other records in place of some. Returns whether lines have come or gone,
        not those that were edited.
        """
        old, new = lines_of(before), lines_of(after)
        state = self.states[-1] + sum(hash(each) for each in new) - sum(hash(each) for each in old)
        gone, come = without(old, new), without(new, old)
        became, is_undo = _rewritten(gone, come), state in self.states
        is_one = len(gone) == len(come) == 1 and not _EVENT_ID.search(gone[0])
        if is_one and not (is_undo and {*gone, *come} & {*self.foreign}):
            became = {gone[0]: come[0]}  # its place tells, if these are not several undos
        gone, come = without(gone, became.keys()), without(come, became.values())
        take = self._shown.get if is_undo else self._shown.pop  # a redo brings it back
        self._shown |= {new: take(old, old) for old, new in became.items()}
        removed = without(self.removed, self.in_file(come)) + self.in_file(gone)
        self.removed = [] if is_undo else removed  # an undo removes nothing
        self.shows(state)
        return bool(gone or come)

    def shows(self, state: int) -> None:
        """The editor shows lines with this sum of their hashes."""
        self.states.append(state)
        self._shows += 1

    def look(self, shown: list[str], *, is_told: bool = False, is_opened: bool = False) -> None:
        """Look at the file, which an editor shows so. With ``is_told``, the editor has said that it
        has changed, maybe by a save of its own. What that may have dropped is still known, and so
        left to ``saved``. Never raises.
        """
        shows = self._shows
        with suppress(OSError, ValueError):
            status = Path(self.path).stat()
            if self.modified is None or disk.version_of(status) != self._version:
                data = disk.read_regular(self.path, disk.LARGEST, is_real=True)
                lines = _lines_in(data)
                if is_told and lines == shown:
                    return
                read = self.removed if lines == shown else []  # others dropped what it read
                lost = without(without(self.foreign, read), lines)
                if lost:
                    lost = without(lost, _rewritten(lost, without(lines, self.lines)))
                if lost and not is_opened:
                    whole = lines_of(disk.records_of(data))
                    # Who writes a file empties it first.
                    is_begun = not data.endswith(b"\n") and _state_of(status)[1] < QUIET
                    is_begun = is_begun and "\n".join(shown).startswith("\n".join(whole))
                    if is_begun or self.is_behind() or self._may_have_written(whole):
                        return
                self.take_in(lines)
                self.note_read(shown, status)
            self._looked = shows

    def _may_have_written(self, lines: list[str]) -> bool:
        """Whether the editor has shown these lines since the file was read last, without those at
        the end that others may have appended since.
        """
        recent = {*list(self.states)[self._looked - self._shows - 1 :]}
        state, known = sum(hash(each) for each in lines), {*self.lines}
        for each in reversed(lines):
            if state in recent or each in known:
                break
            state -= hash(each)
        return state in recent

    def take_in(self, lines: list[str]) -> list[str]:
        """Note what the file has now. New lines are foreign, unless the editor may have written
        them. Returns the foreign lines that are no more, in their order.
        """
        if lines == self.lines:  # as when a trace is opened
            return []
        before, same = self.lines, {each: each for each in self.lines}
        self.lines = lines = [same.get(each, each) for each in lines]  # not a second copy of each
        old, new = [], lines[len(before) :]
        if lines[: len(before)] != before:
            self.modified = None
            old, new = without(before, lines), without(lines, before)
        shown, gone, come = dict(self._shown), {*old}, {*new}
        became = {shown[each]: each for each in new if shown.get(each) in gone}
        became |= _rewritten(without(old, became.keys()), without(new, became.values()))
        ways = (each for each in (became | shown).items() if each[0] not in come)
        self._shown = {each: became.get(line, line) for each, line in ways}
        now = [became.get(each, each) for each in self.foreign]
        lost = among(old, now)
        self.foreign = without(now, lost) + without(without(new, became.values()), self.own)
        return lost

    def absent(self, shown: Iterable[str]) -> list[str]:
        """The lines of the file, if there is one, that are not among those that an editor shows."""
        lines = self.lines if Path(self.path).exists() else []
        return without(lines, self.in_file(shown))

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
            if disk.version_of(status) == self.read_version:  # the editor had written it by then
                self.lines, self.foreign, self._shown, self.modified = self._before_read
            self.read_version = ()
            dropped = self.take_in(_lines_in(trace.read()))
            self.note_read(shown, status)
            self.own = []
            for each in dropped:
                trace.append(each)
            self.take_in(_lines_in(trace.read()))
        return dropped

    def read_for_save(self, lines: list[str], version: tuple[int, ...]) -> None:
        """Note what a locked file has, before the editor writes it. One that did not wait may have
        written it already: then ``saved`` finds this version, and goes back to what was known.
        """
        if version != self.read_version:  # an editor may ask twice
            self.read_version = version
            self._before_read = self.lines, self.foreign, self._shown, self.modified
        self.take_in(lines)

    def note_read(self, shown: list[str], status: os.stat_result) -> None:
        """The editor knows what it shows, and the file's time before that was looked at."""
        rest = self.lines[len(shown) :]
        self._version = disk.version_of(status)
        if self.lines[: len(shown)] == shown and not without(rest, self.foreign):
            self.modified = (self.modified or 0) if rest else status.st_mtime_ns


class LockedFile:
    """A trace that is locked while an editor saves it."""

    def __init__(self, known: KnownFile, deadline: float = math.inf) -> None:
        """After the deadline, in seconds of ``time.monotonic``, nothing is read: an editor that has
        gone on may have written the file, and what that dropped is still to be known.
        """
        self.known = known
        self._deadline = deadline
        self._stack = ExitStack()
        self._set_back_to: int | None = None
        self._version: tuple[int, ...] = ()
        """That of the file which was read."""
        self._is_ended = False

    def read(self, shown: list[str]) -> list[str] | None:
        """Lock the file, and return the foreign lines that the editor does not show. None, and
        nothing is locked, if it cannot be locked in time, or if a link leads out to it: what stands
        there is not for this text. Never raises.
        """
        if self.known.leads_out:
            return None
        with suppress(AppendError, OSError):
            trace = self._stack.enter_context(locked_trace(self.known.path, create=False))
            if time.monotonic() < self._deadline:
                self._version = disk.version_of(Path(self.known.path).stat())
                data = trace.read()
                self.known.read_for_save(_lines_in(data), self._version)
                self.known.own = shown
                if not data.endswith(b"\n"):
                    self.known.modified = None  # the editor is to ask about a part of a line
                return among(self.known.absent(shown), self.known.foreign)
        self.release()
        return None

    def set_back(self) -> None:
        """Set the file's time to that at which the editor read it, if it has read all but foreign
        lines, and nobody has written to it since it was locked and read. Only an editor that still
        waits for these lines may see that time: another one would overwrite the file.
        """
        path, time = self.known.path, self.known.modified
        with suppress(OSError):
            status = Path(path).stat()
            is_read = disk.version_of(status) == self._version
            if time is not None and is_read and status.st_mtime_ns != time:
                os.utime(path, ns=(time, time))
                self._set_back_to = time

    def release(self) -> None:
        """Let others append again. If the editor has not written the file, its time is now."""
        with suppress(OSError):
            if Path(self.known.path).stat().st_mtime_ns == self._set_back_to:
                os.utime(self.known.path)
                self.known.read_version = disk.version_of(Path(self.known.path).stat())
        self._stack.close()


def _lines_in(data: bytes) -> list[str]:
    """Without a last one that is still being written."""
    return lines_of(disk.records_of(split_waiting(data, is_quiet=False)[0]))


def _rewritten(gone: Iterable[str], come: Iterable[str]) -> dict[str, str]:
    """What has become of lines that are gone: one that came with the same event id."""
    same = defaultdict(list)
    for each in come:
        if found := _EVENT_ID.search(each):
            same[found[1]].append(each)
    ids = ((each, found[1]) for each in gone if (found := _EVENT_ID.search(each)))
    return {each: same[event_id].pop(0) for each, event_id in ids if same[event_id]}
