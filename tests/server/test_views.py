"""The server in plain JSON-RPC: what editors ask for views of theirs."""

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_OID, uuid5

import pytest

from tests.server.support import write
from tests.server.test_live import append, opened, start, told
from tests.support.client_text import apart, apply_edits, event, graded, triage
from tests.support.command import COMMAND
from tests.support.editor import Document
from tests.support.raw_client import RawClient

CHANGED = "driveTrace/changed"
MISSING = "not computable: not graded"
D1, R1, R2 = (f"0b9c2a4e-6f1d-4c3b-8a57-00000000000{each}" for each in (1, 2, 3))
HOSTILE = "</script><img src=x onerror=alert(1)>\u202e\x1b[31m"


def at(minute: int) -> str:
    return f"2026-05-28T14:{minute:02}:00.000Z"


def dispatch_start(name: str = "D1", **more: Any) -> str:
    fields = {"dispatch_id": D1, "dispatch_name": name, "subagent_type": "implementer"}
    fields |= {"model": None, "parent_dispatch_id": None, "ts": at(2)}
    return event("dispatch-start", **(fields | more))


def round_start(number: int, round_id: str, minute: int) -> str:
    fields = {"dispatch_id": D1, "round_id": round_id, "round_number": number}
    return event("round-start", **fields, ts=at(minute))


def round_end(round_id: str, verdict: str, minute: int, claimed: int) -> str:
    fields = {"dispatch_id": D1, "round_id": round_id, "verdict": verdict, "findings_filed": 1}
    return event("round-end", **fields, wall_clock_ms=claimed, ts=at(minute))


def ask(client: RawClient, what: str, **params: Any) -> Any:
    return client.request(f"driveTrace/{what}", params)


def runs(client: RawClient, **params: Any) -> dict[str, Any]:
    return {each["runId"]: each for each in ask(client, "runs", **params)["runs"]}


def against(client: RawClient, what: str, **params: Any) -> str:
    """What is said against a request with wrong params."""
    error = client.response(client.start_request(f"driveTrace/{what}", params))["error"]
    assert error["code"] == -32602
    return str(error["message"])


def run_at(document: Document, line: int) -> Any:
    position = {"line": line, "character": 0}
    params = {**document.identifier, "position": position}
    return document.client.request("driveTrace/runAt", params)


def tidings(client: RawClient, uri: str | None, shows: Callable[[], bool]) -> None:
    """Wait for tidings of a trace, after which a view shows what it should."""
    is_shown = False
    while not is_shown:
        client.notification(CHANGED, lambda params: params["uri"] == uri)
        client.forget()
        is_shown = shows()


def test_they_are_declared(alone: RawClient) -> None:
    experimental = alone.initialize()["capabilities"]["experimental"]
    views = ("runs", "runAt", "nextEvents", "composeEvent", "events", "event", "compare")
    names = (*views, "run", "report", "timeline")
    assert experimental == {
        "driveTrace": {
            "requests": [f"driveTrace/{each}" for each in names],
            "notifications": [CHANGED],
        }
    }


def test_every_run_of_the_workspace_though_nothing_is_open(
    alone: RawClient, tmp_path: Path
) -> None:
    shop = write(tmp_path / "projects" / "shop" / "trace.jsonl", apart(triage() + "{\n"))
    part = write(
        tmp_path / "projects" / "shop" / "slices" / "a" / "trace.jsonl",
        graded("pass", "fail", "pass"),
    )
    other = write(
        tmp_path / "wip" / "drive-trace" / "orphan-x.jsonl", triage(project_run_id="orphan-x")
    )
    start(alone, tmp_path)
    assert {each["findings"] for each in runs(alone).values()} == {None}  # until somebody asks
    found = runs(alone, again=True)
    assert list(found) == ["run-1", "orphan-x"]
    run = found["run-1"]
    assert (run["verdict"], run["headline"]) == ("incorrect", "INCORRECT — qa failed")
    assert [(each["uri"], each["line"], each["events"]) for each in run["files"]] == [
        (shop.as_uri(), 0, 1),
        (part.as_uri(), 0, 1),
    ]
    assert run["files"][0]["name"] == "projects/shop/trace.jsonl"
    # A line that names no run is its trace's only one's.
    assert run["findings"] == sum(each["findings"] for each in run["files"]) > 0
    assert found["orphan-x"]["verdict"] == "not-computable"
    assert [each["uri"] for each in found["orphan-x"]["files"]] == [other.as_uri()]


