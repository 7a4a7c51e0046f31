"""The work of ``fleet``: it reads many traces, with what is kept of them, and joins their runs."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import NamedTuple

import msgspec

from drive_trace.analysis import Analysis, summarize_text
from drive_trace.commands.terminal import Progress, notify
from drive_trace.commands.writing import EXIT_UNUSABLE, Ended
from drive_trace.linter.settings import RuleSettings
from drive_trace.report.fleet import Row, row_of
from drive_trace.scorecard.card import ILLEGIBLE, score_run
from drive_trace.scorecard.caveats import Unread
from drive_trace.scorecard.stored import Stored, from_bytes, to_bytes, without_events
from drive_trace.scorecard.summary import (
    RunSummary,
    Unplaced,
    parts_by_run,
    unplaced_grades,
    without_text,
)
from drive_trace.storage.baseline import BASELINE_NAME
from drive_trace.storage.cores import on_all_cores
from drive_trace.storage.files import (
    Problem,
    TraceRecords,
    may_be_there,
    read_bytes,
    records_of,
    why_not_utf8,
)
from drive_trace.storage.finding import Found, LeftOut, NoTraces, find_traces, project_of
from drive_trace.storage.fleet_cache import SIZE, Cache, digest, program
from drive_trace.storage.judging_records import read_record_beside, with_judgements
from drive_trace.storage.patterns import JUDGEMENTS_SUFFIX
from drive_trace.storage.projects import CONFIGURATION_NAME, Project, Projects

_AT_ONCE = 16
"""A process gets so many files at a time: to hand one over takes as long as to read a small one."""
_SETTLED = 2_000_000_000
"""Nanoseconds: what was written less long ago may be written again with the same timestamp."""
_CHANGED = "changed while runs were joined"
_ROWS = msgspec.json.Decoder(Row)


class _Look(NamedTuple):
    """What a trace was when it was read."""

    version: str
    """See :func:`_version`."""
    digest: bytes
    """Of the content of its file, and of the record beside it."""


class _File(NamedTuple):
    """A trace to look at."""

    path: str
    key: bytes
    """Of the path, the settings and this version of the program."""
    settings: RuleSettings | None
    """None where the configuration cannot be used."""
    known: _Look | None
    """What it was when it was looked at last."""


class _Seen(NamedTuple):
    """What a look at a trace gave."""

    look: _Look
    stored: bytes | Stored | None
    """The trace in short; None where it is as it was, and itself where it is no JSON."""


def _look(file: _File) -> _Seen | Problem:
    """Look at a trace, and read it unless it is as it was."""
    version = _version(file.path)
    if file.known is not None and version and file.known.version == version:
        return _Seen(file.known, None)
    read = _read(file.path)
    if isinstance(read, Problem):
        return read
    trace, look = read[0], _Look(version, read[1])
    if file.known is not None and file.known.digest == look.digest:
        return _Seen(look, None)
    stored = _stored(trace, file.settings)
    return _Seen(look, to_bytes(stored) or stored)


def _version(path: str) -> str:
    """Of a trace's file and of the record beside it; empty if one may change without being seen."""
    found = []
    for each in (path, f"{path}{JUDGEMENTS_SUFFIX}"):
        try:
            state = os.stat(each)  # noqa: PTH116 - Path raises for some names
        except (OSError, ValueError):
            found.append("-")
            continue
        changed = max(state.st_mtime_ns, state.st_ctime_ns)
        if time.time_ns() - changed < _SETTLED:
            return ""
        found += map(str, (state.st_size, state.st_mtime_ns, state.st_ctime_ns, state.st_ino))
    return " ".join(found)


def _read(path: str) -> tuple[TraceRecords, bytes] | Problem:
    """A trace, and the digest of its content and of the record beside it."""
    data = read_bytes(path)
    if isinstance(data, Problem):
        return data
    reason = why_not_utf8(data)
    if reason is not None:
        return Problem(path, reason)
    return TraceRecords(path, records_of(data)), digest(data, read_record_beside(path))


def _stored(trace: TraceRecords, settings: RuleSettings | None) -> Stored:
    if settings is None:
        summary, findings = summarize_text(trace.records, trace.path), None
    else:
        analysis = Analysis(trace.records, settings, path=trace.path)
        summary = analysis.summary(trace.path)
        by_run = analysis.findings_by_rule().items()
        findings = {run_id: dict(found) for run_id, found in by_run if run_id is not None}
    return Stored(with_judgements(without_events(summary), trace.path), findings)


def _look_at_each(files: Sequence[_File]) -> list[_Seen | Problem]:
    return [_look(each) for each in files]


def _row(
    parts: Sequence[RunSummary], unread: Sequence[Unread], unplaced: Sequence[Unplaced]
) -> Row:
    return row_of(score_run(parts, unread, unplaced), project_of(parts[0].path))


