"""What a trace says of a run's feed: the same as what the scorecard says."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from drive_trace.scorecard.feed_state import feed_state
from drive_trace.scorecard.scoring import ScoredTrace
from drive_trace.storage.files import records_of
from drive_trace.storage.recording import runs_named
from drive_trace.vocabulary import COST, EVENTS, GRADE
from tests.support.client_text import event, graded, tokens, triage
from tests.support.drawing import examples
from tests.support.scored import read_log, summarize_text

TRACES = Path(__file__).parents[1] / "conformance/traces.jsonl"


def check(text: str) -> Counter[str]:
    """Compare with the summary that the scorecard is made of; gives what there was to see."""
    trace, summary = ScoredTrace(text.split("\n")), summarize_text(text)
    agents: dict[str, set[str]] = {run.run_id: set() for run in summary.runs}
    for each in read_log(text).events:
        agents[each.run_id].add(str(each.values["orchestrator_agent_id"] or " "))
    seen: Counter[str] = Counter()
    valid = {each.run_id for each in summary.runs if each.event_count}
    for run in summary.runs:
        for feed, recorded in ((GRADE, run.correctness), (COST, run.tokens)):
            state = feed_state(trace.index, EVENTS[feed], run.run_id)
            assert state.knows_run == bool(run.event_count)
            named = sorted(agents[run.run_id] - {" "})
            assert state.agent_id == (named[0] if len(named) == 1 else None)
            assert state.counted == recorded
            dropped = [each for each in run.rejected if each.event_name == feed]
            (part,) = run.parts
            strays = [each for each in part.strays if each.event_name == feed]
            if run.event_count and part.stray_count == len(part.strays):
                mine = [each for each in state.uncounted if each.event_name == feed]
                assert mine == sorted(dropped + strays)
            alike = [each._replace(path="") for each in summary.lookalikes if each.feed == feed]
            nobodys = {None}
            if run.event_count:
                nobodys |= {each.run_id for each in alike} - valid
            assert [each for each in state.uncounted if each.is_unknown] == [
                each for each in alike if each.run_id in {run.run_id, *nobodys}
            ]
            seen["counted"] += recorded is not None
            seen["rejected"] += bool(dropped)
    for missing in ("no-such-run", "", '"', "x" * 99):
        state = feed_state(trace.index, EVENTS[GRADE], missing)
        assert (state.knows_run, state.counted) == (False, None)
    return seen


def traces() -> Iterator[str]:
    for line in TRACES.read_text("utf-8").split("\n"):
        if line:
            yield json.loads(line)["text"]


def test_on_every_conformance_trace() -> None:
    seen: Counter[str] = sum(map(check, traces()), Counter())
    assert seen["counted"] > 50
    assert seen["rejected"] > 5


def escaped(line: str) -> str:
    """The same event, with every letter of its strings written as an escape."""
    parts = line.rstrip("\n").split('"')
    parts[1::2] = ["".join(f"\\u{ord(each):04x}" for each in part) for part in parts[1::2]]
    return '"'.join(parts) + "\n"


def test_names_may_be_written_as_escapes() -> None:
    text = graded("pass", None, None) + triage() + escaped(graded("fail", "pass", None)) + triage()
    state = feed_state(ScoredTrace(text.split("\n")).index, EVENTS[GRADE], "run-1")
    assert state.counted is not None
    assert state.counted.line == 3
    assert state.counted.values == {"mechanical": "fail", "qa": "pass", "intent": None}
    check(text)


LINES = [
    graded("pass", None, None),
    graded("pass", "pass", "fail", project_run_id="run-2"),
    graded("pass", "passed", None),
    graded("pass", "passed", None)[:-20] + "\n",
    '{"event_type":"correctness-recorded"}\n',
    escaped(graded(None, "fail", None)),
    tokens(1, 2, 3, None),
    tokens(1, 2, 3, -1),
    triage(),
    triage(input_ref="correctness-recorded run-2 \\u"),
    triage(run='run "2"\\'),
    event("Tokens-Recorded"),
    graded("fail", None, None).replace("correctness-recorded", "correctness"),
    escaped(graded("fail", None, None).replace("s-r", "s_r")),
    event("no-such-event", "run-3", about="correctness-recorded"),
    "\n",
    "correctness-recorded\n",
    graded("fail", "fail", "fail").replace(":", " : ").replace("\n", "\r\n"),
    graded("fail", None, None, note="undeclared"),
    triage(orchestrator_agent_id="a 1"),
    triage(orchestrator_agent_id="a 1").replace(":", " : "),
    triage(run="run-2", orchestrator_agent_id="a 2"),
    triage(orchestrator_agent_id='é "2"'),
    escaped(triage(orchestrator_agent_id="a 1")),
    triage(orchestrator_agent_id="a 1").replace("}", ',"orchestrator_agent_id":"a 2"}'),
    triage(orchestrator_agent_id="a 2", verdict="rejected"),
    triage(orchestrator_agent_id=" "),
]


@settings(max_examples=examples(200))
@given(st.lists(st.sampled_from(LINES), max_size=12), st.booleans())
def test_on_any_trace(lines: list[str], ended: bool) -> None:
    text = "".join(lines)
    check(text if ended else text.rstrip("\n"))


def test_a_byte_that_is_no_utf8_is_read_as_readers_do() -> None:
    other = triage(input_ref="caf\xe9", orchestrator_agent_id="a").encode("latin-1")
    grade = graded("pass", None, None, by="\xe9").encode("latin-1")
    state = feed_state(ScoredTrace(records_of(other + grade)).index, EVENTS[GRADE], "run-1")
    assert state.counted is not None
    assert (state.counted.line, state.agent_id) == (2, "a")


def test_runs_for_suggestions() -> None:
    text = triage() + triage(run="b c") + escaped(triage(run="d")) + triage() + '{"project_run_id'
    assert runs_named(text.encode()) == ["run-1", "b c"]
