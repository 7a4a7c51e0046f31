"""``json``: for programs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TextIO

from drive_trace.commands.formats.findings import Location, Reported, Totals
from drive_trace.commands.formats.json_text import dumps
from drive_trace.storage.pages import rule_url


class JsonWriter:
    """One list of all findings; see ``docs/cli.md`` for its keys."""

    shows_totals = False

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._separator = "\n"
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
            self._urls[code] = rule_url(code)
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