def test_a_run_of_rejected_lines_is_a_run_in_every_view(alone: RawClient, tmp_path: Path) -> None:
    lost = apart(triage(run="lost") * 37 + graded("pass", "fail", "pass", project_run_id="lost"))
    there = lost.replace('"schema_version":"1"', '"schema_version":"2"')
    path = write(tmp_path / "b" / "trace.jsonl", there)
    write(tmp_path / "a" / "trace.jsonl", graded("pass", "pass", "pass"))
    start(alone, tmp_path)
    said = "not computable: all 38 lines rejected"

    def check() -> None:
        assert ask(alone, "runs")["summary"] == ["1 CORRECT · 1 not computable"]
        found = runs(alone)["lost"]
        assert (found["headline"], found["verdict"]) == (said, "not-computable")
        assert [each["events"] for each in found["files"]] == [0]
        shown = ask(alone, "report", uri=path.as_uri(), runId="lost", format="body")["body"]
        assert '<div class="headline not-computable"><strong>not computable<' in shown
        assert "<p>all 38 lines rejected</p>" in shown
        whole = ask(alone, "report", uri=path.as_uri(), format="body")["body"]
        assert "<strong>2 runs in 2 files</strong><p>1 CORRECT · 1 not computable</p>" in whole

    check()
    document = opened(alone, path)
    check()
    ((line, title), *_) = document.lenses()
    assert (line, title.partition(" · ")[0]) == (0, said)
    assert f"**{said}**" in run_at(document, 5)["card"]
    assert ask(alone, "run", uri=path.as_uri(), runId="lost")["headline"] == said


def test_none_is_graded_is_not_none_is_correct(alone: RawClient, tmp_path: Path) -> None:
    for name in "ab":
        write(tmp_path / name / "trace.jsonl", triage(project_run_id=name))
    start(alone, tmp_path)
    assert ask(alone, "runs")["summary"] == ["not computable: 2 runs, none graded yet"]


@pytest.mark.parametrize("correct", ["CORRECT", "CORRECT with caveats"])
def test_all_verdicts_stand_above_the_runs(correct: str, alone: RawClient, tmp_path: Path) -> None:
    for name, qa in (("a", None), ("b", "pass"), ("c", "fail"), ("d", None)):
        event_id = str(uuid5(NAMESPACE_OID, name))
        text = graded("pass", qa, "pass", project_run_id=name, event_id=event_id)
        write(tmp_path / name / "trace.jsonl", text)
    if correct != "CORRECT":  # nobody knows what the file says of the run
        (tmp_path / "x\u202e" / "trace.jsonl").mkdir(parents=True)
    start(alone, tmp_path)
    headline, *unread = ask(alone, "runs")["summary"]
    assert headline == f"1 {correct} · 1 INCORRECT · 2 not computable"
    said = " ".join(unread)
    assert ("Not complete: 1 input was not read" in said) == (correct != "CORRECT")
    assert ("x<U+202E>/trace.jsonl: " in said) == (correct != "CORRECT")


