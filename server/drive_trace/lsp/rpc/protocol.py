"""The messages of one client: reading, dispatch and errors, and what is sent to it.

pygls keeps the handlers and knows the types and capabilities. This module decides which messages
reach a handler, and what happens to all others: every request gets exactly one response, and a
defect is logged, not shown.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import logging
import math
import re
import uuid
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from threading import Event
from typing import Any, NamedTuple, NoReturn, TypeGuard

import msgspec
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

from drive_trace.features.results import JsonText, dumps
from drive_trace.lsp.rpc.capabilities import Client, DocumentKey, key_of, read_client
from drive_trace.lsp.rpc.messages import CHANGED, CONTENT_SCHEME
from drive_trace.lsp.rpc.stream import Messages, Outbox, header
from drive_trace.lsp.rpc.threads import in_thread
from drive_trace.text.codec import loads
from drive_trace.text.spans import LongText
from drive_trace.text.wording import printable

log = logging.getLogger(__name__)

MsgId = str | int

_PATIENCE = 10.0
"""Seconds that a client has to respond, where it asks nobody."""
_ASKS = {types.WINDOW_SHOW_MESSAGE_REQUEST}


_PIECE = 1 << 18
"""The least bytes of a piece of a long text, and half of the most, wherever it can be cut. To read
so many takes 2 ms.
"""
_END = re.compile(rb"}(?:\\r)?\\n")
_CUT = re.compile(rb"[^\\](?=\\(?!u[dD][c-fC-F]))|[^\\]{6}(?=[^\x80-\xbf\\])")
"""Before this no escape, pair of surrogates or character of UTF-8 is cut in two."""
_TEXT = re.compile(rb'"text"\s*:\s*"')
_REST_OF_STRING = re.compile(rb'[^"\\]*+(?:\\.[^"\\]*+)*+(?=")', re.DOTALL)
_MARK = uuid.uuid4().hex.encode()


class ClientResult(NamedTuple):
    """The result of a request to the client, which may be null."""

    result: object


class TraceProtocol(LanguageServerProtocol):
    """The protocol of one client."""

    writer: Outbox | Messages | None  # type: ignore[assignment]
    exit_code: int | None = None
    """Set once the server is to end: 0 after ``shutdown`` and ``exit``, else 1."""
    client = Client()
    """What the client can do; known after ``initialize``."""
    _initialized = False

    def __init__(self, *args: Any, **extra: Any) -> None:
        super().__init__(*args, **extra)
        self.arriving = deque[Event]()
        """For each message that has begun to arrive what is set once it has had its turn."""
        self._pending: dict[str, asyncio.Future[ClientResult | None]] = {}
        """The requests that the client has not responded to."""
        self._running: dict[MsgId, asyncio.Future[Any]] = {}
        self._cancelled: set[MsgId] = set()
        self._waiting: dict[DocumentKey | None, deque[dict[str, Any]]] = {}
        """The messages about each document of which a long change is still being made."""
        self._going_on: dict[DocumentKey | None, asyncio.Future[None]] = {}
        self.own_requests: dict[str, type] = {}
        """The methods of the extension's own requests, with the types of their params."""
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

    def read(self, body: bytes) -> object:
        """A message, for :meth:`receive`. May be called from another thread before its turn comes,
        so that a large one does not hold the loop, and a request that is cancelled by then is not
        begun.
        """
        try:
            message = _without_long_text(body) or _loads(body)
        except (ValueError, RecursionError):
            return JsonRpcParseError("the message is not JSON")
        if is_notification(message, types.CANCEL_REQUEST):
            msg_id = _id_in(message.get("params"))
            if _is_id(msg_id):
                self._cancelled.add(msg_id)
        return message

    def receive(self, message: object) -> None:
        """Handle one message. Never raises: an error is a response or a log record."""
        if isinstance(message, JsonRpcParseError):
            self._refuse(None, message)
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
            elif "id" not in message or not ("result" in message or "error" in message):
                self._refuse(None, JsonRpcInvalidRequest("a message must have a method"))
            else:
                self._receive_response(msg_id, message)
        elif "id" in message and not _is_id(msg_id):
            self._refuse(None, JsonRpcInvalidRequest("the id must be a string or an integer"))
        elif _is_id(msg_id) and self._is_served(msg_id):
            self._refuse(msg_id, JsonRpcInvalidRequest("a request with this id is being served"))
        else:
            self._take_in_turn(message)

    def is_behind(self, uri: str) -> bool:
        """Whether the client may show something else than is known here. Any thread may ask."""
        return bool(self.arriving) or key_of(uri) in self._waiting

    def _take_in_turn(self, message: dict[str, Any]) -> None:
        """Begin with a message, or let it wait while a long change of its document is made."""
        key = _document_of(message)
        queue = self._waiting.get(key)
        if queue is not None:
            queue.append(message)
        elif (rest := self._take(message)) is not None:
            self._waiting[key] = deque()
            self._going_on[key] = asyncio.ensure_future(self._go_on(key, rest))

    async def _go_on(self, key: DocumentKey | None, rest: Awaitable[None]) -> None:
        """Wait for the rest of a long change, and then begin with what has waited for it."""
        queue = self._waiting[key]
        long: Awaitable[None] | None = rest
        while long is not None:
            try:
                await long
            except Exception as error:  # noqa: BLE001 - whatever it is, the server goes on
                log_defect(error)
            long = None
            while queue and long is None:
                long = self._take(queue.popleft())
        del self._waiting[key], self._going_on[key]

    def _take(self, message: dict[str, Any]) -> Awaitable[None] | None:
        """Begin with a message. Gives what is left of a notification that takes long."""
        if callable(message.get("read")):
            return self._take_long(message)
        if "id" in message:
            self._receive_request(message, message["method"], message["id"])
            return None
        return self._receive_notification(message, message["method"])

    async def _take_long(self, message: dict[str, Any]) -> None:
        try:
            await in_thread(message.pop("read"))
        except ValueError:
            self._refuse(None, JsonRpcParseError("the message is not JSON"))
        else:
            if (rest := self._take(message)) is not None:
                await rest

    def break_off(self, why: object) -> None:
        """End: the stream no longer shows where a message starts."""
        text = f"the messages of the editor cannot be read on ({why}); drive-trace ends"
        log.error(text)
        if self._initialized:
            self.show_message(text, types.MessageType.Error)
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
        elif msg_id in self._cancelled:
            error = JsonRpcRequestCancelled("the request was cancelled")
        elif handler is None:
            error = JsonRpcMethodNotFound.of(printable(method))
        else:
            try:
                params = self._params(message, method)
            except JsonRpcInvalidParams as invalid:
                error = invalid
            else:
                self._initialized = True
                self._serve(msg_id, handler, params)
                return
        self._refuse(msg_id, error)

    def _is_served(self, msg_id: MsgId) -> bool:
        return msg_id in self._running or any(
            each.get("id") == msg_id for queue in self._waiting.values() for each in queue
        )

    def _receive_notification(self, message: dict[str, Any], method: str) -> Awaitable[None] | None:
        is_request = method in self._own_handlers
        handler = None if is_request else self.fm.features.get(method)
        if method == types.EXIT:
            self.exit_code = 0 if self._shutdown else 1
        elif method == types.CANCEL_REQUEST:
            self._cancel(message.get("params"))
        elif handler is None or self._shutdown or not self._initialized:
            log.debug("ignored notification %s", method)
        else:
            try:
                params = self._params(message, method)
                message.clear()  # nothing here is to hold the text of a trace that is being opened
                rest: Awaitable[None] | None = handler(params)
            except JsonRpcInvalidParams:
                return None  # and logged already
            except Exception as error:  # noqa: BLE001 - whatever it is, the server goes on
                log_defect(error)
            else:
                return rest
        return None

    def _params(self, message: dict[str, Any], method: str) -> Any:
        """The params of a message as their type. Raises JsonRpcInvalidParams if they do not fit."""
        own, params = self.own_requests.get(method), message.get("params")
        try:
            if own is not None and issubclass(own, msgspec.Struct):
                return msgspec.convert({} if params is None else params, own)
            if own is not None:
                return self._converter.structure(params, own)
            if method == types.INITIALIZE and isinstance(params["capabilities"], dict):  # type: ignore[index]
                return params  # whatever else it holds, see read_client
            message = {**message, "jsonrpc": "2.0", "params": params}
            if params is None:  # which means the same as no params
                del message["params"]
            expected: Any = self.get_message_type(method)
            return getattr(self._converter.structure(message, expected), "params", None)
        except Exception as error:
            log.warning("params of %s do not fit: %s", method, error)
            why = f": {error}" if isinstance(error, msgspec.ValidationError) else ""
            raise JsonRpcInvalidParams(f"the params are not those of {method}{why}") from error

    def _handler(self, method: str) -> Callable[[Any], object] | None:
        """The handler of a request; None also for a method that is a notification."""
        own = method in self.own_requests
        is_request = own or types.METHOD_TO_TYPES.get(method, (None, None))[1] is not None
        return self._own_handlers.get(method) or (
            self.fm.features.get(method) if is_request else None
        )

    # Serving

    def _serve(self, msg_id: MsgId, handler: Callable[[Any], object], params: object) -> None:
        try:
            result = handler(params)
        except Exception as error:  # noqa: BLE001 - whatever it is, the client gets a response
            self._refuse(msg_id, error)
            return
        if inspect.isawaitable(result):
            task = self._running[msg_id] = asyncio.ensure_future(result)
            task.add_done_callback(lambda done: self._served(msg_id, done))
        else:
            self._respond(msg_id, result)

    def _served(self, msg_id: MsgId, task: asyncio.Future[Any]) -> None:
        del self._running[msg_id]
        if task.cancelled():
            self._refuse(msg_id, JsonRpcRequestCancelled("the request was cancelled"))
        elif (error := task.exception()) is not None:
            self._refuse(msg_id, error)
        else:
            self._respond(msg_id, task.result())

    def _cancel(self, params: object) -> None:
        msg_id = _id_in(params)
        if _is_id(msg_id):
            self._cancelled.discard(msg_id)
            if msg_id in self._running:
                self._running[msg_id].cancel()
            self._give_up(lambda each: each.get("id") == msg_id)

    def _give_up(self, is_meant: Callable[[dict[str, Any]], bool]) -> None:
        """Refuse requests that wait for a long change."""
        for queue in self._waiting.values():
            for message in [each for each in queue if is_meant(each)]:
                queue.remove(message)
                self._refuse(message["id"], JsonRpcRequestCancelled("the request was cancelled"))

    def _initialize(self, params: dict[str, Any]) -> types.InitializeResult:
        """Respond with the capabilities; the position encoding is the client's first choice."""
        self.client = read_client(params)
        self.fm.features[types.INITIALIZE](params)
        offered = {*self.fm.features, types.WORKSPACE_EXECUTE_COMMAND}
        if not self.client.pulls_diagnostics:
            offered -= {types.TEXT_DOCUMENT_DIAGNOSTIC, types.WORKSPACE_DIAGNOSTIC}
        saving = types.TextDocumentSyncClientCapabilities(
            will_save_wait_until=self.client.waits_for_edits
        )
        renaming = types.RenameClientCapabilities(prepare_support=self.client.prepares_renames)
        text = types.TextDocumentClientCapabilities(synchronization=saving, rename=renaming)
        builder: Any = ServerCapabilitiesBuilder(
            types.ClientCapabilities(text_document=text),
            offered,
            self.fm.feature_options,
            list(self.fm.commands),
            types.TextDocumentSyncKind.Incremental,
            None,
            types.PositionEncodingKind(self.client.encoding.value),
        )
        self.server_capabilities = builder.build()
        own = {"requests": list(self.own_requests), "notifications": [CHANGED]}
        self.server_capabilities.experimental = {"driveTrace": own}
        if self.client.reads_contents and self.server_capabilities.workspace:
            content = types.TextDocumentContentOptions([CONTENT_SCHEME])
            self.server_capabilities.workspace.text_document_content = content
        return types.InitializeResult(self.server_capabilities, self.server_info)

    def _shut_down(self, _params: None) -> None:
        self._shutdown = True
        for task in self._running.values():
            task.cancel()
        self._give_up(lambda each: "id" in each)

    def _execute_command(self, params: types.ExecuteCommandParams) -> Awaitable[Any]:
        command = self.fm.commands.get(params.command)
        if command is None:
            raise JsonRpcInvalidParams(f"there is no command {params.command!r}")
        awaitable: Awaitable[Any] = command(*(params.arguments or ())[:1])
        return awaitable

    # Sending

    def notify(self, method: str, params: object = None) -> None:
        """Send a notification."""
        plain = self._converter.unstructure(params)
        self._write({"jsonrpc": "2.0", "method": method, "params": plain})

    def show_message(self, text: str, kind: types.MessageType = types.MessageType.Info) -> None:
        """Let the client show a message to the person."""
        self.notify(types.WINDOW_SHOW_MESSAGE, types.ShowMessageParams(kind, text))

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
        """Send a request whose response does not matter, unless the client is about to end: it
        may be gone before it can respond.
        """
        if not self._shutdown:
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


