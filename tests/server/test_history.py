"""The server in plain JSON-RPC: what git has of an open trace."""

import shutil
from pathlib import Path

import pytest

from tests.server.support import folder
from tests.server.test_configuration import WATCHES, open_trace, severities, told
from tests.storage.test_history import FAILED, commit, git
from tests.support.client_text import apart, triage
from tests.support.raw_client import RawClient

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")

TEXT = apart(triage() + FAILED)


def test_an_edit_of_what_was_committed_is_told_as_it_is_typed(
    alone: RawClient, tmp_path: Path
) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_text(TEXT)
    commit(tmp_path, "trace")
    alone.initialize(WATCHES, **folder(tmp_path))
    document = open_trace(alone, tmp_path, TEXT)
    assert severities(document) == {}
    document.replace('"fail"', '"pass"')
    assert severities(document) == {"history-rewritten": 2}
    (found,) = document.diagnostics()
    assert '"qa":"fail"' in found["relatedInformation"][0]["message"]
    document.replace('"qa":"pass"', '"qa":"fail"')
    assert severities(document) == {}
    # A commit counts from the next time that the file is saved.
    path.write_text(FAILED + triage(run="other"))
    git(tmp_path, "commit", "-q", "-am", "other")
    alone.forget()
    told(alone, path)
    assert severities(document) == {"history-rewritten": 2}
