"""A look at one trace, on any core or machine, and what is kept of it: JSON of it in short.

``fleet`` and an editor's server look at traces by the same :class:`KeptTraces`.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

import msgspec

from drive_trace.analysis import Analysis, summarize_text
from drive_trace.grading.judgements import Judgement
from drive_trace.linter.rule import DEFAULTS, RuleSettings
from drive_trace.scorecard.run_lines import HASH
from drive_trace.scorecard.scoring import TraceSummary, without_lines
from drive_trace.storage.files import (
    DIGEST,
    Problem,
    TraceRecords,
    decoded,
    digest_of,
    read_bytes,
    read_record_beside,
    with_judgements,
)
from drive_trace.storage.fleet_cache import Cache, digest, program
from drive_trace.storage.patterns import JUDGEMENTS_SUFFIX
from drive_trace.storage.processes import on_all_cores

_SETTLED = 2_000_000_000
"""Nanoseconds: what was written less long ago may be written again with the same timestamp."""
_AT_ONCE = 16
"""A process gets so many files at a time: to hand one over takes as long as to read a small one."""


class ScanError(Exception):
    """A scan cannot begin, or cannot go on; a sentence says why."""


# What is kept of a trace. Whoever reads it back believes nothing: it has the declared types, or it
# is no summary

FindingCounts = Mapping[str, Mapping[str, int]]
"""By run, how often each rule found something in a trace."""
_Verdicts = dict[str, tuple[tuple[str, tuple[Judgement, ...]], ...]]


class Stored(NamedTuple):
    """A trace without its lines, and what the rules found."""

    summary: TraceSummary
    findings: FindingCounts | None
    """None where the rules did not run."""
    is_clean: bool = False
    """Whether they have found nothing, on lines of no run either."""


_DECODER = msgspec.json.Decoder(Stored)


def to_bytes(stored: Stored) -> bytes | None:
    """The JSON; None where some text or number does not fit, as a lone surrogate."""
    try:
        return msgspec.json.encode(stored)
    except (OverflowError, UnicodeEncodeError):
        return None


def from_bytes(data: bytes, path: str) -> Stored | None:
    """What :func:`to_bytes` made, of a trace that is known by this path now; None where the data
    are anything else.
    """
    try:
        stored = _DECODER.decode(data)
        verdicts = msgspec.convert(stored.summary.verdicts, _Verdicts)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
    summary = stored.summary._replace(verdicts=verdicts)
    if not _can_be_true(summary):
        return None
    before = summary.path
    return stored._replace(summary=summary if before == path else _renamed(summary, before, path))


def _can_be_true(trace: TraceSummary) -> bool:
    """Whether a trace is what its types cannot say: each run stands in it alone, and is judged
    without what is beside it; the hashes of events are whole.
    """
    runs = all(len(run.parts) == 1 and run.judgement is None for run in trace.runs)
    return runs and all(len(hashes) % HASH == 0 for hashes in trace.hashes.values())


def _renamed(value: Any, before: str, path: str) -> Any:
    """Data that are about a trace, with another path in all that names it."""
    if not isinstance(value, tuple):
        return value
    parts = [_renamed(each, before, path) for each in value]
    if not hasattr(value, "_make"):
        return tuple(parts)
    renamed = value._make(parts)
    return renamed._replace(path=path) if getattr(value, "path", None) == before else renamed


# A look at a trace


class Fingerprint(NamedTuple):
    """What a trace was when it was read."""

    version: str
    """See :func:`_version`."""
    digest: bytes
    """The digest of the content of its file, and that of the record beside it."""


class File(NamedTuple):
    """A trace to look at."""

    path: str
    name: str
    """What people know it by."""
    settings: RuleSettings | None
    """None where the configuration cannot be used."""
    key: bytes = b""
    """Of where it is, the settings and this version of the program; empty where nothing is kept."""
    known: Fingerprint | None = None
    """What it was when it was looked at last."""


class Scanned(NamedTuple):
    """What a look at a trace gave."""

    fingerprint: Fingerprint
    stored: bytes | Stored | None
    """The trace in short; None where it is as it was, and itself where it is no JSON."""


def scan_file(file: File, *, as_json: bool = True) -> Scanned | Problem:
    """Look at a trace, and read it unless it is as it was."""
    version = _version(file.path)
    if file.known is not None and version and file.known.version == version:
        return Scanned(file.known, None)
    trace = read(file.path)
    if isinstance(trace, Problem):
        return trace
    records, content = trace
    fingerprint = Fingerprint(version, content)
    if file.known is not None and file.known.digest == content:
        return Scanned(fingerprint, None)
    stored = summarized(records.records, file)
    return Scanned(fingerprint, (to_bytes(stored) if as_json else None) or stored)


def scan_files(files: Sequence[File]) -> list[Scanned | Problem]:
    """The same of some traces: to hand over one takes as long as to read a small one."""
    return [scan_file(each) for each in files]


def read(path: str) -> tuple[TraceRecords, bytes] | Problem:
    """A trace, and the digest of its content and of the record beside it."""
    data = read_bytes(path)
    if isinstance(data, Problem):
        return data
    found = decoded(path, data)
    if isinstance(found, Problem):
        return found
    return found, digest_of(data) + digest_of(read_record_beside(path))


def summarized(records: Sequence[str], file: File) -> Stored:
    """What the score needs of a trace, and what the rules find in it by its settings."""
    if file.settings is None:
        summary, findings, is_clean = summarize_text(records, file.name), None, False
    else:
        analysis = analysed(records, file)
        summary = analysis.summary(file.name)
        by_run = analysis.findings_by_rule()
        findings = {run_id: dict(each) for run_id, each in by_run.items() if run_id is not None}
        is_clean = not by_run
    return Stored(with_judgements(without_lines(summary), file.path), findings, is_clean)


def _version(path: str) -> str:
    """Of a trace's file and of the record beside it; empty if one may change without being seen."""
    found = []
    for each in (path, f"{path}{JUDGEMENTS_SUFFIX}"):
        try:
            state = os.stat(each)  # noqa: PTH116 - Path raises for some names
        except (OSError, ValueError):
            if each == path:
                return ""
            found.append("-")
            continue
        changed = max(state.st_mtime_ns, state.st_ctime_ns)
        if time.time_ns() - changed < _SETTLED:
            return ""
        found += map(str, (state.st_size, state.st_mtime_ns, state.st_ctime_ns, state.st_ino))
    return " ".join(found)


