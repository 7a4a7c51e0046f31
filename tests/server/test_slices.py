"""Answers that take long, without a server around them: in slices, and in turns."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcContentModified

from drive_trace.lsp.rpc import tasks as slices
from drive_trace.lsp.rpc.tasks import Turns, in_slices, in_slices_anew
from drive_trace.lsp.workspace.closed_traces import ClosedTraces
from drive_trace.lsp.workspace.open_traces import OpenTrace, Workspace
from drive_trace.lsp.workspace.runs import WorkspaceRuns
from drive_trace.tasks import Task
from tests.server.test_closed_traces import options
from tests.support.client_text import apart, graded, triage

LINES = 10_000
STEPS = LINES // 256
"""As long as none is of more lines than that, nobody who types waits."""


def opened(text: str) -> tuple[WorkspaceRuns, OpenTrace]:
    path = Path("/work/trace.jsonl")
    traces = Workspace()
    trace = OpenTrace(path.as_uri(), 1, text, options(path))
    traces.open(trace)
    return WorkspaceRuns(traces, ClosedTraces([path.parent])), trace


def type_in(trace: OpenTrace, text: str) -> None:
    start = types.Position(0, 0)
    edit = types.TextDocumentContentChangePartial(range=types.Range(start, start), text=text)
    trace.change(trace.version + 1, [edit])


async def a_while() -> None:
    """Others get their turn, some times."""
    for _ in range(5):
        await asyncio.sleep(0)


@pytest.mark.parametrize(
    "lines",
    [
        triage(verdict="rejected") * LINES,
        graded("pass", "passed", "pass") * LINES,
        triage().replace("triage-verdict", "correctness_recorded") * LINES,
    ],
)
def test_what_is_said_of_a_trace_pauses_every_few_lines(lines: str) -> None:
    runs, trace = opened(triage() + lines)
    for steps in (
        runs.all_runs(),
        runs.joining("run-1", trace.uri),
        trace.analysis.summing_up_run("run-1"),
        trace.findings_by_run(),
    ):
        assert sum(1 for _ in steps) >= STEPS


def test_what_is_said_of_many_runs_pauses_every_few_runs() -> None:
    runs, _ = opened("".join(triage(project_run_id=f"run-{each}") for each in range(LINES)))
    assert sum(1 for _ in runs.all_runs()) >= STEPS


def test_whether_a_run_was_copied_pauses_at_each_other_trace(tmp_path: Path) -> None:
    count = 20
    for number in range(count):
        (tmp_path / str(number)).mkdir()
        text = triage(project_run_id=f"run-{number}")
        (tmp_path / str(number) / "trace.jsonl").write_text(text, encoding="utf-8")
    closed = ClosedTraces([tmp_path])
    closed.look(closed.search())
    runs, uri = WorkspaceRuns(Workspace(), closed), (tmp_path / "0" / "trace.jsonl").as_uri()
    assert sum(1 for _ in runs.joining("run-0", uri)) >= count
    assert sum(1 for _ in runs.joining("run-0", uri)) < count
    with (tmp_path / "1" / "trace.jsonl").open("a", encoding="utf-8") as file:
        file.write(triage(project_run_id="run-1"))
    closed.look(closed.search())
    assert sum(1 for _ in runs.joining("run-0", uri)) >= count


async def test_the_runs_are_those_of_the_text_as_it_is_in_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(slices, "SLICE", 0)
    runs, trace = opened(apart(triage(verdict="rejected") * 5000 + triage()))
    asked = asyncio.ensure_future(in_slices_anew(runs.open, runs.all_runs))
    told = asyncio.ensure_future(in_slices(runs.open, runs.all_runs()))
    await a_while()
    type_in(trace, triage() + graded("pass", "pass", "pass"))
    ((_, (run,)),) = await asked
    assert (run.part.event_count, run.part.first_line) == (3, 1)
    with pytest.raises(JsonRpcContentModified):
        await told


async def test_who_types_on_and_on_does_not_keep_an_answer_from_coming(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(slices, "SLICE", 0)
    runs, trace = opened(apart(triage()))

    def slow() -> Task[int]:
        for _ in range(100):
            yield
        return trace.version

    asked = asyncio.ensure_future(in_slices_anew(runs.open, slow))
    while not asked.done():
        type_in(trace, " ")
        await a_while()
    assert asked.result() == trace.version


async def test_what_is_opened_and_closed_is_a_change_as_well() -> None:
    traces = Workspace()
    trace, other = (
        OpenTrace(path.as_uri(), 1, "", options(path))
        for path in (Path("/work/trace.jsonl"), Path("/work/other/trace.jsonl"))
    )
    seen = [traces.edits]
    for change in (
        lambda: traces.open(trace),
        lambda: traces.open(other),
        lambda: type_in(other, "{"),
        lambda: traces.close(other.uri),
        lambda: traces.open(trace),
    ):
        change()
        seen.append(traces.edits)
    assert sorted(set(seen)) == seen


async def test_who_asks_while_it_is_being_done_shares_the_next_turn() -> None:
    turns: Turns[int] = Turns()
    begun: list[asyncio.Event] = []

    async def work() -> int:
        done, number = asyncio.Event(), len(begun)
        begun.append(done)
        await done.wait()
        return number

    def ask(key: str = "report") -> asyncio.Future[int]:
        return asyncio.ensure_future(turns.take(key, work))

    first = ask()
    await a_while()
    others = [ask() for _ in range(3)]
    elsewhere = ask("timeline")
    await a_while()
    assert len(begun) == 2
    others[0].cancel()
    begun[0].set()
    await a_while()
    assert len(begun) == 3
    late = ask()
    for done in begun:
        done.set()
    assert [await each for each in (first, elsewhere, *others[1:])] == [0, 1, 2, 2]
    await a_while()
    begun[3].set()
    assert await late == 3


async def test_what_goes_wrong_is_told_to_all_who_wait_and_the_next_turn_comes() -> None:
    turns: Turns[int] = Turns()

    async def fails() -> int:
        raise ValueError("no such run")

    async def works() -> int:
        return 1

    asked = [asyncio.ensure_future(turns.take("x", fails)) for _ in range(2)]
    for each in asked:
        with pytest.raises(ValueError, match="no such run"):
            await each
    assert await turns.take("x", works) == 1
