"""The scorecard in words: as a document, in a line for a lens, and as a table for a terminal."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from drive_trace.scorecard import run_score
from drive_trace.scorecard.card import NO_RUN_SIGNAL, ScoreCard
from drive_trace.scorecard.caveats import (
    ILLEGIBLE,
    LONGEST_REASON,
    CaveatCode,
    Gone,
    LineRef,
    lack,
    uncounted_phrases,
)
from drive_trace.scorecard.measures import Efficiency, NotableDispatch, RunFacts, WallClock, covered
from drive_trace.scorecard.run_score import RunScore, Verdict, cause, what_would_change_it
from drive_trace.text import document as doc
from drive_trace.text import wording
from drive_trace.text.wording import (
    are,
    compact,
    duration,
    listed,
    plain,
    plural,
    printable,
    short_time,
)
from drive_trace.vocabulary import CORRECTNESS_FIELDS, GRADE, TOKEN_FIELDS

if TYPE_CHECKING:
    from drive_trace.grading.judgements import Judgement

NO_SIGNAL = "n/a (no signal)"
_MOST_UNREAD = 10
_MOST_FILES = 10
"""Of a run that are listed."""


def lens_title(run: RunScore, verdict: str | None = None) -> str:
    """The verdict first, efficiency for a CORRECT run, what happened, and then other caveats.
    ``verdict`` is how it is worded where that is more than the headline.
    """
    return " · ".join(filter(None, [verdict or run.headline, _happened(run), *unsaid(run)]))


def _happened(run: RunScore) -> str:
    """What a CORRECT run cost, and what happened in any. One time is told."""
    cost = run.efficiency
    is_timed = cost is not None and cost.wall_clock.ms is not None
    told = brief(cost) if cost is not None else "", in_short(run, with_work=not is_timed)
    return " · ".join(filter(None, told))


def unsaid(run: RunScore) -> list[str]:
    """The caveats that neither the headline nor the outline names, in short."""
    is_correct = run.gate.verdict is Verdict.CORRECT  # then the headline has those that qualify
    others = [each for each in run.caveats if not (is_correct and each.qualifies)]
    return [each.short for each in others if each.code is not CaveatCode.REJECTED_LINE]


def brief(efficiency: Efficiency) -> str:
    """``1.9M in · 42k out · 28m by the clock · 1.4 rounds/dispatch``; what has no signal is left
    out.
    """
    parts = [*tokens_in_short(efficiency)]
    clock = efficiency.wall_clock
    if clock.ms is not None:
        how, whole = clocked(clock), "by the clock"
        parts.append(f"{duration(clock.ms)} {how if how == whole else f'wall-clock ({how})'}")
    rounds = efficiency.rounds
    if rounds.mean is not None:
        of = f" ({covered(rounds)})" if rounds.counted < rounds.of else ""
        parts.append(f"{rounds.mean:.1f} rounds/dispatch{of}")
    return " · ".join(parts)


def tokens_in_short(efficiency: Efficiency) -> Iterator[str]:
    """``1.9M in``, ``42k out``."""
    for name, word in (("input_tokens", "in"), ("output_tokens", "out")):
        count = efficiency.tokens[name]
        if count is not None:
            yield f"{compact(count)} {word}{_of_runs(efficiency, name)}"


def clocked(clock: WallClock) -> str:
    """What a wall-clock time is over: ``12 of 16 dispatches, as claimed``."""
    phrases = []
    if clock.clocked:
        is_whole = not clock.of and not clock.missing
        runs = f"{plural(clock.clocked, 'run')} "
        phrases.append(f"{'' if is_whole else runs}by the clock")
    if clock.of:
        how = "measured" if clock.measured == clock.counted else "claimed"
        some = f", {clock.measured:,} measured" if how == "claimed" and clock.measured else ""
        phrases.append(f"{covered(clock)}, as {how}{some}")
    if clock.missing:
        phrases.append(f"{plural(clock.missing, 'run')} without")
    return "; ".join(phrases)


def _of_runs(efficiency: Efficiency, name: str) -> str:
    """Over how many of the runs a sum of tokens goes, where that is not all."""
    counted = efficiency.token_runs[name] if efficiency.token_runs else efficiency.runs
    return f" ({counted:,} of {efficiency.runs:,} runs)" if counted < efficiency.runs else ""


def run_card(
    run: RunScore, verdict: str | None = None, line: LineWords | None = None
) -> list[doc.Block]:
    """The whole two-tier card of a run; small, as editors give a hover little room. ``verdict``
    says it in other words than the run's headline; for ``line`` see :func:`outline`.
    """
    first = f"{doc.strong(verdict or run.headline)} · run {doc.name(run.run_id)}"
    return [*map(doc.Paragraph, [first, *outline(run, line)]), *card_blocks(run, line)]


def card_blocks(run: RunScore, line: LineWords | None = None) -> list[doc.Block]:
    """The card below the verdict and the run's id."""
    return [*caveats(run), *tiers(run, decided_by(run, line))]


