"""Saves of a trace that others write to, in any order with all else that an editor does."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from random import Random

import pytest

from drive_trace.lsp import server as server_module
from tests.server.interleaving import EDITORS, NEOVIM, Connection, Editing, ids
from tests.support.client_text import triage
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


def _beside_another(server: Connection, tmp_path: Path) -> Editing:
    """A line was typed, and the server has seen that others appended an event."""
    editing = Editing(server, tmp_path / "run" / "trace.jsonl", EDITORS[0], Random(0))
    editing.type_line()
    editing.write(editing.disk() + editing.event("other"))
    editing.report()
    return editing


def test_typing_before_the_server_is_told_of_a_save_drops_nothing(
    server: Connection, tmp_path: Path
) -> None:
    editing = _beside_another(server, tmp_path)
    editing.types_on = True
    editing.write_out(merges=False, overwrites=True)
    assert sorted(ids(editing.disk())) == ["old-1", "old-2", "other-4", "own-3"]
    (message,) = server.messages
    assert message.endswith("Drive Trace has appended them again.")


def test_a_server_that_is_asked_late_about_a_save_forgets_nothing(
    server: Connection, tmp_path: Path
) -> None:
    editing = _beside_another(server, tmp_path)
    editing.asks_late = True
    editing.write_out(merges=False, overwrites=True)
    assert sorted(ids(editing.disk())) == ["old-1", "old-2", "other-4", "own-3"]


def test_a_look_at_a_file_that_is_being_written_forgets_nothing(
    server: Connection, tmp_path: Path
) -> None:
    editing = _beside_another(server, tmp_path)
    editing.path.write_bytes(b"")  # as an editor leaves it before it writes
    editing.report()
    editing.write_out(merges=False, overwrites=True)
    assert sorted(ids(editing.disk())) == ["old-1", "old-2", "other-4", "own-3"]


_NO_ID = '{"event_type":"triage-verdict","input_ref":"other"}\n'
_ESCAPED = '{"event_id":"\\u0061","event_type":"triage-verdict","input_ref":"other"}\n'


@pytest.mark.parametrize("other", [_NO_ID, _ESCAPED], ids=["no id", "escaped"])
def test_two_undos_at_once_drop_no_event_whose_id_cannot_be_read(
    server: Connection, tmp_path: Path, other: str
) -> None:
    editing = Editing(server, tmp_path / "run" / "trace.jsonl", EDITORS[0], Random(0))
    before = editing.text
    typed = before + editing.event("own")
    editing.edit(typed)
    editing.edit(before)
    editing.write(before + other)
    editing.report()
    editing.write_out()
    assert editing.text == before + other
    editing.edit(typed)
    editing.write_out()
    assert sorted(editing.disk().splitlines()) == sorted((typed + other).splitlines())


def test_an_event_without_an_id_that_is_mended_undone_and_done_again_stays_one(
    server: Connection, tmp_path: Path
) -> None:
    editing = Editing(server, tmp_path / "run" / "trace.jsonl", EDITORS[0], Random(0))
    before = editing.text
    editing.write(before + _NO_ID)
    editing.report()
    editing.write_out()
    for ref in ("other1", "other12", "other1", "other", "other1", "other12"):
        editing.edit(before + _NO_ID.replace("other", ref))
    for ref in ("other12", "other1", "other", "other1"):
        editing.edit(before + _NO_ID.replace("other", ref))
        editing.write_out()
        assert editing.disk() == before + _NO_ID.replace("other", ref)


def test_an_event_is_not_taken_for_another_one_with_its_id(
    server: Connection, tmp_path: Path
) -> None:
    editing = Editing(server, tmp_path / "run" / "trace.jsonl", EDITORS[0], Random(0))
    own, other = (triage(event_id="same", input_ref=ref) for ref in ("own", "other"))
    typed = editing.text + own
    editing.edit(typed)
    editing.write(editing.disk() + other)
    editing.report()
    editing.write_out()
    editing.edit(typed)
    editing.edit(typed.replace('"own"', '"edited"'))
    editing.write_out(merges=False, overwrites=True)
    assert editing.disk() == typed.replace('"own"', '"edited"') + other


def test_who_gets_a_broken_line_again_is_told_that_its_bytes_are_replaced(
    server: Connection, tmp_path: Path
) -> None:
    editing = Editing(server, tmp_path / "run" / "trace.jsonl", EDITORS[0], Random(0))
    other = editing.event("other")
    with editing.path.open("ab") as file:
        file.write(other.replace("direct", "\xff").encode("latin-1"))
    editing.report()
    editing.write_out(merges=False, overwrites=True)
    assert editing.disk() == editing.text + other.replace("direct", "\ufffd")
    (message,) = server.messages
    assert message.endswith(
        "appended them again, with U+FFFD in place of bytes that are not UTF-8."
    )


@pytest.mark.parametrize(
    ("target", "is_put_in"), [("out/it", False), ("ws/.git/config", False), ("ws/it", True)]
)
def test_no_line_is_put_in_from_where_a_link_leads_out(
    server: Connection, tmp_path: Path, target: str, is_put_in: bool
) -> None:
    (tmp_path / "ws" / ".git").mkdir(parents=True)
    (tmp_path / "ws" / ".git" / "HEAD").touch()
    (tmp_path / "out").mkdir()
    secret, shown = triage(event_id="a", input_ref="secret"), triage(event_id="b")
    (tmp_path / target).write_text(secret, encoding="utf-8")
    trace = tmp_path / "ws" / "trace.jsonl"
    trace.symlink_to(tmp_path / target)
    document = {"uri": trace.as_uri(), "languageId": "drive-trace", "version": 1, "text": shown}
    server.tell("textDocument/didOpen", {"textDocument": document})
    params = {"textDocument": {"uri": trace.as_uri()}, "reason": 1}
    answers: list[object] = []
    server.ask("textDocument/willSaveWaitUntil", params, answers.append)
    assert ("secret" in str(answers)) == is_put_in
