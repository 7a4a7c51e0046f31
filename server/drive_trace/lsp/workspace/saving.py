"""Saving open traces that others append to: nothing that they have appended is overwritten."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from weakref import WeakKeyDictionary

from lsprotocol import types

from drive_trace.features.text_edits import TextChange, as_edits
from drive_trace.lsp.rpc.capabilities import path_of
from drive_trace.lsp.rpc.protocol import TraceProtocol
from drive_trace.lsp.rpc.tasks import in_thread
from drive_trace.lsp.workspace.open_traces import OpenTrace, Workspace
from drive_trace.storage.merging import Held, begins_with
from drive_trace.tasks import finish
from drive_trace.trace.document import Point
from drive_trace.trace.line import Line

_PATIENCE = 3.0
"""Seconds after which a file is let go that the client has not written."""


class Saving:
    """Handles the notifications and the request about saving."""

    def __init__(self, protocol: TraceProtocol, traces: Workspace) -> None:
        self._protocol = protocol
        self._traces = traces
        self._read: WeakKeyDictionary[OpenTrace, tuple[Line, ...]] = WeakKeyDictionary()
        """The lines as the client has last read or written them, as far as that is known. If it
        is not so, the file does not begin with them, and the client asks the person.
        """
        self._held: dict[str, Held] = {}

    def opened(self, trace: OpenTrace) -> None:
        """The client has read a trace, or written it."""
        self._read[trace] = tuple(trace.analysis.document.lines)

    def changed(self, uri: str) -> None:
        """After a change: the client may have read more of the file."""
        trace, path = self._traces.get(uri), path_of(uri)
        read = self._read.get(trace) if trace is not None else None
        if trace is None or path is None or read is None:
            return
        lines = trace.analysis.document.lines
        if len(lines) <= len(read) or lines[-1].text:
            return  # as when somebody types into a line
        now = tuple(lines)
        if now[: len(read) - 1] == read[:-1]:
            asyncio.get_running_loop().create_task(self._compare(trace, str(path), now))

    async def _compare(self, trace: OpenTrace, path: str, now: tuple[Line, ...]) -> None:
        text = "\n".join(line.text for line in now)
        if await in_thread(begins_with, path, text):
            self._read[trace] = now

    async def will_save(self, params: types.WillSaveTextDocumentParams) -> object:
        """The edits that put in what others have appended since the client has read the file."""
        uri = params.text_document.uri
        trace, path = self._traces.get(uri), path_of(uri)
        read = self._read.get(trace) if trace is not None else None
        if trace is None or path is None or read is None:
            return None
        self._release(uri)
        lines, edits = trace.analysis.document.lines, trace.edits
        held = Held(str(path))
        found = await in_thread(held.merge, [line.text for line in read])
        if trace.edits != edits:
            held.release()
            return None
        self._held[uri] = held
        asyncio.get_running_loop().call_later(_PATIENCE, self._release, uri, held)
        change = _behind(lines, read, found)
        if change is None:
            return None
        return finish(as_edits(trace.analysis.document, [change], self._protocol.client.encoding))

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


def _behind(lines: Sequence[Line], read: Sequence[Line], found: Sequence[str]) -> TextChange | None:
    """The change that puts what was appended behind what was read, and before what was added. Some
    of it may have been read in the meantime.
    """
    places = {id(line): place for place, line in enumerate(read)}
    appended = set(found)
    have = {line.text for line in lines if id(line) not in places}
    missing = [each for each in found if each not in have]
    if not missing:
        return None
    last = len(lines) - (0 if lines[-1].text else 1)
    kept = range(last - 1, -1, -1)
    is_known = (id(lines[each]) in places or lines[each].text in appended for each in kept)
    behind = next((each for each, known in zip(kept, is_known, strict=True) if known), -1)
    place = places.get(id(lines[behind]), len(read)) if behind >= 0 else -1
    # Lines that were read and are no more have been written anew.
    gone = sum(1 for line in read[place + 1 :] if line.text)
    number = min(behind + 1 + gone, last)
    text = "\n".join(missing)
    if number < len(lines):
        return TextChange(Point(number, 0), Point(number, 0), text + "\n")
    end = Point(number - 1, len(lines[-1].text))
    return TextChange(end, end, "\n" + text)
