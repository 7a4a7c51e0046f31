"""Code lenses: the verdict over each run, and what each correctness event decides."""

import json
from collections.abc import Callable

import pytest
from lsprotocol import types

from drive_trace.analysis import Analysis
from drive_trace.features.runs import MOST_LENSES, SHOW_RUN, code_lenses, resolve_lens
from drive_trace.trace.document import Point
from tests.support.fixtures import URI, check_lenses, lenses_of, trace
from tests.support.growth import assert_linear

GRADED = 'EVENT{"event_type":"correctness-recorded"}'


LENSES = {
    "a correct run shows its efficiency in short": (
        """
        EVENT{"event_type":"project-started","ts":"2026-05-28T14:00:00.000Z"}
        EVENT{"event_type":"round-start","dispatch_id":"d-1","round_id":"r-1"}
        EVENT{"event_type":"round-start","dispatch_id":"d-2","round_id":"r-2"}
        EVENT{"event_type":"round-start","dispatch_id":"d-3","round_id":"r-3"}
        EVENT{"event_type":"round-start","dispatch_id":"d-4","round_id":"r-4"}
        EVENT{"event_type":"round-start","dispatch_id":"d-4","round_id":"r-5"}
        EVENT{"event_type":"round-start","dispatch_id":"d-5","round_id":"r-6"}
        EVENT{"event_type":"round-start","dispatch_id":"d-5","round_id":"r-7"}
        EVENT{"event_type":"project-closed","ts":"2026-05-28T14:28:40.000Z"}
        EVENT{"event_type":"tokens-recorded","input_tokens":1912408,"output_tokens":42117}
        EVENT{"event_type":"correctness-recorded"}
        """,
        [(1, "CORRECT · 1.9M in · 42k out · 5 dispatches · 2 reworked"), (11, "decides: CORRECT")],
    ),
    "a run that nobody graded says what is missing": (
        """
        EVENT{"event_type":"dispatch-end"}
        EVENT{"event_type":"tokens-recorded"}
        """,
        [(1, "not computable: not graded · 1 dispatch · 28m work")],
    ),
    "what has no signal is left out and zero is not": (
        """
        EVENT{"event_type":"tokens-recorded","input_tokens":null,"output_tokens":0}
        EVENT{"event_type":"correctness-recorded"}
        """,
        [(1, "CORRECT · 0 out"), (2, "decides: CORRECT")],
    ),
    "each run has its lens over its first valid event": (
        """
        not a trace line
        EVENT{"event_type":"project-started","project_run_id":"b"}
        EVENT{"event_type":"project-started","project_run_id":"a"}
        EVENT{"event_type":"correctness-recorded","project_run_id":"a"}
        EVENT{"event_type":"project-closed","project_run_id":"b"}
        """,
        [(1, "not computable: not graded"), (3, "CORRECT"), (4, "decides: CORRECT")],
    ),
    "an event that was replaced says which one counts": (
        """
        EVENT{"event_type":"correctness-recorded","qa":"fail"}
        EVENT{"event_type":"correctness-recorded","project_run_id":"search-index"}
        EVENT{"event_type":"correctness-recorded","qa":"fail"}
        EVENT{"event_type":"correctness-recorded"}
        """,
        [
            (1, "CORRECT"),
            (1, "superseded by line 4"),
            (2, "CORRECT"),
            (2, "decides: CORRECT"),
            (3, "superseded by line 4"),
            (4, "decides: CORRECT"),
        ],
    ),
    "a rejected line is never silent": (
        """
        EVENT{"event_type":"correctness-recorded"}
        EVENT{"event_type":"correctness-recorded","qa":"failed"}
        """,
        [
            (1, "CORRECT, but 1 correctness line rejected (line 2), not counted · 1 rejected"),
            (1, "decides: CORRECT, but 1 correctness line rejected (line 2), not counted"),
            (2, "rejected, not counted"),
        ],
    ),
    "the first grade of a run has a lens even when it is rejected": (
        'EVENT{"event_type":"correctness-recorded","qa":"passed"}',
        [
            (
                1,
                "not computable: its only line is rejected"
                " · 1 correctness line rejected (line 1), not counted",
            ),
            (1, "rejected, not counted"),
        ],
    ),
    "an event that is all nulls takes the verdict back": (
        """
        EVENT{"event_type":"correctness-recorded"}
        EVENT{"event_type":"correctness-recorded","mechanical":null,"qa":null,"intent":null}
        """,
        [
            (1, "not computable — missing: mechanical, qa, intent"),
            (1, "superseded by line 2"),
            (2, "decides: not computable — missing: mechanical, qa, intent"),
        ],
    ),
    "a trace without valid events has no lens": ("[]\n\n{}", []),
}


