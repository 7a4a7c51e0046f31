"""The tap changes nothing for either side, and writes down what the server says."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support import tap
from tests.support.raw_client import RawClient
from tests.support.server_process import frame
from tests.support.systems import NO_SIGNALS, not_on_windows

ECHO = """
import os, sys
while data := os.read(0, 100_000):
    os.write(1, data)
sys.exit(7)
"""
# Answers its pid to everything, then ends of itself with a signal.
PID = """
import os, signal
os.read(0, 100_000)
os.write(1, b"%d" % os.getpid())
os.kill(os.getpid(), signal.SIGKILL)
"""


def tapped(code: str) -> list[str]:
    return [sys.executable, tap.__file__, sys.executable, "-I", "-S", "-c", code]


@pytest.fixture
def recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that messages are recorded into."""
    monkeypatch.setenv(tap.FOLDER, str(tmp_path / "messages"))
    return tmp_path / "messages"


def lines(folder: Path) -> list[Any]:
    (file,) = folder.iterdir()
    return [json.loads(line) for line in file.read_bytes().splitlines()]


@pytest.mark.parametrize("is_recorded", [True, False])
def test_bytes_pass_unchanged_and_so_do_both_ends(
    is_recorded: bool, recorded: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not is_recorded:
        monkeypatch.delenv(tap.FOLDER)
    sent = bytes(range(256)) * 1000 + frame({"id": 1}) + b"Content-Length: 99\r\n\r\n{"
    ended = subprocess.run(tapped(ECHO), input=sent, capture_output=True, timeout=120, check=False)
    assert (ended.stdout, ended.stderr, ended.returncode) == (sent, b"", 7)
    assert recorded.exists() == is_recorded


@not_on_windows(NO_SIGNALS)
def test_the_process_is_the_servers(recorded: Path) -> None:
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(tapped(PID), **pipes) as process:  # type: ignore[call-overload]
        out, _ = process.communicate(b"?", timeout=120)
        assert int(out) == process.pid
    assert process.returncode == -signal.SIGKILL


def test_a_client_that_kills_the_server_sees_the_end_of_its_output(recorded: Path) -> None:
    with RawClient(tapped(ECHO)) as client:
        client.notify("echo", {"n": 1})
        client.notification("echo")
        os.kill(client.pid, signal.SIGTERM)
        assert client.wait_exit() == -signal.SIGTERM


def test_what_is_written_down(recorded: Path) -> None:
    """The echo is what the server says."""
    request = {"jsonrpc": "2.0", "id": "a", "method": "x", "params": {"partialResultToken": 5}}
    result = {"jsonrpc": "2.0", "id": "a", "result": "🚀 \u2028"}
    pretty = json.dumps(result, indent=2).encode()
    sent = (
        frame(request)
        + b"stray\n"
        + frame(result)
        + b"Content-Length: %d\r\n\r\n%b" % (len(pretty), pretty)
        + b"content-length: 2\r\nX: y\r\n\r\n{}"
        + b"Content-Length: 5\r\n\r\nnope!"
    )
    subprocess.run(tapped(ECHO), input=sent, capture_output=True, timeout=120, check=False)
    (file,) = recorded.iterdir()
    *whole, last, _ = file.read_text(encoding="utf-8").split("\n")
    said = [json.loads(line) for line in whole]
    assert [each for each in said if each["from"] == "client"] == [
        {"from": "client", "id": "a", "method": "x", "token": 5}
    ]
    assert [each for each in said if each["from"] == "server"] == [
        {"from": "server", "message": request},
        {"from": "server", "stray": "stray\n"},
        {"from": "server", "message": result},
        {"from": "server", "message": result},
        {"from": "server", "stray": "content-length: 2\r\nX: y\r\n\r\n{}"},
    ]
    assert last == '{"from":"server","message":nope!}', "which is no JSON, for the reader to see"


def test_clients_may_write_headers_as_they_like(recorded: Path) -> None:
    def body(message_id: int) -> bytes:
        return b'{"id":%d,"method":"x"}' % message_id

    garbage = b"garbage\r\n\r\n" + b"Content-Length: many\r\n\r\n"
    headers = (b"content-length:%d\n\n", b"A: b\r\nCONTENT-LENGTH: %d\r\nC: d\r\n\r\n")
    pieces = [garbage, *(each % len(body(1)) + body(at) for at, each in enumerate(headers)), b"["]
    tap.record(b"".join(pieces), b"")
    assert [each["id"] for each in lines(recorded)] == [0, 1]


def test_what_the_end_cuts_off_is_left_out_but_garbage_is_not(recorded: Path) -> None:
    tap.record(b"", frame({"id": 1, "result": None})[:-1])
    assert lines(recorded) == []
    next(recorded.iterdir()).unlink()
    tap.record(b"", frame({"id": 1, "result": None}) + b"\xffbye")
    assert [each.get("stray") for each in lines(recorded)] == [None, "\\xffbye"]
