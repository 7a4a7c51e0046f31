"""The server as a process at the end of two pipes, spoken to in plain JSON-RPC."""

from __future__ import annotations

import os
import random
import re
import socket
import struct
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.client_text import ENCODINGS, event, graded, path_of, range_at, tokens, triage
from tests.support.command import COMMAND, SERVE
from tests.support.editor import Document
from tests.support.raw_client import RawClient, ResponseError, ServerGoneError, frame

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = pytest.mark.end_to_end

PASSED = '"passed"'
REJECTED = graded("pass", "passed", None)
ODD = "\u2028\u2029\x85 🚀 日本"
URI = "file:///projects/run-0/trace.jsonl"
START = {"line": 0, "character": 0}
NOWHERE = {"start": START, "end": START}


def capabilities(encoding: str, **more: Any) -> dict[str, Any]:
    return {"general": {"positionEncodings": [encoding]}, **more}


@pytest.fixture(scope="module")
def servers() -> Iterator[Callable[[str], RawClient]]:
    """A server for each encoding, which tests share: each has documents of its own there.
    Whatever they did, it still answers at the end, and was silent about the client's mistakes.
    """
    running: dict[str, RawClient] = {}

    def server(encoding: str) -> RawClient:
        if encoding not in running:
            running[encoding] = RawClient(SERVE)
            result = running[encoding].initialize(capabilities(encoding))
            promised = result["capabilities"]
            assert promised["positionEncoding"] == encoding
            assert promised["textDocumentSync"]["openClose"] is True
            assert promised["textDocumentSync"]["change"] == 2
            assert promised["hoverProvider"]
            assert promised["codeLensProvider"] == {"resolveProvider": True}
            assert promised["codeActionProvider"]["codeActionKinds"] == ["quickfix"]
            assert promised["executeCommandProvider"] == {"commands": ["driveTrace.showRun"]}
        return running[encoding]

    try:
        yield server
        for encoding, client in running.items():
            assert still_answers(client, encoding)
            assert client.received("window/showMessage") == []
            assert client.received("window/logMessage") == []
            assert client.shutdown() == 0
            assert "Traceback" not in client.stderr()
            with pytest.raises(ServerGoneError, match="closed its stdout"):
                client.notification("nothing but messages came before the end")
    finally:
        for client in running.values():
            client.server.close()


@pytest.fixture
def client(servers: Callable[[str], RawClient]) -> RawClient:
    return servers("utf-16")


@pytest.fixture
def alone() -> Iterator[RawClient]:
    """A server that a test has for itself, not initialized yet."""
    with RawClient(SERVE) as client:
        yield client
        assert "Traceback" not in client.stderr()


def still_answers(client: RawClient, encoding: str = "utf-16") -> bool:
    """Whether a document can still be opened, edited and asked about."""
    document = Document(client, REJECTED, encoding)
    assert document.shown() == [("unknown-value", document.range_of(PASSED))]
    assert document.replace("passed", "pass") == []
    assert document.hover_text('"correctness-recorded"').startswith("**not computable")
    return True


def refused(client: RawClient, message_id: Any) -> int:
    """The error code of a response."""
    code = client.response(message_id)["error"]["code"]
    assert isinstance(code, int)
    return code


# Ranges


@pytest.mark.parametrize(("encoding", "character"), [("utf-8", 16), ("utf-16", 10), ("utf-32", 9)])
def test_a_range_counted_by_hand(
    encoding: str, character: int, servers: Callable[[str], RawClient]
) -> None:
    document = Document(servers(encoding), '{"é\u2028\x85🚀":1,}\n', encoding)
    (comma,) = document.diagnostics()
    assert comma["range"] == {
        "start": {"line": 0, "character": character},
        "end": {"line": 0, "character": character + 1},
    }


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r \n"], ids=["lf", "crlf", "cr"])
def test_ranges(encoding: str, end: str, servers: Callable[[str], RawClient]) -> None:
    text = (
        "\x0b\x0c\u2028\n"
        + triage(input_ref=ODD)
        + triage(input_ref=ODD, verdict="direct-chance", severity=ODD)
        + '{"\x0b":1}\n'
    ).replace("\n", end)
    if end == "\r \n":  # white space to JSON, the end of a line to an editor
        text = text.replace(',"verdict"', ',\r"verdict"')
    document = Document(servers(encoding), text, encoding)
    assert document.shown() == [
        ("unknown-value", document.range_of('"direct-chance"')),
        ("undeclared-field", document.range_of('"severity"')),
        ("invalid-json", document.range_of("\x0b"))
        if text.count("\x0b") == 1
        else (
            "invalid-json",
            range_at(text, text.rindex("\x0b"), text.rindex("\x0b") + 1, encoding),
        ),
    ]
    (diagnostic, *_) = document.diagnostics()
    assert diagnostic["source"] == "drive-trace"
    assert diagnostic["severity"] == 1
    assert document.hover('"direct-chance"')["range"] == document.range_of('"direct-chance"')
    (action,) = document.actions('"direct-chance"')
    assert document.applied(action) == text.replace('"direct-chance"', '"direct-change"')


