"""Guesses: what is taken for a slip of what, and what never is."""

from collections.abc import Iterator
from functools import partial

import pytest

from drive_trace.analysis import Analysis
from drive_trace.linter.rule import Level
from drive_trace.linter.rules import RULES
from drive_trace.vocabulary import EVENTS, FieldType, OneOfShape, slips
from tests.support.fixtures import dumps, trace
from tests.support.growth import assert_linear

NEGATIONS = [*("not-", "un", "in", "non-", "non", "no-", "dis", "im", "by", "not", "no", "un-")]


def words(field: FieldType) -> list[str]:
    return list(field.shape.meanings) if isinstance(field.shape, OneOfShape) else []


FIELDS = [
    (event.name, field)
    for event in EVENTS.values()
    for field in event.fields.values()
    if words(field) and field.name != "event_type"
]
OUTCOMES = {(event, field.name) for event, field in FIELDS if field.is_outcome}


def denied(word: str) -> Iterator[str]:
    """The word, or one of its parts, with a negation before it, in several ways to write it."""
    parts = word.split("-")
    for negation in NEGATIONS:
        for place in range(len(parts)):
            made = "-".join([*parts[:place], negation + parts[place], *parts[place + 1 :]])
            yield from (made, made.replace("-", ""))


def negated(word: str) -> Iterator[str]:
    """The same, and the word with a doubt or a denial beside it."""
    yield from denied(word)
    yield from (
        f"NOT_{word.upper()}",
        f"not {word}",
        f"Un{word}",
        f"{word}?",
        f"{word} ?",
        f"{word}-not",
        f"!{word}",
        f"{word}less",
        f"{word}n't",
    )


def negated_slips(word: str) -> Iterator[str]:
    """Slips of denied words: a letter left out or doubled."""
    for each in denied(word):
        for at in range(len(each)):
            yield each[:at] + each[at + 1 :]
            yield each[:at] + each[at] + each[at:]


def test_the_outcomes_are_declared() -> None:
    assert {
        ("dispatch-end", "result"),
        ("round-end", "verdict"),
        ("triage-verdict", "verdict"),
        ("project-closed", "dod_status"),
        ("slice-completed", "result"),
        ("health-check-fired", "max_drift_severity"),
        *(("correctness-recorded", name) for name in ("mechanical", "qa", "intent")),
    } == OUTCOMES


@pytest.mark.parametrize(
    ("event", "field", "word"),
    [
        ("round-end", "verdict", "not-satisfied"),
        ("round-end", "verdict", "unsatisfied"),
        ("dispatch-end", "result", "incomplete"),
        ("slice-completed", "result", "unmerged"),
        ("project-closed", "dod_status", "all-unmet"),
        ("correctness-recorded", "qa", "bypass"),
        ("correctness-recorded", "qa", "impasse"),
        ("correctness-recorded", "qa", "pass?"),
        ("correctness-recorded", "qa", "pass？"),
        ("health-check-fired", "cadence", "no-closing-rollup"),
        ("health-check-fired", "cadence", "disopening-rollup"),
        ("correctness-recorded", "qa", "passable"),
        ("round-end", "verdict", "nsatisfied"),
        ("project-closed", "dod_status", "all-umet"),
        ("slice-completed", "result", "emerged"),
    ],
)
def test_bad_is_not_turned_into_good(event: str, field: str, word: str) -> None:
    analysis = Analysis(trace(f'EVENT{{"event_type":"{event}",{dumps(field)}:{dumps(word)}}}'))
    (finding,) = analysis.findings()
    assert "did you mean" not in analysis.message(finding.message)
    assert analysis.fixes(finding) == []


@pytest.mark.parametrize("name", ["dispatch-aborted", "slice-uncompleted", "not-project-closed"])
def test_another_event_is_not_guessed(name: str) -> None:
    assert slips.event_meant(name) is None


@pytest.mark.parametrize(
    ("event", "field"), FIELDS, ids=[f"{event}-{field.name}" for event, field in FIELDS]
)
def test_no_guess_of_a_value_crosses_a_negation(event: str, field: FieldType) -> None:
    for word in words(field):
        for each in negated(word):
            assert slips.value_meant(field, each) != word, each
        if field.is_outcome:
            for known in slips.known_words().get(word, ()):
                for each in negated(known):
                    assert slips.value_meant(field, each) != word, each
            for each in negated_slips(word):
                assert slips.value_meant(field, each) != word, each


