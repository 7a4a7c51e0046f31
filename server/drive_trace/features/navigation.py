"""``textDocument/definition``, ``textDocument/references``, ``textDocument/documentHighlight``,
``textDocument/rename``, ``textDocument/prepareRename``, ``textDocument/documentLink``,
and ``workspace/symbol``: what a trace names, and where else.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple
from urllib.parse import quote

from lsprotocol import types

from drive_trace.analysis import Analysis
from drive_trace.features import LinkOptions, results
from drive_trace.json_text import as_json, strings_named
from drive_trace.stopping import unless_stopped
from drive_trace.text.spans import PositionEncoding, Span
from drive_trace.text.wording import plain, shown
from drive_trace.trace import occurrences
from drive_trace.trace.document import Document, Point
from drive_trace.trace.line import Line, event_of, name_of, run_id_of
from drive_trace.trace.places import Part, Place, inside, path_at, resolve
from drive_trace.trace.reading import read_lines
from drive_trace.trace.run import Run
from drive_trace.vocabulary import EVENTS, LIFETIMES, Entity, FieldType, Reference

# Starts and references


Targets = list[types.Location | types.LocationLink]

MOST_TARGETS = 100
"""The most starts of one thing that are offered. Two are a mistake already."""
MOST_HIGHLIGHTS = 500
"""An editor requests them at each move of the cursor, and shows those in its window."""


def leading(analysis: Analysis, point: Point) -> tuple[occurrences.NamedEntity, Span] | None:
    """The thing that a point refers to, and the token there. The type of an event refers to what
    the event belongs to: its round, dispatch or slice, else its run.
    """
    line = analysis.document.lines[point.record]
    return occurrences.named_at(line, point.offset) or _above(line, point.offset)


def definition(
    view: results.View, named: occurrences.NamedEntity, uri: str, origin: types.Range | None
) -> Targets:
    """Where something starts: links from ``origin``, or locations if that is None."""
    targets = []
    for each in occurrences.declarations(view.index, view.lines, named)[:MOST_TARGETS]:
        record, whole = view.document.number(each.line), Place(Part.WHOLE)
        line = results.range_of(view, record, resolve(each.line.text, whole))
        name = results.range_of(view, record, each.span)
        targets.append(_target(uri, line, name, origin))
    return targets


def opening(uri: str, origin: types.Range | None) -> Targets:
    """The beginning of a file: a link from ``origin``, or a location if that is None."""
    start = types.Range(types.Position(0, 0), types.Position(0, 0))
    return [_target(uri, start, start, origin)]


def _target(
    uri: str, whole: types.Range, name: types.Range, origin: types.Range | None
) -> types.Location | types.LocationLink:
    if origin is None:
        return types.Location(uri, name)
    return types.LocationLink(uri, whole, name, origin_selection_range=origin)


def begins_run(analysis: Analysis, point: Point) -> bool:
    """Whether a point is on the id of a run where the trace first names it."""
    line = analysis.document.lines[point.record]
    found = occurrences.named_at(line, point.offset)
    if found is None or found[0].entity is not Entity.RUN:
        return False
    return occurrences.first_of_run(analysis.index, found[0].value) is line


def _above(line: Line, offset: int) -> tuple[occurrences.NamedEntity, Span] | None:
    """What an event belongs to, if its type is at the offset. An event that starts something does
    not belong to that.
    """
    place = path_at(line.text, offset)
    if place != Place(Part.VALUE, ("event_type",)):
        return None
    event, run_id = event_of(line), run_id_of(line)
    origin = resolve(line.text, place)
    if event is None or run_id is None:
        return None
    for entity in (Entity.ROUND, Entity.DISPATCH, Entity.SLICE):
        field = LIFETIMES[entity].field
        if event.opens is not entity and field in event.fields:
            for value, _ in strings_named(line.text, field):
                return occurrences.NamedEntity(entity, run_id, value), origin
    return occurrences.NamedEntity(Entity.RUN, run_id, run_id), origin


def references(
    view: results.View, named: occurrences.NamedEntity, uri: str, *, with_declarations: bool
) -> results.JsonText:
    """The locations where a trace names something, in order; ``with_declarations`` also those
    where that starts.
    """
    number = view.document.number
    return results.json_list(
        {"uri": uri, "range": results.plain_range(view, number(each.line), each.span)}
        for each in occurrences.occurrences(view.index, view.lines, named)
        if with_declarations or each.role is not occurrences.Role.DECLARES
    )


def document_highlights(view: results.View, point: Point) -> list[types.DocumentHighlight] | None:
    """The highlights of a thing: a write starts, ends or changes it, any other is a read. None if
    the point is on no name.
    """
    lines = view.lines
    line = lines[point.record]
    found = occurrences.named_at(line, point.offset)
    if found is None:
        return None
    kinds = types.DocumentHighlightKind
    number = view.document.number
    return [
        types.DocumentHighlight(
            results.range_of(view, number(each.line), each.span),
            kinds.Read if each.role is occurrences.Role.READS else kinds.Write,
        )
        for each in occurrences.occurrences_near(view.index, lines, found[0], line, MOST_HIGHLIGHTS)
    ]


# New ids


_CAN_RENAME = (Entity.RUN, *LIFETIMES)


def prepare_rename(view: results.View, point: Point) -> types.PrepareRenamePlaceholder | None:
    """The id at a point, without its quotes; None if nothing can be renamed there."""
    found = renamable(view.analysis, point)
    if found is None:
        return None
    named, span = found
    where = results.range_of(view, point.record, inside(span))
    return types.PrepareRenamePlaceholder(where, named.value)


def rename(
    view: results.View, point: Point, new_name: str
) -> results.JsonText | results.CannotMake:
    """The text edits that give the thing at a point another id. Refused if another thing of its
    type has that id already: nobody could tell the two apart any more.
    """
    found = renamable(view.analysis, point)
    if found is None:
        return results.CannotMake(
            "Only the ids of runs, slices, dispatches and rounds can be renamed."
        )
    return rename_named(view, found[0], new_name)


def rename_named(
    view: results.View, named: occurrences.NamedEntity, new_name: str
) -> results.JsonText | results.CannotMake:
    """See :func:`rename`, for a thing whatever point it was found at."""
    if not new_name.strip():
        return results.CannotMake(f"A {named.entity.value} needs an id of at least one character.")
    what, replacements = named.entity.value, list[results.TextChange]()
    if new_name != named.value:
        other = occurrences.taken(view.index, view.lines, named, new_name)
        if other is not None:
            return results.CannotMake(
                f"Line {view.analysis.line_number(other.line)} names a {what} {shown(new_name)} "
                f"already: renaming this {what} would make the two one."
            )
        text, number = as_json(new_name)[1:-1], view.document.number
        replacements = [
            results.TextChange.within(number(each.line), inside(each.span), text)
            for each in occurrences.occurrences(view.index, view.lines, named)
        ]
    return results.as_edits(view, replacements)


def renamable(analysis: Analysis, point: Point) -> tuple[occurrences.NamedEntity, Span] | None:
    """The thing at a point that can get another id, and its place."""
    found = occurrences.named_at(analysis.document.lines[point.record], point.offset)
    can_rename = found is not None and found[0].entity in _CAN_RENAME and found[0].value
    return found if can_rename else None


# Links


class Link(NamedTuple):
    """A string that is a link, if the file that it names exists."""

    line: Line
    span: Span
    value: str
    target: str | None
    """A web address; None if ``value`` is the path of a file."""
    tooltip: str


def find_links(analysis: Analysis, options: LinkOptions, folders: Sequence[str]) -> list[Link]:
    """The links of a trace, in order. A path is a link if it can be in one of the workspace's
    folders, which are absolute paths.
    """
    links = (_link(each, options, folders) for each in unless_stopped(_strings(analysis)))
    found = [link for link in links if link is not None]
    return sorted(found, key=lambda each: (each.line.order, each.span))


def paths_in(links: Iterable[Link]) -> list[str]:
    """The paths among links, each once."""
    return list(dict.fromkeys(link.value for link in links if link.target is None))


def document_links(
    view: results.View,
    links: Sequence[Link],
    files: Mapping[str, str],
    *,
    with_tooltips: bool = False,
) -> results.JsonText:
    """The protocol's links to web addresses and to files. ``files`` are the existing ones: URIs by
    the paths in the trace.
    """
    number = view.document.number

    def shown() -> Iterator[dict[str, object]]:
        for link in links:
            target = link.target or files.get(link.value)
            if target is not None:
                tooltip = {"tooltip": link.tooltip} if with_tooltips else {}
                where = results.plain_range(view, number(link.line), link.span)
                yield {"range": where, "target": target, **tooltip}

    return results.json_list(shown())


_String = tuple[Line, FieldType, str, Span]
"""A string that may be a link: its line, its field, its value, and its span between the quotes."""


def _strings(analysis: Analysis) -> Iterator[_String]:
    valid = chain.from_iterable(
        run.by_event.get(name, ()) for run in analysis.index.runs.values() for name in _LINKING
    )
    for line in chain(valid, *analysis.index.rejected.values()):
        for field in _LINKING.get(name_of(line) or "", ()):
            for value, span in strings_named(line.text, field.name):
                yield line, field, value, inside(span)


def _link(string: _String, options: LinkOptions, folders: Sequence[str]) -> Link | None:
    line, field, value, span = string
    if _WEB_ADDRESS.fullmatch(value):
        return Link(line, span, value, value, f"Open {plain(value)}")
    if field.names is Entity.PATH:
        if not any(_may_be_in(folder, value) for folder in folders):
            return None
        return Link(line, span, value, None, "Open the file")
    is_ticket = field.refers_to is Reference.TICKET
    template = options.ticket_url if is_ticket else options.pull_request_url
    reference = value.strip().lstrip("#!")
    if not template or not any(map(str.isalnum, reference)):
        return None
    address = template.replace("{ref}", quote(reference, safe="", errors="replace"))
    return Link(line, span, value, address, f"Open {field.refers_to} {plain(reference)}")


def _may_be_in(folder: str, path: str) -> bool:
    """Whether a path, by its text alone, leads nowhere out of a folder."""
    steps = re.split(r"[/\\]", path)
    if not path.strip() or "\0" in path or ".." in steps:
        return False
    if path.startswith(("/", "\\")) or path[1:2] == ":":
        return path.startswith((f"{folder}/", f"{folder}\\"))
    return "://" not in path


_WEB_ADDRESS = re.compile(r"https://[A-Za-z0-9.-]+(?::[0-9]{1,5})?(?:/[!#-;=?-\[\]_a-z~]*)?")
"""Without a user's name or password before the host, which can mislead about the host."""
_LINKING = {
    name: fields
    for name, event in EVENTS.items()
    if (
        fields := tuple(
            field
            for field in event.fields.values()
            if field.names is Entity.PATH or field.refers_to is not None
        )
    )
}
"""The fields of each event that can be links."""


