"""Any bytes from a client: what is read as a message does not depend on how the bytes arrive, and
each request among them has one response.
"""

import io
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import chain, repeat
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from drive_trace.lsp import server as server_module
from drive_trace.lsp.rpc import protocol
from drive_trace.lsp.rpc.stream import BrokenStreamError, read_messages
from drive_trace.lsp.workspace import open_traces
from tests.support.client_text import graded
from tests.support.drawing import examples
from tests.support.mutating import SPELLINGS, Spelling, changed, garbled
from tests.support.sessions.channels import InProcess

URI = "file:///nowhere/trace.jsonl"
AT_START = {"textDocument": {"uri": URI}, "position": {"line": 0, "character": 0}}
DOCUMENT = {"uri": URI, "languageId": "x", "version": 1, "text": "{}\n"}
PARAMS: dict[str, Any] = {
    "textDocument/hover": AT_START,
    "textDocument/willSaveWaitUntil": {"textDocument": {"uri": URI}, "reason": 1},
    "textDocument/diagnostic": {"textDocument": {"uri": URI}},
    "codeLens/resolve": {
        "range": {"start": AT_START["position"], "end": AT_START["position"]},
        "data": {"any": [1, "thing"]},
    },
    "initialize": {"processId": None, "rootUri": None, "capabilities": {}},
    "shutdown": None,
    "unheard/of": [],
    "textDocument/didOpen": {"textDocument": DOCUMENT},
    "textDocument/didChange": {"textDocument": DOCUMENT, "contentChanges": [{"text": "[]"}]},
    "$/cancelRequest": {"id": 1},
    "exit": None,
}
IDS = st.sampled_from([1, 1, 2, "x", "\ud800", -1, 2**31, 2**53, 2**64, 1.0, 1.5, None, True])
INITIALIZE = {"id": "first", "method": "initialize", "params": PARAMS["initialize"]}
OPENED = {"method": "textDocument/didOpen", "params": PARAMS["textDocument/didOpen"]}
METHODS = st.sampled_from([*PARAMS] * 2 + [*PARAMS][:3] * 4)
MESSAGES = st.builds(
    lambda method, given: {"jsonrpc": "2.0", "method": method, "params": PARAMS[method], **given},
    METHODS,
    st.just({}) | st.builds(lambda id_: {"id": id_}, IDS),
)
VALUES = changed(st.just(INITIALIZE) | MESSAGES, most=2) | st.lists(MESSAGES, max_size=2)


ECHO = (
    b'{"jsonrpc":"2.0","id":1,"method":"codeLens/resolve","params":%b}'
    % json.dumps(PARAMS["codeLens/resolve"]).encode()
)
"""Its data comes back."""


