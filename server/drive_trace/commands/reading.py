"""What commands read: the traces that paths mean, the text of other files, and which runs earlier
commits had.
"""

from __future__ import annotations

import math
import os
import shlex
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import click
from click.core import ParameterSource

from drive_trace.commands.terminal import EXIT_UNUSABLE, Ended, ProgressBar, notify, say_waiting
from drive_trace.scorecard.caveats import Gone
from drive_trace.storage import files as disk
from drive_trace.storage import finding, git, other_files
from drive_trace.storage.files import LeftOut, Problem, TraceRecords, read_bytes, read_trace
from drive_trace.storage.projects import absolute
from drive_trace.text.spans import is_blank
from drive_trace.text.wording import first_of, plural, printable, shown

if TYPE_CHECKING:
    from drive_trace.scorecard.scoring import TraceSummary
    from drive_trace.storage.histories import Histories
    from drive_trace.storage.suites import SuiteFile
    from drive_trace.trace.history import History


T = TypeVar("T")

_OF_WHAT_WAS = {"history-rewritten", "unrecorded-change"}
"""Rules whose findings stand where something is no more."""
MOST_NAMED = 10
"""A line on standard error names so many files, or runs."""


def usable(outcome: T | Problem) -> T:
    """What was read, if it was. Otherwise ends the command."""
    if isinstance(outcome, Problem):
        raise Ended(EXIT_UNUSABLE, outcome.message)
    return outcome


def read_text(source: str, most: int) -> str:
    """The text of a file, or of standard input for ``-``. Ends the command if it cannot be read, or
    has more than ``most`` bytes.
    """
    say_waiting(source)
    data = usable(read_bytes(source, most))
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        found = f"byte 0x{data[error.start]:02x} in line {line}"
        what = f"{source}: is not UTF-8 ({found}); save it as UTF-8 and try again"
        raise Ended(EXIT_UNUSABLE, what) from error


def suite_at(path: str, *says: str) -> SuiteFile:
    """The suite that somebody has named. Ends the command with all that is wrong with it. Raises
    UsageError where a parameter is given, too, that the suite ``says``.
    """
    ctx = click.get_current_context()
    for each in ctx.command.params:
        if each.name in says and ctx.get_parameter_source(each.name) is ParameterSource.COMMANDLINE:
            name = each.opts[0] if isinstance(each, click.Option) else each.human_readable_name
            raise click.UsageError(f"{name} does not go with --suite, which says it")
    from drive_trace.storage.suites import Suite, SuiteFile  # noqa: PLC0415 - loads pydantic
    from drive_trace.storage.toml_models import read_as  # noqa: PLC0415 - as above

    read = read_as(Path(path), Suite)
    if isinstance(read, Suite):
        return SuiteFile(Path(path), read)
    raise Ended(EXIT_UNUSABLE, *(each.problem.message for each in read))


def lines_of_log(path: str) -> Iterator[str]:
    """The lines of the log of an agent's session. Ends the command if it cannot be read."""
    from drive_trace.storage.session_logs import log_lines  # noqa: PLC0415 - few read one

    say_waiting(path)
    try:
        yield from log_lines(path)
    except (OSError, ValueError) as error:
        raise Ended(EXIT_UNUSABLE, f"{path}: {disk.why_not_read(error)}") from error


def tell_others(paths: Sequence[str]) -> None:
    """Say on standard error which traces were read although nobody named them."""
    if paths:
        named = [printable(each, 4096) for each in paths]
        notify(f"read, too, for the same runs: {first_of(named, MOST_NAMED)}")


