"""`reconstruct SESSION`: a trace of a session's logs, as if the run had recorded itself."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.sessions import SECRET, SESSION, answer, at, line, lines, session, started
from tests.cli.support import Ran, findings, run, write

BRIEF, MORE = f"Build the queue. {SECRET}", "Mend the é"


def call(seconds: float, agent: str, name: str = "Agent", **given: Any) -> Any:
    use = {"type": "tool_use", "id": f"toolu-{agent}", "name": name, "input": given}
    return answer(seconds, f"call-{seconds}", 3, [use])


def task(description: str, prompt: str) -> dict[str, str]:
    return {"description": description, "prompt": prompt, "subagent_type": "Explore"}


def notice(seconds: float, agent: str, status: str) -> Any:
    said = f"<task-notification>\n<task-id>{agent}</task-id>\n<status>{status}</status>\n"
    return line(seconds, "user", said, origin={"kind": "task-notification"})


MAIN = lines(
    {"type": "queue-operation", "content": SECRET},
    line(0, "user", SECRET),
    call(1, "a1", **task("implementer D1", BRIEF)),
    call(2, "a2", **task("reviewer", BRIEF)),
    started(2.5, "a2", "async_launched", resolvedModel="claude-haiku-4-5"),
    started(61.25, "a1", totalDurationMs=60_000),
    notice(70, "b9", "completed"),  # a command in the background
    notice(80, "a2", "killed"),
    call(90, "-", "SendMessage", to="a1", message=MORE),
    notice(95, "a1", "completed"),
    call(100, "a3", **task("never back", BRIEF)),
    started(100.5, "a3", "async_launched"),
)
AGENTS = {
    "a1": lines(line(1, "user", BRIEF, "a1"), answer(30, "m1", 40, agent="a1")),
    "a2": lines(line(2, "user", BRIEF, "a2"), answer(31, "m2", 2, agent="a2")),
    "a3": lines(line(101, "user", BRIEF, "a3")) + '{"torn',
    "w1": lines(line(102, "user", "step", "w1")),
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    write(tmp_path, "drive-trace.toml", "")
    return session(tmp_path / "logs", MAIN, **AGENTS)


def told(*args: object) -> Ran:
    ran = run("reconstruct", *map(str, args))
    assert (ran.code, SECRET in ran.out + ran.err) == (0, False), ran.err
    return ran


def wrong(text: str) -> list[str]:
    """The rules that find something, but for hints: what is missing in a log stays missing."""
    return sorted({each["code"] for each in findings(text) if each["severity"] != "hint"})


def test_a_session_is_told_as_a_trace(path: Path) -> None:
    trace = told(path, "--into", path.with_name("trace.jsonl"), "--dry-run").out
    *events, _ = (json.loads(each) for each in trace.splitlines())
    assert wrong(trace) == []
    assert {each["project_run_id"] for each in events} == {SESSION}
    assert {each["orchestrator_agent_id"] for each in events} == {SESSION}
    assert [(each["event_type"], each["ts"]) for each in events] == [
        *[(each, at(1)) for each in ("dispatch-start", "round-start", "brief-issued")],
        *[(each, at(2)) for each in ("dispatch-start", "round-start", "brief-issued")],
        ("dispatch-end", at(80)),
        *[(each, at(90)) for each in ("round-start", "brief-issued")],
        ("dispatch-end", at(95)),
        *[(each, at(100)) for each in ("dispatch-start", "round-start", "brief-issued")],
    ]
    start, _, brief, other, *_ = events
    assert (start["dispatch_name"], start["subagent_type"]) == ("implementer D1", "Explore")
    assert (start["model"], other["model"]) == ("claude-opus-5", "claude-haiku-4-5")
    assert brief["brief_content_hash"] == hashlib.sha256(BRIEF.encode()).hexdigest()
    assert brief["brief_byte_length"] == len(BRIEF)
    ends = [each for each in events if each["event_type"] == "dispatch-end"]
    assert [(each["result"], each["wall_clock_ms"]) for each in ends] == [
        ("aborted", 78_000),
        ("completed", 94_000),
    ]
    again = next(each for each in events[3:] if each.get("round_number") == 2)
    assert again["dispatch_id"] == start["dispatch_id"]
    assert events[8]["brief_disposition"] == "amended"


def test_its_json_has_lines_tokens_and_what_is_left_out(path: Path) -> None:
    found = told(path, "--format", "json").json
    assert told(path, "--format", "json").json == found
    assert [each["lines"] for each in found["events"][:3]] == [[3]] * 3
    assert {(each["confidence"], each["origin"]) for each in found["events"]} == {
        ("high", "session")
    }
    assert found["operatorTurnCount"] == 1
    of_first = next(each for each in found["dispatches"] if each["agent"] == "a1")
    assert of_first["tokens"]["output_tokens"] == 40
    assert found["tokens"]["output_tokens"] == 3 * 4 + 40 + 2
    assert (
        "left out: the end of 4 rounds: what was decided, and how much was found" in found["notes"]
    )
    assert 'left out: the end of the dispatch "never back": it has not come back' in found["notes"]
    assert 'left out: the subagent "w1": no start, kind or name' in found["notes"]
    assert told(path).out.startswith("13 events (13 of high confidence), 1 turn of a person\n")


def test_a_line_that_cannot_be_read_costs_no_time(path: Path) -> None:
    before = told(path).out.splitlines()
    first, *others = MAIN.splitlines(keepends=True)
    path.write_text("".join([first, '{"type":"user","mess\n', *others]) + '{"torn')
    found = told(path, "--format", "json").json
    assert [each["lines"] for each in found["events"][:3]] == [[4]] * 3
    assert {f"left out: line {each} of {path}: it cannot be read" for each in (2, 14)} < {
        *found["notes"]
    }
    after = told(path).out.splitlines()
    assert after[:14] == before[:14]
    assert "ts unavailable" not in "".join(after)
    assert any("dispatch-end " in each and each.endswith("  implementer D1") for each in after)
    assert sum(each.endswith("  reviewer") for each in after) == 4


def test_a_dispatch_without_an_agent_is_listed(path: Path) -> None:
    failed = {"type": "tool_result", "tool_use_id": "toolu-x1", "is_error": True, "content": "no"}
    more = lines(
        call(110, "x1", **task("unknown kind", BRIEF)),
        line(111, "user", [failed], toolUseResult="Error: no"),
        call(112, "x2", **task("interrupted", BRIEF)),
        call(113, "a3", **task("never back", BRIEF)),  # logged again
    )
    killed = call(114, "x3", **task("killed with its session", MORE))
    path.write_text(MAIN + more + lines(killed))
    log = path.with_suffix("") / "subagents" / "agent-x3.jsonl"
    log.write_text(lines(line(115, "user", MORE, "x3")))
    out = told(path).out
    assert out.count("killed with its session") == 4
    for name in ("unknown kind", "interrupted"):
        assert f'the dispatch "{name}": its call failed, or had no log yet' in out
    assert out.count("never back") == 4


def test_it_is_written_whole_and_once(path: Path, tmp_path: Path) -> None:
    trace = tmp_path / "trace.jsonl"
    would = told(path, "--into", trace, "--dry-run")
    assert (len(would.out.splitlines()), trace.exists()) == (14, False)
    told(path, "--into", trace)
    text = trace.read_text()
    assert wrong(text) == []
    assert len(text.splitlines()) == 14
    assert json.loads(text.splitlines()[-1])["output_tokens"] == 54
    kept = (tmp_path / "trace.jsonl.provenance.ndjson").read_text().splitlines()
    entries = [json.loads(each) for each in kept]
    assert {(each["writer"], each["source"]) for each in entries} == {("reconstruct", SESSION)}
    end = next(each for each in entries if each["event_type"] == "dispatch-end")
    assert (end["measured"], end["lines"]) == (["ts", "wall_clock_ms"], [8])
    assert "14 told by the log of a session" in " ".join(run("score", trace).out.split())
    told(path, "--into", trace)
    assert trace.read_text() == text
    # The session goes on.
    with path.open("a") as file:
        file.write(lines(notice(110, "a3", "failed")))
    told(path, "--into", trace)
    *_, before, last = trace.read_text().splitlines()
    assert json.loads(before)["event_type"] == "tokens-recorded"
    assert json.loads(last)["result"] == "failed"


def test_gaps_of_a_trace_are_filled(path: Path, tmp_path: Path) -> None:
    trace = tmp_path / "trace.jsonl"
    where = ("--trace-file", trace, "--project-run-id", "shop", "--event")
    of = {"subagent_type": "coder", "model": None, "parent_dispatch_id": None}
    for id_, name in (("d1", "implementer D1"), ("d2", "somebody else")):
        payload = json.dumps({"dispatch_id": id_, "dispatch_name": name, **of})
        assert run("emit", *where, "dispatch-start", "--payload", payload).code == 0
    # As the run would have recorded it at the time.
    records = [json.loads(each) | {"ts": at(1.5)} for each in trace.read_text().splitlines()]
    trace.write_text(lines(*records))
    ran = run("reconstruct", path, "--into", trace)
    assert (ran.code, "which? --project-run-id ID says it" in ran.err) == (1, True)
    ran = told(path, "--into", trace, "--project-run-id", "shop")
    end, cost = (json.loads(each) for each in trace.read_text().splitlines()[2:])
    assert (end["dispatch_id"], end["result"], end["wall_clock_ms"]) == ("d1", "completed", 93_500)
    assert cost["output_tokens"] == 54
    assert 'the dispatch "reviewer": which one it is in the trace' in ran.err
    assert not any("wall-clock" in each for each in wrong(trace.read_text()))


def test_what_tells_no_times_is_not_written(tmp_path: Path) -> None:
    said = json.dumps({"role": "user", "message": {"content": []}})
    transcript = write(tmp_path, "session.jsonl", said)
    ran = run("reconstruct", transcript, "--into", tmp_path / "trace.jsonl")
    assert (ran.code, (tmp_path / "trace.jsonl").exists()) == (1, False)
    assert "its lines have no times, which every event of a trace has" in ran.err
    assert run("reconstruct", transcript, "--dry-run").code == 2
