"""What no client should do, and what is to become of it."""

from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from tests.support.editor import ABOUT_RULES
from tests.support.sessions.conversation import (
    INVALID,
    MODIFIED,
    OK,
    PARAMS,
    PARSE,
    UNKNOWN,
    Conversation,
    encoded,
)
from tests.support.sessions.places import IDS, uri_of, whole
from tests.support.sessions.steps import APPLY_ACTION, SHOW_RUN, URIS


def _deep() -> Any:
    value: Any = 0
    for _ in range(200):
        value = [value]
    return value


_URI = "file:///nowhere/trace.jsonl"
_START = {"line": 0, "character": 0}
_RANGE = {"start": _START, "end": _START}
_DOCUMENT = {"textDocument": {"uri": _URI}}
_POSITIONS: list[Any] = [
    {"line": -1, "character": 0},
    {"line": 0, "character": -1},
    {"line": 2**31, "character": 0},
    {"line": 2**64, "character": 0},
    {"line": 10**400, "character": 0},
    {"line": 0.5, "character": 0},
    {"line": "0", "character": 0},
    {"line": True, "character": 0},
    {"line": None, "character": 0},
    {"line": [], "character": {}},
    {"line": 0},
    {},
    [0, 0],
    None,
    5,
]
BODIES: list[tuple[bytes, int]] = [
    *((each, PARSE) for each in (b"", b"{nope", b"\xff\xfe\xfd", b'{"a":"\xff"}', b"[" * 3000)),
    *((each, PARSE) for each in (b'{"jsonrpc":"2.0","id":1,"method":"shutdown"', b"\0", b"'x'")),
    *((each, PARSE) for each in (b'{"id":1}{"id":2}', b'{"a":' * 3000, b"\xef\xbb\xbf")),
    *((each, INVALID) for each in (b"[]", b"5", b"null", b'"exit"', b"{}", b"true", b"[[[]]]")),
    (b'[{"jsonrpc":"2.0","id":1,"method":"shutdown"},{"jsonrpc":"2.0","method":"exit"}]', INVALID),
    (b'{"jsonrpc":"2.0"}', INVALID),
    (b'{"jsonrpc":"2.0","method":5}', INVALID),
    (b'{"jsonrpc":"2.0","id":1}', INVALID),
    (b'{"jsonrpc":"2.0","id":[7],"method":5}', INVALID),
    (b'{"jsonrpc":"2.0","id":1.5,"method":null,"params":{}}', INVALID),
    (b'{"jsonrpc":"2.0","result":5}', INVALID),
]
NO_IDS: list[Any] = [None, True, False, 1.5, [], [1], {}, {"id": 1}, 1e300]
UNHEARD = [
    "textDocument/unheard-of",
    "",
    "$/unheard-of",
    "textDocument/moniker",
    "textDocument/linkedEditingRange",
    "textDocument/didOpen",
    "textDocument/publishDiagnostics",
    "$/cancelRequest",
    "exit",
    "initialized",
    "__class__",
    "\ud800",
]
_NEVER: list[Any] = [None, [], {}, 5, "x", True, {"textDocument": 5}, {"textDocument": {"uri": 5}}]
_ODD_DATA: list[Any] = [
    None,
    5,
    [],
    {},
    {"uri": 5, "runId": []},
    {"kind": "event"},
    "\ud800",
    _deep(),
]
REFUSED: list[tuple[str, Any]] = [
    *(
        (method, {**_DOCUMENT, "position": each})
        for method in ("textDocument/hover", "textDocument/completion")
        for each in _POSITIONS
    ),
    *(
        (method, params)
        for method in ("textDocument/hover", "textDocument/codeLens", "textDocument/diagnostic")
        for params in _NEVER
    ),
    *(
        ("textDocument/codeAction", {**_DOCUMENT, "context": {"diagnostics": []}, "range": each})
        for each in ({"start": _START}, {"start": _POSITIONS[0], "end": _START}, None, [])
    ),
    ("textDocument/codeAction", {**_DOCUMENT, "range": _RANGE}),
    ("textDocument/codeAction", {**_DOCUMENT, "range": _RANGE, "context": {"diagnostics": 5}}),
    (
        "textDocument/codeAction",
        {**_DOCUMENT, "range": _RANGE, "context": {"diagnostics": [], "only": "quickfix"}},
    ),
    ("textDocument/hover", {**_DOCUMENT, "position": _START, "workDoneToken": []}),
    ("completionItem/resolve", {"data": {}}),
    ("codeLens/resolve", {"data": {}}),
    ("codeLens/resolve", [_RANGE]),
    ("workspace/diagnostic", {}),
    ("workspace/diagnostic", {"previousResultIds": "x"}),
    ("workspace/diagnostic", {"previousResultIds": [{"uri": _URI}]}),
    ("textDocument/diagnostic", {**_DOCUMENT, "previousResultId": 5}),
    ("workspace/executeCommand", {}),
    ("workspace/executeCommand", {"command": "unheard.of"}),
    ("workspace/executeCommand", {"command": 5}),
    ("workspace/executeCommand", {"command": SHOW_RUN, "arguments": [{"uri": _URI}]}),
    ("workspace/executeCommand", {"command": SHOW_RUN}),
    *(
        ("workspace/executeCommand", {"command": SHOW_RUN, "arguments": arguments})
        for arguments in (None, [], [5], [None], [{}], [{"uri": 5, "runId": "x"}], [[]], {}, "x", 5)
    ),
    ("workspace/executeCommand", {"command": SHOW_RUN, "arguments": [{"uri": _URI, "runId": ""}]}),
    *(
        ("workspace/executeCommand", {"command": command, "arguments": [argument]})
        for command in ABOUT_RULES
        for argument in (None, 5, {"uri": _URI}, {"uri": _URI, "rule": "unheard-of"})
    ),
]
IGNORED: list[tuple[str, Any]] = [
    *((method, params) for method in ("unheard/of", "$/unheard/of", "\ud800") for params in _NEVER),
    *((f"textDocument/did{each}", {}) for each in ("Open", "Change", "Close", "Save")),
    *((f"textDocument/did{each}", None) for each in ("Open", "Change", "Close", "Save")),
    ("textDocument/didOpen", {"textDocument": {"uri": _URI, "version": 1, "text": "{"}}),
    (
        "textDocument/didOpen",
        {"textDocument": {"uri": _URI, "languageId": "x", "version": 1, "text": None}},
    ),
    (
        "textDocument/didOpen",
        {"textDocument": {"uri": _URI, "languageId": "x", "version": 2**40, "text": ""}},
    ),
    ("textDocument/didClose", {"textDocument": _URI}),
    ("initialized", {}),
    ("initialize", {"processId": None, "rootUri": None, "capabilities": {}}),
    ("shutdown", None),
    ("textDocument/hover", {**_DOCUMENT, "position": _START}),
    ("workspace/didChangeConfiguration", {}),
    ("workspace/didChangeConfiguration", None),
    ("workspace/didChangeWatchedFiles", {"changes": []}),
    ("workspace/didChangeWatchedFiles", {"changes": 5}),
    ("workspace/didChangeWorkspaceFolders", {"event": {"added": [{"uri": 5}], "removed": []}}),
    ("workspace/didChangeWorkspaceFolders", {}),
    ("textDocument/willSave", {**_DOCUMENT, "reason": 1}),
    ("textDocument/willSave", {**_DOCUMENT, "reason": "x"}),
    ("textDocument/didSave", {**_DOCUMENT, "text": "{"}),
    ("$/setTrace", {"value": "verbose"}),
    ("$/setTrace", {"value": "loud"}),
    ("$/setTrace", None),
    ("$/progress", {"token": 1, "value": 5}),
    ("window/workDoneProgress/cancel", {"token": "x"}),
    *(("$/cancelRequest", each) for each in (None, {}, [], {"id": []}, {"id": None}, {"id": 1.5})),
    ("notebookDocument/didOpen", {"notebookDocument": 5, "cellTextDocuments": []}),
]
CHANGES: list[Any] = [
    None,
    5,
    "x",
    {},
    [5],
    [{}],
    [{"text": None}],
    [{"text": 5}],
    [{"range": _RANGE}],
    [{"range": {"start": _START}, "text": "x"}],
    [{"text": "all of it"}, {"range": {"start": _START, "end": _POSITIONS[0]}, "text": "x"}],
    *([{"range": {"start": each, "end": each}, "text": "x"}] for each in _POSITIONS),
]


