"""When closed traces are looked at: once when the first trace is opened, then when the client
reports a change, or, if it does not, when something is requested.
"""

import asyncio
import logging
import uuid
from collections.abc import Awaitable, Callable, Collection, Coroutine, Mapping, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

from lsprotocol import types

from drive_trace.linter.settings import RuleSettings
from drive_trace.lsp.rpc.capabilities import path_of
from drive_trace.lsp.rpc.protocol import TraceProtocol
from drive_trace.lsp.rpc.threads import Debouncer, in_background, in_thread, without_collecting
from drive_trace.lsp.workspace.closed_traces import real_path
from drive_trace.lsp.workspace.runs import WorkspaceRuns
from drive_trace.storage import followed_file, patterns
from drive_trace.storage.processes import in_batches

log = logging.getLogger(__name__)

LARGE = 100
"""From so many traces on, the user sees the progress of their first reading."""
_STRETCH = 0.25
"""Seconds of reading between two reports of progress. A cancellation is noticed there, too. For
so long nobody else has the cache.
"""
_AT_ONCE = 1000
"""So many traces a thread looks at in one go, at most."""
_SHARE = 20
"""If the client does not watch files, all traces are looked at again after this many times the
time that the last look took.
"""
_PATIENCE = 0.3
"""Seconds that a response waits for such a look. Later changes cause a refresh."""


class Progress:
    """The progress of reading all traces, which goes on whether or not the client shows it."""

    def __init__(self, protocol: TraceProtocol) -> None:
        self.token = str(uuid.uuid4())
        self.is_cancelled = False
        """Whether the user wants no more of the work."""
        self._protocol = protocol
        self._is_shown = False
        self._is_over = False

    def show(self) -> None:
        """Let the client show it, if it can."""
        if self._protocol.client.shows_progress:
            in_background(self._create())

    def report(self, done: int, total: int) -> None:
        """Show how much is done."""
        percentage = 100 * done // max(1, total)
        message = f"{done:,} of {total:,}"
        self._notify({"kind": "report", "message": message, "percentage": percentage})

    def end(self) -> None:
        """Take it off the screen."""
        self._notify({"kind": "end"})
        self._is_over = True

    async def _create(self) -> None:
        params = types.WorkDoneProgressCreateParams(self.token)
        created = await self._protocol.request(types.WINDOW_WORK_DONE_PROGRESS_CREATE, params)
        if created is not None and not self._is_over:
            self._is_shown = True
            title = "Reading the workspace's traces"
            self._notify({"kind": "begin", "title": title, "cancellable": True, "percentage": 0})

    def _notify(self, value: dict[str, object]) -> None:
        if self._is_shown:
            self._protocol.notify(types.PROGRESS, {"token": self.token, "value": value})


