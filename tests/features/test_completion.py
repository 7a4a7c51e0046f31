"""Completion of whole events: what comes next, with what is known of it filled in."""

from textwrap import dedent

import pytest
from lsprotocol import types

from drive_trace.features.completion import resolve_completion
from drive_trace.vocabulary import EVENTS
from tests.support.completing import (
    MODERN,
    PLAIN,
    Offered,
    check_completion,
    labels,
    made,
    notes,
    offered,
)
from tests.support.fixtures import read

OPEN_ROUND = """
        EVENT{"event_type":"project-started"}
        EVENT{"event_type":"dispatch-start","dispatch_id":"D1","orchestrator_agent_id":"agent-7"}
        EVENT{"event_type":"round-start","dispatch_id":"D1","round_id":"R1","orchestrator_agent_id":"agent-7","ts":"2026-05-28T14:02:00.000Z"}
"""
ROUND_END = (
    'EVENT{"event_type":"round-end","event_id":"FRESH","ts":"NOW","dispatch_id":"D1",'
    '"round_id":"R1","orchestrator_agent_id":"agent-7",'
)


def test_an_open_round_is_briefed_then_ended() -> None:
    assert notes(f"{OPEN_ROUND}        $0")[:4] == [
        Offered("brief-issued", "round 1 of implementer D1 R1, open since 14:02"),
        Offered("round-end", "round 1 of implementer D1 R1, open since 14:02"),
        Offered("dispatch-end", "implementer D1 R1, open since 14:00"),
        Offered("dispatch-start", "One delegation to a sub-agent begins"),
    ]
    brief = """
        EVENT{"event_type":"brief-issued","dispatch_id":"D1","round_id":"R1"}
        $0
    """
    assert labels(OPEN_ROUND + brief)[:2] == ["round-end", "brief-issued"]


def test_an_event_comes_whole_and_measured() -> None:
    blanks = (
        '"verdict":"${1|satisfied,another-round-needed,escalating-to-user,stop-condition|}",'
        '"findings_filed":${2:count},"wall_clock_ms":1680000}'
    )
    check_completion(
        f"{OPEN_ROUND}        $0<eof>", "round-end", f"{OPEN_ROUND}        {ROUND_END}{blanks}"
    )


def test_without_snippets_what_is_not_known_is_a_gap() -> None:
    gaps = '"verdict":"","findings_filed":null,"wall_clock_ms":1680000}'
    before, after = f"{OPEN_ROUND}        $0<eof>", f"{OPEN_ROUND}        {ROUND_END}{gaps}"
    check_completion(before, "round-end", after, client=PLAIN)


@pytest.mark.parametrize(
    "typed", ["{$0", "{$0}", "round$0", '{"rou$0', '{"rou$0"}', "  $0 ", "{ $0 }"]
)
def test_what_was_typed_already_is_replaced(typed: str) -> None:
    slice_started = 'EVENT{"event_type":"slice-started"}'
    check_completion(
        f"{dedent(OPEN_ROUND)}{typed}\n{slice_started}",
        "round-start",
        f"""{dedent(OPEN_ROUND)}EVENT{{"event_type":"round-start","event_id":"FRESH","ts":"NOW","orchestrator_agent_id":"agent-7","dispatch_id":"D1","round_id":"OPENED","round_number":2}}
{slice_started}""",
    )