def tiers(run: RunScore, decided: str = "") -> list[doc.Block]:
    """Both tiers and what they rest on, with what was ``decided`` between them."""
    recorded = run.correctness.values if run.correctness is not None else {}
    graded = " · ".join(
        f"{name} {doc.strong(str(recorded.get(name) or 'not recorded'))}"
        for name in CORRECTNESS_FIELDS
    )
    said = [
        f"{doc.soft('Tier 1, correctness:')} {graded}",
        *judging(run),
        *filter(None, [decided, run.provenance.sentence(run.event_count)]),
        *histories(run),
    ]
    if run.efficiency is None:
        said.append(f"{doc.soft('Tier 2, efficiency:')} hidden: {hidden_because(run)}.")
        return [*map(doc.Paragraph, said)]
    said.append(doc.soft("Tier 2, efficiency:"))
    note = "For every measure lower is better. Time and rework are this run's alone."
    rows, label = measures(run.efficiency), "Tier 2, efficiency"
    figures = doc.Table(("measure", "value"), rows, label, numbers_from=1)
    return [*map(doc.Paragraph, said), figures, doc.Paragraph(note)]


def caveats(run: RunScore) -> list[doc.Block]:
    """The caveats of a run, a sentence each."""
    return [doc.Paragraph(f"{each.sentence(doc.name)}.", is_warning=True) for each in run.caveats]


def judging(run: RunScore) -> Iterator[doc.Words]:
    """Which gates the grade rests on, who judged the intent and how far they were calibrated;
    nothing of what was not recorded.
    """
    for component, gate in run.gates.items():
        did = f"{component}: {gate.outcome}, by {doc.quoted(_short(gate.words, 120))}"
        tree = "" if gate.clean is not False else ", in a tree with changes"
        at = f", at {doc.name(wording.short_hash(gate.commit))}{tree}" if gate.commit else ""
        ended = f", {plural(gate.failed, 'case')} failed" if gate.failed is not None else ""
        yield f"{did}{ended}{at}, by its record"
    grade = run.correctness
    intent = grade.values["intent"] if grade is not None else None
    if grade is None or intent is None:
        return
    judgement, phrases = run.judgement, [f"intent: {intent}"]
    if judgement is None:
        phrases.append("judge not recorded")
    else:
        asked, reported = judgement.judge.model, judgement.model
        other = f" (reported as {_short(reported, 60)})" if reported and reported != asked else ""
        phrases.append(f"by {_short(asked, 60)}{other}")
        phrases.append(f"prompt v{_short(judgement.judge.prompt_version, 20)}")
        phrases.append(_calibrated(judgement))
        phrases.append(plural(len(judgement.reasons), "reason"))
    yield doc.name(", ".join(phrases))


def histories(run: RunScore) -> Iterator[doc.Words]:
    """What git vouches for of its files; nothing where nobody has asked."""
    for each in run.history:
        of = f" of {doc.name(each.path)}" if len(run.history) > 1 else ""
        yield f"history{of}: {each.words}"


def _short(text: str, most: int) -> str:
    """Cut also where it is longer once it is escaped: it must not push out what follows."""
    return printable(printable(text, most), most)


def _calibrated(judgement: Judgement) -> str:
    if judgement.agreement is None:
        return "not calibrated"
    low, high = judgement.agreement_interval or (0.0, 1.0)
    return f"calibrated {judgement.agreement:.2f} [{low:.2f}, {high:.2f}] by its record"


def hidden_because(run: RunScore) -> str:
    """Why a run's efficiency is not shown."""
    if run.correctness is None:
        return run.gate.uncounted or NO_RUN_SIGNAL
    gate = run.gate
    if gate.missing:
        because = f"{listed(gate.missing)} {are(len(gate.missing))} missing"
    else:
        because = f"{listed(gate.failed)} failed"
    return f"not graded CORRECT ({because})"


