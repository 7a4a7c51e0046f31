"""The workspace's traces that are on disk but not open, followed as others write to them.

All of it may take long and is called from threads, several at once. Of every trace its
runs' parts are kept; the traces themselves only where they have changed since they were
first seen, and were so of late, as those are the ones that go on changing.
"""

from __future__ import annotations

import logging
import math
import os
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from types import MappingProxyType
from typing import NamedTuple, TypeVar

from drive_trace.analysis import Analysis, summarize_text
from drive_trace.features.diagnostics import DiagnosticMaker, DiagnosticOptions
from drive_trace.features.workspace_symbol import Named, names_in
from drive_trace.linter.rules import RULES
from drive_trace.linter.settings import RuleSettings
from drive_trace.lsp.workspace.diagnostic_reports import Report
from drive_trace.lsp.workspace.trace_folders import TraceFolders, real_path
from drive_trace.scorecard.summary import (
    RunSummary,
    TraceSummary,
    Unplaced,
    as_it_is,
    parts_by_run,
    unplaced_grades,
)
from drive_trace.storage.followed_file import Content, FollowedFile, More, Whole
from drive_trace.storage.traces import Problem
from drive_trace.tasks import finish
from drive_trace.trace.document import Point

Result = TypeVar("Result")

log = logging.getLogger(__name__)

MOST_BYTES = 64 << 20
"""A larger file is left to the command line: editors do not open it either."""
BUDGET = MOST_BYTES
"""So many bytes of text, of all traces together, are kept at the most."""
_NO_PARTS: Mapping[str, RunSummary] = MappingProxyType({})
_NO_RULES = RuleSettings(dict.fromkeys(RULES))
"""For traces that nobody asks the findings of."""


class ClosedRun(NamedTuple):
    """A run's part in a trace."""

    real: str
    path: Path
    part: RunSummary


class _Trace:
    """What is known of one trace."""

    def __init__(self, real: str, path: Path) -> None:
        self.real = real
        self.path = path
        self.lock = Lock()
        """Whoever looks at the file, or works with the analysis, holds it."""
        self.file = FollowedFile(path, MOST_BYTES)
        self.content: Content | None = None
        """Names the text; None as long as none was read."""
        self.problem: Problem | None = None
        self.is_gone = False
        """Whether the problem is that the file is not there any more."""
        self.parts = _NO_PARTS
        self.unplaced: Sequence[Unplaced] = []
        """See :func:`unplaced_grades`."""
        self.analysis: Analysis | None = None
        self.rules = _NO_RULES
        """What the analysis is judged by."""
        self.answer: tuple[Content | None, DiagnosticOptions, str] | None = None
        """The last report: of which text, by which options, and its name."""
        self.names: tuple[Content | None, Sequence[Named]] | None = None
        """The names in it, and of which text."""
        self.counts: tuple[Content | None, RuleSettings, Mapping[str | None, int]] | None = None
        """The findings by run, and of which text, by which rules."""


