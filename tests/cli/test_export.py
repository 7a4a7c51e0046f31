"""Runs in the formats of other viewers, read by what these viewers read."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.json_format import MessageToDict, Parse
from opentelemetry.proto.trace.v1.trace_pb2 import TracesData

from drive_trace.vocabulary import ENVELOPE, EVENTS
from tests.cli.support import run, write
from tests.support.runs import FAIL, PART, PASS, Recorder

TRACES = Path(__file__).parents[1] / "conformance/traces.jsonl"
OWN = "drive_trace."


def _value(given: Any) -> Any:
    ((kind, value),) = given.items()
    match kind:
        case "arrayValue":
            return [_value(each) for each in value.get("values", ())]
        case "kvlistValue":
            return {each["key"]: _value(each["value"]) for each in value["values"]}
        case "intValue":
            return int(value)
    return value


def exported(text: str) -> list[dict[str, Any]]:
    """The spans of an export, as OpenTelemetry's own types read them, with plain attributes."""
    ran = run("export", "--to", "otlp", "-", stdin=text.encode("utf-8", "surrogatepass"))
    resources = MessageToDict(Parse(ran.out, TracesData())).get("resourceSpans", ())
    spans = [span for run in resources for scope in run["scopeSpans"] for span in scope["spans"]]
    for span in spans:
        span["attributes"] = {each["key"]: _value(each["value"]) for each in span["attributes"]}
    return spans


