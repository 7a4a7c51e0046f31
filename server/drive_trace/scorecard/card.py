"""The scorecard: runs of one or several traces joined by their id, each with its verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import asdict

from drive_trace.json_text import first_string
from drive_trace.scorecard import measures, run_score
from drive_trace.scorecard.caveats import (
    CHANGED,
    ILLEGIBLE,
    NOTHING_OMITTED,
    Caveat,
    CaveatCode,
    LineRef,
    Omitted,
    Unread,
    make_caveat,
)
from drive_trace.scorecard.run_lines import TraceLines, copied_runs, runs_sharing_events
from drive_trace.scorecard.run_score import FileHistory, RunScore, Verdict, standings_in_short
from drive_trace.scorecard.scoring import TraceSummary, among, score_run, without_lines
from drive_trace.text.quick import Frozen
from drive_trace.text.wording import listed, plural
from drive_trace.trace.history import Fate, History, Rewriting
from drive_trace.trace.index import Index
from drive_trace.trace.joined import sharing
from drive_trace.trace.line import RUN_FIELD
from drive_trace.vocabulary import EVENTS, TOKEN_FIELDS

if TYPE_CHECKING:
    from drive_trace.grading.judgements import Gating


NO_RUN_SIGNAL = "no correctness signal was recorded"
NO_RUN_CORRECT = "no run was graded CORRECT"


class ScoreCard(Frozen, frozen=True):
    """All runs of the traces given."""

    runs: tuple[RunScore, ...]
    traces: tuple[TraceSummary, ...]
    unread: tuple[Unread, ...] = ()
    """What could not be read."""
    left_out: Omitted = NOTHING_OMITTED

    @property
    def not_read(self) -> tuple[Unread, ...]:
        """What may hold a part of any run: what could not be read, and what a search missed."""
        return (*self.unread, *self.left_out.missed)

    @property
    def complete(self) -> bool:
        """Whether every input was read."""
        return not self.not_read

    @property
    def all_earned(self) -> bool:
        """Whether there are runs, and each is CORRECT without a caveat that qualifies it."""
        return self.complete and bool(self.runs) and all(run.is_earned for run in self.runs)

    @property
    def headline(self) -> str:
        """All verdicts in a few words: ``1 CORRECT · 1 INCORRECT · 2 not computable``."""
        if not (count := len(self.runs)):
            because = "the traces hold no valid event" if self.traces else "no trace was read"
            if any(run.event_count for trace in self.traces for run in trace.runs):
                because = "no run was looked at"
            return f"No runs: {because}"
        if not self.has_any_correctness_signal:
            none = "none graded yet" if count > 1 else "not graded yet"
            if all(run.gate.uncounted is not None for run in self.runs):
                none = "no valid event"
            return f"not computable: {plural(count, 'run')}, {none}"
        return standings_in_short(Counter(run.standing for run in self.runs))

    @property
    def correct(self) -> tuple[RunScore, ...]:
        """The runs whose efficiency may be shown."""
        return tuple(run for run in self.runs if run.verdict is Verdict.CORRECT)

    @property
    def has_any_correctness_signal(self) -> bool:
        """Whether any run was graded, however incompletely."""
        return any(run.correctness is not None for run in self.runs)

    @property
    def hidden_reason(self) -> str | None:
        """Why there is no Tier 2; None where there is one."""
        if self.correct:
            return None
        return NO_RUN_CORRECT if self.has_any_correctness_signal else NO_RUN_SIGNAL

    @property
    def efficiency(self) -> measures.Efficiency | None:
        """Tier 2 over the CORRECT runs."""
        correct = [run.measured for run in self.correct]
        return measures.together(correct) if correct else None

    @property
    def correct_tokens(self) -> measures.Tokens:
        """The token feed summed over the CORRECT runs."""
        return self.efficiency.tokens if self.efficiency else dict.fromkeys(TOKEN_FIELDS)


def score(
    traces: Sequence[TraceSummary],
    unread: Sequence[Unread] = (),
    left_out: Omitted = NOTHING_OMITTED,
    read_again: Callable[[str], Index | None] = lambda _: None,
    only: Collection[str] | None = None,
) -> ScoreCard:
    """The runs of traces, those in several joined by their id, in first-seen order; those without
    a valid event come last. ``unread`` are the inputs that could not be read: each run may have had
    something in them, and in what a search has left out. So may a file without one line that names
    a run, such as a pointer to a file elsewhere. ``read_again`` gives the lines of a trace, by its
    path, that are not at hand. ``only`` are the ids of the runs that are asked for, if not all are.
    """
    valid = {run.run_id: None for each in traces for run in each.runs if run.event_count}
    files: dict[str, list[TraceSummary]] = {run_id: [] for run_id in valid}
    for trace in traces:
        for run in trace.runs:
            files.setdefault(run.run_id, []).append(trace)
    unread = (*unread, *(Unread(each.path, ILLEGIBLE) for each in traces if each.is_illegible))
    card = ScoreCard((), tuple(each._replace(lines=None) for each in traces), unread, left_out)
    strays = [each for trace in traces for each in trace.strays]
    copied = _between_runs(traces)
    rewritten = [each for each in traces if each.vouched is not None and each.vouched.rewritten]
    scores: dict[str, tuple[RunScore, Sequence[Unread]]] = {
        run.run_id: (run, ()) for trace in traces for run in trace.runs
    }
    scores |= _in_several(traces, read_again)
    runs = tuple(
        among(
            _vouched(run, [*files[run_id], *rewritten]),
            (*card.not_read, *missing),
            strays,
            copied.get(run_id),
            [each.verdicts.get(run_id, ()) for each in files[run_id]],
        )
        for run_id in files
        if only is None or run_id in only
        for run, missing in (scores[run_id],)
    )
    return card._replace(runs=runs)


def _in_several(
    traces: Sequence[TraceSummary], read_again: Callable[[str], Index | None]
) -> Iterator[tuple[str, tuple[RunScore, Sequence[Unread]]]]:
    """The runs in several traces, judged by all their lines, each with the traces whose lines
    are no longer there.
    """
    scores = [{run.run_id: run for run in each.runs} for each in traces]
    for group in sharing(scores):
        several = Counter(run_id for file in group for run_id in scores[file])
        if len(group) == 1:
            continue
        paths = {file: traces[file].path for file in group}
        indexes = {file: traces[file].lines or read_again(paths[file]) for file in group}
        found = [TraceLines(index, paths[file]) for file, index in indexes.items() if index]
        for run_id in (each for each, count in several.items() if count > 1):
            own = [file for file in group if run_id in scores[file]]
            missing = [Unread(paths[file], CHANGED) for file in own if indexes[file] is None]
            yield run_id, (score_run(run_id, found) or scores[own[0]][run_id], missing)


def _between_runs(traces: Sequence[TraceSummary]) -> Mapping[str, str]:
    """By the id of each run that has events of another one, a file of the other."""
    if len(traces) == 1 and traces[0].lines is not None:  # its tables cost less
        return dict.fromkeys(runs_sharing_events(traces[0].lines), traces[0].path)
    return copied_runs([(each.path, without_lines(each).hashes) for each in traces])


# As JSON


def to_json(card: ScoreCard) -> dict[str, object]:
    """The interface of ``score --format json``; the first four keys are the reference's."""
    efficiency = card.efficiency
    return {
        "runs": [run_json(run) for run in card.runs],
        "correct_run_ids": [run.run_id for run in card.correct],
        "correct_tokens": _numbers(card.correct_tokens),
        "has_any_correctness_signal": card.has_any_correctness_signal,
        "version": 1,
        "complete": card.complete,
        **card.left_out.as_json(),
        "unread": [each._asdict() for each in card.unread],
        "efficiency": None if efficiency is None else _efficiency_json(efficiency),
        "efficiency_hidden": card.hidden_reason,
        "files": [
            {
                "path": trace.path,
                "rejected_lines": [rejected.line for rejected in trace.unowned],
                "unknown_lines": list(trace.unknown_lines),
                "lookalike_lines": [
                    {
                        "line": each.line,
                        "event_type": each.event_name or "",
                        "looks_like": each.feed,
                        "run_id": each.run_id,
                    }
                    for each in trace.lookalikes
                ],
            }
            for trace in card.traces
        ],
    }


