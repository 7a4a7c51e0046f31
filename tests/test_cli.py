r"""The command line, from outside: what is printed, what it exits with, and what it never does."""

from __future__ import annotations

import json
import os
import pty
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from click.testing import CliRunner

from drive_trace.commands import cli
from tests.support.client_text import (
    apply_columns,
    column_offset,
    event,
    graded,
    path_of,
    tokens,
    triage,
)
from tests.support.command import COMMAND

if TYPE_CHECKING:
    from collections.abc import Sequence

CLEAN = triage()
REJECTED = graded("pass", "passed", None)
WARNED = triage(severity="low")
HOSTILE = "\u2028\u2029\x85 🚀 日本 \xa0\ufeff e\u0301"


class Ran(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def run(*args: str | Path, stdin: str | bytes = b"") -> Ran:
    """Run a command in this process, as fast as it gets."""
    result = CliRunner().invoke(cli, [str(arg) for arg in args], input=stdin)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return Ran(result.exit_code, result.stdout, result.stderr)


def process(*args: str | Path, stdin: bytes = b"", **popen: Any) -> Ran:
    """Run a command as a process."""
    command = [COMMAND, *map(str, args)]
    ended = subprocess.run(
        command, input=stdin, capture_output=True, timeout=30, check=False, **popen
    )
    return Ran(ended.returncode, ended.stdout.decode(), ended.stderr.decode())


def on_a_terminal(*args: str | Path, **env: str) -> str:
    """What a command writes to a terminal."""
    ours, theirs = pty.openpty()
    try:
        with subprocess.Popen(
            [COMMAND, *map(str, args)],
            stdin=subprocess.DEVNULL,
            stdout=theirs,
            stderr=theirs,
            env={**os.environ, "TERM": "xterm-256color", **env},
        ) as running:
            os.close(theirs)
            data = b""
            while chunk := _read(ours):
                data += chunk
            running.wait(30)
    finally:
        os.close(ours)
    return data.decode()


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 1 << 16)
    except OSError:  # how Linux says that the other side is closed
        return b""


def findings(text: str | bytes) -> list[Any]:
    """The findings of a trace, as programs get them."""
    data = text.encode() if isinstance(text, str) else text
    found = run("check", "--output-format", "json", "-", stdin=data).json
    assert isinstance(found, list)
    return found


def one(found: list[Any], code: str) -> Any:
    (only,) = [finding for finding in found if finding["code"] == code]
    return only


def marked(text: str, finding: Any) -> str:
    """The text that a finding stands on."""
    start = column_offset(text, finding["line"], finding["column"])
    return text[start : column_offset(text, finding["end_line"], finding["end_column"])]


def write(folder: Path, name: str, text: str | bytes = CLEAN) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


# Exit codes


@pytest.mark.parametrize(
    ("text", "fail_on", "code"),
    [
        (CLEAN, None, 0),
        ("", None, 0),
        (REJECTED, None, 1),
        (WARNED, None, 0),
        (REJECTED, "error", 1),
        (WARNED, "error", 0),
        (WARNED, "warning", 1),
        (WARNED, "information", 1),
        (REJECTED, "never", 0),
        (WARNED, "never", 0),
        (CLEAN, "information", 0),
    ],
)
def test_check_fails_on_what_it_was_told_to(text: str, fail_on: str | None, code: int) -> None:
    options = [] if fail_on is None else ["--fail-on", fail_on]
    for output_format in ("full", "concise", "json"):
        ran = run("check", "--output-format", output_format, *options, "-", stdin=text)
        assert ran.code == code
        assert ran.err == ""


@pytest.mark.parametrize(
    "arguments",
    [
        ["check", "--fail-on", "typos"],
        ["check", "--output-format", "xml"],
        ["check", "--nope"],
        ["score", "--format", "xml"],
        ["serve", "--tcp", "99999"],
        ["serve", "--tcp", "port"],
        ["chekc"],
        [],
    ],
)
def test_usage_errors(arguments: list[str]) -> None:
    ran = run(*arguments)
    assert ran.code == 2
    assert ran.err.startswith("Usage: ")
    assert "Traceback" not in ran.err


