"""The workspace's traces that are on disk but not open: where they are, and what they say as others
write to them.

Several threads call this at once, as files may take long to read. A summary of its runs is kept of
every trace, and its lines if it was read here: only runs that stand in several traces need them.
The text is not: who asks for more has the file read again.

There are two kinds of locks. Each trace has one, which a thread holds while it looks at the file.
``ClosedTraces`` has one for everything that is read without waiting, held for moments only. A
thread that takes both takes the trace's first.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from functools import cache, partial
from itertools import tee
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

from msgspec import msgpack

from drive_trace.analysis import Analysis
from drive_trace.features.findings import DiagnosticMaker, DiagnosticOptions
from drive_trace.features.navigation import SymbolName, names_in
from drive_trace.features.runs import ListedRun, listed, of_one_file
from drive_trace.linter.rules import RULES
from drive_trace.linter.settings import RuleSettings
from drive_trace.lsp.rpc.capabilities import path_of
from drive_trace.lsp.rpc.messages import DiagnosticReport
from drive_trace.lsp.rpc.threads import without_collecting
from drive_trace.scorecard.caveats import ILLEGIBLE, Uncounted
from drive_trace.scorecard.run_lines import TraceLines
from drive_trace.scorecard.run_score import RunScore
from drive_trace.scorecard.scoring import ScoredTrace, TraceSummary, among, with_hashes
from drive_trace.storage import finding, other_files
from drive_trace.storage.files import DIGEST, LeftOut, Problem, provenance_beside
from drive_trace.storage.finding import GONE, NO_MORE, LinkOut, SearchOptions, find_real_traces
from drive_trace.storage.followed_file import FileState, FollowedFile
from drive_trace.storage.patterns import MoreFiles, is_trace
from drive_trace.storage.projects import Projects
from drive_trace.trace.line import Line
from drive_trace.trace.provenance import ProvenanceRecord

if TYPE_CHECKING:
    from drive_trace.lsp.workspace.runs import Beside
    from drive_trace.storage.fleet_cache import Cache

Result = TypeVar("Result")

log = logging.getLogger(__name__)

MOST_BYTES = 64 << 20
"""Larger files are left to the command line, as editors do not open them either."""
_NO_RULES = RuleSettings(dict.fromkeys(RULES))
"""For traces whose findings nobody has requested."""
_MANY = 10_000
"""Lines from which on collecting garbage while they are read keeps others waiting."""
_SHARE = 20
"""Folders are searched again after this many times the time that it took."""
_LONGEST = 5.0
"""But after so many seconds at the most, or as many as it took. That is how late a new trace is
found if nobody calls :meth:`TraceFolders.expire`.
"""


# Where they are


class TracePlace(NamedTuple):
    """Where a trace stands among the others of the workspace."""

    folder: Path | None
    """The folder whose runs it is joined with; None for a trace outside the workspace."""
    order: tuple[tuple[bool, str], ...]
    """The steps of its path, each with whether it is a folder. Sorts like a search of a folder, as
    `score` joins traces in that order: between two grades of one moment that of the later trace
    counts. A folder's files come before those in the folders inside it.
    """
    name: str
    """How people know it."""
    uri: str


class _Found(NamedTuple):
    """The result of a search: traces by their real paths."""

    paths: dict[str, Path]
    folders: tuple[Path, ...]
    more: MoreFiles
    good_until: float
    """On the monotonic clock."""
    left_out: Mapping[Path, LeftOut]
    """The paths that the search left out."""
    shown: Mapping[str, str] = {}
    """The traces by their real paths, each with all that the search knows of it."""


class TraceFolders:
    """The workspace's folders, and the traces in them."""

    def __init__(self, folders: Iterable[Path]) -> None:
        self.folders = tuple(folders)
        self.more = NO_MORE
        """The files that are traces by the settings, whatever their names."""
        self.trusted = False
        """Whether the person trusts the workspace, and so what its configurations exclude."""
        self._found = _Found({}, (), NO_MORE, 0.0, {})
        self.links_out: Mapping[str, Path] = {}
        """The links of the last search that lead out of a repository, which nobody follows."""
        self._expired = 0
        """How often :meth:`expire` was called."""

    def change(self, added: Iterable[Path], removed: Iterable[Path]) -> None:
        """The user has removed folders from the workspace, and added others."""
        gone = set(removed)
        self.folders = (*(each for each in self.folders if each not in gone), *added)

    def expire(self) -> None:
        """Files have come or gone: the next search is a new one."""
        self._expired += 1
        self._found = self._found._replace(good_until=0.0)

    def search(self) -> dict[str, Path]:
        """The traces by their real paths, in the order of their paths. Links to one file count
        once. A recent search is not repeated.
        """
        found, folders, more, start = self._found, self.folders, self.more, time.monotonic()
        expired = self._expired
        if (found.folders, found.more) == (folders, more) and start < found.good_until:
            return found.paths
        shown: dict[str, str] = {}
        left_out: dict[Path, LeftOut] = {}
        links_out: dict[str, Path] = {}
        there = [str(folder) for folder in folders if os.path.isdir(folder)]  # noqa: PTH112 - Path.is_dir raises
        projects = Projects(".", with_baseline=False, trusted=self.trusted)
        options = SearchOptions(projects=projects)
        for real, each in find_real_traces(there, more, options):
            if (folders, more) != (self.folders, self.more):
                return self.search()
            if isinstance(each, LeftOut):
                left_out[Path(each.path)] = each
            elif isinstance(each, LinkOut):
                links_out[real_path(Path(each.path))] = Path(each.path)
            elif not isinstance(each, Problem):
                shown.setdefault(real, each)
        if expired != self._expired:  # the search may have missed what came meanwhile
            return self.search()
        paths = {real: Path(each) for real, each in shown.items()}
        now = time.monotonic()
        took = now - start
        good_until = now + min(took * _SHARE, max(took, _LONGEST))
        self._found = _Found(paths, folders, more, good_until, left_out, shown)
        self.links_out = links_out
        return paths

    def shown(self, real: str, path: Path) -> str:
        """The path of a trace to read it: a FoundPath if the last search found it."""
        return self._found.shown.get(real, str(path))

    def spelled(self, uris: Iterable[str]) -> Sequence[tuple[str, Path, str]]:
        """The real path, path and URI of every trace. A URI is spelled as in ``uris`` if it is
        there in some spelling.
        """
        known = {real_path(path): uri for uri in uris if (path := path_of(uri)) is not None}
        return [
            (real, path, known.get(real) or path.as_uri()) for real, path in self.search().items()
        ]

    def holds(self, path: Path) -> bool:
        """Whether a file of that path is, or would be, one of the traces. The last search decides
        which of them are left out.
        """
        left_out = (self._found.left_out.get(each) for each in (path, *path.parents))
        # Somebody may be writing anew what is gone.
        if os.pardir in path.parts or any(each and each.reason not in GONE for each in left_out):
            return False
        return self.folder_of(path) is not None and (is_trace(path) or self.takes(path))

    def takes(self, path: Path) -> bool:
        """Whether a file is a trace by the settings."""
        inside = (each for each in self.folders if path.is_relative_to(each))
        return any(self.more.hold(path, each) for each in inside)

    def left_out_in(self, folder: Path | None) -> list[LeftOut]:
        """The files of a folder that the last search left out."""
        found = self._found.left_out.items()
        return [each for path, each in found if self.folder_of(path) == folder]

    def place_of(self, path: Path, uri: str = "") -> TracePlace:
        """The place of a trace, and what its URI is."""
        order, folder = other_files.search_order(str(path)), self.folder_of(path)
        return TracePlace(folder, order, self._name_in(folder, path), uri or path.as_uri())

    def name_of(self, path: Path) -> str:
        """The name of a trace for people: its path in its folder. If there are several folders, the
        folder's name comes first.
        """
        return self._name_in(self.folder_of(path), path)

    def _name_in(self, folder: Path | None, path: Path) -> str:
        if folder is None:
            return "/".join(path.parts[-2:])
        inner = str(path)[len(_start(folder)) :].replace(os.sep, "/")
        return inner if len(self.folders) == 1 else f"{folder.name}/{inner}"

    def folder_of(self, path: Path) -> Path | None:
        """The innermost of the folders that a file stands in."""
        start = _start(path)
        inside = [each for each in self.folders if start.startswith(_start(each))]
        return max(inside, key=lambda each: len(str(each)), default=None)


