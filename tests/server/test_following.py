"""The server on a clock of its own: closed traces that were written to just now."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.support.client_text import graded, triage
from tests.support.sessions.channels import InProcess

TORN = graded("pass", "pass", "pass").rstrip("\n")[:-1]
MISSING = "not computable: not graded (no correctness signal)"
REJECTED = f"{MISSING} · 1 rejected · 1 correctness line rejected (line 2), not counted"


class Client:
    """An editor with one folder. What it does next it does at once, before any time passes."""

    def __init__(self, channel: InProcess, folder: Path, workspace: Any = None) -> None:
        self._channel = channel
        self._answers = 0
        self.asked: list[str] = []
        """What the server has requested."""
        folders = [{"uri": folder.as_uri(), "name": "here"}]
        params = {
            "processId": None,
            "rootUri": None,
            "capabilities": {"workspace": workspace or {}},
        }
        self.ask("initialize", {**params, "workspaceFolders": folders})

    def ask(
        self,
        method: str,
        params: Any,
        *then: tuple[str, Any],
        first: Sequence[tuple[str, Any]] = (),
    ) -> Any:
        """The answer to a request, before which notifications come ``first``. When it is there
        others follow, and then time passes until the server has come to rest; it fails where it
        never does.
        """
        answers: list[Any] = []

        def take(message: Any) -> Iterator[bytes]:
            if "id" in message and "method" not in message:
                answers.append(message["result"])
                yield from (_encoded({"method": name, "params": said}) for name, said in then)
            elif "id" in message:
                self.asked.append(message["method"])

        before = [_encoded({"method": name, "params": said}) for name, said in first]
        asked = _encoded({"id": 1, "method": method, "params": params})
        self._channel.exchange([*before, asked], take)
        (answer,) = answers
        return answer

    def said(self, *then: tuple[str, Any]) -> str:
        """What all traces say of the one run that there is."""
        (run,) = self.ask("driveTrace/runs", {}, *then)["runs"]
        return str(run["title"])


def _encoded(message: dict[str, Any]) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **message}).encode()


def opening(path: Path) -> tuple[str, Any]:
    document = {"uri": path.as_uri(), "languageId": "drive-trace", "version": 1}
    return "textDocument/didOpen", {"textDocument": {**document, "text": path.read_text("utf-8")}}


def closing(path: Path) -> tuple[str, Any]:
    return "textDocument/didClose", {"textDocument": {"uri": path.as_uri()}}


@pytest.fixture
def channel() -> Iterator[InProcess]:
    channel = InProcess(reads_ahead=False)
    try:
        yield channel
    finally:
        channel.close()


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """A trace with a last line that somebody may still be writing."""
    path = tmp_path / "trace.jsonl"
    path.write_text(triage() + TORN, encoding="utf-8")
    return path


def test_a_torn_line_is_judged_once_the_file_is_quiet(channel: InProcess, trace: Path) -> None:
    client = Client(channel, trace.parent)
    assert client.said() == MISSING
    assert client.said() == REJECTED


def test_a_trace_that_is_open_is_not_waited_for(channel: InProcess, trace: Path) -> None:
    client = Client(channel, trace.parent)
    assert client.said(opening(trace)) == MISSING
    assert client.said() == REJECTED  # a text in an editor is whole as it is


def test_a_trace_that_was_open_meanwhile_is_waited_for(channel: InProcess, trace: Path) -> None:
    client = Client(channel, trace.parent)
    client.said(opening(trace))
    assert client.said(closing(trace)) == REJECTED
    assert client.said() == REJECTED


def test_a_hover_waits_for_the_first_reading_where_lenses_are_asked_for_anew(
    channel: InProcess, tmp_path: Path
) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "trace.jsonl").write_text(graded("pass", "pass", "pass"), "utf-8")
    here = tmp_path / "trace.jsonl"
    here.write_text(triage(), "utf-8")
    client = Client(channel, tmp_path, {"codeLens": {"refreshSupport": True}})
    place = {"line": 0, "character": triage().index('"run-1"') + 2}
    params = {"textDocument": {"uri": here.as_uri()}, "position": place}
    hover = client.ask("textDocument/hover", params, first=[opening(here)])
    assert "CORRECT" in json.dumps(hover)
    assert "not read yet" not in json.dumps(hover)


@pytest.mark.parametrize("method", ["shutdown", "driveTrace/runs"])
def test_a_client_that_is_about_to_end_is_asked_nothing(
    method: str, channel: InProcess, tmp_path: Path
) -> None:
    here = tmp_path / "trace.jsonl"
    here.write_text(triage(), "utf-8")
    client = Client(channel, tmp_path, {"codeLens": {"refreshSupport": True}})
    client.ask("driveTrace/runs", {}, first=[opening(here)])
    client.asked.clear()
    graded_now = {"text": triage() + graded("pass", "pass", "pass")}
    document = {"uri": here.as_uri(), "version": 2}
    change = {"textDocument": document, "contentChanges": [graded_now]}
    first = [("textDocument/didChange", change)]
    client.ask(method, None if method == "shutdown" else {}, first=first)
    assert ("workspace/codeLens/refresh" in client.asked) is (method != "shutdown")