@pytest.mark.parametrize("command", [[], ["check"], ["score"], ["serve"]])
def test_help_has_examples(command: list[str]) -> None:
    for option in ("--help", "-h"):
        ran = run(*command, option)
        assert (ran.code, ran.err) == (0, "")
        _, _, examples = ran.out.partition("Examples:\n")
        first = examples.splitlines()[0].strip()
        assert first.startswith(f"drive-trace {' '.join(command)}".strip())


def test_processes(tmp_path: Path) -> None:
    """The installed command itself, once a code."""
    clean, bad = write(tmp_path, "clean.jsonl"), write(tmp_path, "bad.jsonl", REJECTED)
    assert process("check", clean) == (0, "no findings in 1 trace\n", "")
    assert process("check", "-", stdin=REJECTED.encode()).code == 1
    assert process("check", tmp_path / "missing", bad).code == 2
    assert process("score", "--require-correct", clean).code == 1
    assert process("--version").out.startswith("drive-trace, version ")


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
    page = path_of(url)
    assert page.read_text(encoding="utf-8").startswith("# unknown-value")


def test_json_of_nothing_and_of_several_traces(tmp_path: Path) -> None:
    assert findings("") == findings(CLEAN) == []
    paths = [write(tmp_path, name, REJECTED) for name in ("b.jsonl", "a.jsonl")]
    found = run("check", "--output-format", "json", *paths).json
    assert [finding["path"] for finding in found] == [str(path) for path in paths]


def test_severities_have_their_names() -> None:
    text = graded("pass", None, None) + graded(None, "pass", "pass") + CLEAN + REJECTED
    severities = {finding["code"]: finding["severity"] for finding in findings(text)}
    assert severities == {
        "superseded-feed": "hint",
        "erased-verdict": "warning",
        "unknown-value": "error",
    }


def test_every_finding_is_printed() -> None:
    assert len(findings(REJECTED * 1500)) == 1500


# Columns are code points, lines end at a newline only, and fixes applied by them are right


def text_of(ref: str = "", end: str = "\n", **payload: Any) -> str:
    """A line before, then a line with `ref` before what is wrong with it."""
    return (triage(input_ref=ref) + triage(input_ref=ref, **payload)).replace("\n", end)


@pytest.mark.parametrize("end", ["\n", "\r\n", " \r \n"])
@pytest.mark.parametrize("ref", ["", HOSTILE], ids=["ascii", "hostile"])
class TestColumns:
    def test_a_value(self, ref: str, end: str) -> None:
        text = text_of(ref, end, verdict="direct-chance")
        finding = one(findings(text), "unknown-value")
        assert (finding["line"], marked(text, finding)) == (2, '"direct-chance"')
        (fix,) = finding["fixes"]
        assert apply_columns(text, fix["edits"]) == text.replace(
            '"direct-chance"', '"direct-change"'
        )

    def test_a_key(self, ref: str, end: str) -> None:
        text = text_of(ref, end, severity=ref)
        finding = one(findings(text), "undeclared-field")
        assert marked(text, finding) == '"severity"'
        (fix,) = finding["fixes"]
        fixed = apply_columns(text, fix["edits"])
        assert fixed == text_of(ref, end)
        assert findings(fixed) == []

    def test_a_missing_field(self, ref: str, end: str) -> None:
        head, tail = text_of(ref, end).rsplit(',"input_shape":"chat-ask"', 1)
        finding = one(findings(head + tail), "missing-field")
        assert marked(head + tail, finding) in ("", "}")
        (fix,) = finding["fixes"]
        fixed = apply_columns(head + tail, fix["edits"])
        assert fixed == f'{head},"input_shape":""{tail}'

    def test_a_safe_repair(self, ref: str, end: str) -> None:
        text = text_of(ref, end)
        broken = text[: text.rindex("}")] + ",}" + text[text.rindex("}") + 1 :]
        finding = one(findings(broken), "invalid-json")
        assert marked(broken, finding) == ","
        (fix,) = finding["fixes"]
        assert fix["safe"]
        assert apply_columns(broken, fix["edits"]) == text

    def test_a_dead_key(self, ref: str, end: str) -> None:
        text = text_of(ref, end)
        head, tail = text.rsplit('"verdict"', 1)
        twice = f'{head}"verdict":"{ref}","verdict"{tail}'
        (finding,) = findings(twice)
        assert (finding["code"], marked(twice, finding)) == ("duplicate-key", '"verdict"')
        (fix,) = finding["fixes"]
        assert apply_columns(twice, fix["edits"]) == text


