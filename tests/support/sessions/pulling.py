"""The steps of a client that asks for diagnostics."""

from dataclasses import dataclass
from typing import Any

from tests.support.sessions.conversation import Conversation
from tests.support.sessions.places import ANY, NOWHERE, uri_of


@dataclass(frozen=True)
class Pull:
    """`textDocument/diagnostic`, with the name of an earlier report, of another's, or of none."""

    uri: int
    previous: str
    message_id: Any

    def play(self, conversation: Conversation) -> None:
        uri = uri_of(conversation, self.uri)
        conversation.states_of(uri)
        previous = _previous(conversation, uri, self.previous)

        def check(report: Any) -> None:
            check_report(conversation, uri, report, previous)

        given = {} if previous is None else {"previousResultId": previous}
        params = {"textDocument": {"uri": uri}, **given}
        method = "textDocument/diagnostic"
        conversation.ask(method, params, message_id=self.message_id, check=check)


@dataclass(frozen=True)
class PullAll:
    """`workspace/diagnostic`, in parts or not."""

    previous: str
    token: type | None
    message_id: Any

    def play(self, conversation: Conversation) -> None:
        token = conversation.new_token(self.token)
        known = {uri: _previous(conversation, uri, self.previous) for uri in conversation.named}
        for number in range(len(conversation.world.disk) + len(NOWHERE)):
            conversation.states_of(uri_of(conversation, ANY + number))

        def check(result: Any) -> None:
            parts = conversation.progress(token)
            assert token is None or result["items"] == []
            items = [item for part in [*parts, result] for item in part["items"]]
            uris = [item["uri"] for item in items]
            assert len(uris) == len(set(uris)), uris
            for item in items:
                uri = item["uri"]
                states = conversation.states_of(uri)
                assert item["version"] in {state.version for state in states}
                report = {key: each for key, each in item.items() if key not in ("uri", "version")}
                check_report(conversation, uri, report, known.get(uri))
            for uri, states in conversation.states.items():
                if all(state.text is not None for state in states):
                    assert uri in uris

        ids = [{"uri": uri, "value": value} for uri, value in known.items() if value is not None]
        parts = {} if token is None else {"partialResultToken": token}
        params = {"previousResultIds": ids, **parts}
        method = "workspace/diagnostic"
        conversation.ask(method, params, message_id=self.message_id, check=check)


def _previous(conversation: Conversation, uri: str, which: str) -> str | None:
    if which == "none":
        return None
    if which == "unknown":
        return "nobody's"
    names = list(conversation.named.values())
    return conversation.named.get(uri) if which == "own" else names[-1] if names else None


def check_report(conversation: Conversation, uri: str, report: Any, previous: str | None) -> None:
    """A report is about the document as it was meanwhile, and its name stands for its content."""
    name = report["resultId"]
    if report["kind"] == "full":
        items = report["items"]
        assert conversation.results.setdefault(name, items) == items
        assert name != previous
    else:
        assert report == {"kind": "unchanged", "resultId": previous}
        items = conversation.results[name]
    assert any(state.given == items for state in conversation.states_of(uri)), (uri, items)
    conversation.named[uri] = name
