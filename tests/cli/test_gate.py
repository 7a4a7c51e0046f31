"""Gates that run, and reports that are read, become a component of the run's grade."""

import hashlib
import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen
from typing import Any

import psutil
import pytest

from drive_trace import __version__
from tests.cli.support import COMMAND, Ran, commit, git, process, run
from tests.scorecard.support import event, graded
from tests.support.fixtures import trace as text_of
from tests.support.schemas import schema, strict_validator
from tests.support.systems import NO_DEVICES, NO_SIGNALS, not_on_windows

RUN = "checkout-retry"
BY_SCHEMA = strict_validator(schema("gating"))


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "trace.jsonl"
    path.write_text(text_of(event("round-start"), graded(None, None, "pass")), "utf-8")
    return path


def gate(trace: Path, *args: str | Path, component: str = "qa", stdin: bytes = b"") -> Ran:
    target = "--trace-file", trace, "--project-run-id", RUN, "--component", component
    return run("gate", *target, *args, stdin=stdin)


def grade(trace: Path) -> dict[str, Any]:
    """The last event of a trace, without what differs each time."""
    found: dict[str, Any] = json.loads(trace.read_text("utf-8").rstrip("\n").split("\n")[-1])
    return {name: found.get(name) for name in ("mechanical", "qa", "intent")}


@pytest.mark.parametrize(
    ("commands", "code", "outcome"),
    [
        (["true"], 0, "pass"),
        (["true", "exit 0"], 0, "pass"),
        (["exit 4"], 1, "fail"),
        (["false", "no-such-command"], 1, "fail"),
    ],
)
def test_what_commands_exit_with_is_recorded(
    commands: list[str], code: int, outcome: str, trace: Path
) -> None:
    ran = gate(trace, *(part for each in commands for part in ("--run", each)))
    assert ran.code == code
    assert grade(trace) == {"mechanical": None, "qa": outcome, "intent": "pass"}
    assert f"recorded: qa {outcome}" in ran.out


@not_on_windows(NO_SIGNALS)
@pytest.mark.parametrize(
    ("commands", "why"),
    [
        (["no-such-command"], "the command was not found"),
        (["/"], "the command is not executable"),
        (["kill -9 $$"], "the command was ended by SIGKILL"),
        (["true", "sleep 60"], r"command 2 of 2 took longer than 0.2 seconds"),
    ],
)
def test_what_says_nothing_of_the_run_is_not_recorded(
    commands: list[str], why: str, trace: Path
) -> None:
    before = trace.read_bytes()
    commands = [part for each in commands for part in ("--run", each)]
    ran = gate(trace, *commands, "--timeout", "0.2")
    assert (ran.code, ran.out, trace.read_bytes()) == (3, "", before)
    assert why in ran.err
    assert f"nothing was written to {trace}" in ran.err


def test_what_commands_print_is_shown_and_logged(trace: Path, tmp_path: Path) -> None:
    log = tmp_path / "gate.log"
    args = ["--run", "echo out; echo err >&2; pwd", "--cwd", tmp_path, "--log", log]
    ran = process("gate", *target(trace), *args)
    assert ran.code == 0
    assert log.read_text() == f"out\nerr\n{tmp_path}\n"
    assert log.read_text() in ran.err
    assert "out\n" not in ran.out
    # A log is no way to write over somebody's file.
    log.unlink()
    other = tmp_path / "other"
    other.write_text("somebody's")
    log.symlink_to(other)
    assert process("gate", *target(trace), *args).code == 3
    assert other.read_text() == "somebody's"


def target(trace: Path) -> list[str | Path]:
    return ["--trace-file", trace, "--project-run-id", RUN, "--component", "mechanical"]


PASSED = '<testsuite><testcase name="adds"/></testsuite>'
SOME = '<testsuite><testcase name="adds"/><testcase name="later"><skipped/></testcase></testsuite>'
FAILED = '<testsuite><testcase name="pays"><failure/></testcase></testsuite>'


WORKED = datetime(2026, 5, 28, 14, tzinfo=UTC)
"""When the run was worked on last."""


def report(path: Path, text: str, modified: datetime = WORKED + timedelta(days=9)) -> Path:
    path.write_text(text)
    os.utime(path, (modified.timestamp(),) * 2)
    return path