@pytest.mark.parametrize("chosen", ["html", "body"])
def test_a_report_without_a_run_says_what_the_command_says_of_the_folder(
    chosen: str, alone: RawClient, tmp_path: Path
) -> None:
    good = write(tmp_path / "a" / "trace.jsonl", graded("pass", "pass", "pass"))
    copied = triage()
    write(tmp_path / "b" / "trace.jsonl", copied + graded("pass", "fail", "pass", ts=at(50)))
    write(tmp_path / "c" / "trace.jsonl", copied)
    write(tmp_path / ".hidden" / "trace.jsonl", triage())
    (tmp_path / "d" / "trace.jsonl").mkdir(parents=True)
    start(alone, tmp_path)
    opened(alone, good)
    report = ask(alone, "report", uri=good.as_uri(), format=chosen)
    assert report["title"] == "Drive Trace: all runs"
    command = [COMMAND, "fleet", "--html", "-"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, encoding="utf-8", check=False)
    page = done.stdout.replace("<p>Findings: not looked at (--findings counts them)</p>", "")
    assert "2 inputs were not read" in page
    assert "1 left out: in a hidden folder: <bdi>.hidden/trace.jsonl</bdi>" in page
    (said,) = re.findall(r"<header>.*</main>", page, re.DOTALL)
    assert without_links(said) in without_links(report[chosen])
    if chosen == "html":
        assert said in report["html"]
    else:  # where a name leads to the report of its run
        assert '<a href="#l-0-1"><bdi>run-1</bdi></a>' in report["body"]
        assert report["files"] == [{"uri": good.as_uri(), "starts": None, "runId": "run-1"}]


def without_links(page: str) -> str:
    return re.sub(r'href="[^"]*"', "", page)


COPIED = "CORRECT, but another run has the same events"


def test_a_run_that_another_trace_has_under_another_id_is_no_bare_correct(
    alone: RawClient, tmp_path: Path
) -> None:
    text = apart(triage() + graded("pass", "pass", "pass"))
    here = write(tmp_path / "a" / "trace.jsonl", text)
    start(alone, tmp_path)
    document = opened(alone, here)
    document.diagnostics()
    assert runs(alone)["run-1"]["headline"] == "CORRECT"
    # In the same trace, as it is typed.
    copy = text.replace("run-1", "run-2")
    document.edit((len(text), len(text), copy))
    document.diagnostics()
    assert [each["headline"] for each in runs(alone).values()] == [COPIED, COPIED]
    document.edit((len(text), len(text) + len(copy), ""))
    document.diagnostics()
    assert runs(alone)["run-1"]["headline"] == "CORRECT"
    # In another one that is open, and is in no file yet.
    there = write(tmp_path / "b" / "trace.jsonl", "")
    other = opened(alone, there)
    other.edit((0, 0, copy))
    other.diagnostics()
    assert [each["headline"] for each in runs(alone).values()] == [COPIED, COPIED]
    assert run_at(document, 0)["headline"] == COPIED


def test_runs_follow_the_editor_and_the_disk(alone: RawClient, tmp_path: Path) -> None:
    here = write(tmp_path / "projects" / "shop" / "trace.jsonl", apart(triage()))
    there = write(tmp_path / "projects" / "cart" / "trace.jsonl", triage(project_run_id="cart"))
    start(alone, tmp_path)
    document = opened(alone, here)
    document.diagnostics()
    assert alone.received(CHANGED) == []  # nobody has asked yet
    before = runs(alone)
    assert (before["run-1"]["headline"], before["cart"]["headline"]) == (MISSING, MISSING)
    document.edit((len(document.text), len(document.text), graded("pass", "pass", "pass")))
    tidings(alone, document.uri, lambda: runs(alone)["run-1"]["verdict"] == "correct")
    append(there, graded("pass", "fail", "pass", project_run_id="cart"))
    told(alone, there)
    tidings(alone, None, lambda: runs(alone)["cart"]["headline"] == "INCORRECT — qa failed")


