"""``workspace/symbol`` and ``workspaceSymbol/resolve``: runs, slices and dispatches of all traces.

Names are found without their places. Only the few that are shown get one.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from lsprotocol import types

from drive_trace.analysis import Analysis
from drive_trace.text.spans import PositionEncoding, units_before
from drive_trace.trace.document import Document, Point
from drive_trace.trace.line import Line
from drive_trace.trace.places import Part, Place, resolve
from drive_trace.trace.reading import read_lines
from drive_trace.trace.run import Run
from drive_trace.vocabulary import LIFETIMES, Entity

MOST = 200
"""The most symbols of a result. People type on instead of reading more."""
_RUN_FIELD = "project_run_id"
_NAME_FIELDS = {Entity.DISPATCH: "dispatch_name"}
"""The field with the name for people, if that is not the id."""
_KINDS = {
    Entity.RUN: types.SymbolKind.Namespace,
    Entity.SLICE: types.SymbolKind.Package,
    Entity.DISPATCH: types.SymbolKind.Function,
}


class SymbolName(NamedTuple):
    """A run, a slice or a dispatch, and the line where it begins."""

    name: str
    entity: Entity
    id: str
    run_id: str
    line: int
    """The protocol's number of the record's first line."""
    text: str
    """The record."""

    @property
    def field(self) -> str:
        """The field that holds the name."""
        if self.entity is Entity.RUN:
            return _RUN_FIELD
        return _NAME_FIELDS.get(self.entity, LIFETIMES[self.entity].field)


class FoundSymbol(NamedTuple):
    """A name in one of the traces."""

    uri: str
    named: SymbolName


def names_in(analysis: Analysis, query: str = "") -> list[SymbolName]:
    """The names of a trace that match, run by run. Each id is there once, for its first start."""
    wanted, document = query.lower(), analysis.document
    found = []
    for run in analysis.index.runs_in_order:
        for name, entity, identity, line in _starts(run):
            if _rank(name, wanted) is not None:
                number = document.protocol_line(document.number(line))
                found.append(SymbolName(name, entity, identity, run.run_id, number, line.text))
    return found


def best_matches(names: Iterable[FoundSymbol], query: str, most: int = MOST) -> list[FoundSymbol]:
    """The names with the query's characters in the same order, the best matches first."""
    wanted = query.lower()
    ranked = (
        (rank, len(found.named.name), place, found)
        for place, found in enumerate(names)
        if (rank := _rank(found.named.name, wanted)) is not None
    )
    return [found for *_, found in heapq.nsmallest(most, ranked)]


def workspace_symbols(
    found: Sequence[FoundSymbol], encoding: PositionEncoding, *, resolves: bool
) -> list[types.WorkspaceSymbol]:
    """The names as symbols, without their ranges if the client resolves them."""
    return [_symbol(each, encoding, resolves=resolves) for each in found]


def resolve_symbol(
    symbol: types.WorkspaceSymbol, names: Sequence[SymbolName], encoding: PositionEncoding
) -> types.WorkspaceSymbol:
    """A symbol with the current range of its name, or the start of the file if it is gone."""
    data: Mapping[str, object] = symbol.data if isinstance(symbol.data, dict) else {}
    key = tuple(data.get(each) for each in ("entity", "id", "runId"))
    where = types.Range(types.Position(0, 0), types.Position(0, 0))
    for each in names:
        if key == (each.entity, each.id, each.run_id):
            where = _range(each, encoding)
            break
    symbol.location = types.Location(symbol.location.uri, where)
    return symbol


def _starts(run: Run) -> Iterator[tuple[str, Entity, str, Line]]:
    """Each name of a run, with its entity, its id, and the line where that begins."""
    yield run.run_id, Entity.RUN, run.run_id, run.first_line
    for entity in (Entity.SLICE, Entity.DISPATCH):
        of = LIFETIMES[entity]
        seen = set()
        for line in run.events(of.opener):
            identity = line.text_fact(of.field)
            if identity not in seen:
                seen.add(identity)
                name = line.text_fact(_NAME_FIELDS.get(entity, of.field))
                yield name or identity, entity, identity, line


def _rank(name: str, wanted: str) -> int | None:
    """How well a name matches, 0 is best; None if it does not. ``wanted`` is lower case."""
    lowered = name.lower()
    if wanted in lowered:
        return 0 if lowered.startswith(wanted) else 1
    rest = iter(lowered)
    return 2 if all(character in rest for character in wanted) else None


def _range(named: SymbolName, encoding: PositionEncoding) -> types.Range:
    span = resolve(named.text, Place(Part.VALUE, (named.field,)))
    if "\r" not in named.text:
        ends = (units_before(named.text, each, encoding) for each in span)
        start, end = (types.Position(named.line, each) for each in ends)
        return types.Range(start, end)
    record = Document([named.text], read_lines)  # which is several lines of the protocol
    start, end = (
        types.Position(named.line + at.line, at.character)
        for at in (record.position_of(Point(0, each), encoding) for each in span)
    )
    return types.Range(start, end)


def _symbol(
    found: FoundSymbol, encoding: PositionEncoding, *, resolves: bool
) -> types.WorkspaceSymbol:
    named = found.named
    return types.WorkspaceSymbol(
        name=named.name,
        kind=_KINDS[named.entity],
        container_name=None if named.entity is Entity.RUN else named.run_id,
        location=(
            types.LocationUriOnly(found.uri)
            if resolves
            else types.Location(found.uri, _range(named, encoding))
        ),
        data=(
            {"uri": found.uri, "entity": named.entity, "id": named.id, "runId": named.run_id}
            if resolves
            else None
        ),
    )
