"""``drive-trace hook claude-code``: a session of an agent is recorded as it goes on."""

import json
import re
import shlex
import subprocess
import sys
import time
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from tests.cli.support import Ran, findings, process, run
from tests.support.command import COMMAND
from tests.support.systems import not_on_windows

CONFIGURATION = '[record]\ntrace = "projects/shop/trace.jsonl"\nrun = "shop"\n'
SESSION = "0b8e9f5a-3d52-4f4e-9f0a-7b7d3c1e2a10"
ONE, TWO = "a4f1c09d2b7e6a358", "b9d0e1f2a3c4b5d67"
USAGE = {
    "input_tokens": 100,
    "output_tokens": 20,
    "cache_read_input_tokens": 3,
    "cache_creation_input_tokens": 1,
}
AT_ONCE = subprocess.Popen[bytes]


class Session:
    """A session of Claude Code in a folder: its hooks, its logs, and what its agent types."""

    def __init__(self, folder: Path, id_: str = SESSION) -> None:
        self.folder, self.id = folder, id_
        self.trace = folder / "projects/shop/trace.jsonl"
        self.log = folder / f"home/{id_}.jsonl"
        (self.log.with_suffix("") / "subagents").mkdir(parents=True)
        self.log.write_text(self.entries("0", "Build the shop"), "utf-8")

    def event(self, name: str, **fields: object) -> bytes:
        """What Claude Code gives its hooks."""
        about = {"session_id": self.id, "transcript_path": str(self.log), "cwd": str(self.folder)}
        return json.dumps({**about, "hook_event_name": name, **fields}).encode()

    def hook(self, name: str, **fields: object) -> Ran:
        return run("hook", "claude-code", stdin=self.event(name, **fields))

    def recorded(self, name: str, **fields: object) -> list[Any]:
        """The events that a hook appends, without saying anything."""
        before = len(self.events())
        assert self.hook(name, **fields) == (0, "", "")
        return self.events()[before:]

    def start(self, agent: str) -> list[Any]:
        return self.recorded("SubagentStart", agent_id=agent, agent_type="Explore")

    def stop(self, agent: str, *prompts: str) -> list[Any]:
        """An agent stops that was told so."""
        log = self.log.with_suffix("") / f"subagents/agent-{agent}.jsonl"
        log.write_text("".join(self.entries(agent, each) for each in prompts), "utf-8")
        path = {"agent_transcript_path": str(log), "agent_type": "Explore"}
        return self.recorded("SubagentStop", agent_id=agent, **path, stop_hook_active=False)

    def wrote(self, text: str, suffix: str = "") -> Ran:
        """The agent has put a text in place of the trace's, or of the record's beside it."""
        path = Path(f"{self.trace}{suffix}")
        before = path.read_text("utf-8")
        path.write_text(text, "utf-8")
        response = {"filePath": str(path), "originalFile": before, "structuredPatch": []}
        given = {"file_path": str(path), "content": text}
        return self.hook("PostToolUse", tool_name="Write", tool_input=given, tool_response=response)

    def reminded(self, name: str = "Stop", **fields: object) -> list[str]:
        """The commands that a hook reminds of, each as it has to be completed."""
        code, out, err = self.hook(name, **fields)
        assert (code, err) == (0, "")
        told = json.loads(out)["hookSpecificOutput"] if out else {"additionalContext": ""}
        assert told.get("hookEventName", name) == name
        return [
            line for line in told["additionalContext"].split("\n") if line.startswith("drive-trace")
        ]

    def entries(self, who: str, prompt: str) -> str:
        """A turn as the logs have it: a prompt, a tool's result, and an answer with its usage."""
        uses = {"type": "tool_result", "tool_use_id": "t", "content": "not a prompt"}
        answer = {"id": f"{self.id}-{who}-{prompt}", "role": "assistant", "usage": USAGE}
        lines = (
            {"type": "user", "message": {"role": "user", "content": prompt}},
            {"type": "user", "message": {"role": "user", "content": [uses]}},
            {"type": "user", "isMeta": True, "message": {"role": "user", "content": "aside"}},
            {"type": "assistant", "message": {**answer, "model": "m"}, "requestId": who + prompt},
        )
        return "".join(f"{json.dumps({**each, 'sessionId': self.id})}\n" for each in lines)

    def events(self) -> list[Any]:
        text = self.trace.read_text("utf-8") if self.trace.exists() else ""
        return [json.loads(line) for line in text.splitlines()]