def test_related_places_and_tags(client: RawClient) -> None:
    document = Document(client, graded("pass", None, None) + graded("fail", "pass", "pass"))
    (superseded,) = document.diagnostics()
    assert superseded["code"] == "superseded-feed"
    assert superseded["severity"] == 4
    assert superseded["tags"] == [1]
    assert "line 2" in superseded["message"]
    (related,) = superseded["relatedInformation"]
    assert related["location"]["uri"] == document.uri
    assert related["location"]["range"]["start"]["line"] == 1
    # A line that comes before both moves what is said, too.
    (superseded,) = document.edit((0, 0, triage()))
    assert "line 3" in superseded["message"]
    assert superseded["relatedInformation"][0]["location"]["range"]["start"]["line"] == 2


# Edits


@pytest.mark.parametrize("encoding", ENCODINGS)
class TestEdits:
    def test_an_edit_behind_odd_characters(
        self, encoding: str, servers: Callable[[str], RawClient]
    ) -> None:
        document = Document(servers(encoding), triage(input_ref=ODD), encoding)
        assert document.diagnostics() == []
        assert document.replace("direct-change", "direct-chance")[0]["code"] == "unknown-value"
        assert document.shown()[0][1] == document.range_of('"direct-chance"')
        assert document.replace(ODD, "🚀" * 3)[0]["range"] == document.range_of('"direct-chance"')
        assert document.replace("chance", "change") == []

    def test_several_changes_in_one_event(
        self, encoding: str, servers: Callable[[str], RawClient]
    ) -> None:
        """Each change is made in the text that the ones before it leave."""
        document = Document(servers(encoding), triage(input_ref=ODD) * 2, encoding)
        line = len(triage(input_ref=ODD))
        ref = document.text.index(ODD)
        found = document.edit(
            (ref, ref, "🚀\x85"),  # moves all that follows on its line
            (line + 2, line + 2, triage(input_ref="new 🚀\u2028", verdict="defr")),
            (0, 0, "{\n"),
            (2, 2, "\n\r\n"),
        )
        assert [each["code"] for each in found] == ["invalid-json", "unknown-value"]
        assert found[1]["range"] == document.range_of('"defr"')

    def test_an_edit_across_lines(self, encoding: str, servers: Callable[[str], RawClient]) -> None:
        document = Document(
            servers(encoding), REJECTED + triage(input_ref=ODD) + REJECTED + triage(), encoding
        )
        assert len(document.diagnostics()) == 2
        # From inside the first line to inside the third: two halves that make a whole again.
        half = REJECTED.index(PASSED)
        second = len(REJECTED) + len(triage(input_ref=ODD)) + half
        (found,) = document.edit((half, second, ""))
        assert document.text == REJECTED + triage()
        assert found["range"] == document.range_of(PASSED)
        # A line is broken in two, and made whole.
        assert len(document.edit((half, half, "\n"))) > 1
        assert len(document.edit((half, half + 1, ""))) == 1
        assert document.edit((0, len(document.text), "")) == []
        assert document.edit((0, 0, triage())) == []

    def test_the_whole_text(self, encoding: str, servers: Callable[[str], RawClient]) -> None:
        document = Document(servers(encoding), REJECTED, encoding)
        assert document.rewrite(triage(input_ref=ODD)) == []
        assert len(document.rewrite(triage() + REJECTED)) == 1
        assert document.shown() == [("unknown-value", document.range_of(PASSED))]
        assert document.rewrite("") == []

    def test_whatever_is_typed_leaves_what_a_fresh_document_shows(
        self, encoding: str, servers: Callable[[str], RawClient]
    ) -> None:
        chance = random.Random(encoding)
        text = triage(input_ref=ODD) + graded("pass", "pass", None) + REJECTED + tokens(1, 2, 3, 4)
        document = Document(servers(encoding), text.replace("\n", "\r\n", 1), encoding)
        for _ in range(12):
            text, edits = document.text, []
            for _ in range(chance.randrange(1, 4)):
                start, stop = sorted(chance.choice(places(text)) for _ in range(2))
                stop = min(stop, start + 60) if chance.random() < 0.9 else stop
                while stop not in places(text):
                    stop += 1
                new = chance.choice(["", "🚀", "\n", "\r\n", "\r", '"', "\u2028\x85", triage()])
                edits.append((start, stop, new))
                text = text[:start] + new + text[stop:]
            document.edit(*edits)
            assert document.text == text
            fresh = Document(document.client, text, encoding)
            assert document.shown() == fresh.shown()
            assert document.lenses() == fresh.lenses()


@pytest.mark.parametrize(
    "removed",
    [
        "\r",
        "\n\r",
    ],
    ids=["in-a-line", "with-a-line-end"],
)
def test_a_lone_carriage_return_that_goes_moves_what_is_below(
    removed: str, client: RawClient
) -> None:
    """It ends a line for an editor, though not one of the trace."""
    document = Document(client, triage()[:-2] + " " + removed + " }\n" + REJECTED)
    assert document.shown()[-1] == ("unknown-value", document.range_of(PASSED))
    document.replace(removed, "")
    assert document.shown() == [("unknown-value", document.range_of(PASSED))]
    document.edit((2, 2, "\r"))
    assert document.shown()[-1] == ("unknown-value", document.range_of(PASSED))


