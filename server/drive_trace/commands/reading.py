"""What commands read: the traces that paths mean, and the text of other files."""

from __future__ import annotations

import math
import os
import shlex
from collections.abc import Callable, Collection, Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import click
from click.core import ParameterSource

from drive_trace.commands.terminal import EXIT_UNUSABLE, Ended, ProgressBar, notify, say_waiting
from drive_trace.scorecard.caveats import Gone
from drive_trace.storage import files as disk
from drive_trace.storage import finding
from drive_trace.storage.files import LeftOut, Problem, TraceRecords, read_bytes, read_trace
from drive_trace.text.wording import first_of, plural, printable, shown

if TYPE_CHECKING:
    from drive_trace.scorecard.scoring import TraceSummary
    from drive_trace.storage.histories import Histories, Touched
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


class _Place(NamedTuple):
    """Where a run was."""

    path: str
    commit: str
    """The commit that has it, as git can be asked for it."""
    option: str
    """Who asks what it had."""


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
        self.without_history: set[str] = set()
        """The traces of which git does not tell all, if somebody asks."""
        self.search = search
        self.paths = paths or (".",)
        self.found: list[str] = []
        """The traces that were read."""
        self.places: dict[str, str] = {}
        """By the path of each trace, of others too, the one to read it again."""
        self.bases = [*filter(None, (search.since, histories.base if histories else None))]
        """What there was at the commits of ``--since`` and ``--history``."""
        self.touched: set[str] = set()
        """The runs that have been touched so far, if somebody asks."""
        self.runs_before: set[str] = set()
        """The runs that the touched traces had at the commits that were named."""
        self._had: dict[str, _Place] = {}
        """Those of them in traces that are still there, and those that commits dropped since."""
        self._now: set[str] = set()
        """The runs that were read, if somebody asks which are gone."""
        self._untouched: set[str] = set()
        """The traces that were found and not touched."""
        self._lost: set[str] = set()
        """The runs of which no line is left, as far as they are noted."""
        self._blank: set[str] = set()
        """The traces in which nothing stands, if somebody asks."""
        self._whole: list[TraceRecords] | None = None
        self.others_found: list[str] = []
        """The other traces of their runs, which nobody named."""
        self.progress = ProgressBar("reading traces")

    def __iter__(self) -> Iterator[TraceRecords]:
        if self._whole is not None:
            yield from self.progress.over(self._whole)
            return
        found = self.progress.over(finding.find_traces(self.paths, options=self.search))
        records: list[str] = []
        for trace in self.usable(map(_read, map(self._if_touched, found))):
            self.found.append(trace.path)
            self.places[trace.path] = trace.found
            self._tell_odd(trace.path, trace.records)
            records += trace.records * bool(self.bases)
            self._note_now(trace)
            for base in self.bases:
                if base.has(trace.path):
                    self._note_touched(trace, base)
            yield trace
        for base in self.bases:
            self._note_gone(base, records)
        self._note_replaced()

    def _note_now(self, trace: TraceRecords) -> None:
        if self.bases or self.histories:
            self._now |= finding.run_ids_in(trace.records)
            if not any(map(str.strip, trace.records)):
                self._blank.add(trace.path)

    def _tell_odd(self, path: str, records: Sequence[str]) -> None:
        """Tell of a file that somebody named, and that holds nothing, or no text."""
        odd = "is binary: it has NUL" * ("\0" in records[0]) or "holds no lines" * (records == [""])
        if odd and path in self.paths and path != disk.STDIN:
            self._say(f"{path}: {odd}")

    def _note_touched(self, trace: TraceRecords, base: Touched) -> None:
        before = base.before(trace.path)
        had = finding.run_ids_in(before)
        self.runs_before |= had
        where = _Place(trace.path, base.commit_of(trace.path), self._option(base))
        self._had |= dict.fromkeys(had, where)
        if base is self.search.since:
            changed = [*filter(str.strip, base.changed(trace.path, before, trace.records))]
            if not all(finding.run_ids_in([each]) for each in changed):
                changed += trace.records
            self.touched |= finding.run_ids_in(changed)

    def _option(self, base: Touched) -> str:
        return "--since" if base is self.search.since else "--history"

    def _seen(self) -> set[str]:
        """What was read, or is told to be not, by its real paths."""
        told = {each.path for each in self.left_out if finding.is_missed(each.reason)}
        read = {*self.found, *self._untouched} - self._blank
        return {*map(finding.identity, read.union(told, (each.path for each in self.unread)))}

    def _note_gone(self, base: Touched, records: Sequence[str]) -> None:
        """Note the traces that are no more, or have become something else."""
        for path, before, was_moved in base.gone(self.paths, self._seen(), records):
            had = finding.run_ids_in(before)
            self.runs_before |= had
            if not was_moved and self.search.excluded(path) in finding.NOBODYS:
                is_there = os.path.exists(path)  # noqa: PTH110 - Path raises for some names
                what = "no trace any more" if is_there else "deleted"
                where = _Place(finding.from_here(path), base.commit_of(path), self._option(base))
                self.note(_gone(where, sorted(had - self._now), what))
        for problem in base.problems:
            self.note(problem)

    def _note_replaced(self) -> None:
        """Note the runs of traces that have become something else in any commit."""
        if self.histories is not None:
            for path, history in self.histories.replaced(self.paths, self._seen()):
                if self.search.excluded(path) in finding.NOBODYS:
                    self._note_history(finding.from_here(path), history)

    def _note_history(self, path: str, history: History | Problem) -> None:
        """Note the runs of the lines that commits dropped."""
        if self.histories is None or isinstance(history, Problem):
            return
        for run_id, commit in self.histories.lost_in(history):
            self._had.setdefault(run_id, _Place(path, commit, "--history"))
            if self.histories.base is not None:
                self.touched.add(run_id)

    def note_lost(self) -> None:
        """Note the runs that there were, that are looked at, and that are not there now."""
        lost = sorted(filter(self.asks_for, self._had.keys() - self._now - self._lost))
        self._lost.update(lost)
        missed = (each.path for each in self.left_out if finding.is_missed(each.reason))
        told = set(map(finding.identity, missed))
        for where in dict.fromkeys(self._had[each] for each in lost):
            if finding.identity(where.path) not in told:
                is_all = where.path in self._blank or where.path not in self.found
                runs = [each for each in lost if self._had[each] == where]
                self.note(_gone(where, runs, is_all=is_all))
        if lost:
            named = first_of([*map(printable, lost)], MOST_NAMED)
            self._say(f"no line is left of {plural(len(lost), 'run')}: {named}")

    def _if_touched(self, found: finding.Found) -> finding.Found:
        since = self.search.since
        if since is None or isinstance(found, Problem) or since.has(found):
            return found
        self._untouched.add(str(found))
        return LeftOut(str(found), f"not touched since {since.since[:10]}")

    def asks_for(self, run_id: str) -> bool:
        """Whether a run is looked at: by ``--run``, and as it was touched ``--since`` a commit."""
        is_named = not self.search.runs or any(fnmatchcase(run_id, g) for g in self.search.runs)
        return is_named and (self.search.since is None or run_id in self.touched)

    def must_name(self, run_ids: Collection[str]) -> None:
        """Raise UsageError where ``--run`` names none of some runs: all that were read. Nobody says
        what ``--since`` a commit was touched.
        """
        for each in self.search.runs if self.search.since is None else ():
            if not any(fnmatchcase(run_id, each) for run_id in run_ids):
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
        run_ids = finding.run_ids_in([text])
        return not run_ids or any(map(self.asks_for, run_ids))

    def _say(self, message: str) -> None:
        self.progress.clear()
        notify(message)

    def history_of(self, path: str, records: Sequence[str]) -> History | None:
        """What git's commits made of a trace, where somebody asks; what git does not tell whole is
        noted as not read.
        """
        if self.histories is None or path in self.without_history:
            return None
        found = self.histories.of(path, records)
        if isinstance(found, Problem):
            self.without_history.add(path)
            self.note(found)
            return None
        self._note_history(path, found)
        return found

    def vouched(self, trace: TraceSummary, records: Sequence[str]) -> TraceSummary:
        """A trace with what its grades rest on; where somebody asks, with what git vouches for."""
        trace = disk.with_judgements(trace, trace.path)
        history = self.history_of(trace.path, records)
        if history is None:
            return trace
        from drive_trace.scorecard.vouching import vouched  # noqa: PLC0415 - few ask for it

        return trace._replace(vouched=vouched(trace.path, history, records))

    def beside(
        self, run_ids: Callable[[], Collection[str]], most: float = math.inf
    ) -> Iterator[TraceRecords | Problem]:
        """The other traces of runs in what was read, see :func:`traces_beside`."""
        if self._whole is not None:
            return
        for each in finding.traces_beside(self.paths, self.found, run_ids, self.search, most):
            if isinstance(each, TraceRecords):
                self._note_now(each)
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
        run_ids = frozenset().union(*(finding.run_ids_in(each.records) for each in named))
        asked = frozenset(self.asked(run_ids.union(self.touched)))
        self._whole = finding.among(named, self.others(asked), lambda each: each.path)
        self.note_lost()
        return asked

    def notes(self) -> list[str]:
        """What a person must know about the search."""
        return [*filter(None, [finding.omitted(self.left_out).sentence()])]


def _gone(where: _Place, run_ids: Sequence[str], what: str = "", *, is_all: bool = True) -> LeftOut:
    """What a commit has, and how it is had again."""
    runs = f"no line is left of the run{'s' * (len(run_ids) > 1)}"
    said = [what] * bool(what)
    said += [f"{runs} {first_of([*map(shown, run_ids)], 3)}"] * bool(run_ids)
    path = printable(shlex.quote(finding.from_here(where.path)), 4096)
    # What else stands in the file by now must not be lost.
    how = (
        f"checkout {where.commit} -- {path} restores"
        if is_all
        else f"show {where.commit}:./{path} has"
    )
    since = f"since {where.commit} ({where.option})"
    return LeftOut(where.path, Gone(f"{', and '.join(said)} {since}; git {how} it"))


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