# Symbols of all traces


MOST_SYMBOLS = 200
"""The most symbols of a result. People type on instead of reading more."""
_NAME_FIELDS = {
    Entity.RUN: "project_run_id",
    Entity.SLICE: LIFETIMES[Entity.SLICE].field,
    Entity.DISPATCH: "dispatch_name",
}
"""The field with the name for people."""
_KINDS = {
    Entity.RUN: types.SymbolKind.Namespace,
    Entity.SLICE: types.SymbolKind.Package,
    Entity.DISPATCH: types.SymbolKind.Function,
}


class SymbolName(NamedTuple):
    """A run, a slice or a dispatch, and the line where it begins."""

    uri: str
    """The trace's."""
    name: str
    entity: Entity
    run_id: str
    line: int
    """The protocol's number of the record's first line."""
    text: str
    """The record."""


def names_in(analysis: Analysis, uri: str, query: str = "") -> list[SymbolName]:
    """The names of a trace that match, run by run. Each id is there once, for its first start."""
    wanted, document = query.lower(), analysis.document
    found = []
    for run in analysis.index.runs_in_order:
        for name, entity, line in _symbol_starts(run):
            if _rank(name, wanted) is not None:
                number = document.protocol_line(document.number(line))
                found.append(SymbolName(uri, name, entity, run.run_id, number, line.text))
    return found