def places(text: str) -> list[int]:
    """Where a cursor can stand: not between the two characters that end a line together."""
    return [at for at in range(len(text) + 1) if text[at - 1 : at + 1] != "\r\n"]


def test_every_version_of_a_burst_but_the_last_may_be_skipped(client: RawClient) -> None:
    document = Document(client, triage())
    last = 60
    for version in range(2, last + 1):
        where = range_at(document.text, 0, 0, "utf-16")
        client.change(
            document.uri, version, {"range": where, "text": "{" if version == last else " "}
        )
    (found,) = client.diagnostics(document.uri, last)
    assert found["code"] == "invalid-json"
    published = [
        each["version"]
        for each in client.received("textDocument/publishDiagnostics")
        if each["uri"] == document.uri
    ]
    assert published == sorted(set(published))
    assert (published[0], published[-1]) == (1, last)


def test_a_version_is_published_also_when_nothing_changed(client: RawClient) -> None:
    document = Document(client, REJECTED)
    before = document.diagnostics()
    assert document.edit((0, 0, "")) == before
    assert document.send() == before
    assert document.version == 3


# The verdict


def test_hover_and_lenses_follow_the_text(client: RawClient) -> None:
    document = Document(client, triage())
    assert document.lenses() == [(0, "not computable — missing: external correctness signal")]
    missing = document.hover_text('"run-1"')
    assert missing.startswith("**not computable — missing: external correctness signal**")

    document.edit((len(document.text), len(document.text), graded("pass", None, "pass")))
    assert document.lenses() == [
        (0, "not computable — missing: qa"),
        (1, "decides: not computable — missing: qa"),
    ]
    assert "missing: qa" in document.hover_text('"correctness-recorded"')

    document.replace('"qa":null', '"qa":"fail"')
    assert [title for _, title in document.lenses()] == [
        "INCORRECT — qa failed",
        "decides: INCORRECT — qa failed",
    ]
    assert document.hover_text('"fail"').startswith("**INCORRECT — qa failed**")

    document.edit((0, 0, tokens(1_900_000, 42_000, None, None)))
    document.replace('"qa":"fail"', '"qa":"pass"')
    assert document.lenses() == [
        (0, "CORRECT · 1.9M in · 42k out"),
        (2, "decides: CORRECT"),
    ]
    assert "1,900,000" in document.hover_text('"correctness-recorded"')

    document.edit((len(document.text), len(document.text), REJECTED))
    assert document.lenses()[0] == (
        0,
        "CORRECT · 1.9M in · 42k out · 1 correctness line rejected (line 4), not counted",
    )
    document.replace(PASSED, '"fail"')
    assert [title for _, title in document.lenses()] == [
        "not computable — missing: intent",
        "superseded by line 4",
        "decides: not computable — missing: intent",
    ]


def test_a_lens_whose_line_is_gone_says_so(client: RawClient) -> None:
    document = Document(client, graded("pass", "pass", "pass"))
    lenses = client.request("textDocument/codeLens", document.identifier)
    document.rewrite("")
    for lens in lenses:
        resolved = client.request("codeLens/resolve", lens)
        assert resolved["command"]["title"] == "the trace has changed"


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


def test_events_that_are_not_known_have_no_verdict(client: RawClient) -> None:
    document = Document(client, event("made-up", "run-9"))
    assert document.lenses() == []
    assert [each["code"] for each in document.diagnostics()] == ["unknown-event-type"]
    assert document.hover_text('"run-9"').startswith("**not computable")


# The lens command


def show_run(client: RawClient, document: Document, run: str = "run-1") -> str:
    argument = {"uri": document.uri, "runId": run}
    params = {"command": "driveTrace.showRun", "arguments": [argument]}
    card = client.request("workspace/executeCommand", params)
    assert isinstance(card, str)
    return card


def test_the_page_of_a_run(tmp_path: Path) -> None:
    shown: list[Any] = []

    def show(params: Any) -> Any:
        shown.append(params)
        return {"success": True}

    env = {**os.environ, "XDG_CACHE_HOME": str(tmp_path), "HOME": str(tmp_path)}
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
        assert page.read_text(encoding="utf-8").startswith("# CORRECT\n")
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

    env = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
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


@pytest.mark.parametrize(
    "arguments",
    [
        {"arguments": []},
        {},
        {"arguments": None},
        {"arguments": [None]},
        {"arguments": [1]},
        {"arguments": ["run-1"]},
        {"arguments": [[]]},
        {"arguments": [{}]},
        {"arguments": [{"uri": URI}]},
        {"arguments": [{"uri": 5, "runId": "run-1"}]},
        {"arguments": [{"uri": URI, "runId": None}]},
        {"arguments": [{"uri": URI, "runId": "run-1"}]},
        {"arguments": [{"uri": URI, "runId": "run-1"}, 2]},
        {"arguments": [{"jsonrpc": "2.0", "id": 1, "result": 1}]},
        {"arguments": {"uri": URI, "runId": "run-1"}},
        {"arguments": "run-1"},
        {"command": "driveTrace.nope", "arguments": []},
        {"command": 5},
    ],
    ids=str,
)
def test_bad_arguments_of_the_lens_command(arguments: Any, client: RawClient) -> None:
    params = {"command": "driveTrace.showRun"} | arguments
    with pytest.raises(ResponseError) as error:
        client.request("workspace/executeCommand", params)
    assert error.value.code == -32602


