"""Which findings there are, and on which lines.

Findings on one line alone are worded when somebody asks for that line. Those
that look across lines are found by :mod:`~drive_trace.linter.engine`, and kept
here by the line that they stand on.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, chain, islice
from operator import attrgetter
from typing import NamedTuple

from drive_trace.linter.engine import Engine
from drive_trace.linter.joining import CUT_OFF, SpreadObjects
from drive_trace.linter.rule import (
    Finding,
    LineDiagnostic,
    RuleSettings,
    Severity,
    fingerprint,
    more_of,
)
from drive_trace.linter.rules import RULES
from drive_trace.stopping import unless_stopped
from drive_trace.trace.index import Index
from drive_trace.trace.joined import JoinedFiles
from drive_trace.trace.line import Line, LineSet, run_of
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
        self,
        index: Index,
        lines: Sequence[Line],
        settings: RuleSettings,
        revision: int = 0,
        joined: tuple[JoinedFiles, int] | None = None,
    ) -> None:
        """Take in a whole trace; the index knows it already. ``lines`` are all of it, now and
        after each edit. ``joined`` are the files that have runs of it, and its number among them;
        where there are some, an edit needs a new store.
        """
        self._index = index
        self._severities = {code: settings.severity(rule) for code, rule in RULES.items()}
        self._engine = Engine(index, lines, settings, joined)
        self._known = settings.known
        self._lines = lines
        self.revision = revision
        """Changes when a finding comes or goes."""
        self._gone: set[Line] = set()
        self._take_in(self._engine.run())

    def _take_in(self, found: Iterable[Finding]) -> None:
        """File all lines anew, given what the rules find across lines."""
        self._across: dict[Line, list[Finding]] = {}
        self._worded: dict[Line, Sequence[Finding]] = {}
        self._counts: dict[Line, int] = {}
        self._hidden: dict[Line, set[str]] = {}
        """The codes of what a baseline hides."""
        self._alike = Counter[str]()
        """By fingerprint, how many lines were filed on which a rule finds something."""
        self._total = 0
        self.hidden_total = 0
        """How many findings a baseline hides."""
        self._with_errors = LineSet()
        self._with_any = LineSet()
        for finding in unless_stopped(found):
            self._across.setdefault(finding.line, []).append(finding)
        self._spread = SpreadObjects(self._lines)
        filed = {line for line in self._lines if line.diagnostics}
        for line in unless_stopped(sorted(filed | self._across.keys(), key=_order)):
            self._file(line)

    def expect_edits(self) -> None:
        """Build now what the first edit would else have to build."""
        _ = self._index.ids

    def forget(self, lines: Iterable[Line]) -> None:
        """Lines go; the index has let go of them already, their places still hold."""
        self._gone.update(lines)
        for line in self._gone:
            self._unfile(line)

    def learn(self, lines: Iterable[Line]) -> None:
        """Lines come; the index knows them already."""
        changed = {*lines}
        moved = changed | self._gone
        named = set(map(run_of, moved))
        runs = self._index.renew(named)
        in_doubt = {run_of(line) for line in moved if line.event is None} | (runs - named)
        changed |= self._spread.change(self._gone, changed)
        before, now = self._engine.run_again(runs, in_doubt, moved)
        if self._known:  # it hides what stands first, so that a line can change what others show
            self._take_in(self._engine.found())
            self._gone.clear()
            return
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
                *(self._on_line(line) if not self._spread.covers(line) else ()),
                *(each for each in self._across.get(line, ()) if self._shows(each.rule.code, line)),
            ]
            if len(found) > 1:
                found.sort(key=lambda each: (resolve(line.text, each.place), each.rule.code))
            self._worded[line] = found
        return found

    def of_each(self, lines: Iterable[Line]) -> list[Sequence[Finding]]:
        """The same of lines that have some. Costs little for those that were asked for before."""
        worded = self._worded
        return [worded.get(line) or self.of(line) for line in lines]

    def first_line(self, line: Line) -> Line:
        """The line on which is said what is wrong with this one: itself, but for a line that goes
        on with an object.
        """
        return self._spread.first(line)

    def _on_line(self, line: Line) -> Iterator[Finding]:
        last = self._spread.last(line)
        for diagnostic in line.diagnostics:
            if diagnostic.more and self._shows(diagnostic.kind, line):
                yield more_of(RULES[diagnostic.kind], line, diagnostic)
            elif self._shows(diagnostic.kind, line):
                is_cut_off = diagnostic.problem is not None and diagnostic.problem.kind in CUT_OFF
                for finding in RULES[diagnostic.kind].check(LineDiagnostic(line, diagnostic)):
                    yield finding._replace(last=last) if is_cut_off else finding

    def select(self, most: int, near: Line | None) -> Selection:
        """At most ``most`` findings, by their lines in order.

        Those near a line are always among them, then errors come before the rest.
        """
        if self._total <= most:
            return Selection(self._with_any, None, 0)
        # No more lines than that are needed, as each has a finding.
        first = (islice(each, most) for each in (self._with_errors, self._with_any))
        lines = list(dict.fromkeys(chain(self._around(near), *first)))
        totals = list(accumulate(map(self._counts.__getitem__, lines)))
        last = bisect_left(totals, most)
        kept = self._counts[lines[last]] - (totals[last] - most)
        return Selection(sorted(lines[: last + 1], key=_order), lines[last], kept)

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
        codes = self._codes(line)
        if self._known:
            self._hidden[line] = {each for each in dict.fromkeys(codes) if self._hides(each, line)}
        shown = [each for each in codes if self._shows(each, line)]
        self.hidden_total += len(codes) - len(shown)
        if shown:
            self.revision += 1
            self._counts[line] = len(shown)
            self._total += len(shown)
            self._with_any.add(line)
            if any(self._severities[each] is Severity.ERROR for each in shown):
                self._with_errors.add(line)

    def _hides(self, code: str, line: Line) -> bool:
        """Whether a baseline knows what a rule finds on a line: it knows of how many lines with the
        same text, and means the first ones. One more such line is a new finding.
        """
        found_by = fingerprint(code, line.text)
        self._alike[found_by] += 1
        return self._alike[found_by] <= self._known.get(found_by, 0)

    def _codes(self, line: Line) -> Sequence[str]:
        """The codes of what the rules that are on find on a line."""
        is_said = self._spread.covers(line)
        codes: list[str] = [] if is_said else [each.kind for each in line.diagnostics]
        codes += [each.rule.code for each in self._across.get(line, ())]
        return [each for each in codes if self._severities[each] is not None]

    def _unfile(self, line: Line) -> None:
        self._worded.pop(line, None)
        count = self._counts.pop(line, 0)
        if count:
            self.revision += 1
            self._total -= count
            self._with_errors.discard(line)
            self._with_any.discard(line)

    def _shows(self, code: str, line: Line) -> bool:
        return self._severities[code] is not None and code not in self._hidden.get(line, ())
