"""The files of a run beside the trace that a command names, and the run's feeds in them."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from drive_trace.json_text.lexemes import strings_named
from drive_trace.scorecard.feed_state import FileFeed, JoinedFeed, mentions
from drive_trace.scorecard.scoring import ScoredTrace
from drive_trace.storage.appending import AppendError
from drive_trace.storage.files import (
    LeftOut,
    Problem,
    TraceRecords,
    git_folder_of,
    holds_home,
    may_be_there,
    read_trace,
    records_at,
    records_of,
    version_of,
)
from drive_trace.storage.finding import (
    GONE,
    MISSED,
    NoTraces,
    Omission,
    SearchOptions,
    find_traces,
    identity,
)
from drive_trace.storage.git import indexed_records
from drive_trace.storage.projects import CONFIGURATION_NAME, absolute, shown_path
from drive_trace.trace.line import run_of
from drive_trace.trace.reading import read_lines
from drive_trace.vocabulary import EventType
from drive_trace.vocabulary.slips import nearest


def may_be_missed(left_out: Problem, run_id: str) -> bool:
    """Whether something that a search left out may hold a run."""
    if left_out.reason not in MISSED or left_out.reason == Omission.LINKED:
        return left_out.reason == Omission.LINKED
    if left_out.reason in GONE:
        return lost_with(left_out, run_id)
    records = records_at(left_out.path)
    return isinstance(records, Problem) or mentions(ScoredTrace(records).index, run_id)


def lost_with(left_out: Problem, run_id: str) -> bool:
    """Whether what a search left out is a deleted or emptied trace that held a run, as git says."""
    if left_out.reason not in GONE:
        return False
    records = indexed_records(Path(absolute(left_out.path)))
    return records is not None and mentions(ScoredTrace(records).index, run_id)


def search_folder(trace: str) -> tuple[Path | None, str | None]:
    """Where to search for the other files of a run, None if nowhere; and why that may miss some, in
    one sentence without a full stop.

    That is the repository of a trace, or else the folder with its configuration. A folder that has
    the home folder in it is not searched, as that could be a whole disk.
    """
    above = Path(os.path.realpath(trace)).parents
    repositories = (each for each in above if git_folder_of(each) is not None)
    configured = (each for each in above if may_be_there(each / CONFIGURATION_NAME))
    too_large = None
    for each in chain(repositories, configured):
        if not holds_home(each):
            return each, None
        too_large = too_large or each
    if too_large is None:
        return (
            None,
            "only this file was looked at, as it stands in no repository and no drive-trace.toml "
            "is above it; pass --only-this-file if it is the only one",
        )
    folder = above[0] if not holds_home(above[0]) else None
    where = "only this file was" if folder is None else "only its folder was"
    return folder, f"{where} looked at, as {too_large} has the home folder in it"


_RUN_KEY = '"project_run_id"'
_RUN = re.compile(_RUN_KEY + r'[ \t\r]*:[ \t\r]*"((?:[^"\\]|\\.)*)"')


def run_ids_in(records: Iterable[str]) -> frozenset[str]:
    """The run ids in records, each of which names one: found without reading them, which takes a
    tenth of the time.
    """
    found = set[str]()
    for record in records:
        at = record.find(_RUN_KEY)
        named = _RUN.match(record, at) if at >= 0 else None
        if named is not None:
            found.add(named[1])
        elif "\\u" in record:  # somebody wrote the key in another way
            found.update(value for value, _ in strings_named(record, "project_run_id"))
    return frozenset(each if "\\" not in each else _unescaped(each) for each in found)


def _unescaped(text: str) -> str:
    try:
        return str(json.loads(f'"{text}"'))
    except ValueError:
        return text


def traces_beside(
    named: Iterable[str], known: Iterable[str], run_ids: Collection[str], options: SearchOptions
) -> Iterator[TraceRecords | Problem]:
    """The traces in the repositories of some files that name one of these runs and are not known
    already; and what cannot be read, which is no finding in a file that somebody named.
    """
    folders = {folder: None for each in named if (folder := search_folder(each)[0]) is not None}
    identities = set(map(identity, known))
    for found in find_traces([*map(str, folders)], options=options) if folders else ():
        if not isinstance(found, Problem) and identity(found) in identities:
            continue
        trace = found if isinstance(found, Problem) else read_trace(found)
        if isinstance(trace, Problem):
            if not isinstance(trace, LeftOut | NoTraces):
                yield trace
        elif not run_ids_in(trace.records).isdisjoint(run_ids):
            yield trace._replace(path=shown_path(Path(trace.path)))


class _FileBeside(NamedTuple):
    version: tuple[int, ...]
    """Changes when the file is written."""
    names_run: bool
    trace: ScoredTrace | None
    """None if nothing in it concerns the run. What may belong to any run does."""


class RunFiles:
    """The files of a run while one of them, at ``path``, is appended to. ``beside`` are the others
    that may hold the run, in the order in which they are joined.

    Each is read once, and again only if it has changed, as it may while we wait for its lock.
    """

    def __init__(self, path: str, beside: Iterable[str], feed: EventType, run_id: str) -> None:
        self.path, self.feed, self._run_id = path, feed, run_id
        real = os.path.realpath
        self._paths = [path if real(each) == real(path) else each for each in beside]
        if path not in self._paths:
            self._paths.append(path)
        self._known: dict[str, _FileBeside] = {}

    def look(self) -> list[str]:
        """Read the files, and return the paths of those that have the run. Raises AppendError."""
        for each in self._paths:
            if each != self.path:
                version, known = _version(each), self._known.get(each)
                if known is None or known.version != version:
                    self._known[each] = self._read(each, version)
        return [each for each, known in self._known.items() if known.names_run]

    def traces(self, own: ScoredTrace) -> list[ScoredTrace]:
        """The files that concern the run, and the trace itself, which is ``own``."""
        found = [own if each == self.path else self._known[each].trace for each in self._paths]
        return [each for each in found if each is not None]

    def joined(self, own: ScoredTrace) -> JoinedFeed:
        """The feed in the files that have the run, and in the trace itself."""
        files = [
            FileFeed(each.path, each.feed_state(self.feed, self._run_id))
            for each in self.traces(own)
            if each is own or self._known[each.path].names_run
        ]
        (mine,) = (each.state for each in files if each.path == self.path)
        return JoinedFeed(mine, files)

    def _read(self, path: str, version: tuple[int, ...]) -> _FileBeside:
        records = records_at(path)
        if isinstance(records, Problem):
            raise AppendError(*records)
        trace = ScoredTrace(records, path)
        names_run = mentions(trace.index, self._run_id)
        state = trace.feed_state(self.feed, self._run_id)
        concerns = names_run or state.rejected or state.lookalikes
        return _FileBeside(version, names_run, trace if concerns else None)


def _version(path: str) -> tuple[int, ...]:
    try:
        return version_of(Path(path).stat())
    except (OSError, ValueError):  # reading it says why
        return ()


_MOST = 1000
"""The most runs that an id is compared with, the last ones: comparing takes time."""
_PLAIN_RUN = re.compile(rb'"project_run_id"\s*:\s*"([^"\\\n]*)"')
_SEPARATORS = re.compile(r"[\s_-]+")
_DIGITS = re.compile(r"\d+")


def runs_named(data: bytes) -> list[str]:
    """The run ids that a trace has without escapes: for suggestions, which need not be complete."""
    found = dict.fromkeys(_PLAIN_RUN.findall(data))
    return [name.decode("utf-8", "replace") for name in found]


def nearest_run(run_id: str, data: bytes) -> str | None:
    """The run of a trace that an id most likely misspells, if any is near enough."""
    return _nearest(run_id, [name for name in runs_named(data) if name != run_id])


def run_meant(run_id: str, data: bytes) -> str | None:
    """The same if a new run may have been meant as well: the runs of a trace often differ in their
    numbers only. None if the trace has the run.
    """
    if b'"project_run_id":"%b"' % run_id.encode("utf-8", "replace") in data:
        return None  # the common case, and faster than to look for all ids
    numbers = _DIGITS.findall(run_id)
    names = runs_named(data)
    if run_id in names:
        return None
    guess = _nearest(run_id, [name for name in names if _DIGITS.findall(name) == numbers])
    return guess if guess is not None and not _has_run(data, run_id) else None


def _has_run(data: bytes, run_id: str) -> bool:
    lines = read_lines(records_of(data), only_score=True)
    return any(line.event is not None and run_of(line) == run_id for line in lines)


def _nearest(run_id: str, names: Sequence[str]) -> str | None:
    plain = _plain(run_id)
    same = next((name for name in names if _plain(name) == plain), None)
    return same if same is not None else nearest(run_id, names[-_MOST:])


def _plain(name: str) -> str:
    return _SEPARATORS.sub("-", name.strip().casefold())
