"""Answers that take long, without a server around them: in threads, and shared."""

import asyncio
import json
import threading
from collections.abc import Callable, Iterator, Sequence
from itertools import repeat
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcContentModified

from drive_trace.features.navigation import SymbolName
from drive_trace.json_text import parse
from drive_trace.lsp.handlers import code_actions
from drive_trace.lsp.handlers.requests import Symbols
from drive_trace.lsp.rpc import threads as threads_module
from drive_trace.lsp.rpc.stream import Messages
from drive_trace.lsp.rpc.threads import (
    Debouncer,
    Readers,
    SharedWork,
    go_first,
    in_background,
    in_thread,
)
from drive_trace.lsp.server import TraceServer
from drive_trace.lsp.workspace import open_traces
from drive_trace.lsp.workspace import runs as runs_module
from drive_trace.lsp.workspace.closed_traces import ClosedTraces
from drive_trace.lsp.workspace.open_traces import LARGE, OpenTrace, Workspace
from drive_trace.lsp.workspace.runs import WorkspaceRun, WorkspaceRuns
from drive_trace.stopping import StoppedError, cached_property, stoppable, unless_stopped
from drive_trace.storage.followed_file import KnownFile
from drive_trace.text.spans import records_of
from drive_trace.trace.document import Document
from drive_trace.trace.places import path_at
from drive_trace.trace.reading import read_lines
from tests.server.test_closed_traces import options
from tests.support.client_text import apart, graded, triage
from tests.support.sessions.channels import InProcess


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


def until_typed(trace: OpenTrace, begun: list[int]) -> Iterator[None]:
    """Goes on until something is typed after the work has begun."""
    begun.append(trace.version)
    for _ in unless_stopped(repeat(None)):
        if trace.version > 1:
            return
        yield


@pytest.mark.parametrize("order", [1, -1])
def test_threads_are_there_again_after_servers_in_this_process(order: int) -> None:
    def is_apart() -> bool:
        return asyncio.run(in_thread(threading.current_thread)) is not threading.current_thread()

    servers = [InProcess(reads_ahead=False) for _ in range(2)]
    try:
        assert not is_apart()
    finally:
        for each in servers[::order]:
            each.close()
    assert is_apart()


async def test_a_change_stops_what_reads_the_trace() -> None:
    runs, trace = opened(triage())
    begun: list[int] = []
    stopped = asyncio.ensure_future(runs.open.readers.read(lambda: [*until_typed(trace, begun)]))
    while not begun:
        await a_while()
    type_in(trace, triage())
    with pytest.raises(StoppedError):
        await stopped


NESTED = f'{{"a":{"[" * 50}1{"]" * 50}}}'


@pytest.mark.parametrize(
    "work",
    [
        lambda: parse(NESTED + " "),
        lambda: parse(NESTED).to_python(),
        lambda: path_at(NESTED, 30),
        lambda: Document(["\r" * 50, ""], read_lines).protocol_line(1),
    ],
    ids=["reading it", "its value", "a place in it", "its lines"],
)
def test_work_within_one_line_that_may_be_long_stops_as_well(work: Callable[[], object]) -> None:
    work()
    stop = threading.Event()
    stop.set()
    with pytest.raises(StoppedError):
        stoppable(stop, work)


class _Kept:
    def __init__(self, make: Callable[[], object]) -> None:
        self.make = make

    @cached_property
    def made(self) -> object:
        return self.make()


def test_what_is_kept_of_one_waits_for_no_other() -> None:
    """As that of functools does in Python 3.11, whose lock is one for all objects."""
    begun, over = threading.Event(), threading.Event()
    large, small = _Kept(lambda: begun.set() or over.wait(9)), _Kept(object)
    thread = threading.Thread(target=lambda: large.made)
    thread.start()
    begun.wait(9)
    asked = threading.Thread(target=lambda: (small.made, over.set()))
    asked.start()
    thread.join()
    assert large.made is True
    assert small.made is small.made


