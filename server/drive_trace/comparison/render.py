"""A comparison for people: one document, and what each format puts first and last."""

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from drive_trace.comparison import repeated
from drive_trace.comparison import runs as compared
from drive_trace.comparison.answer import (
    Answer,
    Comparison,
    CorrectShare,
    Dollars,
    JudgedShare,
    in_digits,
    p_is,
)
from drive_trace.comparison.comparability import Reason, State
from drive_trace.comparison.statistics import Interval, is_significant
from drive_trace.report import html, metrics
from drive_trace.scorecard.caveats import by_reason
from drive_trace.scorecard.run_score import QUALIFIED
from drive_trace.text import document as doc
from drive_trace.text.html import as_html, document, join, tag
from drive_trace.text.wording import are, duration, factor, first_of, plain, plural

_LEFT, _WIDTH, _ROW = 20, 320, 34
_MOST = 5
_HEADLINE = "All that was spent ÷ CORRECT runs: what the others cost counts, too"
_NO_RATIO = "A cost of nothing has no ratio: the p is by ranks all the same"
_TIED = "Equal costs widen an interval, which can hold 1 though p is below 0.05: the test decides"
_FACTS = "Facts without a verdict, of all runs and on average; a stopped round counts as sent back"
_TOLD = "Told by: so many of the CORRECT runs of the baseline, and of the candidate"
_DOLLARS = "Dollars for each CORRECT run, candidate ÷ baseline"
_OF_ALL = "Told by: so many of all runs of the baseline, and of the candidate"
_ERRORS = (
    "By the judge's calibration (Rogan and Gladen), with an interval for its errors and for so few "
    "runs; the gate takes each verdict as it is"
)
REPEATED = (
    "pass@k: one of k runs at least is CORRECT; pass^k: all are; a case flips where some runs of a "
    "side are CORRECT and others INCORRECT"
)
_TIE_BREAK = (
    "A tie-break, and no answer: it can reward a side that fails the hard case each time. "
    "All that was spent ÷ CORRECT runs cannot."
)
_RANKER = "wall-clock of CORRECT runs ÷ their share"
_NO_CASE = "Nobody says of which case the runs are: all of a side are taken for one."
_TIME = "ms"
_VERDICTS = {"correct": "CORRECT", "incorrect": "INCORRECT"}


class Drawn(NamedTuple):
    """A point with its interval, to be drawn; None is not known, and not drawn."""

    label: str
    """Untrusted."""
    value: float | None
    interval: Interval | None


def as_text(found: Comparison, columns: int) -> str:
    """Tables that are aligned, in at most so many columns where names allow."""
    return doc.as_text([*lead(found, "Answer"), *sections(found)], columns)


def as_markdown(found: Comparison) -> str:
    """A comment on a pull request: what leads to the answer below it, folded."""
    gate, *others = sections(found)
    folded = [each._replace(is_folded=True) for each in others]
    below = doc.as_markdown([gate, *folded], level=2, folds=True)
    return f"{doc.as_markdown(lead(found, 'Drive Trace'))}\n\n{below}"


def html_page(found: Comparison, generator: str) -> str:
    """One file that loads nothing and runs nothing, with the intervals drawn."""
    footer = tag("footer", tag("p", f"Made by {generator}. This file loads nothing."))
    return document(html.STYLE, "", f"Drive Trace: {found.answer.words}", html_body(found), footer)


def html_body(found: Comparison) -> doc.Html:
    """What stands in such a page, which has the style of a report."""
    *power, answer = lead(found, "Answer")
    assert isinstance(answer, doc.Section)
    title = tag("h1", "Drive Trace: candidate against baseline")
    said = tag("p", "Answer: ", tag("strong", found.answer.words), class_="headline")
    header = tag("header", as_html(power), title, said, as_html(answer.blocks))
    return join([header, tag("main", as_html(sections(found)))])


# The document


