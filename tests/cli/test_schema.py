"""`schema` and `completion`, from outside: what programs and shells ask for."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from drive_trace.commands import COMMANDS
from drive_trace.vocabulary import EVENTS
from tests.cli.support import completed, process, run, shell, write
from tests.support.client_text import triage
from tests.support.systems import POSIX_SHELL, not_on_windows

SCHEMAS = Path(__file__).parents[2] / "schemas"


@pytest.mark.parametrize("name", EVENTS)
def test_the_schema_of_every_event(name: str) -> None:
    ran = run("schema", name)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == (SCHEMAS / f"{name}.schema.json").read_text("utf-8")
    assert json.loads(ran.out)["$id"] == f"urn:drive-trace:event:{name}"


def test_the_schema_of_any_event() -> None:
    assert process("schema").json["$id"] == "urn:drive-trace:event"


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("dispatch-edn", 'did you mean "dispatch-end"?'),
        ("dispatch-strt", 'did you mean "dispatch-start"?'),
        ("x", "there are "),
        ("../x", "there are "),
    ],
)
def test_no_such_event(name: str, hint: str) -> None:
    ran = run("schema", name)
    assert (ran.code, ran.out) == (2, "")
    assert hint in ran.err


# Completion


def test_events_runs_and_paths_are_completed(tmp_path: Path) -> None:
    trace = write(tmp_path, "trace.jsonl", triage(run="shop") + triage(run="search") + "{")
    target = ("--trace-file", trace, "--project-run-id")
    assert completed("record", *target, "s") == ["plain,shop", "plain,search"]
    assert completed("tokens", *target, "se") == ["plain,search"]
    assert completed("emit", "--trace-file", tmp_path, "--project-run-id", "s") == []
    assert completed("emit", "--project-run-id", "s") == []
    for given in ((tmp_path,), ()):
        found = completed("check", *given, "--run", "s", cwd=tmp_path)
        assert found == ["plain,shop", "plain,search"]
    assert completed("score", "--run", "se", cwd=tmp_path) == ["plain,search"]
    write(tmp_path, "other/trace.jsonl", triage(run="supply"))
    assert completed("score", tmp_path / "other", "--run", "s", cwd=tmp_path) == ["plain,supply"]
    assert completed("score", tmp_path / "none", "--run", "s") == []
    assert completed("emit", "--event", "round-") == ["plain,round-start", "plain,round-end"]
    assert completed("schema", "project-c") == ["plain,project-closed"]
    assert completed("check", "pro") == completed("emit", "--trace-file", "pro") == ["file,pro"]
    assert completed("record", "--qa", "p") == ["plain,pass"]
    assert completed("explain", "malformed-u") == ["plain,malformed-uuid"]
    assert [each.partition(",")[2] for each in completed("s")] == [
        name for name in COMMANDS if name.startswith("s")
    ]


@not_on_windows(POSIX_SHELL)
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_scripts_for_shells(shell: str) -> None:
    ran = run("completion", shell)
    assert (ran.code, ran.err) == (0, "")
    assert f"_DRIVE_TRACE_COMPLETE={shell}_complete" in ran.out
    binary = shutil.which(shell)
    if binary is not None:
        subprocess.run([binary, "-n"], input=ran.out.encode(), check=True)


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_bash_itself() -> None:
    script = (
        'eval "$(drive-trace completion bash)"\n'
        "COMP_WORDS=(drive-trace emit --event brief)\nCOMP_CWORD=3\n"
        "_drive_trace_completion drive-trace\necho ${COMPREPLY[@]}\n"
    )
    assert shell(script, program="bash") == (0, "brief-issued\n", "")
