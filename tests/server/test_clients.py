"""The server in plain JSON-RPC: what clients of few abilities get."""

from typing import Any

import pytest

from tests.server.support import PASSED, REJECTED
from tests.support.client_text import graded, tokens
from tests.support.editor import ABOUT_RULES, Document
from tests.support.raw_client import RawClient
from tests.support.snapshots import Snapshots

ERASED = graded("pass", "pass", None, run="run-1") + graded("pass", None, None)


def hovers(formats: Any) -> dict[str, Any]:
    return {"textDocument": {"hover": {} if formats is None else {"contentFormat": formats}}}


@pytest.mark.parametrize(
    ("formats", "kind"),
    [
        (["plaintext"], "plaintext"),
        (["plaintext", "markdown"], "plaintext"),
        (["markdown", "plaintext"], "markdown"),
        (["html", "plaintext"], "plaintext"),  # what cannot be read is passed over
        ([], "markdown"),
        (None, "markdown"),
    ],
)
def test_hovers_are_of_the_kind_that_the_client_prefers(
    formats: Any, kind: str, alone: RawClient
) -> None:
    alone.initialize(hovers(formats))
    document = Document(alone, tokens(1_900_000, 42_000, 0, None) + graded("pass", "pass", "pass"))
    assert document.hover('"correctness-recorded"')["contents"]["kind"] == kind


def test_a_hover_without_markup(alone: RawClient, snapshots: Snapshots) -> None:
    alone.initialize(hovers(["plaintext"]))
    text = tokens(1_900_000, 42_000, 0, None, run="run `*1*`") + graded(
        "pass", "pass", "pass", run="run `*1*`"
    )
    document = Document(alone, text)
    card, about = document.hover_text('"correctness-recorded"').split("\n\n\n\n")
    assert about.startswith("correctness-recorded · ")
    assert "*" not in about
    snapshots.check("hover/in-plain-text.txt", f"{card}\n")


@pytest.mark.parametrize(
    ("declared", "members"),
    [
        (None, {"codeDescription", "relatedInformation"}),
        ({}, set()),
        ({"relatedInformation": True}, {"relatedInformation"}),
        ({"codeDescriptionSupport": True, "tagSupport": {"valueSet": [1]}}, {"codeDescription"}),
    ],
)
def test_diagnostics_have_the_members_that_the_client_reads(
    declared: Any, members: set[str], alone: RawClient
) -> None:
    alone.initialize({} if declared is None else {"textDocument": {"publishDiagnostics": declared}})
    erased = next(
        each for each in Document(alone, ERASED).diagnostics() if each["code"] == "erased-verdict"
    )
    assert set(erased) - {"range", "severity", "code", "source", "message"} == members


@pytest.mark.parametrize("applies", [False, True])
def test_a_client_to_which_an_action_is_a_command_is_offered_none(
    applies: bool, alone: RawClient
) -> None:
    declared = {"textDocument": {"codeAction": {}}, "workspace": {"applyEdit": applies}}
    offered = alone.initialize(declared)["capabilities"]["executeCommandProvider"]
    more = ("recordGrade", "append", "emit", "applyAction") if applies else ()
    always = ["driveTrace.showRun", *ABOUT_RULES]
    assert offered == {"commands": [*always, *(f"driveTrace.{name}" for name in more)]}
    assert Document(alone, REJECTED).actions(PASSED) == []


def test_a_client_of_the_future_is_not_refused(alone: RawClient) -> None:
    """Capabilities with values that nobody knows yet are passed over, the others hold."""
    alone.initialize(
        {
            "general": {"positionEncodings": ["utf-8"], "unheardOf": {"of": True}},
            "textDocument": {
                "publishDiagnostics": {"tagSupport": {"valueSet": [1, 2, 99]}},
                "codeAction": {"codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["x"]}}},
                "completion": {"completionItemKind": {"valueSet": [1, 999]}, "contextSupport": 7},
                "hover": {"contentFormat": ["plaintext"]},
                "holograms": {"dynamicRegistration": True},
            },
            "telepathy": 5,
            "window": 5,
        },
        trace="compact",
        clientInfo=5,
        locale=7,
        workspaceFolders=[{"uri": "file:///nameless"}, {"uri": "file:///named", "name": "named"}],
    )
    document = Document(alone, REJECTED, "utf-8")
    assert document.shown() == [("unknown-value", document.range_of(PASSED))]
    assert document.hover(PASSED)["contents"]["kind"] == "plaintext"


def test_the_log_goes_to_the_client_that_wants_it(alone: RawClient) -> None:
    alone.initialize(initializationOptions={"logToClient": "warning"})
    alone.notify("textDocument/didClose", {})
    logged = alone.notification("window/logMessage")
    assert logged["type"] == 2
    assert "textDocument/didClose" in logged["message"]
    alone.forget()
    for level, expected in (("off", 0), ("everything", 0), ("debug", 1)):
        settings = {"settings": {"driveTrace": {"logToClient": level}}}
        alone.notify("workspace/didChangeConfiguration", settings)
        alone.notify("unheard/of", {})
        assert alone.request("textDocument/hover", _hover()) is None
        assert len(alone.received("window/logMessage")) == expected
    assert alone.received("window/showMessage") == []


def _hover() -> dict[str, Any]:
    return {"textDocument": {"uri": "file:///x"}, "position": {"line": 0, "character": 0}}
