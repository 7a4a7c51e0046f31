"""Requests about a document, each answer held against what the feature gives of its text."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from lsprotocol import types
from lsprotocol.converters import get_converter
from msgspec.structs import astuple

from drive_trace.analysis import Analysis
from drive_trace.authoring.drafts import Stamp
from drive_trace.features.completion import completion
from drive_trace.features.events import event_json, page_json
from drive_trace.features.findings import format_document, format_range
from drive_trace.features.hover import hover, inlay_hints
from drive_trace.features.navigation import (
    begins_run,
    definition,
    document_highlights,
    leading,
    names_in,
    prepare_rename,
    references,
    rename,
)
from drive_trace.features.referents import HoverOptions
from drive_trace.features.results import CannotMake, JsonText, View, point_at, range_of
from drive_trace.features.semantic_tokens import TokenLook, tokens
from drive_trace.features.structure import (
    document_symbols,
    folding_ranges,
    outline,
    selection_range,
)
from drive_trace.lsp.rpc.capabilities import read_client
from drive_trace.storage.linked_files import rule_url
from drive_trace.text.spans import PositionEncoding
from drive_trace.trace.occurrences import named_at
from tests.support.fixtures import fixes_in
from tests.support.others import hover_alone, name_alone
from tests.support.sessions.conversation import FAILED, MODIFIED, OK
from tests.support.sessions.model import folder_of
from tests.support.sessions.places import place, uri_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from drive_trace.lsp.rpc.capabilities import Client
    from drive_trace.trace.document import Point
    from tests.support.sessions.conversation import Conversation

PLAIN = get_converter()
NEW_NAME = "new 🚀"
_STAMP = Stamp(
    "11111111-2222-4333-8444-555555555555",
    "2026-05-28T15:00:00.000Z",
    "66666666-7777-4888-8999-aaaaaaaaaaaa",
)


@dataclass(frozen=True)
class _Asked:
    """What an answer is to be about."""

    analysis: Analysis
    client: Client
    uri: str
    at: types.Position
    where: types.Range
    on_disk: str | None

    @property
    def view(self) -> View:
        return View(self.analysis, self.client.encoding)

    @property
    def point(self) -> Point:
        return point_at(self.view, self.at)


def _same(wanted: Callable[[_Asked], Any]) -> Callable[[_Asked, Any], None]:
    """The answer is this, as JSON."""

    def check(asked: _Asked, result: Any) -> None:
        made = wanted(asked)
        text = made.text if isinstance(made, JsonText) else json.dumps(PLAIN.unstructure(made))
        assert result == json.loads(text)

    return check


def _same_at_last(wanted: Callable[[_Asked], Any]) -> Callable[[_Asked, Any], None]:
    """The same, once all other traces of its runs have been read."""
    check = _same(wanted)

    def check_at_last(asked: _Asked, result: Any) -> None:
        check(asked, json.loads(name_alone(json.dumps(result, ensure_ascii=False))))

    return check_at_last


def _check_hover(asked: _Asked, result: Any) -> None:
    options = HoverOptions(uri=asked.uri, now=datetime.now(UTC), url_of=rule_url)
    if result is not None:
        result["contents"]["value"] = hover_alone(result["contents"]["value"])
    wanted = hover(asked.view, asked.point, asked.client.hover_format, options)
    assert result == PLAIN.unstructure(wanted)


def _check_definition(asked: _Asked, result: Any) -> None:
    found = leading(asked.analysis, asked.point)
    if found is None:
        assert result is None
        return
    named, span = found
    is_link = asked.client.reads_location_links
    origin = range_of(asked.view, asked.point.record, span) if is_link else None
    own = definition(asked.view, named, asked.uri, origin)
    if begins_run(asked.analysis, asked.point):
        others = [each for each in result if _leads_to(each) != asked.uri]
        assert not others or others == result
        result = own if others else result
    assert PLAIN.unstructure(result) == PLAIN.unstructure(own)


def _leads_to(each: Any) -> Any:
    return each.get("targetUri") or each["uri"]


def _check_references(asked: _Asked, result: Any) -> None:
    found = named_at(asked.analysis.document.lines[asked.point.record], asked.point.offset)
    if found is None:
        assert result is None
        return
    own = json.loads(references(asked.view, found[0], asked.uri, with_declarations=True).text)
    assert result[: len(own)] == own
    assert all(_leads_to(each) != asked.uri for each in result[len(own) :])


def _check_completion(asked: _Asked, result: Any) -> None:
    """Each moment has other ids and times."""
    able = asked.client.completion
    wanted = completion(asked.view, asked.point, client=able, stamp=_STAMP)
    labels = [each["label"] for each in result["items"]]
    missing = {item.label for item in wanted.items}.difference(labels)
    assert not {each for each in missing if each.strip('"') not in astuple(_STAMP)}, (
        missing,
        labels,
    )


def _check_renamed(asked: _Asked, result: Any) -> None:
    made = rename(asked.view, asked.point, NEW_NAME)
    assert not isinstance(made, CannotMake)
    edits = json.loads(made.text)
    if asked.client.reads_document_changes:
        (change,) = result["documentChanges"]
        assert (change["textDocument"]["uri"], change["edits"]) == (asked.uri, edits)
    else:
        assert result == {"changes": {asked.uri: edits}}


def _check_links(asked: _Asked, result: Any) -> None:
    """Where they lead depends on the workspace; that they stand on strings does not."""
    for each in result:
        start = point_at(asked.view, types.Position(**each["range"]["start"]))
        text = asked.analysis.document.lines[start.record].text
        assert text[start.offset - 1] == '"'


def _check_event(asked: _Asked, result: Any) -> None:
    at = point_at(asked.view, types.Position(asked.at.line, 0))
    assert result == json.loads(json.dumps(event_json(asked.analysis, at.record)))


def _check_saving(asked: _Asked, result: Any) -> None:
    """Nobody else writes to the traces of a session, but a client may have read the start of one:
    then it is given what stands behind that, and nothing that it has goes.
    """
    for edit in result or ():
        assert edit["range"]["start"] == edit["range"]["end"]
        assert set(edit["newText"].split("\n")) <= {"", *(asked.on_disk or "").split("\n")}


_OPTIONS = {"options": {"tabSize": 2, "insertSpaces": True}}
_METHODS: dict[str, tuple[Callable[[_Asked, Any], None], dict[str, Any], Any]] = {
    "textDocument/hover": (_check_hover, {}, None),
    "textDocument/inlayHint": (_same(lambda a: inlay_hints(a.view, a.where)), {}, []),
    "textDocument/semanticTokens/full": (
        _same(lambda a: tokens(a.analysis, TokenLook(a.client.encoding))),
        {},
        None,
    ),
    "textDocument/definition": (_check_definition, {}, None),
    "textDocument/references": (_check_references, {"context": {"includeDeclaration": True}}, None),
    "textDocument/documentHighlight": (
        _same(lambda a: document_highlights(a.view, a.point)),
        {},
        None,
    ),
    "textDocument/documentSymbol": (
        _same_at_last(
            lambda a: document_symbols(a.view, outline(a.analysis), a.uri, a.client.symbols)
        ),
        {},
        [],
    ),
    "textDocument/foldingRange": (
        _same_at_last(lambda a: folding_ranges(a.analysis, outline(a.analysis), a.client.folding)),
        {},
        [],
    ),
    "textDocument/selectionRange": (
        _same(lambda a: [selection_range(a.view, outline(a.analysis), a.point)]),
        {},
        [],
    ),
    "textDocument/documentLink": (_check_links, {}, []),
    "textDocument/completion": (_check_completion, {}, None),
    "textDocument/prepareRename": (_same(lambda a: prepare_rename(a.view, a.point)), {}, None),
    "textDocument/rename": (_check_renamed, {"newName": NEW_NAME}, None),
    "textDocument/formatting": (_same(lambda a: format_document(a.view)), _OPTIONS, []),
    "textDocument/rangeFormatting": (_same(lambda a: format_range(a.view, a.where)), _OPTIONS, []),
    "textDocument/willSaveWaitUntil": (_check_saving, {"reason": 1}, None),
    "driveTrace/events": (_same(lambda a: page_json(a.analysis, 0)), {"first": 0}, None),
    "driveTrace/event": (_check_event, {}, None),
}
"""How each answer is checked, what is asked beside the place, and the answer where nothing is
open.
"""
ASKED = sorted(_METHODS)
_ERRORS = {"textDocument/rename": {FAILED, MODIFIED}, "textDocument/hover": set()}
_ERRORS |= {"textDocument/inlayHint": set()}


def ask(
    conversation: Conversation, method: str, uri: int, places: tuple[int, int], message_id: Any
) -> None:
    """One of the requests about a place, a range or all of a document."""
    name, world = uri_of(conversation, uri), conversation.world
    check_answer, more, of_nothing = _METHODS[method]
    start, end = (place(conversation, name, each) for each in places)
    buffer = conversation.buffer(name)
    text = buffer.text if buffer else None

    def check(result: Any) -> None:
        now = conversation.buffer(name)
        if method == "driveTrace/events" and (now.text if now else None) != text:
            return  # then it may be of the text as it is now
        if text is None:
            assert result == of_nothing
            return
        where = PLAIN.structure({"start": start, "end": end}, types.Range)
        client = read_client({"capabilities": world.client.capabilities()})
        analysis = Analysis(text, path=None if method in _OF_NO_PATH else unquote(name))
        on_disk = world.disk.get(name)
        check_answer(_Asked(analysis, client, name, where.start, where, on_disk), result)

    params = {
        "textDocument": {"uri": name},
        "position": start,
        "positions": [start],
        "range": {"start": start, "end": end},
        "uri": name,
        "line": start["line"],
        **more,
    }
    codes = {OK, *_ERRORS.get(method, {MODIFIED})}
    conversation.ask(method, params, message_id=message_id, codes=codes, check=check)


_OF_NO_PATH = ("textDocument/hover", "textDocument/inlayHint", "textDocument/semanticTokens/full")


def find_names(conversation: Conversation, query: str) -> None:
    """The workspace's symbols, and where they are."""
    conversation.settle()
    world = conversation.world
    wanted = [
        (uri, named.name)
        for uri in world.disk
        if folder_of(uri) in world.folders and (text := world.state(uri).text) is not None
        for named in names_in(Analysis(text), uri, query)
    ]
    found = conversation.result("workspace/symbol", {"query": query})
    if conversation.phase != "ready":
        return
    names = [(each["location"]["uri"], each["name"]) for each in found]
    assert sorted(each for each in names if each[0] in world.disk) == sorted(wanted)
    assert all(each["location"]["range"] for each in found)


def check_fixes(conversation: Conversation, uri: str, params: Any, actions: list[Any]) -> None:
    """The quick fixes come first, as a fresh look at the text has them."""
    client, buffer = conversation.world.client, conversation.buffer(uri)
    assert buffer is not None
    fixes = fixes_in(
        View(Analysis(buffer.text), PositionEncoding(client.encoding)),
        types.OptionalVersionedTextDocumentIdentifier(uri, buffer.version),
        PLAIN.structure(params, types.CodeActionParams),
        with_document_changes=client.document_changes,
    )
    assert actions[: len(fixes)] == PLAIN.unstructure(fixes)
