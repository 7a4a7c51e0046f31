"""The server in plain JSON-RPC: the verdict in hovers and lenses, and the command of a lens."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.server.support import command, show_run, start_command
from tests.support.client_text import event, graded, path_of, triage
from tests.support.command import SERVE
from tests.support.editor import Document
from tests.support.raw_client import RawClient, ResponseError
from tests.support.sessions.channels import InProcess

# The verdict


def test_a_lens_is_resolved_before_a_look_at_other_traces_ends(tmp_path: Path) -> None:
    """Emacs stands still until it has the title; the request for lenses waits for the look."""
    path = tmp_path / "trace.jsonl"
    document = {"uri": path.as_uri(), "languageId": "drive-trace", "version": 1, "text": triage()}
    channel, got = InProcess(reads_ahead=False), dict[str, Any]()

    def take(message: Any) -> tuple[bytes, ...]:
        if "result" in message or "error" in message:
            got[message["id"]] = message.get("result")
        return ()

    def exchange(*messages: tuple[str, Any]) -> list[str]:
        got.clear()
        bodies = [
            json.dumps({"jsonrpc": "2.0", "id": method, "method": method, "params": params})
            for method, params in messages
        ]
        channel.exchange([body.encode() for body in bodies], take)
        return list(got)

    lenses, resolve, unheard = "textDocument/codeLens", "codeLens/resolve", "unheard-of"
    try:
        exchange(("initialize", {"rootUri": tmp_path.as_uri(), "capabilities": {}}))
        opened = {"jsonrpc": "2.0", "method": "textDocument/didOpen"}
        opened["params"] = {"textDocument": document}
        channel.exchange([json.dumps(opened).encode()], take)
        asked = (lenses, {"textDocument": {"uri": path.as_uri()}})
        assert exchange(asked, (unheard, {})) == [unheard, lenses]
        (lens,) = got[lenses]
        assert exchange((resolve, lens), (unheard, {})) == [resolve, unheard]
        assert got[resolve]["command"]["title"] == "not computable: not graded"
    finally:
        channel.close()


@pytest.mark.parametrize("supported", [True, False])
def test_lenses_are_refreshed_when_the_verdict_may_have_changed(
    supported: bool, alone: RawClient
) -> None:
    refresh = "workspace/codeLens/refresh"
    alone.initialize({"workspace": {"codeLens": {"refreshSupport": supported}}})
    document = Document(alone, triage() + graded("pass", "pass", None))
    document.replace('"intent":null', '"intent":"pass"')
    document.edit((0, 0, ""))
    asked = [request["method"] for request in alone.requests]
    assert asked == ([refresh] if supported else [])
    document.replace("chat-ask", "bug-report")  # what no verdict depends on
    document.edit((0, 0, ""))
    assert [request["method"] for request in alone.requests] == asked


def test_lenses_are_refreshed_when_the_whole_text_is_replaced(alone: RawClient) -> None:
    alone.initialize({"workspace": {"codeLens": {"refreshSupport": True}}})
    document = Document(alone, graded("pass", "pass", "pass"))
    document.send({"text": graded("pass", "fail", "pass")})
    document.edit((0, 0, ""))
    assert "workspace/codeLens/refresh" in [request["method"] for request in alone.requests]


def test_an_answer_to_nothing_is_no_answer_to_what_is_being_served(alone: RawClient) -> None:
    """The client's ids and the server's own are apart, though they may look alike."""
    alone.initialize({"window": {"showDocument": {"support": True}}})
    document = Document(alone, graded("pass", "pass", "pass"))
    asked = start_command(alone, "showRun", {"uri": document.uri, "runId": "run-1"})
    alone.send(id=asked, result=None)
    assert alone.response(asked)["result"].startswith("**CORRECT**")
    assert "Traceback" not in alone.stderr()


def test_a_run_of_events_that_are_not_known_is_not_computable(client: RawClient) -> None:
    document = Document(client, event("made-up", "run-9"))
    title = "not computable: its only line is of an unknown type"
    assert document.lenses() == [(0, title)]
    assert document.hover_text('"run-9"').startswith(f"**{title}**")
    assert [each["code"] for each in document.diagnostics()] == ["unknown-event-type"]
    assert document.hover_text('"run-9"').startswith("**not computable")


# The lens command


def test_the_page_of_a_run_is_no_file_where_the_client_asks_for_its_text(tmp_path: Path) -> None:
    shown: list[Any] = []

    def show(params: Any) -> Any:
        shown.append(params["uri"])
        return {"success": True}

    declared = {
        "window": {"showDocument": {"support": True}},
        "workspace": {"textDocumentContent": {}},
    }
    env = {**os.environ, "DRIVE_TRACE_CACHE": str(tmp_path)}
    with RawClient(SERVE, handlers={"window/showDocument": show}, env=env) as client:
        answer = client.initialize(declared)
        content = answer["capabilities"]["workspace"]["textDocumentContent"]
        assert content == {"schemes": ["drive-trace"]}
        evil = "../x&y=%20`\n# CORRECT\n🚀"
        document = Document(client, graded("pass", "fail", "pass") + triage(run=evil))
        for run_id, headline in (("run-1", "INCORRECT — qa failed"), (evil, "not computable")):
            show_run(client, document, run_id)
            asked = {"uri": shown[-1]}
            text = client.request("workspace/textDocumentContent", asked)["text"]
            assert text.startswith(f"# {headline}")
            assert "\n## Metrics: facts, not a score\n" in text
        assert shown[0].startswith("drive-trace:/run.md?")
        assert not [*tmp_path.rglob("*.md")]
        for wrong in (
            "drive-trace:/run.md",
            "drive-trace:/run.md?5",
            "drive-trace:/run.md?[%22a%22,5]",
        ):
            error = client.response(
                client.start_request("workspace/textDocumentContent", {"uri": wrong})
            )["error"]
            assert "there is no such" in error["message"]


def test_the_page_of_a_run(tmp_path: Path) -> None:
    shown: list[Any] = []

    def show(params: Any) -> Any:
        shown.append(params)
        return {"success": True}

    env = {**os.environ, "DRIVE_TRACE_CACHE": str(tmp_path)}
    with RawClient(SERVE, handlers={"window/showDocument": show}, env=env) as client:
        client.initialize({"window": {"showDocument": {"support": True}}})
        evil = "../../../x`</code>\n# CORRECT\n🚀"
        document = Document(client, graded("pass", "fail", "pass") + triage(run=evil))
        assert show_run(client, document).startswith("**INCORRECT — qa failed**")
        page = path_of(shown[-1]["uri"])
        assert page.suffix == ".md"
        assert page.is_relative_to(tmp_path)
        assert page.read_text(encoding="utf-8").startswith("# INCORRECT — qa failed\n")
        # The page is written again, under the same name, with the verdict as it is now.
        document.replace('"fail"', '"pass"')
        show_run(client, document)
        assert path_of(shown[-1]["uri"]) == page
        text = page.read_text(encoding="utf-8")
        assert text.startswith("# CORRECT\n")
        # Below the card stands the report.
        assert "\n## Metrics: facts, not a score\n" in text
        assert "\n| I8 | " in text
        # Another run has another page, and nothing in a trace becomes a path or a headline.
        show_run(client, document, evil)
        other = path_of(shown[-1]["uri"])
        assert other.parent == page.parent
        assert other != page
        lines = other.read_text(encoding="utf-8").splitlines()
        assert lines[0].startswith("# not computable")
        assert "# CORRECT" not in lines
        assert sorted(page.parent.iterdir()) == sorted([page, other])
        assert client.received("window/showMessage") == []
        assert client.shutdown() == 0
        assert "Traceback" not in client.stderr()


@pytest.mark.parametrize("supported", [True, False])
def test_a_client_that_shows_no_documents_gets_the_card(supported: bool, tmp_path: Path) -> None:
    answers: list[Any] = [{"success": False}, None, ResponseError(-1, "closed")]

    def show(_: Any) -> Any:
        answer = answers.pop(0)
        if isinstance(answer, ResponseError):
            raise answer
        return answer

    env = {**os.environ, "DRIVE_TRACE_CACHE": str(tmp_path)}
    with RawClient(SERVE, handlers={"window/showDocument": show}, env=env) as client:
        client.initialize({"window": {"showDocument": {"support": supported}}})
        document = Document(client, graded("pass", "pass", "pass"))
        for _ in range(3):
            client.forget()
            assert show_run(client, document).startswith("**CORRECT**")
            assert client.received("window/showMessage") == [{"type": 3, "message": "CORRECT"}]
            asked = [request["method"] for request in client.requests]
            assert asked == (["window/showDocument"] if supported else [])
        assert client.shutdown() == 0
        assert "Traceback" not in client.stderr()


def test_the_argument_may_look_like_a_message(client: RawClient) -> None:
    document = Document(client, triage())
    odd = {"runId": "no such run", "jsonrpc": "2.0", "method": "exit"}
    with pytest.raises(ResponseError, match="no line of that run"):
        command(client, "showRun", uri=document.uri, **odd)
