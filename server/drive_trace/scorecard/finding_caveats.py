"""Finds the caveats of a run, once, with its score."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from drive_trace.scorecard import caveats
from drive_trace.scorecard.caveats import MOST, Caveat, CaveatCode, LineRef, Uncounted, make_caveat
from drive_trace.scorecard.measures import Efficiency, covered
from drive_trace.scorecard.run_lines import RunLines
from drive_trace.scorecard.run_score import Recorded, RunInFile, RunScore
from drive_trace.text.wording import listed, numbered_lines, plural
from drive_trace.trace.joined import may_be_after
from drive_trace.trace.provenance import Change
from drive_trace.trace.times import is_later
from drive_trace.vocabulary import COST, EVENTS, GRADE
from drive_trace.vocabulary.slips import may_mean

if TYPE_CHECKING:  # most traces are scored without
    from drive_trace.grading.judgements import Gating, Judgement

_ENDED = {"dispatch-start", "dispatch-end"}
_CLOCKED = {"project-started", "project-closed"}
_STARTED = {"dispatch-start", "round-start"}
_WORK = ("event", "rejected line", "unknown event")


def caveats_of_lines(run: RunLines) -> Iterator[Caveat]:
    """The caveats that follow from the lines of a run."""
    if run.correctness is not None:
        yield from _of_stale(run)
        yield from _of_contradicting(run, run.correctness)
    for file, part in enumerate(run.parts):
        found = _of_uncounted(run, file), _of_misnamed(run, file)
        for caveat in chain(*found, _of_order(part, run.correctness)):
            yield caveat._replace(path=part.path) if len(run.parts) > 1 else caveat
    yield from _of_copies(run)
    yield from _of_conflicts(run)
    yield from _of_unrecorded(run)


def caveats_from_elsewhere(
    run: RunScore, unread: Sequence[caveats.Unread], strays: Sequence[Uncounted], copied: str | None
) -> Iterator[Caveat]:
    """The caveats of a run that follow from other files, and from the record of its judging; see
    :func:`drive_trace.scorecard.scoring.among`.
    """
    yield from _of_unread(unread)
    if run.correctness is not None:
        yield from _of_judge(run, run.correctness)
        yield from _of_strays(run, run.correctness, strays)
    if copied is not None:
        short, more = "another run has the same events", ", so that either may be the copy"
        yield make_caveat(CaveatCode.COPIED_EVENTS, short, more, holds=True, path=copied)


def caveats_of_coverage(measured: Efficiency, parts: Sequence[RunInFile]) -> Iterator[Caveat]:
    """That a figure of Tier 2 is not over all dispatches, or lacks events that readers reject."""
    clock, rounds = measured.wall_clock, measured.rounds
    for what, value, figure, events, missing in (
        ("wall-clock", clock.ms, clock, _CLOCKED if clock.clocked else _ENDED, "end"),
        ("rounds", rounds.mean, rounds, _STARTED, "round"),
    ):
        lost = [
            LineRef(part.path, each.line)
            for part in parts
            for each in part.rejected
            if each.event_name in events
        ]
        is_whole = figure.counted == figure.of
        if value is None or (is_whole and not lost):
            continue
        short = f"{what} of {covered(figure)}"
        more = f": of the others no {missing} is recorded, or readers reject it"
        if is_whole:
            short, more = f"{what} without {plural(len(lost), 'rejected line')}", ""
        yield make_caveat(CaveatCode.PARTIAL_COVERAGE, short, more, lines=lost)


def _of_unread(unread: Sequence[caveats.Unread]) -> Iterator[Caveat]:
    """Each run may have had something in an input that was not read."""
    short = caveats.lack(unread)
    if len(unread) == 1:
        ((path, reason),) = unread
        is_gone = isinstance(reason, caveats.Gone)
        why = "has no more what a commit has" if is_gone else f"not read ({reason})"
        message = f"{why}, and may say something else about this run"
        found = make_caveat(CaveatCode.UNREAD_INPUT, short, path=path)
        yield found._replace(message=message)
    elif unread:
        more = ", which may say something else about this run"
        yield make_caveat(CaveatCode.UNREAD_INPUT, short, more)


def _of_stale(run: RunLines) -> Iterator[Caveat]:
    """Work after the grade. What readers reject or do not know counts, where nobody can rule out
    that it is work.
    """
    work = run.work_after
    counts = Counter({"event": run.work_count - sum(map(len, work))})
    own = 0
    lines: list[LineRef] = []
    others: list[LineRef] = []
    for file, part in enumerate(run.parts):
        odd = (e for e in part.rejected if e.may_be_work)
        rejected = [e.line for e in odd if run.is_after(file, e.line, e.ts)]
        rejected += [line.order + 1 for line in run.nameless_after(file)]
        after = run.unknown_after(file)
        unknown = [line.order + 1 for line in after if caveats.meant_feed(line) is None]
        since = len(work[file]), len(rejected), len(unknown)
        counts.update(dict(zip(_WORK, since, strict=True)))
        if not any(since):
            continue
        last = max([line.order + 1 for line in work[file][-1:]] + rejected + unknown)
        if part.correctness is run.correctness:
            own = sum(since)
            lines.append(LineRef(part.path, last))
        else:
            others.append(LineRef(part.path, last))
    if not counts.total():
        return
    elsewhere = counts.total() - own
    what = listed(plural(count, kind) for kind, count in counts.items() if count)
    short = f"stale: {what} after the grade"
    upto = f", up to line {lines[0].line}" if lines else ""
    more = f"{upto}; grade it again"
    if elsewhere:
        more += f"; {f'{elsewhere:,}' if own else 'all'} of them in"
    others = others if elsewhere else []
    named = [each.path for each in others]
    yield make_caveat(CaveatCode.STALE, short, more, lines=lines + others, others=named)


def _of_contradicting(run: RunLines, deciding: Recorded) -> Iterator[Caveat]:
    grades = [
        (part.correctness, file in run.latest)
        for file, part in enumerate(run.parts)
        if part.correctness is not None
    ]
    uncertain = [each for each, may_be in grades if may_be and each.values != deciding.values]
    against = uncertain or [each for each, _ in grades if _replaced(each, deciding)]
    if not against:
        return
    # A null against a value is no contradiction.
    differ = any(_replaced(each, deciding) - {None} for each in against)
    how = "it differently" if differ else "other components"
    short = f"{plural(len(against), 'other file')} grade{'s' * (len(against) == 1)} {how}"
    because = "which grade is the latest is uncertain" if uncertain else "the latest grade counts"
    yield make_caveat(
        CaveatCode.CONTRADICTING_GRADES,
        short,
        f"; {because}",
        holds=bool(uncertain),
        lines=[LineRef(each.path, each.line) for each in (deciding, *against)],
    )


def _of_order(part: RunInFile, deciding: Recorded | None) -> Iterator[Caveat]:
    """Lines that are copies, and that the grade which counts is one, or the time of one above it is
    later: then nobody knows which grade is the latest.
    """
    uncertain = "which grade is the latest is uncertain; grade it again"
    if part.copies:
        grade = part.correctness if part.correctness is deciding else None
        decides = grade is not None and grade.line in part.copies
        what = f"{plural(len(part.copies), 'line')} copied within the file"
        lines = [LineRef(part.path, line) for line in part.copies[-MOST:]]
        more = (
            f", as is the grade: {uncertain}" if decides else ", not counted again in its figures"
        )
        found = make_caveat(CaveatCode.COPIED_EVENTS, what, more, holds=decides, lines=lines)
        yield found._replace(short="the grade is a copied line") if decides else found
    if part.newest_grade and deciding is not None and is_later(part.newest_grade[1], deciding.ts):
        short, line = "an earlier line has a later grade", part.newest_grade[0]
        yield make_caveat(
            CaveatCode.CONTRADICTING_GRADES,
            short,
            f" by its ts: {uncertain}",
            holds=True,
            lines=[LineRef(part.path, line), LineRef(deciding.path, deciding.line)],
        )


def _of_judge(run: RunScore, deciding: Recorded) -> Iterator[Caveat]:
    """What the records beside the files say against the grade that counts."""
    lines = [LineRef(deciding.path, deciding.line)]
    if run.judgement is not None:
        from drive_trace.grading.calibration import families_of, is_same_model  # noqa: PLC0415

        asked, reported = run.judgement.judge.model, run.judgement.model
        if run.judgement.agreement is None:
            short = "intent judged by an uncalibrated judge"
            found = make_caveat(CaveatCode.UNCALIBRATED_JUDGE, short, lines=lines)
            yield found._replace(message="the intent was judged by an uncalibrated judge")
        if reported is not None and not is_same_model(asked, reported):
            short = "another model judged than was asked"
            more = ", and its calibration says nothing; judge the intent again"
            yield make_caveat(CaveatCode.JUDGE_NOT_AS_ASKED, short, more, lines=lines)
        if any(families_of(asked) & families_of(each) for each in run.models):
            short = "the judge is of the family of a model that did the work"
            yield make_caveat(CaveatCode.JUDGE_OF_OWN_FAMILY, short, lines=lines)
    for code, short, more, holds in _of_gates(run, deciding):
        yield make_caveat(code, short, more, holds=holds, lines=lines)


def _of_gates(run: RunScore, deciding: Recorded) -> Iterator[tuple[CaveatCode, str, str, bool]]:
    """The parts of caveats on what a grade rests on."""
    evidence: dict[str, Gating | Judgement] = {**run.gates}
    evidence |= {"intent": run.judgement} if run.judgement is not None else {}
    bare = [name for name, value in deciding.values.items() if value and name not in evidence]
    lost = [name for name in bare if name in run.gated]
    if run.has_unreadable_record:
        short = "the record of its judging cannot be read whole"
        yield CaveatCode.GRADED_WITHOUT_EVIDENCE, short, ", and may say something else", True
    elif bare and (run.was_gated or lost):
        short = f"{listed(bare)} graded without evidence"
        more = ": the record beside the file has nothing that says the same"
        yield CaveatCode.GRADED_WITHOUT_EVIDENCE, short, more, bool(lost)
    if run.failing:
        short = f"{listed(run.failing)} graded against the latest gate"
        more = ", which came to something else; run the gate again"
        yield CaveatCode.CONTRADICTED_BY_GATE, short, more, True
    old = {name: None for name, gate in run.gates.items() if gate.stale}
    for name, each in evidence.items():
        if each.worked is not None and each.worked < run.facts.worked:
            old[name] = None
    if old:
        short = f"{listed(old)} by what may be older than the work"
        yield CaveatCode.STALE_REPORT, short, "; run the gates, or the judge, again", True
    commits = {each.commit for each in evidence.values() if each.commit}
    if len(commits) > 1 or any(each.clean is False for each in evidence.values()):
        many = f"graded at {len(commits):,} commits"
        short = many if len(commits) > 1 else "graded in a tree with changes"
        more = ", so that no commit is known to be what was graded"
        yield CaveatCode.GRADED_AT_ANOTHER_COMMIT, short, more, len(commits) > 1


def _replaced(one: Recorded, by: Recorded) -> set[object]:
    """What stands in the place of the components that a grade records; nulls where it is erased."""
    mine = {name: value for name, value in one.values.items() if value is not None}
    return {by.values[name] for name, value in mine.items() if by.values[name] != value}


_REJECTED = {GRADE: CaveatCode.REJECTED_GRADE, COST: CaveatCode.REJECTED_COST}
_LOOKALIKE = {GRADE: CaveatCode.LOOKALIKE_GRADE, COST: CaveatCode.LOOKALIKE_COST}


def _of_uncounted(run: RunLines, file: int) -> Iterator[Caveat]:
    part = run.parts[file]
    others = "other " * any(each.feed is not None for each in part.rejected)
    more = part.stray_count - len(part.strays)
    nor = f", nor {more:,} more lines" if more else ""
    lines = [(each, each.feed, "") for each in part.rejected]
    # Those that are not named may be grades.
    behind = f"{nor}, which may be of this run"
    lines += [(each, GRADE if more else each.feed, behind) for each in part.strays]
    by_kind: dict[tuple[str, bool, bool, str], list[Uncounted]] = {}
    for each, feed, behind in lines:
        kind = behind, each.is_alike, feed != GRADE, feed or "~"
        by_kind.setdefault(kind, []).append(each)
    told = []
    for (behind, is_alike, _, feed), found in sorted(by_kind.items()):
        code = (_LOOKALIKE if is_alike else _REJECTED).get(feed, CaveatCode.REJECTED_LINE)
        phrase = f"{caveats.rejected_phrase(found, others=others)}{behind}"
        told.append((code, phrase, found, bool(behind and more)))
    told += [
        (_LOOKALIKE[feed], caveats.lookalike_phrase(found) or "", found, False)
        for feed in (GRADE, COST)
        if (found := [each for each in part.unknown if each.feed == feed])
    ]
    for code, phrase, found, holds in told:
        is_after = any(run.is_after(file, each.line, each.ts, grades=True) for each in found)
        places = [LineRef(part.path, each.line) for each in found]
        yield make_caveat(code, phrase, holds=holds or is_after, lines=places)
    for mark in run.files[file].index.strays[2][:1]:
        line = mark.order + 1
        places, why = [LineRef(part.path, line)], f" from line {line} on: resolve it"
        yield make_caveat(CaveatCode.MERGE_CONFLICT, "a merge conflict", why, lines=places)


def _of_misnamed(run: RunLines, file: int) -> Iterator[Caveat]:
    """Grades of a shorter run without a beginning, whose id may be meant for this one."""
    part = run.parts[file]
    lines = [
        line
        for other in run.files[file].graded_fragments
        if len(other) < part.event_count and may_mean(other.run_id, run.run_id)
        for line in other.events(GRADE)
    ]
    if lines:
        numbers, s = [line.order + 1 for line in lines], "s" * (len(lines) == 1)
        but = "it does" if s else "they do"
        short = f"{numbered_lines(numbers, MOST)} grade{s} a run with nearly the same id; {but} not"
        places = [LineRef(part.path, each) for each in numbers]
        after = (run.is_after(file, e.order + 1, e.text_fact("ts"), grades=True) for e in lines)
        why = f"{short} count"
        yield make_caveat(CaveatCode.LOOKALIKE_GRADE, why, holds=any(after), lines=places)


def _of_strays(run: RunScore, deciding: Recorded, strays: Sequence[Uncounted]) -> Iterator[Caveat]:
    """Of files without an event of the run; a part says by itself what its own file has."""
    own = {part.path for part in run.parts if part.event_count}
    after = [
        each
        for each in strays
        if each.path not in own
        and may_be_after(each.ts, deciding.ts, is_below=True, is_latest=False)
    ]
    for code, is_alike, what in (
        (CaveatCode.REJECTED_GRADE, False, "rejected"),
        (CaveatCode.LOOKALIKE_GRADE, True, "of an unknown type"),
    ):
        found = [each for each in after if each.is_alike == is_alike]
        if found:
            short = f"{plural(len(found), 'correctness line')} {what}, which may be of this run"
            lines = [LineRef(each.path, each.line) for each in found[: caveats.MOST_STRAYS]]
            more, path = f": not counted, as in line {lines[0].line} of", lines[0].path
            yield make_caveat(code, short, more, holds=True, lines=lines, others=(path,))


def _of_copies(run: RunLines) -> Iterator[Caveat]:
    copied = [(part, copies) for part, copies in zip(run.parts, run.copies, strict=True) if copies]
    if not copied:
        return
    count = sum(len(copies) for _, copies in copied)
    s = "s" * (count == 1)
    short = f"copied in {plural(len(copied), 'file')}"
    yield make_caveat(
        CaveatCode.COPIED_EVENTS,
        short,
        f": {plural(count, 'event')} that stand{s} in several files count{s} once, as in",
        lines=[LineRef(part.path, copies[0].line) for part, copies in copied],
        others=[each.path for part, copies in copied for each in (run.parts[copies[0].file], part)],
    )


def _of_conflicts(run: RunLines) -> Iterator[Caveat]:
    pairs = [
        (LineRef(part.path, each.line), LineRef(run.parts[each.file].path, each.other))
        for part, conflicts in zip(run.parts, run.conflicts, strict=True)
        for each in conflicts
    ]
    if not pairs:
        return
    short = f"{plural(len(pairs), 'event')} with the id of another"
    lines = list(dict.fromkeys(place for pair in pairs for place in reversed(pair)))
    yield make_caveat(
        CaveatCode.CONFLICTING_EVENT_ID,
        short,
        " in another file, and both count, as in",
        lines=lines,
        others=[each.path for each in lines],
    )


def _of_unrecorded(run: RunLines) -> Iterator[Caveat]:
    """Of each file what its record of provenance says became of its lines."""
    for lines, part in zip(run.files, run.parts, strict=True):
        damage, found = lines.index.record_damage, lines.unrecorded.get(run.run_id, ())
        if not found and damage is None:
            continue
        fates = listed(dict.fromkeys(each.fate for each in found), "or")
        changed = f"{plural(len(found), 'recorded line')} {fates}"
        short = changed if found else "its record of provenance is damaged"
        numbers = sorted({each.line.order + 1 for each in found if each.line is not None})
        yield make_caveat(
            CaveatCode.UNRECORDED_CHANGE,
            short,
            f": {damage or 'the trace is not what the record beside it says'}",
            holds=damage is not None or any(_may_count(run, each) for each in found),
            lines=[LineRef(part.path, each) for each in numbers[:MOST]],
            path=part.path if len(run.parts) > 1 else "",
        )


def _may_count(run: RunLines, change: Change) -> bool:
    """Whether a grade, a figure or work after the grade is what a line was or is, or may be. Which
    of two lines was moved, nobody knows.
    """
    recorded = EVENTS.get(change.entry.event_type)
    lines = (change.line, change.beside if change.fate == "moved" else None)
    events = [recorded, *(line.event for line in lines if line is not None)]
    if recorded is None or any(
        each and (each.is_feed or each.opens or each.closes) for each in events
    ):
        return True
    return any(each and each.is_work for each in events) and (
        run.grade is None
        or may_be_after(change.entry.ts, run.grade.text_fact("ts"), is_below=True, is_latest=False)
    )
