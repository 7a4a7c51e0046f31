"""The server in plain JSON-RPC: which documents are traces, whatever a client opens."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from drive_trace.lsp.workspace.open_traces import MOST_LINES
from drive_trace.storage.followed_file import LONGEST_LINE, QUIET
from tests.server.support import REJECTED, START, Document, folder, published
from tests.support.client_text import graded, triage
from tests.support.raw_client import RawClient

QUOTING = json.dumps({"type": "assistant", "text": REJECTED, "sessionId": "x"}) + "\n"
CHAT = '{"messages":[{"role":"user","content":"a"}]}\n\n{"messages":}\n'
SPANS = '{"resourceSpans":[{"scope":1,}]}\n'.replace(",}", "}") * 2
OTHERS = {
    "an agent's session log": ("file:///home/x/session.jsonl", "jsonl", QUOTING * 11),
    "a chat data set": ("file:///data/chats.jsonl", "jsonl", CHAT),
    "pretty-printed JSON": ("file:///data/x.json", "json", '{\n  "event_type": 1\n}\n'),
    "fields further down": ("file:///data/x.jsonl", "jsonl", " " * 65_536 + triage()),
    "somebody else's trace": ("file:///otel/trace.jsonl", "jsonl", SPANS),
    "somebody else's trace in VS Code": ("file:///otel/trace.jsonl", "drive-trace", SPANS),
}
TRACES = {
    "by its name": ("file:///a/trace.jsonl", "jsonl", "{}\n"),
    "by its name, with events in strings": ("file:///a/trace.jsonl", "jsonl", QUOTING),
    "by its folder": ("file:///a/wip/drive-trace/x.jsonl", "jsonl", '{"a":1}\n'),
    "by the language": ("untitled:Untitled-3", "drive-trace", '{"a":1}\n'),
    "by its text": ("file:///a/qa-trace.jsonl", "json", REJECTED),
    "by two fields": ("y:", "y", '{"event_type":1,\n "schema_version" : 2}\n'),
    "by its name in git": ("git:/a/trace.jsonl?%7B%7D", "jsonl", graded("pass", "pass", "pass")),
}


def asked(client: RawClient, uri: str) -> list[Any]:
    """What the server gives for a document, one answer after another; null, or empty."""
    document = {"textDocument": {"uri": uri}}
    at, whole = {"position": START}, {"range": {"start": START, "end": {"line": 9, "character": 0}}}
    answers = [
        client.request(f"textDocument/{method}", {**document, **more})
        for method, more in {
            "codeLens": {},
            "documentSymbol": {},
            "foldingRange": {},
            "formatting": {"options": {"tabSize": 2, "insertSpaces": True}},
            "hover": at,
            "completion": at,
            "inlayHint": whole,
            "codeAction": {**whole, "context": {"diagnostics": []}},
            "semanticTokens/full": {},
        }.items()
    ]
    return [
        each for each in answers if each and each not in ({"data": []}, {"isIncomplete": False})
    ]


@pytest.mark.parametrize("what", OTHERS)
def test_what_is_no_trace_gets_nothing(what: str, client: RawClient) -> None:
    uri, language, text = OTHERS[what]
    client.open(uri, text, language_id=language)
    assert asked(client, uri) == []
    client.change(uri, 2, {"range": {"start": START, "end": START}, "text": "{"})
    # What an edit leads to is published in the order of the edits.
    assert Document(client, REJECTED).replace("passed", "pass") == []
    assert published(client, uri) == []
    assert asked(client, uri) == []
    client.notify("textDocument/didClose", {"textDocument": {"uri": uri}})


@pytest.mark.parametrize("what", TRACES)
def test_what_is_a_trace(what: str, client: RawClient) -> None:
    uri, language, text = TRACES[what]
    client.open(uri, text, language_id=language)
    found = client.diagnostics(uri, 1)
    assert found or what == "by its name in git"
    assert asked(client, uri) != []
    client.notify("textDocument/didClose", {"textDocument": {"uri": uri}})


MANY, PUT_IN = "\n" * MOST_LINES, {"range": {"start": START, "end": START}}
LONG = triage(input_ref="x" * LONGEST_LINE)
GROWING: dict[str, tuple[str, list[dict[str, Any]]]] = {
    "opened": (triage() + MANY, []),
    "of another kind of lines": (triage() + "\r" * (MOST_LINES + 1), []),
    "in one edit": (triage(), [{**PUT_IN, "text": MANY}]),
    "as another text": (triage(), [{"text": MANY + triage()}]),
    "line by line": (MANY[:-1] + " ", [{**PUT_IN, "text": "\n"}] * 2),
    "with a long line": (triage() + LONG, []),
    "with a long line, typed": (triage(), [{**PUT_IN, "text": LONG}]),
}


@pytest.mark.parametrize("pulls", [False, True])
@pytest.mark.parametrize("name", GROWING)
def test_what_is_too_large_is_told_once_and_left_alone(
    name: str, pulls: bool, alone: RawClient, tmp_path: Path
) -> None:
    path, (text, changes) = tmp_path / "trace.jsonl", GROWING[name]
    path.write_text(graded("pass", "pass", "pass"))
    uri, document = path.as_uri(), {"textDocument": {"uri": path.as_uri()}}
    alone.initialize(
        capabilities={"textDocument": {"diagnostic": {}}} if pulls else {}, **folder(tmp_path)
    )

    def told() -> list[str]:
        assert asked(alone, uri) == []
        pushed = [] if pulls else published(alone, uri)[-1]["diagnostics"]
        found = alone.request("textDocument/diagnostic", document)["items"] if pulls else pushed
        return [f"{each['code']}: {each['message']}" for each in found]

    long = f"has a line of more than {LONGEST_LINE:,} characters"
    said = long if "long" in name else f"has more than {MOST_LINES:,} lines"
    said = f"not read: {said}; drive-trace check reads it; once it is smaller, close it and open it"
    said += " again"
    alone.open(uri, text)
    if changes:
        alone.change(uri, 2, *changes)
    assert told() == [f"unreadable-file: {said}"]
    alone.change(uri, 3, {"text": triage()})
    assert told() == [f"unreadable-file: {said}"]
    alone.notify("textDocument/didClose", document)
    alone.open(uri, triage(), version=4)
    assert asked(alone, uri) != []


def headlines(client: RawClient, *, of: str = "") -> list[str]:
    """Of all runs, once a document has been read."""
    client.request("textDocument/codeLens", {"textDocument": {"uri": of}})
    return [each["headline"] for each in client.request("driveTrace/runs", {})["runs"]]


def opened_beside(
    client: RawClient, tmp_path: Path, files: dict[str, str], *, age: float = 0, **params: Any
) -> list[str]:
    """The headlines where a trace of a run that passed is opened, and other files are there; as
    they are some seconds after they were written.
    """
    passed = graded("pass", "pass", "pass")
    for name, text in {"trace.jsonl": passed, **files}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
        now = (tmp_path / name).stat().st_mtime
        os.utime(tmp_path / name, (now - age, now - age))
    client.initialize(**params, **folder(tmp_path))
    client.open((tmp_path / "trace.jsonl").as_uri(), passed)
    return headlines(client)


def test_no_run_is_green_beside_a_document_with_too_many(alone: RawClient, tmp_path: Path) -> None:
    assert opened_beside(alone, tmp_path, {}) == ["CORRECT"]
    uri, end = (tmp_path / "z/trace.jsonl").as_uri(), {"line": MOST_LINES, "character": 0}
    alone.open(uri, MANY[1:] + graded("pass", "fail", "pass"))
    for version, new in enumerate((" ", " ", "\n"), 2):
        assert headlines(alone, of=uri) == ["INCORRECT — qa failed"]
        alone.change(uri, version, {"range": {"start": end, "end": end}, "text": new})
    assert headlines(alone, of=uri) == ["CORRECT, but 1 input not read"]
    alone.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
    assert headlines(alone, of=uri) == ["CORRECT"]


@pytest.mark.parametrize("age", [0, 2 * QUIET])
def test_no_run_is_green_beside_a_trace_with_a_long_line(
    age: float, alone: RawClient, tmp_path: Path
) -> None:
    beside = {"z/trace.jsonl": LONG.replace("run-1", "run-2")}
    assert opened_beside(alone, tmp_path, beside, age=age) == ["CORRECT, but 1 input not read"]
    uri = (tmp_path / "z/trace.jsonl").as_uri()
    alone.open(uri, beside["z/trace.jsonl"])
    assert headlines(alone, of=uri) == ["CORRECT, but 1 input not read"]
    alone.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
    alone.open(uri, graded("pass", "fail", "pass"))
    assert headlines(alone, of=uri) == ["INCORRECT — qa failed"]


def test_an_empty_document_in_our_language_is_a_trace(client: RawClient) -> None:
    uri = "untitled:Untitled-2"
    client.open(uri, "")
    params = {"textDocument": {"uri": uri}, "position": START}
    assert client.request("textDocument/completion", params)["items"] != []


@pytest.mark.parametrize("name", ["notes.jsonl", "trace.jsonl"])
def test_what_a_document_is_shows_when_it_is_opened(name: str, client: RawClient) -> None:
    """Nothing is kept of one that is no trace, so that it costs nothing while somebody types."""
    uri, text = f"file:///typed-{name}/{name}", graded("pass", "pass", "pass")
    client.open(uri, '{"a":1}\n', language_id="jsonl")
    client.change(uri, 2, {"text": text})
    assert asked(client, uri) == []
    client.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
    assert published(client, uri) == []
    client.open(uri, text, version=3, language_id="jsonl")
    assert client.diagnostics(uri, 3) == []
    assert asked(client, uri) != []
    client.notify("textDocument/didClose", {"textDocument": {"uri": uri}})


def test_what_the_settings_name_is_a_trace(alone: RawClient, tmp_path: Path) -> None:
    log, other = tmp_path / "logs" / "a.log", tmp_path / "a.log"
    files = {"driveTrace": {"files": ["logs/*.log"]}}
    alone.initialize(initializationOptions=files, **folder(tmp_path))
    for path in (log, other):
        alone.open(path.as_uri(), '{"a":1}\n', language_id="log")
    assert len(alone.diagnostics(log.as_uri(), 1)) == 1
    assert published(alone, other.as_uri()) == []


def test_closed_traces_of_somebody_else_are_named_in_the_report(
    alone: RawClient, tmp_path: Path
) -> None:
    for name, text in (("a", graded("pass", "pass", "pass")), ("otel", SPANS)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "trace.jsonl").write_text(text, encoding="utf-8")
    alone.initialize(**folder(tmp_path))
    uri = (tmp_path / "a" / "trace.jsonl").as_uri()
    alone.open(uri, (tmp_path / "a" / "trace.jsonl").read_text("utf-8"))
    made = alone.request("driveTrace/report", {"uri": uri, "format": "html"})
    said = "1 left out: not a trace, as no record has event_type"
    assert said in made["html"]
    assert "<strong>1 run in 1 file</strong>" in made["html"]


def test_a_trace_under_another_name_qualifies_the_verdict_here_too(
    alone: RawClient, tmp_path: Path
) -> None:
    said = opened_beside(alone, tmp_path, {"qa-trace.jsonl": graded("pass", "fail", "pass")})
    assert said == ["CORRECT, but 1 input not read"]


@pytest.mark.parametrize(
    ("options", "headline"),
    [
        ({"trusted": True}, "CORRECT"),
        ({"trusted": False}, "CORRECT, but 1 input not read"),
        ({"trusted": "yes", "driveTrace": {"trusted": True}}, "CORRECT, but 1 input not read"),
    ],
)
def test_what_a_configuration_excludes_counts_in_a_trusted_workspace(
    options: object, headline: str, alone: RawClient, tmp_path: Path
) -> None:
    failing = graded("pass", "fail", "pass", run="other")
    files = {"fixtures/trace.jsonl": failing, "drive-trace.toml": 'exclude = ["fixtures/"]\n'}
    assert opened_beside(alone, tmp_path, files, initializationOptions=options) == [headline]