class Reading(finding.NotRead):
    """Reads the traces that paths mean, one after another, and reports what it cannot read."""

    def __init__(
        self,
        paths: Sequence[str],
        search: finding.SearchOptions,
        histories: Histories | None = None,
    ) -> None:
        super().__init__(self._say)
        self.histories = histories
        self.search = search
        self.paths = paths or (".",)
        self.found: list[str] = []
        """The traces that were read."""
        self.places: dict[str, str] = {}
        """By the path of each trace, of others too, the one to read it again."""
        self.earlier = EarlierRuns(search, histories)
        self._without_history: set[str] = set()
        self._whole: list[TraceRecords] | None = None
        self.others_found: list[str] = []
        """The other traces of their runs, which nobody named."""
        self.progress = ProgressBar("reading traces")

    def __iter__(self) -> Iterator[TraceRecords]:
        if self._whole is not None:
            yield from self.progress.over(self._whole)
            return
        found = self.progress.over(finding.find_traces(self.paths, options=self.search))
        for trace in self.usable(map(_read, map(self._if_touched, found))):
            self.found.append(trace.path)
            self.places[trace.path] = trace.found
            self._tell_odd(trace.path, trace.records)
            self.earlier.note_now(trace)
            self.earlier.note_before(trace)
            # What commits dropped touches runs, too, and may be what somebody asks for.
            if self.search.since is not None or self.search.runs:
                self.history_of(trace.path, trace.records)
            yield trace
        others = (each for each in self.left_out if each.reason in finding.NOT_HERE)
        for path, reason in chain(others, self.unread):
            places = absolute(path), finding.identity(path)
            self.earlier.not_here |= dict.fromkeys(places, reason.partition(";")[0])
        self._note_gone([*self.earlier.gone(self.paths, self._seen)])

    def _note_gone(self, gone: Sequence[Problem]) -> None:
        """Note what is gone that git has, in place of what else is told of it."""
        told = {absolute(each.path) for each in gone}
        self.left_out = [each for each in self.left_out if absolute(each.path) not in told]
        self.unread = [each for each in self.unread if absolute(each.path) not in told]
        for each in gone:
            self.note(each)

    def _tell_odd(self, path: str, records: Sequence[str]) -> None:
        """Tell of a file that somebody named, and that holds nothing, or no text."""
        is_empty = len(records) == 1 and is_blank(records[0])  # as a mark of UTF-8 alone
        odd = "is binary: it has NUL" * ("\0" in records[0]) or "holds no lines" * is_empty
        if odd and path in self.paths and path != disk.STDIN:
            self._say(f"{path}: {odd}")

    def _seen(self) -> set[str]:
        """What was read, or is told to be not, by its real paths."""
        read = {*self.found, *self.earlier.untouched} - self.earlier.blank
        missed = (each for each in self.left_out if finding.is_missed(each.reason))
        told = [each.path for each in missed if each.reason not in finding.NOT_HERE]
        return {*map(finding.identity, read.union(told, (each.path for each in self.unread)))}

    @property
    def fails_as_gone(self) -> bool:
        """Whether something is gone that git has, and somebody asks for what it has."""
        return bool(self.earlier.bases) and any(finding.is_gone(e.reason) for e in self.left_out)

    def note_lost(self) -> None:
        """Note the runs that there were, that are looked at, and that are not there now."""
        lost, gone = self.earlier.lost(self.asks_for)
        told = {absolute(each.path) for each in self.left_out if finding.is_gone(each.reason)}
        self._note_gone([each for each in gone if absolute(each.path) not in told])
        if lost:
            named = first_of([*map(printable, lost)], MOST_NAMED)
            self._say(f"no line is left of {plural(len(lost), 'run')}: {named}")

    def _if_touched(self, found: finding.Found) -> finding.Found:
        since = self.search.since
        if since is None or isinstance(found, Problem) or since.has(found):
            return found
        if self.histories is not None and self.histories.touches(found):
            return found
        self.earlier.untouched.add(str(found))
        return LeftOut(str(found), f"not touched since {since.since[:10]}")

    def asks_for(self, run_id: str) -> bool:
        """Whether a run is looked at: by ``--run``, and as it was touched ``--since`` a commit."""
        is_named = not self.search.runs or any(fnmatchcase(run_id, g) for g in self.search.runs)
        return is_named and (self.search.since is None or run_id in self.earlier.touched)

    def must_name(self, run_ids: Collection[str]) -> None:
        """Raise UsageError where ``--run`` names none of some runs: all that were read, or that a
        commit has. Nobody says what ``--since`` a commit was touched.
        """
        there = self.earlier.recorded.union(run_ids)
        for each in self.search.runs if self.search.since is None else ():
            if not any(fnmatchcase(run_id, each) for run_id in there):
                known = first_of([*map(printable, sorted(run_ids))], MOST_NAMED)
                what = f"--run {printable(each) or '(empty)'} names none of the runs that were read"
                raise click.UsageError(f"{what}: {known}")

    def asked(self, run_ids: Collection[str]) -> set[str]:
        """Those of some runs that are looked at; tells the others."""
        self.must_name(run_ids)
        others = sorted(each for each in run_ids if not self.asks_for(each))
        if others:
            named = first_of([printable(each) for each in others], MOST_NAMED)
            self._say(f"{plural(len(others), 'run')} not looked at: {named}")
        return {*run_ids} - {*others}

    def tells(self, code: str, text: str | None) -> bool:
        """Whether a finding on a line is told: of a run that is looked at, of no run that can be
        read, or of what is no longer there.
        """
        if text is None or code in _OF_WHAT_WAS or not (self.search.runs or self.search.since):
            return True
        run_ids = other_files.run_ids_in([text])
        return not run_ids or any(map(self.asks_for, run_ids))

    def _say(self, message: str) -> None:
        self.progress.clear()
        notify(message)

    def history_of(self, path: str, records: Sequence[str]) -> History | None:
        """What git's commits made of a trace, where somebody asks; what git does not tell whole is
        noted as not read.
        """
        if self.histories is None:
            return None
        found = self.histories.of(path, records)
        if isinstance(found, Problem):
            if path not in self._without_history:
                self._without_history.add(path)
                self.note(found)
            return None
        self.earlier.note_dropped(self.histories.lost_in(path, found))
        return found

    def vouched(self, trace: TraceSummary, records: Sequence[str]) -> TraceSummary:
        """A trace with what its grades rest on; where somebody asks, with what git vouches for."""
        trace = disk.with_judgements(trace, self.places.get(trace.path, trace.path))
        history = self.history_of(trace.path, records)
        if history is None:
            return trace
        from drive_trace.scorecard.card import vouched  # noqa: PLC0415 - few ask for it

        return trace._replace(vouched=vouched(trace.path, history, records))

    def beside(
        self, run_ids: Callable[[], Collection[str]], most: float = math.inf
    ) -> Iterator[TraceRecords | Problem]:
        """The other traces of runs in what was read, see :func:`traces_beside`."""
        if self._whole is not None:
            return
        for each in other_files.traces_beside(self.paths, self.found, run_ids, self.search, most):
            if isinstance(each, TraceRecords):
                self.earlier.note_now(each)
            yield each

    def others(self, run_ids: Collection[str]) -> Iterator[TraceRecords]:
        """The other traces of some runs in what was read, for who judges the runs: what of them
        cannot be read is noted as if somebody had named it.
        """
        for each in self.usable(self.beside(lambda: run_ids)):
            self.others_found.append(each.path)
            self.places[each.path] = each.found
            yield each

    def read_whole(self) -> frozenset[str]:
        """Read all traces at once, with the others of their runs: from now on, these are as if
        somebody had named them. Gives the runs that are asked for.
        """
        named = [*self]
        run_ids = frozenset().union(*(other_files.run_ids_in(each.records) for each in named))
        asked = frozenset(self.asked(run_ids.union(self.earlier.touched)))
        self._whole = other_files.among(named, self.others(asked), lambda each: each.path)
        self.note_lost()
        return asked

    def notes(self) -> list[str]:
        """What a person must know about the search."""
        return [*filter(None, [finding.omitted(self.left_out).sentence()])]


def _read(found: finding.Found) -> TraceRecords | Problem:
    if isinstance(found, Problem):
        return found
    say_waiting(found)
    return read_trace(found)


def found_in(reading: Reading) -> Iterator[TraceRecords | Problem]:
    """What a side of a comparison is read from, and what is not read of it."""
    reading.tells_unread = False  # as what is wrong with a side is told once, of both
    yield from reading
    yield from (Problem(*each) for each in reading.unread)
    yield from reading.left_out


# The runs that traces had at the commits of ``--since`` and ``--history``: which were touched
# since, and of which no line is left.

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
