"""The server in plain JSON-RPC: a rule turned off, a finding known, a rule's page shown."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from drive_trace.storage.files import Problem
from drive_trace.storage.projects import Projects
from drive_trace.storage.toml_models import turn_off
from tests.server.support import command, start_command, write
from tests.support.client_text import triage
from tests.support.editor import Document
from tests.support.raw_client import RawClient, ResponseError

RULE = "out-of-range"
WRONG = triage().replace('"input_ref"', '"made_up":1,"input_ref"')
FOUND = "undeclared-field"


def opened(client: RawClient, path: Path, text: str, **capabilities: Any) -> Document:
    client.initialize(capabilities, rootUri=path.parent.as_uri())
    return Document(client, text, uri=write(path, text).as_uri())


def pick(document: Document, title: str) -> None:
    """Runs the command of an action beside the made-up field."""
    actions = {each["title"]: each for each in document.quick_fixes('"made_up"')}
    # VS Code resolves what it picks, be there an edit to make or not.
    action = document.client.request("codeAction/resolve", actions[title])
    assert action == actions[title]
    params = {key: action["command"][key] for key in ("command", "arguments")}
    document.client.request("workspace/executeCommand", params)


def codes(client: RawClient, document: Document) -> list[str]:
    """The rules of the findings, once they were published anew."""
    found = client.notification(
        "textDocument/publishDiagnostics", lambda params: params["uri"] == document.uri
    )
    return [each["code"] for each in found["diagnostics"]]


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        (f"Turn {FOUND} off for the project", f'\n[rules]\n{FOUND} = "off"\n'),
        (
            f"Turn {FOUND} off for this file",
            f'[[overrides]]\npaths = ["/runs/trace.jsonl"]\n\n[overrides.rules]\n{FOUND} = "off"\n',
        ),
    ],
)
def test_a_rule_is_turned_off(alone: RawClient, tmp_path: Path, title: str, expected: str) -> None:
    configuration = write(tmp_path / "drive-trace.toml", "# ours\n")
    document = opened(alone, tmp_path / "runs" / "trace.jsonl", WRONG)
    assert FOUND in codes(alone, document)
    alone.forget()
    pick(document, title)
    assert codes(alone, document) == []
    assert configuration.read_text("utf-8") == f"# ours\n{expected}"


def test_a_finding_is_added_to_the_baseline(alone: RawClient, tmp_path: Path) -> None:
    document = opened(alone, tmp_path / "trace.jsonl", WRONG)
    assert FOUND in codes(alone, document)
    alone.forget()
    pick(document, f"Add this {FOUND} to the baseline")
    assert codes(alone, document) == []
    known = json.loads((tmp_path / "drive-trace-baseline.json").read_text("utf-8"))["files"]
    assert [list(each) for each in known.values()] == [[FOUND]]


def test_one_more_copy_than_was_added_to_the_baseline_is_found(
    alone: RawClient, tmp_path: Path
) -> None:
    document = opened(alone, tmp_path / "trace.jsonl", 2 * triage())
    alone.notification("textDocument/publishDiagnostics")
    known = {"uri": document.uri, "rule": "duplicate-event-id", "line": 2}
    command(alone, "addToBaseline", **known)
    (file,) = json.loads((tmp_path / "drive-trace-baseline.json").read_text("utf-8"))[
        "files"
    ].values()
    assert list(file["duplicate-event-id"].values()) == [1]
    with pytest.raises(ResponseError, match="finds nothing on line 2 any more"):
        command(alone, "addToBaseline", **known)


def test_two_rules_are_turned_off_at_once(alone: RawClient, tmp_path: Path) -> None:
    document = opened(alone, tmp_path / "trace.jsonl", WRONG)
    rules = (FOUND, RULE)
    arguments = [{"uri": document.uri, "rule": rule} for rule in rules]
    started = [start_command(alone, "turnRuleOff", each) for each in arguments]
    assert all("result" in alone.response(each) for each in started)
    text = (tmp_path / "drive-trace.toml").read_text("utf-8")
    assert text == "[rules]\n" + "".join(f'{rule} = "off"\n' for rule in rules)


def test_what_keeps_a_rule_on_is_told(alone: RawClient, tmp_path: Path) -> None:
    text = f'[[overrides]]\npaths = ["*.jsonl"]\nrules.{FOUND} = "error"\n'
    write(tmp_path / "drive-trace.toml", text)
    document = opened(alone, tmp_path / "trace.jsonl", WRONG)
    command(alone, "turnRuleOff", uri=document.uri, rule=FOUND)
    (message,) = alone.received("window/showMessage")
    assert "It stays on here" in message["message"]


def test_the_page_of_a_rule_is_shown(alone: RawClient, tmp_path: Path) -> None:
    shows = {"window": {"showDocument": {"support": True}}}
    document = opened(alone, tmp_path / "trace.jsonl", WRONG, **shows)
    pick(document, f"Show the documentation of {FOUND}")
    asked = [each for each in alone.requests if each["method"] == "window/showDocument"]
    assert asked[0]["params"]["uri"].endswith(f"/{FOUND}.md")


def test_a_broken_configuration_is_left_as_it_is(alone: RawClient, tmp_path: Path) -> None:
    configuration = write(tmp_path / "drive-trace.toml", "[rules\n")
    document = opened(alone, tmp_path / "trace.jsonl", WRONG)
    with pytest.raises(ResponseError, match=r"drive-trace\.toml:1:"):
        pick(document, f"Turn {FOUND} off for the project")
    assert configuration.read_text("utf-8") == "[rules\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", f'[rules]\n{RULE} = "off"\n'),
        (
            "# why\n[rules]\r\nnot-compact = 'off' # noisy\r\n\n[judge]\n",
            f"# why\n[rules]\r\nnot-compact = 'off' # noisy\r\n{RULE} = \"off\"\n\n[judge]\n",
        ),
        (f'[rules]\n{RULE} = "error" # soon\n', f'[rules]\n{RULE} = "off" # soon\n'),
        ('rules.not-compact = "off"\n', f'rules.not-compact = "off"\nrules.{RULE} = "off"\n'),
        ('rules = {not-compact = "off"}\n', f'rules = {{not-compact = "off",{RULE} = "off"}}\n'),
    ],
)
def test_the_rest_of_a_configuration_stays(tmp_path: Path, before: str, after: str) -> None:
    path = tmp_path / "drive-trace.toml"
    if before:
        write(path, before)
    project = Projects(str(tmp_path)).of(str(tmp_path / "trace.jsonl"))
    assert not isinstance(turn_off(project, RULE, None), Problem)
    assert path.read_bytes().decode() == after


@pytest.mark.parametrize("name", ["trace.jsonl", "a b/[x]*.jsonl", "ü/!#.jsonl"])
def test_a_rule_is_off_for_one_file_and_no_other(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    for _ in range(2):  # the second time the table is there
        project = Projects(str(tmp_path)).of(str(path))
        turn_off(project, RULE, project.path_of(str(path)))
    off, on = off_for(tmp_path, [path, tmp_path / "a b" / "x.jsonl"])
    assert (off, on) == (True, False)
    assert (tmp_path / "drive-trace.toml").read_text("utf-8").count("[[overrides]]") == 1


def off_for(folder: Path, paths: Sequence[Path]) -> list[bool]:
    projects = Projects(str(folder))
    found = [projects.of(str(each)).settings_for(str(each)).severities for each in paths]
    return [each.get(RULE, "on") is None for each in found]
