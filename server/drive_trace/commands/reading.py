"""What commands read: the traces that paths mean, and the text of other files."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Sequence
from fnmatch import fnmatchcase
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click
from click.core import ParameterSource

from drive_trace.commands.earlier_runs import EarlierRuns
from drive_trace.commands.terminal import EXIT_UNUSABLE, Ended, ProgressBar, notify, say_waiting
from drive_trace.storage import files as disk
from drive_trace.storage import finding, other_files
from drive_trace.storage.files import LeftOut, Problem, TraceRecords, read_bytes, read_trace
from drive_trace.storage.projects import absolute
from drive_trace.text.spans import is_blank
from drive_trace.text.wording import first_of, plural, printable

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
