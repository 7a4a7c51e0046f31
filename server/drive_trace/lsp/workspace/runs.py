"""Runs across the workspace's traces: open ones as the editor has them, the others as they are on
disk. All of it comes from memory; nothing here waits for a file but what says so.

Traces that share runs are judged together, as ``check`` judges them.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, partial
from itertools import chain
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple, TypeAlias, TypeVar

from pygls.exceptions import JsonRpcContentModified

from drive_trace.analysis import Analysis
from drive_trace.features.runs import JoinedRun, ListedRun, listed
from drive_trace.grading.judgements import Verdicts
from drive_trace.linter.engine import findings_in_files
from drive_trace.linter.settings import RuleSettings
from drive_trace.lsp.rpc.capabilities import path_of
from drive_trace.lsp.rpc.threads import Debouncer, SharedWork, in_background, in_thread
from drive_trace.lsp.workspace.closed_traces import ClosedTrace, ClosedTraces, TracePlace, real_path
from drive_trace.lsp.workspace.open_traces import OpenTrace, Workspace
from drive_trace.scorecard import run_lines
from drive_trace.scorecard.caveats import ILLEGIBLE, Omitted, Uncounted, Unread
from drive_trace.scorecard.run_lines import EventOwners, TraceLines, event_hashes, events_of
from drive_trace.scorecard.run_score import RunInFile, RunScore
from drive_trace.scorecard.scoring import among, score_alone, score_run, stray_grades, summarize
from drive_trace.stopping import unless_stopped
from drive_trace.storage.files import JudgementFiles, LeftOut
from drive_trace.storage.finding import omitted
from drive_trace.trace.joined import JoinedFile, JoinedFiles
from drive_trace.trace.line import Line

Result = TypeVar("Result")

MOST = 500_000
"""Characters, some 1,400 lines, of all traces that are judged together: each keystroke in one of
them takes 30 ms then. The traces of a larger run are judged one by one; ``check`` has no such
bound. The largest real run has 152 lines.
"""


class EditedTrace(NamedTuple):
    """An open trace, as the editor has it, in its place among the others."""

    place: TracePlace
    trace: OpenTrace

    @property
    def version(self) -> object:
        """Changes with the text, and is that of no other one."""
        return self.trace.opened, self.trace.edits

    @property
    def lines(self) -> Sequence[Line]:
        """A copy of its lines, as typing goes on."""
        return [*self.trace.analysis.document.lines]

    @property
    def unread_because(self) -> str:
        """Why runs may lack a part that is in it; empty if they do not."""
        return ILLEGIBLE if self.trace.analysis.index.is_illegible else ""

    @property
    def parts(self) -> Mapping[str, RunScore]:
        """Each run in it by its id, scored as if it stood in this trace alone."""
        runs = summarize(self.trace.analysis.index, self.place.name).runs
        return {run.run_id: run for run in runs}

    def run(self, run_id: str) -> RunScore | None:
        """One of its runs."""
        return score_alone(run_id, self.by_run)

    @property
    def by_run(self) -> TraceLines:
        """Its lines by run."""
        return TraceLines(self.trace.analysis.index, self.place.name)

    @property
    def strays(self) -> Sequence[Uncounted]:
        """Its lines that may grade any run."""
        return stray_grades(self.by_run)

    @property
    def hashes(self) -> Mapping[str, bytes]:
        """By run the hashes of its events."""
        return event_hashes(self.trace.analysis.index)


FolderTrace: TypeAlias = EditedTrace | ClosedTrace
"""A trace of a folder of the workspace."""


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
    closed: ClosedTrace | None
    """The trace otherwise."""

    @property
    def part(self) -> RunInFile:
        """What the trace has of the run."""
        return self.run.parts[0]


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
        self._records = JudgementFiles()
        self._record_changes = 0
        """How often a look found other records."""
        self._owning = Lock()
        self._owners: dict[str, tuple[object, EventOwners]] = {}
        """Which runs have an event, by the URI of an open trace, or of a folder for its closed
        ones, with the version of what that is made of.
        """

    @property
    def revision(self) -> tuple[object, ...]:
        """Changes when the closed traces were found, when other things are known of them, or of the
        records beside traces, and when other documents are refused.
        """
        refused = [*self.open.refused]
        return self.closed.is_searched, self.closed.revision, self._record_changes, refused

    def beside_open(self) -> object:
        """What verdicts of open traces depend on: records, the closed traces with parts of their
        runs, and those that may have parts of any run.
        """
        indexes, is_open = [trace.analysis.index for trace in self.open], self.open_reals()
        closed = [
            each
            for each in self.closed.seen()
            if (each.is_unread or each.unread_because or each.problem or each.strays)
            or any(index.names(run_id) for index in indexes for run_id in each.parts)
        ]
        found = [each for each in closed if each.real not in is_open]
        return self.closed.is_searched, self._record_changes, found, [*self.open.refused]

    @property
    def version(self) -> object:
        """Differs after any change of a trace."""
        return self.revision, [(each.uri, each.edits) for each in self.open]

    def note_open(self, uri: str, path: Path) -> None:
        """Note which file an open trace is. Call it from a thread, as it looks at the disk."""
        self._reals[uri] = real_path(path)
        self.look_at_records([self._reals[uri]])

    def look_at_records(self, reals: Iterable[str]) -> None:
        """Look at the records of the judging beside traces. Call it from a thread."""
        roots = [real_path(each) for each in self.closed.folders.folders]
        self._record_changes += self._records.look(reals, roots)

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

    def neighbours(self, uri: str, run_ids: Iterable[str]) -> list[FolderTrace]:
        """The other traces of the folder with lines of some runs, in the order of their paths."""
        run_ids = [*run_ids]
        held = (each.place.uri != uri for run_id in run_ids for each in self.closed.holders(run_id))
        if not (any(True for _ in self.open) or any(held)):  # as of most closed traces
            return []
        return [each for each in self._holding(uri, run_ids) if each.place.uri != uri]

    async def run_on_others(
        self, run_id: str, uri: str, work: Callable[[Analysis, str], Result]
    ) -> list[Result]:
        """The results of some work on each other trace that holds a run. The work is given the
        analysis and the URI of the trace.
        """
        results: list[Result] = []
        for each in self.neighbours(uri, [run_id]):
            there = each.place.uri
            if isinstance(each, EditedTrace):
                own = partial(work, each.trace.analysis, there)
                results.append(await self.open.result_of(each.trace, own))
            else:
                found = await in_thread(
                    self.closed.ask, each.path, lambda analysis, uri=there: work(analysis, uri)
                )
                results += [found] if found is not None else []
        return results

    def all_runs(self) -> list[WorkspaceRun]:
        """Every run that is known, in the order of their first parts."""
        found: dict[tuple[Path | str, str], list[tuple[Any, RunPart]]] = {}
        for trace in self._all():
            own = trace.place.folder or trace.place.uri
            lines = trace.by_run
            for run in trace.parts.values():
                each = _order(trace), self._part(trace, run, lines)
                found.setdefault((own, run.run_id), []).append(each)
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
        run = WorkspaceRun(self.folder_of(uri), parts)
        return next(joined for _, joined in self.judged([run], uri))

    def judged(
        self, runs: Iterable[WorkspaceRun], uri: str = ""
    ) -> Iterator[tuple[WorkspaceRun, JoinedRun]]:
        """Runs over all their files, seen from the one with a URI. Of several files of a run, those
        whose lines are still to be read are left out, and waited for.
        """
        known = cache(lambda folder: (self.not_read(folder), self.strays(folder)))
        waiting, owning = cache(self.waiting), cache(self._owning_in)
        for run in unless_stopped(runs):
            folder, every = run
            parts = [each for each in every if each.lines is not None or len(every) == 1]
            parts = parts or every[:1]
            count, given = waiting(folder), (*known(folder), self._copied(parts, *owning(folder)))
            own = [each for each in every if each.uri == uri]
            yield (
                run,
                JoinedRun(
                    _score_parts(parts, *given),
                    _score_parts(own, *given) if own else None,
                    [each.uri for each in parts],
                    uri,
                    count + len(every) - len(parts) if count is not None else None,
                ),
            )

    def listed(self) -> Iterator[tuple[WorkspaceRun, ListedRun]]:
        """Every run that is known, as a list shows it."""
        others = cache(
            lambda each: self.waiting(each) != 0 or self.not_read(each) or self.strays(each)
        )
        owning = cache(self._owning_in)

        def kept(folder: Path | None, parts: Sequence[RunPart]) -> ListedRun | None:
            first, *more = parts
            if first.closed is None or more or first.verdicts or others(folder):
                return None
            if self._copied(parts, *owning(folder)) is not None:
                return None
            return first.closed.listed().get(first.run.run_id)

        found = [(run, kept(*run)) for run in unless_stopped(self.all_runs())]
        judged = self.judged(run for run, known in found if known is None)
        return ((run, known or listed(next(judged)[1])) for run, known in found)

    def unread(self, folder: Path | None) -> list[Unread]:
        """The traces of a folder that cannot be read: each may hold a part of any of its runs."""
        known = [(each.place, each.unread_because) for each in self._in(folder)]
        known += [(self.place_of(uri), why) for uri, why in self.open.refused.values()]
        told = (Unread(at.name, why) for at, why in known if why and folder and at.folder == folder)
        return [*dict.fromkeys(told)]  # a document may be as large as its file

    def left_out(self, folder: Path | None) -> Omitted:
        """What the search of a folder left out, and its files that are no traces."""
        problems = [each.problem for each in self._closed_in(folder)]
        found = [*self.closed.folders.left_out_in(folder)]
        found += [each for each in problems if isinstance(each, LeftOut)]
        name = self.closed.folders.name_of
        return omitted([LeftOut(name(Path(each.path)), each.reason) for each in found])

    def not_read(self, folder: Path | None) -> list[Unread]:
        """What may hold a part of any run of a folder."""
        return [*self.unread(folder), *self.left_out(folder).missed]

    def strays(self, folder: Path | None) -> Sequence[Uncounted]:
        """The lines of a folder's traces that may grade any of its runs."""
        return [line for each in self._in(folder) for line in each.strays]

    def _owning_in(
        self, folder: Path | None
    ) -> tuple[Sequence[EventOwners], Sequence[EditedTrace]]:
        """Which runs have the events of the closed traces of a folder, and its open ones."""
        if folder is None:
            return [], []
        version = self.closed.revision, self.open_reals()
        closed = self._owners_in(str(folder), version, partial(self._closed_in, folder))
        return [closed], self._open_in(folder)

    def _copied(
        self, parts: Sequence[RunPart], closed: Sequence[EventOwners], beside: Sequence[EditedTrace]
    ) -> str | None:
        """A trace in which another run has events of a run; None if there is none."""
        run_id, own = parts[0].run.run_id, [each.uri for each in parts]
        found = [*closed]
        opened = [self._edited(part.trace) for part in parts if part.trace is not None]
        for each in beside or opened:
            if own != [each.place.uri]:
                found.append(self._owners_in(each.place.uri, each.version, partial(_only, each)))
            elif run_id in run_lines.runs_sharing_events(each.trace.analysis.index):  # costs less
                return each.place.name
        has_no_other = len(found) == 1 and not opened and not found[0].are_shared
        if has_no_other or not any(each.events for each in found):
            return None
        found += [
            self._owners_in(each.place.uri, each.version, partial(_only, each)) for each in opened
        ]
        hashes = [*chain(*(some for each in found for some in each.hashes.get(run_id, ())))]
        others = (each.other(run_id, hashes) for each in found)
        return next((path for path in others if path is not None), None)

    def _owners_in(
        self, key: str, version: object, traces: Callable[[], Sequence[FolderTrace]]
    ) -> EventOwners:
        """Which runs have an event, in these traces of that version. They are asked for once: each
        run of a workspace asks this.
        """
        with self._owning:
            if self._owners.get(key, (None,))[0] != version:
                events = events_of((each.place.name, each.hashes) for each in traces())
                self._owners[key] = version, EventOwners(events)
            return self._owners[key][1]

    def waiting(self, folder: Path | None) -> int | None:
        """How many traces of a folder are still unread; None if it has not been searched."""
        if folder is None:
            return 0
        if not self.closed.is_searched:
            return None
        return sum(each.is_unread for each in self._closed_in(folder))

    def folder_of(self, uri: str) -> Path | None:
        """The folder of the workspace whose runs a trace is joined with; None for one outside."""
        path = path_of(uri)
        folders = self.closed.folders
        return folders.folder_of(path) if path is not None and folders.holds(path) else None

    def _parts(self, run_id: str, uri: str) -> list[RunPart]:
        return [
            self._part(trace, run, trace.by_run)
            for trace in self._holding(uri, [run_id])
            if (run := trace.run(run_id)) is not None
        ]

    def _part(self, trace: FolderTrace, run: RunScore, lines: TraceLines | None) -> RunPart:
        if isinstance(trace, EditedTrace):
            opened, closed, real = trace.trace, None, self._real(trace.trace) or ""
        else:
            opened, closed, real = None, trace, trace.real
        verdicts = self._records.on(real, run.run_id)
        return RunPart(trace.place.uri, run, lines, verdicts, opened, closed)

    # The traces

    def _holding(self, uri: str, run_ids: Iterable[str]) -> list[FolderTrace]:
        """The traces of a trace's folder that have lines of some runs, in the order of their paths;
        only the trace itself if it is outside the workspace.
        """
        folder, is_open, run_ids = self.folder_of(uri), self.open_reals(), [*run_ids]
        own = self.open.get(uri)
        opened = self._open_in(folder) or ([self._edited(own)] if own is not None else [])
        found: list[FolderTrace] = [
            each for each in opened if any(map(each.trace.analysis.index.names, run_ids))
        ]
        closed = {each.real: each for run_id in run_ids for each in self.closed.holders(run_id)}
        found += [
            each
            for each in closed.values()
            if folder is not None and each.place.folder == folder and each.real not in is_open
        ]
        return sorted(found, key=_order)

    def _all(self) -> list[FolderTrace]:
        """Every trace that is known; of a file in a diff, only what is being edited."""
        is_open = self.open_reals()
        closed = [each for each in self.closed.seen() if each.real not in is_open]
        return [*(self._edited(each) for each in self.open if not each.is_old), *closed]

    def _in(self, folder: Path | None) -> list[FolderTrace]:
        """The traces of a folder; none if the folder is None."""
        return [*self._closed_in(folder), *self._open_in(folder)]

    def _open_in(self, folder: Path | None) -> list[EditedTrace]:
        if folder is None:
            return []
        return [self._edited(each) for each in self.open if self.folder_of(each.uri) == folder]

    def _closed_in(self, folder: Path | None) -> list[ClosedTrace]:
        if folder is None:
            return []
        is_open = self.open_reals()
        seen = self.closed.seen()
        inside = (each for each in seen if (own := each.place.folder) is folder or own == folder)
        return [each for each in inside if each.real not in is_open]

    def _edited(self, trace: OpenTrace) -> EditedTrace:
        return EditedTrace(self.place_of(trace.uri), trace)

    def place_of(self, uri: str) -> TracePlace:
        """The place of a trace among the others."""
        path = path_of(uri)
        if path is None:
            return TracePlace(None, ((False, uri),), uri, uri)
        return self.closed.folders.place_of(path, uri)._replace(folder=self.folder_of(uri))

    def _real(self, trace: OpenTrace) -> str | None:
        path = path_of(trace.uri)
        return self._reals.get(trace.uri, str(path)) if path is not None else None


