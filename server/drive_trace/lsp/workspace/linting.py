"""Runs the rules over open traces by the configurations and baselines on disk, and sends what they
find, and requests to refresh what is out of date.

Threads read these, as a network folder may respond late, or never. Findings are held back until
then, so that none appears and vanishes again, but not for long.
"""

import asyncio
import logging
import os
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from lsprotocol import types

from drive_trace.features.findings import SOURCE, DiagnosticOptions
from drive_trace.features.results import dumps
from drive_trace.linter.rules import RULES
from drive_trace.linter.settings import RuleSettings, Severity
from drive_trace.lsp.rpc import capabilities, messages
from drive_trace.lsp.rpc.protocol import TraceProtocol
from drive_trace.lsp.rpc.threads import Debouncer, SharedWork, in_background, in_thread
from drive_trace.lsp.workspace.client_settings import ClientSettings, Settings
from drive_trace.lsp.workspace.open_traces import OpenTrace, Past, Workspace
from drive_trace.lsp.workspace.runs import WorkspaceRuns
from drive_trace.storage import files, git, projects
from drive_trace.text.spans import PositionEncoding, Span, Spot, units_before
from drive_trace.trace.history import History

log = logging.getLogger(__name__)

CONFIGURATION_GLOBS = ("**/drive-trace.toml", "**/drive-trace-baseline.json")
_PERIOD = 1.0
"""Seconds between two looks while somebody types, if the client does not watch files."""


_MORE_FILES = "more-files"
"""The registration of watchers for the files that a setting adds."""
_REST = 1.0
"""Seconds between two refreshes for closed traces: an agent may append all the time."""


def _diagnostic(problem: projects.FileProblem, encoding: PositionEncoding) -> dict[str, Any]:
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


def refusal(why: str) -> bytes:
    """The diagnostics of a document that is too large to be read, as JSON text."""
    how = "drive-trace check reads it; once it is smaller, close it and open it again"
    problem = projects.FileProblem(Path(), f"not read: {why}; {how}")
    told = _diagnostic(problem, PositionEncoding.UTF16)
    return dumps([{**told, "code": "unreadable-file"}])