ORDERS = {
    "nothing yet": ("$0", ["project-started", "triage-verdict", "slice-started", "dispatch-start"]),
    "above the first line of a run": (
        """
        $0
        EVENT{"event_type":"slice-started"}
        """,
        ["project-started", "triage-verdict", "slice-started", "dispatch-start"],
    ),
    "the work was triaged": (
        """
        EVENT{"event_type":"triage-verdict"}
        $0
        """,
        ["project-started", "slice-started", "spec-authored (project)", "dispatch-start"],
    ),
    "later work was triaged": (
        """
        EVENT{"event_type":"project-started"}
        EVENT{"event_type":"triage-verdict"}
        $0
        """,
        ["slice-started", "spec-authored (project)", "dispatch-start"],
    ),
    "a slice has begun": (
        """
        EVENT{"event_type":"project-started"}
        EVENT{"event_type":"slice-started"}
        $0
        """,
        ["spec-authored (slice)", "dispatch-start", "slice-completed", "slice-started"],
    ),
    "a plan follows its spec": (
        """
        EVENT{"event_type":"slice-started"}
        EVENT{"event_type":"spec-authored","spec_kind":"project"}
        $0
        """,
        ["plan-authored (project)", "dispatch-start", "slice-completed"],
    ),
    "within a round the plan goes with its spec": (
        """
        EVENT{"event_type":"dispatch-start"}
        EVENT{"event_type":"round-start"}
        EVENT{"event_type":"spec-amended","spec_kind":"slice"}
        $0
        """,
        ["plan-amended (slice)", "brief-issued", "round-end"],
    ),
    "the dispatch goes another round": (
        """
        EVENT{"event_type":"dispatch-start"}
        EVENT{"event_type":"round-start"}
        EVENT{"event_type":"round-end","verdict":"another-round-needed"}
        $0
        """,
        ["round-start", "dispatch-end", "dispatch-start"],
    ),
    "the dispatch can end": (
        """
        EVENT{"event_type":"dispatch-start"}
        EVENT{"event_type":"round-start"}
        EVENT{"event_type":"round-end","verdict":"satisfied"}
        $0
        """,
        ["dispatch-end", "round-start", "dispatch-start"],
    ),
    "the run is over": (
        """
        EVENT{"event_type":"project-started"}
        EVENT{"event_type":"project-closed"}
        $0
        """,
        ["tokens-recorded", "correctness-recorded"],
    ),
    "an end that readers reject ends all the same": (
        """
        EVENT{"event_type":"slice-started"}
        EVENT{"event_type":"dispatch-start"}
        EVENT{"event_type":"dispatch-end","result":"done"}
        $0
        """,
        ["dispatch-start", "slice-completed"],
    ),
    "in the middle of a trace": (
        """
        EVENT{"event_type":"dispatch-start"}
        $0
        EVENT{"event_type":"dispatch-end"}
        """,
        ["round-start", "dispatch-end"],
    ),
    "between broken lines": (
        """
        EVENT{"event_type":"dispatch-start"}
        {"event_type":"round-start",
        $0
        not JSON
        """,
        ["round-start", "dispatch-end"],
    ),
    "below text beyond the BMP": (
        """
        EVENT{"event_type":"slice-started","slice_slug":"🚀-日本"}
        🚀🚀
        $0
        """,
        ["spec-authored (slice)", "dispatch-start", "slice-completed"],
    ),
}


@pytest.mark.parametrize("case", ORDERS)
def test_what_can_come_next_comes_first(case: str) -> None:
    fixture, first = ORDERS[case]
    found = labels(fixture)
    assert found[: len(first)] == first
    assert {label.partition(" ")[0] for label in found} == set(EVENTS)


def test_an_empty_file_knows_its_run_from_its_path() -> None:
    check_completion(
        "$0<eof>",
        "slice-started",
        """
        EVENT{"event_type":"slice-started","event_id":"FRESH","ts":"NOW","project_run_id":"orphan-login","slice_slug":"$1","slice_index":${2:1},"linear_ref":${3:null}}
        """,
        path="file:///shop/wip/drive-trace/orphan-login.jsonl",
    )


def test_a_file_that_promises_nothing_has_its_run_to_be_filled_in() -> None:
    check_completion(
        "$0\n{}",
        "tokens-recorded",
        """
        EVENT{"event_type":"tokens-recorded","event_id":"FRESH","ts":"NOW","project_run_id":"$1","input_tokens":${2:null},"output_tokens":${3:null},"cache_read_tokens":${4:null},"cache_write_tokens":${5:null}}
        {}
        """,
        path="untitled:Untitled-1",
    )


def test_of_several_runs_the_nearest_above_goes_on() -> None:
    check_completion(
        """
        EVENT{"event_type":"dispatch-start","project_run_id":"run-a","dispatch_id":"A"}
        EVENT{"event_type":"dispatch-start","project_run_id":"run-b","dispatch_id":"B","orchestrator_agent_id":"b-7"}
        $0
        EVENT{"event_type":"dispatch-start","project_run_id":"run-c","dispatch_id":"C"}
        """,
        "round-start",
        """
        EVENT{"event_type":"dispatch-start","project_run_id":"run-a","dispatch_id":"A"}
        EVENT{"event_type":"dispatch-start","project_run_id":"run-b","dispatch_id":"B","orchestrator_agent_id":"b-7"}
        EVENT{"event_type":"round-start","event_id":"FRESH","ts":"NOW","project_run_id":"run-b","orchestrator_agent_id":"b-7","dispatch_id":"B","round_id":"OPENED","round_number":1}
        EVENT{"event_type":"dispatch-start","project_run_id":"run-c","dispatch_id":"C"}
        """,
    )


_PARALLEL = """
        EVENT{"event_type":"dispatch-start","dispatch_id":"A","dispatch_name":"parser","ts":"2026-05-28T14:00:00.000Z"}
        EVENT{"event_type":"round-start","dispatch_id":"A","round_id":"A1","round_number":1,"ts":"2026-05-28T14:00:00.000Z"}
        EVENT{"event_type":"dispatch-start","dispatch_id":"B","dispatch_name":"lexer","ts":"2026-05-28T14:29:00.000Z"}
        EVENT{"event_type":"round-start","dispatch_id":"B","round_id":"B1","round_number":1,"ts":"2026-05-28T14:29:00.000Z"}
        $0
        EVENT{"event_type":"slice-started"}
        """


