"""The same work on many items, on all cores."""

from __future__ import annotations

import os
import signal
import sys
from collections import deque
from collections.abc import Callable, Generator, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Future
    from multiprocessing.process import BaseProcess

Item = TypeVar("Item")
Result = TypeVar("Result")


def on_all_cores(
    work: Callable[[Item], Result], items: Iterable[Item], *, most: int | None = None
) -> Generator[tuple[Item, Result]]:
    """Each item with what ``work`` gives for it, in their order. Items and results are pickled.

    The work is done in forked processes: they know what this one knows, and hash strings alike.
    Where a process dies, or none can be forked, the work is done in this one, as for a ``most`` of
    one process.
    """
    count = min(_cores(), most or sys.maxsize)
    if count < 2:
        for item in items:
            yield item, work(item)
        return
    from concurrent.futures import ProcessPoolExecutor  # noqa: PLC0415 - little work needs none
    from concurrent.futures.process import BrokenProcessPool  # noqa: PLC0415
    from multiprocessing import active_children, get_context  # noqa: PLC0415

    others = active_children()
    # A forked process gets what the executor begins with as it is; what is submitted is pickled.
    pool = ProcessPoolExecutor(count, get_context("fork"), _begin, (work,))
    asked = deque[tuple[Item, "Future[Result] | None"]]()

    is_whole = True

    def ask(item: Item) -> None:
        nonlocal is_whole
        future = None
        try:
            future = pool.submit(_work_on, item) if is_whole else None
        except BrokenProcessPool:
            is_whole = False
        except OSError:
            is_whole = False
            _end_all_but(others)
        asked.append((item, future))

    def answer() -> tuple[Item, Result]:
        item, future = asked.popleft()
        try:
            return item, work(item) if future is None else future.result()
        except BrokenProcessPool:
            return item, work(item)

    try:
        for item in items:
            # No more at once than there are processes: an item may be a whole trace.
            answered = answer() if len(asked) == count else None
            ask(item)  # before the last answer is used, so that no process waits meanwhile
            if answered is not None:
                yield answered
        while asked:
            yield answer()
    finally:
        pool.shutdown(cancel_futures=True)


def _end_all_but(others: Sequence[BaseProcess]) -> None:
    """End the processes of a pool that could not fork all of them: it has begun nothing that would
    end those that it could.
    """
    from multiprocessing import active_children  # noqa: PLC0415

    for each in active_children():
        if each not in others:
            each.kill()
            each.join()


def _cores() -> int:
    if sys.platform != "linux":  # macOS forks, too, but its libraries may not bear it
        return 1
    return len(os.sched_getaffinity(0))


_work: Callable[[Any], Any]
"""In a process of the pool: what it does."""


def _begin(work: Callable[[Any], Any]) -> None:
    from threading import Thread  # noqa: PLC0415 - only in the processes

    global _work  # noqa: PLW0603 - there is no other way into a process of a pool
    _work = work
    # The terminal sends Ctrl-C to all processes; it is the first one that has something to say.
    signal.signal(signal.SIGINT, lambda *_: os._exit(130))
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """End this process when the one that forked it was killed: the pool itself would wait on."""
    from multiprocessing import parent_process  # noqa: PLC0415

    parent = parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def _work_on(item: Any) -> Any:
    return _work(item)
