"""The workspace's traces that are on disk but not open, followed as others write to them.

Several threads call this at once, as files may take long to read. A summary of its runs is kept of
every trace. The text is not: who asks for more has the file read again.

There are two kinds of locks. Each trace has one, which a thread holds while it looks at the file.
``ClosedTraces`` has one for everything that is read without waiting, held for moments only. A
thread that takes both takes the trace's first.
"""

from __future__ import annotations

import logging
import math
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

from drive_trace.analysis import Analysis, summarize_text
from drive_trace.features.findings import DiagnosticMaker, DiagnosticOptions
from drive_trace.features.navigation import SymbolName, names_in
from drive_trace.linter.rule import RuleSettings
from drive_trace.linter.rules import RULES
from drive_trace.lsp.rpc.messages import DiagnosticReport
from drive_trace.lsp.workspace.trace_folders import TraceFolders, real_path
from drive_trace.scorecard.card import ILLEGIBLE
from drive_trace.scorecard.run_score import RunScore
from drive_trace.scorecard.scoring import TraceSummary, with_hashes
from drive_trace.storage.files import LeftOut, Problem
from drive_trace.storage.followed_file import FollowedFile

if TYPE_CHECKING:
    from drive_trace.fleet.kept import KeptTraces
    from drive_trace.lsp.workspace.joining import Beside
    from drive_trace.storage.fleet_cache import Cache

Result = TypeVar("Result")

log = logging.getLogger(__name__)


MOST_BYTES = 64 << 20
"""Larger files are left to the command line, as editors do not open them either."""
_NO_RULES = RuleSettings(dict.fromkeys(RULES))
"""For traces whose findings nobody has requested."""


class ClosedTrace(NamedTuple):
    """A trace as it was when it was last looked at."""

    real: str
    """Its real path, by which it is known here."""
    path: Path
    content: bytes | None = None
    """Identifies the text that was read last; None if none was read."""
    problem: Problem | None = None
    """Why it cannot be read."""
    is_gone: bool = False
    """Whether that is because there is no such file any more."""
    summary: TraceSummary = TraceSummary("")
    """Empty where it cannot be read."""
    parts: Mapping[str, RunScore] = {}
    """Each run in it by its id, scored as if it stood in this trace alone."""

    @property
    def is_short(self) -> bool:
        """Whether its lines are not at hand, which only runs that stand in several traces need."""
        return self.content is not None and self.summary.lines is None

    @property
    def unread_because(self) -> str:
        """Why runs may lack a part that is in it; empty if they do not."""
        if self.problem is not None:
            return "" if self.is_gone or isinstance(self.problem, LeftOut) else self.problem.reason
        return ILLEGIBLE if self.summary.is_illegible else ""

    @property
    def is_unread(self) -> bool:
        """Whether nobody has tried to read it yet."""
        return self.content is None and self.problem is None


class Changes(NamedTuple):
    """What has changed since the last call."""

    runs: frozenset[str] = frozenset()
    """The ids of the runs of which some trace has another part now."""
    has_new_text: bool = False
    """Whether a trace that had been read has another text now."""
    may_touch_any_run: bool = False
    """Whether traces became readable or unreadable, or other lines may grade any run."""


class Entry:
    """One trace, and what it takes to follow it."""

    def __init__(self, real: str, path: Path, folder: Path | None) -> None:
        self.lock = Lock()
        self.seen = ClosedTrace(real, path)
        """Replaced as a whole, with both locks held."""
        self.file = FollowedFile(path, MOST_BYTES, folder)
        self.results: dict[str, tuple[object, Any]] = {}
        """What was made of the text, by a name, each with what else it depends on."""


