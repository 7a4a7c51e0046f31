"""The server in plain JSON-RPC: settings, and how much is sent at most."""

from typing import Any

from drive_trace.lsp.workspace.client_settings import Settings, read_settings
from tests.server.support import REJECTED
from tests.support.client_text import apart, path_of, triage
from tests.support.editor import Document
from tests.support.raw_client import RawClient, ResponseError

# Settings


def test_links_lead_to_installed_pages(client: RawClient) -> None:
    document = Document(client, REJECTED + triage(severity="low") + "{\n")
    for diagnostic in document.diagnostics():
        page = path_of(diagnostic["codeDescription"]["href"])
        assert page.read_text(encoding="utf-8").startswith(f"# {diagnostic['code']}\n")


def test_settings_at_the_start(alone: RawClient) -> None:
    settings = {"ruleUrl": "https://example.org/rules/{code}.html", "maxFindings": 1}
    alone.initialize({}, initializationOptions=settings)
    first, more = Document(alone, REJECTED * 3).diagnostics()
    assert first["codeDescription"] == {"href": "https://example.org/rules/unknown-value.html"}
    assert more["message"].startswith("2 more findings")


def test_settings_that_change(alone: RawClient) -> None:
    alone.initialize()
    document = Document(alone, REJECTED)
    assert len(document.diagnostics()) == 1

    def configured(settings: Any) -> Any:
        alone.forget()
        alone.notify("workspace/didChangeConfiguration", {"settings": settings})
        (published,) = document.diagnostics()
        return published["codeDescription"]["href"]

    assert configured({"driveTrace": {"ruleUrl": "http://localhost/{code}"}}) == (
        "http://localhost/unknown-value"
    )
    # Settings that do not fit leave the old ones in place, and nothing is published for them.
    for wrong in (
        None,
        5,
        [],
        {},
        {"driveTrace": None},
        {"driveTrace": {"ruleUrl": 5, "maxFindings": "many"}},
        {"driveTrace": {"ruleUrl": "javascript:alert(1)//{code}", "maxFindings": 0}},
        {"driveTrace": {"ruleUrl": "https://example.org/", "maxFindings": True}},
        {"driveTrace": {"ruleUrl": "httpfoo{code}"}},
        {"driveTrace": {"ruleUrl": "http:{code}"}},
        {"other": {"ruleUrl": "https://example.org/{code}"}},
    ):
        alone.notify("workspace/didChangeConfiguration", {"settings": wrong})
    (diagnostic,) = document.edit((0, 0, ""))
    assert diagnostic["codeDescription"]["href"] == "http://localhost/unknown-value"
    # An empty one brings the installed pages back.
    assert path_of(configured({"driveTrace": {"ruleUrl": ""}})).is_file()


def test_a_setting_that_does_not_fit_is_told() -> None:
    given = {"maxFindings": 0, "lens": {"runs": "no"}, "logToClient": "warn", "ruleUrl": None}
    given |= {"files": ["logs/*.jsonl", 3]}
    rules = {"rules": {"severities": "off"}}
    assert read_settings({"driveTrace": given | rules}, Settings()) == (
        Settings(),
        [
            "`driveTrace.files`: an item must be a text; found 3",
            "`driveTrace.maxFindings` must be an integer of at least 1; found 0",
            '`driveTrace.lens.runs` must be true or false; found "no"',
            '`driveTrace.logToClient` must be "off", "error", "warning", "info" or "debug"; '
            'found "warn" — did you mean "warning"?',
            "`severities` is no rule",
        ],
    )


# Settings that the client is asked for


class Configured:
    """A client with settings, which it gives when it is asked for them."""

    def __init__(self, client: RawClient, **declared: Any) -> None:
        self.client = client
        self.settings: Any = None
        self.sections: list[Any] = []
        client.handlers["workspace/configuration"] = self._give
        refreshes = {"codeLens": {"refreshSupport": True}, "inlayHint": {"refreshSupport": True}}
        self.declared = {"workspace": {"configuration": True, **refreshes, **declared}}

    def _give(self, params: Any) -> list[Any]:
        self.sections += params["items"]
        return [self.settings for _ in params["items"]]

    def change(self, settings: Any, sent: Any = None) -> None:
        self.settings = settings
        self.client.forget()
        self.client.notify("workspace/didChangeConfiguration", {"settings": sent})