def test_no_guess_of_a_name_crosses_a_negation() -> None:
    for name in EVENTS:
        for each in negated(name):
            assert slips.event_meant(each) != name, each
    for negation in NEGATIONS:
        for event in EVENTS.values():
            for name in event.fields:
                value = event.example.get(name)
                found = slips.field_meant(negation + name, value, event.fields.values())
                assert found is None or found.name != name, negation
        for code in RULES:
            assert slips.nearest(negation + code, RULES) != code, negation


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("project-complete", "project-closed"),
        ("sliceCompleted", "slice-completed"),
        ("SLICE_COMPLETED", "slice-completed"),
        ("slice-complete", "slice-completed"),
        ("slice-competled", "slice-completed"),
        ("correctnes-recorded", "correctness-recorded"),
        ("dispatch-edn", "dispatch-end"),
        ("dispatch-started", "dispatch-start"),
        ("round-strat", "round-start"),
        ("spec-created", None),
        ("round-stat", None),
    ],
)
def test_a_slip_in_an_events_name(word: str, meant: str | None) -> None:
    assert slips.event_meant(word) == meant


def test_of_two_that_are_as_near_none_is_guessed() -> None:
    assert slips.near_certain("recordem", ["recorded", "recorder"]) is None
    assert slips.near_certain("recordem", ["recorded"]) == "recorded"


@pytest.mark.parametrize(
    ("event", "field"), sorted(OUTCOMES), ids=["-".join(each) for each in sorted(OUTCOMES)]
)
def test_an_outcome_is_guessed_one_at_a_time(event: str, field: str) -> None:
    for choice in words(EVENTS[event].fields[field]):
        line = f'EVENT{{"event_type":"{event}","{field}":"{choice.upper()}"}}'
        analysis = Analysis(trace(line))
        (finding,) = (each for each in analysis.findings() if each.rule.code == "unknown-value")
        assert [fix.level for fix in analysis.fixes(finding)] == [Level.BY_HAND]


def test_a_letter_in_the_place_of_a_hyphen_is_a_slip_in_a_long_name() -> None:
    assert slips.is_slip_of_name("checkoutqretry", "checkout-retry")
    assert not slips.is_slip_of_name("checkout-retry-b", "checkout-retry")
    assert not slips.is_slip_of_name("fix-a", "fixba")


def test_names_too_long_to_compare_in_time_are_no_slips() -> None:
    assert slips.is_slip_of_name("n" * 79, "n" * 80)
    assert not slips.is_slip_of_name("n" * 80, "n" * 81)


def test_a_long_number_is_no_duration_and_found_out_in_time() -> None:
    field = EVENTS["dispatch-end"].fields["wall_clock_ms"]
    assert_linear(lambda size: partial(slips.said_in_type, field, "1" * size), 20_000)


# Keys: other names of a field, by what they hold

OTHER_NAMES = {
    "dispatch-start": {
        "dispatch_id": ("dispatch", "task_id", "dispatchId", "dispatch_uuid"),
        "dispatch_name": ("name", "title", "task"),
        "subagent_type": ("subagent", "agent_type"),
        "model": ("model_name", "model_id", "Model"),
        "parent_dispatch_id": ("parent", "parent_id"),
        "project_run_id": ("run_id", "run", "projectRunId"),
        "orchestrator_agent_id": ("agent_id", "orchestrator", "session_id"),
        "event_id": ("id", "uuid", "eventId"),
        "ts": ("timestamp", "time", "created_at"),
    },
    "dispatch-end": {
        "wall_clock_ms": ("duration_ms", "elapsed_ms", "wall_clock_millis", "time_ms"),
        "result": ("status", "outcome"),
    },
    "round-start": {"round_id": ("round",), "round_number": ("round", "number_of_round")},
    "round-end": {
        "findings_filed": ("findings", "findings_count", "issues", "num_findings"),
        "verdict": ("status", "decision"),
    },
    "brief-issued": {
        "brief_byte_length": ("brief_bytes", "length", "bytes", "byte_length"),
        "brief_content_hash": ("hash", "sha256", "brief_hash", "content_hash"),
        "brief_disposition": ("disposition",),
    },
    "slice-started": {
        "slice_slug": ("slug", "slice", "slice_name"),
        "slice_index": ("index", "slice_number", "slice"),
        "linear_ref": ("linear", "ticket", "linear_id", "linear_url"),
    },
    "slice-completed": {"pr_ref": ("pr", "pr_url", "pr_number", "pull_request")},
    "spec-authored": {
        "spec_path": ("path", "spec", "spec_url"),
        "spec_kind": ("kind", "spec"),
        "byte_length": ("bytes", "length", "size"),
        "edge_cases_count": ("edge_cases",),
        "open_questions_count": ("open_questions", "questions"),
        "dod_items_count": ("dod_items",),
    },
    "plan-amended": {
        "bytes_delta": ("delta", "delta_bytes"),
        "dispatches_added": ("added", "added_dispatches"),
        "dispatch_size_distribution": ("sizes", "size_distribution"),
        "open_items_count": ("open_items",),
    },
    "spec-amended": {"sections_changed": ("sections", "changed_sections")},
    "tokens-recorded": {
        "input_tokens": ("prompt_tokens", "inputTokens", "tokens_in"),
        "output_tokens": ("completion_tokens", "tokens_out"),
        "cache_read_tokens": ("cache_read_input_tokens", "cached_tokens"),
        "cache_write_tokens": ("cache_creation_input_tokens",),
    },
    "project-closed": {"dod_status": ("status", "dod")},
    "retro-landed": {"landing_surfaces": ("surfaces",), "trigger_class": ("trigger",)},
    "health-check-fired": {
        "drift_signal_count": ("drift_signals",),
        "max_drift_severity": ("severity",),
        "schema_version": ("v",),
    },
    "falsified-assumption": {"assumption_summary": ("summary", "assumption")},
}


