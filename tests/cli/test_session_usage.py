"""`tokens --usage SESSION`: whole sessions, with what their subagents have logged elsewhere."""

import json
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from drive_trace.authoring.drafts import Refused
from drive_trace.authoring.sessions import read_session
from drive_trace.authoring.usage import total_usage
from tests.cli.sessions import SECRET, SESSION, answer, line, lines, session, started
from tests.cli.support import Ran, run, write
from tests.cli.usage import COUNTS
from tests.support.client_text import triage
from tests.support.systems import not_on_windows

MAIN = lines(
    {"type": "queue-operation", "operation": "enqueue", "content": SECRET},
    line(0, "user", SECRET),
    answer(1, "m1", 1),
    answer(1, "m1", 30),
    started(9, "a1"),
    started(9, "a2", "async_launched"),
)
AGENTS = {
    # The session has logged a message of its subagent, too, when it was complete.
    "a1": lines(line(2, "user", SECRET, "a1"), answer(3, "m1", 1, agent="a1")),
    "a2": lines(answer(4, "m2", 5, agent="a2"), started(5, "b1", by="a2")),
    "b1": lines(answer(4, "m3", 2, agent="b1")),
}


def add(trace: Path, *sessions: object, flags: tuple[str, ...] = ()) -> Ran:
    usages = (part for each in sessions for part in ("--usage", str(each)))
    ran = run("tokens", "--trace-file", trace, "--project-run-id", "run-1", *flags, *usages)
    assert SECRET not in ran.out + ran.err + trace.read_text()
    return ran


def refused(trace: Path, *sessions: object) -> str:
    ran = add(trace, *sessions)
    assert (ran.code, ran.out, trace.read_text()) == (1, "", triage())
    return ran.err


def counts(ran: Ran, trace: Path) -> list[int | None]:
    assert ran.code == 0, ran.err
    event = json.loads(trace.read_text().splitlines()[-1])
    return [event[each] for each in COUNTS]


def test_a_session_is_followed_by_its_log_its_folder_and_its_id(
    trace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = session(tmp_path / "home" / "projects" / "-shop", MAIN, **AGENTS)
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "home"))
    expected = [30, 37, 270, 21]
    for named in (path, path.with_suffix(""), SESSION):
        assert counts(add(trace, named), trace) == expected
    assert counts(add(trace, path, SESSION, path.with_suffix("")), trace) == expected
    (kept,) = trace.parent.glob("*.provenance.ndjson")
    entry = json.loads(kept.read_text().splitlines()[-1])
    assert (entry["writer"], entry["source"], entry["measured"]) == ("tokens", SESSION, [*COUNTS])
    page = run("report", "--format", "html", trace).out
    assert f'href="vscode://file{path}"' in page
    kept.write_text(kept.read_text().replace(SESSION, "../../-shop/" + SESSION))
    assert f"vscode://file{path}" not in run("report", "--format", "html", trace).out
    for unknown in ("no-such-session", ""):
        assert add(trace, unknown).code == 2
    assert "nor a session of this id in" in add(trace, "no-such-session").err


def test_sessions_that_share_messages_add_up_once(trace: Path, tmp_path: Path) -> None:
    """A session that is resumed begins with a copy of the one before."""
    one = write(tmp_path, "one.jsonl", lines(answer(1, "m1", 30), answer(2, "m2", 4)))
    other = write(tmp_path, "other.jsonl", lines(answer(1, "m1", 30), answer(3, "m3", 5)))
    printed = {"type": "result", "session_id": SESSION, "total_cost_usd": 0.5}
    result = write(tmp_path, "r.json", json.dumps({**printed, "usage": {"output_tokens": 50}}))
    assert counts(add(trace, one, other), trace)[1] == 39
    ran = add(trace, one, other, result, flags=("--output-format", "json"))
    assert counts(ran, trace)[1] == 50  # the result is of the same session
    assert ran.json["usage"]["cost_usd"] == 0.5
    assert ran.json["usage"]["rows"][0]["format"] == "Claude Code result"
    assert (ran.json["recorded"]["output_tokens"], "cost" in trace.read_text()) == (50, False)


def test_what_is_missing_is_listed_and_a_part_is_not_recorded(trace: Path, tmp_path: Path) -> None:
    path = session(tmp_path / "s", MAIN, a1=AGENTS["a1"], a2=AGENTS["a2"])
    assert "1 log of the session is not here" in refused(trace, path)
    outside = write(tmp_path, "elsewhere.jsonl", AGENTS["b1"])
    (path.with_suffix("") / "subagents" / "agent-b1.jsonl").symlink_to(outside)
    assert "agent-b1.jsonl" in refused(trace, path)  # no link is followed
    ran = add(trace, path, flags=("--partial",))
    assert (ran.code, trace.read_text()) == (0, triage())
    assert ran.out.splitlines()[1].split()[-4:] == ["20", "35", "180", "14"]
    assert "agent-b1.jsonl is not here, and not counted" in ran.err
    assert "nothing was recorded" in ran.err
    path.unlink()
    assert f"{SESSION}.jsonl" in refused(trace, path.with_suffix(""))
    assert run("tokens", "--trace-file", trace, "--project-run-id", "x", "--partial").code == 2


