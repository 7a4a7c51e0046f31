"""When closed traces are looked at: once when the first trace is opened, then when the client
reports a change, or, if it does not, when something is requested.
"""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Callable, Collection, Coroutine, Mapping, Sequence
from typing import Any

from lsprotocol import types

from drive_trace.features.raw_json import dumps
from drive_trace.lsp.rpc.capabilities import path_of
from drive_trace.lsp.rpc.protocol import TraceProtocol
from drive_trace.lsp.rpc.tasks import Debouncer, in_thread
from drive_trace.lsp.workspace.closed_traces import ClosedTraces
from drive_trace.lsp.workspace.runs import WorkspaceRuns
from drive_trace.lsp.workspace.trace_folders import real_path
from drive_trace.storage.followed_file import QUIET


class Progress:
    """One piece of work. It goes on whether or not the client shows it."""

    def __init__(self, protocol: TraceProtocol, title: str) -> None:
        self.token = str(uuid.uuid4())
        self.is_cancelled = False
        """Whether the user wants no more of it."""
        self._protocol = protocol
        self._title = title
        self._is_shown = False
        self._asking: asyncio.Task[None] | None = None

    def show(self) -> None:
        """Have the client show it, where it can."""
        if self._protocol.client.shows_progress:
            self._asking = asyncio.ensure_future(self._show())

    def report(self, done: int, total: int) -> None:
        """So much of it is done."""
        if self._is_shown:
            percentage = 100 * done // max(1, total)
            message = f"{done:,} of {total:,}"
            self._tell({"kind": "report", "message": message, "percentage": percentage})

    def end(self) -> None:
        """It is over."""
        if self._is_shown:
            self._is_shown = False
            self._tell({"kind": "end"})
        elif self._asking is not None:
            self._asking.cancel()

    async def _show(self) -> None:
        params = types.WorkDoneProgressCreateParams(self.token)
        if await self._protocol.request(types.WINDOW_WORK_DONE_PROGRESS_CREATE, params) is not None:
            self._is_shown = True
            begin = {"kind": "begin", "title": self._title, "cancellable": True, "percentage": 0}
            self._tell(begin)

    def _tell(self, value: dict[str, object]) -> None:
        self._protocol.notify_json(types.PROGRESS, dumps({"token": self.token, "value": value}))


log = logging.getLogger(__name__)

LARGE = 100
"""From so many traces on, their first reading is shown to the user."""
_STRETCH = 0.1
"""Seconds of reading after which progress is told of, and a cancel noticed."""
_SHARE = 20
"""Without news from the client all traces are looked at again after this many times the time
that it took.
"""
_PATIENCE = 0.3
"""Seconds that an answer waits for such a look; what is found later is told of when it is."""