def _document_of(message: dict[str, Any]) -> DocumentKey | None:
    """The document that a message is about, where it names one."""
    params = message.get("params")
    if not isinstance(params, dict):
        return None
    arguments = params.get("arguments")
    first = arguments[0] if isinstance(arguments, list) and arguments else None
    for named in (params.get("textDocument"), params, params.get("data"), first):
        if isinstance(named, dict) and isinstance(uri := named.get("uri"), str):
            return key_of(uri)
    return None


def _is_id(value: object) -> TypeGuard[MsgId]:
    return isinstance(value, str | int) and not isinstance(value, bool)


def _id_in(value: object) -> object:
    return value.get("id") if isinstance(value, dict) else None


def is_notification(message: object, method: str) -> TypeGuard[dict[str, object]]:
    """Whether a message is a notification of a method."""
    return isinstance(message, dict) and "id" not in message and message.get("method") == method


def _loads(body: bytes) -> Any:
    with suppress(ValueError):  # lone surrogates, numbers that no double holds
        message = loads(body)
        params = message.get("params") if isinstance(message, dict) else None
        if not any(isinstance(_id_in(each), float) for each in (message, params)):
            return message
    # An id of 2^64 or more is a float to orjson, and is given back as it came.
    text = body.decode("utf-8", "surrogatepass")
    return json.loads(text, parse_float=_finite, parse_constant=_refuse_constant)


