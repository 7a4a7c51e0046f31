"""`emit`, from outside: one whole event, or nothing and every reason why."""

import json
import uuid
from pathlib import Path
from typing import Any

import pytest

from drive_trace.authoring import drafts
from drive_trace.trace.line import DiagnosticKind
from drive_trace.vocabulary import ENVELOPE, EVENTS
from tests.cli.support import Ran, process, run, write
from tests.support.client_text import graded, tokens, triage

END = '{"dispatch_id":"d1","result":"completed","wall_clock_ms":5}'


def emit(trace: Path, event: str, payload: str, *options: str, stdin: str | bytes = b"") -> Ran:
    target = ("--trace-file", trace, "--project-run-id", "run-1")
    return run("emit", *target, "--event", event, "--payload", payload, *options, stdin=stdin)


def refused(trace: Path, event: str, payload: str) -> list[str]:
    """The reasons why an event is refused."""
    before = trace.read_bytes() if trace.exists() else None
    ran = emit(trace, event, payload)
    assert (ran.code, ran.out) == (1, "")
    *reasons, last = ran.err.splitlines()
    assert last == f"drive-trace: nothing was written to {trace}"
    assert (trace.read_bytes() if trace.exists() else None) == before
    assert all(each.startswith("drive-trace: ") and each.isprintable() for each in reasons)
    return [each.removeprefix("drive-trace: ") for each in reasons]


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    return tmp_path / "trace.jsonl"


# What is written


@pytest.mark.parametrize("name", EVENTS)
def test_every_event_of_the_vocabulary(trace: Path, name: str) -> None:
    payload = {key: each for key, each in EVENTS[name].example.items() if key not in ENVELOPE}
    payload |= {"project_slug": "run-1"} if "project_slug" in payload else {}
    assert emit(trace, name, json.dumps(payload)) == (0, "", "")
    (line,) = trace.read_text("utf-8").splitlines()
    found = json.loads(line)
    assert line == json.dumps(found, ensure_ascii=False, separators=(",", ":"))
    assert list(found) == list(EVENTS[name].fields)
    assert {key: found[key] for key in payload} == payload
    assert uuid.UUID(found["event_id"]).version == 4
    assert (found["event_type"], found["schema_version"]) == (name, "1")
    assert (found["project_run_id"], found["orchestrator_agent_id"]) == ("run-1", None)
    assert run("check", trace).code == 0


def test_a_process(tmp_path: Path) -> None:
    trace = tmp_path / "projects" / "shop" / "trace.jsonl"
    options = ["--trace-file", trace, "--project-run-id", "shop", "--event", "dispatch-end"]
    agent = ["--orchestrator-agent-id", "agent 🚀"]
    assert process("emit", *options, *agent, "--payload", "-", stdin=END.encode()) == (0, "", "")
    assert process("emit", *options, "--payload", "{}").code == 1
    assert process("emit", *options).code == 2
    (line,) = trace.read_text("utf-8").splitlines()
    assert json.loads(line)["orchestrator_agent_id"] == "agent 🚀"


@pytest.mark.parametrize(
    ("written", "number"),
    [("5", 5), ("5.0", 5), ("5e2", 500), ("-0", 0), (f"{2**80}", 2**80), ("1e30", int(1e30))],
)
def test_numbers_keep_their_value(trace: Path, written: str, number: int) -> None:
    assert emit(trace, "dispatch-end", END.replace("5", written)).code == 0
    assert json.loads(trace.read_text())["wall_clock_ms"] == number
    assert run("check", trace).code == 0


@pytest.mark.parametrize(
    "payload",
    [
        f" \n{END}\r\n",
        json.dumps(json.loads(END), indent=2),
        END.replace("d1", "\\ud800 \\u2028 \\n é 🚀"),
        END.replace("result", "r\\u0065sult"),
    ],
)
def test_however_json_is_written_it_is_one_compact_line(trace: Path, payload: str) -> None:
    for text, stdin in ((payload, ""), ("-", payload)):
        assert emit(trace, "dispatch-end", text, stdin=stdin) == (0, "", "")
    for line in trace.read_bytes().decode().removesuffix("\n").split("\n"):
        found = json.loads(line)
        assert {**json.loads(payload), **found} == found
        assert len(line) in {
            len(json.dumps(found, ensure_ascii=False, separators=(",", ":"))),
            len(json.dumps(found, separators=(",", ":"))),
        }
    assert run("check", trace).code == 0


