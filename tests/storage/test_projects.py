"""Which configuration and baseline hold for a trace."""

import json
import os
from pathlib import Path

import pytest

from drive_trace.linter.rule import Severity
from drive_trace.linter.rules import RULES
from drive_trace.storage.projects import (
    Baseline,
    Projects,
    read_baseline,
    write_baseline,
    write_known,
)
from tests.cli.support import write

CODE = "unknown-value"
ONE, TWO = "0" * 32, "1" * 32


def severity(projects: Projects, path: Path | str) -> str:
    project = projects.of(str(path))
    assert project.problems == ()
    found = project.settings_for(str(path)).severity(RULES[CODE])
    return found.label if found is not None else "off"


def configure(folder: Path, severity: str, more: str = "") -> Path:
    return write(folder, "drive-trace.toml", f'[rules]\n{CODE} = "{severity}"\n{more}')


def known(projects: Projects, path: Path | str) -> set[str]:
    return set(projects.of(str(path)).settings_for(str(path)).known)


def baseline(folder: Path, files: dict[str, list[str]]) -> Path:
    content = Baseline({path: {CODE: dict.fromkeys(each, 1)} for path, each in files.items()})
    return write(folder, "drive-trace-baseline.json", write_baseline(content))


# Configurations


def test_standard_input_is_below_the_base(tmp_path: Path) -> None:
    configure(tmp_path, "hint", '[[overrides]]\npaths = ["**"]\nrules.unknown-value = "off"')
    (tmp_path / "a").mkdir()
    assert severity(Projects(str(tmp_path / "a")), "-") == "hint"


def test_globs_start_at_the_configurations_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(tmp_path, "hint", '[[overrides]]\npaths = ["a/b"]\nrules.unknown-value = "off"')
    (tmp_path / "a/b").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "a")
    projects = Projects(".")
    assert severity(projects, "b/trace.jsonl") == "off"
    assert severity(projects, "../a/b/trace.jsonl") == "off"
    assert severity(projects, "trace.jsonl") == "hint"


def test_a_link_is_where_it_stands(tmp_path: Path) -> None:
    configure(tmp_path / "here", "hint", '[[overrides]]\npaths=["*"]\nrules.unknown-value="off"')
    configure(tmp_path / "there", "warning")
    write(tmp_path, "there/trace.jsonl")
    (tmp_path / "here/link.jsonl").symlink_to(tmp_path / "there/trace.jsonl")
    assert severity(Projects("."), tmp_path / "here/link.jsonl") == "off"


def test_a_given_configuration_holds_for_all(tmp_path: Path) -> None:
    configure(tmp_path / "a", "warning")
    text = f'[rules]\n{CODE}="hint"\n[[overrides]]\npaths=["in"]\nrules.{CODE}="off"'
    given = write(tmp_path, "conf/other.toml", text)
    (tmp_path / "link").symlink_to(tmp_path / "conf")
    projects = Projects(str(tmp_path), configuration=str(given))
    assert severity(projects, tmp_path / "a/trace.jsonl") == "hint"
    assert severity(projects, tmp_path / "conf/in/trace.jsonl") == "off"
    assert severity(projects, tmp_path / "link/in/trace.jsonl") == "off"


def test_a_change_on_disk_is_noticed(tmp_path: Path) -> None:
    projects = Projects(str(tmp_path))
    trace = tmp_path / "a/trace.jsonl"
    assert severity(projects, trace) == "error"
    path = configure(tmp_path, "hint")
    assert severity(projects, trace) == "hint"
    first = projects.of(str(trace)).configuration
    assert projects.of(str(trace)).configuration is first, "not read again"
    configure(tmp_path, "warning")
    assert severity(projects, trace) == "warning"
    configure(tmp_path / "a", "off")
    assert severity(projects, trace) == "off"
    (tmp_path / "a/drive-trace.toml").unlink()
    path.unlink()
    assert severity(projects, trace) == "error"