async def test_what_comes_later_goes_before_long_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads_module, "_PRECEDENCE", 60.0)
    order: list[str] = []

    def hover(done: threading.Event) -> None:
        order.append(f"hover, {sum(range(500_000)):,}")
        done.set()

    def symbols() -> None:
        for each in unless_stopped(["first", "second"]):
            order.append(each)
            threading.Thread(target=hover, args=[go_first()]).start()

    await Readers().read(symbols)
    assert order[:3] == ["first", "hover, 124,999,750,000", "second"]


async def test_a_change_does_not_wait_for_work_that_lets_it_go_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(threads_module, "_PRECEDENCE", 60.0)
    readers, begun = Readers(), threading.Event()

    def symbols() -> None:
        for _ in unless_stopped(repeat(None)):
            begun.set()

    asked = asyncio.ensure_future(readers.read(symbols))
    await in_thread(begun.wait)
    change = go_first()
    _, stopping = await asyncio.wait([in_background(in_thread(readers.stop))], timeout=9)
    change.set()
    assert not stopping
    with pytest.raises(StoppedError):
        await asked


@pytest.mark.parametrize(
    "text",
    [triage() * (LARGE // len(triage()) + 1), triage(input_ref="[" * 5_000)],
    ids=["many lines", "a long line"],
)
async def test_an_answer_about_the_text_as_it_was_is_none(text: str) -> None:
    runs, trace = opened(text)
    begun: list[int] = []
    asked = asyncio.ensure_future(runs.open.result_of(trace, lambda: [*until_typed(trace, begun)]))
    while not begun:
        await a_while()
    type_in(trace, triage())
    with pytest.raises(JsonRpcContentModified):
        await asked


async def test_a_view_is_of_the_text_as_it_is_in_the_end() -> None:
    runs, trace = opened(apart(triage(verdict="rejected") + triage()))
    begun: list[int] = []

    def slow() -> list[WorkspaceRun]:
        for _ in until_typed(trace, begun):
            pass
        return runs.all_runs()

    asked = asyncio.ensure_future(runs.open.readers.read_anew(slow))
    while not begun:
        await a_while()
    type_in(trace, triage() + graded("pass", "pass", "pass"))
    ((_, (run,)),) = await asked
    assert (run.part.event_count, run.part.first_line, begun) == (3, 1, [1, 2])


async def test_who_types_on_and_on_does_not_keep_an_answer_from_coming() -> None:
    runs, trace = opened(triage())
    begun: list[int] = []

    def slow() -> int:
        for _ in until_typed(trace, begun):
            pass
        return trace.version

    asked = asyncio.ensure_future(runs.open.readers.read_anew(slow))
    while not asked.done():
        await a_while()
        if begun:
            type_in(trace, " ")
    assert asked.result() > 1


async def test_who_asks_while_it_is_being_done_shares_the_next_turn() -> None:
    shared: SharedWork[int] = SharedWork()
    begun: list[asyncio.Event] = []

    async def work() -> int:
        done, number = asyncio.Event(), len(begun)
        begun.append(done)
        await done.wait()
        return number

    def ask(key: str = "report") -> asyncio.Future[int]:
        return asyncio.ensure_future(shared.result_of(key, work))

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
    shared: SharedWork[int] = SharedWork()

    async def fails() -> int:
        raise ValueError("no such run")

    async def works() -> int:
        return 1

    asked = [asyncio.ensure_future(shared.result_of("x", fails)) for _ in range(2)]
    for each in asked:
        with pytest.raises(ValueError, match="no such run"):
            await each
    assert await shared.result_of("x", works) == 1


class _BrowserLoop(asyncio.SelectorEventLoop):
    """As Pyodide's, which does nothing at a moment that has passed."""

    passed = 0.0
    """Seconds in which the machine was busy with something else."""

    def time(self) -> float:
        return super().time() + self.passed

    def call_at(self, when: float, *rest: Any, **more: Any) -> asyncio.TimerHandle:
        return self.call_later(when - self.time(), *rest, **more)

    def call_later(self, delay: float, *rest: Any, **more: Any) -> asyncio.TimerHandle:
        if delay < 0:
            raise ValueError("Can't schedule in the past")
        return super().call_at(self.time() + delay, *rest, **more)


def test_on_a_busy_machine_a_browser_still_learns_what_has_changed() -> None:
    loop = _BrowserLoop()
    acted: asyncio.Future[str] = loop.create_future()

    async def change_twice() -> str:
        soon = Debouncer(acted.set_result)
        soon.request("lenses")
        loop.passed += 1
        soon.request("lenses")
        return await acted

    assert loop.run_until_complete(change_twice()) == "lenses"
    loop.close()


class _OwnTime(asyncio.SelectorEventLoop):
    passed = 0.0

    def time(self) -> float:
        return self.passed


def test_what_rests_is_not_done_more_often_where_requests_go_on() -> None:
    loop, acted = _OwnTime(), list[float]()

    async def request_for_three_seconds() -> None:
        soon = Debouncer(lambda _: acted.append(loop.passed), rest=1.0)
        for _ in range(30):
            soon.request("lenses")
            loop.passed += 0.1
            await asyncio.sleep(0)
            await asyncio.sleep(0)

    loop.run_until_complete(request_for_three_seconds())
    assert acted == pytest.approx([0.1, 1.1, 2.1], abs=0.11)
    loop.close()


async def test_a_search_of_symbols_that_is_given_up_leaves_traces_unread() -> None:
    begun, given_up, asked = threading.Event(), threading.Event(), list[str]()

    def names(reals: Sequence[str], *, looks: bool) -> Sequence[SymbolName]:
        assert looks
        asked.extend(reals)
        begun.set()
        given_up.wait()
        return ()

    async def everything() -> list[str]:
        return [*map(str, range(500))]

    closed = SimpleNamespace(names=names)
    client = SimpleNamespace(registers_watchers=False)
    services: Any = (
        SimpleNamespace(client=client),
        SimpleNamespace(closed=closed),
        SimpleNamespace(everything=everything),
        *[None] * 3,
    )
    before = {*threading.enumerate()}
    search = asyncio.ensure_future(Symbols(services).find(types.WorkspaceSymbolParams("")))
    while not begun.is_set():
        await a_while()
    search.cancel()
    with pytest.raises(asyncio.CancelledError):
        await search
    given_up.set()
    for thread in {*threading.enumerate()} - before:
        thread.join()
    assert len(asked) < 100


async def test_an_event_comes_back_that_an_editor_overwrites_faster_than_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file is ahead of what the server has read of the editor's text, when it is looked at."""
    protocol = TraceServer().protocol
    protocol.writer = Messages(lambda _: None)

    def say(method: str, **params: Any) -> None:
        protocol.receive({"jsonrpc": "2.0", "method": method, "params": params})

    async def rest() -> None:
        while others := asyncio.all_tasks() - {asyncio.current_task()}:
            await asyncio.wait(others)

    path, text, other = (
        tmp_path / "trace.jsonl",
        triage() * (LARGE // len(triage()) + 1),
        graded("pass", "pass", "pass"),
    )
    path.write_text(text)
    uri = path.as_uri()
    told = {"changes": [{"uri": uri, "type": 2}]}
    initialize = {"processId": None, "rootUri": tmp_path.as_uri(), "capabilities": {}}
    protocol.receive({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": initialize})
    opened = {"uri": uri, "languageId": "drive-trace", "version": 1, "text": text}
    say("textDocument/didOpen", textDocument=opened)
    await rest()
    path.write_text(text + other)
    say("workspace/didChangeWatchedFiles", **told)
    await rest()
    looked, look, read_anew = threading.Event(), KnownFile.look, OpenTrace.read_anew
    monkeypatch.setattr(KnownFile, "look", lambda *a, **b: (look(*a, **b), looked.set())[0])
    monkeypatch.setattr(OpenTrace, "read_anew", lambda *a: looked.wait() and read_anew(*a))
    text = triage(event_id="own") + text
    changed = {"uri": uri, "version": 2}
    say("textDocument/didChange", textDocument=changed, contentChanges=[{"text": text}])
    path.write_text(text)
    say("workspace/didChangeWatchedFiles", **told)
    say("textDocument/didSave", textDocument={"uri": uri})
    await rest()
    assert path.read_text() == text + other


@pytest.mark.parametrize("seed", range(40))
def test_edits_lead_to_the_same_text_together_and_one_after_another(seed: int) -> None:
    random = Random(seed)

    def text(size: int) -> str:
        return "".join(random.choices(["a", "\n", "\r", "\r\n", "😀", "{}"], k=size))

    def edit() -> types.TextDocumentContentChangeEvent:
        places = (types.Position(random.randrange(6), random.randrange(5)) for _ in range(2))
        return random.choice(
            [
                *[types.TextDocumentContentChangePartial(types.Range(*places), text(2))] * 4,
                types.TextDocumentContentChangeWholeDocument(text(8)),
            ]
        )

    path = Path("/work/trace.jsonl")
    trace = OpenTrace(path.as_uri(), 1, text(9), options(path))
    edits = [edit() for _ in range(4)]
    together = [*records_of(trace.as_whole(edits).text)]
    trace.change(2, edits)
    assert trace.records == together


async def test_nothing_walks_a_large_trace_on_the_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Opening, typing, closing: what works on each of its records does so in a thread."""
    walked: dict[str, list[bool]] = {}
    step = ""

    def seen(work: Callable[..., Any]) -> Callable[..., Any]:
        def walk(*given: Any) -> Any:
            is_main = threading.current_thread() is threading.main_thread()
            walked.setdefault(step, []).append(is_main)
            return work(*given)

        return walk

    done = (Document, "apply"), (open_traces, "let_go"), (runs_module, "beside_of")
    for owner, name in (*done, (code_actions, "_found")):
        monkeypatch.setattr(owner, name, seen(getattr(owner, name)))
    monkeypatch.setattr(threads_module, "_PAUSE", 0.0)
    protocol = TraceServer().protocol
    answers: dict[str, asyncio.Event] = {}

    def take(message: bytes) -> None:
        if (found := json.loads(message.partition(b"\r\n\r\n")[2]).get("id")) in answers:
            answers[found].set()

    protocol.writer = Messages(take)

    async def ask(method: str, **params: Any) -> None:
        answers[method] = asyncio.Event()
        protocol.receive({"jsonrpc": "2.0", "id": method, "method": method, "params": params})
        await answers[method].wait()

    async def say(method: str, **params: Any) -> None:
        """And wait until a request about the trace has had its turn."""
        nonlocal step
        step = method
        protocol.receive({"jsonrpc": "2.0", "method": method, "params": params})
        await ask("textDocument/hover", **document, position=at)

    path, text = tmp_path / "trace.jsonl", "\n" * LARGE
    path.write_text(text)
    at, uri = {"line": 0, "character": 0}, path.as_uri()
    document = {"textDocument": {"uri": uri}}
    edit = {"range": {"start": at, "end": at}, "text": triage()}
    await ask("initialize", processId=None, rootUri=tmp_path.as_uri(), capabilities={})
    opened = {"uri": uri, "languageId": "drive-trace", "version": 1, "text": text}
    await say("textDocument/didOpen", textDocument=opened)
    changed = {"uri": uri, "version": 2}
    await say("textDocument/didChange", textDocument=changed, contentChanges=[edit, edit])
    whole = {"uri": uri, "version": 3}
    await say("textDocument/didChange", textDocument=whole, contentChanges=[{"text": text}])
    step = "driveTrace.addToBaseline"
    known = {"uri": uri, "rule": "blank-line", "line": 1}
    await ask("workspace/executeCommand", command=step, arguments=[known])
    await say("textDocument/didClose", **document)
    while others := asyncio.all_tasks() - {asyncio.current_task()}:
        await asyncio.wait(others)
    assert len(walked) == 4
    assert not any(any(each) for each in walked.values()), walked
