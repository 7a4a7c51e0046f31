"""The command line, from outside: how findings are printed."""

import subprocess
from pathlib import Path

import pytest

from drive_trace.storage.linked_files import rule_url, shared_rule_url
from tests.cli.support import CLEAN, REJECTED, WARNED, findings, run, write
from tests.support.client_text import path_of, triage
from tests.support.command import COMMAND

# The formats


def test_concise_is_a_line_a_finding() -> None:
    ran = run("check", "--output-format", "concise", "-", stdin=REJECTED + WARNED)
    column, key = REJECTED.index('"passed"') + 1, WARNED.index('"severity"') + 1
    assert ran.out.splitlines() == [
        f'-:1:{column}: error[unknown-value] `qa` must be "pass" or "fail", or null; '
        'found "passed" — did you mean "pass"?',
        f"-:2:{key}: warning[undeclared-field] "
        "`severity` is not declared for `triage-verdict`: readers ignore it",
        "1 error, 1 warning in 1 trace",
    ]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r\r\n"])
def test_full_has_the_line_and_a_caret_under_the_token(end: str) -> None:
    text = triage(input_ref="日本 e\u0301 \x85 🚀", verdict="direct-chance").replace("\n", end)
    lines = run("check", "-", stdin=text.encode()).out.splitlines()
    at = next(number for number, line in enumerate(lines) if "unknown-value" in line)
    headline, _, shown, carets, fix = lines[at : at + 5]
    column = text.index('"direct-chance"') + 1
    assert headline.startswith(f"-:1:{column}: error[unknown-value] ")
    assert fix == '  = suggestion: Replace with "direct-change"'
    # Wide characters take two columns of a terminal, a combining one none.
    wide = sum(shown.index('"direct') > at for at, each in enumerate(shown) if each in "日本🚀")
    assert carets.index("^") == shown.index('"direct-chance"') + wide - ("\u0301" in shown)
    assert carets.count("^") == len('"direct-chance"')
    # Nothing invisible is left in it, and a line's end is not part of the line.
    assert all(line.isprintable() for line in lines)
    assert shown.rstrip("\ufffd").endswith("}")
    assert shown.count("\ufffd") == 1 + end.count("\r") - (end != "\n")


def test_full_says_what_is_safe_to_fix() -> None:
    text = triage()[:-2] + ",}\n"
    assert "\n  = fix: Remove the comma\n" in run("check", "-", stdin=text).out


def test_a_json_finding(tmp_path: Path) -> None:
    text = CLEAN + REJECTED
    path = write(tmp_path, "trace.jsonl", text)
    (finding,) = run("check", "--output-format", "json", path).json
    column = REJECTED.index('"passed"') + 1
    url = finding.pop("url")
    assert finding == {
        "path": str(path),
        "line": 2,
        "column": column,
        "end_line": 2,
        "end_column": column + len('"passed"'),
        "code": "unknown-value",
        "severity": "error",
        "message": '`qa` must be "pass" or "fail", or null; found "passed" — did you mean "pass"?',
        "fixes": [
            {
                "title": 'Replace with "pass"',
                "safe": False,
                "edits": [
                    {
                        "line": 2,
                        "column": column,
                        "end_line": 2,
                        "end_column": column + len('"passed"'),
                        "text": '"pass"',
                    }
                ],
            }
        ],
    }
    assert url == shared_rule_url("unknown-value")
    page = path_of(rule_url("unknown-value") or "")
    assert page.read_text(encoding="utf-8").startswith("# unknown-value")


def test_json_of_nothing_and_of_several_traces(tmp_path: Path) -> None:
    assert findings("") == findings(CLEAN) == []
    paths = [write(tmp_path, name, REJECTED) for name in ("b.jsonl", "a.jsonl")]
    found = run("check", "--output-format", "json", *paths).json
    assert [finding["path"] for finding in found] == [str(path) for path in paths]


def test_every_finding_is_printed() -> None:
    assert len(findings(REJECTED * 1500)) == 1500


@pytest.mark.parametrize("option", ["--out", "--output-file"])
def test_findings_go_to_a_file(here: Path, option: str) -> None:
    trace = write(here, "trace.jsonl", REJECTED)
    for chosen in ("full", "json", "sarif", "github"):
        said = run("check", "--format", chosen)
        ran = run("check", "--output-format", chosen, option, "found")
        assert (ran.code, ran.out, ran.err) == (1, "", said.err)
        assert (here / "found").read_text() == said.out
    for taken in ("trace.jsonl", "drive-trace-baseline.json"):
        assert run("check", option, taken).code == 2
    assert trace.read_text() == REJECTED


def test_what_is_watched_is_checked_again(here: Path) -> None:
    trace = write(here, "trace.jsonl", CLEAN)
    command = [COMMAND, "check", "--watch", "--format", "concise"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as watching:
        assert watching.stdout is not None
        assert watching.stdout.readline() == "no findings in 1 trace\n"
        trace.write_text(CLEAN + REJECTED)
        assert "trace.jsonl:2:" in watching.stdout.readline()
        assert watching.stdout.readline() == "1 error in 1 trace\n"
        write(here, "drive-trace.toml", "rules.unknown-value = 'off'")
        assert watching.stdout.readline() == "no findings in 1 trace\n"
        watching.kill()
    assert run("check", "--watch", "-").code == 2
