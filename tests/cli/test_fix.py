"""The command line, from outside: fixing files."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.cli.support import CLEAN, REJECTED, WARNED, Ran, process, run, write
from tests.support.client_text import apart, graded, triage
from tests.support.command import COMMAND

COMMA = CLEAN.replace("}", ",}")
SPACED = CLEAN.replace(",", ", ")
DOUBLE = CLEAN.replace('"schema_version"', '"schema_version":"1","schema_version"')
VERSION = CLEAN.replace('"schema_version":"1"', '"schema_version":1')


def fix(*args: str | Path, stdin: str | bytes = b"") -> Ran:
    return run("check", "--output-format", "concise", "--fix", *args, stdin=stdin)


def test_safe_fixes_are_made_and_counted(tmp_path: Path) -> None:
    path = write(tmp_path, "trace.jsonl", apart(COMMA + SPACED + WARNED + DOUBLE).rstrip("\n"))
    ran = fix(path)
    assert path.read_text() == apart(CLEAN + CLEAN + WARNED + CLEAN)
    assert ran.code == 0
    assert ran.out.endswith(
        "4 findings were fixed; 1 more can be fixed in an editor, one at a time\n"
    )
    assert "duplicate-key" not in ran.out


def test_the_exit_code_is_about_what_is_left(tmp_path: Path) -> None:
    fixable = write(tmp_path, "a.jsonl", COMMA)
    assert run("check", fixable).code == 1
    assert fix(fixable).code == 0
    assert fix(write(tmp_path, "b.jsonl", COMMA + REJECTED)).code == 1
    assert fix("--fail-on", "warning", write(tmp_path, "c.jsonl", COMMA + WARNED)).code == 1


def test_suggestions_are_made_in_bulk_when_they_are_wanted(tmp_path: Path) -> None:
    """But for outcomes, and for what somebody wrote: those are for a person."""
    before = apart(VERSION + REJECTED + WARNED)
    path = write(tmp_path, "trace.jsonl", before)
    ran = fix("--unsafe-fixes", path)
    assert path.read_text() == before.replace('"schema_version":1', '"schema_version":"1"')
    assert ran.out.endswith(
        "1 finding was fixed; 2 more can be fixed in an editor, one at a time\n"
    )
    assert ran.code == 1


def test_it_is_told_how_many_fixes_can_be_made_on_request(tmp_path: Path) -> None:
    """But not after that: what is left then could not be made."""
    path = write(tmp_path, "trace.jsonl", apart(COMMA + VERSION + REJECTED))
    assert run("check", path).out.endswith(
        "\n[*] 1 fixable with --fix\nup to 1 fixable only with --fix --unsafe-fixes\n"
    )
    left = "; 2 more can be fixed in an editor, one at a time, or up to 1 of them with"
    left += " --unsafe-fixes\n"
    assert diff(path).err.endswith(left)
    ran = fix(path)
    assert ran.out.endswith(f"1 finding was fixed{left}")
    assert "fixable" not in ran.out
    assert "--unsafe-fixes" not in fix("--unsafe-fixes", path).out


def test_no_fact_is_made_up(tmp_path: Path) -> None:
    """A gap that would stay an error is left to a person, and what is missing beside it."""
    text = triage().replace('"input_shape":"chat-ask"', '"x":1').replace('"input_ref":null,', "")
    path = write(tmp_path, "trace.jsonl", text)
    ran = fix("--unsafe-fixes", path)
    assert ran.code == 1
    assert path.read_text() == text
    assert "error[missing-field]" in ran.out
    assert ran.out.endswith("; 1 more can be fixed in an editor, one at a time\n")


def test_what_no_fix_touches_stays_to_the_byte(tmp_path: Path) -> None:
    odd = [
        b"\xef\xbb\xbf" + b'{"a":\x00}\r',
        "{é\u2028😀\x85\r\r".encode(),
        b"\t\x0b",
        b"{'\xf4\x8f\xbf\xbf",
    ]
    lines = [
        CLEAN.strip().encode(),
        *odd,
        COMMA.strip().encode() + b"\r",
        REJECTED.strip().encode(),
    ]
    path = write(tmp_path, "trace.jsonl", b"\n".join(lines))
    fix("--config", write(tmp_path, "c.toml", '[rules]\ninvalid-json="error"\n'), path)
    fixed = path.read_bytes().split(b"\n")
    assert fixed[0] == lines[0]
    assert CLEAN.strip().encode() + b"\r" in fixed
    for line in odd[:1] + odd[1:2] + lines[-1:]:
        assert line in fixed


def test_nothing_to_fix_leaves_the_file_alone(tmp_path: Path) -> None:
    path = write(tmp_path, "trace.jsonl", CLEAN + REJECTED)
    before = path.stat()
    assert "0 findings were fixed" in fix(path).out
    after = path.stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_a_file_that_changes_meanwhile_is_left_and_reported_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from drive_trace.commands import fixes

    path, other = write(tmp_path, "a.jsonl", COMMA), write(tmp_path, "b.jsonl", COMMA)
    fixed = fixes.fix_all

    def slowly(*args: object, **kwargs: object) -> int:
        with path.open("a") as file:
            file.write(CLEAN)
        monkeypatch.setattr(fixes, "fix_all", fixed)
        return fixed(*args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(fixes, "fix_all", slowly)
    ran = fix(path, other)
    assert ran.code == 2
    assert ran.err == f"drive-trace: {path}: is not fixed: it changed in the meantime; try again\n"
    assert path.read_text() == COMMA + CLEAN
    assert other.read_text() == CLEAN
    assert "error[invalid-json]" in ran.out
    assert ran.out.endswith("1 finding was fixed\n")


BROKEN = triage(input_ref="caf\xe9").encode("latin-1")


def test_broken_bytes_stay_while_other_lines_are_fixed(tmp_path: Path) -> None:
    kept = BROKEN.replace(b",", b", ") + b"\xe2\x82"
    path = write(tmp_path, "trace.jsonl", COMMA.encode() + b"\n" + kept)
    ran = fix(path)
    assert path.read_bytes() == CLEAN.encode() + kept
    assert "not-compact" in ran.out
    assert "lines with bytes that are not UTF-8 stay as they are (2 findings)" in ran.out


def test_broken_bytes_stay_between_lines_that_are_fixed(tmp_path: Path) -> None:
    other = COMMA.replace("chat-ask", "bug-report")
    path = write(tmp_path, "trace.jsonl", COMMA.encode() + BROKEN + other.encode())
    fix(path)
    assert path.read_bytes() == CLEAN.encode() + BROKEN + other.replace(",}", "}").encode()


def test_broken_bytes_of_standard_input_stay() -> None:
    command = [COMMAND, "check", "--fix", "-"]
    ended = subprocess.run(command, input=COMMA.encode() + BROKEN, capture_output=True, check=False)
    assert ended.stdout == CLEAN.encode() + BROKEN


def test_a_diff_around_broken_bytes_applies(tmp_path: Path) -> None:
    kept = BROKEN.replace(b",", b", ")
    path = write(tmp_path, "trace.jsonl", COMMA.encode() + kept)
    diff = subprocess.run(
        [COMMAND, "check", "--diff", path.name], cwd=tmp_path, capture_output=True, check=False
    )
    assert b" " + kept in diff.stdout
    assert b"\xef\xbf\xbd" not in diff.stdout
    assert path.read_bytes() == COMMA.encode() + kept


def test_the_line_below_broken_bytes_may_go(tmp_path: Path) -> None:
    path = write(tmp_path, "trace.jsonl", b"\n" + BROKEN + b"\n" + BROKEN)
    fix(path)
    assert path.read_bytes() == BROKEN + BROKEN


# Standard input


def test_the_fixed_text_of_standard_input_goes_to_standard_output() -> None:
    for text in (COMMA + REJECTED, CLEAN, "", "no trace\r\n\x1b[31m é"):
        ran = process("check", "--fix", "-", stdin=text.encode())
        assert "1 trace" in ran.err
        assert ran.out == text.replace(COMMA, CLEAN)
    assert fix("-", stdin=REJECTED.encode()).code == 1


# Diffs


def diff(*args: str | Path, stdin: str | bytes = b"") -> Ran:
    return run("check", "--diff", *args, stdin=stdin)


def test_a_diff_changes_nothing(tmp_path: Path) -> None:
    before = apart(CLEAN + COMMA + REJECTED)
    path = write(tmp_path, "trace.jsonl", before)
    first, second, third = before.splitlines()
    ran = diff(path)
    assert path.read_text() == before
    assert ran.out.splitlines() == [
        f"--- {path}",
        f"+++ {path}",
        "@@ -1,3 +1,3 @@",
        f" {first}",
        f"-{second}",
        f"+{second.replace(',}', '}')}",
        f" {third}",
    ]
    assert ran.err == (
        "drive-trace: 1 finding would be fixed; 1 more can be fixed in an editor, one at a time\n"
    )
    assert ran.code == 1
    assert diff("--unsafe-fixes", write(tmp_path, "b.jsonl", VERSION)).code == 0


def test_a_diff_of_nothing(tmp_path: Path) -> None:
    assert diff(write(tmp_path, "trace.jsonl", REJECTED)).out == ""


@pytest.mark.skipif(not shutil.which("patch"), reason="no patch command here")
@pytest.mark.parametrize(
    "text",
    [
        CLEAN + COMMA,
        COMMA.rstrip("\n"),
        CLEAN.rstrip("\n"),
        COMMA + CLEAN * 20 + COMMA * 2 + CLEAN * 6 + COMMA + CLEAN * 7 + SPACED,
        CLEAN + "\n\n" + CLEAN,
        CLEAN.rstrip("\n") + CLEAN + CLEAN,
        (CLEAN + COMMA).replace("\n", "\r\n"),
        "\n" * 5,
        CLEAN * 3 + "\n",
        CLEAN * 3 + " ",
    ],
)
def test_a_diff_can_be_applied(text: str, tmp_path: Path) -> None:
    patched, fixed = (write(tmp_path, name, apart(text)) for name in ("a.jsonl", "b.jsonl"))
    made = process("check", "--diff", patched).out
    subprocess.run(
        ["patch", "--binary", "-s", str(patched)], input=made.encode(), check=True, timeout=30
    )
    fix(fixed)
    assert patched.read_bytes() == fixed.read_bytes()


def test_unsafe_fixes_alone_fix_nothing(tmp_path: Path) -> None:
    path = write(tmp_path, "trace.jsonl", REJECTED)
    ran = run("check", "--unsafe-fixes", path)
    assert ran.code == 2
    assert "--unsafe-fixes goes with --fix or --diff" in ran.err
    assert path.read_text() == REJECTED


@pytest.mark.parametrize(
    "broken",
    [
        graded("pass", "pass", "pass").replace("}", ",}"),
        graded("pass", "passed", "pass"),
        graded("pass", "PASS", True) + graded("pass", "pass", "pass").replace('"run-1"', "run-1"),
    ],
)
def test_no_fix_grades_a_run_correct(tmp_path: Path, broken: str) -> None:
    """That is for a person to say, in an editor; what else can be mended is."""
    path = write(tmp_path, "trace.jsonl", broken)
    assert fix("--unsafe-fixes", path).code == 1
    assert run("score", "--require-correct", path).code == 1
    assert "one at a time" in fix("--unsafe-fixes", path).out


def test_no_pass_is_carried_over_work_in_another_file(tmp_path: Path) -> None:
    erased = apart(graded("pass", "pass", "pass") + graded("pass", None, "pass"))
    path = write(tmp_path, "a.jsonl", erased)
    other = write(tmp_path, "b.jsonl", triage())
    run("check", "--fix", "--unsafe-fixes", path, other)
    assert '"qa":null' in path.read_text("utf-8")
