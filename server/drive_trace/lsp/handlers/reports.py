"""``driveTrace/run``, ``report`` and ``timeline``: a run over all its files, or a folder's runs."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote, urlsplit

from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams

from drive_trace import __version__
from drive_trace.analysis import Analysis
from drive_trace.features.runs import JoinedRun, graded_json, of_one_file
from drive_trace.linter.settings import RuleSettings
from drive_trace.lsp.handlers import Handlers, OwnHandlers, Services
from drive_trace.lsp.handlers.server_commands import page_of
from drive_trace.lsp.rpc.capabilities import path_of
from drive_trace.lsp.rpc.messages import ReportParams, RunParams
from drive_trace.lsp.rpc.threads import SharedWork, in_thread
from drive_trace.lsp.workspace.closed_traces import MOST_BYTES
from drive_trace.report.event_log import TraceLog
from drive_trace.scorecard.card import ScoreCard
from drive_trace.scorecard.dispatches import events_of
from drive_trace.scorecard.run_score import RunScore, recorded_in
from drive_trace.scorecard.scoring import TraceSummary, score_in
from drive_trace.stopping import unless_stopped
from drive_trace.storage import followed_file, projects
from drive_trace.storage.files import provenance_beside
from drive_trace.trace.index import Index
from drive_trace.trace.line import Line, run_of
from drive_trace.trace.provenance import ProvenanceRecord
from drive_trace.vocabulary import EVENTS, GRADE

if TYPE_CHECKING:
    from drive_trace.report.contents import FullReport, LineFinding

NO_RUN = "there is no such run in the trace"
_PAGES = ("html", "body")
_EXPORTS = ("otlp", "perfetto")
_TIMELINE = "timeline"
_MOST_LOOKED_AT = 20
"""Of so many findings of a rule in a trace, a report asks whether they have a safe fix."""


class _Text(NamedTuple):
    """A trace's text as it was when it was requested."""

    lines: Sequence[Line]
    run: RunScore | None
    """The requested one, in this trace alone; None if the trace does not have it."""
    name: str
    is_divided: bool
    """Whether some record is several lines to the protocol."""
    findings: Sequence[LineFinding] | None
    """Of the requested run, or of all; None if nobody has checked the trace."""
    provenance: ProvenanceRecord | None
    """The record that stands beside it, as it was looked at last."""

    def starts(self) -> list[int] | None:
        """The line of each record in the protocol, from 0; None where all are what they seem."""
        if not self.is_divided:
            return None
        # In front of the record's last character, as a `\r` there ends the line with the record.
        counts = (1 + line.text.count("\r", 0, -1) for line in self.lines)
        return list(accumulate(counts, initial=0))


