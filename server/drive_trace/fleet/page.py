"""The page of a fleet: the table of its runs, and what they say together."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import accumulate, islice
from typing import Any, NamedTuple

from drive_trace.comparison.answer import p_is
from drive_trace.comparison.render import REPEATED, TRIED, Drawn, intervals, tried
from drive_trace.comparison.repeated import tries
from drive_trace.comparison.statistics import ALPHA, Counts, Interval, difference, gate_p
from drive_trace.grading.calibration import share, wilson
from drive_trace.report import fleet as table
from drive_trace.report.fleet import FleetSummary, Row, can_be_correct
from drive_trace.report.html import page_file
from drive_trace.report.sections import INTEREST, figure, token_figure
from drive_trace.scorecard.card import ScoreCard
from drive_trace.scorecard.render import not_read
from drive_trace.scorecard.run_score import STANDINGS, Verdict
from drive_trace.storage.compared_sides import case_beside
from drive_trace.text import document as doc
from drive_trace.text.document import Html
from drive_trace.text.html import as_html, file_address, join, navigation, tag, words
from drive_trace.text.wording import compact, plural, short_time

TITLE = "Drive Trace: all runs"
_OVER_TIME = "Share of CORRECT over time"
_UNKNOWN = "unknown"
_MOST = 10
_FIGURES = (
    *("halts", "work", "clock", "dispatches", "rounds", "reworked", "escalated", "rejected"),
    *("tokens in / out", "found in places"),
)
_DECIDED = "What changed leaves out runs without a certain verdict: grading them may change it."
_SPENT = (
    "All that was spent ÷ CORRECT runs: what the others cost counts, too. Runs that may be CORRECT "
    "make it a range, and runs that do not tell what they cost “at least”."
)


class Fleet(NamedTuple):
    """What the page is about."""

    rows: Sequence[Row]
    summary: FleetSummary
    """It took in these rows."""
    files: int
    card: ScoreCard
    """Without runs: what was not read."""
    paths: Mapping[str, str]
    """By the id of a run that of its trace, from the root, where that is a file."""


def fleet_html(fleet: Fleet, generator: str) -> str:
    """The page as one file; its footer names ``generator``."""
    links = {run_id: file_address(path) or "" for run_id, path in fleet.paths.items()}
    return page_file(TITLE, generator, _body(fleet, links))


def fleet_body(fleet: Fleet) -> Html:
    """What the page shows, for an editor, which has the style and the script already. Names lead to
    the first lines of files, which are numbered as the rows are.
    """
    return _body(fleet, {row.run_id: f"l-{at}-1" for at, row in enumerate(fleet.rows)})


def _body(fleet: Fleet, links: Mapping[str, str]) -> Html:
    sections = enumerate((*_sections(fleet, links), *fleet.summary.sections(["project"])))
    shown = [each._replace(id=f"part-{at}" if at else "runs") for at, each in sections]
    omitted = *not_read(fleet.card), fleet.card.left_out.sentence(doc.name)
    warnings = [tag("p", words(each)) for each in omitted if each]
    count, *said = fleet.summary.said(fleet.files)
    head = tag("strong", count), warnings, [tag("p", each) for each in said if each]
    page = (
        tag("a", "Skip to the runs", href="#runs", class_="skip"),
        tag("header", tag("h1", TITLE), tag("div", *head, class_="headline")),
        navigation("page", shown),
        tag("main", as_html(shown)),
    )
    return join(page)


def _sections(fleet: Fleet, links: Mapping[str, str]) -> Iterator[doc.Section]:
    rows = sorted(fleet.rows, key=_interest)
    if not rows:
        yield doc.Section("All runs", [doc.Paragraph("No run was found.")])
        return
    yield doc.Section("All runs", [_table("All runs", rows, links)])
    by_month: dict[str, list[Row]] = defaultdict(list)
    for row in sorted(rows, key=lambda row: row.month or "~"):
        by_month[row.month or _UNKNOWN].append(row)
    yield _over_time(by_month)
    groups = {**by_month, "all": rows}
    spent = [[doc.name(name), f"{len(some):,}", *_spent(some)] for name, some in groups.items()]
    headers = ("month", "runs", "tokens in + out for each CORRECT", "work for each CORRECT")
    costs = doc.Table(headers, spent, numbers_from=1)
    yield doc.Section("Cost for each CORRECT run", [doc.Paragraph(_SPENT), costs])
    sizes: dict[str, Callable[[Row], float]] = {
        "Most work": lambda row: row.work_ms or 0,
        "Most reworked": lambda row: row.rounds if row.reworked else 0,
    }
    for title, size in sizes.items():
        ranked = [each for each in sorted(rows, key=size, reverse=True)[:_MOST] if size(each)]
        yield doc.Section(title, [_table(title, ranked, links)])
    yield _flaky(fleet)


# Tables


def _interest(row: Row) -> tuple[object, ...]:
    place = INTEREST.index(row.standing)
    return place > 0 and not row.halts, place, -row.rejected_lines, -row.reworked


def _table(label: str, rows: Sequence[Row], links: Mapping[str, str]) -> doc.Table:
    count = len(_FIGURES) - all(row.findings is None for row in rows)
    cells = [
        [
            doc.named_link(links.get(row.run_id, ""), row.run_id, 60),
            _verdict(row),
            *islice(_figures(row), count),
            table.tail(row.project),
            doc.name((row.last or "")[:16].replace("T", " ")),
        ]
        for row in rows
    ]
    return doc.Table(
        ("run", "verdict", *_FIGURES[:count], "project", "last event (UTC)"),
        cells,
        label=label,
        numbers_from=2,
        numbers_before=2 + count,
        wide=(1,),
        what="runs",
        is_sortable=len(rows) > _MOST,
    )


def _verdict(row: Row) -> doc.Lines:
    caveats = f"caveats: {', '.join(row.caveats).replace('-', ' ')}" if row.caveats else ""
    said = filter(None, (row.headline.partition(" — ")[2], caveats))
    return doc.Lines([doc.chip(STANDINGS[row.standing], row.standing), *said])


def _figures(row: Row) -> Iterator[doc.Cell]:
    """What happened. Tokens are Tier 2, which is for CORRECT runs."""
    yield figure(row.halts)
    for time in (row.work_ms, row.clock_ms):
        yield figure(time, short_time(None if time is None else round(time)))
    for count in (row.dispatches, row.rounds, row.reworked, row.escalations, row.rejected_lines):
        yield figure(count)
    tokens = [row.input_tokens, row.output_tokens] if row.verdict == Verdict.CORRECT else []
    yield token_figure(tokens)
    found = None if row.findings is None else sum(row.findings.values())
    yield figure(found, "unknown" if found is None else None)


def _shares(what: str, groups: Mapping[str, Sequence[Row]]) -> doc.Table:
    rows = [[doc.name(name, 80), *table.rate(some)] for name, some in groups.items()]
    return doc.Table((what, *table.RATES), rows, numbers_from=1, is_sortable=len(rows) > _MOST)


# Together


def _bounds(rows: Sequence[Row]) -> tuple[int, int]:
    """How many runs are CORRECT at least, and at most."""
    return sum(row.standing == Verdict.CORRECT for row in rows), sum(map(can_be_correct, rows))


def _over_time(by_month: Mapping[str, Sequence[Row]]) -> doc.Section:
    drawn = []
    for name, rows in by_month.items():
        least, most = _bounds(rows)
        is_known, label = (least, most) != (0, len(rows)), f"{name}: not known"
        ends = wilson(least, len(rows))[0], wilson(most, len(rows))[1]
        share_of = least / len(rows) if least == most else None
        drawn.append(Drawn(name, share_of, ends) if is_known else Drawn(label, None, None))
    said = doc.Bullets([*_changes(by_month), _DECIDED])
    chart = intervals(_OVER_TIME, drawn, None)
    return doc.Section(_OVER_TIME, [said, chart, _shares("month", by_month)])


def _changes(by_month: Mapping[str, Sequence[Row]]) -> Iterator[str]:
    decided = {
        name: (_bounds(sure)[0], len(sure))
        for name, rows in by_month.items()
        if name != _UNKNOWN and (sure := [*filter(_is_decided, rows)])
    }
    names, passes = [*decided], [*decided.values()]
    found, best = [*changes(passes)], likeliest(passes)
    for each in found:
        yield _said(each, names)
    if len(found) >= MOST_WITHIN:
        yield f"There may be more changes: at most {MOST_WITHIN} within one another are looked for."
    if best is None:
        yield "Whether the share changed cannot be told: it takes verdicts of two months."
    elif not found:
        yield (
            f"No change of the share can be told from chance: the likeliest is {names[best.first]},"
            f" {p_is(best.p)} for the best of {plural(best.tried, 'moment')}."
        )


def _is_decided(row: Row) -> bool:
    return row.is_certain and row.verdict != Verdict.NOT_COMPUTABLE


def _said(change: RateChange, names: Sequence[str]) -> str:
    before, all_before, after, all_after = change.counts
    first, earliest, latest = names[change.first], names[change.earliest], names[change.latest]
    low, high = (f"{each:+.2f}" for each in change.interval)
    others = f" (or with a month from {earliest} to {latest})" if earliest < latest else ""
    said = (
        f"Of runs with a certain verdict, the share {'rose' if change.difference > 0 else 'fell'} "
        f"from {share(before, before, all_before)} to {share(after, after, all_after)} "
        f"with {first}{others}: a difference of {change.difference:+.2f} [{low}, {high}], "
        f"{p_is(change.p)} for the best of {plural(change.tried, 'moment')}. "
        "It says when, and not why."
    )
    return re.sub(r"-(?=0\.)", "−", said)


def _spent(rows: Sequence[Row]) -> list[str]:
    tokens = [(row.input_tokens, row.output_tokens) for row in rows]
    known = [int(one) + int(two) for one, two in tokens if one is not None and two is not None]
    times = [row.work_ms for row in rows if row.work_ms is not None]
    return [_per_correct(known, rows, compact), _per_correct(times, rows, short_time)]


def _per_correct(costs: Sequence[Any], rows: Sequence[Row], said: Callable[[int], str]) -> str:
    least, most = _bounds(rows)
    is_any = any(row.verdict == Verdict.CORRECT for row in rows)
    if not is_any or not costs:
        return "n/a" if is_any else "no CORRECT run"
    cost = sum(map(Fraction, costs))  # a float may not hold it
    lowest = said(round(cost / most))
    if len(costs) < len(rows):
        return f"at least {lowest} ({len(costs):,} of {len(rows):,} tell)"
    if not least:
        return f"at least {lowest}"
    return lowest if least == most else f"{lowest} to {said(round(cost / least))}"


def _flaky(fleet: Fleet) -> doc.Section:
    """The cases that came out both ways: what the manifests beside the traces say is read here."""
    cases = {path: case_beside(path) for path in {*fleet.paths.values()}}
    by_case: dict[str, list[Row]] = defaultdict(list)
    for row in fleet.rows:
        if (case := cases.get(fleet.paths.get(row.run_id, ""))) is not None:
            by_case[case].append(row)
    both = {Verdict.CORRECT, Verdict.INCORRECT}
    flaky = {
        case: rows
        for case, rows in sorted(by_case.items(), key=lambda item: (-len(item[1]), item[0]))
        if both <= {row.standing for row in rows if row.is_certain}
    }
    known = sum(map(len, by_case.values()))
    of = f"{known:,} of {plural(len(fleet.rows), 'run')} have a manifest that says their case"
    said = f"{plural(len(flaky), 'case')} of {len(by_case):,} came out CORRECT and INCORRECT; {of}."
    shown = [
        [doc.name(case, 80), *table.rate(rows), *tried(found)]
        for case, rows in flaky.items()
        if (found := tries(len(rows), *_bounds(rows), flips=True)) is not None
    ]
    headers = ("case", *table.RATES, *TRIED)
    if not shown:
        return doc.Section("Flaky cases", [doc.Paragraph(said)])
    told = doc.Table(headers, shown, numbers_from=1, is_sortable=len(shown) > _MOST)
    return doc.Section("Flaky cases", [doc.Paragraph(said), told, doc.Paragraph(f"{REPEATED}.")])


# Where the share of CORRECT runs changed from month to month, and how sure that is


_WITHIN = 3.84 / 2
"""Log-likelihoods that differ by less are in one 95 % interval: half of a χ² of one degree."""

_EXACT = 10_000
"""Of more runs the test is by the likelihood ratio, as the exact one takes long."""

MOST_WITHIN = 12
"""So many changes are looked for within one another: the time grows with the months alone."""

Passes = tuple[int, int]
"""How many runs of a month are CORRECT, and how many have a verdict."""


class RateChange(NamedTuple):
    """Months are told by their place."""

    first: int
    """The first month after the most likely moment ..."""
    earliest: int
    latest: int
    """... which may be from this one to that one, at 95 %."""
    counts: Counts
    """Of the months before it, and of those from it on."""
    difference: float
    interval: Interval
    p: float
    """By the exact test, of very many runs by the likelihood ratio, times the moments that were
    tried; at most 1.
    """
    tried: int


def changes(months: Sequence[Passes], alpha: float = ALPHA, start: int = 0) -> Iterator[RateChange]:
    """The changes that chance hardly explains, in order: the most likely one, and on either side of
    it those for half of ``alpha``, down to :data:`MOST_WITHIN`.
    """
    if alpha < ALPHA / 2 ** (MOST_WITHIN - 1):
        return
    found = likeliest(months)
    if found is None or found.p > alpha:
        return
    at = found.first
    yield from changes(months[:at], alpha / 2, start)
    moved = {name: getattr(found, name) + start for name in ("first", "earliest", "latest")}
    yield found._replace(**moved)
    yield from changes(months[at:], alpha / 2, start + at)


def likeliest(months: Sequence[Passes]) -> RateChange | None:
    """The moment that parts the months best, whatever chance makes of it; None for one month."""
    if len(months) < 2:
        return None
    passed, of = ([*accumulate(each, initial=0)] for each in zip(*months, strict=True))
    likely = {
        at: _likelihood(passed[at], of[at]) + _likelihood(passed[-1] - passed[at], of[-1] - of[at])
        for at in range(1, len(months))
    }
    best = max(likely, key=likely.__getitem__)
    near = [at for at, each in likely.items() if likely[best] - each <= _WITHIN]
    counts = Counts(passed[best], of[best], passed[-1] - passed[best], of[-1] - of[best])
    is_small = counts.baseline + counts.candidate <= _EXACT
    # χ² of one degree, were nothing chosen.
    gained = 2 * (likely[best] - _likelihood(passed[-1], of[-1]))
    p = gate_p([counts]) if is_small else math.erfc(math.sqrt(max(gained, 0.0) / 2))
    p = min(1.0, p * len(likely))
    return RateChange(best, near[0], near[-1], counts, *difference([counts]), p, len(likely))


def _likelihood(passed: int, of: int) -> float:
    return sum(part * math.log(part / of) for part in (passed, of - passed) if part)
