"""Real traces, where there are some: findings on exactly the lines that their README names."""

import json
import os
import random
import re
from pathlib import Path
from typing import Any

import pytest

from drive_trace.analysis import Analysis
from drive_trace.scorecard.card import to_json
from drive_trace.trace.document import Point
from drive_trace.trace.reading import laid_out, read_lines
from drive_trace.vocabulary import EVENTS
from tests.cli.support import run
from tests.support.scored import score_of

FOLDER = os.environ.get("DRIVE_TRACE_CORPUS")
TRACES = sorted(Path(FOLDER).glob("*.jsonl")) if FOLDER else []

pytestmark = pytest.mark.skipif(not FOLDER, reason="DRIVE_TRACE_CORPUS names no folder of traces")

EDITS = 12
"""Random edits of each trace."""


@pytest.fixture(params=TRACES, ids=lambda path: path.stem)
def trace(request: pytest.FixtureRequest) -> Path:
    assert isinstance(request.param, Path)
    return request.param


def rejected_lines(trace: Path) -> list[int]:
    """The lines that the README beside a trace names."""
    readme = (trace.parent / "README.md").read_text(encoding="utf-8")
    named = re.search(rf"`{re.escape(trace.stem)}` rejects lines? (\d[\d, ]*)", readme)
    return [int(number) for number in re.findall(r"\d+", named[1])] if named else []


def test_there_are_traces_and_lines_that_are_named() -> None:
    assert TRACES
    assert any(map(rejected_lines, TRACES))


def test_errors_stand_on_the_rejected_lines(trace: Path) -> None:
    ran = run("check", "--output-format", "json", trace)
    errors = {each["line"] for each in ran.json if each["severity"] == "error"}
    assert sorted(errors) == rejected_lines(trace)
    assert (ran.code, ran.err) == (1 if errors else 0, "")


def test_no_run_was_graded(trace: Path) -> None:
    ran = run("score", "--format", "json", trace)
    card = ran.json
    assert (ran.code, ran.err) == (0, "")
    assert {run["verdict"] for run in card["runs"]} == {"not-computable"}
    assert all(run["missing_inputs"] == ["external correctness signal"] for run in card["runs"])
    assert not card["has_any_correctness_signal"]
    rejected = [line for each in (*card["runs"], *card["files"]) for line in each["rejected_lines"]]
    assert sorted(rejected) == rejected_lines(trace)


@pytest.mark.parametrize(
    "arguments",
    [["check"], ["check", "--output-format", "concise"], ["score", "--format", "markdown"]],
)
def test_every_format_takes_all_of_them(arguments: list[str]) -> None:
    ran = run(*arguments, *TRACES)
    assert ran.code in (0, 1)
    assert ran.err == ""
    assert ran.out.endswith("\n")


def test_formatting_changes_no_compact_line(trace: Path) -> None:
    for line in read_lines(trace.read_text(encoding="utf-8").split("\n")):
        if line.text == compact(line.text):
            assert laid_out(line) == line.text


def compact(text: str) -> str:
    try:
        return json.dumps(json.loads(text), separators=(",", ":"), ensure_ascii=False)
    except ValueError:
        return text


def test_fixes_in_bulk_delete_no_field_and_change_no_outcome_and_no_number(
    trace: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "trace.jsonl"
    copy.write_bytes(trace.read_bytes())
    ran = run("check", "--fix", "--unsafe-fixes", copy)
    assert ran.code in (0, 1)
    before, after = (path.read_text(encoding="utf-8").split("\n") for path in (trace, copy))
    assert len(before) == len(after)
    for old, new in zip(map(pairs_of, before), map(pairs_of, after), strict=True):
        assert old.keys() <= new.keys()
        event = EVENTS.get(str(old.get("event_type")))
        for key, value in old.items():
            field = event.fields.get(key) if event is not None else None
            is_number = isinstance(value, int | float)
            if field is None or field.is_outcome or is_number:
                assert new[key] == value, key


def pairs_of(text: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(text) if text else {}
    return found


def test_edits_leave_what_a_fresh_analysis_finds(trace: Path) -> None:
    chance = random.Random(trace.stem)
    analysis = Analysis(trace.read_text(encoding="utf-8"))
    for _ in range(EDITS):
        before = analysis.document.text
        start, end, new = an_edit(chance, before)
        analysis.edit(point(before, start), point(before, end), new)
        text = before[:start] + new + before[end:]
        assert analysis.document.text == text
        assert known(analysis) == known(Analysis(text))


def an_edit(chance: random.Random, text: str) -> tuple[int, int, str]:
    """Offsets and new text: a slip in a line, or lines that go, come twice or change places."""
    lines = text.split("\n")
    at = chance.randrange(len(text))
    first = sum(len(line) + 1 for line in lines[: chance.randrange(len(lines) - 1)])
    end = text.find("\n", first) + 1 or len(text)
    following = text.find("\n", end) + 1 or len(text)
    line, other = text[first:end], text[end:following]
    return chance.choice(
        [
            (at, at, chance.choice(['"', "{", "}", "\n", "\\", "\r\n", "🚀", "\u2028", ",", "0"])),
            (at, min(at + chance.randrange(1, 400), len(text)), ""),
            (first, end, ""),
            (first, first, line),
            (first, following, other + line),
        ]
    )


def point(text: str, offset: int) -> Point:
    head = text[:offset]
    return Point(head.count("\n"), offset - (head.rfind("\n") + 1))


def known(analysis: Analysis) -> Any:
    """All that is known of a trace."""
    findings = [
        (
            analysis.where(each),
            each.rule.code,
            analysis.message(each.message),
            fixes(analysis, each),
        )
        for each in analysis.findings()
    ]
    return findings, to_json(score_of(analysis))


def fixes(analysis: Analysis, finding: Any) -> Any:
    return [
        (fix.title, fix.safe, [(analysis.line_number(each.line), *each[1:]) for each in fix.edits])
        for fix in analysis.fixes(finding)
    ]
