"""Runs the rules that compare lines on one line: the rules that are on, with their options."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from drive_trace.rules import RULES
from drive_trace.rules.base import Finding, Remarked, Rule
from drive_trace.rules.settings import RuleSettings
from drive_trace.rules.subjects import KINDS, FileEnd, Finder
from drive_trace.trace.index import Index
from drive_trace.trace.line import Line
from drive_trace.vocabulary import EVENTS

Check = Callable[[Any], Iterable[Finding]]


class Judge:
    """Finds what is wrong with lines beside others of their trace."""

    def __init__(self, index: Index, settings: RuleSettings) -> None:
        self._index = index
        self.options: dict[str, dict[str, Any]] = {}
        """The values of the options of each rule that is on, by its code."""
        checks: dict[type[object], list[Check]] = {}
        for rule in RULES.values():
            if rule.subject is not Remarked and settings.severity(rule) is not None:
                self.options[rule.code] = settings.values(rule)
                checks.setdefault(rule.subject, []).append(_check_of(rule, settings))
        self._checks = checks
        self._by_event: dict[str, list[tuple[Finder, list[Check]]]] = {
            name: [
                (kind.find, checks[subject])
                for subject, kind in KINDS.items()
                if name in kind.events and subject in checks
            ]
            for name in EVENTS
        }

    @property
    def kinds(self) -> Sequence[type[tuple[object, ...]]]:
        """The kinds of subjects that some rule looks at, in the order in which they are judged."""
        return [kind for kind in KINDS if kind in self._checks]

    def of_line(self, line: Line) -> list[Finding]:
        """Everything that rules find on a valid line that look at others too."""
        found: list[Finding] = []
        if line.event is not None:
            for find, checks in self._by_event[line.event.name]:
                for subject in find(self._index, line):
                    for check in checks:
                        found += check(subject)
        return found

    def of_kind(self, kind: type[tuple[object, ...]], line: Line) -> list[Finding]:
        """What the rules find on a line that look at one kind of subject."""
        checks = self._checks[kind]
        return [
            finding
            for subject in KINDS[kind].find(self._index, line)
            for check in checks
            for finding in check(subject)
        ]

    def of_end(self, last: Line) -> list[Finding]:
        """What rules find at the end of the file."""
        return [each for check in self._checks.get(FileEnd, ()) for each in check(FileEnd(last))]


def _check_of(rule: Rule[Any], settings: RuleSettings) -> Check:
    return partial(rule.check, **settings.values(rule)) if rule.options else rule.check
