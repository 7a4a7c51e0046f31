"""The server in plain JSON-RPC: documents that come and go, wrong positions, hostile text."""

import pytest

from tests.server.support import PASSED, REJECTED, published, still_answers
from tests.support.client_text import graded, triage
from tests.support.editor import Document
from tests.support.raw_client import RawClient
from tests.support.sessions.wrong import CHANGES

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
    about = published(client, document.uri)
    assert about[-1] == {"uri": document.uri, "diagnostics": []}
    assert all(each["diagnostics"] == [] for each in about)


def test_documents_out_of_order(client: RawClient) -> None:
    """A change before the document is open, a second opening, old versions, unknown documents."""
    uri = "file:///traces/out-of-order/trace.jsonl"
    client.change(uri, 1, {"text": REJECTED})
    client.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
    assert client.request("textDocument/codeLens", {"textDocument": {"uri": uri}}) == []

    document = Document(client, REJECTED, uri=uri)
    assert len(document.diagnostics()) == 1
    client.open(uri, triage(), version=5)
    assert client.diagnostics(uri, 5) == []
    client.change(uri, 4, {"text": REJECTED * 2})  # older than what is open
    whole = {"start": {"line": 0, "character": 0}, "end": {"line": 9, "character": 0}}
    asked = {"textDocument": {"uri": uri}, "range": whole, "context": {"diagnostics": []}}
    assert client.request("textDocument/codeAction", asked) == [], "version 4 was taken in"
    top = {"start": whole["start"], "end": whole["start"]}
    client.change(uri, 7, {"range": top, "text": REJECTED})
    assert len(client.diagnostics(uri, 7)) == 1
    assert [each["version"] for each in published(client, uri)] == [1, 5, 7]
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
    for wrong in CHANGES:
        identifier = {"uri": document.uri, "version": 2}
        params = {"textDocument": identifier, "contentChanges": wrong}
        client.notify("textDocument/didChange", params)
    assert len(document.send()) == 1
    assert document.shown() == [("unknown-value", document.range_of(PASSED))]


# Hostile text


@pytest.mark.parametrize(
    "uri",
    [
        *("", "\0", "file:", "file://", "untitled:Untitled-1", "not a uri"),
        *("file:///%ff/%00/trace.jsonl", "file://h/ü🚀\u2028 x"),
    ],
)
def test_any_uri_will_do(uri: str, client: RawClient) -> None:
    document = Document(client, REJECTED, uri=uri or "x:")
    assert document.shown() == [("unknown-value", document.range_of(PASSED))]
    assert document.lenses()[0][1].startswith("not computable: its only line is rejected")
    document.rewrite(graded("pass", "pass", "pass"))
    assert document.lenses()[0] == (0, "CORRECT")


def test_a_trace_is_judged_by_where_it_lies(client: RawClient) -> None:
    text = triage(project_run_id="café")
    document = Document(client, text, uri="file:///projects/caf%C3%A9/trace.jsonl")
    assert document.diagnostics() == []
    document = Document(client, text, uri="file:///projects/tea/trace.jsonl")
    assert document.shown() == [("run-path-mismatch", document.range_of('"café"'))]
