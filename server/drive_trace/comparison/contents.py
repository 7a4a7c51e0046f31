"""What a comparison says, as JSON, and as sections for people, which all formats show."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from drive_trace.comparison.answer import Answer, CaseOutcome, Comparison, Flip, in_digits, p_is
from drive_trace.comparison.costs import Cost, Spent
from drive_trace.comparison.runs import FACTS, METRICS, Metric, Tally
from drive_trace.comparison.statistics import ALPHA, Interval, is_significant
from drive_trace.report.metrics.base import Value
from drive_trace.text.wording import duration, first_of, plural

_MOST = 5
_MOST_SHOWN = 17
"""Characters of a case's name beside a bar, so that the side fits behind it."""
_HEADLINE = "All that was spent ÷ CORRECT runs: what the others cost counts, too"
_BEST = "where one side never passes"
_NO_RATIO = "A cost of nothing has no ratio: the p is by ranks all the same"
_FACTS = "Facts without a verdict: what happened in all runs of a side"
_TIE_BREAK = (
    "A tie-break, and no answer: it can reward a side that fails the hard case each time. "
    "All that was spent ÷ CORRECT runs cannot."
)
_VERDICTS = {"correct": "CORRECT", "incorrect": "INCORRECT"}


class Name(str):
    """Text from a trace or a path: untrusted."""

    __slots__ = ()


class Drawn(NamedTuple):
    """A point with its interval, to be drawn; None is not known, and not drawn."""

    label: str
    value: float | None
    interval: Interval | None


class Scale(NamedTuple):
    """The axis that intervals are drawn on."""

    marks: tuple[float, ...]
    """The first and the last are its ends."""
    same: float | None = None
    """Where both sides are the same."""
    is_ratio: bool = False


class Section(NamedTuple):
    """A heading, and a table or sentences below it."""

    title: str
    notes: Sequence[str] = ()
    headers: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    drawn: Sequence[Drawn] = ()
    scale: Scale = Scale((0, 0.5, 1))


def power(found: Comparison) -> str:
    """What so many runs can show at all, which is said before anything else."""
    gate = found.gate
    cases = plural(len(found.cases), "case")
    sizes = f"{plural(gate.candidate.k, 'run')} against {gate.baseline.k:,} in {cases}"
    if gate.smallest_p is None:
        return f"{sizes} can show nothing."
    least = f"the least p that the gate can reach is {in_digits(gate.smallest_p)}"
    if not is_significant(gate.smallest_p):
        return f"{sizes} can never be significant: {least}, and {ALPHA:.2f} is needed."
    shown = gate.smallest_detectable
    if shown is None:
        return f"{sizes}: {least}."
    about = "about " if len(found.cases) > 1 else ""  # see smallest_detectable
    effect = f", and the least difference that it can show {about}{shown:.3f}, {_BEST}"
    return f"{sizes}: {least}{effect}."


def sections(found: Comparison) -> Iterator[Section]:
    """All that follows the answer and its reasons."""
    yield _gate(found)
    if found.answer is not Answer.NOT_COMPARABLE:
        if found.costs:
            yield _costs(found)
        yield _spent(found)
        if len(found.cases) > 1:
            yield _cases(found.cases)
        if found.flips:
            yield _flips(found.flips)
        if found.rank is not None:
            row = ("wall-clock of CORRECT runs ÷ their share", *map(_time, found.rank))
            yield Section("Ranker", (_TIE_BREAK,), ("ranker", "baseline", "candidate"), [row])
        yield _facts(found)
    yield _known(found)


def _gate(found: Comparison) -> Section:
    gate = found.gate
    sides = {"baseline": gate.baseline, "candidate": gate.candidate}
    notes = []
    if gate.difference is not None and gate.interval is not None:
        test = "Fisher's exact test" if gate.test == "fisher" else "labels shuffled within cases"
        notes.append(
            f"difference {_signed(gate.difference)} {_interval(gate.interval, _signed)} "
            "(candidate − baseline; Newcombe: it illustrates, the test decides), "
            f"{p_is(gate.p)} (two-sided, {test})"
        )
    if any(each.most > each.correct for each in sides.values()):
        notes.append(
            "runs that are not computable may be CORRECT or not: the share is told from the least "
            "to the most, and p and the difference take them for not CORRECT"
        )
    qualified = gate.baseline.qualified + gate.candidate.qualified
    if qualified:
        notes.append(
            f"{plural(qualified, 'CORRECT run')} may be something else, as a caveat says: the "
            "answer has to hold either way, and the costs of CORRECT runs are without theirs"
        )
    return Section(
        "Gate",
        notes,
        ("side", "runs", "CORRECT", "INCORRECT", "not computable", "share of CORRECT"),
        [(name, *_tally(each)) for name, each in sides.items()],
        [_drawn(name, each) for name, each in sides.items() if each.k],
    )