def test_the_argument_may_look_like_a_message(client: RawClient) -> None:
    document = Document(client, triage())
    argument = {"uri": document.uri, "runId": "no such run", "jsonrpc": "2.0", "method": "exit"}
    params = {"command": "driveTrace.showRun", "arguments": [argument]}
    with pytest.raises(ResponseError, match="no valid event of that run"):
        client.request("workspace/executeCommand", params)


# Code actions


@pytest.mark.parametrize("document_changes", [True, False])
def test_code_actions(document_changes: bool, alone: RawClient) -> None:
    alone.initialize({"workspace": {"workspaceEdit": {"documentChanges": document_changes}}})
    text = triage(input_ref=ODD) + REJECTED + triage(severity=ODD)[:-2] + ",}\n"
    document = Document(alone, text)
    (replace,) = document.actions(PASSED)
    assert replace["kind"] == "quickfix"
    assert replace["isPreferred"] is True
    assert ("documentChanges" in replace["edit"]) == document_changes
    assert document.applied(replace) == text.replace(PASSED, '"pass"')
    # After an edit, actions are those of the new text.
    document.edit((0, 0, triage(input_ref=ODD * 2)))
    (repair,) = document.actions(",}")
    assert document.applied(repair) == document.text.replace(",}", "}")
    document.rewrite(document.applied(repair))
    (delete,) = document.actions('"severity"')
    assert document.rewrite(document.applied(delete)) == [
        each for each in document.diagnostics() if each["code"] != "undeclared-field"
    ]


def test_code_actions_name_the_diagnostic_that_they_mend(client: RawClient) -> None:
    document = Document(client, REJECTED)
    (diagnostic,) = document.diagnostics()

    def actions(where: Any, **context: Any) -> Any:
        params = {**document.identifier, "range": where, "context": {"diagnostics": [], **context}}
        return client.request("textDocument/codeAction", params)

    (action,) = actions(diagnostic["range"], diagnostics=[diagnostic])
    (mended,) = action["diagnostics"]
    assert (mended["code"], mended["range"]) == (diagnostic["code"], diagnostic["range"])
    assert len(actions(diagnostic["range"], only=["quickfix"])) == 1
    assert len(actions(diagnostic["range"], only=[""])) == 1
    for kinds in (["source"], ["refactor", "source.fixAll"], ["quick"]):
        assert actions(diagnostic["range"], only=kinds) == []
    assert actions(NOWHERE) == []


# Settings


def test_links_lead_to_installed_pages(client: RawClient) -> None:
    document = Document(client, REJECTED + triage(severity="low") + "{\n")
    for diagnostic in document.diagnostics():
        page = path_of(diagnostic["codeDescription"]["href"])
        assert page.read_text(encoding="utf-8").startswith(f"# {diagnostic['code']}\n")


def test_settings_at_the_start(alone: RawClient) -> None:
    settings = {"ruleUrl": "https://example.org/rules/{code}.html", "maxFindings": 1}
    alone.initialize({}, initializationOptions=settings)
    first, more = Document(alone, REJECTED * 3).diagnostics()
    assert first["codeDescription"] == {"href": "https://example.org/rules/unknown-value.html"}
    assert more["message"].startswith("2 more findings")


def test_settings_that_change(alone: RawClient) -> None:
    alone.initialize()
    document = Document(alone, REJECTED)
    assert len(document.diagnostics()) == 1

    def configured(settings: Any) -> Any:
        alone.forget()
        alone.notify("workspace/didChangeConfiguration", {"settings": settings})
        (published,) = document.diagnostics()
        return published["codeDescription"]["href"]

    assert configured({"driveTrace": {"ruleUrl": "http://localhost/{code}"}}) == (
        "http://localhost/unknown-value"
    )
    # Settings that do not fit leave the old ones in place, and nothing is published for them.
    for wrong in (
        None,
        5,
        [],
        {},
        {"driveTrace": None},
        {"driveTrace": {"ruleUrl": 5, "maxFindings": "many"}},
        {"driveTrace": {"ruleUrl": "javascript:alert(1)//{code}", "maxFindings": 0}},
        {"driveTrace": {"ruleUrl": "https://example.org/", "maxFindings": True}},
        {"other": {"ruleUrl": "https://example.org/{code}"}},
    ):
        alone.notify("workspace/didChangeConfiguration", {"settings": wrong})
    (diagnostic,) = document.edit((0, 0, ""))
    assert diagnostic["codeDescription"]["href"] == "http://localhost/unknown-value"
    # An empty one brings the installed pages back.
    assert path_of(configured({"driveTrace": {"ruleUrl": ""}})).is_file()


