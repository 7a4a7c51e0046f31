"""Findings between traces that are checked together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

from drive_trace.api import Analysis
from drive_trace.commands.formats.report import Location, RelatedPlace, Reported
from drive_trace.rules import RULES
from drive_trace.rules.base import Finding, Related
from drive_trace.rules.settings import RuleSettings
from drive_trace.rules.subjects import GradeInFile, RunInFiles
from drive_trace.trace.places import resolve
from drive_trace.vocabulary import CORRECTNESS_FIELDS, GRADE

_CHECKS = [
    check
    for rule in RULES.values()
    for check in (rule.check_across, rule.check if rule.subject is RunInFiles else None)
    if check is not None
]


class Across:
    """Keeps of each trace what the rules across files look at, and runs them at the end."""

    def __init__(self) -> None:
        self._grades: dict[str, list[GradeInFile]] = {}
        self._settings: dict[str, RuleSettings] = {}

    def add(self, analysis: Analysis, path: str, settings: RuleSettings) -> None:
        """Take in a trace."""
        for run in analysis.index.runs.values():
            line = run.events(GRADE).last
            if line is not None:
                nulls = [name for name in CORRECTNESS_FIELDS if line.fact(name) is None]
                erased = frozenset(
                    name for name in nulls if any(each.fact(name) for each in run.events(GRADE))
                )
                grade = GradeInFile(path, analysis.line_number(line), line, erased)
                self._grades.setdefault(run.run_id, []).append(grade)
                self._settings[path] = settings

    def reports(self) -> Iterator[tuple[Reported, bool]]:
        """What the rules find, each with whether a baseline hides it."""
        for grades in self._grades.values():
            if len(grades) > 1:
                subject = RunInFiles(tuple(grades))
                for finding in chain.from_iterable(check(subject) for check in _CHECKS):
                    yield from self._report(finding, grades)

    def _report(
        self, finding: Finding, grades: Sequence[GradeInFile]
    ) -> Iterator[tuple[Reported, bool]]:
        location = _location(finding, grades)
        settings = self._settings[location.path]
        severity = settings.severity(finding.rule)
        if severity is not None:
            yield (
                Reported(
                    finding.rule,
                    severity,
                    location,
                    _words(finding),
                    finding.line.text,
                    lambda: [
                        RelatedPlace(_location(each, grades), _words(each))
                        for each in finding.related
                    ],
                    list,
                ),
                settings.knows(finding.rule.code, finding.line.text),
            )


def _location(finding: Finding | Related, grades: Sequence[GradeInFile]) -> Location:
    path, number = next(each[:2] for each in grades if each.line is finding.line)
    text = finding.line.text
    return Location.of(path, number - 1, text, resolve(text, finding.place))


def _words(finding: Finding | Related) -> str:
    """A message across files names lines of other files itself, with their files."""
    return "".join(str(word) for word in finding.words)
