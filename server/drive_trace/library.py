"""The Python API: ``read``, ``score``, ``compare`` and ``TraceEvent`` of :mod:`drive_trace`.

``docs/python-api.md`` documents it. Importing ``drive_trace`` alone does not load this module.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

from drive_trace.analysis import Analysis
from drive_trace.comparison.answer import MARGIN, Comparison, CostRule
from drive_trace.comparison.answer import compare as compare_sides
from drive_trace.comparison.comparability import allowed_of
from drive_trace.comparison.runs import TIMES
from drive_trace.scorecard.card import ScoreCard
from drive_trace.scorecard.card import score as join
from drive_trace.scorecard.caveats import Unread
from drive_trace.scorecard.scoring import ScoredTrace, TraceSummary
from drive_trace.storage.compared_sides import read_case_file, read_prices, read_sides
from drive_trace.storage.files import LeftOut, Problem, TraceRecords, read_trace, with_judgements
from drive_trace.storage.finding import SearchOptions, find_traces, omitted
from drive_trace.storage.other_files import among, traces_beside
from drive_trace.text.wording import shown
from drive_trace.trace.line import REJECTING, LineStatus, name_of
from drive_trace.trace.reading import read_lines, values_of

if TYPE_CHECKING:  # it loads pydantic, which nothing here needs
    from drive_trace.vocabulary.declared import TraceEvent

T = TypeVar("T")
AnyPath = str | os.PathLike[str]


class UnreadableError(Exception):
    """A trace cannot be read; the message is one sentence that names it."""


class InvalidLine(NamedTuple):
    """A line that readers of traces reject."""

    number: int
    """From 1."""
    text: str
    reasons: tuple[str, ...]
    """A sentence for each problem."""


class UnknownLine(NamedTuple):
    """A line whose event type is outside the vocabulary: readers keep it apart."""

    number: int
    """From 1."""
    event_type: str


class TraceFile(NamedTuple):
    """The lines of a trace, as readers of traces read them."""

    events: tuple[TraceEvent, ...]
    """The valid events in the order of the file, without fields that are not declared."""
    invalid_lines: tuple[InvalidLine, ...]
    unknown_lines: tuple[UnknownLine, ...]


def read(path: AnyPath) -> TraceFile:
    """Read a trace, as readers of traces do: a line that they reject costs nothing but itself.
    Raises UnreadableError where there is no such file, or it cannot be read.
    """
    trace = _usable(read_trace(os.fspath(path)))
    lines = list(enumerate(read_lines(trace.records), 1))
    rejected = [(number, line.text) for number, line in lines if line.is_rejected]
    reasons = _reasons([text for _, text in rejected])
    return TraceFile(
        tuple(cast("Any", values_of(line)) for _, line in lines if line.event is not None),
        tuple(InvalidLine(*each, why) for each, why in zip(rejected, reasons, strict=True)),
        tuple(
            UnknownLine(number, name_of(line) or "")
            for number, line in lines
            if line.status is LineStatus.UNKNOWN
        ),
    )


def _usable(outcome: T | Problem) -> T:
    if isinstance(outcome, Problem):
        raise UnreadableError(outcome.message)
    return outcome


def _reasons(texts: list[str]) -> list[tuple[str, ...]]:
    """Why each of some records is rejected, in the words of the rules."""
    analysis = Analysis([*texts, ""])
    return [
        tuple(
            analysis.message(finding.message)
            for finding in analysis.findings_of(line)
            if finding.diagnostic is not None and finding.diagnostic.kind in REJECTING
        )
        for line in analysis.document.lines[: len(texts)]
    ]


def score(*paths: AnyPath, no_ignore: bool = False, exclude: Collection[str] = ()) -> ScoreCard:
    """Judge the runs of one or several traces, joined by their run id, as ``drive-trace score``
    does: over all files of their repositories that hold them. A folder is searched for traces; with
    ``no_ignore`` also where git ignores files, and never for those that ``exclude`` means, patterns
    as in a .gitignore. Raises nothing for what cannot be read: the scorecard's ``unread`` names it,
    and no run is earned.
    """
    named, options = [os.fspath(path) for path in paths], SearchOptions(no_ignore, tuple(exclude))
    unread: list[Unread] = []
    left_out: list[LeftOut] = []

    def scored(found: Iterable[TraceRecords | Problem]) -> Iterator[TraceSummary]:
        for trace in found:
            if isinstance(trace, LeftOut):
                left_out.append(trace)
            elif isinstance(trace, Problem):
                unread.append(Unread(trace.path, trace.reason))
            else:
                path, records, provenance, found_at = trace
                summary = ScoredTrace(records, path, provenance).summary()
                yield with_judgements(summary, found_at)

    traces = list(scored(_found(named, options)))
    run_ids = {run.run_id for each in traces for run in each.runs}
    beside = traces_beside(named, [each.path for each in traces], lambda: run_ids, options)
    traces = among(traces, scored(beside), lambda each: each.path)
    return join(traces, unread, omitted(left_out), only=run_ids)


def _found(paths: list[str], options: SearchOptions) -> Iterator[TraceRecords | Problem]:
    for found in find_traces(paths, options=options):
        yield read_trace(found) if isinstance(found, str) else found


def compare(  # noqa: PLR0913 - one for each option
    baseline: AnyPath | Iterable[AnyPath],
    candidate: AnyPath | Iterable[AnyPath],
    *,
    cases: AnyPath | None = None,
    allow_unverified: str | Collection[str] = (),
    no_ignore: bool = False,
    exclude: Collection[str] = (),
    prices: AnyPath | None = None,
    margin: float = MARGIN,
    time: str = "working",
) -> Comparison:
    """Say whether the candidate's runs are better than the baseline's, as ``drive-trace compare``
    does. ``cases`` is a file that names the case of each run, and ``allow_unverified`` has the
    names of what may be unknown, or is a name or ``"all"``. ``prices``, ``margin`` and ``time`` are
    as the options. Inputs that cannot be read make the sides not comparable. Raises UnreadableError
    for ``cases``, also where one fits no run, for ``prices``, and for a side of more than 1,000
    runs; ValueError for a name of ``allow_unverified`` or a ``time`` that means nothing.
    """
    allowed, options = allowed_of(allow_unverified), SearchOptions(no_ignore, tuple(exclude))
    case_file = _usable(read_case_file(os.fspath(cases))) if cases is not None else None
    priced = _usable(read_prices(None if prices is None else os.fspath(prices)))
    if time not in TIMES:
        raise ValueError(f"{shown(time)} is none of {', '.join(TIMES)}")

    given = {}
    for name, side in (("baseline", baseline), ("candidate", candidate)):
        named = [side] if isinstance(side, str | os.PathLike) else side
        paths = [os.fspath(each) for each in named]
        given[name] = (paths, _found(paths, options))
    sides = _usable(read_sides(given, case_file, options, priced))
    _usable(case_file.misfit(sides) if case_file is not None else None)
    return compare_sides(*sides, allowed, CostRule(margin, time))
