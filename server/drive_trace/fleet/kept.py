"""A look at one trace, on any core or machine, and what is kept of it.

``fleet`` and an editor's server look at traces by the same :class:`KeptTraces`.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import tee
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

import msgspec
from msgspec import msgpack

from drive_trace.report.fleet import Row, row_of
from drive_trace.scorecard import caveats, run_lines
from drive_trace.scorecard.run_score import RunScore
from drive_trace.scorecard.scoring import ScoredTrace, TraceSummary, among, summarize, without_lines
from drive_trace.storage import files as disk
from drive_trace.storage import fleet_cache, patterns, projects
from drive_trace.storage.followed_file import has_long_line
from drive_trace.storage.processes import in_batches, on_all_cores

if TYPE_CHECKING:  # the rules take long to load, and run where somebody asks for findings
    from drive_trace.analysis import Analysis
    from drive_trace.grading.judgements import Verdicts
    from drive_trace.linter.settings import RuleSettings

Item = TypeVar("Item")
Part = TypeVar("Part")
Show: TypeAlias = Callable[[TraceSummary], bytes]
"""Packs how the runs of a trace are shown, as if there were no other file. Raises OverflowError,
and UnicodeEncodeError for a lone surrogate.
"""
OnAll: TypeAlias = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[tuple[Any, Any]]]
"""Does the same work on many items, as :func:`on_all_cores` does."""

_SETTLED = 2_000_000_000
"""Nanoseconds: what was written less long ago may be written again with the same timestamp."""
_FRESH = "fresh"
"""Stands for the state of such a file."""
_NO_RECORD = disk.digest_of(b"")
"""The digest of what is beside a trace that stands alone."""
_AT_ONCE = 32
"""A process gets so many files at a time: to hand one over takes as long as to read a small one."""
IN_BULK = 512
"""So many traces are looked up in the cache, written to it, or joined, at a time."""


class ScanError(Exception):
    """A scan cannot begin, or cannot go on; a sentence says why."""


def one_by_one(work: Callable[[Item], Part], items: Iterable[Item]) -> Iterator[tuple[Item, Part]]:
    """Each item with what ``work`` gives for it, in this process."""
    return ((each, work(each)) for each in items)


# What a look at a trace gives


FindingCounts = Mapping[str | None, Mapping[str, int]]
"""By run, how often each rule found something in a trace; None for lines of no run."""


class AllFiles(NamedTuple):
    """What all files together say of any run."""

    unread: tuple[caveats.Unread, ...] = ()
    strays: tuple[caveats.Uncounted, ...] = ()
    """The lines that may grade any run."""
    copied: Mapping[str, str] = {}
    """By the id of a run that has events of another one, a file of the other."""

    def and_changed(self, path: str) -> AllFiles:
        """The same, and that a trace is no longer what it was."""
        return self._replace(unread=(*self.unread, caveats.Unread(path, caveats.CHANGED)))

    def row(
        self, run: RunScore, verdicts: Sequence[Verdicts], findings: FindingCounts | None
    ) -> Row:
        """The row of a run; ``verdicts`` are those beside each of its files, and ``findings`` are
        by run how often each rule found something, None where rules did not run.
        """
        copied = self.copied.get(run.run_id)
        score = among(run, self.unread, self.strays, copied, verdicts)
        counts = None if findings is None else dict(findings.get(run.run_id, {}))
        return row_of(score, projects.project_of(run.parts[0].path), counts)

    def row_in(self, trace: TraceSummary, run: RunScore, findings: FindingCounts | None) -> Row:
        """The row of a run that stands in this trace alone."""
        return self.row(run, [trace.verdicts.get(run.run_id, ())], findings)

    def says_nothing_of(self, run_id: str) -> bool:
        """Whether the row of a run is the same without what other files say."""
        return not (self.unread or self.strays or run_id in self.copied)


# What is kept of a trace. Each part is checked when it is read back


class TraceState(NamedTuple):
    """What a trace was when it was read, and what that gave."""

    version: str
    """See :func:`_version`."""
    digest: bytes
    """The digest of the content of its file, and that of the records beside it."""
    rules: bytes
    """Identifies the settings by which the rules ran; empty where they did not."""
    findings: FindingCounts | None
    """None where they did not."""
    runs: Mapping[str, bool]
    """The ids of the runs, each with whether readers count a line of it."""
    strays: tuple[caveats.Uncounted, ...]
    is_illegible: bool
    hashes: Mapping[str, bytes]
    """As those of the summary."""
    has_long_line: bool
    """Whether editors leave it alone."""
    shown: bytes = b""
    """How its runs are shown, as if there were no other file; see :class:`KeptTraces`."""
    summary: bytes = b""
    """The packed summary, without hashes. Few need either: they stay packed until then. Both are
    empty where some text or number does not fit into bytes, as a lone surrogate.
    """


_STATE = msgpack.Decoder(TraceState)
_ROWS = msgpack.Decoder(tuple[Row, ...])
_BROKEN = (msgspec.MsgspecError, ValueError, RecursionError)


def read_back(decoder: msgpack.Decoder[Part], data: bytes) -> Part | None:
    """What was kept; None where the data are anything else."""
    try:
        return decoder.decode(data)
    except _BROKEN:
        return None


def state_from(data: bytes) -> TraceState | None:
    """What was kept of a trace; None where the data are anything else."""
    state = read_back(_STATE, data)
    if state is None or any(len(each) % run_lines.HASH for each in state.hashes.values()):
        return None
    return state if len(state.digest) == 2 * disk.DIGEST else None


def summary_from(data: bytes) -> TraceSummary | None:
    """The same of a summary."""
    from drive_trace.grading.judgements import Gating, Judgement  # noqa: PLC0415 - few need it

    noted = dict[str, tuple[tuple[str, tuple[Judgement, ...] | Gating], ...]]
    try:
        summary = msgpack.decode(data, type=TraceSummary)
        verdicts = summary.verdicts and msgspec.convert(summary.verdicts, noted)
    except _BROKEN:
        return None
    # What its types cannot say: each run stands in it alone, judged without what is beside it.
    if any(len(run.parts) != 1 or run.judgement is not None for run in summary.runs):
        return None
    return summary._replace(verdicts=verdicts)


# A look at a trace


class File(NamedTuple):
    """A trace to look at."""

    path: str
    name: str
    """What people know it by."""
    settings: RuleSettings | None
    """None where nobody asks for findings, and where the configuration cannot be used."""
    rules: bytes = b""
    """Identifies the settings; empty without any."""
    key: bytes = b""
    """Of where it is, its name, and this version of the program; empty where nothing is kept."""
    known: TraceState | None = None
    """What was found when it was looked at last, with the findings that are asked for now."""


def rows_alone(summary: TraceSummary) -> bytes:
    """The packed rows of a trace's runs, without findings."""
    alone = AllFiles()
    return msgpack.encode([alone.row_in(summary, run, None) for run in summary.runs])