@pytest.mark.parametrize("torn", [b'{"type":"user","mess', '{"type":"user","a":"é'.encode()[:-1]])
def test_a_line_that_is_being_written_is_passed_over(
    trace: Path, tmp_path: Path, torn: bytes
) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(lines(answer(1, "m1", 30)).encode() + torn)
    ran = add(trace, path)
    assert counts(ran, trace)[1] == 30
    assert f"the last line of {path} is cut off" in ran.err
    path.write_bytes(path.read_bytes() + b"\n" + lines(answer(2, "m2", 1)).encode())
    assert add(trace, path).code != 0  # nobody knows what it said


def test_a_call_of_a_subagent_without_its_result_is_a_missing_log(
    trace: Path, tmp_path: Path
) -> None:
    call = {"type": "tool_use", "id": "toolu-a1", "name": "Task", "input": {"prompt": SECRET}}
    text = lines(answer(1, "m1", 30), answer(2, "m2", 4, [call]))
    path = session(tmp_path / "s", text + '{"torn')
    assert "agent-….jsonl (of the call toolu-a1, which has no result)" in refused(trace, path)
    ran = add(trace, path, flags=("--partial",))
    assert (ran.code, trace.read_text()) == (0, triage())
    assert "of the call toolu-a1" in ran.err
    # Where the session was killed, the log says what it was told; of two calls it tells of one.
    log = path.with_suffix("") / "subagents" / "agent-a1.jsonl"
    log.write_text(lines(line(2, "user", SECRET, "a1"), answer(3, "m3", 5, agent="a1")))
    assert counts(add(trace, path), trace)[1] == 39
    path.write_text(text + lines(answer(4, "m4", 1, [{**call, "id": "toolu-a2"}])))
    assert add(trace, path).code == 1
    log.unlink()
    # An error has started nothing.
    result = {"type": "tool_result", "tool_use_id": "toolu-a1", "is_error": True, "content": "no"}
    path.write_text(text + lines(line(3, "user", [result], toolUseResult="Error: no")))
    assert counts(add(trace, path), trace)[1] == 34


def test_figures_that_count_already_are_not_appended_again(trace: Path, tmp_path: Path) -> None:
    path = write(tmp_path, "s.jsonl", lines(answer(1, "m1", 30)))
    first = counts(add(trace, path), trace)
    text = trace.read_text()
    again = add(trace, path)
    assert (counts(again, trace), trace.read_text()) == (first, text)
    assert "the same tokens count already" in again.out
    number = len(text.splitlines())
    assert f"the same figures count already (line {number}): nothing is appended" in again.err
    assert add(trace, path, flags=("--output-format", "json")).json["line"] == number
    path.write_text(lines(answer(1, "m1", 31)))
    assert counts(add(trace, path), trace)[1] == 31
    path.write_text(lines(answer(1, "m1", 30)))
    assert counts(add(trace, path), trace) == first  # only what counts now is compared
    assert len(trace.read_text().splitlines()) == number + 2


# Codex


def meta(thread: str, parent: str | None = None) -> Any:
    spawn = {"subagent": {"thread_spawn": {"parent_thread_id": parent, "depth": 1}}}
    source = {"source": spawn if parent else "cli"}
    return {"type": "session_meta", "payload": {"id": thread, "cwd": "/x", **source}}


def total(input_: int, output: int) -> Any:
    figures = {"input_tokens": input_, "cached_input_tokens": 0, "output_tokens": output}
    info = {"total_token_usage": figures, "last_token_usage": figures}
    return {"type": "event_msg", "payload": {"type": "token_count", "info": info}}


def spawned(thread: str) -> Any:
    told = {"type": "collab_agent_spawn_end", "new_thread_id": thread, "prompt": SECRET}
    return {"type": "event_msg", "payload": told}


def test_threads_of_codex_repeat_what_was_before_them(
    trace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    day = tmp_path / "codex" / "sessions" / "2026" / "05" / "28"
    day.mkdir(parents=True)
    parent, child = (day / f"rollout-2026-05-28T14-00-00-thread-{each}.jsonl" for each in "ab")
    history = (total(100, 5), total(300, 9))
    parent.write_text(lines(meta("thread-a"), *history, spawned("thread-b"), total(400, 10)))
    child.write_text(
        lines(meta("thread-b", "thread-a"), meta("thread-a"), *history, total(350, 12))
    )
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "codex"))
    for named in (("thread-a", "thread-b"), (parent, child)):
        assert counts(add(trace, *named), trace) == [450, 12 + 1, 0, None]
    trace.write_text(triage())
    assert "rollout-…-thread-a.jsonl" in refused(trace, "thread-b")
    child.unlink()
    assert "rollout-…-thread-b.jsonl" in refused(trace, "thread-a")


