"""Caveats: why a verdict, or a figure beside it, may be worth less than it seems.

A caveat is computed once, with the run's score, and shown wherever the verdict is shown. One that
*qualifies* could overturn the verdict: a CORRECT with it is never green, never bare, and fails
``--require-correct``.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from enum import Enum, StrEnum
from typing import NamedTuple

from drive_trace.scorecard.copies import Noted, Overlap
from drive_trace.scorecard.lookalikes import Lookalike, lookalike_phrase
from drive_trace.scorecard.summary import Recorded, Rejected, RunSummary, Unplaced, Worked
from drive_trace.trace.times import sortable
from drive_trace.vocabulary import COST, GRADE

_NAMED = 10
"""So many lines of unreadable runs are named at the most, as every run names them."""
_MOST = 3
"""So many lines are named at the most; ``lines`` has them all."""


class CaveatCode(StrEnum):
    """What a caveat is about. Users meet these in JSON: they are added to, never renamed."""

    STALE = "stale"
    UNREAD_INPUT = "unread-input"
    REJECTED_GRADE = "rejected-grade"
    LOOKALIKE_GRADE = "lookalike-grade"
    CONTRADICTING_GRADES = "contradicting-grades"
    REJECTED_COST = "rejected-cost"
    LOOKALIKE_COST = "lookalike-cost"
    REJECTED_LINE = "rejected-line"
    COPIED_EVENTS = "copied-events"
    CONFLICTING_EVENT_ID = "conflicting-event-id"
    PARTIAL_COVERAGE = "partial-coverage"


class Qualifies(Enum):
    """When a caveat could overturn the verdict; each in words."""

    ALWAYS = "always"
    AFTER_GRADE = "where it stands after the grade that decides, or may"
    ORDER_UNCERTAIN = "where it is uncertain which file's grade is the latest"
    NEVER = "never"


TABLE: Mapping[CaveatCode, tuple[str, Qualifies]] = {
    CaveatCode.STALE: ("The run went on after it was graded.", Qualifies.ALWAYS),
    CaveatCode.UNREAD_INPUT: ("An input could not be read.", Qualifies.ALWAYS),
    CaveatCode.REJECTED_GRADE: (
        "Readers reject a line that grades the run, or may.",
        Qualifies.AFTER_GRADE,
    ),
    CaveatCode.LOOKALIKE_GRADE: (
        "A line of an unknown type looks like a grade of the run.",
        Qualifies.AFTER_GRADE,
    ),
    CaveatCode.CONTRADICTING_GRADES: (
        "Several files grade the run differently.",
        Qualifies.ORDER_UNCERTAIN,
    ),
    CaveatCode.REJECTED_COST: (
        "Readers reject a line that says what the run cost, or may.",
        Qualifies.NEVER,
    ),
    CaveatCode.LOOKALIKE_COST: (
        "A line of an unknown type looks like one that says what the run cost.",
        Qualifies.NEVER,
    ),
    CaveatCode.REJECTED_LINE: ("Readers reject another line of the run.", Qualifies.NEVER),
    CaveatCode.COPIED_EVENTS: ("Events of the run stand in several files.", Qualifies.NEVER),
    CaveatCode.CONFLICTING_EVENT_ID: (
        "One event id stands for different events.",
        Qualifies.NEVER,
    ),
    CaveatCode.PARTIAL_COVERAGE: ("A figure covers a part of the run.", Qualifies.NEVER),
}
"""What each caveat is about, and whether it qualifies the verdict."""


class LineRef(NamedTuple):
    """A line of a trace."""

    path: str
    line: int
    """From 1."""


class Unread(NamedTuple):
    """An input that could not be read at all."""

    path: str
    reason: str
    """In a few words, as ``permission denied``; without the path."""


class Caveat(NamedTuple):
    """One caveat of one run."""

    code: CaveatCode
    short: str
    """In a few words, to stand behind the verdict: ``stale: 3 events after the grade``."""
    message: str
    """One sentence, without its full stop, apart from the files that :meth:`sentence` names.
    Nothing in it comes from a trace.
    """
    qualifies: bool
    """Whether it could overturn the verdict."""
    lines: tuple[LineRef, ...] = ()
    """The lines that it is about."""
    path: str = ""
    """The one file that it is about, where the message does not say so. Untrusted."""
    others: tuple[str, ...] = ()
    """Further files, to be named behind the message. Untrusted."""

    def sentence(self, name: Callable[[str], str] = str) -> str:
        """The message with its files, as ``name`` writes them."""
        said = f"{name(self.path)}: {self.message}" if self.path else self.message
        return f"{said} {' and '.join(map(name, self.others))}" if self.others else said


def caveats_of(
    parts: Sequence[RunSummary],
    deciding: Recorded | None,
    unread: Sequence[Unread] = (),
    shared: Sequence[Overlap] = (),
    unplaced: Sequence[Unplaced] = (),
) -> Iterator[Caveat]:
    """The caveats of a run, given all its parts, the grade that counts, what each of several parts
    has in common with those before it, and the lines that may grade any run.
    """
    yield from _of_unread(unread)
    latest: Collection[int] = ()
    if deciding is not None:
        latest = _latest_grades(parts, deciding, shared)
        yield from _of_stale(parts, deciding, latest, shared)
        yield from _of_contradicting(parts, deciding, latest)
    for number, part in enumerate(parts):
        may_be_after = _may_be_after(part, deciding, number in latest)
        for caveat in (*_of_rejected(part, may_be_after), *_of_lookalikes(part, may_be_after)):
            yield caveat._replace(path=part.path) if len(parts) > 1 else caveat
    if deciding is not None:
        yield from _of_unplaced(parts, deciding, unplaced)
    yield from _of_copies(parts, shared)
    yield from _of_conflicts(parts, shared)


def caveat_of_coverage(counted: int, of: int) -> Iterator[Caveat]:
    """That of a run's dispatches only some have an end that is summed."""
    if counted < of:
        short = f"wall-clock of {counted:,} of {of:,} dispatches"
        message = f"{short}: of the others no end is recorded, or readers reject it"
        yield _caveat(CaveatCode.PARTIAL_COVERAGE, short, message)


