"""Findings as every format has them, and how ``check`` writes them: a class a format."""

from __future__ import annotations

import json
import os
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, TextIO

import click
import msgspec
import orjson

from drive_trace import __version__
from drive_trace.analysis import Analysis
from drive_trace.commands.terminal import fitting, frame_columns, in_colour, is_terminal
from drive_trace.linter.rule import Finding, Related, Rule, UnreadFile
from drive_trace.linter.rules import RULES, documentation
from drive_trace.linter.settings import Severity, fingerprint
from drive_trace.scorecard.caveats import Unread
from drive_trace.storage.files import STDIN
from drive_trace.text.escaping import cells, in_json, printable, visible, without_links
from drive_trace.text.spans import Span, terminal_columns
from drive_trace.text.wording import numbered_lines, plural


class Location(NamedTuple):
    """A place in a file. Lines and columns count from 1, and the end is exclusive."""

    path: str
    line: int
    column: int
    end_line: int
    end_column: int

    @classmethod
    def of(cls, path: str, record: int, text: str, span: Span) -> Location:
        """The place of a span in a record. A span beyond the text includes the line's end."""
        if span.end > len(text):
            return cls(path, record + 1, span.start + 1, record + 2, 1)
        return cls(path, record + 1, span.start + 1, record + 1, span.end + 1)

    def range(self, *names: str) -> dict[str, int]:
        """Line, column, end line and end column under the names that a format has for them."""
        return dict(zip(names or self._fields[1:], self[1:], strict=True))


class RelatedPlace(NamedTuple):
    """Another place that explains a finding."""

    location: Location
    message: str


class ReportedFix(msgspec.Struct, frozen=True):
    """A way to mend a finding."""

    title: str
    safe: bool
    edits: Sequence[tuple[Location, str]]
    """Each puts a text in place of what stands at a location."""


class Reported(msgspec.Struct, frozen=True):
    """A finding, ready to be printed: plain data, which goes from process to process."""

    code: str
    """Of its rule."""
    severity: Severity
    location: Location
    message: str
    text: str | None
    """The text of its line; None if nothing could be read."""
    related: Sequence[RelatedPlace] = ()
    fixes: Sequence[ReportedFix] = ()
    places: Sequence[Reported] = ()
    """The others that it sums up."""
    follows: Sequence[Reported] = ()
    """What is not told, as it follows from it."""

    @property
    def is_fixable(self) -> bool:
        """Whether ``--fix`` mends it, or one of its places."""
        return any(fix.safe for each in (self, *self.places) for fix in each.fixes)


class Totals(msgspec.Struct, frozen=True):
    """What a format shows after the findings."""

    files: int
    notes: Sequence[str] = ()
    """What a person must know to understand the findings: what was fixed, what is hidden."""
    unread: Sequence[Unread] = ()
    """What could not be read; each is a finding, too."""
    is_quiet: bool = False
    """Whether the findings are all that is wanted."""


def reported(analysis: Analysis, path: str) -> Iterator[Reported]:
    """What is told of the findings of a trace, in order."""
    for told in analysis.told():
        others = (
            [_reported(analysis, path, each) for each in some]
            for some in (told.places, told.follows)
        )
        found = _reported(analysis, path, told.finding, *others)
        same = (each for each in found.places if each.location.line == found.location.line)
        fixes = [*found.fixes, *(fix for each in same for fix in each.fixes)]
        titles = {fix.title: fix for fix in reversed(fixes)}
        yield msgspec.structs.replace(found, fixes=[*reversed(titles.values())])


def _reported(
    analysis: Analysis,
    path: str,
    finding: Finding,
    places: Sequence[Reported] = (),
    follows: Sequence[Reported] = (),
) -> Reported:
    number = analysis.document.number
    related = [
        RelatedPlace(_location(analysis, path, each), analysis.message(each.message))
        for each in finding.related
    ]
    fixes = [
        ReportedFix(
            fix.title,
            fix.safe,
            [
                (Location.of(path, number(line), line.text, span), text)
                for line, span, text in fix.edits
            ],
        )
        for fix in analysis.fixes(finding)
    ]
    return Reported(
        finding.rule.code,
        analysis.severity_of(finding),
        _location(analysis, path, finding),
        analysis.message(finding.message),
        finding.line.text,
        related,
        fixes,
        places,
        follows,
    )


def unreadable(
    unread: Unread, severity: Severity = Severity.ERROR, at: Location | None = None
) -> Reported:
    """The finding on what could not be read, whatever is set."""
    rule = RULES["unreadable-file"]
    (finding,) = rule.check(UnreadFile(unread.reason))
    location = at or Location.of(unread.path, 0, "", Span(0, 0))
    return Reported(rule.code, severity, location, "".join(map(str, finding.message)), None)