@not_on_windows("homes are found otherwise there")
def test_where_nobody_has_a_home_no_session_is_found(
    trace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unknown(_: int) -> None:
        raise KeyError

    for each in ("HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(each, raising=False)
    monkeypatch.setattr("pwd.getpwuid", unknown)
    ran = run("tokens", "--trace-file", trace, "--project-run-id", "shop", "--usage", SESSION)
    assert (ran.code, ran.err.count("\n")) == (2, 1), ran.err
    assert "nor a session of this id in ~/.claude/projects" in ran.err


# Trajectories of Harbor's format


def trajectory(name: str, steps: int, sums: Any = None, **more: Any) -> Any:
    """One step of this many input tokens, 100 of them read from a cache."""
    metrics = {"prompt_tokens": steps, "completion_tokens": 1, "cached_tokens": 100}
    return {
        "schema_version": "ATIF-v1.7",
        "session_id": "shared",
        "trajectory_id": name,
        "agent": {"name": "x", "version": "1", "model_name": "gpt-5.5"},
        "steps": [
            {"step_id": 1, "source": "user", "message": SECRET},
            {"step_id": 2, "source": "agent", "message": SECRET, "metrics": metrics},
        ],
        **({} if sums is None else {"final_metrics": sums}),
        **more,
    }


def sums(prompt: int, completion: int, **more: Any) -> Any:
    return {"total_prompt_tokens": prompt, "total_completion_tokens": completion, **more}


@pytest.mark.parametrize(
    ("root", "expected"),
    [
        (sums(500, 1, total_cached_tokens=100, total_cost_usd=0.25), [600, 2, 200, None]),
        (sums(800, 2, total_cached_tokens=200), [600, 2, 200, None]),
        (None, [600, 2, 200, None]),
        (sums(700, 2), None),
    ],
    ids=["of the steps", "of the subagent, too", "no sums", "of something else"],
)
def test_sums_of_trajectories_count_once(
    trace: Path, tmp_path: Path, root: Any, expected: Any
) -> None:
    inner = trajectory("sub", 300)
    document = trajectory("root", 500, root, subagent_trajectories=[inner])
    path = write(tmp_path, "trajectory.json", json.dumps(document, indent=2))
    if expected is None:
        assert "what counts cannot be told" in refused(trace, path)
        return
    assert counts(add(trace, path, path), trace) == expected
    named = {"results": [{"subagent_trajectory_ref": [{"trajectory_path": "s3://x/other.json"}]}]}
    document["steps"].append({"step_id": 3, "source": "agent", "observation": named})
    write(tmp_path, "trajectory.json", json.dumps(document))
    trace.write_text(triage())
    assert "other.json" in refused(trace, path)
    other = write(tmp_path, "other.json", json.dumps(trajectory("other", 200)))
    assert counts(add(trace, path, other), trace)[1] == 3


@pytest.mark.parametrize("part", ["[]", "{}", '{"a":[]}', '["\\\\",""]'])
def test_no_line_takes_far_more_memory_than_its_length(part: str) -> None:
    """A list or an object of two bytes takes up to 300, so they are counted first."""
    log = [lines(answer(1, "m1", 3)), f'{{"a":[{",".join([part] * 1_000_001)}]}}\n']
    tracemalloc.start()
    try:
        usage = total_usage({"a": log})
        session = read_session({"a": log})
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    told = "line 2 of the usage has more than 2,000,000 lists, objects and commas"
    assert usage == Refused((told,))
    assert "line 2 of a: it cannot be read" in session.left_out
    assert peak < 4 * len(log[1])


def test_a_line_of_millions_of_values_is_refused_before_it_is_read() -> None:
    log = [lines(answer(1, "m1", 3)), "[" + '"",' * 2_000_001 + "1]\n"]
    told = "line 2 of the usage has more than 2,000,000 lists, objects and commas"
    assert total_usage({"a": log}) == Refused((told,))


@pytest.mark.parametrize(
    "text", ["," * 6_000_000, "{[" * 600_000, '\\"{[' * 600_000, "\\\\" * 9 + "[" * 1_000_001]
)
def test_brackets_of_a_tools_output_are_text(text: str) -> None:
    said = lines({"type": "user", "message": {"content": text}}, answer(1, "m1", 3))
    usage = total_usage({"a": said.splitlines(keepends=True)})
    assert not isinstance(usage, Refused)
    assert usage.figures["output_tokens"] == 3


def test_a_long_log_is_never_held_whole() -> None:
    filler = json.dumps({"type": "user", "message": {"content": "x" * 20_000}}) + "\n"

    def log() -> Iterator[str]:
        for number in range(1000):
            yield filler
            yield lines(answer(number, f"m{number % 50}", 3))

    tracemalloc.start()
    try:
        usage = total_usage({"a": log()})
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert not isinstance(usage, Refused)
    assert usage.figures["output_tokens"] == 150
    assert peak < 2 << 20  # of 20 MB