def _only(trace: FolderTrace) -> Sequence[FolderTrace]:
    return [trace]


def _score_parts(
    parts: Sequence[RunPart],
    unread: Sequence[Unread],
    strays: Sequence[Uncounted],
    copied: str | None,
) -> RunScore:
    """Judge a run by parts that can be joined; for the rest see :func:`scoring.among`."""
    run = parts[0].run
    if len(parts) > 1:
        run = score_run(run.run_id, [each.lines for each in parts if each.lines]) or run
    return among(run, unread, strays, copied, [each.verdicts for each in parts])


def _order(trace: FolderTrace) -> tuple[Any, str]:
    return trace.place.order, trace.place.uri


# Traces that are judged together


class Beside:
    """What a trace is judged with: the other traces that have lines of its runs."""

    def __init__(
        self, runs: WorkspaceRuns, place: TracePlace, neighbours: Sequence[FolderTrace]
    ) -> None:
        self._place = place
        self._neighbours = neighbours
        self._closed = runs.closed
        self.versions = [(each.place.uri, each.version) for each in neighbours]
        """Changes with the texts of the others."""

    @property
    def is_short(self) -> bool:
        """Whether some of them are still to be read for their lines."""
        return any(isinstance(each, ClosedTrace) and each.is_short for each in self._neighbours)

    def read(self) -> object:
        """Get the lines of the others, and return their versions. Call it from a thread that has
        the lock of no trace, as it reads files.
        """
        self._files = [
            JoinedFile(
                each.place.name,
                self._closed.lines_of(each) if isinstance(each, ClosedTrace) else each.lines,
                is_beside=True,
                uri=each.place.uri,
            )
            for each in self._neighbours
        ]
        return self.versions

    def joined(
        self, lines: Sequence[Line], settings: RuleSettings
    ) -> tuple[JoinedFiles | None, int]:
        """The trace with the others, once these are read, and its number among them; none where it
        is judged alone. Call it from a thread, as it runs the rules.
        """
        order = self._place.order, self._place.uri
        number = sum(_order(each) < order for each in self._neighbours)
        own = JoinedFile(self._place.name, lines, uri=self._place.uri)
        files = [*self._files[:number], own, *self._files[number:]]
        if sum(len(line.text) for file in files for line in file.lines) > MOST:
            return None, 0
        joined = JoinedFiles(files)
        findings_in_files(joined, settings)  # kept, for the loop
        return joined, number

    def join(self, analysis: Analysis) -> None:
        """Have the trace judged with the others."""
        analysis.join(*self.joined(analysis.document.lines, analysis.settings))


