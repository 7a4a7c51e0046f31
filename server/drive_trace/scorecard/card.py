"""The scorecard: runs of one or several traces joined by their id, each with its verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import reduce
from itertools import chain
from typing import Any, NamedTuple

from drive_trace.scorecard.caveats import NOTHING_OMITTED, Caveat, CaveatCode, Omitted, Unread
from drive_trace.scorecard.copies import copied_runs, overlaps
from drive_trace.scorecard.efficiency import (
    Efficiency,
    Rounds,
    Tokens,
    as_double,
    mean_rounds,
    runs_with,
    tokens_of,
    total_tokens,
    total_wall_clock,
    wall_clock,
)
from drive_trace.scorecard.finding_caveats import caveats_of, caveats_of_coverage
from drive_trace.scorecard.order import latest
from drive_trace.scorecard.provenance import Provenance
from drive_trace.scorecard.summary import (
    Recorded,
    RunSummary,
    TraceSummary,
    Unplaced,
    judged,
    unplaced_grades,
    without_copies,
)
from drive_trace.scorecard.uncounted import Rejected, UnknownEvent, uncounted_phrase
from drive_trace.scorecard.verdict import Gate, Verdict, headline, judge, what_would_change_it
from drive_trace.text.wording import plural
from drive_trace.vocabulary import COST, GRADE, TOKEN_FIELDS

NO_RUN_SIGNAL = "no correctness signal was recorded"
NO_RUN_CORRECT = "no run was graded CORRECT"
QUALIFIED = "qualified"
STANDINGS = {
    str(Verdict.CORRECT): "CORRECT",
    QUALIFIED: "CORRECT with caveats",
    str(Verdict.INCORRECT): "INCORRECT",
    str(Verdict.NOT_COMPUTABLE): "not computable",
}
"""How many runs have each standing is said in these words."""


class RunScore(NamedTuple):
    """One run, judged."""

    run_id: str
    parts: tuple[RunSummary, ...]
    """The run's part in each trace that has it."""
    correctness: Recorded | None
    tokens: Recorded | None
    gate: Gate
    measured: Efficiency
    """What the run cost, whatever its verdict; see :attr:`efficiency`."""
    caveats: tuple[Caveat, ...] = ()
    """Why the verdict or its figures may be worth less than they seem."""
    counted_parts: tuple[RunSummary, ...] = ()
    """The parts, whose sums are over each event once."""
    copied_lines: tuple[frozenset[int], ...] = ()
    """The lines of each part, from 1, whose events an earlier part has; empty if there are none."""

    @property
    def verdict(self) -> Verdict:
        """What the gate says."""
        return self.gate.verdict

    @property
    def qualifying(self) -> tuple[Caveat, ...]:
        """The caveats that could overturn the verdict."""
        return tuple(each for each in self.caveats if each.qualifies)

    @property
    def stale(self) -> Caveat | None:
        """That the run went on after it was graded."""
        return next((each for each in self.caveats if each.code is CaveatCode.STALE), None)

    @property
    def is_earned(self) -> bool:
        """Whether the run is CORRECT, and no caveat qualifies that: only then may it be green."""
        return self.verdict is Verdict.CORRECT and not self.qualifying

    @property
    def standing(self) -> str:
        """For colours and icons: the verdict, or ``qualified`` for a CORRECT that is not earned."""
        if self.verdict is Verdict.CORRECT and not self.is_earned:
            return QUALIFIED
        return str(self.verdict)

    @property
    def word(self) -> str:
        """The headline, without the reason where the verdict is not CORRECT."""
        return self.headline if self.verdict is Verdict.CORRECT else STANDINGS[self.standing]

    @property
    def headline(self) -> str:
        """The verdict in a few words; a CORRECT is followed by what qualifies it."""
        phrase = headline(self.gate)
        if self.verdict is Verdict.CORRECT and self.qualifying:
            return f"{phrase}, but {'; '.join(each.short for each in self.qualifying)}"
        return phrase

    @property
    def efficiency(self) -> Efficiency | None:
        """Tier 2: only a CORRECT run has it."""
        return self.measured if self.verdict is Verdict.CORRECT else None

    @property
    def provenance(self) -> Provenance:
        """How the run's events were written, in all traces together."""
        return reduce(Provenance.plus, (part.provenance for part in self.parts))

    @property
    def rejected(self) -> tuple[Rejected, ...]:
        """The run's rejected lines, trace by trace."""
        return tuple(rejected for part in self.parts for rejected in part.rejected)


