"""What a comparison says, as JSON, and as sections for people, which all formats show."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from drive_trace.comparison.answer import (
    Answer,
    CaseOutcome,
    Comparison,
    Flip,
    Gate,
    in_digits,
    p_is,
)
from drive_trace.comparison.costs import Cost, Spent
from drive_trace.comparison.runs import COUNTS, METRICS, RATES, ComparedRun, Metric, Side, Tally
from drive_trace.comparison.statistics import ALPHA, Interval, is_significant
from drive_trace.report.metrics.base import Value
from drive_trace.scorecard.card import QUALIFIED
from drive_trace.text.wording import are, duration, first_of, plural

_MOST = 5
_MOST_UNREAD = 10
_HEADLINE = "All that was spent ÷ CORRECT runs: what the others cost counts, too"
_BEST = "where one side never passes"
_NO_RATIO = "A cost of nothing has no ratio: the p is by ranks all the same"
_FACTS = "Facts without a verdict: what happened in all runs of a side, and in each on average"
_TOLD = "Told by: so many of the CORRECT runs of the baseline, and of the candidate"
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
    numbers_from: int | None = None
    """The first column of figures, from 0: then all that follow are."""


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
        yield _facts(found.sides)
    yield _known(found)
    yield _inputs(found.sides)


def _gate(found: Comparison) -> Section:
    gate, notes = found.gate, []
    tallies = {"baseline": gate.baseline, "candidate": gate.candidate}
    if gate.difference is not None and gate.difference_interval is not None:
        test = "Fisher's exact test" if gate.test == "fisher" else "labels shuffled within cases"
        notes.append(
            f"difference {_signed(gate.difference)} {_interval(gate.difference_interval, _signed)} "
            "(candidate − baseline; Newcombe: it illustrates, the test decides), "
            f"{p_is(gate.p)} (two-sided, {test})"
        )
    if any(each.most > each.correct for each in tallies.values()):
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
    notes += [
        f"readers reject {plural(side.rejected, 'line')} of the {side.name}, which "
        f"{are(side.rejected)} not counted"
        for side in found.sides
        if side.rejected
    ]
    return Section(
        "Gate",
        notes,
        ("side", "runs", "CORRECT", "INCORRECT", "not computable", "share of CORRECT"),
        [(name, *_tally(each)) for name, each in tallies.items()],
        [_drawn(name, each) for name, each in tallies.items() if each.k],
        numbers_from=1,
    )


def _tally(each: Tally) -> tuple[str, ...]:
    others = (f"{count:,}" for count in (each.incorrect, each.not_computable))
    return (f"{each.k:,}", each.passed, *others, _share(each))


def _share(each: Tally) -> str:
    if each.interval is None:
        return "n/a"
    least, most = (f"{count / each.k:.3f}" for count in (each.correct, each.most))
    share = least if least == most else f"{least} to {most}"
    return f"{share} {_interval(each.interval)}"


def _drawn(label: str, each: Tally) -> Drawn:
    return Drawn(label, each.correct / each.k if each.correct == each.most else None, each.interval)


def _costs(found: Comparison) -> Section:
    rows = [
        (
            each.metric.title,
            *_ratio(each),
            in_digits(each.p),
            in_digits(each.adjusted_p),
            f"{len(each.cases):,}",
            ", ".join(f"{told}/{of}" for told, of in each.told),
        )
        for each in found.costs
    ]
    known = [(each.metric.title, each.ratio, each.interval) for each in found.costs if each.ratio]
    drawn = [Drawn(*each) for each in known]
    ratios = [at for _, ratio, interval in known for at in (ratio, *(interval or ()))]
    far = max([2.0, *ratios, *(1 / at for at in ratios)])
    return Section(
        "Cost of CORRECT runs, candidate ÷ baseline",
        (_TOLD, *(() if len(drawn) == len(found.costs) else (_NO_RATIO,))),
        ("cost", "ratio", "95 % interval", "p", "p by Holm", "cases", "told by"),
        rows,
        drawn,
        Scale((1 / far, 1, far), same=1, is_ratio=True),
        numbers_from=1,
    )


def _ratio(cost: Cost) -> tuple[str, str]:
    if cost.ratio is None:
        return "n/a", "n/a"
    return f"{cost.ratio:.3f}", _interval(cost.interval) if cost.interval else "none at this k"


def _spent(found: Comparison) -> Section:
    parts = [(Name(case.name), case.spent) for case in found.cases]
    if len(parts) > 1:
        parts.append((Name("all cases"), found.spent))
    rows = [
        (name, metric.title, *(_spent_on(metric, side) for side in sides))
        for name, sides in parts
        for metric in METRICS
        if metric.adds_up
    ]
    headers = ("case", "cost", "baseline", "candidate")
    return Section("Cost for each CORRECT run", (_HEADLINE,), headers, rows, numbers_from=2)


def _spent_on(metric: Metric, side: Spent) -> str:
    return _amount(metric, side.for_each_correct(metric.key)) if side.correct else "none CORRECT"


def _cases(cases: Sequence[CaseOutcome]) -> Section:
    rows, drawn = [], []
    for each in cases:
        sides = {"baseline": each.baseline, "candidate": each.candidate}
        said = [f"{side.passed} of {side.k:,}, {_share(side)}" for side in sides.values()]
        rows.append((Name(each.name), *said))
        drawn += [_drawn(Name(f"{name}, {each.name}"), side) for name, side in sides.items()]
    headers = ("case", "baseline", "candidate")
    return Section("CORRECT by case", (), headers, rows, drawn, numbers_from=1)


def _flips(flips: Sequence[Flip]) -> Section:
    rows = [
        (
            Name(each.case),
            f"{_VERDICTS[each.before]} → {_VERDICTS[each.after]}",
            *(Name(first_of([*map(_run, runs)], _MOST)) for runs in each[3:]),
        )
        for each in flips
    ]
    qualified = sum(len(each.qualified) for each in flips)
    note = f"{plural(qualified, 'CORRECT run')} of these may be something else, as a caveat says"
    headers = ("case", "from → to", "runs of the baseline", "runs of the candidate")
    return Section("Flips", (note,) if qualified else (), headers, rows)


def _run(run: ComparedRun) -> str:
    """The run's id, and what qualifies its CORRECT."""
    caveats = run.score.qualifying if run.score.standing == QUALIFIED else ()
    return f"{run.run_id} ({'; '.join(each.short for each in caveats)})" if caveats else run.run_id