def measures(efficiency: Efficiency) -> list[tuple[str, str]]:
    """Tier 2 in full numbers: label and value."""
    rows = [(name.replace("_", " "), _number(efficiency.tokens[name])) for name in TOKEN_FIELDS]
    clock, rounds = efficiency.wall_clock, efficiency.rounds
    how = clocked(clock).replace("by the clock", "start to close, by the clock")
    took = f"{duration(clock.ms or 0)} ({_number(clock.ms)} ms; {how})"
    rows.append(("wall-clock", NO_SIGNAL if clock.ms is None else took))
    mean = NO_SIGNAL if rounds.mean is None else f"{rounds.mean:.2f} ({covered(rounds)})"
    rows.append(("rounds per dispatch", mean))
    return rows


def card_document(card: ScoreCard, most: int | None = None) -> list[doc.Block]:
    """The whole scorecard, ``most`` runs in full."""
    runs = [doc.Section(doc.name(run.run_id), _in_full(run)) for run in card.runs[:most]]
    return [*runs, doc.Section("All runs", [doc.Bullets(totals(card))])]


def _in_full(run: RunScore) -> list[doc.Block]:
    files = _files(run)
    listed: list[doc.Block] = [doc.Paragraph("Files:"), doc.Bullets(files)] if files else []
    head = map(doc.Paragraph, [doc.strong(run.headline), *outline(run)])
    return [*head, *card_blocks(run), *listed]


def _files(run: RunScore) -> list[doc.Words]:
    paths = [part.path for part in run.parts if part.path]
    more = [f"and {len(paths) - _MOST_FILES:,} more"] * (len(paths) > _MOST_FILES)
    return [*map(doc.name, paths[:_MOST_FILES]), *more]


def markdown(card: ScoreCard) -> str:
    """The whole scorecard in Markdown."""
    blocks = [*not_read_blocks(card), *card_document(card)]
    return doc.as_markdown([doc.Section("Scorecard", blocks)])


def text(card: ScoreCard, columns: int = 80) -> str:
    """The whole scorecard for a terminal, at most so many columns where names allow."""
    return doc.as_text([*not_read_blocks(card), *card_document(card)], columns)


def not_read_blocks(card: ScoreCard) -> list[doc.Block]:
    """What could not be read, as a sentence and a list."""
    if card.complete:
        return []
    first, *named = not_read(card)
    return [doc.Paragraph(doc.strong(first), is_warning=True), doc.Bullets(named)]


def not_read(card: ScoreCard) -> Iterator[doc.Words]:
    """What could not be read, a line each: to stand over everything else."""
    count = len(card.not_read)
    if count:
        were = f"{count:,} inputs were" if count > 1 else "1 input was"
        doubt = ", and may say something else about these runs" if card.runs else ""
        as_trace = " as a trace" if all(why == ILLEGIBLE for _, why in card.not_read) else ""
        is_gone = any(isinstance(why, Gone) for _, why in card.not_read)
        said = lack(card.not_read) if is_gone else f"{were} not read{as_trace}"
        yield f"Not complete: {said}{doubt}."
    for path, reason in card.not_read[:_MOST_UNREAD]:
        is_gone = isinstance(reason, Gone)
        said = doc.name(reason, LONGEST_REASON) if is_gone else plain(reason)
        yield f"{doc.name(path)}: {said}" if path else said
    if count > _MOST_UNREAD:
        yield f"and {count - _MOST_UNREAD:,} more"


def totals(card: ScoreCard) -> list[doc.Words]:
    """All runs together, in sentences."""
    lines = [f"{card.headline}."]
    efficiency = card.efficiency
    if card.runs and efficiency is None:
        lines.append(f"Efficiency hidden: {card.hidden_reason}.")
    elif efficiency is not None and brief(efficiency):
        qualified = sum(not run.is_earned for run in card.correct)
        but = f" ({qualified:,} with caveats)" if qualified else ""
        lines.append(f"CORRECT runs together{but}: {brief(efficiency)}.")
    return [*lines, *beside_runs(card)]


def beside_runs(card: ScoreCard) -> Iterator[doc.Words]:
    """The uncounted lines that name no run, file by file, and what a search has not read."""
    for trace in card.traces:
        where = f"{doc.name(trace.path)}, in" if trace.path else "In"
        strays = (each for each in trace.lookalikes if each.run_id is None)
        for phrase in uncounted_phrases([*trace.unowned, *strays]):
            yield f"{where} no known run: {phrase}."
    if card.left_out.files:
        yield f"{card.left_out.sentence(doc.name)}."


