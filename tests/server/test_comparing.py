"""The server in plain JSON-RPC: one side of the workspace's runs against another."""

from pathlib import Path
from typing import Any

from tests.server.support import write
from tests.server.test_live import start
from tests.server.test_views import against, ask
from tests.support.client_text import apart, graded, triage
from tests.support.raw_client import RawClient


def run(name: str, verdict: str) -> str:
    return triage(project_run_id=name) + graded("pass", verdict, "pass", run=name)


def test_two_folders_are_compared_as_the_command_does(alone: RawClient, tmp_path: Path) -> None:
    for name in ("a", "b", "c", "d", "e", "f"):
        write(tmp_path / "old" / name / "trace.jsonl", apart(run(f"old-{name}", "fail")))
        write(tmp_path / "new" / name / "trace.jsonl", apart(run(f"new-{name}<b>", "pass")))
    start(alone, tmp_path)
    sides: dict[str, Any] = {
        "baseline": [(tmp_path / "old").as_uri()],
        "candidate": [(tmp_path / "new").as_uri()],
    }
    found = ask(alone, "compare", **sides)
    assert (found["answer"], found["title"]) == ("not-comparable", "not comparable")
    assert found["unverified"][:2] == ["case", "judge"]
    assert "Vouch for It…" in found["body"]
    assert "--allow-unverified" not in found["body"]
    allowed = ask(alone, "compare", **sides, allowed=found["unverified"])
    assert (allowed["answer"], allowed["unverified"]) == ("better", [])
    assert "<b>" not in allowed["body"]
    few = {"baselineRuns": ["old-a"], "candidateRuns": ["new-a<b>", "new-b<b>"]}
    found = ask(alone, "compare", **sides, **few, allowed=["all"])
    assert (found["answer"], "2 of 2" in found["body"]) == ("cannot-tell", True)


def test_nothing_outside_the_workspace_is_compared(alone: RawClient, tmp_path: Path) -> None:
    inside = write(tmp_path / "in" / "trace.jsonl", apart(run("a", "pass"))).as_uri()
    outside = write(tmp_path / "out" / "trace.jsonl", apart(run("b", "pass"))).as_uri()
    start(alone, tmp_path / "in")
    sides = {"baseline": [inside], "candidate": [outside, "untitled:trace.jsonl"]}
    assert against(alone, "compare", **sides) == "the candidate has no trace of the workspace"
    assert '"luck" is none of all, case' in against(alone, "compare", **sides, allowed=["luck"])
    assert "got `str` - at `$.baseline`" in against(alone, "compare", baseline="in")
