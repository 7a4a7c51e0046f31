"""``json`` for programs, and ``github``: workflow commands, shown as annotations of the lines."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TextIO

from drive_trace.commands.formats.findings import Location, Reported, RuleUrl, Totals, dumps
from drive_trace.linter.rule import Severity
from drive_trace.text.escaping import visible


class JsonWriter:
    """One list of all findings; see ``docs/cli.md`` for its keys."""

    shows_totals = False

    def __init__(self, out: TextIO, url_of: RuleUrl) -> None:
        self._out = out
        self._separator = "\n"
        self._url_of = url_of
        self._urls: dict[str, str | None] = {}
        out.write("[")

    def write(self, report: Reported) -> None:
        """Write a finding."""
        self._out.write(self._separator)
        self._out.write(dumps(self._finding(report)))
        self._separator = ",\n"

    def finish(self, totals: Totals) -> None:  # noqa: ARG002 - a list has no place for them
        """Close the list."""
        self._out.write("]\n" if self._separator == "\n" else "\n]\n")

    def _finding(self, report: Reported) -> Mapping[str, object]:
        code = report.rule.code
        if code not in self._urls:
            self._urls[code] = self._url_of(code)
        return {
            "path": report.location.path,
            **_range(report.location),
            "code": code,
            "severity": report.severity.label,
            "message": report.message,
            "url": self._urls[code],
            "fixes": [
                {
                    "title": fix.title,
                    "safe": fix.safe,
                    "edits": [{**_range(where), "text": text} for where, text in fix.edits],
                }
                for fix in report.fixes()
            ],
        }


def _range(location: Location) -> Mapping[str, int]:
    return {
        "line": location.line,
        "column": location.column,
        "end_line": location.end_line,
        "end_column": location.end_column,
    }


_COMMANDS: Mapping[Severity, str] = {
    Severity.ERROR: "error",
    Severity.WARNING: "warning",
    Severity.INFORMATION: "notice",
    Severity.HINT: "notice",
}


class GithubWriter:
    """``::error file=…,line=…::message``, a line a finding."""

    shows_totals = False

    def __init__(self, out: TextIO, _url_of: RuleUrl) -> None:
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
        phrase = ",".join(f"{key}={_property(str(value))}" for key, value in properties.items())
        self._out.write(f"::{_COMMANDS[report.severity]} {phrase}::{_data(report.message)}\n")

    def finish(self, totals: Totals) -> None:
        """Nothing comes after all."""


# How the runner reads them: actions/toolkit, packages/core/src/command.ts.


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
