"""The server in plain JSON-RPC: diagnostics for clients that ask for them."""

import os
from pathlib import Path
from typing import Any

import pytest

from tests.server.support import ALL_TRACES, PASSED, REJECTED, folder, published, refused, write
from tests.support.client_text import graded, range_of, triage
from tests.support.editor import Document
from tests.support.raw_client import RawClient
from tests.support.systems import NO_FIFOS, not_on_windows

PULLS = {"textDocument": {"diagnostic": {}, "publishDiagnostics": {"relatedInformation": True}}}
CLEAN = graded("pass", "pass", "pass")


class Asking(Document):
    """A document in an editor that asks."""

    def diagnostics(self) -> list[Any]:
        return list(self.report()["items"])

    def report(self, previous: str | None = None) -> Any:
        known = {} if previous is None else {"previousResultId": previous}
        return self.client.request("textDocument/diagnostic", {**self.identifier, **known})


def workspace(client: RawClient, previous: dict[str, str] | None = None) -> dict[str, Any]:
    """The reports on all traces, by URI."""
    known = [{"uri": uri, "value": value} for uri, value in (previous or {}).items()]
    answer = client.request("workspace/diagnostic", {"previousResultIds": known})
    return {report["uri"]: report for report in answer["items"]}


def codes(report: Any) -> list[str]:
    assert report["kind"] == "full"
    return [each["code"] for each in report["items"]]


def test_a_client_that_asks_is_offered_it_and_sent_nothing(alone: RawClient) -> None:
    offered = alone.initialize(PULLS)["capabilities"]["diagnosticProvider"]
    assert offered["workspaceDiagnostics"] is True
    document = Asking(alone, REJECTED)
    assert document.shown() == [("unknown-value", document.range_of(PASSED))]
    assert document.replace("passed", "pass") == []
    alone.notify("textDocument/didClose", document.identifier)
    assert document.diagnostics() == []
    assert published(alone, document.uri) == []


def test_closed_traces_are_silent_unless_a_setting_covers_them(
    alone: RawClient, tmp_path: Path
) -> None:
    closed = write(tmp_path / "archive" / "trace.jsonl", REJECTED).as_uri()
    write(tmp_path / "archive" / "drive-trace.toml", "[rules\n")
    path = write(tmp_path / "trace.jsonl", REJECTED)
    alone.initialize(PULLS, **folder(tmp_path))
    document = Asking(alone, REJECTED, uri=path.as_uri())
    (run,) = alone.request("driveTrace/runs", {})["runs"]
    assert {each["uri"]: each["findings"] for each in run["files"]} == {
        document.uri: 1,
        closed: None,
    }
    assert workspace(alone).keys() == {document.uri}
    alone.notify("workspace/didChangeConfiguration", {"settings": scoped("workspace")})
    reports = workspace(alone)
    assert codes(reports[closed]) == codes(reports[document.uri]) == ["unknown-value"]
    # What a client was told of before is taken back.
    alone.notify("workspace/didChangeConfiguration", {"settings": scoped("openFiles")})
    now = workspace(alone, {uri: each["resultId"] for uri, each in reports.items()})
    assert {uri for uri, each in now.items() if each.get("items") == []} == reports.keys() - {
        document.uri
    }


def scoped(scope: str) -> dict[str, Any]:
    return {"diagnostics": {"scope": scope}}


def test_a_client_that_does_not_ask_is_not_offered_it(client: RawClient, alone: RawClient) -> None:
    assert "diagnosticProvider" not in alone.initialize({"textDocument": {}})["capabilities"]
    document = Document(client, REJECTED)
    asked = client.request("textDocument/diagnostic", document.identifier)
    assert asked["items"] == document.diagnostics()


def test_what_the_client_knows_is_not_sent_again(alone: RawClient) -> None:
    alone.initialize(PULLS)
    document = Asking(alone, REJECTED)
    first = document.report()
    assert document.report(first["resultId"]) == {
        "kind": "unchanged",
        "resultId": first["resultId"],
    }
    assert document.report("unheard of") == first
    # Nothing about the finding changes; then it moves.
    document.edit((len(document.text), len(document.text), triage()))
    assert document.report(first["resultId"])["kind"] == "unchanged"
    document.edit((0, 0, triage()))
    moved = document.report(first["resultId"])
    assert moved["kind"] == "full"
    assert moved["items"][0]["range"]["start"]["line"] == 1
    # What it was before is known by its old name again.
    document.edit((0, len(triage()), ""))
    assert document.report(first["resultId"])["kind"] == "unchanged"


