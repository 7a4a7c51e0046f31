"""Which events stand in several runs: of these either may be the copy. What is a copy is decided in
``trace/joined.py``.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Hashable, Iterable, Mapping, Sequence
from hashlib import blake2b
from itertools import chain

from drive_trace.trace.index import Index
from drive_trace.trace.joined import kind_of
from drive_trace.trace.line import Line

HASH = 8
"""So many bytes stand for an event."""


def event_hashes(index: Index) -> Mapping[str, bytes]:
    """By run the hashes of its events in a trace, sorted: the same for copies in any file, process
    and run.
    """
    return {run_id: _hashes(run.lines) for run_id, run in index.runs.items()}


def _hashes(lines: Iterable[Line]) -> bytes:
    texts = ("\0".join(map(str, kind_of(line))).encode("utf-8", "surrogatepass") for line in lines)
    digests = [blake2b(each, digest_size=HASH).digest() for each in texts]
    return array("Q", sorted(array("Q", b"".join(digests)))).tobytes()


def runs_sharing_events(index: Index) -> set[str]:
    """The runs of a trace that have events of others in it."""
    found: set[str] = set()
    for lines in index.repeated_ids.values() if len(index.runs) > 1 else ():
        runs: dict[Hashable, set[str]] = {}
        for line in lines:
            runs.setdefault(kind_of(line), set()).add(line.run)
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
