"""The server in plain JSON-RPC: configurations, baselines, and the client's own rules."""

import json
import os
import subprocess
from pathlib import Path

from tests.server.support import ALL_TRACES, PASSED, REJECTED, folder
from tests.server.test_live import told
from tests.support.client_text import triage
from tests.support.command import COMMAND
from tests.support.editor import Document
from tests.support.raw_client import RawClient
from tests.support.systems import NO_DEVICES, not_on_windows

WATCHES = {"workspace": {"didChangeWatchedFiles": {"dynamicRegistration": True}}}
TEXT = REJECTED + triage(note=1)
BOTH = {"unknown-value": 1, "undeclared-field": 2}


def severities(document: Document) -> dict[str, int]:
    return {each["code"]: each["severity"] for each in document.diagnostics()}


def open_trace(client: RawClient, where: Path, text: str = TEXT) -> Document:
    return Document(client, text, uri=(where / "trace.jsonl").as_uri())


def test_a_configuration_holds_and_is_followed(alone: RawClient, tmp_path: Path) -> None:
    alone.initialize(WATCHES, **folder(tmp_path))
    document = open_trace(alone, tmp_path)
    assert severities(document) == BOTH
    (watched,) = [
        each["params"]["registrations"][0]
        for each in alone.requests
        if each["method"] == "client/registerCapability"
    ]
    assert watched["method"] == "workspace/didChangeWatchedFiles"
    assert {each["globPattern"] for each in watched["registerOptions"]["watchers"]} == {
        "**/drive-trace.toml",
        "**/drive-trace-baseline.json",
        "**/trace.jsonl",
        "**/wip/drive-trace/*.jsonl",
        "**/*.judgements.ndjson",
    }

    configuration = tmp_path / "drive-trace.toml"
    for text, expected in (
        ('[rules]\nundeclared-field = "hint"\n', {"unknown-value": 1, "undeclared-field": 4}),
        ('[rules]\nundeclared-field = "off"\n', {"unknown-value": 1}),
        (
            '[[overrides]]\npaths = ["*.jsonl"]\nrules = {unknown-value = "warning"}\n',
            {"unknown-value": 2, "undeclared-field": 2},
        ),
        ("", BOTH),
    ):
        alone.forget()
        configuration.write_text(text, encoding="utf-8")
        told(alone, configuration)
        assert severities(document) == expected
    # What is rejected stays rejected, whatever it is called.
    assert "rejected, not counted" in [title for _, title in document.lenses()]


def test_without_watchers_typing_has_the_disk_looked_at(alone: RawClient, tmp_path: Path) -> None:
    alone.initialize({}, **folder(tmp_path))
    document = open_trace(alone, tmp_path)
    assert severities(document) == BOTH
    text = '[rules]\nundeclared-field = "off"\n'
    (tmp_path / "drive-trace.toml").write_text(text, encoding="utf-8")
    document.replace("passed", "passes")
    assert severities(document) == {"unknown-value": 1}


def test_the_clients_own_rules_lie_over_the_configuration(alone: RawClient, tmp_path: Path) -> None:
    text = '[rules]\nundeclared-field = "hint"\nunknown-value = "warning"\n'
    (tmp_path / "drive-trace.toml").write_text(text, encoding="utf-8")
    rules = {"undeclared-field": "off", "unheard-of": "error", "unknown-value": "loud"}
    alone.initialize(WATCHES, initializationOptions={"rules": rules}, **folder(tmp_path))
    document = open_trace(alone, tmp_path)
    assert severities(document) == {"unknown-value": 2}
    alone.forget()
    changed = {"settings": {"driveTrace": {"rules": {"unknown-value": {"severity": "hint"}}}}}
    alone.notify("workspace/didChangeConfiguration", changed)
    assert severities(document) == {"unknown-value": 4, "undeclared-field": 4}


def test_a_broken_configuration_says_so_in_its_own_place(alone: RawClient, tmp_path: Path) -> None:
    alone.initialize(WATCHES, **folder(tmp_path))
    configuration = tmp_path / "drive-trace.toml"
    configuration.write_text('[rules]\nundeclared-feld = "off"  # 🚀\n', encoding="utf-8")
    document = open_trace(alone, tmp_path)
    assert severities(document) == BOTH  # as without one
    (finding,) = alone.diagnostics(configuration.as_uri())
    assert finding["range"] == {
        "start": {"line": 1, "character": 0},
        "end": {"line": 1, "character": 15},
    }
    assert "did you mean `undeclared-field`" in finding["message"]
    assert finding["source"] == "drive-trace"
    alone.forget()
    configuration.write_text('[rules]\nundeclared-field = "off"\n', encoding="utf-8")
    told(alone, configuration)
    assert severities(document) == {"unknown-value": 1}
    assert alone.diagnostics(configuration.as_uri()) == []