def test_traces_of_the_workspace_that_are_not_open(alone: RawClient, tmp_path: Path) -> None:
    bad = write(tmp_path / "a" / "trace.jsonl", REJECTED).as_uri()
    good = write(tmp_path / "wip" / "drive-trace" / "x.jsonl", CLEAN).as_uri()
    write(tmp_path / "other.jsonl", REJECTED)
    write(tmp_path / "node_modules" / "trace.jsonl", REJECTED)
    alone.initialize(PULLS, **ALL_TRACES, **folder(tmp_path))
    reports = workspace(alone)
    assert {uri: codes(report) for uri, report in reports.items()} == {
        bad: ["unknown-value"],
        good: [],
    }
    assert [report["version"] for report in reports.values()] == [None, None]
    (finding,) = reports[bad]["items"]
    assert finding["range"] == range_of(REJECTED, PASSED)
    # One file alone is as in the whole.
    alone_asked = alone.request("textDocument/diagnostic", {"textDocument": {"uri": bad}})
    assert alone_asked["items"] == reports[bad]["items"]

    known = {uri: report["resultId"] for uri, report in reports.items()}
    assert [each["kind"] for each in workspace(alone, known).values()] == ["unchanged"] * 2
    # Files change, and go.
    Path(tmp_path / "wip" / "drive-trace" / "x.jsonl").write_text("{\n", encoding="utf-8")
    Path(tmp_path / "a" / "trace.jsonl").unlink()
    after = workspace(alone, known)
    assert codes(after[good]) == ["invalid-json"]
    assert codes(after[bad]) == []


def test_the_open_text_counts_not_the_file(alone: RawClient, tmp_path: Path) -> None:
    uri = write(tmp_path / "trace.jsonl", REJECTED).as_uri()
    alone.initialize(PULLS, **ALL_TRACES, rootUri=tmp_path.as_uri())
    document = Asking(alone, CLEAN, uri=uri.replace("trace", "%74race"))
    (report,) = workspace(alone).values()
    assert (report["uri"], report["version"], codes(report)) == (document.uri, 1, [])
    alone.notify("textDocument/didClose", document.identifier)
    reports = workspace(alone, {document.uri: report["resultId"]})
    assert {each: codes(said) for each, said in reports.items()} == {
        document.uri: ["unknown-value"]
    }


def test_files_that_cannot_be_read_are_left_out(alone: RawClient, tmp_path: Path) -> None:
    (tmp_path / "trace.jsonl").write_bytes(b"\xff\xfe")
    (tmp_path / "b" / "trace.jsonl").mkdir(parents=True)
    good = write(tmp_path / "c" / "trace.jsonl", REJECTED).as_uri()
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "trace.jsonl").symlink_to(tmp_path / "c" / "trace.jsonl")
    alone.initialize(PULLS, **ALL_TRACES, **folder(tmp_path))
    assert list(workspace(alone)) == [good]


def test_folders_that_are_not_there(alone: RawClient, tmp_path: Path) -> None:
    folders = [(tmp_path / "gone").as_uri(), "untitled:x", "vscode-remote://host/x"]
    folders += ["file://", "file:///%00", "file:///\ud800/x", "file://[x", "file:///" + "x" * 5000]
    given = [{"uri": uri, "name": "x"} for uri in folders]
    alone.initialize(PULLS, **ALL_TRACES, workspaceFolders=given)
    assert workspace(alone) == {}
    uri = write(tmp_path / "later" / "trace.jsonl", REJECTED).as_uri()
    added = {"uri": (tmp_path / "later").as_uri(), "name": "later"}
    change = {"event": {"added": [added], "removed": given}}
    alone.notify("workspace/didChangeWorkspaceFolders", change)
    assert list(workspace(alone)) == [uri]
    change = {"event": {"added": [], "removed": [added]}}
    alone.notify("workspace/didChangeWorkspaceFolders", change)
    assert workspace(alone) == {}


