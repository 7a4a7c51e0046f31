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


class Vouched(NamedTuple):
    """What git vouches for of a trace."""

    file: FileHistory
    rewritten: Sequence[Rewriting]
    runs: frozenset[str | None]
    """The runs that its lines name now."""


def vouched(path: str, history: History, records: Sequence[str]) -> Vouched:
    """What git vouches for of a trace with these records."""
    found, new = tuple(history.rewritings(records)), history.uncommitted(records)
    runs = frozenset(first_string(text, RUN_FIELD) for text in records)
    counts = new, len(found), history.mended
    return Vouched(FileHistory(path, history.since, len(history.commits), *counts), found, runs)


def vouched_run(run: RunScore, traces: Sequence[Vouched]) -> RunScore:
    """The score of a run with what git vouches for of all traces that were read with it: a line of
    it may have been in any. Those of a run that its file no longer has concern the others there.
    """
    own = {part.path for part in run.parts}
    histories: list[FileHistory] = []
    found: list[tuple[str, Rewriting]] = []
    for file, rewritten, runs in traces:
        is_own = file.path in own
        lines = [
            (file.path, each)
            for each in rewritten
            if run.run_id in each.run_ids or (is_own and runs.isdisjoint(each.run_ids))
        ]
        histories += [file] * bool(lines or is_own)
        found += lines
    caveats = (*run.caveats, *_of_rewritten(found))
    return run._replace(history=tuple(histories), caveats=caveats)


def _of_rewritten(found: list[tuple[str, Rewriting]]) -> Iterator[Caveat]:
    if not found:
        return
    # What a verdict or a figure rests on, first.
    found.sort(key=lambda each: not _matters(each[1]))
    counts, first = Counter(each.fate for _, each in found), found[0][1]
    what = listed(f"{plural(counts[fate], 'line')} {fate}" for fate in Fate if counts[fate])
    short, by = f"history rewritten: {what}", first.version.short
    how = f"by commit {by}" if by else "since the last commit"
    others = f"{' the first' * (len(found) > 1)} {how}"
    yield make_caveat(
        CaveatCode.REWRITTEN_HISTORY,
        short,
        f",{others}; put it back as it was recorded (check --history shows it), in",
        holds=_matters(first),
        lines=[
            LineRef(path, each.new + 1)
            for path, each in found
            if each.new is not None and each.now is not None
        ],
        others=[path for path, _ in found],
    )


def _matters(line: Rewriting) -> bool:
    """Whether it was a grade, or a figure is over it, or may be."""
    event = EVENTS.get(first_string(line.text, "event_type") or "")
    is_known = event is not None and not event.is_work and event.name not in _CLOCKED
    return line.is_feed or not is_known