class _Group(NamedTuple):
    """A run in several files."""

    run_id: str
    numbers: Sequence[int]
    files: Sequence[tuple[str, bytes]]
    """The paths, each with the digest of what was there."""
    key: bytes
    row: bytes | None
    """What is kept of it."""


class _Joiner:
    """Joins runs in several files, in a process of its own."""

    def __init__(self, unread: Sequence[Unread], unplaced: Sequence[Unplaced]) -> None:
        self._doubts = unread, unplaced
        self._read: dict[str, tuple[bytes, Mapping[str, RunSummary]]] = {}

    def __call__(self, group: _Group) -> Row | str:
        """The run's row, without findings; or the path of a file that is no longer what it was."""
        if group.row is not None:
            try:
                return _ROWS.decode(group.row)
            except (msgspec.MsgspecError, ValueError):
                pass  # what was kept is nothing of ours
        # Runs that follow each other are often in the same files.
        paths = {path for path, _ in group.files}
        self._read = {path: self._read[path] for path in paths & self._read.keys()}
        parts = []
        for path, expected in group.files:
            if path not in self._read:
                read = _read(path)
                if isinstance(read, Problem):
                    return path
                summary = without_text(summarize_text(read[0].records, path))
                self._read[path] = read[1], parts_by_run(with_judgements(summary, path))
            content, by_run = self._read[path]
            if content != expected:
                return path
            parts.append(by_run[group.run_id])
        return _row(parts, *self._doubts)