def test_what_was_right_last_holds_while_it_is_broken(tmp_path: Path) -> None:
    path = configure(tmp_path, "hint")
    projects, trace = Projects("."), str(tmp_path / "trace.jsonl")
    assert severity(projects, trace) == "hint"
    path.write_text("[rules]\nunknow-value = 'off'\n")
    for _ in range(2):
        project = projects.of(trace)
        assert [each.problem.message for each in project.problems] == [
            f"{path}:2:1: `unknow-value` is no rule — did you mean `unknown-value`?"
        ]
        assert project.settings_for(trace).severity(RULES[CODE]) is Severity.HINT
    configure(tmp_path, "off")
    assert severity(projects, trace) == "off"


def test_what_cannot_be_read_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "drive-trace.toml"
    path.symlink_to("nowhere")

    def problem() -> str:
        (only,) = Projects(".").of(str(tmp_path / "trace.jsonl")).problems
        return only.problem.message.removeprefix(f"{path}: ")

    assert problem() == "cannot be read: no such file or folder"
    path.unlink()
    path.write_bytes(b"# caf\xe9")
    assert problem() == "is not UTF-8 (byte 0xe9); save it as UTF-8"
    monkeypatch.chdir(tmp_path)
    (only,) = Projects(".").of("trace.jsonl").problems
    assert only.problem.message.startswith("drive-trace.toml: ")


# Baselines


def test_without_a_configuration_the_nearest_above_a_trace_holds(tmp_path: Path) -> None:
    baseline(tmp_path, {"a/b/trace.jsonl": [ONE], "trace.jsonl": [TWO]})
    for base in (".", tmp_path, tmp_path / "a", tmp_path / "elsewhere"):
        projects = Projects(str(base))
        assert known(projects, tmp_path / "a/b/trace.jsonl") == {ONE}
        assert known(projects, tmp_path / "trace.jsonl") == {TWO}
    baseline(tmp_path / "a", {"b/trace.jsonl": [TWO]})
    assert known(Projects(str(tmp_path)), tmp_path / "a/b/trace.jsonl") == {TWO}
    configure(tmp_path, "hint")
    assert known(Projects(str(tmp_path)), tmp_path / "a/b/trace.jsonl") == {ONE}


@pytest.mark.parametrize(
    ("text", "place", "said"),
    [
        ("", "1:1", "it is not JSON"),
        ('{\n  "version": 2,,\n}', "2:16", "it is not JSON"),
        ("\n" + "[" * 100_000, "1:1", "nested too deeply"),
        ("9" * 5000, "1:1", "a number too large"),
        ('{"files": {}}', "1:1", "missing required field `version`"),
        ('{"version": 3, "files": {}}', "1:1", "Invalid enum value 3 - at `$.version`"),
        ('{"version": 1, "files": {}}', "1:1", "Invalid enum value 1 - at `$.version`"),
        ('{"version": 2}', "1:1", "missing required field `files`"),
        (
            f'{{"version": 2, "files": {{"a": {{"b": {{"{ONE}": null}}}}}}}}',
            "1:1",
            "Expected `int`, got `null`",
        ),
        (f'{{"version": 2, "files": {{"a": {{"b": ["{ONE}"]}}}}}}', "1:1", "Expected `object`"),
        (
            f'{{"version": 2, "files": {{"a": {{"b": {{"{ONE}": 0}}}}}}}}',
            "1:1",
            "Expected `int` >= 1",
        ),
        (f'{{"version": 2, "files": {{"a": {{"b": {{"{ONE}": NaN}}}}}}}}', "1:1", "NaN"),
        ('{"version": 2, "files": {"a": {"b": {"c": 1}}}}', "1:1", "matching regex"),
        ('{"version": 2, "files": {"é": {},\n"\\u00e9": {}}}', "1:1", "a key twice"),
    ],
)
def test_a_damaged_baseline_is_told(text: str, place: str, said: str, tmp_path: Path) -> None:
    path = write(tmp_path, "drive-trace-baseline.json", text)
    (problem,) = Projects(str(tmp_path)).of(str(tmp_path / "trace.jsonl")).problems
    assert problem.problem.message.startswith(f"{path}:{place}: is no baseline: ")
    assert said in problem.problem.message
    assert problem.problem.message.endswith("; remove it, and write it again with --write-baseline")