@pytest.fixture
def session(here: Path, monkeypatch: pytest.MonkeyPatch) -> Session:
    """A session of a project that records one."""
    (here / "drive-trace.toml").write_text(CONFIGURATION)
    monkeypatch.delenv("CLAUDE_PROJECT_DIR", raising=False)
    monkeypatch.setattr(time, "sleep", lambda _: None)
    return Session(here)


def emit(*words: str) -> Any:
    code, out, err = run("emit", *words)
    assert (code, err if "begins a new trace" not in err else "") == (0, ""), err
    return json.loads(out)


def named(found: list[Any], *fields: str) -> list[Any]:
    """The names of events, with some of their fields."""
    return [(each["event_type"], *(each[field] for field in fields)) for each in found]


def test_a_whole_session_is_recorded_as_it_goes_on(session: Session) -> None:
    assert session.recorded("SessionStart", source="startup") == []
    emit("project-started", "project_slug=shop", "origin=new-project", "has_linear_project=false")
    emit("slice-started", "slice_slug=retry")
    # Two agents begin in parallel.
    first, round_1 = session.start(ONE)
    assert (first["dispatch_name"], first["subagent_type"]) == ("Explore-a4f1c09d", "Explore")
    assert (first["model"], first["parent_dispatch_id"]) == (None, None)
    assert first["orchestrator_agent_id"] == SESSION
    assert (round_1["dispatch_id"], round_1["round_number"]) == (first["dispatch_id"], 1)
    second, _ = session.start(TWO)
    # The agent writes an event by hand, is told what is wrong with it, and takes it back.
    text = session.trace.read_text("utf-8")
    told = session.wrote(text + '{"event_type":"dispatch-end"}\n')
    assert (told.code, told.out) == (2, "")
    assert "line 7: " in told.err
    assert "(missing-field)" in told.err
    assert session.wrote(text) == (0, "", "")
    # The first agent has done, and gets another round; the second one goes on.
    (brief,) = session.stop(ONE, "Add a retry")
    assert (brief["brief_byte_length"], brief["brief_disposition"]) == (11, "initial")
    ended, closed = session.reminded("PostToolUse", tool_response=done(ONE), tool_name="Agent")
    assert (
        ended == "drive-trace emit round-end verdict=… findings_filed=… --dispatch Explore-a4f1c09d"
    )
    assert closed == "drive-trace emit dispatch-end result=… --dispatch Explore-a4f1c09d"
    obey(ended, "another-round-needed", "2")
    assert session.reminded(background_tasks=[{"id": TWO, "type": "subagent"}]) == [closed]
    # A turn is no dispatch: the same agent goes on with the next round.
    (round_2,) = session.start(ONE)
    assert (round_2["dispatch_id"], round_2["round_number"]) == (first["dispatch_id"], 2)
    assert named(session.stop(ONE, "Add a retry", "Mind zero"), "brief_disposition") == [
        ("brief-issued", "amended")
    ]
    assert named(session.stop(TWO, "Look around")) == [("brief-issued",)]
    # The turn ends, and the agent says what came of all that.
    assert session.reminded(stop_hook_active=True) == []
    for each in session.reminded():
        obey(each, *(("satisfied", "0") if "round-end" in each else ("completed",)))
    assert session.reminded() == []
    emit("slice-completed", "slice_slug=retry", "result=merged", "pr_ref=#7")
    emit("retro-landed", "trigger_class=mandatory-final", 'landing_surfaces=["adr"]')
    emit("project-closed", "dod_status=all-met")
    (tokens,) = session.recorded("SessionEnd", reason="prompt_input_exit")
    assert [tokens[each] for each in ("input_tokens", "output_tokens")] == [400, 80]
    # Nothing is wrong with it, and its durations are the clock's.
    assert findings(session.trace.read_bytes()) == []
    begun = {each["round_id"]: each for each in session.events() if "round_number" in each}
    begun |= {each["dispatch_id"]: each for each in (first, second)}
    ends = [each for each in session.events() if "wall_clock_ms" in each]
    assert len(ends) == 5
    for each in ends:
        start = begun[each.get("round_id") or each["dispatch_id"]]
        between = datetime.fromisoformat(each["ts"]) - datetime.fromisoformat(start["ts"])
        assert each["wall_clock_ms"] == round(between.total_seconds() * 1000)


