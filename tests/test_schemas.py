"""schemas/: fresh, valid as schemas, and of one mind with the engine."""

import json
import math
import os
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, reject
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic import TypeAdapter

from drive_trace.analysis import Analysis
from drive_trace.linter.rule import Severity
from drive_trace.trace.line import LineStatus
from drive_trace.trace.reading import event_decoder, read_exactly
from drive_trace.vocabulary import EVENTS
from drive_trace.vocabulary.declaring import DECLARED
from tests.cli.support import run, write
from tests.support.mutating import SPELLINGS, Spelling, changed, garbled, spelt
from tests.support.schemas import SCHEMAS, schema

ROOT = Path(__file__).parent.parent
LINES = ROOT / "tests/conformance/lines.jsonl"
TRACE_CASES = ROOT / "tests/conformance/traces.jsonl"


def test_each_event_has_a_schema() -> None:
    files = {path.name.removesuffix(".schema.json") for path in SCHEMAS.glob("*.json")}
    assert files == {
        *EVENTS,
        "event",
        "configuration",
        "judgement",
        "gating",
        "calibration",
        "run-manifest",
        "provenance",
        "suite",
    }


@pytest.mark.parametrize("name", ["event", *EVENTS])
def test_schema_is_a_schema_and_says_what_every_field_means(name: str) -> None:
    found = schema(name)
    Draft202012Validator.check_schema(found)
    assert found["description"]
    for properties in found.get("properties", {}).values():
        assert properties.get("description") or "const" in properties


@pytest.mark.parametrize("name", list(EVENTS))
def test_example_is_valid_by_schema_and_engine(name: str) -> None:
    example = EVENTS[name].example
    Draft202012Validator(schema(name)).validate(example)
    Draft202012Validator(schema("event")).validate(example)
    line = read_exactly(json.dumps(example, separators=(",", ":")))
    assert line.event is EVENTS[name]
    assert not line.diagnostics


def beyond_json_schema(value: object) -> bool:
    """What JSON Schema cannot say, a number being its value as a finite double, and what is nested
    deeper than validators reach. Python 3.12 and later read such JSON.
    """
    waiting = [(value, 0)]
    while waiting:
        each, depth = waiting.pop()
        inner = each.values() if isinstance(each, dict) else each if isinstance(each, list) else ()
        waiting += [(one, depth + 1) for one in inner]
        is_whole = isinstance(each, int) and not isinstance(each, bool)
        if (
            depth > 500
            or (is_whole and len(str(abs(each))) > 308)
            or (isinstance(each, float) and math.isinf(each))
        ):
            return True
    return False


def refuse(constant: str) -> None:
    raise ValueError(constant)


def readable(text: str) -> list[object]:
    """What a line says; nothing for what is no JSON, or is beyond JSON Schema."""
    try:
        value = json.loads(text, parse_constant=refuse)
    except (ValueError, RecursionError):
        return []
    return [] if beyond_json_schema(value) else [value]


def test_an_independent_validator_agrees_on_every_conformance_line() -> None:
    """But for lines that are no JSON, and numbers that no double holds: see ARCHITECTURE.md."""
    validator = Draft202012Validator(schema("event"))
    compared, wrong = 0, []
    for text in LINES.read_text("utf-8").split("\n"):
        case = json.loads(text) if text else {"raw": "", "verdict": "blank"}
        for value in readable(case["raw"]):
            compared += 1
            if validator.is_valid(value) != (case["verdict"] == "valid"):
                wrong.append((case["verdict"], case["raw"][:200]))
    assert wrong == []
    assert compared > 1000


# Any line


def by_value(text: str) -> object:
    """What a line says, with a number as the double that it is. Raises ValueError if it is no
    JSON.
    """

    def whole(word: str) -> int | float:
        double = float(word)
        return int(double) if double.is_integer() else double

    return json.loads(text, parse_constant=refuse, parse_int=whole)


CASES = [json.loads(text) for text in LINES.read_text("utf-8").split("\n") if text]
READABLE = [(value, case["verdict"]) for case in CASES for value in readable(case["raw"])]
RECORDED = st.sampled_from(READABLE).map(lambda each: each[0])
EXAMPLES = st.sampled_from([dict(event.example) for event in EVENTS.values()])
ANY_LINES = garbled(st.sampled_from(CASES).map(lambda case: case["raw"])) | garbled(
    spelt(changed(EXAMPLES | RECORDED)), most=1
)
BY_SCHEMA = Draft202012Validator(schema("event"))
BLANK = "\t\n\v\f\r \xa0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff" + "".join(
    map(chr, range(0x2000, 0x200B))
)
"""What JavaScript's `trim` takes off."""


def by_the_schema(text: str) -> LineStatus:
    """What a validator makes of a line that knows nothing but the schema."""
    if not text.strip(BLANK):
        return LineStatus.BLANK
    try:
        value = by_value(text)
    except ValueError:
        return LineStatus.INVALID
    except RecursionError:
        reject()
    name = value.get("event_type") if isinstance(value, dict) else None
    if isinstance(name, str) and name not in EVENTS:
        return LineStatus.UNKNOWN
    assume(not beyond_json_schema(value))
    return LineStatus.VALID if BY_SCHEMA.is_valid(value) else LineStatus.INVALID


