"""Which findings there are, by the subjects that they come from and the lines they stand on.

Findings on one line alone are worded when somebody asks for that line. Those
that compare lines are kept, each under the key of its subject, so that an edit
replaces exactly the findings of the subjects that it touches.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from drive_trace.rules import RULES, rules_for
from drive_trace.rules.base import FeedEvent, FileEnd, Finding, Remarked, RunSoFar, Severity
from drive_trace.trace.index import Index
from drive_trace.trace.line import Line, LineSet
from drive_trace.trace.places import resolve

Key = tuple[str, object]

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

    def __init__(self, index: Index, revision: int = 0) -> None:
        self._index = index
        self._by_subject: dict[Key, tuple[Finding, ...]] = {}
        self._across: dict[Line, list[Finding]] = {}
        self._worded: dict[Line, Sequence[Finding]] = {}
        self._counts: dict[Line, int] = {}
        self._total = 0
        self._with_errors = LineSet()
        self._with_any = LineSet()
        self.revision = revision
        """Changes when a finding comes or goes."""
        self._last: Line | None = None
        self._dirty_feeds: set[Line] = set()
        self._dirty_runs: set[str] = set()

    def forget(self, lines: Iterable[Line]) -> None:
        """Lines go; the index has let go of them already, their order still holds."""
        for line in lines:
            self._touch(line)
            self._dirty_feeds.discard(line)
            self._by_subject.pop(("feed", line), None)
            self._across.pop(line, None)
            self._unfile(line)

    def learn(self, lines: Iterable[Line], last: Line) -> None:
        """Lines come, in document order; the index knows them already."""
        for line in lines:
            if line.remarks:
                self._file(line)
            event = line.event
            if event is not None and (event.is_work or event.is_feed):
                self._touch(line)
        self._rerun(last)

    @property
    def total(self) -> int:
        """How many findings there are."""
        return self._total

    def lines(self) -> Sequence[Line]:
        """The lines that have findings, in order."""
        return self._with_any

    def of(self, line: Line) -> Sequence[Finding]:
        """The findings of one line, by where on it they stand."""
        found = self._worded.get(line)
        if found is None:
            found = [
                *chain.from_iterable(
                    RULES[remark.concern].check(Remarked(line, remark)) for remark in line.remarks
                ),
                *self._across.get(line, ()),
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
        chosen = LineSet()
        seen: set[Line] = set()
        room, last = most, None
        for line in chain(self._around(near), self._with_errors, self._with_any):
            if line not in seen:
                seen.add(line)
                chosen.add(line)
                last, room = line, room - self._counts[line]
                if room <= 0:
                    break
        kept = self._counts[last] + room if last is not None else 0
        return Selection(chosen, last, kept)

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

    # What an edit touches

    def _touch(self, line: Line) -> None:
        """Note the subjects that a line's coming or going changes."""
        event = line.event
        if event is None or not (event.is_feed or event.is_work):
            return
        run_id = line.run
        self._dirty_runs.add(run_id)
        if event.is_feed:
            run = self._index.runs.get(run_id)
            feed = run.events(event.name) if run is not None else LineSet()
            beside = (feed.before(line), line if feed.has(line) else None, feed.after(line))
            self._dirty_feeds.update(each for each in beside if each is not None)

    def _rerun(self, last: Line) -> None:
        for line in self._dirty_feeds:
            assert line.event is not None
            feed = self._index.runs[line.run].events(line.event.name)
            event = FeedEvent(feed.before(line), line, feed.after(line))
            self._set(("feed", line), _run_rules(event))
        for run_id in self._dirty_runs:
            run = self._index.runs.get(run_id)
            self._set(("run", run_id), _run_rules(RunSoFar(run)) if run is not None else ())
        self._dirty_feeds.clear()
        self._dirty_runs.clear()
        if last is not self._last:
            self._last = last
            self._set(("end", None), _run_rules(FileEnd(last)))

    def _set(self, key: Key, findings: tuple[Finding, ...]) -> None:
        before = self._by_subject.get(key, ())
        if findings == before:
            return
        self._by_subject.pop(key, None)
        if findings:
            self._by_subject[key] = findings
        for finding in before:
            kept = [each for each in self._across.get(finding.line, ()) if each is not finding]
            if kept:
                self._across[finding.line] = kept
            else:
                self._across.pop(finding.line, None)
        # A line that an edit removed is not filed any more, and must not come back.
        changed = [finding.line for finding in before if finding.line in self._counts]
        for finding in findings:
            self._across.setdefault(finding.line, []).append(finding)
            changed.append(finding.line)
        for line in dict.fromkeys(changed):
            self._unfile(line)
            self._file(line)

    # Which lines have findings

    def _file(self, line: Line) -> None:
        across = self._across.get(line, ())
        count = len(line.remarks) + len(across)
        if count:
            self.revision += 1
            self._counts[line] = count
            self._total += count
            self._with_any.add(line)
            if self._has_error(line):
                self._with_errors.add(line)

    def _unfile(self, line: Line) -> None:
        self._worded.pop(line, None)
        count = self._counts.pop(line, 0)
        if count:
            self.revision += 1
            self._total -= count
            self._with_errors.discard(line)
            self._with_any.discard(line)

    def _has_error(self, line: Line) -> bool:
        return line.is_rejected or any(
            finding.rule.severity is Severity.ERROR for finding in self._across.get(line, ())
        )


def _run_rules(subject: FeedEvent | RunSoFar | FileEnd) -> tuple[Finding, ...]:
    kind: type[object] = type(subject)
    rules = rules_for(kind)
    return tuple(chain.from_iterable(rule.check(subject) for rule in rules))