def _tally(each: Tally) -> tuple[str, ...]:
    counts = (each.k, each.correct, each.incorrect, each.not_computable)
    return (*(f"{count:,}" for count in counts), _share(each))


def _share(each: Tally) -> str:
    if each.interval is None:
        return "n/a"
    least, most = (f"{count / each.k:.3f}" for count in (each.correct, each.most))
    return f"{least if least == most else f'{least} to {most}'} {_interval(each.interval)}"


def _drawn(label: str, each: Tally) -> Drawn:
    return Drawn(label, each.correct / each.k if each.correct == each.most else None, each.interval)


def _costs(found: Comparison) -> Section:
    rows = [
        (
            each.metric.title,
            *_ratio(each),
            in_digits(each.p),
            in_digits(each.adjusted),
            in_digits(each.smallest_adjusted),
            f"{len(each.cases):,} of {len(found.cases):,}",
            ", ".join(f"{told:,} of {of:,}" for told, of in each.told),
        )
        for each in found.costs
    ]
    known = [(each.metric.title, each.ratio, each.interval) for each in found.costs if each.ratio]
    drawn = [Drawn(*each) for each in known]
    ratios = [at for _, ratio, interval in known for at in (ratio, *(interval or ()))]
    far = max([2.0, *ratios, *(1 / at for at in ratios)])
    return Section(
        "Cost of CORRECT runs, candidate ÷ baseline",
        () if len(drawn) == len(found.costs) else (_NO_RATIO,),
        (
            "cost",
            "ratio",
            "95 % interval",
            "p",
            "p by Holm",
            "least it can reach",
            "cases",
            "runs that tell",
        ),
        rows,
        drawn,
        Scale((1 / far, 1, far), same=1, is_ratio=True),
    )


def _ratio(cost: Cost) -> tuple[str, str]:
    if cost.ratio is None:
        return "n/a", "n/a"
    return f"{cost.ratio:.3f}", _interval(cost.interval) if cost.interval else "none at this k"


def _spent(found: Comparison) -> Section:
    kept = [each for each in METRICS if each.adds_up]
    rows = [_spent_row(Name(case.name), case.spent, kept) for case in found.cases]
    if len(rows) > 1:
        rows.append(_spent_row("all cases", found.spent, kept))
    headers = [f"{each.title}, {side}" for each in kept for side in ("baseline", "candidate")]
    return Section("Cost for each CORRECT run", (_HEADLINE,), ("case", *headers), rows)


def _spent_row(name: str, sides: tuple[Spent, Spent], kept: Sequence[Metric]) -> list[str]:
    cells = [
        "none CORRECT" if not side.correct else _amount(each, side.for_each_correct(each.key))
        for each in kept
        for side in sides
    ]
    return [name, *cells]


def _cases(cases: Sequence[CaseOutcome]) -> Section:
    rows, drawn = [], []
    for each in cases:
        sides = {"baseline": each.baseline, "candidate": each.candidate}
        said = [f"{side.correct:,} of {side.k:,}, {_share(side)}" for side in sides.values()]
        rows.append((Name(each.name), *said))
        drawn += [_drawn(Name(f"{_cut(each.name)}, {name}"), side) for name, side in sides.items()]
    return Section("CORRECT by case", (), ("case", "baseline", "candidate"), rows, drawn)


def _cut(name: str) -> str:
    return name if len(name) <= _MOST_SHOWN else f"{name[: _MOST_SHOWN - 1]}…"


