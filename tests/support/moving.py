"""``check_…`` helpers of what leads through a trace: definitions, references, structure, links."""

import json
from collections.abc import Iterator, Sequence
from textwrap import dedent
from typing import Any

from lsprotocol import types

from drive_trace.analysis import Analysis
from drive_trace.features import LinkOptions, navigation
from drive_trace.features.results import View, point_at, range_of
from drive_trace.features.structure import (
    FoldingOptions,
    SymbolOptions,
    document_symbols,
    folding_ranges,
    outline,
    selection_range,
)
from drive_trace.text.spans import PositionEncoding
from drive_trace.trace.document import Point
from drive_trace.trace.occurrences import named_at
from tests.support.client_text import offset_in
from tests.support.fixtures import ENCODINGS, URI, Fixture, Mark, alike, read, to_position

_START = "start"
_KINDS = {
    _START: types.DocumentHighlightKind.Write,
    "write": types.DocumentHighlightKind.Write,
    "read": types.DocumentHighlightKind.Read,
}
EVERY_KIND = frozenset(kind.value for kind in types.SymbolKind)
TREE = SymbolOptions(is_tree=True, kinds=EVERY_KIND, has_tags=True)


# Names


def check_named(fixture: str) -> None:
    """From each marked string, and from the cursor, just the marked ones are found: ``start``
    marks what the definition is, ``write`` what ends or changes it, ``read`` all else.
    """
    wanted = read(fixture)
    analysis = Analysis(wanted.text)
    spots = [Point(mark.record, mark.span.start + 1) for mark in wanted.marks]
    spots += [wanted.cursor] if wanted.cursor is not None else []
    starts = [mark for mark in wanted.marks if mark.code == _START]
    others = [mark for mark in wanted.marks if mark.code != _START]
    for encoding in ENCODINGS:
        for spot in spots:
            point = point_at(View(analysis, encoding), to_position(wanted.text, spot, encoding))
            lit = navigation.document_highlights(View(analysis, encoding), point) or []
            assert [(_offsets(wanted, each.range, encoding), each.kind) for each in lit] == [
                (_marked(wanted, mark), _KINDS[mark.code or ""]) for mark in wanted.marks
            ]
            pointed = named_at(analysis.document.lines[point.record], point.offset)
            assert pointed is not None
            named, _ = pointed
            for with_declarations, marks in ((True, wanted.marks), (False, others)):
                found = navigation.references(
                    View(analysis, encoding), named, URI, with_declarations=with_declarations
                )
                assert _located(wanted, json.loads(found.text), encoding) == [
                    _marked(wanted, mark) for mark in marks
                ]
            assert _defined(wanted, analysis, point, encoding) == [
                _marked(wanted, mark) for mark in starts
            ]


def check_definition(fixture: str) -> None:
    """The definition of what stands at the cursor is what is marked as ``start``."""
    wanted = read(fixture)
    analysis = Analysis(wanted.text)
    for encoding in ENCODINGS:
        point = point_at(View(analysis, encoding), wanted.at(encoding))
        assert _defined(wanted, analysis, point, encoding) == [
            _marked(wanted, mark) for mark in wanted.marks
        ]


def _defined(
    wanted: Fixture, analysis: Analysis, point: Point, encoding: PositionEncoding
) -> list[tuple[int, int]]:
    """Where a definition is: as links and as plain locations."""
    found = navigation.leading(analysis, point)
    if found is None:
        return []
    named, span = found
    origin = range_of(View(analysis, encoding), point.record, span)
    plain = navigation.definition(View(analysis, encoding), named, URI, None)
    links = navigation.definition(View(analysis, encoding), named, URI, origin)
    here = sum(len(line) + 1 for line in wanted.lines[: point.record]) + point.offset
    targets = []
    for link in links:
        assert isinstance(link, types.LocationLink)
        assert link.origin_selection_range is not None
        start, end = _offsets(wanted, link.origin_selection_range, encoding)
        assert start <= here <= end, "a link leads from the token at the cursor"
        whole = _offsets(wanted, link.target_range, encoding)
        target = _offsets(wanted, link.target_selection_range, encoding)
        assert whole[0] <= target[0] <= target[1] <= whole[1]
        targets.append(target)
    located = []
    for each in plain:
        assert isinstance(each, types.Location)
        assert each.uri == URI
        located.append(_offsets(wanted, each.range, encoding))
    assert targets == located
    return located


def _located(
    wanted: Fixture, locations: list[Any], encoding: PositionEncoding
) -> list[tuple[int, int]]:
    assert {each["uri"] for each in locations} <= {URI}
    return [_offsets(wanted, each["range"], encoding) for each in locations]


def _offsets(wanted: Fixture, where: Any, encoding: PositionEncoding) -> tuple[int, int]:
    start, end = (
        (where["start"], where["end"]) if isinstance(where, dict) else (where.start, where.end)
    )
    return offset_in(wanted.text, start, encoding), offset_in(wanted.text, end, encoding)


def _marked(wanted: Fixture, mark: Mark) -> tuple[int, int]:
    before = sum(len(line) + 1 for line in wanted.lines[: mark.record])
    return before + mark.span.start, before + mark.span.end


# Structure


def check_symbols(fixture: str, shown: str) -> None:
    """The outline reads like this, ``first-last name | detail`` a line, each in what it is in. In
    every encoding each symbol is within the one that it is in, and the flat list says the same.
    """
    text = read(fixture).text
    assert symbols_of(Analysis(text)) == dedent(shown).strip("\n").rstrip().split("\n")