def done(agent: str) -> dict[str, object]:
    return {"status": "completed", "agentId": agent, "content": []}


def obey(command: str, *values: str) -> None:
    """Do what a reminder asks for."""
    for each in values:
        command = command.replace("…", each, 1)
    emit(*shlex.split(command)[2:])


def test_a_turn_of_a_round_without_a_verdict_goes_on_with_it(session: Session) -> None:
    session.start(ONE)
    assert session.start(ONE) == []
    assert len(session.stop(ONE, "Look")) == 1
    assert session.start(ONE) == []
    assert session.stop(ONE, "Look", "Go on") == []


def test_a_turn_after_the_end_of_a_dispatch_resumes_it(session: Session) -> None:
    first, _ = session.start(ONE)
    for command in session.reminded():
        obey(command, *(("stop-condition", "1") if "round-end" in command else ("failed",)))
    again, round_1 = session.start(ONE)
    assert again["parent_dispatch_id"] == first["dispatch_id"] != again["dispatch_id"]
    assert round_1["round_number"] == 1


def test_what_emit_would_refuse_does_not_stop_a_session(session: Session) -> None:
    session.start(ONE)
    emit("round-start", "--as-given")
    emit("round-end", "verdict=another-round-needed", "findings_filed=1", "--round", "2")
    (round_3,) = session.start(ONE)  # the first one stands open, too
    assert round_3["round_number"] == 3
    emit("project-closed", "dod_status=all-met", "--as-given")
    before = session.events()
    ended = 'drive-trace hook: nothing is recorded: the run "shop" has ended\n'
    assert session.hook("SubagentStart", agent_id=TWO, agent_type="Explore") == (0, "", ended)
    assert session.events() == before


def test_other_sessions_have_agents_of_their_own(session: Session) -> None:
    session.start(ONE)
    other = Session(session.folder, "7c1f0e44-54a5-4e0b-8a5b-c2f8de5c7f01")
    assert other.reminded() == []
    assert len(other.start(ONE)) == 2
    assert len(session.reminded()) == len(other.reminded()) == 2


def test_what_an_edit_has_not_brought_is_not_told(session: Session) -> None:
    session.start(ONE)
    wrong = session.trace.read_text("utf-8") + "{}\n"
    assert session.wrote(wrong).code == 2
    # Lines may move, and hints and what others have written wait for `check`.
    assert session.wrote("\n" + wrong) == (0, "", "")
    many = session.wrote(wrong + "".join(f'{{"event_type":{n}}}\n' for n in range(40)))
    assert many.code == 2
    assert len(many.err.splitlines()) == 12
    hostile = session.wrote(wrong + '{"event_type":"\u202e\x1b[2J::error::"}\n')
    assert hostile.code == 2
    assert "".join(hostile.err.split("\n")).isprintable()
    session.trace.unlink()
    given = {"file_path": str(session.trace)}
    gone = session.hook("PostToolUse", tool_name="Write", tool_input=given, tool_response=None)
    assert (gone.code, gone.out) == (0, "")
    assert gone.err.endswith("trace.jsonl: no such file or folder\n")


def test_an_agent_is_told_one_finding_a_cause(session: Session) -> None:
    session.start(ONE)
    _, start = session.events()
    wrong = session.trace.read_text("utf-8")
    for number in range(2, 5):
        again = {"event_id": str(uuid4()), "round_id": str(uuid4()), "dispatch_id": "unheard-of"}
        wrong += f"{json.dumps({**start, **again, 'round_number': number - 1})}\n"
    told = session.wrote(wrong).err.split("\n")
    # Not each of the three rounds of a dispatch without a start.
    assert len([each for each in told if "(unknown-dispatch)" in each]) == 1, told