def _location(analysis: Analysis, path: str, found: Finding | Related) -> Location:
    record, span = analysis.where(found)
    other = analysis.other_file(found.line)
    location = Location.of(path if other is None else other.path, record, found.line.text, span)
    last = found.last if isinstance(found, Finding) else None
    if last is None:
        return location
    end = len(last.text.rstrip("\r")) + 1
    return location._replace(end_line=analysis.line_number(last), end_column=end)


def dumps(value: object) -> str:
    """JSON text of a value; a lone surrogate becomes its escape."""
    try:
        return in_json(orjson.dumps(value).decode())
    except TypeError:
        return in_json(json.dumps(value, separators=(",", ":")))


RuleUrl = Callable[[str], str | None]
"""Gives the address of a rule's page by its code."""


class FindingWriter(ABC):
    """Writes one finding after another."""

    shows_totals = False
    """Whether the format has a place for the totals."""

    def __init__(self, out: TextIO, url_of: RuleUrl) -> None:
        self._out, self._url_of = out, cache(url_of)

    @abstractmethod
    def write(self, report: Reported) -> None:
        """Write a finding."""

    def finish(self, totals: Totals) -> None:  # noqa: B027 - most formats end with nothing
        """Write what comes after all."""


# For people

_COLOURS = {
    Severity.ERROR: "red",
    Severity.WARNING: "yellow",
    Severity.INFORMATION: "blue",
    Severity.HINT: "cyan",
}
_WIDTH = 97
"""How many columns an excerpt takes where no terminal says how many there are."""
_NARROWEST = 20
_FIXABLE = "[*]"
_BETWEEN = 22
"""Columns that statistics take for severities, marks and the space around them."""


class ConciseWriter(FindingWriter):
    """``path:line:column: severity[code] message``, a line a finding."""

    shows_totals = True

    def __init__(self, out: TextIO, url_of: RuleUrl) -> None:
        super().__init__(out, url_of)
        self._counts: Counter[Severity] = Counter()
        self._fixable = 0
        # What click does to find out for each piece of text adds up, as do its flushes.
        self._is_terminal = is_terminal(out)
        self._in_colour = in_colour(out)

    def write(self, report: Reported) -> None:
        """Write a finding."""
        self._counts[report.severity] += 1
        self._fixable += report.is_fixable
        self._write(report)

    def finish(self, totals: Totals) -> None:
        """Write the totals."""
        if totals.is_quiet:
            return
        if totals.files or totals.unread:
            phrases = [
                f"{count} {_plural(severity) if count > 1 else severity.label}"
                for severity in Severity
                if (count := self._counts[severity])
            ]
            files = plural(totals.files, "trace")
            total = f"{', '.join(phrases)} in {files}" if phrases else f"no findings in {files}"
            if totals.unread:
                total += f"; {plural(len(totals.unread), 'input')} not read"
            self._say(self._style(total, bold=True))
            if self._fixable:
                self._say(f"{_FIXABLE} {self._fixable:,} fixable with --fix")
        for note in totals.notes:
            click.echo(note, file=self._out)

    def _write(self, report: Reported) -> None:
        self._say(self._headline(report))

    def _say(self, text: str) -> None:
        if self._is_terminal:
            click.echo(text, file=self._out)
        else:
            self._out.write(f"{text}\n")

    def _style(self, text: str, **style: Any) -> str:
        return click.style(text, **style) if self._in_colour else text

    def _headline(self, report: Reported) -> str:
        severity, (path, line, column, *_) = report.severity, report.location
        place = self._style(f"{printable(path, 4096)}:{line}:{column}", bold=True)
        label = self._style(f"{severity.label}[{report.code}]", fg=_COLOURS[severity], bold=True)
        mark = f"{self._style(_FIXABLE, fg='cyan')} " if report.is_fixable else ""
        return f"{place}: {label} {mark}{report.message}"


class FullWriter(ConciseWriter):
    """The finding, its line with a caret under the token, and its first fix."""

    def _write(self, report: Reported) -> None:
        headline = self._headline(report)
        if report.text is None:
            self._say(f"{headline}\n")
            return
        _, line, column, _, end_column = report.location
        gutter = " " * len(str(line))
        columns = frame_columns(self._out)
        width = _WIDTH if columns is None else columns - len(gutter) - len(" | ")
        span = Span(column - 1, end_column - 1)
        shown, carets = excerpt(report.text.removesuffix("\r"), span, max(width, _NARROWEST))
        marks = self._style(carets, fg=_COLOURS[report.severity], bold=True)
        lines = [headline, f"{gutter} |", f"{line} | {shown}", f"{gutter} | {marks}"]
        lines += [
            f"{gutter} = {'fix' if fix.safe else 'suggestion'}: {fix.title}"
            for fix in report.fixes[:1]
        ]
        if report.places:
            also = dict.fromkeys(each.location.line for each in report.places)
            lines.append(f"{gutter} = also on {numbered_lines([*also], 12)}")
        self._say("\n".join(lines) + "\n")


