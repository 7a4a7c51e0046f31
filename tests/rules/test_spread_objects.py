"""Objects that are spread over several lines: one finding each, whatever is edited."""

import json
import re
from pathlib import Path
from random import Random

import pytest

from drive_trace.analysis import Analysis
from drive_trace.trace.document import Point
from drive_trace.vocabulary import EVENTS
from tests.cli.support import run
from tests.support.client_text import triage
from tests.support.models import everything

ROOT = Path(__file__).parent.parent.parent

PRETTY = [json.dumps(event.example, indent=2) for event in EVENTS.values()]


def test_a_pretty_printed_trace_has_one_finding_an_object_over_all_its_lines() -> None:
    analysis = Analysis("\n".join(PRETTY) + "\n")
    findings = list(analysis.findings())
    assert [each.rule.code for each in findings] == ["invalid-json"] * len(PRETTY)
    ends = [analysis.line_number(each.last) for each in findings if each.last is not None]
    begins = [analysis.line_number(each.line) for each in findings]
    assert begins == [1, *(end + 1 for end in ends[:-1])]
    assert analysis.finding_count == len(PRETTY)


@pytest.mark.parametrize("width", [80, 200])
def test_a_trace_that_was_wrapped_is_one_finding_and_is_joined_as_it_was(
    tmp_path: Path, width: int
) -> None:
    whole = (ROOT / "examples/wip/drive-trace/orphan-fix-flaky-login.jsonl").read_text()
    whole = "".join(line for line in whole.splitlines(keepends=True) if "recorded" not in line)
    path = tmp_path / "trace.jsonl"
    path.write_text(re.sub(f"(?m)^.{{{width}}}|.{{{width}}}(?!$)", r"\g<0>\n", whole))
    (finding,) = run("check", path, "--output-format", "json").json
    assert finding["message"].startswith("a record that is wrapped: it must stand on one line, and")
    run("check", "--fix", "--unsafe-fixes", path)
    assert path.read_text() == whole


def test_nothing_is_joined_where_a_space_was_lost(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    whole = triage(input_ref="to look at this again")
    path.write_text(whole.replace(" ", "\n") + triage())
    (finding,) = run("check", path, "--output-format", "json").json
    assert (finding["line"], finding["end_line"], finding["fixes"]) == (1, 5, [])


def test_the_command_line_says_where_it_ends() -> None:
    (finding,) = run("check", "-", "--output-format", "json", stdin=PRETTY[0] + "\n").json
    end = PRETTY[0].count("\n") + 1
    assert (finding["line"], finding["column"]) == (1, 1)
    assert (finding["end_line"], finding["end_column"]) == (end, 2)


def test_edits_leave_what_a_fresh_analysis_finds() -> None:
    chance = Random(5)
    pieces = ["{", "}", "", "[]", '  "a": {', "  },", json.dumps(EVENTS["slice-started"].example)]
    for _ in range(12):
        lines = "\n".join(chance.sample(PRETTY, 3)).split("\n")
        analysis = Analysis("\n".join(lines))
        for _ in range(10):
            first = chance.randrange(len(lines))
            stop = min(len(lines) - 1, first + chance.choice([0, 0, 1, 3]))
            if stop < first:
                continue
            new = [chance.choice(pieces) for _ in range(chance.choice([0, 1, 1, 2]))]
            analysis.edit(Point(first, 0), Point(stop, 0), "".join(f"{each}\n" for each in new))
            lines[first:stop] = new
            assert everything(analysis) == everything(Analysis("\n".join(lines)))