def test_a_hostile_name_is_text(session: Session) -> None:
    name = "x'; touch obeyed #"
    started = session.recorded("SubagentStart", agent_id="$(touch obeyed)", agent_type=name)
    assert started[0]["subagent_type"] == name
    for command in session.reminded():
        assert shlex.split(command)[-1] == f"{name}-$(touch "
        obey(command, *(("satisfied", "0") if "round-end" in command else ("completed",)))
    for unseen in ("\x1b]0;\u202e", "x" * 200):
        started = session.recorded("SubagentStart", agent_id=unseen, agent_type=unseen)
        for command in session.reminded():
            assert shlex.split(command)[-1] == started[0]["dispatch_id"]
            obey(command, *(("satisfied", "0") if "round-end" in command else ("completed",)))


def test_nothing_of_a_prompt_is_kept(session: Session) -> None:
    session.start(ONE)
    (brief,) = session.stop(ONE, "sk-ant-secret \ud800 of mine")
    assert brief["brief_byte_length"] == 23
    for path in session.trace.parent.iterdir():
        assert b"secret" not in path.read_bytes()


def test_what_an_edit_takes_away_or_changes_is_told(session: Session) -> None:
    session.start(ONE)
    emit("round-end", "verdict=stop-condition", "findings_filed=3")
    text = session.trace.read_text("utf-8")
    changed = session.wrote(text.replace('"findings_filed":3', '"findings_filed":2'))
    assert changed.code == 2
    assert "(unrecorded-change)" in changed.err
    assert session.wrote(text) == (0, "", "")
    gone = session.wrote("".join(text.splitlines(keepends=True)[:-1]))
    assert gone.code == 2
    assert "(unrecorded-change)" in gone.err
    assert session.wrote(text) == (0, "", "")
    record = Path(f"{session.trace}.provenance.ndjson").read_text("utf-8")
    forged = session.wrote(record.replace("round-end", "round-start", 1), ".provenance.ndjson")
    assert forged == (0, "", "")  # the trace is what the record says
    told = session.wrote("garbage\n", ".provenance.ndjson")
    assert told.code == 2
    assert "the record of where the events come from is damaged" in told.err
    assert session.wrote(record, ".provenance.ndjson") == (0, "", "")


# Tokens


def test_all_sessions_of_the_run_count_or_nothing_is_recorded(session: Session) -> None:
    assert session.recorded("SessionEnd", reason="clear") == []  # it has recorded nothing
    session.start(ONE)
    session.stop(ONE, "Look")
    (tokens,) = session.recorded("SessionEnd", reason="clear")
    assert tokens["input_tokens"] == 200
    assert session.recorded("SessionEnd", reason="other") == []  # the same count already
    other = Session(session.folder, "7c1f0e44-54a5-4e0b-8a5b-c2f8de5c7f01")
    other.start(TWO)
    other.stop(TWO, "Look")
    (tokens,) = other.recorded("SessionEnd", reason="clear")
    assert tokens["input_tokens"] == 400
    session.log.unlink()
    lost = other.hook("SessionEnd", reason="clear")
    assert (lost.code, lost.out) == (0, "")
    assert f"{SESSION}.jsonl" in lost.err
    assert other.events()[-1] == tokens