class StatisticsWriter(ConciseWriter):
    """How many findings each rule has, the most first; as JSON for programs."""

    def __init__(self, out: TextIO, url_of: RuleUrl, *, as_json: bool) -> None:
        super().__init__(out, url_of)
        self.shows_totals = not as_json
        self._found: Counter[tuple[str, Severity]] = Counter()
        self._safe: Counter[tuple[str, Severity]] = Counter()

    def finish(self, totals: Totals) -> None:
        """Write the counts, then the totals."""
        rows = sorted(self._found.items(), key=lambda row: (-row[1], row[0]))
        if not self.shows_totals:
            found = [
                {
                    "code": code,
                    "severity": severity.label,
                    "count": count,
                    "fixable": self._safe[code, severity],
                }
                for (code, severity), count in rows
            ]
            self._out.write(f"{dumps(found)}\n")
            return
        width = max((len(f"{count:,}") for _, count in rows), default=0)
        mark = max((len(code) for (code, _), _ in rows), default=0)
        for (code, severity), count in rows:
            label = self._style(code.ljust(mark), fg=_COLOURS[severity], bold=True)
            fix = _FIXABLE if self._safe[code, severity] else " " * len(_FIXABLE)
            used = width + mark + _BETWEEN
            summary = fitting(RULES[code].summary, self._out, used)
            self._say(f"{count:>{width},}  {label}  {severity.label:<11}  {fix}  {summary}")
        super().finish(totals)

    def _write(self, report: Reported) -> None:
        for each in (report, *report.places):
            self._found[report.code, report.severity] += 1
            self._safe[report.code, report.severity] += any(fix.safe for fix in each.fixes)


def _plural(severity: Severity) -> str:
    return severity.label if severity is Severity.INFORMATION else f"{severity.label}s"


def excerpt(text: str, span: Span, width: int = _WIDTH) -> tuple[str, str]:
    """The part of a line around a span in at most ``width`` columns, and carets to go under it."""
    start = max(0, span.start - width)
    window = cells(text[start : span.start + width])
    before, rest = window[: span.start - start], window[span.start - start :]
    is_cut = span.start + width < len(text)
    # A third is for what stands before the mark, and more where little is behind it.
    room = max(width // 3, width - is_cut - terminal_columns(rest))
    head = tail = ""
    if start or terminal_columns(before) > room:
        head, before = "…", _beginning(before[::-1], room - 1)[::-1]
    room = width - terminal_columns(head + before)
    if is_cut or terminal_columns(rest) > room:
        tail, rest = "…", _beginning(rest, room - 1)
    marked = rest[: max(span.end - span.start, 1)]
    carets = "^" * max(1, terminal_columns(marked))
    return f"{head}{before}{rest}{tail}", " " * terminal_columns(head + before) + carets


def _beginning(text: str, width: int) -> str:
    """As much of a text as goes into some columns."""
    used = 0
    for place, each in enumerate(text):
        used += terminal_columns(each)
        if used > width:
            return text[:place]
    return text


# For programs


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
            "safe": fix.safe,
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
    """JUnit XML, as GitLab, Jenkins and others show tests: a failed case for each finding."""

    def __init__(self, out: TextIO, url_of: RuleUrl) -> None:
        super().__init__(out, url_of)
        self._cases: list[str] = []

    def write(self, report: Reported) -> None:
        """Write a finding."""
        path, line, column, *_ = report.location
        name = _attribute(f"{report.code} ({path}:{line}:{column})")
        kind, message = _attribute(report.severity.label), _attribute(report.message)
        self._cases.append(
            f"<testcase name={name} classname={_attribute(path)} file={_attribute(path)} "
            f'line="{line}"><failure type={kind} message={message}/></testcase>'
        )

    def finish(self, totals: Totals) -> None:
        """Write it all, with a case that passes if there is nothing else."""
        found = len(self._cases)
        if not found and totals.files:
            name = _attribute(f"no findings in {plural(totals.files, 'trace')}")
            self._cases.append(f'<testcase name={name} classname="drive-trace"/>')
        counts = f'tests="{len(self._cases)}" failures="{found}"'
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
    return location.range("startLine", "startColumn", "endLine", "endColumn")


FORMATS: Mapping[str, type[FindingWriter]] = {
    "concise": ConciseWriter,
    "full": FullWriter,
    "github": GithubWriter,
    "gitlab": GitlabWriter,
    "junit": JunitWriter,
    "json": JsonWriter,
    "sarif": SarifWriter,
}
