"""Answers to what editors ask for views of theirs: runs, reports, timelines, events to append."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import accumulate, chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams

from drive_trace import __version__
from drive_trace.analysis import Analysis, events_of_run, read_log
from drive_trace.features.code_actions.offers import CannotMake
from drive_trace.features.next_events import (
    can_append,
    composed_at_end,
    composed_json,
    is_feed,
    next_events_json,
)
from drive_trace.features.raw_json import JsonText, dumps
from drive_trace.features.runs import (
    JoinedRun,
    RunFile,
    graded_json,
    headlines_of,
    of_one_file,
    run_at_json,
    run_json,
    run_near,
)
from drive_trace.features.timeline import timeline_json
from drive_trace.linter.settings import RuleSettings
from drive_trace.lsp.handlers.base import Answering, Asked
from drive_trace.lsp.rpc.capabilities import path_of
from drive_trace.lsp.rpc.messages import (
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
from drive_trace.lsp.rpc.tasks import Turns, in_slices_anew, in_thread
from drive_trace.lsp.workspace.closed_traces import MOST_BYTES
from drive_trace.lsp.workspace.following import Following
from drive_trace.lsp.workspace.judging import Judging
from drive_trace.lsp.workspace.publishing import Publisher
from drive_trace.lsp.workspace.runs import RunPart, WorkspaceRuns
from drive_trace.report.event_log import TraceLog
from drive_trace.scorecard.card import RunScore, ScoreCard, score_run
from drive_trace.scorecard.caveats import Omitted, Unread
from drive_trace.scorecard.copies import LiveEvents
from drive_trace.scorecard.summary import RunSummary, TraceSummary, Unplaced
from drive_trace.storage.followed_file import FollowedFile, Whole
from drive_trace.storage.recording import new_stamp
from drive_trace.tasks import Task, finish, in_batches
from drive_trace.trace.line import Line
from drive_trace.trace.run_index import table_of_ids

if TYPE_CHECKING:
    from drive_trace.report.contents import FullReport

_AT_ONCE = 20
"""So many closed traces are judged in one go; between two, other messages are served."""
_FORMATS = ("html", "body")
_NO_RUN = "there is no such run in the trace"

_Counts = Mapping[str, Mapping[str | None, int]]
"""Findings by a trace's address and a run."""


class _Text(NamedTuple):
    """A trace's text as it was when something was asked."""

    lines: Sequence[Line]
    part: RunSummary | None
    """Of the run that was asked about; None where there is none such."""
    name: str
    is_divided: bool
    """Whether some record is several lines to the protocol."""

    def line_of(self) -> Callable[[int], int]:
        """Gives a record's line in the protocol, from 0, by its number from 1."""
        if not self.is_divided:
            return lambda number: number - 1
        # In front of the record's last character, as a `\r` there ends the line with the record.
        counts = (1 + line.text.count("\r", 0, -1) for line in self.lines)
        starts = list(accumulate(counts, initial=0))
        return lambda number: starts[number - 1]