def test_the_end_of_a_session_waits_for_its_last_lines(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    session.start(ONE)
    session.stop(ONE, "Look")
    late = [session.entries("1", "Go on")]

    def sleep(_: float) -> None:
        with session.log.open("a") as log:
            log.write(late.pop() if late else "")

    monkeypatch.setattr(time, "sleep", sleep)
    (tokens,) = session.recorded("SessionEnd", reason="other")
    assert tokens["input_tokens"] == 300


def test_no_session_that_a_trace_names_leads_elsewhere(session: Session, tmp_path: Path) -> None:
    session.start(ONE)
    session.stop(ONE, "Look")
    Session(tmp_path / "elsewhere", "other")
    text = session.trace.read_text("utf-8")
    path = "../elsewhere/home/other"
    session.trace.write_text(text + text.splitlines()[0].replace(SESSION, path) + "\n")
    lost = session.hook("SessionEnd", reason="other")
    assert (lost.code, lost.out) == (0, "")
    assert "elsewhere" not in lost.err.replace(str(session.folder), "")


# Where there is nothing to do


@pytest.mark.parametrize(
    "configuration",
    [None, "", "# record\n", "[rules]\n", '[rules]\n# [record]\nzero-tokens = "off"\n'],
)
def test_a_project_that_names_no_run_records_nothing(
    session: Session, configuration: str | None
) -> None:
    path = session.folder / "drive-trace.toml"
    path.unlink() if configuration is None else path.write_text(configuration)
    assert session.start(ONE) == session.stop(ONE, "Look") == session.reminded() == []
    assert not session.trace.parent.exists()


def test_other_events_and_other_files_are_passed_over(session: Session) -> None:
    session.start(ONE)
    for name in ("PreToolUse", "Notification", "StopFailure", "Whatever"):
        assert session.recorded(name, tool_name="Write") == []
    other = {"file_path": str(session.folder / "trace.jsonl"), "content": "{"}
    assert session.recorded("PostToolUse", tool_name="Write", tool_input=other) == []
    assert session.recorded("PostToolUse", tool_name="Bash", tool_input={"command": "ls"}) == []
    is_started = {"status": "async_launched", "agentId": ONE}
    assert session.recorded("PostToolUse", tool_name="Agent", tool_response=is_started) == []


def test_the_project_is_where_the_session_began(
    session: Session, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(session.folder))
    began = {"cwd": str(tmp_path.parent), "agent_id": ONE, "agent_type": "Explore"}
    assert len(session.recorded("SubagentStart", **began)) == 2


# What goes wrong is one line


@pytest.mark.parametrize(
    ("stdin", "said"),
    [
        (b"", "standard input is no JSON object; expected one event of a hook"),
        (b"[]", "standard input is no JSON object; expected one event of a hook"),
        (b"garbage", "standard input is no JSON object; expected one event of a hook"),
        (b'{"hook_event_name":"Stop"}', "the event has no 'cwd'"),
        (
            b'{"a":[' + b"{}," * 1_000_000 + b"{}]}",
            "standard input is no JSON object; expected one",
        ),
        (b"[" * 100_000, "standard input is no JSON object; expected one event of a hook"),
    ],
)
def test_what_is_no_event_is_told_in_one_line(here: Path, stdin: bytes, said: str) -> None:
    code, out, err = run("hook", "claude-code", stdin=stdin)
    assert (code, out) == (0, "")
    assert said in err
    assert err.count("\n") == 1
    assert [*here.iterdir()] == []


def test_a_session_never_fails_for_the_sake_of_its_trace(session: Session) -> None:
    def told(name: str, **fields: object) -> str:
        code, out, err = session.hook(name, **fields)
        assert (code, out) == (0, "")
        assert err.count("\n") == 1
        return err.removeprefix("drive-trace hook: nothing is recorded: ")

    assert told("SubagentStart", agent_type="Explore") == "the event has no 'agent_id'\n"
    stop = {"agent_id": ONE, "agent_transcript_path": str(session.folder / "gone.jsonl")}
    assert told("SubagentStop", **stop).endswith("gone.jsonl: no such file or folder\n")
    for wrong, found in ((5, "5"), ("", '""'), (None, "null")):
        for field in ("agent_id", "agent_type"):
            given = {"agent_id": ONE, "agent_type": "Explore", field: wrong}
            expected = f"`{field}` of the event must be a text; found {found}\n"
            assert told("SubagentStart", **given) == expected
    assert not session.trace.exists()
    configuration = session.folder / "drive-trace.toml"
    start = {"agent_id": ONE, "agent_type": "Explore"}
    for text, said in (
        ("[record]\nrun = 'shop'\n", "`trace` is missing"),
        ("[record]\nrun = 5\ntrace = 'a.jsonl'\n", "`run` must be the id of a run"),
        (CONFIGURATION.replace("projects/", "../"), "`trace` must be a path like projects/shop"),
        (CONFIGURATION.replace("projects/", "/"), "`trace` must be a path like"),
        (CONFIGURATION.replace("projects/", ".git/"), "`trace` must be a path like"),
        (CONFIGURATION.replace(".jsonl", ".py"), "`trace` must be a path like"),
    ):
        configuration.write_text(text)
        assert said in told("SubagentStart", **start)
    configuration.write_text(CONFIGURATION)
    session.trace.mkdir(parents=True)
    assert "is a folder, not a file" in told("SubagentStart", **start)


@not_on_windows("a link needs a right there")
def test_no_link_leads_out_of_the_project(session: Session, tmp_path: Path) -> None:
    outside = tmp_path.with_name(f"{tmp_path.name}-outside")
    outside.mkdir()
    (session.folder / "projects").symlink_to(outside)
    code, out, err = session.hook("SubagentStart", agent_id=ONE, agent_type="Explore")
    assert (code, out) == (0, "")
    assert "link out of the repository" in err
    assert [*outside.iterdir()] == []


# As a process


def test_where_there_is_nothing_to_do_little_is_loaded(session: Session) -> None:
    def modules(event: bytes) -> set[str]:
        command = [sys.executable, "-X", "importtime", "-m", "drive_trace", "hook", "claude-code"]
        ran = subprocess.run(command, input=event, capture_output=True, check=False)
        return set(re.findall(r"^import time:.*\| +(\S+)", ran.stderr.decode(), re.MULTILINE))

    given = {"file_path": str(session.folder / "shop.py")}
    idle = modules(session.event("PostToolUse", tool_name="Edit", tool_input=given))
    assert not {"click", "tomllib", "drive_trace.commands", "drive_trace.trace"} & idle
    session.start(ONE)
    given = {"file_path": str(session.trace)}
    checks = modules(session.event("PostToolUse", tool_name="Edit", tool_input=given))
    assert "drive_trace.analysis" in checks
    slow = {"asyncio", "click", "difflib", "pydantic", "pygls", "drive_trace.authoring"}
    assert not slow & checks


def test_an_agent_is_told_by_the_exit_code(session: Session) -> None:
    session.start(ONE)
    with session.trace.open("a") as trace:
        trace.write("{}\n")
    event = session.event("PostToolUse", tool_input={"file_path": str(session.trace)})
    code, out, err = process("hook", "claude-code", stdin=event)
    assert (code, out) == (2, "")
    assert "1 finding in" in err


def test_thirty_hooks_and_emits_at_once_lose_and_tear_nothing(session: Session) -> None:
    emit("project-started", "project_slug=shop", "origin=new-project", "has_linear_project=false")
    running: list[tuple[str, AT_ONCE]] = []
    for number in range(30):
        agent = f"{number:08d}"
        words = ["emit", "slice-started", f"slice_slug={agent}"]
        is_hook = number % 3 != 0
        command = [COMMAND, *(["hook", "claude-code"] if is_hook else words)]
        stdin = subprocess.PIPE if is_hook else subprocess.DEVNULL
        each = subprocess.Popen(command, stdin=stdin, stdout=subprocess.DEVNULL)
        running.append((agent, each))
        if each.stdin is not None:
            with each.stdin as told:
                told.write(session.event("SubagentStart", agent_id=agent, agent_type="Explore"))
    for number in range(5):  # while these end, others are in the midst of it
        running[number][1].wait(120)
        running[number + 15][1].kill()
    done = {agent for agent, each in running if each.wait(120) == 0}
    assert len(done) >= 25
    lines = session.trace.read_bytes().split(b"\n")
    assert lines.pop() == b""
    events = [json.loads(line) for line in lines]
    slugs = [each["slice_slug"] for each in events if "slice_slug" in each]
    names = [each["dispatch_name"][-8:] for each in events if "dispatch_name" in each]
    assert done <= {*slugs, *names}
    assert len({*slugs}) + len({*names}) == len(slugs) + len(names) <= 30
    indices = [each["slice_index"] for each in events if "slice_index" in each]
    assert indices == [*range(1, len(slugs) + 1)]
    # A dispatch and its round come together, or not at all.
    rounds = [each["dispatch_id"] for each in events if "round_number" in each]
    assert sorted(rounds) == sorted(e["dispatch_id"] for e in events if "dispatch_name" in e)
    assert {each["code"] for each in findings(b"\n".join([*lines, b""]))} <= {"unclosed-dispatch"}
