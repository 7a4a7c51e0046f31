"""The runs of many traces: one pass looks at each trace, and a second one makes the rows. Any
process may do both, also on another machine, as all of it can be pickled.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import msgspec

from drive_trace.fleet.kept import (
    IN_BULK,
    AllFiles,
    File,
    FindingCounts,
    KeptTraces,
    OnAll,
    analysed,
    in_bytes,
    read,
)
from drive_trace.linter.settings import DEFAULTS
from drive_trace.report.fleet import Row
from drive_trace.scorecard import caveats, run_lines, scoring
from drive_trace.storage import finding, fleet_cache, projects
from drive_trace.storage.files import Problem, digest_of, verdicts_beside
from drive_trace.storage.processes import in_batches, on_all_cores

if TYPE_CHECKING:  # see kept.py
    from drive_trace.analysis import Analysis

Over: TypeAlias = Callable[[Iterable[Any], int], Iterable[Any]]
"""Gives some items one after another, and shows a person how far that is."""

_ROW = msgspec.msgpack.Decoder(Row)
_COPIED = msgspec.msgpack.Decoder(dict[str, str])


# Runs in several files


class Group(NamedTuple):
    """A run in several files."""

    run_id: str
    files: Sequence[tuple[File, bytes]]
    """Each with the digest of what was there."""
    key: bytes = b""
    """In the cache; empty where nothing is kept."""
    kept: bytes | None = None
    """The row in short, where it is kept."""

    def in_all(self, row: Row) -> Row:
        """The row that one of the files gives, where another has changed: it names them all."""
        return msgspec.structs.replace(row, files=tuple(file.name for file, _ in self.files))


class Joiner:
    """Joins runs in several files, and judges them there as ``check`` does. It reads the files
    again, as what is kept has no lines.
    """

    def __init__(self, known: AllFiles) -> None:
        self._all = known
        self._read: dict[str, _Whole] = {}
        self._findings: FindingCounts | None = None

    def __call__(self, group: Group) -> Row | str:
        """The run's row; or the path of a file that is no longer what it was."""
        with suppress(msgspec.MsgspecError, ValueError):  # as where it is nothing of ours
            if group.kept is not None:
                return _ROW.decode(group.kept)
        # Runs that follow each other are often in the same files.
        paths = [file.path for file, _ in group.files]
        if [*self._read] != paths:
            self._read = {path: self._read[path] for path in paths if path in self._read}
            for file, _ in group.files:
                trace = self._read.pop(file.path, None) or _read_whole(file)
                if trace is None:
                    return file.name
                self._read[file.path] = trace
            self._findings = _findings_joined(self._read)
        for file, expected in group.files:
            if self._read[file.path].digest != expected:
                return file.name
        run = scoring.score_run(group.run_id, [self._read[path].lines for path in paths])
        if run is None:
            return group.files[0][0].name
        verdicts = [verdicts_beside(path, run.run_id) for path in paths]
        return self._all.row(run, verdicts, self._findings)


class _Whole(NamedTuple):
    """A trace with its lines."""

    digest: bytes
    lines: run_lines.TraceLines
    analysis: Analysis | None
    """None where the rules do not run."""


def _read_whole(file: File) -> _Whole | None:
    trace = read(file.path)
    if isinstance(trace, Problem):
        return None
    if file.settings is None:
        scored = scoring.ScoredTrace(trace[0].records, file.name, trace[0].provenance)
        return _Whole(trace[1], scored.lines, None)
    analysis = analysed(trace[0], file, file.settings)
    return _Whole(trace[1], run_lines.TraceLines(analysis.index, file.name), analysis)


def _findings_joined(traces: Mapping[str, _Whole]) -> FindingCounts | None:
    """By run how often each rule found something in traces that share runs; None where the rules
    do not run over all of them.
    """
    analyses = [each.analysis for each in traces.values() if each.analysis is not None]
    if len(analyses) < len(traces):
        return None
    from drive_trace.analysis import join_all  # noqa: PLC0415 - the rules take long to load

    join_all([*traces], analyses)
    found = defaultdict[str | None, Counter[str]](Counter)
    for analysis in analyses:
        for run_id, counts in analysis.told_by_rule().items():
            found[run_id].update(counts)
    return found


# A scan


class Inputs(finding.NotRead):
    """Goes once through what was found, and notes what cannot be used."""

    def __init__(
        self,
        found: Iterable[finding.Found],
        say: Callable[[str], None],
        above: projects.Above | None = None,
        *,
        findings: bool,
    ) -> None:
        """What a person should know at once is said, in one sentence. ``above`` is what the search
        knows of the folders; ``findings`` says whether the rules run, too.
        """
        super().__init__(say)
        self.failed = False
        """Whether a configuration could not be used."""
        self._found = found
        self._findings = findings
        self._said: set[str] = set()
        self._projects = projects.Projects(".")
        self._above = {} if above is None else above

    def __iter__(self) -> Iterator[File]:
        yield from map(self._file, self.usable(self._found))

    @property
    def not_read(self) -> tuple[caveats.Unread, ...]:
        """What may hold a part of any run."""
        return (*self.unread, *finding.omitted(self.left_out).missed)

    def _file(self, path: str) -> File:
        name = str(path)
        if not self._findings:
            return File(path, name, None)
        if not self._projects.may_configure(path, self._above):
            return File(path, name, DEFAULTS)
        project = self._projects.of(path, self._above)
        for each in project.problems:
            self.failed = True
            if each.problem.message not in self._said:
                self._said.add(each.problem.message)
                self._tell(each.problem.message)
        return File(path, name, None if project.problems else project.settings_for(path))


