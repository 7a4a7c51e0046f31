"""What tests of the command line have in common."""

from pathlib import Path

import pytest


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, in which the commands of the test run."""
    monkeypatch.chdir(tmp_path)
    return tmp_path
