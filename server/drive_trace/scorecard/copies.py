"""Which events stand more than once. What has the id, type and ``ts`` of another event is a copy of
it, wherever it stands: paths, slugs and run ids may have been changed. Within a run a copy does not
count; between runs either may be the copy. The same id with another type or ``ts`` is a conflict,
and both events count.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Hashable, Iterable, Mapping, Sequence
from hashlib import blake2b
from itertools import chain
from typing import NamedTuple, TypeAlias

from drive_trace.trace.index import Index
from drive_trace.trace.joined import identity
from drive_trace.trace.line import Line
from drive_trace.trace.run import Run

HASH = 8
"""So many bytes stand for an event."""
Kind: TypeAlias = tuple[object, ...]
"""The id, type and ``ts`` of an event."""


def _kind(line: Line) -> Kind:
    """What an event and its copies have in common, also under other run ids."""
    return identity(line)[:3]


# Within a run, and between files


def repeats(run: Run) -> Sequence[Line]:
    """The events of a run in a file that are copies of one above them."""
    found: list[Line] = []
    for lines in run.repeated_ids.values():
        first: dict[Hashable, Line] = {}
        found += [line for line in lines if first.setdefault(_kind(line), line) is not line]
    return sorted(found, key=lambda line: line.order)


def kinds_of(lines: Iterable[Line]) -> list[tuple[Kind, int]]:
    """By what events are known in other files, with their numbers from 1."""
    return [(_kind(line), line.order + 1) for line in lines]


class SharedEvent(NamedTuple):
    """An event of a file, and one with the same id in an earlier file."""

    line: int
    """From 1; of several equal ones in this file the first."""
    file: int
    """Which of the files, from 0, has the other one."""
    other: int
    """The line of the other one, from 1."""
    event: str
    """Its type."""


class SharedIds:
    """Takes in the events of files one after another. It keeps no text."""

    def __init__(self) -> None:
        self._count = 0
        self._known: dict[object, dict[Kind, tuple[int, int]]] = {}
        """By id, and by all that copies have in common, the first file and line."""

    def add(
        self, events: Iterable[tuple[Kind, int]]
    ) -> tuple[list[SharedEvent], list[SharedEvent]]:
        """What of a file stands in earlier ones: copies, and the ids of other events."""
        copies: list[SharedEvent] = []
        conflicts: list[SharedEvent] = []
        own: dict[Kind, tuple[int, int]] = {}
        for kind, line in events:
            if kind in own:
                continue
            own[kind] = self._count, line
            known = self._known.get(kind[0])
            if known is not None:
                other = known.get(kind)
                found = conflicts if other is None else copies
                found.append(SharedEvent(line, *(other or min(known.values())), str(kind[1])))
        for kind, place in own.items():
            self._known.setdefault(kind[0], {}).setdefault(kind, place)
        self._count += 1
        return copies, conflicts


# Between runs


def event_hashes(index: Index) -> Mapping[str, bytes]:
    """By run the hashes of its events in a trace, sorted: the same for copies in any file, process
    and run.
    """
    return {run_id: _hashes(run.lines) for run_id, run in index.runs.items()}


def _hashes(lines: Iterable[Line]) -> bytes:
    texts = ("\0".join(map(str, _kind(line))).encode("utf-8", "surrogatepass") for line in lines)
    digests = [blake2b(each, digest_size=HASH).digest() for each in texts]
    return array("Q", sorted(array("Q", b"".join(digests)))).tobytes()


def runs_sharing_events(index: Index) -> set[str]:
    """The runs of a trace that have events of others in it."""
    found: set[str] = set()
    for lines in index.repeated_ids.values() if len(index.runs) > 1 else ():
        runs: dict[Hashable, set[str]] = {}
        for line in lines:
            runs.setdefault(_kind(line), set()).add(line.run)
        found |= {run_id for ids in runs.values() if len(ids) > 1 for run_id in ids}
    return found


class EventOwners:
    """Which runs have an event, over many files."""

    def __init__(self) -> None:
        self.first: dict[int, tuple[str, str]] = {}
        """By the hash of an event the id of the first run that has it, and its file."""
        self._second: dict[int, tuple[str, str]] = {}
        """The same of another run."""
        self.hashes: dict[str, list[Sequence[int]]] = {}
        """By the id of a run those of its events, for each file."""

    def add_all(self, path: str, hashes: Mapping[str, bytes]) -> None:
        """Take in the events of all runs in a file."""
        for run_id, each in hashes.items():
            self.add(run_id, path, array("Q", each))

    def add(self, run_id: str, path: str, hashes: Sequence[int]) -> None:
        """Take in the events of a run in a file."""
        self.hashes.setdefault(run_id, []).append(hashes)
        for each in hashes:
            if self.first.setdefault(each, (run_id, path))[0] != run_id:
                self._second.setdefault(each, (run_id, path))

    def other(self, run_id: str, hashes: Iterable[int]) -> str | None:
        """The file of another run that has one of these events; None if there is none."""
        found = (each.get(key) for key in hashes for each in (self.first, self._second))
        return next((each[1] for each in found if each and each[0] != run_id), None)


def copied_runs(files: Iterable[tuple[str, Mapping[str, bytes]]]) -> Mapping[str, str]:
    """By the id of each run that has events of another one, a file of the other, given the hashes
    of each file. Takes little memory: a sixteenth of the events is looked at together.
    """
    parts = [
        (run_id, path, array("Q", hashes))
        for path, runs in files
        for run_id, hashes in runs.items()
    ]
    found: dict[str, str] = {}
    for low in range(0, 1 << 64, 1 << 60):
        high = low + (1 << 60)
        share = [
            (run_id, path, some[bisect_left(some, low) : bisect_left(some, high)])
            for run_id, path, some in parts
        ]
        if len(set(chain(*(each[2] for each in share)))) == sum(len(each[2]) for each in share):
            continue  # as good as always
        owners = EventOwners()
        for each in share:
            owners.add(*each)
        others = ((run_id, owners.other(run_id, some)) for run_id, _, some in share)
        found |= {run_id: path for run_id, path in others if path is not None}
    return found