def test_dry_run_prints_the_line_and_writes_nothing(trace: Path) -> None:
    ran = emit(trace, "dispatch-end", END, "--dry-run")
    assert (ran.code, ran.err) == (0, "")
    assert json.loads(ran.out).items() >= json.loads(END).items()
    assert not trace.exists()
    assert emit(trace, "dispatch-end", "{}", "--dry-run").code == 1
    write(trace.parent, trace.name, graded("pass", None, None))
    grade = '{"mechanical":null,"qa":"pass","intent":null}'
    ran = emit(trace, "correctness-recorded", grade, "--dry-run")
    assert (ran.code, ran.out) == (1, "")
    assert trace.read_text() == graded("pass", None, None)
    assert emit(trace.parent, "correctness-recorded", grade, "--dry-run").code == 2


# What is refused


def test_every_problem_is_named(trace: Path) -> None:
    payload = '{"dispatch_id":7,"result":"done","wall_clock":5,"ts":"now","wall_clock_ms":-1}'
    assert refused(trace, "dispatch-end", payload) == [
        "`ts` belongs to the envelope, which drive-trace writes itself: leave it out",
        "`dispatch_id` must be a string; found 7",
        '`result` must be "completed", "failed" or "aborted"; found "done" '
        '— did you mean "completed"?',
        "`wall_clock` is not declared for `dispatch-end`: readers ignore it",
        "`wall_clock_ms` must be an integer of at least 0; found -1",
    ]


@pytest.mark.parametrize("key", ENVELOPE)
def test_the_envelope_is_not_for_the_payload(trace: Path, key: str) -> None:
    for value in ('"1"', "null", "{}"):
        payload = f'{{"{key}":{value},{END[1:]}'
        (reason,) = refused(trace, "dispatch-end", payload)
        assert reason.startswith(f"`{key}` belongs to the envelope")


@pytest.mark.parametrize(
    ("event", "payload", "why"),
    [
        ("dispatch-edn", END, 'did you mean "dispatch-end"?'),
        ("dispatch-end", END.replace("result", "resutl"), "did you write it as `resutl`?"),
        ("dispatch-end", END.replace("}", ',"result":"failed"}'), "stands again later"),
        ("dispatch-end", END.replace("5", "1e400"), "a number too large"),
        ("dispatch-end", END.replace("5", "9" * 5000), "a number too large"),
        ("dispatch-end", END.replace("5", "true"), "found true"),
        ("dispatch-end", END.replace("5", "5.5"), "found 5.5"),
        ("dispatch-end", END.replace("5", "NaN"), "the payload cannot be read: `NaN` is not JSON"),
        ("dispatch-end", END.replace("}", ",}"), "the payload cannot be read: trailing comma"),
        ("dispatch-end", f"{END}{END}", "the payload cannot be read: "),
        ("dispatch-end", f"\ufeff{END}", "the payload cannot be read: byte-order mark"),
        ("dispatch-end", f"[{END}]", "found an array"),
        ("dispatch-end", '"text"', 'found "text"'),
        ("dispatch-end", "", "is empty"),
        ("dispatch-end", f'{{"payload":{END}}}', "events are flat"),
        ("dispatch-end", '{"a":' + "[" * 9000 + "]" * 9000 + "}", "`a` is not declared"),
        ("dispatch-end", "[" * 9000, "the payload cannot be read"),
        ("retro-landed", "{}", "`landing_surfaces` and `is_mandatory_final` are missing"),
    ],
)
def test_what_readers_would_reject_or_ignore(
    trace: Path, event: str, payload: str, why: str
) -> None:
    if payload:
        assert why in " ".join(refused(trace, event, payload))
    else:
        ran = emit(trace, event, "-", stdin="\n")
        assert (ran.code, why in ran.err) == (1, True)
    write(trace.parent, trace.name)
    assert emit(trace, event, "-", stdin=payload).code == 1
    assert trace.read_text() == triage()


