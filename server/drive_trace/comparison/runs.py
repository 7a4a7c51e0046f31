"""The runs that are compared: of which case each is, what is known of it, what it cost, and which
figures nobody should believe.
"""

import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Annotated, Literal, NamedTuple, TypeAlias

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import asdict

from drive_trace.comparison import statistics
from drive_trace.comparison.statistics import Interval, Sample
from drive_trace.linter.rules import RULES
from drive_trace.report.event_log import EventLog, TraceLog
from drive_trace.report.metrics import Value, measure, to_json
from drive_trace.scorecard import caveats, scoring
from drive_trace.scorecard.dispatches import Event, named_by
from drive_trace.scorecard.measures import Efficiency, Rounds, WallClock
from drive_trace.scorecard.run_score import NO_SIGNAL, Gate, RunScore, Verdict
from drive_trace.trace.run import FORGOTTEN_MS
from drive_trace.trace.times import epoch_milliseconds, sortable
from drive_trace.vocabulary import COST, DISPATCH, EVENTS, GRADE, TOKEN_FIELDS, Entity

_SAID_BY = {
    **{name: f"{name}_hash" for name in ("prompt", "rubric", "acceptance")},
    **{name: name for name in ("case", "judge", "model", "bundle")},
    "base": "base_commit",
}
"""What a manifest says of a fact, by its key."""
ALL_RUNS = "all runs"
"""The case of runs that nobody says the case of."""
_SILENT = re.compile(r"\b(inherit(ed)?|default)\b")
"""In the name of a model that names none."""
_WORD = re.compile(r"[a-z]+|[0-9]+")
_VENDORS = {"anthropic", "claude", "gemini", "google", "gpt", "mistral", "openai"}
"""Words that models of one vendor share, whatever else they are."""
_START_AND_END = (DISPATCH.opener, DISPATCH.closer)
A_MILLION = 1_000_000
_ENDING = (Entity.RUN, Entity.DISPATCH)
"""What has to end where it was started, before a run has ended."""
Word: TypeAlias = Annotated[str, msgspec.Meta(min_length=1, max_length=200)]


class RunManifest(msgspec.Struct, frozen=True, kw_only=True):
    """How a run came about, as whoever started it wrote it beside the trace. What it does not say
    is unknown, and not the same as anything.
    """

    manifest_version: Literal["1"] = "1"
    case: Word | None = None
    """What the run was to do: runs are compared within their case."""
    base_commit: Word | None = None
    """The commit that the run started from."""
    model: Word | None = None
    """The model that did the work."""
    bundle: Word | None = None
    """The version of the instructions that the model was given."""
    judge: Word | None = None
    """The model that judged the intent."""
    prompt_hash: Word | None = None
    """Of the judge's prompt."""
    rubric_hash: Word | None = None
    """Of the judge's rubric."""
    acceptance_hash: Word | None = None
    """Of the acceptance criteria of the case."""


# What the events of a run say beside its score

Dollars: TypeAlias = Annotated[float, Meta(ge=0, le=A_MILLION)]


class TokenPrices(Struct, frozen=True, forbid_unknown_fields=True):
    """What a model costs, in dollars for a million tokens of each kind."""

    input: Dollars
    output: Dollars
    cache_read: Dollars
    cache_write: Dollars

    def cost(self, tokens: Mapping[str, int | None]) -> float | None:
        """Dollars for some tokens; None where a kind of them is unknown."""
        total = 0.0
        for kind, price in asdict(self).items():
            count = tokens[f"{kind}_tokens"]
            if count is None:
                return None
            total += count * price
        return total / A_MILLION


Prices: TypeAlias = dict[str, TokenPrices]
"""By the name of a model; ``*`` stands for every other one."""


class Traced(NamedTuple):
    """What the events of one run say."""

    working_ms: int | None = None
    """How long a dispatch was open, one at least; None where that cannot be known."""
    models: frozenset[str] = frozenset()
    """Those that dispatches were started on; untrusted."""
    doubted: frozenset[str] = frozenset()
    """The costs that were recorded before the work was over."""
    last_work: str = ""
    """When it was last worked on, as it sorts; empty where no such time can be read."""
    is_open: bool = False
    """Whether the run was started and never closed, or a dispatch of it never ended."""


NOTHING_TRACED = Traced()


