"""What all tests share."""

import os
import signal
import sys
import tempfile
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import settings

from tests.support.snapshots import Snapshots

# Their asserts say as much as those of the tests that call them.
pytest.register_assert_rewrite(
    *(f"tests.{folder}.support" for folder in ("cli", "scorecard", "server", "syntax"))
)

# The tests say which of them run as in a CI runner's log, wherever they are run themselves.
for _name in ("CI", "GITHUB_ACTIONS", "TF_BUILD"):
    os.environ.pop(_name, None)

# Tests say what stands in a file, byte for byte. Windows would write other line ends and bytes.
# The package itself names both wherever it opens a file, so that this hides nothing of it.
if sys.platform == "win32":
    _write, _read = Path.write_text, Path.read_text

    def _write_exactly(
        path: Path, data: str, encoding: str = "utf-8", errors: str | None = None, newline: str = ""
    ) -> int:
        return _write(path, data, encoding, errors, newline)

    def _read_utf8(path: Path, encoding: str = "utf-8", errors: str | None = None) -> str:
        return _read(path, encoding, errors)

    Path.write_text, Path.read_text = _write_exactly, _read_utf8

# What is kept of traces is not what the user keeps, and goes at the end.
_CACHE = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
os.environ["DRIVE_TRACE_CACHE"] = _CACHE.name

# What a shell starts in the background ignores Ctrl-C, and so would every command that tests start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# What everybody runs draws the same on every machine, and nothing is too slow for a busy one.
# `make fuzz` draws anew each time (tools/fuzz.py).
settings.register_profile("same", derandomize=True, deadline=None, database=None)
for _name, _most in {"glance": 100, "fuzz": 1000}.items():
    settings.register_profile(_name, deadline=None, max_examples=_most, print_blob=True)
settings.load_profile("same")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-snapshots",
        action="store_true",
        help="write tests/snapshots as the output is now, instead of comparing with it",
    )


@pytest.fixture
def snapshots(pytestconfig: pytest.Config) -> Snapshots:
    """Expected output that is kept in files."""
    return Snapshots(update=pytestconfig.getoption("--update-snapshots"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A report that holds a lone surrogate, as hostile texts do, would end the whole run."""
    report = yield
    if report.failed:
        report.longrepr = _without_surrogates(report.longreprtext)
    report.sections = [(name, _without_surrogates(said)) for name, said in report.sections]
    return report


def _without_surrogates(text: str) -> str:
    return text.encode(errors="backslashreplace").decode()