def test_a_client_that_asks_is_told_of_configurations_too(alone: RawClient, tmp_path: Path) -> None:
    alone.initialize({"textDocument": {"diagnostic": {}}}, **ALL_TRACES, **folder(tmp_path))
    configuration = tmp_path / "drive-trace.toml"
    configuration.write_text("[rules\n", encoding="utf-8")
    (tmp_path / "trace.jsonl").write_text(TEXT, encoding="utf-8")
    answer = alone.request("workspace/diagnostic", {"previousResultIds": []})
    reports = {each["uri"]: each["items"] for each in answer["items"]}
    assert [each["code"] for each in reports[(tmp_path / "trace.jsonl").as_uri()]] == [
        "unknown-value",
        "undeclared-field",
    ]
    (finding,) = reports[configuration.as_uri()]
    assert finding["message"].startswith("is not TOML")
    assert alone.received("textDocument/publishDiagnostics") == []


def test_typing_has_a_client_that_asks_do_so_again(alone: RawClient, tmp_path: Path) -> None:
    declared = {"diagnostics": {"refreshSupport": True}}
    alone.initialize(
        {"textDocument": {"diagnostic": {}}, "workspace": declared}, **folder(tmp_path)
    )
    uri = (tmp_path / "trace.jsonl").as_uri()
    alone.open(uri, TEXT)
    asked = {"textDocument": {"uri": uri}}
    assert len(alone.request("textDocument/diagnostic", asked)["items"]) == len(BOTH)
    configuration = tmp_path / "drive-trace.toml"
    configuration.write_text('[rules]\nundeclared-field = "off"\n', encoding="utf-8")
    end = {"line": 2, "character": 0}
    alone.change(uri, 2, {"range": {"start": end, "end": end}, "text": triage(note=2)})

    def asked_again() -> bool | None:
        return (
            any(each["method"] == "workspace/diagnostic/refresh" for each in alone.requests) or None
        )

    alone.wait_for(asked_again, "the word to ask again")
    report = alone.request("textDocument/diagnostic", asked)
    assert "undeclared-field" not in {each["code"] for each in report["items"]}


def test_a_baseline_hides_what_is_known_until_its_line_changes(
    alone: RawClient, tmp_path: Path
) -> None:
    (tmp_path / "trace.jsonl").write_text(TEXT, encoding="utf-8")
    (tmp_path / "drive-trace.toml").touch()
    command = [COMMAND, "check", "--write-baseline"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    baseline = tmp_path / "drive-trace-baseline.json"
    assert len(json.loads(baseline.read_text("utf-8"))["files"]["trace.jsonl"]) == 2

    alone.initialize(WATCHES, **folder(tmp_path))
    document = open_trace(alone, tmp_path)
    assert severities(document) == {}
    assert "rejected, not counted" in [title for _, title in document.lenses()]
    assert document.hover_text(PASSED).startswith("**not computable")
    document.edit((0, 0, triage(event_id="5f0e1d2c-3b4a-4958-8776-a5b4c3d2e1f0")))
    assert severities(document) == {}
    document.replace("passed", "passes")
    assert severities(document) == {"unknown-value": 1}
    alone.forget()
    baseline.unlink()
    told(alone, baseline)
    assert severities(document) == BOTH


@not_on_windows(NO_DEVICES)
def test_what_cannot_be_read_is_told_and_waited_for_by_nobody(
    alone: RawClient, tmp_path: Path
) -> None:
    alone.initialize(WATCHES, **folder(tmp_path))
    configuration, baseline = (
        tmp_path / "drive-trace.toml",
        tmp_path / "drive-trace-baseline.json",
    )
    os.mkfifo(configuration)
    baseline.symlink_to("/dev/zero")
    document = open_trace(alone, tmp_path)
    assert severities(document) == BOTH
    for path, said in (
        (configuration, "cannot be read: it is a pipe or a device, not a file"),
        (baseline, "not read: link out of the repository"),
    ):
        (finding,) = alone.diagnostics(path.as_uri())
        assert finding["message"] == said
        assert finding["range"]["end"] == {"line": 0, "character": 0}
    alone.forget()
    configuration.unlink()
    baseline.unlink()
    baseline.write_text('{\n  "version": 2,\n  "files": ["🚀", x]}', encoding="utf-8")
    told(alone, configuration)
    assert alone.diagnostics(configuration.as_uri()) == []
    (finding,) = alone.diagnostics(baseline.as_uri())
    assert finding["range"]["start"] == {"line": 2, "character": 18}
    assert finding["message"].startswith("is no baseline: it is not JSON: Expecting value; ")
