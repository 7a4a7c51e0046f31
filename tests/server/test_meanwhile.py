"""The server in plain JSON-RPC, where files change while an answer about several is made."""

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from tests.server.support import write
from tests.server.test_live import RUN, WATCHES, append, opened, start
from tests.support.client_text import event, graded, triage
from tests.support.command import SERVE
from tests.support.editor import Document
from tests.support.raw_client import RawClient
from tests.support.systems import NO_FIFOS, not_on_windows

WAITS = """
import sys
from drive_trace.commands import main
from drive_trace.lsp.workspace.closed_traces import ClosedTraces

GATE = sys.argv.pop()
ask = ClosedTraces.ask

def slowly(self, path, work):
    found = ask(self, path, work)
    open(GATE).read()
    return found

ClosedTraces.ask = slowly
main()
"""
"""A server that waits, behind a closed trace, until somebody has opened and closed the pipe."""
MODERN = {
    **WATCHES,
    "workspace": {**WATCHES["workspace"], "workspaceEdit": {"documentChanges": True}},
}
PLAIN: dict[str, Any] = {
    "textDocument": {
        "codeAction": {"codeActionLiteralSupport": {"codeActionKind": {"valueSet": [""]}}}
    }
}
"""It takes code actions with their edits only, and tells of no files."""
RESOLVES: dict[str, Any] = {
    "textDocument": {
        "codeAction": {
            **PLAIN["textDocument"]["codeAction"],
            "dataSupport": True,
            "resolveSupport": {"properties": ["edit"]},
        }
    }
}
CONTENT_MODIFIED = -32801


@not_on_windows(NO_FIFOS)
def test_a_rename_is_of_no_text_that_has_changed_meanwhile(tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    root = tmp_path / "root"
    here, other, closed = (write(root / name / "trace.jsonl", triage()) for name in "zab")
    with RawClient((sys.executable, "-c", WAITS, "serve", str(gate))) as client:
        start(client, root, declared=MODERN)
        document, edited = opened(client, here), opened(client, other)
        client.request("driveTrace/runs", {})
        place = {"line": 0, "character": document.text.index(RUN) + 2}
        asked = {**document.identifier, "position": place, "newName": "run-3"}
        request = client.start_request("textDocument/rename", asked)
        with gate.open("w"):  # the server has made the edits of `a`, and of `b`
            edited.edit((0, 0, "\n"))
            client.request("textDocument/hover", {**edited.identifier, "position": place})
        assert client.response(request)["error"]["code"] == CONTENT_MODIFIED
        request = client.start_request("textDocument/rename", asked)
        gate.open("w").close()
        made = client.response(request)["result"]["documentChanges"]
        lines = {
            each["textDocument"]["uri"]: each["edits"][0]["range"]["start"]["line"] for each in made
        }
        assert lines == {document.uri: 0, edited.uri: 1, closed.as_uri(): 0}


NEVER = """
from drive_trace.commands import main
from drive_trace.lsp.workspace import closed_traces

closed_traces._SHARE = 1e9
main()
"""
"""A server that searches its folders as seldom as it may."""


def test_a_grade_in_a_trace_that_nobody_has_told_of(tmp_path: Path) -> None:
    with RawClient((sys.executable, "-c", NEVER, "serve")) as client:
        document, _ = two(client, tmp_path, RESOLVES)
        intent = actions(document)["Record intent: pass"]
        write(tmp_path / "c" / "trace.jsonl", graded("pass", "fail", None))
        del intent["data"]["title"]  # as by the command, which has none
        text = document.applied(client.request("codeAction/resolve", intent))
        assert json.loads(text.removeprefix(document.text))["qa"] == "fail"


# Grades that are merged over the files of a run


@pytest.fixture
def plain() -> Iterator[RawClient]:
    with RawClient(SERVE) as client:
        yield client


def two(client: RawClient, folder: Path, declared: Any, grade: str = "") -> tuple[Document, Path]:
    """An open trace, and a closed one of its run that has been read."""
    here = write(folder / "a" / "trace.jsonl", triage())
    there = write(folder / "b" / "trace.jsonl", triage(note=1) + grade)
    start(client, folder, declared=declared)
    document = opened(client, here)
    client.request("driveTrace/runs", {})
    return document, there


def actions(document: Document) -> dict[str, Any]:
    at = {"line": 1, "character": 0}
    params = {
        **document.identifier,
        "range": {"start": at, "end": at},
        "context": {"diagnostics": [], "only": ["refactor.driveTrace.record"]},
    }
    found = document.client.request("textDocument/codeAction", params)
    return {each["title"]: each for each in found}


def test_an_edit_that_comes_with_its_offer_is_of_the_disk_as_it_is(
    plain: RawClient, tmp_path: Path
) -> None:
    document, there = two(plain, tmp_path, PLAIN)
    append(there, graded("pass", "pass", None))
    offered = actions(document)
    title = "Record intent: pass → CORRECT (keeps mechanical and qa of b/trace.jsonl)"
    text = document.applied(offered[title])
    added = json.loads(text.removeprefix(document.text))
    assert [added[name] for name in ("mechanical", "qa", "intent")] == ["pass"] * 3


def test_a_completed_grade_repeats_the_disk_as_it_is(plain: RawClient, tmp_path: Path) -> None:
    document, there = two(plain, tmp_path, PLAIN)
    append(there, graded("pass", "fail", None))
    params = {**document.identifier, "position": {"line": 1, "character": 0}}
    found = plain.request("textDocument/completion", params)
    items = found["items"] if isinstance(found, dict) else found
    grade = next(each for each in items if each["label"].startswith("correctness-recorded"))
    assert '"qa":"fail"' in json.dumps(grade).replace('\\"', '"')


KEEPS = " (keeps mechanical and intent of b/trace.jsonl)"


def test_what_a_pick_does_is_what_its_title_says(plain: RawClient, tmp_path: Path) -> None:
    document, there = two(plain, tmp_path, RESOLVES, graded("pass", None, "pass"))
    correct = actions(document)[f"Record qa: pass → CORRECT{KEEPS}"]
    append(there, graded("pass", None, "fail", event_id=str(uuid4())))
    said = plain.response(plain.start_request("codeAction/resolve", correct))["error"]
    assert said["message"] == (
        f"This has changed meanwhile, and would now be “Record qa: pass → INCORRECT{KEEPS}”: "
        "ask again."
    )
    # Not so where the title still holds.
    append(there, graded("pass", None, "pass", event_id=str(uuid4())))
    assert "edit" in plain.request("codeAction/resolve", correct)


def test_an_end_is_of_what_its_title_names(plain: RawClient, tmp_path: Path) -> None:
    started = event(
        "dispatch-start",
        dispatch_id="d",
        dispatch_name="build",
        subagent_type="x",
        model=None,
        parent_dispatch_id=None,
    )
    start(plain, tmp_path, declared=RESOLVES)
    document = opened(plain, write(tmp_path / "trace.jsonl", started))
    at = {"line": 1, "character": 0}
    context = {"diagnostics": [], "only": ["refactor.driveTrace.close"]}
    params = {**document.identifier, "range": {"start": at, "end": at}, "context": context}
    completed = plain.request("textDocument/codeAction", params)[0]
    document.replace('"build"', '"deploy"')
    said = plain.response(plain.start_request("codeAction/resolve", completed))["error"]
    assert "and would now be “Close dispatch deploy: completed" in said["message"]