def analysed(records: Sequence[str], file: File) -> Analysis:
    """A trace, judged by its settings, if it has some."""
    where = os.path.abspath(file.path)  # noqa: PTH100 - that would follow links
    return Analysis(records, file.settings or DEFAULTS, where)


class KeptTraces:
    """Looks at traces, and keeps in a cache what it finds. In memory it keeps their paths, and of
    those that the cache does not take all that the score needs.
    """

    def __init__(self, cache: Cache) -> None:
        self.files: list[tuple[File, bytes]] = []
        """Those that were read, each with the digests of its content and of its record."""
        self._cache = cache
        self._loose: dict[int, Stored] = {}
        """What the cache does not take, by the number of the file."""

    def look_at(self, files: Iterable[File]) -> Iterator[Stored | Problem]:
        """Each trace in short, in their order; those that can be read get numbers, from 0."""
        found = map(self._with_known, files)
        chunks = iter(lambda: list(islice(found, _AT_ONCE)), [])
        for chunk, answers in on_all_cores(scan_files, chunks):
            for file, seen in zip(chunk, answers, strict=True):
                yield self._take_in(file, seen)
            self._cache.commit()

    def look_at_one(self, file: File) -> tuple[Stored, bytes] | Problem:
        """A trace in short, and the digest of its content."""
        known = self._with_known(file)
        found = self._take_in(known, scan_file(known))
        return found if isinstance(found, Problem) else (found, self.files[-1][1][:DIGEST])

    def stored(self, number: int) -> Stored:
        """A trace in short once more. Raises ScanError."""
        if number in self._loose:
            return self._loose[number]
        file, _ = self.files[number]
        kept = self._kept(file.key)
        stored = from_bytes(kept[1], file.name) if kept is not None else None
        if stored is None:
            raise ScanError("the cache can no longer be read; try again")
        return stored

    def _with_known(self, file: File) -> File:
        where = os.path.abspath(file.path)  # noqa: PTH100 - that would follow links
        named = (where, repr(file.settings))
        key = digest(program(), *(each.encode("utf-8", "surrogatepass") for each in named))
        kept = self._kept(key)
        return file._replace(key=key, known=kept[0] if kept is not None else None)

    def _kept(self, key: bytes) -> tuple[Fingerprint, bytes] | None:
        """What is kept of a file: what it was, and the trace in short."""
        value = self._cache.get(key)
        if value is None:
            return None
        version, _, rest = value.partition(b"\n")
        digests, data = rest[: 2 * DIGEST], rest[2 * DIGEST :]
        return Fingerprint(version.decode("ascii", "replace"), digests), data

    def _take_in(self, file: File, seen: Scanned | Problem) -> Stored | Problem:
        if isinstance(seen, Problem):
            return seen
        data = seen.stored
        if data is None:
            kept = self._kept(file.key)
            data = kept[1] if kept is not None else b""
        stored = from_bytes(data, file.name) if isinstance(data, bytes) else data
        if stored is None:  # what was kept is nothing of ours, or JSON does not tell it
            anew = scan_file(file._replace(known=None), as_json=seen.stored is None)
            return self._take_in(file, anew)
        if seen.fingerprint != file.known or seen.stored is not None:
            value = b"%b\n%b" % (seen.fingerprint.version.encode(), seen.fingerprint.digest)
            if not (isinstance(data, bytes) and self._cache.put(file.key, value + data)):
                self._loose[len(self.files)] = stored
        self.files.append((file._replace(known=None), seen.fingerprint.digest))
        return stored