def test_who_asks_again_is_told_of_what_nobody_has_reported(
    alone: RawClient, tmp_path: Path
) -> None:
    first = write(tmp_path / "a" / "trace.jsonl", triage(ts=at(5)))
    start(alone, tmp_path)
    assert {name: run["last"] for name, run in runs(alone).items()} == {"run-1": at(5)}
    append(first, triage(ts="2026-05-28T16:09:00+02:00", event_id=R1))
    write(tmp_path / "b" / "trace.jsonl", triage(project_run_id="new", ts="some day"))
    found = {each["runId"]: each["last"] for each in ask(alone, "runs", again=True)["runs"]}
    assert found == {"run-1": at(9), "new": None}


def test_findings_are_counted_by_run_as_they_come_and_go(alone: RawClient, tmp_path: Path) -> None:
    text = apart(triage() + triage(project_run_id="run-2", verdict="maybe"))
    start(alone, tmp_path)
    document = opened(alone, write(tmp_path / "trace.jsonl", text))
    assert {name: run["findings"] for name, run in runs(alone).items()} == {"run-1": 0, "run-2": 1}
    document.replace('"maybe"', '"defer"')
    assert {name: run["findings"] for name, run in runs(alone).items()} == {"run-1": 0, "run-2": 0}


def test_the_run_under_the_cursor(client: RawClient) -> None:
    text = triage() + graded("pass", "fail", "pass", project_run_id="run-2") + "\n"
    document = Document(client, apart(text))
    first, second = run_at(document, 0), run_at(document, 1)
    assert (first["runId"], first["verdict"]) == ("run-1", "not-computable")
    assert (second["runId"], second["headline"]) == ("run-2", "INCORRECT — qa failed")
    assert second["card"].startswith("**INCORRECT — qa failed** · run `run-2`")
    assert run_at(document, 2) == second  # a blank line is the run's above it
    assert run_at(Document(client, ""), 0) is None
    # It is named, though nothing of it counts.
    assert run_at(Document(client, '{"project_run_id":"new"}'), 0)["runId"] == "new"


def test_the_grade_that_counts_over_all_files(alone: RawClient, tmp_path: Path) -> None:
    counts = {"mechanical": "pass", "qa": "fail", "intent": "pass"}
    here = write(tmp_path / "a" / "trace.jsonl", graded("pass", None, None))
    there = write(tmp_path / "b" / "trace.jsonl", triage())
    write(tmp_path / "c" / "trace.jsonl", graded("pass", "fail", "pass"))
    start(alone, tmp_path)
    on_disk = ask(alone, "run", uri=here.as_uri(), runId="run-1")
    assert (on_disk["correctness"], on_disk["verdict"]) == (counts, "incorrect")
    run = ask(alone, "run", uri=there.as_uri(), runId="run-1")
    assert run["correctness"] == counts
    assert len(run["verdicts"]) == 27
    assert run["verdicts"]["pass/pass/pass"] == "CORRECT"
    assert run["verdicts"]["fail/pass/fail"] == "INCORRECT — mechanical, intent failed"
    assert run["verdicts"]["fail//pass"] == "not computable — missing: qa"
    document = opened(alone, here)
    end = len(document.text)
    document.edit((end, end, graded("pass", "pass", "fail", ts=at(40))))
    now = {"mechanical": "pass", "qa": "pass", "intent": "fail"}
    assert ask(alone, "run", uri=document.uri, runId="run-1")["correctness"] == now
    assert "no such run" in against(alone, "run", uri=document.uri, runId="run-9")
    assert "missing required field `runId`" in against(alone, "run", uri=document.uri)


