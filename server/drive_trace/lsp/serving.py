"""Runs a server over standard input and output, or over one loopback connection."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import socket
import sys
import threading
from contextlib import suppress
from typing import BinaryIO, NoReturn

from drive_trace.lsp.client_process import watch_process
from drive_trace.lsp.logs import log_to_stderr
from drive_trace.lsp.protocol import TraceProtocol
from drive_trace.lsp.server import TraceServer
from drive_trace.lsp.wire import BrokenStreamError, Pipes, read_messages

log = logging.getLogger(__name__)

_SWITCH = 0.0005
"""Seconds after which a thread that computes lets the one that answers go on."""
_GRACE = 3.0
"""Seconds to finish what is being done, once the client has hung up."""


def run_over_pipes(pipes: Pipes) -> NoReturn:
    """Serve one client until it leaves, and exit: 0 when it said ``shutdown`` before, else 1."""
    _prepare()
    code = asyncio.run(_serve(pipes.source, pipes.out, watches_client=True))
    logging.shutdown()
    # The reading thread may sit in a read that never returns; nothing is left to be flushed.
    os._exit(code)


def run_over_tcp(port: int) -> int:
    """Serve one client on that port of 127.0.0.1: the exit code, 2 where the port is taken."""
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
    # A client that has gone already has closed what is closed here.
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


def _prepare() -> None:
    log_to_stderr()
    sys.setswitchinterval(_SWITCH)
    gc.freeze()
    gc.enable()


async def _serve(source: BinaryIO, out: BinaryIO, *, watches_client: bool = False) -> int:
    loop = asyncio.get_running_loop()
    finished: asyncio.Future[None] = loop.create_future()
    protocol = TraceServer().protocol
    protocol.writer = out
    ended = threading.Event()
    client_pid: int | None = None

    def finish() -> None:
        if not finished.done():
            finished.set_result(None)

    def take(body: bytes) -> None:
        nonlocal client_pid
        protocol.receive(body)
        if protocol.exit_code is not None:
            finish()
        elif watches_client and client_pid != protocol.client.process_id:
            client_pid = protocol.client.process_id
            watch_process(client_pid or 0, finish)

    def read() -> None:
        try:
            for body in read_messages(source):
                protocol.glance(body)
                loop.call_soon_threadsafe(take, body)
                del body
        except (BrokenStreamError, OSError, ValueError) as error:
            log.error("reading ends: %s", error)  # noqa: TRY400 - a message, not a defect
        try:
            loop.call_soon_threadsafe(finish)
        except RuntimeError:
            log.debug("the server had ended already")
        if watches_client and not ended.wait(_GRACE):
            # It sits in a write that the client, which has hung up, does not read.
            os._exit(1)

    threading.Thread(target=read, name="reader", daemon=True).start()
    await finished
    ended.set()
    return _exit_code(protocol)


def _exit_code(protocol: TraceProtocol) -> int:
    if protocol.exit_code is not None:
        return protocol.exit_code
    return 0 if protocol.is_shut_down else 1