def look_at_file(file: File, show: Show = rows_alone) -> TraceState | disk.Problem:
    """Read a trace, and look at it unless its content is as it was."""
    version = _version(file.path)
    trace = read(file.path)
    if isinstance(trace, disk.Problem):
        return trace
    records, content = trace
    if content[disk.DIGEST :] != _NO_RECORD and getattr(file.path, "is_alone", False):
        version = ""  # the record has come since its folder was searched
    if file.known is not None and file.known.digest == content:
        return file.known._replace(version=version)
    summary, findings = summarized(records, file)
    state = TraceState(
        version,
        content,
        file.rules,
        findings,
        {run.run_id: bool(run.event_count) for run in summary.runs},
        summary.strays,
        summary.is_illegible,
        summary.hashes,
        has_long_line(records.records),
    )
    with suppress(OverflowError, UnicodeEncodeError):
        packed = msgpack.encode(summary._replace(hashes={}))
        return state._replace(shown=show(summary), summary=packed)
    return state


def _look_at_files(show: Show, files: Sequence[File]) -> list[TraceState | disk.Problem]:
    return [look_at_file(each, show) for each in files]


def read(path: str) -> tuple[disk.TraceRecords, bytes] | disk.Problem:
    """A trace, and the digest of its content and of the records beside it."""
    provenance = disk.provenance_beside(path)
    data = disk.read_bytes(path)
    if isinstance(data, disk.Problem):
        return data
    found = disk.decoded(path, data)
    if isinstance(found, disk.Problem):
        return found
    found_beside = disk.record_beside(path, patterns.JUDGEMENTS_SUFFIX, disk.MOST_BYTES)
    beside = str(found_beside).encode() if isinstance(found_beside, disk.Problem) else found_beside
    if provenance is not None:
        beside += f"{provenance.digest} {_state(_index_of(path))}".encode()
    content = disk.digest_of(data) + disk.digest_of(beside)
    return found._replace(provenance=provenance), content


