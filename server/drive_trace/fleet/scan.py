"""The runs of many traces, joined on this machine, with what is kept of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress

import msgspec

from drive_trace.fleet.cached import CachedTraces
from drive_trace.fleet.scanning import AllFiles, File, Group, Joiner, Stored, with_findings
from drive_trace.report.fleet import Row
from drive_trace.scorecard.card import CHANGED, ILLEGIBLE
from drive_trace.scorecard.caveats import Unread
from drive_trace.scorecard.copies import copied_runs
from drive_trace.scorecard.uncounted import StrayGrade
from drive_trace.storage.cores import on_all_cores
from drive_trace.storage.files import LeftOut, Problem
from drive_trace.storage.finding import Found, NoTraces, omitted
from drive_trace.storage.fleet_cache import Cache, digest
from drive_trace.storage.projects import Above, Projects


class Inputs:
    """Goes once through what was found, and notes what cannot be used."""

    def __init__(self, found: Iterable[Found], say: Callable[[str], None]) -> None:
        """What a person should know at once is said, in one sentence."""
        self.unread: list[Unread] = []
        """What could not be read so far."""
        self.left_out: list[LeftOut] = []
        """What the search of folders found and did not read."""
        self.failed = False
        """Whether a configuration could not be used."""
        self._found = found
        self._say = say
        self._said: set[str] = set()
        self._projects = Projects(".")
        self._above = Above()

    def __iter__(self) -> Iterator[File]:
        for each in self._found:
            if isinstance(each, NoTraces):
                self._say(f"warning: {each.message}")
            elif isinstance(each, Problem):
                self.cannot_read(each)
            else:
                yield self._file(each)

    @property
    def not_read(self) -> tuple[Unread, ...]:
        """What may hold a part of any run."""
        return (*self.unread, *omitted(self.left_out).missed)

    def cannot_read(self, problem: Problem) -> None:
        """Note a trace that could not be read, or is none."""
        if isinstance(problem, LeftOut):
            self.left_out.append(problem)
            return
        self._say(problem.message)
        self.unread.append(Unread(problem.path, problem.reason))

    def _file(self, path: str) -> File:
        project = self._projects.of(path, self._above)
        for each in project.problems:
            self.failed = True
            if each.problem.message not in self._said:
                self._said.add(each.problem.message)
                self._say(each.problem.message)
        return File(path, path, None if project.problems else project.settings_for(path))


class FleetScan:
    """Reads traces, and joins their runs. In memory it keeps paths, the ids of runs, lines that may
    grade any run, and, while it reads, the hashes of events.
    """

    def __init__(self, inputs: Inputs, cache: Cache, processes: int | None = None) -> None:
        """``processes`` is how many read at most; None is one a core."""
        self._inputs = inputs
        self._cache = cache
        self._processes = processes
        self._traces = CachedTraces(cache, processes)
        self._runs: dict[str, list[int]] = {}
        """By id the numbers of a run's files; runs without a valid event come last."""
        self._all = AllFiles()

    @property
    def file_count(self) -> int:
        """How many traces were read."""
        return len(self._traces.files)

    def read(self) -> int:
        """Read all traces. Returns how many runs they have."""
        valid: dict[str, None] = {}
        strays: list[StrayGrade] = []
        hashes: list[tuple[str, Mapping[str, bytes]]] = []
        for stored in self._traces.look_at(self._inputs):
            if isinstance(stored, Problem):
                self._inputs.cannot_read(stored)
                continue
            number, trace = self.file_count - 1, stored.summary
            for run in trace.runs:
                self._runs.setdefault(run.run_id, []).append(number)
                valid.update({run.run_id: None} if run.event_count else {})
            strays += trace.strays
            hashes.append((trace.path, trace.hashes))
            if trace.is_illegible:
                self._inputs.cannot_read(Problem(trace.path, ILLEGIBLE))
        self._runs = {run_id: self._runs[run_id] for run_id in (*valid, *self._runs)}
        self._all = AllFiles(self._inputs.not_read, tuple(strays), copied_runs(hashes))
        return len(self._runs)

    def rows(self) -> Iterator[Row]:
        """The rows of all runs, in the order of their first events. Raises ScanError."""
        joined = self._joined()
        last, stored, scores = -1, None, {}
        for run_id, numbers in self._runs.items():
            if len(numbers) > 1:
                yield self._with_findings(next(joined), numbers)
                continue
            if stored is None or numbers[0] != last:
                last, stored = numbers[0], self._traces.stored(numbers[0])
                scores = {run.run_id: run for run in stored.summary.runs}
            row = self._all.row(scores[run_id], [stored.summary.verdicts.get(run_id, ())])
            yield self._with_findings(row, numbers, stored)

    def _joined(self) -> Iterator[Row]:
        """The rows of the runs in several files."""
        context = digest(repr(self._all).encode("utf-8", "surrogatepass"))
        groups = (self._group(*each, context) for each in self._runs.items() if len(each[1]) > 1)
        for group, made in on_all_cores(Joiner(self._all), groups, most=self._processes):
            if isinstance(made, Row):
                if group.kept is None:
                    with suppress(UnicodeEncodeError, OverflowError):
                        self._cache.put(group.key, msgspec.json.encode(made))
                yield made
                continue
            self._inputs.cannot_read(Problem(made, CHANGED))
            summary = self._traces.stored(self._runs[group.run_id][0]).summary
            run = next(each for each in summary.runs if each.run_id == group.run_id)
            yield self._all.and_changed(made).row(run, [summary.verdicts.get(run.run_id, ())])

    def _group(self, run_id: str, numbers: Sequence[int], context: bytes) -> Group:
        files = [self._traces.files[each] for each in numbers]
        known = run_id, *(file.name for file, _ in files)
        names = (each.encode("utf-8", "surrogatepass") for each in known)
        contents = (file.key + content for file, content in files)
        key = digest(b"run", context, *names, *contents)
        paths = [(file.path, content) for file, content in files]
        return Group(run_id, paths, key, self._cache.get(key))

    def _with_findings(self, row: Row, numbers: Sequence[int], stored: Stored | None = None) -> Row:
        return with_findings(
            row, ((stored or self._traces.stored(each)).findings for each in numbers)
        )
