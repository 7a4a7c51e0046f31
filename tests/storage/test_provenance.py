"""The record of provenance: what is appended to a trace is said there with where it comes from."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from drive_trace.authoring.drafts import Refused, draft_event
from drive_trace.storage.files import Problem
from drive_trace.storage.recording import Appended, NewEvent, append_events
from drive_trace.trace.provenance import Origin, read_provenance
from tests.cli.support import git, run, write
from tests.storage.support import append_event, events, slice_started
from tests.support.client_text import triage

TARGET = ("--trace-file", "trace.jsonl", "--project-run-id", "run-1")


def record_of(trace: Path) -> Path:
    return trace.with_name(f"{trace.name}.provenance.ndjson")


def entries(trace: Path) -> list[dict[str, Any]]:
    """Those of a record, each of which names the line before it, and an event of the trace."""
    lines = record_of(trace).read_bytes().splitlines()
    found = [json.loads(line) for line in lines]
    before = [None, *(hashlib.sha256(line).hexdigest() for line in lines)]
    assert [each["previous"] for each in found] == before[:-1]
    said = {each["event_id"]: digest(each) for each in events(trace)}
    assert all(said[each["event_id"]] == each["event_digest"] for each in found)
    return found


def digest(event: dict[str, Any]) -> str:
    plain = json.dumps(event, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    return hashlib.sha256(plain.encode()).hexdigest()


def test_each_writer_says_what_it_has_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, "trace.jsonl", triage(input_ref="é"))
    write(tmp_path, "usage.json", '{"inputTokens":5,"outputTokens":7}')
    payload = '{"slice_slug":"é","slice_index":1,"linear_ref":null}'
    assert run("emit", *TARGET, "--event", "slice-started", "--payload", payload).code == 0
    assert run("record", *TARGET, "--qa", "pass").code == 0
    assert run("gate", *TARGET, "--component", "mechanical", "--run", "true").code == 0
    assert run("tokens", *TARGET, "--usage", "usage.json").code == 0
    assert run("tokens", *TARGET, "--input-tokens", "6").code == 0
    found = [(each["writer"], each["event_type"], each["measured"]) for each in entries(trace())]
    assert found == [
        ("emit", "slice-started", []),
        ("record", "correctness-recorded", []),
        ("gate", "correctness-recorded", ["mechanical"]),
        ("tokens", "tokens-recorded", [*found[3][2]]),
        ("tokens", "tokens-recorded", []),
    ]
    assert {"input_tokens", "output_tokens"} <= {*found[3][2]}
    assert run("emit", *TARGET, "--event", "slice-started", "--payload", "{}").code == 1
    assert len(entries(trace())) == 5
    # Nobody takes the record for a trace, but a trace with its name.
    assert "not read" not in run("score").out
    write(tmp_path, "other.provenance.ndjson", triage())
    assert "other.provenance.ndjson: looks like a trace" in " ".join(run("score").out.split())


def trace() -> Path:
    return Path("trace.jsonl").absolute()


def new(draft: Any, **origin: Any) -> NewEvent:
    return NewEvent(draft, Origin("hook", **origin))


def grade(*triple: str | None) -> Any:
    fields = dict(zip(("mechanical", "qa", "intent"), triple, strict=True))
    return draft_event("correctness-recorded", "run-1", None, json.dumps(fields))


def test_several_events_are_appended_or_none(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    session = Origin("reconstruct", ("wall_clock_ms",), source="session-1", lines=(3, 9))
    at = "2026-05-28T14:00:00.000Z"
    written = append_events(
        str(path), [NewEvent(slice_started(), session, at), new(grade("pass", "fail", None))]
    )
    assert isinstance(written, list)
    assert [each.record for each in written] == path.read_text().splitlines()
    first, second = entries(path)
    assert first["ts"] == events(path)[0]["ts"] == at
    assert (first["writer"], first["source"], first["lines"]) == (
        "reconstruct",
        "session-1",
        [3, 9],
    )
    assert second["ts"] == events(path)[1]["ts"] != at
    before = path.read_bytes(), record_of(path).read_bytes()
    # The second one would erase what the first one says.
    refused = append_events(
        str(path), [new(grade("pass", "fail", "pass")), new(grade("pass", "fail", None))]
    )
    assert isinstance(refused, Refused)
    assert refused.reasons[0].startswith('event 2 (correctness-recorded): `intent` was "pass"')
    assert (path.read_bytes(), record_of(path).read_bytes()) == before
    assert append_events(str(path), []) == []
    assert isinstance(append_events(str(tmp_path), [new(slice_started())]), Problem)


def test_what_is_appended_may_depend_on_what_stands_there(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    for expected in range(3):

        def next_slice(data: bytes, expected: int = expected) -> list[NewEvent]:
            assert data.count(b"\n") == expected
            return [new(slice_started(slice_index=expected + 1))]

        assert not isinstance(append_events(str(path), next_slice), Refused | Problem)
    assert [each["slice_index"] for each in events(path)] == [1, 2, 3]
    refused = Refused(("two are open: choose",))
    assert append_events(str(path), lambda _: refused) == refused
    assert append_events(str(tmp_path / "new.jsonl"), lambda _: refused) == refused
    assert {each.name for each in tmp_path.iterdir()} == {path.name, record_of(path).name}


def test_an_entry_stands_below_a_torn_one_and_below_a_very_long_line(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    long = json.dumps({"long": "x" * 100_000})
    record_of(path).write_text(f'{long}\n\n{{"torn":')
    append_event(str(path), slice_started())
    first, blank, torn, entry = record_of(path).read_bytes().splitlines()
    assert (first.decode(), blank, torn) == (long, b"", b'{"torn":')
    assert json.loads(entry)["previous"] == hashlib.sha256(torn).hexdigest()
    record_of(path).write_text(f"{long}\n")
    append_event(str(path), slice_started())
    assert json.loads(record_of(path).read_bytes().splitlines()[1])["previous"] == (
        hashlib.sha256(long.encode()).hexdigest()
    )


def test_a_writer_is_told_once_what_becomes_of_its_record(tmp_path: Path) -> None:
    trace = tmp_path / "trace.jsonl"

    def notes() -> tuple[str, ...]:
        written = append_event(str(trace), slice_started())
        assert isinstance(written, Appended)
        return written.notes

    assert notes() == ()  # nobody commits here
    record_of(trace).unlink()
    git(tmp_path, "init", "-q")
    told = "trace.jsonl.provenance.ndjson records where the events come from"
    assert notes() == (f"{told}: commit it beside the trace",)
    # A writer was killed, and its line stays torn below the next one.
    with record_of(trace).open("a") as record:
        record.write('{"provenance_version":"1","ts":')
    assert notes() == notes() == ()
    found = read_provenance(record_of(trace).read_bytes())
    assert (found.damage, len(found.entries)) == (None, 3)
    trace.write_text("\n")
    (note,) = notes()
    assert note == (
        "trace.jsonl.provenance.ndjson has other events, which `check` tells as gone: "
        "move it away to begin anew"
    )
    assert notes() == ()


def test_an_event_is_appended_where_its_record_cannot_be_written(tmp_path: Path) -> None:
    path, elsewhere = tmp_path / "repository/trace.jsonl", tmp_path / "elsewhere"
    path.parent.mkdir()
    (path.parent / ".git").mkdir()
    record_of(path).symlink_to(elsewhere)
    written = append_event(str(path), slice_started())
    assert isinstance(written, Appended)
    assert len(events(path)) == 1
    (note,) = written.notes
    assert note.startswith("the event was appended, but not where it comes from: ")
    assert note.endswith("not written: link out of the repository")
    assert not elsewhere.exists()


def test_a_link_has_the_record_of_where_it_leads(tmp_path: Path) -> None:
    path, link = tmp_path / "trace.jsonl", tmp_path / "link.jsonl"
    append_event(str(path), slice_started())
    link.symlink_to(path.name)
    append_event(str(link), slice_started())
    assert len(entries(path)) == 2
    assert not record_of(link).exists()
    path.write_text(path.read_text().splitlines(keepends=True)[0])
    assert "a line below this one is gone" in run("check", link).out