@pytest.mark.parametrize(
    ("stamps", "hours", "stale"),
    [
        (["2001-02-03T04:05:06"], 9, "2001-02-03T04:05:06"),
        (["2026-05-28T13:59:50Z"], 9, "2026-05-28T13:59:50Z"),
        (["2026-05-28T13:59:59Z"], 9, None),  # it may leave out what is less than a second
        (["2026-05-28T15:00:00+02:00"], 9, "2026-05-28T15:00:00+02:00"),
        (["2026-05-28T13:00:00-02:00"], 9, None),
        (["2026-05-28T15:00:00Z", "2001-02-03T04:05:06Z"], 9, "2001-02-03T04:05:06Z"),
        # Without a zone it may be a local time; but nothing is younger than its file.
        (["2026-05-28T00:30:00"], 9, None),
        (["2026-05-28T15:00:00Z"], -1, "2026-05-28T13:00:00+00:00"),
        (["2026-05-28T00:30:00"], -1, "2026-05-28T13:00:00+00:00"),
        ([], 9, None),
        ([], -1, "2026-05-28T13:00:00+00:00"),
        (["yesterday"], 9, "a time that cannot be read (yesterday)"),
        (["2026-05-28T15:00:00Z", "1000000000"], 9, "a time that cannot be read (1000000000)"),
        ([" "], 9, None),
        (["2999-01-01T00:00:00"], 9, "a time that has not come yet (2999-01-01T00:00:00)"),
        (["9999-12-31T23:59:59Z"], 9, "a time that has not come yet (9999-12-31T23:59:59Z)"),
    ],
)
def test_a_report_older_than_the_work_says_nothing_of_it(
    stamps: list[str], hours: int, stale: str | None, trace: Path, tmp_path: Path
) -> None:
    suites = "".join(PASSED.replace(">", f' timestamp="{each}">', 1) for each in stamps)
    cases = "".join(f'<testcase timestamp="{each}"/>' for each in stamps)
    for text in (suites or PASSED, f"<testsuite>{cases}</testsuite>" if cases else PASSED):
        _is_told_as_stale(text, hours, stale, trace, tmp_path)


def _is_told_as_stale(text: str, hours: int, stale: str | None, trace: Path, tmp: Path) -> None:
    before = trace.read_bytes()
    xml = report(tmp / "1.xml", f"<testsuites>{text}</testsuites>", WORKED + timedelta(hours=hours))
    args = ["--result", xml]
    ran = gate(trace, *args)
    if stale is None:
        assert ran.code == 0
        trace.write_bytes(before)
        return
    assert (ran.code, grade(trace)["qa"]) == (3, None)
    assert (
        f"1.xml: the report is from {stale}, not known to be later than the run's last work of "
        "2026-05-28T14:00:00+00:00; run the tests again, or pass --accept-stale"
    ) in ran.err
    assert gate(trace, *args, "--accept-stale").code == 0
    trace.write_bytes(before)


def test_a_report_of_which_nobody_knows_when_it_was_made(trace: Path) -> None:
    ran = gate(trace, "--result", "-", stdin=PASSED.encode())
    assert (ran.code, grade(trace)["qa"]) == (3, None)
    assert "does not say when the tests ran; run the tests again, or pass --accept-stale" in ran.err
    assert gate(trace, "--result", "-", "--accept-stale", stdin=PASSED.encode()).code == 0
    future = report(trace.with_name("1.xml"), PASSED, datetime(2999, 1, 1, tzinfo=UTC))
    assert "1.xml: the report does not say when" in gate(trace, "--result", future).err
    later = PASSED.replace(">", ' timestamp="2026-05-28T15:00:00Z">', 1).encode()
    assert gate(trace, "--result", "-", stdin=later).code == 0


