"""Runs across the workspace's traces: in open ones as the editor has them, in the others as they
are on disk. Answers from what is known, and never waits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeVar

from drive_trace.api import Analysis
from drive_trace.features.elsewhere import Elsewhere
from drive_trace.lsp.client import path_of
from drive_trace.lsp.closed_traces import ClosedTraces
from drive_trace.lsp.slices import in_slices
from drive_trace.lsp.threads import in_thread
from drive_trace.lsp.trace_folders import real_path
from drive_trace.lsp.workspace import OpenTrace, Workspace
from drive_trace.scorecard.card import score_run
from drive_trace.scorecard.summary import RunSummary, parts_by_run
from drive_trace.steps import Steps, at_once, in_batches

Result = TypeVar("Result")

_Order = tuple[tuple[bool, str], ...]
"""The steps of a path, each with whether it is a folder."""


class RunPart(NamedTuple):
    """A run in one trace."""

    uri: str
    part: RunSummary
    trace: OpenTrace | None
    """The trace where it is open."""


class WorkspaceRuns:
    """Joins what open and closed traces say of a run."""

    def __init__(self, traces: Workspace, closed: ClosedTraces) -> None:
        self._traces = traces
        self.closed = closed
        self._reals: dict[str, str] = {}
        """The real paths of open traces, by URI."""

    def note_open(self, uri: str, path: Path) -> None:
        """Learn which file an open trace is, looking at the disk: to be called from a thread."""
        self._reals[uri] = real_path(path)

    def note_closed(self, uri: str) -> str | None:
        """Forget an open trace; the real path that counts again."""
        return self._reals.pop(uri, None)

    def open_reals(self) -> set[str]:
        """The files that do not count, as they are open."""
        return {real for trace in self._traces if (real := self._real(trace)) is not None}

    def open_trace(self, uri: str) -> OpenTrace | None:
        """An open trace."""
        return self._traces.get(uri)

    def has_seen(self, uri: str) -> bool:
        """See :meth:`Workspace.has_seen`."""
        return self._traces.has_seen(uri)

    def open_traces(self) -> list[OpenTrace]:
        """The open traces that are of the workspace."""
        return [trace for trace in self._traces if self._counts(trace)]

    def others_with(self, run_id: str, uri: str) -> list[RunPart]:
        """The other traces of the workspace that hold a run, in the order of their paths."""
        return [each for each in at_once(self._parts(run_id, uri)) if each.uri != uri]

    async def ask_others(
        self, run_id: str, uri: str, work: Callable[[Analysis, str], Steps[Result]]
    ) -> list[Result]:
        """What some work says of each other trace that holds a run, given with its address: as
        where a run's id stands in all traces of the workspace.
        """
        said: list[Result] = []
        for each in self.others_with(run_id, uri):
            path = path_of(each.uri)
            if each.trace is not None:
                said.append(await in_slices(each.trace, work(each.trace.analysis, each.uri)))
            elif path is not None:
                ask = partial(self.closed.ask, path, partial(_asked, work, each.uri))
                found = await in_thread(ask)
                said += [found] if found is not None else []
        return said

    @property
    def edits(self) -> int:
        """Counts the changes of open traces."""
        return self._traces.edits

    def all_runs(self) -> Steps[list[list[RunPart]]]:
        """Every run that is known, part by part in the order of their paths, and the runs in the
        order of their first parts. A trace from outside the workspace is not joined with others.
        """
        found: dict[tuple[str, str], list[tuple[_Order, RunPart]]] = {}
        for trace in self._traces:
            key, name = self._place(trace)
            own = "" if self._counts(trace) else trace.uri
            summary = yield from trace.analysis.summing_up(name)
            for run_id, part in parts_by_run(summary).items():
                found.setdefault((own, run_id), []).append((key, RunPart(trace.uri, part, trace)))
        is_open = self.open_reals()
        for batch in in_batches(self.closed.all_parts()):
            for real, path, part in batch:
                if real not in is_open:
                    each = _order(path), RunPart(path.as_uri(), part, None)
                    found.setdefault(("", part.run_id), []).append(each)
            yield
        runs = [sorted(parts, key=lambda pair: pair[0]) for parts in found.values()]
        runs.sort(key=lambda parts: (parts[0][0], parts[0][1].part.first_line))
        return [[part for _, part in parts] for parts in runs]

    def elsewhere(self, run_id: str, uri: str) -> Elsewhere | None:
        """A run as all traces of the workspace together have it, as asked of one that is open."""
        return at_once(self.looking_elsewhere(run_id, uri))

    def looking_elsewhere(self, run_id: str, uri: str) -> Steps[Elsewhere | None]:
        """The same in steps."""
        parts = yield from self._parts(run_id, uri)
        if not any(each.part.event_count for each in parts):
            return None
        own = [each.part for each in parts if each.uri == uri and each.part.event_count]
        joined = score_run([each.part for each in parts])
        unread = self.closed.unread(self.open_reals())
        uris = [each.uri for each in parts]
        return Elsewhere(joined, score_run(own) if own else None, uris, uri, unread)

    def _parts(self, run_id: str, uri: str) -> Steps[list[RunPart]]:
        found = list(self._closed_parts(run_id))
        for trace in self._traces:
            if trace.uri == uri or self._counts(trace):
                key, name = self._place(trace)
                part = yield from trace.analysis.summing_up_run(run_id, name)
                if part is not None:
                    found.append((key, RunPart(trace.uri, part, trace)))
        return [each for _, each in sorted(found, key=lambda pair: pair[0])]

    def _closed_parts(self, run_id: str) -> Iterator[tuple[_Order, RunPart]]:
        is_open = self.open_reals()
        for real, path, part in self.closed.holders(run_id):
            if real not in is_open:
                yield _order(path), RunPart(path.as_uri(), part, None)

    def _place(self, trace: OpenTrace) -> tuple[_Order, str]:
        """Where a trace stands among others, and how it is called."""
        path = path_of(trace.uri)
        if path is None:
            return _order(Path(trace.uri)), trace.uri
        return _order(path), self.closed.folders.name_of(path)

    def _counts(self, trace: OpenTrace) -> bool:
        path = path_of(trace.uri)
        return path is not None and self.closed.folders.holds(path)

    def _real(self, trace: OpenTrace) -> str | None:
        path = path_of(trace.uri)
        return self._reals.get(trace.uri, str(path)) if path is not None else None


def _asked(work: Callable[[Analysis, str], Steps[Result]], uri: str, analysis: Analysis) -> Result:
    return at_once(work(analysis, uri))


def _order(path: Path) -> _Order:
    """Sorts like a search of a folder, as `score` joins traces in that order: between two grades of
    one moment that of the later trace counts. A folder's files come before those in the folders
    inside it.
    """
    *folders, name = path.parts
    return (*((True, each) for each in folders), (False, name))
