"""Checks the traces that are read, each with the others that have lines of its runs."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from drive_trace.analysis import Analysis
from drive_trace.commands.formats.findings import (
    Location,
    RelatedPlace,
    Reported,
    reported,
    unreadable,
)
from drive_trace.commands.reading import Reading
from drive_trace.commands.terminal import notify
from drive_trace.linter.rule import DEFAULTS, Finding, RuleSettings, Severity, SharedEvents
from drive_trace.linter.rules import RULES
from drive_trace.scorecard.caveats import Unread
from drive_trace.storage.files import STDIN, Problem, TraceRecords, read_trace
from drive_trace.storage.finding import GONE, Omission, run_ids_in, traces_beside
from drive_trace.storage.git import CommittedTraces
from drive_trace.storage.processes import on_all_cores
from drive_trace.storage.projects import Project, Projects, shown_path
from drive_trace.storage.replace import Unsynced
from drive_trace.text.escaping import printable
from drive_trace.text.spans import Span
from drive_trace.text.wording import first_of, plural
from drive_trace.trace.document import Document
from drive_trace.trace.joined import (
    JoinedFile,
    JoinedFiles,
    Kind,
    SharedEvent,
    SharedIds,
    kinds_of,
    sharing,
)
from drive_trace.trace.line import Line
from drive_trace.trace.places import resolve
from drive_trace.trace.reading import read_exactly, read_lines

_LITTLE = 1_000_000
"""Characters that are checked before other processes help: to start these takes as long."""
_KEPT = 100_000_000
"""Characters of traces that are kept while all are looked through; the others are read again."""


Fix: TypeAlias = Callable[[TraceRecords, Analysis], Problem | None]
"""Fixes a trace in its file, or returns why the file stays as it was, or Unsynced. The analysis is
fixed in each case.
"""


_Events: TypeAlias = Callable[[], list[tuple[Kind, int]]]
"""Gives by what the events of a trace are known in others, with their lines."""
_EVENT_CHECKS = [rule.check for rule in RULES.values() if rule.looks_at is SharedEvents]


class _Trace(NamedTuple):
    """A trace to be checked."""

    trace: TraceRecords
    settings: RuleSettings
    recorded: Sequence[str] | None
    """What was recorded of it, where that is known, and asked for."""

    def analysed(self) -> Analysis:
        return Analysis(self.trace.records, self.settings, path=self.trace.path)


class _Task(NamedTuple):
    """Traces that share runs, most often one."""

    numbers: Sequence[int]
    """The places among all of those that are checked."""
    traces: Sequence[_Trace]
    beside: Sequence[TraceRecords]
    """Those that are only looked at, as they have lines of the same runs."""

    def join(self, analyses: Sequence[Analysis]) -> None:
        """Have each trace judged with the lines that its runs have in the others."""
        if len(self.traces) + len(self.beside) == 1:
            return
        lines = [analysis.document.lines for analysis in analyses]
        files = [
            JoinedFile(each.trace.path, own) for each, own in zip(self.traces, lines, strict=True)
        ]
        files += [
            JoinedFile(each.path, Document(each.records, read_lines).lines, True)
            for each in self.beside
        ]
        numbers = list(range(len(files)))
        if self.beside:  # as in a search, which would have found all of them
            numbers.sort(key=lambda number: _as_found(files[number].path))
        joined = JoinedFiles([files[number] for number in numbers])
        for number, analysis in enumerate(analyses):
            analysis.join(joined, numbers.index(number))


def _as_found(path: str) -> list[tuple[bool, str]]:
    """Sorts as a search finds: a folder's files before those in the folders inside it."""
    *folders, name = Path(os.path.abspath(path)).parts  # noqa: PTH100 - follows no link
    return [*((True, each) for each in folders), (False, name)]


class _Checked(NamedTuple):
    """What was found in a trace, without the trace."""

    found: Sequence[tuple[str, tuple[Any, ...]]]
    """The findings, each as its rule's code and the rest of it."""
    hidden: int
    events: _Events


def _check_apart(task: _Task) -> Sequence[_Checked]:
    """Check traces in another process."""
    analyses = [each.analysed() for each in task.traces]
    task.join(analyses)
    return [_checked(*each) for each in zip(task.traces, analyses, strict=True)]


def _checked(trace: _Trace, analysis: Analysis) -> _Checked:
    analysis.compare_with(trace.recorded)
    found = [
        (
            each.rule.code,
            each._replace(
                related=partial(tuple, each.related()), fixes=partial(tuple, each.fixes())
            )[1:],
        )
        for each in reported(analysis, trace.trace.path)
    ]
    return _Checked(found, analysis.hidden_count, partial(list, _events_of(analysis)))


