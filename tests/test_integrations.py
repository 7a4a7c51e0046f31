"""The GitHub Action and the pre-commit hook: well-formed, and their command lines run."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.support import run
from tests.support.command import COMMAND

ROOT = Path(__file__).parent.parent
ACTION: Any = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
(HOOK,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))

needs_bash = pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")


def test_the_readme_uses_them_as_they_are() -> None:
    blocks = re.findall(r"```yaml\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)
    ((_, action), (hooks,)) = map(yaml.safe_load, blocks)
    assert action["with"].keys() <= ACTION["inputs"].keys()
    (hook,) = hooks["hooks"]
    assert hook["id"] == HOOK["id"]
    command = [*shlex.split(HOOK["entry"])[1:], *hook["args"]]
    assert run(*command, ROOT / "examples/projects/checkout-retry/trace.jsonl").code == 0


# The action


def step(name: str) -> Any:
    (found,) = (each for each in ACTION["runs"]["steps"] if each["name"] == name)
    return found


def in_bash(name: str, **env: str | Path) -> subprocess.CompletedProcess[str]:
    """Run the script of a step, as a runner does."""
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step(name)["run"]],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], **{key: str(value) for key, value in env.items()}},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def program(path: Path, script: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IEXEC)
    return path


def test_inputs_reach_scripts_as_variables_only() -> None:
    for each in ACTION["runs"]["steps"]:
        assert "${{" not in each.get("run", "")
    used = set(re.findall(r"inputs\.([a-z-]+)", (ROOT / "action.yml").read_text("utf-8")))
    assert used == ACTION["inputs"].keys() == {"paths", "fail-on", "python-version"}
    assert all(each["description"] for each in ACTION["inputs"].values())


@needs_bash
def test_the_action_installs_from_its_own_checkout(tmp_path: Path) -> None:
    # A Python that only says what it is asked for, and makes "environments" with itself in them.
    log = tmp_path / "log"
    python = program(
        tmp_path / "python",
        f'echo "$@" >> {shlex.quote(str(log))}\n'
        'if [ "$2" = venv ]; then mkdir -p "$3/bin"; cp "$0" "$3/bin/python"; fi',
    )
    done = in_bash(
        "Install drive-trace", PYTHON=python, RUNNER_TEMP=tmp_path / "t t", GITHUB_ACTION_PATH=ROOT
    )
    assert (done.returncode, done.stderr) == (0, "")
    made, locked, itself = log.read_text().splitlines()
    assert made == f"-m venv {tmp_path / 't t'}/drive-trace"
    assert locked.endswith(f"install --require-hashes -r {ROOT}/requirements.lock")
    assert itself.endswith(f"install --no-deps {ROOT}")
    assert (ROOT / "requirements.lock").is_file()


@needs_bash
def test_the_action_checks_the_paths_it_is_given(tmp_path: Path) -> None:
    program(tmp_path / "drive-trace/bin/drive-trace", 'for each; do echo "<$each>"; done; exit 1')
    paths = "projects\n  a b/trace.jsonl  \n\n$(touch hacked)\n--fix\n"
    done = in_bash("Check", RUNNER_TEMP=tmp_path, PATHS=paths, FAIL_ON="warning")
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.split("\n")[:-1] == [
        *("<check>", "<--output-format>", "<github>", "<--fail-on>", "<warning>", "<-->"),
        *("<projects>", "<a b/trace.jsonl>", "<$(touch hacked)>", "<--fix>"),
    ]


@needs_bash
@pytest.mark.parametrize(
    ("paths", "fail_on", "code"),
    [
        ("examples/projects/checkout-retry", "information", 0),
        ("examples/projects/checkout-retry\nexamples/projects/typical-mistakes", "error", 1),
        ("examples/projects/typical-mistakes", "never", 0),
        ("no-such-folder", "never", 2),
        ("examples", "typos", 2),
    ],
)
def test_the_action_fails_like_the_command(
    tmp_path: Path, paths: str, fail_on: str, code: int
) -> None:
    if "github" not in run("check", "--help").out:
        pytest.skip("check cannot write for GitHub yet")
    (tmp_path / "drive-trace/bin").mkdir(parents=True)
    (tmp_path / "drive-trace/bin/drive-trace").symlink_to(COMMAND)
    done = in_bash("Check", RUNNER_TEMP=tmp_path, PATHS=paths, FAIL_ON=fail_on)
    assert done.returncode == code, done.stderr
    assert ("::error " in done.stdout) == ("typical-mistakes" in paths)


# The hook


@pytest.mark.parametrize(
    ("path", "meant"),
    [
        ("trace.jsonl", True),
        ("projects/shop/trace.jsonl", True),
        ("wip/drive-trace/orphan-x.jsonl", True),
        ("a/wip/drive-trace/direct-2026-05-28T14:00:00Z.jsonl", True),
        ("my-trace.jsonl", False),
        ("trace.jsonl.md", False),
        ("wip/drive-trace/old/x.jsonl", False),
        ("other.jsonl", False),
    ],
)
def test_the_hook_is_for_traces(path: str, meant: bool) -> None:
    assert bool(re.search(HOOK["files"], path)) == meant


@pytest.mark.parametrize(("trace", "code"), [("checkout-retry", 0), ("typical-mistakes", 1)])
def test_the_hook_fails_on_errors(trace: str, code: int) -> None:
    assert HOOK["language"] == "python"
    command, *arguments = shlex.split(HOOK["entry"])
    assert command == Path(COMMAND).name
    ran = run(*arguments, ROOT / f"examples/projects/{trace}/trace.jsonl")
    assert (ran.code, ran.err) == (code, "")
