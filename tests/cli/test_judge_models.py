"""A judge is asked over HTTP or by a command: whatever comes of it, nothing is lost or told."""

import json
import os
import shlex
import signal
import sys
import threading
from pathlib import Path
from subprocess import DEVNULL, Popen
from subprocess import run as call

import psutil
import pytest

from drive_trace.commands import models
from tests.cli.judging import (
    FAIL,
    KEY,
    PASS,
    calibrate,
    command,
    grade,
    judged,
    record,
    says,
    write_run,
)
from tests.cli.support import COMMAND, Ran, process, run
from tests.judging.servers import Behave, Provider, Request, fails, provider, replies
from tests.scorecard.support import event, graded
from tests.support.fixtures import trace as text_of
from tests.support.systems import NO_SIGNALS, not_on_windows


@pytest.fixture
def trace(here: Path) -> Path:
    return write_run()


APIS = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY"}


@pytest.fixture(params=list(APIS))
def api(trace: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """An API whose key is known, and which is asked again at once where that is of use."""
    monkeypatch.setenv(APIS[request.param], KEY)
    monkeypatch.setattr(models, "_FIRST_WAIT", 0.0)
    calibrate("my-model")
    return str(request.param)


def over_http(api: str, server: Provider, *more: str) -> list[str]:
    """The arguments that ask a model which is not of the orchestrator's family."""
    family, own = ("claude", "gpt") if api == "openai" else ("gpt", "claude")
    way = ("--api", api, "--base-url", server.url, "--family", own)
    return command(*way, *more, model="my-model", family=family)


def asked(api: str, server: Provider, *more: str) -> Ran:
    return run(*over_http(api, server, "--output-format", "json", *more))


@pytest.mark.parametrize(
    ("fault", "why", "requests"),
    [
        (fails(500), "answered 500: no", 5),
        (replies(PASS, choices=[], content=[{}]), "another shape", 1),
    ],
)
def test_a_fault_over_http_is_no_verdict(
    fault: Behave, why: str, requests: int, api: str, trace: Path
) -> None:
    before = trace.read_bytes()
    with provider(fault) as server:
        ran = asked(api, server)
        assert len(server.seen) == requests
    assert (ran.code, trace.read_bytes()) == (3, before)
    assert why in ran.json["why"]
    with provider(fault, replies(FAIL)) as server:
        ran = asked(api, server)
    assert ran.code == (0 if requests > 1 else 3)


def test_a_slow_provider_is_not_waited_for(api: str, trace: Path) -> None:
    done = threading.Event()
    with provider(lambda _: done.wait(60)) as server:
        ran = asked(api, server, "--timeout", "0.1")
        done.set()
    assert (ran.code, grade()) == (3, ["pass", "pass", None])
    assert "no response within 0.1 seconds" in ran.json["why"]


def test_another_host_gets_nothing(api: str, trace: Path) -> None:
    with provider(replies(PASS)) as other:
        moved = other.url.replace("127.0.0.1", "localhost")
        with provider(fails(307, location=moved)) as server:
            ran = asked(api, server)
        assert other.seen == []
    assert ran.code == 3
    assert "redirects to another address, which is not followed" in ran.json["why"]


def test_the_extra_is_named_where_it_is_missing(
    trace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "drive_trace.commands.http_models", None)
    ran = run(*command("--api", "openai", "--dry-run", "--output-format", "json"))
    assert (ran.code, ran.json["why"]) == (2, "--api needs the extra drive-trace[judge]")


def test_no_key_is_in_the_list_of_processes(trace: Path) -> None:
    listed: list[str] = []

    def lists(request: Request) -> None:
        for each in psutil.process_iter(["cmdline"]):
            listed.extend(each.info["cmdline"] or [])
        replies(PASS)(request)

    calibrate("my-model")
    environment = {**os.environ, "OPENAI_API_KEY": KEY}
    with provider(lists) as server:
        assert process(*over_http("openai", server), env=environment).code == 0
    assert "--base-url" in listed
    lists_itself = f"cat /proc/[0-9]*/cmdline > listed; printf %s {shlex.quote(PASS)}"
    calibrate("gpt-x")
    ran = process(*command("--model-command", lists_itself), env=environment)
    assert ran.code == 0
    assert KEY not in " ".join(listed) + Path("listed").read_bytes().decode("utf-8", "replace")


@pytest.mark.parametrize("api", list(APIS))
def test_a_model_is_asked_over_http_and_no_key_is_shown(
    api: str, trace: Path, tmp_path: Path
) -> None:
    name = APIS[api]
    with provider(fails(401, f"wrong key {KEY}"), replies(PASS)) as server:
        calibrate("my-model")
        args = over_http(api, server)
        environment = {**os.environ, name: KEY}
        first = process(*args, env=environment)
        second = process(*args, env=environment)
    assert (first.code, second.code) == (3, 0)
    assert "wrong key [key]" in first.err
    assert "judged by my-model (reported as" in second.out
    assert grade() == ["pass", "pass", "pass"]
    assert {each.model for each in record()} == {
        None,
        "gpt-x-2" if api == "openai" else "claude-x-2",
    }
    everything = first.out + first.err + second.out + second.err
    everything += "".join(each.read_text() for each in tmp_path.rglob("*") if each.is_file())
    assert KEY not in everything
    del environment[name]
    ran = process(*args, env=environment)
    assert (ran.code, f"environment variable {name}" in ran.err) == (2, True)


@pytest.mark.parametrize("takes_schema", [True, False])
def test_a_reply_of_another_form_than_the_calibrated_one_is_no_verdict(
    takes_schema: bool, api: str, trace: Path
) -> None:
    kept = Path("own/drive-trace-calibration.json")
    then = json.loads(kept.read_text("utf-8"))
    then["judge"]["schema_held"] = not takes_schema
    kept.write_text(json.dumps(then), "utf-8")
    before = trace.read_bytes()
    why = "the judge is not calibrated: its calibration is of another form of reply"
    with provider(*([] if takes_schema else [fails(400)]), replies(PASS)) as server:
        ran = asked(api, server)
        assert (ran.code, ran.json["calibrated"], trace.read_bytes()) == (1, False, before)
        assert ran.json["why"].startswith(why)
        # Who wants it all the same has it with a caveat.
        server.script = [*([] if takes_schema else [fails(400)]), replies(PASS)]
        assert asked(api, server, "--allow-uncalibrated").json["appended"]
    calls = [(each.judge.schema_held, each.verdict, each.agreement) for each in record()]
    assert calls == [(takes_schema, None, None), (takes_schema, "pass", None)]
    # Its record is no way around that.
    again = over_http(api, server)
    at = again.index("--api")
    again[at : at + 4] = ["--replay", "trace.jsonl.judgements.ndjson"]
    assert run(*again).code == 1


def test_a_reply_of_the_orchestrators_family_is_no_verdict(
    trace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    calibrate("my-model")
    before = trace.read_bytes()
    with provider(replies(PASS)) as server:
        way = ("--api", "anthropic", "--base-url", server.url, "--family", "qwen")
        ran = run(*command(*way, model="my-model"))
    assert (ran.code, trace.read_bytes()) == (1, before)
    assert "claude-x-2 replied, of the orchestrator's family" in ran.err
    (call,) = record()
    assert (call.model, call.reply, call.verdict) == ("claude-x-2", PASS, None)
    assert "of the orchestrator's family" in str(call.why)


@pytest.mark.parametrize(
    ("reported", "code"),
    [
        ("anthropic/claude-opus-4", 3),
        ("o4-mini\x1b", 0),
        ("openai/gpt-5.5-2026-08-01", 0),
        ("house-model", 0),
        (" ", 0),
    ],
)
def test_a_verdict_of_another_familys_model_does_not_count(
    reported: str, code: int, trace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    calibrate("gpt-5.5")
    before = trace.read_bytes()
    with provider(replies(PASS, model=reported)) as server:
        args = command("--api", "openai", "--base-url", server.url, model="gpt-5.5", family="qwen")
        ran = run(*args, "--output-format", "json")
        assert len(server.seen) == 1
    assert (ran.code, ran.json["appended"]) == (code, not code)
    assert (trace.read_bytes() == before) == bool(code)
    (call,) = record()
    if code:
        assert ran.json["why"] == call.why
        assert f"{reported} replied, of another family than gpt-5.5" in str(call.why)
        assert call.verdict is None
        # Its record is no way around that.
        again = command("--replay", "trace.jsonl.judgements.ndjson", model="gpt-5.5", family="qwen")
        assert run(*again).code == code


def test_a_key_that_a_command_repeats_is_not_shown(
    trace: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    spelt = KEY.replace("s", "\\u0073")
    for reply in (
        PASS.replace("AC-1", KEY),
        PASS.replace("AC-1", spelt),
        FAIL.replace('"fail"', f'"{KEY}"'),
    ):
        ran = judged(*says(reply, reply))
        assert "[key]" in ran.out + ran.err
        files = "".join(each.read_text() for each in tmp_path.glob("trace*"))
        assert KEY not in ran.out + ran.err + files
        Path("n").unlink()


def test_a_key_in_what_is_judged_is_neither_shown_nor_sent(
    trace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    Path("run.diff").write_text(f"diff --git a/a.ts b/a.ts\n+++ b/a.ts\n+key = '{KEY}'\n")
    Path("acceptance.md").write_text(f"AC-1: {KEY} is no longer in the code.\n")
    for output_format in ("text", "json"):
        ran = run(*command(*says(PASS), "--dry-run", "--output-format", output_format))
        assert (ran.code, KEY in ran.out + ran.err) == (0, False)
        assert "+key = '[key]'" in ran.out
    assert judged(*says(PASS)).code == 0
    assert KEY not in Path("prompt").read_text("utf-8")


@pytest.mark.parametrize("key", ["judge", "judging", "null"])
def test_a_key_that_is_a_word_of_ours_changes_no_record(
    key: str, trace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", key)
    ran = judged(*says(PASS), "--output-format", "json")
    assert (ran.code, ran.json["intent"]) == (0, "pass")
    (found,) = record()
    assert (found.judge.model, found.verdict) == ("gpt-x", "pass")


def test_what_a_models_command_says_beside_its_reply_has_no_key(
    trace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    noise = (
        f'echo "asking with $OPENAI_API_KEY" >&2; printf no-end >&2; printf %s {shlex.quote(PASS)}'
    )
    calibrate("gpt-x")
    ran = process(*command("--model-command", noise), env={**os.environ})
    assert ran.code == 0
    assert "drive-trace: the model's command: asking with [key]\n" in ran.err
    assert "the model's command: no-end" in ran.err
    assert KEY not in ran.out + ran.err


@pytest.mark.parametrize("folder", [".", "earlier"])
def test_a_gate_that_passed_survives_a_verdict(folder: str, trace: Path) -> None:
    Path(folder).mkdir(exist_ok=True)
    trace.write_text(text_of(event("round-start")), "utf-8")
    other = Path(folder) / "trace.jsonl"
    other.write_text(text_of(event("round-start"), graded("pass", None, None)), "utf-8")
    assert judged(*says(FAIL)).code == 0
    assert grade() == ["pass", None, "fail"]


KILLED = """
import fcntl, os, signal, sys
number, part = int(sys.argv.pop(1)), float(sys.argv.pop(1))
real = os.write
def write(handle, data):
    global number
    if not fcntl.fcntl(handle, fcntl.F_GETFL) & os.O_APPEND:
        return real(handle, data)
    number -= 1
    if number == 0:
        real(handle, bytes(data)[:int(len(data) * part)])
        os.kill(os.getpid(), signal.SIGKILL)
    return real(handle, data)
os.write = write
from drive_trace.__main__ import main
main()
"""
"""Dies when it appends to a file for the nth time, after a part of it."""


@not_on_windows(NO_SIGNALS)
@pytest.mark.parametrize("part", [0, 0.5, 1])
@pytest.mark.parametrize(("kind", "number"), [("gate", 1), ("gate", 2), ("judge", 1), ("judge", 2)])
def test_whoever_is_killed_leaves_the_trace_whole(
    kind: str, number: int, part: float, trace: Path
) -> None:
    calibrate("gpt-x")
    args = command("--model-command", f"cat > prompt; printf %s {shlex.quote(PASS)}")
    if kind == "gate":
        args = ["gate", *args[1:5], "--component", "mechanical", "--run", "true"]
    before = trace.read_text("utf-8")
    ended = call(
        [sys.executable, "-c", KILLED, str(number), str(part), *args],
        check=False,
        stdout=DEVNULL,
        stderr=DEVNULL,
    )
    assert ended.returncode == -signal.SIGKILL
    torn = trace.read_text("utf-8").removeprefix(before)
    assert torn.count("\n") == (part == 1 and number == 2)
    # Whoever comes next keeps what is whole, and what is torn stays a line of its own.
    assert run(*args).code == 0
    lines = trace.read_text("utf-8").split("\n")
    assert trace.read_text("utf-8").startswith(before + torn)
    assert len(lines) == before.count("\n") + bool(torn) + 2
    assert grade() == ["pass", "pass", "pass" if kind == "judge" else None]


def test_judges_and_gates_at_once_lose_nothing(trace: Path) -> None:
    trace.write_text(text_of(event("round-start")), "utf-8")
    calibrate("gpt-x")
    judge = command("--model-command", f"printf %s {shlex.quote(PASS)}")
    gate = ["gate", *judge[1:5], "--run", "true", "--component"]
    calls = [judge, [*gate, "mechanical"], judge, [*gate, "qa"]]
    running = [Popen([COMMAND, *each], stdout=DEVNULL, stderr=DEVNULL) for each in calls]
    assert [each.wait(60) for each in running] == [0] * 4
    assert grade() == ["pass"] * 3
    assert len(record()) == 2
    assert len(trace.read_text("utf-8").rstrip("\n").split("\n")) == 5