@pytest.mark.parametrize("case", LENSES)
def test_lenses_say_what_counts(case: str) -> None:
    fixture, expected = LENSES[case]
    assert check_lenses(fixture) == expected


def test_a_rejected_line_whose_run_cannot_be_read_is_not_silent_either() -> None:
    lenses = check_lenses(
        """
        EVENT{"event_type":"correctness-recorded"}
        {"event_type":"correctness-recorded","qa":
        """
    )
    rejected = "1 correctness line rejected (line 2), not counted, which may be of this run"
    assert lenses == [
        (1, f"CORRECT, but {rejected}"),
        (1, f"decides: CORRECT, but {rejected}"),
        (2, "rejected, not counted"),
    ]


def test_a_run_id_that_is_cut_off_is_no_run_id() -> None:
    """A writer that dies in the middle of `alpha-2` has not graded `alpha`."""
    alpha = '"event_type":"correctness-recorded","project_run_id":"alpha'
    lenses = check_lenses(
        f"""
        EVENT{{{alpha}"}}
        EVENT{{{alpha}-2"}}
        {{{alpha}
        """
    )
    rejected = "1 correctness line rejected (line 3), not counted, which may be of this run"
    assert lenses == [
        (1, f"CORRECT, but {rejected}"),
        (1, f"decides: CORRECT, but {rejected}"),
        (2, f"CORRECT, but {rejected}"),
        (2, f"decides: CORRECT, but {rejected}"),
        (3, "rejected, not counted"),
    ]


# Resolving later


def test_a_lens_of_a_line_that_has_moved_says_so_until_it_is_asked_for_again() -> None:
    analysis = Analysis(trace('EVENT{"event_type":"project-started"}', GRADED, GRADED))
    lenses = code_lenses(analysis, URI)
    top = Point(0, 0)
    analysis.edit(top, top, trace(*['EVENT{"event_type":"slice-started"}'] * 40))
    titles = [title_of(resolve_lens(analysis, lens)) for lens in lenses]
    assert titles == ["CORRECT", "the trace has changed", "the trace has changed"]
    titles = [title_of(resolve_lens(analysis, lens)) for lens in code_lenses(analysis, URI)]
    assert titles == ["CORRECT", "superseded by line 43", "decides: CORRECT"]


def test_a_lens_says_what_is_so_when_it_comes_into_view() -> None:
    analysis = Analysis(trace('EVENT{"event_type":"project-started"}', GRADED))
    lenses = code_lenses(analysis, URI)
    end = Point(2, 0)
    analysis.edit(end, end, trace('EVENT{"event_type":"correctness-recorded","qa":"fail"}'))
    titles = [title_of(resolve_lens(analysis, lens)) for lens in lenses]
    assert titles == ["INCORRECT — qa failed", "superseded by line 3"]


