"""Answers that take long, without a server around them: in slices, and in turns."""

import asyncio
from pathlib import Path

import pytest
from lsprotocol import types

from drive_trace.lsp.rpc import tasks as slices
from drive_trace.lsp.rpc.tasks import Turns, in_slices_anew
from drive_trace.lsp.workspace.closed_traces import ClosedTraces
from drive_trace.lsp.workspace.open_traces import OpenTrace, Workspace
from drive_trace.lsp.workspace.runs import WorkspaceRuns
from drive_trace.tasks import Task
from tests.server.test_closed_traces import options
from tests.support.client_text import apart, triage

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