def test_a_field_under_another_name_is_one_finding_and_one_rename() -> None:
    for name, fields in OTHER_NAMES.items():
        for field, keys in fields.items():
            is_text = "string" in EVENTS[name].fields[field].describe()
            value = EVENTS[name].example[field] or ("5cd5061c" if is_text else 7)
            for key in keys:
                new = f'"{field}":<absent>,"{key}":{dumps(value)}'
                analysis = Analysis(trace(f'EVENT{{"event_type":"{name}",{new}}}'))
                told = [one.finding for one in analysis.told() if one.finding.line.is_rejected]
                titles = [fix.title for each in told for fix in analysis.fixes(each)]
                assert titles == [f"Rename to `{field}`"], (name, key)


@pytest.mark.parametrize(
    ("event", "field", "pair", "title"),
    [
        ("dispatch-end", "wall_clock_ms", '"duration_ms":"PT28M"', "wall_clock_ms`: 1680000"),
        ("slice-completed", "pr_ref", '"pr_number":481', 'pr_ref`: "481"'),
        ("spec-amended", "sections_changed", '"sections":"Scope"', 'sections_changed`: ["Scope"]'),
        ("slice-completed", "ts", '"timestamp":1779976800', 'ts`: "2026-05-28T14:00:00.000Z"'),
        ("correctness-recorded", "qa", '"QA":true', "qa`"),
    ],
)
def test_a_value_is_converted_with_its_key_but_no_outcome(
    event: str, field: str, pair: str, title: str
) -> None:
    analysis = Analysis(trace(f'EVENT{{"event_type":"{event}","{field}":<absent>,{pair}}}'))
    (finding,) = [one.finding for one in analysis.told() if one.finding.line.is_rejected]
    assert [fix.title for fix in analysis.fixes(finding)] == [f"Rename to `{title}"]


@pytest.mark.parametrize(
    ("event", "field", "key", "value"),
    [
        ("dispatch-end", "result", "status", "done"),
        ("round-end", "verdict", "result", "pass"),
        ("slice-completed", "result", "state", "not-merged"),
        ("project-closed", "dod_status", "status", "closed"),
        ("project-closed", "final_retro_done", "retro_done", True),
        ("correctness-recorded", "qa", "tests", "pass"),
        ("correctness-recorded", "mechanical", "status", "pass"),
        ("tokens-recorded", "input_tokens", "total_tokens", 5),
        ("tokens-recorded", "input_tokens", "tokens", 5),
        ("tokens-recorded", "input_tokens", "cached_input_tokens_total", 5),
        ("dispatch-start", "model", "no_model", "large"),
        ("round-end", "findings_filed", "unresolved_findings", 2),
        ("round-end", "findings_filed", "findings", ["a"]),
        ("spec-authored", "byte_length", "length", "long"),
    ],
)
def test_what_may_be_something_else_is_not_renamed(
    event: str, field: str, key: str, value: object
) -> None:
    text = f'EVENT{{"event_type":"{event}","{field}":<absent>,"{key}":{dumps(value)}}}'
    analysis = Analysis(trace(text))
    fixes = [fix.title for each in analysis.findings() for fix in analysis.fixes(each)]
    assert not [title for title in fixes if "Rename" in title]
