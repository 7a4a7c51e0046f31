"""The server in plain JSON-RPC: traces that others write to while nobody has them open."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.server.support import command, write
from tests.support import client_text
from tests.support.client_text import apart, graded, tokens, triage
from tests.support.editor import Document
from tests.support.raw_client import RawClient, ResponseError
from tests.support.systems import NO_FIFOS, NO_MODES, not_on_windows

WATCHES: dict[str, Any] = {
    "window": {"workDoneProgress": True},
    "workspace": {
        "codeLens": {"refreshSupport": True},
        "diagnostics": {"refreshSupport": True},
        "didChangeWatchedFiles": {"dynamicRegistration": True},
    },
}
LENSES, DIAGNOSTICS = "workspace/codeLens/refresh", "workspace/diagnostic/refresh"
MISSING = "not computable — missing: external correctness signal"
UNGRADED = "not computable: not graded"
ELSEWHERE = "this file alone: not graded · decided by a/trace.jsonl"
STARTED = triage(note="🚀")
RUN = '"run-1"'


PULLS = {**WATCHES, "textDocument": {"diagnostic": {}}}


def start(client: RawClient, *folders: Path, declared: Any = WATCHES) -> None:
    given = [{"uri": folder.as_uri(), "name": folder.name} for folder in folders]
    client.initialize(declared, workspaceFolders=given)


def append(path: Path, text: str) -> None:
    """By another process, as an agent does."""
    program = "import sys; open(sys.argv[1], 'ab').write(sys.stdin.buffer.read())"
    command = [sys.executable, "-c", program, str(path)]
    subprocess.run(command, input=text.encode(), check=True)


def told(client: RawClient, path: Path, kind: int = 2) -> None:
    """The client says that a file was made (1), has changed (2) or is gone (3)."""
    changes = [{"uri": path.as_uri(), "type": kind}]
    client.notify("workspace/didChangeWatchedFiles", {"changes": changes})


def asked_for(client: RawClient, method: str, shows: Callable[[], bool]) -> None:
    """Wait until the server has the client ask again for something, which then shows what it
    should.
    """

    def found() -> bool | None:
        return any(each["method"] == method for each in client.requests) or None

    is_shown = False
    while not is_shown:
        client.wait_for(found, method)
        client.forget()
        is_shown = shows()


def eventually(holds: Callable[[], bool]) -> bool:
    """Whether what is asked again and again comes true, in time."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if holds():
            return True
    return False


def opened(client: RawClient, path: Path, text: str | None = None) -> Document:
    text = path.read_text("utf-8") if text is None else text
    return Document(client, text, uri=path.as_uri())


def test_a_link_out_of_the_workspace_is_unread_and_not_written(
    alone: RawClient, tmp_path: Path
) -> None:
    secret = triage(input_ref="hunter2")
    theirs = write(tmp_path / "home" / "notes", secret)
    folder = tmp_path / "work"
    trace = write(folder / "a" / "trace.jsonl", graded("pass", "pass", "pass"))
    link = folder / "p" / "trace.jsonl"
    link.parent.mkdir()
    link.symlink_to("../../home/notes")
    start(alone, folder, declared={**WATCHES, "workspace": {"applyEdit": True}})
    document = opened(alone, trace)
    document.diagnostics()
    report = {"uri": document.uri, "format": "body"}
    said = json.dumps(alone.request("driveTrace/report", report), ensure_ascii=False)
    assert "not read: link out of the repository" in said
    assert "hunter2" not in said
    # What the editor opens is the editor's doing, and the server writes nothing through it.
    linked = opened(alone, link)
    with pytest.raises(ResponseError, match="not written: link out of the repository"):
        command(alone, "append", uri=linked.uri, record=triage())
    changes = {"runId": "run-1", "changes": {"qa": "fail"}, "inFile": True}
    with pytest.raises(ResponseError):
        command(alone, "recordGrade", uri=linked.uri, **changes)
    assert theirs.read_text("utf-8") == secret
    # Nor is a trace read that becomes such a link.
    trace.unlink()
    trace.symlink_to("../../home/notes")
    alone.notify("textDocument/didClose", {"textDocument": {"uri": document.uri}})
    params = {"textDocument": {"uri": document.uri}}
    assert alone.request("textDocument/diagnostic", params)["items"] == []
    assert "hunter2" not in json.dumps(alone.request("workspace/symbol", {"query": ""}))


