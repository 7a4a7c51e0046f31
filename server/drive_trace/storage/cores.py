"""The same work on many items, on all cores."""

from __future__ import annotations

import os
import signal
import sys
from collections import deque
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

Item = TypeVar("Item")
Result = TypeVar("Result")


def on_all_cores(
    work: Callable[[Item], Result], items: Iterable[Item], *, most: int | None = None
) -> Generator[tuple[Item, Result]]:
    """Each item with what ``work`` gives for it, in their order. Both are pickled.

    The work is done in forked processes: they know what this one knows, and hash strings alike.
    Where a process dies, or none can be forked, the work is done in this one, as for a ``most`` of
    one process.
    """
    count = min(_cores(), most or sys.maxsize)
    workers: list[_Worker[Item, Result]] = []
    asked = deque[tuple[_Worker[Item, Result], Item]]()
    try:
        for item in items:
            if count < 2:
                yield item, work(item)
                continue
            if len(workers) < count:
                workers.append(_started(work, workers))
                worker = workers[-1]
                worker.ask(item)
                asked.append((worker, item))
                continue
            worker, earlier = asked.popleft()
            result = worker.answer(earlier)
            worker.ask(item)  # before its last answer is used, so that it need not wait
            asked.append((worker, item))
            yield earlier, result
        for worker, item in asked:
            yield item, worker.answer(item)
    finally:
        for worker in workers:
            worker.end()


def _cores() -> int:
    if sys.platform != "linux":  # macOS forks, too, but its libraries may not bear it
        return 1
    return len(os.sched_getaffinity(0))


class _Worker(NamedTuple, Generic[Item, Result]):
    """A process that answers one item after another."""

    pid: int
    connection: Connection
    work: Callable[[Item], Result]

    def ask(self, item: Item) -> None:
        with suppress(OSError):  # it died: see answer
            self.connection.send(item)

    def answer(self, item: Item) -> Result:
        try:
            result: Result = self.connection.recv()
        except (EOFError, OSError):
            return self.work(item)
        return result

    def end(self) -> None:
        self.connection.close()
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)


def _started(
    work: Callable[[Item], Result], others: Sequence[_Worker[Item, Result]]
) -> _Worker[Item, Result]:
    from multiprocessing.connection import Pipe  # noqa: PLC0415 - most checks need none

    ours, theirs = Pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid:
        theirs.close()
        return _Worker(pid, ours, work)
    try:
        # It ends when this process does, as nobody else holds the other end.
        for connection in (ours, *(each.connection for each in others)):
            connection.close()
        while True:
            theirs.send(work(theirs.recv()))
    finally:
        os._exit(0)