def symbols_of(analysis: Analysis) -> list[str]:
    """The outline as lines of text."""
    return alike(lambda encoding: list(_symbols(analysis, encoding)))


def _symbols(analysis: Analysis, encoding: PositionEncoding) -> Iterator[str]:
    roots, plain = outline(analysis), SymbolOptions(kinds=EVERY_KIND)
    tree = json.loads(document_symbols(View(analysis, encoding), roots, URI, TREE).text)
    flat = json.loads(document_symbols(View(analysis, encoding), roots, URI, plain).text)
    walked = list(_walk(tree, None, 0))
    assert [(each["name"], each["location"]["range"], each["kind"]) for each in flat] == [
        (symbol["name"], symbol["range"], symbol["kind"]) for symbol, _ in walked
    ]
    for symbol, depth in walked:
        start, end = symbol["range"]["start"], symbol["range"]["end"]
        if "\r" not in analysis.document.text:
            offset_in(analysis.document.text, end, encoding)
        lines = f"{start['line'] + 1}-{end['line'] + 1}"
        detail = f" | {symbol['detail']}" if "detail" in symbol else ""
        struck = " (struck out)" if symbol.get("tags") == [1] else ""
        yield f"{'  ' * depth}{lines} {symbol['name']}{struck}{detail}"


def _walk(symbols: list[Any], parent: Any, depth: int) -> Iterator[tuple[Any, int]]:
    before = (-1, 0)
    for symbol in symbols:
        assert symbol["name"].strip(), "VS Code refuses names that are empty"
        whole, own = _span(symbol["range"]), _span(symbol["selectionRange"])
        assert whole[0] <= own[0] <= own[1] <= whole[1]
        if parent is not None:
            outer = _span(parent["range"])
            assert outer[0] <= whole[0] <= whole[1] <= outer[1]
        assert before <= whole[0], "symbols come in the order of the trace"
        before = whole[0]
        yield symbol, depth
        yield from _walk(symbol.get("children", []), symbol, depth + 1)


def _span(where: Any) -> tuple[tuple[int, int], tuple[int, int]]:
    start, end = where["start"], where["end"]
    return (start["line"], start["character"]), (end["line"], end["character"])


def folds_of(fixture: str, most: int | None = None) -> list[str]:
    """What can be folded, ``first-last name``; no two folds cross or start on one line."""
    analysis = Analysis(read(fixture).text)
    roots = outline(analysis)
    folds, plain = (
        json.loads(folding_ranges(analysis, roots, FoldingOptions(most, has_text)).text)
        for has_text in (True, False)
    )
    assert [{**each, "collapsedText": ""} for each in plain] == [
        {**each, "collapsedText": ""} for each in folds
    ]
    for number, fold in enumerate(folds):
        assert fold["startLine"] < fold["endLine"]
        for other in folds[:number]:
            assert other["startLine"] < fold["startLine"]
            assert not (
                other["startLine"] < fold["startLine"] <= other["endLine"] < fold["endLine"]
            )
    return [
        f"{each['startLine'] + 1}-{each['endLine'] + 1} {each['collapsedText']}" for each in folds
    ]


def selections_of(fixture: str) -> list[str]:
    """What a selection at the cursor grows to: the text within one line, else ``first-last``."""
    wanted = read(fixture)
    analysis = Analysis(wanted.text)

    def grown(encoding: PositionEncoding) -> Iterator[str]:
        view = View(analysis, encoding)
        place = point_at(view, wanted.at(encoding))
        each: types.SelectionRange | None = selection_range(view, outline(analysis), place)
        before: tuple[int, int] | None = None
        while each is not None:
            start, end = _offsets(wanted, each.range, encoding)
            assert before is None or (start <= before[0] and before[1] <= end)
            assert before != (start, end)
            before = start, end
            first, last = each.range.start.line, each.range.end.line
            yield wanted.text[start:end] if first == last else f"{first + 1}-{last + 1}"
            each = each.parent

    return alike(lambda encoding: [*grown(encoding)])


# Links


def links_of(
    fixture: str,
    options: LinkOptions | None = None,
    folders: Sequence[str] = ("/work",),
    gone: Sequence[str] = (),
) -> list[tuple[str, str]]:
    """The text of each link, and where it leads: an address, or the path of a file. Every file is
    there but for those that are gone.
    """
    wanted = read(fixture)
    analysis = Analysis(wanted.text)
    links = navigation.find_links(analysis, options or LinkOptions(), folders)
    files = {path: path for path in navigation.paths_in(links) if path not in gone}

    def shown(encoding: PositionEncoding) -> list[tuple[str, str]]:
        given = (View(analysis, encoding), links, files)
        found = json.loads(navigation.document_links(*given).text)
        told = json.loads(navigation.document_links(*given, with_tooltips=True).text)
        assert [{k: v for k, v in each.items() if k != "tooltip"} for each in told] == found
        assert all(each["tooltip"] for each in told)
        return [_linked(wanted, each, encoding) for each in found]

    return alike(shown)


def _linked(wanted: Fixture, link: Any, encoding: PositionEncoding) -> tuple[str, str]:
    start, end = _offsets(wanted, link["range"], encoding)
    return wanted.text[start:end], link["target"]
