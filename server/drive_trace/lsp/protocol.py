"""Reading, dispatch and errors: the one module between the stream and the handlers.

pygls dispatches to handlers and knows the types; which messages reach it, and
what becomes of everything else, is decided here: every request gets exactly one
answer, and what goes wrong inside is logged, not shown.
"""

from __future__ import annotations

import json
import logging
import uuid
from collections.abc import Callable, Generator
from concurrent.futures import Future
from typing import Any, BinaryIO

import orjson
from lsprotocol import types
from pygls.capabilities import ServerCapabilitiesBuilder
from pygls.exceptions import (
    JsonRpcException,
    JsonRpcInternalError,
    JsonRpcInvalidParams,
    JsonRpcInvalidRequest,
    JsonRpcMethodNotFound,
    JsonRpcParseError,
    JsonRpcRequestCancelled,
    JsonRpcServerNotInitialized,
)
from pygls.protocol import LanguageServerProtocol, lsp_method

from drive_trace.features.diagnostics import dumps
from drive_trace.lsp.wire import header
from drive_trace.lsp.workspace import choose_encoding

log = logging.getLogger(__name__)

MsgId = str | int

_NOT_SERVED = frozenset(
    {
        types.NOTEBOOK_DOCUMENT_DID_OPEN,
        types.NOTEBOOK_DOCUMENT_DID_CHANGE,
        types.NOTEBOOK_DOCUMENT_DID_CLOSE,
        types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS,
    }
)
"""What pygls would put into a workspace of its own, which this server does not have."""


