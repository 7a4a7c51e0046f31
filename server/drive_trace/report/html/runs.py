"""The sections of a report that are about runs: verdicts, the scorecard and the timelines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from drive_trace.report.contents import FullReport
from drive_trace.report.figures import (
    DISPATCH_HEADERS,
    chosen,
    cut_dispatches,
    dispatch_name,
    dispatch_rows,
)
from drive_trace.report.html.charts import Bar, bar_chart, timeline_chart
from drive_trace.report.html.markup import (
    Content,
    Html,
    left_out,
    section,
    table,
    tag,
    untrusted,
)
from drive_trace.report.timeline import DispatchSpan
from drive_trace.scorecard.card import RunScore
from drive_trace.scorecard.render import (
    TOKEN_LABELS,
    brief,
    caveats,
    hidden_because,
    judging,
    measures,
    not_read,
    totals,
    unowned,
)
from drive_trace.scorecard.render import left_out as traces_left_out
from drive_trace.scorecard.verdict import Verdict, cause, what_would_change_it
from drive_trace.text.escaping import plain
from drive_trace.vocabulary import CORRECTNESS_FIELDS

_MOST_LISTED = 300
_MOST_RUNS = 30
_MOST_DISPATCHES = 40


def headline_of(report: FullReport) -> Html:
    """The verdict with its cause; of several runs, how many are CORRECT."""
    card = report.card
    if len(card.runs) == 1:
        run = card.runs[0]
        kind = run.standing
        parts = [tag("strong", run.headline.partition(" — ")[0])]
        parts += [tag("p", cause(run.gate)), tag("p", "Run ", untrusted(run.run_id))]
        parts += [tag("p", f"⚠ {each}.") for each in caveats(run, plain)]
    else:
        kind = str(Verdict.CORRECT if card.all_earned else Verdict.NOT_COMPUTABLE)
        parts = [tag("strong", card.headline)]
    if not card.complete:
        kind = str(Verdict.NOT_COMPUTABLE)
        warnings = [tag("p", f"⚠ {each}", class_="warn") for each in not_read(card, plain)]
        parts = [*warnings, *parts]
    if report.warning:
        parts.append(tag("p", report.warning))
    parts.append(tag("p", report.line_counts))
    return tag("div", parts, class_=f"headline {kind}")


def scorecard(report: FullReport) -> Html:
    """Tier 1 and Tier 2: all runs in a table, then one after another."""
    runs = report.card.runs
    content: list[Content] = []
    if len(runs) > 1:
        rows = [_row(run) for run in runs[:_MOST_LISTED]]
        headers = ("run", "verdict", "why", "efficiency", "files")
        content.append(table("All runs", headers, rows, label="All runs", wide=(2, 4)))
        content.append(left_out(len(runs) - _MOST_LISTED, "runs"))
    if len(runs) != 1:
        content += [tag("p", line) for line in totals(report.card, plain)]
    else:
        phrases = [*unowned(report.card, plain), *traces_left_out(report.card)]
        content += [tag("p", line, class_="warn") for line in phrases]
    content += [_card(run, number) for number, run in enumerate(runs[:_MOST_RUNS])]
    content.append(left_out(len(runs) - _MOST_RUNS, "runs in full"))
    return section("scorecard", "Scorecard", *content)


def _row(run: RunScore) -> list[Content]:
    files = [tag("div", untrusted(part.path)) for part in run.parts[:5] if part.path]
    if len(run.parts) > 5:
        files.append(tag("div", f"and {len(run.parts) - 5} more"))
    notes = [tag("div", cause(run.gate))]
    notes += [tag("div", f"⚠ {each}") for each in caveats(run, plain)]
    shown = "hidden" if run.efficiency is None else brief(run.efficiency) or "no signal"
    return [untrusted(run.run_id), _chip(run), notes, shown, files]


def _card(run: RunScore, number: int) -> Html:
    recorded = run.correctness.values if run.correctness is not None else {}
    components = [
        [name, str(value), "recorded from outside the run"]
        if (value := recorded.get(name)) is not None
        else [name, "not recorded", "no signal"]
        for name in CORRECTNESS_FIELDS
    ]
    title = tag("h3", untrusted(run.run_id), " ", id=f"run-{number}")
    parts: list[Content] = [title, tag("p", _chip(run), tag("span", f" — {cause(run.gate)}"))]
    parts += [tag("p", f"⚠ {each}.", class_="warn") for each in caveats(run, plain)]
    caption = "Tier 1, correctness"
    headers = ("component", "result", "source")
    parts.append(table(caption, headers, components, label=f"{caption} of run {number + 1}"))
    parts += [tag("p", phrase) for phrase in judging(run, plain)]
    parts.append(tag("p", *_decided_by(run), " ", what_would_change_it(run.gate)))
    parts += [tag("p", sentence) for sentence in [run.provenance.sentence] if sentence]
    parts += _efficiency(run, number)
    return tag("article", *parts, "\n", aria_labelledby=f"run-{number}")


def _chip(run: RunScore) -> Html:
    return tag("span", run.headline.partition(" — ")[0], class_=f"chip {run.standing}")


def _decided_by(run: RunScore) -> Iterator[Content]:
    if run.correctness is None:
        yield "Nothing was graded yet."
        return
    yield f"Decided by line {run.correctness.line}"
    if run.correctness.path:
        yield " of "
        yield untrusted(run.correctness.path)
    yield "."


def _efficiency(run: RunScore, number: int) -> Iterator[Content]:
    efficiency = run.efficiency
    if efficiency is None:
        yield tag("p", f"Tier 2, efficiency: hidden: {hidden_because(run)}.")
        return
    caption = "Tier 2, efficiency"
    label = f"Tier 2 of run {number + 1}"
    yield table(caption, ("measure", "value"), measures(efficiency), label=label, numbers_from=1)
    yield tag("p", "For every measure lower is better. Time and rework are this run's alone.")
    bars = [
        Bar(TOKEN_LABELS[name], value, f"{value:,}")
        for name, value in efficiency.tokens.items()
        if value is not None and value < 10**15
    ]
    if bars:
        described = "; ".join(f"{bar.label}: {bar.phrase}" for bar in bars)
        yield bar_chart(f"tokens-{number}", "Tokens of this CORRECT run", described, bars)


def dispatches(report: FullReport) -> Html:
    """The dispatches of each run in time, their rework, and both as a table."""
    runs = list(report.timelines.items())
    content: list[Content] = [
        tag(
            "p",
            "Facts, not a score. Upper bar: by the clock, a piece for each round. Lower bar: the "
            "time that the trace claims (author-asserted).",
            class_="soft",
        )
    ]
    if not runs:
        content.append(tag("p", "No dispatch was recorded."))
    for number, (run_id, spans) in enumerate(runs[:_MOST_RUNS]):
        content.append(_timeline(number, run_id, spans))
    content.append(left_out(len(runs) - _MOST_RUNS, "runs"))
    return section("dispatches", "Dispatches and rounds", *content)


def _timeline(number: int, run_id: str, spans: Sequence[DispatchSpan]) -> Html:
    shown = chosen(spans, _MOST_DISPATCHES)
    heading = tag("h3", "Dispatches of ", untrusted(run_id), id=f"dispatches-{number}")
    name = plain(run_id, 60)
    chart = timeline_chart(f"time-{number}", f"Timeline of {name}", shown)
    if chart is None:
        chart = tag("p", "No timestamp of a dispatch can be read, so there is no timeline.")
    bars = [Bar(dispatch_name(each), each.round_starts, f"{each.round_starts:,}") for each in shown]
    rework = bar_chart(
        f"rework-{number}",
        f"Rework: rounds a dispatch of {name}",
        "How many rounds were started in each dispatch; lower is better. The table has the same.",
        bars,
    )
    rows = [
        [untrusted(first), untrusted(model), *cells]
        for first, model, *cells in dispatch_rows(shown)
    ]
    as_table = table(
        "The same as a table",
        DISPATCH_HEADERS,
        rows,
        label=f"Dispatches of {name}",
        wide=(0, 4),
    )
    cut = tag("p", phrases, class_="soft") if (phrases := cut_dispatches(spans, shown)) else None
    rework_title = tag("h4", "Rework: rounds a dispatch")
    return tag("article", heading, cut, chart, rework_title, rework, as_table, "\n")