@pytest.mark.parametrize("end", ["", " ", "\t", "\r"])
def test_a_missing_newline_is_added_behind_everything(end: str) -> None:
    text = triage(input_ref=HOSTILE)[:-1] + end
    finding = one(findings(text), "missing-final-newline")
    (fix,) = finding["fixes"]
    assert fix["safe"]
    fixed = apply_columns(text, fix["edits"])
    assert fixed.endswith("\n")
    assert fixed.replace("\n", "") == text
    assert findings(fixed) == []


def test_separators_of_other_programs_end_no_line() -> None:
    """What `str.splitlines` splits at stays inside a record, so line numbers are the file's."""
    blank = "\x0b\x0c\u2028\u2029\xa0\r\n"
    odd = "\x1c\x1d\x1e\x85\n"
    text = blank + odd + triage(input_ref=HOSTILE) + REJECTED
    assert [(each["code"], each["line"]) for each in findings(text)] == [
        ("invalid-json", 2),
        ("unknown-value", 4),
    ]


# Paths


def test_folders_are_searched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [
        "projects/a/slices/one/trace.jsonl",
        "projects/a/trace.jsonl",
        "projects/b/trace.jsonl",
        "trace.jsonl",
        "wip/drive-trace/direct-2026-05-28T14:00:00Z.jsonl",
        "wip/drive-trace/orphan-x.jsonl",
    ]
    for name in names:
        write(tmp_path, name, REJECTED)
    for other in (
        "wip/other.jsonl",
        "drive-trace/x.jsonl",
        "projects/a/notes.jsonl",
        "projects/a/trace.json",
        "wip/drive-trace/deep/x.jsonl",
        "node_modules/p/trace.jsonl",
        ".git/trace.jsonl",
    ):
        write(tmp_path, other, REJECTED)

    def found(*paths: str | Path) -> list[str]:
        ran = run("check", "--output-format", "json", *paths)
        return [finding["path"] for finding in ran.json]

    assert sorted(found(tmp_path)) == [str(tmp_path / name) for name in names]
    assert found(tmp_path) == found(tmp_path)
    assert found(tmp_path / "wip") == [str(tmp_path / name) for name in names[-2:]]
    # No path is the current folder, and names are then as short as they can be.
    monkeypatch.chdir(tmp_path)
    assert sorted(found()) == names
    assert sorted(found(".")) == names
    # Each once, also when it is given twice, as another spelling or behind a link.
    Path("link.jsonl").symlink_to("trace.jsonl")
    once = found("trace.jsonl", "./trace.jsonl", "link.jsonl", "projects/../trace.jsonl")
    assert once == ["trace.jsonl"]
    assert sorted(found("trace.jsonl", ".")) == names
    assert found("projects/b", "projects/a/trace.jsonl", "projects/a") == [
        "projects/b/trace.jsonl",
        "projects/a/trace.jsonl",
        "projects/a/slices/one/trace.jsonl",
    ]


def test_traces_of_a_folder_come_in_a_steady_order(tmp_path: Path) -> None:
    names = ["a/trace.jsonl", "b/c/trace.jsonl", "b/trace.jsonl", "trace.jsonl"]
    for name in reversed(names):
        write(tmp_path, name, REJECTED)
    ran = run("check", "--output-format", "json", tmp_path)
    paths = [finding["path"] for finding in ran.json]
    assert len(paths) == len(set(paths)) == len(names)
    assert [
        files["path"] for files in run("score", "--format", "json", tmp_path).json["files"]
    ] == (paths)


def test_a_file_given_by_name_may_have_any_name(tmp_path: Path) -> None:
    path = write(tmp_path, "any name 🚀.log", REJECTED)
    assert [each["path"] for each in run("check", "--output-format", "json", path).json] == [
        str(path)
    ]


