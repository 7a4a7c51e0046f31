"""Checks the traces that are read, each with the others that have lines of its runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from drive_trace.analysis import Analysis
from drive_trace.commands.formats import Location, RelatedPlace, Reported, reported, unreadable
from drive_trace.commands.reading import Reading
from drive_trace.commands.terminal import notify
from drive_trace.linter.rule import SharedEvents
from drive_trace.linter.rules import RULES
from drive_trace.linter.settings import DEFAULTS, RuleSettings, Severity, fingerprint
from drive_trace.scorecard.caveats import Unread
from drive_trace.storage import configuration, git, replace
from drive_trace.storage.files import STDIN, Problem, TraceRecords, read_trace
from drive_trace.storage.finding import Omission, is_gone
from drive_trace.storage.other_files import among, run_ids_in
from drive_trace.storage.processes import Packed, in_batches, on_all_cores
from drive_trace.storage.projects import Above, FileProblem, Project, Projects, shown_path
from drive_trace.text.spans import Span, Spot
from drive_trace.text.wording import first_of, plural, printable
from drive_trace.trace import index, places
from drive_trace.trace.history import History
from drive_trace.trace.joined import (
    JoinedFile,
    JoinedFiles,
    SharedEvent,
    SharedIds,
    identities,
    sharing,
)
from drive_trace.trace.reading import read_exactly

if TYPE_CHECKING:
    from drive_trace.commands.fixes import Fixes
    from drive_trace.report.event_log import TraceLog

_LITTLE = 1_000_000
"""Characters that are checked before other processes help: to start these takes as long."""
_SHARE = 250_000
"""Characters that another process is given at a time, at least."""
_KEPT = 100_000_000
"""Characters of traces that are kept while all are looked through; the others are read again."""
_MOST_BESIDE = 4_000_000
"""Characters of traces that are looked at beside those that are checked."""
_REWRITTEN = RULES["history-rewritten"]
_EVENT_CHECKS = [rule.check for rule in RULES.values() if rule.looks_at is SharedEvents]


class _Trace(NamedTuple):
    """A trace to be checked, or only looked at for the sake of the others."""

    trace: TraceRecords
    settings: RuleSettings = DEFAULTS
    is_beside: bool = False
    history: History = History()
    """What was committed of it, as far as that is known, and asked for."""
    is_alone: bool = False
    """Whether there is no other trace that may have its events."""
    name: str = ""
    """What it is called where it is told of."""


_RunIds = Callable[[], Collection[str]]
"""Gives the runs that a trace names."""

_Task = tuple[Sequence[int], Sequence[_Trace]]
"""Traces that share runs, most often one, with their numbers among all."""


class _CheckedTrace(msgspec.Struct, frozen=True):
    """What was found in a trace, as plain data where another process has found it."""

    findings: Iterable[Reported]
    """Looked at once, as a trace may have a million: they are made as they are written."""
    hidden: int
    """How many more a baseline knows."""
    events: Sequence[tuple[index.Identity, int]]
    """By what its events are known in other traces, with their lines."""
    alike: Mapping[str, int] = {}
    """With a baseline, by fingerprint on how many lines a rule finds something."""


def _check(task: _Task, logs: dict[str, TraceLog] | None = None) -> list[_CheckedTrace]:
    """Check traces, each with the lines that its runs have in the others. Their ``logs`` are taken
    down where somebody wants them.
    """
    _, traces = task
    analyses = [_analysed(each) for each in traces]
    _join(traces, analyses)
    if logs is not None:
        from drive_trace.report.event_log import log_of  # noqa: PLC0415 - for reports
        from drive_trace.scorecard.scoring import summarize  # noqa: PLC0415 - as above

        for each, analysis in zip(traces, analyses, strict=True):
            path, records, *_ = each.trace
            summary = summarize(analysis.index, path)
            logs[path] = log_of(summary, analysis.document.lines, records)
    return [_checked(*each) for each in zip(traces, analyses, strict=True)]


def _check_apart(tasks: Sequence[_Task]) -> list[list[_CheckedTrace]]:
    """The same of several tasks in another process."""
    return [
        [msgspec.structs.replace(each, findings=Packed(each.findings)) for each in _check(task)]
        for task in tasks
    ]


def _size(task: _Task) -> int:
    """The characters of its traces."""
    return sum(sum(map(len, each.trace.records)) for each in task[1])


def _shares(tasks: Iterable[_Task]) -> Iterator[list[_Task]]:
    """Tasks, some small ones at once: to hand one over takes as long as to check it."""
    share: list[_Task] = []
    left = _SHARE
    for task in tasks:
        share.append(task)
        left -= _size(task)
        if left < 0:
            yield share
            share, left = [], _SHARE
    yield share


def _analysed(trace: _Trace) -> Analysis:
    path, records, provenance, _ = trace.trace
    return Analysis(records, trace.settings, trace.name or path, provenance=provenance)


def _join(traces: Sequence[_Trace], analyses: Sequence[Analysis]) -> None:
    files = [
        JoinedFile(each.trace.path, analysis.document.lines, each.is_beside)
        for each, analysis in zip(traces, analyses, strict=True)
    ]
    joined = JoinedFiles(files) if len(files) > 1 else None
    for number, analysis in enumerate(analyses):
        if not files[number].is_beside:
            analysis.join(joined, number)


def _checked(trace: _Trace, analysis: Analysis) -> _CheckedTrace:
    lines = (line for line in analysis.document.lines if line.event is not None)
    if trace.is_beside:
        return _CheckedTrace((), 0, identities(lines))
    # Not before: what a fix mends may be what was committed.
    analysis.compare_with(trace.history, trace.trace.provenance)
    events = identities(lines) if not trace.is_alone else ()
    found = chain.from_iterable(in_batches(reported(analysis, trace.name)))
    return _CheckedTrace(found, analysis.hidden_count, events, analysis.found.alike)


def _unusable(problem: FileProblem, count: int) -> Reported:
    """The finding on a configuration or baseline, which holds for so many traces."""
    (record, span), reason = problem.spot or Spot(0, Span(0, 0)), problem.reason
    because = reason if reason.startswith("cannot be ") else f"cannot be used: {reason}"
    said = f"{plural(count, 'trace')}, as this {because}"
    path = shown_path(problem.file)
    return unreadable(Unread(path, said), at=Location.of(path, record, problem.line, span))


class Checking:
    """Checks traces, and collects what the end of the output says."""

    def __init__(
        self,
        projects: Projects | None,
        off: Collection[str] = (),
        fixes: Fixes | None = None,
        stdin: str | None = None,
        fail_on: str | None = None,
    ) -> None:
        """Without ``projects`` the rules run as they are by default, but for those that are off.
        With ``fixes``, traces are fixed before they are checked. ``stdin`` is what standard input
        is called. The check fails at ``fail_on``, else as the configurations say.
        """
        self._fail_on = fail_on
        self._stdin = stdin or STDIN
        self.logs: dict[str, TraceLog] | None = None
        """Where the logs of the traces that this process checks are put, if somebody wants them."""
        self._off = RuleSettings(dict.fromkeys(off))
        self._projects = projects
        self._fixes = fixes
        self._ids = SharedIds()
        self._paths: list[str] = []
        """Of the traces whose events are in there."""
        self._between: list[Reported] = []
        """The findings that compare the events of two traces."""
        self._notified: set[Problem] = set()
        self._broken: dict[FileProblem, list[str]] = {}
        """Configurations and baselines that cannot be used, with the traces they hold for."""
        self._hidden: Counter[Path] = Counter()
        self._held: list[tuple[frozenset[str], int, int]] = []
        """Of traces held against their histories, the commits, and how many lines are not committed
        and how many rejected ones were mended.
        """
        self._not_beside: list[Problem] = []
        """What could not be looked at beside the traces."""
        self.checked: dict[str, Project | None] = {}
        """The traces that were checked, by their names, each with its project."""
        self.settings: dict[str, RuleSettings] = {}
        self.alike: dict[str, Counter[str]] = {}
        """Of these, by fingerprint on how many lines a rule finds what its baseline may know."""
        self._of_others = 0
        """How many of these hold no run that ``--run`` names."""
        self.is_bad = False
        """Whether a finding so far is bad enough for the check to fail."""
        self.failed = False
        """Whether a configuration, baseline or trace could not be used or written."""

    def reports(self, reading: Reading) -> Iterator[Reported]:
        """The findings of the traces, then those between them, then what could not be read."""
        for found in chain(self._of_each(reading), [self._between]):
            told = (each for each in found if reading.tells(each.code, each.text))
            yield from map(self._noted, told)
        for problem, paths in self._broken.items():
            yield self._noted(_unusable(problem, len(paths)))
        reading.note_lost()
        yield from map(self._noted, map(unreadable, reading.unread))
        for each in reading.left_out:
            if is_gone(each.reason) or each.reason == Omission.OTHER_NAME:
                fails = is_gone(each.reason) and reading.fails_as_gone
                severity = Severity.ERROR if fails else Severity.WARNING
                yield self._noted(unreadable(Unread(*each), severity))

    @property
    def file_count(self) -> int:
        """How many traces were checked, for the runs that are asked for."""
        return len(self.checked) - self._of_others

    @property
    def unusable(self) -> Sequence[Unread]:
        """The configurations and baselines that cannot be used."""
        return [Unread(*each.problem) for each in self._broken]

    def notes(self, *, prunes: bool) -> list[str]:
        """What a person must know to understand the findings; ``prunes`` removes what baselines
        know and what is found no more.
        """
        lacking = [f"{printable(each.path, 4096)} ({each.reason})" for each in self._not_beside]
        what = f"not looked at, and may hold lines of the same runs: {first_of(lacking, 3)}"
        notes = [what] * bool(lacking)
        if self._of_others and not self.file_count:
            return notes
        commits = frozenset().union(*(of_trace for of_trace, *_ in self._held))
        new, mended = sum(each[1] for each in self._held), sum(each[2] for each in self._held)
        mends = f"; {plural(mended, 'rejected line')} mended" * bool(mended)
        held = (
            f"history: {plural(len(self._held), 'trace')} held against "
            f"{plural(len(commits), 'commit')}; {plural(new, 'line')} not committed{mends}"
        )
        notes += [held] * bool(self._held)
        for path, count in self._hidden.items():
            hidden = f"{plural(count, 'known finding')} hidden by {shown_path(path)}"
            notes.append(f"{hidden}, which cannot fail the check (--no-baseline shows them)")
        return [*notes, *self._dead(prunes=prunes)]

    def _dead(self, *, prunes: bool) -> Iterable[str]:
        if not any(each is not None and each.baseline.files for each in self.checked.values()):
            return ()
        from drive_trace.commands.baselines import look_for_dead  # noqa: PLC0415 - few have one

        return look_for_dead(self, prunes=prunes)

    def notify(self, problems: Iterable[Problem]) -> None:
        """Report once what cannot be used or written."""
        self.failed = True
        for problem in problems:
            if problem not in self._notified:
                self._notified.add(problem)
                notify(problem.message)

    def _name(self, path: str) -> str:
        return self._stdin if path == STDIN else path

    def _noted(self, report: Reported) -> Reported:
        path = report.location.path
        project = self.checked.get(path)
        if project is None and self._projects is not None:  # as of a trace that is gone
            project = self._projects.of(path)
        limit = self._fail_on or (project and project.configuration.fail_on) or "error"
        fails = report.severity <= configuration.THRESHOLDS[limit]
        self.is_bad = self.is_bad or fails
        return msgspec.structs.replace(report, fails=True) if fails else report

    # What is checked

    def _tasks(self, reading: Reading) -> Iterator[_Task]:
        """The traces, those together that share runs. All are looked through before the first is
        checked; of many, the texts of the first ones are kept until then.
        """
        found: list[tuple[_Trace, _RunIds]] = []
        size = 0
        for trace in reading:
            settings = self._settings_for(trace, reading)
            if settings is not None:
                size += sum(map(len, trace.records))
                is_kept = size < _KEPT or trace.path == STDIN
                kept = trace if is_kept else trace._replace(records=[])
                # Of a trace that has no others near it, nobody asks for the runs.
                run_ids: _RunIds = cache(partial(run_ids_in, trace.records))
                run_ids = run_ids if is_kept else partial(set, run_ids())
                found.append((_Trace(kept, settings, name=self._name(trace.path)), run_ids))
        if self._projects is not None:
            above: Above = {}
            for path in sorted(reading.earlier.untouched):
                self._is_usable(self._projects.of(path, above), path, reading)
        all_ids = cache(
            lambda: frozenset(reading.earlier.touched).union(*(each() for _, each in found))
        )
        around = [*reading.beside(all_ids, _MOST_BESIDE)]
        self._not_beside = [each for each in around if isinstance(each, Problem)]
        beside: list[tuple[_Trace, _RunIds]] = [
            (_Trace(each, is_beside=True), partial(run_ids_in, each.records))
            for each in around
            if isinstance(each, TraceRecords)
        ]
        looked_at = among(found, beside, lambda each: each[0].trace.path)
        if reading.search.runs:
            all_named = [each() for _, each in found]
            reading.must_name(set().union(*all_named))
            # A trace that names no run may be of any.
            asked = [not ids or any(map(reading.asks_for, ids)) for ids in all_named]
            self._of_others = asked.count(False)
        committed = git.CommittedTraces()
        is_alone = len(looked_at) == 1
        for numbers in sharing([each() if not is_alone else () for _, each in looked_at]):
            traces = [looked_at[number][0]._replace(is_alone=is_alone) for number in numbers]
            yield numbers, [self._whole(each, committed, reading) for each in traces]

    def _settings_for(self, trace: TraceRecords, reading: Reading) -> RuleSettings | None:
        """The settings of a trace; None where they cannot be used: it would seem to have no
        findings.
        """
        path = self._name(trace.path)
        above = reading.search.above
        project = self._projects.of(path, above) if self._projects is not None else None
        if project is not None and not self._is_usable(project, path, reading):
            return None
        self.checked[path] = project
        settings = project.settings_for(path) if project is not None else DEFAULTS
        if reading.histories and settings.severity(_REWRITTEN) is None:  # who asks decides
            settings = settings.under(RuleSettings({_REWRITTEN.code: _REWRITTEN.severity}))
        self.settings[path] = settings.under(self._off)
        return self.settings[path]

    def _is_usable(self, project: Project, path: str, reading: Reading) -> bool:
        """Whether the project of a trace can be used; takes in why not."""
        if project.problems and reading.tells_unread:
            self.notify(each.problem for each in project.problems)
        self.failed = self.failed or bool(project.problems)
        for each in project.problems:
            self._broken.setdefault(each, []).append(path)
        return not project.problems

    def _whole(self, found: _Trace, committed: git.CommittedTraces, reading: Reading) -> _Trace:
        """A trace with its text, which may have to be read again, and what was committed of it."""
        trace, settings, is_beside, *_ = found
        if not trace.records:
            again = read_trace(trace.found)
            if isinstance(again, Problem):
                reading.unread.append(Unread(again.path, again.reason))
                again = trace._replace(records=[""])
            trace = again
        if is_beside or settings.severity(_REWRITTEN) is None:
            return found._replace(trace=trace)
        history = reading.history_of(trace.path, trace.records)
        if history is None:
            history = History(head=committed.records(trace.found, trace.records))
        else:
            self._held.append((history.commits, history.uncommitted(trace.records), history.mended))
        return found._replace(trace=trace, history=history)

    # What is found

    def _of_each(self, reading: Reading) -> Iterator[Iterable[Reported]]:
        """The findings of each trace, in the order of the traces. One that shares runs with an
        earlier one is checked together with that, and waits for its turn.
        """
        done: dict[int, tuple[_Trace, _CheckedTrace]] = {}
        turn = 0
        for (numbers, traces), results in self._done(self._tasks(reading)):
            done.update(zip(numbers, zip(traces, results, strict=True), strict=True))
            while turn in done:
                yield self._take_in(*done.pop(turn))
                turn += 1

    def _done(self, tasks: Iterator[_Task]) -> Iterator[tuple[_Task, list[_CheckedTrace]]]:
        """What each task gives: of the first ones in this process, as others take long to start."""
        size = 0
        for task in tasks:
            fixes = self._fixes
            yield self._fixed(task, fixes) if fixes else (task, _check(task, self.logs))
            size += _size(task)
            if size > _LITTLE and self._fixes is None:
                break
        for share, checked in on_all_cores(_check_apart, _shares(tasks)):
            yield from zip(share, checked, strict=True)

    def _fixed(self, task: _Task, fixes: Fixes) -> tuple[_Task, list[_CheckedTrace]]:
        """The traces once they are fixed, and what is found in them then."""
        numbers, traces = task[0], list(task[1])
        analyses, fixed = [_analysed(each) for each in traces], []
        for number, each in enumerate(traces):
            problem = None if each.is_beside else fixes.fix(each.trace, analyses[number], each.name)
            if problem is not None:
                self.notify([problem])
            if problem is not None and not isinstance(problem, replace.Unsynced):
                analyses[number] = _analysed(each)
            elif not each.is_beside:
                fixed.append(analyses[number])
            records = [line.text for line in analyses[number].document.lines]
            traces[number] = each._replace(trace=each.trace._replace(records=records))
        _join(traces, analyses)
        for analysis in fixed:
            fixes.count(analysis)
        checked = [_checked(*each) for each in zip(traces, analyses, strict=True)]
        return (numbers, traces), checked

    def _take_in(self, trace: _Trace, checked: _CheckedTrace) -> Iterable[Reported]:
        """Look for the events of a trace in those before it, and give its other findings."""
        path = trace.name or trace.trace.path
        self._paths.append(path)
        self.alike[path] = Counter(checked.alike)
        for found, are_copies in zip(self._ids.add(checked.events), (True, False), strict=True):
            by_file: dict[int, list[SharedEvent]] = {}
            for each in found if not trace.is_beside else ():
                by_file.setdefault(each.file, []).append(each)
            for file, same in by_file.items():
                self._compare(trace, same, self._paths[file], are_copies=are_copies)
        project = self.checked.get(path)
        if project is not None and checked.hidden:
            self._hidden[project.baseline_path] += checked.hidden
        return checked.findings

    def _compare(
        self, trace: _Trace, same: Sequence[SharedEvent], other: str, *, are_copies: bool
    ) -> None:
        """Note what is wrong with events of a trace that have the ids of those in an ``other``."""
        here, settings = same[0], trace.settings
        line = read_exactly(trace.trace.records[here.line - 1])
        subject = SharedEvents(line, len(same), are_copies, other, here.other)
        there = Location.of(other, here.other - 1, "", Span(0, 0))
        for finding in chain.from_iterable(check(subject) for check in _EVENT_CHECKS):
            severity = settings.severity(finding.rule)
            if severity is None:
                continue
            code, span = finding.rule.code, places.resolve(line.text, finding.place)
            project = self.checked[trace.name]
            found_by = fingerprint(code, line.text)
            if project is not None and found_by in settings.known:
                self.alike[trace.name][found_by] += 1
                self._hidden[project.baseline_path] += 1
                continue
            location = Location.of(trace.name, here.line - 1, line.text, span)
            # The message names the files of the lines in it.
            message = "".join(map(str, finding.message))
            related = [RelatedPlace(there, "the same id here")]
            self._between.append(Reported(code, severity, location, message, line.text, related))