class Following:
    """Looks at closed traces, and calls ``changed`` after each look."""

    def __init__(
        self,
        protocol: TraceProtocol,
        runs: WorkspaceRuns,
        rules_now: Callable[[Sequence[Path]], Awaitable[Sequence[RuleSettings]]],
        changed: Callable[[], None],
    ) -> None:
        """``rules_now`` gives the rules of traces."""
        self._loop = asyncio.get_running_loop()
        self._protocol = protocol
        self._rules_now = rules_now
        self._runs = runs
        self._closed = runs.closed
        self._changed = changed
        self._first: Progress | None = None
        """The progress of the first reading of all traces, running or done."""
        self._looking: asyncio.Future[None] | None = None
        """The look at all traces that is running."""
        self._since = 0.0
        """When it began, on the loop's clock."""
        self._good_until = 0.0
        self._reported: set[str] = set()
        """The URIs of changed files that have not been looked at yet."""
        self._soon = Debouncer(lambda _: self._start(self._look_at_reported()))
        self._settling: asyncio.TimerHandle | None = None

    # Events

    def opened(self, uri: str) -> None:
        """A trace was opened: from now on the others matter."""
        if self._first is None and self._closed.folders.folders:
            self._read_all(uri)
        else:
            self._start(self._note_open(uri))

    def closed(self, uri: str) -> None:
        """A trace was closed: its file counts again."""
        real = self._runs.note_closed(uri)
        if real is not None and self._first is not None:
            self._start(self._look_at([real]))

    def files_changed(self, changes: Sequence[types.FileEvent]) -> bool:
        """The client reports files that were written, created or deleted. Gives whether they are
        traces, and records of the judging beside these, and nothing else.
        """
        are_traces = True
        for change in changes:
            uri = change.uri.removesuffix(patterns.JUDGEMENTS_SUFFIX)
            are_traces &= self.is_trace(uri)
            if self.is_trace(uri):
                self._reported.add(uri)
                if change.type is not types.FileChangeType.Changed:
                    self._closed.folders.expire()
        if self._reported and self._first is not None:
            self._soon.request("")
        return are_traces

    def is_trace(self, uri: str) -> bool:
        """Whether a URI is that of a trace of the workspace, which may be gone."""
        path = path_of(uri)
        return path is not None and self._closed.folders.holds(path)

    def folders_changed(self) -> None:
        """The workspace has other folders, or other files in them are traces."""
        if self._first is None:
            return
        if self._looking is None:
            self._look()
        else:
            self._start(self._look_at_all(None))

    def cancel(self, token: int | str) -> None:
        """The user cancels the first reading."""
        if self._first is not None and self._first.token == token:
            self._first.is_cancelled = True

    # Waiting for a look

    def is_due(self, method: str = "") -> bool:
        """Whether a request should wait for a look, or for what is left of one."""
        now = asyncio.get_running_loop().time()
        client = self._protocol.client
        if self._looking is not None:
            # No lens waits for it where the client asks anew when it has ended.
            comes_anew = method == types.TEXT_DOCUMENT_CODE_LENS and client.refreshes_lenses
            return not comes_anew and now < self._since + _PATIENCE
        if client.registers_watchers or self._first is None or self._is_cancelled:
            return False
        return now >= self._good_until

    async def fresh(self) -> None:
        """Look at all closed traces, and wait for that a moment."""
        looking = self._looking or self._look()
        rest = self._since + _PATIENCE - asyncio.get_running_loop().time()
        await asyncio.wait([looking], timeout=max(0.0, rest))

    async def known(self) -> None:
        """Wait until all traces have been read once, even if none is open, and until changes have
        been looked at.
        """
        if self._first is None and self._closed.folders.folders:
            self._read_all(None)
        if self._looking is not None:
            await asyncio.wait([self._looking])
        if self.is_due():
            await self.fresh()

    async def settled(self, *, searches: bool = True) -> None:
        """Look at all closed traces, and wait for that however long it takes. The client may not
        have reported the last change yet, nor a new trace: ``searches`` also searches the folders
        again, which takes too long while somebody types.
        """
        if searches:
            self._closed.folders.expire()
        if self._looking is not None:  # it may have passed by what has changed since
            await asyncio.wait([self._looking])
        await asyncio.wait([self._looking or self._look()])

    async def everything(self) -> list[str]:
        """The real paths of all closed traces, as there are now."""
        reals = await in_thread(self._closed.search)
        is_open = self._runs.open_reals()
        return [each for each in reals if each not in is_open]

    # Looking

    @property
    def _is_cancelled(self) -> bool:
        return self._first is not None and self._first.is_cancelled

    def _start(self, work: Coroutine[Any, Any, None]) -> asyncio.Future[None]:
        return in_background(_logged(work))

    def _read_all(self, opened: str | None) -> None:
        """Begin the first reading."""
        self._first = Progress(self._protocol)
        self._look(self._first, opened)

    def _look(
        self, progress: Progress | None = None, opened: str | None = None
    ) -> asyncio.Future[None]:
        """Begin to look at all traces, which goes on when nobody waits for it any more."""
        self._since = asyncio.get_running_loop().time()
        self._looking = looking = self._start(self._look_at_all(progress, opened))
        looking.add_done_callback(self._looked)
        return looking

    def _looked(self, _: object) -> None:
        self._looking = None

    async def _note_open(self, uri: str) -> None:
        path = path_of(uri)
        if path is not None:
            await in_thread(self._runs.note_open, uri, path)
            await self._complete()
            self._changed()

    async def _look_at_all(self, progress: Progress | None, opened: str | None = None) -> None:
        loop = asyncio.get_running_loop()
        start = loop.time()
        await _logged(self._look_at_each(progress, opened))
        if progress is not None:
            progress.end()
        else:
            now = loop.time()
            self._good_until = now + (now - start) * _SHARE
        self._after_look()

    async def _look_at_each(self, progress: Progress | None, opened: str | None) -> None:
        if opened is not None:
            await self._note_open(opened)
        reals = await self.everything()
        if progress is not None and len(reals) >= LARGE:
            progress.show()
        unread = {each.real: each.path for each in self._closed.seen() if each.is_unread}
        await in_thread(self._closed.look, [each for each in reals if each not in unread])
        new = [(each, unread[each]) for each in reals if each in unread]
        await self._look_first(new, progress)
        await in_thread(self._runs.look_at_records, [*reals, *self._runs.open_reals()])
        await self._complete()

    async def _look_first(
        self, traces: Sequence[tuple[str, Path]], progress: Progress | None
    ) -> None:
        done = 0
        for some in in_batches(traces, _AT_ONCE):
            reals, paths = zip(*some, strict=True)
            counts = self._closed.counts_findings
            rules = await self._rules_now(paths) if counts else [None] * len(paths)
            new = [*zip(reals, rules, strict=True)]
            while new and not self._is_cancelled:
                count = await in_thread(self._read_some, new)
                done, new = done + count, new[count:]
                if progress is not None:
                    progress.report(done, len(traces))

    def _read_some(self, traces: Sequence[tuple[str, RuleSettings | None]]) -> int:
        from drive_trace.storage.fleet_cache import open_cache  # noqa: PLC0415 - loads SQLite

        with closing(open_cache(log.info)) as cache:
            look = partial(self._closed.look_first, traces, cache, seconds=_STRETCH)
            return without_collecting(look)

    async def _complete(self) -> None:
        """Read the lines of runs that stand in several traces."""
        runs = {run_id for each in self._runs.open for run_id in each.analysis.index.runs}
        await in_thread(self._closed.complete, runs)

    async def _look_at_reported(self) -> None:
        uris, self._reported = self._reported, set()
        await in_thread(self._closed.search)
        paths = [path for uri in uris if (path := path_of(uri)) is not None]
        await self._look_at(await in_thread(lambda: list(map(real_path, paths))))

    async def _look_at(self, reals: Collection[str], *, settle: bool = False) -> None:
        await in_thread(self._runs.look_at_records, reals)
        is_open = self._runs.open_reals()
        closed = [real for real in reals if real not in is_open]
        await in_thread(lambda: self._closed.look(closed, settle=settle))
        await self._complete()
        self._after_look()

    def _after_look(self) -> None:
        """Report changes, and look once more when nobody writes to these files any longer."""
        self._changed()
        waiting = self._unsettled()
        if waiting and self._settling is None:
            loop = asyncio.get_running_loop()
            self._settling = loop.call_later(followed_file.QUIET, self._settle, waiting)

    def _settle(self, before: Mapping[str, object]) -> None:
        self._settling = None
        quiet = self._unsettled().items() & before.items()
        self._start(self._look_at([real for real, _ in quiet], settle=True))

    def _unsettled(self) -> dict[str, object]:
        """See :meth:`ClosedTraces.unsettled`. Open traces are not looked at on disk."""
        is_open = self._runs.open_reals()
        unsettled = self._closed.unsettled()
        return {real: version for real, version in unsettled.items() if real not in is_open}


async def _logged(work: Coroutine[Any, Any, None]) -> None:
    try:
        await work
    except Exception:
        log.exception("closed traces cannot be looked at")
