"""The workspace's traces that are on disk but not open, followed as others write to them.

Several threads call this at once, as files may take long to read. A summary of its runs is kept
of every trace. The analysis is kept only of traces that have changed since they were first read,
as these go on changing, and only within a budget.

There are two kinds of locks. Each trace has one, which a thread holds while it looks at the file
or works with the analysis. ``ClosedTraces`` has one for everything that is read without waiting,
held for moments only. A thread that takes both takes the trace's first.
"""

from __future__ import annotations

import logging
import math
import os
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

from drive_trace.analysis import Analysis, summarize_text
from drive_trace.features.diagnostics import DiagnosticMaker, DiagnosticOptions
from drive_trace.features.workspace_symbol import SymbolName, names_in
from drive_trace.linter.rules import RULES
from drive_trace.linter.settings import RuleSettings
from drive_trace.lsp.rpc.messages import DiagnosticReport
from drive_trace.lsp.workspace.trace_folders import TraceFolders, real_path
from drive_trace.scorecard.card import ILLEGIBLE
from drive_trace.scorecard.summary import (
    RunSummary,
    Unplaced,
    as_it_is,
    parts_by_run,
    unplaced_grades,
)
from drive_trace.storage.files import Problem
from drive_trace.storage.followed_file import Content, FollowedFile, More, Whole
from drive_trace.tasks import finish
from drive_trace.trace.document import Point

if TYPE_CHECKING:
    from drive_trace.fleet.kept import KeptTraces
    from drive_trace.storage.fleet_cache import Cache

Result = TypeVar("Result")

log = logging.getLogger(__name__)

MOST_BYTES = 64 << 20
"""Larger files are left to the command line, as editors do not open them either. It is also the
most bytes of text that are kept of all traces together.
"""
_NO_RULES = RuleSettings(dict.fromkeys(RULES))
"""For traces whose findings nobody has requested."""


class ClosedTrace(NamedTuple):
    """A trace as it was when it was last looked at."""

    real: str
    """Its real path, by which it is known here."""
    path: Path
    content: Content | None = None
    """Identifies the text that was read last; None if none was read."""
    problem: Problem | None = None
    """Why it cannot be read."""
    is_gone: bool = False
    """Whether that is because there is no such file any more."""
    parts: Mapping[str, RunSummary] = {}
    """The part of each run in it, by the run's id."""
    unplaced: Sequence[Unplaced] = ()
    """See :func:`unplaced_grades`."""
    is_illegible: bool = False
    """See :attr:`TraceSummary.is_illegible`."""
    is_short: bool = False
    """Whether its parts have no events, which only runs that stand in several traces need."""

    @property
    def unread_because(self) -> str:
        """Why runs may lack a part that is in it; empty if they do not."""
        if self.problem is not None:
            return "" if self.is_gone else self.problem.reason
        return ILLEGIBLE if self.is_illegible else ""

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


class _Entry:
    """One trace, and what it takes to follow it."""

    def __init__(self, real: str, path: Path) -> None:
        self.lock = Lock()
        self.seen = ClosedTrace(real, path)
        """Replaced as a whole, with both locks held."""
        self.file = FollowedFile(path, MOST_BYTES)
        self.analysis: Analysis | None = None
        self.rules = _NO_RULES
        """The rules of the analysis."""
        self.results: dict[str, tuple[object, Any]] = {}
        """What was made of the text, by a name, each with what else it depends on."""
        self.keeps = False
        """Whether the analysis is kept when nobody works with it."""

    def judge_by(self, rules: RuleSettings) -> None:
        """Let the analysis use these rules."""
        if rules != self.rules:
            self.rules = rules
            if self.analysis is not None:
                self.analysis.use(rules)

    def drop(self) -> None:
        """Let go of the text."""
        self.analysis = None
        self.file.forget()


