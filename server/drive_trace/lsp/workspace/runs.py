"""Runs across the workspace's traces: open ones as the editor has them, the others as they are on
disk. All of it comes from memory; nothing here waits for a file but :meth:`run_on_others`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import NamedTuple, TypeVar

from drive_trace.analysis import Analysis
from drive_trace.features.runs import JoinedRun
from drive_trace.grading.judgements import Verdicts
from drive_trace.lsp.rpc.capabilities import path_of
from drive_trace.lsp.rpc.threads import in_thread
from drive_trace.lsp.workspace.closed_traces import ClosedTrace, ClosedTraces
from drive_trace.lsp.workspace.open_traces import OpenTrace, Workspace
from drive_trace.lsp.workspace.trace_folders import real_path
from drive_trace.scorecard.card import ILLEGIBLE
from drive_trace.scorecard.caveats import Omitted, StrayGrade, Unread
from drive_trace.scorecard.run_lines import (
    EventOwners,
    TraceLines,
    event_hashes,
    runs_sharing_events,
)
from drive_trace.scorecard.run_score import RunInFile, RunScore
from drive_trace.scorecard.scoring import among, score_run, stray_grades
from drive_trace.storage.files import JudgementFiles, LeftOut
from drive_trace.storage.finding import omitted
from drive_trace.trace.line import Line

Result = TypeVar("Result")

Order = tuple[tuple[bool, str], ...]
"""The steps of a path, each with whether it is a folder."""


class RunPart(NamedTuple):
    """A run in one trace."""

    uri: str
    run: RunScore
    """As if it stood in this trace alone."""
    lines: TraceLines | None
    """None where they are not at hand: such a part is joined with no other."""
    verdicts: Verdicts
    """On its intent, as they are recorded beside the trace."""
    trace: OpenTrace | None
    """The open trace; None if it is not open."""

    @property
    def part(self) -> RunInFile:
        """What the trace has of the run."""
        return self.run.parts[0]


class Neighbour(NamedTuple):
    """Another trace that has lines of a trace's runs."""

    order: Order
    name: str
    """How it is called in messages."""
    uri: str
    version: object
    """Changes with its text."""
    lines: Sequence[Line] | None = None
    """Those of an open trace."""


class WorkspaceRun(NamedTuple):
    """A run over all its files in one folder of the workspace."""

    folder: Path | None
    """None for a trace outside the workspace, which is joined with no other."""
    parts: list[RunPart]
    """In the order of their paths."""


