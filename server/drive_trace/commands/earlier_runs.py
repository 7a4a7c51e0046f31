"""The runs that traces had at the commits of ``--since`` and ``--history``: which were touched
since, and of which no line is left.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from drive_trace.scorecard.caveats import Gone
from drive_trace.storage import finding, other_files
from drive_trace.storage.files import LeftOut, Problem, TraceRecords, read_trace
from drive_trace.text.spans import is_blank
from drive_trace.text.wording import first_of, printable, shown

if TYPE_CHECKING:
    from drive_trace.storage.histories import Histories

_KEPT_IN_PART = "its runs are elsewhere without some of its lines"


class _Place(NamedTuple):
    """Where a run was."""

    path: str
    commit: str
    """The commit that has it, as git can be asked for it."""
    option: str
    """The option that asks what it had."""


class EarlierRuns:
    """The runs that there were, and what is left of them; none where nobody asks."""

    def __init__(self, search: finding.SearchOptions, histories: Histories | None) -> None:
        self._search, self._histories = search, histories
        bases = {"--since": search.since, "--history": histories.base if histories else None}
        self.bases = {option: base for option, base in bases.items() if base is not None}
        """The commits that somebody asks about, by the option that says which."""
        self.known: set[str] = set()
        """The runs that touched traces had at these commits."""
        self.touched: set[str] = set()
        """The runs that have been touched."""
        self._had: dict[str, _Place] = {}
        """Those known in traces that are still there, and those that commits dropped since."""
        self._now: set[str] = set()
        self._read: list[str] = []
        """The paths of the traces in which these were found."""
        self._searched: set[object] = set()
        """The folders of which all traces were read: many may have been deleted in one."""
        self._records: set[str] = set()
        """What the traces hold now that somebody named."""
        self.blank: set[str] = set()
        """The paths of the traces in which nothing stands."""
        self.not_here: dict[str, str] = {}
        """Why traces are not read that a commit may have, by their real paths."""
        self.recorded: set[str] = set()
        """The runs of traces that are no more, and those of which lines are gone."""
        self._told: set[str] = set()
        """The runs that were told to be gone."""

    def note_now(self, trace: TraceRecords) -> None:
        """Note what stands in a trace."""
        if self.bases:
            self._read.append(trace.path)
            self._now |= other_files.run_ids_in(trace.records)
            if all(map(is_blank, trace.records)):
                self.blank.add(trace.path)

    def note_before(self, trace: TraceRecords) -> None:
        """Note what stood in a trace, and what has been touched of it."""
        for option, base in self.bases.items():
            self._records.update(trace.records)
            if base.has(trace.path):
                commit, before = base.before(trace.path)
                had = other_files.run_ids_in(before)
                self.known |= had
                self.recorded |= had
                self._had |= dict.fromkeys(had, _Place(trace.path, commit, option))
                if base is self._search.since:
                    changed = [*filter(str.strip, base.changed(trace.path, before, trace.records))]
                    if not all(other_files.run_ids_in([each]) for each in changed):
                        changed += trace.records
                    self.touched |= other_files.run_ids_in(changed)

    def gone(self, paths: Sequence[str], seen: Callable[[], Collection[str]]) -> Iterator[Problem]:
        """The traces at some paths that are no more, and what git does not tell of them; ``seen``
        gives the real paths of those that there are. What has become something else is noted.
        """
        recorded = dict(self._histories.gone(paths, seen()) if self._histories else ())
        for option, base in self.bases.items():
            for path, commit, before, was_moved in base.gone(paths, seen(), self._records):
                where = _Place(other_files.from_here(path), commit, option)
                had = dict.fromkeys(other_files.run_ids_in(before), where)
                self.known |= had.keys()
                if not was_moved and self._search.excluded(path) in finding.NOBODYS:
                    later = recorded.pop(path, {})
                    if isinstance(later, Problem):
                        yield later
                        later = {}
                    had |= {run: _Place(where.path, at, "--history") for run, at in later.items()}
                    self.recorded |= had.keys()
                    yield from self._deleted(path, where, had)
            yield from base.problems
        for path, runs in recorded.items():
            if self._search.excluded(path) not in finding.NOBODYS:
                continue
            if isinstance(runs, Problem):
                yield runs
            else:
                self.note_dropped((other_files.from_here(path), *each) for each in runs.items())

    def _deleted(self, path: str, base: _Place, had: Mapping[str, _Place]) -> Iterator[LeftOut]:
        """What is told of a trace that is no more, given where its runs were last."""
        is_there = os.path.exists(path)  # noqa: PTH110 - Path raises for some names
        what = self.not_here.get(path, "no trace any more" if is_there else "deleted")
        if not had.keys() <= self._now:  # it may be in what nobody named, or has touched
            self._note_around(path)
        kept = {had[each] for each in had.keys() & self._now}
        lost = sorted(had.keys() - self._now)
        for where in sorted({had[each] for each in lost}) or [base]:
            runs = [each for each in lost if had[each] == where]
            yield _left_out(where, runs, what, is_all=where not in kept)

    def _note_around(self, path: str) -> None:
        """Note what stands in the traces around one that was deleted."""
        folder, known = other_files.search_folder(path)[0], set(map(finding.identity, self._read))
        if folder in self._searched:
            return
        self._searched.add(folder)
        for found in finding.find_traces([str(folder)] if folder else [], options=self._search):
            if isinstance(found, str) and finding.identity(found) not in known:
                trace = read_trace(found)
                if isinstance(trace, TraceRecords):
                    self.note_now(trace)

    def note_dropped(self, dropped: Iterable[tuple[str, str, str]]) -> None:
        """Note runs of which commits dropped lines: the path of the trace that had them, each run,
        and the commit that has it.
        """
        for path, run_id, commit in dropped:
            self.recorded.add(run_id)
            self._had.setdefault(run_id, _Place(path, commit, "--history"))
            if self._histories and self._histories.since:
                self.touched.add(run_id)

    def lost(self, asked: Callable[[str], bool], read: Collection[str]) -> dict[str, LeftOut]:
        """By the runs that there were, that are asked for, and that are not there now: what is left
        out with them. ``read`` has the paths of what was. No run is told twice.
        """
        lost = sorted(filter(asked, self._had.keys() - self._now - self._told))
        self._told.update(lost)
        told = {}
        kept = {self._had[each] for each in self._had.keys() & self._now}
        for where in {self._had[each] for each in lost}:
            is_all = where not in kept and (where.path in self.blank or where.path not in read)
            runs = [each for each in lost if self._had[each] == where]
            told[where] = _left_out(where, runs, is_all=is_all)
        return {each: told[self._had[each]] for each in lost}


def _left_out(
    where: _Place, run_ids: Sequence[str], what: str = "", *, is_all: bool = True
) -> LeftOut:
    """What a commit has, and how it is had again."""
    runs = f"no line is left of the run{'s' * (len(run_ids) > 1)}"
    runs = f"{runs} {first_of([*map(shown, run_ids)], 3)}"
    said = [*filter(None, [what, runs if run_ids else "" if is_all else _KEPT_IN_PART])]
    path = printable(shlex.quote(other_files.from_here(where.path)), 4096)
    # What else stands in the file by now must not be lost, nor what was moved come twice.
    how = (
        f"checkout {where.commit} -- {path} restores"
        if is_all
        else f"show {where.commit}:./{path} has"
    )
    since = f"since {where.commit} ({where.option})"
    return LeftOut(where.path, Gone(f"{', and '.join(said)} {since}; git {how} it"))
