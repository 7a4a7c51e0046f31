"""The server in plain JSON-RPC: a run in several files is judged as one, open or not."""

from collections import Counter
from pathlib import Path
from typing import Any

from tests.cli.support import run
from tests.cli.test_spread_runs import at
from tests.server.support import ALL_TRACES, folder, published, write
from tests.support.editor import Document
from tests.support.raw_client import RawClient

PULLS = {"textDocument": {"diagnostic": {}}, "workspace": {"diagnostics": {"refreshSupport": True}}}
PUSHED = {"textDocument": {"publishDiagnostics": {"relatedInformation": True}}}


ACROSS = {"unknown-dispatch", "stale-verdict"}
START = at(1, "dispatch-start", dispatch_id="d1", parent_dispatch_id=None)
END = at(9, "dispatch-end", dispatch_id="d1", wall_clock_ms=480_000)
GRADE = at(5, "correctness-recorded", mechanical="pass", qa="pass", intent="pass")


def shown(client: RawClient, uri: str, wanted: set[str]) -> list[Any]:
    """What these two rules find in a document, once it is what is wanted."""

    def find() -> tuple[list[Any]] | None:
        for last in published(client, uri)[-1:]:
            found = [each for each in last["diagnostics"] if each["code"] in ACROSS]
            if {each["code"] for each in found} == wanted:
                return (found,)
        return None

    return client.wait_for(find, f"{wanted} in {uri}")[0]


def test_an_open_trace_is_judged_with_its_neighbours(alone: RawClient, tmp_path: Path) -> None:
    start = write(tmp_path / "a" / "trace.jsonl", START + GRADE).as_uri()
    alone.initialize(PUSHED, **folder(tmp_path))
    end = Document(alone, END, uri=write(tmp_path / "b" / "trace.jsonl", END).as_uri())
    shown(alone, end.uri, set())
    # A neighbour that is open counts as the editor has it, and is judged with this one, too.
    other = Document(alone, START + GRADE, uri=start)
    (stale,) = shown(alone, other.uri, {"stale-verdict"})
    assert "up to line 1 of b/trace.jsonl" in stale["message"]
    (related,) = stale["relatedInformation"]
    assert related["location"]["uri"] == end.uri
    other.rewrite(GRADE)
    shown(alone, end.uri, {"unknown-dispatch"})
    other.rewrite(START)
    shown(alone, end.uri, set())


def test_closed_traces_are_judged_with_each_other(alone: RawClient, tmp_path: Path) -> None:
    write(tmp_path / "a" / "trace.jsonl", START)
    end = write(tmp_path / "b" / "trace.jsonl", END).as_uri()
    alone.initialize(PULLS, **ALL_TRACES, **folder(tmp_path))
    Document(alone, GRADE.replace("run-1", "run-2"))  # the first one has the folder read

    def codes() -> list[str] | None:
        answer = alone.request("workspace/diagnostic", {"previousResultIds": []})
        (found,) = [each["items"] for each in answer["items"] if each["uri"] == end]
        codes = [each["code"] for each in found]
        return codes if "unknown-dispatch" not in codes else None

    alone.wait_for(codes, "the dispatch to be known")


def test_findings_of_closed_traces_are_counted_as_check_finds_them(
    alone: RawClient, tmp_path: Path
) -> None:
    write(tmp_path / "a" / "trace.jsonl", START + GRADE)
    write(tmp_path / "b" / "trace.jsonl", END)
    write(tmp_path / "c" / "trace.jsonl", at(3, "dispatch-end", project_run_id="run-2"))
    found = run("check", "--output-format", "json", str(tmp_path)).json
    expected = Counter("run-2" if "c/trace" in each["path"] else "run-1" for each in found)
    codes = {each["code"] for each in found if "c/trace" not in each["path"]}
    assert "stale-verdict" in codes
    assert "unknown-dispatch" not in codes
    alone.initialize({}, **ALL_TRACES, **folder(tmp_path))
    runs = alone.request("driveTrace/runs", {})["runs"]
    assert {each["runId"]: each["findings"] for each in runs} == expected
