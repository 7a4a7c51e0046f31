"""The handlers of all requests about an open trace. The features do the work."""

from __future__ import annotations

from drive_trace.lsp.handlers import code_actions, editing, reading

HANDLERS = (*reading.HANDLERS, *editing.HANDLERS, *code_actions.HANDLERS)
RESOLVE_HANDLERS = (
    *reading.RESOLVE_HANDLERS,
    *editing.RESOLVE_HANDLERS,
    *code_actions.RESOLVE_HANDLERS,
)
