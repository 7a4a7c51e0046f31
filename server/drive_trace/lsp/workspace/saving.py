"""Saving open traces that others append to: nothing that they have appended is overwritten, and
recorded lines that a person removes are asked for.
"""

import asyncio
import logging
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from time import monotonic
from typing import TypeVar

from lsprotocol import types

from drive_trace.features.results import TextChange, View, as_edits
from drive_trace.lsp.rpc.capabilities import path_of
from drive_trace.lsp.rpc.protocol import TraceProtocol
from drive_trace.lsp.rpc.threads import in_background, in_thread
from drive_trace.lsp.workspace.open_traces import OpenTrace, Workspace
from drive_trace.storage.appending import AppendError
from drive_trace.storage.followed_file import KnownFile, LockedFile, among, lines_of, without
from drive_trace.text.wording import listed, plural
from drive_trace.trace.document import Point
from drive_trace.vocabulary import EVENTS

log = logging.getLogger(__name__)

Result = TypeVar("Result")

_CLIENTS_PATIENCE = 0.7
"""Seconds after which a client may have gone on without an answer: Neovim waits for one."""
_PATIENCE = 3.0
"""Seconds after which a file is let go that the client has not written."""
_PAUSE = 0.5
"""Seconds in which lines that were removed may be put elsewhere, before the person is asked."""
_MOST_FILES = 20
"""So many files are remembered: an editor may open one again, with what can be undone."""
_WARNING = types.MessageType.Warning
_ANSWERS = [{"title": "Remove Them"}, {"title": "Keep Them"}]


class Saving:
    """Handles the notifications and the request about saving."""

    def __init__(self, protocol: TraceProtocol, traces: Workspace) -> None:
        self._protocol = protocol
        self._traces = traces
        self._recent: dict[str, KnownFile] = {}
        self._held: dict[str, LockedFile] = {}

    def opened(self, trace: OpenTrace, seen: KnownFile | None) -> None:
        """The client has read a trace; ``seen`` is its file as it shows it, if it has one."""
        if seen is not None:
            path, state = str(path_of(trace.uri)), seen.states[-1]
            known = self._recent.pop(path, seen)
            trace.file = self._recent[path] = known
            if len(self._recent) > _MOST_FILES:
                del self._recent[next(iter(self._recent))]
            if state not in known.states:  # Neovim opens again what an undo brings back
                known.modified = None
            known.is_behind = lambda: self._protocol.is_behind(trace.uri)
            known.shows(state)
            in_background(_in_turn(known, partial(known.look, is_opened=True), seen.lines))

    def changed(self, trace: OpenTrace) -> None:
        """The client may have read more of the file, or a person has removed lines."""
        if trace.file is not None and trace.file.removed:
            in_background(self._ask(trace, trace.file))
        self.look(trace)

    def look(self, trace: OpenTrace, *, is_told: bool = False) -> None:
        """Look at the file of a trace. ``is_told`` is the client's word that it has changed."""
        if (file := trace.file) is not None:
            in_background(_in_turn(file, partial(file.look, is_told=is_told), trace.records))

    async def will_save(self, params: types.WillSaveTextDocumentParams) -> object:
        """The edits that put in what others have appended, where the text does not have it."""
        uri = params.text_document.uri
        trace = self._traces.get(uri)
        if trace is None or (file := trace.file) is None:
            return None
        if monotonic() < trace.told_until:
            return None  # VS Code may ask twice, and would put in the same lines twice
        self._release(uri)
        deadline, edits = monotonic() + _CLIENTS_PATIENCE, trace.edits
        records = trace.records
        held = LockedFile(file, deadline)
        # It goes on if the client does not wait: others are not to have the file meanwhile.
        missing = await asyncio.shield(_in_turn(file, held.read, records))
        changes = await in_thread(_put_in, records, file, missing) if missing else []
        if missing is None or trace.edits != edits or monotonic() > deadline:
            held.release()
            return None
        held.set_back()
        self._held[uri] = held
        asyncio.get_running_loop().call_later(_PATIENCE, self._release, uri, held)
        if changes:
            trace.told_until = monotonic() + _CLIENTS_PATIENCE
        return as_edits(View(trace.analysis, self._protocol.client.encoding), changes)

    def saved(self, params: types.DidSaveTextDocumentParams) -> None:
        """The client has written a trace."""
        trace = self._traces.get(params.text_document.uri)
        self._release(params.text_document.uri)
        if trace is not None and trace.file is not None:
            trace.told_until = 0.0
            in_background(self._check(trace.file, trace.records))

    async def _check(self, file: KnownFile, written: list[str]) -> None:
        """Append again what a save has dropped: a client may not wait, or overwrite the file."""
        try:
            dropped = await _in_turn(file, file.saved, written)
        except (AppendError, OSError) as error:
            log.warning("after it was saved: %s", error)
            return
        if dropped:
            text = f"Saving dropped {_counted(dropped, file)} which others had appended."
            is_broken = any("\ufffd" in each for each in dropped)
            how = ", with U+FFFD in place of bytes that are not UTF-8" if is_broken else ""
            text += f" Drive Trace has appended them again{how}."
            self._protocol.show_message(text, _WARNING)

    async def _ask(self, trace: OpenTrace, file: KnownFile) -> None:
        """Ask whether lines of the file that a person has removed are to go."""
        await asyncio.sleep(_PAUSE)
        removed, file.removed = file.removed, []
        records = trace.records
        lost = await _in_turn(file, lambda shown: among(file.absent(shown), removed), records)
        if not lost:
            return
        kept = len(await in_thread(among, lost, file.foreign))
        then = f"puts back {kept:,} which others have appended" if kept else "drops them"
        counted = await in_thread(_counted, lost, file)
        text = f"You have removed {counted}. The next save {then}."
        if not self._protocol.client.asks:
            self._protocol.show_message(text, _WARNING)
            return
        params = {"type": _WARNING, "message": text, "actions": _ANSWERS}
        response = await self._protocol.request(types.WINDOW_SHOW_MESSAGE_REQUEST, params)
        async with file.lock:
            if response is not None and response.result in _ANSWERS:
                file.foreign = without(file.foreign, lost)  # what is not to go is as foreign
                file.foreign += lost if response.result == _ANSWERS[1] else []

    def _release(self, uri: str, only: LockedFile | None = None) -> None:
        held = self._held.get(uri)
        if held is not None and only in (None, held):
            del self._held[uri]
            held.release()