def test_at_most_so_many_findings(alone: RawClient) -> None:
    alone.initialize({}, initializationOptions={"driveTrace": {"maxFindings": 250}})
    warned = triage(severity="low")
    document = Document(alone, warned * 300 + REJECTED * 200)

    def lines(found: list[Any]) -> list[int]:
        return [each["range"]["start"]["line"] for each in found]

    # Errors first, in the order of the document, and a last one that says how many more.
    *shown, more = document.diagnostics()
    assert lines(shown) == [*range(50), *range(300, 500)]
    assert (more["code"], more["severity"]) == ("more-findings", 3)
    assert more["message"].startswith("250 more findings")
    # What is near the edit is always among them.
    at = 200 * len(warned)
    *shown, more = document.edit((at, at, warned))
    assert len(shown) == 250
    assert {199, 200, 201} <= set(lines(shown))
    assert lines(shown) == sorted(lines(shown))
    assert more["message"].startswith("251 more findings")
    # When they are few, all are there and nothing is said of more.
    assert lines(document.rewrite(warned * 250)) == [*range(250)]
    alone.notify("workspace/didChangeConfiguration", {"settings": {"maxFindings": 2}})
    alone.notification(
        "textDocument/publishDiagnostics",
        lambda params: params["version"] == document.version and len(params["diagnostics"]) == 3,
    )


def test_a_thousand_findings_by_default(client: RawClient) -> None:
    found = Document(client, REJECTED * 1500).diagnostics()
    assert len(found) == 1001
    assert found[-1]["message"].startswith("500 more findings")
    assert len(Document(client, REJECTED * 1000).diagnostics()) == 1000


def test_five_hundred_lenses(client: RawClient) -> None:
    text = "".join(triage(run=f"run-{each}") for each in range(600))
    document = Document(client, text)
    assert len(client.request("textDocument/codeLens", document.identifier)) == 500


# Opening and closing


def test_closing_clears(client: RawClient) -> None:
    document = Document(client, REJECTED)
    assert document.diagnostics()
    client.notify("textDocument/didClose", document.identifier)
    client.notification(
        "textDocument/publishDiagnostics",
        lambda params: params == {"uri": document.uri, "diagnostics": []},
    )
    assert client.request("textDocument/codeLens", document.identifier) == []
    # It can be opened again, and counts from one again.
    client.open(document.uri, triage())
    client.notification(
        "textDocument/publishDiagnostics",
        lambda params: params == {"uri": document.uri, "version": 1, "diagnostics": []},
    )


def test_nothing_is_published_for_what_was_closed(client: RawClient) -> None:
    """An edit waits a moment before it is published; a document may be closed meanwhile."""
    document = Document(client, triage())
    client.change(document.uri, 2, {"text": REJECTED})
    client.notify("textDocument/didClose", document.identifier)
    assert still_answers(client)  # takes longer than an edit waits
    about = [
        each
        for each in client.received("textDocument/publishDiagnostics")
        if each["uri"] == document.uri
    ]
    assert about[-1] == {"uri": document.uri, "diagnostics": []}
    assert all(each["diagnostics"] == [] for each in about)


def test_documents_out_of_order(client: RawClient) -> None:
    """A change before the document is open, a second opening, old versions, unknown documents."""
    uri = "file:///projects/out-of-order/trace.jsonl"
    client.change(uri, 1, {"text": REJECTED})
    client.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
    assert client.request("textDocument/codeLens", {"textDocument": {"uri": uri}}) == []

    document = Document(client, REJECTED, uri=uri)
    assert len(document.diagnostics()) == 1
    client.open(uri, triage(), version=5)
    assert client.diagnostics(uri, 5) == []
    client.change(uri, 4, {"text": REJECTED})  # older than what is open
    document.version, document.text = 6, triage()
    assert document.send({"text": triage() + REJECTED}) == client.diagnostics(uri, 7)
    published = [
        each["version"]
        for each in client.received("textDocument/publishDiagnostics")
        if each["uri"] == uri
    ]
    assert published == [1, 5, 7]
    client.notify("textDocument/didClose", document.identifier)
    client.notify("textDocument/didClose", document.identifier)
    assert still_answers(client)


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        ((0, 9_999), (0, 9_999), "{x\n"),
        ((7, 0), (9, 9), "{\nx"),
        ((0, 2**31 - 1), (2**31 - 1, 2**31 - 1), "{x"),
        ((1, 0), (0, 0), "x"),
        ((0, 1), (0, 0), "x\n"),
    ],
    ids=["past-the-line", "past-the-end", "far", "reversed-lines", "reversed"],
)
def test_positions_that_are_nowhere(
    start: tuple[int, int], end: tuple[int, int], expected: str, client: RawClient
) -> None:
    document = Document(client, "{\n")
    positions = [{"line": line, "character": character} for line, character in (start, end)]
    found = document.send(
        {"range": dict(zip(("start", "end"), positions, strict=True)), "text": "x"}
    )
    fresh = Document(client, expected)
    assert found == fresh.diagnostics()


