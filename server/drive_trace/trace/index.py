"""The lines of a trace by run, and by what lines of several runs can name."""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import merge
from itertools import chain
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from drive_trace.json_text import ProblemKind
from drive_trace.stopping import cached_property, unless_stopped
from drive_trace.text.spans import BrokenText
from drive_trace.trace import line as trace_line
from drive_trace.trace.line import EVENT_ID, TS, FlaggedLine, Line, LineSet, LineStatus, run_of
from drive_trace.trace.provenance import Change, ProvenanceRecord, changes_in
from drive_trace.trace.run import TIMED, Run, in_order
from drive_trace.vocabulary import DISPATCH, FEEDS, SLICE, WRITERS, EventType, Form, promised_run
from drive_trace.vocabulary.slips import is_slip_of_name

if TYPE_CHECKING:
    from drive_trace.trace.history import History

_BY_FIELD = {each.field: each for each in TIMED}
_SHARED = {name: ("path", field) for field, names in WRITERS.items() for name in names}
_SHARED[DISPATCH.opener] = (DISPATCH.field, "parent_dispatch_id")
"""By event, what it names that events of other runs name, too: as what, and by which field."""
_MOST_RUNS = 32
"""In a trace with more runs, none is taken for a slip: each would be compared with each."""
_FEW_LINES = 3
"""The most lines that name a run by a slip."""
_order = attrgetter("order")

Key = tuple[str, object]
"""``event_id``, ``dispatch_id`` or ``path``, and a value that lines of several runs may have."""


def keys_of(line: Line) -> Iterator[Key]:
    """What an event names that events of other runs can name, too, beside its id: the file that it
    writes, or the dispatch that it resumes.
    """
    shared = _SHARED.get(cast("EventType", line.event).name)
    value = line.fact(shared[1]) if shared is not None else None
    if shared is not None and value is not None:
        yield shared[0], value


Identity: TypeAlias = tuple[str, str, str]
"""The id, type and ``ts`` of an event."""


def identity_of(line: Line) -> Identity:
    """What an event and its copies have in common, wherever they stand: paths, slugs and run ids
    may have been changed.
    """
    assert line.event is not None
    return line.facts[EVENT_ID], line.event.name, line.facts[TS]


