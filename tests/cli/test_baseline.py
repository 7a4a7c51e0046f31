"""The command line, from outside: baselines."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.support import CLEAN, REJECTED, WARNED, Ran, run, write
from tests.support.client_text import apart, graded, triage

NAME = "drive-trace-baseline.json"


def check(*args: str | Path, stdin: str = "") -> Ran:
    return run("check", "--output-format", "concise", *args, stdin=stdin)


@pytest.fixture(autouse=True)
def folder(here: Path) -> Path:
    return here


def recorded(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))["files"]


def hidden(count: int) -> str:
    many = "s" * (count != 1)
    return (
        f"{count} known finding{many} hidden by {NAME}, "
        "which cannot fail the check (--no-baseline shows them)\n"
    )


def test_known_findings_are_hidden_and_fail_nothing(folder: Path) -> None:
    known = apart(REJECTED + WARNED)
    path = write(folder, "trace.jsonl", known)
    ran = check("--write-baseline")
    said = f"wrote 2 places with findings in 1 trace to {NAME}\n"
    assert ran == (0, f"no findings in 1 trace\n{said}", "")
    assert check() == (0, "no findings in 1 trace\n" + hidden(2), "")
    assert check("--fail-on", "hint").code == 0
    # Lines may move; a finding on another line is new, and so is one on a line that changed.
    path.write_text(CLEAN + known + REJECTED.replace("passed", "failed"))
    ran = check()
    assert ran.code == 1
    assert [line.split(":")[1] for line in ran.out.splitlines() if "[" in line] == ["4"]
    assert ran.out.endswith(f"1 error in 1 trace\n{hidden(2)}")
    path.write_text(REJECTED.replace("run-1", "run-2"))
    assert check().code == 1


def test_as_many_findings_are_written_as_are_hidden(folder: Path) -> None:
    write(folder, "trace.jsonl", apart(triage(mood="good") + triage(mood="bad")))
    assert "and at 1 more place" in check("--no-baseline").out  # told as one
    assert "wrote 2 places with findings in 1 trace" in check("--write-baseline").out
    assert hidden(2) in check().out


def test_known_findings_can_be_shown(folder: Path) -> None:
    write(folder, "trace.jsonl", REJECTED)
    check("--write-baseline")
    for option in ("--no-baseline", "--no-config"):
        ran = check(option)
        assert ran.code == 1
        assert ran.out.endswith("1 error in 1 trace\n")


def test_programs_get_the_new_findings_and_people_are_told(folder: Path) -> None:
    path = write(folder, "trace.jsonl", REJECTED)
    ran = run("check", "--output-format", "json", "--write-baseline")
    assert (ran.code, ran.json) == (0, [])
    assert ran.err == f"drive-trace: wrote 1 place with findings in 1 trace to {NAME}\n"
    path.write_text(REJECTED + REJECTED.replace("passed", "failed"))
    for output_format in ("json", "github", "sarif"):
        ran = run("check", "--output-format", output_format)
        assert ran.code == 1
        assert ran.err == f"drive-trace: {hidden(1)}"
        assert ran.out.count('found \\"failed\\"') + ran.out.count('found "failed"') == 1
        assert "passed" not in ran.out.partition('"results"')[2]


def test_a_finding_in_another_file_is_new(folder: Path) -> None:
    write(folder, "a/trace.jsonl", REJECTED)
    check("--write-baseline")
    write(folder, "b/trace.jsonl", REJECTED)
    found = run("check", "--output-format", "json").json
    assert [each["path"] for each in found] == ["b/trace.jsonl"]


def test_one_more_copy_of_a_known_line_is_new(folder: Path) -> None:
    path = write(folder, "trace.jsonl", REJECTED * 2 + CLEAN)
    check("--write-baseline")
    (only,) = recorded(folder / NAME).values()
    assert list(only["unknown-value"].values()) == [2]
    path.write_text(REJECTED + CLEAN + REJECTED * 2)
    ran = check()
    assert ran.code == 1
    assert [line.split(":")[1] for line in ran.out.splitlines() if "[" in line] == ["4"]
    assert ran.out.endswith(f"1 error in 1 trace\n{hidden(2)}")


def test_it_is_found_from_every_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(folder, "p/x/trace.jsonl", REJECTED)
    assert check("--write-baseline").out.endswith(f"to {NAME}\n")
    for elsewhere in (folder, folder / "p", folder / "p/x", folder.parent):
        monkeypatch.chdir(elsewhere)
        assert check(path).code == 0
    monkeypatch.chdir(folder / "p")
    assert "../" not in str(recorded(folder / NAME))
    check("--write-baseline")
    assert not (folder / "p" / NAME).exists(), "the one that holds is written again"


def test_a_trace_outside_of_the_current_folder_has_it_beside_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(folder, "there/trace.jsonl", REJECTED)
    (folder / "here").mkdir()
    monkeypatch.chdir(folder / "here")
    assert check("--write-baseline", path).out.endswith(f"to {folder / 'there' / NAME}\n")
    monkeypatch.chdir(folder)
    assert check().code == 0


def test_it_is_beside_the_configuration(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(folder, "p/drive-trace.toml", "")
    write(folder, "p/x/trace.jsonl", REJECTED)
    write(folder, "trace.jsonl", REJECTED)
    ran = check("--write-baseline")
    assert sorted(ran.out.splitlines()[1:]) == [
        f"wrote 1 place with findings in 1 trace to {NAME}",
        f"wrote 1 place with findings in 1 trace to p/{NAME}",
    ]
    assert list(recorded(folder / "p" / NAME)) == ["x/trace.jsonl"]
    assert list(recorded(folder / NAME)) == ["trace.jsonl"]
    monkeypatch.chdir(folder / "p/x")
    assert check("trace.jsonl").code == 0


def test_what_was_not_checked_stays_known(folder: Path) -> None:
    for name in ("a.jsonl", "b.jsonl", "c.jsonl"):
        write(folder, name, REJECTED)
    check("--write-baseline", "a.jsonl", "b.jsonl", "c.jsonl")
    write(folder, "a.jsonl", CLEAN)
    (folder / "b.jsonl").unlink()
    before = recorded(folder / NAME)
    check("--write-baseline", "a.jsonl")
    assert recorded(folder / NAME) == {"c.jsonl": before["c.jsonl"]}


def test_writing_it_again_changes_nothing(folder: Path) -> None:
    write(folder, "trace.jsonl", REJECTED * 2 + WARNED + graded("pass", None, "pass") * 2)
    check("--write-baseline")
    text = (folder / NAME).read_text("utf-8")
    check("--write-baseline")
    assert (folder / NAME).read_text("utf-8") == text
    assert text.endswith("}\n")


def test_what_the_configuration_hides_is_not_recorded(folder: Path) -> None:
    write(folder, "drive-trace.toml", '[rules]\nunknown-value = "off"\n')
    write(folder, "trace.jsonl", apart(REJECTED + WARNED))
    check("--write-baseline")
    (only,) = recorded(folder / NAME).values()
    assert list(only) == ["undeclared-field"]


def test_a_damaged_one_fails_until_it_is_removed_and_written_again(folder: Path) -> None:
    write(folder, NAME, "<<<<<<< ours\n")
    write(folder, "trace.jsonl", REJECTED)
    ran = check()
    assert ran.code == 2
    told = (
        f"{NAME}:1:1: error[unreadable-file] not read: 1 trace, as this cannot be used: is no base"
    )
    assert ran.out.startswith(told)
    assert ran.err.startswith(f"drive-trace: {NAME}:1:1: is no baseline: it is not JSON")
    assert ran.err.count("\n") == 1
    assert check("--no-baseline").code == 1
    refused = check("--write-baseline")
    assert (refused.code, refused.err) == (2, ran.err[:-1] + " (it is not replaced)\n")
    (folder / NAME).unlink()
    assert check("--write-baseline").code == 0
    assert check().code == 0


def test_what_cannot_be_read_does_not_keep_the_rest_from_it(folder: Path) -> None:
    write(folder, "a.jsonl", REJECTED)
    ran = check("--write-baseline", "a.jsonl", "gone.jsonl")
    assert ran.code == 2
    assert list(recorded(folder / NAME)) == ["a.jsonl"]


def test_what_it_knows_and_is_no_more_is_named_and_pruned(folder: Path) -> None:
    path = write(folder, "a/trace.jsonl", apart(REJECTED + WARNED))
    name = "projects/a-name-that-is-quite-long-but-is-not-cut-in-a-word/trace.jsonl"
    gone = write(folder, name, REJECTED)
    check("--write-baseline")
    assert "is no more" not in check().out
    assert "is no more" not in check("a", "--ignore", "all").out, "of what was not looked for"
    gone.unlink()
    path.write_text(path.read_text().splitlines(keepends=True)[1])
    dead = f"{name} (is not there), a/trace.jsonl (unknown-value)"
    assert f"{NAME} knows what is no more: {dead}; --prune-baseline removes it\n" in check().out
    ran = check("--prune-baseline")
    assert ran.code == 0
    assert f"removed from {NAME}, as it finds nothing any more: {dead}\n" in ran.out
    (only,) = recorded(folder / NAME).items()
    assert (only[0], list(only[1])) == ("a/trace.jsonl", ["undeclared-field"])
    assert "is no more" not in check().out
    assert check("--prune-baseline", "--no-baseline").code == 2


def test_a_folder_elsewhere_is_one_project(folder: Path, tmp_path_factory: Any) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    for name in ("a/trace.jsonl", "b/trace.jsonl", "own/trace.jsonl"):
        write(elsewhere, name, REJECTED)
    write(elsewhere, "own/drive-trace.toml", "")
    check("--write-baseline", elsewhere)
    assert sorted(recorded(elsewhere / NAME)) == ["a/trace.jsonl", "b/trace.jsonl"]
    assert list(recorded(elsewhere / "own" / NAME)) == ["trace.jsonl"]
    assert check(elsewhere).code == check(elsewhere / "a").code == 0


@pytest.mark.parametrize(
    "arguments", [["--fix"], ["--diff"], ["--no-config"], ["-"], ["trace.jsonl", "-"]]
)
def test_what_it_does_not_go_with(arguments: list[str]) -> None:
    ran = check("--write-baseline", *arguments)
    assert ran.code == 2
    assert "--write-baseline does not go with " in ran.err
