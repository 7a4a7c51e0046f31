"""What a stranger wrote into names and ids is shown, and obeyed by nobody."""

import json
import os
import re
import subprocess
from pathlib import Path
from uuid import UUID

import click
import pytest

from drive_trace.commands import cli
from tests.cli.support import process, run, write
from tests.support.client_text import event, graded
from tests.support.command import COMMAND, SERVE
from tests.support.raw_client import RawClient

HOSTILE = (
    "::error::obeyed",
    " ::add-mask::obeyed",
    "##[error]obeyed",
    "a ##vso[task.complete]obeyed",
    "a\n::error::obeyed",
    "a\r::error::obeyed",
    "a\u2028::error::obeyed\u0085::error::obeyed",
    "\x1b]0;obeyed\x07",
    "\x1b[2J\x9b31m\u202e\u200b # CORRECT",
    # What wraps lines breaks one at each white space.
    f"{'x' * 70} ::error::obeyed {'x' * 70} ::error::obeyed",
    " ::error::obeyed" * 15,
)
COMMANDS = tuple(
    (command, option, chosen)
    for command, option in (
        ("score", "--format"),
        ("report", "--format"),
        ("check", "--output-format"),
    )
    for param in cli.get_command(click.Context(cli), command).params
    if option in param.opts and isinstance(param.type, click.Choice)
    for chosen in param.type.choices
)
EXIT = {"score": 0, "report": 0, "check": 1}
OBEYED = re.compile(
    r"\A\s*::(?!(?:error|warning|notice) title=drive-trace )|##(?:\[|vso\[)|[\x1b\x07]"
)


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_no_line_is_a_command_of_a_runner(here: Path, command: tuple[str, ...], text: str) -> None:
    folder = Path(text.replace("/", "_"))
    folder.mkdir()
    trace = (
        graded("pass", "fail", None, project_run_id=text)
        + event("dispatch-start", text, dispatch_id=text, dispatch_name=text)
        + event(text, text)
        + text.replace("\n", "")
        + "\n"
    )
    (folder / "trace.jsonl").write_text(trace, "utf-8")
    write(Path(), "copy/trace.jsonl", trace)
    ran = run(*command, ".")
    assert ran.code == EXIT[command[0]], ran.err
    assert ran.out
    lines = (ran.out + ran.err).split("\n")
    assert [line for line in lines if OBEYED.search(line)] == []
    if command[-1] not in ("json", "gitlab"):
        assert "".join(lines).isprintable()


def test_each_format_is_tried() -> None:
    assert {command for command, *_ in COMMANDS} == set(EXIT)
    assert len(COMMANDS) == 14


def test_a_message_of_sarif_holds_no_link() -> None:
    name = "[x](command:obeyed)"
    ran = run("check", "--output-format", "sarif", "-", stdin=event("plan-authored", **{name: 1}))
    assert "\\\\[x\\\\](command:obeyed)" in ran.out
    assert f"`{name}`" not in ran.out


TARGET = ("--trace-file", "trace.jsonl", "--project-run-id")


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize(
    "command",
    [
        ("record", "--qa", "pass", *TARGET),
        ("record", "--qa", "pass", "--new-run", *TARGET),
        ("tokens", "--input-tokens", "1", *TARGET),
        ("tokens", "--project-run-id", "r", "--input-tokens", "1", "--trace-file"),
        ("emit", "--event", "plan-authored", "--payload", '{"::error::x":1}', *TARGET),
        ("emit", *TARGET, "r", "--payload", "{}", "--event"),
        ("emit", *TARGET, "r", "--event", "plan-authored", "--payload"),
        ("explain",),
        ("schema",),
    ],
    ids=" ".join,
)
def test_no_argument_is_a_command_of_a_runner(
    here: Path, command: tuple[str, ...], text: str
) -> None:
    write(here, "trace.jsonl", graded("pass", None, None, project_run_id=text))
    ran = run(*command, text)
    lines = (ran.out + ran.err).splitlines()
    assert lines
    assert [line for line in lines if OBEYED.search(line)] == []


