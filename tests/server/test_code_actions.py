"""The server in plain JSON-RPC: code actions."""

from typing import Any

import pytest

from tests.server.support import NOWHERE, ODD, PASSED, REJECTED
from tests.support.client_text import triage
from tests.support.editor import Document, is_about_rule
from tests.support.raw_client import RawClient

pytestmark = pytest.mark.end_to_end


# Code actions


@pytest.mark.parametrize("document_changes", [True, False])
def test_code_actions(document_changes: bool, alone: RawClient) -> None:
    alone.initialize({"workspace": {"workspaceEdit": {"documentChanges": document_changes}}})
    text = triage(input_ref=ODD) + REJECTED + triage(severity=ODD)[:-2] + ",}\n"
    document = Document(alone, text)
    (replace,) = document.actions(PASSED)
    assert replace["kind"] == "quickfix"
    assert replace["isPreferred"] is False, "it changes what the event says"
    assert ("documentChanges" in replace["edit"]) == document_changes
    assert document.applied(replace) == text.replace(PASSED, '"pass"')
    # After an edit, actions are those of the new text.
    document.edit((0, 0, triage(input_ref=ODD * 2)))
    (repair,) = document.actions(",}")
    assert document.applied(repair) == document.text.replace(",}", "}")
    document.rewrite(document.applied(repair))
    (delete,) = document.actions('"severity"')
    assert document.rewrite(document.applied(delete)) == [
        each for each in document.diagnostics() if each["code"] != "undeclared-field"
    ]


def test_code_actions_name_the_diagnostic_that_they_mend(client: RawClient) -> None:
    document = Document(client, REJECTED)
    (diagnostic,) = document.diagnostics()

    def actions(where: Any, **context: Any) -> Any:
        params = {**document.identifier, "range": where, "context": {"diagnostics": [], **context}}
        offered = client.request("textDocument/codeAction", params)
        return [each for each in offered if not is_about_rule(each)]

    (action,) = actions(diagnostic["range"], diagnostics=[diagnostic])
    (mended,) = action["diagnostics"]
    assert (mended["code"], mended["range"]) == (diagnostic["code"], diagnostic["range"])
    assert len(actions(diagnostic["range"], only=["quickfix"])) == 1
    assert len(actions(diagnostic["range"], only=[""])) == 1
    for kinds in (["source"], ["refactor", "source.fixAll"], ["quick"]):
        assert all(each["kind"] != "quickfix" for each in actions(diagnostic["range"], only=kinds))
    assert actions(NOWHERE, only=["quickfix"]) == []
    assert actions(NOWHERE, diagnostics=[diagnostic], only=["quickfix"]) == [action]