def _start(path: Path) -> str:
    """What the paths of all files in a folder begin with."""
    return os.path.normcase(os.path.join(path, ""))  # noqa: PTH118 - with a separator


def real_path(path: Path) -> str:
    """One name for all spellings of a path, as far as it can be followed."""
    return finding.identity(str(path))


# What they say


class ClosedTrace(NamedTuple):
    """A trace as it was when it was last looked at. What it says is empty where it cannot be read.
    An :class:`EditedTrace` says the same of an open one.
    """

    real: str
    """Its real path, by which it is known here."""
    path: Path
    place: TracePlace
    version: bytes | None = None
    """Identifies the text that was read last; None if none was read."""
    problem: Problem | None = None
    """Why it cannot be read."""
    unread_because: str = ""
    """Why runs may lack a part that is in it; empty if they do not."""
    parts: Mapping[str, RunScore] = {}
    """Each run in it by its id, scored as if it stood in this trace alone."""
    strays: Sequence[Uncounted] = ()
    """Its lines that may grade any run."""
    hashes: Mapping[str, bytes] = {}
    """By run the hashes of its events."""
    lines: Sequence[Line] | None = None
    """None where a cache knew the rest. Only runs that stand in several traces need them."""
    by_run: TraceLines | None = None
    """The same by run."""
    listed: Callable[[], Mapping[str, ListedRun]] = dict
    """Gives each run in it as a list shows it, as if it stood in this trace alone."""

    @property
    def is_short(self) -> bool:
        """Whether its lines are not at hand."""
        return self.version is not None and self.lines is None

    @property
    def is_unread(self) -> bool:
        """Whether nobody has tried to read it yet."""
        return self.version is None and self.problem is None

    def run(self, run_id: str) -> RunScore | None:
        """One of its runs."""
        return self.parts.get(run_id)


