"""Events that stand in several of the files that ``check`` reads."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain

from drive_trace.analysis import Analysis
from drive_trace.commands.formats.findings import Location, RelatedPlace, Reported
from drive_trace.linter.checked_files import SharedEvents
from drive_trace.linter.rule import Finding, Related
from drive_trace.linter.rules import RULES
from drive_trace.linter.settings import RuleSettings
from drive_trace.scorecard.copies import Events, LiveEvents, Overlaps, Twin
from drive_trace.text.spans import Span
from drive_trace.trace.line import Line
from drive_trace.trace.places import resolve

_EVENT_CHECKS = [rule.check for rule in RULES.values() if rule.looks_at is SharedEvents]


class Across:
    """Compares the events of files one after another, and collects what rules find in that."""

    def __init__(self) -> None:
        self._settings: dict[str, RuleSettings] = {}
        self._paths: list[str] = []
        self._overlaps = Overlaps()
        self._found: list[tuple[Reported, bool]] = []

    def add(
        self, path: str, settings: RuleSettings, events: Events, line_at: Callable[[int], Line]
    ) -> None:
        """Take in a trace. ``line_at`` gives its lines by their places, from 0."""
        self._settings[path] = settings
        self._compare(events, path, line_at)

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
                    self._found += self._report(finding, location, [place])
        self._paths.append(path)

    def reports(self) -> Iterator[tuple[Reported, bool]]:
        """The findings across files, each with whether a baseline hides it."""
        yield from self._found

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


def events_of(analysis: Analysis) -> Events:
    """The events of a trace. Costs little: a trace that is checked alone shares nothing."""
    return LiveEvents(lambda: analysis.index.ids, analysis.line_number)


def _message(finding: Finding | Related) -> str:
    """The message of a finding across files, which names the files of the lines in it."""
    return "".join(str(part) for part in finding.message)
