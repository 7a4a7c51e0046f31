"""Fixes of damaged lines: none invents a value, and none drops a record."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from drive_trace.json_text import as_json
from drive_trace.trace.line import Line
from drive_trace.trace.reading import read_lines
from drive_trace.vocabulary import EVENTS
from tests.cli.support import findings, run
from tests.support.client_text import graded, triage
from tests.support.drawing import examples
from tests.support.fixtures import trace

ROOT = Path(__file__).parents[1]
TRACES = [
    (ROOT / "examples" / name).read_text("utf-8").splitlines()
    for name in ("projects/checkout-retry/trace.jsonl", "projects/search-index/trace.jsonl")
]
OUTCOMES = sorted(
    {
        value
        for event in EVENTS.values()
        for field in event.fields.values()
        if field.is_outcome
        for value in getattr(field.shape, "meanings", ())
    }
)
_FACT = re.compile(rf"(?<![\w.-])(?:\d+(?:\.\d+)?|{'|'.join(OUTCOMES)})(?![\w-])")
_TIME = re.compile(r"2026-\d\d-\d\d.[\d:.\s]+")
_NUMBER = re.compile(r"^(?:a\.jsonl:|\s*)\d+[:\t]\s*(?={)", re.MULTILINE)
"""The number of a line, as tools print it before the line."""


# What a fix may do


def accepted(text: str) -> list[Line]:
    return [line for line in read_lines(text.split("\n")) if line.event is not None]


def facts(text: str) -> Counter[str]:
    """The numbers and outcomes of a text, whatever it is. Of a time the notation may change."""
    plain = _TIME.sub(" ", re.sub(r"\\[nrt]", " ", _NUMBER.sub("", text)))
    return Counter(each.lstrip("0") or "0" for each in _FACT.findall(plain))


def records_in(text: str) -> set[str]:
    """The ids of the records that stand whole in a text, as they are or as text in JSON."""
    plain = text.replace('\\"', '"')
    return {each["event_id"] for each in ORIGINALS.values() if as_json(each)[1:-1] in plain}


ORIGINALS: dict[str, dict[str, Any]] = {}
for _lines in TRACES:
    ORIGINALS |= {(event := json.loads(line))["event_id"]: event for line in _lines}


def values(event: Any) -> Iterator[object]:
    """The numbers and outcomes of an event."""
    if isinstance(event, dict | list):
        for each in event.values() if isinstance(event, dict) else event:
            yield from values(each)
    elif event in OUTCOMES or (isinstance(event, int | float) and not isinstance(event, bool)):
        yield event


def assert_nothing_is_lost_or_invented(before: str, after: str, what: str) -> None:
    """What holds for every fix of damaged lines, given the text before and after it."""
    known = {line.text for line in read_lines(before.split("\n"))}
    gained = [line for line in accepted(after) if line.text not in known]
    for line in gained:
        event = json.loads(line.text)
        original = ORIGINALS.get(event.get("event_id"), {})
        for value in values(event):
            is_own = value in values(original)
            stood = f"(?<![\\w.]){re.escape(json.dumps(value).strip(chr(34)))}(?![\\w.]|$)"
            assert is_own or re.search(stood, before, re.MULTILINE), (what, value, line.text)
    if gained:
        assert not facts(before) - facts(after), (what, before, after)
    assert records_in(before) <= records_in(after), (what, before, after)


def applied(text: str, edits: Sequence[Mapping[str, Any]]) -> str:
    lines = text.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    for edit in sorted(edits, key=lambda edit: (edit["line"], edit["column"]), reverse=True):
        start = starts[edit["line"] - 1] + edit["column"] - 1
        end = starts[edit["end_line"] - 1] + edit["end_column"] - 1
        text = text[:start] + edit["text"] + text[end:]
    return text


# Damage

Damage = Callable[[Random, str, str], str]


def _torn(chance: Random, text: str, _: str) -> str:
    return text[: chance.randrange(1, len(text))]


def _torn_and_glued(chance: Random, text: str, other: str) -> str:
    return _torn(chance, text, other) + other


def _without_some(chance: Random, text: str, _: str) -> str:
    start = chance.randrange(len(text))
    return text[:start] + text[start + chance.randrange(1, 30) :]


def _garbled(chance: Random, text: str, _: str) -> str:
    for _ in range(chance.randrange(1, 4)):
        at = chance.randrange(len(text))
        text = text[:at] + chance.choice("{}[],:\"'`\\#/ x0\u201d\t") + text[at + 1 :]
    return text


def _glued(chance: Random, text: str, other: str) -> str:
    return text + chance.choice(["", ",", " ", "\\n", "\\r\\n", "\t", " // ", "; ", " # "]) + other


def _prefixed(chance: Random, text: str, _: str) -> str:
    number = chance.randrange(1, 99)
    prefixes = (f"{number}: ", f"    {number}\t", "> ", "- ", "* `", f"a.jsonl:{number}:", '"a" ')
    return chance.choice([*prefixes, "null ", "2026-05-28T14:00:00Z ", "{} ", "[info] "]) + text


def _quoted(chance: Random, text: str, _: str) -> str:
    before, behind = chance.choice(
        ["``", "''", "\u201c\u201d", ("```", "```"), ("```json ", " ```"), ("[", "]"), ("(", ")")]
    )
    return before + text + behind


def _as_text(chance: Random, text: str, _: str) -> str:
    event = json.loads(text)
    envelope = dict(list(event.items())[:6])
    payload = json.dumps({key: event[key] for key in event.keys() - envelope.keys()})
    return chance.choice(
        [json.dumps(text), as_json({"msg": text}), as_json({**envelope, "payload": payload})]
    )


def _renamed(chance: Random, text: str, _: str) -> str:
    """Another key, in another unit or of a provider of models."""
    renamed = (("wall_clock_ms", "s"), ("wall_clock_ms", "sec"), ("wall_clock_ms", "us"))
    key, unit = chance.choice(renamed)
    others = {f'"{key}"': f'"{key[:-2]}{unit}"', "input_tokens": "prompt_tokens"}
    others |= {"output_tokens": chance.choice(["completion_tokens", "total_tokens"])}
    others |= {'"schema_version":"1"': '"schema_version":"2"', '"qa"': '"Qa"'}
    for old in chance.sample(sorted(others), 2):
        text = text.replace(old, others[old])
    return text


def _written_otherwise(chance: Random, text: str, _: str) -> str:
    quote, known = chance.choice("'`"), chance.choice(["_", "."])
    ways = (
        text.replace('"', quote),
        text[:-1] + ",}",
        text.replace('":"', '" "', 1),
        re.sub(r'"(\w+)":', r"\1:", text),
        re.sub(r":(\d+)([,}])", r':"\1"\2', text),
        re.sub(r':"([a-z-]+)"', r":\1", text),
        text.replace('"event_type":"', f'"event_type":"x{known}'),
        text.replace("null", chance.choice(["None", "NaN", "nil", ""])),
        text + " // " + chance.choice(["done", "12 retries", "qa: fail", text]),
        text + chance.choice(["}", " ok", " 12", "fail", "}}", '"fail"']),
        text.replace(",", ", /* 7 */ ", 1),
    )
    return chance.choice(ways)


DAMAGES: Sequence[Damage] = (
    *(_torn, _torn_and_glued, _without_some, _garbled, _glued, _prefixed, _quoted, _as_text),
    *(_renamed, _written_otherwise),
)


def damaged(seed: int) -> str:
    """A trace with a damaged line or a few, none of them a comment of another."""
    chance = Random(seed)
    lines = list(chance.choice(TRACES))
    start = chance.randrange(len(lines) - 8)
    lines = lines[start : start + 8]
    for place in chance.sample(range(len(lines)), 3):
        other = chance.choice([line for each in TRACES for line in each])
        lines[place] = chance.choice(DAMAGES)(chance, lines[place], other)
    return "\n".join(lines) + chance.choice(["\n", "\n", ""])


@settings(max_examples=examples(300))
@given(st.integers(0, 2**32))
@example(275869).via("a bracket within a number")
def test_no_fix_of_a_damaged_line_invents_a_value_or_drops_a_record(seed: int) -> None:
    text = damaged(seed)
    lines = read_lines(text.split("\n"))
    for finding in findings(text):
        for fix in finding["fixes"]:
            touched = {edit["line"] for edit in fix["edits"]}
            if all(lines[number - 1].event is None for number in touched):
                after = applied(text, fix["edits"])
                assert_nothing_is_lost_or_invented(text, after, fix["title"])


@settings(max_examples=examples(100))
@given(seed=st.integers(0, 2**32), option=st.sampled_from([(), ("--unsafe-fixes",)]))
def test_nor_do_all_fixes_together(
    seed: int, option: tuple[str, ...], tmp_path_factory: pytest.TempPathFactory
) -> None:
    text = damaged(seed)
    after = all_fixed(text, tmp_path_factory.getbasetemp() / "damaged.jsonl", *option)
    assert_nothing_is_lost_or_invented(text, after, "all")


def all_fixed(text: str, path: Path, *options: str) -> str:
    """The trace as ``check --fix`` leaves it."""
    path.write_bytes(text.encode())
    run("check", "--fix", *options, "--output-format", "concise", path)
    return path.read_bytes().decode()


def titles(text: str) -> list[str]:
    return [fix["title"] for finding in findings(text) for fix in finding["fixes"]]


# Torn lines

EVENTS_ONCE = {json.loads(line)["event_type"]: line for lines in TRACES for line in lines}


@pytest.mark.parametrize("name", EVENTS_ONCE)
def test_a_line_torn_anywhere_stays_rejected_or_says_what_it_said(
    name: str, tmp_path: Path
) -> None:
    line = EVENTS_ONCE[name]
    cuts = [line[:at] for at in range(1, len(line))]
    after = all_fixed("\n".join(cuts) + "\n", tmp_path / "trace.jsonl", "--unsafe-fixes")
    assert {each.text for each in accepted(after)} <= {line}


TORN = '"event_type":"dispatch-end","dispatch_id":"D1","result":"completed"'


@pytest.mark.parametrize(
    "end",
    [
        '"wall_clock_ms":12',
        '"wall_clock_ms":12,"again":tru',
        '"wall_clock_ms":12,"again":true',
        '"wall_clock_ms":12,"again":null',
        '"wall_clock_ms":12,"again":"yes',
        '"wall_clock_ms":12,"again":yes',
        '"wall_clock_ms":12,"again":["a","b"',
        '"wall_clock_ms":12,"again":{"S":1}',
        '"wall_clock_ms":12,"again":{"S":"1"',
        '"wall_clock_ms":12,"again":',
        '"wall_clock_ms":<absent>,"again":"yes"',
    ],
)
def test_what_a_tear_may_have_cut_is_not_completed(end: str) -> None:
    text = trace(f"EVENT{{{TORN},{end}}}").rstrip("\n").removesuffix("}")
    is_whole = end.endswith("}")
    assert titles(f"{text}\n") == (["Add `}`"] if is_whole else [])


@pytest.mark.parametrize(
    ("event", "pair", "mended"),
    [
        ("spec-amended", '"sections_changed":["A","Say "hi" now"]', None),
        ("spec-amended", '"sections_changed":["A","Say " hi " now"]', None),
        ("spec-amended", '"sections_changed":["A" "B"]', '"sections_changed":["A","B"]'),
        ("dispatch-start", '"dispatch_name":"Say "hi": now"', None),
        *(("dispatch-end", f'"wall_clock_ms":{each}', None) for each in ("1,5", "1.", "5937}72")),
        *(("dispatch-end", f'"wall_clock_ms":{each}', None) for each in ("2]17", "PT16M43S")),
        ("dispatch-end", '"wall_clock_ms":1.500.000', None),
        ("slice-completed", '"ts":"2026-05-28T12:34.038Z"', None),
    ],
)
def test_what_may_mean_something_else_is_not_mended_in_bulk(
    event: str, pair: str, mended: str | None, tmp_path: Path
) -> None:
    name, _ = pair.split(":", 1)
    text = trace(f'EVENT{{"event_type":"{event}",{name}:<absent>}}').replace("}\n", f",{pair}}}\n")
    after = all_fixed(text, tmp_path / "trace.jsonl", "--unsafe-fixes")
    assert after == (text if mended is None else text.replace(pair, mended))


@pytest.mark.parametrize("number", ["1e999", "-1e999", "9" * 4000])
@pytest.mark.parametrize("unit", ["us", "s", "min", "hours"])
def test_no_number_is_too_large_to_be_judged(number: str, unit: str) -> None:
    start = 'EVENT{"event_type":"dispatch-start","dispatch_id":"D1"}'
    new = f'"ts":"2026-05-28T14:12:24.000Z","wall_clock_ms":<absent>,"duration_{unit}":{number}'
    assert titles(trace(start, f"EVENT{{{TORN},{new}}}")) == []


def test_a_record_in_a_string_that_is_no_text_is_not_lifted_out(tmp_path: Path) -> None:
    text = json.dumps(RECORD.replace("null", '"\ud800"', 1))
    assert all_fixed(f"{text}\n", tmp_path / "trace.jsonl", "--unsafe-fixes") == f"{text}\n"


@pytest.mark.parametrize(("around", "level"), [("```", "safe"), ("[", "unsafe")])
def test_what_stands_around_a_grade_is_removed_by_a_person(
    around: str, level: str, tmp_path: Path
) -> None:
    path, option = tmp_path / "trace.jsonl", ["--unsafe-fixes"] * (level == "unsafe")
    assert all_fixed(f"{RECORD}\n{around}\n", path, *option) == f"{RECORD}\n"
    text = f"{RECORD}\n{GRADE}\n{around}\n"
    assert all_fixed(text, path, "--unsafe-fixes") == text
    assert titles(text)[-1] == "Remove the line"


RECORD, GRADE = triage().rstrip("\n"), graded("pass", "fail", "pass").rstrip("\n")
PAYLOAD = json.dumps({"input_ref": None, "verdict": "direct-change", "input_shape": "chat-ask"})
ENVELOPE = dict(list(json.loads(RECORD).items())[:6])


WRAPPED = [
    f"15: {RECORD}",
    f"    15\t{RECORD}",
    f"    15→{RECORD}",
    f"trace.jsonl:15:{RECORD}",
    f"2026-05-28T14:00:00Z [info] {RECORD}",
    f"2026-05-28 INFO emitted: {RECORD}",
    f"- {RECORD}",
    f"> {RECORD}",
    f"{RECORD}\\n",
    f"{RECORD}}}}}",
    f"{RECORD};",
    f"{RECORD}]",
    f"{{{RECORD}}}",
    f"`{RECORD}`",
    f"'{RECORD}'",
    f"“{RECORD}”",
    f"``{RECORD}``",
    f"```json {RECORD} ```",
    f"```json{RECORD}```",
    f"[{RECORD}]",
    f"[{RECORD},",
    json.dumps(RECORD),
    f"{json.dumps(RECORD)},",
    json.dumps(json.loads(RECORD), indent=2),
]


@pytest.mark.parametrize("text", WRAPPED)
def test_a_record_is_lifted_out_of_what_says_nothing(text: str, tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    is_array = not text.replace(RECORD, "").strip("[],")
    unasked = f"{RECORD if is_array else text}\n"
    assert all_fixed(f"{text}\n", path) == unasked, "an array alone"
    assert all_fixed(f"{text}\n", path, "--unsafe-fixes") == f"{RECORD}\n"
    for grade in (json.dumps(GRADE), f"- {GRADE}", f"[{GRADE}]"):
        assert titles(f"{grade}\n") == ["Keep the record alone"]
        assert all_fixed(f"{grade}\n", path, "--unsafe-fixes") == f"{grade}\n", "by a person"


@pytest.mark.parametrize(
    ("before", "behind"),
    [
        ("", '"fail"'),
        *(('{"event_id":"x","ts":"2026-05-', ""), ("", '"result":"completed"}'), ("{'a':1}", "")),
        ('{"event_id":"x","res', 'ult":"completed"}'),
        ("{'a':1,}", "{b:1}"),
    ],
)
def test_what_else_a_line_says_stays(before: str, behind: str, tmp_path: Path) -> None:
    after = all_fixed(f"{before}{RECORD}{behind}\n", tmp_path / "trace.jsonl", "--unsafe-fixes")
    mended = {"{'a':1}": '{"a":1}', "{'a':1,}": '{"a":1}', "{b:1}": '{"b":1}'}
    kept = [mended.get(before, before.strip()), RECORD, mended.get(behind, behind.strip())]
    assert after == "".join(f"{each}\n" for each in kept if each)


LIFTED, QUOTED = ["Put each object on a line of its own"], ["Put double quotes around it"]


@pytest.mark.parametrize(
    ("text", "by_hand"),
    [
        *((f"{RECORD} 12", LIFTED), (f"{RECORD} no", LIFTED), (f"wrong: {RECORD}", LIFTED)),
        *((RECORD.replace('"', "&quot;"), QUOTED), (RECORD.replace('"', ""), QUOTED)),
        *(('"' + RECORD.replace('"', '""') + '",needs a human', []), (f"// {RECORD}", [])),
        *((f"# {RECORD}", []), (f"-{RECORD}", []), (f"~~{RECORD}~~", [])),
        *((f"<!-- {RECORD} -->", []), (f"{RECORD} // {GRADE}", [])),
        (as_json({**ENVELOPE, "payload": PAYLOAD}), []),
        (as_json({**ENVELOPE, "event_type": "correctness-recorded", "payload": GRADE}), []),
    ],
)
def test_what_may_say_something_else_is_left_to_a_person(
    text: str, by_hand: list[str], tmp_path: Path
) -> None:
    """A sentence, a comment, what was taken out, a value, or what would still not be JSON."""
    assert titles(f"{text}\n") == by_hand
    after = all_fixed(f"{text}\n", tmp_path / "trace.jsonl", "--unsafe-fixes")
    assert after == f"{text}\n"


@settings(max_examples=examples(100))
@given(seed=st.integers(0, 2**32))
def test_a_record_that_is_glued_to_a_torn_one_is_rescued(
    seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    chance = Random(seed)
    torn, whole = chance.choices([line for line in EVENTS_ONCE.values() if not is_feed(line)], k=2)
    at = chance.randrange(1, len(torn))
    text = chance.choice([torn[:at] + whole, torn[:at] + whole + torn[at:], whole + torn[at:]])
    path = tmp_path_factory.getbasetemp() / "glued.jsonl"
    after = {each.text for each in accepted(all_fixed(f"{text}\n", path, "--unsafe-fixes"))}
    assert after <= {whole, torn}
    if not re.search(r"\d}\d", text):  # the rest of a number may be cut off
        assert whole in after


def is_feed(line: str) -> bool:
    return EVENTS[json.loads(line)["event_type"]].is_feed


# Keys and units


SECONDS = {"wall_clock_s": 744, "wall_clock_sec": 700, "duration": 744, "elapsed_min": 12.4}


@pytest.mark.parametrize("key", [*SECONDS, "wall_clock_us", "wall_clock"])
def test_a_duration_in_another_unit_is_converted_where_the_timestamps_say_so(key: str) -> None:
    end = f'EVENT{{{TORN},"ts":"2026-05-28T14:12:24.000Z","wall_clock_ms":<absent>,"{key}":NUMBER}}'
    alone = trace(end.replace("NUMBER", "744"))
    assert titles(alone) == [], "a question"
    both = trace('EVENT{"event_type":"dispatch-start","dispatch_id":"D1"}', end)
    for number in (SECONDS.get(key, 12), 7):
        found = [each for each in titles(both.replace("NUMBER", str(number))) if "Rename" in each]
        units = {"wall_clock_sec": 700_000, "wall_clock": 720_000}
        new = f"Rename to `wall_clock_ms`, in milliseconds: {units.get(key, 744_000)}"
        assert found == ([new] if number != 7 and key != "wall_clock_us" else [])


def test_what_a_provider_calls_a_count_is_the_count_that_it_means() -> None:
    counts = '"input_tokens":<absent>,"prompt_tokens":5,"total_tokens":11'
    others = '"output_tokens":<absent>,"completion_tokens":6'
    found = titles(trace(f'EVENT{{"event_type":"tokens-recorded",{counts},{others}}}'))
    assert set(found) == {
        "Rename both keys: `input_tokens` and `output_tokens`",
        "Rename to `input_tokens`",
        "Rename to `output_tokens`",
    }
    unclear = '"input_tokens":<absent>,"total_tokens":11'
    found = titles(trace(f'EVENT{{"event_type":"tokens-recorded",{unclear}}}'))
    assert found == ["Insert `input_tokens`: null"]


def test_the_version_of_another_vocabulary_is_not_replaced() -> None:
    text = trace('EVENT{"event_type":"slice-started","schema_version":"2"}')
    assert titles(text) == []
    assert titles(text.replace('"2"', '"1.0"')) == ['Replace with "1"']


def test_a_key_that_no_event_declares_stays_on_a_rejected_line(tmp_path: Path) -> None:
    """It may be the field that is missing: a null in its place would say that it is not known."""
    text = trace('EVENT{"event_type":"dispatch-start","model":<absent>,"engine":"opus"}')
    assert titles(text) == ["Insert `model`: null"]
    assert all_fixed(text, tmp_path / "trace.jsonl", "--unsafe-fixes") == text