def utf8(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


TEXTS = garbled(st.builds(Spelling.of, SPELLINGS, VALUES), most=1)
BODIES = (
    TEXTS.map(utf8)
    | st.builds(Spelling.of, SPELLINGS, MESSAGES).map(utf8)
    | st.builds(lambda text, at, odd: utf8(text)[:at] + odd + utf8(text)[at:], TEXTS,
                st.integers(0, 90), st.binary(max_size=3))
    | st.builds(str.encode, MESSAGES.map(json.dumps), st.sampled_from(["utf-16", "utf-8-sig"]))
    | st.builds(lambda depth: ECHO.replace(b'"thing"', b"[" * depth + b"]" * depth),
                st.integers(90, 1500))
    | st.sampled_from([b"", b"[" * 5000, b"[]", b"null", b'{"id":1,"id":2,"method":"x"}'])
)  # fmt: skip


# What is read


HEADERS = st.sampled_from(
    [
        *[b"Content-Length: %d\r\n\r\n"] * 3,
        *(b"content-length:%d\n\n", b"X: 5\r\nCONTENT-LENGTH : %d \r\nY: x\r\n\r\n"),
        *(b"Content-Length: 9\r\nContent-Length: %d\r\n\r\n", b"\n\nContent-Length: 0%d\r\n\r\n"),
    ]
)
GARBAGE = st.sampled_from(
    [b"", b"", b"\r\n", b"garbage\r\n\r\n", b"\0\xff\n", b"Content-Length: -5\n"]
)
FRAMES = st.tuples(
    GARBAGE,
    HEADERS,
    st.binary(max_size=20) | st.sampled_from([b"{}", b'{"id":1}', b"Content-Length: 2\r\n\r\n{}"]),
)
SIZES = st.lists(st.sampled_from([1, 2, 7, 100]), min_size=1, max_size=3)


def framed(frames: Sequence[tuple[bytes, bytes, bytes]], lie: int = 0) -> bytes:
    return b"".join(
        garbage + header % max(0, len(body) + lie) + body for garbage, header, body in frames
    )


class Pieces(io.RawIOBase):
    """A stream that gives a few bytes at a time."""

    def __init__(self, data: bytes, sizes: Sequence[int]) -> None:
        self._data, self._sizes = io.BytesIO(data), chain.from_iterable(repeat(sizes))

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        part = self._data.read(min(len(buffer), next(self._sizes)))
        buffer[: len(part)] = part
        return len(part)


def read(data: bytes, sizes: Sequence[int]) -> tuple[list[bytes], str | None]:
    """The messages of a stream, and why it could not be read on."""
    found: list[bytes] = []
    try:
        found.extend(read_messages(io.BufferedReader(Pieces(data, sizes))))
    except BrokenStreamError as error:
        return found, str(error)
    return found, None


@given(st.lists(FRAMES, max_size=4), SIZES)
def test_honest_messages_are_read_whatever_stands_around_them(
    frames: list[tuple[bytes, bytes, bytes]], sizes: list[int]
) -> None:
    assert read(framed(frames), sizes) == ([body for *_, body in frames], None)


@given(st.lists(FRAMES, max_size=4), st.sampled_from([-2, -1, 1, 5, 400]), SIZES)
def test_a_message_is_never_more_than_its_header_said(
    frames: list[tuple[bytes, bytes, bytes]], lie: int, sizes: list[int]
) -> None:
    data = framed(frames, lie)
    found, broken = read(data, sizes)
    assert (found, broken) == read(data, [len(data) or 1])
    at = 0
    for body in found:
        # Of all places from here on where it could stand, one is behind a header of its length.
        said = re.compile(rb"content-length\s*:\s*0*%d\s" % len(body), re.IGNORECASE)
        starts = (each.end() for each in re.finditer(rb"(?=(\n\r?\n))\1", data[at:]))
        assert any(
            data[at + start :].startswith(body)
            and (said.search(data, at, at + start) or at + start + len(body) == len(data))
            for start in starts
        )
        at = data.index(body, at) + len(body)
    assert broken is None or broken.isprintable()


# What is answered


@pytest.fixture(scope="module", autouse=True)
def _prepared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("DRIVE_TRACE_CACHE", str(tmp_path_factory.mktemp("cache")))
        patched.setattr(open_traces, "LARGE", 0)  # messages come while a thread works
        patched.setattr(protocol, "_PIECE", 0)  # and reads each text
        patched.setattr(server_module, "strict_converter", cache(server_module.strict_converter))
        yield


def refuse(constant: str) -> None:
    raise ValueError(constant)


def answered(body: bytes) -> list[Any]:
    """The ids of the responses to a message, by JSON-RPC and a reader of the tests' own; null is
    that of what is no message, and of an id that LSP does not know.
    """
    try:
        message = json.loads(body.decode("utf-8", "surrogatepass"), parse_constant=refuse)
    except (ValueError, RecursionError):
        return [None]
    if not isinstance(message, dict):
        return [None]
    id_ = message.get("id")
    is_id = isinstance(id_, str) or type(id_) is int
    if "id" in message and "method" not in message:
        return [] if "result" in message or "error" in message else [None]
    if isinstance(message.get("method"), str) and "id" not in message:
        return []
    return [id_ if is_id else None]


def is_exit(body: bytes) -> bool:
    return answered(body) == [] and json.loads(body).get("method") == "exit"


def same(id_: Any) -> tuple[str, Any]:
    return type(id_).__name__, id_


@settings(
    max_examples=examples(25),  # each starts a server
    suppress_health_check=[HealthCheck.too_slow],
)
@given(st.lists(BODIES, min_size=1, max_size=5), st.booleans())
@example([ECHO.replace(b'"thing"', b'1e999,"\\ud800"')], False).via(
    "a response held Infinity, which is no JSON"
)
@example(['{"id":1,"method":"x"}'.encode("utf-16")], False).via("UTF-16 was read as UTF-8 is")
def test_each_request_has_one_response(bodies: list[bytes], reads_ahead: bool) -> None:
    # All of it twice, so that requests come while others with the same id are served.
    bodies = [json.dumps(INITIALIZE).encode(), json.dumps(OPENED).encode(), *bodies, *bodies]
    asked = Counter[tuple[str, Any]]()
    for body in bodies:
        if is_exit(body):
            break
        asked.update(map(same, answered(body)))
    else:
        last = {"jsonrpc": "2.0", "id": "last", "method": "textDocument/hover", "params": AT_START}
        bodies.append(json.dumps(last).encode())
        asked[same("last")] += 1
    got: list[Any] = []
    server = InProcess(reads_ahead=reads_ahead)
    try:
        server.exchange(bodies, lambda message: got.append(message) or ())
    finally:
        server.close()
    responses = [each for each in got if "method" not in each]
    assert Counter(same(each["id"]) for each in responses) == asked
    for each in responses:
        assert each.keys() in ({"jsonrpc", "id", "result"}, {"jsonrpc", "id", "error"})
        assert each.get("error", {"code": -32600})["code"] in range(-32899, -32599)
        assert "Traceback" not in str(each)
        assert "internal error" not in str(each)


LINES = [json.dumps(DOCUMENT), graded("pass", "pass", "😀"), '{"a":"\\n}"}', "\\", '"', "\r", ""]
LONG = st.lists(st.sampled_from([*LINES, "}", "\ud800", "日", "\\}", "}\r"]), max_size=6).map(
    "\n".join
)
RANGE = {"range": PARAMS["codeLens/resolve"]["range"]}
CHANGES = st.sampled_from(
    [[], [{}], [RANGE], [{"text": "a"}, {}], [{"text": "a"} | RANGE, {}], [{}, {}]]
)
ODD = st.sampled_from([b"", b'"', b'\\"', b"\\", b"\0", b"\xff"])


@settings(max_examples=examples(50), suppress_health_check=[HealthCheck.too_slow])
@given(LONG, ODD, st.permutations([*DOCUMENT]), CHANGES, st.booleans())
def test_a_text_that_is_read_in_pieces_is_the_same(
    text: str, odd: bytes, order: Sequence[str], changes: Any, is_ascii: bool
) -> None:
    """Whatever order its members have, and also where it is no text."""
    document = {each: DOCUMENT[each] for each in order} | {"text": f"{text}}}\n{text}"}
    opened = {**OPENED, "params": {"textDocument": document}}
    changed = {
        "textDocument": {"uri": URI, "version": 2},
        "contentChanges": [document | change for change in changes],
    }
    said = [opened, {"method": "textDocument/didChange", "params": changed}][: 1 + bool(changes)]
    asked = {"id": 5, "method": "textDocument/documentSymbol", "params": AT_START}
    bodies = [utf8(json.dumps(each, ensure_ascii=is_ascii)) for each in (INITIALIZE, *said, asked)]
    bodies[-2] = bodies[-2].replace(b"}\\n", b"}\\n" + odd, 1)
    got: list[list[Any]] = []
    for piece in (0, 9, 1 << 18):
        server = InProcess(reads_ahead=False)
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(protocol, "_PIECE", piece)
            got.append([])
            server.exchange(bodies, lambda message: got[-1].append(message) or ())
        server.close()
    assert got[0] == got[1] == got[2]
