"""The server in plain JSON-RPC: a run in several files is judged as one, open or not."""

import json
from pathlib import Path
from typing import Any

import pytest

from drive_trace.vocabulary import EVENTS
from tests.server.support import published
from tests.support.editor import Document
from tests.support.raw_client import RawClient

pytestmark = pytest.mark.end_to_end

PULLS = {"textDocument": {"diagnostic": {}}, "workspace": {"diagnostics": {"refreshSupport": True}}}
PUSHED = {"textDocument": {"publishDiagnostics": {"relatedInformation": True}}}


def at(minute: int, event_type: str, **payload: object) -> str:
    """An event of that minute, with an id of its own."""
    envelope = {
        "event_id": f"{minute:08}-8f0d-4c1b-9a3e-5d2f6a7b8c90",
        "ts": f"2026-05-28T14:{minute:02}:00.000Z",
        "project_run_id": "run-1",
    }
    values = EVENTS[event_type].example | envelope | payload
    return json.dumps(values, ensure_ascii=False, separators=(",", ":")) + "\n"


ACROSS = {"unknown-dispatch", "stale-verdict"}
START = at(1, "dispatch-start", dispatch_id="d1", parent_dispatch_id=None)
END = at(9, "dispatch-end", dispatch_id="d1", wall_clock_ms=480_000)
GRADE = at(5, "correctness-recorded", mechanical="pass", qa="pass", intent="pass")


def folder(path: Path) -> dict[str, Any]:
    return {"workspaceFolders": [{"uri": path.as_uri(), "name": path.name}]}


def write(path: Path, text: str) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path.as_uri()


def shown(client: RawClient, uri: str, wanted: set[str]) -> list[Any]:
    """What these two rules find in a document, once it is what is wanted."""

    def find() -> tuple[list[Any]] | None:
        for last in published(client, uri)[-1:]:
            found = [each for each in last["diagnostics"] if each["code"] in ACROSS]
            if {each["code"] for each in found} == wanted:
                return (found,)
        return None

    return client.wait_for(find, f"{wanted} in {uri}")[0]


def test_an_open_trace_is_judged_with_its_neighbours(alone: RawClient, tmp_path: Path) -> None:
    start = write(tmp_path / "a" / "trace.jsonl", START + GRADE)
    alone.initialize(PUSHED, **folder(tmp_path))
    end = Document(alone, END, uri=write(tmp_path / "b" / "trace.jsonl", END))
    shown(alone, end.uri, set())
    # A neighbour that is open counts as the editor has it, and is judged with this one, too.
    other = Document(alone, START + GRADE, uri=start)
    (stale,) = shown(alone, other.uri, {"stale-verdict"})
    assert "up to line 1 of b/trace.jsonl" in stale["message"]
    (related,) = stale["relatedInformation"]
    assert related["location"]["uri"] == end.uri
    other.rewrite(GRADE)
    shown(alone, end.uri, {"unknown-dispatch"})
    other.rewrite(START)
    shown(alone, end.uri, set())


def test_closed_traces_are_judged_with_each_other(alone: RawClient, tmp_path: Path) -> None:
    write(tmp_path / "a" / "trace.jsonl", START)
    end = write(tmp_path / "b" / "trace.jsonl", END)
    alone.initialize(PULLS, **folder(tmp_path))
    Document(alone, GRADE.replace("run-1", "run-2"))  # the first one has the folder read

    def codes() -> list[str] | None:
        answer = alone.request("workspace/diagnostic", {"previousResultIds": []})
        (found,) = [each["items"] for each in answer["items"] if each["uri"] == end]
        codes = [each["code"] for each in found]
        return codes if "unknown-dispatch" not in codes else None

    alone.wait_for(codes, "the dispatch to be known")