@dataclass(frozen=True)
class Garbled:
    """What is no message at all, or none that can be answered with its id."""

    body: bytes
    code: int

    def play(self, conversation: Conversation) -> None:
        conversation.garble(self.body, self.code)


@dataclass(frozen=True)
class Refused:
    """A request that gets an error."""

    method: str
    params: Any
    code: int
    message_id: Any

    def play(self, conversation: Conversation) -> None:
        codes = [self.code]
        conversation.ask(self.method, self.params, message_id=self.message_id, codes=codes)


@dataclass(frozen=True)
class Ignored:
    """A notification of which nothing comes."""

    method: str
    params: Any

    def play(self, conversation: Conversation) -> None:
        conversation.notify(self.method, self.params)


@dataclass(frozen=True)
class IllChanged:
    """A change of which a part does not fit: none of it is carried out."""

    uri: int
    changes: Any

    def play(self, conversation: Conversation) -> None:
        uri = uri_of(conversation, self.uri)
        buffer = conversation.buffer(uri)
        identifier = {"uri": uri, "version": buffer.version + 1 if buffer else 1}
        params = {"textDocument": identifier, "contentChanges": self.changes}
        conversation.notify("textDocument/didChange", params)


@dataclass(frozen=True)
class Odd:
    """Data of the server's own, come back as they never were: an answer, be it an error."""

    method: str
    data: Any
    message_id: Any

    def play(self, conversation: Conversation) -> None:
        codes = [OK, PARAMS]
        params = {"range": _RANGE, "data": self.data}
        if self.method == "workspace/executeCommand":
            params = {"command": APPLY_ACTION, "arguments": [self.data]}
        conversation.ask(self.method, params, message_id=self.message_id, codes=codes)