class Index:
    """Groups the lines of a trace. An edit puts lines into their groups, and makes the runs anew
    whose lines came or went.
    """

    def __init__(
        self,
        lines: Iterable[Line],
        path: str | None = None,
        *,
        finds_slips: bool = False,
        copies: Iterable[Line] | None = None,
    ) -> None:
        """``finds_slips`` looks for run ids that are slips of others: lines need all their facts
        for that. Where files are joined, ``copies`` are events that were left out of ``lines``, as
        these have them already.
        """
        self._finds_slips = finds_slips
        self.path = path
        """Where the trace lies, as far as that is known."""
        self.history: History | None = None
        """What was committed of the trace, as far as that is known."""
        self.provenance: ProvenanceRecord | None = None
        """The record of where its events come from, where there is one."""
        self.runs: dict[str, Run] = {}
        """Every run that has a valid event, in no particular order."""
        self.slips: Mapping[str, str] = {}
        """By the id of a run that is most likely a slip, the run that is meant."""
        self._valid = defaultdict[str, list[Line]](list)
        self._odd = defaultdict[str | None, list[FlaggedLine]](list)
        self._are_joined = copies is not None
        self._copies = defaultdict[str, list[Line]](list)
        for line in copies or ():
            self._copies[line.run].append(line)
        for line in lines:
            if line.event is not None:
                self._valid[line.facts[trace_line.RUN_POSITION]].append(line)
            elif line.status is not LineStatus.BLANK:
                self._odd[run_of(line)].append(cast("FlaggedLine", line))
        self._make_runs({*self._valid})

    @cached_property
    def unrecorded(self) -> Sequence[Change]:
        """What became of the lines that its record of provenance has."""
        return changes_in(self.provenance, self) if self.provenance is not None else ()

    @cached_property
    def record_damage(self) -> str | None:
        """Why its record of provenance does not tell all, in a few words; None if it may."""
        record = self.provenance
        return record.damage if record and record.damage and not record.is_apart() else None

    # Edits

    def remove(self, lines: Sequence[Line]) -> set[str | None]:
        """Forget lines, whose places still hold. Gives the runs that they name."""
        return self._move(lines, put_in=False)

    def add(self, lines: Sequence[Line]) -> set[str | None]:
        """Take in lines. Gives the runs that they name."""
        return self._move(lines, put_in=True)

    def _move(self, lines: Sequence[Line], *, put_in: bool) -> set[str | None]:
        for line in lines:
            for groups, key in self._groups(line):
                place = bisect_left(groups[key], line.order, key=_order)
                if put_in:
                    groups[key].insert(place, line)
                else:
                    del groups[key][place]
                    if not groups[key]:  # else each id that somebody types would leave one
                        del groups[key]
        return set(map(run_of, lines))

    def _groups(self, line: Line) -> Iterator[tuple[defaultdict[Any, Any], Any]]:
        """Where the line belongs: groups, and which of them."""
        if line.event is not None:
            yield self._valid, line.run
            if "ids" in self.__dict__:
                yield self.ids, line.facts[EVENT_ID]
            if "named" in self.__dict__:
                yield from ((self.named, key) for key in keys_of(line))
        elif line.status is not LineStatus.BLANK:
            yield self._odd, run_of(line)

    def renew(self, named: Iterable[str | None]) -> set[str]:
        """Make the runs anew that lines name which came or went, once all have. Gives these runs,
        and those that are other ones by it.
        """
        for made_of_lines in _MADE_OF_LINES:
            self.__dict__.pop(made_of_lines, None)
        return self._make_runs({run_id for run_id in named if run_id is not None})

    def _make_runs(self, run_ids: set[str]) -> set[str]:
        for run_id in run_ids:
            self._make_run(run_id)
        before, self.slips = self.slips, self._find_slips()
        others = {*chain.from_iterable([*before.items(), *self.slips.items()])}
        for run_id in others:
            self._make_run(run_id)
        return run_ids | others

    def _make_run(self, run_id: str) -> None:
        self.runs.pop(run_id, None)
        if lines := self._valid.get(run_id):
            own = (slip for slip, meant in self.slips.items() if meant == run_id)
            slips = [self._valid.get(slip, ()) for slip in own]
            odd, meant = self._odd.get(run_id, ()), self.slips.get(run_id)
            run = Run(run_id, lines, odd, [*chain.from_iterable(slips)], meant)
            run.copies = self._copies[run_id] if self._are_joined else None
            self.runs[run_id] = run

    def _find_slips(self) -> Mapping[str, str]:
        """The runs of a few lines that are most likely part of one with more, with that one: they
        name a dispatch or round of it by its UUID; or they start nothing, and their ids differ by a
        slip, or that one is promised by the path, or lacks what they have of a slice.
        """
        if not self._finds_slips or not 1 < len(self.runs) <= _MOST_RUNS:
            return {}
        few = [run for run in self.runs.values() if len(run) <= _FEW_LINES]
        others = [run for run in self.runs.values() if len(run) > _FEW_LINES]
        promised = promised_run(self.path or "")
        found: dict[str, str] = {}
        for run in few:
            meant = [each for each in others if _is_part_of(run, each, promised)]
            if len(meant) == 1:
                found[run.run_id] = meant[0].run_id
        return found

    # What lines of several runs name

    @cached_property
    def ids(self) -> defaultdict[Any, list[Line]]:
        """The events by their ids. An edit keeps it up to date."""
        found = defaultdict[Any, list[Line]](list)
        for line in sorted(chain.from_iterable(self._valid.values()), key=_order):
            found[line.facts[EVENT_ID]].append(line)
        return found

    @cached_property
    def named(self) -> defaultdict[Key, list[Line]]:
        """The events by what else they name; see :func:`keys_of`. An edit keeps it up to date."""
        found = defaultdict[Key, list[Line]](list)
        events = (run.events(name) for run in self.runs.values() for name in _SHARED)
        for line in sorted(chain.from_iterable(events), key=_order):
            for key in keys_of(line):
                found[key].append(line)
        return found

    def naming(self, key: Key) -> Sequence[Line]:
        """The events that name something; of an id that one alone has, maybe none."""
        if key[0] != "event_id":
            return self.named.get(key, ())
        # Before there are edits, nobody needs a table of all ids.
        return (self.ids if "ids" in self.__dict__ else self.repeated_ids).get(key[1], ())

    @cached_property
    def repeated_ids(self) -> Mapping[object, Sequence[Line]]:
        """The events of each id that several have: most often there is none, and only these few are
        grouped.
        """
        lines = [*chain.from_iterable(self._valid.values())]
        counts = Counter([line.facts[EVENT_ID] for line in lines])
        found = defaultdict[object, LineSet](LineSet)
        shared = lines if len(counts) < len(lines) else ()
        for line in in_order(each for each in shared if counts[each.facts[EVENT_ID]] > 1):
            found[line.facts[EVENT_ID]].append(line)
        return found

    def repeats(self, run_id: str) -> Sequence[Line]:
        """The events of a run that are copies of one above them. It is cheap for a keystroke, as
        whoever expects edits has made the ids, which they keep: the repeated ids are made of all.
        """
        by_id = self.ids if "ids" in self.__dict__ else self.repeated_ids
        lines = self._valid.get(run_id, ()) if by_id else ()
        alike = [line for line in lines if len(by_id.get(line.facts[EVENT_ID], ())) > 1]
        first: dict[Identity, Line] = {}
        return [line for line in alike if first.setdefault(identity_of(line), line) is not line]

    def having(self, name: str, field: str, value: object) -> LineSet:
        """The events of one name in which a field has a value, of all runs."""
        runs = self.runs.values()
        return in_order(chain.from_iterable(run.of(name, field, value) for run in runs))

    @cached_property
    def kept(self) -> dict[Any, Any]:
        """What was made of all lines as they are, by what made it."""
        return {}

    # The runs, and the lines that readers do not count

    @cached_property
    def runs_in_order(self) -> Sequence[Run]:
        """The runs by their first line."""
        return sorted(self.runs.values(), key=lambda run: run.lines[0].order)

    @cached_property
    def _unread(self) -> dict[str | None, Run]:
        odd = self._odd.items()
        return {run_id: Run("", odd=lines) for run_id, lines in odd if run_id not in self.runs}

    def unread_naming(self, run_id: str, field: str, value: object) -> Sequence[Line]:
        """The lines of a run that readers reject or keep apart, and on which a field names
        something.
        """
        run = self.runs.get(run_id, self._unread.get(run_id))
        return run.unread(field, value) if run is not None else ()

    @cached_property
    def rejected(self) -> Mapping[str | None, LineSet]:
        """The rejected lines by the run id that can be read from them."""
        found = defaultdict[str | None, LineSet](LineSet)
        for line in unless_stopped(merge(*self._odd.values(), key=_order)):
            if line.is_rejected:
                found[trace_line.named_run(line)].append(line)
        return dict(found)

    @cached_property
    def rejected_feeds(self) -> LineSet:
        """The rejected lines whose event type can be read, and is a feed's."""
        odd = unless_stopped(chain.from_iterable(self._odd.values()))
        return in_order(line for line in odd if line.is_rejected and line.event_name in FEEDS)

    @cached_property
    def strays(self) -> tuple[LineSet, LineSet, LineSet]:
        """The rejected lines of no run that has a valid event here: each may be of any, as the id
        that one names may be bent. First those that hold a feed's name or all its fields, then the
        others, but for the marks of merge conflicts, which are the last.
        """
        lines = (lines for run_id, lines in self.rejected.items() if run_id not in self.runs)
        found = LineSet(), LineSet(), LineSet()
        for line in unless_stopped(merge(*lines, key=_order)):
            feed = trace_line.feed_named(line.text) or trace_line.feed_with_fields(line.text)
            kinds = [each.problem.kind for each in line.diagnostics if each.problem is not None]
            found[2 if ProblemKind.MERGE_CONFLICT in kinds else not feed].append(line)
        return found

    @cached_property
    def unknown(self) -> LineSet:
        """Lines whose event type is outside the vocabulary."""
        odd = unless_stopped(chain.from_iterable(self._odd.values()))
        return in_order(line for line in odd if not line.is_rejected)

    @cached_property
    def uncounted(self) -> Mapping[str, Sequence[Line]]:
        """The lines of each run of which readers count none, by the first one that names it: also
        lines that name several runs, or one not as a field of their own.
        """
        named: list[tuple[str | None, Sequence[Line]]] = [*self.rejected.items()]
        named += [(run_of(line), (line,)) for line in self.unknown]
        for line in unless_stopped(self.rejected.get(None, ())):
            if trace_line.RUN_FIELD in line.text:
                named += [(run_id, (line,)) for run_id in trace_line.runs_named(line)]
        found = defaultdict[str, list[Line]](list)
        for run_id, lines in named:
            if run_id is not None and run_id not in self.runs:
                found[run_id] += lines
        for each in found.values():
            each.sort(key=_order)
        return dict(sorted(found.items(), key=lambda each: each[1][0].order))

    def names(self, run_id: str) -> bool:
        """Whether a line names a run, whatever readers make of the line."""
        return run_id in self.runs or run_id in self.uncounted

    @property
    def is_illegible(self) -> bool:
        """Whether there are lines, and a run can be read from none of them."""
        return bool(self._odd) and not (self.runs or self.uncounted)

    @cached_property
    def is_binary(self) -> bool:
        """Whether it is no trace, but bytes: no run can be read, and a line holds no text."""
        return self.is_illegible and any(
            "\0" in line.text or isinstance(line.text, BrokenText)
            for line in chain.from_iterable(self._odd.values())
        )

    def may_be_worked(self, run_id: str, start: Line, end: Line) -> bool:
        """Whether work of a run stands between two lines, or what may be: a rejected line that
        names it or none, or an event of an unknown type.
        """
        after, before = (len(self.runs[run_id].work_after(each)) for each in (start, end))
        odd = (self.rejected.get(run_id), self.rejected.get(None), self.unknown)
        is_odd = any(each and each.position(start) < each.position(end) for each in odd)
        return after > before or is_odd


