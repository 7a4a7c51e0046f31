"""Any baseline: it hides what it lists and no more, and what is none is refused at its place."""

import json
from collections import Counter
from random import Random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from drive_trace.analysis import Analysis
from drive_trace.linter.settings import RuleSettings, fingerprint
from drive_trace.storage.projects import Baseline, read_baseline, write_baseline
from tests.storage.support import assert_within_lines
from tests.support.models import Edit, LineEdit, applied, edits, event_lines, point
from tests.support.mutating import changed, garbled, spelt
from tests.support.schemas import strict_validator

# Its text

ONE, TWO = "0" * 32, "1f" * 16
FINGERPRINT = {"pattern": "^[0-9a-f]{32}$"}


COUNTED = {
    "type": "object",
    "propertyNames": FINGERPRINT,
    "additionalProperties": {"type": "integer", "minimum": 1},
}
OF_RULES = {"type": "object", "additionalProperties": COUNTED}
SCHEMA = strict_validator(
    {
        "type": "object",
        "required": ["version", "files"],
        "properties": {
            "version": {"type": "integer", "const": 2},
            "files": {"type": "object", "additionalProperties": OF_RULES},
        },
    }
)
FILES = {"a.jsonl": {"unknown-value": {ONE: 1, TWO: 7}, "missing-field": {ONE[:-1] + "2": 3}}}
BASELINES = st.sampled_from([{"version": 2, "files": FILES}])


def read_strictly(text: str) -> Any:
    """What a baseline says, by a schema; ValueError or RecursionError for what is none."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) < len(pairs):
            raise ValueError("twice")
        return dict(pairs)

    def refuse(constant: str) -> None:
        raise ValueError(constant)

    data = json.loads(text, object_pairs_hook=once, parse_constant=refuse)
    if not SCHEMA.is_valid(data):
        raise ValueError("no baseline")
    return data["files"]


@given(st.text() | st.text('{}[]:,"files version 12aN', max_size=40))
def test_any_text_is_a_baseline_or_said_to_be_none(text: str) -> None:
    check_reading(text)


@given(garbled(spelt(changed(BASELINES)), most=1))
def test_a_baseline_is_what_its_schema_says(text: str) -> None:
    check_reading(text)


def check_reading(text: str) -> None:
    try:
        files = read_strictly(text)
    except (ValueError, RecursionError):
        files = None
    found = read_baseline(text)
    if files is None:
        assert isinstance(found, tuple)
        ((_, message),) = found
        assert_within_lines(text, found)
        assert message.isprintable()
        return
    assert isinstance(found, Baseline)
    assert found.files == files
    for path, rules in files.items():
        assert found.known(path).keys() == {name for each in rules.values() for name in each}
    assert read_baseline(write_baseline(found)) == found


# What it hides


def naive(text: str, known: dict[str, int]) -> tuple[list[tuple[int, str]], int]:
    """The lines and codes of the findings that are shown, and how many are hidden: of the lines
    with one text, the first so many as the baseline counts.
    """
    analysis = Analysis(text)
    found = [(analysis.line_number(each.line), each) for each in analysis.findings()]
    seen: Counter[str] = Counter()
    hidden = set()
    for number, code in sorted({(number, each.rule.code) for number, each in found}):
        name = fingerprint(code, analysis.document.lines[number - 1].text)
        seen[name] += 1
        if seen[name] <= known.get(name, 0):
            hidden.add((number, code))
    said = [(number, each.rule.code) for number, each in found]
    shown = [each for each in said if each not in hidden]
    return shown, len(said) - len(shown)


def known_of(text: str, chance: Random) -> dict[str, int]:
    """A baseline of some findings of a text, for no more lines than these or for fewer."""
    analysis = Analysis(text)
    found = sorted({fingerprint(each.rule.code, each.line.text) for each in analysis.findings()})
    counts = [1, 1, 2, 3, 1000]
    return {name: chance.choice(counts) for name in found if chance.random() < 0.8}


@st.composite
def copies(draw: st.DrawFn) -> str:
    lines = draw(st.lists(event_lines(), min_size=1, max_size=3))
    return "\n".join(draw(st.lists(st.sampled_from(lines), min_size=1, max_size=8)))


COPIED = st.builds(LineEdit, st.integers(0, 8), st.integers(0, 2), st.just(""))


@given(copies(), st.integers(0, 99), st.lists(edits() | COPIED, max_size=3))
def test_a_baseline_hides_the_lines_that_it_counts_and_no_more(
    text: str, seed: int, changes: list[Edit | LineEdit]
) -> None:
    known = known_of(text, Random(seed))
    analysis = Analysis(text, RuleSettings(known=known))
    for change in [Edit(0, 0, ""), *changes]:
        edit = change.on(text) if isinstance(change, LineEdit) else change
        analysis.edit(point(text, edit.start), point(text, edit.end), edit.text)
        text = applied(text, edit)
        found = [(analysis.line_number(each.line), each.rule.code) for each in analysis.findings()]
        assert (found, analysis.hidden_count) == naive(text, known)