@pytest.mark.parametrize("below", [False, True])
@pytest.mark.parametrize(
    ("old", "new", "is_timed"),
    [
        ('"schema_version":"1"', '"schema_version":"2"', True),
        ('"round-start"', '"round_start"', True),
        ('"round-start"', '"round-start.v2"', True),
        ("}\n", "\n", True),
        ('"ts":', '"time":', False),
        ("2026-05-28T16:00:00.000Z", "yesterday", False),
        ("2026-05-28T16:00:00.000Z", "2026-05-28T16:00:00", False),
    ],
)
def test_damage_of_the_work_makes_no_report_newer(
    old: str, new: str, is_timed: bool, below: bool, trace: Path
) -> None:
    work = text_of(event("round-start", ts="2026-05-28T16:00:00.000Z")).replace(old, new)
    assert new in work
    more = text_of(graded(None, None, "pass", ts="2026-05-28T17:00:00.000Z")) if below else ""
    trace.write_text(trace.read_text("utf-8") + work + more, "utf-8")
    before, result = trace.read_bytes(), trace.with_name("1.xml")
    ran = gate(trace, "--result", report(result, PASSED, WORKED + timedelta(hours=1)))
    assert (ran.code, trace.read_bytes()) == (3, before)
    known = "T17:00:00+00:00" if below else "may be work has no time"
    assert ("T16:00:00+00:00" if is_timed else known) in ran.err
    later = report(result, PASSED, WORKED + timedelta(hours=4))
    assert gate(trace, "--result", later).code == (0 if is_timed or below else 3)
    assert gate(trace, "--result", later, "--accept-stale").code == 0


def working(path: Path, records: str) -> str:
    """A command that records work while the gate runs it."""
    new = path.with_name("new.txt")
    new.write_text(records, "utf-8")
    return f"cat {new} >> {path}"


NOW = "2999-01-01T00:00:00.000Z"


@pytest.mark.parametrize("key", ["ts", "time"])
@pytest.mark.parametrize("beside", [False, True])
def test_a_gate_says_nothing_of_work_that_is_recorded_meanwhile(
    key: str, beside: bool, trace: Path
) -> None:
    elsewhere = trace.with_name("b.jsonl")
    elsewhere.write_text(text_of(event("round-end")) if beside else "", "utf-8")
    work = text_of(event("round-start", ts=NOW)).replace('"ts":', f'"{key}":')
    args = "--run", working(elsewhere if beside else trace, work), elsewhere
    ran = gate(trace, *args)
    assert (ran.code, '"qa":"pass"' in trace.read_text("utf-8")) == (3, False)
    assert not trace.with_name("trace.jsonl.judgements.ndjson").exists()
    assert ran.err.count("run the tests again, or pass --accept-stale") == 1
    assert f"nothing was written to {trace}" in ran.err
    assert gate(trace, *args, "--accept-stale").code == 0
    assert [each["stale"] for each in recorded(trace)] == [True]
    assert codes(trace)["stale-report"]
    # What was there before is what the gate has seen.
    assert gate(trace, "--run", "true", elsewhere).code == 0
    assert "stale-report" not in codes(trace)


def test_what_was_done_before_or_in_another_run_makes_no_gate_stale(trace: Path) -> None:
    other = event("round-start", "another", ts=NOW)
    assert gate(trace, "--run", working(trace, text_of(other, event("round-end")))).code == 0


def test_a_run_without_one_time_has_no_old_report(trace: Path, tmp_path: Path) -> None:
    text = trace.read_text("utf-8")
    trace.write_text(text.replace("2026-05-28T14:00:00.000Z", "yesterday"), "utf-8")
    assert gate(trace, "--result", report(tmp_path / "1.xml", PASSED)).code == 3


def test_the_work_that_counts_may_be_in_another_file(trace: Path, tmp_path: Path) -> None:
    other = tmp_path / "b/trace.jsonl"
    other.parent.mkdir()
    other.write_text(text_of(event("round-start", ts="2026-08-01T00:00:00.000Z")), "utf-8")
    result = report(tmp_path / "1.xml", PASSED)
    assert "last work of 2026-08-01" in gate(trace, "--result", result, other).err
    assert gate(trace, "--result", result, "--only-this-file").code == 0