class Reports(Handlers):
    """Handles these requests. They take turns, as each may read all files of a folder."""

    def __init__(self, services: Services) -> None:
        super().__init__(services)
        self._shared: SharedWork[Any] = SharedWork()
        self.handlers: OwnHandlers = {
            "driveTrace/run": (RunParams, self._run),
            "driveTrace/report": (ReportParams, self._report),
            "driveTrace/timeline": (RunParams, self._timeline),
        }

    async def _run(self, params: RunParams) -> dict[str, object]:
        text, joined = await self._joined(params.uri, params.run_id)
        grades = (
            recorded_in(line)
            for line in text.lines
            if line.event is EVENTS[GRADE] and run_of(line) == params.run_id
        )
        return graded_json(joined, list(grades))

    async def _report(self, params: ReportParams) -> object:
        formats = _PAGES if params.run_id is None else (*_PAGES, *_EXPORTS)
        if params.format not in formats:
            raise JsonRpcInvalidParams(f"the format of a report is one of {', '.join(formats)}")
        return await self._made(params)

    async def _timeline(self, params: RunParams) -> object:
        return await self._made(ReportParams(params.uri, params.run_id, _TIMELINE))

    async def _made(self, params: ReportParams) -> object:
        self._publisher.has_views = True
        run_id = params.run_id
        report = self._page_of_all if run_id is None else partial(self._report_on_run, run_id)
        return await self._shared.result_of(params, lambda: report(params))

    async def _report_on_run(self, run_id: str, params: ReportParams) -> dict[str, object]:
        text, joined = await self._joined(params.uri, run_id)
        texts = {
            uri: text if uri == joined.own_uri else await self._text_of(uri, run_id)
            for uri in joined.uris
        }

        def rendered() -> dict[str, object]:
            report = _report(texts, [_log(each) for each in texts.values()])
            report = report._replace(card=report.card._replace(runs=(joined.run,)))
            return _rendered(params.format, report, joined.title, texts)

        return await in_thread(rendered)

    async def _page_of_all(self, params: ReportParams) -> dict[str, object]:
        """The page of the runs of a folder, as these may stand in any of its traces."""
        await self._following.known()
        await self._text_of(params.uri, None)  # which may be of no folder
        folder = self._runs.folder_of(params.uri)
        return await self._runs.open.readers.read_anew(lambda: self._page(folder, params))

    def _page(self, folder: Path | None, params: ReportParams) -> dict[str, object]:
        # Nothing else needs these, and they take a moment to load.
        from drive_trace.fleet.page import TITLE, Fleet, fleet_body, fleet_html  # noqa: PLC0415
        from drive_trace.report.fleet import FleetSummary, row_of  # noqa: PLC0415
        from drive_trace.report.html import STYLE  # noqa: PLC0415

        unread, left_out = self._runs.unread(folder), self._runs.left_out(folder)
        card, every = ScoreCard((), (), (*unread,), left_out), self._runs.all_runs()
        own = (
            run
            for run in every
            if run.folder == folder and (folder is not None or run.parts[0].uri == params.uri)
        )
        summary = FleetSummary(has_findings=True)  # they are in the reports of the runs
        rows, files = [], list[dict[str, object]]()
        for _, (score, _, uris, *_) in self._runs.judged(own):
            rows.append(row_of(score, projects.project_of(score.parts[0].path), None))
            summary.add(rows[-1])
            files.append({"uri": uris[0], "starts": None, "runId": score.run_id})
        paths = {str(each["runId"]): path_of(str(each["uri"])) for each in files}
        known = {run_id: str(path) for run_id, path in paths.items() if path is not None}
        count = len({name for row in rows for name in row.files})
        made = Fleet(rows, summary, count, card, known)
        if params.format == "html":
            return {"title": TITLE, "html": fleet_html(made, f"drive-trace {__version__}")}
        return {"title": TITLE, "body": fleet_body(made), "style": STYLE, "files": files}

    async def content(
        self, params: types.TextDocumentContentParams
    ) -> types.TextDocumentContentResult:
        """The page of a run as a document."""
        try:
            uri, run_id = json.loads(unquote(urlsplit(params.uri).query))
            text, joined = await self._joined(str(uri), str(run_id))
        except (ValueError, TypeError) as error:
            raise JsonRpcInvalidParams("there is no such document") from error
        return types.TextDocumentContentResult(await in_thread(page_of, joined, text.lines))

    # The traces

    async def _joined(self, uri: str, run_id: str) -> tuple[_Text, JoinedRun]:
        """The text of a trace, and a run of it over all its files, once these are known."""
        await self._following.known()
        text = await self._text_of(uri, run_id)
        if text.run is None:
            raise JsonRpcInvalidParams(NO_RUN)
        trace, path = self._runs.open.get(uri), path_of(uri)
        if trace is not None:
            uri = trace.uri
        elif path is not None:
            uri = path.as_uri()
        joined = self._runs.joined(run_id, uri)
        return text, joined or of_one_file(text.run, uri)

    async def _text_of(self, uri: str, run_id: str | None) -> _Text:
        """A trace as it is open now, else as it is on disk."""
        text = await self._text_if_there(uri, run_id)
        if text is None:
            raise JsonRpcInvalidParams("there is no such trace in the workspace that can be read")
        return text

    async def _text_if_there(self, uri: str, run_id: str | None) -> _Text | None:
        path = path_of(uri)
        name = self._runs.closed.folders.name_of(path) if path is not None else uri
        trace = self._runs.open.get(uri)
        if trace is not None:
            return await self._runs.open.readers.read_anew(
                lambda: _text(trace.analysis, run_id, name, checks=True)
            )
        if path is None:
            return None
        if self._following.is_trace(uri):
            (rules,) = await self._linting.rules_now([path])
            return await in_thread(self._closed_text, path, run_id, name, rules)
        if self._runs.open.has_seen(uri):
            return await in_thread(_text_outside, path, run_id, name)
        return None

    def _closed_text(
        self, path: Path, run_id: str | None, name: str, rules: RuleSettings
    ) -> _Text | None:
        closed = self._runs.closed
        if not closed.has(path):  # as where a link leads out of the workspace
            return None
        return closed.ask(path, lambda analysis: _text(analysis, run_id, name, checks=True), rules)


