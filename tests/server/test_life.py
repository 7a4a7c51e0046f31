"""The server in plain JSON-RPC: how it starts and how it ends."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from threading import Event
from types import SimpleNamespace

import pytest

from drive_trace.lsp.rpc import stream
from tests.server import support
from tests.support.command import COMMAND, SERVE
from tests.support.raw_client import RawClient, frame
from tests.support.server_process import read_message

# The life of a server


def test_before_initialize(alone: RawClient) -> None:
    alone.open(support.URI, support.REJECTED)
    for method in ("textDocument/hover", "shutdown", "unheard/of"):
        assert support.refused(alone, alone.start_request(method, support.HOVER)) == -32002
    assert support.refused(alone, alone.start_request("initialize", {"capabilities": 5})) == -32602
    alone.send_bytes(support.raw(b"["))
    assert support.refused(alone, None) == -32700
    result = alone.initialize()
    assert result["serverInfo"]["name"] == "drive-trace"
    assert result["capabilities"]["positionEncoding"] == "utf-16"  # what nobody needs to offer
    assert support.still_answers(alone)
    # What came too early was not done.
    assert support.published(alone, support.URI) == []


def test_after_shutdown(alone: RawClient) -> None:
    alone.initialize()
    assert alone.request("shutdown") is None
    alone.forget()
    alone.open(support.URI, support.REJECTED)
    for method in ("textDocument/hover", "shutdown", "unheard/of", "initialize"):
        assert support.refused(alone, alone.start_request(method, support.HOVER)) == -32600
    assert alone.notifications == []
    alone.notify("exit")
    assert alone.wait_exit() == 0


def test_exit_at_once(alone: RawClient) -> None:
    alone.notify("exit")
    assert alone.wait_exit() == 1


@pytest.mark.parametrize("shut_down", [True, False])
def test_the_end_of_input_ends_the_server(shut_down: bool, alone: RawClient) -> None:
    alone.initialize()
    if shut_down:
        alone.request("shutdown")
    alone.server.stdin.close()
    assert alone.wait_exit() == (0 if shut_down else 1)


def test_input_that_ends_in_the_middle(alone: RawClient) -> None:
    alone.initialize()
    alone.send_bytes(b"Content-Length: 100\r\n\r\n{")
    alone.server.stdin.close()
    assert alone.wait_exit() == 1


HELLO = b'{"jsonrpc":"2.0","method":"hello"}'


@pytest.mark.parametrize("shut_down", [False, True])
@pytest.mark.parametrize(
    ("sent", "why"),
    [
        (b"Content-Length: 99999999999999\r\n\r\n", "99999999999999 is more than"),
        (
            b"Content-Length: %d\r\n\r\n%b" % (len(HELLO) - 1, HELLO) + support.raw(HELLO),
            "longer than its",
        ),
        (b"Content-Length: many\r\n\r\n" + HELLO + support.raw(HELLO), "longer than its"),
        ((HELLO + b"\n") * 33, "no Content-Length in 32 lines"),
        (b"X-Other: 5\r\n" * 33, "no Content-Length in 32 lines"),
        (b"x" * (33 << 16), "no Content-Length in 32 lines"),
    ],
    ids=["impossible", "short", "no-number", "lines", "headers", "nothing"],
)
def test_a_stream_that_cannot_be_read_on_is_told_and_ends(
    sent: bytes, why: str, shut_down: bool, alone: RawClient
) -> None:
    """Where the next message starts is not known, so there is no going on."""
    alone.initialize()
    if shut_down:
        alone.request("shutdown")
    alone.send_bytes(sent)
    said = alone.notification("window/showMessage")
    assert said["type"] == 1
    assert said["message"].startswith("the messages of the editor cannot be read on (")
    assert why in said["message"]
    assert alone.wait_exit() == 1
    assert alone.stderr().count(said["message"]) == 1


def test_before_initialize_only_standard_error_is_told(alone: RawClient) -> None:
    alone.send_bytes(b"Content-Length: 99999999999999\r\n\r\n")
    assert alone.wait_exit() == 1
    assert "cannot be read on" in alone.stderr()
    assert alone.notifications == []


def test_messages_without_a_header_are_told_at_once(alone: RawClient) -> None:
    alone.send_bytes(HELLO + b"\n")
    alone.initialize()
    assert alone.shutdown() == 0
    assert alone.stderr().count("expected a Content-Length") == 1


def test_the_first_encoding_that_is_known_is_taken(alone: RawClient) -> None:
    offered = {"positionEncodings": ["utf-7", "utf-32", "utf-8", "utf-16"]}
    result = alone.initialize({"general": offered})
    assert result["capabilities"]["positionEncoding"] == "utf-32"


# Clients that leave without a word


@pytest.fixture
def bystander() -> Iterator[subprocess.Popen[bytes]]:
    """A process that runs until its standard input is closed."""
    command = [sys.executable, "-c", "import sys; sys.stdin.read()"]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as process:
        assert process.stdin is not None
        yield process
        process.stdin.close()


@pytest.mark.parametrize("shut_down", [True, False])
@pytest.mark.parametrize("by_looking", [True, False])
def test_the_end_of_the_clients_process_ends_the_server(
    bystander: subprocess.Popen[bytes], shut_down: bool, by_looking: bool, tmp_path: Path
) -> None:
    """Although the pipes stay open, as where another process has inherited them."""
    if by_looking:  # where the system does not tell
        forget = "import os\nif hasattr(os, 'pidfd_open'): del os.pidfd_open\n"
        (tmp_path / "sitecustomize.py").write_text(forget, encoding="utf-8")
    with RawClient(SERVE, env={**os.environ, "PYTHONPATH": str(tmp_path)}) as client:
        client.initialize(processId=bystander.pid)
        assert support.still_answers(client)
        if shut_down:
            client.request("shutdown")
        assert bystander.stdin is not None
        bystander.stdin.close()
        bystander.wait(10)
        assert client.wait_exit() == (0 if shut_down else 1)


@pytest.mark.parametrize("pid", [None, 0, 2**22 + 1, 2**31 - 1, -1])
def test_a_process_that_is_not_there_is_not_watched(pid: int | None, alone: RawClient) -> None:
    alone.initialize(processId=pid)
    assert support.still_answers(alone)


def test_a_client_that_reads_nothing_and_hangs_up() -> None:
    """The server waits in a write, and ends all the same."""
    question = {"id": 1, "method": "unheard/of" * 1000}
    command = [COMMAND, "serve"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        process.stdin.write(frame({"jsonrpc": "2.0", **support.INITIALIZE}))
        for _ in range(100):
            process.stdin.write(frame({"jsonrpc": "2.0", **question}))
        process.stdin.close()
        assert process.wait(20) == 1


def test_one_message_may_be_larger_than_what_may_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """What follows it is sent, too; what goes on unread is not."""
    monkeypatch.setattr(stream, "_MOST_WAITING", 10)
    is_read = Event()
    outbox = stream.Outbox(SimpleNamespace(write=lambda _: is_read.wait(9), flush=bool))
    for piece in (b"x" * 1_000_000, b"and", b"then", b"this"):
        outbox.write(piece)
    with pytest.raises(BrokenPipeError):
        outbox.write(b"ends")
    is_read.set()


def test_a_client_that_reads_nothing_and_goes_on_is_left() -> None:
    """What waits for it is bounded; no response is missing from a stream that goes on."""
    lens = {"range": support.NOWHERE, "data": {"kind": "x" * 10_000_000}}
    command, pipe = [COMMAND, "serve"], subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe) as process:
        assert process.stdin is not None
        process.stdin.write(frame({"jsonrpc": "2.0", **support.INITIALIZE}))
        with suppress(BrokenPipeError):
            for number in range(2, 30):  # as much as is sent comes back
                question = {"id": number, "method": "codeLens/resolve", "params": lens}
                process.stdin.write(frame({"jsonrpc": "2.0", **question}))
            process.stdin.flush()
        code = process.wait(60)
        assert process.stderr is not None
        said = process.stderr.read().decode()
        with suppress(BrokenPipeError):
            process.stdin.close()
    assert (code, said.count("the editor does not read what it is sent (")) == (1, 1)


@pytest.mark.parametrize("how", ["closed", "unread", "full"])
def test_nobody_has_to_read_the_log(how: str) -> None:
    """Not even to keep it open; the requests are answered, and the exit code is right."""
    reading, writing = os.pipe()
    if how == "closed":
        os.close(reading)
    elif how == "full":
        os.close(writing)
        writing = os.open("/dev/full", os.O_WRONLY)
    out = subprocess.PIPE
    command = [COMMAND, "serve"]
    with subprocess.Popen(command, stdin=out, stdout=out, stderr=writing) as process:
        os.close(writing)
        assert process.stdin is not None
        stale = {"textDocument": {"uri": "file:///" + "x" * 1000, "version": 1}}
        stale["contentChanges"] = []
        for message in (
            support.INITIALIZE,
            *[{"method": "textDocument/didChange", "params": stale}] * 300,
            {"id": 2, "method": "textDocument/hover", "params": 5},
            {"id": 3, "method": "textDocument/hover", "params": support.HOVER},
            {"id": 4, "method": "shutdown"},
            {"method": "exit"},
        ):
            process.stdin.write(frame({"jsonrpc": "2.0", **message}))
        process.stdin.flush()
        answers = [read_message(process.stdout) for _ in range(4)]
        assert [answer["id"] for answer in answers] == [1, 2, 3, 4]
        assert answers[1]["error"]["code"] == -32602
        assert process.wait(20) == 0
    if how == "unread":
        os.close(reading)


@pytest.mark.parametrize("leaves", ["exit", "end"])
def test_a_client_that_reads_nothing_and_leaves(leaves: str) -> None:
    """With its pipes left open; the server sits in a write."""
    with subprocess.Popen(
        [sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE
    ) as editor:
        initialize = {**support.INITIALIZE, "params": {"processId": editor.pid, "capabilities": {}}}
        command = [COMMAND, "serve"]
        pipe = subprocess.PIPE
        with subprocess.Popen(command, stdin=pipe, stdout=pipe) as server:
            assert server.stdin is not None
            assert editor.stdin is not None
            server.stdin.write(frame({"jsonrpc": "2.0", **initialize}))
            server.stdin.flush()
            assert "id" in read_message(server.stdout)
            server.stdin.write(frame({"jsonrpc": "2.0", "id": "x" * 500_000, "method": "y"}))
            server.stdin.write(frame({"jsonrpc": "2.0", "method": "exit"}) * (leaves == "exit"))
            server.stdin.flush()
            editor.stdin.close()
            assert server.wait(20) == 1


def test_pipes_that_do_not_block() -> None:
    command = [COMMAND, "serve"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for pipe in (process.stdin, process.stdout):
            os.set_blocking(pipe.fileno(), False)
        process.stdin.write(frame({"jsonrpc": "2.0", **support.INITIALIZE}))
        process.stdin.flush()
        os.set_blocking(process.stdout.fileno(), True)
        assert read_message(process.stdout)["id"] == 1
        process.stdin.close()
        assert process.wait(20) == 1


def test_ctrl_c_in_the_terminal_of_an_editor_is_meant_for_the_editor(alone: RawClient) -> None:
    alone.initialize()
    os.kill(alone.pid, signal.SIGINT)
    assert support.still_answers(alone)
    assert alone.shutdown() == 0


def test_standard_output_is_for_the_protocol_alone(tmp_path: Path) -> None:
    """Whatever a library prints, and however: while it loads, and when it is called."""
    noise = "print('noise', flush=True); import os; os.write(1, b'noise'); os.system('echo noise')"
    for module in ("pygls", "lsprotocol"):
        (tmp_path / "sitecustomize.py").write_text(
            "import sys, json\n"
            f"def noise(*_): {noise}\n"
            "class Finder:\n"
            "    def find_spec(self, name, path=None, target=None):\n"
            f"        if name == {module!r}: noise()\n"
            "sys.meta_path.insert(0, Finder())\n"
            "loads = json.loads\n"
            "json.loads = lambda *given, **more: (noise(), loads(*given, **more))[1]\n",
            encoding="utf-8",
        )
        with RawClient(SERVE, env={**os.environ, "PYTHONPATH": str(tmp_path)}) as client:
            client.initialize()
            client.send_bytes(support.raw(b'{"jsonrpc":"2.0","id":"x","method":"\\ud800"}'))
            assert support.refused(client, "x") == -32601
            assert support.still_answers(client)
            assert client.stderr().count("noise") >= 6
            assert client.shutdown() == 0
