"""Which of a run's grades is the latest, and which lines stand after it, or may."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TypeAlias

from drive_trace.scorecard.copies import Noted, Overlap
from drive_trace.scorecard.summary import Recorded, RunSummary, Worked
from drive_trace.scorecard.uncounted import Rejected, UnknownEvent
from drive_trace.trace.times import is_later, latest_recorded, sortable
from drive_trace.vocabulary import EVENTS, GRADE

IsAfter: TypeAlias = Callable[[Rejected | UnknownEvent | Noted], bool]
"""Whether a line of a part stands after the grade that decides, or may."""


def may_be_after(
    ts: str | None, decides: str, *, is_below: bool, is_latest: bool, grades: bool = False
) -> bool:
    """Whether a line of a file stands after the grade of a run that decides, or may: by the two
    timestamps, or, where these tell nothing or the grade stands in this file (``is_latest``), by
    whether the file has no grade of its own below it. Of a line that ``grades`` the run, timestamp
    and position have to agree, as of two valid grades.
    """
    moment, graded = sortable(ts or ""), sortable(decides)
    if not is_latest and moment is not None and graded is not None:
        return moment >= graded
    may_be_later = graded is not None and (moment is None or moment > graded)
    return is_below or (grades and may_be_later)


def after_grade(
    part: RunSummary, deciding: Recorded | None, *, is_latest: bool, grades: bool = False
) -> IsAfter:
    """:func:`may_be_after` for the lines of one part; of no line where no grade decides."""
    own = part.correctness.line if part.correctness is not None else 0
    return lambda each: (
        deciding is not None
        and may_be_after(
            each.ts, deciding.ts, is_below=each.line > own, is_latest=is_latest, grades=grades
        )
    )


def latest_grades(
    parts: Sequence[RunSummary], deciding: Recorded, shared: Sequence[Overlap]
) -> Collection[int]:
    """Which parts' own grades may be the latest of all: the deciding one, any that is not earlier
    beyond doubt, and any in a file that has a copy of the deciding one, as it stands there below
    that. What is below such a grade is later than it, whatever the timestamps say.
    """
    found = {
        number
        for number, part in enumerate(parts)
        if part.correctness is not None
        and (part.correctness is deciding or not is_later(deciding.ts, part.correctness.ts))
    }
    for number, overlap in enumerate(shared):
        for here, file, _ in overlap.copies:
            if here.name == GRADE and here.ts == deciding.ts:
                found |= {number, file}
    return found


def work_since(
    part: RunSummary, deciding: Recorded, *, is_latest: bool
) -> tuple[Mapping[str, int], int]:
    """How much work of a part stands after the grade, or may, by kind, and the last line of it.
    What readers reject or do not know counts, where nobody can rule out that it is work.
    """
    is_after, worked = after_grade(part, deciding, is_latest=is_latest), part.worked
    rejected = _lines(each for each in part.rejected if each.may_be_work and is_after(each))
    unknown = _lines(
        each
        for each in part.unknown
        if each.meant is None and each.run_id == part.run_id and is_after(each)
    )
    nameless = worked.nameless if is_latest else worked.nameless_at_end
    events = worked.after_grade if is_latest else _by_time(worked, deciding)
    last = (worked.last_line if is_latest else worked.last_work) if events else None
    return (
        {
            "event": events,
            "rejected line": len(rejected) + nameless.number,
            "unknown event": len(unknown),
        },
        max(last or part.first_line, *rejected, *unknown, nameless.last_line),
    )


def _lines(found: Iterable[Rejected | UnknownEvent]) -> Sequence[int]:
    return [each.line for each in found]


def _by_time(worked: Worked, grade: Recorded) -> int:
    """How much work is later, or may be, than a grade that stands in another file."""
    moment = sortable(grade.ts)
    before = 0 if moment is None else bisect_left(worked.times, moment)
    return len(worked.times) - before + worked.untimed


def counted_twice(
    parts: Sequence[RunSummary],
    deciding: Recorded,
    latest: Collection[int],
    shared: Sequence[Overlap],
) -> int:
    """How many events :func:`work_since` counts that stand in another part, too. It is the parts
    with the latest grades that say, by their lines, whether what they have is later.
    """
    found: dict[tuple[int, int], Counter[int]] = {}
    after = [
        after_grade(part, deciding, is_latest=number in latest) for number, part in enumerate(parts)
    ]
    for number, overlap in enumerate(shared):
        for here, file, there in overlap.copies:
            if EVENTS[here.name].is_work:
                counted = found.setdefault((file, there.line), Counter())
                counted[file] |= after[file](there)
                counted[number] |= after[number](here)
    return sum(
        each.total() - any([each[which] for which in each if which in latest] or each.values())
        for each in found.values()
    )


def latest(own: Sequence[Recorded | None], feed: str, shared: Sequence[Overlap]) -> Recorded | None:
    """Which of the files' own last events of a feed counts. The copy of an event that another file
    supersedes further down does not, whatever the timestamps say.
    """
    superseded = set()
    for number, overlap in enumerate(shared):
        for here, file, there in overlap.copies:
            if here.name == feed:
                superseded |= _superseded(own, {number: here.line, file: there.line})
    left = [each for number, each in enumerate(own) if each and number not in superseded]
    return latest_recorded(left or filter(None, own), lambda each: each.ts)


def _superseded(own: Sequence[Recorded | None], lines: Mapping[int, int]) -> set[int]:
    """Which of two files end with an event of a feed that has later ones in the other."""
    last = {number: each.line for number in lines if (each := own[number]) is not None}
    is_last = {number for number, line in last.items() if line == lines[number]}
    return is_last if is_last != set(lines) else set()