class ScoreCard(NamedTuple):
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
            return f"No runs: {because}"
        if not self.has_any_correctness_signal:
            none = "none graded yet" if count > 1 else "not graded yet"
            if all(run.gate.uncounted is not None for run in self.runs):
                none = "no valid event"
            return f"not computable: {plural(count, 'run')}, {none}"
        counts = Counter(run.standing for run in self.runs)
        return " · ".join(
            f"{counts[name]:,} {words}" for name, words in STANDINGS.items() if counts[name]
        )

    @property
    def correct(self) -> tuple[RunScore, ...]:
        """The runs whose efficiency may be shown."""
        return tuple(run for run in self.runs if run.verdict is Verdict.CORRECT)

    @property
    def has_any_correctness_signal(self) -> bool:
        """Whether any run was graded, however incompletely."""
        return any(run.correctness is not None for run in self.runs)

    @property
    def stray_lookalikes(self) -> tuple[UnknownEvent, ...]:
        """Lines of unknown types that look like a feed, and name no run."""
        found = (each for trace in self.traces for each in trace.lookalikes)
        return tuple(each for each in found if each.run_id is None)

    @property
    def hidden_reason(self) -> str | None:
        """Why there is no Tier 2; None where there is one."""
        if self.correct:
            return None
        return NO_RUN_CORRECT if self.has_any_correctness_signal else NO_RUN_SIGNAL

    @property
    def efficiency(self) -> Efficiency | None:
        """Tier 2 over the CORRECT runs."""
        if not (correct := self.correct):
            return None
        return Efficiency(
            self.correct_tokens,
            total_wall_clock([run.measured.wall_clock for run in correct]),
            Rounds(*map(sum, zip(*(run.measured.rounds for run in correct), strict=True))),
            len(correct),
            runs_with([tokens_of(run.tokens) for run in correct]),
        )

    @property
    def correct_tokens(self) -> Tokens:
        """The token feed summed over the CORRECT runs."""
        return total_tokens(tokens_of(run.tokens) for run in self.correct)


ILLEGIBLE = "no line of it names a run"
"""Why a file is not read that has lines and no run."""


def score(
    traces: Sequence[TraceSummary],
    unread: Sequence[Unread] = (),
    left_out: Omitted = NOTHING_OMITTED,
) -> ScoreCard:
    """Join the traces' runs by id, in first-seen order, and judge them; those without a valid event
    come last. ``unread`` are the inputs that could not be read: each run may have had something in
    them, and in what a search has left out. So may a file without one line that names a run, such
    as a pointer to a file elsewhere.
    """
    every = [run for each in traces for run in each.runs]
    parts: dict[str, list[RunSummary]] = {run.run_id: [] for run in every if run.event_count}
    for run in every:
        parts.setdefault(run.run_id, []).append(run)
    unread = (*unread, *(Unread(each.path, ILLEGIBLE) for each in traces if each.is_illegible))
    unplaced = [each for trace in traces for each in unplaced_grades(trace)]
    card = ScoreCard((), tuple(traces), unread, left_out)
    copied = _between_runs([*chain(*parts.values())])
    runs = tuple(
        score_run(each, card.not_read, unplaced, copied.get(at)) for at, each in parts.items()
    )
    return card._replace(runs=runs)


def _between_runs(parts: Sequence[RunSummary]) -> Mapping[str, str]:
    same_ids = copied_runs([(each.run_id, each.path, each.events.ids()) for each in parts])
    few = [each for each in parts if each.run_id in same_ids]  # as good as always none
    return copied_runs([(each.run_id, each.path, each.events.hashes()) for each in few])


