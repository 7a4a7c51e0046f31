"""`--help` of commands that report and record, from outside."""

from __future__ import annotations

import pytest

from tests.cli.support import run

COMMANDS = ["completion", "emit", "explain", "record", "report", "schema", "score", "tokens"]


@pytest.mark.parametrize("command", COMMANDS)
def test_help_fits_into_80_columns(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    ran = run(command, "--help")
    assert ran.code == 0
    assert [line for line in ran.out.splitlines() if len(line) > 80] == []
