"""The server on a clock of its own: closed traces that were written to just now."""

import asyncio
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from drive_trace.lsp import server
from drive_trace.lsp.workspace import open_traces
from drive_trace.lsp.workspace.following import Following
from drive_trace.lsp.workspace.linting import Linting
from tests.server.support import write
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
        self.answered = 0.0
        """When the last answer came, on the server's clock."""
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
        behind: Sequence[tuple[str, Any]] = (),
    ) -> Any:
        """The answer to a request, before which notifications come ``first``, and others right
        ``behind`` it. When it is there others follow, and then time passes until the server has
        come to rest; it fails where it never does.
        """
        answers: list[Any] = []

        def take(message: Any) -> Iterator[bytes]:
            if "id" in message and "method" not in message:
                answers.append(message["result"])
                self.answered = self._channel.now
                yield from (_encoded({"method": name, "params": said}) for name, said in then)
            elif "id" in message:
                self.asked.append(message["method"])

        before, after = (
            [_encoded({"method": name, "params": said}) for name, said in some]
            for some in (first, behind)
        )
        asked = _encoded({"id": 1, "method": method, "params": params})
        self._channel.exchange([*before, asked, *after], take)
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


@pytest.fixture
def looks_never_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Following, "_look_at_each", lambda *_: asyncio.Event().wait())


def hover_at(path: Path) -> dict[str, Any]:
    place = {"line": 0, "character": triage().index('"run-1"') + 2}
    return {"textDocument": {"uri": path.as_uri()}, "position": place}


def changing(path: Path, text: str) -> tuple[str, Any]:
    document = {"uri": path.as_uri(), "version": 2}
    return "textDocument/didChange", {"textDocument": document, "contentChanges": [{"text": text}]}


@pytest.mark.usefixtures("looks_never_end")
def test_who_types_during_the_first_reading_gets_an_answer_about_the_text_of_before(
    channel: InProcess, trace: Path
) -> None:
    client = Client(channel, trace.parent)
    given = {"first": [opening(trace)], "behind": [changing(trace, "")]}
    assert "run-1" in json.dumps(client.ask("textDocument/hover", hover_at(trace), **given))
    assert 0 < client.answered <= 1  # it waits, but not for long


@pytest.mark.usefixtures("looks_never_end")
@pytest.mark.parametrize("refreshes", [True, False])
def test_lenses_do_not_wait_for_a_look_if_they_are_asked_for_anew(
    channel: InProcess, trace: Path, refreshes: bool
) -> None:
    client = Client(channel, trace.parent, {"codeLens": {"refreshSupport": refreshes}})
    params = {"textDocument": {"uri": trace.as_uri()}}
    assert client.ask("textDocument/codeLens", params, first=[opening(trace)])
    assert (client.answered == 0) is refreshes


def test_a_list_of_runs_waits_a_moment_for_a_look_of_its_own(
    channel: InProcess, trace: Path, request: pytest.FixtureRequest
) -> None:
    client = Client(channel, trace.parent)
    client.said()
    request.getfixturevalue("looks_never_end")
    before = channel.now
    client.said()
    assert 0 < client.answered - before <= 1


def test_a_hover_waits_for_the_first_reading_where_lenses_are_asked_for_anew(
    channel: InProcess, tmp_path: Path
) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "trace.jsonl").write_text(graded("pass", "pass", "pass"), "utf-8")
    here = tmp_path / "trace.jsonl"
    here.write_text(triage(), "utf-8")
    client = Client(channel, tmp_path, {"codeLens": {"refreshSupport": True}})
    hover = client.ask("textDocument/hover", hover_at(here), first=[opening(here)])
    assert "CORRECT" in json.dumps(hover)
    assert "not read yet" not in json.dumps(hover)


def test_lenses_are_asked_for_anew_if_another_trace_has_a_run_of_theirs(
    channel: InProcess, tmp_path: Path
) -> None:
    here = write(tmp_path / "trace.jsonl", triage())
    there = write(tmp_path / "there" / "trace.jsonl", triage(project_run_id="run-2"))
    declared = {
        "codeLens": {"refreshSupport": True},
        "didChangeWatchedFiles": {"dynamicRegistration": True},
    }
    client = Client(channel, tmp_path, declared)
    client.ask("driveTrace/runs", {}, opening(here))
    told = "workspace/didChangeWatchedFiles", {"changes": [{"uri": there.as_uri(), "type": 2}]}

    def asks_anew(text: str) -> bool:
        client.asked.clear()
        there.write_text(there.read_text("utf-8") + text, "utf-8")
        client.ask("driveTrace/runs", {}, told)
        return "workspace/codeLens/refresh" in client.asked

    assert not asks_anew(graded("pass", "pass", "pass", project_run_id="run-2"))
    assert asks_anew(graded("pass", "pass", "pass"))
    assert asks_anew('{"event_type":"correctness-recorded"}\n')  # may be of any run
    assert not asks_anew("")


def test_symbols_of_open_traces_come_first(channel: InProcess, tmp_path: Path) -> None:
    write(tmp_path / "a" / "trace.jsonl", triage(project_run_id="run-2"))
    here = write(tmp_path / "trace.jsonl", triage())
    client = Client(channel, tmp_path)
    found = client.ask("workspace/symbol", {"query": "run"}, first=[opening(here)])
    assert [each["name"] for each in found] == ["run-1", "run-2"]


def test_no_thread_looks_up_the_settings_of_a_trace(
    channel: InProcess, trace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They change on the loop meanwhile."""
    working, asked, options = list[object](), list[bool](), Linting.options

    async def in_thread(work: Any) -> Any:
        working.append(work)
        try:
            return work()
        finally:
            working.remove(work)

    def options_of(linting: Linting, uri: str) -> Any:
        asked.append(bool(working))
        return options(linting, uri)

    monkeypatch.setattr(open_traces, "LARGE", 1)
    monkeypatch.setattr(server, "in_thread", lambda _, work: in_thread(work))
    monkeypatch.setattr(Linting, "options", options_of)
    client = Client(channel, trace.parent)
    client.ask("driveTrace/runs", {}, first=[opening(trace)])
    assert asked
    assert not any(asked)


@pytest.mark.parametrize("method", ["shutdown", "driveTrace/runs"])
def test_a_client_that_is_about_to_end_is_asked_nothing(
    method: str, channel: InProcess, tmp_path: Path
) -> None:
    here = tmp_path / "trace.jsonl"
    here.write_text(triage(), "utf-8")
    client = Client(channel, tmp_path, {"codeLens": {"refreshSupport": True}})
    client.ask("driveTrace/runs", {}, first=[opening(here)])
    client.asked.clear()
    first = [changing(here, triage() + graded("pass", "pass", "pass"))]
    client.ask(method, None if method == "shutdown" else {}, first=first)
    assert ("workspace/codeLens/refresh" in client.asked) is (method != "shutdown")