class TraceProtocol(LanguageServerProtocol):
    """The protocol of one client."""

    writer: BinaryIO | None  # type: ignore[assignment]
    exit_code: int | None = None
    """Set once the client has sent ``exit``: 0 after ``shutdown``, else 1."""
    _initialized = False

    def __init__(self, *args: Any, **extra: Any) -> None:
        super().__init__(*args, **extra)
        self._asked: dict[str, Future[Any]] = {}

    @property
    def is_shut_down(self) -> bool:
        """Whether the client has asked the server to shut down."""
        return self._shutdown

    # Receiving

    def receive(self, body: bytes) -> None:
        """Take in one message. Never raises: what is wrong with it is answered or logged."""
        try:
            message = _loads(body)
        except (ValueError, RecursionError):
            self._refuse(None, JsonRpcParseError("the message is not JSON"))
            return
        if not isinstance(message, dict):
            self._refuse(None, JsonRpcInvalidRequest("a message must be a JSON object"))
            return
        method, msg_id = message.get("method"), message.get("id")
        if not isinstance(method, str):
            self._receive_response(message)
        elif "id" in message and (isinstance(msg_id, bool) or not isinstance(msg_id, str | int)):
            self._refuse(None, JsonRpcInvalidRequest("the id must be a string or an integer"))
        elif "id" in message:
            self._receive_request(message, method, msg_id)
        else:
            self._receive_notification(message, method)

    def _receive_request(self, message: dict[str, Any], method: str, msg_id: Any) -> None:
        error: JsonRpcException | None = None
        if self._shutdown:
            error = JsonRpcInvalidRequest("the server is shutting down")
        elif not self._initialized and method != types.INITIALIZE:
            error = JsonRpcServerNotInitialized("the first request must be initialize")
        elif self._initialized and method == types.INITIALIZE:
            error = JsonRpcInvalidRequest("the server is initialized already")
        elif not self._serves(method):
            error = JsonRpcMethodNotFound.of(method)
        if error is not None:
            self._refuse(msg_id, error)
            return
        request = self._structured(message, method)
        if request is None:
            self._refuse(msg_id, JsonRpcInvalidParams(f"the params are not those of {method}"))
            return
        if method == types.INITIALIZE:
            self._initialized = True
        self.handle_message(request)

    def _receive_notification(self, message: dict[str, Any], method: str) -> None:
        if method == types.EXIT:
            self.exit_code = 0 if self._shutdown else 1
        elif method == types.CANCEL_REQUEST:
            params = message.get("params")
            msg_id = params.get("id") if isinstance(params, dict) else None
            if isinstance(msg_id, str | int) and msg_id in self._request_futures:
                self._handle_cancel_notification(msg_id)
        elif self._shutdown or not self._initialized or not self._serves(method):
            log.debug("ignored notification %s", method)
        elif (notification := self._structured(message, method)) is not None:
            message.clear()  # nothing here is to hold the text of a trace that is being opened
            self._notified(method, notification)

    def _notified(self, method: str, notification: Any) -> None:
        handler = self.fm.features.get(method)
        if handler is None:
            self.handle_message(notification)
            return
        # pygls would keep its own documents, and a future of every notification for good.
        try:
            handler(notification.params)
        except Exception as error:  # noqa: BLE001 - whatever it is, the server goes on
            _logged(error)

    def _receive_response(self, message: dict[str, Any]) -> None:
        if "id" not in message or ("result" not in message and "error" not in message):
            self._refuse(None, JsonRpcInvalidRequest("a message must have a method"))
            return
        msg_id = message["id"]
        future = self._asked.pop(msg_id, None) if isinstance(msg_id, str) else None
        if future is None or future.done():
            return
        if "error" in message:
            future.set_exception(JsonRpcInternalError("the client answered with an error"))
        else:
            future.set_result(message["result"])

    def _serves(self, method: str) -> bool:
        known = method in self.fm.builtin_features or method in self.fm.features
        return known and method not in _NOT_SERVED

    def _structured(self, message: dict[str, Any], method: str) -> Any:
        """The message as its type; None where its params are missing or of another shape."""
        expected: Any = self.get_message_type(method)
        try:
            return self._converter.structure({"jsonrpc": "2.0", **message}, expected)
        except Exception as error:  # noqa: BLE001 - converters raise whatever their hooks raise
            log.warning("params of %s do not fit: %s", method, type(error).__name__)
            return None

    # Asking

    def send_request(
        self,
        method: str,
        params: object = None,
        callback: Callable[[Any], None] | None = None,
        msg_id: MsgId | None = None,
    ) -> Future[Any]:
        """Ask the client. pygls would keep the answer's future among those of the requests that
        the server itself answers, where a client's message could take one for the other.
        """
        own_id = str(msg_id or uuid.uuid4())
        future: Future[Any] = Future()
        if callback is not None:
            future.add_done_callback(lambda done: callback(done.result()))
        self._asked[own_id] = future
        self._ask(own_id, method, params)
        return future

    def tell_by_request(self, method: str) -> None:
        """Send a request without params whose answer does not matter."""
        self._ask(str(uuid.uuid4()), method, None)

    def _ask(self, msg_id: str, method: str, params: object) -> None:
        message = {"jsonrpc": "2.0", "id": msg_id, "method": method}
        given = {} if params is None else {"params": self._converter.unstructure(params)}
        self._write({**message, **given})

    # Answering

    def _refuse(self, msg_id: MsgId | None, error: JsonRpcException) -> None:
        log.warning("refused: %s", error.message)
        answer = {"code": error.code, "message": error.message}
        self._write({"jsonrpc": "2.0", "id": msg_id, "error": answer})

    def _send_handler_result(self, future: Future[Any], *, msg_id: MsgId) -> None:
        self._request_futures.pop(msg_id, None)
        if future.cancelled():
            self._refuse(msg_id, JsonRpcRequestCancelled("the request was cancelled"))
            return
        error = future.exception()
        if error is None:
            self._send_response(msg_id, result=future.result())
        elif isinstance(error, JsonRpcException):
            self._refuse(msg_id, error)
        else:
            self._refuse(msg_id, JsonRpcInternalError(_logged(error)))

    def _check_handler_result(self, future: Future[Any]) -> None:
        error = None if future.cancelled() else future.exception()
        if error is not None:
            _logged(error)

    def _send_data(self, data: Any) -> None:
        if data:
            plain = data if isinstance(data, dict) else self._converter.unstructure(data)
            self._write(plain)

    def _write(self, message: object) -> None:
        self._write_body(dumps(message))

    def notify_json(self, method: str, *params: bytes) -> None:
        """Send a notification whose params are JSON text already, in one or several pieces."""
        self._write_body(b'{"jsonrpc":"2.0","method":%b,"params":' % dumps(method), *params, b"}")

    def _write_body(self, *pieces: bytes) -> None:
        """Send a message. A client that has gone is noticed by the reading side."""
        if self.writer is None:
            return
        try:
            # In pieces: the diagnostics of a long trace are not to be copied for a keystroke.
            self.writer.write(header(sum(map(len, pieces))))
            for piece in pieces:
                self.writer.write(piece)
            self.writer.flush()
        except (OSError, ValueError):
            self.exit_code = 1 if self.exit_code is None else self.exit_code

    # What pygls does by itself, and does differently here

    @lsp_method(types.INITIALIZE)
    def lsp_initialize(
        self, params: types.InitializeParams
    ) -> Generator[Any, Any, types.InitializeResult]:
        """Answer with the capabilities; the position encoding is the client's first choice."""
        self._server.process_id = params.process_id
        self.client_capabilities = params.capabilities
        yield self.fm.features[types.INITIALIZE], (params,), None
        encoding = choose_encoding(params.capabilities)
        builder: Any = ServerCapabilitiesBuilder(
            self.client_capabilities,
            {*self.fm.features, *self.fm.builtin_features},
            self.fm.feature_options,
            list(self.fm.commands),
            types.TextDocumentSyncKind.Incremental,
            None,
            types.PositionEncodingKind(encoding.value),
        )
        self.server_capabilities = builder.build()
        return types.InitializeResult(self.server_capabilities, self.server_info)

    @lsp_method(types.EXIT)
    def lsp_exit(self, *_args: object) -> None:  # type: ignore[override]
        """Not reached: :meth:`receive` sees ``exit`` first."""


def _loads(body: bytes) -> Any:
    try:
        return orjson.loads(body)
    except ValueError:
        return json.loads(body)  # lone surrogates, very large integers


def _logged(error: BaseException) -> str:
    """Log an error in full; gives what the client is told of it."""
    short = uuid.uuid4().hex[:8]
    log.error("internal error %s", short, exc_info=error)
    return f"internal error {short}: see the server's log"
