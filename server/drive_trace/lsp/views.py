"""Answers to what editors ask for views of theirs: runs, reports, timelines, events to append."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams

from drive_trace import __version__
from drive_trace.api import Analysis, events_of_run, read_log
from drive_trace.features.elsewhere import elsewhere_short
from drive_trace.features.json_text import JsonText, dumps
from drive_trace.features.next_events import composed_at_end, composed_json, next_events_json
from drive_trace.features.runs import RunFile, graded_json, run_at_json, run_json, run_near
from drive_trace.features.timeline import timeline_json
from drive_trace.lsp.answers import Asked
from drive_trace.lsp.client import path_of
from drive_trace.lsp.closed_traces import MOST_BYTES
from drive_trace.lsp.following import Following
from drive_trace.lsp.own_messages import (
    CHANGED,
    COMPOSE_EVENT,
    NEXT_EVENTS,
    REPORT,
    RUN,
    RUN_AT,
    RUNS,
    TIMELINE,
    ComposeEventParams,
    NextEventsParams,
    ReportParams,
    RunParams,
    RunsParams,
)
from drive_trace.lsp.protocol import TraceProtocol
from drive_trace.lsp.threads import in_thread
from drive_trace.lsp.trace_folders import real_path
from drive_trace.lsp.workspace_runs import RunPart, WorkspaceRuns
from drive_trace.rules.settings import RuleSettings
from drive_trace.scorecard.card import score_run
from drive_trace.scorecard.events import TraceLog
from drive_trace.scorecard.render import lens_title
from drive_trace.scorecard.summary import RunSummary, TraceSummary
from drive_trace.storage.following import FollowedFile, Whole
from drive_trace.storage.recording import new_stamp
from drive_trace.trace.line import Line

_AT_ONCE = 20
"""So many closed traces are judged in one go; between two, a cancel is noticed."""
_FORMATS = ("html", "body")

Made = TypeVar("Made")
AskedOf = Callable[[str], Asked | None]
RulesFor = Callable[[str], RuleSettings]


class _Text(NamedTuple):
    """A trace's text as it was when something was asked."""

    lines: Sequence[Line]
    part: RunSummary | None
    """Of the run that was asked about; None where there is none such."""
    name: str
    line_of: Callable[[int], int]
    """A record's line in the protocol, from 0, by its number from 1."""


class Views:
    """The requests of ours, and the notification that what they said may have changed."""

    def __init__(
        self,
        protocol: TraceProtocol,
        runs: WorkspaceRuns,
        following: Following,
        asked: AskedOf,
        rules_for: RulesFor,
    ) -> None:
        self._protocol = protocol
        self._runs = runs
        self._following = following
        self._asked = asked
        self._rules_for = rules_for
        self._is_listening = False
        self.handlers: Mapping[str, Callable[[Any], object]] = {
            RUNS: self._all_runs,
            RUN: self._run,
            RUN_AT: self._run_at,
            REPORT: self._report,
            TIMELINE: self._timeline,
            NEXT_EVENTS: self._next_events,
            COMPOSE_EVENT: self._compose_event,
        }

    def changed(self, uri: str | None) -> None:
        """Tell the client that a trace, or those on disk, say something else now. Clients that
        have asked for nothing of this are not told.
        """
        if self._is_listening:
            self._protocol.notify_json(CHANGED, dumps({"uri": uri}))

    # Runs

    async def _all_runs(self, _: RunsParams) -> dict[str, object]:
        self._is_listening = True
        await self._following.known()
        runs = self._runs.all_runs()
        closed = {part.uri for parts in runs for part in parts if part.trace is None}
        counts = await self._count_closed(sorted(closed))
        return {
            "runs": [self._run_json(parts, counts) for parts in runs],
            "unread": self._runs.closed.unread(self._runs.open_reals()),
        }

    async def _count_closed(self, uris: Sequence[str]) -> dict[str, Mapping[str | None, int]]:
        rules = [(uri, self._rules_for(uri)) for uri in uris]
        counts: dict[str, Mapping[str | None, int]] = {}
        for start in range(0, len(rules), _AT_ONCE):
            counts |= await in_thread(self._counts_of, rules[start : start + _AT_ONCE])
        return counts

    def _counts_of(
        self, rules: Iterable[tuple[str, RuleSettings]]
    ) -> dict[str, Mapping[str | None, int]]:
        count = self._runs.closed.findings_by_run
        return {
            uri: count(real_path(path), each)
            for uri, each in rules
            if (path := path_of(uri)) is not None
        }

    def _run_json(
        self, parts: Sequence[RunPart], closed: Mapping[str, Mapping[str | None, int]]
    ) -> dict[str, object]:
        files = []
        for uri, part, trace in parts:
            counts = closed.get(uri, {}) if trace is None else trace.findings_by_run()
            document = trace.analysis.document if trace is not None else None
            record = part.first_line - 1
            line = document.protocol_line(record) if document is not None else record
            findings = counts.get(part.run_id, 0)
            grade = dict(part.correctness.values) if part.correctness is not None else None
            files.append(RunFile(uri, part.path, line, part.event_count, findings, grade))
        return run_json(score_run([each.part for each in parts]), files)

    def _run_at(self, params: types.TextDocumentPositionParams) -> dict[str, object] | None:
        self._is_listening = True
        asked = self._asked(params.text_document.uri)
        if asked is None:
            return None
        run_id = run_near(asked.analysis, asked.point(params.position))
        part = asked.analysis.part_of(run_id) if run_id is not None else None
        if run_id is None or part is None:
            return None
        said = self._runs.elsewhere(run_id, asked.trace.uri)
        return run_at_json(score_run([part]), said, asked.client.hover_format)

    async def _run(self, params: RunParams) -> dict[str, object]:
        return await self._of_trace(params.uri, params.run_id, _graded)

    # Reports and timelines

    async def _report(self, params: ReportParams) -> dict[str, object]:
        self._is_listening = True
        if params.format not in _FORMATS:
            raise JsonRpcInvalidParams(f"the format of a report is one of {', '.join(_FORMATS)}")
        made = await self._of_trace(params.uri, params.run_id, partial(_report, params))
        run_id = params.run_id
        trace = self._runs.open_trace(params.uri)
        uri = trace.uri if trace is not None else params.uri
        said = self._runs.elsewhere(run_id, uri) if run_id is not None else None
        return {**made, "elsewhere": elsewhere_short(said) if said is not None else None}

    async def _timeline(self, params: RunParams) -> JsonText:
        self._is_listening = True
        work = partial(_timeline, params.run_id)
        return await self._of_trace(params.uri, params.run_id, work)

    async def _of_trace(
        self, uri: str, run_id: str | None, work: Callable[[_Text], Made | None]
    ) -> Made:
        """What some work says of a trace: as it is open now, else as it is on disk."""
        path = path_of(uri)
        name = self._runs.closed.folders.name_of(path) if path is not None else uri
        trace = self._runs.open_trace(uri)
        if trace is not None:
            made = await in_thread(work, _text(trace.analysis, run_id, name))
        elif path is not None and self._following.is_trace(uri):
            made = await in_thread(
                self._runs.closed.ask, path, lambda analysis: work(_text(analysis, run_id, name))
            )
        elif path is not None and self._runs.has_seen(uri):
            analysis = await in_thread(_outside, path)
            made = await in_thread(work, _text(analysis, run_id, name)) if analysis else None
        else:
            made = None
        if made is None:
            raise JsonRpcInvalidParams("there is no such trace in the workspace, or no such run")
        return made

    # Events to append

    def _next_events(self, params: NextEventsParams) -> dict[str, object] | None:
        asked = self._asked(params.uri)
        if asked is None:
            return None
        return next_events_json(asked.analysis, params.run_id, new_stamp())

    def _compose_event(self, params: ComposeEventParams) -> dict[str, object] | None:
        asked = self._asked(params.uri)
        if asked is None:
            return None
        chosen = params.run_id, params.event, params.kind
        try:
            made = composed_at_end(asked.analysis, *chosen, new_stamp())
        except KeyError as error:
            raise JsonRpcInvalidParams("there is no such event, or no such kind of it") from error
        version = asked.trace.version
        return {"version": version, **composed_json(asked.analysis, made, asked.encoding)}