def test_a_client_is_asked_for_its_settings(alone: RawClient) -> None:
    configured = Configured(alone)
    configured.settings = {"maxFindings": 1}
    alone.initialize(configured.declared)
    uri = "file:///traces/pulled/trace.jsonl"
    alone.open(uri, apart(REJECTED * 3))
    alone.notification(
        "textDocument/publishDiagnostics", lambda params: len(params["diagnostics"]) == 2
    )
    assert configured.sections == [{"section": "driveTrace"}]
    # What stands in them no more is as it was at first; what is sent along does not count.
    configured.change({}, sent={"driveTrace": {"maxFindings": 2}})
    alone.notification(
        "textDocument/publishDiagnostics", lambda params: len(params["diagnostics"]) == 3
    )
    # A client that has none to give may have sent some.
    configured.change(None, sent={"driveTrace": {"maxFindings": 2}})
    more = alone.notification("textDocument/publishDiagnostics")["diagnostics"][-1]
    assert more["message"].startswith("1 more finding")


def test_what_is_shown_is_asked_for_again_when_its_settings_change(alone: RawClient) -> None:
    configured = Configured(alone)
    alone.initialize(configured.declared)
    document = Document(alone, REJECTED)
    assert len(document.lenses()) == 2

    def asked() -> str | None:
        methods = [each["method"] for each in alone.requests]
        return next((each for each in methods if each.endswith("/refresh")), None)

    configured.change({"lens": {"grades": False}})
    assert alone.wait_for(asked, "a refresh") == "workspace/codeLens/refresh"
    assert len(document.lenses()) == 1
    configured.change({"lens": {"grades": False}, "inlayHints": {"clock": False}})
    assert alone.wait_for(asked, "a refresh") == "workspace/inlayHint/refresh"
    configured.change({"lens": {}})
    assert alone.wait_for(asked, "a refresh") == "workspace/codeLens/refresh"
    assert len(document.lenses()) == 2


def test_a_client_that_refuses_to_give_settings(alone: RawClient) -> None:
    def refuse(_: Any) -> Any:
        raise ResponseError(-32601, "not known")

    alone.handlers["workspace/configuration"] = refuse
    alone.initialize({"workspace": {"configuration": True}})
    document = Document(alone, REJECTED * 3)
    assert len(document.diagnostics()) > 2
    settings = {"driveTrace": {"maxFindings": 1}}
    alone.notify("workspace/didChangeConfiguration", {"settings": settings})
    alone.notification(
        "textDocument/publishDiagnostics", lambda params: len(params["diagnostics"]) == 2
    )


def test_a_client_is_asked_to_tell_of_settings_that_change(alone: RawClient) -> None:
    dynamic = {"dynamicRegistration": True}
    alone.initialize({"workspace": {"didChangeConfiguration": dynamic}})
    asked = alone.wait_for(lambda: next(iter(alone.requests), None), "a registration")
    assert asked["method"] == "client/registerCapability"
    registered = asked["params"]["registrations"]
    assert [(each["method"], each["registerOptions"]) for each in registered] == [
        ("workspace/didChangeConfiguration", {"section": "driveTrace"})
    ]


def test_at_most_so_many_findings(alone: RawClient) -> None:
    alone.initialize({}, initializationOptions={"driveTrace": {"maxFindings": 250}})
    warned = triage(severity="low")
    document = Document(alone, apart(warned * 300 + REJECTED * 200))

    def lines(found: list[Any]) -> list[int]:
        return [each["range"]["start"]["line"] for each in found]

    # Errors first, in the order of the document, and a last one that says how many more.
    *shown, more = document.diagnostics()
    assert lines(shown) == [*range(50), *range(300, 500)]
    assert (more["code"], more["severity"]) == ("more-findings", 3)
    assert more["message"].startswith("250 more findings")
    # What is near the edit is always among them.
    at, new = 200 * len(warned), "5d3f8f4b-6c1e-4b7a-9e61-0c7a2f94d8b3"
    *shown, more = document.edit((at, at, triage(severity="low", event_id=new)))
    assert len(shown) == 250
    assert {199, 200, 201} <= set(lines(shown))
    assert lines(shown) == sorted(lines(shown))
    assert more["message"].startswith("251 more findings")
    # When they are few, all are there and nothing is said of more.
    assert lines(document.rewrite(apart(warned * 250))) == [*range(250)]
    alone.notify("workspace/didChangeConfiguration", {"settings": {"maxFindings": 2}})
    alone.notification(
        "textDocument/publishDiagnostics",
        lambda params: params["version"] == document.version and len(params["diagnostics"]) == 3,
    )


def test_a_thousand_findings_by_default(client: RawClient) -> None:
    found = Document(client, REJECTED * 1500).diagnostics()
    assert len(found) == 1001
    assert found[-1]["message"].startswith("500 more findings")
    assert len(Document(client, REJECTED * 1000).diagnostics()) == 1000
