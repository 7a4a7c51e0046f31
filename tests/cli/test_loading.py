"""What a command loads before it does anything: users start them a thousand times a day.

A package more here is felt at each start. Load it where it is needed, or say why all need it.
"""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.support import CLEAN, write

_HELP = {"commands", "interrupts", "storage", "text"}
_SCORE = {*_HELP, "json_text", "linter.settings", "scorecard", "stopping", "trace", "vocabulary"}
_WRITE = {*_SCORE, "authoring"}
_CHECK = {*_SCORE, "analysis", "linter"}

_RUN = ("--trace-file", "trace.jsonl", "--project-run-id", "run-1")
_STARTED = '{"slice_slug":"retry","slice_index":1,"linear_ref":null}'
_SLOW = {
    *("asyncio", "concurrent", "difflib", "hashlib", "html", "http", "lsprotocol", "platformdirs"),
    *("multiprocessing", "pydantic", "pygls", "subprocess", "tempfile"),
    *("drive_trace.authoring.transcripts", "drive_trace.authoring.usage"),
}
"""What takes long to load, and most commands do without."""


def loaded(folder: Path, *args: str) -> set[str]:
    """The names of all modules that a command loads."""
    write(folder, "trace.jsonl", CLEAN)
    command = [sys.executable, "-X", "importtime", "-m", "drive_trace", *args]
    ran = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=True)
    return set(re.findall(r"^import time:.*\| +(\S+)$", ran.stderr, re.MULTILINE))


def package_of(module: str) -> str:
    """The package that a module of ours is in; settings of rules load none of them."""
    inner = module.removeprefix("drive_trace.")
    return inner if inner == "linter.settings" else inner.partition(".")[0]


@pytest.mark.parametrize(
    ("packages", "args"),
    [
        (_HELP, ("--help",)),
        ({*_HELP, "fleet"}, ("fleet", "--help")),
        (_SCORE, ("score", "trace.jsonl")),
        (_WRITE, ("emit", *_RUN, "--event", "slice-started", "--payload", _STARTED)),
        (_WRITE, ("emit", *_RUN, "slice-started", "slice_slug=retry")),
        (_WRITE, ("record", *_RUN, "--qa", "pass")),
        (_WRITE, ("tokens", *_RUN, "--input-tokens", "1")),
        (_CHECK, ("check", "trace.jsonl")),
        ({*_HELP, "json_text", "stopping", "vocabulary"}, ("schema", "dispatch-start")),
    ],
    ids=lambda given: " ".join(given)[:16] if isinstance(given, tuple) else "",
)
def test_a_command_loads_what_it_needs(
    packages: set[str], args: tuple[str, ...], tmp_path: Path
) -> None:
    modules = loaded(tmp_path, *args)
    ours = {each for each in modules if each.startswith("drive_trace.")} - {"drive_trace.linter"}
    assert {package_of(each) for each in ours} == packages
    # Whoever writes takes down the digest of what was written.
    assert not (_SLOW - {"hashlib"} if "authoring" in packages else _SLOW) & modules


def test_prices_and_cases_are_read_without_pydantic(tmp_path: Path) -> None:
    """As in the extension, which does not carry it."""
    code = (
        "import sys; sys.modules['pydantic'] = None; from drive_trace.__main__ import main; main()"
    )
    for side in ("one", "other"):
        write(tmp_path, f"{side}/trace.jsonl", CLEAN)
    prices = "['*']\ninput = 3\noutput = 15.5\ncache_read = 0\ncache_write = 1\n"
    write(tmp_path, "prices.toml", prices)
    write(tmp_path, "cases.toml", "[cases]\nretry = ['*']\n")
    sides = ("--baseline", "one", "--candidate", "other", "--allow-unverified", "all")
    files = ("--prices", "prices.toml", "--cases", "cases.toml")
    command = [sys.executable, "-c", code, "compare", *sides, *files]
    ran = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert "candidate" in ran.stdout
    assert ran.stderr == ""
