"""One run of ``check``: traces in, findings out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

import click

from drive_trace.analysis import Analysis
from drive_trace.commands.checking.across import Across
from drive_trace.commands.checking.repairs import Repairs
from drive_trace.commands.formats.findings import Reported, reported, unreadable
from drive_trace.commands.paths import Reading
from drive_trace.linter.rule import Severity
from drive_trace.linter.settings import DEFAULTS, RuleSettings
from drive_trace.scorecard.caveats import Unread
from drive_trace.storage.projects import Project, Projects, shown_path
from drive_trace.storage.traces import Problem, Trace
from drive_trace.text.escaping import printable


class Run:
    """Checks traces one after another, and keeps what is to be said at the end."""

    def __init__(self, projects: Projects | None, repairs: Repairs | None) -> None:
        """Without ``projects`` the rules run as they are by default."""
        self._projects = projects
        self._repairs = repairs
        self._across = Across()
        self._told: set[Problem] = set()
        self._hidden: Counter[Path] = Counter()
        self.checked: dict[str, Project | None] = {}
        """The traces that were checked, by their paths, each with its project."""
        self.worst: Severity | None = None
        """The worst severity of the findings so far."""
        self.failed = False
        """Whether something could not be used or written."""

    def reports(self, traces: Reading) -> Iterator[Reported]:
        """The findings of the traces, then those between them, then what could not be read."""
        for trace in traces:
            project = self._projects.of(trace.path) if self._projects is not None else None
            if project is not None and project.problems:
                self.tell(each.problem for each in project.problems)
                traces.unread.append(_not_checked(trace.path, project))
                continue
            self.checked[trace.path] = project
            settings = project.settings_for(trace.path) if project is not None else DEFAULTS
            analysis = self._analysed(trace, settings)
            if project is not None and analysis.hidden_count:
                self._hidden[project.baseline_path] += analysis.hidden_count
            self._across.add(analysis, trace.path, settings)
            yield from map(self._noted, reported(analysis, trace.path))
        for report, is_hidden in self._across.reports():
            if is_hidden:
                project = self.checked[report.location.path]
                assert project is not None
                self._hidden[project.baseline_path] += 1
            else:
                yield self._noted(report)
        yield from map(self._noted, map(unreadable, traces.unread))

    def notes(self) -> list[str]:
        """What a person must know to understand the findings."""
        said = [self._repairs.note()] if self._repairs is not None else []
        return said + [
            f"{count} known finding{'s' * (count != 1)} hidden by {shown_path(path)}, "
            "which cannot fail the check (--no-baseline shows them)"
            for path, count in self._hidden.items()
        ]

    def _analysed(self, trace: Trace, settings: RuleSettings) -> Analysis:
        analyse = partial(Analysis, trace.records, settings, path=trace.path)
        analysis = analyse()
        if self._repairs is None:
            return analysis
        problem = self._repairs.fix(trace, analysis)
        if problem is None:
            return analysis
        self.tell([problem])
        return analyse()

    def _noted(self, report: Reported) -> Reported:
        self.worst = min(self.worst or report.severity, report.severity)
        return report

    def tell(self, problems: Iterable[Problem]) -> None:
        """Say once what cannot be used or written."""
        self.failed = True
        for problem in problems:
            if problem not in self._told:
                self._told.add(problem)
                click.echo(f"drive-trace: {printable(problem.message, 8192)}", err=True)


def _not_checked(path: str, project: Project) -> Unread:
    """A trace that nobody knows how to check: left out, it would seem to have no findings."""
    first = project.problems[0]
    what = "baseline" if first.file == project.baseline_path else "configuration"
    return Unread(path, f"its {what} cannot be used: {first.problem.message}")
