"""The command line, from outside: the formats of other tools, and findings between files."""

import json
import os
import re
import sys
from pathlib import Path
from typing import Any
from urllib.parse import unquote
from xml.etree import ElementTree

import pytest
from jsonschema import Draft4Validator

from drive_trace.grading.junit import read_junit
from drive_trace.linter.rules import RULES
from tests.cli.support import CLEAN, REJECTED, WARNED, process, run, write
from tests.support.client_text import apart, apply_columns, event, graded, triage

SCHEMA = json.loads((Path(__file__).parent / "schemas/sarif-2.1.0-rtm.5.json").read_text("utf-8"))

# GitHub's workflow commands


def annotations(text: str) -> list[tuple[str, dict[str, str], str]]:
    """What GitHub's runner makes of the output, by its own rules of unescaping."""
    found = []
    for line in text.splitlines():
        command, properties, data = re.fullmatch(r"::(\w+) (.*?)::(.*)", line).groups()  # type: ignore[union-attr]
        pairs = (pair.split("=", 1) for pair in properties.split(","))
        found.append((command, {key: unescaped(value) for key, value in pairs}, unescaped(data)))
    return found


def unescaped(text: str) -> str:
    for escape, character in (
        ("%3A", ":"),
        ("%2C", ","),
        ("%0D", "\r"),
        ("%0A", "\n"),
        ("%25", "%"),
    ):
        text = text.replace(escape, character)
    return text


def test_github_annotations(here: Path) -> None:
    name = "a, 100%:b/trace.jsonl"
    write(here, name, REJECTED + WARNED + graded("pass", None, None) + graded("fail", None, None))
    write(here, "drive-trace.toml", "rule-url = 'https://rules.example.org/{code}'")
    ran = run("check", "--output-format", "github", name)
    assert ran.code == 1
    found = annotations(ran.out)
    column = REJECTED.index('"passed"') + 1
    assert found[0] == (
        "error",
        {
            "title": "drive-trace (unknown-value)",
            "file": name,
            "line": "1",
            "col": str(column),
            "endLine": "1",
            "endColumn": str(column + len('"passed"')),
        },
        '`qa` must be "pass" or "fail", or null; found "passed" — did you mean "pass"?'
        "\nhttps://rules.example.org/unknown-value",
    )
    assert {each[0] for each in found} == {"error", "warning", "notice"}
    assert run("check", "--output-format", "github", "-", stdin=CLEAN).out == ""


# SARIF


def sarif(*args: str | Path, stdin: str = "") -> Any:
    log = run("check", "--output-format", "sarif", *args, stdin=stdin).json
    Draft4Validator(SCHEMA).validate(log)
    (only,) = log["runs"]
    return only


EVERYTHING = (
    REJECTED
    + WARNED
    + triage(input_ref="日本 🚀", verdict="direct-chance")
    + triage().replace("}", ",}")
    + graded("pass", "pass", "pass")
    + graded("pass", None, "pass")
    + "\n"
    + event("nope")
    + triage().rstrip("\n")
)


def test_links_lead_where_the_configuration_says(here: Path) -> None:
    write(here, "trace.jsonl", event("nope"))
    address = "https://wiki.example.org/{code}.md"
    write(here, "drive-trace.toml", f'rule-url = "{address}"\n')
    expected = address.format(code="unknown-event-type")
    (finding,) = run("check", "--output-format", "json", "trace.jsonl").json
    assert finding["url"] == expected
    rules = sarif("trace.jsonl")["tool"]["driver"]["rules"]
    assert expected in [each["helpUri"] for each in rules]
    write(here, "drive-trace.toml", 'rule-url = "wiki/{code}"\n')
    ran = run("check", "trace.jsonl")
    assert ran.code == 2
    assert "1:12: `rule-url` must be an address, such as https://…/rules/{code}.md" in ran.err


@pytest.mark.parametrize(
    ("named", "expected"),
    [
        ("", r"file:.*/unknown-event-type\.md"),
        (
            "Project-URL: Rules, https://rules.example.org\n",
            r"https://rules\.example\.org/unknown-event-type\.md",
        ),
    ],
)
def test_links_lead_where_the_metadata_of_the_package_say(
    tmp_path: Path, named: str, expected: str
) -> None:
    """Without an address there they lead to the installed pages."""
    metadata = f"Metadata-Version: 2.1\nName: drive-trace\nVersion: 1.0\n{named}"
    write(tmp_path, "drive_trace-1.0.dist-info/METADATA", metadata)
    path = write(tmp_path, "trace.jsonl", event("nope"))
    command = (sys.executable, "-m", "drive_trace", "check", "--output-format", "json")
    ran = process(path, program=command, env=os.environ | {"PYTHONPATH": str(tmp_path)})
    (finding,) = ran.json
    assert re.fullmatch(expected, finding["url"])


