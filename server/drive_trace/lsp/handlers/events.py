"""``driveTrace/events`` and ``driveTrace/event``: an open trace to be read line by line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from weakref import WeakKeyDictionary

from drive_trace.features.events import Rows, event_json
from drive_trace.lsp.handlers.base import Responder
from drive_trace.lsp.rpc.messages import EVENT, EVENTS, EventParams, EventsParams
from drive_trace.lsp.workspace.open_traces import OpenTrace
from drive_trace.lsp.workspace.publishing import Publisher
from drive_trace.trace.document import Position


class Events:
    """Handles these requests."""

    def __init__(self, responder: Responder, publisher: Publisher) -> None:
        self._request = responder.request
        self._publisher = publisher
        self._rows: WeakKeyDictionary[OpenTrace, tuple[int, Rows]] = WeakKeyDictionary()
        """The rows as of the last look, and how many edits there had been."""
        self.handlers: Mapping[str, Callable[[Any], object]] = {
            EVENTS: self._page,
            EVENT: self._event,
        }

    async def _page(self, params: EventsParams) -> object:
        self._publisher.has_views = True
        request = self._request(params.uri)
        if request is None:
            return None
        trace = request.trace
        return await request.runs.open.readers.read_anew(
            lambda: self._rows_of(trace).page_json(params.first)
        )

    def _rows_of(self, trace: OpenTrace) -> Rows:
        edits, rows = self._rows.get(trace, (-1, None))
        if rows is None or edits != trace.edits:
            rows = Rows(trace.analysis)
            self._rows[trace] = trace.edits, rows
        return rows

    def _event(self, params: EventParams) -> object:
        request = self._request(params.uri)
        if request is None or params.line < 0:
            return None
        at = request.analysis.document.point_at(Position(params.line, 0), request.encoding)
        return event_json(request.analysis, at.record)