class ClosedTraces:
    """Traces under the workspace's folders. Safe to use from several threads at once."""

    def __init__(self, folders: Iterable[Path], budget: int = MOST_BYTES) -> None:
        self.folders = TraceFolders(folders)
        self.is_searched = False
        """Whether the folders have been searched for traces."""
        self._budget = budget
        self._lock = Lock()
        self._entries: dict[str, _Entry] = {}
        """By real path."""
        self._holders: dict[str, dict[str, ClosedTrace]] = {}
        """The traces that hold a run, by its id and their real paths."""
        self._kept: OrderedDict[str, _Entry] = OrderedDict()
        """The traces that keep their analysis, the one that was used last at the end."""
        self._changes = Changes()
        self.revision = 0
        """Grows when a trace is found to be another than before."""

    def has(self, path: Path) -> bool:
        """Whether a path leads to one of the traces."""
        return real_path(path) in self.folders.search()

    def search(self) -> list[str]:
        """The real paths of all traces; those that are gone are forgotten."""
        paths = self.folders.search()
        with self._lock:
            gone = [self._entries.pop(real) for real in self._entries.keys() - paths.keys()]
            for real, path in paths.items():
                if real not in self._entries:
                    self._entries[real] = _Entry(real, path)
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

    def unsettled(self) -> dict[str, Content]:
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
        self, path: Path, previous: str | None, options: DiagnosticOptions
    ) -> DiagnosticReport | None:
        """The diagnostics of one trace; None if it cannot be read, or is gone.

        ``previous`` is the id of the client's last report. A file that has not changed since is
        not read again.
        """
        entry = self._entry(path)
        with entry.lock:
            entry.judge_by(options.rules)
            report = self._result(
                entry,
                "report",
                (options, previous),
                lambda it: DiagnosticReport.of(options.uri, DiagnosticMaker(it, options).as_json()),
            )
            if report is None:
                return None
            # Kept without its items, which the client has.
            entry.results["report"] = (options, report.result_id), report.unless(report.result_id)
        return report.unless(previous)

    def ask(
        self, path: Path, work: Callable[[Analysis], Result], rules: RuleSettings | None = None
    ) -> Result | None:
        """The result of some work on a trace as it is on disk now, judged by ``rules`` where they
        matter; None if it cannot be read.

        The work must not hold on to the analysis, which others go on with.
        """
        entry = self._entry(path)
        with entry.lock:
            if rules is not None:
                entry.judge_by(rules)
            with self._opened(entry) as analysis:
                return work(analysis) if analysis is not None else None

    def findings_by_run(self, real: str, rules: RuleSettings) -> Mapping[str | None, int]:
        """See :meth:`Analysis.findings_by_run`. The trace is as it was when last looked at."""
        entry = self._entries.get(real)
        if entry is None:
            return {}
        with entry.lock:
            entry.judge_by(rules)
            counts = self._result(
                entry, "counts", rules, lambda it: finish(it.findings_by_run()), looks=False
            )
        return counts or {}

    def names(self, real: str, *, looks: bool = True) -> Sequence[SymbolName]:
        """The runs, slices and dispatches of one trace; with ``looks``, after a look at it."""
        entry = self._entries.get(real)
        if entry is None:
            return ()
        with entry.lock:
            return self._result(entry, "names", None, names_in, looks=looks) or ()

    def _entry(self, path: Path) -> _Entry:
        real = real_path(path)
        with self._lock:
            return self._entries.setdefault(real, _Entry(real, path))

    # With the lock of the trace held

    def _result(
        self,
        entry: _Entry,
        name: str,
        depends: object,
        make: Callable[[Analysis], Result],
        *,
        looks: bool = True,
    ) -> Result | None:
        """What is made of a trace; None if the trace cannot be read. It is made again only if the
        text or what it ``depends`` on has changed.
        """
        if looks and name in entry.results:
            self._look(entry)
        known = entry.results.get(name)
        if known is None or known[0] != depends:
            with self._opened(entry) as analysis:
                if analysis is None:
                    return None
                known = entry.results[name] = depends, make(analysis)
        return cast("Result", known[1])

    def _take_short(self, entry: _Entry, rules: RuleSettings, kept: KeptTraces) -> bool:
        """Look at a trace for the first time, for what the score needs of it and the number of its
        findings. Gives whether that is possible: not while somebody writes to it.
        """
        from drive_trace.fleet.looking import File  # noqa: PLC0415 - as above

        before, state = entry.seen, entry.file.quiet_state()
        if not before.is_unread or state is None:
            return False
        name = self.folders.name_of(before.path)
        found = kept.look_at_one(File(str(before.path), name, rules))
        if isinstance(found, Problem):
            return False
        (summary, findings), digest = found
        entry.file.adopt(state, digest)
        parts = parts_by_run(summary)
        now = before._replace(content=entry.file.content, parts=parts, is_short=True)
        unplaced, is_illegible = unplaced_grades(summary), summary.is_illegible
        self._note(entry, now._replace(unplaced=unplaced, is_illegible=is_illegible))
        counts = {run_id: sum(each.values()) for run_id, each in (findings or {}).items()}
        entry.results["counts"] = rules, counts
        return True

    def _look(
        self, entry: _Entry, *, settle: bool = False, opens: bool = False, completes: bool = False
    ) -> None:
        """Read what has changed. ``opens``: the analysis is needed, changed or not; ``completes``:
        so are the events.
        """
        completes &= entry.seen.is_short
        news = entry.file.look(anew=completes or (opens and entry.analysis is None), settle=settle)
        if news is None:
            return
        if isinstance(news, Problem):
            self._lose(entry, news)
            return
        seen = entry.seen
        has_changed = entry.file.content != seen.content or seen.problem is not None
        is_changing = has_changed and seen.content is not None
        entry.keeps |= is_changing
        if isinstance(news, More):
            assert entry.analysis is not None, "a file whose text is not kept is read whole"
            _append(entry.analysis, news.text)
        elif opens or is_changing:
            entry.analysis = Analysis(news.records, entry.rules, str(seen.path))
        if has_changed or completes:
            name = self.folders.name_of(seen.path)
            if entry.analysis is not None:
                summary = entry.analysis.summary(name)
            else:
                assert isinstance(news, Whole)
                summary = summarize_text(news.records, name)
            # Copies, as others read them while the analysis changes.
            parts = {run_id: as_it_is(part) for run_id, part in parts_by_run(summary).items()}
            now = ClosedTrace(seen.real, seen.path, entry.file.content, parts=parts)
            unplaced, is_illegible = unplaced_grades(summary), summary.is_illegible
            self._note(entry, now._replace(unplaced=unplaced, is_illegible=is_illegible))
        if not opens:
            self._put_away(entry)

    @contextmanager
    def _opened(self, entry: _Entry) -> Iterator[Analysis | None]:
        """The trace as it is now; None if it cannot be read."""
        self._look(entry, opens=True)
        try:
            yield entry.analysis
        finally:
            self._put_away(entry)

    def _put_away(self, entry: _Entry) -> None:
        """Keep the analysis of a trace that has changed. Drop those of traces that do not change,
        and those that were not used for longest.
        """
        dropped = []
        with self._lock:
            if entry.keeps and entry.analysis is not None:
                self._kept[entry.seen.real] = entry
                self._kept.move_to_end(entry.seen.real)
            else:
                dropped.append(entry)
            excess = sum(each.file.size for each in self._kept.values()) - self._budget
            while excess > 0:
                _, oldest = self._kept.popitem(last=False)
                oldest.keeps = False
                excess -= oldest.file.size
                dropped.append(oldest)
        for each in dropped:
            # A thread that works with one now puts it away afterwards.
            if each is entry or each.lock.acquire(blocking=False):
                each.drop()
                if each is not entry:
                    each.lock.release()

    def _lose(self, entry: _Entry, problem: Problem | None) -> None:
        """Note that a trace cannot be read, or that it is no trace any more."""
        seen = entry.seen
        if problem is not None and problem != seen.problem:
            log.warning("%s", problem.message)
        with self._lock:
            self._kept.pop(seen.real, None)
        entry.keeps = False
        entry.drop()
        is_gone = problem is not None and not os.path.lexists(seen.path)
        self._note(entry, ClosedTrace(seen.real, seen.path, seen.content, problem, is_gone))

    def _note(self, entry: _Entry, now: ClosedTrace) -> None:
        """Make a new state of a trace visible, and note what it changes."""
        before = entry.seen
        entry.results.clear()
        ids = before.parts.keys() | now.parts.keys()
        runs = {each for each in ids if before.parts.get(each) != now.parts.get(each)}
        with self._lock:
            self.revision += 1
            entry.seen = now
            was_read = before.content is not None
            self._changes = Changes(
                self._changes.runs | runs,
                self._changes.has_new_text
                or (was_read and (before.content, before.problem) != (now.content, now.problem)),
                self._changes.may_touch_any_run
                or (before.problem, before.unplaced, before.is_illegible)
                != (now.problem, now.unplaced, now.is_illegible),
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


def _append(analysis: Analysis, text: str) -> None:
    last = len(analysis.document.lines) - 1
    end = Point(last, len(analysis.document.lines[last].text))
    analysis.edit(end, end, text)