def best_matches(names: Iterable[SymbolName], query: str) -> list[SymbolName]:
    """The names with the query's characters in the same order, the best matches first."""
    wanted = query.lower()
    ranked = (
        (rank, len(found.name), place, found)
        for place, found in enumerate(names)
        if (rank := _rank(found.name, wanted)) is not None
    )
    return [found for *_, found in sorted(ranked)[:MOST_SYMBOLS]]


def _symbol_starts(run: Run) -> Iterator[tuple[str, Entity, Line]]:
    """Each name of a run, with its entity and the line where that begins."""
    yield run.run_id, Entity.RUN, run.lines[0]
    for entity in (Entity.SLICE, Entity.DISPATCH):
        of = LIFETIMES[entity]
        seen = set()
        for line in run.events(of.opener):
            identity = line.text_fact(of.field)
            if identity not in seen:
                seen.add(identity)
                yield line.text_fact(_NAME_FIELDS[entity]) or identity, entity, line


def _rank(name: str, wanted: str) -> int | None:
    """How well a name matches, 0 is best; None if it does not. ``wanted`` is lower case."""
    lowered = name.lower()
    if wanted in lowered:
        return 0 if lowered.startswith(wanted) else 1
    rest = iter(lowered)
    return 2 if all(character in rest for character in wanted) else None


def workspace_symbols(
    found: Iterable[SymbolName], encoding: PositionEncoding
) -> list[types.WorkspaceSymbol]:
    """The names as symbols. Call it from a thread, as it reads their lines."""
    symbols = []
    for each in found:
        span = resolve(each.text, Place(Part.VALUE, (_NAME_FIELDS[each.entity],)))
        record = Document([each.text], read_lines)  # which may be several lines of the protocol
        ends = (record.position_of(Point(0, end), encoding) for end in span)
        where = types.Range(*(types.Position(each.line + at.line, at.character) for at in ends))
        location, kind = types.Location(each.uri, where), _KINDS[each.entity]
        container = None if each.entity is Entity.RUN else plain(each.run_id)
        name = plain(each.name)
        symbols.append(types.WorkspaceSymbol(location, name, kind, container_name=container))
    return symbols