class FleetScan:
    """Reads the traces that paths mean, and joins their runs. In memory it keeps paths, the ids of
    runs, and lines that may grade any run.
    """

    def __init__(self, paths: Sequence[str], cache: Cache, *, no_ignore: bool = False) -> None:
        self.unread: list[Unread] = []
        """What could not be read."""
        self.left_out: list[LeftOut] = []
        """What the search of folders found and did not read."""
        self.failed = False
        """Whether a configuration could not be used."""
        self.files: list[tuple[str, bytes, bytes]] = []
        """The traces that were read: path, key in the cache, digest of the content."""
        self._paths = paths
        self._no_ignore = no_ignore
        self._cache = cache
        self._projects = Projects(".")
        self._above: dict[str, Project] = {}
        self._progress = Progress("reading traces")
        self._notified: set[str] = set()
        self._runs: dict[str, list[int]] = {}
        """By id the numbers of a run's files, if one of these has a valid event of it."""
        self._strays: dict[str, list[int]] = {}
        """The same of files that have only lines of it that readers do not count."""
        self._unplaced: list[Unplaced] = []
        self._illegible: list[str] = []
        self._loose: dict[int, Stored] = {}
        """What the cache does not take, by the number of the file."""

    def rows(self) -> Iterator[Row]:
        """The rows of all runs, in the order in which these are seen first."""
        self._look_at_all()
        for run_id in self._strays.keys() & self._runs.keys():
            self._runs[run_id] = sorted(self._runs[run_id] + self._strays[run_id])
        self._strays.clear()
        illegible = [Unread(path, ILLEGIBLE) for path in self._illegible if self._runs]
        doubts = (*self.unread, *illegible), tuple(self._unplaced)
        self.unread += illegible
        joined = self._joined(doubts)
        self._progress = Progress("joining runs")
        last, stored, parts = -1, None, {}
        for run_id, numbers in self._progress.over(self._runs.items()):
            if len(numbers) > 1:
                yield next(joined)
                continue
            if numbers[0] != last:
                last, stored = numbers[0], self._stored_of(numbers[0])
                parts = parts_by_run(stored.summary)
            row = _row([parts[run_id]], *doubts)
            yield self._with_findings(row, numbers, stored)

    def _look_at_all(self) -> None:
        found = find_traces(self._paths, everywhere=self._no_ignore)
        files = self._to_look_at(self._progress.over(found))
        chunks = iter(lambda: list(islice(files, _AT_ONCE)), [])
        for chunk, answers in on_all_cores(_look_at_each, chunks):
            for file, seen in zip(chunk, answers, strict=True):
                self._take_in(file, seen)
            self._cache.commit()

    def _to_look_at(self, found: Iterable[Found]) -> Iterator[_File]:
        for each in found:
            if isinstance(each, LeftOut):
                self.left_out.append(each)
            elif isinstance(each, NoTraces):
                self._notify(f"warning: {each.message}")
            elif isinstance(each, Problem):
                self._cannot_read(each)
            else:
                yield self._file(each)

    def _file(self, path: str) -> _File:
        project = self._project(path)
        for each in project.problems:
            self.failed = True
            if each.problem.message not in self._notified:
                self._notified.add(each.problem.message)
                self._notify(each.problem.message)
        settings = None if project.problems else project.settings_for(path)
        where = os.path.abspath(path)  # noqa: PTH100 - that would follow links
        names = [each.encode("utf-8", "surrogatepass") for each in (where, path, repr(settings))]
        key = digest(program(), *names)
        kept = self._kept(key)
        return _File(path, key, settings, kept[0] if kept is not None else None)

    def _project(self, path: str) -> Project:
        """The project of a trace. Folders that configure nothing share that of the one above, which
        is looked for once.
        """
        folder = os.path.dirname(os.path.abspath(path))  # noqa: PTH100, PTH120 - as above
        above = os.path.dirname(folder)  # noqa: PTH120
        if any(may_be_there(f"{folder}/{name}") for name in (CONFIGURATION_NAME, BASELINE_NAME)):
            return self._projects.of(path)
        if above not in self._above:
            self._above[above] = self._projects.of(f"{above}/-")
        return self._above[above]

    def _kept(self, key: bytes) -> tuple[_Look, bytes] | None:
        """What is kept of a file: what it was, and the trace in short."""
        value = self._cache.get(key)
        if value is None:
            return None
        version, _, rest = value.partition(b"\n")
        return _Look(version.decode("ascii", "replace"), rest[:SIZE]), rest[SIZE:]

    def _take_in(self, file: _File, seen: _Seen | Problem) -> None:
        if isinstance(seen, Problem):
            self._cannot_read(seen)
            return
        data = seen.stored
        if data is None:
            kept = self._kept(file.key)
            data = kept[1] if kept is not None else b""
        stored = from_bytes(data) if isinstance(data, bytes) else data
        if stored is None:  # what was kept is nothing of ours
            self._take_in(file, _look(file._replace(known=None)))
            return
        number, trace, look = len(self.files), stored.summary, seen.look
        self.files.append((file.path, file.key, look.digest))
        if look != file.known or seen.stored is not None:
            value = b"%b\n%b" % (look.version.encode(), look.digest)
            if not (isinstance(data, bytes) and self._cache.put(file.key, value + data)):
                self._loose[number] = stored
        for run in trace.runs:
            self._runs.setdefault(run.run_id, []).append(number)
        for run_id in parts_by_run(trace).keys() - {run.run_id for run in trace.runs}:
            self._strays.setdefault(run_id, []).append(number)
        self._unplaced += unplaced_grades(trace)
        self._illegible += [trace.path] if trace.is_illegible else []

    def _stored_of(self, number: int) -> Stored:
        if number in self._loose:
            return self._loose[number]
        kept = self._kept(self.files[number][1])
        stored = from_bytes(kept[1]) if kept is not None else None
        if stored is None:
            raise Ended(EXIT_UNUSABLE, "the cache can no longer be read; try again")
        return stored

    def _joined(self, doubts: tuple[Sequence[Unread], Sequence[Unplaced]]) -> Iterator[Row]:
        """The rows of the runs in several files."""
        context = digest(repr(doubts).encode("utf-8", "surrogatepass"))
        groups = (self._group(*each, context) for each in self._runs.items() if len(each[1]) > 1)
        for group, made in on_all_cores(_Joiner(*doubts), groups):
            if isinstance(made, Row):
                if group.row is None:
                    with suppress(UnicodeEncodeError, OverflowError):
                        self._cache.put(group.key, msgspec.json.encode(made))
                yield self._with_findings(made, group.numbers)
                continue
            self._cannot_read(Problem(made, _CHANGED))
            parts = [parts_by_run(self._stored_of(each).summary) for each in group.numbers]
            unread = (*doubts[0], Unread(made, _CHANGED))
            row = _row([each[group.run_id] for each in parts], unread, doubts[1])
            yield self._with_findings(row, group.numbers)

    def _group(self, run_id: str, numbers: Sequence[int], context: bytes) -> _Group:
        files = [self.files[each] for each in numbers]
        name = run_id.encode("utf-8", "surrogatepass")
        key = digest(b"run", name, context, *(part for file in files for part in file[1:]))
        paths = [(path, content) for path, _, content in files]
        return _Group(run_id, numbers, paths, key, self._cache.get(key))

    def _with_findings(self, row: Row, numbers: Sequence[int], stored: Stored | None = None) -> Row:
        found: Counter[str] = Counter()
        for number in numbers:
            findings = (stored or self._stored_of(number)).findings
            if findings is None:
                return row
            found.update(findings.get(row.run_id, {}))
        return msgspec.structs.replace(row, findings=dict(found))

    def _cannot_read(self, problem: Problem) -> None:
        self._notify(problem.message)
        self.unread.append(Unread(problem.path, problem.reason))

    def _notify(self, message: str) -> None:
        self._progress.clear()
        notify(message)