def _caveat(
    code: CaveatCode,
    short: str,
    message: str = "",
    *,
    holds: bool = False,
    lines: Sequence[LineRef] = (),
) -> Caveat:
    """A caveat; ``holds`` where the condition holds under which its code qualifies."""
    when = TABLE[code][1]
    qualifies = when is Qualifies.ALWAYS or (when is not Qualifies.NEVER and holds)
    return Caveat(code, short, message or short, qualifies, tuple(lines))


def _of_unread(unread: Sequence[Unread]) -> Iterator[Caveat]:
    """Each run may have had something in an input that was not read."""
    if len(unread) == 1:
        ((path, reason),) = unread
        what = f"not read ({reason}), and may say something else about this run"
        caveat = _caveat(CaveatCode.UNREAD_INPUT, "1 input not read", what)
        yield caveat._replace(path=path)
    elif unread:
        what = f"{len(unread):,} inputs not read"
        message = f"{what}, which may say something else about this run"
        yield _caveat(CaveatCode.UNREAD_INPUT, what, message)


def _latest_grades(
    parts: Sequence[RunSummary], deciding: Recorded, shared: Sequence[Overlap]
) -> Collection[int]:
    """Which parts' own grades may be the latest of all: the deciding one, any that is not earlier
    beyond doubt, and any in a file that has a copy of the deciding one, as it stands there below
    that. What is below such a grade is later than it, whatever the timestamps say.
    """
    found = {
        number
        for number, part in enumerate(parts)
        if part.correctness is not None and not _is_later(deciding.ts, part.correctness.ts)
    }
    for number, overlap in enumerate(shared):
        for here, file, _ in overlap.copies:
            if here.event.name == GRADE and here.ts == deciding.ts:
                found |= {number, file}
    return found


def _of_stale(
    parts: Sequence[RunSummary],
    deciding: Recorded,
    latest: Collection[int],
    shared: Sequence[Overlap],
) -> Iterator[Caveat]:
    count, elsewhere = 0, -_counted_twice(parts, deciding, latest, shared)
    lines: list[LineRef] = []
    others: list[LineRef] = []
    for number, part in enumerate(parts):
        worked = part.worked
        since = worked.after_grade if number in latest else _work_since(worked, deciding)
        if part.correctness is deciding:
            count += since
            if worked.last_line is not None:
                lines.append(LineRef(part.path, worked.last_line))
        elif since:
            elsewhere += since
            last = worked.last_line if number in latest else worked.last_work
            others.append(LineRef(part.path, last or part.first_line))
    if count + elsewhere:
        short = f"stale: {_count(count + elsewhere, 'event')} after the grade"
        upto = f", up to line {lines[0].line}" if lines else ""
        message = f"{short}{upto}; grade it again"
        if not elsewhere:
            yield _caveat(CaveatCode.STALE, short, message, lines=lines)
            return
        which = f"{elsewhere:,} of them" if count else "all of them"
        caveat = _caveat(CaveatCode.STALE, short, f"{message}; {which} in", lines=[*lines, *others])
        yield caveat._replace(others=_named(each.path for each in others))


