"""A synchronous JSON-RPC client over real pipes; it shares no code with the server's libraries.

    with RawClient([*command, "serve"]) as client:
        client.initialize({"general": {"positionEncodings": ["utf-16"]}})
        client.open(uri, text)
        published = client.diagnostics(uri, version=1)
        assert client.shutdown() == 0

Every wait takes in messages until its condition holds; it fails at its deadline, or at once when
the server is gone. What arrives meanwhile is kept in `notifications` and `requests`. The server's
requests are answered by `handlers`: method to a function of the params, which may raise
`ResponseError`.
"""

import os
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self, TypeVar

from tests.support.server_process import ServerGoneError, ServerProcess, frame

__all__ = ["HANDLERS", "RawClient", "ResponseError", "ServerGoneError", "frame"]

T = TypeVar("T")

HANDLERS: dict[str, Callable[[Any], Any]] = {
    "client/registerCapability": lambda _: None,
    "client/unregisterCapability": lambda _: None,
    "window/showDocument": lambda _: {"success": True},
    "window/workDoneProgress/create": lambda _: None,
    "workspace/applyEdit": lambda _: {"applied": True},
    "workspace/configuration": lambda params: [None] * len(params["items"]),
    "workspace/codeLens/refresh": lambda _: None,
    "workspace/diagnostic/refresh": lambda _: None,
    "workspace/inlayHint/refresh": lambda _: None,
    "workspace/semanticTokens/refresh": lambda _: None,
}


class ResponseError(Exception):
    """An error response, received or to be sent."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(f"{code}: {message}")
        self.code, self.message, self.data = code, message, data


class RawClient:
    """A server and the conversation with it; `timeout` is for each wait, in seconds.

    Further keywords (`cwd`, `env`, ...) go to `subprocess.Popen`.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        handlers: Mapping[str, Callable[[Any], Any]] | None = None,
        timeout: float = 60.0,
        **popen: Any,
    ) -> None:
        self.timeout = timeout
        self.handlers = {**HANDLERS, **(handlers or {})}
        self.notifications: list[Any] = []
        self.requests: list[Any] = []
        self.arrived: dict[Any, float] = {}
        """When the response to each request was there, by `time.perf_counter`."""
        self._responses: dict[Any, Any] = {}
        self._last_id = 0
        self.server = ServerProcess(command, **popen)
        self.pid = self.server.popen.pid

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.server.close()

    def send_bytes(self, data: bytes) -> None:
        """Send anything at all, so garbage too."""
        self.server.write(data)

    def send(self, **message: Any) -> None:
        """Send a message with these members, and `jsonrpc`."""
        self.server.write(frame({"jsonrpc": "2.0", **message}))

    def notify(self, method: str, params: Any = None) -> None:
        """Send no params if they are None; an explicit null goes by `send`."""
        self.send(method=method, **({} if params is None else {"params": params}))

    def start_request(self, method: str, params: Any = None) -> int:
        """Send a request; the id, returned at once, is for `response`."""
        self._last_id += 1
        given = {} if params is None else {"params": params}
        self.send(id=self._last_id, method=method, **given)
        return self._last_id

    def request(self, method: str, params: Any = None, *, timeout: float | None = None) -> Any:
        """The result of a request; raises `ResponseError` if the answer is an error."""
        message = self.response(self.start_request(method, params), timeout=timeout)
        if "error" in message:
            raise ResponseError(**message["error"])
        return message["result"]

    def response(self, request_id: Any, *, timeout: float | None = None) -> Any:
        """The whole response with that id, be it a result or an error."""
        what = f"the response to {request_id!r}"
        return self.wait_for(lambda: self._responses.pop(request_id, None), what, timeout=timeout)

    def wait_for(
        self, condition: Callable[[], T | None], what: str, *, timeout: float | None = None
    ) -> T:
        """Take in messages until the condition returns something other than None."""
        deadline = time.monotonic() + (self.timeout if timeout is None else timeout)
        while (found := condition()) is None:
            self._take(*self.server.next_message(deadline, what))
        return found

    def received(self, method: str) -> list[Any]:
        """The params of all notifications of that method so far, oldest first."""
        return [each.get("params") for each in self.notifications if each["method"] == method]

    def notification(
        self, method: str, where: Callable[[Any], bool] = bool, *, timeout: float | None = None
    ) -> Any:
        """The params of the first such notification, earlier or to come, where `where` holds."""

        def find() -> Any:
            return next(filter(where, self.received(method)), None)

        return self.wait_for(find, method, timeout=timeout)

    def diagnostics(
        self, uri: str, version: int | None = None, *, timeout: float | None = None
    ) -> list[Any]:
        """The diagnostics pushed for that version of a document; for None the first ones."""
        pushed = self.notification(
            "textDocument/publishDiagnostics",
            lambda params: params["uri"] == uri and version in (None, params.get("version")),
            timeout=timeout,
        )
        return list(pushed["diagnostics"])

    def forget(self) -> None:
        """Drop the notifications and requests received so far."""
        self.notifications.clear()
        self.requests.clear()

    def initialize(self, capabilities: Any = None, **params: Any) -> Any:
        """`initialize` and `initialized`; further members of the params go by keyword."""
        given = {"processId": os.getpid(), "rootUri": None, "capabilities": capabilities or {}}
        result = self.request("initialize", given | params)
        self.notify("initialized", {})
        return result

    def open(self, uri: str, text: str, version: int = 1, language_id: str = "drive-trace") -> None:
        document = {"uri": uri, "languageId": language_id, "version": version, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": document})

    def change(self, uri: str, version: int, *changes: Any) -> None:
        """Send changes as they stand: `{"text"}`, or `{"range", "text"}`."""
        params = {"textDocument": {"uri": uri, "version": version}, "contentChanges": changes}
        self.notify("textDocument/didChange", params)

    def shutdown(self) -> int:
        """`shutdown` and `exit`; the exit code."""
        self.request("shutdown")
        self.notify("exit")
        return self.wait_exit()

    def wait_exit(self) -> int:
        """The exit code of a server that is about to end by itself."""
        return self.server.popen.wait(self.timeout)

    def stderr(self) -> str:
        """What the server has logged so far."""
        return self.server.stderr()

    def _take(self, message: Any, arrived: float) -> None:
        if "method" not in message:
            self.arrived[message.get("id")] = arrived
            self._responses[message.get("id")] = message
        elif "id" not in message:
            self.notifications.append(message)
        else:
            self.requests.append(message)
            self.send(id=message["id"], **self._answer(message["method"], message.get("params")))

    def _answer(self, method: str, params: Any) -> dict[str, Any]:
        handler = self.handlers.get(method)
        if handler is None:
            return {"error": {"code": -32601, "message": f"no handler for {method}"}}
        try:
            return {"result": handler(params)}
        except ResponseError as error:
            return {"error": {"code": error.code, "message": error.message}}