def beside_of(runs: WorkspaceRuns, uri: str, run_ids: Iterable[str]) -> Beside | None:
    """What a trace with these runs is judged with; None where no other trace has lines of them."""
    neighbours = runs.neighbours(uri, run_ids)
    return Beside(runs, runs.place_of(uri), neighbours) if neighbours else None


class Joining:
    """Joins open traces with their neighbours whenever one of these has changed."""

    def __init__(
        self, runs: WorkspaceRuns, publish: Callable[[OpenTrace], None], changed: Callable[[], None]
    ) -> None:
        """``publish`` is called with each trace that is judged anew, and ``changed`` when more is
        known of closed traces.
        """
        self._runs = runs
        self._publish = publish
        self._changed = changed
        self._soon = Debouncer(lambda _: in_background(self._shared.result_of("", self._join_all)))
        self._shared: SharedWork[None] = SharedWork()
        self._joined: dict[str, object] = {}
        """What each open trace was joined with, by its URI."""

    def request(self) -> None:
        """Look soon whether there is anything to join anew."""
        self._soon.request("")

    async def _join_all(self) -> None:
        traces = self._runs.open_traces()
        self._joined = {each.uri: self._joined.get(each.uri) for each in traces}
        for trace in traces:
            with suppress(JsonRpcContentModified):  # then it is to be joined anew
                await self._join(trace)

    async def _join(self, trace: OpenTrace) -> None:
        analysis, edits = trace.analysis, trace.edits
        index = analysis.index
        beside = await self._runs.open.result_of(
            trace, lambda: beside_of(self._runs, trace.uri, {*index.runs, *index.uncounted})
        )
        known = (trace.opened, beside.versions) if beside is not None else None
        if known == self._joined.get(trace.uri):
            return
        joined: tuple[JoinedFiles | None, int] = None, 0
        if beside is not None:
            lines = [*analysis.document.lines]
            await in_thread(beside.read)
            if beside.is_short:
                self._changed()
            joined = await in_thread(beside.joined, lines, analysis.settings)
        if self._runs.open.get(trace.uri) is not trace or trace.edits != edits:
            self.request()
            return
        self._joined[trace.uri] = known
        if trace.join(*joined):
            self._publish(trace)