def power(found: Comparison) -> Iterator[str]:
    """What so many runs can show at all, which is said before anything else. Nothing where a case
    has no runs on a side, or not all have one: it is not for their number that they show nothing.
    """
    if found.gate.smallest_p is not None and found.known[0].state is not State.DIFFERS:
        yield _power(found.gate, plural(len(found.cases), "case"), found.rule.level)
    for side in found.sides:
        for _, runs, why in side.notable:
            yield f"{plural(len(runs), 'run')} of the {side.name} {are(len(runs))} {why}."


def _power(gate: CorrectShare, cases: str, level: float) -> str:
    sizes = f"{plural(gate.candidate.k, 'run')} against {gate.baseline.k:,} in {cases}"
    least = f"the least p that the gate can reach is {in_digits(gate.smallest_p)}"
    if gate.smallest_detectable is None:
        return f"{sizes} can never be significant: {least}, and {level:.2g} is needed."
    about = "about " if gate.test != "fisher" else ""  # see smallest_detectable
    shown = f"{about}{gate.smallest_detectable:.3f}, where one side never passes"
    return f"{sizes}: {least}, and the least difference that it can show {shown}."


def _rule(found: Comparison) -> str:
    """How the answer is found, which is set before it is computed."""
    rule = found.rule
    time = compared.TIMES[rule.time].title
    what = "dollars for each CORRECT run" if rule.by_dollars else f"tokens, {time} or rounds"
    look = "Look {} of {}, as planned. ".format(*rule.look) if rule.look[1] > 1 else ""
    at = f"p ≤ {in_digits(rule.alpha)}".replace("≤ <", "<")
    return (
        f"{look}The gate decides at p ≤ {rule.level:.2g}. Else {what} decide, at {at}, "
        f"which the gate leaves: worse if higher, and better if lower and "
        f"the share of CORRECT runs is not lower by more than {rule.margin:.2f}."
    )


def lead(found: Comparison, title: str) -> list[doc.Block]:
    """What so many runs can show, the rule, and the answer with its reasons."""
    reasons = [_reason(each) for each in found.reasons]
    if found.answer is Answer.CANNOT_TELL:
        reasons += [f"{each.words}." for each in found.power]
    answer = doc.Section(f"{title}: {found.answer.words}", [doc.Bullets(reasons)])
    rule = [_rule(found)] if found.answer is not Answer.NOT_COMPARABLE else []
    return [*map(doc.Paragraph, (*power(found), *rule)), answer]


def _reason(reason: Reason) -> doc.Words:
    return f"{reason.words}: {doc.name(reason.names, 500)}." if reason.names else f"{reason.words}."


def sections(found: Comparison) -> list[doc.Section]:
    """All that follows."""
    return [each._replace(id=f"part-{n}") for n, each in enumerate(_sections(found))]


def _sections(found: Comparison) -> Iterator[doc.Section]:
    yield _gate(found)
    if found.answer is not Answer.NOT_COMPARABLE:
        if found.costs:
            yield _costs(found)
        if found.dollars is not None:
            yield _dollars(found.rule.alpha, found.dollars)
        yield _spent(found)
        if len(found.cases) > 1:
            yield _cases(found.cases)
        if any(repeated.tally(runs).tries for case in found.cases for runs in case[1:]):
            yield _tries(found.cases)
        if found.flips:
            yield _flips(found.flips)
        if found.rank is not None:
            row = (_RANKER, *(_figure(each, _TIME) for each in found.rank))
            yield _section("Ranker", (_TIE_BREAK,), ("ranker", "baseline", "candidate"), [row])
        if found.judged is not None:
            yield _judged(found.judged)
        yield _facts(found.sides)
    yield _known(found)
    yield _inputs(found.sides)


def _section(  # noqa: PLR0913, PLR0917 - the parts of a section
    title: str,
    notes: Sequence[str],
    headers: Sequence[str],
    rows: Sequence[Sequence[doc.Words]],
    drawn: Sequence[Drawn] = (),
    farthest: float | None = None,
    numbers_from: int | None = None,
) -> doc.Section:
    """A table with what there is to know above it, and its intervals as a drawing."""
    drawing = [intervals(title, drawn, farthest)] if drawn else []
    shown = doc.Table(headers, rows, numbers_from=numbers_from)
    return doc.Section(title, [doc.Bullets(notes), *drawing, shown])


