"""Open traces are judged as the configurations and baselines on disk say.

Their findings are held back until these have been looked at, so that none appears and vanishes
again; but not for long, as a network folder may never answer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence

from drive_trace.features.diagnostics import DiagnosticOptions
from drive_trace.linter.settings import RuleSettings
from drive_trace.lsp.workspace.configurations import Configurations
from drive_trace.lsp.workspace.open_traces import OpenTrace, Workspace

PATIENCE = 2.0
"""Seconds for which findings are held back."""


class _Look:
    """A look at the disk that is being taken for a trace."""

    task: asyncio.Future[None]

    def __init__(self, *, is_late: bool) -> None:
        self.is_late = is_late
        """Whether nothing is held back for it any more."""


class Judging:
    """Has open traces judged by what holds for them, and their findings published."""

    def __init__(
        self,
        traces: Workspace,
        configurations: Configurations,
        options_of: Callable[[str], DiagnosticOptions],
        send: Callable[[OpenTrace], None],
        judged: Callable[[bool], None],
    ) -> None:
        """``options_of`` gives what was known of a trace's folder at the last look; ``send``
        publishes a trace's findings; ``judged`` is told whether rules are others than before.
        """
        self._traces = traces
        self._configurations = configurations
        self._options_of = options_of
        self._publish = send
        self._judged = judged
        self._looks: dict[str, _Look] = {}
        """The newest look for each trace, while it lasts."""
        self._unsent: set[str] = set()
        """The traces whose findings are to be published."""

    def look(self, traces: Iterable[OpenTrace]) -> None:
        """Look at what holds for traces now, and then judge them by it."""
        for trace in traces:
            before = self._looks.get(trace.uri)
            look = _Look(is_late=before is not None and before.is_late)
            self._looks[trace.uri] = look
            look.task = asyncio.ensure_future(self._take(look, trace.uri))

    def look_now_and_then(self) -> None:
        """Look again where the last look was some time ago, for who is not told of files."""
        if self._configurations.is_due():
            self.look(each for each in self._traces if each.uri not in self._looks)

    def publish(self, trace: OpenTrace) -> None:
        """Publish the findings of a trace, as soon as it is known what holds for it."""
        self._unsent.add(trace.uri)
        self._send(trace.uri)

    def closed(self, uri: str) -> None:
        """A trace was closed, or is opened anew."""
        self._unsent.discard(uri)

    def judge(self, traces: Iterable[OpenTrace]) -> None:
        """Judge traces by what is known, and publish their findings if that is something new."""
        has_changed = False
        for trace in traces:
            if trace.use(self._options_of(trace.uri)):
                has_changed = True
                self._unsent.add(trace.uri)
            self._send(trace.uri)
        self._judged(has_changed)

    async def settled(self, trace: OpenTrace, *, for_long: bool) -> None:
        """Wait until it is known what holds for a trace; if not ``for_long``, then no longer than
        its findings are held back.
        """
        while (look := self._looks.get(trace.uri)) is not None and (for_long or not look.is_late):
            await asyncio.wait([look.task], timeout=None if for_long else PATIENCE)

    async def options_now(self, uri: str) -> DiagnosticOptions:
        """How a trace that is not open is judged, after a look at the disk."""
        await self._configurations.look([uri])
        return self._options_of(uri)

    async def rules_now(self, uris: Sequence[str]) -> list[RuleSettings]:
        """The same for the rules of several."""
        await self._configurations.look(uris)
        return [self._options_of(uri).rules for uri in uris]

    async def _take(self, look: _Look, uri: str) -> None:
        looking = asyncio.ensure_future(self._configurations.look([uri]))
        await asyncio.wait([looking], timeout=PATIENCE)
        if not looking.done():
            look.is_late = True
            self._send(uri)
            await looking
        if self._looks.get(uri) is look:  # else another has begun, which finds what is newer
            del self._looks[uri]
            trace = self._traces.get(uri)
            self.judge([trace] if trace is not None else [])

    def _send(self, uri: str) -> None:
        look, trace = self._looks.get(uri), self._traces.get(uri)
        if uri not in self._unsent or (look is not None and not look.is_late):
            return
        self._unsent.discard(uri)
        if trace is not None:
            self._publish(trace)