def test_links_that_go_in_circles(alone: RawClient, tmp_path: Path) -> None:
    good = write(tmp_path / "c" / "trace.jsonl", REJECTED).as_uri()
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "trace.jsonl").symlink_to("trace.jsonl")
    alone.initialize(PULLS, **ALL_TRACES, **folder(tmp_path))
    loop = (tmp_path / "a" / "trace.jsonl").as_uri()
    Asking(alone, CLEAN, uri=loop)
    assert list(workspace(alone, {loop.replace("/a/", "/b/"): "x"})) == [
        loop,
        good,
        loop.replace("/a/", "/b/"),
    ]
    alone.notify("textDocument/didClose", {"textDocument": {"uri": loop}})
    assert codes(alone.request("textDocument/diagnostic", {"textDocument": {"uri": loop}})) == []


@pytest.mark.parametrize("path", ["a\0b", "\ud800x", "-", "relative", "/dev/zero", ""])
def test_roots_that_are_none(path: str, alone: RawClient) -> None:
    alone.initialize(PULLS, **ALL_TRACES, rootPath=path)
    assert workspace(alone) == {}


@not_on_windows(NO_FIFOS)
def test_a_root_that_never_ends(alone: RawClient, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    os.mkfifo(tmp_path / "trace.jsonl")
    given = [{"uri": (tmp_path / name).as_uri(), "name": name} for name in ("pipe", "")]
    alone.initialize(PULLS, **ALL_TRACES, workspaceFolders=given)
    assert workspace(alone) == {}
    assert alone.shutdown() == 0


def test_a_folder_that_is_renamed_stays(alone: RawClient, tmp_path: Path) -> None:
    uri = write(tmp_path / "trace.jsonl", REJECTED).as_uri()
    alone.initialize(PULLS, **ALL_TRACES, **folder(tmp_path))
    same = {"uri": tmp_path.as_uri(), "name": "x"}
    change = {"event": {"added": [same], "removed": [same]}}
    alone.notify("workspace/didChangeWorkspaceFolders", change)
    assert list(workspace(alone)) == [uri]


def test_a_trace_that_is_opened_during_a_scan(alone: RawClient, tmp_path: Path) -> None:
    """What is on disk counts no more, although the scan began before."""
    for number in range(20):
        write(tmp_path / f"{number:02}" / "trace.jsonl", triage() * 3000)
    last = write(tmp_path / "zz" / "trace.jsonl", REJECTED).as_uri()
    alone.initialize(PULLS, **ALL_TRACES, **folder(tmp_path))
    params = {"previousResultIds": [], "partialResultToken": "part"}
    request = alone.start_request("workspace/diagnostic", params)
    alone.notification("$/progress")
    assert Asking(alone, CLEAN, uri=last).diagnostics() == []
    alone.response(request)
    parts = alone.received("$/progress")
    assert len(parts) > 1
    reports = [report for part in parts for report in part["value"]["items"]]
    assert len(reports) == 20
    assert last not in {report["uri"] for report in reports}


def test_a_change_of_settings_has_the_client_ask_again(alone: RawClient) -> None:
    declared = {"diagnostic": {}, "publishDiagnostics": {"codeDescriptionSupport": True}}
    refreshes = {"diagnostics": {"refreshSupport": True}}
    alone.initialize({"textDocument": declared, "workspace": refreshes})
    document = Asking(alone, REJECTED)
    first = document.report()
    settings = {"settings": {"driveTrace": {"ruleUrl": "https://example.org/{code}"}}}
    alone.notify("workspace/didChangeConfiguration", settings)
    (finding,) = document.report(first["resultId"])["items"]
    assert finding["codeDescription"] == {"href": "https://example.org/unknown-value"}
    assert [each["method"] for each in alone.requests] == ["workspace/diagnostic/refresh"]


def test_a_scan_that_is_cancelled_stops(alone: RawClient, tmp_path: Path) -> None:
    for number in range(40):
        write(tmp_path / str(number) / "trace.jsonl", triage() * 3000)
    alone.initialize(PULLS, **ALL_TRACES, **folder(tmp_path))
    params = {"previousResultIds": [], "partialResultToken": 7}
    request = alone.start_request("workspace/diagnostic", params)
    alone.notification("$/progress")
    alone.notify("$/cancelRequest", {"id": request})
    assert refused(alone, request) == -32800
    before = alone.received("$/progress")
    assert sum(len(part["value"]["items"]) for part in before) < 40
    assert codes(alone.request("textDocument/diagnostic", {"textDocument": {"uri": "x:"}})) == []
    assert alone.received("$/progress") == before
