"""For an editor's views: ``driveTrace/runs``, ``runAt``, ``nextEvents``, ``composeEvent``,
``events``, ``event`` and ``compare``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams

from drive_trace.features import events, new_events, results
from drive_trace.features.runs import RunFile, headlines_of, run_at_json, run_near
from drive_trace.lsp.handlers import Handlers, OwnHandlers, Services, TraceRequest, done, reports
from drive_trace.lsp.rpc import capabilities, messages
from drive_trace.lsp.rpc.threads import SharedWork, in_thread
from drive_trace.lsp.workspace.closed_traces import real_path
from drive_trace.lsp.workspace.runs import RunPart, beside_of
from drive_trace.scorecard.card import ScoreCard
from drive_trace.scorecard.run_score import RunScore
from drive_trace.stopping import unless_stopped
from drive_trace.storage.files import Problem, TraceRecords
from drive_trace.storage.recording import new_stamp
from drive_trace.text.wording import listed
from drive_trace.trace.document import Position

if TYPE_CHECKING:
    from drive_trace.comparison.runs import Side


_Counts = Mapping[str, Mapping[str | None, int] | None]
"""Findings by the URI of a trace and the id of a run; None where they are not known."""


class Views(Handlers):
    """Handles these requests."""

    def __init__(self, services: Services) -> None:
        super().__init__(services)
        self._shared: SharedWork[results.JsonText] = SharedWork()
        self.handlers: OwnHandlers = {
            "driveTrace/runs": (messages.RunsParams, self._all_runs),
            "driveTrace/runAt": (types.TextDocumentPositionParams, self._run_at),
            "driveTrace/nextEvents": (messages.NextEventsParams, self._next_events),
            "driveTrace/composeEvent": (messages.ComposeEventParams, self._compose_event),
            "driveTrace/events": (messages.EventsParams, self._page),
            "driveTrace/event": (messages.EventParams, self._event),
            "driveTrace/compare": (messages.CompareParams, partial(in_thread, self._compared)),
        }

    # Runs

    async def _all_runs(self, params: messages.RunsParams) -> object:
        self._publisher.has_views = True
        if params.again:
            self._runs.closed.counts_findings = True
            await self._following.known()
            await self._following.settled()
        return await self._shared.result_of("runs", self._runs_now)

    async def _runs_now(self) -> results.JsonText:
        await self._following.known()
        counts = await self._count_closed()
        return await self._runs.open.readers.read_anew(lambda: self._runs_json(counts))

    async def _count_closed(self) -> _Counts:
        """The findings of traces that are not open, as far as they are known or counted."""
        closed, is_open = self._runs.closed, self._runs.open_reals()
        seen = (each for each in closed.seen() if each.parts and each.real not in is_open)
        traces = [each for each in seen if closed.may_count(each.real)]
        rules = await self._linting.rules_now([each.path for each in traces])
        besides = [beside_of(self._runs, each.place.uri, each.parts) for each in traces]

        def counts() -> _Counts:
            given = zip(traces, rules, besides, strict=True)
            return {
                trace.place.uri: closed.findings_by_run(trace.real, settings, beside)
                for trace, settings, beside in given
            }

        return await in_thread(counts)

    def _runs_json(self, closed: _Counts) -> results.JsonText:
        runs = [*self._runs.listed()]
        counts = dict(closed)
        opened = {part.uri: part.trace for (_, parts), _ in runs for part in parts}
        for uri, trace in opened.items():
            if trace is not None:
                counts[uri] = trace.analysis.findings_by_run()
        folders = self._runs.closed.folders.folders
        found: list[bytes] = []
        for (folder, parts), run in unless_stopped(runs):
            name = folder.name if folder is not None and len(folders) > 1 else None
            found.append(run.as_json(name, _files(parts, counts)))
        count = sum(self._runs.waiting(each) or 0 for each in folders)
        unread = [each for folder in folders for each in self._runs.not_read(folder)]
        listed = cast("tuple[RunScore, ...]", tuple(run for _, run in runs))  # enough for headlines
        card = ScoreCard(listed, (), tuple(unread))
        summary = results.dumps([*headlines_of(card, is_final=count == 0)])
        members = b",".join(found), count, summary
        return results.JsonText(b'{"runs":[%b],"unread":%d,"summary":%b}' % members)

    def _run_at(self, params: types.TextDocumentPositionParams) -> object:
        self._publisher.has_views = True
        request = self.request(params.text_document.uri)
        if request is None:
            return None
        run_id = run_near(request.analysis, request.point(params.position))
        if run_id is None or not request.analysis.index.names(run_id):
            return None
        joined = self._runs.joined(run_id, request.trace.uri)
        return None if joined is None else run_at_json(joined, request.client.hover_format)

    # Events to append

    def _next_events(self, params: messages.NextEventsParams) -> dict[str, object] | None:
        request = self._request_about_run(params.uri, params.run_id)
        if request is None:
            return None
        return new_events.next_events_json(request.analysis, params.run_id, new_stamp())

    async def _compose_event(self, params: messages.ComposeEventParams) -> dict[str, object] | None:
        if new_events.is_feed(params.event):
            await self._following.settled()
        request = self._request_about_run(params.uri, params.run_id)
        if request is None:
            return None
        chosen = params.run_id, params.event, params.kind
        made = done(
            new_events.composed_at_end(request.analysis, *chosen, new_stamp(), request.joined)
        )
        if made is None:
            raise JsonRpcInvalidParams("there is no such event, or no such kind of it")
        version = request.trace.version
        return {"version": version, **new_events.composed_json(request.view, made)}

    def _request_about_run(self, uri: str, run_id: str | None) -> TraceRequest | None:
        request = self.request(uri)
        if (
            request is not None
            and run_id is not None
            and not new_events.can_append(request.analysis, run_id)
        ):
            raise JsonRpcInvalidParams(reports.NO_RUN)
        return request

    # The lines of an open trace

    async def _page(self, params: messages.EventsParams) -> object:
        self._publisher.has_views = True
        request = self.request(params.uri)
        if request is None:
            return None
        return await request.runs.open.readers.read_anew(
            lambda: events.page_json(request.analysis, params.first)
        )

    def _event(self, params: messages.EventParams) -> object:
        request = self.request(params.uri)
        if request is None or params.line < 0:
            return None
        at = request.analysis.document.point_at(Position(params.line, 0), request.client.encoding)
        return events.event_json(request.analysis, at.record)

    # Two sides of runs

    def _compared(self, params: messages.CompareParams) -> dict[str, object]:
        # Nothing else needs these, and they take a moment to load.
        from drive_trace.comparison.answer import compare  # noqa: PLC0415
        from drive_trace.comparison.comparability import State, allowed_of  # noqa: PLC0415
        from drive_trace.comparison.render import html_body  # noqa: PLC0415
        from drive_trace.report.html import STYLE  # noqa: PLC0415

        try:
            allowed = allowed_of(params.allowed)
        except ValueError as error:
            raise JsonRpcInvalidParams(str(error)) from error
        baseline = self._side("baseline", params.baseline, params.baseline_runs)
        candidate = self._side("candidate", params.candidate, params.candidate_runs)
        found = compare(baseline, candidate, allowed)
        unknown = [each.name for each in found.known if each.state is State.UNVERIFIABLE]
        # The command line's words name an option, which an editor has not.
        known = f"not recorded for all runs, so nobody knows that it is alike: {listed(unknown)}"
        words = f"{known}; “Vouch for It…” compares all the same"
        found = found._replace(
            reasons=tuple(
                each._replace(words=words) if "--allow-unverified" in each.words else each
                for each in found.reasons
            )
        )
        return {
            "answer": str(found.answer),
            "title": found.answer.words,
            "body": html_body(found),
            "style": STYLE,
            "unverified": unknown,
        }

    def _side(self, name: str, uris: Sequence[str], runs: Collection[str] | None) -> Side:
        from drive_trace.storage.compared_sides import read_side  # noqa: PLC0415 - as above

        given = [path for uri in uris if (path := capabilities.path_of(uri)) is not None]
        traces = self._traces(given)
        if not traces:
            raise JsonRpcInvalidParams(f"the {name} has no trace of the workspace")
        side = read_side(name, [*map(str, given)], map(_read, traces), only=runs)
        if isinstance(side, Problem):
            raise JsonRpcInvalidParams(side.message)
        return side

    def _traces(self, given: Sequence[Path]) -> list[Path]:
        """The traces of the workspace that these are, or that are in these folders."""
        wanted = [*map(real_path, given)]
        return [
            Path(path)
            for real, path in self._runs.closed.folders.search().items()
            if any(Path(real).is_relative_to(each) for each in wanted)
        ]


def _files(parts: Sequence[RunPart], counts: _Counts) -> list[RunFile]:
    files = []
    for uri, run, _, _, trace, _ in parts:
        (part,) = run.parts
        record = part.first_line - 1
        line = record if trace is None else trace.analysis.document.protocol_line(record)
        found = counts.get(uri)
        findings = found.get(run.run_id, 0) if found is not None else None
        grade = dict(part.correctness.values) if part.correctness is not None else None
        files.append(RunFile(uri, part.path, line, part.event_count, findings, grade))
    return files


def _read(path: Path) -> TraceRecords | Problem:
    from drive_trace.fleet.kept import read  # noqa: PLC0415 - as above

    trace = read(str(path))
    return trace if isinstance(trace, Problem) else trace[0]