@pytest.mark.parametrize(
    ("label", "ids", "passed"),
    [
        ("dispatch-end (lexer)", '"dispatch_id":"B"', 60000),
        ("dispatch-end (parser)", '"dispatch_id":"A"', 1800000),
        ("round-end (round 1 of lexer)", '"dispatch_id":"B","round_id":"B1"', 60000),
        ("round-end (round 1 of parser)", '"dispatch_id":"A","round_id":"A1"', 1800000),
    ],
)
def test_each_open_dispatch_and_round_has_an_end_of_its_own(
    label: str, ids: str, passed: int
) -> None:
    name = label.partition(" ")[0]
    outcome = (
        '"result":"${1|completed,failed,aborted|}"'
        if name == "dispatch-end"
        else '"verdict":"${1|satisfied,another-round-needed,escalating-to-user,stop-condition|}",'
        '"findings_filed":${2:count}'
    )
    end = (
        f'EVENT{{"event_type":"{name}","event_id":"FRESH","ts":"NOW",{ids},'
        f'{outcome},"wall_clock_ms":{passed}}}'
    )
    check_completion(_PARALLEL, label, _PARALLEL.replace("$0", end))


def test_who_closes_what_was_forgotten_for_over_a_day_says_how_long_it_took() -> None:
    forgotten = """
        EVENT{"event_type":"dispatch-start","dispatch_id":"A","ts":"2026-05-27T14:29:00.000Z"}
        $0
        EVENT{"event_type":"slice-started"}
        """
    end = (
        'EVENT{"event_type":"dispatch-end","event_id":"FRESH","ts":"NOW","dispatch_id":"A",'
        '"result":"${1|completed,failed,aborted|}","wall_clock_ms":${2:milliseconds}}'
    )
    check_completion(forgotten, "dispatch-end", forgotten.replace("$0", end))


def test_whether_a_dispatch_is_resumed_only_a_person_knows() -> None:
    assert notes("""
        EVENT{"event_type":"dispatch-start","dispatch_id":"D1"}
        EVENT{"event_type":"dispatch-end","dispatch_id":"D1","result":"failed"}
        EVENT{"event_type":"dispatch-start","parent_dispatch_id":$0}
    """) == [
        Offered("null", "no earlier dispatch is resumed"),
        Offered("D1", "implementer D1 R1, failed 14:00"),
    ]


def test_what_has_no_name_yet_is_told_in_words() -> None:
    unnamed = """
        EVENT{"event_type":"dispatch-start","dispatch_id":"D1","dispatch_name":""}
        EVENT{"event_type":"round-start","dispatch_id":"D1","round_id":"R1"}
        $0
    """
    assert notes(unnamed)[0].note == "round 1 of a dispatch without a name, open since 14:00"


def test_a_grade_carries_what_was_recorded() -> None:
    graded = """
        EVENT{"event_type":"correctness-recorded","mechanical":"pass","qa":"fail","intent":null}
        $0
        EVENT{"event_type":"slice-started"}
    """
    (note,) = [each.note for each in notes(graded) if each.label == "correctness-recorded"]
    assert note == "pass, fail, null, as recorded at 14:00"
    check_completion(
        graded,
        "correctness-recorded",
        """
        EVENT{"event_type":"correctness-recorded","mechanical":"pass","qa":"fail","intent":null}
        EVENT{"event_type":"correctness-recorded","event_id":"FRESH","ts":"NOW","mechanical":"pass","qa":"fail","intent":null}
        EVENT{"event_type":"slice-started"}
        """,
        client=PLAIN,
    )


def test_nothing_mints_a_verdict() -> None:
    check_completion(
        'EVENT{"event_type":"slice-started"}\n$0\n{}',
        "correctness-recorded",
        """
        EVENT{"event_type":"slice-started"}
        EVENT{"event_type":"correctness-recorded","event_id":"FRESH","ts":"NOW","mechanical":${1|null,"pass","fail"|},"qa":${2|null,"pass","fail"|},"intent":${3|null,"pass","fail"|}}
        {}
        """,
    )


