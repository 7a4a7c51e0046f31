"""Formatting, renaming and code actions, as a modern client and a plain one ask for them."""

import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.server.support import refused
from tests.support.client_text import event, graded, triage
from tests.support.command import SERVE
from tests.support.editor import Document
from tests.support.presets import VSCODE
from tests.support.raw_client import RawClient

ODD = "\u2028 🚀 日本"
LOOSE = triage(input_ref=ODD).replace(":", ": ").replace("14: 00: 00", "14:00:00")


class Modern:
    """An editor that does what VS Code does."""

    def __init__(self) -> None:
        self.client = RawClient(SERVE, handlers={"workspace/applyEdit": self._apply})
        self.applied: list[Any] = []

    def _apply(self, params: Any) -> Any:
        self.applied.append(params)
        return {"applied": True}

    def actions(self, document: Document, line: int, *only: str) -> list[Any]:
        at = {"line": line, "character": 0}
        context = {"diagnostics": [], **({"only": list(only)} if only else {})}
        params = {**document.identifier, "range": {"start": at, "end": at}, "context": context}
        actions = self.client.request("textDocument/codeAction", params)
        assert isinstance(actions, list)
        return actions

    def picked(self, document: Document, action: Any) -> str:
        """The text after an action, whose edit is asked for when it is picked."""
        assert "edit" not in action
        resolved = self.client.request("codeAction/resolve", action)
        assert (resolved["title"], resolved["kind"]) == (action["title"], action["kind"])
        return document.applied(resolved)


@pytest.fixture
def modern() -> Iterator[Modern]:
    editor = Modern()
    with editor.client as client:
        declared = client.initialize(
            {key: value for key, value in VSCODE.items() if key != "textDocument"}
            | {"textDocument": {**VSCODE["textDocument"], "rename": {"prepareSupport": True}}}
        )["capabilities"]
        assert declared["documentFormattingProvider"]
        assert declared["documentRangeFormattingProvider"]
        assert declared["renameProvider"] == {"prepareProvider": True}
        assert declared["codeActionProvider"]["resolveProvider"] is True
        yield editor
        assert "Traceback" not in client.stderr()


def test_fix_all(modern: Modern) -> None:
    broken = triage()[:-2] + ",}\n"
    document = Document(modern.client, broken + LOOSE + "\n" + triage(input_ref=ODD))
    (fix,) = modern.actions(document, 0, "source.fixAll.driveTrace")
    after = modern.picked(document, fix)
    assert after == triage() + formatted_line(LOOSE) + triage(input_ref=ODD)
    titles = [each["title"] for each in modern.actions(document, 0, "source")]
    assert titles == ["Fix all that can be fixed safely", "Lay out all lines"]


def test_all_that_one_rule_finds_is_fixed_by_a_quick_fix(modern: Modern) -> None:
    broken = triage()[:-2] + ",}\n"
    document = Document(modern.client, broken + LOOSE + "\n" + broken.replace(",}", ", }"))
    (fix,) = fixes_of_a_rule(document)
    assert fix["title"] == "Fix all of invalid-json in the file"
    assert modern.picked(document, fix) == triage() + LOOSE + "\n" + triage()[:-2] + " }\n"
    assert fixes_of_a_rule(Document(modern.client, broken + LOOSE + "\n")) == []


def fixes_of_a_rule(document: Document) -> list[Any]:
    return [each for each in document.actions(",}") if each["title"].startswith("Fix all of")]


def formatted_line(line: str) -> str:
    return line.replace('": ', '":')


