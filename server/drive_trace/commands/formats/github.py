"""``github``: workflow commands, which GitHub shows as annotations of the lines."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TextIO

from drive_trace.commands.formats.findings import Reported, Totals
from drive_trace.linter.rule import Severity
from drive_trace.text.escaping import visible

_COMMANDS: Mapping[Severity, str] = {
    Severity.ERROR: "error",
    Severity.WARNING: "warning",
    Severity.INFORMATION: "notice",
    Severity.HINT: "notice",
}


class GithubWriter:
    """``::error file=…,line=…::message``, a line a finding."""

    shows_totals = False

    def __init__(self, out: TextIO) -> None:
        self._out = out

    def write(self, report: Reported) -> None:
        """Write a finding."""
        path, line, column, end_line, end_column = report.location
        properties = {
            "title": f"drive-trace ({report.rule.code})",
            "file": visible(Path(path).as_posix()),
            "line": line,
            "col": column,
            "endLine": end_line,
            "endColumn": end_column,
        }
        said = ",".join(f"{key}={_property(str(value))}" for key, value in properties.items())
        self._out.write(f"::{_COMMANDS[report.severity]} {said}::{_data(report.message)}\n")

    def finish(self, totals: Totals) -> None:
        """Nothing comes after all."""


# How the runner reads them: actions/toolkit, packages/core/src/command.ts.


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
