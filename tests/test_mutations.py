"""Fixing a mistake on a line of each event: what is certain is mended, and nothing else moves."""

import json
from typing import Any

import pytest

from drive_trace.analysis import Analysis
from drive_trace.authoring.fixing import fix_all
from drive_trace.json_text import as_json
from drive_trace.vocabulary import EVENTS, GRADE
from tests.support.fixtures import event_id
from tests.support.scored import score_of

FEEDS = [event.name for event in EVENTS.values() if event.is_feed]


def nested(event: dict[str, Any]) -> str:
    envelope = [*event][:6]
    payload = {key: value for key, value in event.items() if key not in envelope}
    return as_json({**{key: event[key] for key in envelope}, "payload": payload})


MENDED = {
    "a trailing comma": lambda text, event: text[:-1] + ",}",
    "a comma behind the record": lambda text, event: text + ",",
    "spaces": lambda text, event: json.dumps(event, ensure_ascii=False),
    "a tab": lambda text, event: text.replace(",", ",\t", 1),
    "a no-break space": lambda text, event: text.replace(":", ":\u00a0", 1),
    "a key twice": lambda text, event: f'{{"ts":{as_json(event["ts"])},{text[1:]}',
    "single quotes": lambda text, event: text.replace('"schema_version"', "'schema_version'"),
    "an unquoted key": lambda text, event: text.replace('"event_id"', "event_id"),
    "an equals sign": lambda text, event: text.replace('"ts":', '"ts"='),
    "a nested payload": lambda text, event: nested(event),
    "an array": lambda text, event: f"[{text}]",
}
"""Mistakes of form: the event says the same with them. What is mended is the line as it was."""

LEFT = {
    "a comment": lambda text, event: text + " // by hand",
    "two values": lambda text, event: '{"ts":"2026-01-01T00:00:00.000Z",' + text[1:],
    "a member of another event": lambda text, event: text[:-1] + ',"mechanical":"fail"}',
    "half a line": lambda text, event: text[: len(text) // 2],
    "another version": lambda text, event: text.replace('"1"', '"2"', 1),
    "a field too few": lambda text, event: text.replace('"orchestrator_agent_id":null,', ""),
    "another key": lambda text, event: text.replace('"project_run_id"', '"runId"'),
    "another event": lambda text, event: text.replace('"event_type":"', '"event_type":"x-'),
    "text behind": lambda text, event: text + " ok",
}
"""Mistakes that only a person can mend, or leave."""


LAYOUT = ("spaces", "a tab", "a key twice")
"""Of a grade or a cost, these alone leave what readers make of it."""


def mutated(shift: int) -> tuple[list[str], list[str]]:
    """Each event with a mistake, of all kinds in turn, between lines without: as it is, and as it
    has to be once all that is certain is mended.
    """
    kinds = [*MENDED, *LEFT]
    lines, wanted = list[str](), list[str]()
    for number, event in enumerate(EVENTS.values()):
        kind = kinds[(number + shift) % len(kinds)]
        example = {**event.example, "event_id": event_id(2 * number + 1)}
        text = as_json(example)
        lines.append((MENDED | LEFT)[kind](text, example))
        is_certain = kind in LAYOUT or (kind in MENDED and not event.is_feed)
        wanted.append(text if is_certain else lines[-1])
        good = {**example, "event_id": event_id(2 * number + 2), "project_run_id": "cart"}
        lines.append(as_json(good))
        wanted.append(lines[-1])
    return [*lines, ""], [*wanted, ""]


@pytest.mark.parametrize("shift", range(len(MENDED) + len(LEFT)))
def test_what_is_certain_is_mended_and_nothing_else_is_touched(shift: int) -> None:
    lines, wanted = mutated(shift)
    analysis = Analysis(lines)
    before, valid = verdicts(analysis), valid_feeds(analysis)
    fix_all(analysis)
    assert [line.text for line in analysis.document.lines] == wanted
    assert valid_feeds(analysis) == valid
    assert verdicts(analysis).items() >= before.items()
    assert fix_all(analysis) == 0
    assert not any(fix.safe for each in analysis.findings() for fix in analysis.fixes(each))


def verdicts(analysis: Analysis) -> dict[str, str]:
    return {run.run_id: run.verdict.value for run in score_of(analysis).runs}


def valid_feeds(analysis: Analysis) -> list[object]:
    """The grades and costs that readers accept."""
    return [
        line.facts
        for line in analysis.document.lines
        if line.event is not None and line.event.name in FEEDS
    ]


@pytest.mark.parametrize("kind", [*MENDED, *LEFT])
def test_a_repair_of_a_grade_never_makes_one_count(kind: str) -> None:
    event = {**EVENTS[GRADE].example, "mechanical": "pass", "qa": "pass", "intent": "pass"}
    text = (MENDED | LEFT)[kind](as_json(event), event)
    analysis = Analysis([text])
    before = valid_feeds(analysis)
    fix_all(analysis, suggestions=True)
    assert valid_feeds(analysis) == before
