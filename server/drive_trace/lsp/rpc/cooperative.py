"""Long answers in slices, between which other messages are served."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator
from contextlib import suppress
from time import perf_counter
from typing import Protocol, TypeVar

from pygls.exceptions import JsonRpcContentModified

from drive_trace.tasks import Task, finish

Result = TypeVar("Result")

SLICE = 0.01
"""Seconds that an answer may hold up the others."""
_TIMES = 5
"""So often an answer is begun anew."""


class Changing(Protocol):
    """A trace, or several, as the editor has them."""

    @property
    def edits(self) -> int:
        """Counts the changes: what is still being made when it moves on is out of date."""


def begun(trace: Changing, made: object) -> object:
    """What a feature makes of a trace: if it is made in steps, its result where that takes no
    longer than a slice, else a coroutine that goes on.
    """
    if not isinstance(made, Generator):
        return made
    edits = trace.edits
    done = _slice(made)
    return done[0] if done is not None else _rest(trace, edits, made)


async def in_slices(trace: Changing, steps: Task[Result]) -> Result:
    """The result of steps. Raises JsonRpcContentModified where the trace changes meanwhile."""
    edits = trace.edits
    done = _slice(steps)
    return done[0] if done is not None else await _rest(trace, edits, steps)


async def in_slices_anew(traces: Changing, make: Callable[[], Task[Result]]) -> Result:
    """The result of steps, begun anew where the traces change meanwhile, the last time without
    pauses: for who shows what is so now, and has no use for an answer that there is none.
    """
    for _ in range(_TIMES):
        with suppress(JsonRpcContentModified):
            return await in_slices(traces, make())
    return finish(make())


def check_unchanged(trace: Changing, edits: int) -> None:
    """Raise JsonRpcContentModified if the trace has had more changes than that."""
    if trace.edits != edits:
        raise JsonRpcContentModified("the trace has changed meanwhile")


async def _rest(trace: Changing, edits: int, steps: Task[Result]) -> Result:
    while True:
        await asyncio.sleep(0)
        check_unchanged(trace, edits)
        done = _slice(steps)
        if done is not None:
            return done[0]


def _slice(steps: Task[Result]) -> tuple[Result] | None:
    """The result, if it is there when the slice ends."""
    end = perf_counter() + SLICE
    while True:
        try:
            next(steps)
        except StopIteration as done:
            return (done.value,)
        if perf_counter() >= end:
            return None