class _Across:
    """Compares the events of traces one after another, and collects what rules find in that."""

    def __init__(self) -> None:
        self.found: list[tuple[Reported, bool]] = []
        """The findings, each with whether a baseline hides it."""
        self._paths: list[str] = []
        self._ids = SharedIds()
        self._waiting: list[_Events] = []

    def add(self, done: _Done) -> None:
        """Look for its events in the traces before it, while its lines are in memory."""
        self._paths.append(done.trace.trace.path)
        self._waiting.append(done.events)
        if len(self._paths) == 1:  # a single trace costs nothing
            return
        *_, shared = [self._ids.add(events()) for events in self._waiting]
        self._waiting = []
        for found, are_copies in zip(shared, (True, False), strict=True):
            by_file: dict[int, list[SharedEvent]] = {}
            for each in found:
                by_file.setdefault(each.file, []).append(each)
            for file, same in by_file.items():
                here, other = same[0], self._paths[file]
                line = done.line_at(here.line - 1)
                subject = SharedEvents(line, len(same), are_copies, other, here.other)
                there = Location.of(other, here.other - 1, "", Span(0, 0))
                place = RelatedPlace(there, "the same id here")
                for finding in chain.from_iterable(check(subject) for check in _EVENT_CHECKS):
                    self._take_in(finding, done.trace, here.line, place)

    def _take_in(self, finding: Finding, trace: _Trace, number: int, place: RelatedPlace) -> None:
        settings, text = trace.settings, finding.line.text
        severity = settings.severity(finding.rule)
        if severity is not None:
            location = Location.of(trace.trace.path, number - 1, text, resolve(text, finding.place))
            # The message names the files of the lines in it.
            message = "".join(map(str, finding.message))
            report = Reported(
                finding.rule, severity, location, message, text, lambda: [place], list
            )
            self.found.append((report, settings.knows(finding.rule.code, text)))


class _Done(NamedTuple):
    """A trace that was checked."""

    trace: _Trace
    hidden: int
    events: _Events
    line_at: Callable[[int], Line]
    found: Iterable[Reported]


