"""Reading, dispatch and errors: the one module between the stream and the handlers.

pygls knows the types, the handlers and the capabilities; which messages reach a
handler, and what becomes of everything else, is decided here: every request gets
exactly one answer, and what goes wrong inside is logged, not shown.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import logging
import uuid
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, BinaryIO, NamedTuple, TypeGuard

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
from pygls.protocol import LanguageServerProtocol

from drive_trace.features.raw_json import dumps
from drive_trace.lsp.rpc.capabilities import Client, read_client, without_what_is_unknown
from drive_trace.lsp.rpc.framing import header
from drive_trace.lsp.rpc.messages import DECLARED, OWN_REQUESTS, OwnRequest, members_of
from drive_trace.text.escaping import printable

log = logging.getLogger(__name__)

MsgId = str | int

_SHORT = 1000
"""No notification to cancel a request, or to exit, is longer, in bytes."""
_PATIENCE = 10.0
"""Seconds that a client has to respond."""
_CANCEL = types.CANCEL_REQUEST.encode()
_EXIT = b'"exit"'


class Reply(NamedTuple):
    """The result of a request to the client, which may be null."""

    result: object


class TraceProtocol(LanguageServerProtocol):
    """The protocol of one client."""

    writer: BinaryIO | None  # type: ignore[assignment]
    client = Client()
    """What the client can do; known once ``initialize`` is answered."""
    exit_code: int | None = None
    """Set once it is to end: 0 after ``shutdown`` and ``exit``, else 1."""
    _initialized = False

    def __init__(self, *args: Any, **extra: Any) -> None:
        super().__init__(*args, **extra)
        self._responses: dict[str, asyncio.Future[Reply | None]] = {}
        self._running: dict[MsgId, asyncio.Future[Any]] = {}
        self._cancelled: set[MsgId] = set()
        self._own_handlers: dict[str, Callable[[Any], object]] = {
            types.INITIALIZE: self._initialize,
            types.SHUTDOWN: self._shut_down,
            types.WORKSPACE_EXECUTE_COMMAND: self._execute_command,
        }

    @property
    def is_shut_down(self) -> bool:
        """Whether the client has asked the server to shut down."""
        return self._shutdown

    # Receiving

    def glance(self, body: bytes) -> str | None:
        """Look at a message that has arrived but has to wait its turn: a request that is cancelled
        before its turn comes is not begun. May be called from another thread.

        Gives the method of a notification that this is about.
        """
        if len(body) > _SHORT or not (_CANCEL in body or _EXIT in body):
            return None
        with suppress(ValueError, TypeError, KeyError):
            message = orjson.loads(body)
            method = message["method"]
            if "id" in message or method not in (types.CANCEL_REQUEST, types.EXIT):
                return None
            if method == types.CANCEL_REQUEST and _is_id(msg_id := message["params"]["id"]):
                self._cancelled.add(msg_id)
            return str(method)
        return None

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
            # With a method, of whatever kind, the id is one of a request of the client's.
            own = msg_id if "method" in message and _is_id(msg_id) else None
            if own is not None:
                self._refuse(own, JsonRpcInvalidRequest("the method must be a string"))
            else:
                self._receive_response(message)
        elif "id" not in message:
            self._receive_notification(message, method)
        elif _is_id(msg_id):
            self._receive_request(message, method, msg_id)
        else:
            self._refuse(None, JsonRpcInvalidRequest("the id must be a string or an integer"))

    def break_off(self, why: object) -> None:
        """End, as the client's messages cannot be told from each other any more."""
        said = f"the messages of the editor cannot be read on ({why}); drive-trace ends"
        log.error(said)
        if self._initialized:
            params = types.ShowMessageParams(types.MessageType.Error, said)
            self.notify(types.WINDOW_SHOW_MESSAGE, params)
        self.exit_code = 1

    def _receive_request(self, message: dict[str, Any], method: str, msg_id: MsgId) -> None:
        handler = self._handler(method)
        error: JsonRpcException
        if self._shutdown:
            error = JsonRpcInvalidRequest("the server is shutting down")
        elif not self._initialized and method != types.INITIALIZE:
            error = JsonRpcServerNotInitialized("the first request must be initialize")
        elif self._initialized and method == types.INITIALIZE:
            error = JsonRpcInvalidRequest("the server is initialized already")
        elif msg_id in self._running:
            error = JsonRpcInvalidRequest("a request with this id is being served")
        elif msg_id in self._cancelled:
            error = JsonRpcRequestCancelled("the request was cancelled")
        elif handler is None:
            error = JsonRpcMethodNotFound.of(printable(method))
        elif (request := self._structured(message, method)) is None:
            members = members_of(method)
            expected = f": expected {members}" if members is not None else ""
            error = JsonRpcInvalidParams(f"the params are not those of {method}{expected}")
        else:
            self._initialized = True
            self._serve(msg_id, handler, getattr(request, "params", None))
            return
        self._refuse(msg_id, error)

    def _receive_notification(self, message: dict[str, Any], method: str) -> None:
        handler = self.fm.features.get(method)
        if method == types.EXIT:
            self.exit_code = 0 if self._shutdown else 1
        elif method == types.CANCEL_REQUEST:
            self._cancel(message.get("params"))
        elif handler is None or self._shutdown or not self._initialized:
            log.debug("ignored notification %s", method)
        elif (notification := self._structured(message, method)) is not None:
            message.clear()  # nothing here is to hold the text of a trace that is being opened
            try:
                handler(getattr(notification, "params", None))
            except Exception as error:  # noqa: BLE001 - whatever it is, the server goes on
                _logged(error)

    def _receive_response(self, message: dict[str, Any]) -> None:
        if "id" not in message or ("result" not in message and "error" not in message):
            self._refuse(None, JsonRpcInvalidRequest("a message must have a method"))
            return
        msg_id = message["id"]
        response = self._responses.pop(msg_id, None) if isinstance(msg_id, str) else None
        if response is not None and not response.done():
            response.set_result(None if "error" in message else Reply(message["result"]))

    def _structured(self, message: dict[str, Any], method: str) -> Any:
        """The message as its type; None where its params are missing or of another shape."""
        own = OWN_REQUESTS.get(method)
        expected: Any = own or self.get_message_type(method)
        message = {**message, "jsonrpc": "2.0"}
        params = message.get("params")
        if params is None:  # where params may be left out, null means no more than that
            message.pop("params", None)
        elif method == types.INITIALIZE:
            message["params"] = without_what_is_unknown(params, self._converter)
        try:
            if own is not None:
                return OwnRequest(self._converter.structure(message.get("params", {}), own))
            return self._converter.structure(message, expected)
        except Exception as error:  # noqa: BLE001 - converters raise whatever their hooks raise
            log.warning("params of %s do not fit: %s", method, error)
            return None

    def _handler(self, method: str) -> Callable[[Any], object] | None:
        """What serves a request; None also for what can only be a notification."""
        own = method in OWN_REQUESTS
        is_request = own or types.METHOD_TO_TYPES.get(method, (None, None))[1] is not None
        return self._own_handlers.get(method) or (
            self.fm.features.get(method) if is_request else None
        )

    # Serving

    def _serve(self, msg_id: MsgId, handler: Callable[[Any], object], params: object) -> None:
        try:
            result = handler(params)
        except Exception as error:  # noqa: BLE001 - whatever it is, the client gets an answer
            self._refuse(msg_id, _answerable(error))
            return
        if inspect.isawaitable(result):
            task = self._running[msg_id] = asyncio.ensure_future(result)
            task.add_done_callback(lambda done: self._served(msg_id, done))
        else:
            self._answer(msg_id, result)

    def _served(self, msg_id: MsgId, task: asyncio.Future[Any]) -> None:
        del self._running[msg_id]
        if task.cancelled():
            self._refuse(msg_id, JsonRpcRequestCancelled("the request was cancelled"))
        elif (error := task.exception()) is not None:
            self._refuse(msg_id, _answerable(error))
        else:
            self._answer(msg_id, task.result())

    def _cancel(self, params: object) -> None:
        msg_id = params.get("id") if isinstance(params, dict) else None
        if _is_id(msg_id):
            self._cancelled.discard(msg_id)
            if msg_id in self._running:
                self._running[msg_id].cancel()

    def _initialize(self, params: types.InitializeParams) -> types.InitializeResult:
        """Answer with the capabilities; the position encoding is the client's first choice."""
        self.client_capabilities = params.capabilities
        self.client = read_client(params)
        self.fm.features[types.INITIALIZE](params)
        offered = {*self.fm.features, types.WORKSPACE_EXECUTE_COMMAND}
        if not self.client.pulls_diagnostics:
            offered -= {types.TEXT_DOCUMENT_DIAGNOSTIC, types.WORKSPACE_DIAGNOSTIC}
        builder: Any = ServerCapabilitiesBuilder(
            self.client_capabilities,
            offered,
            self.fm.feature_options,
            list(self.fm.commands),
            types.TextDocumentSyncKind.Incremental,
            None,
            types.PositionEncodingKind(self.client.encoding.value),
        )
        self.server_capabilities = builder.build()
        self.server_capabilities.experimental = DECLARED
        return types.InitializeResult(self.server_capabilities, self.server_info)

    def _shut_down(self, _params: None) -> None:
        self._shutdown = True
        for task in self._running.values():
            task.cancel()

    def _execute_command(self, params: types.ExecuteCommandParams) -> Awaitable[Any]:
        command = self.fm.commands.get(params.command)
        if command is None:
            raise JsonRpcInvalidParams(f"there is no command {params.command!r}")
        awaitable: Awaitable[Any] = command(*(params.arguments or ())[:1])
        return awaitable

    # Requests to the client

    async def request(self, method: str, params: object) -> Reply | None:
        """The client's response; None if that is an error, or does not come in time."""
        msg_id = str(uuid.uuid4())
        response: asyncio.Future[Reply | None] = asyncio.get_running_loop().create_future()
        self._responses[msg_id] = response
        self._write_request(msg_id, method, params)
        try:
            # Not wait_for, which in Python 3.11 forgets a cancellation that a response overtakes.
            async with asyncio.timeout(_PATIENCE):
                return await response
        except TimeoutError:
            return None
        finally:
            if self._responses.pop(msg_id, None) is not None:  # wait no longer, and say so
                params = {"id": msg_id}
                self._write({"jsonrpc": "2.0", "method": types.CANCEL_REQUEST, "params": params})

    def notify_by_request(self, method: str, params: object = None) -> None:
        """Send a request whose response does not matter."""
        self._write_request(str(uuid.uuid4()), method, params)

    def _write_request(self, msg_id: str, method: str, params: object) -> None:
        message = {"jsonrpc": "2.0", "id": msg_id, "method": method}
        given = {} if params is None else {"params": self._converter.unstructure(params)}
        self._write({**message, **given})

    # Responses

    def _answer(self, msg_id: MsgId, result: object) -> None:
        try:
            plain = self._converter.unstructure(result)
            body = dumps({"jsonrpc": "2.0", "id": msg_id, "result": plain})
        except Exception as error:  # noqa: BLE001 - a defect of ours; the client gets an answer
            self._refuse(msg_id, _answerable(error))
        else:
            self._write_body(body)

    def _refuse(self, msg_id: MsgId | None, error: JsonRpcException) -> None:
        log.info("refused: %s", error.message)
        answer = {"code": error.code, "message": error.message}
        self._write({"jsonrpc": "2.0", "id": msg_id, "error": answer})

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
            if self.exit_code is None:
                self.exit_code = 0 if self._shutdown else 1


def _is_id(value: object) -> TypeGuard[MsgId]:
    return isinstance(value, str | int) and not isinstance(value, bool)


def _loads(body: bytes) -> Any:
    try:
        return orjson.loads(body)
    except ValueError:
        return json.loads(body)  # lone surrogates, very large integers


def _answerable(error: BaseException) -> JsonRpcException:
    """What the client is told of an error: a defect's details stay in the log."""
    if isinstance(error, JsonRpcException):
        return error
    if isinstance(error, RecursionError):  # what the client sent along, to be sent back
        return JsonRpcInvalidParams("the params are nested too deeply")
    return JsonRpcInternalError(_logged(error))


def _logged(error: BaseException) -> str:
    """Log an error in full; gives what the client is told of it."""
    short = uuid.uuid4().hex[:8]
    log.error("internal error %s", short, exc_info=error)
    return f"internal error {short}: see the server's log"
