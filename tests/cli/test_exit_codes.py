"""The command line, from outside: what it exits with, and its help."""

from pathlib import Path

import pytest

from drive_trace import commands
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


NARROW = {"completion", "emit", "explain", "record", "report", "schema", "score", "tokens"}
SUBCOMMANDS = (
    *(["judge", name] for name in ("failures", "operator-turns")),
    *(["suite", name] for name in ("status", "run-gates", "judge")),
)


@pytest.mark.parametrize("command", [[], *([name] for name in COMMANDS), *SUBCOMMANDS])
def test_help_has_examples_and_may_fit_into_80_columns(
    command: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    for option in ("--help", "-h"):
        ran = run(*command, option)
        assert (ran.code, ran.err) == (0, "")
        _, _, examples = ran.out.partition("Examples:\n")
        first = examples.splitlines()[0].strip()
        assert first.startswith(f"drive-trace {' '.join(command)}".strip())
        if NARROW.intersection(command):
            assert [line for line in ran.out.splitlines() if len(line) > 80] == []


def test_what_was_meant_is_guessed() -> None:
    assert "'chekc'. Did you mean 'check'?" in run("chekc").err
    assert "'--fixx'. Did you mean '--fix'?" in run("check", "--fixx").err
    tokens, rate = run("tokens", "--input-tokens", "1.5"), run("plan", "--rate", "nan")
    assert "expected a whole number from 0 up, found '1.5'" in tokens.err
    assert "expected a number above 0 and below 1, found 'nan'" in rate.err


def test_a_defect_is_one_line_and_exit_code_2(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def broken(**_: object) -> None:
        raise RuntimeError("no\x1b[31m")

    def leave(code: object) -> None:
        raise SystemExit(code)

    monkeypatch.setattr(commands, "cli", broken)
    monkeypatch.setattr(commands, "_leave", leave)
    monkeypatch.setattr(commands.terminal, "open_streams", lambda: None)
    monkeypatch.delenv(commands.TRACEBACK, raising=False)
    with pytest.raises(SystemExit) as end:
        commands.main()
    assert end.value.code == 2
    said = capfd.readouterr().err
    assert said.count("\n") == 1
    assert "RuntimeError" in said
    assert "Traceback" not in said


def test_processes(tmp_path: Path) -> None:
    """The installed command itself, once a code."""
    clean, bad = write(tmp_path, "clean.jsonl"), write(tmp_path, "bad.jsonl", REJECTED)
    assert process("check", clean) == (0, "no findings in 1 trace\n", "")
    assert process("check", "-", stdin=REJECTED.encode()).code == 1
    assert process("check", tmp_path / "missing", bad).code == 2
    assert process("score", "--require-correct", clean).code == 1
    assert process("--version").out.startswith("drive-trace, version ")
