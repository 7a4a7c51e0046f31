"""What ``check --write-baseline`` writes."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from drive_trace.commands.checking.run import Run
from drive_trace.commands.formats.report import Reported
from drive_trace.rules.settings import fingerprint
from drive_trace.storage.baseline import Known
from drive_trace.storage.projects import Project, shown_path, write_known


def write_baselines(run: Run, reports: Iterable[Reported]) -> list[str]:
    """Make known what is reported, project by project; gives what to say of it."""
    found: dict[str, list[tuple[str, str]]] = {}
    for report in reports:
        code = report.rule.code
        found.setdefault(report.location.path, []).append((code, fingerprint(code, report.text)))
    projects: dict[Path, tuple[Project, list[str]]] = {}
    for path, project in run.checked.items():
        assert project is not None
        projects.setdefault(project.folder, (project, []))[1].append(path)
    notes = []
    for project, paths in projects.values():
        problem = write_known(
            project, {project.path_of(path): _known(found.get(path, ())) for path in paths}
        )
        if problem is not None:
            run.tell([problem])
            continue
        count = sum(len(found.get(path, ())) for path in paths)
        notes.append(
            f"wrote {count} finding{'s' * (count != 1)} of {len(paths)} "
            f"trace{'s' * (len(paths) != 1)} to {shown_path(project.baseline_path)}"
        )
    return notes


def _known(found: Iterable[tuple[str, str]]) -> Known:
    by_code: dict[str, set[str]] = {}
    for code, known_by in found:
        by_code.setdefault(code, set()).add(known_by)
    return {code: frozenset(each) for code, each in by_code.items()}
