"""What ``check --write-baseline`` writes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from drive_trace.commands.checking.run import Run
from drive_trace.commands.formats.findings import Reported
from drive_trace.linter.settings import fingerprint
from drive_trace.storage.baseline import Known
from drive_trace.storage.projects import Project, shown_path, write_known


class Written(NamedTuple):
    """What came of it."""

    notes: list[str]
    """What to say of the baselines."""
    left: list[Reported]
    """What is not known after all: it belongs to no line, or its baseline cannot be written."""


def write_baselines(run: Run, reports: Iterable[Reported]) -> Written:
    """Make known what is reported, project by project."""
    every = list(reports)
    found: dict[str, list[_Found]] = {}
    for report in every:
        path, line = report.location[:2]
        if report.text is not None:
            found.setdefault(path, []).append(_Found(report.rule.code, report.text, line))
    projects: dict[Path, tuple[Project, list[str]]] = {}
    for path, project in run.checked.items():
        assert project is not None
        projects.setdefault(project.folder, (project, []))[1].append(path)
    notes, unknown = [], set()
    for project, paths in projects.values():
        problem = write_known(
            project, {project.path_of(path): _known(found.get(path, ())) for path in paths}
        )
        if problem is not None:
            run.tell([problem])
            unknown |= set(paths)
            continue
        count = sum(len(found.get(path, ())) for path in paths)
        notes.append(
            f"wrote {count} finding{'s' * (count != 1)} of {len(paths)} "
            f"trace{'s' * (len(paths) != 1)} to {shown_path(project.baseline_path)}"
        )
    left = [each for each in every if each.text is None or each.location.path in unknown]
    return Written(notes, left)


class _Found(NamedTuple):
    """What is known of a finding."""

    code: str
    text: str
    line: int


def _known(found: Iterable[_Found]) -> Known:
    by_code: dict[str, Counter[str]] = {}
    for code, text, _ in dict.fromkeys(found):  # several findings of one line count once
        by_code.setdefault(code, Counter())[fingerprint(code, text)] += 1
    return by_code
