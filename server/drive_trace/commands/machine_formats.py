"""How ``check`` writes findings for programs: a function a format."""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from drive_trace import __version__
from drive_trace.commands import formats
from drive_trace.commands.formats import Findings, Location, Reported, dumps, unreadable
from drive_trace.linter.rule import Level, Rule
from drive_trace.linter.rules import RULES, documentation
from drive_trace.linter.settings import Severity, fingerprint
from drive_trace.storage.files import STDIN
from drive_trace.text.wording import plural, visible, without_links


def as_json(reports: Findings) -> Iterator[str]:
    """One list of all findings; see ``docs/cli.md`` for its keys."""
    findings = (
        {
            **each.location._asdict(),
            "code": each.code,
            "severity": each.severity.label,
            "message": each.message,
            "url": reports.url_of(each.code),
            "fixes": _fixes(each),
            **({"related": [*map(_related, each.related)]} if each.related else {}),
            **({"places": [*map(_place_of, each.places)]} if each.places else {}),
        }
        for each in reports
    )
    return _listed("[", findings, lambda: "]")


def _listed(head: str, items: Iterable[object], tail: Callable[[], str]) -> Iterator[str]:
    """JSON with a line for each of its items."""
    yield head
    mark = ""
    for each in items:
        yield f"{mark}\n{dumps(each)}"
        mark = ","
    yield ("\n" if mark else "") + f"{tail()}\n"


def _fingerprints() -> Callable[[Reported], str]:
    """Gives what each finding is known by; those of the same in a file are numbered."""
    seen: Counter[tuple[str, str]] = Counter()

    def numbered(report: Reported) -> str:
        key = report.location.path, fingerprint(report.code, report.text or "")
        seen[key] += 1
        return f"{key[1]}:{seen[key]}"

    return numbered


def _related(place: formats.RelatedPlace) -> Mapping[str, object]:
    return {**place.location._asdict(), "message": place.message}


def _place_of(report: Reported) -> Mapping[str, object]:
    own = {"code": report.code, "message": report.message, "fixes": _fixes(report)}
    return {**report.location._asdict(), **own}


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


def as_github(reports: Findings) -> Iterator[str]:
    """``::error file=…,line=…::message``, a line a finding: GitHub shows it beside the line, with
    the address of the rule's page. How the runner reads it: actions/toolkit,
    packages/core/src/command.ts. It keeps so many annotations of a step of each kind: the others
    are lines of the log, and the last one says so.
    """
    kinds = {Severity.ERROR: "error", Severity.WARNING: "warning"}
    counts: Counter[str] = Counter()
    for report in reports:
        properties = {
            "title": f"drive-trace ({report.code})",
            "file": visible(Path(report.location.path).as_posix()),
            **report.location.range("line", "col", "endLine", "endColumn"),
        }
        phrase = ",".join(
            f"{key}={_data(str(value)).replace(':', '%3A').replace(',', '%2C')}"
            for key, value in properties.items()
        )
        url = reports.url_of(report.code) or ""
        said = "\n".join([report.message, *([url] if url.startswith("http") else [])])
        command = kinds.get(report.severity, "notice")
        counts[command] += 1
        mark = "::" if counts[command] <= _MOST_ANNOTATIONS else ""
        yield f"{mark}{command} {phrase}::{_data(said)}\n"
    if left := sum(max(0, count - _MOST_ANNOTATIONS) for count in counts.values()):
        what = f"{plural(left, 'more finding')} in the log of this step, and not annotated"
        yield f"::notice title=drive-trace::{what}\n"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def as_gitlab(reports: Findings) -> Iterator[str]:
    """GitLab's Code Quality report: https://docs.gitlab.com/ci/testing/code_quality/."""
    known_by = _fingerprints()
    findings = (
        {
            "description": each.message,
            "check_name": each.code,
            "fingerprint": f"{known_by(each)}:{each.location.path}",
            "severity": _GITLAB[each.severity],
            "location": {
                "path": Path(os.path.relpath(each.location.path)).as_posix(),
                "lines": {"begin": each.location.line},
            },
        }
        for each in reports
    )
    return _listed("[", findings, lambda: "]")


def as_junit(reports: Findings) -> Iterator[str]:
    """JUnit XML, as GitLab, Jenkins and others show tests: a case for each finding. It failed where
    the check fails by it, and else was skipped. There is a case that passes if there is no other.
    """
    cases, failed = list[str](), 0
    for report in reports:
        path, line, column, *_place = report.location
        failed += report.fails
        how = "failure" if report.fails else "skipped"
        name = _attribute(f"{report.code} ({path}:{line}:{column})")
        kind, message = _attribute(report.severity.label), _attribute(report.message)
        cases.append(
            f"<testcase name={name} classname={_attribute(path)} file={_attribute(path)} "
            f'line="{line}"><{how} type={kind} message={message}/></testcase>'
        )
    skipped, files = len(cases) - failed, reports.totals.files
    if not cases and files:
        name = _attribute(f"no findings in {plural(files, 'trace')}")
        cases.append(f'<testcase name={name} classname="drive-trace"/>')
    counts = f'tests="{len(cases)}" failures="{failed}" skipped="{skipped}"'
    yield f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites {counts}>\n'
    yield f'<testsuite name="drive-trace" {counts}>\n'
    yield from (f"{case}\n" for case in cases)
    yield "</testsuite>\n</testsuites>\n"