def test_a_grade_is_recorded_when_it_is_picked(modern: Modern) -> None:
    document = Document(modern.client, triage() + graded("pass", None, "pass"))
    (passed, _, *_) = modern.actions(document, 2, "refactor.driveTrace.record")
    assert passed["title"] == "Record qa: pass → CORRECT"
    first, second = (modern.picked(document, passed).removeprefix(document.text) for _ in "12")
    assert '"mechanical":"pass","qa":"pass","intent":"pass"}\n' in first
    assert json.loads(first)["event_id"] != json.loads(second)["event_id"]
    # By the command, as other clients of the server's may.
    argument = {"uri": document.uri, "runId": "run-1", "changes": {"qa": "fail"}}
    run = {"command": "driveTrace.recordGrade", "arguments": [argument]}
    assert modern.client.request("workspace/executeCommand", run) is True
    after = document.applied(modern.applied[-1])
    assert json.loads(after.removeprefix(document.text))["qa"] == "fail"
    for wrong in (None, {}, {**argument, "changes": 5}, {**argument, "changes": {"x": 1}}):
        run["arguments"] = [wrong]
        assert refused(modern.client, modern.client.start_request(_EXECUTE, run)) == -32602
    run["arguments"] = [{**argument, "runId": "other"}]
    assert refused(modern.client, modern.client.start_request(_EXECUTE, run)) == -32803


_EXECUTE = "workspace/executeCommand"


def test_length_and_hash_are_filled_in_from_a_file_of_the_workspace(tmp_path: Path) -> None:
    (tmp_path / "outside.md").write_text("secret")
    root = tmp_path / "root"
    (root / "briefs").mkdir(parents=True)
    (root / "briefs/d1.md").write_text("🚀 do it\n", encoding="utf-8")
    (root / "briefs/link.md").symlink_to(tmp_path / "outside.md")
    # The line is of 2026-05-28, and tells of the file as it was then.
    os.utime(root / "briefs/d1.md", (0, 0))

    def brief(path: str) -> str:
        return event(
            "brief-issued",
            brief_path=path,
            dispatch_id="d",
            round_id="r",
            brief_content_hash="pending",
            brief_disposition="initial",
        )

    editor = Modern()
    with editor.client as client:
        client.initialize(VSCODE, workspaceFolders=[{"uri": root.as_uri(), "name": "root"}])
        paths = ("briefs/d1.md", "briefs/link.md", "../outside.md", "/etc/passwd", "briefs", "\0")
        text = "".join(map(brief, paths))
        uri = (root / "projects/x/trace.jsonl").as_uri()
        document = Document(client, text, uri=uri)
        kind = "refactor.driveTrace.fill"
        offered = [editor.actions(document, line, kind) for line in range(len(paths))]
        assert [len(each) for each in offered] == [1, 0, 0, 0, 0, 0]
        (fill,) = offered[0]
        assert fill["title"] == "Fill in hash and length from briefs/d1.md"
        filled = json.loads(editor.picked(document, fill).split("\n")[0])
        data = (root / "briefs/d1.md").read_bytes()
        assert filled["brief_byte_length"] == len(data)
        assert filled["brief_content_hash"] == hashlib.sha256(data).hexdigest()
        fill["data"]["id"] = "../outside.md"
        assert refused(client, client.start_request("codeAction/resolve", fill)) == -32803
        os.utime(root / "briefs/d1.md", (2e9, 2e9))
        assert editor.actions(document, 0, kind) == []


def test_a_client_that_asks_for_nothing_later_gets_edits_at_once(client: RawClient) -> None:
    document = Document(client, triage() + graded("pass", "pass", None))
    at = {"start": {"line": 2, "character": 0}, "end": {"line": 2, "character": 0}}
    params = {**document.identifier, "range": at, "context": RECORDING}
    (first, *_) = client.request("textDocument/codeAction", params)
    assert first["title"] == "Record intent: pass → CORRECT"
    assert '"intent":"pass"' in document.applied(first).removeprefix(document.text)


RECORDING = {"diagnostics": [], "only": ["refactor.driveTrace.record"]}


def test_what_is_resolved_must_have_been_offered(modern: Modern) -> None:
    document = Document(modern.client, triage())
    for data in (None, 5, {"uri": 5}, {"uri": document.uri}, {"uri": document.uri, "make": "x"}):
        action = {"title": "x", "data": data}
        request = modern.client.start_request("codeAction/resolve", action)
        assert refused(modern.client, request) == -32602
