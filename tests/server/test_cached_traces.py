"""Traces of which a cache keeps what the score needs: they say what they say without."""

import os
import sys
import time
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from drive_trace.features.runs import listed
from drive_trace.fleet import kept
from drive_trace.linter.settings import DEFAULTS
from drive_trace.lsp.workspace import closed_traces
from drive_trace.lsp.workspace.closed_traces import ClosedTraces
from drive_trace.lsp.workspace.open_traces import Workspace
from drive_trace.lsp.workspace.runs import WorkspaceRuns
from drive_trace.storage.fleet_cache import Cache
from tests.server.support import write
from tests.server.test_closed_traces import STRAYS, look, options
from tests.server.test_live import WATCHES, append, eventually, opened, told
from tests.server.test_views import ask, runs
from tests.support.client_text import apart, graded, triage
from tests.support.raw_client import RawClient

PASSED = graded("pass", "pass", "pass")
FAILED = graded("pass", "fail", "pass", ts="2026-05-28T16:00:00.000Z")
TEXTS = {
    "alone": apart(triage(project_run_id="alone") + graded("pass", None, "pass", run="alone")),
    "copied": PASSED + FAILED,
    "also-copied": PASSED,
    **{name.replace(" ", "-"): text for name, text in STRAYS.items()},
    "faulty": apart(triage(project_run_id="faulty", ts="yesterday")) + "{\n",
    "pointer": "version https://example.org/spec/v1\n",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A workspace to which nobody has written for long."""
    for name, text in TEXTS.items():
        settled(write(tmp_path / "traces" / name / "trace.jsonl", text))
    return tmp_path / "traces"


def settled(path: Path) -> Path:
    os.utime(path, (1_700_000_000, 1_700_000_000))
    return path


def said(closed: ClosedTraces) -> list[Any]:
    """All that the list of runs shows of traces."""
    workspace = WorkspaceRuns(Workspace(), closed)
    found = []
    shown = [each for _, each in workspace.listed()]
    for at, ((_, parts), joined) in enumerate(workspace.judged(workspace.all_runs())):
        assert joined.uris == [each.uri for each in parts]
        assert shown[at] == listed(joined)
        run = joined.run
        reals = {each.real: each.path.as_uri() for each in closed.seen()}
        counts = [
            (closed.findings_by_run(real, DEFAULTS) or {}).get(run.run_id, 0)
            for each in parts
            for real, uri in reals.items()
            if uri == each.uri
        ]
        card = run.headline, run.caveats, run.tokens, run.measured, run.parts
        found.append((run.run_id, [each.uri for each in parts], counts, *card))
    return found


def counting(folder: Path) -> ClosedTraces:
    """The traces of a folder, whose findings are counted though nobody has opened them."""
    closed = ClosedTraces([folder])
    closed.counts_findings = True
    return closed


def report(closed: ClosedTraces, path: Path) -> bytes:
    """The diagnostics of a trace."""
    found = closed.report(path, None, options(path))
    assert found is not None
    return found.items or b""


def test_what_is_kept_says_what_the_files_say(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = counting(folder)
    look(plain)
    expected = said(plain)
    assert len(expected) == 3
    now = time.time_ns
    monkeypatch.setattr(kept.time, "time_ns", lambda: now() + 10**10)
    for attempt in ("first", "second"):
        closed = counting(folder)
        cache = Cache(tmp_path / "cache")
        traces = [(real, DEFAULTS) for real in closed.search()]
        assert closed.look_first(traces, cache, seconds=60) == len(TEXTS), attempt
        cache.close()
        assert all(each.is_short for each in closed.seen())
        closed.complete(())
        assert said(closed) == expected
        for each in closed.seen():  # only what is joined is read
            assert each.is_short == ("run-1" not in each.parts)
        monkeypatch.setattr(kept, "read", None)  # the second time, nothing is
    assert report(closed, folder / "alone" / "trace.jsonl") == b"[]"
    assert b"malformed-timestamp" in report(closed, folder / "faulty" / "trace.jsonl")
    assert b"invalid-json" in report(closed, folder / "pointer" / "trace.jsonl")
    assert not look(closed)
    path = folder / "alone" / "trace.jsonl"
    settled(write(path, path.read_text("utf-8").replace("direct", "Direct")))
    assert look(closed)
    append(path, "{\n")
    assert b"invalid-json" in report(closed, path)


def test_the_clock_is_looked_at_after_each_trace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in "abc":
        settled(write(tmp_path / name / "trace.jsonl", triage(project_run_id=name)))
    closed = ClosedTraces([tmp_path])
    traces = [(real, DEFAULTS) for real in closed.search()]
    clock = SimpleNamespace(monotonic=count().__next__)
    monkeypatch.setattr(closed_traces, "time", clock)
    assert closed.look_first(traces, Cache(None), seconds=1) == 2


def test_traces_are_looked_at_anew_where_the_cache_and_a_writer_spoil_what_is_kept(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = Cache(tmp_path / "cache")

    def spoiled(*_: object) -> Any:
        append(folder / "alone" / "trace.jsonl", triage(project_run_id="new"))
        return {}

    monkeypatch.setattr(Cache, "get_many", spoiled)
    closed = ClosedTraces([folder])
    traces = [(real, DEFAULTS) for real in closed.search()]
    assert closed.look_first(traces, cache, seconds=60) == len(TEXTS)
    cache.close()
    assert {each.is_unread for each in closed.seen()} == {False}
    assert "new" in {run_id for each in closed.seen() for run_id in each.parts}


LATER = """
import sys, time
from drive_trace.commands import main
from drive_trace.fleet import kept
from drive_trace.lsp.handlers import views

exec(sys.argv.pop(1))
now = time.time_ns
time.time_ns = lambda: now() + 10**10
main()
"""
"""A server, long after the traces were written, with something else about it."""


def test_a_server_lists_the_second_time_what_it_listed_the_first(
    folder: Path, tmp_path: Path
) -> None:
    cache = tmp_path / "cache"
    env = {**os.environ, "DRIVE_TRACE_CACHE": str(cache)}
    given = [{"uri": folder.as_uri(), "name": "traces"}]
    lists = []
    for but in ("", "kept.read = None; views._STRETCH = 0"):
        with RawClient((sys.executable, "-c", LATER, but, "serve"), env=env) as client:
            client.initialize(WATCHES, workspaceFolders=given)
            lists.append(ask(client, "runs"))
            if len(lists) == 2:
                follows(client, folder)
            assert "Traceback" not in client.stderr()
        assert (cache / "fleet.sqlite").is_file()
    assert lists[0] == lists[1]
    assert {each["runId"] for each in lists[0]["runs"]} == {"run-1", "alone", "faulty"}


def test_a_first_reading_that_fails_ends(folder: Path) -> None:
    for number in range(120):
        write(folder / f"{number:03}" / "trace.jsonl", triage())
    fails = (
        "from drive_trace.lsp.workspace.closed_traces import ClosedTraces\n"
        "ClosedTraces.look_first = lambda *_, **__: time.sleep(1) or 1 / 0"
    )
    given = [{"uri": folder.as_uri(), "name": "traces"}]
    with RawClient((sys.executable, "-c", LATER, fails, "serve")) as client:
        client.initialize(WATCHES, workspaceFolders=given)
        own = opened(client, folder / "own" / "trace.jsonl", apart(triage(project_run_id="own")))
        client.notification("$/progress", lambda said: said["value"]["kind"] == "end")
        assert own.lenses()
        assert eventually(lambda: "closed traces cannot be looked at" in client.stderr())


def follows(client: RawClient, folder: Path) -> None:
    """What was listed from the cache is read as soon as an edit or a change asks for more of it."""
    path = folder / "alone" / "trace.jsonl"
    last = path.read_text("utf-8").splitlines(keepends=True)[-1]
    own = opened(client, folder / "own" / "trace.jsonl", apart(triage(project_run_id="own")))
    assert {"own", "alone"} < runs(client).keys()
    own.edit((len(own.text), len(own.text), last.replace("pass", "fail", 1)))

    def is_joined() -> bool:
        run = runs(client)["alone"]
        is_whole = len(run["files"]) == 2 and not run["headline"].endswith("so far")
        assert is_whole == ("copied in 1 file" in run["title"])
        return is_whole

    assert eventually(is_joined)
    append(path, graded("pass", "pass", "pass", run="alone", ts="2026-05-28T16:00:00.000Z"))
    told(client, path)
    assert eventually(lambda: runs(client)["alone"]["verdict"] == "correct")
