"""How each method that is about an open trace is answered; the features do the work."""

from __future__ import annotations

from drive_trace.lsp.answers import actions, changing, completing, moving, reading
from drive_trace.lsp.answers.base import Answer, Asked, Resolve

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