@pytest.mark.parametrize(
    ("reports", "code", "says"),
    [
        ([PASSED], 0, "0 of 1 case failed"),
        ([PASSED, FAILED], 1, "1 of 2 cases failed: pays"),
        ([PASSED, SOME], 0, "0 of 2 cases failed, 1 case skipped"),
        ([SOME, SOME.replace("adds", "pays")], 0, "0 of 2 cases failed, 2 cases skipped"),
        ([SOME.replace("adds", "a").replace("/>", ' status="skipped"/>', 1)], 3, "2 cases skipped"),
        ([PASSED, "<testsuite/>"], 3, "no case ran"),
        ([FAILED, PASSED[:-3]], 3, "is cut off"),
    ],
)
def test_a_report_is_read(
    reports: list[str], code: int, says: str, trace: Path, tmp_path: Path
) -> None:
    before, outcome = grade(trace), {0: "pass", 1: "fail"}.get(code)
    args: list[str | Path] = []
    for number, text in enumerate(reports):
        args += ["--result", report(tmp_path / f"{number}.xml", text)]
    ran = gate(trace, *args)
    assert ran.code == code
    assert says in ran.err
    assert grade(trace) == ({**before, "qa": outcome} if outcome else before)


def test_a_report_that_is_not_there_says_nothing(trace: Path, tmp_path: Path) -> None:
    ran = gate(trace, "--result", tmp_path / "none.xml")
    assert (ran.code, grade(trace)["qa"]) == (3, None)
    assert "none.xml: no such file" in ran.err


@pytest.mark.parametrize(
    "args", [[], ["--run", "true", "--result", "x"], ["--result", "x", "--log", "y"]]
)
def test_a_gate_either_runs_or_reads(args: list[str], trace: Path) -> None:
    assert gate(trace, *args).code == 2


def test_what_a_gate_runs_ends_with_it(trace: Path) -> None:
    command = ["gate", *map(str, target(trace)), "--run", "echo started $$; sleep 60; true"]
    with Popen([COMMAND, *command], stdout=DEVNULL, stderr=PIPE, text=True) as running:
        assert running.stderr is not None
        started = next(each for each in running.stderr if each.startswith("started"))
        running.terminate()
        assert running.wait(30) == 130
        assert running.stderr.read() == "drive-trace: nothing was recorded\n"
    assert not psutil.pid_exists(int(started.split()[1]))
    assert grade(trace)["mechanical"] is None


def test_a_trace_is_no_log_and_an_empty_command_no_gate(trace: Path) -> None:
    before = trace.read_bytes()
    assert gate(trace, "--run", "true", "--log", trace).code == 2
    new = trace.with_name("new.txt")
    assert gate(new, "--run", "true", "--log", new, "--new-run").code == 2
    assert not new.exists()
    other = trace.with_name("other.txt")
    other.write_bytes(before)
    for log in (other, trace.with_name("gate.jsonl")):
        ran = gate(trace, "--run", "true", "--log", log)
        assert ran.code == 2
        assert "the --log is a trace, or named like one" in ran.err
    assert other.read_bytes() == before
    assert not trace.with_name("gate.jsonl").exists()
    for nothing in ("", " \n", "# make test", "# a\n  # b\n"):
        assert gate(trace, "--run", nothing).code == 2
    assert gate(trace, "--run", "true", "--timeout", "nan").code == 2
    assert trace.read_bytes() == before


@not_on_windows(NO_DEVICES)
def test_a_log_behind_a_link_out_of_the_repository_is_not_written(tmp_path: Path) -> None:
    outside, repository = tmp_path / "outside", tmp_path / "repository"
    outside.mkdir()
    (repository / ".git").mkdir(parents=True)
    (repository / ".git" / "HEAD").write_text("")
    trace = repository / "trace.jsonl"
    trace.write_text(text_of(event("round-start"), graded(None, None, "pass")), "utf-8")
    (repository / "logs").symlink_to(outside)
    where = ("--exclude", repository / "logs", "--log", repository / "logs" / "x.log")
    ran = gate(trace, "--run", "true", *where)
    assert (ran.code, "link out of the repository" in ran.err) == (3, True)
    assert list(outside.iterdir()) == []


