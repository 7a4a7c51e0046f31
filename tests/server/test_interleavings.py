"""Saves of a trace that others write to, in any order with all else that an editor does."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from random import Random

import pytest

from drive_trace.lsp import server as server_module
from tests.server.interleaving import EDITORS, NEOVIM, Connection, Editing, ids
from tests.support.runs import PASS, Recorder
from tests.support.sessions.channels import InProcess

_EACH = 500
_STEPS = 14


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Connection]:
    monkeypatch.setenv("DRIVE_TRACE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(server_module, "strict_converter", cache(server_module.strict_converter))
    channel = InProcess(reads_ahead=False)
    try:
        yield Connection(channel)
    finally:
        channel.close()


@pytest.mark.parametrize("habits", EDITORS, ids=["VS Code", "Neovim", "no wait", "whole texts"])
def test_no_event_that_others_wrote_leaves_the_disk(
    server: Connection, tmp_path: Path, habits: object
) -> None:
    for seed in range(_EACH):
        editing = Editing(server, tmp_path / f"{seed}/trace.jsonl", habits, Random(seed))
        try:
            for _ in range(_STEPS):
                editing.step()
            editing.save() if editing.is_open else None
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: " + "; ".join(editing.log)) from error
        if editing.is_open:
            editing.close()


def test_neovim_asks_nothing_after_an_undo_of_what_it_has_read(
    server: Connection, tmp_path: Path
) -> None:
    editing = Editing(server, tmp_path / "undo/trace.jsonl", NEOVIM, Random(0))
    editing.write(editing.disk() + editing.event("other"))
    editing.read()
    editing.undo()
    editing.save()
    assert "overwrite" not in editing.log
    assert "revert instead:" not in editing.log


def test_what_stays_keeps_its_order_to_a_grade(server: Connection, tmp_path: Path) -> None:
    editing = Editing(server, tmp_path / "run" / "trace.jsonl", EDITORS[0], Random(1))
    recorder = Recorder()
    run, grade = recorder.run("run-1"), recorder.grade("run-1", PASS)
    removed, work = recorder.event("retro-landed", "run-1"), recorder.dispatch("run-1")
    before = "".join([*run, removed, grade])
    editing.write(before)
    editing.read()
    server.answer = "Keep Them"
    editing.edit(editing.text.replace(removed, ""))
    assert len(server.questions) == 1
    editing.write(before + "".join(work))
    editing.write_out()
    assert editing.disk() == before + "".join(work)


def test_typing_before_the_server_is_told_of_a_save_drops_nothing(
    server: Connection, tmp_path: Path
) -> None:
    editing = Editing(server, tmp_path / "run" / "trace.jsonl", EDITORS[0], Random(0))
    editing.type_line()
    editing.write(editing.disk() + editing.event("other"))
    editing.report()
    editing.types_on = True
    editing.write_out(merges=False, overwrites=True)
    assert sorted(ids(editing.disk())) == ["old-1", "old-2", "other-4", "own-3"]
    (message,) = server.messages
    assert message.endswith("Drive Trace has appended them again.")
