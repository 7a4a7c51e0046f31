"""The lines of traces as the scorecard sees them: by run, of a run in all its files, and those that
stand in several runs.
"""

from array import array
from bisect import bisect_left
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import chain
from typing import cast

from drive_trace.scorecard import caveats
from drive_trace.scorecard.run_score import Recorded, RunInFile, recorded_in
from drive_trace.stopping import cached_property, unless_stopped
from drive_trace.text.quick import blake2b
from drive_trace.trace.index import Index, identity_of
from drive_trace.trace.joined import SpreadRun
from drive_trace.trace.line import FlaggedLine, Line
from drive_trace.trace.provenance import Change
from drive_trace.trace.run import Run
from drive_trace.trace.times import sortable
from drive_trace.vocabulary import COST, GRADE, OPENING

_STARTS = OPENING - {GRADE, COST}
_MOST_RUNS = 32
"""Each of them is compared with all others."""


class TraceLines:
    """The lines of a trace by run, and those that may be of any run."""

    def __init__(self, index: Index, path: str = "") -> None:
        """``path`` is how the trace is called in what is shown."""
        self.index, self.path = index, path

    @cached_property
    def unknown(self) -> tuple[caveats.Uncounted, ...]:
        """All lines of unknown types."""
        return caveats.uncounted_lines(self.index.unknown, self.path)

    @cached_property
    def strays(self) -> tuple[caveats.Uncounted, ...]:
        """See :attr:`RunInFile.strays`."""
        return caveats.uncounted_lines(self.index.strays[0][-caveats.MOST_STRAYS :])

    @cached_property
    def graded_fragments(self) -> Sequence[Run]:
        """The last graded runs that have no beginning here: the id of one may be a slip of another
        run's.
        """
        graded = (run for run in self.index.runs_in_order if run.events(GRADE))
        return [run for run in graded if _STARTS.isdisjoint(run.by_event)][-_MOST_RUNS:]

    @cached_property
    def unrecorded(self) -> Mapping[str, Sequence[Change]]:
        """By run what became of its recorded lines; what became of one without a line left
        concerns all others.
        """
        found: dict[str, list[Change]] = {}
        for each in self.index.unrecorded:
            left = [*filter(self.index.names, each.run_ids)]
            for run_id in left or [*self.index.runs, *self.index.uncounted]:
                found.setdefault(run_id, []).append(each)
        return found

    @cached_property
    def _unknown_by_run(self) -> Mapping[str | None, Sequence[caveats.Uncounted]]:
        """Under None the last of those that look like a feed's and may be of any run: they name
        none, or one without a valid event, as its id may be bent.
        """
        found: dict[str | None, list[caveats.Uncounted]] = {}
        for each in self.unknown:
            run_id = each.run_id if each.run_id in self.index.runs else None
            found.setdefault(run_id, []).append(each)
        strays = [each for each in found.get(None, ()) if each.feed is not None]
        return {**found, None: strays[-caveats.MOST_STRAYS :]}

    def part_of(self, run_id: str) -> RunInFile:
        """What the trace has of a run, which it names."""
        index, path = self.index, self.path
        run = index.runs.get(run_id)
        if run is None:
            lines = index.uncounted[run_id]
            rejected = caveats.uncounted_lines(each for each in lines if each.is_rejected)
            others = caveats.uncounted_lines((each for each in lines if not each.is_rejected), path)
            return RunInFile(path, lines[0].order + 1, rejected=rejected, unknown=others)
        unknown = self._unknown_by_run
        grades, costs = run.events(GRADE), run.events(COST)
        grade, cost = grades.last, costs.last
        return RunInFile(
            path,
            run.lines[0].order + 1,
            len(run),
            recorded_in(grade, path) if grade is not None else None,
            recorded_in(cost, path) if cost is not None else None,
            run.lines[-1].text_fact("ts"),
            rejected=caveats.uncounted_lines(index.rejected.get(run_id, ())),
            strays=self.strays,
            stray_count=len(index.strays[0]),
            unknown=tuple(sorted((*unknown.get(run_id, ()), *unknown[None]))),
            copies=tuple(line.order + 1 for line in index.repeats(run_id)),
            newest_grade=newest_grade(run),
            other_count=len(run) - len(grades) - len(costs),
        )


def newest_grade(run: Run) -> tuple[int, str] | None:
    """See :attr:`RunInFile.newest_grade`."""
    grades = run.events(GRADE)
    newest = max(grades, key=lambda line: sortable(line.text_fact("ts")) or "", default=None)
    if newest is None or newest is grades.last:
        return None
    return newest.order + 1, newest.text_fact("ts")


def _run_in(index: Index, run_id: str) -> Run:
    odd = cast("Sequence[FlaggedLine]", index.uncounted.get(run_id, ()))
    return index.runs.get(run_id) or Run(run_id, odd=odd)