def verdict(document: Document) -> str:
    """What a hover over the run's id leads with."""
    return document.hover_text(RUN).partition("\n")[0].partition(" · ")[0]


def files(document: Document) -> list[str]:
    """The files that a hover over the run's id names."""
    card = document.hover_text(RUN).partition("\n\n---")[0]
    return [line for line in card.split("\n") if line.startswith("- ")]


@pytest.fixture
def two(alone: RawClient, tmp_path: Path) -> tuple[Document, Path]:
    """An open trace without a grade, and the closed one of a slice with a grade of the same run."""
    here = write(tmp_path / "projects" / "shop" / "trace.jsonl", apart(STARTED))
    there = write(tmp_path / "projects" / "shop" / "slices" / "a" / "trace.jsonl", STARTED)
    start(alone, tmp_path)
    document = opened(alone, here)
    asked_for(alone, LENSES, lambda: len(files(document)) == 2)
    return document, there


def test_a_run_that_another_trace_holds(alone: RawClient, two: tuple[Document, Path]) -> None:
    document, there = two
    card = document.hover_text(RUN)
    assert card.startswith(f"**{MISSING}** · run `run-1`")
    name = "projects/shop/slices/a/trace.jsonl"
    assert "*Joined over 2 files of the workspace folder.*" in card
    assert f"- [`{name}`]({there.as_uri()}#L1): 1 event, not graded" in card
    assert document.lenses() == [(0, UNGRADED)]


def test_a_copy_that_is_not_open_counts_once_and_is_named(alone: RawClient, tmp_path: Path) -> None:
    grade = graded("pass", "pass", "pass")
    at = "2026-05-28T15:00:00.000Z"
    late = client_text.event("round-start", ts=at, dispatch_id="d", round_id="r", round_number=1)
    here = write(tmp_path / "a" / "trace.jsonl", apart(STARTED + grade + late))
    write(tmp_path / "b" / "trace.jsonl", apart(STARTED + grade + late))
    start(alone, tmp_path)
    document = opened(alone, here)
    stale = "CORRECT, but stale: 1 event after the grade"
    asked_for(alone, LENSES, lambda: document.lenses()[0][1].startswith(stale))
    title = document.lenses()[0][1]
    assert title.endswith("1 dispatch · copied in 1 file")
    card = document.hover_text('"correctness-recorded"')
    assert card.startswith("**CORRECT, but stale: 1 event after the grade**")
    assert "as in `a/trace.jsonl` and `b/trace.jsonl`" in card


def test_the_verdict_moves_when_an_agent_appends(
    alone: RawClient, two: tuple[Document, Path]
) -> None:
    document, there = two
    append(there, graded("pass", "fail", "pass"))
    told(alone, there)
    failed = [(0, f"INCORRECT — qa failed · {ELSEWHERE}")]
    asked_for(alone, LENSES, lambda: document.lenses() == failed)
    assert verdict(document) == "**INCORRECT — qa failed**"
    assert files(document)[0].endswith(f", decides on [line 2]({there.as_uri()}#L2)")
    # What was rejected there is named here.
    append(there, graded("pass", "passed", "pass"))
    told(alone, there)
    rejected = "1 correctness line rejected (line 3), not counted"
    asked_for(alone, LENSES, lambda: rejected in document.hover_text(RUN))


def test_a_torn_line_is_neither_valid_nor_invalid(
    alone: RawClient, two: tuple[Document, Path]
) -> None:
    document, there = two
    line = graded("pass", "pass", "pass")
    append(there, line[:60])
    told(alone, there)
    assert document.lenses() == [(0, UNGRADED)]
    append(there, line[60:])
    told(alone, there)
    asked_for(alone, LENSES, lambda: document.lenses() == [(0, f"CORRECT · {ELSEWHERE}")])