@pytest.mark.parametrize(
    "later", ['EVENT{"event_type":"dispatch-start"}', '{"event_type":"dispa', '{"event_type":"x"}']
)
def test_no_grade_is_carried_over_what_may_be_later_work(later: str) -> None:
    graded = f"""
        EVENT{{"event_type":"correctness-recorded","mechanical":"pass","qa":null,"intent":"pass"}}
        {later}
        $0
        {{}}
    """
    (whole,) = (each for each in offered(graded) if "correctness-" in each.label)
    assert whole.label_details is not None
    why = "the run went on since the last one, which is not repeated"
    assert whole.label_details.description == why
    grade = """"mechanical":${1|null,"pass","fail"|},"qa":${2|null,"pass","fail"|},"intent":${3|"""
    assert grade in made(read(graded), whole)


def test_no_grade_is_offered_whole_that_would_pass_over_a_rejected_one() -> None:
    fixture = """
        EVENT{"event_type":"correctness-recorded"}
        EVENT{"event_type":"correctness-recorded","qa":"failed"}
        $0
    """
    assert "correctness-recorded" not in labels(fixture)


def test_events_with_fields_of_a_kind_come_once_for_each() -> None:
    fixture = """
        EVENT{"event_type":"slice-started"}
        $0
        {}
    """
    found = [label for label in labels(fixture) if label.startswith("plan-authored")]
    assert found == ["plan-authored (slice)", "plan-authored (project)"]
    check_completion(
        fixture,
        "plan-authored (project)",
        """
        EVENT{"event_type":"slice-started"}
        EVENT{"event_type":"plan-authored","event_id":"FRESH","ts":"NOW","plan_path":"$1","plan_kind":"project","byte_length":${2:bytes},"dispatch_count":null,"slice_count":${3:count},"dispatch_size_distribution":null,"open_items_count":${4:count}}
        {}
        """,
    )


def test_a_brief_is_told_from_the_earlier_ones() -> None:
    fixture = """
        EVENT{"event_type":"dispatch-start"}
        EVENT{"event_type":"round-start"}
        EVENT{"event_type":"brief-issued","brief_content_hash":"first"}
        EVENT{"event_type":"brief-issued","brief_content_hash":"first","brief_disposition":$0}
    """
    assert labels(fixture)[0] == "reissue"
    assert labels(fixture.replace('"first","brief_d', '"other","brief_d'))[0] == "amended"


def test_a_carriage_return_stays_behind_the_event() -> None:
    fixture = read('$0\r\nEVENT{"event_type":"slice-started"}\r\n')
    (item,) = (each for each in offered(fixture) if each.label == "slice-started")
    edit = item.text_edit
    assert isinstance(edit, types.TextEdit)
    assert edit.range == types.Range(types.Position(0, 0), types.Position(0, 0))
    assert "\n" not in edit.new_text


def test_hostile_text_is_shown_harmlessly_and_written_exactly() -> None:
    fixture = r"""
        EVENT{"event_type":"dispatch-start","dispatch_id":"$1}`\\\"\u202e,|","dispatch_name":"a\n**b**"}
        $0
        {}
    """
    (item,) = (each for each in offered(fixture) if each.label == "round-start")
    assert item.label_details is not None
    assert item.label_details.description == "a<U+000A>**b**, open since 14:00"
    assert isinstance(item.text_edit, types.TextEdit)
    assert r'"dispatch_id":"$1}`\\\"' in item.text_edit.new_text
    (item,) = (each for each in offered(fixture) if each.label == "dispatch-end")
    assert isinstance(item.text_edit, types.TextEdit)
    assert r'"dispatch_id":"\$1}`\\\\\\"' in item.text_edit.new_text  # as a snippet spells it


def test_documentation_comes_when_somebody_looks() -> None:
    (item,) = (each for each in offered("$0") if each.label == "slice-started")
    assert item.documentation is None
    resolved = resolve_completion(item, types.MarkupKind.Markdown)
    assert isinstance(resolved.documentation, types.MarkupContent)
    assert resolved.documentation.value.startswith(
        "**slice-started** · lifecycle\n\nWork on a slice"
    )
    for kind in (*types.MarkupKind, None):
        for each in offered("$0", client=MODERN):
            assert resolve_completion(each, kind).documentation is not None


@pytest.mark.parametrize("data", [None, 7, [], {}, {"event": 3}, {"field": [{}], "event": "x"}])
def test_an_item_of_anybody_else_stays_as_it_is(data: object) -> None:
    item = types.CompletionItem("x", data=data)
    assert resolve_completion(item, types.MarkupKind.Markdown).documentation is None


def test_an_old_client_gets_what_it_knows() -> None:
    items = offered(f"{OPEN_ROUND}        $0", client=PLAIN)
    assert {item.kind for item in items} == {types.CompletionItemKind.Snippet}
    assert all(isinstance(item.text_edit, types.TextEdit) for item in items)
    assert all(item.insert_text_format is None and item.label_details is None for item in items)
    assert items[0].detail == "round 1 of implementer D1 R1, open since 14:02"