async def _in_turn(file: KnownFile, work: Callable[[list[str]], Result], text: list[str]) -> Result:
    """The result of ``work`` on a file and the lines of a text, in a thread."""
    async with file.lock:
        return await in_thread(lambda: work(lines_of(text)))


def _put_in(records: list[str], file: KnownFile, missing: list[str]) -> list[TextChange]:
    """The changes that put lines of a file behind all those that they follow there, and before what
    was added to these.
    """
    places, left = defaultdict[str, deque[int]](deque), Counter(missing)
    for number, record in enumerate(records, 1):
        for line in file.in_file(lines_of([record])):
            places[line].append(number)
    number, groups = 0, defaultdict[int, list[str]](list)
    for line in file.lines:
        if places[line]:
            number = max(number, places[line].popleft())
        elif left[line]:
            left[line] -= 1
            groups[number].append(line)
    return [_behind(records, *each) for each in groups.items()]


def _behind(records: list[str], number: int, lines: list[str]) -> TextChange:
    """The change that puts lines behind a record."""
    count = len(records) - (0 if records[-1] else 1)
    ending = "\r\n" if records[0].endswith("\r") else "\n"
    text = ending.join(lines)
    if number < count or not count:
        return TextChange(Point(number, 0), Point(number, 0), text + ending)
    # Before the last newline: behind it, Neovim would put an empty line there, too.
    end = Point(count - 1, len(records[count - 1].removesuffix("\r")))
    return TextChange(end, end, ending + text)


def _counted(lines: Sequence[str], file: KnownFile) -> str:
    """How many events of which types, and of which file."""
    names = [next((name for name in EVENTS if f'"{name}"' in each), "unreadable") for each in lines]
    kinds = listed(f"{count:,} {name}" for name, count in Counter(names).items())
    return f"{plural(len(lines), 'recorded event')} of {Path(file.path).name} ({kinds})"
