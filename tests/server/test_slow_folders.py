"""The server in plain JSON-RPC, where a configuration is long in coming."""

import asyncio
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from drive_trace.linter.rules import RULES
from drive_trace.linter.settings import RuleSettings, Severity
from drive_trace.lsp.workspace.linting import Configurations
from drive_trace.storage.projects import Above, Project, Projects
from tests.server.support import PASSED, REJECTED
from tests.support.client_text import triage
from tests.support.editor import Document
from tests.support.raw_client import RawClient
from tests.support.systems import NO_FIFOS, not_on_windows

pytestmark = not_on_windows(NO_FIFOS)

SLOW = """
import sys
from types import SimpleNamespace
from drive_trace.commands import main
from drive_trace.lsp.workspace import linting
from drive_trace.storage import projects

linting.PATIENCE = float(sys.argv.pop())
GATE = sys.argv.pop()
read = projects.disk.read_regular

def slowly(path, **options):
    with open(GATE) as gate:
        gate.read()
    return read(path, **options)

projects.disk = SimpleNamespace(**{**vars(projects.disk), "read_regular": slowly})
main()
"""
"""A server that reads no configuration until somebody has opened the pipe, and closed it again."""
SHORT, LONG = 0.01, 600.0
TEXT = REJECTED + triage(note=1)
PULLS = {"textDocument": {"diagnostic": {}}}


class Slow:
    """A server and the pipe that it waits for, and a workspace with a configuration."""

    client: RawClient

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "workspace"
        self.folder.mkdir()
        self.gate = folder / "gate"
        os.mkfifo(self.gate)
        self.configure('undeclared-field = "off"')

    def configure(self, rule: str) -> None:
        path = self.folder / "drive-trace.toml"
        path.write_text(f"[rules]\n{rule}\n", encoding="utf-8")

    def start(self, capabilities: Any, patience: float) -> None:
        """Start a server that holds findings back for so many seconds."""
        command = (sys.executable, "-c", SLOW, "serve", str(self.gate), str(patience))
        self.client = RawClient(command)
        folders = [{"uri": self.folder.as_uri(), "name": "workspace"}]
        self.client.initialize(capabilities, workspaceFolders=folders)

    def open_trace(self) -> Document:
        return Document(self.client, TEXT, uri=(self.folder / "trace.jsonl").as_uri())

    def let_through(self) -> None:
        """Have the read come back that the server waits for, or soon will."""
        self.gate.open("w").close()


@pytest.fixture
def slow(tmp_path: Path) -> Iterator[Slow]:
    slow = Slow(tmp_path)
    yield slow
    with slow.client as client:
        assert "Traceback" not in client.stderr()


def codes(items: list[Any]) -> list[str]:
    return [each["code"] for each in items]


def test_nobody_waits_for_a_configuration_but_the_findings(slow: Slow) -> None:
    slow.start({}, LONG)
    document = slow.open_trace()
    assert document.hover_text(PASSED).startswith("**not computable")
    assert slow.client.received("textDocument/publishDiagnostics") == []
    slow.let_through()
    assert codes(document.diagnostics()) == ["unknown-value"]
    published = slow.client.received("textDocument/publishDiagnostics")
    assert len(published) == 1  # none appeared and vanished again


def test_the_findings_are_not_waited_for_forever(slow: Slow) -> None:
    slow.start({}, SHORT)
    document = slow.open_trace()
    assert codes(document.diagnostics()) == ["unknown-value", "undeclared-field"]
    assert codes(document.replace("passed", "passes")) == ["unknown-value", "undeclared-field"]
    slow.client.forget()
    slow.let_through()
    assert codes(document.diagnostics()) == ["unknown-value"]


def test_an_older_look_does_not_undo_a_newer_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was begun for more folders, one of which takes long."""
    traces = [tmp_path / name / "trace.jsonl" for name in ("one", "two")]
    for each in traces:
        each.parent.mkdir()
    read, go_on, gate = Event(), Event(), [Projects.of]

    def of(self: Projects, path: str, known: Above) -> Project:
        found = _of(self, path, known)
        if gate and Path(path) == traces[0]:
            gate.clear()
            read.set()
            go_on.wait()
        return found

    _of = gate[0]
    monkeypatch.setattr(Projects, "of", of)

    async def look() -> RuleSettings:
        configurations = Configurations()
        older = asyncio.create_task(configurations.look(traces))
        await asyncio.to_thread(read.wait)
        (tmp_path / "drive-trace.toml").write_text('[rules]\nblank-line = "error"\n', "utf-8")
        await configurations.look(traces[:1])
        go_on.set()
        await older
        return configurations.rules_of(traces[0], RuleSettings())

    assert asyncio.run(look()).severity(RULES["blank-line"]) == Severity.ERROR


def test_a_report_that_is_asked_for_waits(slow: Slow) -> None:
    slow.start(PULLS, SHORT)
    document = slow.open_trace()
    given_up, wanted = (
        slow.client.start_request("textDocument/diagnostic", document.identifier) for _ in range(2)
    )
    slow.client.notify("$/cancelRequest", {"id": given_up})
    assert slow.client.response(given_up)["error"]["code"] == -32800
    assert document.hover_text(PASSED).startswith("**not computable")
    slow.client.change(
        document.uri, 2, {"text": triage(event_id="5f0e1d2c-3b4a-4958-8776-a5b4c3d2e1f0") + TEXT}
    )
    # Messages are taken in order: what answers this has the change.
    document.hover_text(PASSED)
    slow.let_through()
    items = slow.client.response(wanted)["result"]["items"]
    assert [(each["code"], each["range"]["start"]["line"]) for each in items] == [
        ("unknown-value", 1)
    ]


def test_who_can_be_told_to_ask_again_is_not_kept_waiting(slow: Slow) -> None:
    slow.start({**PULLS, "workspace": {"diagnostics": {"refreshSupport": True}}}, SHORT)
    document = slow.open_trace()

    def report() -> list[str]:
        answer = slow.client.request("textDocument/diagnostic", document.identifier)
        return codes(answer["items"])

    assert report() == ["unknown-value", "undeclared-field"]
    slow.let_through()

    def asked_again() -> bool | None:
        asked = [each["method"] for each in slow.client.requests]
        return "workspace/diagnostic/refresh" in asked or None

    slow.client.wait_for(asked_again, "the word to ask again")
    assert report() == ["unknown-value"]


def test_a_trace_that_is_opened_again_is_judged_as_before(slow: Slow) -> None:
    slow.start({}, SHORT)
    document = slow.open_trace()
    slow.let_through()

    def is_judged(params: Any) -> bool:
        return params["uri"] == document.uri and codes(params["diagnostics"]) == ["unknown-value"]

    slow.client.notification("textDocument/publishDiagnostics", is_judged)
    slow.client.notify("textDocument/didClose", document.identifier)
    slow.configure('undeclared-field = "hint"')  # which does not come
    cleared = "textDocument/publishDiagnostics", lambda params: params["diagnostics"] == []
    slow.client.notification(*cleared)
    slow.client.forget()
    assert codes(slow.open_trace().diagnostics()) == ["unknown-value"]
