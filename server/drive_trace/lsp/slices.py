"""Long answers in slices, between which other messages are served."""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from time import perf_counter
from typing import TypeVar

from pygls.exceptions import JsonRpcContentModified

from drive_trace.lsp.workspace import OpenTrace
from drive_trace.steps import Steps

Result = TypeVar("Result")

SLICE = 0.01
"""Seconds that an answer may hold up the others."""


def begun(trace: OpenTrace, made: object) -> object:
    """What a feature makes of a trace: if it is made in steps, its result where that takes no
    longer than a slice, else a coroutine that goes on.
    """
    if not isinstance(made, Generator):
        return made
    edits = trace.edits
    done = _slice(made)
    return done[0] if done is not None else _rest(trace, edits, made)


async def in_slices(trace: OpenTrace, steps: Steps[Result]) -> Result:
    """The result of steps. Raises JsonRpcContentModified where the trace changes meanwhile."""
    edits = trace.edits
    done = _slice(steps)
    return done[0] if done is not None else await _rest(trace, edits, steps)


def check_unchanged(trace: OpenTrace, edits: int) -> None:
    """Raise JsonRpcContentModified if the trace has had more changes than that."""
    if trace.edits != edits:
        raise JsonRpcContentModified("the trace has changed meanwhile")


async def _rest(trace: OpenTrace, edits: int, steps: Steps[Result]) -> Result:
    while True:
        await asyncio.sleep(0)
        check_unchanged(trace, edits)
        done = _slice(steps)
        if done is not None:
            return done[0]


def _slice(steps: Steps[Result]) -> tuple[Result] | None:
    """The result, if it is there when the slice ends."""
    end = perf_counter() + SLICE
    while True:
        try:
            next(steps)
        except StopIteration as done:
            return (done.value,)
        if perf_counter() >= end:
            return None
