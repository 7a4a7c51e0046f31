"""Work that takes long, beside the loop.

Threads of asyncio's own pool are few, and the process waits for them at its end;
a read from a network folder may never come back.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from threading import Thread
from typing import Any, TypeVar

Result = TypeVar("Result")


async def in_thread(work: Callable[..., Result], *given: Any) -> Result:
    """The result of ``work(*given)``. Who waits for it can be cancelled; the work then goes on,
    if it does not look for itself, and nothing waits for it.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Result] = loop.create_future()

    def settle(result: Any, error: BaseException | None) -> None:
        if future.done():
            return
        if error is not None:
            future.set_exception(error)
        else:
            future.set_result(result)

    def run() -> None:
        result, error = None, None
        try:
            result = work(*given)
        except Exception as raised:  # noqa: BLE001 - belongs to whoever waits
            error = raised
        with suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(settle, result, error)

    Thread(target=run, daemon=True).start()
    return await future
