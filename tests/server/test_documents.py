"""The server in plain JSON-RPC: changes that are none, and documents of any name.

That documents come and go, at any position and version, is for random sessions.
"""

import pytest

from tests.server.support import PASSED, REJECTED
from tests.support.client_text import graded, triage
from tests.support.editor import Document
from tests.support.raw_client import RawClient
from tests.support.sessions.wrong import CHANGES


def test_changes_that_are_none(client: RawClient) -> None:
    """Positions below zero and changes of another shape are not made; what follows is."""
    document = Document(client, REJECTED)
    for wrong in CHANGES:
        identifier = {"uri": document.uri, "version": 2}
        params = {"textDocument": identifier, "contentChanges": wrong}
        client.notify("textDocument/didChange", params)
    assert len(document.send()) == 1
    assert document.shown() == [("unknown-value", document.range_of(PASSED))]


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