def summarized(trace: disk.TraceRecords, file: File) -> tuple[TraceSummary, FindingCounts | None]:
    """What the score needs of a trace; by its settings what the rules find in it."""
    findings: FindingCounts | None = None
    if file.settings is None:
        summary = ScoredTrace(trace.records, file.name, trace.provenance).summary()
    else:
        analysis = analysed(trace, file, file.settings)
        summary = summarize(analysis.index, file.name)
        findings = {run_id: dict(each) for run_id, each in analysis.told_by_rule().items()}
    return disk.with_judgements(without_lines(summary), file.path), findings


def analysed(trace: disk.TraceRecords, file: File, settings: RuleSettings) -> Analysis:
    """A trace, judged by its settings."""
    from drive_trace.analysis import Analysis  # noqa: PLC0415 - see above

    where = os.path.abspath(file.path)  # noqa: PTH100 - that would follow links
    return Analysis(trace.records, settings, where, provenance=trace.provenance)


def _version(path: str) -> str:
    """The state of a trace's file and of the records beside it; empty if one may change without
    being seen.
    """
    files = [path]
    if not (isinstance(path, disk.FoundPath) and path.is_alone):
        files += (f"{path}{suffix}" for suffix in patterns.RECORD_SUFFIXES)
        if os.path.lexists(f"{path}{patterns.PROVENANCE_SUFFIX}"):
            files.append(_index_of(path))
    states = [*map(_state, files)]
    return "".join(states) if states[0] and _FRESH not in states else ""


def _state(path: str) -> str:
    """By what a file is known to be as it was; empty where there is none."""
    try:
        state = os.stat(path)  # noqa: PTH116 - Path raises for some names
    except (OSError, ValueError):
        return ""
    if max(state.st_mtime_ns, state.st_ctime_ns) > time.time_ns() - _SETTLED:
        return _FRESH
    found = f"{state.st_dev} {state.st_ino} {state.st_size} "
    return f"{found}{state.st_mtime_ns} {state.st_ctime_ns};"


def _index_of(path: str) -> str:
    """Git's index: whether it has a record of provenance decides whether that says something."""
    folders = Path(os.path.abspath(path)).parents  # noqa: PTH100 - as above
    found = next(filter(None, map(disk.git_folder_of, folders)), None)
    return str(found / "index") if found is not None else ""


