"""Runs, slices and dispatches of the workspace, by name, against marks in a fixture."""

import pytest
from lsprotocol import types
from lsprotocol.converters import get_converter

from drive_trace.analysis import Analysis
from drive_trace.features.navigation import best_matches, names_in, workspace_symbols
from tests.support.client_text import range_at
from tests.support.fixtures import ENCODINGS, URI, read, trace

_PLAIN = get_converter()


def check_symbols(query: str, fixture: str, *expected: str) -> None:
    """The names that match, in the order of the answer, each as ``kind name in run``; each stands
    on the token that says it, in all encodings.
    """
    text = read(fixture).text
    analysis = Analysis(text)
    found = best_matches(names_in(analysis, URI), query)
    for encoding in ENCODINGS:
        symbols = workspace_symbols(found, encoding)
        assert [_shown(each) for each in symbols] == list(expected)
        for each in symbols:
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


FOUND = {
    "a dispatch": (
        "implementer",
        """
        EVENT{"event_type":"dispatch-start","dispatch_name":"implementer D1","project_run_id":"x"}
        """,
        "function implementer D1 in x",
    ),
    "an id is named once where it starts first": (
        "retry",
        """
        EVENT{"event_type":"slice-started","slice_slug":"retry","project_run_id":"shop"}
        EVENT{"event_type":"slice-started","slice_slug":"retry","project_run_id":"shop"}
        EVENT{"event_type":"slice-completed","slice_slug":"retry","project_run_id":"shop"}
        """,
        "package retry in shop",
    ),
    "a broken line names nothing and hides nothing": (
        "",
        """
        {"event_type":"slice-started","project_run_id":"lost","slice_slug":"lost",
        EVENT{"event_type":"slice-completed","project_run_id":"shop","slice_slug":"never-started"}
        """,
        "namespace shop",
    ),
    "text beyond the bmp": (
        "🚀D",
        """
        EVENT{"event_type":"dispatch-start","dispatch_name":"🚀 D1","project_run_id":"日本"}
        """,
        "function 🚀 D1 in 日本",
    ),
}


@pytest.mark.parametrize("case", FOUND)
def test_names_are_found_in_all_traces(case: str) -> None:
    check_symbols(*FOUND[case])


def test_everything_that_has_a_name_run_by_run() -> None:
    check_symbols(
        "",
        """
        EVENT{"event_type":"slice-started","project_run_id":"shop","slice_slug":"retry"}
        EVENT{"event_type":"slice-started","project_run_id":"search","slice_slug":"index"}
        EVENT{"event_type":"dispatch-start","project_run_id":"shop","dispatch_name":"implementer"}
        """,
        "namespace shop",
        "package retry in shop",
        "package index in search",
        "namespace search",
        "function implementer in shop",
    )


def test_characters_in_order_are_enough_and_the_best_match_comes_first() -> None:
    check_symbols(
        "iMp",
        """
        EVENT{"event_type":"slice-started","project_run_id":"run","slice_slug":"index-map"}
        EVENT{"event_type":"slice-started","project_run_id":"run","slice_slug":"reimport"}
        EVENT{"event_type":"slice-started","project_run_id":"run","slice_slug":"import"}
        EVENT{"event_type":"slice-started","project_run_id":"run","slice_slug":"pim"}
        """,
        "package import in run",
        "package reimport in run",
        "package index-map in run",
    )


def test_a_name_is_shown_with_nothing_that_an_editor_obeys() -> None:
    named = r'"slice_slug":"a\u001b[31m\u202e","project_run_id":"ba\u001b[31m\u202e"'
    line = f'EVENT{{"event_type":"slice-started",{named}}}'
    found = workspace_symbols(names_in(Analysis(trace(line)), URI), ENCODINGS[0])
    inside = "<U+001B>[31m<U+202E>"
    assert [_shown(each) for each in found] == [
        f"namespace ba{inside}",
        f"package a{inside} in ba{inside}",
    ]


def test_an_empty_file() -> None:
    check_symbols("", "<eof>")


def test_a_lone_carriage_return_is_a_line_to_editors() -> None:
    line = 'EVENT{"event_type":"slice-started","slice_slug":"late","project_run_id":"shop"}'
    broken = trace(line).replace(',"slice_slug"', ',\r\r"slice_slug"')
    check_symbols("late", f"{broken.strip(chr(10))}", "package late in shop")


def test_no_more_than_anybody_reads() -> None:
    lines = [
        f'EVENT{{"event_type":"slice-started","slice_slug":"slice {number}"}}'
        for number in range(300)
    ]
    names = names_in(Analysis(trace(*lines)), URI)
    assert len(best_matches(names, "slice")) == 200