def _gate(found: Comparison) -> doc.Section:
    gate, notes = found.gate, []
    tallies = {"baseline": gate.baseline, "candidate": gate.candidate}
    if gate.difference is not None and gate.difference_interval is not None:
        test = "Fisher's exact test" if gate.test == "fisher" else "labels shuffled within cases"
        notes.append(
            f"difference {_figure(gate.difference, '+.3f')} "
            f"{_interval(gate.difference_interval, '+.3f')} "
            "(candidate − baseline; Newcombe: it illustrates, the test decides), "
            f"{p_is(gate.p)} (two-sided, {test})"
        )
    if any(each.not_computable > each.failed for each in tallies.values()):
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
    contested = gate.baseline.incorrect_qualified + gate.candidate.incorrect_qualified
    if contested:
        notes.append(
            f"{plural(contested, 'INCORRECT run')} may be CORRECT, as a caveat says: the answer "
            "has to hold either way"
        )
    notes += [
        f"readers reject {plural(side.rejected, 'line')} of the {side.name}, which "
        f"{are(side.rejected)} not counted"
        for side in found.sides
        if side.rejected
    ]
    return _section(
        "Gate",
        notes,
        ("side", "runs", "CORRECT", "INCORRECT", "not computable", "share of CORRECT"),
        [(name, *_tally(each)) for name, each in tallies.items()],
        [_drawn(name, each) for name, each in tallies.items() if each.k],
        numbers_from=1,
    )


def _tally(each: repeated.Tally) -> tuple[str, ...]:
    others = (f"{count:,}" for count in (each.incorrect, each.not_computable))
    return (f"{each.k:,}", each.passed, *others, _share(each))


def _share(each: repeated.Tally) -> str:
    if each.interval is None:
        return "n/a"
    least, most = (f"{count / each.k:.3f}" for count in (each.least, each.most))
    share = least if least == most else f"{least} to {most}"
    return f"{share} {_interval(each.interval)}"


def _drawn(label: str, each: repeated.Tally) -> Drawn:
    is_known = each.least == each.most
    return Drawn(label, each.correct / each.k if is_known else None, each.interval)


def _costs(found: Comparison) -> doc.Section:
    rows = [
        (
            each.metric.title,
            *_ratio(each),
            in_digits(each.p),
            in_digits(each.adjusted_p) if each.decides else "not used",
            f"{len(each.cases):,}",
            ", ".join(f"{told}/{of}" for told, of in each.told),
        )
        for each in found.costs
    ]
    known = [(each.metric.title, each.ratio, each.interval) for each in found.costs if each.ratio]
    unlike = [each.interval for each in found.costs if each.interval and is_significant(each.p)]
    tied = any(low <= 1 <= high for low, high in unlike)
    drawn = [Drawn(*each) for each in known]
    ratios = [at for _, ratio, interval in known for at in (ratio, *(interval or ()))]
    return _section(
        "Cost of CORRECT runs, candidate ÷ baseline",
        (_TOLD, *[_NO_RATIO] * (len(drawn) < len(found.costs)), *[_TIED] * tied),
        ("cost", "ratio", "95 % interval", "p", "p by Holm", "cases", "told by"),
        rows,
        drawn,
        max([2.0, *ratios, *(1 / at for at in ratios)]),
        numbers_from=1,
    )


def _dollars(alpha: float, dollars: Dollars) -> doc.Section:
    told = ", ".join(f"{told}/{of}" for told, of in dollars.told)
    row = (compared.DOLLARS.title, *_ratio(dollars), told)
    headers = ("cost", "ratio", f"{100 * (1 - alpha):.1f} % interval", "told by")
    return _section(_DOLLARS, (_OF_ALL,), headers, [row], numbers_from=1)


def _ratio(cost: compared.Cost | Dollars) -> tuple[str, str]:
    if cost.ratio is None:
        return "n/a", "n/a"
    bounds = ", ".join(factor(each, 3) for each in cost.interval or ())
    return factor(cost.ratio, 3), f"[{bounds}]" if bounds else "none at this k"


