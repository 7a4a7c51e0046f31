"""What rules look at across the files that ``check`` reads."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from drive_trace.analysis import Analysis
from drive_trace.commands.formats.findings import Location, RelatedPlace, Reported
from drive_trace.linter.checked_files import GradeInFile, RunInFiles, SharedEvents
from drive_trace.linter.rule import Finding, Related
from drive_trace.linter.rules import RULES
from drive_trace.linter.settings import RuleSettings
from drive_trace.scorecard.copies import Events, LiveEvents, Overlaps, Twin
from drive_trace.text.spans import Span
from drive_trace.trace.line import Line
from drive_trace.trace.places import resolve
from drive_trace.vocabulary import CORRECTNESS_FIELDS, GRADE

_CHECKS = [
    check
    for rule in RULES.values()
    for check in (rule.check_across, rule.check if rule.looks_at is RunInFiles else None)
    if check is not None
]
_EVENT_CHECKS = [rule.check for rule in RULES.values() if rule.looks_at is SharedEvents]


class Shared(NamedTuple):
    """What a trace may share with other files."""

    grades: Sequence[tuple[str, GradeInFile]]
    """Of each run that it grades, by its id, the grade that counts."""
    events: Events

    @classmethod
    def of(cls, analysis: Analysis, path: str) -> Shared:
        """Costs little: a trace that is checked alone shares nothing."""
        grades: list[tuple[str, GradeInFile]] = []
        for run in analysis.index.runs.values():
            line = run.events(GRADE).last
            if line is not None:
                nulls = [name for name in CORRECTNESS_FIELDS if line.fact(name) is None]
                erased = frozenset(
                    name for name in nulls if any(each.fact(name) for each in run.events(GRADE))
                )
                grade = GradeInFile(path, analysis.line_number(line), line, erased)
                grades.append((run.run_id, grade))
        return cls(grades, LiveEvents(lambda: analysis.index.ids, analysis.line_number))

    def apart(self) -> Shared:
        """The same without the trace, so that another process can take it in."""
        return self._replace(events=self.events.kept())


class Across:
    """Collects what the rules across files look at, and runs them at the end."""

    def __init__(self) -> None:
        self._grades: dict[str, list[GradeInFile]] = {}
        self._settings: dict[str, RuleSettings] = {}
        self._paths: list[str] = []
        self._overlaps = Overlaps()
        self._of_events: list[tuple[Reported, bool]] = []

    def add(
        self, path: str, settings: RuleSettings, shared: Shared, line_at: Callable[[int], Line]
    ) -> None:
        """Take in a trace. ``line_at`` gives its lines by their places, from 0."""
        for run_id, grade in shared.grades:
            self._grades.setdefault(run_id, []).append(grade)
        self._settings[path] = settings
        self._compare(shared.events, path, line_at)

    def _compare(self, events: Events, path: str, line_at: Callable[[int], Line]) -> None:
        """Look for its events in the traces before it, while its lines are in memory."""
        self._overlaps.keep()  # only now, so that a single trace costs nothing
        overlap = self._overlaps.add(events)
        for twins, are_copies in ((overlap.copies, True), (overlap.conflicts, False)):
            by_file: dict[int, list[Twin]] = {}
            for twin in twins:
                by_file.setdefault(twin.file, []).append(twin)
            for file, shared in by_file.items():
                here, _, there = shared[0]
                line, other = line_at(here.line - 1), self._paths[file]
                subject = SharedEvents(line, len(shared), are_copies, other, there.line)
                place = RelatedPlace(
                    Location.of(other, there.line - 1, "", Span(0, 0)), "the same id here"
                )
                for finding in chain.from_iterable(check(subject) for check in _EVENT_CHECKS):
                    span = resolve(line.text, finding.place)
                    location = Location.of(path, here.line - 1, line.text, span)
                    self._of_events += self._report(finding, location, [place])
        self._paths.append(path)

    def reports(self) -> Iterator[tuple[Reported, bool]]:
        """The findings across files, each with whether a baseline hides it."""
        for grades in self._grades.values():
            if len(grades) > 1:
                subject = RunInFiles(tuple(grades))
                for finding in chain.from_iterable(check(subject) for check in _CHECKS):
                    related = [
                        RelatedPlace(_location(each, grades), _message(each))
                        for each in finding.related
                    ]
                    yield from self._report(finding, _location(finding, grades), related)
        yield from self._of_events

    def _report(
        self, finding: Finding, location: Location, related: Sequence[RelatedPlace]
    ) -> Iterator[tuple[Reported, bool]]:
        settings = self._settings[location.path]
        severity = settings.severity(finding.rule)
        if severity is not None:
            yield (
                Reported(
                    finding.rule,
                    severity,
                    location,
                    _message(finding),
                    finding.line.text,
                    lambda: related,
                    list,
                ),
                settings.knows(finding.rule.code, finding.line.text),
            )


def _location(finding: Finding | Related, grades: Sequence[GradeInFile]) -> Location:
    path, number = next(each[:2] for each in grades if each.line is finding.line)
    text = finding.line.text
    return Location.of(path, number - 1, text, resolve(text, finding.place))


def _message(finding: Finding | Related) -> str:
    """The message of a finding across files, which names the files of the lines in it."""
    return "".join(str(part) for part in finding.message)
