"""Groups the lines of a trace by run, and rejected lines by what they name.

Edits update it line by line: nothing is ever computed from all lines again. Each
part is built on first use, as checking a trace once needs little of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain
from operator import attrgetter
from typing import cast

from drive_trace.trace.line import (
    RUN_POSITION,
    DiagnosticKind,
    FlaggedLine,
    Line,
    LineSet,
    LineStatus,
    run_of,
)
from drive_trace.trace.mentions import (
    RUN_FIELD,
    feed_named,
    feed_with_fields,
    mentioned,
    named_on,
    named_run,
    runs_named,
)
from drive_trace.trace.recorded import RecordedLines
from drive_trace.trace.run_index import FactTables, RunIndex
from drive_trace.vocabulary import EVENTS, LIFETIMES, Entity, Form
from drive_trace.vocabulary.slips import is_slip_of_name

_FEEDS = {event.name for event in EVENTS.values() if event.is_feed}
_BY_FIELD = {each.field: each for each in LIFETIMES.values() if each.entity is not Entity.SLICE}
_NO_LINES: Sequence[Line] = ()
_order = attrgetter("order")
_MOST_RUNS = 32
"""In a trace with more runs, none is taken for a slip: each would be compared with each."""
_FEW_LINES = 3
"""The most lines that name a run by a slip."""


def _is_part_of(run: RunIndex, other: RunIndex) -> bool:
    """Whether a run of a few lines is most likely part of another one."""
    named = chain.from_iterable(map(named_on, run.lines_of(None)))
    ids = [each for each in named if each[0] in _BY_FIELD and str(each[1]) in Form.UUID]
    if ids:
        members = [(name, *each) for each in ids for name in _BY_FIELD[each[0]].members]
        return any(other.table(name, field).of(value) for name, field, value in members)
    return not _starts(run) and is_slip_of_name(run.run_id, other.run_id)


def _starts(run: RunIndex) -> bool:
    """Whether a run has a start of its own: an event that names the run twice, by the same id."""
    mismatch = DiagnosticKind.PROJECT_SLUG_MISMATCH
    return any(
        line.event is not None
        and "project_slug" in line.event.fields
        and all(each.kind is not mismatch for each in line.diagnostics)
        for line in run.lines_of(None)
    )


class Index(FactTables):
    """Groups the lines of a trace. Feed it every line once; take out what an edit removes."""

    def __init__(self, path: str | None = None) -> None:
        super().__init__()
        self.path = path
        """Where the trace lies, as far as that is known."""
        self.runs: dict[str, RunIndex] = {}
        """Every run that has a valid event, in no particular order."""
        self.rejected: dict[str | None, LineSet] = {}
        """The rejected lines by the run id that can be read from them."""
        self.rejected_feeds = LineSet()
        """Those of them whose event type can be read, and is a feed's."""
        self.naming_runs = LineSet()
        """The rejected lines that are of no run, and name some: several, or not as a field of their
        own, as behind a number or in an array.
        """
        self.unknown = LineSet()
        """Lines whose event type is outside the vocabulary."""
        self.slips: Mapping[str, str] = {}
        """By the id of a run that is most likely a slip, the run that is meant; for checks only, as
        :meth:`find_slips` gives it.
        """
        self.recorded: RecordedLines | None = None
        """What was recorded of the trace, as in git's ``HEAD``, where that is known."""
        self._mentions: dict[tuple[str | None, str, str], LineSet] | None = None
        self._beginnings: LineSet | None = None
        """The first line of each run."""

    def add(self, lines: Iterable[Line]) -> None:
        """Take in lines; those of one call stand in document order."""
        runs, recorded = self.runs, self.recorded
        is_fresh = not runs
        self._forget()
        for line in lines:
            event = line.event
            if recorded is not None:
                recorded.note(line, 1)
            if event is None:
                self._add_odd(cast("FlaggedLine", line))
                continue
            run_id = cast("str", line.facts[RUN_POSITION])
            run = runs.get(run_id)
            if run is None:
                run = runs[run_id] = RunIndex(run_id)
            if self._beginnings is not None:
                self._note_beginning(run, line)
            same = run.by_event.get(event.name)
            if same is None:
                run.by_event[event.name] = LineSet((line,))
            elif is_fresh or same[-1].order < line.order:
                same.append(line)
            else:
                same.add(line)
            if run.is_watched:
                run.note(line, event, 1)
            if self.is_watched:
                self.note(line, event, 1)

    def remove(self, lines: Iterable[Line]) -> None:
        """Forget lines."""
        self._forget()
        for line in lines:
            event = line.event
            if self.recorded is not None:
                self.recorded.note(line, -1)
            if event is None:
                self._remove_odd(cast("FlaggedLine", line))
                continue
            run = self.runs[line.run]
            same = run.by_event[event.name]
            same.discard(line)
            run.note(line, event, -1)
            self.note(line, event, -1)
            if not same:
                del run.by_event[event.name]
                if not run.by_event:
                    del self.runs[run.run_id]
            if self._beginnings is not None and self._beginnings.has(line):
                self._beginnings.discard(line)
                if run.by_event:
                    self._beginnings.add(run.first_line)

    @property
    def is_illegible(self) -> bool:
        """Whether there are lines, and a run can be read from none of them."""
        return bool(self.rejected or self.unknown) and not (self.runs or self.uncounted)

    @property
    def beginnings(self) -> LineSet:
        """The first line of each run."""
        if self._beginnings is None:
            lines = (run.first_line for run in self.runs.values())
            self._beginnings = LineSet(sorted(lines, key=_order))
        return self._beginnings

    def names(self, run_id: str) -> bool:
        """Whether a line names a run, whatever readers make of the line."""
        return run_id in self.runs or run_id in self.uncounted

    def _forget(self) -> None:
        for name in ("uncounted", "strays"):
            self.__dict__.pop(name, None)

    @cached_property
    def strays(self) -> tuple[LineSet, LineSet]:
        """The rejected lines of no run that has a valid event here: each may be of any, as the id
        that one names may be bent. First those that hold a feed's name or all its fields, then the
        others.
        """
        lines = (lines for run_id, lines in self.rejected.items() if run_id not in self.runs)
        found = LineSet(), LineSet()
        for line in sorted(chain.from_iterable(lines), key=_order):
            found[not (feed_named(line.text) or feed_with_fields(line.text))].append(line)
        return found

    @cached_property
    def uncounted(self) -> Mapping[str, Sequence[Line]]:
        """The lines of each run of which readers count none, by the first one that names it."""
        named: list[tuple[str | None, Sequence[Line]]] = [*self.rejected.items()]
        named += [(run_of(line), (line,)) for line in self.unknown]
        named += [(run_id, (line,)) for line in self.naming_runs for run_id in runs_named(line)]
        found: dict[str, list[Line]] = {}
        for run_id, lines in named:
            if run_id is not None and run_id not in self.runs:
                found.setdefault(run_id, []).extend(lines)
        for each in found.values():
            each.sort(key=_order)
        return dict(sorted(found.items(), key=lambda each: each[1][0].order))

    def runs_in_order(self) -> Iterator[RunIndex]:
        """The runs by their first line."""
        return (self.runs[line.run] for line in self.beginnings)

    def lines_of(self, name: str | None) -> Iterable[Line]:
        """The valid lines of one event in the whole trace, or of all events."""
        return chain.from_iterable(run.lines_of(name) for run in self.runs.values())

    def unread_naming(self, run_id: str | None, field: str, value: str) -> Sequence[Line]:
        """The lines of a run that readers reject or keep apart, and on which a field names
        something. With ``None`` those whose run cannot be read.
        """
        if self._mentions is None:
            self._mentions = {}
            for lines in (*self.rejected.values(), self.unknown):
                for line in lines:
                    self._note_mentions(cast("FlaggedLine", line), 1)
        return self._mentions.get((run_id, field, value), _NO_LINES)

    def _note_beginning(self, run: RunIndex, line: Line) -> None:
        """Take in a line that a run is about to have."""
        beginnings = self._beginnings
        assert beginnings is not None
        first = run.first_line if run.by_event else None
        if first is None or line.order < first.order:
            if first is not None:
                beginnings.discard(first)
            beginnings.add(line)

    def may_be_worked(self, run_id: str, start: Line, end: Line) -> bool:
        """Whether work of a run stands between two lines, or what may be: a rejected line that
        names it or none, or an event of an unknown type.
        """
        after, before = (self.runs[run_id].work_after(each).events for each in (start, end))
        odd = (self.rejected.get(run_id), self.rejected.get(None), self.unknown)
        is_odd = any(each and each.position(start) < each.position(end) for each in odd)
        return after > before or is_odd

    def find_slips(self) -> Mapping[str, str]:
        """The runs of a few lines that are most likely part of one with more, with that one: they
        name a dispatch or round of it by its UUID; or they start nothing, and their ids differ by a
        slip.
        """
        if not 1 < len(self.runs) <= _MOST_RUNS:
            return {}
        few = [run for run in self.runs.values() if len(run) <= _FEW_LINES]
        others = [run for run in self.runs.values() if len(run) > _FEW_LINES]
        found: dict[str, str] = {}
        for run in few:
            meant = [each for each in others if _is_part_of(run, each)]
            if len(meant) == 1:
                found[run.run_id] = meant[0].run_id
        return found

    def in_doubt_naming(self, run_id: str, field: str, value: str) -> Sequence[Line]:
        """The lines that may be the run's, and on which a field names something: those that readers
        reject or keep apart, and those that name the run by a slip.
        """
        unread = self.unread_naming(run_id, field, value)
        slips = [slip for slip, meant in self.slips.items() if meant == run_id]
        lines = chain.from_iterable(self.runs[slip].lines_of(None) for slip in slips)
        return [*unread, *(line for line in lines if (field, value) in named_on(line))]

    def _note_mentions(self, line: FlaggedLine, sign: int) -> None:
        run_id, mentions = line.run_id, self._mentions
        if mentions is None:
            return
        for field, value in mentioned(line):
            lines = mentions.get((run_id, field, value))
            if sign > 0:
                if lines is None:
                    mentions[run_id, field, value] = LineSet((line,))
                else:
                    lines.add(line)
            elif lines is not None:
                lines.discard(line)
                if not lines:
                    del mentions[run_id, field, value]

    def _add_odd(self, line: FlaggedLine) -> None:
        if line.status is LineStatus.INVALID:
            run_id = named_run(line)
            self.rejected.setdefault(run_id, LineSet()).add(line)
            self._note_mentions(line, 1)
            if line.event_name in _FEEDS:
                self.rejected_feeds.add(line)
            if run_id is None and RUN_FIELD in line.text:
                self.naming_runs.add(line)
        elif line.status is LineStatus.UNKNOWN:
            self.unknown.add(line)
            self._note_mentions(line, 1)

    def _remove_odd(self, line: FlaggedLine) -> None:
        if line.status is LineStatus.INVALID:
            run_id = named_run(line)
            self.rejected[run_id].discard(line)
            self._note_mentions(line, -1)
            self.rejected_feeds.discard(line)
            self.naming_runs.discard(line)
            if not self.rejected[run_id]:
                del self.rejected[run_id]
        elif line.status is LineStatus.UNKNOWN:
            self.unknown.discard(line)
            self._note_mentions(line, -1)
