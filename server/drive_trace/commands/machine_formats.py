"""How ``check`` writes findings for programs: a class a format."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

from drive_trace import __version__
from drive_trace.commands.formats import FOR_PROGRAMS, FindingWriter, RuleUrl, Totals, dumps
from drive_trace.commands.reported import Location, RelatedPlace, Reported, ReportedFix, unreadable
from drive_trace.linter.rule import Level, Rule
from drive_trace.linter.rules import RULES, documentation
from drive_trace.linter.settings import Severity, fingerprint
from drive_trace.storage.files import STDIN
from drive_trace.text.escaping import visible, without_links
from drive_trace.text.wording import plural


class JsonWriter(FindingWriter):
    """One list of all findings; see ``docs/cli.md`` for its keys."""

    def __init__(self, out: TextIO, url_of: RuleUrl) -> None:
        super().__init__(out, url_of)
        self._is_empty = True
        self._seen: Counter[tuple[str, str]] = Counter()
        out.write(self._beginning())

    def write(self, report: Reported) -> None:
        """Write a finding."""
        self._out.write("\n" if self._is_empty else ",\n")
        self._out.write(dumps(self._finding(report)))
        self._is_empty = False

    def finish(self, totals: Totals) -> None:
        """Close the list."""
        self._out.write(("" if self._is_empty else "\n") + self._end(totals) + "\n")

    def _fingerprint(self, report: Reported) -> str:
        """What a finding is known by; those of the same in a file are numbered."""
        seen = report.location.path, fingerprint(report.code, report.text or "")
        self._seen[seen] += 1
        return f"{seen[1]}:{self._seen[seen]}"

    def _beginning(self) -> str:
        return "["

    def _end(self, totals: Totals) -> str:  # noqa: ARG002 - a list has no place for them
        return "]"

    def _finding(self, report: Reported) -> Mapping[str, object]:
        return {
            **report.location._asdict(),
            "code": report.code,
            "severity": report.severity.label,
            "message": report.message,
            "url": self._url_of(report.code),
            "fixes": _fixes(report),
            **({"related": [*map(_related, report.related)]} if report.related else {}),
            **({"places": [*map(_place_of, report.places)]} if report.places else {}),
        }


def _related(place: RelatedPlace) -> Mapping[str, object]:
    return {**place.location._asdict(), "message": place.message}


def _place_of(report: Reported) -> Mapping[str, object]:
    return {**report.location._asdict(), "message": report.message, "fixes": _fixes(report)}


def _fixes(report: Reported) -> Sequence[Mapping[str, object]]:
    return [
        {
            "title": fix.title,
            "safe": fix.level is Level.SAFE,
            "edits": [{**where.range(), "text": text} for where, text in fix.edits],
        }
        for fix in report.fixes
    ]


_MOST_ANNOTATIONS = 9
"""Of each kind in a step; GitHub keeps one more."""


class GithubWriter(FindingWriter):
    """``::error file=…,line=…::message``, a line a finding: GitHub shows it beside the line, with
    the address of the rule's page. How the runner reads it: actions/toolkit,
    packages/core/src/command.ts. It keeps so many annotations of a step of each kind: the others
    are lines of the log, and the last one says so.
    """

    def __init__(self, out: TextIO, url_of: RuleUrl) -> None:
        super().__init__(out, url_of)
        self._counts: Counter[str] = Counter()

    def finish(self, totals: Totals) -> None:  # noqa: ARG002 - the log has no place for them
        """Say what is not annotated."""
        left = sum(max(0, count - _MOST_ANNOTATIONS) for count in self._counts.values())
        if left:
            what = f"{plural(left, 'more finding')} in the log of this step, and not annotated"
            self._out.write(f"::notice title=drive-trace::{what}\n")

    def write(self, report: Reported) -> None:
        """Write a finding."""
        properties = {
            "title": f"drive-trace ({report.code})",
            "file": visible(Path(report.location.path).as_posix()),
            **report.location.range("line", "col", "endLine", "endColumn"),
        }
        phrase = ",".join(
            f"{key}={_data(str(value)).replace(':', '%3A').replace(',', '%2C')}"
            for key, value in properties.items()
        )
        url = self._url_of(report.code) or ""
        said = "\n".join([report.message, *([url] if url.startswith("http") else [])])
        kinds = {Severity.ERROR: "error", Severity.WARNING: "warning"}
        command = kinds.get(report.severity, "notice")
        self._counts[command] += 1
        mark = "::" if self._counts[command] <= _MOST_ANNOTATIONS else ""
        self._out.write(f"{mark}{command} {phrase}::{_data(said)}\n")


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


class GitlabWriter(JsonWriter):
    """GitLab's Code Quality report: https://docs.gitlab.com/ci/testing/code_quality/."""

    def _finding(self, report: Reported) -> Mapping[str, object]:
        return {
            "description": report.message,
            "check_name": report.code,
            "fingerprint": f"{self._fingerprint(report)}:{report.location.path}",
            "severity": _GITLAB[report.severity],
            "location": {
                "path": Path(os.path.relpath(report.location.path)).as_posix(),
                "lines": {"begin": report.location.line},
            },
        }