class WorkspaceRuns:
    """Joins the parts of a run in open and closed traces, folder by folder: runs of one name in two
    folders of the workspace are two runs.
    """

    def __init__(self, traces: Workspace, closed: ClosedTraces) -> None:
        self.open = traces
        self.closed = closed
        self._reals: dict[str, str] = {}
        """The real paths of open traces, by URI."""
        self.want: Callable[[str], object] = lambda _: None
        """Is called with the id of a run whose events have to be read, see :meth:`joinable`."""
        self._records = JudgementFiles()
        self._has_other_records = False
        self._has_partial = False
        self._owners: dict[str, tuple[object, EventOwners]] = {}
        """Which runs have an event, by the URI of an open trace, or of a folder for its closed
        ones, with the version of what that is made of.
        """

    @property
    def version(self) -> object:
        """Differs after any change of a trace."""
        return self.closed.revision, [(each.uri, each.edits) for each in self.open]

    def note_open(self, uri: str, path: Path) -> None:
        """Note which file an open trace is. Call it from a thread, as it looks at the disk."""
        self._reals[uri] = real_path(path)
        self.look_at_records([self._reals[uri]])

    def look_at_records(self, reals: Iterable[str]) -> None:
        """Look at the records of the judging beside traces. Call it from a thread."""
        self._has_other_records |= self._records.look(reals)

    def note_closed(self, uri: str) -> str | None:
        """Forget an open trace. Gives the real path of the file that counts again."""
        self._owners.pop(uri, None)
        return self._reals.pop(uri, None)

    def open_reals(self) -> set[str]:
        """The real paths of open traces, whose files do not count."""
        return {real for trace in self.open if (real := self._real(trace)) is not None}

    def open_traces(self) -> list[OpenTrace]:
        """The open traces that are of the workspace."""
        return [trace for trace in self.open if self.folder_of(trace.uri) is not None]

    def others_with(self, run_id: str, uri: str) -> list[RunPart]:
        """The other traces of the folder that hold a run, in the order of their paths."""
        return [each for each in self._parts(run_id, uri) if each.uri != uri]

    def neighbours(self, uri: str, run_ids: Iterable[str]) -> list[Neighbour]:
        """The other traces of the folder with lines of some runs, in the order of their paths."""
        folder, is_open, run_ids = self.folder_of(uri), self.open_reals(), [*run_ids]
        if folder is None:
            return []
        folder_of, name_of = self.closed.folders.folder_of, self.closed.folders.name_of
        closed = {each.real: each for run_id in run_ids for each in self.closed.holders(run_id)}
        found = [
            Neighbour(_order(each.path), name_of(each.path), each.path.as_uri(), each.content)
            for each in closed.values()
            if each.real not in is_open and folder_of(each.path) == folder
        ]
        for trace in self._open_in(folder):
            index = trace.analysis.index
            if any(map(index.names, run_ids)):
                version, lines = trace.text_version, [*trace.analysis.document.lines]
                found.append(Neighbour(*self.place_of(trace.uri), trace.uri, version, lines))
        others = (each for each in found if each.uri != uri)
        return sorted(others, key=lambda each: (each.order, each.uri))

    async def run_on_others(
        self, run_id: str, uri: str, work: Callable[[Analysis, str], Result]
    ) -> list[Result]:
        """The results of some work on each other trace that holds a run. The work is given the
        analysis and the URI of the trace.
        """
        results: list[Result] = []
        for each in self.others_with(run_id, uri):
            path = path_of(each.uri)
            if each.trace is not None:
                there = partial(work, each.trace.analysis, each.uri)
                results.append(await self.open.result_of(each.trace, there))
            elif path is not None:
                there = partial(_swapped, work, each.uri)
                found = await in_thread(self.closed.ask, path, there)
                results += [found] if found is not None else []
        return results

    def all_runs(self) -> list[WorkspaceRun]:
        """Every run that is known, in the order of their first parts."""
        found: dict[tuple[Path | str, str], list[tuple[Order, RunPart]]] = {}
        for trace in self.open:
            if trace.is_old:
                continue
            key, name = self.place_of(trace.uri)
            own = self.folder_of(trace.uri) or trace.uri
            lines = trace.analysis.lines(name)
            for run in trace.analysis.summary(name).runs:
                each = key, self._open_part(trace, run, lines)
                found.setdefault((own, run.run_id), []).append(each)
        is_open = self.open_reals()
        closed = [each for each in self.closed.seen() if each.real not in is_open]
        for known in closed:
            place, folder = _order(known.path), self.closed.folders.folder_of(known.path)
            for run in known.parts.values():
                each = place, self._closed_part(known, run)
                found.setdefault((folder or "", run.run_id), []).append(each)
        runs = [(own, sorted(parts, key=lambda pair: pair[0])) for (own, _), parts in found.items()]
        runs.sort(key=lambda run: (run[1][0][0], run[1][0][1].part.first_line))
        return [
            WorkspaceRun(own if isinstance(own, Path) else None, [part for _, part in parts])
            for own, parts in runs
        ]

    def joined(self, run_id: str, uri: str) -> JoinedRun | None:
        """A run over all its files in the folder of one that holds it."""
        parts = self._parts(run_id, uri)
        if not parts:
            return None
        own = [each for each in parts if each.uri == uri]
        folder = self.folder_of(uri)
        parts, lacking = self.joinable(parts)
        waiting = self.waiting(folder)
        waiting = waiting + lacking if waiting is not None else None
        known = self.not_read(folder), self.strays(folder), self.copied(folder, parts)
        here = score_parts(own, *known) if own else None
        return JoinedRun(
            score_parts(parts, *known), here, [each.uri for each in parts], uri, waiting
        )

    def joinable(self, parts: list[RunPart]) -> tuple[list[RunPart], int]:
        """The parts of a run that can be joined now, and how many cannot: of several, those without
        lines. These are read, and the run is shown again.
        """
        joinable = [each for each in parts if each.lines is not None] or parts[:1]
        if len(parts) == 1 or len(joinable) == len(parts):
            return parts, 0
        self.want(parts[0].run.run_id)
        return joinable, len(parts) - len(joinable)

    def unread(self, folder: Path | None) -> list[Unread]:
        """The traces of a folder that cannot be read: each may hold a part of any of its runs."""
        closed = (
            Unread(self.closed.folders.name_of(each.path), each.unread_because)
            for each in self._closed_in(folder, lambda each: bool(each.unread_because))
        )
        opened = (each for each in self._open_in(folder) if each.analysis.index.is_illegible)
        return [*closed, *(Unread(self.place_of(each.uri)[1], ILLEGIBLE) for each in opened)]

    def left_out(self, folder: Path | None) -> Omitted:
        """What the search of a folder left out, and its files that are no traces."""
        closed = self._closed_in(folder, lambda each: isinstance(each.problem, LeftOut))
        found = [*self.closed.folders.left_out_in(folder), *(each.problem for each in closed)]
        name = self.closed.folders.name_of
        return omitted([LeftOut(name(Path(each.path)), each.reason) for each in found if each])

    def not_read(self, folder: Path | None) -> list[Unread]:
        """What may hold a part of any run of a folder."""
        return [*self.unread(folder), *self.left_out(folder).missed]

    def strays(self, folder: Path | None) -> Sequence[StrayGrade]:
        """The lines of a folder's traces that may grade any of its runs."""
        closed = self._closed_in(folder, lambda each: bool(each.summary.strays))
        found = [line for each in closed for line in each.summary.strays]
        for trace in self._open_in(folder):
            found += stray_grades(trace.analysis.lines(self.place_of(trace.uri)[1]))
        return found

    def copied(self, folder: Path | None, parts: Sequence[RunPart]) -> str | None:
        """A trace in which another run has events of a run; None if there is none."""
        run_id, own = parts[0].run.run_id, [each.uri for each in parts]
        found: list[EventOwners] = []
        if folder is not None:
            place, version = folder.as_uri(), (self.closed.revision, self.open_reals())
            if self._owners.get(place, (None,))[0] != version:
                owners = EventOwners()
                for each in self._closed_in(folder):
                    owners.add_all(each.summary.path, each.summary.hashes)
                self._owners[place] = version, owners
            found.append(self._owners[place][1])
        for trace in self._open_in(folder) or [each.trace for each in parts if each.trace]:
            name = self.place_of(trace.uri)[1]
            if own == [trace.uri]:  # its tables cost less
                if run_id in runs_sharing_events(trace.analysis.index):
                    return name
                continue
            found.append(self._owners_in(trace))
        if not any(each.first for each in found):
            return None
        opened = [self._owners_in(each.trace) for each in parts if each.trace is not None]
        hashes = [some for each in (*found, *opened) for some in each.hashes.get(run_id, ())]
        others = (each.other(run_id, chain(*hashes)) for each in found)
        return next((path for path in others if path is not None), None)

    def _owners_in(self, trace: OpenTrace) -> EventOwners:
        if self._owners.get(trace.uri, (None,))[0] != trace.edits:
            owners = EventOwners()
            owners.add_all(self.place_of(trace.uri)[1], event_hashes(trace.analysis.index))
            self._owners[trace.uri] = trace.edits, owners
        return self._owners[trace.uri][1]

    def uris_of(self, folder: Path) -> list[str]:
        """The traces of a folder, in the order of their paths."""
        found = [(_order(each.path), each.path.as_uri()) for each in self._closed_in(folder)]
        found += [(self.place_of(each.uri)[0], each.uri) for each in self._open_in(folder)]
        return [uri for _, uri in sorted(found)]

    def waiting(self, folder: Path | None) -> int | None:
        """How many traces of a folder are still unread; None if it has not been searched."""
        if folder is None:
            return 0
        count = None
        if self.closed.is_searched:
            count = len(self._closed_in(folder, lambda each: each.is_unread))
        self._has_partial |= count != 0
        return count

    def take_outdated(self) -> bool:
        """Whether verdicts were shown before all traces had been read, and now all have been. True
        only once. So for a record of the judging that was found to be another.
        """
        if self._has_other_records:
            self._has_other_records = False
            return True
        if not self._has_partial or not self.closed.is_searched:
            return False
        is_open = self.open_reals()
        if any(each.is_unread and each.real not in is_open for each in self.closed.seen()):
            return False
        self._has_partial = False
        return True

    def folder_of(self, uri: str) -> Path | None:
        """The folder of the workspace whose runs a trace is joined with; None for one outside."""
        path = path_of(uri)
        folders = self.closed.folders
        return folders.folder_of(path) if path is not None and folders.holds(path) else None

    def _parts(self, run_id: str, uri: str) -> list[RunPart]:
        folder, is_open = self.folder_of(uri), self.open_reals()
        folder_of = self.closed.folders.folder_of
        found = [
            (_order(each.path), self._closed_part(each, each.parts[run_id]))
            for each in (self.closed.holders(run_id) if folder is not None else ())
            if each.real not in is_open and folder_of(each.path) == folder
        ]
        own = self.open.get(uri)
        for trace in self._open_in(folder) or ([own] if own is not None else []):
            key, name = self.place_of(trace.uri)
            lines = trace.analysis.lines(name)
            run = score_run(run_id, [lines])
            if run is not None:
                found.append((key, self._open_part(trace, run, lines)))
        return [each for _, each in sorted(found, key=lambda pair: pair[0])]

    def _open_part(self, trace: OpenTrace, run: RunScore, lines: TraceLines) -> RunPart:
        verdicts = self._records.of(self._real(trace) or "").on(run.run_id)
        return RunPart(trace.uri, run, lines, verdicts, trace)

    def _closed_part(self, trace: ClosedTrace, run: RunScore) -> RunPart:
        verdicts, summary = self._records.of(trace.real).on(run.run_id), trace.summary
        lines = TraceLines(summary.lines, summary.path) if summary.lines is not None else None
        return RunPart(trace.path.as_uri(), run, lines, verdicts, None)

    def _open_in(self, folder: Path | None) -> list[OpenTrace]:
        """The open traces of a folder; none if the folder is None."""
        if folder is None:
            return []
        return [each for each in self.open if self.folder_of(each.uri) == folder]

    def _closed_in(
        self, folder: Path | None, wanted: Callable[[ClosedTrace], bool] = lambda _: True
    ) -> list[ClosedTrace]:
        """The wanted closed traces of a folder; none if the folder is None."""
        if folder is None:
            return []
        is_open, folder_of = self.open_reals(), self.closed.folders.folder_of
        return [
            each
            for each in self.closed.seen()
            if wanted(each) and each.real not in is_open and folder_of(each.path) == folder
        ]

    def place_of(self, uri: str) -> tuple[Order, str]:
        """The place of a trace among others, and its name."""
        path = path_of(uri)
        if path is None:
            return _order(Path(uri)), uri
        return _order(path), self.closed.folders.name_of(path)

    def _real(self, trace: OpenTrace) -> str | None:
        path = path_of(trace.uri)
        return self._reals.get(trace.uri, str(path)) if path is not None else None


def _swapped(work: Callable[[Analysis, str], Result], uri: str, analysis: Analysis) -> Result:
    return work(analysis, uri)


def score_parts(
    parts: Sequence[RunPart],
    unread: Sequence[Unread] = (),
    strays: Sequence[StrayGrade] = (),
    copied: str | None = None,
) -> RunScore:
    """Judge a run by parts that can be joined; for the rest see :func:`scoring.among`."""
    run = parts[0].run
    if len(parts) > 1:
        run = score_run(run.run_id, [each.lines for each in parts if each.lines]) or run
    return among(run, unread, strays, copied, [each.verdicts for each in parts])


def _order(path: Path) -> Order:
    """Sorts like a search of a folder, as `score` joins traces in that order: between two grades of
    one moment that of the later trace counts. A folder's files come before those in the folders
    inside it.
    """
    *folders, name = path.parts
    return (*((True, each) for each in folders), (False, name))