class FleetScan:
    """Reads traces, and joins their runs. In memory it keeps paths, the ids of runs, their packed
    rows, lines that may grade any run, and, while it reads, the hashes of events.
    """

    def __init__(
        self,
        inputs: Inputs,
        cache: fleet_cache.Cache,
        over: Over = lambda items, _: items,
        on_all: OnAll = on_all_cores,
    ) -> None:
        """``on_all`` looks at files, and joins runs."""
        self._inputs = inputs
        self._over = over
        self._cache = cache
        self._on_all = on_all
        self._traces = KeptTraces(cache, on_all)
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
        strays: list[caveats.Uncounted] = []
        hashes: list[tuple[str, Mapping[str, bytes]]] = []
        files = list(self._inputs)
        looked = zip(files, self._traces.look_at(files), strict=True)
        for file, facts in self._over(looked, len(files)):
            if isinstance(facts, Problem):
                self._inputs.note(facts)
                continue
            number = self.file_count - 1
            for run_id, is_counted in facts.runs.items():
                self._runs.setdefault(run_id, []).append(number)
                valid.update({run_id: None} if is_counted else {})
            strays += facts.strays
            hashes.append((file.name, facts.hashes))
            if facts.is_illegible:
                self._inputs.note(Problem(file.name, caveats.ILLEGIBLE))
        self._runs = {run_id: self._runs[run_id] for run_id in (*valid, *self._runs)}
        self._all = AllFiles(self._inputs.not_read, tuple(strays), self._copied(hashes))
        return len(self._runs)

    def rows(self) -> Iterator[Row]:
        """The rows of all runs, in the order of their first events. Raises ScanError."""
        joined = self._joined()
        for run_id, (number, *others) in self._runs.items():
            is_alone = not others and self._all.says_nothing_of(run_id)
            row = self._traces.row(number, run_id) if is_alone else None
            if others:
                yield next(joined)
            elif row is None:
                yield self._row(run_id, number, self._all)
            else:
                yield self._counted(row, number)
        yield from joined  # none is left, but the last ones are kept now

    def _joined(self) -> Iterator[Row]:
        """The rows of the runs in several files."""
        new: dict[bytes, bytes] = {}
        for group, made in self._on_all(Joiner(self._all), self._groups()):
            if isinstance(made, Row):
                if group.kept is None:
                    with suppress(UnicodeEncodeError, OverflowError):
                        new[group.key] = msgspec.msgpack.encode(made)
                if len(new) == IN_BULK:
                    self._cache.put_many(new)
                    new = {}
                yield made
                continue
            self._inputs.note(Problem(made, caveats.CHANGED))
            number = self._runs[group.run_id][0]
            known = self._all.and_changed(made)
            yield group.in_all(self._row(group.run_id, number, known))
        self._cache.put_many(new)

    def _row(self, run_id: str, number: int, known: AllFiles) -> Row:
        """The row of a run by one of its files."""
        trace = self._traces.summary(number)
        run = next(each for each in trace.runs if each.run_id == run_id)
        return known.row_in(trace, run, self._traces.findings[number])

    def _counted(self, row: Row, number: int) -> Row:
        found = self._traces.findings[number]
        if found is None:
            return row
        return msgspec.structs.replace(row, findings=dict(found.get(row.run_id, {})))

    def _groups(self) -> Iterator[Group]:
        """The runs in several files."""
        context = digest_of(in_bytes(repr(self._all)))
        several = (each for each in self._runs.items() if len(each[1]) > 1)
        for some in in_batches(several, IN_BULK):
            groups = [self._group(run_id, numbers, context) for run_id, numbers in some]
            kept = self._cache.get_many([each.key for each in groups])
            yield from (each._replace(kept=kept.get(each.key)) for each in groups)

    def _group(self, run_id: str, numbers: Sequence[int], context: bytes) -> Group:
        files = [self._traces.files[each] for each in numbers]
        names = map(in_bytes, (run_id, *(file.name for file, _ in files)))
        contents = (file.key + file.rules + content for file, content in files)
        return Group(run_id, files, digest_of(b"run", context, *names, *contents))

    def _copied(self, hashes: Sequence[tuple[str, Mapping[str, bytes]]]) -> Mapping[str, str]:
        """See :func:`copied_runs`. Comparing all events takes long, where none has changed, too."""
        parts = ((in_bytes(file.name), content) for file, content in self._traces.files)
        key = digest_of(b"copied", fleet_cache.program(), *chain.from_iterable(parts))
        with suppress(msgspec.MsgspecError, ValueError, KeyError):
            return _COPIED.decode(self._cache.get_many([key])[key])
        copied = run_lines.copied_runs(hashes)
        with suppress(UnicodeEncodeError):
            self._cache.put_many({key: msgspec.msgpack.encode(copied)})
        return copied
