"""The example of grading does what its page says, and leaves the checkout as it is."""

import os
from pathlib import Path

from tests.cli.support import process
from tests.support.command import COMMAND

EXAMPLE = Path(__file__).resolve().parents[2] / "examples/grading"


def shell(*command: str | Path, cwd: Path) -> str:
    path = f"{Path(COMMAND).parent}{os.pathsep}{os.environ['PATH']}"
    ran = process(*command, program=(), cwd=cwd, env={**os.environ, "PATH": path})
    assert ran.code == 0, ran
    return ran.out


def files() -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in EXAMPLE.rglob("*") if path.is_file()}


def test_what_a_newcomer_sees_first_is_clean() -> None:
    said = shell(COMMAND, "score", ".", cwd=EXAMPLE.parent)
    assert "checkout-retry\n  CORRECT\n" in said
    assert ("not read" in said, "left out" in said) == (False, False)


def test_one_run_becomes_correct_and_the_other_incorrect(tmp_path: Path) -> None:
    before = files()
    said = shell(EXAMPLE / "demo.sh", cwd=tmp_path)
    told = (
        "not computable: 2 runs, none graded yet",
        "\ncalibrated\n",
        "orders-json-a: not computable — missing: qa, intent",
        "orders-json-a: not computable — missing: intent",
        "orders-json-a: CORRECT\n",
        "orders-json-b: not computable — missing: intent",
        "orders-json-b: INCORRECT — intent failed",
        "- AC-3 does not hold: `except OSError` is added (orders.py:11).",
        "1 CORRECT · 1 INCORRECT.",
        "exit 1, as it should",
    )
    at = -1
    for each in told:
        at = said.index(each, at + 1)
    assert files() == before
    assert [*tmp_path.iterdir()] == []


def test_its_history_is_always_the_same(tmp_path: Path) -> None:
    for name in ("one", "two"):
        shell(EXAMPLE / "history.sh", tmp_path / name, cwd=tmp_path)
    one, two = (
        shell("git", "log", "--all", "--format=%H %an %ad %s", cwd=tmp_path / name)
        for name in ("one", "two")
    )
    assert one == two
    assert len(one.splitlines()) == 4