_KEPT_UP_TO_DATE = {"ids", "named"}
_MADE_OF_LINES = {
    name for name, each in vars(Index).items() if isinstance(each, cached_property)
} - _KEPT_UP_TO_DATE
"""What an edit has made anew."""


def _is_part_of(run: Run, other: Run, promised: str | None) -> bool:
    """Whether a run of a few lines is most likely part of another one."""
    named = chain.from_iterable(map(trace_line.references_of, run.lines))
    ids = [each for each in named if each[0] in _BY_FIELD and str(each[1]) in Form.UUID]
    if ids:
        members = [(name, *each) for each in ids for name in _BY_FIELD[each[0]].members]
        return any(other.of(*each) for each in members)
    return not _starts(run) and (
        other.run_id == promised
        or is_slip_of_name(run.run_id, other.run_id)
        or any(_lacks(other, line) for line in run.lines)
    )


def _lacks(run: Run, line: Line) -> bool:
    """Whether a line starts a slice that a run ends alone, or ends one that it starts alone."""
    events = {SLICE.opener, SLICE.closer}
    other = events - {trace_line.name_of(line)}
    return len(other) == 1 and other == {
        name for name in events if run.of(name, SLICE.field, line.fact(SLICE.field))
    }


def _starts(run: Run) -> bool:
    """Whether a run has a start of its own: an event that names the run twice, by the same id."""
    return any(
        line.event is not None
        and "project_slug" in line.event.fields
        and all(each.kind != "project-slug-mismatch" for each in line.diagnostics)
        for line in run.lines
    )