def _attribute(text: str) -> str:
    from xml.sax.saxutils import quoteattr  # noqa: PLC0415 - for one format

    return quoteattr(visible(text))


# SARIF 2.1.0 (OASIS), for code scanning. Section numbers are those of the standard's text.

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_ROOT = "%SRCROOT%"
_GITLAB = dict(zip(Severity, ("major", "minor", "info", "info"), strict=True))
_LEVELS = dict(zip(Severity, ("error", "warning", "note", "note"), strict=True))
_INDEX_OF = {code: index for index, code in enumerate(RULES)}


def as_sarif(reports: Findings) -> Iterator[str]:
    """One log with one run, its results written one by one."""
    try:
        root: str | None = f"{Path.cwd().as_uri().rstrip('/')}/"
    except OSError:  # it is gone
        root = None
    known_by = _fingerprints()
    results = (_result(each, root, known_by(each)) for each in reports)
    driver = {
        "name": "drive-trace",
        "semanticVersion": __version__,
        "rules": [_rule(rule, reports.url_of(rule.code)) for rule in RULES.values()],
    }
    bases = "" if root is None else f'"originalUriBaseIds":{dumps({_ROOT: {"uri": root}})},'
    head = (
        f'{{"$schema":{dumps(_SCHEMA)},"version":"2.1.0","runs":[{{'
        f'"tool":{{"driver":{dumps(driver)}}},"columnKind":"unicodeCodePoints",'
        f'{bases}"results":['
    )

    def tail() -> str:
        """Inputs that were not read are notifications of the run, too (§3.20.21)."""
        notifications = [_notification(unreadable(each), root) for each in reports.totals.unread]
        if not notifications:
            return "]}]}"
        invocation = {"executionSuccessful": False, "toolExecutionNotifications": notifications}
        return f'],"invocations":{dumps([invocation])}}}]}}'

    return _listed(head, results, tail)


def _rule(rule: Rule[Any], url: str | None) -> Mapping[str, object]:
    page = documentation(rule)
    return {
        "id": rule.code,
        "shortDescription": {"text": rule.summary},
        "help": {"text": page, "markdown": page},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
        **({} if url is None else {"helpUri": url}),
    }


def _notification(report: Reported, root: str | None) -> Mapping[str, object]:
    artifact = _artifact(report.location.path, root)
    return {
        "descriptor": {"id": report.code},
        "associatedRule": {"id": report.code, "index": _INDEX_OF[report.code]},
        "level": _LEVELS[report.severity],
        "message": {"text": without_links(report.message)},
        "locations": [{"physicalLocation": {"artifactLocation": artifact}}],
    }


def _result(report: Reported, root: str | None, known_by: str) -> Mapping[str, object]:
    places = (formats.RelatedPlace(each.location, each.message) for each in report.places)
    related = [
        {"physicalLocation": _place(where, root), "message": {"text": without_links(message)}}
        for where, message in (*report.related, *places)
    ]
    fixes = [_fix(fix, root) for fix in report.fixes]
    return {
        "ruleId": report.code,
        "ruleIndex": _INDEX_OF[report.code],
        "level": _LEVELS[report.severity],
        "message": {"text": without_links(report.message)},
        "locations": [{"physicalLocation": _place(report.location, root)}],
        # GitHub's name for it, and its form.
        "partialFingerprints": {"primaryLocationLineHash": known_by},
        **({"relatedLocations": related} if related else {}),
        **({"fixes": fixes} if fixes else {}),
    }


def _fix(fix: formats.ReportedFix, root: str | None) -> Mapping[str, object]:
    change = {
        "artifactLocation": _artifact(fix.edits[0][0].path, root),
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


def _place(location: Location, root: str | None) -> Mapping[str, object]:
    return {"artifactLocation": _artifact(location.path, root), "region": _region(location)}


def _artifact(path: str, root: str | None) -> Mapping[str, str]:
    """Relative to the current folder for what is in there (§3.4.4), else as a whole."""
    if path == STDIN:
        return {"uri": "stdin"}
    uri = Path(os.path.abspath(path)).as_uri()  # noqa: PTH100 - that would follow links
    if root is None or not uri.startswith(root):
        return {"uri": uri}
    return {"uri": uri[len(root) :], "uriBaseId": _ROOT}


def _region(location: Location) -> Mapping[str, int]:
    return location.range("startLine", "startColumn", "endLine", "endColumn")


FORMATS: Mapping[str, formats.Format] = dict(
    zip(formats.FOR_PROGRAMS, (as_github, as_gitlab, as_json, as_junit, as_sarif), strict=True)
)
