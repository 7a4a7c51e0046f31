"""Definitions, references and highlights: from each place that names a thing to all the others."""

import pytest

from drive_trace.analysis import Analysis
from drive_trace.features.navigation import document_highlights
from drive_trace.features.results import View
from drive_trace.text.spans import PositionEncoding
from drive_trace.trace.document import Point
from tests.support.client_text import triage
from tests.support.fixtures import read
from tests.support.moving import check_definition, check_named

NAMED = {
    "a dispatch": """
        EVENT{"event_type":"dispatch-start","dispatch_id":"d-1"}
                                                          ^^^^^ start
        EVENT{"event_type":"round-start","dispatch_id":"d-1","round_id":"r-1"}
                                                       ^^^^^ read
        EVENT{"event_type":"dispatch-end","dispatch_id":"d-1"}
                                                        ^^^^^ write
        EVENT{"event_type":"dispatch-start","dispatch_id":"d-2","parent_dispatch_id":"d-1"}
                                                                                     ^^^^^ read
        EVENT{"event_type":"dispatch-end","dispatch_id":"d-2"}
    """,
    "a round": """
        EVENT{"event_type":"round-start","dispatch_id":"d-1","round_id":"r-1"}
                                                                        ^^^^^ start
        EVENT{"event_type":"brief-issued","dispatch_id":"d-1","round_id":"r-1"}
                                                                         ^^^^^ read
        EVENT{"event_type":"round-start","dispatch_id":"d-1","round_id":"r-2"}
        EVENT{"event_type":"round-end","dispatch_id":"d-1","round_id":"r-1"}
                                                                      ^^^^^ write
    """,
    "a slice": """
        EVENT{"event_type":"slice-started","slice_slug":"retry-queue"}
                                                        ^^^^^^^^^^^^^ start
        EVENT{"event_type":"slice-started","slice_slug":"retry"}
        EVENT{"event_type":"slice-completed","slice_slug":"retry-queue"}
                                                          ^^^^^^^^^^^^^ write
    """,
    "a run begins with its first line": """
        EVENT{"event_type":"project-started","project_run_id":"other"}
        EVENT{"event_type":"triage-verdict","project_run_id":"checkout"}
                                                             ^^^^^^^^^^ start
        EVENT{"event_type":"project-started","project_run_id":"checkout"}
                                                              ^^^^^^^^^^ read
        EVENT{"event_type":"correctness-recorded","project_run_id":"checkout"}
                                                                   ^^^^^^^^^^ read
        EVENT{"event_type":"project-closed","project_run_id":"checkout"}
                                                             ^^^^^^^^^^ write
    """,
    "a file": """
        EVENT{"event_type":"spec-authored","spec_path":"a/spec.md"}
                                                       ^^^^^^^^^^^ start
        EVENT{"event_type":"plan-authored","plan_path":"a/plan.md"}
        EVENT{"event_type":"falsified-assumption","artifact_path":"a/spec.md"}
                                                                  ^^^^^^^^^^^ read
        EVENT{"event_type":"spec-amended","spec_path":"a/spec.md","project_run_id":"later"}
                                                      ^^^^^^^^^^^ write
    """,
    "an event id that stands twice": """
        EVENT{"event_type":"project-started","event_id":"e-1"}
                                                        ^^^^^ start
        EVENT{"event_type":"retro-landed"}
        EVENT{"event_type":"project-closed","event_id":"e-1"}
                                                       ^^^^^ start
    """,
    "ids count within their run": """
        EVENT{"event_type":"dispatch-start","project_run_id":"one","dispatch_id":"d-1"}
                                                                                 ^^^^^ start
        EVENT{"event_type":"dispatch-start","project_run_id":"two","dispatch_id":"d-1"}
        EVENT{"event_type":"dispatch-end","project_run_id":"one","dispatch_id":"d-1"}
                                                                               ^^^^^ write
        EVENT{"event_type":"dispatch-end","project_run_id":"two","dispatch_id":"d-1"}
    """,
    "a dispatch is resumed in another run": """
        EVENT{"event_type":"dispatch-start","project_run_id":"one","dispatch_id":"d-1"}
                                                                                 ^^^^^ start
        EVENT{"event_type":"dispatch-start","project_run_id":"two","parent_dispatch_id":"d-1"}
                                                                                        ^^^^^ read
    """,
    "broken lines count as far as their text shows": """
        EVENT{"event_type":"dispatch-start","dispatch_id":"d-1"}
                                                          ^^^^^ start
        EVENT{"event_type":"round-start","dispatch_id":"d-1",}
                                                       ^^^^^ read
        EVENT{"event_type":"dispatch-end","dispatch_id":"d-1","result":"done"
                                                        ^^^^^ write
        EVENT{"event_type":"dispatch-start","parent_dispatch_id":"d-1","model":7}
                                                                 ^^^^^ read
        EVENT{"event_type":"tool-called","dispatch_id":"d-1"}
                                                       ^^^^^ read
    """,
    "text beyond the bmp": """
        EVENT{"event_type":"slice-started","linear_ref":"🚀 日本","slice_slug":"🚀-retry"}
                                                                            ^^^^^^^^^ start
        EVENT{"event_type":"slice-completed","pr_ref":"🚀🚀","slice_slug":"🚀-retry"}
                                                                        ^^^^^^^^^ write
        EVENT{"event_type":"slice-completed","slice_slug":"\\ud83d\\ude80-retry"}
                                                          ^^^^^^^^^^^^^^^^^^^^ write
    """,
}


