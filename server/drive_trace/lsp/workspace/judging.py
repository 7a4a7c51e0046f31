"""Open traces are judged as the configurations and baselines on disk say.

These are looked at in threads: a network folder may be long in answering, or never do so.
Findings are held back until then, so that none appears and vanishes again; but not for long.
"""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import Iterable, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from drive_trace.analysis import Spot
from drive_trace.features.diagnostics import SOURCE, DiagnosticOptions
from drive_trace.features.raw_json import dumps
from drive_trace.linter.rule import Severity
from drive_trace.linter.settings import RuleSettings
from drive_trace.lsp.rpc.capabilities import path_of
from drive_trace.lsp.rpc.protocol import TraceProtocol
from drive_trace.lsp.rpc.tasks import Turns, in_thread
from drive_trace.lsp.workspace.client_settings import ClientSettings
from drive_trace.lsp.workspace.open_traces import OpenTrace, Workspace
from drive_trace.lsp.workspace.publishing import Publisher
from drive_trace.storage.projects import FileProblem, Project, Projects
from drive_trace.text.spans import PositionEncoding, Span, units_before

log = logging.getLogger(__name__)

CONFIGURATION_GLOBS = ("**/drive-trace.toml", "**/drive-trace-baseline.json")
_PERIOD = 1.0
"""Seconds after which a client that is typing has the disk looked at, where nobody tells of it."""


class Configurations:
    """Finds what holds for a trace, and remembers it for the trace's folder."""

    def __init__(self) -> None:
        self.start(os.curdir)
        self._found: dict[Path, Project] = {}
        """What the last look at a folder has found."""
        self._turns: Turns[None] = Turns()
        self._told: set[Path] = set()
        """The files that something has been wrong with."""
        self._look_again = 0.0

    def start(self, base: str) -> None:
        """Begin with the folder of the client's workspace."""
        self._projects = Projects(base)

    def rules_for(self, uri: str, over: RuleSettings) -> RuleSettings:
        """How the rules are run over a trace, by the last look at its folder; ``over`` is what the
        client sets itself.
        """
        path = _absolute(uri)
        project = self._found.get(path.parent) if path is not None else None
        # The project's folder is above the trace, so that nothing is looked up on disk here.
        return project.settings_for(str(path)).under(over) if project is not None else over

    async def look(self, uris: Iterable[str]) -> None:
        """Look at what holds for traces now; it begins after this was called."""
        paths = map(_absolute, uris)
        folders = {path.parent for path in paths if path is not None}
        looks = (self._turns.take(each, partial(self._look_at, each)) for each in folders)
        await asyncio.gather(*looks)

    async def _look_at(self, folder: Path) -> None:
        try:
            # Threads that read the same file at once are not in each other's way: each gets what
            # it read, and what is remembered of it is compared with the file the next time.
            found = await in_thread(self._projects.of, str(folder / "trace.jsonl"))
        except Exception:
            log.exception("what holds in %s cannot be looked at", folder)
        else:
            self._found[folder] = found

    def is_due(self) -> bool:
        """Whether it is time to look at the disk again."""
        now = time.monotonic()
        if now < self._look_again:
            return False
        self._look_again = now + _PERIOD
        return True

    def diagnostics(self, encoding: PositionEncoding) -> dict[str, bytes]:
        """What is wrong with configurations and baselines: by URI, lists as JSON text, empty once
        mended.
        """
        found = dict.fromkeys(chain.from_iterable(each.problems for each in self._found.values()))
        by_file: dict[Path, list[dict[str, Any]]] = {path: [] for path in self._told}
        for problem in found:
            by_file.setdefault(problem.file, []).append(_diagnostic(problem, encoding))
        self._told |= by_file.keys()
        return {path.as_uri(): dumps(items) for path, items in by_file.items()}


def _absolute(uri: str) -> Path | None:
    path = path_of(uri)
    return Path(os.path.abspath(path)) if path is not None else None  # noqa: PTH100 - follows no link


def _diagnostic(problem: FileProblem, encoding: PositionEncoding) -> dict[str, Any]:
    record, span = problem.spot or Spot(0, Span(0, 0))
    start, end = (units_before(problem.line, each, encoding) for each in span)
    return {
        "range": {
            "start": {"line": record, "character": start},
            "end": {"line": record, "character": end},
        },
        "severity": int(Severity.ERROR),
        "source": SOURCE,
        "message": problem.reason,
    }


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
        protocol: TraceProtocol,
        traces: Workspace,
        settings: ClientSettings,
        publisher: Publisher,
    ) -> None:
        self._protocol = protocol
        self._traces = traces
        self._settings = settings
        self._publisher = publisher
        self._configurations = Configurations()
        self._looks: dict[str, _Look] = {}
        """The newest look for each trace, while it lasts."""
        self._unsent: set[str] = set()
        """The traces whose findings are to be published."""

    def start(self, folder: str) -> None:
        """Begin with the folder of the client's workspace."""
        self._configurations.start(folder)

    def options(self, uri: str) -> DiagnosticOptions:
        """How diagnostics of a trace are made, by the last look at the disk."""
        client, settings = self._protocol.client, self._settings.now
        return DiagnosticOptions(
            uri=uri,
            encoding=client.encoding,
            most=settings.max_findings,
            url_of=self._settings.rule_url,
            members=client.diagnostic_members,
            rules=self._configurations.rules_for(uri, settings.rules),
        )

    def configuration_diagnostics(self) -> dict[str, bytes]:
        """See :meth:`Configurations.diagnostics`."""
        return self._configurations.diagnostics(self._protocol.client.encoding)

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
            if trace.use(self.options(trace.uri)):
                has_changed = True
                self._unsent.add(trace.uri)
            self._send(trace.uri)
        self._publisher.publish_configurations(self.configuration_diagnostics())
        if has_changed:
            self._publisher.refresh_diagnostics()
            self._publisher.refresh_views(None)

    async def settled(self, trace: OpenTrace, *, for_long: bool) -> None:
        """Wait until it is known what holds for a trace; if not ``for_long``, then no longer than
        its findings are held back.
        """
        while (look := self._looks.get(trace.uri)) is not None and (for_long or not look.is_late):
            await asyncio.wait([look.task], timeout=None if for_long else PATIENCE)

    async def options_now(self, uri: str) -> DiagnosticOptions:
        """How a trace that is not open is judged, after a look at the disk."""
        await self._configurations.look([uri])
        return self.options(uri)

    async def rules_now(self, uris: Sequence[str]) -> list[RuleSettings]:
        """The same for the rules of several."""
        await self._configurations.look(uris)
        return [self.options(uri).rules for uri in uris]

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
            self._publisher.publish(trace)
