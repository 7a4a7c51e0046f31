"""`emit EVENT FIELD=VALUE`, from outside: what can be known is filled in, and else refused with the
choices.
"""

import json
import os
import shlex
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from drive_trace.authoring.drafts import Stamp
from drive_trace.storage import emitting
from drive_trace.vocabulary import ENVELOPE, EVENTS
from tests.cli.support import Ran, completed, git, process, run, write
from tests.support.fixtures import event_id

BRIEF = "Build the retry queue.\n"


@pytest.fixture(autouse=True)
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository that is worked in, with a clock that goes on by a minute for each event."""
    git(tmp_path, "init", "-q")
    write(tmp_path, "brief.md", BRIEF)
    write(tmp_path, "projects/shop/spec.md", "# Shop\n")
    write(tmp_path, "projects/shop/plan.md", "# Plan of the shop\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DRIVE_TRACE_FILE", "projects/shop/trace.jsonl")
    start, minutes = datetime(2026, 5, 28, 14, tzinfo=UTC), count()
    ids = map(event_id, count())

    def stamp() -> Stamp:
        number = next(minutes)
        ts = (start + timedelta(minutes=number)).isoformat(timespec="milliseconds")
        return Stamp(next(ids), ts.replace("+00:00", "Z"), next(ids))

    monkeypatch.setattr(emitting, "new_stamp", stamp)
    return tmp_path


def emit(line: str, *options: str, stdin: str = "") -> Ran:
    return run("emit", *shlex.split(line), *options, stdin=stdin)


def recorded(*lines: str) -> Any:
    """What the last of some commands appends. Each prints what it has appended."""
    for line in lines:
        is_first = not Path("projects/shop/trace.jsonl").exists()
        ran = emit(line)
        assert (ran.code, "commit it beside the trace" in ran.err) == (0, is_first), (line, ran)
        assert ('begins a new trace: "shop"' in ran.err) == is_first, (line, ran)
        assert ran.err.count("\n") == 2 * is_first, (line, ran)
        event = ran.json
    assert trace()[-1] == event
    return event


def trace() -> list[Any]:
    path = Path("projects/shop/trace.jsonl")
    return (
        [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []
    )


def refused(line: str, stdin: str = "") -> str:
    """Why a command is refused: it writes nothing."""
    before = trace()
    ran = emit(line, stdin=stdin)
    assert (ran.code, ran.out, trace()) == (2, "", before), (line, ran)
    nothing = "\ndrive-trace: nothing was written to projects/shop/trace.jsonl\n"
    return ran.err.removesuffix(nothing).replace("drive-trace: ", "")


STARTED = "project-started origin=new-project has_linear_project=false"
SLICE = "slice-started slice_slug=retry"
DISPATCH = "dispatch-start dispatch_name=builder subagent_type=implementer"
REVIEW = "dispatch-start dispatch_name=reviewer subagent_type=reviewer"
SATISFIED = "round-end verdict=satisfied findings_filed=0"
AGAIN = "round-end verdict=another-round-needed findings_filed=2"
BRIEFED = ("round-start", "brief-issued --file brief.md")


# A whole run


WHOLE_RUN = (
    STARTED,
    "spec-authored --file projects/shop/spec.md spec_kind=project open_questions_count=0 "
    "dod_items_count=3",
    "plan-authored --file projects/shop/plan.md plan_kind=project slice_count=2 open_items_count=0",
    SLICE,
    *(DISPATCH, *BRIEFED, AGAIN, *BRIEFED, SATISFIED, "dispatch-end result=completed"),
    *("slice-completed result=merged pr_ref=#1", "slice-started slice_slug=cart"),
    *("dispatch-start dispatch_name=D2 subagent_type=implementer", *BRIEFED, AGAIN),
    *("dispatch-start dispatch_name=D3 subagent_type=reviewer", "round-start --dispatch D3"),
    *("brief-issued --file brief.md --dispatch D3", f"{SATISFIED} --dispatch D3"),
    *("dispatch-end result=completed --dispatch D3", *BRIEFED, SATISFIED),
    *("dispatch-end result=completed", "slice-completed result=merged pr_ref=#2"),
    "health-check-fired cadence=closing-rollup drift_signal_count=0",
    """retro-landed trigger_class=mandatory-final landing_surfaces='["adr"]'""",
    "project-closed dod_status=all-met",
)


def test_a_whole_run_takes_few_characters_and_has_no_finding() -> None:
    typed = []
    for line in WHOLE_RUN:
        recorded(line)
        typed.append(len(f"drive-trace emit {line}"))
    names = [each["event_type"] for each in trace()]
    starts = ("slice-started", "dispatch-start", "round-start")
    assert [names.count(each) for each in starts] == [2, 3, 5]
    assert sum(typed) / len(typed) < 70
    assert run("check", "--output-format", "json", "projects/shop/trace.jsonl").json == []
    closed = trace()[-1]
    assert (closed["slices_completed"], closed["final_retro_done"]) == (2, True)
    assert {each["project_run_id"] for each in trace()} == {"shop"}


# What is filled in


def test_open_things_numbers_and_durations(repository: Path) -> None:
    slice_ = recorded(STARTED, SLICE)
    assert (slice_["slice_index"], slice_["linear_ref"]) == (1, None)
    dispatch = recorded(DISPATCH)
    assert (dispatch["model"], dispatch["parent_dispatch_id"]) == (None, None)
    first = recorded("round-start")
    assert (first["dispatch_id"], first["round_number"]) == (dispatch["dispatch_id"], 1)
    ended = recorded(AGAIN)
    assert (ended["round_id"], ended["wall_clock_ms"]) == (first["round_id"], 60_000)
    assert recorded("round-start")["round_number"] == 2
    assert recorded(SATISFIED, "dispatch-end result=completed")["wall_clock_ms"] == 5 * 60_000
    assert recorded("slice-completed result=abandoned")["slice_slug"] == "retry"
    assert recorded("slice-started slice_slug=cart")["slice_index"] == 2
    # What was given up is no merged slice, and without its event there was no final retro.
    closed = recorded(
        "slice-completed result=merged pr_ref=#2", "project-closed dod_status=some-deferred"
    )
    assert (closed["slices_completed"], closed["final_retro_done"]) == (1, False)
    entries = (repository / "projects/shop/trace.jsonl.provenance.ndjson").read_text().splitlines()
    origins = {each["event_type"]: each for each in map(json.loads, entries)}
    assert origins["round-end"]["writer"] == "emit"
    assert set(origins["round-end"]["measured"]) == {"ts", "wall_clock_ms"}
    assert {"dispatch_id", "round_id"} <= set(origins["round-end"]["computed"])
    claimed = {"verdict", "findings_filed", "result", "dispatch_name", "linear_ref"}
    assert not any(claimed & {*each["measured"], *each["computed"]} for each in origins.values())


def test_files_are_measured(repository: Path) -> None:
    spec = "--file projects/shop/spec.md spec_kind=project open_questions_count=0 dod_items_count=1"
    authored = recorded(STARTED, f"spec-authored {spec}")
    assert (authored["spec_path"], authored["byte_length"]) == ("projects/shop/spec.md", 7)
    assert authored["edge_cases_count"] is None
    write(repository, "projects/shop/spec.md", "# Shop, again\n")
    reason = """reason=scope-shift sections_changed='["Shop"]'"""
    assert recorded(f"spec-amended {spec} {reason}")["bytes_delta"] == 7
    brief = recorded(DISPATCH, *BRIEFED)
    assert brief["brief_byte_length"] == len(BRIEF)
    assert brief["brief_content_hash"] == sha256(BRIEF.encode()).hexdigest()
    found = [brief["brief_disposition"]]
    for text in (BRIEF, "Build another one.\n", BRIEF):
        write(repository, "brief.md", text)
        found.append(recorded(AGAIN, *BRIEFED)["brief_disposition"])
    assert found == ["initial", "reissue", "amended", "reissue"]
    (origin,) = [
        json.loads(line)
        for line in (repository / "projects/shop/trace.jsonl.provenance.ndjson").open()
        if '"spec-amended"' in line
    ]
    assert origin["measured"] == ["ts", "spec_path", "byte_length"]
    assert "bytes_delta" in origin["computed"]
    assert "no such file" in refused("brief-issued --file gone.md")
    assert refused("round-start --file brief.md") == "`round-start` is about no file"


def test_a_path_is_that_in_the_repository(
    repository: Path, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    recorded(STARTED)
    spec = "spec_kind=project open_questions_count=0 dod_items_count=1"
    outside = write(tmp_path_factory.mktemp("outside"), "spec.md")
    assert "stands in no repository" in refused(f"spec-authored {spec} --file {outside}")
    monkeypatch.setenv("DRIVE_TRACE_FILE", str(repository / "projects/shop/trace.jsonl"))
    monkeypatch.chdir(repository / "projects")
    assert emit(f"spec-authored {spec} --file shop/spec.md").json["spec_path"] == (
        "projects/shop/spec.md"
    )


def test_values_are_text_null_or_json() -> None:
    event = recorded(STARTED, "dispatch-start dispatch_name=7 subagent_type='a=b c' model=null")
    assert [event[each] for each in ("dispatch_name", "subagent_type", "model")] == [
        "7",
        "a=b c",
        None,
    ]
    plan = recorded(
        "plan-authored plan_path=plan.md plan_kind=slice byte_length=5 dispatch_count=1 "
        """open_items_count=0 dispatch_size_distribution='{"S":1,"M":0,"L":0,"XL":0}'"""
    )
    assert (plan["slice_count"], plan["dispatch_size_distribution"]["S"]) == (None, 1)
    for line, why in (
        ("slice-started slice_slug", "expected FIELD=VALUE, each field once; found"),
        ("slice-started slice_slug=", "`slice_slug` is blank: expected slice_slug=VALUE"),
        ("slice-started slice_slug=a slice_slug=b", "each field once"),
        ("slice-started slice_slug=a slice_index=one", "`slice_index` must be an integer"),
        ("slice-started slice_slug=a slice_index='1,\"x\":2'", "`slice_index` must be an integer"),
        ("slice-started slice_slug=a colour=1", "`colour` is not declared"),
        (
            "round-end verdict=satisfied findings_filled=0",
            "`findings_filed` is missing: did you write it as `findings_filled`?",
        ),
        ("slice-started slice_slug=null", "`slice_slug` must be a string; found null"),
        ("slice-started slice_slug=a ts=now", "which drive-trace writes itself: leave it out"),
        ("slice-strated slice_slug=a", 'did you mean "slice-started"?'),
        ("slice-start slice_slug=a", 'did you mean "slice-started"?'),
        ("xyz slice_slug=a", "is not an event of the vocabulary: expected dispatch-start, "),
        ("slice-started colour=1", "readers ignore it\n`slice_slug` is missing: expected a string"),
        ("retro-landed landing_surfaces=adr", "`landing_surfaces` must be an array"),
        ("slice-started slice_slug=caf\udce9", "expected FIELD=VALUE"),
    ):
        assert why in refused(line), line


# What is refused


def test_several_open_things_are_named() -> None:
    first = recorded(STARTED, DISPATCH)["dispatch_id"]
    second = recorded(REVIEW)["dispatch_id"]
    assert refused("round-start") == (
        f"which dispatch? Open: reviewer, open since 14:02 ({second}); "
        f"builder, open since 14:01 ({first}); --dispatch with its name or id says it"
    )
    assert recorded("round-start --dispatch builder")["dispatch_id"] == first
    # One round is open: it says of which dispatch.
    assert recorded("brief-issued --file brief.md")["dispatch_id"] == first
    assert recorded(f"round-start --dispatch {second}")["dispatch_id"] == second
    assert "which dispatch?" in refused(SATISFIED)
    assert recorded(f"{AGAIN} --dispatch reviewer")["dispatch_id"] == second
    assert recorded("round-start --dispatch reviewer")["round_number"] == 2
    unknown = 'no open dispatch is called "painter"; '
    assert unknown in refused(f"{SATISFIED} --dispatch painter")
    assert unknown in refused("dispatch-end result=failed --dispatch painter")
    assert recorded(f"{SATISFIED} --round 2")["dispatch_id"] == second
    assert "no open round fits; the last: round 2 of reviewer, ended" in refused(
        f"{SATISFIED} --dispatch reviewer"
    )
    assert refused("slice-started slice_slug=a --dispatch builder") == (
        '`slice-started` belongs to no open dispatch: leave out "builder"'
    )
    recorded(SLICE, "slice-started slice_slug=cart")
    assert refused("slice-completed result=abandoned").endswith("slice_slug=… says it")
    assert refused("slice-completed result=abandoned slice_slug=tax").startswith(
        '`slice_slug` is given as "tax", and the trace says no slice of that name was started'
    )


def test_a_trace_has_to_be_named(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DRIVE_TRACE_FILE")
    for args in (["dispatch-start", "dispatch_name=D1"], ["--batch", "-"]):
        ran = run("emit", *args)
        assert ran.code == 2
        assert "no trace to append to: name one with --trace-file, DRIVE_TRACE_FILE or" in ran.err
    assert not [*repository.rglob("*.jsonl")]


def test_what_nobody_can_know_is_missing() -> None:
    assert refused("dispatch-end result=failed") == (
        "no open dispatch fits; `dispatch-start` begins one"
    )
    recorded(STARTED, DISPATCH, "round-start")
    assert refused("round-end").split("\n") == [
        '`verdict` is missing: expected "satisfied", "another-round-needed", "escalating-to-user" '
        'or "stop-condition"',
        "`findings_filed` is missing: expected an integer of at least 0",
    ]
    assert refused("dispatch-start dispatch_name=D2") == (
        '`subagent_type` is missing: expected a string; perhaps "implementer" (used 1×)'
    )
    assert "--file FILE tells it" in refused("brief-issued")
    assert "no open slice fits" in refused("slice-completed result=merged")
    spec = "spec-authored spec_path=a byte_length=1 open_questions_count=0 dod_items_count=0"
    count = "expected an integer of at least 0"
    assert refused(f"{spec} spec_kind=slice") == f"`edge_cases_count` is missing: {count}"
    assert refused(spec).endswith('; it asks for `edge_cases_count` if "slice"')
    recorded(f"{spec} spec_kind=project")
    assert "this spec was authored before: " in emit(f"{spec} spec_kind=project").err


def test_what_was_forgotten_is_no_duration() -> None:
    recorded(STARTED, DISPATCH)
    path = Path("projects/shop/trace.jsonl")
    path.write_text(path.read_text("utf-8").replace("2026-05-28", "2026-05-25"), "utf-8")
    assert refused("dispatch-end result=aborted") == (
        "`wall_clock_ms` is missing: expected an integer of at least 0; "
        "perhaps 259260000 (3d since its start)"
    )
    assert recorded("dispatch-end result=aborted wall_clock_ms=60000")["wall_clock_ms"] == 60_000


@pytest.mark.parametrize("name", [each.name for each in EVENTS.values() if not each.is_feed])
def test_no_outcome_or_count_is_made_up(repository: Path, name: str) -> None:
    recorded(STARTED, SLICE, DISPATCH, "round-start")
    event = EVENTS[name]
    given = {key: each for key, each in event.example.items() if key not in ENVELOPE}
    computed = {"slice_slug", "round_number", "slices_completed", "final_retro_done"}
    given = {key: each for key, each in given.items() if key not in computed}
    given = {key: each for key, each in given.items() if not key.endswith(("_id", "_ms"))}
    words = {
        key: f"{key}={each if isinstance(each, str) else json.dumps(each)}"
        for key, each in given.items()
    }
    for key, field in event.fields.items():
        is_claim = field.is_outcome or key.endswith(("_count", "_filed"))
        if is_claim and key != "final_retro_done" and not field.nullable:
            ran = run("emit", name, *(each for other, each in words.items() if other != key))
            assert (ran.code, f"`{key}` is missing" in ran.err) == (2, True), ran
    assert len(trace()) == 4
    assert repository.exists()


@pytest.mark.parametrize(
    ("line", "both"),
    [
        ("round-start round_number=5", "`round_number` is given as 5, and the trace says 2"),
        (f"{DISPATCH} dispatch_id=ID", "and the trace says builder, open since 14:02"),
        (
            "dispatch-end result=failed dispatch_id=x wall_clock_ms=5",
            "no dispatch of that name was started",
        ),
        (
            "dispatch-end result=failed wall_clock_ms=5",
            "given as 5, and the trace says 120000, 2m",
        ),
        ("brief-issued --file brief.md brief_byte_length=9", "given as 9, and the file says 23"),
        ("brief-issued --file brief.md brief_disposition=amended", 'the trace says "initial"'),
        (SLICE, "slice 1, open since 14:01, has it: go on with that one, or give another"),
        (STARTED, 'the run "shop" was started'),
        (
            "project-closed dod_status=all-met slices_completed=4",
            "given as 4, and the trace says 0",
        ),
        ("project-closed dod_status=all-met final_retro_done=true", "the trace says false"),
        (
            "health-check-fired cadence=trigger-fired drift_signal_count=0 max_drift_severity=low",
            '"none"',
        ),
    ],
)
def test_what_contradicts_the_trace_is_refused_with_both(line: str, both: str) -> None:
    dispatch = recorded(STARTED, SLICE, DISPATCH)
    recorded("round-start", *([AGAIN] if "round_number" in line else []))
    line = line.replace("=ID", f"={dispatch['dispatch_id']}")
    why = refused(line)
    assert both in why
    assert why.endswith("; --as-given keeps what is given")
    assert emit(line, "--as-given").code == 0


def test_a_duration_by_another_clock_is_no_contradiction() -> None:
    recorded(STARTED, DISPATCH)
    event = recorded("dispatch-end result=completed wall_clock_ms=59100")
    assert event["wall_clock_ms"] == 59_100


def test_which_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRIVE_TRACE_FILE", "runs.jsonl")
    assert "the trace names none" in emit(SLICE).err
    assert emit(f"{STARTED} project_slug=a").json["project_run_id"] == "a"
    assert emit(SLICE).json["project_run_id"] == "a"
    assert emit(f"{STARTED} project_slug=b").json["project_run_id"] == "b"
    ran = emit(DISPATCH)
    assert (ran.code, 'which run? open: "a", "b"; --project-run-id ID says it' in ran.err) == (
        2,
        True,
    )
    monkeypatch.setenv("DRIVE_TRACE_RUN", "b")
    assert emit(DISPATCH).json["project_run_id"] == "b"
    assert emit("slice-completed result=merged", "--project-run-id", "a").code == 0
    assert emit("project-closed dod_status=all-met", "--project-run-id", "a").code == 0
    assert emit("dispatch-end result=completed").code == 0
    assert emit("project-closed dod_status=all-met").code == 0
    ran = emit(DISPATCH)
    assert (ran.code, 'the run "b" has ended' in ran.err) == (2, True)
    monkeypatch.delenv("DRIVE_TRACE_RUN")
    assert 'which run? ended: "a", "b"' in emit(DISPATCH).err


def test_a_feed_counts_as_a_whole() -> None:
    recorded(STARTED)
    assert refused("correctness-recorded qa=pass") == (
        "`correctness-recorded` counts as a whole, and lacks `mechanical` and `intent`: "
        "`drive-trace record` keeps what was recorded before"
    )
    assert "lacks `output_tokens`" in refused("tokens-recorded input_tokens=5")
    recorded("correctness-recorded mechanical=pass qa=pass intent=pass")
    whole = "correctness-recorded mechanical=pass qa=null intent=pass"
    assert "needs --project-run-id" in emit(whole).err
    assert '`qa` was "pass" on line 2' in refused(f"{whole} --project-run-id shop")


# Several at once, and the rest of the command


def test_a_batch_is_appended_as_a_whole_or_not_at_all() -> None:
    recorded(STARTED)
    lines = [
        {"event": "dispatch-start", "dispatch_name": "builder", "subagent_type": "implementer"},
        {"event": "dispatch-start", "dispatch_name": "reviewer", "subagent_type": "reviewer"},
        {"event": "round-start", "dispatch": "builder"},
        {"event": "brief-issued", "file": "brief.md"},
        {"event": "round-end", "round": 1, "verdict": "satisfied", "findings_filed": 0},
        {"event": "dispatch-end", "dispatch": "builder", "result": "completed"},
    ]
    text = "".join(f"{json.dumps(line)}\n\n" for line in lines)
    ran = emit("--batch -", stdin=text)
    assert (ran.code, ran.err) == (0, "")
    printed = [json.loads(line) for line in ran.out.splitlines()]
    assert printed == trace()[1:]
    assert printed[4]["wall_clock_ms"] == 2 * 60_000
    for more, why in (
        ('{"event":"round-start"}\n{"event":"round-end"}', "line 2: `verdict` is missing"),
        ('{"event":"round-start"}\nround-end', 'line 2: expected {"event": EVENT'),
        ('{"event":"round-start","event":"round-start"}', "each key once"),
        ('{"event":"round-start","round":"x"}', "line 1: `round-start` belongs to no open round"),
        ('{"event":["round-start"]}', "line 1: "),
        ('{"event":"brief-issued","file":7}', "7: no such file"),
        ("[]", "line 1: expected"),
    ):
        before = trace()
        ran = emit("--batch -", stdin=more)
        assert (ran.code, ran.out, trace(), why in ran.err) == (2, "", before, True), (more, ran)


def test_a_trace_may_have_any_number_of_lines() -> None:
    path, start = Path("projects/shop/trace.jsonl"), recorded(STARTED)
    path.write_text("\n" * 200_001 + json.dumps(start) + "\n")
    line = {"event": "dispatch-start", "dispatch_name": "D1", "subagent_type": "x"}
    assert emit("--batch -", stdin=f"{json.dumps(line)}\n" * 2).out.count("\n") == 2


def test_dry_run_writes_nothing() -> None:
    assert emit(STARTED, "--dry-run").json["project_slug"] == "shop"
    assert trace() == []


@pytest.mark.parametrize(
    "line",
    [
        "",
        "slice-started --event slice-started",
        "slice-started --batch -",
        "--event slice-started",
        "--event slice-started --payload {}",
        "--event slice-started --payload {} --project-run-id a --as-given",
        "--event slice-started --payload {} --project-run-id a --dispatch x",
        "round-end --round two",
    ],
)
def test_the_forms_do_not_mix(line: str) -> None:
    ran = emit(line)
    assert (ran.code, ran.out, trace()) == (2, "", [])
    assert "Error: " in ran.err


def test_shells_complete_events_and_fields(repository: Path) -> None:
    def words(*typed: str) -> list[str]:
        return [each.removeprefix("plain,") for each in completed("emit", *typed, cwd=repository)]

    fields = ["dispatch_id=", "round_id=", "verdict=", "findings_filed=", "wall_clock_ms="]
    assert words("round-") == ["round-start", "round-end"]
    assert words("round-end", "") == fields
    assert words("round-end", "verdict=satisfied", "f") == ["findings_filed="]


def test_several_writers_take_no_number_twice(tmp_path: Path) -> None:
    path = tmp_path / "projects/shop/trace.jsonl"
    env = {**os.environ, "DRIVE_TRACE_FILE": str(path)}
    for line in (STARTED, DISPATCH):
        assert process("emit", *line.split(), env=env).code == 0
    more = ("round-start", "--as-given")
    with ThreadPoolExecutor(8) as pool:
        ran = [*pool.map(lambda _: process("emit", *more, env=env), range(8))]
    assert {each.code for each in ran} == {0}
    events = [json.loads(line) for line in path.read_text().splitlines()]
    assert [each["round_number"] for each in events[2:]] == [*range(1, 9)]


def test_what_a_batch_has_beside_fields_is_no_field_of_the_command_line() -> None:
    recorded(STARTED, DISPATCH)
    for word in ("event=foo", "file=null", "dispatch=builder", "round=1"):
        assert f"`{word.partition('=')[0]}`" in refused(f"round-start {word}"), word
    recorded("round-start")
    end = '{"event":"round-end","round":true,"verdict":"satisfied","findings_filed":0}'
    assert "no open round fits" in refused("--batch -", end)


# What is begun, and what stands open


def test_what_begins_a_run_is_told_and_a_slip_of_one_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    recorded(STARTED)
    assert refused(f"{SLICE} --project-run-id shp") == (
        'no line names the run "shp"; the trace has "shop"; did you mean "shop"?; '
        "--as-given begins it"
    )
    monkeypatch.setenv("DRIVE_TRACE_RUN", "cart")
    assert 'no line names the run "cart"; the trace has "shop"; --as-given' in refused(SLICE)
    ran = emit(f"{SLICE} --as-given --dry-run")
    assert (ran.code, ran.json["project_run_id"]) == (0, "cart")
    ran = emit(STARTED)
    assert (ran.code, ran.json["project_run_id"]) == (0, "cart")
    assert 'projects/shop/trace.jsonl: begins a new run: "cart"\n' in ran.err
    assert emit(SLICE).err == ""
    # A trace that has none begins with what comes first, or with the run that its path promises.
    triage = EVENTS["triage-verdict"].example
    line = {"event": "triage-verdict"} | {k: v for k, v in triage.items() if k not in ENVELOPE}
    monkeypatch.setenv("DRIVE_TRACE_FILE", "new/trace.jsonl")
    assert emit("--batch -", stdin=json.dumps(line)).err.endswith('begins a new trace: "cart"\n')
    monkeypatch.setenv("DRIVE_TRACE_FILE", "wip/drive-trace/orphan-cart.jsonl")
    assert "the trace has none; --as-given begins it" in emit(SLICE).err
    assert emit(f"{SLICE} --project-run-id orphan-cart").code == 0


def test_the_recorded_run_goes_with_the_recorded_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    configuration = '[record]\ntrace = "projects/shop/trace.jsonl"\nrun = "cart"\n'
    write(Path(), "drive-trace.toml", configuration)
    recorded(STARTED)  # of the trace that DRIVE_TRACE_FILE names, which says the run
    monkeypatch.delenv("DRIVE_TRACE_FILE")
    assert 'begins a new run: "cart"' in emit(f"{SLICE} --dry-run").err
    assert emit(STARTED).json["project_run_id"] == "cart"
    assert emit(SLICE).json["project_run_id"] == "cart"
    assert 'the run "shp"' in emit(f"{SLICE} --project-run-id shp").err
    assert emit(f"{SLICE} --project-run-id shop").json["project_run_id"] == "shop"


def test_what_stands_open_is_ended_first() -> None:
    recorded(STARTED, SLICE, DISPATCH, REVIEW)
    recorded("round-start --dispatch builder", "round-start --dispatch reviewer")
    for line, open_ in (
        ("round-start --dispatch builder", ["round 1 of builder, open since 14:04"]),
        (
            "dispatch-end result=completed --dispatch builder",
            ["round 1 of builder, open since 14:04"],
        ),
        (
            "project-closed dod_status=all-met",
            [
                "slice 1, open since 14:01",
                "reviewer, open since 14:03",
                "builder, open since 14:02",
            ],
        ),
    ):
        name = line.partition(" ")[0]
        said = (f"{each}: end it before `{name}`; --as-given keeps what is given" for each in open_)
        assert refused(line) == "\n".join(said)
        assert emit(line, "--as-given", "--dry-run").code == 0
    assert emit("dispatch-start dispatch_name=D3 subagent_type=x").code == 0
    assert refused("brief-issued --file brief.md --dispatch D3").endswith(
        "; `round-start` begins one"
    )


def test_a_parent_is_named_by_its_name() -> None:
    builder = recorded(STARTED, DISPATCH)["dispatch_id"]
    assert recorded(f"{REVIEW} parent_dispatch_id=builder")["parent_dispatch_id"] == builder
    assert recorded("round-start dispatch_id=builder")["dispatch_id"] == builder
    recorded(REVIEW)
    assert refused("round-start dispatch_id=reviewer").endswith("; dispatch_id=ID says it")
    more = "dispatch-start dispatch_name=D3 subagent_type=x parent_dispatch_id"
    assert recorded(f"{more}={builder}")["parent_dispatch_id"] == builder
    assert refused(f"{more}=painter") == (
        '`parent_dispatch_id` is given as "painter", and the trace says no dispatch of that name '
        "was started; --as-given keeps what is given"
    )


def test_an_empty_batch_is_told() -> None:
    ran = emit("--batch -", stdin="\n")
    assert (ran.code, ran.out) == (0, "")
    assert ran.err == "drive-trace: -: has no event: nothing is appended\n"


def test_why_no_trace_is_recorded_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DRIVE_TRACE_FILE")
    write(Path(), "drive-trace.toml", "[record]\ntrace = 7\n")
    ran = emit(STARTED)
    assert (ran.code, "drive-trace: drive-trace.toml:1:2: " in ran.err) == (2, True), ran.err
    write(Path(), "drive-trace.toml", '[record]\ntrace = "away/trace.jsonl"\nrun = "shop"\n')
    Path("away").symlink_to("/nonexistent")
    ran = emit(STARTED)
    assert (ran.code, "link out of the repository" in ran.err) == (2, True), ran.err


def test_a_batch_is_bounded() -> None:
    slices = ({"event": "slice-started", "slice_slug": f"s{number}"} for number in range(501))
    text = "".join(f"{json.dumps(each)}\n" for each in slices)
    assert "-: line 501: a batch has at most 500 events; append the rest" in refused(
        "--batch -", text
    )