@given(ANY_LINES)
def test_an_independent_validator_agrees_on_any_line(text: str) -> None:
    analysis = Analysis([text])
    expected = by_the_schema(text)
    assert analysis.document.lines[0].status is expected
    has_error = any(each.rule.severity is Severity.ERROR for each in analysis.findings())
    assert has_error == (expected is LineStatus.INVALID)


@given(st.sampled_from(READABLE), SPELLINGS, st.booleans())
def test_a_verdict_is_the_same_however_a_line_is_written(
    case: tuple[object, str], how: Spelling, has_more: bool
) -> None:
    value, verdict = case
    if has_more and isinstance(value, dict):
        value = {**value, "nobody's": [1, {"event_type": None}]}
    assert read_exactly(how.of(value)).status.value == verdict


def accepts(read: Callable[[str], object], text: str) -> bool:
    try:
        read(text)
    except ValueError:
        return False
    return True


def test_the_fast_path_is_what_pydantic_makes_of_the_declarations() -> None:
    """Its types are msgspec's, for speed; pydantic's of the declarations must judge the same."""
    by_pydantic = {event.name: TypeAdapter(declared).validator for declared, event in DECLARED}
    decode, _ = event_decoder(only_score=True)
    accepted = 0
    for text in LINES.read_text("utf-8").split("\n"):
        try:
            value = json.loads(json.loads(text)["raw"]) if text else None
        except (ValueError, RecursionError):
            continue
        event = (
            EVENTS.get(value.get("event_type", ""))
            if isinstance(value, dict) and isinstance(value.get("event_type"), str)
            else None
        )
        if event is None or beyond_json_schema(value):
            continue
        declared = {key: each for key, each in value.items() if key in event.fields}
        if any(isinstance(each, int) and abs(each) > 2**53 for each in declared.values()):
            continue
        written = json.dumps(declared)
        ours = accepts(decode, written)
        assert ours == accepts(by_pydantic[event.name].validate_json, written), written
        accepted += ours
    assert accepted > 200


# What commands write


def strict(schema: Any) -> Any:
    """A schema that accepts no key which it does not name: each that is written is declared."""
    if isinstance(schema, list):
        return [strict(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {"additionalProperties": False} if "properties" in schema else {}
    return {**closed, **{key: strict(each) for key, each in schema.items()}}


OUTPUTS = {
    path.name.partition(".")[0]: json.loads(path.read_text("utf-8"))
    for path in (SCHEMAS / "output").glob("*.json")
}
TRACES = [json.loads(each)["text"] for each in TRACE_CASES.read_text("utf-8").split("\n") if each]
CORPUS = sorted(Path(os.environ.get("DRIVE_TRACE_CORPUS", "nowhere")).glob("*.jsonl"))


@pytest.mark.parametrize("name", ["check", "score", "report", "compare", "fleet"])
def test_the_schema_of_an_output(name: str) -> None:
    Draft202012Validator.check_schema(OUTPUTS[name])
    assert run("schema", "--output", name).json == OUTPUTS[name]
    assert OUTPUTS[name]["$id"] == f"urn:drive-trace:output:{name}:1"
    has_version = "version" in OUTPUTS[name].get("properties", {})
    assert has_version == (name not in {"check", "fleet"})
    assert run("schema", "--output", name, "round-start").code == 2


def test_outputs_are_as_their_schemas_say(tmp_path: Path) -> None:
    """Of real traces, of the conformance traces, of examples and of faults."""
    examples = [ROOT / "examples/projects", *(ROOT / "examples").rglob("*.jsonl")]
    texts = [*TRACES[::25], "", "x\n{", "\n", '{"event_type":1}\n']
    cases = [write(tmp_path, f"{n}.jsonl", text) for n, text in enumerate(texts)]
    paths = [*examples, *CORPUS, *cases, tmp_path / "gone.jsonl"]
    validators = {name: Draft202012Validator(strict(each)) for name, each in OUTPUTS.items()}
    for path in paths:
        for name in ("check", "score", "report"):
            validators[name].validate(run(name, "--format", "json", path).json)
    fleet = [run("fleet", "--no-cache", *o, "--out", "-", *paths) for o in ([], ["--findings"])]
    rows = [json.loads(line) for ran in fleet for line in ran.out.splitlines() if line[:1] == "{"]
    assert len(rows) > 10
    for row in rows:
        validators["fleet"].validate(row)
    sides = [*examples[:1], *CORPUS[:2], cases[0], cases[-1], tmp_path / "gone.jsonl"]
    for one, other in product(sides, sides):
        named = ("--baseline", one, "--candidate", other, "--format", "json")
        for options in ([], ["--allow-unverified", "all", "--rank"]):
            validators["compare"].validate(run("compare", *named, *options).json)