def test_a_sarif_log(here: Path) -> None:
    write(here, "a b/é:%.jsonl", EVERYTHING)
    run_ = sarif("a b/é:%.jsonl")
    rules = run_["tool"]["driver"]["rules"]
    assert [each["id"] for each in rules] == list(RULES)
    for each in rules:
        assert each["help"]["markdown"]
        assert each["helpUri"].endswith(f"/{each['id']}.md")
    assert run_["columnKind"] == "unicodeCodePoints"
    root = run_["originalUriBaseIds"]["%SRCROOT%"]["uri"]
    assert unquote(root) == f"file://{here}/"
    found = run("check", "--output-format", "json", "a b/é:%.jsonl").json
    assert len(run_["results"]) == len(found)
    levels = {"error": "error", "warning": "warning", "information": "note", "hint": "note"}
    for result, finding in zip(run_["results"], found, strict=True):
        assert result["ruleId"] == rules[result["ruleIndex"]]["id"] == finding["code"]
        assert result["level"] == levels[finding["severity"]]
        assert result["message"]["text"] == finding["message"]
        (location,) = result["locations"]
        place = location["physicalLocation"]
        assert place["artifactLocation"]["uriBaseId"] == "%SRCROOT%"
        assert unquote(place["artifactLocation"]["uri"]) == "a b/é:%.jsonl"
        assert place["region"] == {
            "startLine": finding["line"],
            "startColumn": finding["column"],
            "endLine": finding["end_line"],
            "endColumn": finding["end_column"],
        }


def test_sarif_fixes_and_related_places() -> None:
    run_ = sarif("-", stdin=EVERYTHING)
    by_code = {each["ruleId"]: each for each in run_["results"]}
    (comma,) = by_code["invalid-json"]["fixes"]
    assert comma["description"]["text"] == "Remove the comma"
    assert comma["properties"] == {"safe": True}
    edits = [
        {
            "line": region["startLine"],
            "column": region["startColumn"],
            "end_line": region["endLine"],
            "end_column": region["endColumn"],
            "text": each["insertedContent"]["text"],
        }
        for change in comma["artifactChanges"]
        for each in change["replacements"]
        for region in [each["deletedRegion"]]
    ]
    assert apply_columns(EVERYTHING, edits) == EVERYTHING.replace(",}", "}")
    (related,) = by_code["erased-verdict"]["relatedLocations"]
    assert related["physicalLocation"]["region"]["startLine"] == 5
    assert related["message"]["text"] == "`qa` recorded here"


def test_sarif_fingerprints_stay_when_lines_move_and_tell_findings_apart() -> None:
    def prints(text: str) -> list[str]:
        return [
            each["partialFingerprints"]["primaryLocationLineHash"]
            for each in sarif("-", stdin=text)["results"]
        ]

    text = apart(CLEAN * 2 + WARNED + REJECTED).partition("\n")[2] + REJECTED
    assert len(set(prints(text))) == len(prints(text))
    assert prints(apart(CLEAN) + text)[-len(prints(text)) :] == prints(text)


def test_sarif_of_nothing_and_of_files_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert sarif("-", stdin=CLEAN)["results"] == []
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    path = write(tmp_path, "there/trace.jsonl", REJECTED)
    (result,) = sarif(path)["results"]
    artifact = result["locations"][0]["physicalLocation"]["artifactLocation"]
    assert artifact == {"uri": path.as_uri()}


def test_sarif_takes_hostile_text() -> None:
    lone = (
        triage(x=1).replace('"x"', '"\\ud800\\u0000<script>"').replace("direct-change", "\\udfff")
    )
    assert sarif("-", stdin=lone)["results"]


# Between files


def conflicts(*args: str | Path) -> list[Any]:
    found = run("check", "--output-format", "json", *args).json
    return [each for each in found if each["code"] == "conflicting-verdicts"]


def test_files_that_grade_a_run_differently_at_one_moment(tmp_path: Path) -> None:
    early, late = graded("pass", "fail", "pass"), graded("pass", "pass", "pass")
    # Each has an id of its own: else one is taken for a copy of the other.
    lines = apart(graded("fail", "fail", "fail") + early + CLEAN + late).splitlines(keepends=True)
    early, late = lines[1], lines[3]
    a = write(tmp_path, "a.jsonl", lines[0] + early)
    b = write(tmp_path, "b.jsonl", lines[2] + late)
    (finding,) = conflicts(a, b)
    column = early.index('"fail"') + 1
    assert (finding["path"], finding["line"], finding["column"]) == (str(a), 2, column)
    assert finding["severity"] == "warning"
    said = f'`qa` is "fail" here, but "pass" on line 2 of {b}'
    assert finding["message"] == f"{said}: by their `ts` either grade may be the later one"
    assert [each["path"] for each in conflicts(b, a)] == [str(b)], "the later file counts"
    (result,) = [
        each for each in sarif(a, b)["results"] if each["ruleId"] == "conflicting-verdicts"
    ]
    (related,) = result["relatedLocations"]
    assert related["physicalLocation"]["artifactLocation"]["uri"].endswith("b.jsonl")
    assert related["physicalLocation"]["region"]["startLine"] == 2
    assert conflicts(a) == conflicts(b) == []
    b.write_text(CLEAN + late.replace("T14:00", "T15:00"))
    assert conflicts(a, b) == conflicts(b, a) == [], "b grades the run again"


