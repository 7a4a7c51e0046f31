"""Messages to the client: notifications, requests, and the responses to its own requests."""

from __future__ import annotations

import asyncio
import logging
import uuid
from typing import Any, NamedTuple

from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcInternalError, JsonRpcInvalidParams
from pygls.protocol import LanguageServerProtocol

from drive_trace.features.results import JsonText, dumps
from drive_trace.lsp.rpc.stream import Outbox, header

log = logging.getLogger(__name__)

MsgId = str | int

_PATIENCE = 10.0
"""Seconds that a client has to respond, where it asks nobody."""
_ASKS = {types.WINDOW_SHOW_MESSAGE_REQUEST}


class ClientResult(NamedTuple):
    """The result of a request to the client, which may be null."""

    result: object


class OutgoingProtocol(LanguageServerProtocol):
    """The half of the protocol that writes."""

    writer: Outbox | None  # type: ignore[assignment]
    exit_code: int | None = None
    """Set once the server is to end: 0 after ``shutdown`` and ``exit``, else 1."""

    def __init__(self, *args: Any, **extra: Any) -> None:
        super().__init__(*args, **extra)
        self._pending: dict[str, asyncio.Future[ClientResult | None]] = {}
        """The requests that the client has not responded to."""

    def notify(self, method: str, params: object = None) -> None:
        """Send a notification."""
        plain = self._converter.unstructure(params)
        self._write({"jsonrpc": "2.0", "method": method, "params": plain})

    def notify_json(self, method: str, *params: bytes) -> None:
        """Send a notification whose params are JSON text already, in one or several pieces."""
        self._write_body(b'{"jsonrpc":"2.0","method":%b,"params":' % dumps(method), *params, b"}")

    async def request(self, method: str, params: object) -> ClientResult | None:
        """The client's result; None if it responds with an error, or not in so many seconds."""
        msg_id = str(uuid.uuid4())
        response: asyncio.Future[ClientResult | None] = asyncio.get_running_loop().create_future()
        self._pending[msg_id] = response
        self._write_request(msg_id, method, params)
        try:
            # Not wait_for, which in Python 3.11 forgets a cancellation that a response overtakes.
            async with asyncio.timeout(None if method in _ASKS else _PATIENCE):
                return await response
        except TimeoutError:
            return None
        finally:
            if self._pending.pop(msg_id, None) is not None:  # nobody waits any longer
                self.notify(types.CANCEL_REQUEST, {"id": msg_id})

    def notify_by_request(self, method: str, params: object = None) -> None:
        """Send a request whose response does not matter."""
        self._write_request(str(uuid.uuid4()), method, params)

    def _write_request(self, msg_id: str, method: str, params: object) -> None:
        message = {"jsonrpc": "2.0", "id": msg_id, "method": method}
        given = {} if params is None else {"params": self._converter.unstructure(params)}
        self._write({**message, **given})

    def _receive_response(self, msg_id: object, message: dict[str, Any]) -> None:
        response = self._pending.pop(msg_id, None) if isinstance(msg_id, str) else None
        if response is not None and not response.done():
            response.set_result(None if "error" in message else ClientResult(message["result"]))

    def _respond(self, msg_id: MsgId, result: object) -> None:
        if isinstance(result, JsonText):  # not to be copied: it may have 25 MB
            head = b'{"jsonrpc":"2.0","id":%b,"result":' % dumps(msg_id)
            self._write_body(head, result.text, b"}")
            return
        try:
            plain = self._converter.unstructure(result)
            body = dumps({"jsonrpc": "2.0", "id": msg_id, "result": plain})
        except Exception as error:  # noqa: BLE001 - a defect of ours; the client gets a response
            self._refuse(msg_id, error)
        else:
            self._write_body(body)

    def _refuse(self, msg_id: MsgId | None, error: BaseException) -> None:
        """Respond with an error. The details of a defect stay in the log."""
        if isinstance(error, RecursionError):  # the client's own data, to be sent back
            error = JsonRpcInvalidParams("the params are nested too deeply")
        elif not isinstance(error, JsonRpcException):
            error = JsonRpcInternalError(log_defect(error))
        log.info("refused: %s", error.message)
        response = {"code": error.code, "message": error.message}
        self._write({"jsonrpc": "2.0", "id": msg_id, "error": response})

    def _write(self, message: object) -> None:
        self._write_body(dumps(message))

    def _write_body(self, *pieces: bytes) -> None:
        """Send a message. The reading side notices a client that has gone."""
        if self.writer is None:
            return
        try:
            # In pieces: a keystroke is not to copy the diagnostics of a long trace.
            self.writer.write(header(sum(map(len, pieces))))
            for piece in pieces:
                self.writer.write(piece)
            self.writer.flush()
        except (OSError, ValueError):
            if self.exit_code is None:
                self.exit_code = 0 if self._shutdown else 1


def log_defect(error: BaseException) -> str:
    """Log an error in full; gives the message for the client."""
    short = uuid.uuid4().hex[:8]
    log.error("internal error %s", short, exc_info=error)
    return f"internal error {short}: see the server's log"