class KeptTraces:
    """Looks at traces, and keeps in a cache what it finds; in memory their paths, packed rows and
    findings. What the cache does not take is made again.
    """

    def __init__(
        self, cache: fleet_cache.Cache, on_all: OnAll = on_all_cores, show: Show = rows_alone
    ) -> None:
        """Files are looked at by ``on_all``; ``show`` makes what is kept to be shown."""
        self.files: list[tuple[File, bytes]] = []
        """Those that were read, each with the digests of its content and of its record."""
        self.findings: list[FindingCounts | None] = []
        """What the rules found in each of them."""
        self._rows: list[bytes] = []
        """The rows of each of them, packed."""
        self._unpacked: tuple[int, Mapping[str, Row]] = -1, {}
        self._summary = -1, TraceSummary("")
        self._cache, self._show = cache, show
        self._on_all, self._at_once = on_all, 1 if on_all is one_by_one else _AT_ONCE
        self._rules: tuple[RuleSettings | None, bytes] = None, b""
        """The settings of the last file, and what identifies them: many share them."""

    def look_at(self, files: Iterable[File]) -> Generator[TraceState | disk.Problem]:
        """The state of each trace, in their order; those that can be read get numbers, from 0."""
        asked = (each for some in in_batches(files, IN_BULK) for each in self._with_known(some))
        # A trace that is as it was is not looked at; the others are, on all cores.
        files_now, ahead = tee((each, _unchanged(each)) for each in asked)
        others = (each for each, state in ahead if state is None)
        look = partial(_look_at_files, self._show)
        batches = self._on_all(look, in_batches(others, self._at_once))
        looked = (each for _, answers in batches for each in answers)
        new: dict[bytes, bytes] = {}
        try:
            for file, known in files_now:
                state = known or next(looked)
                if isinstance(state, disk.Problem):
                    yield state
                    continue
                if known is None and state.summary:
                    with suppress(OverflowError, UnicodeEncodeError):
                        new[file.key] = msgpack.encode(state)
                    if len(new) >= IN_BULK:
                        self._cache.put_many(new)
                        new = {}
                self.files.append((file._replace(known=None), state.digest))
                self.findings.append(state.findings if file.settings is not None else None)
                self._rows.append(state.shown)
                yield state
        finally:
            self._cache.put_many(new)

    def row(self, number: int, run_id: str) -> Row | None:
        """The row of a run of a trace, as if there were no other file and no findings; None where
        it could not be kept.
        """
        if self._unpacked[0] != number:  # the runs of a trace follow each other
            rows = read_back(_ROWS, self._rows[number]) or ()
            self._unpacked = number, {row.run_id: row for row in rows}
        return self._unpacked[1].get(run_id)

    def summary(self, number: int) -> TraceSummary:
        """A trace in short, without hashes. Raises ScanError."""
        if self._summary[0] != number:  # as above
            file, expected = self.files[number]
            state = state_from(self._cache.get_many([file.key]).get(file.key, b""))
            is_known = state is not None and state.digest == expected
            summary = summary_from(state.summary) if state is not None and is_known else None
            self._summary = number, summary or self._summarized_again(number)
        return self._summary[1]

    def _summarized_again(self, number: int) -> TraceSummary:
        """A trace of which nothing of ours is kept. The next scan looks at it anew."""
        file, expected = self.files[number]
        trace = read(file.path)
        if isinstance(trace, disk.Problem) or trace[1] != expected:
            raise ScanError(f"{file.name}: changed while runs were joined; try again")
        self._cache.put_many({file.key: b""})
        return summarized(trace[0], file._replace(settings=None))[0]

    def _with_known(self, files: Sequence[File]) -> Iterator[File]:
        names = ((os.path.abspath(each.path), each.name) for each in files)  # noqa: PTH100 - that would follow links
        shown = fleet_cache.program(), in_bytes(self._show.__qualname__)
        keys = [disk.digest_of(*shown, *map(in_bytes, each)) for each in names]
        kept = self._cache.get_many(keys)
        for file, key in zip(files, keys, strict=True):
            if self._rules[0] is not file.settings:
                told = b"" if file.settings is None else in_bytes(repr(file.settings))
                self._rules = file.settings, told and disk.digest_of(told)
            (_, rules), data = self._rules, kept.get(key)
            state = state_from(data) if data is not None else None
            if state is not None and file.settings is not None and state.rules != rules:
                state = None
            yield File(file.path, file.name, file.settings, rules, key, state)


def _unchanged(file: File) -> TraceState | None:
    """What is known of a trace that is as it was."""
    is_same = file.known and file.known.version and file.known.version == _version(file.path)
    return file.known if is_same else None


def in_bytes(text: str) -> bytes:
    """A text for a digest, whatever is in it."""
    return text.encode("utf-8", "surrogatepass")
