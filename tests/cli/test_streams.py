"""The command line, from outside: pipes, closed streams and terminals."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.cli.support import REJECTED, on_a_terminal, process, run, write
from tests.support.client_text import event, graded, triage
from tests.support.command import COMMAND
from tests.support.systems import POSIX_SHELL, not_on_windows

# Pipes and terminals


@pytest.mark.parametrize(
    "arguments",
    [
        ["check", "--output-format", "concise"],
        ["score", "--format", "json"],
    ],
)
def test_a_reader_that_has_enough_is_no_error(arguments: list[str], tmp_path: Path) -> None:
    runs = "".join(
        REJECTED.replace("run-1", f"run-{each}") + triage(run=f"run-{each}") for each in range(600)
    )
    path = write(tmp_path, "trace.jsonl", runs)
    with subprocess.Popen(
        [COMMAND, *arguments, str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        assert running.stdout.readline()
        running.stdout.close()
        assert running.stderr.read() == b""
        assert running.wait(30) == 0


def test_a_reader_that_never_reads_is_no_error() -> None:
    for arguments in (["--help"], ["check", "-"]):
        with subprocess.Popen(
            [COMMAND, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as running:
            assert running.stdout is not None
            running.stdout.close()
            running.stdout = None
            assert running.communicate(b"", timeout=120) == (None, b"")
            assert running.returncode == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_output_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    path = write(tmp_path, "trace.jsonl", REJECTED)
    with Path("/dev/full").open("wb") as full:
        for command in ("check", "score"):
            ended = subprocess.run(
                [COMMAND, command, path],
                stdout=full,
                stderr=subprocess.PIPE,
                timeout=120,
                check=False,
            )
            assert ended.returncode == 2
            assert (
                ended.stderr == b"drive-trace: cannot write the output: No space left on device\n"
            )
        # Nor what cannot be read: then there is only the exit code.
        ended = subprocess.run(
            [COMMAND, "check", "missing"],
            stdout=subprocess.PIPE,
            stderr=full,
            timeout=120,
            check=False,
        )
        assert (ended.returncode, ended.stdout) == (2, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("name", ["PYTHONUNBUFFERED=1", "PYTHONIOENCODING=ascii", "X=1"])
@pytest.mark.parametrize("arguments", [["--help"], ["score", "-"], ["check", "-"]])
def test_however_python_opens_its_output(name: str, arguments: list[str]) -> None:
    variable, _, value = name.partition("=")
    with Path("/dev/full").open("wb") as full:
        ended = subprocess.run(
            [COMMAND, *arguments],
            input=REJECTED.encode(),
            stdout=full,
            stderr=subprocess.PIPE,
            timeout=120,
            check=False,
            env={**os.environ, variable: value},
        )
    assert ended.stderr == b"drive-trace: cannot write the output: No space left on device\n"
    assert ended.returncode == 2


@not_on_windows(POSIX_SHELL)
@pytest.mark.parametrize(
    ("redirection", "code", "said"),
    [
        ("check trace.jsonl >&-", 1, ""),
        ("check missing.jsonl --diff 2>&-", 2, ""),
        ("check - >/dev/null <&-", 2, "drive-trace: -: standard input is closed\n"),
        ("serve <&-", 1, ""),
    ],
)
def test_closed_streams(redirection: str, code: int, said: str, tmp_path: Path) -> None:
    write(tmp_path, "trace.jsonl", REJECTED)
    ended = subprocess.run(
        ["/bin/sh", "-c", f'"$0" {redirection}', COMMAND],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=120,
        check=False,
    )
    assert (ended.returncode, ended.stdout.decode()) == (code, said)


def test_colour_is_for_terminals(tmp_path: Path) -> None:
    path = write(tmp_path, "trace.jsonl", REJECTED)
    assert "\x1b[" in on_a_terminal("check", path)
    assert "\x1b[" not in on_a_terminal("check", path, NO_COLOR="1")
    assert "\x1b[" not in process("check", path, env={**os.environ, "TERM": "xterm-256color"}).out


def test_a_trace_cannot_speak_to_the_terminal(tmp_path: Path) -> None:
    evil = "\x1b]0;pwned\x07\x1b[2J\x9b31m\r\u202e\u200b\n# CORRECT"
    text = (
        triage(run=evil, input_ref=evil)
        + graded("pass", evil, None, project_run_id=evil)
        + event(evil, evil)
        + triage(**{evil: evil})
        + f'{{"{evil}\n'
    )
    path = write(tmp_path, "trace.jsonl", text)
    for command in ("check", "score"):
        shown = on_a_terminal(command, path, NO_COLOR="1").replace("\r\n", "")
        assert shown.isprintable()
        assert "<U+001B>" in shown
    assert run("check", "--output-format", "concise", path).out.replace("\n", "").isprintable()
    assert "\x1b" not in run("score", "--format", "markdown", path).out
    assert [each["run_id"] for each in run("score", "--format", "json", path).json["runs"]] == [
        evil,
        "run-1",
    ]