def _number(value: int | None) -> str:
    return NO_SIGNAL if value is None else wording.in_full(value)


# As a table for a terminal: a line a run, and below it why and where

_MORE = "`--format text` shows each grade, and what would change the verdict."


def table(card: ScoreCard, columns: int, paint: doc.Paint) -> str:
    """All runs, in at most ``columns`` columns where names allow."""
    rows = [
        [
            doc.name(run.run_id, columns // 3),
            doc.chip(printable(run.word, 200), run.standing),
            # A line ends between two items.
            _happened(run).replace(" ", "\u00a0").replace("·\u00a0", "· "),
        ]
        for run in card.runs
    ]
    shown: list[doc.Block] = [*not_read_blocks(card)]
    shown += [doc.Table(("RUN", "VERDICT", "WHAT HAPPENED"), rows)] * bool(rows)
    shown += [doc.Section(doc.name(run.run_id), [*_about(run)]) for run in card.runs]
    said = [*totals(card), *[_MORE] * bool(rows)]
    shown.append(doc.Section("All runs", [*map(doc.Paragraph, said)]))
    return doc.as_text(shown, columns, paint)


def _about(run: RunScore) -> Iterator[doc.Block]:
    if run.verdict is not Verdict.CORRECT:
        yield doc.Paragraph(cause(run.gate))
    yield from caveats(run)
    said = (*judging(run), *histories(run), *_files(run))
    yield from map(doc.Paragraph, said)


# What happened in a run, in words: what every view says of it first, whatever its verdict.

_MOST_HALTS = 5
_MOST_KINDS = 4
_MOST_NAMED = 3
_JUDGED = "--acceptance FILE --diff FILE --api PROVIDER --model ID --orchestrator-family FAMILY"
LineWords = Callable[[LineRef], doc.Words]
"""Names a line in a view, which may link to it: ``line 88``."""


def outline(run: RunScore, line: LineWords | None = None) -> list[doc.Words]:
    """Say what happened in a run, in two or three sentences. ``line`` names its lines, by default
    by their numbers, and by the file where it has several.
    """
    line = line or plain_line(run)
    return [*filter(None, (_work(run, line), _halts(run, line), _rejected(run)))]


def plain_line(run: RunScore) -> LineWords:
    """Names the lines of a run by their numbers, and by the file where it has several."""
    of_file = len(run.parts) > 1
    return lambda at: f"line {at.line}{f' of {doc.name(at.path)}' * of_file}"


def decided_by(run: RunScore, line: LineWords | None = None) -> doc.Words:
    """The line with the grade that counts, and what would change the verdict."""
    line, grade, said = line or plain_line(run), run.correctness, "Nothing was graded yet."
    rejected = [(part.path, each) for part in run.parts for each in part.rejected]
    for path, each in rejected if run.gate.is_ungraded else ():
        if each.feed == GRADE:
            grade_at = line(LineRef(path, each.line))
            return f"No grade counts: mend {grade_at} (see drive-trace check), or record it again."
    if grade is not None:
        said = f"Decided by {line(LineRef(grade.path, grade.line))}."
    return f"{said} {what_would_change_it(run.gate)}"


def in_short(run: RunScore, *, with_work: bool = True) -> str:
    """What happened in a few words: ``halted twice · 18 dispatches · 6h 12m work · 4 rejected``."""
    return " · ".join(_phrases(run, with_work=with_work))


def _phrases(run: RunScore, *, with_work: bool) -> Iterator[str]:
    facts = run.facts
    if facts.halt_count:
        yield f"halted {_times(facts.halt_count)}"
    if facts.dispatches:
        yield plural(facts.dispatches, "dispatch", "es")
    if facts.work_ms is not None and with_work:
        yield f"{short_time(facts.work_ms)} work"
    if facts.reworked:
        yield f"{facts.reworked:,} reworked"
    if run.rejected and not run.gate.uncounted:
        yield f"{len(run.rejected):,} rejected"


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count:,} times")