def _text_outside(path: Path, run_id: str | None, name: str) -> _Text | None:
    """A trace that is no part of the workspace, and is not kept for that reason."""
    provenance = provenance_beside(str(path))
    records = followed_file.FollowedFile(path, MOST_BYTES).look(anew=True)
    if not isinstance(records, list):
        return None
    return _text(Analysis(records, path=str(path), provenance=provenance), run_id, name)


def _text(analysis: Analysis, run_id: str | None, name: str, *, checks: bool = False) -> _Text:
    run = score_in(analysis.index, run_id, name) if run_id is not None else None
    found = _found(analysis, run_id, name) if checks else None
    # A copy, as typing goes on while threads work with it.
    lines = tuple(analysis.document.lines)
    return _Text(lines, run, name, analysis.document.is_divided, found, analysis.index.provenance)


def _found(analysis: Analysis, run_id: str | None, name: str) -> Sequence[LineFinding]:
    """What the rules find in a trace, or in a run of it. What is on lines of no run belongs to the
    run where it is the only one.
    """
    from drive_trace.report.contents import LineFinding  # noqa: PLC0415 - as below

    runs = {*analysis.index.runs, *analysis.index.uncounted}
    wanted = {None, run_id} if runs <= {run_id} else {run_id}
    found: list[LineFinding] = []
    looked: Counter[str] = Counter()
    for each in unless_stopped(analysis.findings()):
        if run_id is None or run_of(each.line) in wanted:
            number = analysis.line_number(each.line)
            severity, message = analysis.severity_of(each), analysis.message(each.message)
            code = each.rule.code
            looked[code] += 1
            fixes = analysis.fixes(each) if looked[code] <= _MOST_LOOKED_AT else ()
            is_fixable = any(fix.safe for fix in fixes)
            found.append(LineFinding(name, number, severity.label, code, message, is_fixable))
    return found


# In threads


def _report(texts: Mapping[str, _Text], logs: Sequence[TraceLog]) -> FullReport:
    from drive_trace.report.contents import report_on  # noqa: PLC0415 - as below

    found = {each.name: each.findings for each in texts.values() if each.findings is not None}
    return report_on(logs, findings=found)


def _rendered(
    wanted: str, report: FullReport, title: str, texts: Mapping[str, _Text]
) -> dict[str, object]:
    """A whole page, a body with the traces that its links are numbered by, or the text of a file
    for other viewers.
    """
    # Nothing else needs these, and they take a moment to load.
    from drive_trace.report import export, html  # noqa: PLC0415

    if wanted in _EXPORTS:
        return {"title": title, "text": export.exported(report, wanted, __version__)}
    if wanted == "html":
        return {"title": title, "html": html.report_html(report, f"drive-trace {__version__}")}
    body = html.timeline_body(report) if wanted == _TIMELINE else html.report_body(report)
    files = [{"uri": uri, "starts": text.starts()} for uri, text in texts.items()]
    return {"title": title, "body": body, "style": html.STYLE, "files": files}


def _log(text: _Text) -> TraceLog:
    """The events of the requested run; none if they are gone by now."""
    if text.run is None:
        return TraceLog(TraceSummary(text.name), (), ())
    run_id = text.run.run_id
    events = events_of(text.lines, run_id, text.name, text.provenance)
    rejected = tuple(each.line for each in text.run.rejected)
    # Numbers are those of this copy, as the trace goes on changing.
    copies = (line.copied(order, 0) for order, line in enumerate(text.lines))
    lines = Index(each for each in copies if each.event is not None and each.run == run_id)
    records = [line.text for line in text.lines]
    return TraceLog(TraceSummary(text.name, (text.run,), lines=lines), events, rejected, records)