def test_a_baseline_is_written_sorted_and_read_back() -> None:
    content = Baseline({"b": {"y": {TWO: 3, ONE: 2}, "x": {ONE: 1}}, "a é": {}})
    text = write_baseline(content)
    files = {"a é": {}, "b": {"x": {ONE: 1}, "y": {ONE: 2, TWO: 3}}}
    expected = json.dumps({"version": 2, "files": files}, indent=2, ensure_ascii=False)
    assert text == f"{expected}\n"
    assert read_baseline(text) == content


@pytest.mark.parametrize("text", ["{", "", "{}", '{"name": "somebody else\'s"}'])
def test_what_is_no_baseline_is_not_replaced(text: str, tmp_path: Path) -> None:
    path = write(tmp_path, "drive-trace-baseline.json", text)
    project = Projects(str(tmp_path)).of(str(tmp_path / "a.jsonl"))
    problem = write_known(project, {"a.jsonl": {CODE: {ONE: 1}}})
    assert problem is not None
    assert "is no baseline: " in problem.message
    assert problem.message.endswith("(it is not replaced)")
    assert path.read_text() == text


def test_a_link_out_of_the_folder_is_not_written_through(tmp_path: Path) -> None:
    there, here = tmp_path / "there", tmp_path / "here"
    theirs = baseline(there, {"x": [ONE]})
    before = theirs.read_bytes()
    here.mkdir()
    link = here / "drive-trace-baseline.json"
    project = Projects(str(here)).of(str(here / "a.jsonl"))
    out, dangling = "not read: link out of the repository", "cannot be read: no such file or folder"
    for target, why in (
        (theirs, out),
        (Path("../there/drive-trace-baseline.json"), out),
        (there / "new", dangling),
    ):
        link.symlink_to(target)
        problem = write_known(project, {"a.jsonl": {CODE: {ONE: 1}}})
        assert problem is not None, target
        assert f"drive-trace-baseline.json: {why}" in problem.message
        assert link.is_symlink()
        link.unlink()
    assert theirs.read_bytes() == before
    assert not (there / "new").exists()


def test_a_link_within_the_folder_stays_one(tmp_path: Path) -> None:
    baseline(tmp_path / "kept", {})
    (tmp_path / "drive-trace-baseline.json").symlink_to("kept/drive-trace-baseline.json")
    project = Projects(str(tmp_path)).of(str(tmp_path / "a.jsonl"))
    assert write_known(project, {"a.jsonl": {CODE: {ONE: 1}}}) is None
    assert (tmp_path / "drive-trace-baseline.json").is_symlink()
    assert known(Projects(str(tmp_path)), tmp_path / "a.jsonl") == {ONE}


def test_a_baseline_that_nobody_could_read_is_not_written(tmp_path: Path) -> None:
    many = {f"{number:032x}": 1 for number in range(25_000)}
    project = Projects(str(tmp_path)).of(str(tmp_path / "a.jsonl"))
    problem = write_known(project, {"a.jsonl": {CODE: many}})
    assert problem is not None
    assert problem.message.endswith("more bytes than are read of one")
    assert not project.baseline_path.exists()


def test_a_name_that_is_no_text_is_written_and_found(tmp_path: Path) -> None:
    name = os.fsdecode(b"caf\xe9.jsonl")
    project = Projects(str(tmp_path)).of(str(tmp_path / name))
    assert write_known(project, {name: {CODE: {ONE: 1}}}) is None
    assert known(Projects(str(tmp_path)), tmp_path / name) == {ONE}