@dataclass(frozen=True)
class Cancel:
    """Of what is served, was served, or never was."""

    message_id: Any

    def play(self, conversation: Conversation) -> None:
        conversation.cancel(self.message_id)


@dataclass(frozen=True)
class Answer:
    """To what nobody asked."""

    message_id: Any
    is_error: bool

    def play(self, conversation: Conversation) -> None:
        said = {"error": {"code": 1, "message": "x"}} if self.is_error else {"result": None}
        conversation.send({"id": self.message_id, **said})


@dataclass(frozen=True)
class Initialize:
    """Once more, or with what does not fit."""

    fits: bool

    def play(self, conversation: Conversation) -> None:
        params = {"processId": None, "rootUri": None, "capabilities": {}}
        if self.fits and conversation.phase == "new":
            return
        wrong = {**params, "capabilities": 5}
        conversation.ask("initialize", params if self.fits else wrong, codes=[PARAMS])


@dataclass(frozen=True)
class Reversed:
    """Code actions from the end of a text to its start."""

    uri: int

    def play(self, conversation: Conversation) -> None:
        uri = uri_of(conversation, self.uri)
        where = whole(conversation, uri)
        where = {"start": where["end"], "end": where["start"]}
        params = {"textDocument": {"uri": uri}, "range": where, "context": {"diagnostics": []}}
        conversation.ask("textDocument/codeAction", params, codes={OK, MODIFIED})


_NAMES = st.sampled_from(IDS[2:])
WRONG = st.one_of(
    st.builds(lambda given: Garbled(*given), st.sampled_from(BODIES)),
    st.builds(
        lambda given: Garbled(
            encoded({"jsonrpc": "2.0", "id": given, "method": "shutdown"}), INVALID
        ),
        st.sampled_from(NO_IDS),
    ),
    st.builds(
        Refused,
        st.sampled_from(UNHEARD),
        st.sampled_from([*_NEVER, {"id": 1}, {"id": ""}]),
        st.just(UNKNOWN),
        st.sampled_from(IDS),
    ),
    st.builds(
        lambda given, message_id: Refused(*given, PARAMS, message_id),
        st.sampled_from(REFUSED),
        st.sampled_from(IDS),
    ),
    st.builds(lambda given: Ignored(*given), st.sampled_from(IGNORED)),
    st.builds(IllChanged, URIS, st.sampled_from(CHANGES)),
    st.builds(
        Odd,
        st.sampled_from(["codeLens/resolve", "workspace/executeCommand"]),
        st.sampled_from(_ODD_DATA),
        st.sampled_from(IDS),
    ),
    st.builds(Cancel, _NAMES),
    st.builds(Answer, st.sampled_from([*IDS, *NO_IDS]), st.booleans()),
    st.builds(Initialize, st.booleans()),
    st.builds(Reversed, URIS),
)