def _work(run: RunScore, line: LineWords) -> doc.Words:
    """How many dispatches were completed, over which time, and which stand out."""
    facts = run.facts
    has_more = any(each.other_count or each.rejected or each.unknown for each in run.parts)
    if run.correctness is not None and not has_more:
        feeds = "grade and tokens" if run.tokens is not None else "grade"
        return f"Nothing but its {feeds} was recorded: is its run id right?"
    if not facts.dispatches:
        return "No dispatch was recorded."
    said = f"{facts.completed:,} of {plural(facts.dispatches, 'dispatch', 'es')} completed"
    said += f" in {plural(facts.slices, 'slice')}" if facts.slices else ""
    if facts.work_ms is not None:
        claimed = f", {short_time(facts.claimed_ms)} of it as claimed" if facts.claimed_ms else ""
        said += f" over {short_time(facts.work_ms)} of work{claimed}"
        left = f", not counting {plural(facts.open_rounds, 'round')} without a valid end"
        left = left if facts.open_rounds < facts.rounds else ", with no valid end of a round"
        said += left * bool(facts.open_rounds)
    said += f" ({short_time(facts.clock_ms)} by the clock)" if facts.clock_ms is not None else ""
    phrases = [said, *_unfinished(facts, line)]
    if (top := facts.longest) is not None:
        worked = facts.longest_work_ms or 0
        of_it = f" as a whole, {short_time(worked)} of it in rounds" * (worked < top.figure)
        phrases.append(f"most time: {_top(top, line)}, {short_time(top.figure)}{of_it}")
    if (top := facts.most_rounds) is not None and facts.reworked:
        again = f"{plural(facts.reworked, 'dispatch', 'es')} needed another round"
        most = ", most of all" if facts.reworked > 1 else ":"
        phrases.append(f"{again}{most} {_top(top, line)}, {plural(top.figure, 'round')}")
    if facts.escalations:
        phrases.append(f"{plural(facts.escalations, 'round')} escalated to the user")
    if facts.stopped:
        phrases.append(f"{plural(facts.stopped, 'round')} ended at a stop condition")
    return f"{'; '.join(phrases)}."


def _unfinished(facts: RunFacts, line: LineWords) -> Iterator[doc.Words]:
    """How many dispatches were not completed, and which these are."""
    counts = {"failed": facts.failed, "aborted": facts.aborted, None: facts.open}
    for result, count in counts.items():
        found = [_top(each, line) for each in facts.unfinished if each.result == result]
        named = ", ".join([*found[:_MOST_NAMED], *["…"] * (count > len(found[:_MOST_NAMED]))])
        if count:
            yield f"{count:,} {result or 'without an end'}: {named}"


def _top(top: NotableDispatch, line: LineWords) -> doc.Words:
    return f"{doc.name(top.name, 80)} ({line(top.line)})"


def _halts(run: RunScore, line: LineWords) -> doc.Words:
    """Why it halted: the assumptions that turned out false."""
    count = run.facts.halt_count
    if not count:
        return ""
    said = [
        f"{doc.quoted(each.summary, 500) if each.summary else 'no reason recorded'} "
        f"({line(each.line)})"
        for each in run.facts.halts[:_MOST_HALTS]
    ]
    more = [f"and {count - len(said):,} more"] * (count > len(said))
    return f"Halted {_times(count)}: {'; '.join([*said, *more])}."


def _rejected(run: RunScore) -> doc.Words:
    """What the lines were meant to be that readers reject; a caveat says which lines they are."""
    rejected = run.rejected
    if not rejected:
        return ""
    kinds = Counter(each.event_name for each in rejected)
    named = [
        f"{count:,} {doc.name(name, 40) if name else 'of no known type'}"
        for name, count in kinds.most_common(_MOST_KINDS)
    ]
    others = len(kinds) - len(named)
    more = [plural(others, "more type")] * (others > 0)
    return f"{plural(len(rejected), 'line')} rejected: {listed([*named, *more])}."


def grading(run: RunScore) -> Iterator[doc.Block]:
    """The commands that record what its grade lacks; nothing where it lacks nothing."""
    missing = {*run.gate.missing}
    if not missing or run.gate.uncounted is not None:
        return
    path = next((each.path for each in run.parts if each.path not in {"", "-"}), "FILE")
    where = f"--trace-file {shlex.quote(path)} --project-run-id {shlex.quote(run.run_id)}"
    said = [
        f"drive-trace gate {where} --component {each} --run COMMAND"
        for each in ("mechanical", "qa")
        if missing & {each, run_score.NO_SIGNAL}
    ]
    if missing & {"intent", run_score.NO_SIGNAL}:
        said.append(f"drive-trace judge {where} {_JUDGED}")
    what = "Not graded" if run.gate.is_ungraded else f"Not graded: {listed(run.gate.missing)}"
    yield doc.Paragraph(f"{what}; to record it:")
    yield doc.Code(said)
