"""What is kept of closed traces, without a server around it."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from drive_trace.features.findings import DiagnosticOptions
from drive_trace.linter.settings import DEFAULTS
from drive_trace.lsp.rpc.capabilities import path_of
from drive_trace.lsp.workspace import closed_traces
from drive_trace.lsp.workspace.closed_traces import ClosedTraces, TraceFolders
from drive_trace.lsp.workspace.open_traces import OpenTrace, Workspace
from drive_trace.lsp.workspace.runs import WorkspaceRuns
from drive_trace.scorecard.card import score
from drive_trace.scorecard.caveats import Unread
from drive_trace.storage.finding import Found, find_traces
from drive_trace.text.spans import PositionEncoding
from tests.server.support import write
from tests.support.client_text import event, graded, triage
from tests.support.scored import summarize_text


def options(path: Path) -> DiagnosticOptions:
    members = frozenset[str]()
    encoding = PositionEncoding.UTF16
    return DiagnosticOptions(path.as_uri(), encoding, 1000, lambda _: None, members, DEFAULTS)


def look(closed: ClosedTraces) -> bool:
    """Look at all traces. Gives whether that finds anything new."""
    before = closed.revision
    closed.look(closed.search())
    return closed.revision != before


def test_a_trace_that_comes_during_a_search_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = write(tmp_path / "a" / "trace.jsonl", triage())
    folders = TraceFolders([tmp_path])
    find = closed_traces.find_real_traces
    new = tmp_path / "b" / "trace.jsonl"

    def passed_by(paths: Sequence[str], *given: object) -> list[tuple[str, Found]]:
        found = list(find(paths, *given))
        if not new.exists():
            write(new, triage())
            folders.expire()  # the client tells of it
        return found

    monkeypatch.setattr(closed_traces, "find_real_traces", passed_by)
    assert list(folders.search().values()) == [old, new]
    assert list(folders.search().values()) == [old, new]


def test_a_new_trace_is_found_after_some_seconds_however_long_a_search_takes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 100.0
    find = closed_traces.find_real_traces

    def takes_long(paths: Sequence[str], *given: object) -> list[tuple[str, Found]]:
        nonlocal now
        now += 2.0
        return list(find(paths, *given))

    monkeypatch.setattr(closed_traces, "find_real_traces", takes_long)
    monkeypatch.setattr(closed_traces.time, "monotonic", lambda: now)
    folders = TraceFolders([tmp_path])
    assert folders.search() == {}
    new = write(tmp_path / "a" / "trace.jsonl", triage())
    now += 4.0
    assert folders.search() == {}
    now += 1.1
    assert list(folders.search().values()) == [new]


def test_traces_are_joined_in_the_order_in_which_a_search_finds_them(tmp_path: Path) -> None:
    names = ("", "slices/a", "slices/a/b", "slices/a b", "slices/A", "z", "wip/drive-trace/z")
    paths = [tmp_path / name / "trace.jsonl" for name in names]
    paths += [tmp_path / "wip" / "drive-trace" / f"{name}.jsonl" for name in ("a", "Z", "~")]
    for number, path in enumerate(paths):
        write(path, graded("pass", "fail" if number % 2 else "pass", "pass"))
    closed, traces = ClosedTraces([tmp_path]), Workspace()
    runs = WorkspaceRuns(traces, closed)
    look(closed)
    here = paths[1]
    traces.open(OpenTrace(here.as_uri(), 1, here.read_text("utf-8"), options(here)))
    runs.note_open(here.as_uri(), here)
    searched = [str(each) for each in find_traces([str(tmp_path)])]
    assert len(searched) == len(paths)
    ((_, parts),) = runs.all_runs()
    assert [path_of(each.uri) for each in parts] == [Path(each) for each in searched]
    others = runs.neighbours(here.as_uri(), ["run-1"])
    assert [each.place.uri for each in others] == [
        Path(each).as_uri() for each in searched if each != str(here)
    ]
    # All grades are of one moment.
    said = runs.joined("run-1", here.as_uri())
    assert said is not None
    (run,) = score([summarize_text(Path(each).read_text("utf-8"), each) for each in searched]).runs
    assert said.run.gate == run.gate


PASSED = graded("pass", "pass", "pass")
LATE = "2026-05-28T15:00:00.000Z"
STRAYS = {
    "a rejected grade": graded("pass", "failed", "pass", ts=LATE),
    "a rejected grade of no run": graded("pass", "failed", "pass", run=None, ts=LATE),
    "a look-alike of no run": event("correctness-record", None, ts=LATE),
    "a look-alike": event("correctness-record", ts=LATE),
    "an earlier look-alike": event("correctness-record", ts="2026-05-28T13:00:00.000Z"),
}


@pytest.mark.parametrize("name", STRAYS)
@pytest.mark.parametrize("is_open", [True, False])
def test_a_stray_line_in_another_file_counts_as_for_score(
    name: str, is_open: bool, tmp_path: Path
) -> None:
    texts = {"a": PASSED, "b": STRAYS[name]}
    paths = [write(tmp_path / each / "trace.jsonl", text) for each, text in texts.items()]
    closed, traces = ClosedTraces([tmp_path]), Workspace()
    runs = WorkspaceRuns(traces, closed)
    for path in paths if is_open else ():
        traces.open(OpenTrace(path.as_uri(), 1, path.read_text("utf-8"), options(path)))
        runs.note_open(path.as_uri(), path)
    look(closed)
    said = runs.joined("run-1", paths[0].as_uri())
    assert said is not None
    ((_, listed),) = runs.judged(runs.all_runs())
    (run,) = score([summarize_text(text, each) for each, text in texts.items()]).runs
    assert said.run.headline == run.headline
    assert said.run.is_earned == run.is_earned == ("earlier" in name)
    assert listed.run.is_earned == run.is_earned


def test_a_file_without_an_event_is_an_input_not_read(tmp_path: Path) -> None:
    pointer = write(tmp_path / "b" / "trace.jsonl", "version https://example.org/spec/v1\n")
    closed = ClosedTraces([tmp_path])
    closed.look(closed.search())
    runs = WorkspaceRuns(Workspace(), closed)
    why = "no line of it names a run"
    assert runs.unread(tmp_path) == [Unread("b/trace.jsonl", why)]
    traces = Workspace()
    traces.open(OpenTrace(pointer.as_uri(), 1, pointer.read_text("utf-8"), options(pointer)))
    assert WorkspaceRuns(traces, closed).unread(tmp_path) == [Unread("b/trace.jsonl", why)]
    write(pointer, triage())
    assert look(closed)
    assert runs.unread(tmp_path) == []


def test_what_is_gone_is_no_input(tmp_path: Path) -> None:
    path = write(tmp_path / "trace.jsonl", triage())
    closed = ClosedTraces([tmp_path])
    look(closed)
    path.unlink()
    closed.look(each.real for each in closed.seen())
    assert WorkspaceRuns(Workspace(), closed).unread(tmp_path) == []