def run_json(run: RunScore) -> dict[str, Any]:
    """A run as in :func:`to_json`."""
    tokens = measures.tokens_of(run.tokens)
    deciding = run.correctness
    efficiency = run.efficiency
    return {
        "run_id": run.run_id,
        "correctness": None if deciding is None else dict(deciding.values),
        "verdict": str(run.verdict),
        "missing_inputs": list(run.gate.missing),
        "tokens": None if tokens is None else _numbers(tokens),
        "efficiency": None if efficiency is None else _efficiency_json(efficiency),
        "judged": _judged_json(run),
        "decided_by": None if deciding is None else {"path": deciding.path, "line": deciding.line},
        "what_would_change_it": run_score.what_would_change_it(run.gate),
        "caveats": [
            {
                "code": str(each.code),
                "message": each.sentence(),
                "qualifies": each.qualifies,
                "lines": [place._asdict() for place in each.lines],
            }
            for each in run.caveats
        ],
        **({"gates": dict(map(_gate_json, run.gates.items()))} if run.gates else {}),
        "provenance": _provenance_json(run.provenance),
        **({"history": [*map(asdict, run.history)]} if run.history else {}),
        "rejected_lines": [rejected.line for rejected in run.rejected],
        "files": [
            {
                "path": part.path,
                "first_line": part.first_line,
                "events": part.event_count,
                "rejected_lines": [rejected.line for rejected in part.rejected],
            }
            for part in run.parts
        ],
    }


