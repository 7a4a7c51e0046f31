"""The server in plain JSON-RPC: grades in a trace that an agent appends to all the while."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from types import SimpleNamespace
from typing import Any, cast

import pytest
from lsprotocol import types

from drive_trace.features.findings import DiagnosticOptions
from drive_trace.features.results import JsonText
from drive_trace.lsp.workspace import saving
from drive_trace.lsp.workspace.open_traces import OpenTrace
from drive_trace.storage.followed_file import KnownFile, LockedFile, lines_of
from drive_trace.text.spans import PositionEncoding
from tests.server.support import command, write
from tests.server.test_live import append
from tests.support.client_text import apart, apply_edits, event, graded, range_at, triage
from tests.support.editor import Document
from tests.support.presets import VSCODE
from tests.support.raw_client import RawClient, ResponseError

_AGENT = """
import sys
from drive_trace.authoring.drafts import draft_event
from drive_trace.storage.recording import EMITTED, NewEvent, append_events
payload = '{"input_ref":null,"verdict":"direct-change","input_shape":"chat-ask"}'
while sys.stdin.readline():
    draft = draft_event("triage-verdict", "run-1", "agent", payload)
    append_events(sys.argv[1], [NewEvent(draft, EMITTED)])
    print(flush=True)
"""


class Agent:
    """Another process, which appends as the command line does."""

    def __init__(self, trace: Path) -> None:
        command = [sys.executable, "-c", _AGENT, str(trace)]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, bufsize=1)
        self.asked = self.done = 0

    def appends(self) -> None:
        """Begins to append one more event, and does not wait."""
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.asked += 1

    def ends(self) -> None:
        """Has appended all of them."""
        self.process.communicate(timeout=60)


@contextmanager
def agent(trace: Path) -> Iterator[Agent]:
    started = Agent(trace)
    try:
        yield started
    finally:
        started.process.kill()
        started.process.wait()


class Editor(Document):
    """A document of a file, read and saved as VS Code does."""

    def __init__(self, client: RawClient, path: Path) -> None:
        self.path = path
        self.read_at = path.stat()
        super().__init__(client, path.read_text("utf-8"), uri=path.as_uri())

    def types_at_end(self, text: str) -> None:
        self.puts(len(self.text), len(self.text), text)

    def puts(self, start: int, stop: int, new: str) -> None:
        where = range_at(self.text, start, stop, self.encoding)
        self.version += 1
        self.text = self.text[:start] + new + self.text[stop:]
        self.client.change(self.uri, self.version, {"range": where, "text": new})

    def saves(self) -> bool:
        """Whether the file is written; otherwise it was changed, and a person is asked."""
        params = {**self.identifier, "reason": 1}
        edits = self.client.request("textDocument/willSaveWaitUntil", params) or []
        after = apply_edits(self.text, edits, self.encoding)
        if edits:
            self.version += 1
            self.text = after
            self.client.change(self.uri, self.version, {"text": after})
        now = self.path.stat()
        if self.read_at.st_mtime_ns < now.st_mtime_ns and self.read_at.st_size != now.st_size:
            return False
        self.path.write_text(self.text, encoding="utf-8", newline="")
        self.read_at = self.path.stat()
        self.client.notify("textDocument/didSave", self.identifier)
        return True


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    return write(tmp_path / "trace.jsonl", apart(triage() + graded("pass", None, "pass")))


def started(client: RawClient) -> None:
    capabilities = client.initialize(VSCODE)["capabilities"]
    assert capabilities["textDocumentSync"]["willSaveWaitUntil"] is True


def events(trace: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in trace.read_text("utf-8").splitlines()]


def test_nothing_is_lost_of_200_grades_and_an_agents_events(alone: RawClient, trace: Path) -> None:
    started(alone)
    document = Editor(alone, trace)
    with agent(trace) as other:
        for number in range(200):
            other.appends()
            changes = {"qa": ("pass", "fail")[number % 2]}
            done = command(
                alone, "recordGrade", uri=document.uri, runId="run-1", changes=changes, inFile=True
            )
            assert done["line"] > number
        other.ends()
    found = events(trace)
    assert len(found) == 2 + 200 + other.asked
    grades = [each["qa"] for each in found if each["event_type"] == "correctness-recorded"]
    assert grades == [None, *("pass", "fail") * 100]
    assert len({each["event_id"] for each in found}) == len(found)


def test_nothing_is_lost_where_the_editor_has_edits_to_save(alone: RawClient, trace: Path) -> None:
    started(alone)
    document = Editor(alone, trace)
    with agent(trace) as other:
        for number in range(50):
            document.types_at_end(triage(input_ref=f"typed {number}"))
            other.appends()
            assert document.saves()
        other.ends()
    found = events(trace)
    typed = [each["input_ref"] for each in found if str(each.get("input_ref")).startswith("typed")]
    assert typed == [f"typed {number}" for number in range(50)]
    assert len(found) == 2 + 50 + other.asked


def test_what_was_typed_comes_behind_what_was_appended(alone: RawClient, trace: Path) -> None:
    started(alone)
    document = Editor(alone, trace)
    document.types_at_end(triage(input_ref="typed"))
    append(trace, triage(input_ref="appended"))
    assert document.saves()
    refs = [each.get("input_ref") for each in events(trace)]
    assert refs == [None, None, "appended", "typed"]


def test_a_file_that_was_written_anew_is_for_a_person_to_decide(
    alone: RawClient, trace: Path
) -> None:
    started(alone)
    document = Editor(alone, trace)
    document.types_at_end(triage(input_ref="typed"))
    write(trace, triage(input_ref="another file"))
    assert not document.saves()
    assert [each["input_ref"] for each in events(trace)] == ["another file"]


@pytest.fixture
def too_late(monkeypatch: pytest.MonkeyPatch) -> None:
    """The server answers when the editor has gone on."""
    monkeypatch.setattr(saving, "_CLIENTS_PATIENCE", -1.0)


class Handlers:
    """What the server does about saves of a trace, one after another, without a client."""

    def __init__(self, trace: Path) -> None:
        uri, text = trace.as_uri(), trace.read_text("utf-8")
        self.document = OpenTrace(
            uri, 1, text, DiagnosticOptions(uri, PositionEncoding.UTF16, 10, str)
        )
        self.told: list[str] = []
        protocol = SimpleNamespace(
            client=SimpleNamespace(encoding=PositionEncoding.UTF16),
            is_behind=lambda _: False,
            show_message=lambda message, _: self.told.append(message),
        )
        self.saving = saving.Saving(cast("Any", protocol), cast("Any", {uri: self.document}))
        self.named = types.TextDocumentIdentifier(uri)
        self.file = KnownFile(str(trace), lines_of(self.document.records))
        self.saving.opened(self.document, self.file)

    async def will_save(self) -> object:
        reason = types.TextDocumentSaveReason.Manual
        return await self.saving.will_save(types.WillSaveTextDocumentParams(self.named, reason))

    async def idle(self) -> None:
        await asyncio.gather(*asyncio.all_tasks() - {asyncio.current_task()})


@pytest.mark.usefixtures("too_late")
def test_an_editor_that_may_have_gone_on_is_not_kept_from_asking(trace: Path) -> None:
    async def play() -> None:
        handlers = Handlers(trace)
        append(trace, triage(input_ref="appended"))
        before = trace.stat().st_mtime_ns
        assert await handlers.will_save() is None
        assert trace.stat().st_mtime_ns == before

    asyncio.run(play())


async def _overwritten(trace: Path) -> Handlers:
    """The server has seen an event that others appended, and the editor has overwritten it."""
    text, handlers = trace.read_text("utf-8"), Handlers(trace)
    append(trace, triage(input_ref="appended"))
    handlers.saving.look(handlers.document)
    await handlers.idle()
    write(trace, text)
    return handlers


@pytest.mark.parametrize("times", [1, 2])
def test_what_an_editor_overwrote_before_it_was_read_is_appended_again(
    trace: Path, times: int
) -> None:
    async def play() -> None:
        handlers = await _overwritten(trace)
        for _ in range(times):
            await handlers.will_save()
        handlers.saving.saved(types.DidSaveTextDocumentParams(handlers.named))
        await handlers.idle()
        assert len(handlers.told) == 1

    asyncio.run(play())
    assert [each.get("input_ref") for each in events(trace)] == [None, None, "appended"]


@pytest.mark.usefixtures("too_late")
def test_what_an_editor_overwrote_before_it_could_be_read_is_appended_again(trace: Path) -> None:
    async def play() -> None:
        handlers = await _overwritten(trace)
        assert await handlers.will_save() is None
        append(trace, apart(triage(input_ref="appended later")))
        handlers.saving.saved(types.DidSaveTextDocumentParams(handlers.named))
        await handlers.idle()
        assert len(handlers.told) == 1

    asyncio.run(play())
    refs = [each.get("input_ref") for each in events(trace)]
    assert refs == [None, None, "appended later", "appended"]


def test_an_editor_that_asks_twice_about_a_save_puts_lines_in_once(trace: Path) -> None:
    async def play() -> None:
        handlers = Handlers(trace)
        append(trace, triage(input_ref="appended"))
        edits = await handlers.will_save()
        assert isinstance(edits, JsonText)
        assert b'"newText"' in edits.text
        assert await handlers.will_save() is None

    asyncio.run(play())


def test_each_save_puts_lines_in_once_that_the_editor_did_not_take(
    trace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = SimpleNamespace(now=monotonic())
    monkeypatch.setattr(saving, "monotonic", lambda: clock.now)

    async def play() -> None:
        monkeypatch.setattr(asyncio.get_running_loop(), "time", saving.monotonic)
        handlers = Handlers(trace)
        append(trace, triage(input_ref="appended"))
        for _ in range(2):
            assert await handlers.will_save()
            clock.now += 0.4
            for _ in range(2):  # what is due is done
                await asyncio.sleep(0)
            assert await handlers.will_save() is None
            handlers.saving.saved(types.DidSaveTextDocumentParams(handlers.named))
            await handlers.idle()

    asyncio.run(play())


def test_lines_are_put_into_a_trace_that_is_closed_unsaved_and_opened_again(
    alone: RawClient, trace: Path
) -> None:
    started(alone)
    for name in ("first", "second"):
        document = Editor(alone, trace)
        document.types_at_end(triage(input_ref="typed"))
        append(trace, triage(input_ref=name))
        params = {**document.identifier, "reason": 1}
        (edit,) = alone.request("textDocument/willSaveWaitUntil", params)
        assert f'"input_ref":"{name}"' in edit["newText"]
        alone.notify("textDocument/didClose", document.identifier)


def test_an_editor_is_not_kept_from_asking_about_what_was_appended_without_a_lock(
    trace: Path,
) -> None:
    os.utime(trace, ns=(0, 0))
    shown = lines_of(trace.read_text("utf-8").split("\n"))
    file = KnownFile(str(trace), shown)
    file.look(shown)
    append(trace, triage(input_ref="before it was locked"))
    held = LockedFile(file)
    assert held.read(shown) is not None
    append(trace, triage(input_ref="after it was read"))
    before = trace.stat().st_mtime_ns
    held.set_back()
    assert trace.stat().st_mtime_ns == before != file.modified == 0
    held.release()


def test_an_event_is_appended_to_the_file(alone: RawClient, trace: Path) -> None:
    started(alone)
    document = Editor(alone, trace)
    record = event("slice-completed", slice_slug="a", result="merged", pr_ref="#1").rstrip("\n")
    assert command(alone, "append", uri=document.uri, record=record) == {"notes": []}
    last = events(trace)[-1]
    assert (last["event_type"], last["slice_slug"]) == ("slice-completed", "a")
    assert last["event_id"] != json.loads(record)["event_id"]


def test_a_record_in_which_a_grade_stands_twice_is_not_appended(
    alone: RawClient, trace: Path
) -> None:
    started(alone)
    document, before = Editor(alone, trace), trace.read_bytes()
    record = graded("pass", "fail", "pass").replace('"intent"', '"qa":"pass","intent"')
    with pytest.raises(ResponseError, match="it is no record of an event"):
        command(alone, "append", uri=document.uri, record=record)
    assert trace.read_bytes() == before