def _spent(found: Comparison) -> doc.Section:
    total = compared.RunsOfCase("all cases", *(side.runs for side in found.sides))
    rows = [
        (doc.name(case.name), metric.title, *(_spent_on(metric, runs) for runs in case[1:]))
        for case in (*found.cases, *([total] if len(found.cases) > 1 else ()))
        for metric in (*compared.SUMS, *[compared.DOLLARS] * found.rule.by_dollars)
    ]
    headers = ("case", "cost", "baseline", "candidate")
    return _section("Cost for each CORRECT run", (_HEADLINE,), headers, rows, numbers_from=2)


def _spent_on(metric: compared.CostMetric, runs: Sequence[compared.ComparedRun]) -> str:
    if not repeated.tally(runs).correct:
        return "none CORRECT"
    return _figure(
        compared.spent_for_each_correct(runs, metric),
        {compared.DOLLARS: ",.2f"}.get(metric, _TIME if metric.key.endswith("_ms") else ",.0f"),
    )


def _cases(cases: Sequence[compared.RunsOfCase]) -> doc.Section:
    rows, drawn = [], []
    for each in cases:
        sides = {
            "baseline": repeated.tally(each.baseline),
            "candidate": repeated.tally(each.candidate),
        }
        said = [f"{side.passed} of {side.k:,}, {_share(side)}" for side in sides.values()]
        rows.append((doc.name(each.name), *said))
        drawn += [_drawn(f"{name}, {each.name}", side) for name, side in sides.items()]
    headers = ("case", "baseline", "candidate")
    return _section("CORRECT by case", (), headers, rows, drawn, numbers_from=1)


def _tries(cases: Sequence[compared.RunsOfCase]) -> doc.Section:
    rows = []
    for case in cases:
        for name, runs in zip(("baseline", "candidate"), case[1:], strict=True):
            if found := repeated.tally(runs).tries:
                flips = "yes" if found.flips else "no"
                rows.append((doc.name(case.name), name, flips, *tried(found)))
    headers = ("case", "side", "flips", *TRIED)
    return _section("Repeated runs", (REPEATED,), headers, rows, numbers_from=3)


TRIED = ("k", "pass@k", "pass^k")


def tried(found: repeated.Tries) -> tuple[str, ...]:
    """The figures under :data:`TRIED`."""
    any_of = f"{_figure(found.any_correct, '.3f')} {_interval(found.any_interval)}"
    all_of = f"{_figure(found.all_correct, '.3f')} {_interval(found.all_interval)}"
    return str(found.k), any_of, all_of


def _flips(flips: Sequence[repeated.Flip]) -> doc.Section:
    rows = [
        (
            *(doc.name(each.case), f"{_VERDICTS[each.before]} → {_VERDICTS[each.after]}"),
            *(_named([*map(_run, runs)]) for runs in (each.baseline_runs, each.candidate_runs)),
        )
        for each in flips
    ]
    qualified = sum(len(each.qualified) for each in flips)
    note = f"{plural(qualified, 'CORRECT run')} of these may be something else, as a caveat says"
    headers = ("case", "from → to", "runs of the baseline", "runs of the candidate")
    return _section("Flips", (note,) if qualified else (), headers, rows)


def _run(run: compared.ComparedRun) -> str:
    """The run's id, and what qualifies its CORRECT."""
    caveats = run.score.qualifying if run.score.standing == QUALIFIED else ()
    return f"{run.run_id} ({'; '.join(each.short for each in caveats)})" if caveats else run.run_id


def _judged(sides: tuple[JudgedShare, JudgedShare]) -> doc.Section:
    rows = [
        (
            *(name, f"{each.passed:,} of {each.of:,}"),
            f"{each.passed / each.of:.3f} {_interval(each.interval)}",
            f"{each.corrected:.3f} {_interval(each.corrected_interval)}",
        )
        for name, each in zip(("baseline", "candidate"), sides, strict=True)
    ]
    headers = ("side", "passed", "share", "share that people would pass")
    return _section("Intent, and the judge's errors", (_ERRORS,), headers, rows, numbers_from=1)