@pytest.mark.parametrize(
    ("there", "asked"),
    [
        ("file:///c%3A/work/my%20traces/trace.jsonl", "file:///C:/work/my traces/trace.jsonl"),
        ("file:///C:/work/trace.jsonl", "FILE:///c%3a/work/trace.jsonl"),
        ("file:///work/%C3%A4%23/trace.jsonl", "file:///work/ä%23/trace.jsonl"),
    ],
)
def test_an_open_trace_is_found_however_it_is_spelled(
    client: RawClient, there: str, asked: str
) -> None:
    document = Document(client, graded("pass", "fail", "pass"), uri=there)
    for what in ("run", "report", "timeline"):
        assert "INCORRECT" in ask(client, what, uri=asked, runId="run-1")["title"]
    assert ask(client, "nextEvents", uri=asked)["runId"] == "run-1"
    client.forget()
    end = len(document.text)
    document.edit((end, end, graded("pass", "pass", "pass", ts=at(40))))
    run = {"uri": asked, "runId": "run-1"}
    tidings(client, there, lambda: ask(client, "run", **run)["verdict"] == "correct")


@pytest.mark.parametrize("other", ["file:///work/a?b/trace.jsonl", "file:///C:/b/trace.jsonl"])
def test_another_trace_is_not_taken_for_it(client: RawClient, other: str) -> None:
    Document(client, triage(), uri="file:///work/a%3Fb/trace.jsonl")
    Document(client, triage(), uri="file:///c%3A/B/trace.jsonl")
    assert "no such trace" in against(client, "run", uri=other, runId="run-1")


def test_the_run_under_the_cursor_is_the_one_of_all_its_files(
    alone: RawClient, tmp_path: Path
) -> None:
    here = write(tmp_path / "projects" / "shop" / "trace.jsonl", triage())
    write(
        tmp_path / "projects" / "shop" / "slices" / "a" / "trace.jsonl",
        graded("pass", "pass", "pass"),
    )
    start(alone, tmp_path)
    document = opened(alone, here)
    runs(alone)
    run = run_at(document, 0)
    assert (run["headline"], run["alone"]) == ("CORRECT", "this file alone: not graded")
    assert run["card"].startswith("**CORRECT** · run `run-1`")
    assert "*Joined over 2 files of the workspace folder" in run["card"]
    report = ask(alone, "report", uri=document.uri, runId="run-1", format="body")
    assert report["title"].startswith("CORRECT · this file alone: not graded · decided by a/trace")
    assert "2 valid events" in report["body"]
    assert ask(alone, "timeline", uri=document.uri, runId="run-1")["title"] == report["title"]


def test_a_report_has_the_findings_as_they_come_and_go(alone: RawClient, tmp_path: Path) -> None:
    text = apart(triage() + triage(project_run_id="run-2", verdict="maybe"))
    trace = write(tmp_path / "trace.jsonl", text)
    start(alone, tmp_path)

    def findings(**params: Any) -> list[tuple[str, str]]:
        body = ask(alone, "report", uri=trace.as_uri(), format="body", **params)["body"]
        return re.findall(r"<summary>(\w+: [a-z-]+ \(\d\)).*?line <a [^>]*>(\d+)</a>", body)

    found = [("error: unknown-value (1)", "2")]
    assert findings(runId="run-2") == found  # of a trace that is closed
    assert findings(runId="run-1") == []
    document = opened(alone, trace)
    assert findings(runId="run-2") == found
    document.replace('"maybe"', '"defer"')
    assert findings(runId="run-2") == []


def test_a_report_in_an_editor_has_buttons_for_what_can_be_done(
    alone: RawClient, tmp_path: Path
) -> None:
    text = triage() + triage(verdict="maybe") + triage().replace("}\n", ",}\n")
    trace = write(tmp_path / "trace.jsonl", apart(text))
    start(alone, tmp_path)

    def buttons(form: str) -> list[str]:
        params = {"uri": trace.as_uri(), "runId": "run-1", "format": form}
        return re.findall(r'data-do="([^>]*)"', ask(alone, "report", **params)[form])

    fix = 'fix" data-rule="invalid-json" data-file="0" class="action'
    assert buttons("body") == ['record" class="action', 'judge" class="action', fix]
    assert buttons("html") == []
    append(trace, graded("pass", "pass", "pass", ts=at(40)))
    told(alone, trace)
    assert buttons("body") == [fix]


