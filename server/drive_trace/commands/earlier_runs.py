"""The runs that traces had at the commits of ``--since`` and ``--history``: which were touched
since, and of which no line is left.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from drive_trace.scorecard.caveats import Gone
from drive_trace.storage import finding, git, other_files
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
        self.untouched: set[str] = set()
        """The traces that were found and not touched."""
        self.touched: set[str] = set()
        """The runs that have been touched."""
        self._had: dict[tuple[str, str], _Place] = {}
        """Where those were that are known in traces which are still there, and those that commits
        dropped since, by the run and the path of the trace.
        """
        self._left: dict[tuple[str, str], list[str]] = {}
        """The lines of those of which no line is left in that trace."""
        self._now: set[str] = set()
        self._read: list[str] = []
        """The paths of the traces in which these were found."""
        self._around = cache(self._read_around)
        """The runs and records of the traces in a folder: many may have been deleted in one."""
        self._records: set[str] = set()
        """What the traces hold now that were read."""
        self.blank: set[str] = set()
        """The paths of the traces in which nothing stands."""
        self.not_here: dict[str, str] = {}
        """Why traces are not read that a commit may have, by their real paths."""
        self.recorded: set[str] = set()
        """The runs of traces that are no more, and those of which lines are gone."""

    def note_now(self, trace: TraceRecords) -> None:
        """Note what stands in a trace."""
        if self.bases:
            self._read.append(trace.path)
            self._now |= other_files.run_ids_in(trace.records)
            self._records.update(trace.records)
            if all(map(is_blank, trace.records)):
                self.blank.add(trace.path)

    def note_before(self, trace: TraceRecords) -> None:
        """Note what stood in a trace, and what has been touched of it."""
        for option, base in self.bases.items():
            if base.has(trace.path):
                commit, before = base.before(trace.path)
                had = other_files.run_ids_in(before)
                self.known |= had
                self.recorded |= had
                where = _Place(trace.path, commit, option)
                self._had |= dict.fromkeys(((each, trace.path) for each in had), where)
                for text in _lines_of(had - other_files.run_ids_in(trace.records), before):
                    for each in other_files.run_ids_in([text]):
                        self._left.setdefault((each, trace.path), []).append(text)
                if base is self._search.since:
                    changed = [*filter(str.strip, base.changed(trace.path, before, trace.records))]
                    if not all(other_files.run_ids_in([each]) for each in changed):
                        changed += trace.records
                    self.touched |= other_files.run_ids_in(changed)

    def gone(self, paths: Sequence[str], seen: Callable[[], Collection[str]]) -> Iterator[Problem]:
        """The traces at some paths that are no more, those around that have no more what they had
        of the runs there, and what git does not tell of them; ``seen`` gives the real paths of
        those that there are. What has become something else is noted.
        """
        recorded = dict(self._histories.gone(paths, seen()) if self._histories else ())
        named = [place for each in paths for place in git.standing(each)]
        runs_named = cache(lambda: self._now.union(*map(_runs_at, self.untouched)))
        for option, base in self.bases.items():
            places = *paths, *other_files.search_folders({*self._read, *self.untouched})
            for path, commit, before, is_there in base.gone(places, seen()):
                where = _Place(other_files.from_here(path), commit, option)
                had, lines, kept = other_files.run_ids_in(before), before, self._records
                if not any(map(Path(path).is_relative_to, named)):
                    had = (had & runs_named()) - _runs_at(path)
                    lines = [*_lines_of(had, before), ""]  # of the others, none is missed
                    if had:
                        kept = kept | self._around(other_files.search_folder(path)[0])[1]
                self.known |= had
                is_kept = lines and kept.issuperset(each for each in lines if each.strip())
                if (is_kept and not is_there) or self._search.excluded(path) not in finding.NOBODYS:
                    continue
                later = recorded.pop(path, {}).items()
                at = {run_id: _Place(where.path, commit, "--history") for run_id, commit in later}
                at = dict.fromkeys(had, where) | at
                self.recorded |= at.keys()
                if is_there:
                    why = f"not tracked by git any more since {commit} ({option})"
                    yield LeftOut(where.path, Gone(f"{why}; git add has it again"))
                else:
                    yield from self._deleted(path, where, at)
            yield from base.problems
        for path, runs in recorded.items():
            if self._search.excluded(path) in finding.NOBODYS:
                self.note_dropped((other_files.from_here(path), *each) for each in runs.items())

    def _deleted(self, path: str, base: _Place, had: Mapping[str, _Place]) -> Iterator[LeftOut]:
        """What is told of a trace that is no more, given where its runs were last."""
        became = "replaced" if os.path.exists(path) else "deleted"  # noqa: PTH110 - Path may raise
        what, now = self.not_here.get(path, became), self._now
        if not had.keys() <= now:  # it may be in what nobody named, or has touched
            now = now | self._around(other_files.search_folder(path)[0])[0]
        kept = {had[each] for each in had.keys() & now}
        lost = sorted(had.keys() - now)
        for where in sorted({had[each] for each in lost}) or [base]:
            runs = [each for each in lost if had[each] == where]
            yield _left_out(where, runs, what, is_all=where not in kept)

    def _read_around(self, folder: Path | None) -> tuple[frozenset[str], frozenset[str]]:
        known = set(map(finding.identity, self._read))
        found = finding.find_traces([str(folder)] if folder else [], options=self._search)
        others = [e for e in found if isinstance(e, str) and finding.identity(e) not in known]
        read = [each for each in map(read_trace, others) if isinstance(each, TraceRecords)]
        records = frozenset(chain.from_iterable(each.records for each in read))
        return other_files.run_ids_in(records), records

    def note_dropped(self, dropped: Iterable[tuple[str, str, str]]) -> None:
        """Note runs of which commits dropped lines: the path of the trace that had them, each run,
        and the commit that has it.
        """
        for path, run_id, commit in dropped:
            if run_id not in self.recorded:
                self._had[run_id, path] = _Place(path, commit, "--history")
            self.recorded.add(run_id)
            if self._histories and self._histories.since:
                self.touched.add(run_id)

    def lost(self, asked: Callable[[str], bool]) -> tuple[Sequence[str], Sequence[LeftOut]]:
        """The runs that there were, that are asked for, and that are not there now; and what is
        left out with them, and with those of which a trace has no line any more, and no other one
        all. Nothing is told twice.
        """
        had, self._had = self._had, {}
        kept = {where for each, where in had.items() if each[0] in self._now}
        lost: dict[_Place, set[str]] = {}
        for each in sorted(had):
            is_kept = each[0] in self._now and self._records.issuperset(self._left.get(each, ()))
            if asked(each[0]) and not is_kept:
                lost.setdefault(had[each], set()).update({each[0]} - self._now)
        told = []
        there = {*self._read} - self.blank
        for where, runs in lost.items():
            is_all = where not in kept and where.path not in there
            told.append(_left_out(where, sorted(runs), is_all=is_all))
        return sorted({*chain.from_iterable(lost.values())}), told


def _runs_at(path: str) -> frozenset[str]:
    """The runs that a trace names, if there is one."""
    found = read_trace(path)
    return other_files.run_ids_in(found.records if isinstance(found, TraceRecords) else ())


def _lines_of(run_ids: Collection[str], records: Iterable[str]) -> Sequence[str]:
    """Those of some records that name one of some runs."""
    some = records if run_ids else ()  # each takes time, and most often none is asked for
    return [each for each in some if not other_files.run_ids_in([each]).isdisjoint(run_ids)]


def _left_out(
    where: _Place, run_ids: Sequence[str], what: str = "", *, is_all: bool = True
) -> LeftOut:
    """What a commit has, and how it is had again."""
    runs = f"no line is left of the run{'s' * (len(run_ids) > 1)}"
    runs = f"{runs} {first_of([*map(shown, run_ids)], 3)}"
    said = [*filter(None, [what, runs if run_ids else "" if is_all else _KEPT_IN_PART])]
    path = printable(shlex.quote(other_files.from_here(where.path)), 4096)
    # What else stands in the file by now must not be lost, nor what was moved come twice.
    option = "--ignore-skip-worktree-bits " * (what == finding.Omission.SPARSE)
    restores = f"checkout {option}{where.commit} -- {path} restores"
    how = restores if is_all else f"show {where.commit}:./{path} has"
    since = f"since {where.commit} ({where.option})"
    return LeftOut(where.path, Gone(f"{', and '.join(said)} {since}; git {how} it"))