def _facts(sides: tuple[compared.Side, compared.Side]) -> doc.Section:
    rows = [
        (title, *(_figure(at, rate_as) for side in sides for at in side.facts[title]))
        for title, (_, rate_as) in compared.DIFFERENCES.items()
    ]
    headers = ("fact", "baseline", "per run", "candidate", "per run")
    return _section("Differences", (_FACTS,), headers, rows, numbers_from=1)


def _known(found: Comparison) -> doc.Section:
    rows = [
        (each.name, str(each.state), _named(each.baseline), _named(each.candidate))
        for each in found.known
    ]
    case = found.known[0]
    is_known = case.baseline or case.candidate or not found.cases
    headers = ("fact", "state", "baseline", "candidate")
    return _section("What is known of the runs", () if is_known else (_NO_CASE,), headers, rows)


def _inputs(sides: tuple[compared.Side, compared.Side]) -> doc.Section:
    """Where the runs are from, and what of it does not count."""
    rows = [(side.name, *row) for side in sides for row in _input(side)]
    return _section("What was read", (), ("side", "what", "which"), rows)


def _input(side: compared.Side) -> Iterator[tuple[str, str]]:
    yield plural(len(side.files), "file"), _named(side.paths)
    for what, runs, _ in side.notable:
        yield f"{plural(len(runs), 'run')} {what}", _named(runs)
    for metric, runs in side.doubted.items():
        yield f"{metric.title} doubted: {plural(len(runs), 'run')}", _named(runs)
    for what, files in (("not read", side.unread), ("left out", side.left_out.files)):
        for reason, paths in by_reason(files).items():
            yield doc.name(f"{what}: {reason}"), _named(paths)
    rejecting = [each.path for each in side.files if each.rejected_lines]
    if rejecting:
        yield f"{plural(side.rejected, 'line')} rejected", _named(rejecting)


def _named(names: Sequence[str]) -> doc.Words:
    """The first few of some names."""
    return doc.name(first_of(names, _MOST) or "unknown")


def _figure(value: metrics.Value, spec: str = "") -> str:
    if not isinstance(value, int | float):
        return "n/a"
    if spec == _TIME:
        return duration(round(value))
    return f"{value:{spec or (',' if isinstance(value, int) else ',.2f')}}".replace("-", "−")


def _interval(interval: Interval, spec: str = ".3f") -> str:
    return f"[{', '.join(_figure(each, spec) for each in interval)}]"


def intervals(title: str, drawn: Sequence[Drawn], farthest: float | None) -> doc.Html:
    """A line for each interval below its name, and a square at its value. Where the values are
    ratios, ``farthest`` is the largest: they go from its inverse to it. None for shares.
    """
    marks = (0, 0.5, 1) if farthest is None else (1 / farthest, 1, farthest)

    def x(value: float) -> float:
        share = value if farthest is None else (math.log(value, farthest) + 1) / 2
        return round(_LEFT + _WIDTH * min(max(share, 0.0), 1.0), 1)

    bottom = _ROW * len(drawn)
    shapes = []
    for at in marks:
        kind = "axis" if farthest is None or at != 1 else "same"
        shapes.append(tag("line", x1=x(at), x2=x(at), y1=0, y2=bottom, class_=kind))
        said, y = f"{at:.2f}", bottom + 14
        shapes.append(tag("text", said, x=x(at), y=y, text_anchor="middle", class_="soft"))
    for number, each in enumerate(drawn):
        y = _ROW * number + 24
        shapes.append(tag("text", plain(each.label, 50), x=_LEFT, y=y - 10))
        if each.interval is not None:
            low, high = each.interval
            shapes.append(tag("line", x1=x(low), x2=x(high), y1=y, y2=y))
        if each.value is not None:
            shapes.append(tag("rect", x=x(each.value) - 3, y=y - 3, width=6, height=6))
    box = f"0 0 {2 * _LEFT + _WIDTH} {bottom + 20}"
    label = f"{title}: 95 % intervals, which the table below has"
    return tag("svg", join(shapes), viewBox=box, class_="intervals", role="img", aria_label=label)