# Bad input: a clear line, the rest is still done, and never a traceback


def unreadable(tmp_path: Path) -> tuple[Path, str]:
    path = write(tmp_path, "locked.jsonl")
    path.chmod(0)
    if os.access(path, os.R_OK):
        pytest.skip("this user may read everything")
    return path, "permission denied"


def missing(tmp_path: Path) -> tuple[Path, str]:
    return tmp_path / "missing.jsonl", "no such file or folder"


def empty_folder(tmp_path: Path) -> tuple[Path, str]:
    (tmp_path / "empty").mkdir()
    return tmp_path / "empty", "holds no trace"


def latin1(tmp_path: Path) -> tuple[Path, str]:
    data = (CLEAN * 2).encode() + '{"a":"caf\xe9"}\n'.encode("latin-1")
    return write(tmp_path, "latin1.jsonl", data), "is not UTF-8 (byte 0xe9 in line 3)"


def utf16(tmp_path: Path) -> tuple[Path, str]:
    return write(tmp_path, "utf16.jsonl", CLEAN.encode("utf-16")), "is not UTF-8"


def surrogate(tmp_path: Path) -> tuple[Path, str]:
    return write(tmp_path, "cesu.jsonl", b'\n{"a":"\xed\xa0\x80"}\n'), "in line 2"


def dangling(tmp_path: Path) -> tuple[Path, str]:
    path = tmp_path / "dangling" / "trace.jsonl"
    path.parent.mkdir()
    path.symlink_to("nowhere")
    return path.parent, "no such file or folder"


def under_a_file(tmp_path: Path) -> tuple[Path, str]:
    return write(tmp_path, "file.jsonl") / "trace.jsonl", ""


UNREADABLE = [
    unreadable,
    missing,
    empty_folder,
    latin1,
    utf16,
    surrogate,
    dangling,
    under_a_file,
]


@pytest.mark.parametrize("make", UNREADABLE)
def test_what_cannot_be_read_is_told_and_the_rest_is_done(make: Any, tmp_path: Path) -> None:
    path, why = make(tmp_path)
    good = write(tmp_path, "good.jsonl", REJECTED)
    for arguments in (["check", path, good], ["check", good, path], ["score", path, good]):
        ran = run(*arguments)
        assert ran.code == 2
        assert ran.err.count("\n") == 1
        assert ran.err.startswith(f"drive-trace: {path}")
        assert why in ran.err
    checked = run("check", "--output-format", "json", path, good)
    assert [finding["path"] for finding in checked.json] == [str(good)]
    scored = run("score", "--format", "json", path, good).json
    assert [trace["path"] for trace in scored["files"]] == [str(good)]
    assert run("check", "--fail-on", "never", path).code == 2


def test_names_cannot_speak_to_the_terminal(tmp_path: Path) -> None:
    name = "a\nb\x1b[31m\x07\u202e.jsonl"
    for path in (tmp_path / name, write(tmp_path, f"real{name}", REJECTED)):
        for arguments in (["check"], ["check", "--output-format", "concise"], ["score"]):
            ran = run(*arguments, path)
            assert (ran.out + ran.err).replace("\n", "").isprintable()
            assert "<U+001B>" in ran.out + ran.err


MONSTERS = {
    "nul": b"\0\0\0\n" + CLEAN.encode() + b'{"a\0b":1}\n',
    "garbage": bytes(range(128)) * 20,
    "carriage-returns": b"\r\r\r\r",
    "carriage-return-file": CLEAN.replace(",", ",\r").encode() * 3,
    "byte-order-mark": b"\xef\xbb\xbf" + CLEAN.encode(),
    "only-a-byte-order-mark": b"\xef\xbb\xbf",
    "long-line": triage(input_ref="x" * 3_000_000).encode(),
    "long-broken-line": b'{"a":"' + b"x" * 300_000,
    "many-commas": b"{" + b"," * 3_000,
    "many-quotes": b'"' * 20_001,
    "many-keys": b"{" + b",".join(b'"k%d":%d' % (each, each) for each in range(5000)) + b"}\n",
    "nested-valid": triage(deep=0).replace(":0}", ":" + "[" * 5000 + "]" * 5000 + "}").encode(),
    "nested-objects": triage(deep=0)
    .replace(":0}", ":" + '{"a":' * 5000 + "1" + "}" * 5001)
    .encode(),
    "brackets": b"[" * 5_000,
    "braces": b'{"a":' * 5_000,
    "long-number": b"9" * 10_000
    + b"\n"
    + triage(n=0).replace(":0}", ":" + "9" * 10_000 + "}").encode(),
    "long-exponent": b"1e" + b"9" * 10_000,
    "lone-surrogates": b'{"\\ud800":"\\udfff","event_type":"\\ud800"}\n',
}


