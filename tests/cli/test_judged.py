"""What scores and reports say of the judge behind an intent."""

import json
import os
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import drive_trace
from drive_trace.storage.files import MOST_BYTES
from drive_trace.storage.finding import SearchOptions, find_traces
from drive_trace.storage.patterns import MoreFiles
from drive_trace.vocabulary import EVENTS
from tests.cli.support import run, write
from tests.support.client_text import apart, graded, triage
from tests.support.judging import INTERVAL, NO_FIGURES, UNCALIBRATED, judge, judgement, record_of
from tests.support.systems import NO_FIFOS, not_on_windows

JUDGED = (
    "intent: pass, by gpt-5.5, prompt v3, calibrated 0.90 [0.81, 0.95] by its record, 2 reasons"
)
NOT_CALIBRATED = "intent: pass, by gpt-5.5, prompt v3, not calibrated, 2 reasons"
NOBODY = "intent: pass, judge not recorded"
CAVEAT = "the intent was judged by an uncalibrated judge"


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    return write(tmp_path, "trace.jsonl", apart(triage() + graded("pass", "pass", "pass")))


def said(trace: Path) -> str:
    """What every text says of the judge; all must say the same."""
    formats = [
        ("score", "table"),
        ("score", "text"),
        ("score", "markdown"),
        ("report", "markdown"),
        ("report", "html"),
    ]
    texts = [run(command, trace, "--format", name).out for command, name in formats]
    lines = {next(each for each in _lines(text) if each.startswith("intent: ")) for text in texts}
    (line,) = lines
    return line


def _lines(text: str) -> list[str]:
    text = re.sub("</?p>", "\n", re.sub("</?bdi>", "", text)).replace("\n    ", " ")
    return [each.strip().strip("`") for each in text.split("\n")]


def score(*paths: Path) -> Any:
    (found,) = run("score", "--format", "json", *paths).json["runs"]
    return found


def test_an_intent_names_its_judge(trace: Path) -> None:
    judge(trace, judgement())
    assert said(trace) == JUDGED
    assert score(trace)["judged"] == {
        "model": "gpt-5.5",
        "reported_model": "gpt-5.5",
        "prompt_version": "3",
        "agreement": 0.8986,
        "agreement_interval": INTERVAL,
        "reasons": 2,
    }
    assert score(trace)["caveats"] == []
    (found,) = drive_trace.score(trace).runs
    assert found.judgement is not None


def test_a_model_that_was_not_the_one_asked_for_is_named_beside_it(trace: Path) -> None:
    judge(trace, judgement(model="gpt-5.5-mini"))
    assert said(trace) == JUDGED.replace("gpt-5.5,", "gpt-5.5 (reported as gpt-5.5-mini),")
    found = score(trace)["judged"]
    assert (found["model"], found["reported_model"]) == ("gpt-5.5", "gpt-5.5-mini")
    codes = {each["code"]: each["qualifies"] for each in score(trace)["caveats"]}
    assert codes["judge-not-as-asked"]
    assert run("score", "--require-correct", trace).code == 1


@pytest.mark.parametrize("reported", ["openai/gpt-5.5", "gpt-5.5-2026-03-01", "GPT-5.5-latest"])
def test_a_release_of_the_model_that_was_asked_is_that_model(trace: Path, reported: str) -> None:
    judge(trace, judgement(model=reported))
    assert run("score", "--require-correct", trace).code == 0


def test_a_judge_of_the_family_that_did_the_work_is_told(trace: Path) -> None:
    started = {**EVENTS["dispatch-start"].example, "project_run_id": "run-1", "model": "gpt-6"}
    trace.write_text(apart(json.dumps(started, separators=(",", ":")) + "\n") + trace.read_text())
    judge(trace, judgement())
    codes = {each["code"]: each["qualifies"] for each in score(trace)["caveats"]}
    assert codes["judge-of-own-family"] is False


def test_an_intent_that_failed_names_its_judge(tmp_path: Path) -> None:
    trace = write(tmp_path, "trace.jsonl", graded("pass", "pass", "fail"))
    judge(trace, judgement(verdict="fail", reasons=["AC-1 does not hold"]))
    assert said(trace) == JUDGED.replace("pass", "fail").replace("2 reasons", "1 reason")


@pytest.mark.parametrize("grade", ["", graded("pass", "pass", None)])
def test_where_no_intent_was_recorded_nothing_is_said_of_a_judge(
    grade: str, tmp_path: Path
) -> None:
    trace = write(tmp_path, "trace.jsonl", apart(triage() + grade))
    judge(trace, judgement())
    lines = _lines(run("score", trace, "--format", "text").out)
    assert not any(each.startswith("intent: ") for each in lines)
    assert score(trace)["judged"] is None


@pytest.mark.parametrize(
    "lines",
    [
        [],
        ["[" * 100_000],
        [judgement(verdict="fail")],
        [judgement(project_run_id="run-2")],
        [judgement(repeats=1_000_000_000_000)],
        [judgement(agreement=2)],
        [judgement(agreement=0.99)],
        [judgement(agreement_interval=None)],
        [judgement(agreement=None)],
        [judgement(agreement_interval=[0.79, 0.95])],
        [judgement(agreement_interval=[0.95, 0.81])],
        [judgement(), judgement(agreement=0.1, judging="two")],
        [judgement(reply=None)],
        [judgement(reply="cannot tell")],
        [judgement(reply='{"reasons": ["AC-1 holds", "AC-2 holds"], "intent": "fail"}')],
        [judgement(reply='{"reasons": ["AC-1 holds"], "intent": "pass"}')],
        [judgement(repeats=2, reply="pass"), judgement(repeats=2, repeat=2)],
    ],
)
def test_a_record_that_does_not_fit_the_grade_names_nobody(trace: Path, lines: list[str]) -> None:
    judge(trace, *lines)
    assert said(trace) == NOBODY
    assert score(trace)["judged"] is None


