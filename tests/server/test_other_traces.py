"""The server in plain JSON-RPC: views of traces that are not called like one, or lie elsewhere."""

import json
from pathlib import Path

from tests.server.support import refused, write
from tests.server.test_live import WATCHES, append, opened, start, told
from tests.server.test_views import MISSING, ask, at, runs, tidings
from tests.support.client_text import apart, graded, triage
from tests.support.raw_client import RawClient


def test_a_report_outlives_the_tab_of_a_trace_from_elsewhere(
    alone: RawClient, tmp_path: Path
) -> None:
    outside = write(tmp_path / "outside" / "trace.jsonl", apart(triage()))
    start(alone, tmp_path / "workspace")
    params = {"uri": outside.as_uri(), "runId": "run-1", "format": "body"}
    assert refused(alone, alone.start_request("driveTrace/report", params)) == -32602
    opened(alone, outside, apart(graded("pass", "pass", "pass"))).diagnostics()
    assert ask(alone, "report", **params)["title"].startswith("CORRECT")
    exported = ask(alone, "report", **params | {"format": "perfetto"})["text"]
    assert {each["pid"] for each in json.loads(exported)["traceEvents"]} == {1}
    everything = {"uri": outside.as_uri(), "format": "perfetto"}
    assert refused(alone, alone.start_request("driveTrace/report", everything)) == -32602
    alone.notify("textDocument/didClose", {"textDocument": {"uri": outside.as_uri()}})
    assert ask(alone, "report", **params)["title"] == MISSING
    assert runs(alone) == {}  # it is none of the workspace
    outside.unlink()
    assert refused(alone, alone.start_request("driveTrace/report", params)) == -32602


FILES = {"driveTrace": {"files": ["logs/**/*.log"]}}


def test_traces_that_a_setting_names_are_of_the_workspace(alone: RawClient, tmp_path: Path) -> None:
    agent = write(tmp_path / "logs" / "a" / "agent.log", graded("pass", "fail", "pass"))
    write(tmp_path / "other" / "logs" / "agent.log", triage(project_run_id="not-named"))
    given = [{"uri": tmp_path.as_uri(), "name": "workspace"}]
    alone.initialize(WATCHES, workspaceFolders=given, initializationOptions=FILES)
    found = runs(alone)["run-1"]
    assert (len(runs(alone)), found["headline"]) == (1, "INCORRECT — qa failed")
    assert found["files"][0]["uri"] == agent.as_uri()
    assert "**/logs/**/*.log" in watched(alone)
    append(agent, graded("pass", "pass", "pass", ts=at(40)))
    told(alone, agent)
    tidings(alone, None, lambda: runs(alone)["run-1"]["verdict"] == "correct")
    report = ask(alone, "report", uri=agent.as_uri(), runId="run-1", format="body")
    assert report["title"].startswith("CORRECT")


def test_a_setting_that_names_other_traces_holds_at_once(alone: RawClient, tmp_path: Path) -> None:
    write(tmp_path / "logs" / "agent.log", triage())
    start(alone, tmp_path)
    assert runs(alone) == {}
    alone.notify("workspace/didChangeConfiguration", {"settings": FILES})
    assert list(runs(alone)) == ["run-1"]
    assert "**/logs/**/*.log" in watched(alone)
    alone.forget()
    alone.notify("workspace/didChangeConfiguration", {"settings": {"driveTrace": {"files": []}}})
    assert runs(alone) == {}
    gone = [each["params"] for each in alone.requests if "unregister" in each["method"]]
    (entry,) = gone[0]["unregisterations"]
    assert entry == {"id": "more-files", "method": "workspace/didChangeWatchedFiles"}
    told(alone, tmp_path / "logs" / "agent.log")
    assert runs(alone) == {}


def watched(client: RawClient) -> set[str]:
    """The patterns of files that the client has been asked to tell of."""
    asked = [each for each in client.requests if each["method"] == "client/registerCapability"]
    wanted = [each for one in asked for each in one["params"]["registrations"]]
    files = [each for each in wanted if each["method"] == "workspace/didChangeWatchedFiles"]
    return {each["globPattern"] for one in files for each in one["registerOptions"]["watchers"]}