def test_what_cannot_be_recorded_is_refused_before_a_command_runs(tmp_path: Path) -> None:
    trace, other = tmp_path / "a/trace.jsonl", tmp_path / "b/trace.jsonl"
    for each in (trace, other):
        each.parent.mkdir()
    mark = tmp_path / "ran"

    def not_run(said: str, *args: str | Path) -> None:
        ran = gate(trace, "--run", f"touch {mark}", *args)
        assert (ran.code, mark.exists()) == (3, False)
        assert said in ran.err

    trace.write_bytes("{}".encode("utf-16"))
    not_run("save it as UTF-8", "--new-run")
    # The grade with the latest ts is a copy of one that the other file replaces further down.
    copied = graded("pass", None, "pass", event_id="twice", ts="2026-05-28T15:00:00.000Z")
    trace.write_text(text_of(event("round-start"), copied), "utf-8")
    other.write_text(text_of(copied, graded(None, None, "fail")), "utf-8")
    not_run("name every component", other)
    not_run('did you mean "checkout-retry"', "--project-run-id", "checkout-rety")


# What a grade rests on


def recorded(trace: Path) -> list[dict[str, Any]]:
    text = trace.with_name(f"{trace.name}.judgements.ndjson").read_text("utf-8")
    return [json.loads(line) for line in text.splitlines()]


def scored(trace: Path) -> dict[str, Any]:
    (found,) = run("score", "--format", "json", trace).json["runs"]
    return found


def codes(trace: Path) -> dict[str, bool]:
    return {each["code"]: each["qualifies"] for each in scored(trace)["caveats"]}


def test_commands_leave_what_they_ended_with(trace: Path) -> None:
    gate(trace, "--run", "true", "--run", "exit 3", component="mechanical")
    gate(trace, "--run", "true")
    first, second = recorded(trace)
    assert first["commands"] == [
        {"command": "true", "exit_code": 0},
        {"command": "exit 3", "exit_code": 3},
    ]
    assert (first["component"], first["outcome"], second["outcome"]) == (
        "mechanical",
        "fail",
        "pass",
    )
    assert first["began"] <= first["ts"] <= second["began"]
    assert first["tool"] == __version__
    assert all(BY_SCHEMA.is_valid(each) for each in recorded(trace))
    gates = scored(trace)["gates"]
    assert gates["mechanical"]["commands"] == [["true", 0], ["exit 3", 3]]
    said = " ".join(run("score", trace).out.split())
    assert "mechanical: fail, by “true and exit 3”" in said
    assert codes(trace)["graded-without-evidence"] is False  # of the intent
    # What was recorded by hand since then rests on nothing.
    record = ("--trace-file", trace, "--project-run-id", RUN)
    assert run("record", *record, "--mechanical", "pass").code == 0
    assert list(gates) == ["mechanical", "qa"]
    assert list(scored(trace)["gates"]) == ["qa"]
    (bare,) = [e for e in scored(trace)["caveats"] if e["code"] == "graded-without-evidence"]
    assert bare["message"].startswith("mechanical and intent graded without evidence")


def test_a_report_leaves_its_digest_and_counts(trace: Path, tmp_path: Path) -> None:
    xml = report(tmp_path / "1.xml", SOME)
    assert gate(trace, "--result", xml).code == 0
    (found,) = recorded(trace)
    assert found["reports"] == [
        {"path": str(xml), "digest": hashlib.sha256(SOME.encode()).hexdigest()}
    ]
    assert (found["cases"], found["failed"], found["skipped"], found["stale"]) == (1, 0, 1, False)
    assert BY_SCHEMA.is_valid(found)
    assert "stale-report" not in codes(trace)


def test_a_stale_report_that_was_accepted_qualifies_the_verdict(
    trace: Path, tmp_path: Path
) -> None:
    gate(trace, "--run", "true", component="mechanical")
    xml = report(tmp_path / "1.xml", PASSED.replace(">", ' timestamp="2001-02-03T04:05:06Z">', 1))
    assert gate(trace, "--result", xml, "--accept-stale").code == 0
    assert scored(trace)["verdict"] == "correct"
    assert codes(trace)["stale-report"]
    # What is recorded next says the same as score.
    record = ("--trace-file", trace, "--project-run-id", RUN)
    for ran in (
        gate(trace, "--result", xml, "--accept-stale"),
        run("record", *record, "--mechanical", "pass"),
    ):
        assert "CORRECT, but qa by what may be older" in ran.out
    assert run("score", "--require-correct", trace).code == 1
    gate(trace, "--run", "true")
    assert "stale-report" not in codes(trace)