class RunLines(SpreadRun):
    """A run in all its files, with the lines of each."""

    def __init__(self, run_id: str, files: Sequence[TraceLines]) -> None:
        """The files that name the run, in the order in which they are joined."""
        super().__init__([_run_in(each.index, run_id) for each in files])
        self.run_id, self.files = run_id, files
        self.parts = tuple(map(self._part, range(len(files))))
        self.correctness = self._recorded(self.grade, [part.correctness for part in self.parts])
        """The grade that counts."""
        self.tokens = self._recorded(self.counted(COST), [part.tokens for part in self.parts])

    def _part(self, file: int) -> RunInFile:
        part = self.files[file].part_of(self.run_id)
        if not any(self.copies):
            return part
        return part._replace(copied=(*part.copies, *(each.line for each in self.copies[file])))

    def _recorded(self, event: Line | None, own: Sequence[Recorded | None]) -> Recorded | None:
        """What an event of a feed records, which is the last one of its file."""
        files = zip(self.runs, own, strict=True)
        return next((one for run, one in files if event is not None and run.lines.has(event)), None)

    @cached_property
    def without_copies(self) -> Sequence[Run]:
        """Its events in each file without those that are copies."""
        found = []
        for run, part in zip(self.runs, self.parts, strict=True):
            copied = {*part.copies, *part.copied}
            own = (line for line in run.lines if line.order + 1 not in copied)
            found.append(Run(self.run_id, own) if copied else run)
        return found

    @cached_property
    def counted_once(self) -> Run:
        """The same of all files, for sums: those of several files are in no order."""
        first, *others = self.without_copies
        lines = chain.from_iterable(run.lines for run in (first, *others))
        return Run(self.run_id, lines) if others else first

    def first_ts(self, name: str) -> str | None:
        """``ts`` of the first event of a name; of several files' first ones the earliest."""
        first = [line for run in self.runs if (line := run.events(name).first) is not None]
        return min((line.text_fact("ts") for line in first), default=None)

    def nameless_after(self, file: int) -> Sequence[Line]:
        """The rejected lines that name no run, may be work of any, and stand below the grade of a
        file that may be the latest, else below the run's last event there: when others were
        written, their neighbours tell. The bracket that ends an array is no work.
        """
        run, lines = self.runs[file], self.files[file].index.strays[1]
        if not run.lines:
            return ()
        below = self.grades[file] if file in self.latest else run.lines[-1]
        after = lines[lines.position(below) :] if below is not None else ()
        return [line for line in after if line.text.strip().rstrip("},;") != "]"]


# Events that stand in several runs: of these either may be the copy. What is a copy is decided in
# ``trace/joined.py``


HASH = 8
"""So many bytes stand for an event."""


def event_hashes(index: Index) -> Mapping[str, bytes]:
    """By run the hashes of its events in a trace, sorted: the same for copies in any file, process
    and run.
    """
    return {run_id: _hashes(unless_stopped(run.lines)) for run_id, run in index.runs.items()}


def _hashes(lines: Iterable[Line]) -> bytes:
    told = ["\0".join(identity_of(each)).encode("utf-8", "surrogatepass") for each in lines]
    digests = [blake2b(each, digest_size=HASH).digest() for each in told]
    return array("Q", sorted(array("Q", b"".join(digests)))).tobytes()


def runs_sharing_events(index: Index) -> set[str]:
    """The runs of a trace that have events of others in it."""
    found: set[str] = set()
    for lines in index.repeated_ids.values() if len(index.runs) > 1 else ():
        runs: dict[Hashable, set[str]] = {}
        for line in lines:
            runs.setdefault(identity_of(line), set()).add(line.run)
        found |= {run_id for ids in runs.values() if len(ids) > 1 for run_id in ids}
    return found


class EventOwners:
    """Which runs have an event, over many files."""

    def __init__(self, events: Iterable[tuple[str, str, Sequence[int]]]) -> None:
        """``events`` are the hashes of the events of a run in a file, after both their names."""
        self.events = [*events]

    @cached_property
    def hashes(self) -> Mapping[str, Sequence[Sequence[int]]]:
        """By the id of a run those of its events, for each file."""
        found: dict[str, list[Sequence[int]]] = {}
        for run_id, _, hashes in self.events:
            found.setdefault(run_id, []).append(hashes)
        return found

    @cached_property
    def are_shared(self) -> bool:
        """Whether an event stands anywhere twice: as good as never, and told in a third of the
        time.
        """
        every = [hashes for *_, hashes in self.events]
        return len(set(chain(*every))) != sum(map(len, every))

    @cached_property
    def _owners(self) -> Sequence[Mapping[int, tuple[str, str]]]:
        """By the hash of an event the id of the first run that has it, and its file; and the same
        of another run.
        """
        first, second = dict[int, tuple[str, str]](), dict[int, tuple[str, str]]()
        for run_id, path, hashes in self.events:
            own = dict.fromkeys(hashes, (run_id, path))
            for each in () if first.keys().isdisjoint(own) else first.keys() & own:
                del own[each]
                if first[each][0] != run_id:
                    second.setdefault(each, (run_id, path))
            first.update(own)
        return first, second

    def other(self, run_id: str, hashes: Sequence[int]) -> str | None:
        """The file of another run that has one of these events; None if there is none."""
        owners = [each for each in self._owners if not each.keys().isdisjoint(hashes)]
        found = (each.get(key) for key in hashes for each in owners)
        return next((each[1] for each in found if each and each[0] != run_id), None)


def events_of(
    files: Iterable[tuple[str, Mapping[str, bytes]]],
) -> list[tuple[str, str, Sequence[int]]]:
    """For :class:`EventOwners`, given the path and the hashes of each file."""
    return [(run_id, path, array("Q", own)) for path, runs in files for run_id, own in runs.items()]


def copied_runs(files: Iterable[tuple[str, Mapping[str, bytes]]]) -> Mapping[str, str]:
    """By the id of each run that has events of another one, a file of the other, given the hashes
    of each file. Takes little memory: a sixteenth of the events is looked at together.
    """
    parts = events_of(files)
    found: dict[str, str] = {}
    for low in range(0, 1 << 64, 1 << 60):
        high = low + (1 << 60)
        share = [
            (run_id, path, some[bisect_left(some, low) : bisect_left(some, high)])
            for run_id, path, some in parts
        ]
        owners = EventOwners(share)
        others = ((run_id, owners.other(run_id, some)) for run_id, _, some in share)
        if not owners.are_shared:
            continue
        found |= {run_id: path for run_id, path in others if path is not None}
    return found
