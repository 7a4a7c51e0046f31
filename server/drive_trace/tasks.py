"""Cooperative tasks: work in steps, so that a caller can do something else in between, or stop."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from itertools import islice
from typing import Generic, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

Task = Generator[None, None, Result]
"""Pauses after each step, and returns the result."""

_BATCH = 256
"""How many lines are a step: a millisecond or two."""


def finish(steps: Task[Result]) -> Result:
    """The result, without pauses."""
    while True:
        try:
            next(steps)
        except StopIteration as done:
            result: Result = done.value
            return result


def in_batches(items: Iterable[Item], size: int = _BATCH) -> Iterator[list[Item]]:
    """The items in batches, each as large as a step."""
    rest = iter(items)
    while batch := list(islice(rest, size)):
        yield batch


class SharedTask(Generic[Result]):
    """A task that several callers wait for, and that each of them advances."""

    def __init__(self, steps: Task[Result]) -> None:
        self._steps = steps
        self._results: list[Result] = []

    def steps(self) -> Task[Result]:
        """What is still to be done."""
        while not self._results:
            try:
                next(self._steps)
            except StopIteration as done:
                self._results.append(done.value)
            else:
                yield
        return self._results[0]
