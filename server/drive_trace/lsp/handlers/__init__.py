"""How each method that is about an open trace is answered; the features do the work."""

from __future__ import annotations

from drive_trace.lsp.handlers import code_actions, editing, reading

ANSWERS = (*reading.ANSWERS, *editing.ANSWERS, *code_actions.ANSWERS)
RESOLVES = (*reading.RESOLVES, *editing.RESOLVES, *code_actions.RESOLVES)
