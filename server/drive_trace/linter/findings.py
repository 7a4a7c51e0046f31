"""Which findings there are, and on which lines.

Findings on one line alone are worded when somebody asks for that line. Those
that look across lines are found by :mod:`~drive_trace.linter.engine`, and kept
here by the line that they stand on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from operator import attrgetter
from typing import Any, NamedTuple

from drive_trace.linter.engine import Judge
from drive_trace.linter.known_findings import KnownLines
from drive_trace.linter.rule import Finding, LineDiagnostic, Rule, Severity
from drive_trace.linter.rules import RULES
from drive_trace.linter.settings import RuleSettings
from drive_trace.trace.index import Index
from drive_trace.trace.line import Line, LineSet
from drive_trace.trace.places import resolve

_order = attrgetter("order")

_NEAR = 50
"""How many lines with findings on each side of an edit are shown whatever the limit."""


class Selection(NamedTuple):
    """Some of a trace's findings."""

    lines: Sequence[Line]
    """In document order, all findings of each, but for :attr:`cut`."""
    cut: Line | None
    """The line of which the first :attr:`kept` findings are meant only."""
    kept: int


class FindingStore:
    """The findings of one trace. Told of every line that comes and goes."""

    def __init__(
        self, index: Index, lines: Sequence[Line], settings: RuleSettings, revision: int = 0
    ) -> None:
        """Take in a whole trace; the index knows it already. ``lines`` are all of it, now and
        after each edit.
        """
        self._index = index
        self._settings = settings
        self._judge = Judge(index, lines, settings)
        self._known = KnownLines(settings.known)
        self._is_plain = not settings.severities and not settings.known
        """Whether every finding is shown, as severe as its rule says."""
        self._across: dict[Line, list[Finding]] = {}
        self._worded: dict[Line, Sequence[Finding]] = {}
        self._counts: dict[Line, int] = {}
        self._hidden: dict[Line, int] = {}
        self._total = 0
        self.hidden_total = 0
        """How many findings a baseline hides."""
        self._with_errors = LineSet()
        self._with_any = LineSet()
        self.revision = revision
        """Changes when a finding comes or goes."""
        self._gone: set[Line] = set()
        for finding in self._judge.of_whole():
            self._across.setdefault(finding.line, []).append(finding)
        filed = {line for line in lines if line.diagnostics}
        for line in sorted(filed | self._across.keys(), key=_order):
            self._file(line)

    def expect_edits(self) -> None:
        """Build now what the first edit would else have to build: any line of an event asks for
        all the tables that others of it will.
        """
        for run in list(self._index.runs.values()):
            for lines in run.by_event.values():
                self._judge.expect_edits(lines[0])

    def forget(self, lines: Iterable[Line]) -> None:
        """Lines go; the index has let go of them already, their order still holds."""
        self._gone.update(lines)
        for line in self._gone:
            self._judge.touch(line)
            self._unfile(line)

    def learn(self, lines: Iterable[Line]) -> None:
        """Lines come; the index knows them already."""
        changed = set(lines)
        for line in changed:
            self._judge.touch(line)
        before, now = self._judge.look_again(self._gone)
        if before != now:
            changed.update(each.line for each in chain(before, now))
            for finding in before:
                self._across[finding.line].remove(finding)
            for finding in now:
                self._across.setdefault(finding.line, []).append(finding)
        for line in changed - self._gone:
            self._unfile(line)
            self._file(line)
        for line in changed | self._gone:
            if not self._across.get(line, True):
                del self._across[line]
        self._gone.clear()

    @property
    def total(self) -> int:
        """How many findings there are."""
        return self._total

    def lines(self) -> Sequence[Line]:
        """The lines that have findings, in order."""
        return self._with_any

    def count_of(self, line: Line) -> int:
        """How many findings a line has."""
        return self._counts.get(line, 0)

    def lines_before(self, line: Line) -> int:
        """How many lines before this one have findings."""
        return self._with_any.position(line)

    def of(self, line: Line) -> Sequence[Finding]:
        """The findings of one line, by where on it they stand."""
        found = self._worded.get(line)
        if found is None:
            found = [
                *chain.from_iterable(
                    RULES[diagnostic.kind].check(LineDiagnostic(line, diagnostic))
                    for diagnostic in line.diagnostics
                    if self._shows(diagnostic.kind, line)
                ),
                *(each for each in self._across.get(line, ()) if self._shows(each.rule.code, line)),
            ]
            if len(found) > 1:
                found.sort(key=lambda each: (resolve(line.text, each.place), each.rule.code))
            self._worded[line] = found
        return found

    def select(self, most: int, near: Line | None) -> Selection:
        """At most ``most`` findings, by their lines in order.

        Those near a line are always among them, then errors come before the rest.
        """
        if self._total <= most:
            return Selection(self._with_any, None, 0)
        chosen: set[Line] = set()
        room, last = most, None
        for line in chain(self._around(near), self._with_errors, self._with_any):
            if line not in chosen:
                chosen.add(line)
                last, room = line, room - self._counts[line]
                if room <= 0:
                    break
        kept = self._counts[last] + room if last is not None else 0
        return Selection(sorted(chosen, key=_order), last, kept)

    def _around(self, near: Line | None) -> Iterator[Line]:
        """Lines with findings beside a line, the nearest first."""
        if near is None:
            return
        lines = self._with_any
        at = lines.position(near)
        yield from lines[at : at + 1]
        for distance in range(1, _NEAR + 1):
            if distance <= at:
                yield lines[at - distance]
            yield from lines[at + distance : at + distance + 1]

    # Which lines have findings

    def _file(self, line: Line) -> None:
        if not self._is_plain:
            for other in self._known.add(line, self._codes(line)):
                self._uncount(other)
                self._count(other)
        self._count(line)

    def _count(self, line: Line) -> None:
        across = self._across.get(line, ())
        if self._is_plain:
            count = len(line.diagnostics) + len(across)
            has_error = line.is_rejected or any(_is_error(each.rule) for each in across)
        else:
            codes = self._codes(line)
            shown = [each for each in codes if not self._known.hides(each, line)]
            count = len(shown)
            has_error = any(self._severity(each) is Severity.ERROR for each in shown)
            if len(codes) > count:
                self._hidden[line] = len(codes) - count
                self.hidden_total += self._hidden[line]
        if count:
            self.revision += 1
            self._counts[line] = count
            self._total += count
            self._with_any.add(line)
            if has_error:
                self._with_errors.add(line)

    def _codes(self, line: Line) -> Sequence[str]:
        """The codes of what the rules that are on find on a line."""
        found = [each.rule.code for each in self._across.get(line, ())]
        codes = [*(each.kind for each in line.diagnostics), *found]
        return [each for each in codes if self._severity(each) is not None]

    def _unfile(self, line: Line) -> None:
        self._uncount(line)
        for other in self._known.remove(line):
            self._uncount(other)
            self._count(other)

    def _uncount(self, line: Line) -> None:
        self._worded.pop(line, None)
        self.hidden_total -= self._hidden.pop(line, 0)
        count = self._counts.pop(line, 0)
        if count:
            self.revision += 1
            self._total -= count
            self._with_errors.discard(line)
            self._with_any.discard(line)

    def _severity(self, code: str) -> Severity | None:
        return self._settings.severity(RULES[code])

    def _shows(self, code: str, line: Line) -> bool:
        if self._is_plain:
            return True
        return self._severity(code) is not None and not self._known.hides(code, line)


def _is_error(rule: Rule[Any]) -> bool:
    return rule.severity is Severity.ERROR