def score_run(
    parts: Sequence[RunSummary],
    unread: Sequence[Unread] = (),
    unplaced: Sequence[Unplaced] = (),
    copied: str | None = None,
) -> RunScore:
    """Judge one run by all its parts. ``unplaced`` are the lines of all files that are joined which
    may grade any run; ``copied`` is a file in which another run has events of this one.
    """
    parts = judged(parts)
    shared = overlaps(part.events for part in parts) if len(parts) > 1 else ()
    correctness = latest([part.correctness for part in parts], GRADE, shared)
    tokens = latest([part.tokens for part in parts], COST, shared)
    counted = tuple(parts)
    copied_lines: tuple[frozenset[int], ...] = ()
    if any(each.copies for each in shared):
        copies = [[twin.here for twin in each.copies] for each in shared]
        counted = tuple(map(without_copies, parts, copies))
        copied_lines = tuple(
            frozenset(part.copies).union(each.line for each in some)
            for part, some in zip(parts, copies, strict=True)
        )
    uncounted = None
    if not any(part.event_count for part in parts):
        rejected = sum(len(part.rejected) for part in parts)
        uncounted = uncounted_phrase(rejected, sum(len(part.unknown) for part in parts))
    gate = judge(correctness, uncounted)
    measured = Efficiency(
        tokens_of(tokens) or dict.fromkeys(TOKEN_FIELDS), wall_clock(counted), mean_rounds(counted)
    )
    caveats = list(caveats_of(parts, correctness, unread, shared, unplaced, copied))
    if gate.verdict is Verdict.CORRECT:
        caveats += caveats_of_coverage(measured, parts)
    return RunScore(
        run_id=parts[0].run_id,
        parts=tuple(parts),
        correctness=correctness,
        tokens=tokens,
        gate=gate,
        measured=measured,
        caveats=tuple(caveats),
        counted_parts=counted,
        copied_lines=copied_lines,
    )


# As JSON


def to_json(card: ScoreCard) -> dict[str, object]:
    """The interface of ``score --format json``; the first four keys are the reference's."""
    efficiency = card.efficiency
    return {
        "runs": [run_json(run) for run in card.runs],
        "correct_run_ids": [run.run_id for run in card.correct],
        "correct_tokens": _numbers(card.correct_tokens),
        "has_any_correctness_signal": card.has_any_correctness_signal,
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
                        "event_type": each.event_name,
                        "looks_like": each.meant,
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
    tokens = tokens_of(run.tokens)
    deciding = run.correctness
    efficiency = run.efficiency
    return {
        "run_id": run.run_id,
        "correctness": None if deciding is None else dict(deciding.values),
        "verdict": str(run.verdict),
        "missing_inputs": list(run.gate.missing),
        "tokens": None if tokens is None else _numbers(tokens),
        "efficiency": None if efficiency is None else _efficiency_json(efficiency),
        "judged": _judged_json(deciding),
        "decided_by": None if deciding is None else {"path": deciding.path, "line": deciding.line},
        "what_would_change_it": what_would_change_it(run.gate),
        "caveats": [
            {
                "code": str(each.code),
                "message": each.sentence(),
                "qualifies": each.qualifies,
                "lines": [place._asdict() for place in each.lines],
            }
            for each in run.caveats
        ],
        "provenance": _provenance_json(run.provenance),
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


def _provenance_json(found: Provenance) -> dict[str, object] | None:
    if found.origin is None:
        return None
    return {"origin": str(found.origin), "evidence": list(found.evidence), **found._asdict()}


def _judged_json(grade: Recorded | None) -> dict[str, object] | None:
    if grade is None or grade.judgement is None:
        return None
    judgement = grade.judgement
    return {
        "model": judgement.judge.model,
        "reported_model": judgement.model,
        "prompt_version": judgement.judge.prompt_version,
        "agreement": judgement.agreement,
        "agreement_interval": judgement.agreement_interval,
        "reasons": len(judgement.reasons),
    }


def _efficiency_json(efficiency: Efficiency) -> dict[str, object]:
    clock, rounds = efficiency.wall_clock, efficiency.rounds
    figures: dict[str, object] = {
        "tokens": _numbers(efficiency.tokens),
        "wall_clock_ms": as_double(clock.ms),
        "wall_clock": {"counted": clock.counted, "of": clock.of, "by_the_clock": clock.clocked},
        "rounds_per_dispatch": rounds.mean,
        "rounds": {"counted": rounds.counted, "of": rounds.of},
    }
    if efficiency.token_runs is not None:
        figures["runs"] = efficiency.runs
        figures["token_runs"] = dict(efficiency.token_runs)
    return figures


def _numbers(tokens: Tokens) -> dict[str, object]:
    return {name: as_double(value) for name, value in tokens.items()}
