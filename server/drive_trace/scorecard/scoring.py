"""Judges a run by its lines, in one file or in several. Everything that is said of it follows from
these; :func:`among` adds what is known only when all other files have been read.

Of a trace are kept the scores of its runs, each as if it stood there alone, and what concerns the
runs of other files.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial, reduce
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from drive_trace.json_text import strings_named
from drive_trace.scorecard import finding_caveats, measures
from drive_trace.scorecard.caveats import (
    MOST_STRAYS,
    Caveat,
    CaveatCode,
    Uncounted,
    Unread,
    uncounted_lines,
    uncounted_phrase,
)
from drive_trace.scorecard.finding_caveats import caveats_from_elsewhere, caveats_of_coverage
from drive_trace.scorecard.measures import run_facts
from drive_trace.scorecard.run_lines import RunLines, TraceLines, event_hashes, runs_sharing_events
from drive_trace.scorecard.run_score import RunScore, Verdict, judge
from drive_trace.text.quick import Frozen
from drive_trace.trace.document import Document, Point
from drive_trace.trace.index import Index
from drive_trace.trace.line import LineStatus, run_of, runs_named
from drive_trace.trace.provenance import ProvenanceRecord
from drive_trace.trace.reading import read_lines
from drive_trace.trace.run import Run
from drive_trace.trace.times import moment, sortable
from drive_trace.vocabulary import DISPATCH, GRADE, TOKEN_FIELDS

if TYPE_CHECKING:  # most traces are scored without
    from drive_trace.grading.judgements import Verdicts
    from drive_trace.scorecard.card import Vouched
else:
    Verdicts: TypeAlias = Any
    Vouched: TypeAlias = Any

_PLACES = {
    CaveatCode.UNREAD_INPUT: -4,
    CaveatCode.STALE: -3,
    CaveatCode.CONTRADICTING_GRADES: -2,
    CaveatCode.UNCALIBRATED_JUDGE: -1,
    CaveatCode.PARTIAL_COVERAGE: 1,
}
"""Of the caveats that do not stand where they were found."""


def score_run(run_id: str, files: Iterable[TraceLines]) -> RunScore | None:
    """Judge a run by its lines in all its files; None where none has a line of it."""
    naming = [each for each in files if each.index.names(run_id)]
    if not naming:
        return None
    run = RunLines(run_id, naming)
    rejected = sum(len(part.rejected) for part in run.parts)
    unknown = sum(len(part.unknown) for part in run.parts)
    is_counted = any(run.runs)
    gate = judge(run.correctness, None if is_counted else uncounted_phrase(rejected, unknown))
    started, closed = run.first_ts("project-started"), run.first_ts("project-closed")
    records = [each.index.provenance for each in naming]
    paths = [each.path for each in naming]
    measured = measures.Efficiency(
        measures.tokens_of(run.tokens) or dict.fromkeys(TOKEN_FIELDS),
        measures.wall_clock(run.counted_once, started, closed, [*filter(None, records)]),
        measures.mean_rounds(run.counted_once),
    )
    caveats = list(finding_caveats.caveats_of_lines(run))
    if gate.verdict is Verdict.CORRECT:
        caveats += caveats_of_coverage(measured, run.parts)
    return RunScore(
        run_id,
        run.parts,
        run.correctness,
        run.tokens,
        gate,
        measured,
        _in_order(caveats),
        reduce(measures.Provenance.plus, map(measures.provenance, run.without_copies, records)),
        started,
        closed,
        run_facts(run.counted_once, list(zip(run.without_copies, paths, strict=True))),
        models=_models(run.counted_once),
        gated=_gated(run),
    )


def score_alone(run_id: str, lines: TraceLines) -> RunScore | None:
    """The same by its lines in one file: made once, as each request about the run asks."""
    kept, key = lines.index.kept, (score_alone, run_id, lines.path)
    if key not in kept:
        kept[key] = score_run(run_id, [lines])
    return cast("RunScore | None", kept[key])


def score_in(index: Index, run_id: str, path: str = "") -> RunScore | None:
    """One run's score in one trace; None where the trace has no line of it."""
    lines = TraceLines(index, path)
    run = score_alone(run_id, lines)
    copied = path if run_id in runs_sharing_events(index) else None
    return run and among(run, (), stray_grades(lines), copied)