class Views:
    """The requests of ours, and the notification that what they said may have changed."""

    def __init__(
        self,
        runs: WorkspaceRuns,
        following: Following,
        answering: Answering,
        judging: Judging,
        publisher: Publisher,
    ) -> None:
        self._runs = runs
        self._following = following
        self._asked = answering.asked
        self._judging = judging
        self._publisher = publisher
        self._turns: Turns[Any] = Turns()
        self.handlers: Mapping[str, Callable[[Any], object]] = {
            RUNS: self._all_runs,
            RUN: self._run,
            RUN_AT: self._run_at,
            REPORT: self._report,
            TIMELINE: self._timeline,
            NEXT_EVENTS: self._next_events,
            COMPOSE_EVENT: self._compose_event,
        }

    # Runs

    async def _all_runs(self, _: RunsParams) -> object:
        self._publisher.has_views = True
        return await self._turns.take(RUNS, self._runs_now)

    async def _runs_now(self) -> JsonText:
        await self._following.known()
        counts = await self._count_closed()
        return await in_slices_anew(self._runs.open, lambda: self._runs_json(counts))

    async def _count_closed(self) -> _Counts:
        """The findings of traces that are not open."""
        is_open = self._runs.open_reals()
        seen = self._runs.closed.seen()
        uris = {
            each.real: each.path.as_uri()
            for each in seen
            if each.parts and each.real not in is_open
        }
        reals = list(uris)
        counts: _Counts = {}
        for start in range(0, len(reals), _AT_ONCE):
            some = reals[start : start + _AT_ONCE]
            of_some = [uris[real] for real in some]
            asked = list(zip(some, of_some, await self._judging.rules_now(of_some), strict=True))
            counts = {**counts, **await in_thread(self._counts_of, asked)}
        return counts

    def _counts_of(self, asked: Iterable[tuple[str, str, RuleSettings]]) -> _Counts:
        count = self._runs.closed.findings_by_run
        return {uri: count(real, rules) for real, uri, rules in asked}

    def _runs_json(self, closed: _Counts) -> Task[JsonText]:
        runs = yield from self._runs.all_runs()
        counts = dict(closed)
        opened = {part.uri: part.trace for run in runs for part in run.parts}
        for uri, trace in opened.items():
            if trace is not None:
                counts[uri] = yield from trace.findings_by_run()
        found: list[bytes] = []
        scores: list[RunScore] = []
        folders = self._runs.closed.folders.folders
        waiting = {each: self._runs.waiting(each) for each in (*folders, None)}
        unreadable = {each: self._runs.unread(each) for each in (*folders, None)}
        unplaced: dict[Path | None, Sequence[Unplaced]] = {None: ()}
        for each in folders:
            unplaced[each] = yield from self._runs.unplaced(each)
        for batch in in_batches(runs):
            for folder, parts in batch:
                run = score_run(
                    [each.part for each in parts],
                    unreadable.get(folder, ()),
                    unplaced[folder],
                )
                scores.append(run)
                uris = [each.uri for each in parts]
                said = JoinedRun(run, None, uris, "", waiting.get(folder, 0))
                name = folder.name if folder is not None and len(folders) > 1 else None
                found.append(dumps(run_json(said, name, _files(parts, counts))))
            yield
        unread = sum(count or 0 for count in waiting.values())
        card = ScoreCard(tuple(scores), (), tuple(chain(*unreadable.values())))
        said_of_all = dumps([*headlines_of(card, is_final=unread == 0)])
        members = b",".join(found), unread, said_of_all
        return JsonText(b'{"runs":[%b],"unread":%d,"summary":%b}' % members)

    def _run_at(self, params: types.TextDocumentPositionParams) -> object:
        self._publisher.has_views = True
        asked = self._asked(params.text_document.uri)
        if asked is None:
            return None
        run_id = run_near(asked.analysis, asked.point(params.position))
        if run_id is None:
            return None
        return in_slices_anew(self._runs.open, lambda: self._run_at_json(asked, run_id))

    def _run_at_json(self, asked: Asked, run_id: str) -> Task[dict[str, object] | None]:
        part = yield from asked.analysis.summing_up_run(run_id)
        if part is None:
            return None
        joined = yield from self._runs.joining(run_id, asked.trace.uri)
        said = joined or of_one_file(score_run([part]), asked.trace.uri)
        return run_at_json(said, asked.client.hover_format)

    async def _run(self, params: RunParams) -> dict[str, object]:
        return graded_json((await self._joined(params.uri, params.run_id))[1])

    async def _joined(self, uri: str, run_id: str) -> tuple[_Text, JoinedRun]:
        """The text of a trace, and a run of it over all its files, once these are known."""
        await self._following.known()
        text = await self._text_of(uri, run_id)
        part = text.part
        if part is None:
            raise JsonRpcInvalidParams(_NO_RUN)
        trace, path = self._runs.open.get(uri), path_of(uri)
        if trace is not None:
            uri = trace.uri
        elif path is not None:
            uri = path.as_uri()
        look = partial(self._runs.joining, part.run_id, uri)
        said = await in_slices_anew(self._runs.open, look)
        return text, said or of_one_file(score_run([part]), uri)

    # Reports and timelines

    async def _report(self, params: ReportParams) -> object:
        self._publisher.has_views = True
        if params.format not in _FORMATS:
            raise JsonRpcInvalidParams(f"the format of a report is one of {', '.join(_FORMATS)}")
        return await self._turns.take((REPORT, params), lambda: self._report_now(params))

    async def _report_now(self, params: ReportParams) -> dict[str, object]:
        run_id = params.run_id
        if run_id is None:
            return await self._report_on_all(params)
        text, said = await self._joined(params.uri, run_id)
        texts = [
            text if uri == said.own_uri else await self._text_of(uri, run_id) for uri in said.uris
        ]
        return await in_thread(lambda: _rendered(params, _report_on_run(texts, said), said.title))

    async def _report_on_all(self, params: ReportParams) -> dict[str, object]:
        """The report on all traces of a folder, as its runs may stand in any of them."""
        await self._following.known()
        await self._text_of(params.uri, None)  # which may be of no folder
        folder = self._runs.folder_of(params.uri)
        logs = []
        for uri in self._runs.uris_of(folder) if folder is not None else [params.uri]:
            text = await self._text_if_there(uri, None)
            if text is not None:
                texts = [line.text for line in text.lines]
                logs.append(await in_thread(read_log, texts, text.name))
        unread, left_out = self._runs.unread(folder), self._runs.closed.folders.left_out_in(folder)
        return await in_thread(_rendered_on_all, params, logs, unread, left_out)

    async def _timeline(self, params: RunParams) -> object:
        self._publisher.has_views = True
        return await self._turns.take((TIMELINE, params), lambda: self._timeline_now(params))

    async def _timeline_now(self, params: RunParams) -> JsonText:
        return await in_thread(_timeline, *await self._joined(params.uri, params.run_id))

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
            return await in_slices_anew(trace, lambda: _text(trace.analysis, run_id, name))
        if path is None:
            return None
        if self._following.is_trace(uri):
            return await in_thread(self._closed_text, path, run_id, name)
        if self._runs.open.has_seen(uri):
            return await in_thread(_text_outside, path, run_id, name)
        return None

    def _closed_text(self, path: Path, run_id: str | None, name: str) -> _Text | None:
        closed = self._runs.closed
        if not closed.has(path):  # as where a link leads out of the workspace
            return None
        return closed.ask(path, lambda analysis: finish(_text(analysis, run_id, name)))

    # Events to append

    def _next_events(self, params: NextEventsParams) -> dict[str, object] | None:
        asked = self._asked_of_run(params.uri, params.run_id)
        if asked is None:
            return None
        return next_events_json(asked.analysis, params.run_id, new_stamp())

    async def _compose_event(self, params: ComposeEventParams) -> dict[str, object] | None:
        if is_feed(params.event):
            await self._following.settled()
        asked = self._asked_of_run(params.uri, params.run_id)
        if asked is None:
            return None
        chosen = params.run_id, params.event, params.kind
        made = composed_at_end(asked.analysis, *chosen, new_stamp(), asked.joined)
        if isinstance(made, CannotMake):
            raise JsonRpcException(made.reason, types.LSPErrorCodes.RequestFailed)
        if made is None:
            raise JsonRpcInvalidParams("there is no such event, or no such kind of it")
        version = asked.trace.version
        return {"version": version, **composed_json(asked.analysis, made, asked.encoding)}

    def _asked_of_run(self, uri: str, run_id: str | None) -> Asked | None:
        asked = self._asked(uri)
        if asked is not None and run_id is not None and not can_append(asked.analysis, run_id):
            raise JsonRpcInvalidParams(_NO_RUN)
        return asked