def test_a_grade_takes_nothing_back(trace: Path) -> None:
    grade = '{"mechanical":"pass","qa":null,"intent":"pass"}'
    write(trace.parent, trace.name, graded("pass", None, None) + graded("pass", "failed", None))
    (reason,) = refused(trace, "correctness-recorded", grade)
    assert "1 correctness line rejected (line 2)" in reason
    assert emit(trace, "correctness-recorded", grade.replace("null", '"fail"')).code == 0
    write(trace.parent, trace.name, triage() + graded("pass", "fail", None) + tokens(1, 2, 3, 4))
    (reason,) = refused(trace, "correctness-recorded", grade)
    assert reason.startswith('`qa` was "fail" on line 2; this null would erase it')
    whole = '{"mechanical":"fail","qa":"pass","intent":null}'
    assert emit(trace, "correctness-recorded", whole).code == 0
    # A count that is not known any more is no verdict.
    counts = dict.fromkeys(["input_tokens", "output_tokens", "cache_read_tokens"], 1)
    assert emit(trace, "tokens-recorded", json.dumps({**counts, "cache_write_tokens": None})) == (
        0,
        "",
        "",
    )
    # Of another run nothing is taken back.
    other = ("--trace-file", trace, "--project-run-id", "run-2", "--event", "correctness-recorded")
    assert run("emit", *other, "--payload", whole.replace('"pass"', "null")).code == 0


def test_what_is_not_refused_is_told(trace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drafts, "REFUSED", drafts.REFUSED - {DiagnosticKind.OUT_OF_RANGE})
    ran = emit(trace, "dispatch-end", END.replace("5", "-5"))
    assert (ran.code, ran.out) == (0, "")
    assert ran.err == (
        f"drive-trace: {trace}: error: `wall_clock_ms` must be an integer of at least 0; found -5\n"
    )


# Usage


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"--project-run-id": ""}, "is empty"),
        ({"--project-run-id": " "}, "is empty"),
        ({"--trace-file": ""}, "is empty"),
        ({"--event": ""}, "is empty"),
        ({"--payload": ""}, "is empty"),
        ({"--orchestrator-agent-id": ""}, "is empty"),
        ({"--project-run-id": "caf\udce9"}, "is not UTF-8"),
        ({"--payload": '{"a":"\udce9"}'}, "is not UTF-8"),
    ],
)
def test_what_an_unset_variable_leaves_is_refused(
    trace: Path, options: dict[str, str], why: str
) -> None:
    given: dict[str, Any] = {
        "--trace-file": trace,
        "--project-run-id": "run-1",
        "--event": "dispatch-end",
        "--payload": END,
        **options,
    }
    ran = run("emit", *(part for option in given.items() for part in option))
    assert (ran.code, ran.out) == (2, "")
    assert why in ran.err
    assert not trace.exists()


def test_a_payload_that_is_no_text(trace: Path) -> None:
    ran = emit(trace, "dispatch-end", "-", stdin=b'{"a":"\xe9"}')
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("drive-trace: -: is not UTF-8")
    assert not trace.exists()


def test_where_no_trace_can_be(tmp_path: Path) -> None:
    ran = emit(tmp_path, "dispatch-end", END)
    assert ran == (2, "", f"drive-trace: {tmp_path}: is a folder, not a file\n")
    ran = emit(tmp_path / "a\x1b[31m" / ("x" * 300), "dispatch-end", END)
    assert ran.code == 2
    assert "a<U+001B>[31m" in ran.err


def test_a_payload_is_not_read_without_end(tmp_path: Path) -> None:
    target = ("--trace-file", tmp_path / "trace.jsonl", "--project-run-id", "run-1")
    payload = b" " * ((16 << 20) + 1)
    ran = process("emit", *target, "--event", "triage", "--payload", "-", stdin=payload)
    assert ran == (2, "", "drive-trace: -: is too large: it has more than 16 MB\n")
    assert not (tmp_path / "trace.jsonl").exists()
