"""Stories of three editors, each with its own capabilities and position encoding."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from lsprotocol.converters import get_converter
from pytest_lsp.checks import check_result_against_client_capabilities

from tests.support.client_text import (
    apart,
    apply_edits,
    event,
    graded,
    path_of,
    position,
    range_of,
    tokens,
    triage,
)
from tests.support.command import SERVE
from tests.support.editor import Document
from tests.support.presets import PRESETS, Preset
from tests.support.raw_client import RawClient

pytestmark = pytest.mark.filterwarnings("error::pytest_lsp.LspSpecificationWarning")

ODD = "\u2028\x85 🚀 日本"
PASSED = '"passed"'
NAMED = {"dispatch_name": "🚀 implementer", "subagent_type": "implementer", "model": None}
STARTED = event("dispatch-start", dispatch_id="d-🚀", **NAMED, parent_dispatch_id=None)
_numbers = count(1)
_types = get_converter()


class Editor:
    """An editor with a project, at the other end of two pipes."""

    offered: Any
    """What the server said that it can do."""

    def __init__(self, preset: Preset, folder: Path) -> None:
        self.preset, self.folder, self.settings = preset, folder, dict[str, Any]()
        self.asks = preset.can("textDocument", "diagnostic") is not None
        """Whether it asks for diagnostics, instead of waiting for them."""
        home = {"HOME": str(folder / "home"), "DRIVE_TRACE_CACHE": str(folder / "home")}
        asked = {"workspace/configuration": self._configured}
        self.client = RawClient(SERVE, handlers=asked, env={**os.environ, **home})

    def _configured(self, params: Any) -> list[Any]:
        return [self.settings.get(each["section"]) for each in params["items"]]

    def open(self, text: str, *, in_project: bool = False) -> Trace:
        root = f"{self.folder.as_uri()}/projects/shop" if in_project else "file:///traces"
        return Trace(self, text, f"{root}/slices/{next(_numbers)}/trace.jsonl")

    def is_told_to_ask_again(self, what: str) -> bool:
        """Wait for that."""
        method = f"workspace/{what}/refresh"
        sent = self.client.requests
        return bool(
            self.client.wait_for(lambda: any(x["method"] == method for x in sent) or None, what)
        )


class Trace(Document):
    """A trace that is open in an editor."""

    def __init__(self, editor: Editor, text: str, uri: str) -> None:
        self.editor = editor
        super().__init__(editor.client, text, editor.preset.encoding, uri=uri)

    def diagnostics(self) -> list[Any]:
        if not self.editor.asks:
            return super().diagnostics()
        return list(self.ask("diagnostic")["items"])

    def ask(self, method: str, **params: Any) -> Any:
        """The result of a request about it, which the editor has to be able to read."""
        method = f"textDocument/{method}"
        result = self.client.request(method, {**self.identifier, **params})
        self.check(method, result)
        return result

    def check(self, method: str, result: Any) -> None:
        declared = _types.structure(self.editor.preset.declared, types.ClientCapabilities)
        kinds = {
            "textDocument/completion": types.CompletionList,
            "completionItem/resolve": types.CompletionItem,
            "textDocument/documentLink": list[types.DocumentLink],
        }
        if method in kinds and result is not None:
            read = _types.structure(result, kinds[method])
            check_result_against_client_capabilities(declared, method, read)

    def applied(self, action: Any) -> str:
        """The text after an action, whose edit has the shape that the editor understands."""
        shape = self.editor.preset.can("workspace", "workspaceEdit", "documentChanges")
        assert ("documentChanges" in action["edit"]) == bool(shape)
        return super().applied(action)

    def changed(self, edits: Any) -> str:
        """The text after edits, as a list or in a workspace edit."""
        if isinstance(edits, dict):
            return self.applied({"edit": edits})
        return apply_edits(self.text, edits, self.encoding)

    def offered(self, where: Any, kind: str) -> dict[str, Any]:
        """The code actions of a kind, by their titles, resolved where they are made when picked."""
        context = {"diagnostics": [], "only": [kind]}
        found = {}
        for each in self.ask("codeAction", range=where, context=context):
            is_made_later = "edit" not in each and "disabled" not in each and "data" in each
            made = self.client.request("codeAction/resolve", each) if is_made_later else each
            found[each["title"]] = made
        return found


@pytest.fixture(params=PRESETS, ids=[each.name for each in PRESETS], scope="module")
def editor(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Editor]:
    folder = tmp_path_factory.mktemp(request.param.name).resolve()
    (folder / "projects/shop").mkdir(parents=True)
    (folder / "projects/shop/spec.md").write_text("# Shop", encoding="utf-8")
    editor = Editor(request.param, folder)
    with editor.client as client:
        folders = [{"uri": folder.as_uri(), "name": "project"}]
        offered = client.initialize(editor.preset.declared, workspaceFolders=folders)[
            "capabilities"
        ]
        assert offered["positionEncoding"] == editor.preset.encoding
        assert ("diagnosticProvider" in offered) == editor.asks
        assert offered["completionProvider"]["resolveProvider"]
        assert set(offered["completionProvider"]["triggerCharacters"]) >= set('"{:,')
        assert offered["inlayHintProvider"]
        editor.offered = offered
        yield editor
        assert client.received("window/logMessage") == []
        assert not (editor.asks and client.received("textDocument/publishDiagnostics"))
        assert client.shutdown() == 0


def test_a_mistake_is_shown_and_fixed_and_the_verdict_moves(editor: Editor) -> None:
    rejected = graded("pass", "passed", "pass", orchestrator_agent_id=ODD)
    text = apart(triage(input_ref=ODD) + tokens(1_900_000, 42_000, None, None) + rejected)
    trace = editor.open(text)
    (found,) = trace.diagnostics()
    assert found["range"] == trace.range_of(PASSED)
    assert (found["code"], found["source"], found["severity"]) == (
        "unknown-value",
        "drive-trace",
        1,
    )
    links = editor.preset.can("textDocument", "publishDiagnostics", "codeDescriptionSupport")
    assert ("codeDescription" in found) == bool(links)
    assert not links or found["codeDescription"]["href"].endswith("/unknown-value.md")
    assert trace.hover(PASSED)["range"] == trace.range_of(PASSED)
    ungraded = "**not computable — missing: external correctness signal**"
    assert trace.hover_text(PASSED).startswith(ungraded)
    assert trace.lenses() == [
        (
            0,
            "not computable: not graded · 1 rejected"
            " · 1 correctness line rejected (line 3), not counted",
        ),
        (2, "rejected, not counted"),
    ]
    (action,) = trace.actions(PASSED)
    assert (action["title"], action["isPreferred"]) == ('Replace with "pass"', False)
    assert trace.applied(action) == text.replace(PASSED, '"pass"')
    # The verdict moves with the text, and the editor is told when it can be told.
    assert trace.replace(PASSED, '"fail"') == []
    if editor.preset.can("workspace", "codeLens", "refreshSupport"):
        assert editor.is_told_to_ask_again("codeLens")
    failed = "INCORRECT — qa failed"
    assert [title for _, title in trace.lenses()] == [failed, f"decides: {failed}"]
    assert trace.hover_text('"fail"').startswith(f"**{failed}**")
    assert trace.replace('"fail"', '"pass"') == []
    correct = ["CORRECT · 1.9M in · 42k out", "decides: CORRECT"]
    assert [title for _, title in trace.lenses()] == correct
    trace.client.notify("textDocument/didClose", trace.identifier)
    if editor.asks:
        assert trace.diagnostics() == []
    else:
        about = lambda said: said["uri"] == trace.uri and "version" not in said  # noqa: E731
        gone = trace.client.notification("textDocument/publishDiagnostics", about)
        assert gone["diagnostics"] == []


def completed(editor: Editor, text: str, behind: str = "") -> dict[str, tuple[Any, str]]:
    """What is offered behind a text, by label: each item, and what the whole text is with it."""
    trace = editor.open(text + behind, in_project=True)
    found = trace.ask("completion", position=position(trace.text, len(text), trace.encoding))
    assert not found["isIncomplete"]
    made = {}
    for item in found["items"]:
        edit = dict(item["textEdit"])
        if item.get("insertTextFormat") == types.InsertTextFormat.Snippet:
            edit["newText"] = first_choices(edit["newText"])
        made[item["label"]] = (item, trace.changed([edit]))
    return made


def first_choices(snippet: str) -> str:
    """What a snippet says when all that it offers is taken."""
    chosen = re.sub(r"\$\{\d+\|([^,|]*)[^|]*\|\}", r"\1", snippet)
    return re.sub(r"\$\d+", "", re.sub(r"\$\{\d+:([^}]*)\}", r"\1", chosen))


def test_a_trace_is_written(editor: Editor) -> None:
    hour_ago = (datetime.now(UTC) - timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M:%S.000Z")
    begun = STARTED.replace("2026-05-28T14:00:00.000Z", hour_ago)
    offered = completed(editor, begun + "{", "}")
    assert [*offered][:2] == ["round-start", "dispatch-end"]
    item, text = offered["round-start"]
    note = item.get("labelDetails", {}).get("description") or item["detail"]
    assert re.fullmatch(r"🚀 implementer, open since (\S+ )?\d\d:\d\d", note)
    written = json.loads(text.removeprefix(begun))
    assert (written["dispatch_id"], written["round_number"]) == ("d-🚀", 1)
    assert (written["project_run_id"], written["orchestrator_agent_id"]) == ("run-1", None)
    assert len({written["event_id"], written["round_id"]}) == 2
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", written["ts"])
    resolved = editor.client.request("completionItem/resolve", item)
    editor.open("").check("completionItem/resolve", resolved)
    assert "One round of a dispatch begins" in str(resolved["documentation"])

    ended = json.loads(completed(editor, begun)["dispatch-end"][1].removeprefix(begun))
    assert ended["wall_clock_ms"] > 0
    snippets = editor.preset.can("textDocument", "completion", "completionItem", "snippetSupport")
    assert ended["result"] == ("completed" if snippets else "")

    typed = begun + '{"note":"🚀 日本","event_type":"dispatch-end","result":"comp'
    assert completed(editor, typed, '"}\n')["completed"][1] == typed + 'leted"}\n'

    assert next(iter(completed(editor, ""))) == "project-started"
    broken = completed(editor, 'not JSON\n{"event_type":"slice-started",')
    assert [*broken][:2] == ["event_id", "all 8 missing fields"]
    assert completed(editor, '{"event_type":"slice-started"}') == {}


def test_a_trace_is_read(editor: Editor) -> None:
    claimed = {"dispatch_id": "d-🚀", "result": "completed", "wall_clock_ms": 3_600_000}
    ended = event("dispatch-end", ts="2026-05-28T14:28:00.000Z", **claimed)
    figures = tokens(1_900_000, 42_000, None, None)
    trace = editor.open(apart(STARTED + ended + figures + '{"event_type":"round-end",'))
    whole = {"start": {"line": 0, "character": 0}, "end": {"line": 4, "character": 0}}
    hints = trace.ask("inlayHint", range=whole)
    shown = [(hint["label"], hint["position"]["line"]) for hint in hints]
    assert shown == [("1h · clock says 28m", 1), ("1.9M", 2), ("42k", 2)]
    assert hints[0]["position"] == trace.range_of("3600000")["end"]
    if editor.preset.can("textDocument", "inlayHint", "resolveSupport") is None:
        assert "data" not in hints[0]
    else:
        assert editor.client.request("inlayHint/resolve", hints[0])["tooltip"] == (
            "= 3,600,000 milliseconds · 1h\n\n"
            "The clock says 28m, from line 1 to this line: 32m less."
        )
    data = trace.ask("semanticTokens/full")["data"]
    assert data == trace.ask("semanticTokens/range", range=whole)["data"]
    assert len(data) > 5 * 60
    known = editor.preset.can("textDocument", "semanticTokens", "tokenTypes")
    if known is not None:
        names = editor.offered["semanticTokensProvider"]["legend"]["tokenTypes"]
        assert {names[kind] for kind in data[3::5]} <= {*known}
    hover = trace.hover("3600000")
    assert hover["range"] == trace.range_of("3600000")
    is_markdown = hover["contents"]["kind"] == "markdown"
    clock, first = ("**28m**", f"[line 1]({trace.uri}#L1)") if is_markdown else ("28m", "line 1")
    assert f"The clock says {clock}, from {first} to this line: 32m less." in str(hover)


def test_a_trace_is_changed(editor: Editor) -> None:
    named = {"slice_slug": "retry", "slice_index": 1}
    start = event("slice-started", **named, linear_ref=ODD)
    end = event("slice-completed", **named, dod_status="partial", pr_ref=None)
    spaced = start.replace('":', '": ').replace(',"', ', "')
    trace = editor.open(spaced + end + "{broken\n")
    options = {"tabSize": 2, "insertSpaces": True}
    first_line = {"start": {"line": 0, "character": 0}, "end": {"line": 1, "character": 0}}
    for edits in (
        trace.ask("formatting", options=options),
        trace.ask("rangeFormatting", options=options, range=first_line),
    ):
        first, second, *others = trace.changed(edits).split("\n")
        assert (json.loads(first), len(first)) == (json.loads(spaced), len(start) - 1)
        assert (json.loads(second), others) == (json.loads(end), ["{broken", ""])

    trace = editor.open(start + end)
    at = position(trace.text, trace.text.index('"retry"') + 1, trace.encoding)
    assert trace.ask("prepareRename", position=at) is not None
    renamed = trace.changed(trace.ask("rename", position=at, newName="retry-queue"))
    assert renamed == trace.text.replace('"retry"', '"retry-queue"')

    torn = editor.open(start.removesuffix("}\n") + ",}\n")
    (fix_all,) = torn.offered(first_line, "source.fixAll").values()
    assert torn.applied(fix_all) == start

    trace = editor.open(start + graded("pass", "pass", None))
    grades = trace.offered(trace.range_of('"intent":null'), "refactor.driveTrace.record")
    text = trace.applied(grades["Record intent: pass → CORRECT"])
    added = json.loads(text.removeprefix(trace.text))
    assert [added[name] for name in ("mechanical", "qa", "intent")] == ["pass"] * 3
    assert text.endswith("}\n")


SPEC = "projects/checkout/spec.md"
COUNTS = {"byte_length": 1, "edge_cases_count": None, "open_questions_count": 0}
ROUND = {"dispatch_id": "d-🚀", "round_id": "r-1"}
LINES = (
    event("spec-authored", spec_path=SPEC, spec_kind="project", **COUNTS, dod_items_count=1),
    event("slice-started", slice_slug="retry", slice_index=1, linear_ref="SHOP-214"),
    STARTED,
    event("round-start", **ROUND, round_number=1),
    event("round-end", **ROUND, verdict="satisfied", findings_filed=0, wall_clock_ms=0),
    event("dispatch-end", dispatch_id="d-🚀", result="finished", wall_clock_ms=0),
)


def inside(trace: Trace, line: int, token: str) -> dict[str, int]:
    """Inside a token of a line, which stands there once."""
    where = range_of(LINES[line], token, trace.encoding)["start"]
    return {"line": line, "character": where["character"] + 1}


def target(found: Any) -> tuple[str, int]:
    """Where the one definition leads: as a link, or as a location."""
    (only,) = found
    uri = only.get("targetUri") or only["uri"]
    return uri, (only.get("targetSelectionRange") or only["range"])["start"]["line"]


def test_ids_lead_through_a_trace_and_its_structure_is_shown(editor: Editor) -> None:
    trace = editor.open("".join(LINES))
    at = inside(trace, 5, '"d-')
    found = trace.ask("definition", position=at)
    assert target(found) == (trace.uri, 2)
    links = editor.preset.can("textDocument", "definition", "linkSupport")
    assert ("targetRange" in found[0]) == bool(links)
    named = trace.ask("references", position=at, context={"includeDeclaration": False})
    assert [each["range"]["start"]["line"] for each in named] == [3, 4, 5]
    lit = trace.ask("documentHighlight", position=at)
    shown = [(each["range"]["start"]["line"], each["kind"]) for each in lit]
    write, read = types.DocumentHighlightKind.Write, types.DocumentHighlightKind.Read
    assert shown == [(2, write), (3, read), (4, read), (5, write)]

    symbols = trace.ask("documentSymbol")
    tree = ("textDocument", "documentSymbol", "hierarchicalDocumentSymbolSupport")
    if editor.preset.can(*tree):
        (run,) = symbols
        names = [each["name"] for each in run["children"]]
        assert names == ["spec-authored · checkout/spec.md", "retry · not ended"]
    else:
        assert [each["name"] for each in symbols][2:5] == [
            "retry · not ended",
            "🚀 implementer · its end is rejected",
            "Round 1 · 0ms · satisfied",
        ]
    folds = [(each["startLine"], each["endLine"]) for each in trace.ask("foldingRange")]
    assert folds == [(1, 5), (2, 5), (3, 4)]
    (step,) = trace.ask("selectionRange", positions=[inside(trace, 4, '"satisfied"')])
    lines = []
    while step is not None:
        lines.append((step["range"]["start"]["line"], step["range"]["end"]["line"]))
        step = step.get("parent")
    assert lines == [(4, 4)] * 4 + [(3, 4), (2, 5), (1, 5), (0, 5), (0, 6)]


def test_paths_are_followed_into_the_workspace(editor: Editor) -> None:
    editor.settings["driveTrace"] = {"links": {"ticketUrl": "https://linear.app/issue/{ref}"}}
    told = {"settings": {"driveTrace": editor.settings["driveTrace"]}}
    editor.client.notify("workspace/didChangeConfiguration", told)
    trace = editor.open("".join(LINES))
    links: list[Any] = []
    while not links:  # the server may ask for the settings first
        links = trace.ask("documentLink")
    at = inside(trace, 0, f'"{SPEC}')
    # Without a file, a path leads to the event that wrote it.
    assert target(trace.ask("definition", position=at)) == (trace.uri, 0)
    spec = editor.folder / SPEC
    spec.parent.mkdir()
    spec.write_text("# Checkout", encoding="utf-8")
    file, ticket = trace.ask("documentLink")
    assert [each["target"] for each in links] == [ticket["target"]]
    assert ticket["target"] == "https://linear.app/issue/SHOP-214"
    assert file["range"] == trace.range_of(SPEC)
    assert path_of(file["target"]) == spec
    assert target(trace.ask("definition", position=at)) == (file["target"], 0)