def _outside(path: Path) -> Analysis | None:
    """A trace that is no part of the workspace, and is not kept for that reason."""
    news = FollowedFile(path, MOST_BYTES).look(anew=True)
    return Analysis(news.records, path=str(path)) if isinstance(news, Whole) else None


def _text(analysis: Analysis, run_id: str | None, name: str) -> _Text:
    document = analysis.document
    part = analysis.part_of(run_id, name) if run_id is not None else None
    # Typing goes on while others work with it.
    lines = tuple(document.lines)
    if document.protocol_line(len(lines) - 1) == len(lines) - 1:
        return _Text(lines, part, name, _one_less)
    starts = [document.protocol_line(each) for each in range(len(lines))]
    return _Text(lines, part, name, lambda number: starts[number - 1])


def _one_less(number: int) -> int:
    return number - 1


def _report(params: ReportParams, text: _Text) -> dict[str, object] | None:
    # Nothing else needs these; they take a moment to load.
    from drive_trace.scorecard.html.page import report_body, report_html  # noqa: PLC0415
    from drive_trace.scorecard.html.style import STYLE  # noqa: PLC0415
    from drive_trace.scorecard.report import report_on  # noqa: PLC0415

    log = _log(text, params.run_id)
    if log is None:
        return None
    report = report_on([log])
    title = lens_title(report.card.runs[0]) if len(report.card.runs) == 1 else ""
    if params.format == "html":
        return {"title": title, "html": report_html(report, f"drive-trace {__version__}")}
    return {"title": title, "body": report_body(report), "style": STYLE}


def _graded(text: _Text) -> dict[str, object] | None:
    return graded_json(text.part) if text.part is not None else None


def _log(text: _Text, run_id: str | None) -> TraceLog | None:
    if run_id is None:
        return read_log([line.text for line in text.lines], text.name)
    if text.part is None:
        return None
    events = events_of_run(text.lines, run_id, text.name)
    rejected = tuple(each.line for each in text.part.rejected)
    return TraceLog(TraceSummary(text.name, (text.part,), (), ()), events, rejected)


def _timeline(run_id: str, text: _Text) -> JsonText | None:
    if text.part is None:
        return None
    events = events_of_run(text.lines, run_id)
    said = timeline_json(run_id, events, text.line_of)
    return JsonText(dumps({**said, "title": lens_title(score_run([text.part]))}))
