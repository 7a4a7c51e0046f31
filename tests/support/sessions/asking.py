"""Task that ask about a document, each answer held against what the feature gives of its text."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from hypothesis import strategies as st
from lsprotocol import types
from lsprotocol.converters import get_converter

from drive_trace.analysis import Analysis
from drive_trace.authoring.drafts import Stamp
from drive_trace.features.completion import completion
from drive_trace.features.events import event_json, page_json
from drive_trace.features.findings import format_document, format_range
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
from drive_trace.features.results import CannotMake, View, point_at, range_of
from drive_trace.features.structure import (
    document_symbols,
    folding_ranges,
    outline,
    selection_range,
)
from drive_trace.lsp.rpc.capabilities import read_client
from drive_trace.text.spans import PositionEncoding
from drive_trace.trace.occurrences import named_at
from tests.support.fixtures import fixes_in
from tests.support.others import name_alone
from tests.support.sessions.conversation import FAILED, MODIFIED, OK
from tests.support.sessions.model import folder_of
from tests.support.sessions.places import IDS, place, uri_of

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
    def point(self) -> Point:
        return point_at(View(self.analysis, self.client.encoding), self.at)


def _json(steps: Any) -> Any:
    return json.loads(steps.text)


def _check_definition(asked: _Asked, result: Any) -> None:
    found = leading(asked.analysis, asked.point)
    if found is None:
        assert result is None
        return
    named, span = found
    encoding, origin = asked.client.encoding, None
    if asked.client.reads_location_links:
        origin = range_of(View(asked.analysis, encoding), asked.point.record, span)
    own = definition(View(asked.analysis, encoding), named, asked.uri, origin)
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
    encoding = asked.client.encoding
    own = _json(
        references(View(asked.analysis, encoding), found[0], asked.uri, with_declarations=True)
    )
    assert result[: len(own)] == own
    assert all(_leads_to(each) != asked.uri for each in result[len(own) :])


def _check_highlights(asked: _Asked, result: Any) -> None:
    wanted = document_highlights(View(asked.analysis, asked.client.encoding), asked.point)
    assert result == PLAIN.unstructure(wanted)


def _check_symbols(asked: _Asked, result: Any) -> None:
    roots = outline(asked.analysis)
    client = asked.client
    assert _at_last(result) == _json(
        document_symbols(View(asked.analysis, client.encoding), roots, asked.uri, client.symbols)
    )


def _check_folds(asked: _Asked, result: Any) -> None:
    roots = outline(asked.analysis)
    assert _at_last(result) == _json(folding_ranges(asked.analysis, roots, asked.client.folding))


def _at_last(result: Any) -> Any:
    """A result as it is once all other traces of its runs have been read."""
    return json.loads(name_alone(json.dumps(result, ensure_ascii=False)))


def _check_selections(asked: _Asked, result: Any) -> None:
    wanted = selection_range(
        View(asked.analysis, asked.client.encoding), outline(asked.analysis), asked.point
    )
    assert result == [PLAIN.unstructure(wanted)]


def _check_completion(asked: _Asked, result: Any) -> None:
    """Each moment has other ids and times."""
    wanted = completion(
        View(asked.analysis, asked.client.encoding),
        asked.point,
        client=asked.client.completion,
        stamp=_STAMP,
    )
    labels = [each["label"] for each in result["items"]]
    missing = {item.label for item in wanted.items}.difference(labels)
    assert not {each for each in missing if each.strip('"') not in _STAMP}, (missing, labels)


def _check_prepared(asked: _Asked, result: Any) -> None:
    wanted = prepare_rename(View(asked.analysis, asked.client.encoding), asked.point)
    assert result == PLAIN.unstructure(wanted)


def _check_renamed(asked: _Asked, result: Any) -> None:
    made = rename(View(asked.analysis, asked.client.encoding), asked.point, NEW_NAME)
    assert not isinstance(made, CannotMake)
    if asked.client.reads_document_changes:
        (change,) = result["documentChanges"]
        assert (change["textDocument"]["uri"], change["edits"]) == (
            asked.uri,
            json.loads(made.text),
        )
    else:
        assert result == {"changes": {asked.uri: json.loads(made.text)}}


def _check_format(asked: _Asked, result: Any) -> None:
    assert result == _json(format_document(View(asked.analysis, asked.client.encoding)))


def _check_range_format(asked: _Asked, result: Any) -> None:
    assert result == _json(format_range(View(asked.analysis, asked.client.encoding), asked.where))


def _check_links(asked: _Asked, result: Any) -> None:
    """Where they lead depends on the workspace; that they stand on strings does not."""
    for each in result:
        start = point_at(
            View(asked.analysis, asked.client.encoding), types.Position(**each["range"]["start"])
        )
        text = asked.analysis.document.lines[start.record].text
        assert text[start.offset - 1] == '"'


def _check_events(asked: _Asked, result: Any) -> None:
    assert result == json.loads(json.dumps(page_json(asked.analysis, 0)))


def _check_event(asked: _Asked, result: Any) -> None:
    at = point_at(View(asked.analysis, asked.client.encoding), types.Position(asked.at.line, 0))
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
    "textDocument/definition": (_check_definition, {}, None),
    "textDocument/references": (_check_references, {"context": {"includeDeclaration": True}}, None),
    "textDocument/documentHighlight": (_check_highlights, {}, None),
    "textDocument/documentSymbol": (_check_symbols, {}, []),
    "textDocument/foldingRange": (_check_folds, {}, []),
    "textDocument/selectionRange": (_check_selections, {}, []),
    "textDocument/documentLink": (_check_links, {}, []),
    "textDocument/completion": (_check_completion, {}, None),
    "textDocument/prepareRename": (_check_prepared, {}, None),
    "textDocument/rename": (_check_renamed, {"newName": NEW_NAME}, None),
    "textDocument/formatting": (_check_format, _OPTIONS, []),
    "textDocument/rangeFormatting": (_check_range_format, _OPTIONS, []),
    "textDocument/willSaveWaitUntil": (_check_saving, {"reason": 1}, None),
    "driveTrace/events": (_check_events, {"first": 0}, None),
    "driveTrace/event": (_check_event, {}, None),
}
"""How each answer is checked, what is asked beside the place, and the answer where nothing is
open.
"""


@dataclass(frozen=True)
class Ask:
    """One of the requests about a place, a range or all of a document."""

    method: str
    uri: int
    places: tuple[int, int]
    message_id: Any

    def play(self, conversation: Conversation) -> None:
        uri, world = uri_of(conversation, self.uri), conversation.world
        check_answer, more, of_nothing = _METHODS[self.method]
        start, end = (place(conversation, uri, each) for each in self.places)
        buffer = conversation.buffer(uri)
        text = buffer.text if buffer else None

        def check(result: Any) -> None:
            now = conversation.buffer(uri)
            if self.method == "driveTrace/events" and (now.text if now else None) != text:
                return  # then it may be of the text as it is now
            if text is None:
                assert result == of_nothing
                return
            where = PLAIN.structure({"start": start, "end": end}, types.Range)
            client = read_client({"capabilities": world.client.capabilities()})
            analysis = Analysis(text, path=unquote(uri))
            on_disk = world.disk.get(uri)
            check_answer(_Asked(analysis, client, uri, where.start, where, on_disk), result)

        params = {
            "textDocument": {"uri": uri},
            "position": start,
            "positions": [start],
            "range": {"start": start, "end": end},
            "uri": uri,
            "line": start["line"],
            **more,
        }
        codes = {OK, MODIFIED} | ({FAILED} if self.method == "textDocument/rename" else set())
        conversation.ask(self.method, params, message_id=self.message_id, codes=codes, check=check)


@dataclass(frozen=True)
class FindNames:
    """The workspace's symbols, and where they are."""

    query: str

    def play(self, conversation: Conversation) -> None:
        conversation.settle()
        world = conversation.world
        wanted = [
            (uri, named.name)
            for uri in world.disk
            if folder_of(uri) in world.folders and (text := world.state(uri).text) is not None
            for named in names_in(Analysis(text), uri, self.query)
        ]
        params = {"query": self.query}
        found = conversation.result("workspace/symbol", params)
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
    first = actions[: len(fixes)]
    assert first == PLAIN.unstructure(fixes)


_NUMBERS = st.integers(0, 3000)
FIND_NAMES = st.builds(FindNames, st.sampled_from(["", "a", "🚀", "slice", "nobody's"]))


def asks(uris: st.SearchStrategy[int]) -> st.SearchStrategy[Ask]:
    """Any of the requests, in the documents that these numbers mean."""
    places = st.tuples(_NUMBERS, _NUMBERS)
    return st.builds(Ask, st.sampled_from(sorted(_METHODS)), uris, places, st.sampled_from(IDS))
