"""How a request about an open trace gets its response: at once for a small trace, else from a
thread; and some after a look at the workspace's closed traces.
"""

from collections.abc import Callable
from functools import partial
from inspect import isawaitable
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, TypeVar

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from drive_trace.analysis import Analysis
from drive_trace.authoring.drafts import Refused
from drive_trace.features.results import CannotMake, View, point_at
from drive_trace.features.runs import Joined, JoinedRun
from drive_trace.lsp.rpc.capabilities import Client
from drive_trace.lsp.rpc.protocol import TraceProtocol
from drive_trace.lsp.workspace import client_settings, open_traces
from drive_trace.lsp.workspace.following import Following
from drive_trace.lsp.workspace.linting import Linting, Publisher
from drive_trace.lsp.workspace.runs import WorkspaceRuns
from drive_trace.storage.files import Problem
from drive_trace.trace.document import Point

Result = TypeVar("Result")


class TraceRequest(NamedTuple):
    """The open trace that a request is about, and who sent it."""

    trace: open_traces.OpenTrace
    client: Client
    settings: client_settings.Settings
    runs: WorkspaceRuns
    following: Following
    edits: int
    """How many changes the trace had had when the request came, which is about the text of then."""

    @property
    def analysis(self) -> Analysis:
        """The trace as it is now."""
        return self.trace.analysis

    @property
    def view(self) -> View:
        """That, as the client sees it."""
        return View(self.trace.analysis, self.client.encoding)

    @property
    def document(self) -> types.OptionalVersionedTextDocumentIdentifier:
        """The trace's URI and version, for an edit."""
        return types.OptionalVersionedTextDocumentIdentifier(self.trace.uri, self.trace.version)

    @property
    def folders(self) -> tuple[Path, ...]:
        """The workspace's folders, as they are now."""
        return self.runs.closed.folders.folders

    def joined(self, run_id: str) -> JoinedRun | None:
        """A run over all its files in the workspace folder."""
        return self.runs.joined(run_id, self.trace.uri)

    async def result_of(self, work: Callable[[], Result]) -> Result:
        """The result of some work on the trace, see :meth:`Workspace.result_of`."""
        return await self.runs.open.result_of(self.trace, work)

    def check_unchanged(self) -> None:
        """Raise JsonRpcContentModified if the trace has changed since the request came."""
        open_traces.check_unchanged(self.trace, self.edits)

    async def on_others(self, run_id: str, work: Callable[[Analysis, str], Result]) -> list[Result]:
        """The results of some work on each other trace that holds a run, after a look at these."""
        await self.following.settled()
        found = await self.runs.run_on_others(run_id, self.trace.uri, work)
        self.check_unchanged()
        return found

    def merging(self, make: Callable[[Joined], object]) -> object:
        """A result that may merge what other files say of a run. If it does, and these files are
        known, it is made again if a look finds them changed. If they are not known, it does not
        wait.
        """
        needs_look = False

        def joined(run_id: str) -> JoinedRun | None:
            nonlocal needs_look
            run = self.joined(run_id)
            needs_look |= run is None or run.lack is None
            return run

        version = self.runs.version
        made = make(joined)

        async def after_look() -> object:
            await self.following.settled(searches=False)
            self.check_unchanged()
            return made if self.runs.version == version else make(self.joined)

        return after_look() if needs_look else made

    def point(self, position: types.Position) -> Point:
        """The point of the trace at one of the client's positions."""
        return point_at(View(self.trace.analysis, self.client.encoding), position)


class RequestHandler(NamedTuple):
    """Handles a method whose params name a document."""

    method: str
    handle: Callable[[TraceRequest, Any], object]
    """Returns the result, or a coroutine. It is called in a thread if the trace is large."""
    options: object = None
    """The method's options in the server's capabilities."""
    if_closed: object = None
    """The result for a document that is not open."""
    shows_other_traces: bool = False
    """Whether the result shows what other traces of the workspace hold."""


HANDLERS: list[RequestHandler] = []
Resolve: TypeAlias = Callable[[Client, TraceRequest | None, Any], object]
"""Completes an item of an earlier result. The item's ``data`` may name the trace that it is about:
the request is None if it names none, or one that is not open any more. It never waits for a look at
other traces: Emacs stands still until it has the result.
"""
RESOLVE_HANDLERS: dict[str, Resolve] = {}
_Handle = TypeVar("_Handle", bound=Callable[..., object])