class ClosedTraces:
    """Traces under the workspace's folders. Safe to use from several threads at once."""

    def __init__(self, folders: Iterable[Path]) -> None:
        self.folders = TraceFolders(folders)
        self.is_searched = False
        """Whether the folders have been searched for traces."""
        self._lock = Lock()
        self._entries: dict[str, Entry] = {}
        """By real path."""
        self._holders: dict[str, dict[str, ClosedTrace]] = {}
        """The traces that hold a run, by its id and their real paths."""
        self._changes = Changes()
        self.revision = 0
        """Grows when a trace is found to be another than before."""

    def has(self, path: Path) -> bool:
        """Whether a path leads to one of the traces."""
        return real_path(path) in self.folders.search()

    def search(self) -> list[str]:
        """The real paths of all traces; those that are gone are forgotten."""
        paths = self.folders.search()
        paths = {**self.folders.links_out, **paths}
        with self._lock:
            gone = [self._entries.pop(real) for real in self._entries.keys() - paths.keys()]
            for real, path in paths.items():
                if real not in self._entries:
                    self._entries[real] = Entry(real, path, self.folders.folder_of(path))
            self.is_searched = True
        for entry in gone:
            with entry.lock:
                self._lose(entry, None)
        return list(paths)

    def look(self, reals: Sequence[str], *, settle: bool = False, seconds: float = math.inf) -> int:
        """Look at the files of some traces, and give how many were looked at: no file is begun
        after that many seconds. ``settle`` says that none of them has changed for long.
        """
        end = time.monotonic() + seconds
        for done, real in enumerate(reals):
            if time.monotonic() > end:
                return done
            entry = self._entries.get(real)
            if entry is not None:
                with entry.lock:
                    self._look(entry, settle=settle)
        return len(reals)

    def look_first(
        self, traces: Sequence[tuple[str, RuleSettings]], cache: Cache, *, seconds: float
    ) -> int:
        """The same for traces that nobody has looked at, each with its rules. What the cache keeps
        of their runs and findings is not made again.
        """
        from drive_trace.fleet.kept import KeptTraces  # noqa: PLC0415 - takes a moment to load

        end = time.monotonic() + seconds
        kept = KeptTraces(cache)
        for done, (real, rules) in enumerate(traces):
            if time.monotonic() > end:
                return done
            entry = self._entries.get(real)
            if entry is not None:
                with entry.lock:
                    if not self._take_short(entry, rules, kept):
                        self._look(entry)
        return len(traces)

    def complete(self, runs: Iterable[str]) -> None:
        """Read the events of these runs, and of those that stand in several traces."""
        with self._lock:
            several = (run_id for run_id, each in self._holders.items() if len(each) > 1)
            held = (self._holders.get(run_id, {}) for run_id in {*runs, *several})
            short = {real for each in held for real, seen in each.items() if seen.is_short}
            entries = [self._entries[real] for real in short if real in self._entries]
        for entry in entries:
            with entry.lock:
                self._look(entry, completes=True)

    # Without waiting

    def seen(self) -> list[ClosedTrace]:
        """All traces, as they were when they were last looked at."""
        with self._lock:
            return [each.seen for each in self._entries.values()]

    def uri_of(self, real: str) -> str | None:
        """The address of a trace; None if it is gone meanwhile."""
        entry = self._entries.get(real)
        return entry.seen.path.as_uri() if entry is not None else None

    def holders(self, run_id: str) -> list[ClosedTrace]:
        """The traces that hold a run, as they were when they were last looked at."""
        with self._lock:
            return list(self._holders.get(run_id, {}).values())

    def unsettled(self) -> dict[str, bytes]:
        """The contents, by real path, of traces to be looked at once more when they are quiet."""
        with self._lock:
            return {
                real: each.seen.content
                for real, each in self._entries.items()
                if each.seen.content is not None and not each.file.is_settled
            }

    def take_changes(self) -> Changes:
        """What has changed since the last call."""
        with self._lock:
            changes, self._changes = self._changes, Changes()
        return changes

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
        versions = beside.versions if beside is not None else []
        entry = self._entry(path)
        with entry.lock:
            self._look(entry)
            if beside is None and entry.results.get("clean") == (options.rules, None):
                return DiagnosticReport.of(options.uri, b"[]").unless(previous)

            def make() -> DiagnosticReport | None:
                analysis = self._analysis(entry, options.rules)
                if analysis is None:
                    return None
                if beside is not None:
                    analysis.join(
                        *beside.joined(options.uri, analysis.document.lines, options.rules)
                    )
                return DiagnosticReport.of(
                    options.uri, DiagnosticMaker(analysis, options).as_json()
                )

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

    def findings_by_run(self, real: str, rules: RuleSettings) -> Mapping[str | None, int]:
        """See :meth:`Analysis.findings_by_run`. The trace is as it was when last looked at."""
        entry = self._entries.get(real)
        if entry is None:
            return {}
        with entry.lock:

            def make() -> Mapping[str | None, int]:
                analysis = self._analysis(entry, rules)
                return analysis.findings_by_run() if analysis is not None else {}

            return self._result(entry, "counts", rules, make)

    def names(self, real: str, *, looks: bool = True) -> Sequence[SymbolName]:
        """The runs, slices and dispatches of one trace; with ``looks``, after a look at it."""
        entry = self._entries.get(real)
        if entry is None:
            return ()
        with entry.lock:
            if looks:
                self._look(entry)

            def make() -> Sequence[SymbolName]:
                analysis = self._analysis(entry, _NO_RULES)
                return names_in(analysis) if analysis is not None else ()

            return self._result(entry, "names", None, make)

    def _entry(self, path: Path) -> Entry:
        real = real_path(path)
        with self._lock:
            return self._entries.setdefault(real, Entry(real, path, self.folders.folder_of(path)))

    # With the lock of the trace held

    def _result(
        self, entry: Entry, name: str, depends: object, make: Callable[[], Result]
    ) -> Result:
        """What is made of a trace. It is made again only if the text or what it ``depends`` on has
        changed.
        """
        known = entry.results.get(name)
        if known is None or known[0] != depends:
            known = depends, make()
            entry.results[name] = known
        return cast("Result", known[1])

    def _take_short(self, entry: Entry, rules: RuleSettings, kept: KeptTraces) -> bool:
        """Look at a trace for the first time, for what the score needs of it and the number of its
        findings. Gives whether that is possible: not while somebody writes to it.
        """
        from drive_trace.fleet.kept import File  # noqa: PLC0415 - as above

        before, state = entry.seen, entry.file.quiet_state()
        if not before.is_unread or state is None:
            return False
        name = self.folders.name_of(before.path)
        found = kept.look_at_one(File(str(before.path), name, rules))
        if isinstance(found, Problem):
            return False
        (summary, findings, is_clean), digest = found
        entry.file.adopt(state, digest)
        self._note_summary(entry, summary)
        counts = {run_id: sum(each.values()) for run_id, each in (findings or {}).items()}
        entry.results["counts"] = rules, counts
        if is_clean:
            entry.results["clean"] = rules, None
        return True

    def _look(
        self, entry: Entry, *, settle: bool = False, anew: bool = False, completes: bool = False
    ) -> Sequence[str] | None:
        """Take in what has changed. Gives the records; None if the trace cannot be read, and if it
        has not changed, but for ``anew``. With ``completes``, the events are needed, too.
        """
        seen = entry.seen
        completes &= seen.is_short
        news = entry.file.look(anew=anew or completes, settle=settle)
        if news is None:
            return None
        if isinstance(news, Problem):
            self._lose(entry, news)
            return None
        if entry.file.content != seen.content or seen.problem is not None or completes:
            summary = summarize_text(news.records, self.folders.name_of(seen.path))
            self._note_summary(entry, with_hashes(summary))
        return news.records

    def _analysis(self, entry: Entry, rules: RuleSettings) -> Analysis | None:
        """The trace as it is now; None if it cannot be read."""
        records = self._look(entry, anew=True)
        return Analysis(records, rules, str(entry.seen.path)) if records is not None else None

    def _lose(self, entry: Entry, problem: Problem | None) -> None:
        """Note that a trace cannot be read, or that it is no trace any more."""
        seen = entry.seen
        if problem is not None and problem != seen.problem:
            log.warning("%s", problem.message)
        is_gone = problem is not None and not os.path.lexists(seen.path)
        self._note(entry, ClosedTrace(seen.real, seen.path, seen.content, problem, is_gone))

    def _note_summary(self, entry: Entry, summary: TraceSummary) -> None:
        parts = {run.run_id: run for run in summary.runs}
        now = ClosedTrace(entry.seen.real, entry.seen.path, entry.file.content)
        self._note(entry, now._replace(summary=summary, parts=parts))

    def _note(self, entry: Entry, now: ClosedTrace) -> None:
        """Make a new state of a trace visible, and note what it changes."""
        before = entry.seen
        entry.results.clear()
        ids = before.parts.keys() | now.parts.keys()
        runs = {each for each in ids if _differs(each, before, now)}
        with self._lock:
            self.revision += 1
            entry.seen = now
            was_read = before.content is not None
            self._changes = Changes(
                self._changes.runs | runs,
                self._changes.has_new_text
                or (was_read and (before.content, before.problem) != (now.content, now.problem)),
                self._changes.may_touch_any_run
                or (before.problem, before.summary.strays, before.summary.is_illegible)
                != (now.problem, now.summary.strays, now.summary.is_illegible),
            )
            is_known = self._entries.get(now.real) is entry  # else a search found it gone
            for run_id in ids:
                holders = self._holders.setdefault(run_id, {})
                if is_known and run_id in now.parts:
                    holders[now.real] = now
                elif holders.get(now.real) is before:
                    del holders[now.real]
                if not holders:
                    del self._holders[run_id]


def _differs(run_id: str, before: ClosedTrace, now: ClosedTrace) -> bool:
    """Whether a run is another one in a trace, or can be joined with others only now."""
    is_same = before.parts.get(run_id) == now.parts.get(run_id)
    hashes = [each.summary.hashes.get(run_id) for each in (before, now)]
    return not is_same or hashes[0] != hashes[1] or before.is_short != now.is_short