def test_a_report_is_of_the_text_as_it_is_open(alone: RawClient, tmp_path: Path) -> None:
    trace = write(tmp_path / "trace.jsonl", apart(triage() + triage(project_run_id="run-2")))
    start(alone, tmp_path)
    on_disk = ask(alone, "report", uri=trace.as_uri(), runId="run-1", format="body")
    assert "not computable" in on_disk["body"]
    document = opened(alone, trace)
    document.edit((len(document.text), len(document.text), graded("pass", "pass", "pass")))
    report = ask(alone, "report", uri=document.uri, runId="run-1", format="body")
    assert report["title"].startswith("CORRECT")
    assert "2 valid events" in report["body"]
    assert "--correct" in report["style"]
    assert "<style" not in report["body"]
    whole = ask(alone, "report", uri=document.uri)
    assert whole["html"].startswith("<!DOCTYPE html>")
    assert "<strong>2 runs in 1 file</strong><p>1 CORRECT · 1 not computable</p>" in whole["html"]


@pytest.mark.parametrize("shown", ["html", "body"])
def test_a_report_on_what_no_file_can_hold(shown: str, client: RawClient) -> None:
    """An editor may cut a surrogate pair in two while somebody types."""
    half = triage(project_run_id="run-\ud83d") + triage().replace("event_id", "\ud83d")
    document = Document(client, apart(half) + "\ud83d\n")
    for run in ({"runId": "run-\ud83d"}, {}):
        report = ask(client, "report", uri=document.uri, format=shown, **run)
        assert ("triage-verdict" if run else "<bdi>run-&lt;U+D83D&gt;</bdi>") in report[shown]


def test_there_is_no_report_of_what_is_no_trace(alone: RawClient, tmp_path: Path) -> None:
    start(alone, tmp_path)
    secret = write(tmp_path / "notes.txt", "secret")
    outside = write(tmp_path.parent / "outside" / "trace.jsonl", triage())
    (tmp_path / "linked").symlink_to(outside.parent)
    document = opened(alone, write(tmp_path / "trace.jsonl", triage()))
    for uri in (
        secret.as_uri(),
        outside.as_uri(),
        f"{tmp_path.as_uri()}/../outside/trace.jsonl",
        f"{tmp_path.as_uri()}/%2e%2e/outside/trace.jsonl",
        f"{tmp_path.as_uri()}/linked/trace.jsonl",
        f"{tmp_path.as_uri()}/gone/trace.jsonl",
        "untitled:trace.jsonl",
        "file:///\ud800/trace.jsonl",
        "",
    ):
        for what in ("report", "timeline"):
            said = against(alone, what, uri=uri, runId="run-1")
            assert said == "there is no such trace in the workspace that can be read"
    for what in ("report", "timeline"):
        said = against(alone, what, uri=document.uri, runId="run-9")
        assert said == "there is no such run in the trace"
    said = against(alone, "report", uri=document.uri, format="pdf")
    assert said == "the format of a report is one of html, body"


def test_what_git_has_of_a_trace_is_coloured_and_is_no_run_of_the_workspace(
    alone: RawClient, tmp_path: Path
) -> None:
    start(alone, tmp_path)
    now = opened(alone, write(tmp_path / "trace.jsonl", triage(verdict="?")))
    old = Document(alone, triage(verdict="?"), uri=f'git:{tmp_path}/trace.jsonl?{{"ref":"HEAD"}}')
    tokens = alone.request("textDocument/semanticTokens/full", old.identifier)
    assert tokens["data"]
    assert old.diagnostics() == []
    assert len(now.diagnostics()) == 1
    (run,) = ask(alone, "runs")["runs"]
    assert [each["uri"] for each in run["files"]] == [now.uri]