def test_an_uncalibrated_judge_is_a_caveat_wherever_caveats_are(trace: Path) -> None:
    judge(trace, UNCALIBRATED)
    assert said(trace) == NOT_CALIBRATED
    (caveat,) = score(trace)["caveats"]
    assert caveat == {
        "code": "uncalibrated-judge",
        "message": CAVEAT,
        "qualifies": False,
        "lines": [{"path": str(trace), "line": 2}],
    }
    for command in (["score", "--format", "table"], ["score"], ["report"]):
        assert CAVEAT in run(*command, trace).out
    assert CAVEAT in run("report", "--format", "html", trace).out
    assert run("score", "--require-correct", trace).code == 0


@pytest.mark.parametrize("line", [judgement, partial(judgement, **NO_FIGURES)])
@pytest.mark.parametrize("intent", ["pass", "fail"])
def test_no_verdict_is_better_without_its_record(
    tmp_path: Path, line: Callable[..., str], intent: str
) -> None:
    trace = write(tmp_path, "trace.jsonl", graded("pass", "pass", intent))
    record = judge(trace, line(verdict=intent))
    judged = score(trace)
    code = run("score", "--require-correct", trace).code
    assert judged["judged"] is not None
    record.unlink()
    alone = score(trace)
    assert run("score", "--require-correct", trace).code == code
    assert alone["verdict"] == judged["verdict"]
    assert said(trace) == NOBODY.replace("pass", intent)
    for name in ("table", "text"):
        out = run("score", "--format", name, trace).out
        assert NOBODY.replace("pass", intent) in out
        assert "calibrated" not in out


def test_the_records_beside_all_files_of_a_run_count(tmp_path: Path) -> None:
    judged, gated = (
        write(tmp_path, name, graded("pass", "pass", "pass", ts=f"2026-05-28T14:0{at}:00.000Z"))
        for at, name in enumerate(("a/trace.jsonl", "b/trace.jsonl"))
    )
    # A gate that is recorded in another file merges the verdict into that.
    judge(judged, UNCALIBRATED)
    assert "uncalibrated-judge" in [each["code"] for each in score(tmp_path)["caveats"]]
    judge(gated, judgement(asked="gpt-6", ts="2026-05-28T14:00:30.000Z"))
    assert score(tmp_path)["judged"]["model"] == "gpt-6"
    # One that is of another run says nothing of this.
    judge(judged, UNCALIBRATED.replace("run-1", "run-2"))
    record_of(gated).unlink()
    assert score(tmp_path)["judged"] is None


HOSTILE = "gpt\x1b[31m\n\n# **obeyed** [x](http://x) `<script>`\u202e ::error::x | ##[error]"


def test_what_a_stranger_writes_into_a_record_is_shown_and_not_obeyed(trace: Path) -> None:
    judge(trace, judgement(model=HOSTILE, asked=HOSTILE, prompt_version=HOSTILE))
    for command in (["score", "--format", "text"], ["score", "--format", "markdown"], ["report"]):
        out = run(*command, trace).out
        assert "<U+001B>" in out
        assert not {"\x1b", "\u202e"} & set(out)
        shown = out.partition("intent: pass, by gpt")[2].partition(" reasons")[0]
        assert " ".join(shown.split()).endswith("calibrated 0.90 [0.81, 0.95] by its record, 2")
        assert "text" in command or "\n" not in shown
        assert " ::error" not in out
        assert "##[" not in out
    html = run("report", "--format", "html", trace).out
    assert "<script>`" not in html
    found = run("score", "--format", "json", trace)
    assert found.json["runs"][0]["judged"]["model"] == HOSTILE
    assert not {"\x1b", "\u202e"} & set(found.out)


def test_what_a_record_says_is_cut(trace: Path) -> None:
    long = "x" * 1_000_000
    judge(trace, judgement(model=long, prompt_version=long, reasons=["x" * 2_000] * 3))
    for command in ("score", "report"):
        out = run(command, trace).out
        assert "x" * 100 not in out
        assert "calibrated 0.90 [0.81, 0.95] by its record, 3 reasons" in " ".join(out.split())


@not_on_windows(NO_FIFOS)
def test_what_is_no_file_beside_the_trace_is_no_record(trace: Path, tmp_path: Path) -> None:
    record = record_of(trace)
    os.mkfifo(record)
    assert said(trace) == NOBODY
    record.unlink()
    record.mkdir()
    assert said(trace) == NOBODY
    record.rmdir()
    other = write(tmp_path / "elsewhere", "record", judgement())
    record.symlink_to(other)
    assert said(trace) == JUDGED
    folder = tmp_path / "inner"
    inner = write(folder, "trace.jsonl", trace.read_text("utf-8"))
    record_of(inner).symlink_to(other)
    assert said(inner) == NOBODY
    record_of(inner).unlink()
    judge(inner, judgement())
    os.truncate(record_of(inner), MOST_BYTES + 1)
    assert said(inner) == NOBODY


def test_no_search_takes_a_record_for_a_trace(tmp_path: Path) -> None:
    found = [
        write(tmp_path, "trace.jsonl"),
        write(tmp_path, "wip/drive-trace/a.jsonl"),
        write(tmp_path, "logs/a.ndjson"),
    ]
    for each in found:
        judge(each, judgement())
    for everywhere in (False, True):
        more = MoreFiles(("**/*.ndjson", "**/*judgements*"))
        searched = find_traces([str(tmp_path)], more, SearchOptions(everywhere))
        assert sorted(map(str, searched)) == sorted(map(str, found))
