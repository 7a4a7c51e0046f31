"""An editor at the end of a raw connection: documents that it keeps as text, and edits."""

from itertools import count
from typing import Any

from tests.support.client_text import apply_edits, range_at, range_of
from tests.support.raw_client import RawClient

_numbers = count(1)


ABOUT_RULES = [f"driveTrace.{name}" for name in ("turnRuleOff", "addToBaseline", "showRule")]


class Document:
    """A document that is open in an editor; its text is what the editor shows."""

    def __init__(
        self, client: RawClient, text: str, encoding: str = "utf-16", *, uri: str = ""
    ) -> None:
        self.client, self.text, self.encoding = client, text, encoding
        self.uri = uri or f"file:///traces/run-{next(_numbers)}/trace.jsonl"
        self.version = 1
        client.open(self.uri, text)

    @property
    def identifier(self) -> dict[str, Any]:
        return {"textDocument": {"uri": self.uri}}

    def edit(self, *edits: tuple[int, int, str]) -> list[Any]:
        """Make edits in one notification, each in the text that the one before leaves; gives
        the diagnostics of the new version. Offsets are code points.
        """
        changes = []
        for start, stop, new in edits:
            where = range_at(self.text, start, stop, self.encoding)
            changes.append({"range": where, "text": new})
            self.text = self.text[:start] + new + self.text[stop:]
        return self.send(*changes)

    def replace(self, old: str, new: str) -> list[Any]:
        """Put `new` in place of `old`, which stands in the text once."""
        assert self.text.count(old) == 1
        start = self.text.index(old)
        return self.edit((start, start + len(old), new))

    def rewrite(self, text: str) -> list[Any]:
        """Send the whole text."""
        self.text = text
        return self.send({"text": text})

    def send(self, *changes: Any) -> list[Any]:
        self.version += 1
        self.client.change(self.uri, self.version, *changes)
        return self.diagnostics()

    def diagnostics(self) -> list[Any]:
        """The diagnostics of the present version."""
        return self.client.diagnostics(self.uri, self.version)

    def shown(self) -> list[tuple[str, Any]]:
        """Code and range of the diagnostics of the present version."""
        return [(each["code"], each["range"]) for each in self.diagnostics()]

    def range_of(self, token: str) -> dict[str, Any]:
        return range_of(self.text, token, self.encoding)

    def hover(self, token: str) -> Any:
        at = self.range_of(token)["start"]
        return self.client.request("textDocument/hover", {**self.identifier, "position": at})

    def hover_text(self, token: str) -> str:
        value = self.hover(token)["contents"]["value"]
        assert isinstance(value, str)
        return value

    def lenses(self) -> list[tuple[int, str]]:
        """Line from 0 and title of each lens, as it comes into view."""
        lenses = self.client.request("textDocument/codeLens", self.identifier)
        resolved = [self.client.request("codeLens/resolve", lens) for lens in lenses]
        return [(lens["range"]["start"]["line"], lens["command"]["title"]) for lens in resolved]

    def actions(self, token: str) -> list[Any]:
        """The fixes on a token."""
        return [each for each in self.quick_fixes(token) if not is_about_rule(each)]

    def quick_fixes(self, token: str) -> list[Any]:
        """The fixes on a token, and what else may be done about its findings."""
        context = {"diagnostics": [], "only": ["quickfix"]}
        params = {"range": self.range_of(token), "context": context}
        actions = self.client.request("textDocument/codeAction", {**self.identifier, **params})
        assert isinstance(actions, list)
        return actions

    def applied(self, action: Any) -> str:
        """The text after a code action."""
        edit = action["edit"]
        if "documentChanges" in edit:
            (change,) = edit["documentChanges"]
            assert change["textDocument"] == {"uri": self.uri, "version": self.version}
            return apply_edits(self.text, change["edits"], self.encoding)
        assert list(edit["changes"]) == [self.uri]
        return apply_edits(self.text, edit["changes"][self.uri], self.encoding)


def is_about_rule(action: Any) -> bool:
    """Whether a code action is about a rule, and does not change the text."""
    command = action.get("command")
    return (command["command"] if isinstance(command, dict) else command) in ABOUT_RULES