def test_lenses_follow_where_runs_begin() -> None:
    analysis = Analysis(trace(run("b"), run("a"), run("b"), run("c")))
    assert places_of(analysis) == [1, 2, 4]
    analysis.edit(Point(0, 0), Point(1, 0), "")
    assert places_of(analysis) == [1, 2, 3], "b begins on its second line now"
    analysis.edit(Point(0, 0), Point(0, 0), trace(run("c"), run("d")))
    assert places_of(analysis) == [1, 2, 3, 4], "c begins on the new line"
    analysis.edit(Point(1, 0), Point(1, 1), "")
    assert places_of(analysis) == [1, 2, 3, 4], "d has a line, although readers reject it"
    analysis.edit(Point(1, 0), Point(1, len(analysis.document.lines[1].text)), "")
    assert places_of(analysis) == [1, 3, 4], "the line of d is none any more"


def test_a_verdict_stays_where_it_is_while_the_first_line_is_split() -> None:
    text = trace(run("a"), 'EVENT{"event_type":"slice-started","project_run_id":"a"}')
    for at in range(1, text.index("\n")):
        analysis = Analysis(text)
        analysis.edit(Point(0, at), Point(0, at), "\n")
        ((line, title),) = lenses_of(analysis)
        assert (line, title.partition(" · ")[0]) == (1, "not computable: not graded"), at


def test_rejected_lines_are_counted_in_short() -> None:
    torn = 'EVENT{"event_type":"round-end","verdict":7}'
    assert check_lenses("\n".join([*[torn] * 10, 'EVENT{"event_type":"project-started"}'])) == [
        (1, "not computable: not graded · 10 rejected")
    ]


def test_a_lens_whose_line_or_document_is_gone_says_so_and_does_nothing() -> None:
    analysis = Analysis(trace(GRADED))
    lenses = code_lenses(analysis, URI)
    analysis.edit(Point(0, 0), Point(1, 0), "")
    for lens in lenses:
        for now in (analysis, None):
            command = resolve_lens(now, lens).command
            assert command is not None
            assert command.title == "the trace has changed"
            assert not command.command
            assert command.tooltip is None


def test_a_lens_opens_its_run() -> None:
    hostile = "command:quit\u202e\x1b[0m`"
    analysis = Analysis(
        trace(
            f'EVENT{{"event_type":"correctness-recorded","project_run_id":{json.dumps(hostile)}}}'
        )
    )
    for lens in code_lenses(analysis, URI):
        command = resolve_lens(analysis, lens).command
        assert command is not None
        assert command.command == SHOW_RUN == "driveTrace.showRun"
        assert command.arguments == [{"uri": URI, "runId": hostile}]
        assert command.title.isprintable()
        assert command.tooltip == "Show the page of this run"


def test_lines_of_the_protocol_are_counted() -> None:
    analysis = Analysis(" \r\r\n" + trace(GRADED))
    lines = {lens.range.start.line for lens in code_lenses(analysis, URI)}
    assert lines == {2}, "a lone carriage return ends a line of the protocol, but no record"


# How many


def test_there_are_five_hundred_at_most_and_runs_come_first() -> None:
    runs = [
        f'EVENT{{"event_type":"correctness-recorded","project_run_id":"run-{number}"}}'
        for number in range(400)
    ]
    lenses = code_lenses(Analysis(trace(*runs)), URI)
    kinds = [lens.data["kind"] for lens in lenses if isinstance(lens.data, dict)]
    assert MOST_LENSES == 500
    assert kinds.count("run") == 400
    assert kinds.count("event") == 100
    lines = [lens.range.start.line for lens in lenses]
    assert lines == sorted(lines)


def test_lenses_of_a_run_that_is_corrected_often_cost_no_more_than_its_lines() -> None:
    def lenses(lines: int) -> Callable[[], None]:
        analysis = Analysis(trace(GRADED) * lines)

        def make() -> None:
            assert len(lenses_of(analysis)) == MOST_LENSES

        return make

    assert_linear(lenses, 4 * MOST_LENSES)


def title_of(lens: types.CodeLens) -> str:
    assert lens.command is not None
    return lens.command.title


def run(run_id: str) -> str:
    return f'EVENT{{"event_type":"project-started","project_run_id":"{run_id}"}}'


def places_of(analysis: Analysis) -> list[int]:
    return [lens.range.start.line + 1 for lens in code_lenses(analysis, URI)]