def test_a_diff_is_exact_in_a_file_and_obeyed_in_no_log(tmp_path: Path) -> None:
    trace = " ::error::obeyed\n##[error]obeyed\n" + event("plan-authored").replace(":", ": ")
    write(tmp_path, "trace.jsonl", trace)
    log = {**os.environ, "CI": "true"}
    shown = process("check", "--diff", "trace.jsonl", cwd=tmp_path, env=log).out
    assert "obeyed" in shown
    assert [line for line in shown.splitlines() if OBEYED.search(line)] == []
    with (tmp_path / "fix.patch").open("wb") as patch:
        command = [COMMAND, "check", "--diff", "trace.jsonl"]
        subprocess.run(command, stdout=patch, cwd=tmp_path, env=log, check=False)
    exact = (tmp_path / "fix.patch").read_text("utf-8")
    assert "\n  ::error::obeyed\n ##[error]obeyed\n-{" in exact


MARKUP = ("[x](command:obeyed) <img src=obeyed>", "`[x](command:obeyed)`` <img src=obeyed>")
CODE = re.compile(r"(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)", re.DOTALL)


def trace_with(text: str) -> str:
    """A run and a dispatch that are called so, as readers accept them."""
    start = event(
        "dispatch-start",
        project_run_id=text,
        dispatch_id=str(UUID(int=4 << 76 | 1 << 63)),
        dispatch_name=text,
        subagent_type=text,
        model=text,
        parent_dispatch_id=None,
    )
    return graded("pass", "fail", None, project_run_id=text) + start


@pytest.mark.parametrize("text", MARKUP)
def test_markdown_in_an_editor_holds_it_as_code_only(text: str) -> None:
    uri, trace = "file:///hostile/trace.jsonl", trace_with(text)
    with RawClient(SERVE) as client:
        client.initialize({"textDocument": {"hover": {"contentFormat": ["markdown"]}}})
        client.open(uri, trace)
        shown = []
        for number, record in enumerate(trace.splitlines()):
            for found in re.finditer(r'"[^"]+"', record):
                at = {"line": number, "character": found.start() + 1}
                asked = {"textDocument": {"uri": uri}, "position": at}
                hover = client.request("textDocument/hover", asked)
                shown.append(hover["contents"]["value"] if hover else "")
        assert any("command:obeyed" in each for each in shown)
        assert [each for each in shown if "obeyed" in CODE.sub("", each)] == []
        assert client.shutdown() == 0


@pytest.mark.parametrize("text", MARKUP)
@pytest.mark.parametrize("chosen", ["html", "markdown", "json"])
def test_a_report_holds_it_as_text(chosen: str, text: str) -> None:
    out = run("report", "-", "--format", chosen, stdin=trace_with(text)).out
    assert "obeyed" in out
    if chosen == "html":
        assert "<img" not in out
        assert [each for each in re.findall(r'(?:href|src)="[^"]*', out) if "obeyed" in each] == []
    elif chosen == "markdown":
        assert "obeyed" not in CODE.sub("", out)
    else:
        assert text in json.dumps(json.loads(out)).replace('\\"', '"')


@pytest.mark.parametrize("ts", ["<img src=//x.yz>", "2026-01-01|**b**", "[x](//obeyed.yz)"])
def test_a_time_that_is_none_is_code_in_the_table_of_runs(ts: str) -> None:
    other = trace_with("other").replace("2026-05-28T14:00:00.000Z", ts)
    out = run("report", "-", "--format", "markdown", stdin=trace_with("one") + other).out
    row = next(each for each in out.splitlines() if each.startswith("| `other` |"))
    assert ts[:16].replace("|", "\\|") in row
    assert not re.search(r"img|obeyed|\*\*", CODE.sub("", row))
