"""The server in plain JSON-RPC: the record of the judging beside a trace."""

import os
from pathlib import Path

import pytest

from tests.cli.test_judged import CAVEAT, HOSTILE, JUDGED, NOBODY, NOT_CALIBRATED
from tests.server.support import write
from tests.server.test_following import Client, channel, closing, opening
from tests.server.test_live import LENSES, append, asked_for, eventually, opened, start, told
from tests.server.test_views import ask, runs
from tests.support.client_text import apart, graded, triage
from tests.support.editor import Document
from tests.support.judging import UNCALIBRATED, judge, judgement, record_of
from tests.support.raw_client import RawClient
from tests.support.sessions.channels import InProcess
from tests.support.systems import NO_DEVICES, not_on_windows

__all__ = ["channel"]
GRADED = apart(triage() + graded("pass", "pass", "pass"))


def judging(document: Document) -> str:
    """What the hover of a grade says of its judge."""
    lines = document.hover_text('"correctness-recorded"').split("\n")
    return next(each for each in lines if each.startswith(("`intent: ", "``"))).strip("` ")


def test_the_verdict_follows_the_record_beside_its_trace(alone: RawClient, tmp_path: Path) -> None:
    trace = write(tmp_path / "trace.jsonl", GRADED)
    start(alone, tmp_path)
    document = opened(alone, trace)
    assert runs(alone)["run-1"]["caveats"] == []
    assert (judging(document), document.lenses()[0][1]) == (NOBODY, "CORRECT")
    record = record_of(trace)

    append(record, UNCALIBRATED)
    told(alone, record, 1)
    asked_for(alone, LENSES, lambda: judging(document) == NOT_CALIBRATED)
    title = "CORRECT · intent judged by an uncalibrated judge"
    assert document.lenses() == [(0, title), (1, "decides: CORRECT")]
    found = runs(alone)["run-1"]
    assert (found["title"], found["earned"], found["caveats"]) == (title, True, [CAVEAT])
    position = {"line": 0, "character": 0}
    bar = ask(alone, "runAt", textDocument={"uri": document.uri}, position=position)
    assert (bar["title"], NOT_CALIBRATED in bar["card"]) == (title, True)
    page = ask(alone, "report", uri=document.uri, format="body", runId="run-1")["body"]
    assert NOT_CALIBRATED in page
    assert CAVEAT in page
    page = ask(alone, "report", uri=document.uri, format="body")["body"]
    assert "caveats: uncalibrated judge" in page

    append(record, judgement(judging="two"))
    told(alone, record)
    asked_for(alone, LENSES, lambda: judging(document) == JUDGED)
    assert document.lenses()[0][1] == "CORRECT"
    document.replace('"intent":"pass"', '"intent":"fail"')
    assert judging(document) == "intent: fail, judge not recorded"
    document.replace('"intent":"fail"', '"intent":"pass"')
    assert judging(document) == JUDGED

    record.unlink()
    told(alone, record, 3)
    assert eventually(lambda: judging(document) == NOBODY)


def test_a_closed_trace_has_its_record(alone: RawClient, tmp_path: Path) -> None:
    trace = write(tmp_path / "slice" / "trace.jsonl", GRADED)
    judge(trace, UNCALIBRATED)
    start(alone, tmp_path)
    assert runs(alone)["run-1"]["caveats"] == [CAVEAT]
    opened(alone, write(tmp_path / "trace.jsonl", apart(triage(project_run_id="run-2"))))
    judge(trace, judgement())
    told(alone, record_of(trace))
    assert eventually(lambda: runs(alone)["run-1"]["caveats"] == [])


def test_a_trace_from_outside_the_workspace_has_its_record(
    alone: RawClient, tmp_path: Path
) -> None:
    trace = write(tmp_path / "outside" / "trace.jsonl", GRADED)
    judge(trace, judgement(model=HOSTILE))
    start(alone, write(tmp_path / "inside" / "a", "").parent)
    document = opened(alone, trace)
    asked_for(alone, LENSES, lambda: "calibrated 0.90" in judging(document))
    shown = judging(document)
    assert not {"\x1b", "\u202e", "\n"} & set(shown)


@not_on_windows(NO_DEVICES)
def test_no_record_is_read_through_what_its_folder_becomes(
    channel: InProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It becomes a link when the record is looked for."""
    trace, theirs = (write(tmp_path / f"{each}/trace.jsonl", GRADED) for each in ("a/b", "theirs"))
    for each in (trace, theirs):
        judge(each, judgement())
    look, open_now, names, swaps = os.lstat, os.open, list[str](), list[str]()

    def swapped(name: str, **more: int) -> os.stat_result:
        if name == str(record_of(trace)) and not swaps:
            swaps.append(name)
            trace.parent.rename(tmp_path / "aside")
            trace.parent.symlink_to(theirs.parent)
        return look(name, **more)

    def opened(name: str, *given: int, **more: int) -> int:
        names.append(str(name))
        return open_now(name, *given, **more)

    client = Client(channel, tmp_path / "a")
    monkeypatch.setattr(os, "lstat", swapped)
    monkeypatch.setattr(os, "open", opened)
    client.ask("driveTrace/runs", {})
    assert swaps
    assert not [each for each in names if each.startswith(str(theirs.parent))]


def test_a_client_that_watches_nothing_sees_the_record(channel: InProcess, tmp_path: Path) -> None:
    trace = write(tmp_path / "trace.jsonl", GRADED)
    client = Client(channel, tmp_path)
    assert client.said(opening(trace)) == "CORRECT"
    judge(trace, UNCALIBRATED)
    assert client.said() == "CORRECT · intent judged by an uncalibrated judge"
    assert client.said(closing(trace)) == "CORRECT · intent judged by an uncalibrated judge"
