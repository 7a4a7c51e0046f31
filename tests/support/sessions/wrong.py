"""What no client should do, and what is to become of it."""

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
from tests.support.sessions.steps import APPLY_ACTION, SHOW_RUN, URIS, drawn


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


def garble(conversation: Conversation, given: tuple[bytes, int]) -> None:
    """What is no message at all, or none that can be answered with its id."""
    conversation.garble(*given)


def ask_without_id(conversation: Conversation, message_id: Any) -> None:
    """What has an id that is none."""
    body = encoded({"jsonrpc": "2.0", "id": message_id, "method": "shutdown"})
    conversation.garble(body, INVALID)


def be_refused(
    conversation: Conversation, given: tuple[str, Any], code: int, message_id: Any
) -> None:
    """A request that gets an error."""
    method, params = given
    conversation.ask(method, params, message_id=message_id, codes=[code])


def be_ignored(conversation: Conversation, given: tuple[str, Any]) -> None:
    """A notification of which nothing comes."""
    conversation.notify(*given)


def change_ill(conversation: Conversation, uri: int, changes: Any) -> None:
    """A change of which a part does not fit: none of it is carried out."""
    name = uri_of(conversation, uri)
    buffer = conversation.buffer(name)
    identifier = {"uri": name, "version": buffer.version + 1 if buffer else 1}
    params = {"textDocument": identifier, "contentChanges": changes}
    conversation.notify("textDocument/didChange", params)


def give_odd_data(conversation: Conversation, method: str, data: Any, message_id: Any) -> None:
    """Data of the server's own, come back as they never were: an answer, be it an error."""
    params = {"range": _RANGE, "data": data}
    if method == "workspace/executeCommand":
        params = {"command": APPLY_ACTION, "arguments": [data]}
    conversation.ask(method, params, message_id=message_id, codes=[OK, PARAMS])


def cancel(conversation: Conversation, message_id: Any) -> None:
    """Of what is served, was served, or never was."""
    conversation.cancel(message_id)


def answer(conversation: Conversation, message_id: Any, is_error: bool) -> None:
    """To what nobody asked."""
    said = {"error": {"code": 1, "message": "x"}} if is_error else {"result": None}
    conversation.send({"id": message_id, **said})


def initialize(conversation: Conversation, fits: bool) -> None:
    """Once more, or with what does not fit."""
    params = {"processId": None, "rootUri": None, "capabilities": {} if fits else 5}
    if not fits or conversation.phase != "new":
        conversation.ask("initialize", params, codes=[PARAMS])


def ask_reversed(conversation: Conversation, uri: int) -> None:
    """Code actions from the end of a text to its start."""
    name = uri_of(conversation, uri)
    where = whole(conversation, name)
    where = {"start": where["end"], "end": where["start"]}
    params = {"textDocument": {"uri": name}, "range": where, "context": {"diagnostics": []}}
    conversation.ask("textDocument/codeAction", params, codes={OK, MODIFIED})


_IDS = st.sampled_from(IDS)
_PARAMS_OF_NOTHING = st.sampled_from([*_NEVER, {"id": 1}, {"id": ""}])
WRONG = st.one_of(
    drawn(garble, st.sampled_from(BODIES)),
    drawn(ask_without_id, st.sampled_from(NO_IDS)),
    drawn(
        be_refused,
        st.tuples(st.sampled_from(UNHEARD), _PARAMS_OF_NOTHING),
        st.just(UNKNOWN),
        _IDS,
    ),
    drawn(be_refused, st.sampled_from(REFUSED), st.just(PARAMS), _IDS),
    drawn(be_ignored, st.sampled_from(IGNORED)),
    drawn(change_ill, URIS, st.sampled_from(CHANGES)),
    drawn(
        give_odd_data,
        st.sampled_from(["codeLens/resolve", "workspace/executeCommand"]),
        st.sampled_from(_ODD_DATA),
        _IDS,
    ),
    drawn(cancel, st.sampled_from(IDS[2:])),
    drawn(answer, st.sampled_from([*IDS, *NO_IDS]), st.booleans()),
    drawn(initialize, st.booleans()),
    drawn(ask_reversed, URIS),
)
