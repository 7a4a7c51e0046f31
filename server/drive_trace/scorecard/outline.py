"""What happened in a run, in words: what every view says of it first, whatever its verdict.

It counts and names; no word of it says that something is good or bad.
"""

import shlex
from collections import Counter
from collections.abc import Callable, Iterator

from drive_trace.scorecard.caveats import LineRef
from drive_trace.scorecard.measures import NotableDispatch, RunFacts
from drive_trace.scorecard.run_score import NO_SIGNAL, RunScore, what_would_change_it
from drive_trace.text import document as doc
from drive_trace.text.wording import listed, plural, short_time
from drive_trace.vocabulary import GRADE

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
    return " · ".join(_short(run, with_work=with_work))


def _short(run: RunScore, *, with_work: bool) -> Iterator[str]:
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
        if missing & {each, NO_SIGNAL}
    ]
    if missing & {"intent", NO_SIGNAL}:
        said.append(f"drive-trace judge {where} {_JUDGED}")
    what = "Not graded" if run.gate.is_ungraded else f"Not graded: {listed(run.gate.missing)}"
    yield doc.Paragraph(f"{what}; to record it:")
    yield doc.Code(said)
