"""What a stranger wrote into names and ids is shown, and obeyed by nobody."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cli.support import run
from tests.support.client_text import event, graded

HOSTILE = (
    "::error::obeyed",
    " ::add-mask::obeyed",
    "##[error]obeyed",
    "a ##vso[task.complete]obeyed",
    "a\n::error::obeyed",
    "a\r::error::obeyed",
    "a\u2028::error::obeyed\u0085::error::obeyed",
    "\x1b]0;obeyed\x07",
)
COMMANDS = (
    ("score",),
    ("score", "--output-format", "markdown"),
    ("report",),
    ("check",),
    ("check", "--output-format", "github"),
)
OBEYED = re.compile(
    r"\A\s*::(?!(?:error|warning|notice) title=drive-trace )|##(?:\[|vso\[)|[\x1b\x07]"
)


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_no_line_is_a_command_of_a_runner(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...], text: str
) -> None:
    monkeypatch.chdir(tmp_path)
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
    ran = run(*command, ".")
    lines = (ran.out + ran.err).splitlines()
    assert lines
    assert [line for line in lines if OBEYED.search(line)] == []


def test_a_message_of_sarif_holds_no_link() -> None:
    name = "[x](command:obeyed)"
    ran = run("check", "--output-format", "sarif", "-", stdin=event("plan-authored", **{name: 1}))
    assert "\\\\[x\\\\](command:obeyed)" in ran.out
    assert f"`{name}`" not in ran.out
