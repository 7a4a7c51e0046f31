"""Saving open traces that others append to: nothing that they have appended is overwritten."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from time import monotonic
from weakref import WeakKeyDictionary

from lsprotocol import types

from drive_trace.features.text_edits import TextChange, as_edits
from drive_trace.lsp.rpc.capabilities import path_of
from drive_trace.lsp.rpc.protocol import TraceProtocol
from drive_trace.lsp.rpc.tasks import in_thread
from drive_trace.lsp.workspace.open_traces import OpenTrace, Workspace
from drive_trace.storage.merging import Divided, Held, KnownStart
from drive_trace.tasks import finish
from drive_trace.trace.document import Point
from drive_trace.trace.line import Line

_CLIENTS_PATIENCE = 0.7
"""Seconds after which a client may have gone on without an answer: Neovim waits for one."""
_PATIENCE = 3.0
"""Seconds after which a file is let go that the client has not written."""


class _Read:
    """What the client has read or written of a file, as far as that is known. If it is not so, the
    file does not begin with it, and the client asks the person.
    """

    def __init__(self, trace: OpenTrace, path: str) -> None:
        text, end, _ = trace.analysis.document.text.rpartition("\n")
        self.start = KnownStart(path, _encoded(text + end))
        self.count = len(trace.analysis.document.lines) - 1
        """Of whole lines."""
        self.seen = self.count
        """The whole lines when the file was last compared."""
        self.lock = asyncio.Lock()


class Saving:
    """Handles the notifications and the request about saving."""

    def __init__(self, protocol: TraceProtocol, traces: Workspace) -> None:
        self._protocol = protocol
        self._traces = traces
        self._read: WeakKeyDictionary[OpenTrace, _Read] = WeakKeyDictionary()
        self._held: dict[str, Held] = {}

    def opened(self, trace: OpenTrace) -> None:
        """The client has read a trace, or written it."""
        path = path_of(trace.uri)
        if path is not None:
            read = self._read[trace] = _Read(trace, str(path))
            asyncio.get_running_loop().create_task(_note_time(read))

    def changed(self, uri: str) -> None:
        """After a change: the client may have read more of the file."""
        trace = self._traces.get(uri)
        read = self._read.get(trace) if trace is not None else None
        if trace is None or read is None:
            return
        lines = trace.analysis.document.lines
        if lines[-1].text or len(lines) - 1 == read.seen:
            return  # as when somebody types into a line
        read.seen = len(lines) - 1
        if read.seen > read.count:
            asyncio.get_running_loop().create_task(_read_on(read, trace))

    async def will_save(self, params: types.WillSaveTextDocumentParams) -> object:
        """The edits that put in what others have appended since the client has read the file."""
        uri = params.text_document.uri
        trace = self._traces.get(uri)
        read = self._read.get(trace) if trace is not None else None
        if trace is None or read is None:
            return None
        self._release(uri)
        asked = monotonic()
        lines, edits = trace.analysis.document.lines, trace.edits
        held = Held(read.start)
        async with read.lock:
            found = await in_thread(held.read)
        if found is None or trace.edits != edits:
            held.release()
            return None
        change = _merged(lines, found)
        encoding = self._protocol.client.encoding
        made = change and finish(as_edits(trace.analysis.document, [change], encoding))
        if monotonic() - asked > _CLIENTS_PATIENCE:
            held.release()
            return None
        if found.appended:
            held.set_back()
        self._held[uri] = held
        asyncio.get_running_loop().call_later(_PATIENCE, self._release, uri, held)
        return made

    def saved(self, params: types.DidSaveTextDocumentParams) -> None:
        """The client has written a trace."""
        trace = self._traces.get(params.text_document.uri)
        if trace is not None:
            self.opened(trace)
        self._release(params.text_document.uri)

    def _release(self, uri: str, only: Held | None = None) -> None:
        held = self._held.get(uri)
        if held is not None and only in (None, held):
            del self._held[uri]
            held.release()


async def _note_time(read: _Read) -> None:
    async with read.lock:
        await in_thread(read.start.note_time)  # a network folder may be slow


async def _read_on(read: _Read, trace: OpenTrace) -> None:
    """Take in what the client shows behind what it has read, if the file has it there, too."""
    async with read.lock:
        more = [line.text for line in trace.analysis.document.lines[read.count : -1]]
        text = _encoded("".join(f"{each}\n" for each in more))
        if await in_thread(read.start.extend, text):
            read.count += len(more)


def _merged(lines: Sequence[Line], file: Divided) -> TextChange | None:
    """The change that puts what was appended behind what was read, and before what was added. Some
    of it may have been read in the meantime.
    """
    added = Counter(line.text for line in lines) - Counter(file.known)
    missing = [each for each in file.appended if each not in added]
    if not missing:
        return None
    places = {text: place for place, text in enumerate(file.known + file.appended)}
    count = len(lines) - (0 if lines[-1].text else 1)
    behind = next((each for each in reversed(range(count)) if lines[each].text in places), -1)
    place = places[lines[behind].text] if behind >= 0 else -1
    # Lines that were read and are no more have been written anew.
    gone = max(len(file.known) - 1 - place, 0)
    number = min(behind + 1 + gone, count)
    if number < count or not count:
        return TextChange(
            Point(number, 0), Point(number, 0), "".join(f"{each}\n" for each in missing)
        )
    # Before the last newline: behind it, Neovim would put an empty line there, too.
    before = lines[count - 1].text
    ending = "\r\n" if before.endswith("\r") else "\n"
    end = Point(count - 1, len(before.removesuffix("\r")))
    return TextChange(end, end, ending + "\n".join(missing).removesuffix("\r"))


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
