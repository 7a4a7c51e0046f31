"""Writing the baselines of what is checked, and finding what is dead in them."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from drive_trace.commands.checking import Checking
from drive_trace.commands.formats import Reported
from drive_trace.linter import rules, settings
from drive_trace.storage.files import may_be_there
from drive_trace.storage.projects import Known, Project, shown_path, write_known
from drive_trace.text.wording import first_of, plural, printable


def write_baselines(
    run: Checking, reports: Iterable[Reported]
) -> tuple[list[str], Iterable[Reported]]:
    """Write all findings into the baselines of their projects. Returns notes on the baselines, and
    the findings that are in none: they belong to no line, or their baseline cannot be written.
    """
    every = list(reports)
    found: dict[str, list[Reported]] = {}
    for report in every:
        if report.text is not None:
            found.setdefault(report.location.path, []).append(report)
    notes, unknown = [], set()
    for project, paths in _by_project(run):
        problem = write_known(
            project, {project.path_of(path): _known(found.get(path, ())) for path in paths}
        )
        if problem is not None:
            run.notify([problem])
            unknown |= set(paths)
            continue
        theirs = [each for path in paths for each in found.get(path, ())]
        count, follow = sum(1 for _ in _every(theirs)), sum(len(each.follows) for each in theirs)
        notes.append(
            f"wrote {plural(count, 'place')} with findings in {plural(len(paths), 'trace')} "
            f"to {shown_path(project.baseline_path)}"
            + f", {follow:,} of them where one follows from another"
            * bool(follow)
        )
    left = [each for each in every if each.text is None or each.location.path in unknown]
    return notes, left


def _known(found: Iterable[Reported]) -> Known:
    by_code: dict[str, Counter[str]] = {}
    # Several findings of one rule on one line count once.
    for code, text, _ in dict.fromkeys(_every(found)):
        by_code.setdefault(code, Counter())[settings.fingerprint(code, text)] += 1
    return by_code


def _every(found: Iterable[Reported]) -> Iterator[tuple[str, str, int]]:
    """Findings, with those that they sum up and those that follow from them: the code of each, and
    the text and number of its line.
    """
    for report in found:
        for each in (report, *report.places):
            yield each.code, each.text or "", each.location.line
        yield from report.follows


def look_for_dead(run: Checking, *, prunes: bool) -> Iterator[str]:
    """Notes on the entries of the baselines that find nothing any more, of rules that were run.
    With ``prunes`` they are removed.
    """
    for project, paths in _by_project(run):
        left: dict[str, Known] = {}
        dead = [
            f"{name} (is not there)"
            for name in project.baseline.files
            if not may_be_there(project.folder / name)
        ]
        for path in paths:
            name = project.path_of(path)
            known = project.baseline.files.get(name, {})
            left[name] = {code: dict(_alive(run, path, code, known[code])) for code in known}
            dead += [f"{name} ({code})" for code in known if left[name][code] != known[code]]
            left[name] = {code: each for code, each in left[name].items() if each}
        if not dead:
            continue
        shown, told = shown_path(project.baseline_path), printable(first_of(dead, 5), 8192)
        problem = write_known(project, left) if prunes else None
        if problem is not None:
            run.notify([problem])
        elif prunes:
            yield f"removed from {shown}, as it finds nothing any more: {told}"
        else:
            yield f"{shown} knows what is no more: {told}; --prune-baseline removes it"


def _alive(
    run: Checking, path: str, code: str, known: Mapping[str, int]
) -> Iterator[tuple[str, int]]:
    """What a baseline knows of a rule in a trace, as far as it still finds something."""
    for found_by, count in known.items():
        found = run.alike[path][found_by] if code in rules.RULES else 0
        is_off = code in rules.RULES and run.settings[path].severity(rules.RULES[code]) is None
        if is_off or found:
            yield found_by, count if is_off else min(count, found)


def _by_project(run: Checking) -> Iterable[tuple[Project, list[str]]]:
    """The traces that were checked, by their projects."""
    projects: dict[Path, tuple[Project, list[str]]] = {}
    for path, project in run.checked.items():
        if project is not None:
            projects.setdefault(project.folder, (project, []))[1].append(path)
    return projects.values()
