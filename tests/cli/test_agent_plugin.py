"""The plugin for Claude Code: its files are what the public schema says, and are made of what there
is.
"""

import json
import os
import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
from click import Group
from jsonschema import Draft7Validator

from drive_trace.commands import cli
from drive_trace.hook import _EVENTS
from drive_trace.vocabulary import EVENTS
from tests.cli.support import run, write
from tests.support.command import COMMAND
from tests.support.systems import POSIX_SHELL, not_on_windows

ROOT = Path(__file__).parent.parent.parent
DOCS = (ROOT / "docs/agents.md").read_text("utf-8")
PLUGIN = ROOT / "editors/claude-code"


def closed(required: str, **properties: Any) -> dict[str, Any]:
    """An object with some of these properties and no others."""
    return {
        "type": "object",
        "properties": properties,
        "required": required.split(),
        "additionalProperties": False,
    }


# What the schema claude-code-plugin-manifest.json of SchemaStore (generated on 2026-04-23) says of
# the properties that we use, in our words; it allows more. `hooks/hooks.json` and `.lsp.json` hold
# what the manifest would hold at `hooks` and `lspServers`.
TEXT = {"type": "string", "minLength": 1}
ADDRESS = {"type": "string", "pattern": "^https://"}
MANIFEST = closed(
    "name",
    **{"$schema": TEXT, "name": {**TEXT, "pattern": "^[a-z0-9]+(-[a-z0-9]+)*$"}},
    version={"type": "string", "pattern": r"^\d+\.\d+\.\d+"},
    description=TEXT,
    author=closed("name", name=TEXT, email=TEXT, url=TEXT),
    homepage=ADDRESS,
    repository=TEXT,
    license=TEXT,
    keywords={"type": "array", "items": TEXT},
)
ACTION = closed(
    "type command",
    type={"const": "command"},
    command=TEXT,
    timeout={"type": "number", "exclusiveMinimum": 0},
)
MATCHERS = closed("hooks", matcher=TEXT, hooks={"type": "array", "items": ACTION})
NAMES = [
    *("PreToolUse", "PostToolUse", "PostToolUseFailure", "Notification", "UserPromptSubmit"),
    *("SessionStart", "SessionEnd", "Stop", "SubagentStart", "SubagentStop", "PreCompact"),
]
HOOKS = closed(
    "hooks",
    description=TEXT,
    hooks={
        "type": "object",
        "propertyNames": {"enum": NAMES},
        "additionalProperties": {"type": "array", "items": MATCHERS},
    },
)
SERVERS = {
    "type": "object",
    "additionalProperties": closed(
        "command extensionToLanguage",
        command=TEXT,
        args={"type": "array", "items": TEXT},
        extensionToLanguage={
            "type": "object",
            "propertyNames": {"minLength": 2, "pattern": r"^\."},
            "additionalProperties": TEXT,
        },
    ),
}
LISTED = closed("name source", name=TEXT, description=TEXT, source={"pattern": r"^\./"})
MARKETPLACE = closed(
    "name owner plugins",
    name=TEXT,
    owner=closed("name", name=TEXT),
    plugins={"type": "array", "items": LISTED},
)


def content(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))


@pytest.mark.parametrize(
    ("name", "schema"),
    [
        ("editors/claude-code/.claude-plugin/plugin.json", MANIFEST),
        ("editors/claude-code/hooks/hooks.json", HOOKS),
        ("editors/claude-code/.lsp.json", SERVERS),
        (".claude-plugin/marketplace.json", MARKETPLACE),
    ],
)
def test_each_file_is_what_its_schema_says(name: str, schema: dict[str, Any]) -> None:
    Draft7Validator.check_schema(schema)
    assert [
        each.message for each in Draft7Validator(schema).iter_errors(content(ROOT / name))
    ] == []


def test_the_marketplace_leads_to_the_plugin() -> None:
    (plugin,) = content(ROOT / ".claude-plugin/marketplace.json")["plugins"]
    manifest = content(ROOT / plugin["source"] / ".claude-plugin/plugin.json")
    assert (plugin["name"], plugin["description"]) == (manifest["name"], manifest["description"])


def test_the_hooks_are_those_that_are_acted_on() -> None:
    hooks = content(PLUGIN / "hooks/hooks.json")["hooks"]
    assert hooks.keys() == _EVENTS
    commands = {each["command"] for of in hooks.values() for one in of for each in one["hooks"]}
    (command,) = commands
    assert run(*shlex.split(command)[1:], stdin='{"cwd":"/","hook_event_name":"Stop"}').code == 0
    (matcher,) = (each["matcher"] for each in hooks["PostToolUse"])
    assert all(re.fullmatch(matcher, each) for each in ("Write", "Edit", "Agent"))


def test_the_server_is_started_as_in_other_editors() -> None:
    ((server),) = content(PLUGIN / ".lsp.json").values()
    assert (server["command"], server["args"]) == ("drive-trace", ["serve"])


def test_the_skill_tells_of_every_event_and_of_commands_that_there_are() -> None:
    text = (PLUGIN / "skills/drive-trace/SKILL.md").read_text("utf-8")
    _, front, body = text.split("---\n", 2)
    assert re.match(r"name: drive-trace\ndescription: .{50,1024}\n\Z", front)
    assert isinstance(cli, Group)
    for command in re.findall(r"`drive-trace ([a-z]+)", body):
        assert command in cli.list_commands(None)  # type: ignore[arg-type]
    for event in EVENTS:
        assert f"- **{event}**: " in body
    for event, words in re.findall(r"`drive-trace emit ([a-z-]+)([^`]*)`", body):
        assert {*re.findall(r"(\w+)=", words)} <= {*EVENTS[event].fields}


@not_on_windows(POSIX_SHELL)
def test_what_the_docs_have_for_other_agents_works(here: Path) -> None:
    (table,) = re.findall(r"printf '(.*?)' >> drive-trace.toml", DOCS)
    write(here, "drive-trace.toml", table.replace("\\n", "\n"))
    write(here, "brief.md", "Add a retry")
    (begin,) = re.findall(r"    (drive-trace emit project-started .*)", DOCS)
    (delegate,) = re.findall(r"```sh\n(drive-trace emit.*?)```", DOCS, re.DOTALL)
    path = f"{Path(COMMAND).parent}:{os.environ['PATH']}"
    names = {"PATH": path, "NAME": "retry D1", "KIND": "coder", "BRIEF": "brief.md"}
    for script in (begin, delegate):
        ran = subprocess.run(
            ["sh", "-c", script], env=os.environ | names, capture_output=True, check=False
        )
        assert ran.returncode == 0, ran.stderr
    lines = (here / "projects/shop/trace.jsonl").read_text().splitlines()
    events = [json.loads(line)["event_type"] for line in lines]
    assert events == ["project-started", "dispatch-start", "round-start", "brief-issued"]
    for command in re.findall(r"`drive-trace emit ([a-z-]+)", DOCS):
        assert command in EVENTS