class JunitWriter(FindingWriter):
    """JUnit XML, as GitLab, Jenkins and others show tests: a case for each finding. It failed where
    the check fails by it, and else was skipped.
    """

    def __init__(self, out: TextIO, url_of: RuleUrl) -> None:
        super().__init__(out, url_of)
        self._cases: list[str] = []
        self._failed = 0

    def write(self, report: Reported) -> None:
        """Write a finding."""
        path, line, column, *_ = report.location
        self._failed += report.fails
        how = "failure" if report.fails else "skipped"
        name = _attribute(f"{report.code} ({path}:{line}:{column})")
        kind, message = _attribute(report.severity.label), _attribute(report.message)
        self._cases.append(
            f"<testcase name={name} classname={_attribute(path)} file={_attribute(path)} "
            f'line="{line}"><{how} type={kind} message={message}/></testcase>'
        )

    def finish(self, totals: Totals) -> None:
        """Write it all, with a case that passes if there is nothing else."""
        found = len(self._cases)
        if not found and totals.files:
            name = _attribute(f"no findings in {plural(totals.files, 'trace')}")
            self._cases.append(f'<testcase name={name} classname="drive-trace"/>')
        skipped = found - self._failed
        counts = f'tests="{len(self._cases)}" failures="{self._failed}" skipped="{skipped}"'
        head = f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites {counts}>\n'
        lines = [f'<testsuite name="drive-trace" {counts}>', *self._cases, "</testsuite>"]
        self._out.write(head + "\n".join([*lines, "</testsuites>\n"]))


def _attribute(text: str) -> str:
    from xml.sax.saxutils import quoteattr  # noqa: PLC0415 - for one format

    return quoteattr(visible(text))


# SARIF 2.1.0 (OASIS), for code scanning. Section numbers are those of the standard's text.

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_ROOT = "%SRCROOT%"
_GITLAB = dict(zip(Severity, ("major", "minor", "info", "info"), strict=True))
_LEVELS: Mapping[Severity, str] = {
    Severity.ERROR: "error",
    Severity.WARNING: "warning",
    Severity.INFORMATION: "note",
    Severity.HINT: "note",
}
_INDEX_OF = {code: index for index, code in enumerate(RULES)}


class SarifWriter(JsonWriter):
    """One log with one run, its results written one by one."""

    def __init__(self, out: TextIO, url_of: RuleUrl) -> None:
        try:
            self._root: str | None = f"{Path.cwd().as_uri().rstrip('/')}/"
        except OSError:  # it is gone
            self._root = None
        super().__init__(out, url_of)

    def _beginning(self) -> str:
        driver = {
            "name": "drive-trace",
            "semanticVersion": __version__,
            "rules": [self._rule(rule) for rule in RULES.values()],
        }
        bases = "" if self._root is None else dumps({_ROOT: {"uri": self._root}})
        return (
            f'{{"$schema":{dumps(_SCHEMA)},"version":"2.1.0","runs":[{{'
            f'"tool":{{"driver":{dumps(driver)}}},"columnKind":"unicodeCodePoints",'
            + (f'"originalUriBaseIds":{bases},' if bases else "")
            + '"results":['
        )

    def _end(self, totals: Totals) -> str:
        """Inputs that were not read are notifications of the run, too (§3.20.21)."""
        if not totals.unread:
            return "]}]}"
        notifications = [self._notification(unreadable(each)) for each in totals.unread]
        invocation = {"executionSuccessful": False, "toolExecutionNotifications": notifications}
        return f'],"invocations":{dumps([invocation])}}}]}}'

    def _rule(self, rule: Rule[Any]) -> Mapping[str, object]:
        page, url = documentation(rule), self._url_of(rule.code)
        return {
            "id": rule.code,
            "shortDescription": {"text": rule.summary},
            "help": {"text": page, "markdown": page},
            "defaultConfiguration": {"level": _LEVELS[rule.severity]},
            **({} if url is None else {"helpUri": url}),
        }

    def _notification(self, report: Reported) -> Mapping[str, object]:
        artifact = self._artifact(report.location.path)
        return {
            "descriptor": {"id": report.code},
            "associatedRule": {"id": report.code, "index": _INDEX_OF[report.code]},
            "level": _LEVELS[report.severity],
            "message": {"text": without_links(report.message)},
            "locations": [{"physicalLocation": {"artifactLocation": artifact}}],
        }

    def _finding(self, report: Reported) -> Mapping[str, object]:
        related = [
            {"physicalLocation": self._place(location), "message": {"text": without_links(message)}}
            for location, message in (
                *report.related,
                *(RelatedPlace(each.location, each.message) for each in report.places),
            )
        ]
        fixes = [self._fix(fix) for fix in report.fixes]
        return {
            "ruleId": report.code,
            "ruleIndex": _INDEX_OF[report.code],
            "level": _LEVELS[report.severity],
            "message": {"text": without_links(report.message)},
            "locations": [{"physicalLocation": self._place(report.location)}],
            # GitHub's name for it, and its form.
            "partialFingerprints": {"primaryLocationLineHash": self._fingerprint(report)},
            **({"relatedLocations": related} if related else {}),
            **({"fixes": fixes} if fixes else {}),
        }

    def _fix(self, fix: ReportedFix) -> Mapping[str, object]:
        change = {
            "artifactLocation": self._artifact(fix.edits[0][0].path),
            "replacements": [
                {"deletedRegion": _region(where), "insertedContent": {"text": text}}
                for where, text in fix.edits
            ],
        }
        return {
            "description": {"text": without_links(fix.title)},
            "artifactChanges": [change],
            "properties": {"safe": fix.level is Level.SAFE},
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
    return location.range("startLine", "startColumn", "endLine", "endColumn")


WRITERS: Mapping[str, type[FindingWriter]] = dict(
    zip(
        FOR_PROGRAMS,
        (GithubWriter, GitlabWriter, JsonWriter, JunitWriter, SarifWriter),
        strict=True,
    )
)