@pytest.mark.parametrize(
    ("what", "wrong", "why"),
    [
        ("runs", [], "Expected `object`, got `array`"),
        ("runs", {"again": 5}, "Expected `bool`, got `int` - at `$.again`"),
        ("report", {"uri": 5}, "Expected `str`, got `int` - at `$.uri`"),
        ("report", {}, "Object missing required field `uri`"),
        ("timeline", {"uri": "file:///t.jsonl"}, "Object missing required field `runId`"),
        ("nextEvents", ["file:///t.jsonl"], "Expected `object`, got `array`"),
        ("composeEvent", {"uri": "", "event": None}, "Expected `str`, got `null` - at `$.event`"),
    ],
)
def test_params_of_another_shape_are_refused(
    client: RawClient, what: str, wrong: Any, why: str
) -> None:
    said = client.response(client.start_request(f"driveTrace/{what}", wrong))["error"]
    expected = f"the params are not those of driveTrace/{what}: {why}"
    assert (said["code"], said["message"]) == (-32602, expected)


def test_a_timeline(client: RawClient) -> None:
    text = (
        triage(ts=at(0))
        + dispatch_start()
        + round_start(1, R1, 2)
        + round_end(R1, "another-round-needed", 10, 480_000)
        + triage(project_run_id="run-2", ts=at(11))
        + round_start(2, R2, 12)
        + triage(ts="someday")
        + graded("pass", None, None, ts="2027-01-01T00:00:00.000Z")
    )
    document = Document(client, apart(text))
    said = ask(client, "timeline", uri=document.uri, runId="run-1")
    verdict, *short = said["title"].split(" · ")
    assert verdict == "not computable — missing: qa, intent"
    assert short == ["1 dispatch", "8m work", "1 reworked"]
    assert said["files"] == [{"uri": document.uri, "starts": None}]
    links = re.findall(r'<a href="#l-0-(\d+)"[^>]*><title>([^<]*)</title>', said["body"])
    assert links == [
        ("1", "triage-verdict · line 1"),
        ("4", "another round needed · line 4"),
        ("8", "correctness-recorded · line 8"),
        ("2", "D1 · no end recorded · 2 rounds"),
        ("3", "round 1 · another-round-needed · 1 finding · 8m by the clock · 8m claimed"),
        ("6", "round 2 · no end recorded"),
    ]


def test_a_timeline_counts_lines_as_the_editor_does(client: RawClient) -> None:
    divided = triage().replace(",", ",\r", 2).replace("\n", "\r\n")
    document = Document(client, apart("\r\n" + divided + "\n" + dispatch_start()))
    said = ask(client, "timeline", uri=document.uri, runId="run-1")
    (number,) = re.findall(r'<a href="#l-0-(\d+)"[^>]*><title>D1 ', said["body"])
    assert said["files"][0]["starts"][int(number) - 1] == 5


@pytest.mark.parametrize("ending", ["", "\n"])
def test_an_event_is_appended_as_the_run_leads_to_it(client: RawClient, ending: str) -> None:
    document = Document(client, apart(triage() + dispatch_start()).rstrip("\n") + ending)
    said = ask(client, "nextEvents", uri=document.uri, runId="run-1")
    assert said["runId"] == "run-1"
    first, *others = said["events"]
    assert (first["event"], first["isNext"], first["blanks"]) == ("round-start", True, [])
    assert first["description"]
    assert not others[-1]["isNext"]
    made = ask(client, "composeEvent", uri=document.uri, runId="run-1", event="round-start")
    assert (made["version"], made["snippet"], made["blanks"]) == (document.version, None, [])
    edit = {"range": made["range"], "newText": made["text"]}
    text = apply_edits(document.text, [edit], "utf-16")
    assert text.startswith(document.text.rstrip("\n") + "\n")
    added = json.loads(text.split("\n")[2])
    assert (added["dispatch_id"], added["round_number"]) == (D1, 1)
    document.rewrite(text)
    assert [each["code"] for each in document.diagnostics()] == []