def _flips(flips: Sequence[Flip]) -> Section:
    rows = [
        (
            Name(each.case),
            f"{_VERDICTS[each.before]} → {_VERDICTS[each.after]}",
            Name(first_of(each.baseline_runs, _MOST)),
            Name(first_of(each.candidate_runs, _MOST)),
        )
        for each in flips
    ]
    headers = ("case", "from → to", "runs of the baseline", "runs of the candidate")
    return Section("Flips", (), headers, rows)


def _facts(found: Comparison) -> Section:
    rows = [(title, *(_number(side.facts.get(title)) for side in found.sides)) for title in FACTS]
    return Section("Differences", (_FACTS,), ("fact", "baseline", "candidate"), rows)


def _known(found: Comparison) -> Section:
    rows = [
        (
            each.name,
            str(each.state),
            *(Name(first_of(side, _MOST) or "unknown") for side in (each.baseline, each.candidate)),
        )
        for each in found.known
    ]
    notes = []
    if found.cases and not any(run.cases for side in found.sides for run in side.runs):
        notes.append("Nobody says of which case the runs are: all of a side are taken for one.")
    headers = ("fact", "state", "baseline", "candidate")
    return Section("What is known of the runs", notes, headers, rows)


def _amount(metric: Metric, value: float | None) -> str:
    if metric.key == "wall_clock_ms":
        return _time(value)
    return "n/a" if value is None else f"{value:,.0f}"


def _time(value: float | None) -> str:
    return "n/a" if value is None else duration(round(value))


def _number(value: Value) -> str:
    if not isinstance(value, int | float):
        return "n/a"
    return f"{value:,}" if isinstance(value, int) else f"{value:,.2f}"


def _signed(value: float) -> str:
    return f"{value:+.3f}".replace("-", "−")


def _plain(value: float) -> str:
    return f"{value:.3f}"


def _interval(interval: Interval, digits: Callable[[float], str] = _plain) -> str:
    return f"[{digits(interval[0])}, {digits(interval[1])}]"


# As JSON


def to_json(found: Comparison) -> dict[str, object]:
    """The interface of ``compare --output-format json``. Shares and differences are fractions, and
    null is unknown, never zero.
    """
    gate = found.gate
    return {
        "answer": str(found.answer),
        "reasons": [each.sentence for each in found.reasons],
        "gate": {
            "baseline": _tally_json(gate.baseline),
            "candidate": _tally_json(gate.candidate),
            "difference": gate.difference,
            "difference_interval": gate.interval,
            "p": gate.p,
            "test": gate.test,
            "smallest_p": gate.smallest_p,
            "smallest_detectable": gate.smallest_detectable,
        },
        "costs": [
            {
                "metric": each.metric.key,
                "ratio": each.ratio,
                "interval": each.interval,
                "p": each.p,
                "adjusted_p": each.adjusted,
                "smallest_adjusted_p": each.smallest_adjusted,
                "cases": list(each.cases),
                "told": _by_side([{"runs": told, "of": of} for told, of in each.told]),
            }
            for each in found.costs
        ],
        "cases": [
            {
                "case": each.name,
                "baseline": _tally_json(each.baseline),
                "candidate": _tally_json(each.candidate),
                "spent_for_each_correct": _spent_json(each.spent),
            }
            for each in found.cases
        ],
        "spent_for_each_correct": _spent_json(found.spent),
        "flips": [
            {
                "case": each.case,
                "from": str(each.before),
                "to": str(each.after),
                "baseline_runs": list(each.baseline_runs),
                "candidate_runs": list(each.candidate_runs),
            }
            for each in found.flips
        ],
        "differences": {
            title: {side.name: side.facts.get(title) for side in found.sides} for title in FACTS
        },
        "known": [
            {
                "fact": each.name,
                "state": str(each.state),
                "baseline": list(each.baseline),
                "candidate": list(each.candidate),
            }
            for each in found.known
        ],
        "ranker": None if found.rank is None else _by_side(found.rank),
    }


def _tally_json(each: Tally) -> Mapping[str, object]:
    return {**each._asdict(), "interval": each.interval}


def _spent_json(sides: tuple[Spent, Spent]) -> Mapping[str, object]:
    return _by_side([{key: side.for_each_correct(key) for key in side.totals} for side in sides])


def _by_side(sides: Sequence[object]) -> Mapping[str, object]:
    return dict(zip(("baseline", "candidate"), sides, strict=True))
