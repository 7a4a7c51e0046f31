"""What tests of the command line have in common."""

from pathlib import Path

import pytest

from tests.cli.support import write


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, in which the commands of the test run."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """A clean trace in a project."""
    write(tmp_path, "drive-trace.toml", "")
    return write(tmp_path, "trace.jsonl")