class ClosedTraces:
    """Traces under the workspace's folders. May be used from several threads at once."""

    def __init__(self, folders: Iterable[Path], budget: int = BUDGET) -> None:
        self.folders = TraceFolders(folders)
        self._budget = budget
        self._lock = Lock()
        """Held for moments only, never while a file is looked at."""
        self._traces: dict[str, _Trace] = {}
        """By real path."""
        self._holders: dict[str, tuple[str, ...]] = {}
        """The real paths of the traces that hold a run, by its id."""
        self._kept: OrderedDict[str, _Trace] = OrderedDict()
        """Those whose analysis is kept, the one that was used last at the end."""
        self._changed: set[str] = set()
        self._has_new_text = False
        self._is_searched = False
        self._has_other_unread = False

    # What there is

    def has(self, path: Path) -> bool:
        """Whether a path leads to one of the traces."""
        return real_path(path) in self.folders.search()

    def spelled(self, uris: Iterable[str]) -> Sequence[tuple[str, Path, str]]:
        """See :meth:`TraceFolders.spelled`."""
        return self.folders.spelled(uris)

    def search(self) -> list[str]:
        """The real paths of all traces; those that are gone are forgotten."""
        paths = self.folders.search()
        with self._lock:
            gone = [self._traces.pop(real) for real in self._traces.keys() - paths.keys()]
            for real, path in paths.items():
                if real not in self._traces:
                    self._traces[real] = _Trace(real, path)
            self._is_searched = True
        for trace in gone:
            with trace.lock:
                self._lose(trace)
        return list(paths)

    # Looking at files

    def look(self, reals: Sequence[str], *, settle: bool = False, seconds: float = math.inf) -> int:
        """See what has become of some traces: of how many, when no more are begun after so many
        seconds. ``settle``: none of them has changed for long.
        """
        end = time.monotonic() + seconds
        for done, real in enumerate(reals):
            if time.monotonic() > end:
                return done
            trace = self._traces.get(real)
            if trace is not None:
                with trace.lock:
                    self._look(trace, settle=settle)
        return len(reals)

    def unsettled(self) -> dict[str, object]:
        """The traces that have to be looked at once more when they are quiet: by their real paths
        what tells whether they are.
        """
        with self._lock:
            return {
                real: each.content
                for real, each in self._traces.items()
                if each.content is not None and not each.file.is_settled
            }

    def waiting(self, apart_from: Set[str]) -> Sequence[Path] | None:
        """The traces that have been found, but not read yet; some real paths do not count. None
        where they have not even been searched for.
        """
        with self._lock:
            if not self._is_searched:
                return None
            return [
                each.path
                for real, each in self._traces.items()
                if each.content is None and each.problem is None and real not in apart_from
            ]

    def unreadable(self, apart_from: Set[str]) -> Sequence[tuple[Path, str]]:
        """The traces that are there and cannot be read, each with the reason; some real paths do
        not count.
        """
        with self._lock:
            return [
                (each.path, each.problem.reason)
                for real, each in self._traces.items()
                if each.problem is not None and not each.is_gone and real not in apart_from
            ]

    def paths(self, apart_from: Set[str]) -> Sequence[Path]:
        """All traces but some, as they were last searched for. Does not wait."""
        with self._lock:
            return [each.path for real, each in self._traces.items() if real not in apart_from]

    def unplaced(self, apart_from: Set[str]) -> Sequence[tuple[Path, Unplaced]]:
        """The lines of all traces but some that may grade any run. Does not wait."""
        with self._lock:
            traces = [each for real, each in self._traces.items() if real not in apart_from]
        return [(trace.path, each) for trace in traces for each in trace.unplaced]

    def take_other_unread(self) -> bool:
        """Whether other traces cannot be read than when this was last asked."""
        with self._lock:
            has_other_unread, self._has_other_unread = self._has_other_unread, False
        return has_other_unread

    def take_changed_runs(self) -> set[str]:
        """The ids of the runs whose parts have changed since this was last asked."""
        with self._lock:
            changed, self._changed = self._changed, set()
        return changed

    def take_new_text(self) -> bool:
        """Whether any trace that was known has changed since this was last asked."""
        with self._lock:
            has_new_text, self._has_new_text = self._has_new_text, False
        return has_new_text

    def holders(self, run_id: str) -> list[ClosedRun]:
        """The traces that hold a run, as they were when they were last looked at. Does not wait."""
        found = []
        for real in self._holders.get(run_id, ()):
            trace = self._traces.get(real)
            part = trace.parts.get(run_id) if trace is not None else None
            if trace is not None and part is not None:
                found.append(ClosedRun(real, trace.path, part))
        return found

    def all_parts(self) -> list[ClosedRun]:
        """Every run of every trace, as they were when they were last looked at. Does not wait."""
        with self._lock:
            traces = list(self._traces.values())
        return [
            ClosedRun(each.real, each.path, part) for each in traces for part in each.parts.values()
        ]

    # What they say

    def report(self, path: Path, previous: str | None, options: DiagnosticOptions) -> Report | None:
        """What is wrong in one trace; None where it cannot be read, or is gone.

        ``previous`` names the client's last answer: a file that is as it was then is not read.
        """
        trace = self._trace(path)
        with trace.lock:
            self._look(trace, rules=options.rules)
            known = trace.answer
            if known is not None and known == (trace.content, options, previous):
                return Report(options.uri, known[2], None)
            with self._opened(trace, options.rules) as analysis:
                if analysis is None:
                    return None
                report = Report.of(options.uri, DiagnosticMaker(analysis, options).as_json())
            trace.answer = (trace.content, options, report.result_id)
            return report.unless(previous)

    def uri_of(self, real: str) -> str | None:
        """The address of a trace that is known by its real path."""
        trace = self._traces.get(real)
        return trace.path.as_uri() if trace is not None else None

    def ask(self, path: Path, work: Callable[[Analysis], Result]) -> Result | None:
        """What some work says of a trace, as it is on disk now; None where it cannot be read.

        The work must not hold on to the analysis, which others go on with.
        """
        trace = self._trace(path)
        with trace.lock:
            self._look(trace, rules=trace.rules)
            with self._opened(trace, trace.rules) as analysis:
                return work(analysis) if analysis is not None else None

    def findings_by_run(self, real: str, rules: RuleSettings) -> Mapping[str | None, int]:
        """See :meth:`Analysis.findings_by_run`; of a trace as it was last seen."""
        trace = self._traces.get(real)
        if trace is None:
            return {}
        with trace.lock:
            if trace.counts is None or trace.counts[:2] != (trace.content, rules):
                with self._opened(trace, rules) as analysis:
                    counts = finish(analysis.findings_by_run()) if analysis is not None else {}
                    trace.counts = trace.content, rules, counts
            return trace.counts[2]

    def names(self, real: str, *, looks: bool = True) -> Sequence[Named]:
        """The runs, slices and dispatches of one trace; of a known one as it was last seen, if it
        is not to be looked at.
        """
        trace = self._traces.get(real)
        if trace is None:
            return ()
        with trace.lock:
            if looks or trace.content is None:
                self._look(trace, rules=trace.rules)
            if trace.names is None or trace.names[0] != trace.content:
                with self._opened(trace, trace.rules) as analysis:
                    trace.names = trace.content, names_in(analysis) if analysis is not None else ()
            return trace.names[1]

    # With the trace's lock held

    def _trace(self, path: Path) -> _Trace:
        real = real_path(path)
        with self._lock:
            return self._traces.setdefault(real, _Trace(real, path))

    def _look(
        self, trace: _Trace, *, settle: bool = False, rules: RuleSettings | None = None
    ) -> None:
        """``rules``: somebody wants more than the runs' parts of the trace, judged by these."""
        news = trace.file.look(settle=settle)
        if news is None:
            return
        if isinstance(news, Problem):
            self._lose(trace, news)
            return
        is_first = trace.content is None
        self._set_problem(trace, None)
        trace.content = trace.file.content
        if isinstance(news, More):
            assert trace.analysis is not None, "a file whose text is not kept is read whole"
            _append(trace.analysis, news.text)
        elif rules is not None or not is_first:
            self._read(trace, news, rules or trace.rules)
        name = self.folders.name_of(trace.path)
        if trace.analysis is not None:
            self._note(trace, trace.analysis.summary(name))
        elif isinstance(news, Whole):
            self._note(trace, summarize_text(news.records, name))
            trace.file.forget()
        if not is_first:
            self._keep(trace)
            with self._lock:
                self._has_new_text = True

    @contextmanager
    def _opened(self, trace: _Trace, rules: RuleSettings) -> Iterator[Analysis | None]:
        """The trace as it was last seen, judged by some rules; None where it cannot be read."""
        if trace.analysis is None and trace.problem is None:
            news = trace.file.look(anew=True)
            if isinstance(news, Whole):
                analysis = self._read(trace, news, rules)
                if trace.content != trace.file.content:
                    trace.content = trace.file.content
                    self._note(trace, analysis.summary(self.folders.name_of(trace.path)))
        if trace.analysis is not None and trace.rules != rules:
            trace.analysis.use(rules)
            trace.rules = rules
        yield trace.analysis
        with self._lock:
            is_kept = trace.real in self._kept
        if is_kept:
            self._keep(trace)
        else:
            _drop(trace)  # one that does not change: what it says is known by now

    def _read(self, trace: _Trace, news: Whole, rules: RuleSettings) -> Analysis:
        trace.analysis = Analysis(news.records, rules, str(trace.path))
        trace.rules = rules
        return trace.analysis

    def _keep(self, trace: _Trace) -> None:
        """Keep a trace's analysis, if there is one, and let go of others that were not used for
        long.
        """
        if trace.analysis is None:
            return
        with self._lock:
            self._kept[trace.real] = trace
            self._kept.move_to_end(trace.real)
            excess = sum(each.file.size for each in self._kept.values()) - self._budget
            dropped = []
            while excess > 0:
                _, each = self._kept.popitem(last=False)
                excess -= each.file.size
                dropped.append(each)
        for each in dropped:
            # One that somebody works with is kept, and counted again when they are done.
            if each is trace or each.lock.acquire(blocking=False):
                _drop(each)
                if each is not trace:
                    each.lock.release()

    def _lose(self, trace: _Trace, problem: Problem | None = None) -> None:
        """A trace cannot be read, or is gone."""
        if problem is not None and trace.problem != problem:
            log.warning("%s", problem.message)
        with self._lock:
            self._kept.pop(trace.real, None)
            self._has_new_text |= trace.content is not None and trace.problem is None
        self._set_problem(trace, problem)
        trace.answer = trace.names = trace.counts = None
        _drop(trace)
        self._note(trace, None)

    def _set_problem(self, trace: _Trace, problem: Problem | None) -> None:
        before = trace.problem
        trace.is_gone = problem is not None and not os.path.lexists(trace.path)
        with self._lock:
            self._has_other_unread |= problem != before
            trace.problem = problem

    def _note(self, trace: _Trace, summary: TraceSummary | None) -> None:
        """Publish what a trace says of its runs."""
        before = trace.parts
        parts = parts_by_run(summary) if summary is not None else _NO_PARTS
        # What others read while the analysis goes on must not change under their hands.
        trace.parts = {run_id: as_it_is(part) for run_id, part in parts.items()}
        ids = before.keys() | trace.parts.keys()
        unplaced = unplaced_grades(summary) if summary is not None else []
        with self._lock:
            # As with what cannot be read, any run may be meant.
            self._has_other_unread |= unplaced != trace.unplaced
            trace.unplaced = unplaced
            self._changed |= {each for each in ids if before.get(each) != trace.parts.get(each)}
            for run_id in before.keys() ^ trace.parts.keys():
                others = {*self._holders.pop(run_id, ())} - {trace.real}
                if run_id in trace.parts:
                    others.add(trace.real)
                if others:
                    self._holders[run_id] = tuple(sorted(others))


def _append(analysis: Analysis, text: str) -> None:
    last = len(analysis.document.lines) - 1
    end = Point(last, len(analysis.document.lines[last].text))
    analysis.edit(end, end, text)


def _drop(trace: _Trace) -> None:
    trace.analysis = None
    trace.file.forget()