def test_changes_that_are_none(client: RawClient) -> None:
    """Positions below zero and changes of another shape are not made; what follows is."""
    document = Document(client, REJECTED)
    below = {"line": -1, "character": 0}
    for wrong in (
        {"range": {"start": below, "end": START}, "text": "x"},
        {"range": {"start": START, "end": {"line": 0, "character": -5}}, "text": "x"},
        {"range": {"start": START, "end": {"line": 0, "character": 2**31}}, "text": "x"},
        {"range": {"start": START}, "text": "x"},
        {"range": 5, "text": "x"},
        {"nothing": True},
        5,
    ):
        client.change(document.uri, 2, wrong)
    assert len(document.send()) == 1
    assert document.shown() == [("unknown-value", document.range_of(PASSED))]


# Hostile text


HOSTILE = {
    "empty": "",
    "nul": "\0\0\n" + triage(input_ref="\0"),
    "carriage-returns": "\r\r\r\n\r",
    "byte-order-mark": "\ufeff" + triage(),
    "surrogates": triage(input_ref="x").replace('"x"', '"\ud800\udfff\ude00"') + "\udc00\n",
    "escaped-surrogates": triage(run="x").replace('"x"', r'"\ud800"') + REJECTED,
    "brackets": "[" * 100_000,
    "nested": triage(deep=0).replace(":0}", ":" + "[" * 5000 + "]" * 5000 + "}"),
    "long": triage(input_ref="🚀" * 300_000, severity=1),
    "markup": triage(run="</code>`*_[x](command:evil)\n# CORRECT", input_ref="<img src=x>"),
    "keys": '{"' + '":1,"'.join(str(each) for each in range(3000)) + '":1}\n',
    "message": frame({"jsonrpc": "2.0", "method": "exit"}).decode() + "\n",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text(name: str, client: RawClient) -> None:
    document = Document(client, HOSTILE[name])
    whole = {"start": START, "end": {"line": 9, "character": 9}}
    asked = [
        ("textDocument/hover", {"position": {"line": line, "character": character}})
        for line, character in ((0, 0), (0, 60), (1, 2), (0, 10**6))
    ]
    asked.append(("textDocument/codeAction", {"range": whole, "context": {"diagnostics": []}}))
    for diagnostic in document.diagnostics():
        assert "\0" not in diagnostic["message"]
        assert len(diagnostic["message"]) < 1000
    for method, params in asked:
        client.request(method, {**document.identifier, **params})
    for _, title in document.lenses():
        assert title.startswith(("not computable", "rejected, not counted"))
    assert document.send({"range": NOWHERE, "text": "x"}) is not None
    client.notify("textDocument/didClose", document.identifier)


def test_markup_of_a_trace_is_shown_as_text(client: RawClient) -> None:
    document = Document(client, HOSTILE["markup"])
    shown = document.hover_text('"project_run_id"')
    assert "# CORRECT" not in shown.splitlines()
    assert re.search(r"`[^`\n]*command:evil", shown)


@pytest.mark.parametrize(
    "uri",
    ["", "untitled:Untitled-1", "not a uri", "file:///%ff/%00/trace.jsonl", "file://h/ü🚀\u2028 x"],
)
def test_any_uri_will_do(uri: str, client: RawClient) -> None:
    document = Document(client, REJECTED, uri=uri or "x:")
    assert document.shown() == [("unknown-value", document.range_of(PASSED))]
    with pytest.raises(ResponseError, match="no valid event of that run"):
        show_run(client, document)
    document.rewrite(graded("pass", "pass", "pass"))
    assert document.lenses()[0] == (0, "CORRECT")


# Wrong things over the wire


def raw(body: bytes) -> bytes:
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


HOVER = {"textDocument": {"uri": URI}, "position": START}


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", -32700),
        (b"{nope", -32700),
        (b'{"jsonrpc":"2.0","id":1,"method":"initialize"', -32700),
        (b"\xff\xfe\xfd", -32700),
        (b'{"a":"\xff"}', -32700),
        (b"[" * 200_000, -32700),
        (b"[]", -32600),
        (b'[{"jsonrpc":"2.0","id":1,"method":"shutdown"}]', -32600),
        (b"5", -32600),
        (b"null", -32600),
        (b'"exit"', -32600),
        (b"{}", -32600),
        (b'{"jsonrpc":"2.0"}', -32600),
        (b'{"jsonrpc":"2.0","id":1}', -32600),
        (b'{"jsonrpc":"2.0","id":null,"method":"textDocument/hover"}', -32600),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"textDocument/hover"}', -32600),
        (b'{"jsonrpc":"2.0","id":true,"method":"textDocument/hover"}', -32600),
        (b'{"jsonrpc":"2.0","id":[1],"method":"textDocument/hover"}', -32600),
        (b'{"jsonrpc":"2.0","id":{},"method":"shutdown"}', -32600),
        (b'{"jsonrpc":"2.0","id":7,"method":5}', -32600),
    ],
    ids=lambda value: repr(value[:48]) if isinstance(value, bytes) else "",
)
def test_what_is_no_request_is_refused_without_an_id(
    body: bytes, code: int, client: RawClient
) -> None:
    client.send_bytes(raw(body))
    assert refused(client, None) == code


