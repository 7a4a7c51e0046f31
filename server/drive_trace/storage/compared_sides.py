"""Reads a side of a comparison: its traces, the records of their judging, and their manifests."""

from __future__ import annotations

from array import array
from collections.abc import Container, Iterable, Sequence
from itertools import chain

from drive_trace.analysis import Analysis, join_all, log_of
from drive_trace.comparison.costs import lost_in
from drive_trace.comparison.runs import RunManifest, Side, SideFile, compared, distinct, facts_of
from drive_trace.report.event_log import TraceLog
from drive_trace.scorecard.card import score
from drive_trace.scorecard.caveats import Unread
from drive_trace.scorecard.scoring import without_lines
from drive_trace.storage.compared_files import CaseFile, manifest_beside
from drive_trace.storage.files import LeftOut, Problem, TraceRecords
from drive_trace.storage.finding import NoTraces, omitted
from drive_trace.storage.judging_records import with_judgements

_MOST_RUNS = 1000


def read_side(
    name: str,
    paths: Sequence[str],
    found: Iterable[TraceRecords | Problem],
    cases: CaseFile | None = None,
    only: Container[str] | None = None,
) -> Side | Problem:
    """The runs of what was found at ``paths``, joined by their ids. What cannot be read stands in
    ``unread``: a trace, its manifest, or a file of which no line names a run. A run that has events
    of one before it is left out, as it is no repetition. A Problem where there are too many runs.
    ``only`` are the ids of the runs that count, if not all do.
    """
    logs: list[TraceLog] = []
    manifests: dict[str, RunManifest] = {}
    unread: list[Unread] = []
    left_out: list[LeftOut] = []
    found_in: dict[str | None, set[str]] = {}
    analyses: list[Analysis] = []
    for each in found:
        if isinstance(each, LeftOut):
            left_out.append(each)
        elif isinstance(each, Problem):
            unread += [] if isinstance(each, NoTraces) else [Unread(*each)]
        else:
            analysis = Analysis(each.records)
            analyses.append(analysis)
            log = log_of(analysis, each.records, each.path)
            logs.append(log._replace(summary=with_judgements(log.summary, each.path), records=()))
            manifest = manifest_beside(each.path)
            if isinstance(manifest, Problem):
                unread.append(Unread(*manifest))
            elif manifest is not None:
                manifests[each.path] = manifest
    join_all([log.path for log in logs], analyses)
    for analysis, log in zip(analyses, logs, strict=True):
        for run_id, codes in (*analysis.findings_by_rule().items(), *lost_in(log.summary)):
            found_in.setdefault(run_id, set()).update(codes)
    omission = omitted(left_out)
    card = score([log.summary for log in logs], unread, omission)
    hashes = [without_lines(log.summary).hashes for log in logs]
    scores = [each for each in card.runs if only is None or each.run_id in only]
    if len(scores) > _MOST_RUNS:
        return Problem("", f"the {name} has more than {_MOST_RUNS:,} runs")
    runs = []
    for run in scores:
        files = [part.path for part in run.parts]
        hashed = [array("Q", each.get(run.run_id, b"")) for each in hashes]
        case = cases.case_of(run.run_id, files) if cases is not None else None
        said = [manifests[each] for each in files if each in manifests]
        found_here = found_in.get(run.run_id, ())
        runs.append(compared(run, said, case, found_here, chain(*hashed)))
    kept, copies = distinct(runs)
    traces = tuple(SideFile(each.path, each.invalid_lines, each.unknown_lines) for each in logs)
    facts = facts_of(logs, [each.score for each in kept])
    return Side(
        name, tuple(paths), tuple(kept), traces, card.unread, omission, tuple(copies), facts
    )
