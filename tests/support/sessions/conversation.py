"""A client's side of a session: what it sends, what it expects, and whether that is what came."""

import json
from collections import defaultdict
from collections.abc import Callable, Collection
from dataclasses import dataclass
from itertools import permutations
from typing import Any

from tests.support.client_text import position
from tests.support.sessions.channels import InProcess
from tests.support.sessions.model import Buffer, State, World

OK = 0
PARSE, INVALID, UNKNOWN, PARAMS = -32700, -32600, -32601, -32602
NOT_INITIALIZED, CANCELLED = -32002, -32800
MODIFIED, FAILED = -32801, -32803
METHODS = {
    "textDocument/publishDiagnostics",
    "window/logMessage",
    "window/showMessage",
    "$/progress",
    "$/cancelRequest",
    "driveTrace/changed",
}
REQUESTS = {
    "window/showDocument",
    "workspace/codeLens/refresh",
    "workspace/diagnostic/refresh",
}
SLOW = {
    "textDocument/diagnostic",
    "workspace/diagnostic",
    "workspace/executeCommand",
    "driveTrace/events",
    "textDocument/willSaveWaitUntil",
    "textDocument/completion",
    "textDocument/hover",
    "textDocument/codeLens",
    "textDocument/semanticTokens/full",
    "textDocument/selectionRange",
    "codeLens/resolve",
    "codeAction/resolve",
    "workspace/symbol",
    "textDocument/definition",
    "textDocument/references",
    "textDocument/documentSymbol",
    "textDocument/foldingRange",
    "textDocument/rename",
    "textDocument/formatting",
    "textDocument/rangeFormatting",
    "textDocument/documentLink",
}
"""What is not served at once, so that the next message can come before the answer."""
MOST_OF_ONE_ID = 3
"""Requests in a burst; of more it would take long to say which answer is whose."""
Check = Callable[[Any], None]