@pytest.mark.parametrize("case", NAMED)
def test_a_name_leads_to_where_that_starts_and_is_found_again(case: str) -> None:
    check_named(NAMED[case])


def test_a_start_that_is_rejected_is_a_start() -> None:
    check_named("""
        EVENT{"event_type":"slice-started","slice_slug":"retry","slice_index":0}
                                                        ^^^^^^^ start
        EVENT{"event_type":"slice-completed","slice_slug":"retry"}
                                                          ^^^^^^^ write
    """)
    check_named("""
        EVENT{"event_type":"correctness-recorded","project_run_id":"checkout","qa":"passed"}
                                                                   ^^^^^^^^^^ start
        EVENT{"event_type":"correctness-recorded","project_run_id":"checkout"}
                                                                   ^^^^^^^^^^ read
    """)


def test_the_type_of_an_event_leads_to_what_it_belongs_to() -> None:
    check_definition("""
        EVENT{"event_type":"round-start","dispatch_id":"d-1","round_id":"r-1"}
                                                                        ^^^^^ start
        EVENT{"event_type":"round$0-end","dispatch_id":"d-1","round_id":"r-1"}
    """)
    check_definition("""
        EVENT{"event_type":"dispatch-start","dispatch_id":"d-1"}
                                                          ^^^^^ start
        EVENT{"event_type":"round$0-start","dispatch_id":"d-1","round_id":"r-1"}
    """)
    check_definition("""
        EVENT{"event_type":"project-started","project_run_id":"checkout"}
                                                              ^^^^^^^^^^ start
        EVENT{"event_type":"tokens$0-recorded","project_run_id":"checkout"}
    """)
    check_definition("""
        EVENT{"event_type":"slice-started","slice_slug":"retry"}
                                                        ^^^^^^^ start
        EVENT{"event_type":"slice$0-completed","slice_slug":"retry",}
    """)


def test_a_file_that_nothing_authors_was_first_amended() -> None:
    check_definition("""
        EVENT{"event_type":"falsified-assumption","artifact_path":"a/pl$0an.md"}
        EVENT{"event_type":"plan-amended","plan_path":"a/plan.md"}
                                                      ^^^^^^^^^^^ start
        EVENT{"event_type":"plan-amended","plan_path":"a/plan.md"}
    """)


def test_an_id_that_nothing_starts_has_no_definition() -> None:
    check_definition("""
        EVENT{"event_type":"round-end","dispatch_id":"d$0-1","round_id":"r-1"}
        EVENT{"event_type":"dispatch-end","dispatch_id":"d-1"}
    """)


def test_where_nothing_is_named() -> None:
    for fixture in (
        "$0<eof>",
        '$0EVENT{"event_type":"project-started"}',
        'EVENT{"event_type":"project-started","t$0s":"2026-05-28T14:00:00.000Z"}',
        'EVENT{"event_type":"round-start","dispatch$0_id":"d-1"}',
        'EVENT{"event_type":"dispatch-start","parent_dispatch_id":nu$0ll}',
        "not $0json",
        '["d$0-1"]',
        'EVENT{"event_type":"tool$0-called","project_run_id":<absent>}',
    ):
        check_definition(fixture)
        assert not read(fixture).marks


def test_highlights_are_those_near_the_cursor() -> None:
    line = triage(project_run_id="checkout")
    analysis = Analysis(line + "\n" * 1_000 + line + "\n" * 100_000 + line)
    point = Point(0, line.index("checkout"))
    lit = document_highlights(View(analysis, PositionEncoding.UTF16), point)
    assert [each.range.start.line for each in lit or ()] == [0, 1_001]
