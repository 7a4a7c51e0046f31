"""The runs of many traces, joined on this machine: one pass looks at each trace, and a second one
makes the rows. Any process may do both, as all of it can be pickled.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

import msgspec

from drive_trace.analysis import Analysis, join_all
from drive_trace.fleet.kept import File, FindingCounts, KeptTraces, Stored, analysed, read
from drive_trace.grading.judgements import Verdicts
from drive_trace.report.fleet import Row, row_of
from drive_trace.scorecard.card import CHANGED, ILLEGIBLE
from drive_trace.scorecard.caveats import StrayGrade, Unread
from drive_trace.scorecard.run_lines import copied_runs
from drive_trace.scorecard.run_score import RunScore
from drive_trace.scorecard.scoring import TraceSummary, among, score_run
from drive_trace.storage.files import LeftOut, Problem, read_judgements_beside
from drive_trace.storage.finding import Found, NoTraces, omitted, project_of
from drive_trace.storage.fleet_cache import Cache, digest
from drive_trace.storage.processes import on_all_cores
from drive_trace.storage.projects import Above, Projects

_ROWS = msgspec.json.Decoder(Row)


# Runs in several files


class AllFiles(NamedTuple):
    """What all files together say of any run."""

    unread: tuple[Unread, ...] = ()
    strays: tuple[StrayGrade, ...] = ()
    """The lines that may grade any run."""
    copied: Mapping[str, str] = {}
    """By the id of a run that has events of another one, a file of the other."""

    def and_changed(self, path: str) -> AllFiles:
        """The same, and that a trace is no longer what it was."""
        return self._replace(unread=(*self.unread, Unread(path, CHANGED)))

    def row(
        self, run: RunScore, verdicts: Sequence[Verdicts], findings: FindingCounts | None
    ) -> Row:
        """The row of a run; ``verdicts`` are those beside each of its files, and ``findings`` are
        by run how often each rule found something, None where rules did not run.
        """
        copied = self.copied.get(run.run_id)
        score = among(run, self.unread, self.strays, copied, verdicts)
        counts = None if findings is None else dict(findings.get(run.run_id, {}))
        return row_of(score, project_of(run.parts[0].path), counts)


class Group(NamedTuple):
    """A run in several files."""

    run_id: str
    files: Sequence[tuple[File, bytes]]
    """Each with the digest of what was there."""
    key: bytes = b""
    """In the cache; empty where nothing is kept."""
    kept: bytes | None = None
    """The row as JSON, where it is kept."""


class Joiner:
    """Joins runs in several files, and judges them there as ``check`` does. It reads the files
    again, as what is kept has no lines.
    """

    def __init__(self, known: AllFiles) -> None:
        self._all = known
        self._read: dict[str, tuple[bytes, Analysis]] = {}
        self._findings: FindingCounts = {}

    def __call__(self, group: Group) -> Row | str:
        """The run's row; or the path of a file that is no longer what it was."""
        with suppress(msgspec.MsgspecError, ValueError):  # as where it is nothing of ours
            if group.kept is not None:
                return _ROWS.decode(group.kept)
        # Runs that follow each other are often in the same files.
        paths = [file.path for file, _ in group.files]
        if [*self._read] != paths:
            self._read = {path: self._read[path] for path in paths if path in self._read}
            for file, _ in group.files:
                trace = self._read.pop(file.path, None) or _read_whole(file)
                if trace is None:
                    return file.path
                self._read[file.path] = trace
            self._findings = _findings_joined(self._read)
        for file, expected in group.files:
            if self._read[file.path][0] != expected:
                return file.path
        lines = [self._read[file.path][1].lines(file.name) for file, _ in group.files]
        run = score_run(group.run_id, lines)
        if run is None:
            return paths[0]
        is_judged = all(file.settings is not None for file, _ in group.files)
        verdicts = [read_judgements_beside(path).on(run.run_id) for path in paths]
        return self._all.row(run, verdicts, self._findings if is_judged else None)


def _read_whole(file: File) -> tuple[bytes, Analysis] | None:
    trace = read(file.path)
    return None if isinstance(trace, Problem) else (trace[1], analysed(trace[0].records, file))


def _findings_joined(traces: Mapping[str, tuple[bytes, Analysis]]) -> FindingCounts:
    """By run how often each rule found something in traces that share runs."""
    analyses = [analysis for _, analysis in traces.values()]
    join_all([*traces], analyses)
    found: dict[str, Counter[str]] = {}
    for analysis in analyses:
        for run_id, counts in analysis.findings_by_rule().items():
            if run_id is not None:
                found.setdefault(run_id, Counter()).update(counts)
    return found


# A scan


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

    def __init__(self, inputs: Inputs, cache: Cache) -> None:
        self._inputs = inputs
        self._cache = cache
        self._traces = KeptTraces(cache)
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
        last, of_file = -1, Stored(TraceSummary(""), None)
        for run_id, numbers in self._runs.items():
            if len(numbers) > 1:
                yield next(joined)
                continue
            if numbers[0] != last:
                last = numbers[0]
                of_file = self._traces.stored(last)
            yield self._alone(run_id, of_file, self._all)

    def _joined(self) -> Iterator[Row]:
        """The rows of the runs in several files."""
        context = digest(repr(self._all).encode("utf-8", "surrogatepass"))
        groups = (self._group(*each, context) for each in self._runs.items() if len(each[1]) > 1)
        for group, made in on_all_cores(Joiner(self._all), groups):
            if isinstance(made, Row):
                if group.kept is None:
                    with suppress(UnicodeEncodeError, OverflowError):
                        self._cache.put(group.key, msgspec.json.encode(made))
                yield made
                continue
            self._inputs.cannot_read(Problem(made, CHANGED))
            first = self._traces.stored(self._runs[group.run_id][0])
            yield self._alone(group.run_id, first, self._all.and_changed(made))

    def _alone(self, run_id: str, trace: Stored, known: AllFiles) -> Row:
        """The row of a run by one of its files."""
        summary = trace.summary
        run = next(each for each in summary.runs if each.run_id == run_id)
        return known.row(run, [summary.verdicts.get(run_id, ())], trace.findings)

    def _group(self, run_id: str, numbers: Sequence[int], context: bytes) -> Group:
        files = [self._traces.files[each] for each in numbers]
        known = run_id, *(file.name for file, _ in files)
        names = (each.encode("utf-8", "surrogatepass") for each in known)
        contents = (file.key + content for file, content in files)
        key = digest(b"run", context, *names, *contents)
        return Group(run_id, files, key, self._cache.get(key))
