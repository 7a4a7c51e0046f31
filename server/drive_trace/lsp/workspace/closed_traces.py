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
from typing import TYPE_CHECKING, TypeVar, cast

from drive_trace.analysis import Analysis, summarize_text
from drive_trace.features.diagnostics import DiagnosticMaker, DiagnosticOptions
from drive_trace.features.workspace_symbol import SymbolName, names_in
from drive_trace.linter.settings import RuleSettings
from drive_trace.lsp.rpc.messages import DiagnosticReport
from drive_trace.lsp.workspace.closed_trace import MOST_BYTES, Changes, ClosedTrace, Entry
from drive_trace.lsp.workspace.trace_folders import TraceFolders, real_path
from drive_trace.scorecard.summary import (
    as_it_is,
    parts_by_run,
    unplaced_grades,
)
from drive_trace.storage.files import Problem
from drive_trace.text.spans import BrokenText
from drive_trace.trace.document import Point

if TYPE_CHECKING:
    from drive_trace.fleet.cached import CachedTraces
    from drive_trace.storage.fleet_cache import Cache

Result = TypeVar("Result")

log = logging.getLogger(__name__)


class ClosedTraces:
    """Traces under the workspace's folders. Safe to use from several threads at once."""

    def __init__(self, folders: Iterable[Path], budget: int = MOST_BYTES) -> None:
        self.folders = TraceFolders(folders)
        self.is_searched = False
        """Whether the folders have been searched for traces."""
        self._budget = budget
        self._lock = Lock()
        self._entries: dict[str, Entry] = {}
        """By real path."""
        self._holders: dict[str, dict[str, ClosedTrace]] = {}
        """The traces that hold a run, by its id and their real paths."""
        self._kept: OrderedDict[str, Entry] = OrderedDict()
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
        from drive_trace.fleet.cached import CachedTraces  # noqa: PLC0415 - takes a moment to load

        end = time.monotonic() + seconds
        kept = CachedTraces(cache)
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
        self, path: Path, previous: str | None, options: DiagnosticOptions
    ) -> DiagnosticReport | None:
        """The diagnostics of one trace; None if it cannot be read, or is gone.

        ``previous`` is the id of the client's last report. A file that has not changed since is
        not read again.
        """
        entry = self._entry(path)
        with entry.lock:
            entry.judge_by(options.rules)
            is_clean = options.rules, None
            if entry.results.get("clean") == is_clean:
                self._look(entry)
                if entry.results.get("clean") == is_clean:  # and not another by now
                    return DiagnosticReport.of(options.uri, b"[]").unless(previous)
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
                entry, "counts", rules, lambda it: it.findings_by_run(), looks=False
            )
        return counts or {}

    def names(self, real: str, *, looks: bool = True) -> Sequence[SymbolName]:
        """The runs, slices and dispatches of one trace; with ``looks``, after a look at it."""
        entry = self._entries.get(real)
        if entry is None:
            return ()
        with entry.lock:
            return self._result(entry, "names", None, names_in, looks=looks) or ()

    def _entry(self, path: Path) -> Entry:
        real = real_path(path)
        with self._lock:
            return self._entries.setdefault(real, Entry(real, path, self.folders.folder_of(path)))

    # With the lock of the trace held

    def _result(
        self,
        entry: Entry,
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

    def _take_short(self, entry: Entry, rules: RuleSettings, kept: CachedTraces) -> bool:
        """Look at a trace for the first time, for what the score needs of it and the number of its
        findings. Gives whether that is possible: not while somebody writes to it.
        """
        from drive_trace.fleet.scanning import File  # noqa: PLC0415 - as above

        before, state = entry.seen, entry.file.quiet_state()
        if not before.is_unread or state is None:
            return False
        name = self.folders.name_of(before.path)
        found = kept.look_at_one(File(str(before.path), name, rules))
        if isinstance(found, Problem):
            return False
        (summary, findings, is_clean), digest = found
        entry.file.adopt(state, digest)
        parts = parts_by_run(summary)
        now = before._replace(content=entry.file.content, parts=parts, is_short=True)
        unplaced, is_illegible = unplaced_grades(summary), summary.is_illegible
        self._note(entry, now._replace(unplaced=unplaced, is_illegible=is_illegible))
        counts = {run_id: sum(each.values()) for run_id, each in (findings or {}).items()}
        entry.results["counts"] = rules, counts
        if is_clean:
            entry.results["clean"] = rules, None
        return True

    def _look(
        self, entry: Entry, *, settle: bool = False, opens: bool = False, completes: bool = False
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
        # Most traces only grow, and then only the runs that grew are judged again.
        has_grown = entry.analysis is not None and _append(entry.analysis, news.records)
        if not has_grown and (opens or is_changing):
            entry.analysis = Analysis(news.records, entry.rules, str(seen.path))
        if has_changed or completes:
            name = self.folders.name_of(seen.path)
            if entry.analysis is not None:
                summary = entry.analysis.summary(name)
            else:
                summary = summarize_text(news.records, name)
            # Copies, as others read them while the analysis changes.
            parts = {run_id: as_it_is(part) for run_id, part in parts_by_run(summary).items()}
            now = ClosedTrace(seen.real, seen.path, entry.file.content, parts=parts)
            unplaced, is_illegible = unplaced_grades(summary), summary.is_illegible
            self._note(entry, now._replace(unplaced=unplaced, is_illegible=is_illegible))
        if not opens:
            self._put_away(entry)

    @contextmanager
    def _opened(self, entry: Entry) -> Iterator[Analysis | None]:
        """The trace as it is now; None if it cannot be read."""
        self._look(entry, opens=True)
        try:
            yield entry.analysis
        finally:
            self._put_away(entry)

    def _put_away(self, entry: Entry) -> None:
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

    def _lose(self, entry: Entry, problem: Problem | None) -> None:
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

    def _note(self, entry: Entry, now: ClosedTrace) -> None:
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


def _append(analysis: Analysis, records: Sequence[str]) -> bool:
    """Give an analysis the records that a file has now, if these only go on where it ends."""
    lines = analysis.document.lines
    last = len(lines) - 1
    is_known = all(line.text == each for line, each in zip(lines[:last], records, strict=False))
    rest, tail = records[last:], lines[last].text
    # Bytes that are no text would lose what they were in an edit.
    is_text = not any(isinstance(each, BrokenText) for each in (*rest, tail))
    if not (is_known and rest and rest[0].startswith(tail) and is_text):
        return False
    end = Point(last, len(tail))
    analysis.edit(end, end, "\n".join(rest)[len(tail) :])
    return True
