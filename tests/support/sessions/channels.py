"""How a client gets at a server within this process, on a clock of its own."""

from __future__ import annotations

import asyncio
import json
import logging
import selectors
from threading import Thread
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

from drive_trace.lsp.rpc import threads
from drive_trace.lsp.server import TraceServer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    Take = Callable[[Any], Iterable[bytes]]
    """Takes in a message of the server; gives what the client sends in turn."""

LONG = 24 * 60 * 60.0
"""Seconds of its own clock in which a server that nobody asks anything has come to rest."""
OWN_LOG = logging.getLogger("drive_trace")


class _Clock(selectors.SelectSelector):
    """Waits for nothing: time passes when there is nothing else to do, or the loop stops there."""

    now = 0.0
    end = 0.0
    passes = True
    stop: Callable[[], None]

    def select(self, timeout: float | None = None) -> list[Any]:
        if timeout is None or (timeout > 0 and not self.passes) or self.now > self.end:
            self.stop()
        elif timeout > 0:
            self.now += timeout
        return []


class _AtOnce:
    """Does in the caller's thread what others do in theirs."""

    def __init__(self, *, target: Callable[[], None], daemon: bool) -> None:
        assert daemon, "the process would wait for it"
        self.start = target


class _Output:
    """What the server writes, until it is looked at."""

    def __init__(self) -> None:
        self._data = bytearray()

    def write(self, data: bytes) -> None:
        self._data += data

    def flush(self) -> None:
        """There is nobody to flush to."""

    def messages(self) -> list[Any]:
        """What was written meanwhile: whole messages, and nothing else."""
        found = []
        while self._data:
            head, end, rest = bytes(self._data).partition(b"\r\n\r\n")
            name, _, length = head.partition(b": ")
            assert (name, end) == (b"Content-Length", b"\r\n\r\n"), head[:80]
            assert len(rest) >= int(length), "a message is cut short"
            body = rest[: int(length)].decode()
            found.append(json.loads(body, parse_constant=_refuse))
            self._data = bytearray(rest[int(length) :])
        return found


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"no client can read {constant}")


class InProcess:
    """A server in this process, and a loop that runs until nothing is left to be done."""

    _open: ClassVar[set[InProcess]] = set()
    """As long as one is, whatever would be done in a thread is done at once."""

    def __init__(self, *, reads_ahead: bool) -> None:
        self.reads_ahead = reads_ahead
        self.defects: list[str] = []
        self._handlers = list(OWN_LOG.handlers)
        self._log = logging.Handler(logging.ERROR)
        self._log.emit = self._note  # type: ignore[method-assign]
        OWN_LOG.addHandler(self._log)
        self._clock = _Clock()
        self._loop = asyncio.SelectorEventLoop(self._clock)
        self._loop.time = lambda: self._clock.now  # type: ignore[method-assign]
        self._loop.set_exception_handler(lambda _, context: self.defects.append(str(context)))
        self._clock.stop = self._loop.stop
        self._open.add(self)
        threads.Thread = _AtOnce  # type: ignore[assignment,misc]
        self._loop.call_soon(self._start)
        self._run()

    def _start(self) -> None:
        self._protocol = TraceServer().protocol
        self._output = self._protocol.writer = _Output()  # type: ignore[assignment]

    @property
    def now(self) -> float:
        """Seconds that have passed on the server's clock."""
        return self._clock.now

    def exchange(self, bodies: Sequence[bytes], take: Take) -> None:
        """All messages are there at once, and the reader has seen the last before the first is
        served, if it reads ahead. Time passes only when the server waits for that, and the client
        has said what it will say.
        """
        while bodies:
            messages = [self._protocol.read(each) for each in bodies if self.reads_ahead]
            for each in messages or bodies:
                self._loop.call_soon(self._receive, each)
            bodies = self._take_all(take, passes=False) or self._take_all(take, passes=True)
        assert not self.defects, self.defects[0]

    def finish(self, take: Take) -> int | None:
        self._take_all(take, passes=True)
        return self._protocol.exit_code

    def close(self) -> None:
        self._open.discard(self)
        if not self._open:
            threads.Thread = Thread  # type: ignore[misc]
        self._loop.close()
        for handler in set(OWN_LOG.handlers) - set(self._handlers):
            OWN_LOG.removeHandler(handler)

    def _receive(self, message: Any) -> None:
        if self._protocol.exit_code is not None:
            return
        self._protocol.receive(message if self.reads_ahead else self._protocol.read(message))

    def _take_all(self, take: Take, *, passes: bool) -> list[bytes]:
        self._clock.passes = passes
        self._run()
        return [reply for message in self._output.messages() for reply in take(message)]

    def _run(self) -> None:
        self._clock.end = self._clock.now + LONG
        self._loop.run_forever()
        if self._clock.now > self._clock.end:
            self.defects.append("the server waits for something for ever")

    def _note(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        self.defects.append(f"{record.getMessage()}: {error!r}")