def test_no_grade_of_another_component_makes_an_older_gate_current(trace: Path) -> None:
    for component in ("mechanical", "qa"):
        gate(trace, "--run", "true", component=component)
    record = ("record", "--trace-file", trace, "--project-run-id", RUN)
    assert "CORRECT\n" in run(*record, "--intent", "pass").out
    with trace.open("a", encoding="utf-8") as file:
        file.write(text_of(event("dispatch-end")))
    said = "CORRECT, but mechanical and qa by what may be older than the work"
    assert said in run(*record, "--intent", "pass").out
    assert codes(trace)["stale-report"]
    gate(trace, "--run", "true")
    assert "CORRECT, but mechanical by what" in run("score", trace).out
    gate(trace, "--run", "true", component="mechanical")
    assert "stale-report" not in codes(trace)


def test_a_component_of_another_commit_qualifies_the_verdict(trace: Path, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "code.py").write_text("1")
    commit(tree, "one")
    (tree / "trace.jsonl").write_text("a trace is no change of the code")
    gate(trace, "--run", "true", "--cwd", tree, component="mechanical")
    gate(trace, "--run", "true", "--cwd", tree)
    assert {(each["commit"], each["clean"]) for each in recorded(trace)} == {
        (git(tree, "rev-parse", "HEAD"), True)
    }
    assert "graded-at-another-commit" not in codes(trace)
    for changed in ("code.py", "uv.lock", "data.jsonl"):
        (tree / changed).write_text("2")
        gate(trace, "--run", "true", "--cwd", tree)
        assert codes(trace)["graded-at-another-commit"] is False
        (tree / changed).write_text("1")
        if changed != "code.py":
            (tree / changed).unlink()
    own = tree / "c.jsonl"
    own.write_bytes(trace.read_bytes())
    gate(own, "--run", "true", "--cwd", tree, "--only-this-file")
    gate(own, "--run", "true", "--cwd", tree, "--only-this-file")
    assert recorded(own)[-1]["clean"]
    own.unlink()
    (tree / "code.py").write_text("2")
    git(tree, "commit", "-qam", "two")
    gate(trace, "--run", "true", "--cwd", tree)
    assert codes(trace)["graded-at-another-commit"]


def test_a_gate_that_cannot_leave_a_record_says_so(trace: Path) -> None:
    trace.with_name(f"{trace.name}.judgements.ndjson").mkdir()
    ran = gate(trace, "--run", "true")
    assert (ran.code, grade(trace)["qa"]) == (0, "pass")
    assert "the grade has no evidence" in ran.err


@pytest.mark.parametrize(
    ("damage", "code"),
    [
        ("deleted", "graded-without-evidence"),
        ("garbled", "graded-without-evidence"),
        ("a folder", "graded-without-evidence"),
        ("failed", "contradicted-by-gate"),
        ("failed later", "contradicted-by-gate"),
    ],
)
def test_a_verdict_gets_no_better_where_its_evidence_is_gone(
    damage: str, code: str, trace: Path, tmp_path: Path
) -> None:
    xml = report(tmp_path / "1.xml", PASSED.replace(">", ' timestamp="2001-02-03T04:05:06Z">', 1))
    gate(trace, "--run", "true", component="mechanical")
    gate(trace, "--result", xml, "--accept-stale")
    beside = trace.with_name(f"{trace.name}.judgements.ndjson")
    lines = beside.read_text("utf-8").splitlines(keepends=True)
    later = json.loads(lines[-1]) | {"outcome": "fail", "stale": False}
    match damage:
        case "deleted":
            beside.unlink()
        case "garbled":
            beside.write_text(lines[0] + lines[1][:40] + "\n", "utf-8")
        case "a folder":
            beside.unlink()
            beside.mkdir()
        case _:
            later |= {"ts": "2126-01-01T00:00:00.000Z"} if damage == "failed later" else {}
            beside.write_text("".join([*lines, json.dumps(later) + "\n"]), "utf-8")
    assert codes(trace)[code]
    assert run("score", "--require-correct", trace).code == 1