@pytest.mark.parametrize(
    ("one", "other", "count"),
    [
        (("pass", "pass", "pass"), ("pass", "pass", "pass"), 0),
        (("pass", None, None), ("pass", "fail", "pass"), 0),
        ((None, None, None), ("pass", "fail", "pass"), 0),
        (("pass", "fail", None), ("pass", "fail", "pass"), 0),
        (("fail", "fail", None), ("pass", "fail", "pass"), 1),
        (("fail", "fail", "fail"), ("pass", "pass", "pass"), 3),
        (("pass", "passed", None), ("fail", "fail", "fail"), 0),  # rejected: no grade
    ],
)
def test_a_null_contradicts_nothing(
    one: tuple[str | None, ...], other: tuple[str | None, ...], count: int, tmp_path: Path
) -> None:
    a = write(tmp_path, "a.jsonl", graded(*one))
    b = write(tmp_path, "b.jsonl", graded(*other))
    assert len(conflicts(a, b)) == len(conflicts(b, a)) == count


def test_where_the_latest_says_nothing_the_others_are_erased(tmp_path: Path) -> None:
    grades = [("pass", "fail", None), ("pass", "pass", None), ("pass", None, None)]
    paths = [
        write(tmp_path, f"{hour}.jsonl", graded(*each).replace("T14", f"T1{hour}"))
        for hour, each in enumerate(grades, start=5)
    ]
    found = run("check", "--output-format", "json", *paths).json
    (finding,) = [
        each for each in found if each["code"] in {"conflicting-verdicts", "erased-verdict"}
    ]
    assert (finding["code"], finding["path"]) == ("erased-verdict", str(paths[2]))
    said = f'`qa` was "pass" on line 1 of {paths[1]}; this null erases it'
    assert finding["message"] == said


def test_configuration_and_baseline_hold_between_files(here: Path) -> None:
    write(here, "a/trace.jsonl", graded("fail", "pass", "pass"))
    write(here, "b/trace.jsonl", graded("pass", "pass", "pass"))
    toml = write(here, "drive-trace.toml", '[rules]\nconflicting-verdicts = "error"\n')
    assert run("check").code == 1
    toml.write_text('[rules]\nconflicting-verdicts = "off"\n')
    assert conflicts() == []
    toml.write_text("")
    assert len(conflicts()) == 1
    run("check", "--write-baseline")
    ran = run("check", "--output-format", "json", "--fail-on", "hint")
    assert (ran.code, ran.json) == (0, [])
    assert "hidden" in ran.err


# GitLab and JUnit


def test_a_code_quality_report(here: Path) -> None:
    write(here, "a/trace.jsonl", EVERYTHING)
    write(here, "b/trace.jsonl", EVERYTHING)
    found = run("check", "--format", "json").json
    told = run("check", "--format", "gitlab").json
    assert len({each["fingerprint"] for each in told}) == len(told) == len(found)
    severities = {"error": "major", "warning": "minor", "information": "info", "hint": "info"}
    for each, finding in zip(told, found, strict=True):
        assert each["check_name"] == finding["code"]
        assert each["description"] == finding["message"]
        assert each["severity"] == severities[finding["severity"]]
        assert each["location"] == {"path": finding["path"], "lines": {"begin": finding["line"]}}
    assert run("check", "--format", "gitlab", "-", stdin=CLEAN).json == []


def test_a_junit_report(here: Path) -> None:
    name = "a<&\"'>/trace.jsonl"
    write(here, name, EVERYTHING + triage(**{"\x00]]>": "\u2028", "verdict": "<a>\x1b&"}))
    found = run("check", "--format", "json").json
    page = ElementTree.fromstring(run("check", "--format", "junit").out)
    assert page.get("tests") == str(len(found))
    failed = [each for each in found if each["severity"] == "error"]
    assert page.get("failures") == str(len(failed))
    assert page.get("skipped") == str(len(found) - len(failed)) != "0"
    for case, finding in zip(page.iter("testcase"), found, strict=True):
        assert (case.get("file"), case.get("line")) == (name, str(finding["line"]))
        assert finding["code"] in case.get("name", "")
        (how,) = case
        assert how.tag == ("failure" if finding in failed else "skipped")
        assert how.get("type") == finding["severity"]
    page = ElementTree.fromstring(run("check", "--format", "junit", "--fail-on", "hint").out)
    assert page.get("failures") == str(len(found))
    read = read_junit(run("check", "--format", "junit", "-", stdin=REJECTED).out.encode())
    assert len(read.failed) == 1
    read = read_junit(run("check", "--format", "junit", "-", stdin=CLEAN).out.encode())
    assert (read.ran, read.failed) == (1, ())


def test_github_keeps_ten_annotations_of_a_kind_and_is_told_of_the_others() -> None:
    lines = run("check", "--format", "github", "-", stdin=REJECTED * 30).out.splitlines()
    errors = [each for each in lines if "error " in each]
    assert len(errors) == 30
    assert sum(each.startswith("::error ") for each in errors) == 9
    said = annotations("\n".join(each for each in lines if each.startswith("::")))[-1]
    assert said[0] == "notice"
    assert "more findings in the log of this step, and not annotated" in said[2]