CODES = {
    "nul": {"invalid-json"},
    "carriage-returns": set(),
    "carriage-return-file": set(),
    "byte-order-mark": {"invalid-json"},
    "only-a-byte-order-mark": set(),
    "long-line": set(),
    "nested-valid": {"undeclared-field"},
    "nested-objects": {"undeclared-field"},
    "brackets": {"invalid-json", "missing-final-newline"},
    "braces": {"invalid-json", "missing-final-newline"},
}


@pytest.mark.parametrize("name", MONSTERS)
def test_any_bytes_are_checked_and_scored(name: str) -> None:
    data = MONSTERS[name]
    for command in ("check", "score"):
        ran = run(command, "-", stdin=data)
        assert ran.code in (0, 1)
        assert ran.err == ""
        assert ran.out.replace("\n", "").isprintable()
    assert run("score", "--format", "json", "-", stdin=data).json["files"]
    text, found = data.decode(), findings(data)
    codes = {finding["code"] for finding in found}
    assert codes == CODES.get(name, codes)
    for finding in found:
        assert finding["message"].isprintable()
        marked(text, finding)
        for fix in finding["fixes"]:
            apply_columns(text, fix["edits"])


def test_a_hundred_thousand_brackets() -> None:
    data = b"[" * 100_000
    assert findings(data)[0]["code"] == "invalid-json"
    assert run("score", "--format", "json", "-", stdin=data).json["files"][0]["rejected_lines"] == [
        1
    ]


def test_what_is_said_of_a_long_line_is_short() -> None:
    for name in ("long-broken-line", "many-keys", "many-quotes", "long-number"):
        lines = run("check", "-", stdin=MONSTERS[name]).out.splitlines()
        assert len(lines) < 100
        assert max(map(len, lines)) < 400


# Pipes and terminals


