"""Runs the rules that look across lines: over all entities of a trace, and over few after an edit.

The engine keeps findings by their entity. An edit rebuilds the entities of its
lines, and their former findings go. Nothing here knows a rule.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from drive_trace.linter.entities import (
    EntityKind,
    WholeTrace,
    dispatches,
    durations,
    lifecycle,
    mentions_of,
    phases,
    recorded,
    runs,
)
from drive_trace.linter.rule import Finding, Rule
from drive_trace.linter.rules import RULES
from drive_trace.linter.settings import RuleSettings
from drive_trace.trace.index import Index
from drive_trace.trace.line import Line

KINDS: Mapping[type[tuple[Any, ...]], EntityKind] = {
    **phases.KINDS,
    **dispatches.KINDS,
    **durations.KINDS,
    **runs.KINDS,
    **lifecycle.KINDS,
    **recorded.KINDS,
}
"""Every kind of entity of a trace."""

Check = Callable[[Any], Iterable[Finding]]
EntityKey = tuple[type[tuple[Any, ...]], Hashable]


class Engine:
    """The rules of one trace that are on, with their options, and what they have found."""

    def __init__(self, index: Index, lines: Sequence[Line], settings: RuleSettings) -> None:
        self._trace = WholeTrace(index, lines)
        self._checks: dict[type[tuple[Any, ...]], list[Check]] = {}
        for rule in RULES.values():
            if rule.entity in KINDS and settings.severity(rule) is not None:
                self._checks.setdefault(rule.entity, []).append(_check_of(rule, settings))
        self._by_field: dict[str, list[type[tuple[Any, ...]]]] = {}
        for entity in self._checks:
            for field in KINDS[entity].fields:
                self._by_field.setdefault(field, []).append(entity)
        self._found: dict[EntityKey, list[Finding]] = {}
        self._changed: set[EntityKey] = set()

    def run(self) -> Iterator[Finding]:
        """Run all rules over the whole trace."""
        self._trace.index.slips = self._trace.index.find_slips()
        for entity in self._checks:
            for key, built in KINDS[entity].whole(self._trace):
                found = self._check(entity, built)
                if found:
                    self._found.setdefault((entity, key), []).extend(found)
                    yield from found

    def touch(self, line: Line) -> None:
        """Note a line that came or went. The index has taken that in already."""
        self._changed.update(self._entities_of(line))

    def find_slips(self) -> None:
        """Look anew for runs whose ids are slips, once lines came and went."""
        index = self._trace.index
        before, now = index.slips, index.find_slips()
        changed = {run_id for run_id in {*before, *now} if before.get(run_id) != now.get(run_id)}
        lines = [line for each in changed & index.runs.keys() for line in index.runs[each].lines]
        for slips in (before, now) if changed else ():
            # What belonged to the run that was meant, and what belongs to the one that is.
            index.slips = slips
            for line in lines:
                self.touch(line)

    def run_again(self, gone: set[Line]) -> tuple[list[Finding], list[Finding]]:
        """Rebuild the entities of the lines that were touched, of which some are ``gone``. Gives
        the former findings on them, and those of now.
        """
        before: list[Finding] = []
        now: list[Finding] = []
        self._changed.update((each, ()) for each in self._checks if not KINDS[each].fields)
        for each in self._changed:
            before += self._found.pop(each, ())
            key = each[1]
            if (key[-1] if isinstance(key, tuple) and key else key) not in gone:
                now += self._rebuild(each)
        self._changed.clear()
        return before, now

    def expect_edits(self, line: Line) -> None:
        """Build the tables that an edit of such a line needs."""
        for entity, key in self._entities_of(line):
            list(KINDS[entity].build(self._trace, key))

    def _entities_of(self, line: Line) -> Iterator[EntityKey]:
        for mention in mentions_of(self._trace, line, self._by_field):
            for entity in self._by_field[mention.field]:
                for key in KINDS[entity].keys(mention):
                    if key is not None:
                        yield entity, key

    def _rebuild(self, each: EntityKey) -> Sequence[Finding]:
        entity, key = each
        found: list[Finding] = []
        for built in KINDS[entity].build(self._trace, key):
            found += self._check(entity, built)
        if found:
            self._found[each] = found
        return found

    def _check(self, entity: type[tuple[Any, ...]], built: tuple[Any, ...]) -> list[Finding]:
        found: list[Finding] = []
        for check in self._checks[entity]:
            found += check(built)
        return found


def _check_of(rule: Rule[Any], settings: RuleSettings) -> Check:
    return partial(rule.check, **settings.values(rule)) if rule.options else rule.check
