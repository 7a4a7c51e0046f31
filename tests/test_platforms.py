"""What differs between systems: line ends, code pages, paths and URIs. All of it runs on each."""

import json
import ntpath
import os
import subprocess
import sys
from pathlib import Path, PureWindowsPath
from types import SimpleNamespace

import pytest

from drive_trace.commands.terminal import _encoding
from drive_trace.lsp.rpc import capabilities
from drive_trace.lsp.rpc.capabilities import path_of
from tests.support.client_text import graded, triage
from tests.support.command import COMMAND

ROOT = Path(__file__).parent.parent
TRACE = (graded("pass", "pass", "pass") + triage(severity="low")).replace("\n", "\r\n")


def output_of(*arguments: str | Path, encoding: str, stdin: bytes = b"") -> bytes:
    """What a command writes to a pipe where that has a code page."""
    environment = {**os.environ, "PYTHONIOENCODING": encoding}
    command = [COMMAND, *map(str, arguments)]
    ended = subprocess.run(command, input=stdin, capture_output=True, check=False, env=environment)
    assert b"Traceback" not in ended.stderr
    assert ended.returncode in {0, 1}, ended.stderr
    return ended.stdout


# Consoles


COMMANDS = [
    ["--help"],
    ["check", "examples"],
    ["check", "--output-format", "json", "examples"],
    ["check", "--output-format", "sarif", "examples"],
    ["check", "--diff", "examples"],
    ["score", "examples"],
    ["score", "--output-format", "markdown", "examples"],
    ["report", "examples"],
    ["report", "--output-format", "html", "examples"],
    [
        *("compare", "--allow-unverified", "--baseline", "examples/projects/checkout-retry"),
        *("--candidate", "examples/projects/search-index"),
    ],
    ["explain", "stale-verdict"],
    ["schema"],
]


@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
@pytest.mark.parametrize("code_page", ["cp1252", "cp437"])
def test_every_command_can_write_to_a_small_code_page(code_page: str, arguments: list[str]) -> None:
    data = output_of(*arguments, encoding=code_page)
    written = data.decode("utf-8" if "html" in arguments else code_page)  # a page says that it is
    assert written
    if "json" in arguments:
        assert json.loads(written)


def test_windows_writes_utf8_into_files_and_pipes_unless_told_otherwise(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stream = SimpleNamespace(encoding="cp1252")
    monkeypatch.delenv("PYTHONIOENCODING", raising=False)
    assert [_encoding(stream, each) for each in ("win32", "linux")] == ["utf-8", "cp1252"]
    monkeypatch.setenv("PYTHONIOENCODING", "cp1252")
    assert _encoding(stream, "win32") == "cp1252"


@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_output_ends_its_lines_alike_on_every_system(arguments: list[str]) -> None:
    assert b"\r" not in output_of(*arguments, encoding="utf-8")


# Line ends


def test_a_checkout_with_crlf_reads_as_one_without(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    found = []
    for text in (TRACE, TRACE.replace("\r\n", "\n")):
        path.write_bytes(text.encode())
        said = output_of("check", "--output-format", "json", path, encoding="utf-8")
        found.append([(each["code"], each["line"], each["column"]) for each in json.loads(said)])
    assert found[0] == found[1] != []


def test_what_is_appended_and_fixed_keeps_the_line_ends(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_bytes(TRACE.encode() + b'{"event_type": "made-up",}\r\n')
    run = ("record", "--trace-file", path, "--project-run-id", "run-1", "--qa", "fail")
    output_of(*run, encoding="utf-8")
    output_of("check", "--fix", path, encoding="utf-8")
    written = path.read_bytes()
    assert written.count(b"\n") == written.count(b"\r\n") == 4 + TRACE.count("\n") - 2
    assert b"\r\r" not in written


def test_git_leaves_line_ends_alone_on_every_system() -> None:
    listed = subprocess.run(
        ["git", "ls-files", "--eol"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listed.returncode:
        pytest.skip("not a git checkout")
    odd = [each for each in listed.stdout.splitlines() if "w/crlf" in each or "w/mixed" in each]
    assert odd == []


# Paths and URIs


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("file:///C:/work/trace.jsonl", r"C:\work\trace.jsonl"),
        ("file:///c%3A/work/trace.jsonl", r"C:\work\trace.jsonl"),
        ("file:///C%3a/Work/Trace.jsonl", r"c:\work\trace.jsonl"),
        ("file:///c:/my%20traces/%23%C3%A4.jsonl", "c:\\my traces\\#ä.jsonl"),
        ("file://server/share/run/trace.jsonl", r"\\server\share\run\trace.jsonl"),
        ("file:///c:/" + "long/" * 80 + "trace.jsonl", "c:\\" + "long\\" * 80 + "trace.jsonl"),
        ("file:///work/trace.jsonl", None),
        ("untitled:Untitled-1", None),
    ],
)
def test_a_uri_of_windows_names_a_path(
    uri: str, path: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pygls.uris.IS_WIN", True)
    here = SimpleNamespace(path=ntpath, fsencode=os.fsencode)
    monkeypatch.setattr(capabilities, "os", here)
    found = path_of(uri)
    if path is None:
        assert found is None or not PureWindowsPath(found).drive
    else:
        assert PureWindowsPath(str(found)) == PureWindowsPath(path)


@pytest.mark.parametrize("name", ["a b#c%20d", "ä", "日本語", "[x](y)", "Großbuchstaben"])
def test_the_uri_of_a_path_leads_back_to_it(name: str, tmp_path: Path) -> None:
    path = tmp_path / name / "trace.jsonl"
    assert path_of(path.as_uri()) == path


@pytest.mark.skipif(sys.platform != "win32", reason="only Windows has drives, shares and 8.3 names")
def test_windows_spells_one_file_in_many_ways(tmp_path: Path) -> None:
    path = tmp_path / "Trace.jsonl"
    path.write_bytes(TRACE.encode())
    spelled = [path, str(path).upper(), str(path).replace("\\", "/"), f"\\\\?\\{path}"]
    for each in spelled:
        output_of("check", each, encoding="utf-8")
    shown = json.loads(
        output_of("score", "--output-format", "json", *spelled[:3], encoding="utf-8")
    )
    # Else each event would be a copy of another file's.
    assert "copied-events" not in json.dumps(shown)
    drive = path.drive.lower().removesuffix(":")
    uri = path.as_uri().replace(f"{path.drive}", f"{drive}%3A")
    assert path_of(uri) == path


def test_the_package_opens_no_file_in_the_systems_own_encoding(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_bytes(TRACE.encode())
    strict = [sys.executable, "-X", "warn_default_encoding", "-W", "error::EncodingWarning"]
    for each in (["check", "--fix"], ["score"], ["report", "--output-format", "html"]):
        ended = subprocess.run(
            [*strict, "-m", "drive_trace", *each, str(path)], capture_output=True, check=False
        )
        assert b"EncodingWarning" not in ended.stderr
        assert ended.returncode in {0, 1}
