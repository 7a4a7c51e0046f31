"""Has traces judged with the lines that their runs have in other traces of the folder, as ``check``
judges them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from drive_trace.linter.engine import findings_in_files
from drive_trace.linter.rule import RuleSettings
from drive_trace.lsp.rpc.capabilities import path_of
from drive_trace.lsp.rpc.threads import Debouncer, in_thread
from drive_trace.lsp.workspace.open_traces import OpenTrace
from drive_trace.lsp.workspace.runs import Neighbour, Order, WorkspaceRuns
from drive_trace.storage.files import Problem, records_at
from drive_trace.trace.document import Document
from drive_trace.trace.joined import JoinedFile, JoinedFiles
from drive_trace.trace.line import Line
from drive_trace.trace.reading import read_lines

MOST = 1 << 20
"""Characters, some 2,700 lines, of all traces that are judged together. The traces of a larger run
are judged one by one, as each keystroke would take too long; ``check`` has no such bound. The
largest real run has 152 lines.
"""


class Beside(NamedTuple):
    """What a trace is judged with."""

    place: tuple[Order, str]
    """The trace's own place among the others, and its name."""
    neighbours: Sequence[Neighbour]

    @property
    def versions(self) -> Sequence[object]:
        """Changes with the texts of the others."""
        return [(each.uri, each.version) for each in self.neighbours]

    def joined(
        self, uri: str, lines: Sequence[Line], settings: RuleSettings
    ) -> tuple[JoinedFiles | None, int]:
        """The trace with the others, and its number among them; none where it is judged alone. Call
        it from a thread, as it reads closed traces, and runs the rules.
        """
        own = Neighbour(*self.place, uri, None, lines)
        every = sorted([own, *self.neighbours], key=lambda each: (each.order, each.uri))
        files: list[JoinedFile] = []
        size = 0
        for each in every:
            found = each.lines if each.lines is not None else _lines_of(each.uri)
            size += sum(len(line.text) for line in found)
            files.append(JoinedFile(each.name, found, each is not own, each.uri))
            if size > MOST:
                return None, 0
        joined = JoinedFiles(files)
        findings_in_files(joined, settings)  # kept, for the loop
        return joined, every.index(own)


def beside_of(runs: WorkspaceRuns, uri: str, run_ids: Iterable[str]) -> Beside | None:
    """What a trace with these runs is judged with; None where no other trace has lines of them."""
    neighbours = runs.neighbours(uri, run_ids)
    return Beside(runs.place_of(uri), neighbours) if neighbours else None


def _lines_of(uri: str) -> Sequence[Line]:
    """The lines of a closed trace; none where it cannot be read, as all views of its runs say."""
    path = path_of(uri)
    records = records_at(str(path)) if path is not None else ()
    return () if isinstance(records, Problem) else Document(records, read_lines).lines


class Joining:
    """Joins open traces with their neighbours whenever one of these has changed."""

    def __init__(self, runs: WorkspaceRuns, publish: Callable[[OpenTrace], None]) -> None:
        """``publish`` is called with each trace that is judged anew."""
        self._runs = runs
        self._publish = publish
        self._soon = Debouncer(self._begin)
        self._joined: dict[str, object] = {}
        """What each open trace was joined with, by its URI."""
        self._task: asyncio.Future[None] | None = None

    def request(self) -> None:
        """Look soon whether there is anything to join anew."""
        self._soon.request("")

    def _begin(self, _: str) -> None:
        if self._task is None or self._task.done():
            self._task = asyncio.ensure_future(self._join_all())
        else:
            self.request()

    async def _join_all(self) -> None:
        traces = self._runs.open_traces()
        self._joined = {each.uri: self._joined.get(each.uri) for each in traces}
        for trace in traces:
            await self._join(trace)

    async def _join(self, trace: OpenTrace) -> None:
        analysis, edits = trace.analysis, trace.edits
        index = analysis.index
        beside = beside_of(self._runs, trace.uri, {*index.runs, *index.uncounted})
        known = (trace.opened, beside.versions) if beside is not None else None
        if known == self._joined.get(trace.uri):
            return
        lines = [*analysis.document.lines]
        joined: tuple[JoinedFiles | None, int] = None, 0
        if beside is not None:
            joined = await in_thread(beside.joined, trace.uri, lines, analysis.settings)
        if self._runs.open.get(trace.uri) is not trace or trace.edits != edits:
            self.request()
            return
        self._joined[trace.uri] = known
        before = analysis.finding_revision
        trace.join(*joined)
        if analysis.finding_revision != before:
            self._publish(trace)