def _work_since(worked: Worked, grade: Recorded) -> int:
    """How much work is later, or may be, than a grade that stands in another file."""
    moment = sortable(grade.ts)
    before = 0 if moment is None else bisect_left(worked.times, moment)
    return len(worked.times) - before + worked.untimed


def _counted_twice(
    parts: Sequence[RunSummary],
    deciding: Recorded,
    latest: Collection[int],
    shared: Sequence[Overlap],
) -> int:
    """How many events :func:`_of_stale` counts that stand in another part, too. It is the parts
    with the latest grades that say, by their lines, whether what they have is later.
    """
    found: dict[tuple[int, int], dict[int, bool]] = {}
    for number, overlap in enumerate(shared):
        for here, file, there in overlap.copies:
            if here.event.is_work:
                counted = found.setdefault((file, there.line), {})
                for which, each in ((file, there), (number, here)):
                    is_since = _is_since(each, parts[which], deciding, which in latest)
                    counted[which] = counted.get(which, False) or is_since
    return sum(
        sum(each.values())
        - any([each[which] for which in each if which in latest] or each.values())
        for each in found.values()
    )


def _is_since(event: Noted, part: RunSummary, grade: Recorded, is_latest: bool) -> bool:
    """Whether :func:`_of_stale` counts an event of a part."""
    moment, graded = sortable(event.ts), sortable(grade.ts)
    if not is_latest and moment is not None and graded is not None:
        return moment >= graded
    return part.correctness is None or event.line > part.correctness.line


def _of_contradicting(
    parts: Sequence[RunSummary], deciding: Recorded, latest: Collection[int]
) -> Iterator[Caveat]:
    grades = [
        (part.correctness, number in latest)
        for number, part in enumerate(parts)
        if part.correctness is not None
    ]
    uncertain = [each for each, may_be in grades if may_be and each.values != deciding.values]
    against = uncertain or [each for each, _ in grades if _contradict(each, deciding)]
    if not against:
        return
    # A null against a value is no contradiction.
    differ = any(_contradict(each, deciding) for each in against)
    how = "it differently" if differ else "other components"
    short = f"{_count(len(against), 'other file')} grade{'s' * (len(against) == 1)} {how}"
    because = "which grade is the latest is uncertain" if uncertain else "the latest grade counts"
    yield _caveat(
        CaveatCode.CONTRADICTING_GRADES,
        short,
        f"{short}; {because}",
        holds=bool(uncertain),
        lines=[LineRef(each.path, each.line) for each in (deciding, *against)],
    )


def _contradict(one: Recorded, other: Recorded) -> bool:
    """Whether two grades say the contrary of a component; a null is no grade."""
    return any(
        value is not None and other.values[name] not in {value, None}
        for name, value in one.values.items()
    )


def _is_later(one: str, other: str) -> bool:
    """Whether one timestamp is later than another, beyond doubt."""
    moment, earlier = sortable(one), sortable(other)
    return moment is not None and earlier is not None and moment > earlier


_After = Callable[[Rejected | Lookalike], bool]


def _may_be_after(part: RunSummary, deciding: Recorded | None, is_latest: bool) -> _After:
    """Tells of a line of a part whether it may have been written after the grade that decides.
    What stands above a later grade of its own file was, beyond doubt, written before that.
    """
    own = part.correctness

    def is_after(each: Rejected | Lookalike) -> bool:
        if deciding is None or (own is not None and each.line < own.line):
            return False
        return is_latest or each.ts is None or not _is_later(deciding.ts, each.ts)

    return is_after


_REJECTED = {GRADE: CaveatCode.REJECTED_GRADE, COST: CaveatCode.REJECTED_COST}
_LOOKALIKE = {GRADE: CaveatCode.LOOKALIKE_GRADE, COST: CaveatCode.LOOKALIKE_COST}


def _of_rejected(part: RunSummary, may_be_after: _After) -> Iterator[Caveat]:
    def caveat(found: Sequence[Rejected], feed: str | None, before: str, behind: str) -> Caveat:
        said = f"{before}{rejected_phrase(found, others=others)}{behind}"
        return _caveat(
            _REJECTED.get(feed or "", CaveatCode.REJECTED_LINE),
            said,
            holds=any(map(may_be_after, found)),
            lines=[LineRef(part.path, each.line) for each in found],
        )

    others = "other " * any(each.feed is not None for each in part.rejected)
    for feed in (GRADE, COST, None):
        found = [each for each in part.rejected if each.feed == feed]
        if found:
            yield caveat(found, feed, "", "")
    more = part.unplaced_count - len(part.unplaced)
    for feed in (GRADE, COST):
        # Those that are not named may be grades.
        found = [each for each in part.unplaced if (GRADE if more else each.feed) == feed]
        if found:
            nor = f", nor {more:,} more lines" if more else ""
            yield caveat(found, feed, "of an unreadable run: ", nor)