def _facts(sides: tuple[Side, Side]) -> Section:
    rows = [
        (
            title,
            *(
                cell
                for side in sides
                for cell in (
                    _number(side.facts.get(title)),
                    _number(side.per_run(title)) if title in COUNTS else "",
                )
            ),
        )
        for title in COUNTS | RATES
    ]
    headers = ("fact", "baseline", "per run", "candidate", "per run")
    return Section("Differences", (_FACTS,), headers, rows, numbers_from=1)


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


def _inputs(sides: tuple[Side, Side]) -> Section:
    """Where the runs are from, and what of it does not count."""
    rows = [(side.name, *row) for side in sides for row in _input(side)]
    return Section("What was read", (), ("side", "what", "which"), rows)


def _input(side: Side) -> Iterator[tuple[str, str]]:
    yield plural(len(side.files), "file"), Name(first_of(side.paths, _MOST))
    joined = [run.run_id for run in side.runs if len(run.score.parts) > 1]
    if joined:
        what = f"{plural(len(joined), 'run')} joined over files"
        yield f"{what}; each repetition needs an id of its own", Name(first_of(joined, _MOST))
    for each in side.unread[:_MOST_UNREAD]:
        yield Name(f"not read: {each.reason}"), Name(each.path)
    if len(side.unread) > _MOST_UNREAD:
        yield f"not read: {len(side.unread) - _MOST_UNREAD:,} more", ""
    for file in [each for each in side.files if each.rejected_lines][:_MOST]:
        count = plural(len(file.rejected_lines), "line")
        yield f"{count} rejected: {first_of(file.rejected_lines, _MOST)}", Name(file.path)
    if side.left_out.phrase:
        yield side.left_out.phrase, ""


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
    return {
        "answer": str(found.answer),
        "reasons": [each.sentence for each in found.reasons],
        "gate": found.gate._asdict() | _tallies(found.gate),
        "costs": [
            {
                "metric": each.metric.key,
                "ratio": each.ratio,
                "interval": each.interval,
                "p": each.p,
                "adjusted_p": each.adjusted_p,
                "cases": each.cases,
                "told": _by_side([{"runs": told, "of": of} for told, of in each.told]),
            }
            for each in found.costs
        ],
        "cases": [
            {"case": each.name, **_tallies(each), "spent_for_each_correct": _spent_json(each.spent)}
            for each in found.cases
        ],
        "spent_for_each_correct": _spent_json(found.spent),
        "flips": [
            {
                "case": each.case,
                "from": each.before,
                "to": each.after,
                "baseline_runs": [run.run_id for run in each.baseline_runs],
                "candidate_runs": [run.run_id for run in each.candidate_runs],
                "qualified": {run.run_id: run.score.headline for run in each.qualified},
            }
            for each in found.flips
        ],
        "differences": {
            title: _by_side([side.facts.get(title) for side in found.sides])
            | {"per_run": _by_side([side.per_run(title) for side in found.sides])}
            for title in COUNTS | RATES
        },
        "known": [
            {
                "fact": each.name,
                "state": each.state,
                "baseline": each.baseline,
                "candidate": each.candidate,
            }
            for each in found.known
        ],
        "ranker": None if found.rank is None else _by_side(found.rank),
        "complete": not any(side.unread for side in found.sides),
        "inputs": _by_side([_input_json(side) for side in found.sides]),
    }


def _tallies(both: Gate | CaseOutcome) -> dict[str, object]:
    sides = (both.baseline, both.candidate)
    return _by_side([each._asdict() | {"interval": each.interval} for each in sides])


def _input_json(side: Side) -> Mapping[str, object]:
    return {
        "paths": side.paths,
        "files": [each._asdict() for each in side.files],
        "unread": [each._asdict() for each in side.unread],
        "left_out": side.left_out.total,
    }


def _spent_json(sides: tuple[Spent, Spent]) -> Mapping[str, object]:
    return _by_side([{key: side.for_each_correct(key) for key in side.totals} for side in sides])


def _by_side(sides: Sequence[object]) -> dict[str, object]:
    return dict(zip(("baseline", "candidate"), sides, strict=True))