def _gated(run: RunLines) -> tuple[str, ...]:
    """The components that a gate decided, as the records of where events come from say."""
    entries = (
        record.entry_of(line)
        for own, file in zip(run.runs, run.files, strict=True)
        if (record := file.index.provenance) is not None
        for line in own.events(GRADE)
    )
    return tuple(
        {name for each in entries if each and each.writer == "gate" for name in each.measured}
    )


def _models(run: Run) -> tuple[str, ...]:
    models = {line.fact("model") for line in run.events(DISPATCH.opener)} - {None}
    return tuple(sorted(map(str, models)))


def among(
    run: RunScore,
    unread: Sequence[Unread] = (),
    strays: Sequence[Uncounted] = (),
    copied: str | None = None,
    verdicts: Sequence[Verdicts] = (),
) -> RunScore:
    """A run's score with what is known once all files have been read. ``unread`` are the inputs
    that were not, ``strays`` the lines of all files that may grade any run, ``copied`` is a file in
    which another run has events of this one, and ``verdicts`` are the recorded ones on its intent
    beside each of its files, as a verdict is merged into whatever file of the run is graded next.
    """
    recorded = [each for each in verdicts if each]
    if recorded:
        from drive_trace.grading import judgements  # noqa: PLC0415 - as above

        found = [each for _, each in chain(*recorded)]
        gates = [isinstance(each, judgements.Gating) for each in found if each]
        run = run._replace(
            has_record=not all(gates), was_gated=any(gates), has_unreadable_record=not all(found)
        )
        grade = run.correctness
        if grade is not None:
            run = run._replace(
                judgement=judgements.rests_on(recorded, grade.values["intent"], grade.ts),
                gates=judgements.gates_of(recorded, grade.values, grade.ts),
                failing=judgements.against(recorded, grade.values),
            )
    more = caveats_from_elsewhere(run, unread, strays, copied)
    return run._replace(caveats=_in_order([*run.caveats, *more]))


def _in_order(caveats: Iterable[Caveat]) -> tuple[Caveat, ...]:
    return tuple(sorted(caveats, key=lambda each: _PLACES.get(each.code, 0)))


# A trace in short


class TraceSummary(Frozen, frozen=True):
    """A trace in short."""

    path: str
    runs: tuple[RunScore, ...] = ()
    """Every run that a line names, in the order of their first lines: those with valid events
    before those of which readers count no line.
    """
    unowned: tuple[Uncounted, ...] = ()
    """Rejected lines from which no run can be read."""
    unknown: tuple[Uncounted, ...] = ()
    """All lines of unknown types, in their order."""
    strays: tuple[Uncounted, ...] = ()
    """The latest of the lines that may grade any run."""
    is_illegible: bool = False
    """See :attr:`Index.is_illegible`."""
    verdicts: Mapping[str, Verdicts] = {}
    """By run the recorded ones on its intent, as they stand beside the trace."""
    hashes: Mapping[str, bytes] = {}
    """By run those of its events, where the lines are not at hand."""
    vouched: Vouched | None = None
    """What git vouches for of it, where somebody asks."""
    lines: Index | None = None
    """The lines, where they are at hand. A run in several files is judged by them."""

    @property
    def unknown_lines(self) -> tuple[int, ...]:
        """Their numbers, from 1."""
        return tuple(each.line for each in self.unknown)

    @property
    def lookalikes(self) -> tuple[Uncounted, ...]:
        """Those of them that look like a feed's."""
        return tuple(each for each in self.unknown if each.feed is not None)


def summarize(index: Index, path: str = "") -> TraceSummary:
    """Sum a trace up; ``path`` is how it is called in what is shown."""
    lines = TraceLines(index, path)
    ids = [*(run.run_id for run in index.runs_in_order), *index.uncounted]
    return TraceSummary(
        path,
        tuple(run for run_id in ids if (run := score_run(run_id, [lines])) is not None),
        uncounted_lines(index.rejected.get(None, ())),
        lines.unknown,
        stray_grades(lines),
        index.is_illegible,
        lines=index,
    )


