"""The server in plain JSON-RPC: the record of where the events of a trace come from."""

import json
from pathlib import Path

from tests.server.support import folder
from tests.server.test_configuration import WATCHES, open_trace, severities, told
from tests.storage.test_history import FAILED, git
from tests.support.client_text import apart, graded, triage
from tests.support.fixtures import provenance_of
from tests.support.raw_client import RawClient


def test_a_grade_that_goes_is_told_in_the_lens_and_as_a_finding(
    alone: RawClient, tmp_path: Path
) -> None:
    text = apart(triage() + graded("pass", "pass", "pass") + FAILED)
    path, record = tmp_path / "trace.jsonl", tmp_path / "trace.jsonl.provenance.ndjson"
    path.write_text(text)
    record.write_text(provenance_of(text))
    alone.initialize(WATCHES, **folder(tmp_path))
    document = open_trace(alone, tmp_path, text)
    assert "unrecorded-change" not in severities(document)
    last = text.splitlines(keepends=True)[-1]
    document.replace(last, "")
    assert severities(document)["unrecorded-change"] == 2
    assert any("CORRECT, but 1 recorded line gone" in title for _, title in document.lenses())
    # What was appended to the record counts from the next time that the file is saved.
    path.write_text(text.replace(last, ""))
    record.write_text("".join(record.read_text().splitlines(keepends=True)[:-1]))
    alone.forget()
    told(alone, path)
    assert "unrecorded-change" not in severities(document)
    # Where git changes the trace alone, as by another branch, the record says nothing.
    record.write_text(provenance_of(text))
    alone.forget()
    told(alone, path)
    assert severities(document)["unrecorded-change"] == 2
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "trace.jsonl")
    alone.forget()
    told(alone, path)
    assert "unrecorded-change" not in severities(document)
    assert json.loads(record.read_text().splitlines()[-1])["event_type"] == "correctness-recorded"