def _of_lookalikes(part: RunSummary, may_be_after: _After) -> Iterator[Caveat]:
    for feed in (GRADE, COST):
        found = [each for each in part.lookalikes if each.meant == feed]
        if found:
            yield _caveat(
                _LOOKALIKE[feed],
                lookalike_phrase(found) or "",
                holds=any(map(may_be_after, found)),
                lines=[LineRef(part.path, each.line) for each in found],
            )


def _of_unplaced(
    parts: Sequence[RunSummary], deciding: Recorded, unplaced: Sequence[Unplaced]
) -> Iterator[Caveat]:
    """Of files without an event of the run; a part says by itself what its own file has."""
    own = {part.path for part in parts if part.event_count}
    after = [
        each
        for each in unplaced
        if each.path not in own and (each.ts is None or not _is_later(deciding.ts, each.ts))
    ]
    for code, is_rejected, what in (
        (CaveatCode.REJECTED_GRADE, True, "rejected"),
        (CaveatCode.LOOKALIKE_GRADE, False, "of an unknown type"),
    ):
        found = [each for each in after if each.is_rejected == is_rejected]
        if found:
            short = f"{_count(len(found), 'correctness line')} {what}, of an unreadable run"
            lines = [LineRef(each.path, each.line) for each in found[:_NAMED]]
            message = f"{short}, not counted, as in line {lines[0].line} of"
            caveat = _caveat(code, short, message, holds=True, lines=lines)
            yield caveat._replace(others=(lines[0].path,))


def _of_copies(parts: Sequence[RunSummary], shared: Sequence[Overlap]) -> Iterator[Caveat]:
    copied = [
        (part, overlap.copies)
        for part, overlap in zip(parts, shared, strict=False)
        if overlap.copies
    ]
    if not copied:
        return
    count = sum(len(copies) for _, copies in copied)
    stand = (
        "that stands in several files counts" if count == 1 else "that stand in several files count"
    )
    short = f"copied in {_count(len(copied), 'file')}"
    yield _caveat(
        CaveatCode.COPIED_EVENTS,
        short,
        f"{short}: {_count(count, 'event')} {stand} once, as in",
        lines=[LineRef(part.path, copies[0].here.line) for part, copies in copied],
    )._replace(
        others=_named(
            each.path for part, copies in copied for each in (parts[copies[0].file], part)
        )
    )


def _of_conflicts(parts: Sequence[RunSummary], shared: Sequence[Overlap]) -> Iterator[Caveat]:
    pairs = [
        (LineRef(part.path, twin.here.line), LineRef(parts[twin.file].path, twin.there.line))
        for part, overlap in zip(parts, shared, strict=False)
        for twin in overlap.conflicts
    ]
    if not pairs:
        return
    short = f"{_count(len(pairs), 'event')} with the id of another"
    yield _caveat(
        CaveatCode.CONFLICTING_EVENT_ID,
        short,
        f"{short} in another file, and both count, as in",
        lines=list(dict.fromkeys(place for pair in pairs for place in reversed(pair))),
    )._replace(others=_named(place.path for pair in pairs for place in reversed(pair)))


def _named(paths: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(paths))[:_MOST]


def rejected_phrase(
    rejected: Sequence[Rejected], most: int = _MOST, others: str | None = None
) -> str | None:
    """``1 correctness line rejected (line 12), not counted``; None where nothing was. ``others``
    stands before lines that are of no feed.
    """
    if not rejected:
        return None
    if others is None:
        others = "other " * any(each.feed is not None for each in rejected)
    kinds = {GRADE: "correctness line", COST: "token line", None: f"{others}line"}
    said = []
    for feed, kind in kinds.items():
        lines = [each.line for each in rejected if each.feed == feed]
        if lines:
            said.append(f"{_count(len(lines), kind)} rejected ({_at(lines, most)})")
    return f"{', '.join(said)}, not counted"


def _at(lines: Sequence[int], most: int) -> str:
    named = ", ".join(map(str, lines[:most]))
    more = f" and {len(lines) - most} more" if len(lines) > most else ""
    return f"line{'s' * (len(lines) > 1)} {named}{more}"


def _count(count: int, what: str) -> str:
    return f"{count:,} {what}{'s' * (count != 1)}"