def encoded(message: Any) -> bytes:
    """A message's body; what UTF-8 cannot hold is sent escaped."""
    try:
        return json.dumps(message, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return json.dumps(message).encode()


@dataclass
class Expected:
    """The answer to a request."""

    method: str
    codes: set[int]
    """What it may be: `OK`, or an error with one of these codes."""
    check: Check | None = None
    """Raises AssertionError for a result that is wrong."""

    def assert_fits(self, answer: Any) -> None:
        error = answer.get("error")
        code = error["code"] if error else OK
        assert code in self.codes, f"{self.method}: {sorted(self.codes)} expected, not {answer}"
        if error is None and self.check is not None:
            self.check(answer["result"])


class Conversation:
    """Messages are held back until `settle`: they arrive in one burst, and then all is checked."""

    def __init__(self, world: World, channel: InProcess) -> None:
        self.world = world
        self.channel = channel
        self.phase = "new"
        """Then "ready", after `initialize`, and "down", after `shutdown`."""
        self.states: dict[str, list[State]] = defaultdict(list)
        """What a document was in this burst, so what an answer may be about; the last one last."""
        self.results: dict[str, Any] = {}
        """Diagnostics by the names that the server gave them."""
        self.named: dict[str, str] = {}
        """The last such name for each document."""
        self.lenses: list[Any] = []
        self.published: dict[str, Any] = {}
        self._bodies: list[bytes] = []
        self._expected: dict[Any, list[Expected]] = defaultdict(list)
        self._answers: dict[Any, list[Any]] = defaultdict(list)
        self._progress: dict[Any, list[Any]] = defaultdict(list)
        self._last_id = 0

    # Sending

    def ask(
        self,
        method: str,
        params: Any = None,
        *,
        message_id: Any = None,
        codes: Collection[int] = (OK,),
        check: Check | None = None,
        **members: Any,
    ) -> None:
        """Send a request that is to be answered so, if it may be sent at all."""
        if message_id is None or len(self._expected[_key(message_id)]) == MOST_OF_ONE_ID:
            self._last_id += 1
            message_id = f"own-{self._last_id}"
        expected = Expected(method, set(codes), check)
        if self.phase == "down" or (self.phase == "ready" and method == "initialize"):
            expected.codes = {INVALID}
        elif self.phase == "new" and method != "initialize":
            expected.codes = {NOT_INITIALIZED}
        same = self._expected[_key(message_id)]
        if any(each.method in SLOW for each in same):
            expected.codes.add(INVALID)  # that one may still be served
        same.append(expected)
        given = {} if params is None else {"params": params}
        self.send({"id": message_id, "method": method, **given, **members})

    def notify(self, method: str, params: Any = None) -> None:
        """Send a notification."""
        self.send({"method": method, **({} if params is None else {"params": params})})

    def send(self, message: dict[str, Any]) -> None:
        """Send a message with these members, and `jsonrpc`."""
        self._bodies.append(encoded({"jsonrpc": "2.0", **message}))

    def garble(self, body: bytes, *codes: int) -> None:
        """Send anything at all, which is to be refused without an id."""
        self._expected[_key(None)].append(Expected(repr(body[:60]), set(codes)))
        self._bodies.append(body)

    def cancel(self, message_id: Any) -> None:
        """What has this id, in this burst, may end as cancelled."""
        self.notify("$/cancelRequest", {"id": message_id})
        for expected in self._expected.get(_key(message_id), ()):
            expected.codes.add(CANCELLED)

    def cancel_all(self) -> None:
        """What is asked in this burst may end as cancelled: the server is shut down."""
        for every in self._expected.values():
            for expected in every:
                expected.codes.add(CANCELLED)

    # Documents

    def buffer(self, uri: str) -> Buffer | None:
        return self.world.buffers.get(uri)

    def open(self, uri: str, text: str, version: int) -> None:
        document = {"uri": uri, "languageId": "drive-trace", "version": version, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": document})
        if self.phase == "ready":
            self.world.buffers[uri] = Buffer(version, text)
            self.note(uri)

    def change(self, uri: str, version: int, changes: list[Any]) -> None:
        identifier = {"uri": uri, "version": version}
        params = {"textDocument": identifier, "contentChanges": changes}
        self.notify("textDocument/didChange", params)
        buffer = self.buffer(uri)
        if self.phase == "ready" and buffer is not None and version >= buffer.version:
            buffer.change(version, changes, self.world.client.encoding)
            self.note(uri)

    def edit(self, uri: str, edits: list[Any]) -> None:
        """Carry out text edits, as an editor does with what the server proposes."""
        buffer = self.buffer(uri)
        assert buffer is not None
        for edit in edits:
            for end in edit["range"].values():
                self.assert_is_place(buffer.text, end)
        edits = sorted(edits, key=_start, reverse=True)
        changes = [{"range": each["range"], "text": each["newText"]} for each in edits]
        self.change(uri, buffer.version + 1, changes)

    def close(self, uri: str) -> None:
        self.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
        if self.phase == "ready":
            self.world.buffers.pop(uri, None)
            self.note(uri)

    def note(self, *uris: str) -> None:
        """Something about these documents has changed; about all that are known, if none is named.

        A text of this very moment is what the answers to come are about.
        """
        for uri in uris or tuple({*self.states, *self.world.disk, *self.world.buffers}):
            self.states[uri].append(self.world.state(uri))

    def states_of(self, uri: str) -> list[State]:
        if not self.states[uri]:
            self.note(uri)
        return self.states[uri]

    def assert_is_place(self, text: str, at: Any) -> None:
        """A position of the server is one of the text, not beyond the end of a line."""
        encoding = self.world.client.encoding
        assert at["line"] <= position(text, len(text), encoding)["line"], at

    # Settling

    def settle(self) -> None:
        """Have the server do what there is to do; then each request has one answer, and what is
        known of each document is what a fresh look at it gives.
        """
        for uri in {*self.world.buffers, *self.world.disk}:
            self.states_of(uri)
        self._exchange()
        if self.phase == "ready":
            self._look_at_diagnostics()
        self.states.clear()

    def finish(self) -> int | None:
        """Say `exit`; the exit code, after a last look at whatever still came."""
        self.notify("exit")
        self.channel.exchange(self._taken(), self._take)
        code = self.channel.finish(self._take)
        assert not self._answers, self._answers
        return code

    def result(self, method: str, params: Any, *codes: int) -> Any:
        """Settle with one more request; its result, or None for an error with one of the codes."""
        found: list[Any] = []
        self.ask(method, params, codes=(OK, *codes), check=found.append)
        self.settle()
        return found[0] if found else None

    def new_token(self, kind: type | None) -> Any:
        """A token for partial results, of that type."""
        self._last_id += 1
        return None if kind is None else kind(self._last_id)

    def progress(self, token: Any) -> list[Any]:
        """What was sent with a token."""
        return self._progress.get(_key(token), [])

    def _exchange(self) -> None:
        self.channel.exchange(self._taken(), self._take)
        answers, self._answers = self._answers, defaultdict(list)
        expected, self._expected = self._expected, defaultdict(list)
        for key, every in expected.items():
            _assert_fit(every, answers.pop(key, []))
        assert not answers, f"nobody asked for {answers}"

    def _look_at_diagnostics(self) -> None:
        client = self.world.client
        if not client.pulls:
            for state in self._to_be_published():
                assert self.published.get(state.uri) == (state.version, state.sent), state.uri
            return
        assert not self.published
        for uri in self.world.buffers:
            given = self.world.state(uri).given

            def check(report: Any, given: Any = given) -> None:
                assert report["items"] == given

            params = {"textDocument": {"uri": uri}}
            self.ask("textDocument/diagnostic", params, check=check)
        self._exchange()

    def _taken(self) -> list[bytes]:
        bodies, self._bodies = self._bodies, []
        return bodies

    def _to_be_published(self) -> list[State]:
        """What the client is to know last: of what is open, and of what was and is not any more."""
        states = map(self.world.state, self.states)
        return [each for each in states if each.version is not None or each.uri in self.published]

    # Receiving

    def _take(self, message: Any) -> list[bytes]:
        """Look at a message; what is answered to it."""
        assert isinstance(message, dict), message
        assert message.pop("jsonrpc") == "2.0"
        if "method" not in message:
            self._take_answer(message)
            return []
        method, params = message["method"], message.get("params")
        if "id" in message:
            assert message.keys() <= {"id", "method", "params"}, message
            assert method in REQUESTS, message
            return self._reply(message["id"], method, params)
        assert message.keys() == {"method", "params"}, message
        assert method in METHODS, message
        if method == "textDocument/publishDiagnostics":
            self._take_diagnostics(params)
        elif method == "$/progress":
            self._progress[_key(params["token"])].append(params["value"])
        elif method == "$/cancelRequest":
            assert params.keys() == {"id"}
        elif method == "driveTrace/changed":
            assert params.keys() == {"uri"}
        else:
            _assert_is_fit_to_read(params["message"])
        return []

    def _take_answer(self, message: Any) -> None:
        assert message.keys() in ({"id", "result"}, {"id", "error"}), message
        error = message.get("error")
        if error is not None:
            assert error.keys() == {"code", "message"}, message
            _assert_is_fit_to_read(error["message"])
        self._answers[_key(message["id"])].append(message)

    def _take_diagnostics(self, params: Any) -> None:
        """Whenever they come, they are those of a version that the document had meanwhile."""
        assert not self.world.client.pulls, params
        uri, version, items = params["uri"], params.get("version"), params["diagnostics"]
        assert any(
            (each.version, each.sent) == (version, items) for each in reversed(self.states_of(uri))
        ), f"not the diagnostics of version {version}: {params}"
        self.published[uri] = (version, items)

    def _reply(self, message_id: Any, method: str, params: Any) -> list[bytes]:
        how, result = self.world.client.answers, None
        if method == "window/showDocument":
            assert params["uri"].startswith("file:"), params
            result = {"success": True}
        reply: dict[str, Any] = {"jsonrpc": "2.0", "id": message_id}
        if how == "error":
            reply["error"] = {"code": -32603, "message": "no"}
        else:
            reply["result"] = result
        copies = {"never": 0, "twice": 2}.get(how, 1)
        return [encoded(reply)] * copies


def _key(message_id: Any) -> tuple[str, Any]:
    """To tell 1, true, 1.0 and "1" apart."""
    return type(message_id).__name__, json.dumps(message_id)


def _start(edit: Any) -> tuple[int, int]:
    start = edit["range"]["start"]
    return start["line"], start["character"]


def _assert_is_fit_to_read(text: str) -> None:
    assert "Traceback" not in text, text
    assert "internal error" not in text, text


def _assert_fit(expected: list[Expected], answers: list[Any]) -> None:
    """Each request has one answer; of several with one id, one that can be its own."""
    methods = [each.method for each in expected]
    assert len(answers) == len(expected), f"{len(answers)} answers to {methods}: {answers}"
    failures: list[Exception] = []
    for order in permutations(answers):
        try:
            for each, answer in zip(expected, order, strict=True):
                each.assert_fits(answer)
        except (AssertionError, AttributeError, LookupError, TypeError) as error:
            failures.append(error)
        else:
            return
    raise failures[0]