def traced(events: Sequence[Event]) -> Traced:
    """Read the events of a run, in their order and without copies."""
    models = {str(each.values["model"] or "") for each in events if each.name == DISPATCH.opener}
    told = max((sortable(each.ts) or "" for each in events if each.name == COST), default=None)
    works = [sortable(each.ts) for each in events if EVENTS[each.name].is_work]
    goes_on = told is not None and any((each or "~") > told for each in works)
    types = [(EVENTS[each.name], each.values.get(DISPATCH.field)) for each in events]
    opened = {(each.opens, which) for each, which in types if each.opens in _ENDING}
    return Traced(
        _open_for(events),
        frozenset(each for each in models if each and not _SILENT.search(each.lower())),
        frozenset(TOKEN_FIELDS if goes_on else ()),
        max(filter(None, works), default=""),
        not opened <= {(each.closes, which) for each, which in types},
    )


def _open_for(events: Iterable[Event]) -> int | None:
    """How long one of the dispatches at least was open, in milliseconds. None where there is none,
    or one has no start or no end, took no time, or was forgotten.
    """
    own = (each for each in events if each.name in _START_AND_END)
    mentions = ((each.text(DISPATCH.field), each.name, each) for each in own)
    found: list[tuple[int | None, int | None]] = []
    for named in named_by(Entity.DISPATCH, mentions).values():
        if [each.name for each in named] != [*_START_AND_END] * (len(named) // 2):
            return None
        times = [epoch_milliseconds(each.ts) for each in named]
        found += zip(times[::2], times[1::2], strict=True)
    known = ((start, end) for start, end in found if start is not None and end is not None)
    spans = [(start, end) for start, end in known if 0 < end - start <= FORGOTTEN_MS]
    if not found or len(spans) < len(found):
        return None
    total = until = 0
    for start, end in sorted(spans):
        total += max(0, end - max(start, until))
        until = max(until, end)
    return total


def fit(one: str, other: str) -> bool:
    """Whether two names may be of one model: ``sonnet`` and ``claude-sonnet-4``."""
    words, others = (set(_WORD.findall(each.lower())) for each in (one, other))
    named = {each for each in words & others if each.isalpha()} - _VENDORS
    return words <= others or words >= others or bool(named)


# What is compared of it


class CostMetric(NamedTuple):
    """A cost of a run, of which less is better."""

    key: str
    title: str


_TITLES = ("input tokens", "output tokens", "cache reads", "cache writes")
_TOKENS = tuple(map(CostMetric, TOKEN_FIELDS, _TITLES))
WORKING = CostMetric("working_ms", "working time")
WALL_CLOCK = CostMetric("wall_clock_ms", "wall-clock")
"""From start to close, nights included: it is shown, and decides only where somebody says so."""
TIMES = {"working": WORKING, "clock": WALL_CLOCK}
SUMS = (*_TOKENS, WORKING, WALL_CLOCK)
COSTS = (*SUMS, CostMetric("rounds_per_dispatch", "rounds per dispatch"))
DOLLARS = CostMetric("dollars", "dollars")
"""Where prices are known, they decide in place of all others."""


class ComparedRun(NamedTuple):
    """A run with its case, and what is known of it."""

    score: RunScore
    known: Mapping[str, frozenset[str]]
    """By the name of a fact, what is said of it; empty where it is unknown."""
    hashes: frozenset[int] = frozenset()
    """Those of its events, by which copies are known."""
    doubted: frozenset[str] = frozenset()
    """The keys of the costs that nobody should believe: see :func:`compared`."""
    events: Traced = NOTHING_TRACED
    price: TokenPrices | None = None

    @property
    def run_id(self) -> str:
        """Untrusted."""
        return self.score.run_id

    @property
    def case(self) -> str:
        """Untrusted; :data:`ALL_RUNS` if unknown."""
        return min(self.known["case"], default=ALL_RUNS)

    @property
    def is_dead(self) -> bool:
        """Whether it was started, as a manifest says, and left no event; or a suite has planned it,
        and it never ended.
        """
        return not self.score.parts

    @property
    def is_judged(self) -> bool:
        """Whether somebody recorded a verdict on its intent."""
        grade = self.score.correctness
        return grade is not None and grade.values["intent"] is not None

    @property
    def has_idle_record(self) -> bool:
        """Whether there is a record of its judging, and its grade does not rest on that."""
        grade = self.score.correctness
        rests = grade is None or self.score.judgement is not None
        return self.is_judged and not rests and self.score.has_record

    @property
    def clock(self) -> str | None:
        """How its wall-clock was measured; None where that does not cover the whole run."""
        clock = self.score.measured.wall_clock
        if clock.clocked:
            return "clock"
        return "claims" if clock.ms is not None and clock.counted == clock.of else None

    def cost(self, metric: CostMetric) -> float | None:
        """What it cost, whatever its verdict; None where that is doubted, or not recorded, or in
        part.
        """
        if metric.key in self.doubted:
            return None
        measured = self.score.measured
        if metric is WALL_CLOCK:
            return measured.wall_clock.ms if self.clock is not None else None
        if metric is WORKING:
            return self.events.working_ms
        if metric is DOLLARS:
            is_known = self.price is not None and self.doubted.isdisjoint(TOKEN_FIELDS)
            return self.price.cost(measured.tokens) if self.price and is_known else None
        if metric.key == "rounds_per_dispatch":
            return measured.rounds.mean
        return measured.tokens[metric.key]


def compared(  # noqa: PLR0913, PLR0917 - all that is known of a run
    score: RunScore,
    manifests: Iterable[RunManifest],
    case: str | None = None,
    found: Collection[str] = (),
    hashes: Iterable[int] = (),
    events: Traced = NOTHING_TRACED,
    prices: Mapping[str, TokenPrices] = {},
) -> ComparedRun:
    """A run with the manifests beside its files. A ``case`` that is given counts, whatever they
    say. ``found`` are the codes of the rules that have found something in the run, and the keys of
    costs that are lost in its files, ``hashes`` those of its events. A cost that is lost, or that a
    rule doubts, is taken for unknown, as are token counts that are a copied line, or all 0, a time
    of 0, and what was recorded before the work was over. Of a model that a manifest names, and none
    of the dispatches was started on, all names count: they contradict each other.
    """
    manifests = list(manifests)
    judgement = score.judgement
    known: dict[str, frozenset[str]] = {
        fact: _said(getattr(each, key) for each in manifests) for fact, key in _SAID_BY.items()
    }
    known |= {"provenance": _said([score.provenance.origin]), "calibration": frozenset[str]()}
    known |= {} if case is None else {"case": frozenset({case})}
    models = known["model"] or events.models
    priced = {prices.get(each, prices.get("*")) for each in models or {"*"}}
    if not any(fit(*each) for each in product(models, events.models)):
        known["model"] |= {f"{each} (dispatch-start)" for each in events.models}
    known["gates"] = _said(f"{name}: {each.kind}" for name, each in score.gates.items())
    if judgement is not None:
        known["judge"] |= _said([judgement.judge.model])
        known["prompt"] = known["prompt"] or _said([f"version {judgement.judge.prompt_version}"])
        known["rubric"] |= _said([judgement.judge.rubric_hash])
        known["acceptance"] |= _said([judgement.acceptance_hash])
        word = "uncalibrated" if judgement.agreement is None else "calibrated"
        known["calibration"] = _said([word])
    doubted = _doubted(score, found) | events.doubted
    price = priced.pop() if len(priced) == 1 else None
    return ComparedRun(score, known, frozenset(hashes), doubted, events, price)


NO_EVENT, NEVER_ENDED = "no event recorded", "never ended"


def dead_run(name: str, manifest: RunManifest, case: str | None, why: str) -> ComparedRun:
    """A run that was started or planned, and left nothing that counts: it is not CORRECT."""
    nothing = Efficiency(dict.fromkeys(TOKEN_FIELDS), WallClock(None, 0, 0, 0, 0), Rounds(0, 0, 0))
    gate = Gate(Verdict.NOT_COMPUTABLE, (NO_SIGNAL,), (), why)
    return compared(RunScore(name, (), None, None, gate, nothing), [manifest], case)


def _doubted(score: RunScore, found: Collection[str]) -> frozenset[str]:
    """The costs that are doubted by these rules, or that are a copied line, or all 0."""
    doubts = {(RULES[each].distrusts or "") if each in RULES else each for each in found}
    clock = score.measured.wall_clock
    if clock.ms == 0 or ("clock" if clock.clocked else "claims") in doubts:
        doubts.add(WALL_CLOCK.key)
    if "clock" in doubts:
        doubts.add(WORKING.key)
    costs = [each for each in score.parts if each.tokens and each.tokens == score.tokens]
    is_copied = any(each.tokens and each.tokens.line in each.copies for each in costs)
    if is_copied or {*score.measured.tokens.values()} - {None} == {0}:
        doubts |= score.measured.tokens.keys()
    return frozenset(each.key for each in COSTS if each.key in doubts)


def distinct(runs: Sequence[ComparedRun]) -> tuple[list[ComparedRun], list[ComparedRun]]:
    """The runs, without those that have events of one before them, and these."""
    sides: tuple[list[ComparedRun], list[ComparedRun]] = [], []
    seen: frozenset[int] = frozenset()
    for run in runs:
        sides[not seen.isdisjoint(run.hashes)].append(run)
        seen |= run.hashes
    return sides


def _said(values: Iterable[str | None]) -> frozenset[str]:
    return frozenset(str(each) for each in values if each is not None)


class Happened(NamedTuple):
    """What happened in all runs of a side, of which no verdict follows; None is unknown."""

    all_runs: Value
    per_run: float | None
    """More runs have higher counts. None for a rate, too."""


class SideFile(NamedTuple):
    """A trace of a side, and its lines that do not count, from 1."""

    path: str
    """Untrusted."""
    rejected_lines: tuple[int, ...]
    unknown_lines: tuple[int, ...]


_KNOWN_BY = "; only a manifest or a suite tells of it"


class Side(NamedTuple):
    """One of the two sides."""

    name: str
    paths: tuple[str, ...]
    """The files and folders that it is, as somebody named them."""
    runs: tuple[ComparedRun, ...]
    files: tuple[SideFile, ...] = ()
    unread: tuple[caveats.Unread, ...] = ()
    left_out: caveats.Omitted = caveats.NOTHING_OMITTED
    copies: tuple[ComparedRun, ...] = ()
    """The runs that are left out, as a run before them has the same events."""
    facts: Mapping[str, Happened] = {}
    """See :func:`facts_of`."""
    prices: Mapping[str, TokenPrices] = {}
    """Those that somebody set: then dollars decide, and no other cost."""

    @property
    def not_read(self) -> Sequence[caveats.Unread]:
        """What nobody can say of the side what it holds."""
        return (*self.unread, *self.left_out.missed)

    @property
    def notable(self) -> Iterator[tuple[str, Sequence[str], str]]:
        """The runs that may be no repetitions, or left nothing: what they are, their ids, and what
        that means.
        """
        counts = "a pass or a fail" if self.name == "baseline" else "not CORRECT"
        ends = [each for each in self.runs if each.is_dead]
        for what, by in (("without an end", ""), ("without an event", _KNOWN_BY)):
            is_open = not by
            ids = [e.run_id for e in ends if is_open == (e.score.gate.uncounted == NEVER_ENDED)]
            if ids:
                yield what, ids, f"{what}, and taken for {counts}{by}"
        if joined := [run.run_id for run in self.runs if len(run.score.parts) > 1]:
            what = "joined over files"
            yield what, joined, f"{what}: each repetition needs an id of its own"
        if copies := [run.run_id for run in self.copies]:
            why = "left out: a run with the events of another one is no repetition"
            yield "left out, with the events of others", copies, why

    @property
    def doubted(self) -> Mapping[CostMetric, Sequence[str]]:
        """By a cost, the ids of the runs of which it is doubted."""
        found = {each: [r.run_id for r in self.runs if each.key in r.doubted] for each in COSTS}
        return {each: runs for each, runs in found.items() if runs}

    @property
    def rejected(self) -> int:
        """How many lines readers reject."""
        return sum(len(each.rejected_lines) for each in self.files)

    @property
    def unknown(self) -> int:
        """How many lines are of unknown types."""
        return sum(len(each.unknown_lines) for each in self.files)


class RunsOfCase(NamedTuple):
    """The runs of one case."""

    name: str
    baseline: tuple[ComparedRun, ...]
    candidate: tuple[ComparedRun, ...]


def of_verdict(runs: Sequence[ComparedRun], verdict: Verdict) -> tuple[ComparedRun, ...]:
    """Those of some runs that have a verdict."""
    return tuple(run for run in runs if run.score.verdict is verdict)


def cases_of(baseline: Side, candidate: Side) -> tuple[RunsOfCase, ...]:
    """The runs of both sides by their case, in the order of the names."""
    names = sorted({run.case for side in (baseline, candidate) for run in side.runs})
    return tuple(
        RunsOfCase(
            name, *(tuple(r for r in side.runs if r.case == name) for side in (baseline, candidate))
        )
        for name in names
    )


def on_both_sides(baseline: Side, candidate: Side) -> list[str]:
    """The runs of the candidate of which the baseline has events."""
    known = frozenset().union(*(run.hashes for run in baseline.runs))
    return [run.run_id for run in candidate.runs if not known.isdisjoint(run.hashes)]


# What the sides cost: over CORRECT runs alone, case by case. Missing is never zero


_KEYS = [each.key for each in COSTS]
_LOST = {"": _KEYS, COST: [*TOKEN_FIELDS], GRADE: [], None: _KEYS[len(TOKEN_FIELDS) :]}
"""What a line of an unknown type may say, by the feed that was meant; a rejected one, all."""
CountsTold: TypeAlias = tuple[tuple[int, int], tuple[int, int]]


class Cost(NamedTuple):
    """How one cost differs between the sides."""

    metric: CostMetric
    way: int
    """Above 0 where the candidate costs more by its ranks, below 0 where less."""
    ratio: float | None
    """Candidate ÷ baseline; None where a run costs nothing."""
    interval: Interval | None
    """None where there is no ratio, or so few runs give none."""
    p: float
    adjusted_p: float
    """The same by Holm, over all that decide."""
    cases: tuple[str, ...]
    """Those that it is over; untrusted."""
    told: CountsTold
    """Of each side, how many CORRECT runs tell it, and of how many, in cases where both have some.
    """
    decides: bool
    """Whether it may decide; else it is only shown."""

    @property
    def is_whole(self) -> bool:
        """Whether every run tells it: the others may cost anything."""
        return all(told == of for told, of in self.told)


def lost_in(trace: scoring.TraceSummary) -> Iterator[tuple[str, set[str]]]:
    """By run, the costs that may stand on lines of a trace which readers do not count: the run's,
    and those of no run with a valid event. A rejected line may hold a part of any other.
    """
    valid = {run.run_id for run in trace.runs if run.event_count}
    strays = {each.feed for each in trace.unknown if each.run_id not in valid}
    dropped = any(run.rejected for run in trace.runs if run.run_id not in valid)
    for run in trace.runs:
        is_any = trace.unowned or dropped or run.rejected
        meant = strays.union((each.feed for each in run.unknown), [""] * bool(is_any))
        yield run.run_id, {key for each in meant for key in _LOST[each]}


def costs_of(cases: Sequence[RunsOfCase], idle: Collection[CostMetric] = ()) -> tuple[Cost, ...]:
    """The metrics that both sides tell, of CORRECT runs that no caveat qualifies. Those that are
    ``idle`` decide nothing.
    """
    told = []
    for metric in COSTS:
        samples = {case.name: found for case in cases if (found := _sample(case, metric))}
        if samples:
            told.append((metric, samples, *statistics.rank_test([*samples.values()])))
    deciding = [each for each in told if each[0] not in idle]
    by_holm = statistics.holm([p for _, _, p, _ in deciding])
    adjusted = dict(zip((metric for metric, *_ in deciding), by_holm, strict=True))
    return tuple(
        Cost(
            metric,
            way,
            *_ratio([*samples.values()]),
            p,
            adjusted.get(metric, p),
            tuple(samples),
            _told([*samples.values()], cases),
            metric in adjusted,
        )
        for metric, samples, p, way in told
    )


def _sample(case: RunsOfCase, metric: CostMetric) -> Sample | None:
    sides = _earned(case)
    if metric is WALL_CLOCK and len({run.clock for runs in sides for run in runs} - {None}) > 1:
        return None  # as in spent
    costs = [[run.cost(metric) for run in runs] for runs in sides]
    ours, theirs = (tuple(each for each in some if each is not None) for some in costs)
    return Sample(ours, theirs) if ours and theirs else None


def _earned(case: RunsOfCase) -> list[list[ComparedRun]]:
    return [[run for run in runs if run.score.is_earned] for runs in case[1:]]


def _told(samples: Sequence[Sample], cases: Sequence[RunsOfCase]) -> CountsTold:
    both = [each for each in map(_earned, cases) if all(each)]
    ours, theirs = (
        (sum(len(each[at]) for each in samples), sum(len(each[at]) for each in both))
        for at in (0, 1)
    )
    return ours, theirs


def log_costs(cases: Sequence[RunsOfCase], metric: CostMetric) -> list[Sample]:
    """The logarithms of a cost, as far as it is known and above 0: of CORRECT runs that no caveat
    qualifies, by the dollar of all runs.
    """
    found = []
    for case in cases:
        sides = case[1:] if metric is DOLLARS else _earned(case)
        costs = ((run.cost(metric) for run in runs) for runs in sides)
        found.append(Sample(*(tuple(math.log(each) for each in some if each) for some in costs)))
    return found


def _ratio(samples: Sequence[Sample]) -> tuple[float | None, Interval | None]:
    if any(cost <= 0 for sample in samples for side in sample for cost in side):
        return None, None
    logarithms = [Sample(*(tuple(map(math.log, s)) for s in each)) for each in samples]
    return statistics.hodges_lehmann(logarithms)


def spent(runs: Sequence[ComparedRun], metric: CostMetric) -> float | None:
    """All that was spent on some runs, whatever their verdicts; None where one does not tell."""
    costs = [run.cost(metric) for run in runs]
    known = [each for each in costs if each is not None]
    if metric is WALL_CLOCK and len({run.clock for run in runs}) > 1:
        return None  # what the clock says and what authors claim are not alike
    return sum(known) if len(known) == len(costs) else None


def spent_for_each_correct(runs: Sequence[ComparedRun], metric: CostMetric) -> float | None:
    """What was spent for each CORRECT run, the others' costs included; None where that is not
    known, or no run is CORRECT.
    """
    total, correct = spent(runs, metric), len(of_verdict(runs, Verdict.CORRECT))
    return None if total is None or not correct else total / correct


def rank(runs: Sequence[ComparedRun]) -> float | None:
    """The reference's planned ranker, E[wall-clock | CORRECT] ÷ P(CORRECT), in milliseconds; None
    where no run is CORRECT, or one of these has no wall-clock. It is a tie-break, and can reward a
    side that fails the hard case each time.
    """
    correct = of_verdict(runs, Verdict.CORRECT)
    total = spent(correct, WALL_CLOCK) if correct else None
    return None if total is None else total / len(correct) / (len(correct) / len(runs))


# What happened


DIFFERENCES = {
    "briefs reissued": ("rework.brief_stability.overall.reissue", ""),
    "briefs amended": ("rework.brief_stability.overall.amended", ""),
    "halts on falsified assumptions": ("planning_quality.i12_halts.count", ""),
    "spec amendments": ("planning_quality.spec_amendments.count", ""),
    "plan amendments": ("planning_quality.plan_amendments.count", ""),
    "dispatches accepted in round 1": ("rework.first_pass_acceptance_rate", ".0%"),
    "rounds sent back for each one satisfied": ("rework.backtrack_ratio", ",.2f"),
}
"""Differences that explain and decide nothing: where each stands in the report's metrics, and how a
rate is written, which is nothing for a count.
"""


def facts_of(logs: Sequence[TraceLog], runs: Sequence[RunScore]) -> Mapping[str, Happened]:
    """What happened in all runs of a side; the traces may have others."""
    ids = {each.run_id for each in runs}
    own = [
        log._replace(events=tuple(each for each in log.events if each.run_id in ids))
        for log in logs
    ]
    measured = to_json(measure(EventLog(own, runs)))
    return {
        title: _happened(_at(measured, path.split(".")), 0 if rate_as else len(runs))
        for title, (path, rate_as) in DIFFERENCES.items()
    }


def _happened(value: Value, runs: int) -> Happened:
    return Happened(value, value / runs if runs and isinstance(value, int) else None)


def _at(value: Value, path: Sequence[str]) -> Value:
    for number, key in enumerate(path):
        if not isinstance(value, Mapping):
            return None
        # A count that stands in no table is of events, of which there were none.
        value = value.get(key, 0 if number == len(path) - 1 else None)
    return value
