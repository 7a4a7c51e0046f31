"""What git vouches for of the runs in traces, where somebody asks: that nothing that was recorded
of them is another now, or gone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from drive_trace.json_text import first_string
from drive_trace.scorecard.caveats import Caveat, CaveatCode, LineRef, make_caveat
from drive_trace.scorecard.run_score import FileHistory, RunScore
from drive_trace.text.wording import listed, plural
from drive_trace.trace.history import Fate, History, Rewriting
from drive_trace.trace.line import RUN_FIELD
from drive_trace.vocabulary import EVENTS

_CLOCKED = {"project-started", "project-closed"}


class Rewritten(NamedTuple):
    """A line that is not as it was recorded, or where."""

    fate: Fate
    line: int | None
    """The line that stands for it now, from 1; None where it was removed."""
    by: str
    """The commit that did it, as it is shown; empty where nobody committed that."""
    run_ids: frozenset[str]
    """The runs that it names, and that the line names that stands for it."""
    matters: bool
    """Whether it is a grade, or a figure is over it, or may be."""


class Vouched(NamedTuple):
    """What git vouches for of a trace."""

    path: str
    since: str
    commits: int
    uncommitted: int
    rewritten: tuple[Rewritten, ...]


def vouched(path: str, history: History, records: Sequence[str]) -> Vouched:
    """What git vouches for of a trace with these records."""
    found = tuple(_rewritten(each, records) for each in history.rewritings(records))
    new = history.uncommitted(records)
    return Vouched(path, history.since, history.commits, new, found)


def _rewritten(found: Rewriting, records: Sequence[str]) -> Rewritten:
    line = found.new if found.fate is not Fate.REMOVED else None
    texts = [found.text] if line is None else [found.text, records[line]]
    named = (first_string(text, RUN_FIELD) for text in texts)
    event = EVENTS.get(first_string(found.text, "event_type") or "")
    is_known = event is not None and not event.is_work and event.name not in _CLOCKED
    return Rewritten(
        found.fate,
        None if line is None else line + 1,
        found.version.short,
        frozenset(each for each in named if each is not None),
        found.is_feed or not is_known,
    )


def vouched_run(run: RunScore, traces: Sequence[Vouched]) -> RunScore:
    """The score of a run with what git vouches for of all traces that were read with it: a line of
    it may have been in any.
    """
    own = {part.path for part in run.parts}
    found = {
        trace: [
            each
            for each in trace.rewritten
            if run.run_id in each.run_ids or (trace.path in own and not each.run_ids)
        ]
        for trace in traces
    }
    histories = tuple(
        FileHistory(*trace[:4], len(lines))
        for trace, lines in found.items()
        if lines or trace.path in own
    )
    return run._replace(history=histories, caveats=(*run.caveats, *_of_rewritten(found)))


def _of_rewritten(found: dict[Vouched, list[Rewritten]]) -> Iterator[Caveat]:
    every = [(trace.path, each) for trace, lines in found.items() for each in lines]
    if not every:
        return
    # What a verdict or a figure rests on, first.
    every.sort(key=lambda each: not each[1].matters)
    counts = Counter(each.fate for _, each in every)
    what = listed(f"{plural(counts[fate], 'line')} {fate}" for fate in Fate if counts[fate])
    short, by = f"history rewritten: {what}", every[0][1].by
    how = f"by commit {by}" if by else "since the last commit"
    others = f"{' the first' * (len(every) > 1)} {how}"
    yield make_caveat(
        CaveatCode.REWRITTEN_HISTORY,
        short,
        f"{short},{others}; put it back as it was recorded (check --history shows it), in",
        holds=every[0][1].matters,
        lines=[LineRef(path, each.line) for path, each in every if each.line is not None],
        others=[path for path, _ in every],
    )