@pytest.mark.parametrize(
    ("method", "params", "code"),
    [
        ("textDocument/unheard-of", HOVER, -32601),
        ("textDocument/unheard-of", None, -32601),
        ("", None, -32601),
        ("$/unheard-of", {}, -32601),
        ("initialize", {"processId": None, "rootUri": None, "capabilities": {}}, -32600),
        ("textDocument/hover", None, -32602),
        ("textDocument/hover", [], -32602),
        ("textDocument/hover", {}, -32602),
        ("textDocument/hover", 5, -32602),
        ("textDocument/hover", {"textDocument": None, "position": START}, -32602),
        ("textDocument/hover", {**HOVER, "position": {"line": -1, "character": 0}}, -32602),
        ("textDocument/hover", {**HOVER, "position": {"line": 0, "character": 2**31}}, -32602),
        ("textDocument/hover", {**HOVER, "position": {"line": 2**80, "character": 0}}, -32602),
        ("textDocument/hover", {**HOVER, "position": {"line": "x", "character": 0}}, -32602),
        ("textDocument/codeLens", {"textDocument": 5}, -32602),
        ("codeLens/resolve", {"data": {}}, -32602),
        ("textDocument/codeAction", {"textDocument": {"uri": URI}, "range": NOWHERE}, -32602),
        ("workspace/executeCommand", {}, -32602),
    ],
)
def test_requests_that_are_refused(method: str, params: Any, code: int, client: RawClient) -> None:
    for message_id in (client.start_request(method, params), "a string", 0, -7, 2**53):
        if message_id in ("a string", 0, -7, 2**53):
            given = {} if params is None else {"params": params}
            client.send(id=message_id, method=method, **given)
        assert refused(client, message_id) == code


@pytest.mark.parametrize("data", [None, 5, [], {}, {"uri": 5, "runId": []}, {"kind": "event"}])
def test_a_lens_that_is_not_ours_resolves_to_nothing(data: Any, client: RawClient) -> None:
    lens = client.request("codeLens/resolve", {"range": NOWHERE, "data": data})
    assert lens["command"]["title"] == "the trace has changed"


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("unheard/of", {"x": 1}),
        ("$/unheard/of", None),
        ("initialized", {}),
        ("$/cancelRequest", {"id": 12345}),
        ("$/cancelRequest", {"id": "x"}),
        ("$/cancelRequest", {"id": []}),
        ("$/cancelRequest", {"id": {}}),
        ("$/cancelRequest", {}),
        ("$/cancelRequest", None),
        ("$/setTrace", {"value": "verbose"}),
        ("$/setTrace", {"value": "loud"}),
        ("window/workDoneProgress/cancel", {"token": "x"}),
        ("textDocument/didOpen", {}),
        ("textDocument/didOpen", None),
        ("textDocument/didChange", {"textDocument": {"uri": URI}}),
        ("textDocument/didClose", []),
        ("textDocument/didSave", {"textDocument": {"uri": URI}}),
        ("workspace/didChangeConfiguration", {}),
        ("workspace/didChangeWatchedFiles", {"changes": []}),
        (
            "workspace/didChangeWorkspaceFolders",
            {"event": {"added": [{"uri": "file:///a", "name": "a"}], "removed": []}},
        ),
        (
            "notebookDocument/didOpen",
            {
                "notebookDocument": {"uri": "x:", "notebookType": "x", "version": 1, "cells": []},
                "cellTextDocuments": [],
            },
        ),
    ],
)
def test_notifications_that_do_nothing(method: str, params: Any, client: RawClient) -> None:
    client.notify(method, params)
    client.send(method=method, params=None)
    assert client.request("textDocument/hover", HOVER) is None


def test_responses_that_nobody_asked_for(client: RawClient) -> None:
    for message_id in (12345, "x", None, 1.5, []):
        client.send(id=message_id, result=None)
        client.send(id=message_id, error={"code": 1, "message": "x"})
    assert client.request("textDocument/hover", HOVER) is None


def test_headers_as_clients_write_them(client: RawClient) -> None:
    def body(message_id: str) -> bytes:
        return b'{"jsonrpc":"2.0","id":"%b","method":"no\xc3\xa9"}' % message_id.encode()

    size = len(body("a"))
    for headers in (
        b"content-length: %d\r\n\r\n",
        b"CONTENT-LENGTH:%d\r\n\r\n",
        b"Content-Length: %d\n\n",
        b"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: %d\r\n\r\n",
        b"Content-Length: %d\r\nX-Other: 5\r\nContent-Type: x\r\n\r\n",
    ):
        client.send_bytes(headers % size + body("a"))
        assert refused(client, "a") == -32601
    # In pieces, cut inside a header and inside a character, and several at once.
    for at in range(1, len(raw(body("b")))):
        piece = raw(body("b"))[at - 1 : at]
        client.send_bytes(piece)
    client.send_bytes(raw(body("b"))[-1:] + raw(body("c")) + raw(body("d")))
    assert [refused(client, each) for each in ("b", "c", "d")] == [-32601] * 3