def test_what_only_a_person_knows_is_left_to_be_filled_in(client: RawClient) -> None:
    document = Document(client, apart(triage()))
    said = ask(client, "nextEvents", uri=document.uri)
    of_specs = [each for each in said["events"] if each["event"] == "spec-authored"]
    assert {each["kind"] for each in of_specs} == {"project", "slice"}
    asked_for = {"uri": document.uri, "event": "spec-authored", "kind": "slice"}
    made = client.request("driveTrace/composeEvent", asked_for)
    assert "byte_length" in made["blanks"]
    assert '"byte_length":${' in made["snippet"]
    assert '"spec_kind":"slice"' in made["snippet"]
    for wrong in (
        {"event": "no-such"},
        {"event": "spec-authored", "kind": "odd"},
        {"event": "round-start", "kind": "slice"},
    ):
        said = against(client, "composeEvent", uri=document.uri, **wrong)
        assert said == "there is no such event, or no such kind of it"


def test_a_slip_of_a_runs_id_does_not_make_another_run(alone: RawClient, tmp_path: Path) -> None:
    trace = write(tmp_path / "projects" / "shop" / "trace.jsonl", "")
    start(alone, tmp_path)
    document = opened(alone, trace)
    asked_for: dict[str, Any] = {"uri": document.uri, "event": "round-start"}
    # The trace is where events of its project go, though it has none yet.
    assert ask(alone, "nextEvents", uri=document.uri)["runId"] == "shop"
    made = ask(alone, "composeEvent", **asked_for, runId="shop")
    assert '"project_run_id":"shop"' in made["text"]
    document.rewrite(apart(triage(project_run_id="") + triage()))
    for run_id in ("", "run-1"):
        assert ask(alone, "nextEvents", uri=document.uri, runId=run_id)["runId"] == run_id
        made = ask(alone, "composeEvent", **asked_for, runId=run_id)
        assert f'"project_run_id":"{run_id}"' in made["text"]
    for params in ({"uri": document.uri}, asked_for):
        what = "composeEvent" if "event" in params else "nextEvents"
        said = against(alone, what, **params, runId="run1")
        assert said == "there is no such run in the trace"


def test_of_what_is_not_open_nothing_can_be_appended(client: RawClient) -> None:
    uri = "file:///traces/closed/trace.jsonl"
    assert ask(client, "nextEvents", uri=uri) is None
    assert ask(client, "composeEvent", uri=uri, event="round-start") is None


def test_a_trace_is_read_line_by_line(alone: RawClient, tmp_path: Path) -> None:
    start(alone, tmp_path)
    text = apart(
        dispatch_start(HOSTILE) + round_start(1, R1, 3) + round_end(R1, "satisfied", 9, 60_000)
    )
    document = opened(alone, tmp_path / "trace.jsonl", text + graded("pass", "passed", None))
    page = ask(alone, "events", uri=document.uri)
    assert (page["total"], page["next"]) == (5, None)
    first, _, ended, rejected = page["rows"]
    assert [each["line"] for each in page["rows"]] == [0, 1, 2, 3]
    assert "\x1b" not in first["words"] + first["dispatch"]
    assert (ended["dispatchId"], ended["round"], ended["outcome"]) == (D1, 1, "satisfied")
    assert (ended["clockMs"], ended["claimedMs"]) == (360_000, 60_000)
    assert (rejected["status"], rejected["severity"]) == ("invalid", "error")
    details = ask(alone, "event", uri=document.uri, line=2)
    leads = {each["name"]: each["leadsTo"] for each in details["fields"]}
    assert (leads["dispatch_id"], leads["round_id"], leads["verdict"]) == (0, 1, None)
    assert ask(alone, "events", uri=document.uri, first=4)["rows"] == []
    assert ask(alone, "events", uri="file:///closed.jsonl") is None
    assert ask(alone, "event", uri=document.uri, line=999)["line"] == 4
    wrong = against(alone, "events", uri=document.uri, first="1")
    assert "got `str` - at `$.first`" in wrong
