"""What hostile traces cost: every request, and a keystroke, grow no faster than the trace does."""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from typing import Any

import pytest

from drive_trace.analysis import Analysis
from drive_trace.authoring.usage import values
from drive_trace.authoring.usage_shapes import UsageLogError
from drive_trace.features import events
from drive_trace.json_text import parse
from drive_trace.lsp import server as server_module
from drive_trace.text import codec
from tests.support.client_text import position, triage
from tests.support.growth import Work, assert_all_linear, assert_linear
from tests.support.sessions.channels import InProcess

URI = "file:///hostile/trace.jsonl"
SIZE = 40_000
"""Characters; what is quadratic in them takes seconds."""
EVENT = '{"event_type":"slice-started","event_id":"e"'
CAPABILITIES = {"textDocument": {"hover": {"contentFormat": ["markdown"]}, "diagnostic": {}}}


def _keys(size: int) -> str:
    return EVENT + "".join(f',"key{number:06}":1' for number in range(size // 14)) + "}\n"


def _repeated(unit: str, before: str = "", after: str = "") -> Callable[[int], str]:
    return lambda size: before + unit * (size // len(unit)) + after


TEXTS: dict[str, Callable[[int], str]] = {
    "objects that never end": _repeated('{"a":'),
    "arrays that do not match": _repeated("[", after="1}"),
    "keys that are not declared": _keys,
    "a key again and again": _repeated(',"event_id":"e"', EVENT, "}\n"),
    "quotes in a string that never ends": _repeated('\\"', EVENT + ',"a":"'),
    "an object over many lines": _repeated('"\\"":\n', "{\n", "}\n"),
    "objects that are opened on each line": _repeated('{\n"a":[\n'),
    "commas": _repeated(",\n}\n", EVENT),
    "commas behind each line": _repeated(EVENT + "},\n"),
}
LINES: dict[str, Callable[[int], str]] = {
    "equal keys": _repeated(',"event_id":"e"', EVENT, "}\n"),
    "deep nesting": lambda size: (
        EVENT + ',"a":' + '[{"a":' * (size // 8) + "1" + "}]" * (size // 8) + "}\n"
    ),
    "a long string": _repeated("x", EVENT + ',"a":"', '"}\n'),
    "many escapes": _repeated('\\u00e9\\"', EVENT + ',"a":"', '"}\n'),
    "long lines below one that is torn": _repeated(
        f'{" " * 5_000}"a":1,\n', '{"event_type":"round-end",\n'
    ),
    "many records glued": _repeated(EVENT + "}", after="\n"),
}
"""Long lines, which are tried at a megabyte."""


def _requests(middle: Any, whole: Any) -> dict[str, dict[str, Any]]:
    at, options = {"position": middle}, {"options": {"tabSize": 2, "insertSpaces": True}}
    return {
        "hover": at,
        "completion": at,
        "definition": at,
        "references": {**at, "context": {"includeDeclaration": True}},
        "documentHighlight": at,
        "prepareRename": at,
        "rename": {**at, "newName": "new"},
        "selectionRange": {"positions": [middle]},
        "codeAction": {"range": whole, "context": {"diagnostics": []}},
        "documentSymbol": {},
        "foldingRange": {},
        "documentLink": {},
        "codeLens": {},
        "inlayHint": {"range": whole},
        "semanticTokens/full": {},
        "semanticTokens/range": {"range": whole},
        "formatting": options,
        "rangeFormatting": {**options, "range": whole},
        "diagnostic": {},
    }


@pytest.fixture(scope="module", autouse=True)
def _one_converter() -> Iterator[None]:
    """All servers read and write messages in the same way, which takes long to prepare."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(server_module, "strict_converter", cache(server_module.strict_converter))
        yield


class _Editor:
    """Sends messages to a server in this thread, and takes what comes for granted."""

    def __init__(self, text_document: Any = CAPABILITIES["textDocument"]) -> None:
        self.channel = InProcess(reads_ahead=False)
        capabilities = {"textDocument": text_document}
        self.request("initialize", processId=None, rootUri=None, capabilities=capabilities)
        self.notify("initialized")

    def request(self, method: str, **params: Any) -> None:
        answered: list[Any] = []

        def take(message: Any) -> tuple[bytes, ...]:
            if message.get("id") == method:
                answered.append(message)
            return ()

        message = {"jsonrpc": "2.0", "id": method, "method": method, "params": params}
        self.channel.exchange([json.dumps(message).encode()], take)
        (answer,) = answered
        assert "result" in answer or method.endswith("ename"), answer

    def notify(self, method: str, **params: Any) -> None:
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        self.channel.exchange([json.dumps(message).encode()], lambda _: ())


@pytest.mark.parametrize("name", [*TEXTS, *LINES])
def test_every_request_and_a_keystroke(name: str) -> None:
    editors: list[_Editor] = []

    def works(size: int) -> Mapping[str, Work]:
        text = {**TEXTS, **LINES}[name](size)
        editor = _Editor()
        editors.append(editor)
        middle, end = (position(text, at, "utf-16") for at in (len(text) // 2, len(text)))
        document = {"uri": URI, "languageId": "jsonl", "version": 1, "text": text}
        typed = {"range": {"start": middle, "end": middle}, "text": " "}
        changed = {"uri": URI, "version": 2}
        return {
            "opening": partial(editor.notify, "textDocument/didOpen", textDocument=document),
            "typing": partial(
                editor.notify,
                "textDocument/didChange",
                textDocument=changed,
                contentChanges=[typed],
            ),
            **{
                method: partial(
                    editor.request, f"textDocument/{method}", textDocument={"uri": URI}, **params
                )
                for method, params in _requests(
                    middle, {"start": {"line": 0, "character": 0}, "end": end}
                ).items()
            },
        }

    try:
        assert_all_linear(works, 1_000_000 if name in LINES else SIZE)
    finally:
        for editor in editors:
            editor.channel.close()


@pytest.mark.parametrize("is_tree", [True, False])
def test_long_answers_are_encoded_in_parts(is_tree: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """One holds up every other thread, and so whoever hovers meanwhile."""
    parts: list[tuple[int, int]] = []  # how many items, and bytes but those that were text before
    link = {"input_ref": "https://host/a"}
    several = "".join(triage(run=f"run-{number // 2}", **link) for number in range(4, 1_400))
    text = (triage(**link) * 1_500 + several).replace('":', '" : ')
    symbols = {"hierarchicalDocumentSymbolSupport": is_tree}
    editor = _Editor(CAPABILITIES["textDocument"] | {"documentSymbol": symbols})
    document = {"uri": URI, "languageId": "drive-trace", "version": 1, "text": text}
    editor.notify("textDocument/didOpen", textDocument=document)
    encode = codec.dumps

    def encoded(value: Any, *, default: Callable[[Any], object]) -> bytes:
        before: list[int] = []
        text = encode(value, default=lambda part: (before.append(len(part.text)), default(part))[1])
        result = value.get("result") if isinstance(value, dict) else value
        items = len(result) if isinstance(result, list) else 1
        # One edit may have all text of a trace, which is one string.
        is_edit = items == 1 and isinstance(result, list) and "newText" in result[0]
        parts.append((items, 0 if is_edit else len(text) - sum(before)))
        return text

    monkeypatch.setattr(codec, "dumps", encoded)
    run, end = text.index("run-1"), position(text, len(text), "utf-16")
    whole = {"start": {"line": 0, "character": 0}, "end": end}
    for method, params in _requests(position(text, run, "utf-16"), whole).items():
        if not method.endswith("/range"):  # of a screen, which is all of it here
            editor.request(f"textDocument/{method}", textDocument={"uri": URI}, **params)
    editor.channel.close()
    counts, sizes = zip(*parts, strict=True)
    assert len(parts) > 40
    assert max(counts) <= 500
    assert max(sizes) <= 250_000


@pytest.mark.parametrize("name", [*TEXTS, *LINES])
def test_what_a_line_carries_is_counted_past_the_first_hundred(name: str) -> None:
    analysis = Analysis({**TEXTS, **LINES}[name](SIZE))
    counts = Counter(each.line for each in analysis.findings())
    assert max(counts.values()) <= 102
    assert counts.total() == analysis.finding_count
    told = sum(1 + len(each.places) for each in analysis.told())
    assert analysis.findings_by_run().total() == told


def test_a_record_that_is_deep_is_not_explained_to_its_end() -> None:
    """What it takes is bounded, where its length alone would take minutes."""
    syntax = parse('{"a":' * 400_000)
    assert [each.message for each in syntax.problems] == [
        "this line is not JSON, and too long to tell why"
    ]
    assert not syntax.problems[0].repairs


def test_quotes_on_the_line_below_an_object_that_is_open() -> None:
    def found(size: int) -> Work:
        text = '{"a":\n' + '\\"' * (size // 2)
        return lambda: [*Analysis(text).findings()]

    assert_linear(found, SIZE)


def test_all_pages_of_the_list_of_events(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "MOST_ROWS", 100)

    def read(size: int) -> Work:
        analysis = Analysis(triage() * size)

        def pages() -> None:
            first = 0
            while first is not None:
                first = events.page_json(analysis, first)["next"]

        return pages

    assert_linear(read, SIZE)


def test_a_key_that_stands_twice_far_behind_in_a_usage() -> None:
    def read(size: int) -> Work:
        keys = "".join(f'"k{number}":1,' for number in range(size // 10))
        text = "{" + keys + '"k":1,"k":2}'

        def refused() -> None:
            with pytest.raises(UsageLogError, match="a key stands twice in one object"):
                list(values([text]))

        return refused

    assert_linear(read, 8 * SIZE)