def handles(method: str, options: object = None, **more: Any) -> Callable[[_Handle], _Handle]:
    """Declares a function as a :class:`RequestHandler`."""

    def declared(handle: _Handle) -> _Handle:
        HANDLERS.append(RequestHandler(method, handle, options, **more))
        return handle

    return declared


def resolves(method: str) -> Callable[[_Handle], _Handle]:
    """Declares a function as a :data:`Resolve`."""

    def declared(handle: _Handle) -> _Handle:
        RESOLVE_HANDLERS[method] = handle
        return handle

    return declared


OwnHandlers: TypeAlias = dict[str, tuple[type, Callable[[Any], object]]]
"""Handlers of the extension's own requests by their methods, with the types of the params."""


class Services(NamedTuple):
    """What handlers work with."""

    protocol: TraceProtocol
    runs: WorkspaceRuns
    following: Following
    settings: client_settings.ClientSettings
    linting: Linting
    publisher: Publisher


class Handlers:
    """Handles some methods or commands."""

    def __init__(self, services: Services) -> None:
        self._protocol, self._runs, self._following = services[:3]
        self._settings, self._linting, self._publisher = services[3:]

    def request(self, uri: object) -> TraceRequest | None:
        """A request about a trace; None if the trace is not open."""
        trace = self._runs.open.get(uri) if isinstance(uri, str) else None
        if trace is None:
            return None
        client, settings = self._protocol.client, self._settings.now
        return TraceRequest(trace, client, settings, self._runs, self._following, trace.edits)


class Responder(Handlers):
    """Responds to requests about open traces."""

    def respond(self, handler: RequestHandler, params: Any) -> object:
        """The result of a request, or a coroutine that returns it."""
        request = self.request(params.text_document.uri)
        if request is None:
            return handler.if_closed

        make = partial(handler.handle, request, params)
        waits = handler.shows_other_traces and self._following.is_due(handler.method)
        if self._runs.open.takes_long(request.trace):
            return self._made_in_thread(request, make, waits=waits)
        # Made at once also where it waits: a change may come before a task begins.
        made = make()
        return self._made_after_look(request, made, make) if waits else made

    def resolve(self, handle: Resolve, item: Any) -> object:
        """A completed item, or a coroutine that returns it."""
        uri = item.data.get("uri") if isinstance(item.data, dict) else None
        request = self.request(uri)
        make = partial(handle, self._protocol.client, request, item)
        if request is not None and self._runs.open.takes_long(request.trace):
            return self._made_in_thread(request, make)
        return make()

    async def _made_in_thread(
        self, request: TraceRequest, make: Callable[[], object], *, waits: bool = False
    ) -> object:
        if waits:
            await self._following.fresh()
        request.check_unchanged()
        made = await request.result_of(make)
        return await made if isawaitable(made) else made

    async def _made_after_look(
        self, request: TraceRequest, before: object, make: Callable[[], object]
    ) -> object:
        await self._following.fresh()
        return make() if request.trace.edits == request.edits else before


def refusal(reason: str) -> JsonRpcException:
    """The error of a request that was understood and cannot be carried out."""
    return JsonRpcException(reason, types.LSPErrorCodes.RequestFailed)


def done(outcome: Result | CannotMake | Refused | Problem) -> Result:
    """What came of some work. Raises its reason as an error if nothing did."""
    match outcome:
        case CannotMake(reason) | Problem(message=reason):
            raise refusal(reason)
        case Refused(reasons):
            raise refusal("; ".join(reasons))
        case _:
            return outcome


async def show_document(protocol: TraceProtocol, uri: str) -> bool:
    """Let the client show a file, or a page of the web. Gives whether it did."""
    is_web = uri.startswith("http")
    params = types.ShowDocumentParams(uri=uri, external=is_web, take_focus=True)
    response = await protocol.request(types.WINDOW_SHOW_DOCUMENT, params)
    return response is not None and says_yes(response.result, "success")


def says_yes(result: object, member: str) -> bool:
    """Whether a result, which is untrusted, says that it was done."""
    return isinstance(result, dict) and bool(result.get(member))
