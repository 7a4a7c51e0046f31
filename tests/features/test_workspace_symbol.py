"""Runs, slices and dispatches of the workspace, by name."""

from drive_trace.analysis import Analysis
from drive_trace.features.workspace_symbol import FoundSymbol, best_matches, names_in
from tests.support.fixtures import URI, trace
from tests.support.symbols import check_symbols


def test_a_dispatch() -> None:
    check_symbols(
        "implementer",
        """
        EVENT{"event_type":"dispatch-start","dispatch_name":"implementer D1","project_run_id":"x"}
        """,
        "function implementer D1 in x",
    )


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


def test_an_id_is_named_once_where_it_starts_first() -> None:
    check_symbols(
        "retry",
        """
        EVENT{"event_type":"slice-started","slice_slug":"retry","project_run_id":"shop"}
        EVENT{"event_type":"slice-started","slice_slug":"retry","project_run_id":"shop"}
        EVENT{"event_type":"slice-completed","slice_slug":"retry","project_run_id":"shop"}
        """,
        "package retry in shop",
    )


def test_a_broken_line_names_nothing_and_hides_nothing() -> None:
    check_symbols(
        "",
        """
        {"event_type":"slice-started","project_run_id":"lost","slice_slug":"lost",
        EVENT{"event_type":"slice-completed","project_run_id":"shop","slice_slug":"never-started"}
        """,
        "namespace shop",
    )


def test_text_beyond_the_bmp() -> None:
    check_symbols(
        "🚀D",
        """
        EVENT{"event_type":"dispatch-start","dispatch_name":"🚀 D1","project_run_id":"日本"}
        """,
        "function 🚀 D1 in 日本",
    )


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
    names = names_in(Analysis(trace(*lines)))
    assert len(best_matches([FoundSymbol(URI, each) for each in names], "slice")) == 200
