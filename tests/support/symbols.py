"""Checks the workspace's symbols against marks in a fixture."""

from lsprotocol import types
from lsprotocol.converters import get_converter

from drive_trace.analysis import Analysis
from drive_trace.features.workspace_symbol import (
    FoundSymbol,
    best_matches,
    names_in,
    resolve_symbol,
    workspace_symbols,
)
from tests.support.client_text import range_at
from tests.support.fixtures import ENCODINGS, URI, read

_PLAIN = get_converter()


def check_symbols(query: str, fixture: str, *expected: str) -> None:
    """The names that match, in the order of the answer, each as ``kind name in run``; each stands
    on the token that says it, in all encodings, at once or when it is resolved.
    """
    text = read(fixture).text
    analysis = Analysis(text)
    names = names_in(analysis)
    found = best_matches([FoundSymbol(URI, each) for each in names], query)
    for encoding in ENCODINGS:
        finish = workspace_symbols(found, encoding, resolves=False)
        assert [_shown(each) for each in finish] == list(expected)
        later = workspace_symbols(found, encoding, resolves=True)
        assert all(isinstance(each.location, types.LocationUriOnly) for each in later)
        resolved = [resolve_symbol(each, names, encoding) for each in later]
        assert [each.location for each in resolved] == [each.location for each in finish]
        for each in finish:
            assert isinstance(each.location, types.Location)
            assert _PLAIN.unstructure(each.location.range) in _ranges(text, each.name, encoding)


def _shown(symbol: types.WorkspaceSymbol) -> str:
    inside = f" in {symbol.container_name}" if symbol.container_name else ""
    return f"{symbol.kind.name.lower()} {symbol.name}{inside}"


def _ranges(text: str, name: str, encoding: str) -> list[object]:
    """Where a name stands in its quotes."""
    token, places, at = f'"{name}"', [], -1
    while (at := text.find(token, at + 1)) >= 0:
        places.append(range_at(text, at, at + len(token), encoding))
    return places
