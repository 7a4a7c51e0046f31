"""The command line, from outside: pipes, closed streams and terminals."""

import json
import os
import subprocess
from pathlib import Path
from uuid import NAMESPACE_OID, uuid5

import pytest

from tests.cli.support import REJECTED, process, shell, write
from tests.support.client_text import graded, triage
from tests.support.command import COMMAND
from tests.support.systems import POSIX_SHELL, not_on_windows

# Pipes and terminals


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["check", "--output-format", "concise"], 1),
        (["check", "--fail-on", "never"], 0),
        (["score", "--format", "json"], 0),
        (["score", "--require-correct"], 1),
        (["report", "--format", "html"], 0),
    ],
)
@pytest.mark.parametrize("most", [1, 5000, 70_000])
def test_a_reader_that_has_enough_changes_no_exit_code(
    arguments: list[str], code: int, most: int, tmp_path: Path
) -> None:
    runs = "".join(
        REJECTED.replace("run-1", f"run-{each}") + triage(run=f"run-{each}") for each in range(600)
    )
    path = write(tmp_path, "trace.jsonl", runs)
    with subprocess.Popen(
        [COMMAND, *arguments, str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        assert running.stdout.read(most)
        running.stdout.close()
        assert b"output" not in running.stderr.read()
        assert running.wait(30) == code


def unread(*arguments: str | Path, stdin: bytes = b"", both: bool = True) -> tuple[int, str]:
    """The exit code of a command whose reader has gone before it began, as of ``2>&1 | true``, and
    what it says on standard error if that has a reader.
    """
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as gone:
        pipes = {"stdout": gone, "stderr": gone} if both else {"stdout": gone}
        ran = process(*arguments, stdin=stdin, **pipes)
    return ran.code, ran.err


@pytest.fixture
def sides(here: Path) -> None:
    """Runs of which none is CORRECT in ``bad``, and all are in ``good``."""
    write(here, "drive-trace.toml", "")
    for at in range(20):
        for side, qa in (("good", "pass"), ("bad", "fail")):
            run = f"{side}-{at}"
            ids = [str(uuid5(NAMESPACE_OID, f"{run} {number}")) for number in range(2)]
            text = triage(run=run, event_id=ids[0])
            text += graded("pass", qa, "pass", run=run, event_id=ids[1])
            write(here, f"{side}/{at}/trace.jsonl", text)
    write(here, "rejected/trace.jsonl", REJECTED)
    write(here, "labels.csv", "case,human,judge\nc1,fail,pass\n")
    write(here, "turns.txt", "please\n")
    write(here, "log.jsonl", '{"type":"user","message":{"role":"user","content":"please"}}\n')


SIDES = ["--baseline", "good", "--candidate", "bad", "--allow-unverified"]
SORTING = ["operator-turns", "turns.txt", "--model", "m", "--model-command"]


@pytest.mark.usefixtures("sides")
@pytest.mark.parametrize(
    ("command", "code"),
    [
        (["--help"], 0),
        (["score", "--help"], 0),
        (["score", "good", "--require-correct"], 0),
        (["score", "bad", "--require-correct"], 1),
        (["score", "bad", "missing"], 2),
        (["score", "--nope"], 2),
        (["check", "good"], 0),
        (["check", "rejected"], 1),
        (["check", "--statistics", "rejected"], 1),
        (["check", "--diff", "rejected"], 1),
        (["check", "--fix", "-"], 1),
        (["check", "missing"], 2),
        (["compare", *SIDES], 0),
        (["compare", *SIDES, "--fail-on", "worse"], 1),
        (["compare", *SIDES[:-1]], 3),
        (["compare", *SIDES, "--fail-on", "worse", "--out", "/dev/stdout"], 1),
        (["report", "bad"], 0),
        (["report", "bad", "missing"], 2),
        (["report", "bad", "--out", "/dev/stdout"], 0),
        (["fleet", "bad", "--out", "-"], 0),
        (["fleet", "bad", "missing"], 2),
        (["calibrate", "labels.csv", "--model", "m"], 1),
        (["judge", *SORTING, "echo no"], 3),
        (["judge", *SORTING, """echo '{"reasons":["r"],"class":"legitimate-design"}'"""], 0),
        (["reconstruct", "log.jsonl"], 0),
        (["reconstruct", "turns.txt"], 2),
        (["explain", "unknown-value"], 0),
        (["explain", "unknown-valu"], 2),
        (["schema", "dispatch-start"], 0),
        (["completion", "bash"], 0),
    ],
)
@not_on_windows(POSIX_SHELL)
def test_the_exit_code_is_the_same_whoever_reads(command: list[str], code: int) -> None:
    assert unread(*command, stdin=REJECTED.encode()) == (code, "")


TARGET = ["--trace-file", "good/0/trace.jsonl", "--project-run-id", "good-0"]


@pytest.mark.usefixtures("sides")
@pytest.mark.parametrize(
    ("command", "code", "recorded"),
    [
        (["gate", "--component", "qa", "--run", "echo tested; exit 1"], 1, {"qa": "fail"}),
        (["gate", "--component", "qa", "--run", "seq 99999; exit 1"], 1, {"qa": "fail"}),
        (["gate", "--component", "qa", "--run", "echo tested"], 0, {"qa": "pass"}),
        (["gate", "--component", "qa", "--run", "kill -9 $$"], 3, {"severity": "low"}),
        (["record", "--intent", "fail"], 0, {"intent": "fail"}),
        (["record"], 2, {"severity": "low"}),
        (["tokens", "--usage", "-"], 0, {"output_tokens": 7}),
        (["emit", "--event", "round-start", "--payload", "{}"], 1, {"severity": "low"}),
    ],
)
@pytest.mark.parametrize("both", [True, False])
@not_on_windows(POSIX_SHELL)
def test_what_came_of_it_is_recorded_whoever_reads(
    command: list[str], code: int, recorded: dict[str, object], both: bool, tmp_path: Path
) -> None:
    path = tmp_path / "good/0/trace.jsonl"
    path.write_text(path.read_text() + triage(run="good-0", severity="low"))
    assert unread(*command, *TARGET, stdin=b'{"outputTokens":7}', both=both)[0] == code
    last = json.loads(path.read_text().splitlines()[-1])
    assert {name: last.get(name) for name in recorded} == recorded


@pytest.mark.usefixtures("sides")
@not_on_windows(POSIX_SHELL)
def test_why_it_failed_is_told_to_whom_is_left() -> None:
    code, said = unread("score", "bad/0", "--require-correct", both=False)
    assert code == 1
    assert "--require-correct: bad-0: INCORRECT" in said


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_standard_error_fails_alone_and_the_work_goes_on() -> None:
    with Path("/dev/full").open("wb") as full:
        ran = process("check", "missing", stderr=full)
    assert ran.code == 2
    assert ran.out.startswith("missing:1:1: error[unreadable-file]")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("name", ["PYTHONUNBUFFERED=1", "PYTHONIOENCODING=ascii", "X=1"])
@pytest.mark.parametrize("arguments", [["--help"], ["score", "-"], ["check", "-"]])
def test_however_python_opens_its_output(name: str, arguments: list[str]) -> None:
    variable, _, value = name.partition("=")
    environment = {**os.environ, variable: value}
    with Path("/dev/full").open("wb") as full:
        ran = process(*arguments, stdin=REJECTED.encode(), stdout=full, env=environment)
    said = "drive-trace: cannot write the output: No space left on device\n"
    assert (ran.code, ran.err) == (2, said)


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
    ran = shell(f'"$0" {redirection}', cwd=tmp_path, stderr=subprocess.STDOUT)
    assert (ran.code, ran.out) == (code, said)