class Publisher:
    """Sends diagnostics, refresh requests, and the extension's own notification.

    Diagnostics are never pushed to a client that pulls them: it would show everything twice.
    """

    def __init__(self, protocol: TraceProtocol, runs: WorkspaceRuns) -> None:
        self._protocol = protocol
        self._runs = runs
        self.has_views = False
        """Whether the client shows views of its own."""
        self._soon = Debouncer(self._refresh, rest=_REST)
        self._shown, self._beside = runs.revision, runs.beside_open()
        """What was known of closed traces when the client was last told to ask again."""
        self._sent: Mapping[str, bytes] = {}
        """The diagnostics of configurations."""

    # Diagnostics

    def publish(self, trace: OpenTrace, diagnostics: bytes) -> None:
        """Push a trace's diagnostics, with its version, unless they have been pushed."""
        if trace.published != (trace.version, diagnostics):
            trace.published = trace.version, diagnostics
            head = b'{"uri":%b,"version":%d,"diagnostics":' % (dumps(trace.uri), trace.version)
            self._push(head, diagnostics, b"}")

    def publish_configurations(self, diagnostics: Mapping[str, bytes]) -> None:
        """Push the diagnostics of configurations that have changed."""
        if self._protocol.client.pulls_diagnostics:
            return
        before, self._sent = self._sent, diagnostics
        for uri, items in diagnostics.items():
            if before.get(uri, b"[]") != items:
                self._push(b'{"uri":%b,"diagnostics":%b}' % (dumps(uri), items))

    def refuse(self, uri: str, why: str) -> None:
        """Tell that a document is too large to be read."""
        self._runs.open.refused[capabilities.key_of(uri)] = uri, why
        if not self._protocol.client.pulls_diagnostics:
            self._push(b'{"uri":%b,"diagnostics":%b}' % (dumps(uri), refusal(why)))

    def clear(self, uri: str) -> None:
        """Take back the diagnostics of a trace that was closed."""
        if not self._protocol.client.pulls_diagnostics:
            self._push(dumps({"uri": uri, "diagnostics": []}))

    def _push(self, *params: bytes) -> None:
        self._protocol.notify_json(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS, *params)

    # Refreshing

    def refresh_diagnostics(self) -> None:
        """Let a client that pulls diagnostics pull them again."""
        self._refresh(types.WORKSPACE_DIAGNOSTIC_REFRESH)

    def refresh_views(self, uri: str | None) -> None:
        """Let the client's own views refresh what they show of a trace; None: of all traces."""
        if self.has_views:
            self._protocol.notify(messages.CHANGED, {"uri": uri})

    def changed(self, trace: OpenTrace) -> None:
        """A trace was edited. Its lenses are refreshed if they may show another verdict now."""
        if trace.shown_score != trace.score_revision:
            trace.shown_score = trace.score_revision
            self._refresh(types.WORKSPACE_CODE_LENS_REFRESH)

    def settings_changed(self, before: Settings, now: Settings) -> None:
        """The client has other settings."""
        if now.lens != before.lens:
            self._refresh(types.WORKSPACE_CODE_LENS_REFRESH)
        if now.inlay_hints != before.inlay_hints:
            self._refresh(types.WORKSPACE_INLAY_HINT_REFRESH)

    def closed_traces_changed(self) -> None:
        """Closed traces were looked at. What the editor shows of them may be out of date."""
        before, self._shown = self._shown, self._runs.revision
        if self._shown == before:
            return
        self._soon.request(messages.CHANGED)
        beside, self._beside = self._beside, self._runs.beside_open()
        if self._beside != beside:
            self._soon.request(types.WORKSPACE_CODE_LENS_REFRESH)
        if self._shown[1:] != before[1:]:
            self._soon.request(types.WORKSPACE_DIAGNOSTIC_REFRESH)

    def _refresh(self, method: str) -> None:
        client = self._protocol.client
        can = {
            types.WORKSPACE_CODE_LENS_REFRESH: client.refreshes_lenses,
            types.WORKSPACE_INLAY_HINT_REFRESH: client.refreshes_hints,
            types.WORKSPACE_DIAGNOSTIC_REFRESH: (
                client.pulls_diagnostics and client.refreshes_diagnostics
            ),
        }
        if method == messages.CHANGED:
            self.refresh_views(None)
        elif can[method]:
            self._protocol.notify_by_request(method)

    # Registrations

    def watch(self, name: str, globs: Sequence[str]) -> None:
        """Let the client report changes of files on disk. The name identifies the registration."""
        watchers = [types.FileSystemWatcher(glob) for glob in globs]
        options = types.DidChangeWatchedFilesRegistrationOptions(watchers)
        method = types.WORKSPACE_DID_CHANGE_WATCHED_FILES
        self.register(types.Registration(name, method, options))

    def watch_more(self, before: Sequence[str], now: Sequence[str]) -> None:
        """Let the client watch the files of a setting instead of those it had before."""
        if not self._protocol.client.registers_watchers:
            return
        if before:
            gone = types.Unregistration(_MORE_FILES, types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
            params = types.UnregistrationParams([gone])
            self._protocol.notify_by_request(types.CLIENT_UNREGISTER_CAPABILITY, params)
        if now:
            # Clients match whole paths. This may match more than is meant.
            self.watch(_MORE_FILES, [g if g.startswith(("/", "**/")) else f"**/{g}" for g in now])

    def register(self, registration: types.Registration) -> None:
        """Register for notifications of the client."""
        params = types.RegistrationParams([registration])
        self._protocol.notify_by_request(types.CLIENT_REGISTER_CAPABILITY, params)


class Configurations:
    """Finds the configuration of a trace, and remembers it for the trace's folder."""

    def __init__(self) -> None:
        self.start(os.curdir)
        self._found: dict[Path, projects.Project] = {}
        """What the last look at each folder found."""
        self._shared: SharedWork[None] = SharedWork()
        self._count = 0
        """How many looks have begun."""
        self._numbers: dict[Path, int] = {}
        """Which of them found what is known of a folder."""
        self._reported: set[Path] = set()
        """The files that have or had problems."""
        self._look_again = 0.0

    def start(self, base: str) -> None:
        """Begin with the folder of the client's workspace."""
        self._projects = projects.Projects(base)

    def rules_of(self, path: Path | None, over: RuleSettings) -> RuleSettings:
        """The settings of the rules for the trace at an absolute path, by the last look at its
        folder. ``over`` are the client's own, which take precedence.
        """
        project = self._found.get(path.parent) if path is not None else None
        # The project's folder is above the trace, so that nothing is looked up on disk here.
        return project.settings_for(str(path)).under(over) if project else over

    def project_of(self, uri: str) -> projects.Project | None:
        """The project of a trace, by the last look at its folder."""
        path = _absolute(uri)
        return self._found.get(path.parent) if path is not None else None

    async def look(self, paths: Iterable[Path | None]) -> None:
        """Look at the configurations of traces. The look begins after this call."""
        folders = frozenset(path.parent for path in paths if path is not None)
        await self._shared.result_of(folders, partial(self._look, folders))

    async def _look(self, folders: Iterable[Path]) -> None:
        # Threads may read the same file at once: each gets what it read, and what is remembered
        # is compared with the file the next time. No look undoes what a later one found.
        self._count += 1
        number = self._count
        for folder, project in (await in_thread(self._look_at, folders)).items():
            if self._numbers.get(folder, 0) < number:
                self._numbers[folder], self._found[folder] = number, project

    def _look_at(self, folders: Iterable[Path]) -> Mapping[Path, projects.Project]:
        found, known = {}, projects.Above()
        for folder in folders:
            try:
                found[folder] = self._projects.of(str(folder / "trace.jsonl"), known)
            except Exception:
                log.exception("the configuration of %s cannot be read", folder)
        return found

    def is_due(self) -> bool:
        """Whether it is time to look at the disk again."""
        now = time.monotonic()
        if now < self._look_again:
            return False
        self._look_again = now + _PERIOD
        return True

    def diagnostics(
        self, encoding: PositionEncoding, folders: Collection[Path] | None
    ) -> dict[str, bytes]:
        """The diagnostics of configurations and baselines of traces in some folders, of all where
        that is None, by URI: lists as JSON text, empty once the problems are solved.
        """
        wanted = (each for path, each in self._found.items() if folders is None or path in folders)
        found = dict.fromkeys(problem for each in wanted for problem in each.problems)
        by_file: dict[Path, list[dict[str, Any]]] = {path: [] for path in self._reported}
        for problem in found:
            by_file.setdefault(problem.file, []).append(_diagnostic(problem, encoding))
        self._reported |= by_file.keys()
        return {path.as_uri(): dumps(items) for path, items in by_file.items()}


def _absolute(uri: str) -> Path | None:
    path = capabilities.path_of(uri)
    return Path(os.path.abspath(path)) if path is not None else None  # noqa: PTH100 - follows no link


PATIENCE = 2.0
"""Seconds for which findings are held back."""


class Linting:
    """Runs the rules over open traces by their configurations, and publishes their findings."""

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
        self._looks: dict[str, tuple[asyncio.Future[None], float]] = {}
        """The newest look for each trace, while it lasts, and when findings are no longer held back
        for it, on the loop's clock.
        """
        self._shared: SharedWork[None] = SharedWork()
        """The findings of a trace are made once at a time."""

    def start(self, folder: str) -> None:
        """Begin with the folder of the client's workspace."""
        self._configurations.start(folder)

    def options(self, uri: str) -> DiagnosticOptions:
        """The options for the diagnostics of a trace, by the last look at the disk."""
        client, settings = self._protocol.client, self._settings.now
        return DiagnosticOptions(
            uri=uri,
            encoding=client.encoding,
            most=settings.max_findings,
            url_of=self._settings.rule_url,
            members=client.diagnostic_members,
            rules=self._configurations.rules_of(_absolute(uri), settings.rules),
        )

    def configuration_diagnostics(self) -> dict[str, bytes]:
        """See :meth:`Configurations.diagnostics`: of open traces, or of all."""
        covers_closed = self._settings.now.diagnostics.covers_closed
        opened = {path.parent for each in self._traces if (path := _absolute(each.uri))}
        folders = None if covers_closed else opened
        return self._configurations.diagnostics(self._protocol.client.encoding, folders)

    def look(self, traces: Iterable[OpenTrace]) -> None:
        """Look at the configurations of traces, and then judge by them."""
        until = asyncio.get_running_loop().time() + PATIENCE
        for trace in traces:
            self._looks[trace.uri] = asyncio.ensure_future(self._take(trace.uri)), until

    def look_at_all(self) -> None:
        """Look again at the configurations of all traces."""
        self.look(self._traces)
        self._publisher.refresh_diagnostics()  # those of closed traces, too

    def look_now_and_then(self) -> None:
        """Look again if the last look was some time ago, for clients that do not watch files."""
        if self._configurations.is_due():
            self.look(each for each in self._traces if each.uri not in self._looks)

    def publish(self, trace: OpenTrace) -> None:
        """Publish the findings of a trace: as soon as its configuration is known, and if it is
        large, when they are ready.
        """
        if self._protocol.client.pulls_diagnostics:
            return
        if trace.is_large or trace.uri in self._looks:
            in_background(self._shared.result_of(trace, partial(self._publish_later, trace)))
        else:
            self._publisher.publish(trace, trace.diagnostics())

    async def _publish_later(self, trace: OpenTrace) -> None:
        await self.settled(trace, for_long=False)
        diagnostics = await self._traces.diagnostics_of(trace)
        if self._traces.get(trace.uri) is trace:
            self._publisher.publish(trace, diagnostics)

    def run_rules(self, traces: Iterable[OpenTrace]) -> None:
        """Run the rules by the last look, and publish their findings if that changes anything."""
        has_changed = False
        for trace in traces:
            if trace.use(self.options(trace.uri)):
                has_changed = True
                self.publish(trace)
        self._publisher.publish_configurations(self.configuration_diagnostics())
        if has_changed:
            self._changed()

    def _changed(self) -> None:
        self._publisher.refresh_diagnostics()
        self._publisher.refresh_views(None)

    async def settled(self, trace: OpenTrace, *, for_long: bool) -> None:
        """Wait until the configuration of a trace is known; if not ``for_long``, no longer than its
        findings are held back.
        """
        time = asyncio.get_running_loop().time
        while look := self._looks.get(trace.uri):
            looking, until = look
            rest = None if for_long else until - time()
            if rest is not None and rest <= 0:
                return
            await asyncio.wait([looking], timeout=rest)

    async def project_now(self, uri: str) -> projects.Project:
        """The project of a trace, after a look at the disk. Raises LookupError if that failed."""
        await self._configurations.look([_absolute(uri)])
        project = self._configurations.project_of(uri)
        if project is None:
            raise LookupError(uri)
        return project

    async def options_now(self, uris: Sequence[str]) -> list[DiagnosticOptions]:
        """The options for traces that are not open, after a look at the disk."""
        await self._configurations.look(map(_absolute, uris))
        return [*map(self.options, uris)]

    async def rules_now(self, paths: Sequence[Path]) -> list[RuleSettings]:
        """The settings of the rules for several traces, after a look at the disk."""
        await self._configurations.look(paths)
        over = self._settings.now.rules
        return [self._configurations.rules_of(path, over) for path in paths]

    async def _take(self, uri: str) -> None:
        known = await self._look_at(uri)
        look = self._looks.get(uri)
        if look is not None and look[0] is asyncio.current_task():  # else a newer one has begun
            del self._looks[uri]
            trace = self._traces.get(uri)
            has_news = trace is not None and trace.compare_with(known)
            self.run_rules([trace] if trace is not None else [])
            if trace is not None and has_news:
                self.publish(trace)
                self._changed()

    async def _look_at(self, uri: str) -> Past:
        """Look at a trace's configuration, at the record of where its events come from, and at what
        git has of it if a rule wants to know.
        """
        await self._configurations.look([_absolute(uri)])
        path = capabilities.path_of(uri)
        if path is None:
            return History(), None
        provenance = await in_thread(files.provenance_beside, str(path))
        if provenance is not None:  # git is not asked while somebody types
            provenance = await in_thread(provenance.settled)
        if self.options(uri).rules.severity(RULES["history-rewritten"]) is None:
            return History(), provenance
        return History(head=await in_thread(git.committed_records, str(path))), provenance