def test_diagnostics_follow(alone: RawClient, tmp_path: Path) -> None:
    there = write(tmp_path / "a" / "trace.jsonl", STARTED)
    start(alone, tmp_path, declared=PULLS)
    opened(alone, write(tmp_path / "trace.jsonl", ""))

    def codes() -> list[str]:
        pulled = {"textDocument": {"uri": there.as_uri()}}
        items = alone.request("textDocument/diagnostic", pulled)["items"]
        return [each["code"] for each in items]

    assert codes() == ["undeclared-field"]
    # A line that somebody is about to write is nothing to tell of, until it is there.
    append(there, '{"event')
    assert codes() == ["undeclared-field"]
    append(there, '_type":}\n')
    told(alone, there)
    asked_for(alone, DIAGNOSTICS, lambda: codes() == ["undeclared-field", "invalid-json"])
    write(there, "")
    told(alone, there)
    asked_for(alone, DIAGNOSTICS, lambda: codes() == [])


def test_a_trace_that_goes_and_comes_back(alone: RawClient, two: tuple[Document, Path]) -> None:
    document, there = two
    there.unlink()
    told(alone, there, 3)
    asked_for(alone, LENSES, lambda: files(document) == [])
    write(there, graded("pass", "pass", "pass"))
    told(alone, there, 1)
    asked_for(alone, LENSES, lambda: document.lenses() == [(0, f"CORRECT · {ELSEWHERE}")])
    # In its place comes another, which holds another run.
    other = write(there.with_name("other"), triage(run="run-2"))
    other.rename(there)
    told(alone, there)
    asked_for(alone, LENSES, lambda: document.lenses() == [(0, UNGRADED)])


def test_the_editors_text_counts_not_the_disks(
    alone: RawClient, two: tuple[Document, Path]
) -> None:
    document, there = two
    grade = graded("pass", "pass", "pass")
    other = opened(alone, there, STARTED + grade)
    assert document.lenses() == [(0, f"CORRECT · {ELSEWHERE}")]
    # It grows on disk while it is open: that is for the editor to take in.
    append(there, graded("pass", "fail", "pass"))
    told(alone, there)
    assert "disk" not in other.hover_text('"correctness-recorded"')
    assert document.lenses() == [(0, f"CORRECT · {ELSEWHERE}")]
    alone.forget()
    alone.notify("textDocument/didClose", other.identifier)
    failed = [(0, f"INCORRECT — qa failed · {ELSEWHERE}")]
    asked_for(alone, LENSES, lambda: document.lenses() == failed)


def test_both_are_open(alone: RawClient, two: tuple[Document, Path]) -> None:
    document, there = two
    other = opened(alone, there)
    assert (verdict(other), len(files(other))) == (f"**{MISSING}**", 2)
    alone.forget()
    grade = apart(graded("pass", "pass", "pass"))
    document.edit((len(document.text), len(document.text), grade))
    where = ELSEWHERE.replace("a/trace", "shop/trace")
    asked_for(alone, LENSES, lambda: other.lenses() == [(0, f"CORRECT · {where}")])