class Checking:
    """Checks traces one after another, and collects what the end of the output says."""

    def __init__(
        self,
        projects: Projects | None,
        off: Collection[str] = (),
        fix: Fix | None = None,
    ) -> None:
        """Without ``projects`` the rules run as they are by default, but for those that are off.
        ``fix`` changes a trace before it is checked.
        """
        self._off = RuleSettings(dict.fromkeys(off))
        self._projects = projects
        self._fix = fix
        self._across = _Across()
        self._notified: set[Problem] = set()
        self._hidden: Counter[Path] = Counter()
        self.checked: dict[str, Project | None] = {}
        """The traces that were checked, by their paths, each with its project."""
        self.worst: Severity | None = None
        """The worst severity of the findings so far."""
        self._not_beside: Sequence[Problem] = ()
        """What could not be looked at beside the files that are named."""
        self.failed = False
        """Whether a configuration, baseline or trace could not be used or written."""

    def reports(self, traces: Reading) -> Iterator[Reported]:
        """The findings of the traces, then those between them, then what could not be read."""
        yield from self._of_each(traces, CommittedTraces())
        for report, is_hidden in self._across.found:
            if is_hidden:
                project = self.checked[report.location.path]
                assert project is not None
                self._hidden[project.baseline_path] += 1
            else:
                yield self._noted(report)
        yield from map(self._noted, map(unreadable, traces.unread))
        for each in traces.left_out:
            if each.reason == Omission.OTHER_NAME or each.reason in GONE:
                yield self._noted(unreadable(Unread(*each), Severity.WARNING))

    def _of_each(self, traces: Reading, committed: CommittedTraces) -> Iterator[Reported]:
        """The findings of each trace, in the order of the traces. A trace that shares runs with an
        earlier one is checked together with that, and waits for its turn.
        """
        done: dict[int, _Done] = {}
        turn = 0
        for task, results in self._checked(self._tasks(traces, committed)):
            done.update(zip(task.numbers, results, strict=True))
            while turn in done:
                yield from map(self._noted, self._take_in(done.pop(turn)))
                turn += 1

    def _checked(self, tasks: Iterator[_Task]) -> Iterator[tuple[_Task, Sequence[_Done]]]:
        """What each task gives: of the first ones in this process, as others take long to start."""
        size = 0
        for task in tasks:
            analyses = [self._analysed(each) for each in task.traces]
            task.join(analyses)
            yield task, [self._done(*each) for each in zip(task.traces, analyses, strict=True)]
            size += sum(len(record) for each in task.traces for record in each.trace.records)
            if size > _LITTLE and self._fix is None:
                break
        for task, checked in on_all_cores(_check_apart, tasks):
            yield (
                task,
                [
                    _Done(
                        trace,
                        each.hidden,
                        each.events,
                        partial(_read_at, trace.trace.records),
                        (Reported(RULES[code], *rest) for code, rest in each.found),
                    )
                    for trace, each in zip(task.traces, checked, strict=True)
                ],
            )

    def _done(self, trace: _Trace, analysis: Analysis) -> _Done:
        # Not before: what a fix mends may be what was committed.
        analysis.compare_with(trace.recorded)
        line_at, found = analysis.document.lines.__getitem__, reported(analysis, trace.trace.path)
        return _Done(trace, analysis.hidden_count, partial(_events_of, analysis), line_at, found)

    def _take_in(self, done: _Done) -> Iterable[Reported]:
        path = done.trace.trace.path
        project = self.checked[path]
        if project is not None and done.hidden:
            self._hidden[project.baseline_path] += done.hidden
        self._across.add(done)
        return done.found

    def _tasks(self, traces: Reading, committed: CommittedTraces) -> Iterator[_Task]:
        """The traces, those together that share runs. All are looked through before the first is
        checked, but for a single one; of many, the texts of the first ones are kept until then.
        """
        found: list[tuple[TraceRecords, RuleSettings]] = []
        run_ids: list[Collection[str]] = []
        size = 0
        for trace in traces:
            settings = self._settings_for(trace, traces)
            if settings is None:
                continue
            run_ids.append(run_ids_in(trace.records))
            size += sum(map(len, trace.records))
            is_kept = size < _KEPT or trace.path == STDIN
            found.append((trace if is_kept else trace._replace(records=[]), settings))
        count, known = len(found), frozenset[str]().union(*run_ids)
        paths = [each.path for each, _ in found]
        named = filter(traces.is_named, paths)  # of a folder that is named, all of it is meant
        around = [*traces_beside(named, paths, known, traces.search)]
        beside = [each for each in around if isinstance(each, TraceRecords)]
        self._not_beside = [each for each in around if isinstance(each, Problem)]
        run_ids += [run_ids_in(each.records) for each in beside]
        for group in sharing(run_ids):
            checked = [number for number in group if number < count]
            if checked:
                again = [self._again(*found[number], committed, traces) for number in checked]
                others = [beside[number - count] for number in group if number >= count]
                yield _Task(checked, again, others)

    def _settings_for(self, trace: TraceRecords, traces: Reading) -> RuleSettings | None:
        """The settings of a trace; None where they cannot be used."""
        project = self._projects.of(trace.path) if self._projects is not None else None
        if project is not None and project.problems:
            self.notify(each.problem for each in project.problems)
            traces.unread.append(_not_checked(trace.path, project))
            return None
        self.checked[trace.path] = project
        settings = project.settings_for(trace.path) if project is not None else DEFAULTS
        return settings.under(self._off)

    def _again(
        self,
        trace: TraceRecords,
        settings: RuleSettings,
        committed: CommittedTraces,
        traces: Reading,
    ) -> _Trace:
        """A trace with its text, which may have to be read again, and what was committed of it."""
        if not trace.records:
            again = read_trace(trace.path)
            if isinstance(again, Problem):
                traces.unread.append(Unread(again.path, again.reason))
                again = trace._replace(records=[""])
            trace = again
        is_compared = settings.severity(RULES["history-rewritten"]) is not None
        recorded = committed.records(trace.path) if is_compared else None
        return _Trace(trace, settings, recorded)

    def notes(self) -> list[str]:
        """What a person must know to understand the findings."""
        lacking = [f"{printable(each.path, 4096)} ({each.reason})" for each in self._not_beside]
        what = f"not looked at, and may hold lines of the same runs: {first_of(lacking, 3)}"
        return [what] * bool(lacking) + [
            f"{plural(count, 'known finding')} hidden by {shown_path(path)}, "
            "which cannot fail the check (--no-baseline shows them)"
            for path, count in self._hidden.items()
        ]

    def _analysed(self, each: _Trace) -> Analysis:
        analysis = each.analysed()
        problem = self._fix(each.trace, analysis) if self._fix is not None else None
        if problem is not None:
            self.notify([problem])
        if problem is not None and not isinstance(problem, Unsynced):
            analysis = each.analysed()
        return analysis

    def _noted(self, report: Reported) -> Reported:
        self.worst = min(self.worst or report.severity, report.severity)
        return report

    def notify(self, problems: Iterable[Problem]) -> None:
        """Report once what cannot be used or written."""
        self.failed = True
        for problem in problems:
            if problem not in self._notified:
                self._notified.add(problem)
                notify(problem.message)


def _events_of(analysis: Analysis) -> list[tuple[Kind, int]]:
    return kinds_of(line for line in analysis.document.lines if line.event is not None)


def _read_at(records: Sequence[str], place: int) -> Line:
    return read_exactly(records[place])


def _not_checked(path: str, project: Project) -> Unread:
    """A trace without usable settings. Left out, it would seem to have no findings."""
    first = project.problems[0]
    what = "baseline" if first.file == project.baseline_path else "configuration"
    return Unread(path, f"its {what} cannot be used: {first.problem.message}")