def _listed(runs: Iterable[RunScore], kept: bytes = b"") -> Mapping[str, ListedRun]:
    from drive_trace.fleet.kept import read_back  # noqa: PLC0415 - loads SQLite

    found = read_back(_LISTED, kept)
    return found or {run.run_id: listed(of_one_file(among(run))) for run in runs}


def listing(summary: TraceSummary) -> bytes:
    """The runs of a trace as a list shows them, to be kept."""
    return msgpack.encode(_listed(summary.runs))


_LISTED = msgpack.Decoder(dict[str, ListedRun])


class _Followed:
    """One trace, and what it takes to follow it."""

    def __init__(self, real: str, path: Path, place: TracePlace) -> None:
        self.lock = Lock()
        self.seen = ClosedTrace(real, path, place)
        """Replaced as a whole, with both locks held."""
        self.file = FollowedFile(path, MOST_BYTES, place.folder)
        self.results: dict[str, tuple[object, Any]] = {}
        """What was made of the text, by a name, each with what else it depends on."""

    def quiet_state(self) -> FileState | None:
        """The state of its file, if nobody has looked at that, and nobody writes to it."""
        return self.file.quiet_state() if self.seen.is_unread else None


class ClosedTraces:
    """Traces under the workspace's folders. Safe to use from several threads at once."""

    def __init__(self, folders: Iterable[Path]) -> None:
        self.folders = TraceFolders(folders)
        self._folders = self.folders.folders
        """Those of the last search."""
        self.is_searched = False
        """Whether the folders have been searched for traces."""
        self._lock = Lock()
        self._entries: dict[str, _Followed] = {}
        """By real path."""
        self._holders: dict[str, dict[str, ClosedTrace]] = {}
        """The traces that hold a run, by its id and their real paths."""
        self.revision = 0
        """Grows when a trace is found to be another than before."""
        self.counts_findings = False
        """Whether the rules run over traces that nobody has opened, to count what they find."""

    def has(self, path: Path) -> bool:
        """Whether a path leads to one of the traces."""
        return real_path(path) in self.folders.search()

    def search(self) -> list[str]:
        """The real paths of all traces; those that are gone are forgotten."""
        found = self.folders.search()
        paths = {**self.folders.links_out, **found}
        with self._lock:
            are_elsewhere = self._folders != self.folders.folders  # and have other names there
            self._folders = self.folders.folders
            known = self._entries.keys()
            lost = set(known) if are_elsewhere else known - paths.keys()
            gone = [self._entries.pop(real) for real in lost]
            for real, path in paths.items():
                if real not in self._entries:
                    self._entries[real] = _Followed(real, path, self.folders.place_of(path))
            self.is_searched = True
        for entry in gone:
            with entry.lock:
                self._lose(entry, None)
        return list(paths)

    def look(self, reals: Iterable[str], *, settle: bool = False) -> None:
        """Look at the files of some traces. ``settle`` says that none of them has changed for
        long.
        """
        for entry in filter(None, map(self._entries.get, reals)):
            with entry.lock:
                self._look(entry, settle=settle)

    def look_first(
        self, traces: Sequence[tuple[str, RuleSettings | None]], cache: Cache, *, seconds: float
    ) -> int:
        """The same for traces that nobody has looked at, for what the score needs of them; each
        with the rules that count its findings, if any do. What the cache keeps is not made again.
        After so many seconds nothing is begun; gives how many were looked at, from the first on.
        """
        from drive_trace.fleet.kept import File, KeptTraces, one_by_one  # noqa: PLC0415 - loads SQLite

        end = time.monotonic() + seconds
        known = ((self._entries.get(real), rules) for real, rules in traces)
        # Each state is asked for just before its trace is read: there may be no time for all.
        asked, ahead = tee((entry, entry.quiet_state(), rules) for entry, rules in known if entry)
        files = (
            File(self.folders.shown(each.real, each.path), each.place.name, rules)
            for entry, state, rules in ahead
            if state is not None and (each := entry.seen)
        )
        # Threads bear no fork.
        with closing(KeptTraces(cache, one_by_one, listing).look_at(files)) as looked:
            for number, (entry, state, rules) in enumerate(asked, 1):
                found = next(looked) if state is not None else None
                with entry.lock:
                    if state is None or not self._adopt(entry, state, rules, found):
                        self._look(entry)  # as at any other time: somebody may write to it
                if time.monotonic() > end:
                    return number
        return len(traces)

    def complete(self, runs: Iterable[str]) -> None:
        """Read the lines of these runs, and of those that stand in several traces."""
        with self._lock:
            several = (run_id for run_id, each in self._holders.items() if len(each) > 1)
            held = [self._holders.get(run_id, {}) for run_id in {*runs, *several}]
        for each in {real: seen for one in held for real, seen in one.items()}.values():
            self.lines_of(each)

    def lines_of(self, trace: ClosedTrace) -> Sequence[Line]:
        """The lines of a trace, which is read for that where they are not at hand; none where it
        cannot be read, as all views of its runs say.
        """
        entry = self._entries.get(trace.real)
        if not trace.is_short or entry is None:
            return trace.lines or ()
        with entry.lock:
            self._look(entry, completes=entry.seen.is_short)
            return entry.seen.lines or ()

    # Without waiting

    def seen(self) -> list[ClosedTrace]:
        """All traces, as they were when they were last looked at."""
        with self._lock:
            return [each.seen for each in self._entries.values()]

    def holders(self, run_id: str) -> list[ClosedTrace]:
        """The traces that hold a run, as they were when they were last looked at."""
        with self._lock:
            return list(self._holders.get(run_id, {}).values())

    def unsettled(self) -> dict[str, object]:
        """The versions, by real path, of traces to be looked at once more when they are quiet."""
        with self._lock:
            return {
                real: each.seen.version
                for real, each in self._entries.items()
                if each.seen.version is not None and not each.file.is_settled
            }

    # Results

    def report(
        self,
        path: Path,
        previous: str | None,
        options: DiagnosticOptions,
        beside: Beside | None = None,
    ) -> DiagnosticReport | None:
        """The diagnostics of one trace; None if it cannot be read, or is gone. ``beside`` are those
        that it is judged with, if there are any.

        ``previous`` is the id of the client's last report. A file that has not changed since is
        not read again.
        """
        entry, versions = self._entry(path), beside and beside.read()
        with entry.lock:
            self._look(entry)
            if beside is None and entry.results.get("clean") == (options.rules, None):
                return DiagnosticReport.of(options.uri, b"[]").unless(previous)

            def make() -> DiagnosticReport | None:
                analysis = self._analysis(entry, options.rules, beside)
                if analysis is None:
                    return None
                items = DiagnosticMaker(analysis, options).as_json()
                return DiagnosticReport.of(options.uri, items)

            report = self._result(entry, "report", (options, previous, versions), make)
            if report is None:
                return None
            # Kept without its items, which the client has.
            known = options, report.result_id, versions
            entry.results["report"] = known, report.unless(report.result_id)
        return report.unless(previous)

    def ask(
        self, path: Path, work: Callable[[Analysis], Result], rules: RuleSettings | None = None
    ) -> Result | None:
        """The result of some work on a trace as it is on disk now, judged by ``rules`` where they
        matter; None if it cannot be read.
        """
        entry = self._entry(path)
        with entry.lock:
            analysis = self._analysis(entry, rules or _NO_RULES)
        return work(analysis) if analysis is not None else None

    def may_count(self, real: str) -> bool:
        """Whether the findings of a trace are counted, or their number is known."""
        entry = self._entries.get(real)
        return self.counts_findings or (entry is not None and "counts" in entry.results)

    def findings_by_run(
        self, real: str, rules: RuleSettings, beside: Beside | None = None
    ) -> Mapping[str | None, int] | None:
        """See :meth:`Analysis.findings_by_run`. The trace is as it was when last looked at, and
        judged with those beside it. None where that is not known, and findings are not counted.
        """
        entry = self._entries.get(real)
        if entry is None:
            return {}
        if not self.counts_findings:
            depends, counts = entry.results.get("counts", (None, None))
            return counts if depends == (rules, beside and beside.versions) else None
        versions = beside and beside.read()
        with entry.lock:

            def make() -> Mapping[str | None, int]:
                analysis = self._analysis(entry, rules, beside)
                return analysis.findings_by_run() if analysis is not None else {}

            return self._result(entry, "counts", (rules, versions), make)

    def names(self, reals: Iterable[str], *, looks: bool) -> list[SymbolName]:
        """The runs, slices and dispatches of some traces; with ``looks``, after a look at them."""
        found: list[SymbolName] = []
        for entry in filter(None, map(self._entries.get, reals)):
            with entry.lock:
                if looks:
                    self._look(entry)
                found += self._result(entry, "names", None, partial(self._names, entry))
        return found

    def _names(self, entry: _Followed) -> Sequence[SymbolName]:
        analysis = self._analysis(entry, _NO_RULES)
        return names_in(analysis, entry.seen.place.uri) if analysis is not None else ()

    def _entry(self, path: Path) -> _Followed:
        real, place = real_path(path), self.folders.place_of(path)
        with self._lock:
            return self._entries.setdefault(real, _Followed(real, path, place))

    # With the lock of the trace held

    def _result(
        self, entry: _Followed, name: str, depends: object, make: Callable[[], Result]
    ) -> Result:
        """What is made of a trace. It is made again only if the text or what it ``depends`` on has
        changed.
        """
        known = entry.results.get(name)
        if known is None or known[0] != depends:
            known = depends, make()
            entry.results[name] = known
        return cast("Result", known[1])

    def _look(
        self, entry: _Followed, *, settle: bool = False, anew: bool = False, completes: bool = False
    ) -> Sequence[str] | None:
        """Take in what has changed. Gives the records; None if the trace cannot be read, and if it
        has not changed, but for ``anew``. With ``completes``, the lines are needed, too.
        """
        seen = entry.seen
        news = entry.file.look(anew=anew or completes, settle=settle)
        if news is None:
            return None
        if isinstance(news, Problem):
            self._lose(entry, news)
            return None
        if entry.file.content != seen.version or seen.problem is not None or completes:
            provenance = provenance_beside(str(seen.path), seen.place.folder)
            if provenance is not None:  # what it names may have come after the first look
                again = entry.file.look(anew=True, settle=settle)
                news = again if isinstance(again, list) else news
            read = partial(_summarized, news, provenance, seen.place.name)
            found = without_collecting(read) if len(news) > _MANY else read()
            self._note_summary(entry, *found)
        return news

    def _analysis(
        self, entry: _Followed, rules: RuleSettings, beside: Beside | None = None
    ) -> Analysis | None:
        """The trace as it is now, judged with those beside it; None if it cannot be read."""
        path = str(entry.seen.path)
        provenance = provenance_beside(path, entry.seen.place.folder)
        records = self._look(entry, anew=True)
        if records is None:
            return None
        analysis = Analysis(records, rules, path, provenance=provenance)
        if beside is not None:
            beside.join(analysis)
        return analysis

    def _lose(self, entry: _Followed, problem: Problem | None) -> None:
        """Note that a trace cannot be read, or that it is no trace any more."""
        seen = entry.seen
        now = ClosedTrace(seen.real, seen.path, seen.place, seen.version, problem)
        if problem is not None:
            if problem != seen.problem:
                log.warning("%s", problem.message)
            if os.path.lexists(seen.path) and not isinstance(problem, LeftOut):
                now = now._replace(unread_because=problem.reason)
        self._note(entry, now)

    def _adopt(
        self, entry: _Followed, state: FileState, rules: RuleSettings | None, found: object
    ) -> bool:
        """Take in what a look at a file in some state gave; whether that can be used."""
        from drive_trace.fleet.kept import TraceState, summary_from  # noqa: PLC0415 - as above

        if not isinstance(found, TraceState) or found.has_long_line or not entry.seen.is_unread:
            return False
        if (summary := summary_from(found.summary)) is None:
            return False
        entry.file.adopt(state, found.digest[:DIGEST])
        self._note_summary(entry, summary._replace(hashes=found.hashes), kept=found.shown)
        if found.findings is not None and rules is not None:
            counts = {run_id: sum(each.values()) for run_id, each in found.findings.items()}
            entry.results["counts"] = (rules, None), counts
            if not counts:
                entry.results["clean"] = rules, None
        return True

    def _note_summary(
        self,
        entry: _Followed,
        summary: TraceSummary,
        lines: Sequence[Line] | None = None,
        kept: bytes = b"",
    ) -> None:
        seen, index = entry.seen, summary.lines
        now = ClosedTrace(
            seen.real,
            seen.path,
            seen.place,
            entry.file.content,
            unread_because=ILLEGIBLE if summary.is_illegible else "",
            parts={run.run_id: run for run in summary.runs},
            strays=summary.strays,
            hashes=summary.hashes,
            lines=lines,
            by_run=TraceLines(index, summary.path) if index is not None else None,
            listed=cache(partial(_listed, summary.runs, kept)),
        )
        self._note(entry, now)

    def _note(self, entry: _Followed, now: ClosedTrace) -> None:
        """Make a new state of a trace visible."""
        before = entry.seen
        entry.results.clear()
        with self._lock:
            self.revision += before != now
            entry.seen = now
            is_known = self._entries.get(now.real) is entry  # else a search found it gone
            for run_id in before.parts.keys() | now.parts.keys():
                holders = self._holders.setdefault(run_id, {})
                if is_known and run_id in now.parts:
                    holders[now.real] = now
                elif holders.get(now.real) is before:
                    del holders[now.real]
                if not holders:
                    del self._holders[run_id]


def _summarized(
    records: Sequence[str], provenance: ProvenanceRecord | None, name: str
) -> tuple[TraceSummary, Sequence[Line]]:
    trace = ScoredTrace(records, name, provenance, only_score=False)
    return with_hashes(trace.summary()), trace.document.lines