@pytest.mark.parametrize(
    "garbage",
    [
        b"\r\n",
        b"\r\n\r\n\r\n",
        b"garbage\r\n",
        b"garbage\r\n\r\n",
        b"\0\xff\xfe\n\n",
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
        b'{"jsonrpc":"2.0","method":"exit"}\r\n',
        b"Content-Length: -5\r\n\r\n",
        b"Content-Length: many\r\n\r\n",
        b"Content-Length:\r\n\r\n",
        b"x" * 200_000 + b"\r\n\r\n",
    ],
    ids=lambda garbage: repr(garbage[:24]),
)
def test_garbage_between_messages(garbage: bytes, client: RawClient) -> None:
    client.send_bytes(garbage)
    assert client.request("textDocument/hover", HOVER) is None


def test_after_a_wrong_request_all_is_well(client: RawClient) -> None:
    client.send_bytes(raw(b"{") + raw(b"[]") + b"garbage\r\n\r\n")
    assert refused(client, None) in (-32700, -32600)
    assert still_answers(client)


# The life of a server


def test_before_initialize(alone: RawClient) -> None:
    alone.open(URI, REJECTED)
    for method in ("textDocument/hover", "shutdown", "unheard/of"):
        assert refused(alone, alone.start_request(method, HOVER)) == -32002
    assert refused(alone, alone.start_request("initialize", {"capabilities": 5})) == -32602
    alone.send_bytes(raw(b"["))
    assert refused(alone, None) == -32700
    result = alone.initialize()
    assert result["serverInfo"]["name"] == "drive-trace"
    assert result["capabilities"]["positionEncoding"] == "utf-16"  # what nobody needs to offer
    assert still_answers(alone)
    # What came too early was not done.
    assert not [
        each for each in alone.received("textDocument/publishDiagnostics") if each["uri"] == URI
    ]


def test_after_shutdown(alone: RawClient) -> None:
    alone.initialize()
    assert alone.request("shutdown") is None
    alone.forget()
    alone.open(URI, REJECTED)
    for method in ("textDocument/hover", "shutdown", "unheard/of", "initialize"):
        assert refused(alone, alone.start_request(method, HOVER)) == -32600
    assert alone.notifications == []
    alone.notify("exit")
    assert alone.wait_exit() == 0


def test_exit_without_shutdown(alone: RawClient) -> None:
    alone.initialize()
    alone.notify("exit")
    assert alone.wait_exit() == 1


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


def test_a_length_that_cannot_be(alone: RawClient) -> None:
    """Where the next message would start is not known, so there is no going on."""
    alone.initialize()
    alone.send_bytes(b"Content-Length: 99999999999999\r\n\r\n")
    assert alone.wait_exit() == 1
    assert "reading ends" in alone.stderr()


def test_the_first_encoding_that_is_known_is_taken(alone: RawClient) -> None:
    offered = {"positionEncodings": ["utf-7", "utf-32", "utf-8", "utf-16"]}
    result = alone.initialize({"general": offered})
    assert result["capabilities"]["positionEncoding"] == "utf-32"


# Over TCP


class Connection:
    """A server that listens, and a socket to it."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [COMMAND, "serve", "--tcp", "0"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert self.process.stderr is not None
        said = self.process.stderr.readline().decode()
        found = re.fullmatch(r"drive-trace: listening on 127\.0\.0\.1:(\d+)\n", said)
        assert found, said
        self.socket = socket.create_connection(("127.0.0.1", int(found[1])), timeout=10)
        self.stream = self.socket.makefile("rwb")

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()
        self.process.kill()
        self.process.communicate()

    def send(self, *messages: Any) -> None:
        for message in messages:
            self.stream.write(frame({"jsonrpc": "2.0", **message}))
        self.stream.flush()

    def ended(self) -> tuple[int, str, str]:
        out, err = self.process.communicate(timeout=10)
        return self.process.returncode, out.decode(), err.decode()


INITIALIZE = {
    "id": 1,
    "method": "initialize",
    "params": {"processId": None, "rootUri": None, "capabilities": {}},
}


def test_tcp() -> None:
    with Connection() as connection:
        connection.send(
            INITIALIZE,
            {"id": 2, "method": "textDocument/hover", "params": HOVER},
            {"id": 3, "method": "shutdown"},
            {"method": "exit"},
        )
        answers = connection.stream.read().decode()
        assert [f'"id":{each}' in answers for each in (1, 2, 3)] == [True] * 3
        assert connection.ended() == (0, "", "")


@pytest.mark.parametrize("how", ["closed", "reset", "half-closed"])
def test_tcp_clients_that_go_away(how: str) -> None:
    with Connection() as connection:
        connection.send(INITIALIZE)
        assert connection.stream.readline().startswith(b"Content-Length")
        if how == "half-closed":
            connection.socket.shutdown(socket.SHUT_WR)
        else:
            linger = struct.pack("ii", how == "reset", 0)
            connection.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            connection.stream.close()
            connection.socket.close()
        code, out, err = connection.ended()
        assert (code, out) == (1, "")
        assert "Traceback" not in err


def test_tcp_port_that_is_taken() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ended = subprocess.run(
            [COMMAND, "serve", "--tcp", str(port)], capture_output=True, timeout=30, check=False
        )
    assert ended.returncode == 2
    assert ended.stdout == b""
    said = f"drive-trace: cannot listen on 127.0.0.1:{port}: Address already in use\n"
    assert ended.stderr.decode() == said
