"""Completion in real shells, at a keyboard: what strangers wrote is never run."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients.shells import SHELLS, Shell, is_here
from tests.support.client_text import triage

HOSTILE = (
    "r$(touch PWNED)",
    "r`touch PWNED`",
    "r;touch PWNED;",
    "r(touch PWNED)",
    "r{,$(touch PWNED)}",
    "r\x1b[2J\x07\x9b",
    "r,x;touch PWNED",
    "r'\"; touch PWNED; #",
    "r[e:'touch PWNED':]*",
)
OFFERED = "run-1/2026-05-28T14.00+x@y"


def trace(*runs: str) -> str:
    """A trace of runs, whose ids stand in it without escapes where they can."""
    return "".join(
        json.dumps(json.loads(triage()) | {"project_run_id": run}, ensure_ascii=False) + "\n"
        for run in runs
    )


@pytest.fixture(params=SHELLS)
def shell(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Shell]:
    if not is_here(request.param):
        if os.environ.get("DRIVE_TRACE_E2E") == "required":
            pytest.fail(f"{request.param} is not here; make clients installs it where it can")
        pytest.skip(f"{request.param} is not here; make clients installs it where it can")
    for name in ("home", "tree"):
        (tmp_path / name).mkdir()
    shell = Shell(request.param, tmp_path / "tree", tmp_path / "home")
    yield shell
    shell.close()


def test_run_ids_are_completed_and_never_run(shell: Shell, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    for number, run in enumerate(HOSTILE):
        (tree / f"t{number}.jsonl").write_text(trace(run), encoding="utf-8")
    (tree / "good.jsonl").write_text(trace("r$(touch PWNED)", OFFERED), encoding="utf-8")
    names = sorted(tree.iterdir())
    command = "drive-trace record --qa pass --trace-file {} --project-run-id r\t"
    for number, run in enumerate(HOSTILE):
        shell.enter(command.format(f"t{number}.jsonl"))
        assert sorted(tree.iterdir()) == names, run
    # And what is harmless is completed, so that the rest is not missing for another reason.
    shown = shell.enter(command.format("good.jsonl"))
    last = (tree / "good.jsonl").read_text("utf-8").splitlines()[-1]
    assert json.loads(last)["project_run_id"] == OFFERED, shown
    assert sorted(tree.iterdir()) == sorted([*names, tree / "good.jsonl.provenance.ndjson"])


def test_names_of_files_are_quoted_by_the_shell(shell: Shell, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    name = "evil $(touch PWNED);'x'.jsonl"
    (tree / name).write_text(trace("run-1"), encoding="utf-8")
    shown = shell.enter("drive-trace check e\t")
    assert [each.name for each in tree.iterdir()] == [name]
    assert "in 1 trace" in shown