class Following:
    """Looks at closed traces, and tells of what has changed."""

    def __init__(
        self, protocol: TraceProtocol, runs: WorkspaceRuns, tell: Callable[[], None]
    ) -> None:
        self._protocol = protocol
        self._runs = runs
        self._tell = tell
        self._tasks: set[asyncio.Future[None]] = set()
        self._first: Progress | None = None
        """The first reading of all traces, running or done."""
        self._looking: asyncio.Future[None] | None = None
        self._since = 0.0
        self._good_until = 0.0
        self._changed: set[str] = set()
        self._soon = Debouncer(self._follow_changes)
        self._settling: asyncio.TimerHandle | None = None
        self._tried: dict[str, object] = {}
        """What was compared whole as it is now: doing so again would tell nothing new."""

    @property
    def _closed(self) -> ClosedTraces:
        return self._runs.closed

    # What happens

    def opened(self, uri: str) -> None:
        """A trace was opened: from now on the others matter."""
        if self._first is None and self._closed.folders.folders:
            self._begin(uri)
        else:
            self._start(self._note_open(uri))

    def closed(self, uri: str) -> None:
        """A trace was closed: what is on disk counts again."""
        real = self._runs.note_closed(uri)
        if real is not None and self._first is not None:
            self._start(self._look_at([real]))

    def files_changed(self, changes: Sequence[types.FileEvent]) -> None:
        """The client tells of files that were written, made or taken away."""
        for change in changes:
            if self.is_trace(change.uri):
                self._changed.add(change.uri)
                if change.type is not types.FileChangeType.Changed:
                    self._closed.folders.expire()
        if self._changed and self._first is not None:
            self._soon.request("")

    def is_trace(self, uri: str) -> bool:
        """Whether an address is that of a trace of the workspace, there or gone."""
        path = path_of(uri)
        return path is not None and self._closed.folders.holds(path)

    def folders_changed(self) -> None:
        """The workspace has other folders, or other files in them are traces."""
        if self._first is None:
            return
        if self._looking is None:
            self._look(self._look_at_all())
        else:
            self._start(self._look_at_all())

    def cancel(self, token: int | str) -> None:
        """The user does not want to wait for the first reading."""
        if self._first is not None and self._first.token == token:
            self._first.is_cancelled = True

    @property
    def is_due(self) -> bool:
        """Whether something should be looked at before something is answered."""
        now = asyncio.get_running_loop().time()
        if self._looking is not None:
            return now < self._since + _PATIENCE
        if self._protocol.client.registers_watchers or self._first is None or self._is_cancelled:
            return False
        return now >= self._good_until

    async def fresh(self) -> None:
        """Look at what may have changed, as far as that takes no time worth speaking of."""
        looking = self._looking or self._look(self._look_at_all())
        rest = self._since + _PATIENCE - asyncio.get_running_loop().time()
        await asyncio.wait([looking], timeout=max(0.0, rest))

    async def settled(self, *, searches: bool = True) -> None:
        """Look at all closed traces, for an answer that is no use until they are known as they are
        now. The client may not have told of the last change yet, nor of a new trace: for what a
        person picks, folders are searched again, which takes too long while somebody types.
        """
        if searches:
            self._closed.folders.expire()
        if self._looking is not None:  # it may have passed by what has changed since
            await asyncio.wait([self._looking])
        await asyncio.wait([self._looking or self._look(self._look_at_all())])

    async def everything(self) -> list[str]:
        """The real paths of all closed traces, as there are now."""
        reals = await in_thread(self._closed.search)
        is_open = self._runs.open_reals()
        return [each for each in reals if each not in is_open]

    async def known(self) -> None:
        """Wait until all traces have been read once, and what may have changed has been looked at:
        for who asks about all of them, be it that none is open.
        """
        if self._first is None and self._closed.folders.folders:
            self._begin(None)
        if self._looking is not None:
            await asyncio.wait([self._looking])
        if self.is_due:
            await self.fresh()

    # Looking

    @property
    def _is_cancelled(self) -> bool:
        return self._first is not None and self._first.is_cancelled

    def _start(self, work: Coroutine[Any, Any, None]) -> asyncio.Future[None]:
        task = asyncio.ensure_future(_logged(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def _look(self, work: Coroutine[Any, Any, None]) -> asyncio.Future[None]:
        """Begin to look at everything, which goes on when nobody waits for it any more."""
        self._since = asyncio.get_running_loop().time()
        self._looking = looking = self._start(work)
        looking.add_done_callback(self._looked)
        return looking

    def _looked(self, _: object) -> None:
        self._looking = None

    def _begin(self, uri: str | None) -> None:
        self._first = Progress(self._protocol, "Reading the workspace's traces")
        self._look(self._read_all(uri, self._first))

    async def _note_open(self, uri: str) -> None:
        path = path_of(uri)
        if path is not None:
            await in_thread(self._runs.note_open, uri, path)

    async def _read_all(self, uri: str | None, progress: Progress) -> None:
        """The first reading, shown to the user where it takes long."""
        if uri is not None:
            await self._note_open(uri)
        reals = await self.everything()
        if len(reals) >= LARGE:
            progress.show()
        await self._look_through(reals, progress)
        progress.end()
        self._after()

    async def _look_at_all(self) -> None:
        loop = asyncio.get_running_loop()
        start = loop.time()
        await self._look_through(await self.everything(), None)
        now = loop.time()
        self._good_until = now + (now - start) * _SHARE
        self._after()

    async def _look_through(self, reals: Sequence[str], progress: Progress | None) -> None:
        done = 0
        while done < len(reals) and not self._is_cancelled:
            done += await in_thread(self._look_for_a_while, reals[done:])
            if progress is not None:
                progress.report(done, len(reals))

    def _look_for_a_while(self, reals: Sequence[str]) -> int:
        return self._closed.look(reals, seconds=_STRETCH)

    def _follow_changes(self, _: str) -> None:
        self._start(self._look_at_changed())

    async def _look_at_changed(self) -> None:
        uris, self._changed = self._changed, set()
        await in_thread(self._closed.search)
        paths = [path for uri in uris if (path := path_of(uri)) is not None]
        await self._look_at(await in_thread(lambda: list(map(real_path, paths))))

    async def _look_at(self, reals: Collection[str], *, settle: bool = False) -> None:
        is_open = self._runs.open_reals()
        closed = [real for real in reals if real not in is_open]
        await in_thread(lambda: self._closed.look(closed, settle=settle))
        self._after()

    def _after(self) -> None:
        """Tell of what was found, and look again at what is being written when it is not."""
        self._tell()
        waiting = {
            real: content
            for real, content in self._unsettled().items()
            if self._tried.get(real) != content
        }
        if waiting and self._settling is None:
            loop = asyncio.get_running_loop()
            self._settling = loop.call_later(QUIET, self._settle, waiting)

    def _settle(self, before: Mapping[str, object]) -> None:
        self._settling = None
        now = self._unsettled()
        quiet = {real: content for real, content in now.items() if before.get(real) == content}
        still = {real: each for real, each in self._tried.items() if now.get(real) == each}
        self._tried = still | quiet
        self._start(self._look_at(quiet, settle=True))

    def _unsettled(self) -> dict[str, object]:
        """See :meth:`ClosedTraces.unsettled`; open ones are not looked at on disk."""
        is_open = self._runs.open_reals()
        unsettled = self._closed.unsettled()
        return {real: content for real, content in unsettled.items() if real not in is_open}


async def _logged(work: Coroutine[Any, Any, None]) -> None:
    try:
        await work
    except Exception:
        log.exception("closed traces cannot be looked at")
