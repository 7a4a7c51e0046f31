"""How each method that is about an open trace is answered; the features do the work."""

from __future__ import annotations

from drive_trace.lsp.handlers import changing, reading
from drive_trace.lsp.handlers import code_actions as actions
from drive_trace.lsp.handlers import completion as completing
from drive_trace.lsp.handlers import navigation as moving
from drive_trace.lsp.handlers.base import Answer, Asked, Resolve

__all__ = ["ANSWERS", "RESOLVES", "Answer", "Asked", "Resolve"]

ANSWERS = (
    *reading.ANSWERS,
    *completing.ANSWERS,
    *actions.ANSWERS,
    *changing.ANSWERS,
    *moving.ANSWERS,
)

RESOLVES = (
    *reading.RESOLVES,
    *completing.RESOLVES,
    *actions.RESOLVES,
)
