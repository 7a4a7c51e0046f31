"""The command line, from outside: what cannot be read, and any bytes that can."""

import errno
import gzip
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from drive_trace.storage.files import why, why_not_read
from tests.cli.support import CLEAN, REJECTED, findings, marked, run, shell, write
from tests.support.client_text import apply_columns, triage
from tests.support.systems import NO_FIFOS, NO_MODES, POSIX_SHELL, not_on_windows, skip_on_windows

# Bad input: a clear line, the rest is still done, and never a traceback


def locked(path: Path) -> Path:
    skip_on_windows(NO_MODES)
    path.chmod(0)
    if os.access(path, os.R_OK):
        pytest.skip("this user may read everything")
    return path


def folder_of(path: Path) -> Path:
    path.parent.mkdir(parents=True)
    return path.parent


def pipe(path: Path) -> Path:
    skip_on_windows(NO_FIFOS)
    os.mkfifo(path)
    return path


def dangling(folder: Path) -> Path:
    path = folder_of(folder / "trace.jsonl") / "trace.jsonl"
    path.symlink_to("nowhere")
    return folder


def pipe_in_a_folder(folder: Path) -> Path:
    pipe(folder_of(folder / "trace.jsonl") / "trace.jsonl")
    (folder_of(folder / "wip/drive-trace/x") / "x.jsonl").symlink_to("../../trace.jsonl")
    return folder