def with_hashes(trace: TraceSummary) -> TraceSummary:
    """A trace by whose events copies in other runs are known."""
    return trace if trace.lines is None else trace._replace(hashes=event_hashes(trace.lines))


def without_lines(trace: TraceSummary) -> TraceSummary:
    """What is kept of a trace when its lines are let go of."""
    return with_hashes(trace)._replace(lines=None)


def stray_grades(lines: TraceLines) -> tuple[Uncounted, ...]:
    """The latest of the lines of a trace that may grade any run."""
    kept = lines.index.kept
    if stray_grades not in kept:  # each run of a folder asks
        kept[stray_grades] = _stray_grades(lines.index)
    return tuple(each._replace(path=lines.path) for each in kept[stray_grades])


def _stray_grades(index: Index) -> Sequence[Uncounted]:
    rejected = index.rejected.get(None, ())
    unknown = (each for each in index.unknown if run_of(each) is None)
    found = [each for each in uncounted_lines(chain(rejected, unknown)) if each.feed == GRADE]
    # What has no moment may be later than all.
    when = sorted(found, key=lambda each: (each.ts is not None and sortable(each.ts)) or "~")
    return when[-MOST_STRAYS:]


# A trace that is read only for its score. That is fast, as no rule runs


class ScoredTrace:
    """What the scorecard needs of a trace. Events can be appended to it."""

    def __init__(
        self,
        records: Sequence[str],
        path: str = "",
        provenance: ProvenanceRecord | None = None,
        *,
        only_score: bool = True,
    ) -> None:
        """Read the records, given without their newlines; ``path`` is shown in messages, and
        ``provenance`` is the record that stands beside them. For other uses than scoring the events
        are read whole.
        """
        self.document = Document(records, partial(read_lines, only_score=only_score))
        self.index = Index(self.document.lines)
        self.index.provenance = provenance
        self.path = path

    @property
    def lines(self) -> TraceLines:
        """Its lines by run."""
        return TraceLines(self.index, self.path)

    def summary(self) -> TraceSummary:
        """The whole trace in short."""
        return summarize(self.index, self.path)

    def append(self, record: str) -> None:
        """Take in an event that was appended, on a line of its own."""
        last = len(self.document.lines) - 1
        text = self.document.lines[last].text
        end = Point(last, len(text))
        splice = self.document.splice(end, end, f"{chr(10) if text else ''}{record}\n")
        named = self.index.remove(self.document.lines[splice.first : splice.stop])
        self.index.renew(named | self.index.add(self.document.apply(splice)))


UNTIMED = datetime.max.replace(tzinfo=UTC)
"""Stands for a moment that nobody knows."""


def last_work(traces: Iterable[ScoredTrace], run_id: str) -> datetime | None:
    """When a run was worked on last; None where it was not. What readers do not count may be work,
    unless it names other runs alone. What has no time is no later than the run's next line that has
    one, and UNTIMED where there is none.
    """
    found: list[datetime] = []
    for trace in traces:
        is_open = False
        for line in trace.document.lines:
            if line.event is not None:
                is_of_run, stamps = line.run == run_id, [line.text_fact("ts")]
            else:
                is_of_run = run_id in line.text or runs_named(line) <= {run_id}
                stamps = [value for value, _ in strings_named(line.text, "ts")]
            if line.status is LineStatus.BLANK or not is_of_run:
                continue
            is_open |= line.event is None or line.event.is_work
            moments = [at for each in stamps if sortable(each) and (at := moment(each))]
            found += moments if is_open else ()
            is_open &= not moments
        found += [UNTIMED] if is_open else ()
    return max(found, default=None)


def work_count(traces: Sequence[ScoredTrace], run_id: str) -> int:
    """How many events of a run are work, each once."""
    run = score_joined(traces, run_id)
    return run.facts.worked if run is not None else 0


def score_joined(
    traces: Sequence[ScoredTrace], run_id: str, verdicts: Sequence[Verdicts] = ()
) -> RunScore | None:
    """One run over several traces, with the ``verdicts`` beside them; None where none has a line of
    it.
    """
    files = [trace.lines for trace in traces]
    run = score_run(run_id, files)
    strays = [each for lines in files for each in stray_grades(lines)]
    return among(run, (), strays, verdicts=verdicts) if run is not None else None