def _text_outside(path: Path, run_id: str | None, name: str) -> _Text | None:
    """A trace that is no part of the workspace, and is not kept for that reason."""
    news = FollowedFile(path, MOST_BYTES).look(anew=True)
    if not isinstance(news, Whole):
        return None
    return finish(_text(Analysis(news.records, path=str(path)), run_id, name))


def _files(parts: Sequence[RunPart], counts: _Counts) -> list[RunFile]:
    files = []
    for uri, part, trace in parts:
        record = part.first_line - 1
        line = record if trace is None else trace.analysis.document.protocol_line(record)
        findings = counts.get(uri, {}).get(part.run_id, 0)
        grade = dict(part.correctness.values) if part.correctness is not None else None
        files.append(RunFile(uri, part.path, line, part.event_count, findings, grade))
    return files


def _text(analysis: Analysis, run_id: str | None, name: str) -> Task[_Text]:
    part = (yield from analysis.summing_up_run(run_id, name)) if run_id is not None else None
    # Typing goes on while others work with it.
    return _Text(tuple(analysis.document.lines), part, name, analysis.document.is_divided)


def _report_on_run(texts: Sequence[_Text], said: JoinedRun) -> FullReport:
    from drive_trace.report.contents import report_on  # noqa: PLC0415 - takes a moment to load

    report = report_on([_log(each) for each in texts])
    return report._replace(card=report.card._replace(runs=(said.run,)))


def _rendered_on_all(
    params: ReportParams, logs: Sequence[TraceLog], unread: Sequence[Unread], left_out: Omitted
) -> dict[str, object]:
    from drive_trace.report.contents import report_on  # noqa: PLC0415 - as above

    report = report_on(logs, unread, left_out)
    return _rendered(params, report, report.card.headline)


def _rendered(params: ReportParams, report: FullReport, title: str) -> dict[str, object]:
    # Nothing else needs these; they take a moment to load.
    from drive_trace.report.html import (  # noqa: PLC0415
        STYLE,
        report_body,
        report_html,
    )

    if params.format == "html":
        return {"title": title, "html": report_html(report, f"drive-trace {__version__}")}
    return {"title": title, "body": report_body(report), "style": STYLE}


def _log(text: _Text) -> TraceLog:
    """The events of the run that was asked about; none where they are gone meanwhile."""
    if text.part is None:
        return TraceLog(TraceSummary(text.name, (), (), ()), (), ())
    events = events_of_run(text.lines, text.part.run_id, text.name)
    rejected = tuple(each.line for each in text.part.rejected)
    # By these lines: the trace goes on changing.
    numbers = {line: number for number, line in enumerate(text.lines, 1)}
    ids = table_of_ids(each for each in text.lines if each.event and each.run == text.part.run_id)
    part = text.part._replace(events=LiveEvents(lambda: ids, numbers.__getitem__))
    return TraceLog(TraceSummary(text.name, (part,), (), ()), events, rejected)


def _timeline(text: _Text, said: JoinedRun) -> JsonText:
    run_id = said.run.run_id
    lanes = timeline_json(run_id, events_of_run(text.lines, run_id), text.line_of())
    return JsonText(dumps({**lanes, "title": said.title}))
