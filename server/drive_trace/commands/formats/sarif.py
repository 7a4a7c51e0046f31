"""``sarif``: SARIF 2.1.0 (OASIS), for code scanning.

Section numbers are those of the standard's text.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TextIO

from drive_trace import __version__
from drive_trace.commands.formats.findings import (
    Location,
    Reported,
    ReportedFix,
    RuleUrl,
    Totals,
    dumps,
    unreadable,
)
from drive_trace.linter.rule import Rule, Severity, fingerprint
from drive_trace.linter.rules import RULES, documentation
from drive_trace.storage.files import STDIN
from drive_trace.text.escaping import without_links

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_ROOT = "%SRCROOT%"
_LEVELS: Mapping[Severity, str] = {
    Severity.ERROR: "error",
    Severity.WARNING: "warning",
    Severity.INFORMATION: "note",
    Severity.HINT: "note",
}
_INDEX_OF = {code: index for index, code in enumerate(RULES)}


class SarifWriter:
    """One log with one run, its results written one by one."""

    shows_totals = False

    def __init__(self, out: TextIO, url_of: RuleUrl) -> None:
        self._out = out
        self._separator = "\n"
        self._root = _folder_uri()
        self._seen: Counter[tuple[str, str]] = Counter()
        out.write(f'{{"$schema":{dumps(_SCHEMA)},"version":"2.1.0","runs":[{{')
        out.write(f'"tool":{{"driver":{dumps(_driver(url_of))}}},"columnKind":"unicodeCodePoints",')
        if self._root is not None:
            out.write(f'"originalUriBaseIds":{dumps({_ROOT: {"uri": self._root}})},')
        out.write('"results":[')

    def write(self, report: Reported) -> None:
        """Write a finding."""
        self._out.write(self._separator)
        self._out.write(dumps(self._result(report)))
        self._separator = ",\n"

    def finish(self, totals: Totals) -> None:
        """Close the log. Inputs that were not read are notifications of the run, too (§3.20.21)."""
        self._out.write("]" if self._separator == "\n" else "\n]")
        if totals.unread:
            notifications = [self._notification(unreadable(each)) for each in totals.unread]
            invocation = {"executionSuccessful": False, "toolExecutionNotifications": notifications}
            self._out.write(f',"invocations":{dumps([invocation])}')
        self._out.write("}]}\n")

    def _notification(self, report: Reported) -> Mapping[str, object]:
        artifact = self._artifact(report.location.path)
        return {
            "descriptor": {"id": report.rule.code},
            "associatedRule": {"id": report.rule.code, "index": _INDEX_OF[report.rule.code]},
            "level": _LEVELS[report.severity],
            "message": {"text": without_links(report.message)},
            "locations": [{"physicalLocation": {"artifactLocation": artifact}}],
        }

    def _result(self, report: Reported) -> Mapping[str, object]:
        code, path = report.rule.code, report.location.path
        known_by = fingerprint(code, report.text or "")
        self._seen[path, known_by] += 1
        result: dict[str, object] = {
            "ruleId": code,
            "ruleIndex": _INDEX_OF[code],
            "level": _LEVELS[report.severity],
            "message": {"text": without_links(report.message)},
            "locations": [{"physicalLocation": self._place(report.location)}],
            # GitHub's name for it, and its form: what of the same comes first, second, …
            "partialFingerprints": {
                "primaryLocationLineHash": f"{known_by}:{self._seen[path, known_by]}"
            },
        }
        related = [
            {"physicalLocation": self._place(location), "message": {"text": without_links(message)}}
            for location, message in report.related()
        ]
        if related:
            result["relatedLocations"] = related
        fixes = [self._fix(fix) for fix in report.fixes()]
        if fixes:
            result["fixes"] = fixes
        return result

    def _fix(self, fix: ReportedFix) -> Mapping[str, object]:
        return {
            "description": {"text": without_links(fix.title)},
            "artifactChanges": [
                {
                    "artifactLocation": self._artifact(fix.edits[0].location.path),
                    "replacements": [
                        {"deletedRegion": _region(where), "insertedContent": {"text": text}}
                        for where, text in fix.edits
                    ],
                }
            ],
            "properties": {"safe": fix.safe},
        }

    def _place(self, location: Location) -> Mapping[str, object]:
        artifact = self._artifact(location.path)
        return {"artifactLocation": artifact, "region": _region(location)}

    def _artifact(self, path: str) -> Mapping[str, str]:
        """Relative to the current folder for what is in there (§3.4.4), else as a whole."""
        if path == STDIN:
            return {"uri": "stdin"}
        uri = Path(os.path.abspath(path)).as_uri()  # noqa: PTH100 - that would follow links
        if self._root is None or not uri.startswith(self._root):
            return {"uri": uri}
        return {"uri": uri[len(self._root) :], "uriBaseId": _ROOT}


def _region(location: Location) -> Mapping[str, int]:
    return {
        "startLine": location.line,
        "startColumn": location.column,
        "endLine": location.end_line,
        "endColumn": location.end_column,
    }


def _driver(url_of: RuleUrl) -> Mapping[str, object]:
    return {
        "name": "drive-trace",
        "semanticVersion": __version__,
        "rules": [_rule(rule, url_of) for rule in RULES.values()],
    }


def _rule(rule: Rule[Any], url_of: RuleUrl) -> Mapping[str, object]:
    described: dict[str, object] = {
        "id": rule.code,
        "shortDescription": {"text": rule.summary},
        "help": {"text": documentation(rule), "markdown": documentation(rule)},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
    }
    url = url_of(rule.code)
    if url is not None:
        described["helpUri"] = url
    return described


def _folder_uri() -> str | None:
    try:
        return f"{Path.cwd().as_uri().rstrip('/')}/"
    except OSError:  # it is gone
        return None