def _without_long_text(body: bytes) -> dict[str, Any] | None:
    """A notification of a long text, with what reads that in place of it: of 10 MB that takes
    70 ms. None for any other message.
    """
    if len(body) < 2 * _PIECE or (key := _TEXT.search(body)) is None:
        return None
    start = key.end()
    if body.find(b'"text"', start) >= 0:  # several changes; in a text, quotes are escaped
        return None
    last = max(body.rfind(each, start) for each in (b"}\\n", b"}\\r\\n"))
    if last < start + _PIECE or (rest := _REST_OF_STRING.match(body, last)) is None:
        return None
    message = _loads(body[:start] + _MARK + body[rest.end() :])
    with suppress(AttributeError, KeyError, TypeError):
        params = message["params"]
        for holder in (params.get("textDocument"), *params.get("contentChanges", ())):
            if holder.get("text") == _MARK.decode() and not {"id", "range"} & {*message, *holder}:
                # No value of JSON can be called.
                return {**message, "read": partial(_read_text, holder, body, start, rest.end())}
    return None


def _read_text(holder: dict[str, Any], body: bytes, at: int, stop: int) -> None:
    """Read a text in pieces, as other threads wait for each. They end behind what looks like the
    end of an event, as no escape begins with a brace; a long event is put together of several.
    """
    pieces, parts, is_last = list[str](), list[str](), False
    while not is_last:
        window = at + _PIECE, min(stop, at + 2 * _PIECE)
        end = _END.search(body, *window)
        cut = end or _CUT.search(body, *window)
        is_last, behind = cut is None, cut.end() if cut else stop
        parts.append(_loads(b'"%b"' % body[at : behind - 2 if end else behind]))
        if end or is_last:
            pieces.append("".join(parts))
            parts.clear()
        at = behind
    holder["text"] = LongText(pieces)


def _finite(word: str) -> float | None:
    """A number that no double holds is null, as what JavaScript writes for it."""
    return number if math.isfinite(number := float(word)) else None


def _refuse_constant(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")