def test_runs_of_one_name_in_two_folders_are_two_runs(alone: RawClient, tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    here = write(one / "trace.jsonl", STARTED)
    write(one / "a" / "trace.jsonl", apart(graded("pass", "fail", "pass")))
    write(two / "trace.jsonl", graded("pass", "pass", "pass"))
    (two / "again").mkdir()
    (two / "again" / "trace.jsonl").symlink_to("../trace.jsonl")
    (one / "own").mkdir()
    (one / "own" / "trace.jsonl").symlink_to("../trace.jsonl")
    write(one / "unread" / "trace.jsonl", "").write_bytes(STARTED.encode("utf-16"))
    start(alone, one, two)
    document = opened(alone, here)
    failed = [(0, f"INCORRECT — qa failed · {ELSEWHERE} · 1 input not read")]
    asked_for(alone, LENSES, lambda: document.lenses() == failed)
    assert [line.partition("]")[0] for line in files(document)] == [
        "- [`one/a/trace.jsonl`",
        "- [`one/trace.jsonl`",
    ]
    told_of = alone.request("driveTrace/runs", {})["runs"]
    assert [(run["folder"], run["headline"], len(run["files"])) for run in told_of] == [
        ("one", "INCORRECT — qa failed", 2),
        ("two", "CORRECT", 1),
    ]
    # A folder leaves the workspace.
    alone.forget()
    removed = [{"uri": one.as_uri(), "name": "one"}]
    event = {"event": {"added": [], "removed": removed}}
    alone.notify("workspace/didChangeWorkspaceFolders", event)
    asked_for(alone, LENSES, lambda: files(document) == [])
    assert document.lenses() == [(0, UNGRADED)]


def test_a_trace_in_nested_folders_is_of_the_innermost(alone: RawClient, tmp_path: Path) -> None:
    here = write(tmp_path / "trace.jsonl", STARTED)
    inner = write(tmp_path / "inner" / "trace.jsonl", graded("pass", "pass", "pass"))
    start(alone, tmp_path, inner.parent)
    document = opened(alone, here)
    alone.request("driveTrace/runs", {})
    assert (verdict(document), files(document)) == (f"**{MISSING}**", [])
    other = opened(alone, inner)
    assert (verdict(other), files(other)) == ("**CORRECT**", [])


def test_without_news_the_disk_is_looked_at_when_something_is_asked(
    alone: RawClient, tmp_path: Path
) -> None:
    here = write(tmp_path / "trace.jsonl", STARTED)
    there = write(tmp_path / "a" / "trace.jsonl", STARTED)
    start(alone, tmp_path, declared={})
    document = opened(alone, here)

    assert eventually(lambda: len(files(document)) == 2)
    append(there, graded("pass", "pass", "pass"))
    assert eventually(lambda: verdict(document) == "**CORRECT**")
    there.unlink()
    assert eventually(lambda: files(document) == [])


def test_names_from_a_trace_are_escaped(alone: RawClient, tmp_path: Path) -> None:
    here = write(tmp_path / "trace.jsonl", STARTED)
    write(tmp_path / "](x) `<b>" / "trace.jsonl", STARTED)
    start(alone, tmp_path)
    document = opened(alone, here)
    uri = f"{tmp_path.as_uri()}/%5D%28x%29%20%60%3Cb%3E/trace.jsonl"
    named = f"- [`` ](x) `<b>/trace.jsonl ``]({uri}#L1): 1 event"
    asked_for(alone, LENSES, lambda: named in document.hover_text(RUN))


def test_a_large_workspace_shows_its_progress(alone: RawClient, tmp_path: Path) -> None:
    for number in range(200):
        write(tmp_path / f"{number:03}" / "trace.jsonl", triage() * 200)
    here = write(tmp_path / "trace.jsonl", STARTED)
    start(alone, tmp_path)
    document = opened(alone, here)
    kinds = [
        alone.notification("$/progress", lambda said, kind=kind: said["value"]["kind"] == kind)
        for kind in ("begin", "end")
    ]
    assert kinds[0]["token"] == kinds[1]["token"]
    assert kinds[0]["value"]["cancellable"] is True
    asked_for(alone, LENSES, lambda: "Joined over 201 files" in document.hover_text(RUN))
    assert "- and 193 more" in document.hover_text(RUN)


def test_a_first_reading_that_is_cancelled(alone: RawClient, tmp_path: Path) -> None:
    for number in range(150):
        write(tmp_path / f"{number:03}" / "trace.jsonl", triage() * 3000)
    here = write(tmp_path / "trace.jsonl", STARTED)
    start(alone, tmp_path)
    document = opened(alone, here)
    begun = alone.notification("$/progress")
    alone.notify("window/workDoneProgress/cancel", {"token": "nobody's"})
    alone.notify("window/workDoneProgress/cancel", {"token": begun["token"]})
    alone.notification("$/progress", lambda said: said["value"]["kind"] == "end")
    # What is not known is said.
    assert " not read yet.*" in document.hover_text(RUN)
    ((_, said),) = document.lenses()
    assert said.startswith(f"{UNGRADED} so far · ")


def test_no_progress_for_who_cannot_show_it(alone: RawClient, tmp_path: Path) -> None:
    for number in range(120):
        write(tmp_path / f"{number:03}" / "trace.jsonl", triage())
    declared = {"workspace": {"codeLens": {"refreshSupport": True}}}
    start(alone, tmp_path, declared=declared)
    document = opened(alone, write(tmp_path / "trace.jsonl", STARTED))
    asked_for(alone, LENSES, lambda: "Joined over 121 files" in document.hover_text(RUN))
    assert alone.received("$/progress") == []


@not_on_windows(NO_FIFOS)
def test_a_pipe_holds_nobody_up(alone: RawClient, two: tuple[Document, Path]) -> None:
    document, there = two
    there.unlink()
    os.mkfifo(there)
    told(alone, there, 1)
    asked_for(alone, LENSES, lambda: files(document) == [])


def located(found: Any) -> list[tuple[str, int]]:
    """Where links or locations lead: the file and the line from 0."""
    return [
        (
            each.get("targetUri") or each["uri"],
            (each.get("targetSelectionRange") or each["range"])["start"]["line"],
        )
        for each in found
    ]


def references(document: Document, *, with_declarations: bool = True) -> list[tuple[str, int]]:
    params = {
        **document.identifier,
        "position": document.range_of(RUN)["start"],
        "context": {"includeDeclaration": with_declarations},
    }
    return located(document.client.request("textDocument/references", params))


def definition(document: Document, line: int = 0) -> list[tuple[str, int]]:
    character = document.text.split("\n")[line].index(RUN)
    params = {**document.identifier, "position": {"line": line, "character": character}}
    return located(document.client.request("textDocument/definition", params))


@pytest.mark.parametrize("links", [False, True])
def test_a_run_is_found_in_all_traces(alone: RawClient, tmp_path: Path, links: bool) -> None:
    here, closed, other = (
        write(tmp_path / name / "trace.jsonl", triage()) for name in ("b", "a", "c")
    )
    write(tmp_path / "d" / "trace.jsonl", triage(run="run-2"))
    append(closed, triage(note="🚀"))
    declared = {**WATCHES, "textDocument": {"definition": {"linkSupport": links}}}
    start(alone, tmp_path, declared=declared)
    document = opened(alone, here)
    # What is not saved counts, too.
    opened(alone, other, triage(run="run-2") + triage())
    places = [(here.as_uri(), 0), (closed.as_uri(), 0), (closed.as_uri(), 1), (other.as_uri(), 1)]
    assert references(document) == places
    assert references(document, with_declarations=False) == [places[2]]
    # From where the run begins here, to where it begins elsewhere.
    assert definition(document) == [places[1], places[3]]
    document.edit((0, 0, triage(run="run-3")))
    document.edit((len(document.text), len(document.text), triage()))
    assert definition(document, line=2) == [(here.as_uri(), 1)]


def test_a_grade_in_another_file_of_the_run_is_kept(
    alone: RawClient, two: tuple[Document, Path]
) -> None:
    document, there = two
    append(there, graded("pass", "pass", "pass"))
    told(alone, there)
    asked_for(alone, LENSES, lambda: verdict(document) == "**CORRECT**")
    action = {"title": "Record intent: fail", "data": grading(document, "intent: fail")}
    resolved = alone.request("codeAction/resolve", action)
    assert resolved.keys() == {"title", "edit"}  # and no kind, as none was given
    (edits,) = resolved["edit"]["changes"].values()
    assert '"mechanical":"pass","qa":"pass","intent":"fail"' in edits[0]["newText"]
    # What cannot be read may have graded it, too.
    there.unlink()
    there.symlink_to(there.name)
    told(alone, there, 1)

    def answer() -> dict[str, Any]:
        return alone.response(alone.start_request("codeAction/resolve", action))

    asked_for(alone, LENSES, lambda: "error" in answer())
    unknown = "What other files say of the run is not known; "
    assert answer()["error"]["message"].startswith(unknown)


def grading(document: Document, what: str) -> dict[str, Any]:
    """The data of an offer to record a component of a grade."""
    kind = "refactor.driveTrace.record"
    return {"uri": document.uri, "record": 0, "kind": kind, "id": what}


@pytest.mark.parametrize("is_told", [False, True])
def test_a_grade_that_another_file_was_given_just_now_is_kept(
    alone: RawClient, two: tuple[Document, Path], is_told: bool
) -> None:
    document, there = two
    append(there, graded("pass", None, "pass"))
    told(alone, there)
    asked_for(alone, LENSES, lambda: verdict(document) == "**not computable — missing: qa**")
    action = {"title": "Record qa: pass → CORRECT", "data": grading(document, "qa: pass")}
    append(there, graded("pass", None, "fail", ts="2026-05-28T15:00:00.000Z"))
    if is_told:
        told(alone, there)
    (edits,) = alone.request("codeAction/resolve", action)["edit"]["changes"].values()
    assert '"mechanical":"pass","qa":"pass","intent":"fail"' in edits[0]["newText"]
    append(there, graded("fail", None, "fail", ts="2026-05-28T16:00:00.000Z"))
    params = {"uri": document.uri, "event": "correctness-recorded"}
    made = alone.request("driveTrace/composeEvent", params)
    assert '"mechanical":"fail","qa":null,"intent":"fail"' in made["text"]


@not_on_windows(NO_FIFOS)
def test_a_file_that_is_in_the_way_is_named(alone: RawClient, tmp_path: Path) -> None:
    declared = {
        **WATCHES,
        "textDocument": {
            "codeAction": {
                "codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["refactor"]}},
                "disabledSupport": True,
            }
        },
    }
    start(alone, tmp_path, declared=declared)
    document = opened(alone, write(tmp_path / "trace.jsonl", STARTED))
    pipe = tmp_path / "b" / "trace.jsonl"
    pipe.parent.mkdir()
    os.mkfifo(pipe)
    told(alone, pipe, 1)
    at = {"line": 0, "character": document.text.index(RUN) + 2}
    named = {**document.identifier, "position": at, "newName": "run-3"}
    error = alone.response(alone.start_request("textDocument/rename", named))["error"]
    lack = (
        "b/trace.jsonl: not read (it is a pipe or a device, not a file; save its text as one), "
        "and may say something else about this run."
    )
    assert error["message"] == f"Which other files name the run is not known; {lack}"
    context = {"diagnostics": [], "only": ["refactor.driveTrace.record"]}
    asked = {**document.identifier, "range": {"start": at, "end": at}, "context": context}
    (action,) = alone.request("textDocument/codeAction", asked)
    assert action["title"] == "Record a grade"
    reason = f"What other files say of the run is not known; {lack}"
    assert action["disabled"]["reason"] == reason


def test_an_event_of_a_feed_that_is_appended_repeats_what_another_file_says(
    alone: RawClient, two: tuple[Document, Path]
) -> None:
    document, there = two
    append(there, graded("pass", "pass", "pass") + tokens(1, 2, 3, None))
    told(alone, there)
    asked_for(alone, LENSES, lambda: verdict(document) == "**CORRECT**")
    for event, values in (
        ("correctness-recorded", ["pass", "pass", "pass"]),
        ("tokens-recorded", [1, 2, 3, None]),
    ):
        params = {"uri": document.uri, "event": event}
        made = alone.request("driveTrace/composeEvent", params)
        assert list(json.loads(made["text"]).values())[-len(values) :] == values
    at_end = {**document.identifier, "position": {"line": 1, "character": 0}}

    def offered() -> dict[str, Any]:
        items = alone.request("textDocument/completion", at_end)["items"]
        return {each["label"]: each for each in items}

    item = offered()["correctness-recorded"]
    assert '"mechanical":"pass","qa":"pass","intent":"pass"' in item["textEdit"]["newText"]
    name = "projects/shop/slices/a/trace.jsonl"
    assert item["detail"] == f"pass, pass, pass, as recorded at 2026-05-28 14:00 in {name}"
    # What the document says later than that is what counts.
    later = graded("fail", "pass", None, ts="2026-05-28T15:00:00.000Z")
    document.rewrite(apart(STARTED + later))
    params = {"uri": document.uri, "event": "correctness-recorded"}
    made = alone.request("driveTrace/composeEvent", params)
    assert '"mechanical":"fail","qa":"pass","intent":null' in made["text"]
    # What cannot be read may have graded it, too.
    there.unlink()
    there.symlink_to(there.name)
    told(alone, there, 1)

    def composed() -> dict[str, Any]:
        return alone.response(alone.start_request("driveTrace/composeEvent", params))

    assert eventually(lambda: "error" in composed())
    reason = composed()["error"]["message"]
    assert reason.startswith("What other files say of the run is not known; ")
    at_end["position"]["line"] = 2
    labels = offered().keys()
    assert "correctness-recorded" not in labels
    assert "retro-landed" in labels


def test_a_rejected_grade_of_another_file_counts_only_where_it_is_not_older(
    alone: RawClient, two: tuple[Document, Path]
) -> None:
    document, there = two
    document.rewrite(apart(STARTED + graded("pass", "pass", None, ts="2026-05-28T15:00:00.000Z")))

    def offered() -> list[dict[str, Any]]:
        start = {"line": 0, "character": 0}
        params = {
            **document.identifier,
            "range": {"start": start, "end": start},
            "context": {"diagnostics": [], "only": ["refactor.driveTrace.record"]},
        }
        return alone.request("textDocument/codeAction", params)

    append(there, graded("passed", "pass", None))
    told(alone, there)
    run = {"uri": document.uri, "runId": "run-1"}
    assert eventually(lambda: "rejected" in str(alone.request("driveTrace/run", run)))
    assert "Record intent: pass → CORRECT" in [each["title"] for each in offered()]
    append(there, graded("passed", "pass", None, ts="2026-05-28T16:00:00.000Z"))
    told(alone, there)
    assert eventually(lambda: offered() == [])


def test_a_run_is_renamed_in_all_its_files(
    alone: RawClient, two: tuple[Document, Path], tmp_path: Path
) -> None:
    document, there = two
    taken = write(tmp_path / "taken" / "trace.jsonl", triage(run="run-2"))
    told(alone, taken, 1)
    assert eventually(lambda: "taken" in str(alone.request("driveTrace/runs", {})))
    position = {"line": 0, "character": document.text.index(RUN) + 2}

    def renamed(name: str) -> dict[str, Any]:
        params = {**document.identifier, "position": position, "newName": name}
        return alone.response(alone.start_request("textDocument/rename", params))

    changes = renamed("run-3")["result"]["changes"]
    assert {uri: [each["newText"] for each in edits] for uri, edits in changes.items()} == {
        document.uri: ["run-3"],
        there.as_uri(): ["run-3"],
    }
    assert renamed("run-2")["error"]["message"] == (
        'taken/trace.jsonl names a run "run-2" already: renaming this run would make the two one.'
    )


@not_on_windows(NO_MODES)
def test_a_file_that_cannot_be_written_has_no_run_renamed(
    alone: RawClient, two: tuple[Document, Path]
) -> None:
    document, there = two
    there.chmod(0o400)
    if os.access(there, os.W_OK):
        pytest.skip("this user may write everything")
    position = {"line": 0, "character": document.text.index(RUN) + 2}
    params = {**document.identifier, "position": position, "newName": "run-3"}
    error = alone.response(alone.start_request("textDocument/rename", params))["error"]
    assert error["message"] == f"{there} cannot be written: nothing was renamed."


def test_a_rename_counts_an_open_file_as_it_is_open(alone: RawClient, tmp_path: Path) -> None:
    edits = {"documentChanges": True}
    here = write(tmp_path / "a" / "trace.jsonl", STARTED)
    there = write(tmp_path / "b" / "trace.jsonl", STARTED)
    workspace = {**WATCHES["workspace"], "workspaceEdit": edits}
    start(alone, tmp_path, declared={**WATCHES, "workspace": workspace})
    document = opened(alone, here)
    # On disk it names the run once; in the editor, further down, and twice.
    other = opened(alone, there, apart(triage(run="run-2") + STARTED + STARTED))
    alone.request("driveTrace/runs", {})
    position = {"line": 0, "character": document.text.index(RUN) + 2}
    params = {**document.identifier, "position": position, "newName": "run-3"}
    made = alone.request("textDocument/rename", params)
    assert [
        (each["textDocument"], [edit["range"]["start"]["line"] for edit in each["edits"]])
        for each in made["documentChanges"]
    ] == [
        ({"uri": document.uri, "version": document.version}, [0]),
        ({"uri": other.uri, "version": other.version}, [1, 2]),
    ]
