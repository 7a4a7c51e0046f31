"""The command line, from outside: what it exits with, and its help."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from drive_trace.commands import COMMANDS
from tests.cli.support import CLEAN, REJECTED, WARNED, process, run, write

# Exit codes


@pytest.mark.parametrize(
    ("text", "fail_on", "code"),
    [
        (CLEAN, None, 0),
        ("", None, 0),
        (REJECTED, None, 1),
        (WARNED, None, 0),
        (REJECTED, "error", 1),
        (WARNED, "error", 0),
        (WARNED, "warning", 1),
        (WARNED, "information", 1),
        (REJECTED, "never", 0),
        (WARNED, "never", 0),
        (CLEAN, "information", 0),
    ],
)
def test_check_fails_on_what_it_was_told_to(text: str, fail_on: str | None, code: int) -> None:
    options = [] if fail_on is None else ["--fail-on", fail_on]
    for output_format in ("full", "concise", "json"):
        ran = run("check", "--output-format", output_format, *options, "-", stdin=text)
        assert ran.code == code
        assert ran.err == ""


@pytest.mark.parametrize(
    "arguments",
    [
        ["check", "--fail-on", "typos"],
        ["check", "--output-format", "xml"],
        ["check", "--nope"],
        ["score", "--format", "xml"],
        ["serve", "--tcp", "99999"],
        ["serve", "--tcp", "port"],
        ["emit"],
        ["emit", "--trace-file", "x", "--project-run-id", "x", "--event", "x"],
        ["completion"],
        ["completion", "powershell"],
        ["chekc"],
        [],
    ],
)
def test_usage_errors(arguments: list[str]) -> None:
    ran = run(*arguments)
    assert ran.code == 2
    assert ran.err.startswith("Usage: ")
    assert "Traceback" not in ran.err


SUBCOMMANDS = (["judge", "failures"], ["judge", "operator-turns"])


@pytest.mark.parametrize("command", [[], *([name] for name in COMMANDS), *SUBCOMMANDS])
def test_help_has_examples(command: list[str]) -> None:
    for option in ("--help", "-h"):
        ran = run(*command, option)
        assert (ran.code, ran.err) == (0, "")
        _, _, examples = ran.out.partition("Examples:\n")
        first = examples.splitlines()[0].strip()
        assert first.startswith(f"drive-trace {' '.join(command)}".strip())


def test_processes(tmp_path: Path) -> None:
    """The installed command itself, once a code."""
    clean, bad = write(tmp_path, "clean.jsonl"), write(tmp_path, "bad.jsonl", REJECTED)
    assert process("check", clean) == (0, "no findings in 1 trace\n", "")
    assert process("check", "-", stdin=REJECTED.encode()).code == 1
    assert process("check", tmp_path / "missing", bad).code == 2
    assert process("score", "--require-correct", clean).code == 1
    assert process("--version").out.startswith("drive-trace, version ")


def test_the_package_runs_as_a_module() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "drive_trace", "--version"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith("drive-trace, version ")