def _provenance_json(found: measures.Provenance) -> dict[str, object] | None:
    if found.origin is None:
        return None
    counts = found._asdict()
    if not found.recorded:  # as where there is no record
        del counts["recorded"], counts["measured"], counts["logged"]
    return {"origin": str(found.origin), "evidence": list(found.evidence), **counts}


def _judged_json(run: RunScore) -> dict[str, object] | None:
    judgement = run.judgement
    if judgement is None:
        return None
    return {
        "model": judgement.judge.model,
        "reported_model": judgement.model,
        "prompt_version": judgement.judge.prompt_version,
        "agreement": judgement.agreement,
        "agreement_interval": judgement.agreement_interval,
        "reasons": len(judgement.reasons),
    }


def _gate_json(found: tuple[str, Gating]) -> tuple[str, dict[str, object]]:
    component, gate = found
    kept = ("outcome", "cases", "failed", "skipped", "stale", "commit", "clean")
    return component, {
        **{key: getattr(gate, key) for key in kept},
        "commands": [[each.command, each.exit_code] for each in gate.commands],
        "reports": [each.path for each in gate.reports],
    }


def _efficiency_json(efficiency: measures.Efficiency) -> dict[str, object]:
    clock, rounds = efficiency.wall_clock, efficiency.rounds
    figures: dict[str, object] = {
        "tokens": _numbers(efficiency.tokens),
        "wall_clock_ms": measures.as_double(clock.ms),
        "wall_clock": {"counted": clock.counted, "of": clock.of, "by_the_clock": clock.clocked},
        "rounds_per_dispatch": rounds.mean,
        "rounds": {"counted": rounds.counted, "of": rounds.of},
    }
    if efficiency.token_runs is not None:
        figures["runs"] = efficiency.runs
        figures["token_runs"] = dict(efficiency.token_runs)
    return figures


def _numbers(tokens: measures.Tokens) -> dict[str, object]:
    return {name: measures.as_double(value) for name, value in tokens.items()}


# What git vouches for of runs, where somebody asks


_CLOCKED = {"project-started", "project-closed"}


class Vouched(NamedTuple):
    """What git vouches for of a trace."""

    file: FileHistory
    rewritten: Sequence[Rewriting]
    runs: frozenset[str | None]
    """The runs that its lines name now."""


def vouched(path: str, history: History, records: Sequence[str]) -> Vouched:
    """What git vouches for of a trace with these records."""
    found, new = tuple(history.rewritings(records)), history.uncommitted(records)
    runs = frozenset(first_string(text, RUN_FIELD) for text in records)
    counts = new, len(found), history.mended
    return Vouched(FileHistory(path, history.since, len(history.commits), *counts), found, runs)


def _vouched(run: RunScore, traces: Sequence[TraceSummary]) -> RunScore:
    """The score of a run with what git vouches for of all traces that were read with it: a line of
    it may have been in any. Those of a run that its file no longer has concern the others there.
    """
    own = {part.path for part in run.parts}
    histories: list[FileHistory] = []
    found: list[tuple[str, Rewriting]] = []
    known = {each.path: each.vouched for each in traces if each.vouched is not None}
    for file, rewritten, runs in known.values():
        is_own = file.path in own
        lines = [
            (file.path, each)
            for each in rewritten
            if run.run_id in each.run_ids or (is_own and runs.isdisjoint(each.run_ids))
        ]
        histories += [file] * bool(lines or is_own)
        found += lines
    if not histories:
        return run
    caveats = (*run.caveats, *_of_rewritten(found))
    return run._replace(history=tuple(histories), caveats=caveats)


def _of_rewritten(found: list[tuple[str, Rewriting]]) -> Iterator[Caveat]:
    if not found:
        return
    # What a verdict or a figure rests on, first.
    found.sort(key=lambda each: not _matters(each[1]))
    counts, first = Counter(each.fate for _, each in found), found[0][1]
    what = listed(f"{plural(counts[fate], 'line')} {fate}" for fate in Fate if counts[fate])
    short, by = f"history rewritten: {what}", first.version.short
    how = f"by commit {by}" if by else "since the last commit"
    others = f"{' the first' * (len(found) > 1)} {how}"
    yield make_caveat(
        CaveatCode.REWRITTEN_HISTORY,
        short,
        f",{others}; put it back as it was recorded (check --history shows it), in",
        holds=_matters(first),
        lines=[
            LineRef(path, each.new + 1)
            for path, each in found
            if each.new is not None and each.now is not None
        ],
        others=[path for path, _ in found],
    )


def _matters(line: Rewriting) -> bool:
    """Whether it was a grade, or a figure is over it, or may be."""
    event = EVENTS.get(first_string(line.text, "event_type") or "")
    is_known = event is not None and not event.is_work and event.name not in _CLOCKED
    return line.is_feed or not is_known