UNREADABLE: dict[str, tuple[Callable[[Path], Path], str]] = {
    "a locked file": (lambda at: locked(write(at, "locked.jsonl")), "permission denied"),
    "no file": (lambda at: at / "missing.jsonl", "no such file or folder"),
    "UTF-16": (
        lambda at: write(at, "utf16.jsonl", CLEAN.encode("utf-16")),
        "is UTF-16; save it as UTF-8",
    ),
    "UTF-16 without a mark": (
        lambda at: write(at, "unmarked.jsonl", CLEAN.encode("utf-16-be")),
        "looks like UTF-16; save it as UTF-8",
    ),
    "UTF-32": (
        lambda at: write(at, "utf32.jsonl", CLEAN.encode("utf-32")),
        "is UTF-32; save it as UTF-8",
    ),
    "packed": (
        lambda at: write(at, "trace.jsonl.gz", gzip.compress(CLEAN.encode())),
        "is packed by gzip; unpack it",
    ),
    "a folder in a trace's place": (
        lambda at: folder_of(at / "places/b/trace.jsonl/x").parent.parent,
        "is a folder, not a file",
    ),
    "a folder that is called as a trace": (
        lambda at: folder_of(at / "places/c/trace.jsonl/x").parent,
        "is a folder, not a file",
    ),
    "a folder in wip": (
        lambda at: folder_of(at / "slices/wip/drive-trace/x.jsonl/x").parents[2],
        "is a folder, not a file",
    ),
    "a pipe": (lambda at: pipe(at / "pipe.jsonl"), "it is a pipe or a device, not a file"),
    "a dangling link": (lambda at: dangling(at / "dangling"), "no such file or folder"),
    "below a file": (lambda at: write(at, "file.jsonl") / "trace.jsonl", ""),
    "a long name": (lambda at: at / ("a" * 300), "File name too long"),
    "in a locked folder": (
        lambda at: locked(write(at, "locked/trace.jsonl").parent) / "trace.jsonl",
        "permission denied",
    ),
    "a locked folder": (
        lambda at: locked(write(at, "locked/trace.jsonl").parent),
        "cannot be searched: permission denied",
    ),
    "a pipe in a folder": (
        lambda at: pipe_in_a_folder(at / "pipes"),
        "it is a pipe or a device, not a file",
    ),
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_what_cannot_be_read_is_told_and_the_rest_is_done(name: str, tmp_path: Path) -> None:
    make, why = UNREADABLE[name]
    path = make(tmp_path)
    good = write(tmp_path, "good.jsonl", REJECTED)
    for arguments in (["check", path, good], ["check", good, path], ["score", path, good]):
        ran = run(*arguments)
        assert ran.code == 2
        assert ran.err.count("\n") == 1
        assert ran.err.startswith(f"drive-trace: {path}")
        assert why in ran.err
    checked = run("check", "--output-format", "json", path, good).json
    (unread,) = [finding for finding in checked if finding["code"] == "unreadable-file"]
    assert unread["path"] != str(good)
    assert why in unread["message"]
    assert (unread["severity"], unread["line"], unread["column"]) == ("error", 1, 1)
    assert {each["path"] for each in checked if each != unread} == {str(good)}
    scored = run("score", "--format", "json", path, good).json
    assert [trace["path"] for trace in scored["files"]] == [str(good)]
    assert scored["complete"] is False
    assert [each["path"] for each in scored["unread"]] == [unread["path"]]
    assert why in scored["unread"][0]["reason"]
    assert run("check", "--fail-on", "never", path).code == 2


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("os.scandir", "cannot be searched: Input/output error"),
        ("drive_trace.storage.files.open_regular", "Input/output error"),
    ],
)
def test_a_disk_that_fails_is_no_output_that_fails(
    name: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    if name.endswith("open_regular"):
        write(folder, "trace.jsonl")

    def fail(*_: object, **__: object) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(name, fail)
    ran = run("check", folder, "-", stdin=REJECTED)
    assert ran.code == 2
    assert ran.err.startswith(f"drive-trace: {folder}")
    assert ran.err.endswith(f"{said}\n")
    assert ran.err.count("\n") == 1
    assert "unknown-value" in ran.out


@not_on_windows(POSIX_SHELL)
def test_the_current_folder_may_be_gone(tmp_path: Path) -> None:
    path = write(tmp_path, "trace.jsonl", REJECTED)
    gone = tmp_path / "gone"
    gone.mkdir()
    ran = shell('rmdir "$1"; exec "$0" check x "$2"', gone, path, cwd=gone)
    assert (ran.code, ran.err) == (2, "drive-trace: x: no such file or folder\n")
    assert "unknown-value" in ran.out


@pytest.mark.parametrize("command", ["check", "score", "report"])
def test_a_file_without_text_is_told_where_somebody_names_it(command: str, tmp_path: Path) -> None:
    empty, binary = write(tmp_path, "trace.jsonl", b""), write(tmp_path, "b.jsonl", b"\1\0\2\n")
    ran = run(command, empty)
    assert (ran.code, ran.err) == (0, f"drive-trace: {empty}: holds no lines\n")
    empty.write_text("\ufeff", "utf-8")
    assert run(command, empty).err == ran.err, "a mark of UTF-8 alone cannot be seen"
    assert run(command, binary).err == f"drive-trace: {binary}: is binary: it has NUL\n"
    assert run(command, binary).code == (1 if command == "check" else 2)
    # A search finds many, and standard input often holds nothing.
    assert run(command, "--exclude", "b.jsonl", tmp_path).err == ""
    assert run(command, "-", stdin="").err == ""


def test_want_of_a_permission_is_told_alike() -> None:
    for words in ("Permission denied", "Operation not permitted", "Access is denied"):
        denied = PermissionError(errno.EACCES, words)
        assert why(denied) == why_not_read(denied) == "permission denied"


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
    "brackets": b"[" * 100_000,
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
    "carriage-return-file": {"duplicate-event-id", "not-compact"},
    "byte-order-mark": {"byte-order-mark"},
    "only-a-byte-order-mark": set(),
    "long-line": set(),
    "nested-valid": {"undeclared-field"},
    "nested-objects": {"undeclared-field"},
    "brackets": {"invalid-json"},
    "braces": {"invalid-json"},
}


@pytest.mark.parametrize("name", MONSTERS)
def test_any_bytes_are_checked_and_scored(name: str) -> None:
    data = MONSTERS[name]
    for command in ("check", "score"):
        ran = run(command, "-", stdin=data)
        assert ran.code in ((0, 1) if command == "check" else (0, 2))
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


def test_what_is_said_of_a_long_line_is_short() -> None:
    for name in ("long-broken-line", "many-keys", "many-quotes", "long-number"):
        lines = run("check", "-", stdin=MONSTERS[name]).out.splitlines()
        assert len(lines) < 100
        assert max(map(len, lines)) < 400
