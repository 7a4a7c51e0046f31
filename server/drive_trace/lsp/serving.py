"""Runs a server over standard input and output, or over one loopback connection."""

import asyncio
import gc
import logging
import os
import select
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import BinaryIO, NoReturn

from lsprotocol import types

from drive_trace.lsp.rpc import stream
from drive_trace.lsp.rpc.protocol import is_notification
from drive_trace.lsp.rpc.threads import go_first
from drive_trace.lsp.server import TraceServer

log = logging.getLogger(__name__)

_SWITCH = 0.0005
"""Seconds after which a thread that computes yields to the one that responds."""
_GRACE = 3.0
"""Seconds to finish running work, once the client has gone."""


def run_over_pipes(pipes: stream.Pipes) -> NoReturn:
    """Serve one client until it leaves, and exit: 0 after ``shutdown``, else 1."""
    own_log = _prepare()
    if not os.isatty(pipes.source.fileno()):
        # Ctrl-C in the terminal of an editor is meant for the editor.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    code = asyncio.run(_serve(pipes.source, pipes.out, watches_client=True))
    own_log.close()
    # The reading thread may be in a read that never returns; there is nothing left to flush.
    os._exit(code)


def run_over_tcp(port: int) -> int:
    """Serve one client on a port of 127.0.0.1. Gives the exit code, 2 if the port is taken."""
    _prepare()
    try:
        server = socket.create_server(("127.0.0.1", port))
    except OSError as error:
        why = os.strerror(error.errno or 0)
        print(f"drive-trace: cannot listen on 127.0.0.1:{port}: {why}", file=sys.stderr)  # noqa: T201
        return 2
    with server:
        print(f"drive-trace: listening on 127.0.0.1:{server.getsockname()[1]}", file=sys.stderr)  # noqa: T201
        connection, _ = server.accept()
    code = 1
    # A client that has gone may have closed the connection.
    with (
        suppress(ConnectionError),
        connection,
        connection.makefile("rb") as source,
        connection.makefile("wb") as out,
    ):
        code = asyncio.run(_serve(source, out))
        with suppress(OSError):
            connection.shutdown(socket.SHUT_RDWR)
    return code


def run_over_messages(send: Callable[[bytes], object]) -> Callable[[bytes], int | None]:
    """Serve one client on the loop that runs already, without threads, as in WebAssembly. ``send``
    is given each message with its header. Gives what takes each of the client's, without one, and
    gives the exit code once the client has left.
    """
    logging.getLogger().addHandler(logging.StreamHandler())
    _collect_seldom()
    protocol = TraceServer().protocol
    protocol.writer = stream.Messages(send)

    def receive(body: bytes) -> int | None:
        protocol.receive(protocol.read(body))
        return protocol.exit_code

    return receive


def _prepare() -> logging.Handler:
    sys.setswitchinterval(_SWITCH)
    _collect_seldom()
    return stream.log_to_stderr()


def _collect_seldom() -> None:
    gc.freeze()
    # By default, symbols of 100,000 lines take a dozen collections of all objects, of up to 50 ms.
    gc.set_threshold(5_000, 10, 50)
    gc.enable()


async def _serve(source: BinaryIO, out: BinaryIO, *, watches_client: bool = False) -> int:
    return await _Connection(source, out, watches_client=watches_client).run()


class _Connection:
    """One client, from its first message to its last."""

    def __init__(self, source: BinaryIO, out: BinaryIO, *, watches_client: bool) -> None:
        self._source = source
        self._loop = asyncio.get_running_loop()
        self._finished = asyncio.Event()
        self._protocol = TraceServer().protocol
        self._protocol.writer = self._outbox = stream.Outbox(out)
        self._watches_client = watches_client

    async def run(self) -> int:
        """The exit code, once the client has gone."""
        threading.Thread(target=self._read, name="reader", daemon=True).start()
        await self._finished.wait()
        self._outbox.close(_GRACE)
        return self._exit_code()

    def _take(self, message: object) -> None:
        was_known = self._protocol.client.process_id
        self._protocol.receive(message)
        self._protocol.arriving.popleft().set()
        if self._protocol.exit_code is not None:
            self._finished.set()
        pid = self._protocol.client.process_id
        # A process that does not exist here may be in another namespace, as outside a container.
        if self._watches_client and pid is not None and pid != was_known and is_running(pid):
            threading.Thread(target=self._watch, args=(pid,), name="watch", daemon=True).start()

    def _exit_code(self) -> int:
        code = self._protocol.exit_code
        return int(not self._protocol.is_shut_down) if code is None else code

    # In other threads

    def _read(self) -> None:
        try:
            for body in stream.read_messages(
                self._source, lambda: self._protocol.arriving.append(go_first())
            ):
                message = self._protocol.read(body)
                if is_notification(message, types.EXIT):
                    self._end_soon()
                self._loop.call_soon_threadsafe(self._take, message)
                del body, message
        except stream.BrokenStreamError as error:
            with suppress(RuntimeError):  # the loop has ended already
                self._loop.call_soon_threadsafe(self._protocol.break_off, error)
        except (OSError, ValueError) as error:
            log.error("reading ends: %s", error)  # noqa: TRY400 - a message, not a defect
        except RuntimeError:
            log.debug("the server had ended already")
        self._end()

    def _watch(self, pid: int) -> None:
        wait_for_end(pid)
        self._end()

    def _end(self) -> None:
        """End when running work is done."""
        self._end_soon()
        with suppress(RuntimeError):  # the loop has ended already
            self._loop.call_soon_threadsafe(self._finished.set)

    def _end_soon(self) -> None:
        """End after a while at the latest, whatever the loop is busy with."""
        deadline = threading.Timer(_GRACE, lambda: os._exit(self._exit_code()))
        deadline.daemon = True
        deadline.start()


_PERIOD = 3.0
"""Seconds between two checks, if the system does not signal the end of a process."""


def wait_for_end(pid: int) -> None:
    """Return when the process has ended."""
    if hasattr(os, "pidfd_open"):
        with suppress(OSError):  # old kernels, and sandboxes that forbid it
            descriptor = os.pidfd_open(pid)
            try:
                # Readable when the process has ended, also while nobody has waited for it: a look
                # by ``os.kill`` still finds such a process.
                select.select([descriptor], [], [])
            finally:
                os.close(descriptor)
            return
    while is_running(pid):
        time.sleep(_PERIOD)


def is_running(pid: int) -> bool:
    """Whether there is a process with this id."""
    if pid <= 0:
        return False
    if sys.platform == "win32":
        return _is_running_on_windows(pid)
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


_ACCESS_DENIED = 5
"""What Windows says of a process that runs for somebody else."""


def _is_running_on_windows(pid: int) -> bool:
    """``os.kill`` would end the process there."""
    import ctypes  # noqa: PLC0415 - for one system only

    synchronize, still_there = 0x00100000, 0x00000102
    kernel = ctypes.WinDLL("kernel32", use_last_error=True)  # type: ignore[attr-defined]
    handle = kernel.OpenProcess(synchronize, False, pid)
    if not handle:
        return bool(ctypes.get_last_error() == _ACCESS_DENIED)  # type: ignore[attr-defined]
    try:
        return bool(kernel.WaitForSingleObject(handle, 0) == still_there)
    finally:
        kernel.CloseHandle(handle)
