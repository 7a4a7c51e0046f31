"""Saving open traces that others append to: nothing that they have appended is overwritten, and
recorded lines that a person removes are asked for.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Coroutine, Iterable, Sequence
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from lsprotocol import types

from drive_trace.features.text_edits import TextChange, as_edits
from drive_trace.lsp.rpc.capabilities import path_of
from drive_trace.lsp.rpc.protocol import TraceProtocol
from drive_trace.lsp.rpc.tasks import in_thread
from drive_trace.lsp.workspace.open_traces import OpenTrace, Replaced, Workspace
from drive_trace.storage.appending import AppendError
from drive_trace.storage.merging import (
    Held,
    KnownFile,
    among,
    event_id,
    lines_of,
    rewritten,
    without,
)
from drive_trace.tasks import finish
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
_MOST_STATES = 5_000
"""So many former texts are remembered, a number of each."""
_EVENT_TYPE = re.compile(r'"event_type"\s*:\s*"([a-z-]+)"')
_REMOVE, _KEEP = "Remove Them", "Put Them Back"


class _Edited:
    """A file, and how its text in the editor changes."""

    def __init__(self, path: str) -> None:
        self.file = KnownFile(path)
        self.lock = asyncio.Lock()
        self.is_due = False
        """Whether a look is about to begin."""
        self.removed: list[str] = []
        """The lines that were removed by hand; nobody has been asked about them yet."""
        self.agreed: list[str] = []
        """The lines that a person wants to remove."""
        self._state = 0
        self._states: deque[int] = deque(maxlen=_MOST_STATES)

    def opened(self, records: Sequence[str]) -> None:
        """The editor shows these records."""
        self._state = sum(map(hash, lines_of(records)))
        self._states.append(self._state)

    def changed(self, replaced: Replaced) -> bool:
        """The editor shows others. Returns whether lines have come or gone."""
        before, after = map(lines_of, replaced)
        self._state += sum(map(hash, after)) - sum(map(hash, before))
        gone, come = without(before, after), without(after, before)
        became = rewritten(gone, come)
        if len(gone) == len(come) == 1 and event_id(gone[0]) == gone[0]:
            became = {gone[0]: come[0]}  # without an id, its place tells
        self.file.show(became)
        gone, come = without(gone, became.keys()), without(come, became.values())
        self.removed = without(self.removed, self.file.in_file(come))
        if self._state not in self._states:  # no undo
            self.removed += self.file.in_file(gone)
        self._states.append(self._state)
        return bool(gone or come)

    async def turn(self, work: Callable[..., Result], records: Callable[[], list[str]]) -> Result:
        """The result of ``work`` on the lines of a text, in a thread. The file is for it alone, and
        stays so when nobody waits any longer.
        """

        async def turn() -> Result:
            async with self.lock:
                self.is_due = False
                now = records()
                return await in_thread(lambda: work(lines_of(now)))

        return await asyncio.shield(asyncio.ensure_future(turn()))


class Saving:
    """Handles the notifications and the request about saving."""

    def __init__(self, protocol: TraceProtocol, traces: Workspace) -> None:
        self._protocol = protocol
        self._traces = traces
        self._edited: WeakKeyDictionary[OpenTrace, _Edited] = WeakKeyDictionary()
        self._recent: dict[str, _Edited] = {}
        self._held: dict[str, Held] = {}
        self._tasks: set[asyncio.Future[object]] = set()

    def opened(self, trace: OpenTrace) -> None:
        """The client has read a trace."""
        path = path_of(trace.uri)
        if path is None:
            return
        edited = self._recent.pop(str(path), None) or _Edited(str(path))
        self._edited[trace] = self._recent[str(path)] = edited
        if len(self._recent) > _MOST_FILES:
            del self._recent[next(iter(self._recent))]
        records = trace.records
        edited.opened(records)
        self._start(edited.turn(partial(edited.file.look, is_new=True), lambda: records))

    def changed(self, trace: OpenTrace, replaced: Replaced) -> None:
        """After a change: the client may have read more of the file, or a person removed lines."""
        edited = self._edited.get(trace)
        if edited is None or not edited.changed(replaced):
            return
        if not edited.is_due:
            edited.is_due = True
            self._start(edited.turn(edited.file.look, lambda: trace.records))
        if edited.removed:
            self._start(self._ask(trace, edited))

    def file_changed(self, trace: OpenTrace) -> None:
        """The client reports that the file of a trace has changed, maybe by its own save."""
        edited = self._edited.get(trace)
        if edited is not None:
            look = partial(edited.file.look, is_told=True)
            self._start(edited.turn(look, lambda: trace.records))

    async def will_save(self, params: types.WillSaveTextDocumentParams) -> object:
        """The edits that put in what others have appended, where the text does not have it."""
        uri = params.text_document.uri
        trace = self._traces.get(uri)
        edited = self._edited.get(trace) if trace is not None else None
        if trace is None or edited is None:
            return None
        self._release(uri)
        asked = monotonic()
        held, edits = Held(edited.file), trace.edits
        missing = await edited.turn(held.read, lambda: trace.records)
        made = None
        if missing and trace.edits == edits:
            changes = _put_in(trace.records, edited.file.lines, missing)
            encoding = self._protocol.client.encoding
            made = finish(as_edits(trace.analysis.document, changes, encoding))
        if missing is None or trace.edits != edits or monotonic() - asked > _CLIENTS_PATIENCE:
            held.release()
            return None
        held.set_back()
        self._held[uri] = held
        asyncio.get_running_loop().call_later(_PATIENCE, self._release, uri, held)
        return made

    def saved(self, params: types.DidSaveTextDocumentParams) -> None:
        """The client has written a trace."""
        trace = self._traces.get(params.text_document.uri)
        self._release(params.text_document.uri)
        edited = self._edited.get(trace) if trace is not None else None
        if trace is not None and edited is not None:
            self._start(self._check(edited, trace.records))

    def _start(self, work: Coroutine[Any, Any, object]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _check(self, edited: _Edited, written: list[str]) -> None:
        """Append again what a save has dropped: a client may not wait, or overwrite the file."""
        try:
            dropped = await edited.turn(edited.file.saved, lambda: written)
        except (AppendError, OSError) as error:
            log.warning("after it was saved: %s", error)
            return
        if dropped:
            text = f"Saving dropped {_counted(dropped, edited)} which others had appended."
            self._tell(f"{text} Drive Trace has appended them again.")

    async def _ask(self, trace: OpenTrace, edited: _Edited) -> None:
        """Ask whether lines of the file that a person has removed are to go."""
        await asyncio.sleep(_PAUSE)
        removed, edited.removed = without(edited.removed, edited.agreed), []
        if not removed:
            return
        await edited.turn(edited.file.look, lambda: trace.records)
        absent = await edited.turn(edited.file.absent, lambda: trace.records)
        lost = among(absent, removed)
        if not lost:
            return
        text = f"You have removed {_counted(lost, edited)}."
        if kept := len(among(lost, edited.file.foreign)):
            text += f" The next save puts back the {kept:,} which others have appended."
        if not self._protocol.client.asks:
            self._tell(text)
            return
        actions = [types.MessageActionItem(_REMOVE), types.MessageActionItem(_KEEP)]
        params = types.ShowMessageRequestParams(types.MessageType.Warning, text, actions)
        method = types.WINDOW_SHOW_MESSAGE_REQUEST
        response = await self._protocol.request(method, params, None)
        match response and response.result:
            case {"title": "Remove Them"}:
                edited.agreed += lost
                edited.file.foreign = without(edited.file.foreign, lost)
            case {"title": "Put Them Back"}:
                edited.file.foreign += without(lost, edited.file.foreign)

    def _tell(self, text: str) -> None:
        params = types.ShowMessageParams(types.MessageType.Warning, text)
        self._protocol.notify(types.WINDOW_SHOW_MESSAGE, params)

    def _release(self, uri: str, only: Held | None = None) -> None:
        held = self._held.get(uri)
        if held is not None and only in (None, held):
            del self._held[uri]
            held.release()


def _put_in(
    records: Sequence[str], file: Iterable[str], missing: Iterable[str]
) -> list[TextChange]:
    """The changes that put lines of a file behind those that they follow there, and before what was
    added to these.
    """
    places = {each: n for n, record in enumerate(records) for each in lines_of([record])}
    count = len(records) - (0 if records[-1] else 1)
    ending = "\r\n" if records[0].endswith("\r") else "\n"
    rest, number, changes = Counter(missing), 0, defaultdict(list)
    for each in file:
        if rest[each] > 0:
            rest[each] -= 1
            changes[number].append(each)
        else:  # a line that is no more was written anew
            number = min(places.get(each, number) + 1, count)
    return [_insertion(records, number, count, ending, texts) for number, texts in changes.items()]


def _insertion(
    records: Sequence[str], number: int, count: int, ending: str, texts: Iterable[str]
) -> TextChange:
    text = ending.join(texts)
    if number < count or not count:
        return TextChange(Point(number, 0), Point(number, 0), text + ending)
    # Before the last newline: behind it, Neovim would put an empty line there, too.
    end = Point(count - 1, len(records[count - 1].removesuffix("\r")))
    return TextChange(end, end, ending + text)


def _counted(lines: Sequence[str], edited: _Edited) -> str:
    """How many events of which types, and of which file."""
    found = (_EVENT_TYPE.search(each) for each in lines)
    names = Counter(each[1] if each and each[1] in EVENTS else "unreadable" for each in found)
    kinds = listed(f"{count:,} {name}" for name, count in names.items())
    return f"{plural(len(lines), 'recorded event')} of {Path(edited.file.path).name} ({kinds})"