@pytest.mark.parametrize(
    "arguments",
    [
        ["check", "--output-format", "concise"],
        ["score", "--format", "json"],
    ],
)
def test_a_reader_that_has_enough_is_no_error(arguments: list[str], tmp_path: Path) -> None:
    runs = "".join(
        REJECTED.replace("run-1", f"run-{each}") + triage(run=f"run-{each}") for each in range(600)
    )
    path = write(tmp_path, "trace.jsonl", runs)
    with subprocess.Popen(
        [COMMAND, *arguments, str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        assert running.stdout.readline()
        running.stdout.close()
        assert running.stderr.read() == b""
        assert running.wait(30) == 0


def test_a_reader_that_never_reads_is_no_error() -> None:
    for arguments in (["--help"], ["check", "-"]):
        with subprocess.Popen(
            [COMMAND, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as running:
            assert running.stdout is not None
            running.stdout.close()
            running.stdout = None
            assert running.communicate(b"", timeout=30) == (None, b"")
            assert running.returncode == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_output_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    path = write(tmp_path, "trace.jsonl", REJECTED)
    with Path("/dev/full").open("wb") as full:
        for command in ("check", "score"):
            ended = subprocess.run(
                [COMMAND, command, path],
                stdout=full,
                stderr=subprocess.PIPE,
                timeout=30,
                check=False,
            )
            assert ended.returncode == 2
            assert (
                ended.stderr == b"drive-trace: cannot write the output: No space left on device\n"
            )


@pytest.mark.parametrize(
    ("redirection", "code", "said"),
    [
        ("check trace.jsonl >&-", 1, ""),
        ("check missing.jsonl 2>&-", 2, ""),
        ("check - <&-", 2, "drive-trace: -: standard input is closed\n"),
        ("serve <&-", 1, ""),
    ],
)
def test_closed_streams(redirection: str, code: int, said: str, tmp_path: Path) -> None:
    write(tmp_path, "trace.jsonl", REJECTED)
    ended = subprocess.run(
        ["/bin/sh", "-c", f'"$0" {redirection}', COMMAND],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=30,
        check=False,
    )
    assert (ended.returncode, ended.stdout.decode()) == (code, said)


def test_colour_is_for_terminals(tmp_path: Path) -> None:
    path = write(tmp_path, "trace.jsonl", REJECTED)
    assert "\x1b[" in on_a_terminal("check", path)
    assert "\x1b[" not in on_a_terminal("check", path, NO_COLOR="1")
    assert "\x1b[" not in process("check", path, env={**os.environ, "TERM": "xterm-256color"}).out


def test_a_trace_cannot_speak_to_the_terminal(tmp_path: Path) -> None:
    evil = "\x1b]0;pwned\x07\x1b[2J\x9b31m\r\u202e\u200b\n# CORRECT"
    text = (
        triage(run=evil, input_ref=evil)
        + graded("pass", evil, None, project_run_id=evil)
        + event(evil, evil)
        + triage(**{evil: evil})
        + f'{{"{evil}\n'
    )
    path = write(tmp_path, "trace.jsonl", text)
    for command in ("check", "score"):
        shown = on_a_terminal(command, path, NO_COLOR="1").replace("\r\n", "")
        assert shown.isprintable()
        assert "<U+001B>" in shown
    assert run("check", "--output-format", "concise", path).out.replace("\n", "").isprintable()
    assert "\x1b" not in run("score", "--format", "markdown", path).out
    assert [each["run_id"] for each in run("score", "--format", "json", path).json["runs"]] == [
        evil,
        "run-1",
    ]


# Scores


def score(*paths: Path, **options: str) -> Any:
    return run("score", "--format", "json", *paths).json


def test_a_score_in_json(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        "trace.jsonl",
        event("project-started", project_slug="x", origin="promote", has_linear_project=False)
        + tokens(1_900_000, 42_000, None, 0)
        + graded("pass", "pass", "pass")
        + graded("pass", "passed", "pass")
        + triage(run="other")
        + event("made-up", "other")
        + "{\n",
    )
    assert score(path) == {
        "runs": [
            {
                "run_id": "run-1",
                "verdict": "correct",
                "missing_inputs": [],
                "correctness": {"mechanical": "pass", "qa": "pass", "intent": "pass"},
                "tokens": {
                    "input_tokens": 1_900_000,
                    "output_tokens": 42_000,
                    "cache_read_tokens": None,
                    "cache_write_tokens": 0,
                },
                "efficiency": {
                    "tokens": {
                        "input_tokens": 1_900_000,
                        "output_tokens": 42_000,
                        "cache_read_tokens": None,
                        "cache_write_tokens": 0,
                    },
                    "wall_clock_ms": None,
                    "rounds_per_dispatch": None,
                },
                "decided_by": {"path": str(path), "line": 3},
                "rejected_lines": [4],
                "files": [{"path": str(path), "first_line": 1, "events": 3, "rejected_lines": [4]}],
            },
            {
                "run_id": "other",
                "verdict": "not-computable",
                "missing_inputs": ["external correctness signal"],
                "correctness": None,
                "tokens": None,
                "efficiency": None,
                "decided_by": None,
                "rejected_lines": [],
                "files": [{"path": str(path), "first_line": 5, "events": 1, "rejected_lines": []}],
            },
        ],
        "correct_run_ids": ["run-1"],
        "correct_tokens": {
            "input_tokens": 1_900_000,
            "output_tokens": 42_000,
            "cache_read_tokens": None,
            "cache_write_tokens": 0,
        },
        "has_any_correctness_signal": True,
        "efficiency": {
            "tokens": {
                "input_tokens": 1_900_000,
                "output_tokens": 42_000,
                "cache_read_tokens": None,
                "cache_write_tokens": 0,
            },
            "wall_clock_ms": None,
            "rounds_per_dispatch": None,
        },
        "efficiency_hidden": None,
        "files": [{"path": str(path), "rejected_lines": [7], "unknown_lines": [6]}],
    }


@pytest.mark.parametrize(
    ("triple", "verdict", "missing", "headline"),
    [
        (("pass", "pass", "pass"), "correct", [], "CORRECT"),
        (("pass", "fail", "fail"), "incorrect", [], "INCORRECT — qa, intent failed"),
        (("fail", None, "pass"), "not-computable", ["qa"], "not computable — missing: qa"),
    ],
)
def test_verdicts(
    triple: Sequence[str | None], verdict: str, missing: list[str], headline: str, tmp_path: Path
) -> None:
    path = write(tmp_path, "trace.jsonl", tokens(12_345, None, None, None) + graded(*triple))
    (only,) = score(path)["runs"]
    assert (only["verdict"], only["missing_inputs"]) == (verdict, missing)
    for output_format in ("text", "markdown"):
        shown = run("score", "--format", output_format, path).out
        assert headline in shown
        assert ("12,345" in shown) == (verdict == "correct")
    assert only["tokens"]["input_tokens"] == 12_345
    assert (only["efficiency"] is None) == (verdict != "correct")


def test_no_trace_scores_nothing() -> None:
    ran = run("score", "-", stdin="")
    assert (ran.code, ran.err) == (0, "")
    assert run("score", "--format", "json", "-", stdin="").json["runs"] == []


def test_a_run_is_joined_from_several_files(tmp_path: Path) -> None:
    early, late = "2026-05-28T14:00:00.000Z", "2026-05-29T14:00:00.000Z"
    first = write(
        tmp_path,
        "first.jsonl",
        graded("pass", "pass", "pass", ts=late) + tokens(1, 1, 1, 1, ts=early),
    )
    second = write(
        tmp_path,
        "second.jsonl",
        triage(run="run-2")
        + graded("fail", "fail", "fail", ts=early)
        + tokens(2, 2, 2, 2, ts=early),
    )
    for paths in ((first, second), (second, first)):
        joined = {each["run_id"]: each for each in score(*paths)["runs"]}["run-1"]
        assert joined["verdict"] == "correct"  # the later verdict, wherever it stands
        assert joined["decided_by"] == {"path": str(first), "line": 1}
        assert [each["path"] for each in joined["files"]] == [str(path) for path in paths]
        # On a tie the later path.
        assert joined["tokens"]["input_tokens"] == (2 if paths[1] == second else 1)
    shown = run("score", first, second).out
    assert f"  in {first}\n  in {second}\n" in shown
    # Within a file the last event counts, whatever its time.
    path = write(
        tmp_path,
        "one.jsonl",
        graded("pass", "pass", "pass", ts=late) + graded("fail", "pass", "pass", ts=early),
    )
    assert score(path)["runs"][0]["verdict"] == "incorrect"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (graded("pass", "pass", "pass"), 0),
        (graded("pass", "pass", "pass") + triage(run="ungraded"), 1),
        (graded("pass", "fail", "pass"), 1),
        (graded("pass", None, "pass"), 1),
        (CLEAN, 1),
        ("", 1),
    ],
)
def test_require_correct(text: str, code: int) -> None:
    for output_format in ("text", "markdown", "json"):
        arguments = ["score", "--format", output_format, "-"]
        assert run(*arguments, stdin=text).code == 0
        assert run(*arguments, "--require-correct", stdin=text).code == code


def test_require_correct_does_not_hide_what_cannot_be_read(tmp_path: Path) -> None:
    good = write(tmp_path, "good.jsonl", graded("pass", "pass", "pass"))
    assert run("score", "--require-correct", good, tmp_path / "missing").code == 2


def test_rejected_lines_are_never_silent() -> None:
    text = graded("pass", "pass", "pass") + graded("pass", "failed", "pass")
    for output_format in ("text", "markdown"):
        shown = run("score", "--format", output_format, "-", stdin=text).out
        assert "CORRECT" in shown
        assert "1 correctness line rejected (line 2), not counted" in shown