def told(spans: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The events that spans tell of, put together again; without what is null."""
    for span in spans:
        found = span["attributes"]
        for which in ("start", "end", "event"):
            own = {name: found.get(f"{OWN}{which}.{name}") for name in ENVELOPE}
            if own["event_type"] is not None:
                names = set(EVENTS[own["event_type"]].fields) - set(ENVELOPE)
                given = own | {name: found.get(OWN + name) for name in names}
                yield {name: value for name, value in given.items() if value is not None}


def _readable(value: Any) -> Any:
    """A value as a protocol can carry it."""
    match value:
        case str():
            return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        case float():  # a count that is written with a point
            return _readable(int(value))
        case int() if not -(2**63) <= value < 2**63:
            return str(value)
        case list():
            return [_readable(each) for each in value] or None
        case dict():
            return {key: _readable(each) for key, each in value.items()}
    return value


def _recorded(text: str, rejected: list[int]) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip() and number not in rejected:
            event = json.loads(line)
            fields = EVENTS[event["event_type"]].fields
            given = {name: _readable(event.get(name)) for name in fields}
            yield {name: value for name, value in given.items() if value is not None}


def _counted(events: Iterator[dict[str, Any]]) -> Counter[str]:
    return Counter(json.dumps(each, sort_keys=True) for each in events)


def test_every_event_is_found_again() -> None:
    for case in map(json.loads, TRACES.read_bytes().splitlines()):
        text = case["text"]
        spans = exported(text)
        rejected = case["invalid_lines"] + case["unknown_lines"]
        assert _counted(told(spans)) == _counted(_recorded(text, rejected))
        ids = [span["spanId"] for span in spans]
        assert len(set(ids)) == len(ids)
        assert {span["parentSpanId"] for span in spans if "parentSpanId" in span} <= set(ids)
        for span in spans:
            assert int(span["startTimeUnixNano"]) <= int(span["endTimeUnixNano"])


def test_a_run_is_a_tree_of_spans_and_exported_anew_the_same() -> None:
    text = "".join(Recorder().run("checkout", PASS, rounds=(2,)))
    spans = exported(text)
    names = {span["spanId"]: span["name"] for span in spans}
    tree = [(names.get(span.get("parentSpanId")), span["name"]) for span in spans]
    dispatch = EVENTS["dispatch-start"].example["dispatch_name"]
    assert tree[0] == (None, "checkout")
    assert ("retry-queue", dispatch) in tree
    assert {(dispatch, "round 1"), (dispatch, "round 2"), ("round 2", "brief-issued")} <= {*tree}
    assert ("checkout", "correctness-recorded") in tree
    assert exported(text) == spans
    # What is appended later changes no id.
    more = exported(text + Recorder(seed=2).event("triage-verdict", "checkout"))
    assert [span["spanId"] for span in spans] == [span["spanId"] for span in more[: len(spans)]]


@pytest.mark.parametrize(
    ("grades", "verdict", "grade"),
    [
        ((), "not computable", {}),
        ((PART,), "not computable", {"mechanical": "pass", "intent": "pass"}),
        ((FAIL,), "INCORRECT", {"mechanical": "pass", "qa": "fail", "intent": "pass"}),
        ((PASS,), "CORRECT", {"mechanical": "pass", "qa": "pass", "intent": "pass"}),
    ],
)
def test_the_run_has_its_verdict_and_nothing_where_there_is_null(
    grades: Any, verdict: str, grade: dict[str, str]
) -> None:
    said = exported("".join(Recorder().run("checkout", *grades, tokens=())))[0]["attributes"]
    assert said[OWN + "verdict"] == verdict
    prefix = f"{OWN}grade."
    assert {k.removeprefix(prefix): v for k, v in said.items() if k.startswith(prefix)} == grade
    assert not [key for key in said if key.startswith("gen_ai.usage")]


def test_a_correct_run_that_went_on_says_so() -> None:
    said = exported("".join(Recorder().run("checkout", PASS, works_on=True)))[0]["attributes"]
    assert said[OWN + "verdict"] == "CORRECT with caveats"
    assert any("after" in each for each in said[OWN + "caveats"])


def test_a_gated_run_has_the_verdict_that_score_gives(tmp_path: Path) -> None:
    trace = write(tmp_path, "trace.jsonl", "".join(Recorder().run("checkout", PASS)))
    at = "--trace-file", trace, "--project-run-id", "checkout", "--run", "true"
    for component in ("mechanical", "qa"):
        assert run("gate", *at, "--component", component).code == 0
    (scored,) = json.loads(run("score", trace, "--format", "json").out)["runs"]
    said = json.loads(run("export", trace, "--to", "perfetto").out)["traceEvents"]
    (verdict,) = [each["args"] for each in said if OWN + "verdict" in each.get("args", ())]
    assert verdict[OWN + "verdict"] == "CORRECT"
    assert verdict.get(OWN + "caveats", []) == [each["message"] for each in scored["caveats"]]


def test_usage_counts_what_caches_gave_as_the_conventions_do() -> None:
    lines = Recorder().run("checkout", tokens=())
    used = {"input_tokens": 3, "output_tokens": 5, "cache_read_tokens": 7, "cache_write_tokens": 11}
    lines.append(Recorder(seed=2).event("tokens-recorded", "checkout", **used))
    said = exported("".join(lines))[0]["attributes"]
    assert said["gen_ai.usage.input_tokens"] == 3 + 7 + 11
    assert said["gen_ai.usage.output_tokens"] == 5
    lines[-1] = Recorder(seed=2).event(
        "tokens-recorded", "checkout", **{**used, "cache_read_tokens": None}
    )
    said = exported("".join(lines))[0]["attributes"]
    assert "gen_ai.usage.input_tokens" not in said
    assert said[OWN + "run.input_tokens"] == 3


@pytest.mark.parametrize("ts", ["9999-12-31T23:59:59.000Z", "1969-12-31T23:59:59.000Z", "noon"])
def test_a_time_that_no_viewer_has_is_kept_as_it_was_written(ts: str) -> None:
    lines = Recorder().run("checkout")
    odd = json.loads(Recorder(seed=2).event("triage-verdict", "checkout")) | {"ts": ts}
    span = exported("".join([*lines, json.dumps(odd) + "\n"]))[-1]
    assert span["attributes"][OWN + "event.ts"] == ts
    assert int(span.get("endTimeUnixNano", 0)) < 2**64


def test_what_has_no_end_is_marked_and_gets_none() -> None:
    lines = [line for line in Recorder().run("checkout") if '"dispatch-end"' not in line]
    spans = exported("".join(lines))
    dispatch = next(each for each in spans if "gen_ai.agent.name" in each["attributes"])
    assert dispatch["attributes"][OWN + "unclosed"] is True
    assert f"{OWN}end.ts" not in dispatch["attributes"]
    events = chrome("".join(lines))
    begun, ended = ([each["name"] for each in events if each["ph"] == ph] for ph in "be")
    assert (begun, ended) == ([dispatch["name"], "round 1"], ["round 1"])


def chrome(text: str) -> list[dict[str, Any]]:
    """The events of an export for Perfetto, without metadata, held against the format."""
    ran = run("export", "--to", "perfetto", "-", stdin=text.encode("utf-8", "surrogatepass"))
    document = json.loads(ran.out)
    assert document["displayTimeUnit"] == "ms"
    open_spans = defaultdict[Any, list[str]](list)
    stacks = defaultdict[Any, list[int]](list)
    found = []
    for event in document["traceEvents"]:
        assert isinstance(event["pid"], int)
        if event["ph"] == "M":
            assert event["name"] in ("process_name", "process_labels", "thread_name")
            continue
        found.append(event)
        assert isinstance(event["ts"], int)
        assert found[-2:][0]["ts"] <= event["ts"] or found[-2:][0]["pid"] != event["pid"]
        nested = open_spans[event["pid"], event["cat"], event.get("id")]
        if event["ph"] == "b":
            nested.append(event["name"])
        elif event["ph"] == "e":
            assert nested.pop() == event["name"]
        elif event["ph"] == "X":  # of one track, what overlaps is nested
            ends = stacks[event["pid"], event["tid"]]
            while ends and ends[-1] <= event["ts"]:
                ends.pop()
            assert not ends or event["ts"] + event["dur"] <= ends[-1]
            ends.append(event["ts"] + event["dur"])
        else:
            assert (event["ph"], event["s"]) == ("i", "t")
    return found


def test_perfetto_gets_every_span_and_event_at_the_times_of_the_clock() -> None:
    for case in map(json.loads, TRACES.read_bytes().splitlines()):
        text = case["text"]
        begun = [each for each in chrome(text) if each["ph"] != "e"]
        spans = exported(text)
        assert sorted((each["name"], each["ts"] * 1000) for each in begun) == sorted(
            (each["name"], int(each["startTimeUnixNano"])) for each in spans
        )


def test_dispatches_that_overlap_are_drawn_beside_each_other() -> None:
    recorder = Recorder()
    one, other = recorder.dispatch("checkout"), recorder.dispatch("checkout")
    apart = chrome("".join(one + other))
    assert {each["ph"] for each in apart if each["cat"] == "dispatch"} == {"X"}
    late = json.loads(one[-1]) | {"ts": json.loads(other[-2])["ts"]}
    crossing = chrome("".join([*one[:-1], *other, json.dumps(late) + "\n"]))
    phases = Counter(each["ph"] for each in crossing if each["cat"] == "dispatch")
    assert phases == {"b": 4, "e": 4}  # two dispatches, with a round each


@pytest.mark.parametrize("target", ["otlp", "perfetto"])
def test_files_and_what_cannot_be_read(target: str, tmp_path: Path) -> None:
    trace = write(tmp_path, "trace.jsonl", "".join(Recorder().run("checkout")) + "garbage\n")
    out = tmp_path / "out.json"
    ran = run("export", trace, "--to", target, "--out", out)
    assert (ran.code, ran.out, ran.err) == (0, "", "")
    assert f"{trace}:" in out.read_text("utf-8")  # the rejected line is named
    refused = run("export", trace, "--to", target, "--out", trace)
    assert refused.code == 2
    missing = run("export", tmp_path / "none.jsonl", "--to", target)
    nothing = "drive-trace: nothing was exported, as no run has a valid event\n"
    assert (missing.code, missing.err.count("\n"), missing.err.count(nothing)) == (2, 2, 1)
    garbage = run("export", write(tmp_path, "garbage.jsonl", "garbage\n"), "--to", target)
    said = f"drive-trace: {tmp_path / 'garbage.jsonl'}: no line of it names a run\n{nothing}"
    assert (garbage.code, garbage.err) == (2, said)
    empty = run("export", write(tmp_path, "empty.jsonl", ""), "--to", target)
    said = f"drive-trace: {tmp_path / 'empty.jsonl'}: holds no lines\n{nothing}"
    assert (empty.code, empty.err) == (0, said)
    assert json.loads(missing.out)
    assert run("export", trace).code == 2  # it does not guess for whom
