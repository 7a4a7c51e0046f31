"""The other files of a run: where to look for them, and which of them name it."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import cache, partial
from heapq import merge
from pathlib import Path
from typing import TypeVar

from drive_trace.scorecard import caveats
from drive_trace.storage import files as disk
from drive_trace.storage import finding, git
from drive_trace.storage.configuration import CONFIGURATION_NAME
from drive_trace.storage.projects import absolute
from drive_trace.text.quick import Frozen

T = TypeVar("T")


def may_be_missed(left_out: disk.Problem, run_ids: Collection[str]) -> bool:
    """Whether something that a search left out may hold one of some runs. Whatever cannot be looked
    into may, and so may a grade, or a whole trace, of which the run cannot be read.
    """
    path, reason = left_out.path, left_out.reason
    # A sparse checkout may leave out very much, and git may not have it here.
    if reason not in finding.MISSED or reason in (finding.Omission.LINKED, finding.Omission.SPARSE):
        return reason == finding.Omission.LINKED
    is_gone = reason in finding.GONE
    found = git.indexed_records(Path(absolute(path))) if is_gone else disk.records_at(path)
    if found is None or isinstance(found, disk.Problem):
        return True
    from drive_trace.scorecard import feed_state, scoring  # noqa: PLC0415 - `check` needs neither

    trace = scoring.ScoredTrace(found)
    is_unclear = trace.index.is_illegible or bool(scoring.stray_grades(trace.lines))
    return is_unclear or any(feed_state.mentions(trace.index, each) for each in run_ids)


def search_folder(
    trace: str, is_there: Callable[[str], bool] = disk.may_be_there
) -> tuple[Path | None, str | None]:
    """Where to search for the other files of a run, None if nowhere; and why that may miss some, in
    one sentence without a full stop. ``is_there`` may know already what stands at a path.

    That is the repository of a trace, or else the folder with its configuration. A folder that has
    the home folder in it is not searched, as that could be a whole disk.
    """
    above = disk.folders_above(os.path.realpath(trace))
    maybe = (each for each in above if is_there(f"{each}/.git"))
    repositories = (each for each in maybe if disk.git_folder_of(each) is not None)
    configured = (each for each in above if is_there(f"{each}/{CONFIGURATION_NAME}"))
    too_large = None
    for each in map(Path, (*repositories, *configured)):
        if not disk.holds_home(each):
            return each, None
        too_large = too_large or each
    if too_large is None:
        return (
            None,
            "only this file was looked at, as it stands in no repository and no drive-trace.toml "
            "is above it; pass --only-this-file if it is the only one",
        )
    folder = Path(above[0]) if not disk.holds_home(above[0]) else None
    where = "only this file was" if folder is None else "only its folder was"
    return folder, f"{where} looked at, as {too_large} has the home folder in it"


def search_folders(traces: Iterable[str]) -> set[str]:
    """The same of traces, each once."""
    known = map(finding.identity, {*traces} - {disk.STDIN})
    folders = {os.path.dirname(each): each for each in known}.values()  # noqa: PTH120 - fast
    around = partial(search_folder, is_there=cache(disk.may_be_there))
    return {str(folder) for each in folders if (folder := around(each)[0]) is not None}


_RUN_KEY = '"project_run_id"'
_PLAIN_RUN = re.compile(rf'{_RUN_KEY} ?: ?"([^"\\]*)" ?[,}}]')
_TOO_MUCH = "too much beside what is named"
_ESCAPED_LETTER = r"\\u00(?:5[fF]|[67])"
"""What a key can have in place of a letter of its own."""


class NamedRuns(Frozen, frozen=True):
    """The runs that the records of a trace name."""

    ids: frozenset[str]
    is_illegible: bool = False
    """Whether there are lines, and none names a run: nobody knows of which run they are."""
    may_grade_any: bool = False
    """Whether one is a grade, or looks like one, of which the run cannot be read."""


def runs_in(records: Iterable[str]) -> NamedRuns:
    """The runs that records name, in a fraction of the time that reading takes: only those are
    read of which it is not plain.
    """
    plain, others = set[str](), list[str]()
    before = "\n"
    """The key and the id in the record before: most often the same ones. No record has this."""
    for record in records:
        at = record.find(_RUN_KEY)
        is_escaped = "\\" in record and re.search(_ESCAPED_LETTER, record) is not None
        is_same = record.startswith(before, at) and not is_escaped
        if is_same and record.find(_RUN_KEY, at + len(before)) < 0:
            continue
        named = [*_PLAIN_RUN.finditer(record)]
        if len(named) == 1 == record.count(_RUN_KEY) and not is_escaped:
            plain.add(named[0][1])
            before = named[0][0]
        elif record:
            others.append(record)
    if not others:
        return NamedRuns(frozenset(plain))
    from drive_trace.scorecard import scoring  # noqa: PLC0415 - see above

    trace = scoring.ScoredTrace(others)
    ids = plain.union(trace.index.runs, trace.index.uncounted)
    is_illegible = not plain and trace.index.is_illegible
    return NamedRuns(frozenset(ids), is_illegible, bool(scoring.stray_grades(trace.lines)))


def run_ids_in(records: Iterable[str]) -> frozenset[str]:
    """The ids of the runs that records name."""
    return runs_in(records).ids


def traces_beside(
    named: Iterable[str],
    found: Iterable[str],
    run_ids: Callable[[], Collection[str]],
    options: finding.SearchOptions,
    most: float = math.inf,
) -> Iterator[disk.TraceRecords | disk.Problem]:
    """The other traces of some runs, as far as they have ``most`` characters together: those in the
    repositories of the files that were ``found`` at the paths that somebody ``named``. Also what
    cannot be looked at, which is no finding in a file that somebody named, and a LeftOut for what
    the search leaves out and may hold one of the runs. Paths are relative where one of those is.
    ``run_ids`` is asked when there is another trace.
    """
    files = [each for each in found if each != disk.STDIN]
    known = set(map(finding.identity, files))
    searched = {str(place) for each in named for place in git.standing(each)}
    places = search_folders(known)
    is_told = partial(_is_told, searched, known)
    shown_as = str if all(map(os.path.isabs, files)) else from_here
    # What is searched already holds no others, unless what was not touched is not looked at.
    left = places - searched if options.since is None else places
    for trace_path in finding.find_traces(sorted(left), options=options):
        if isinstance(trace_path, str) and finding.identity(trace_path) in known:
            continue
        trace = trace_path if isinstance(trace_path, disk.Problem) else disk.read_trace(trace_path)
        if isinstance(trace, disk.LeftOut):
            if not is_told(trace) and may_be_missed(trace, run_ids()):
                yield trace._replace(path=shown_as(trace.path))
        elif isinstance(trace, disk.Problem):
            if not isinstance(trace, finding.NoTraces):
                yield trace._replace(path=shown_as(trace.path))
        else:
            named_in, shown = runs_in(trace.records), shown_as(trace.path)
            if named_in.is_illegible:
                yield disk.Problem(shown, caveats.ILLEGIBLE)
            elif named_in.may_grade_any or not named_in.ids.isdisjoint(run_ids()):
                most -= sum(map(len, trace.records))
                is_too_much = most < 0
                yield disk.Problem(shown, _TOO_MUCH) if is_too_much else trace._replace(path=shown)


def _is_told(searched: Collection[str], known: Collection[str], left_out: disk.LeftOut) -> bool:
    """Whether it is known what a search left out: another search told of it, or it was read, or its
    copy was, which holds as much.
    """
    path = finding.identity(left_out.path)
    if left_out.reason not in finding.GONE and (path in known or _is_copy(path, known)):
        return True
    # A search comes upon nothing behind a link but what git tracked, and that is not there.
    place = Path(left_out.path)
    place = place if left_out.reason == finding.Omission.LINK else place.parent
    return any(map(place.is_relative_to, searched))


def _is_copy(path: str, known: Iterable[str]) -> bool:
    """Whether a file has the content of one of those that are known."""
    try:
        size = Path(path).stat().st_size
        same = (Path(each) for each in known if Path(each).stat().st_size == size)
        return any(disk.read_regular(Path(path)) == disk.read_regular(each) for each in same)
    except (OSError, ValueError):
        return False


def among(found: Iterable[T], beside: Iterable[T], path_of: Callable[[T], str]) -> list[T]:
    """What was found, with what stands beside it in between: before the first that a search finds
    later, as a folder's files come before those in the folders inside it.
    """
    return [*merge(found, beside, key=lambda each: search_order(absolute(path_of(each))))]


def search_order(path: str) -> tuple[tuple[bool, str], ...]:
    """The steps of an absolute path, each with whether it is a folder. Sorts as a search finds."""
    *folders, name = path.split(os.sep)  # noqa: PTH206 - Path is slow, and there are many traces
    return (*((True, each) for each in folders), (False, name))


def from_here(path: str | Path) -> str:
    """A path from the current folder on, also where that is beside it."""
    try:
        return os.path.relpath(path)
    except (OSError, ValueError):  # it is gone, or on another drive
        return str(path)
