"""Traces, read from the cache where it knows them as they are."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from itertools import islice

from drive_trace.fleet import ScanError
from drive_trace.fleet.scanning import (
    File,
    Fingerprint,
    Scanned,
    Stored,
    from_bytes,
    scan_file,
    scan_files,
)
from drive_trace.storage.cores import on_all_cores
from drive_trace.storage.files import DIGEST, Problem
from drive_trace.storage.fleet_cache import Cache, digest, program

_AT_ONCE = 16
"""A process gets so many files at a time: to hand one over takes as long as to read a small one."""


class CachedTraces:
    """Looks at traces, and keeps in a cache what it finds. In memory it keeps their paths, and of
    those that the cache does not take all that the score needs.
    """

    def __init__(self, cache: Cache, processes: int | None = None) -> None:
        """``processes`` is how many look at most; None is one a core."""
        self.files: list[tuple[File, bytes]] = []
        """Those that were read, each with the digests of its content and of its record."""
        self._cache = cache
        self._processes = processes
        self._loose: dict[int, Stored] = {}
        """What the cache does not take, by the number of the file."""

    def look_at(self, files: Iterable[File]) -> Iterator[Stored | Problem]:
        """Each trace in short, in their order; those that can be read get numbers, from 0."""
        found = map(self._with_known, files)
        chunks = iter(lambda: list(islice(found, _AT_ONCE)), [])
        for chunk, answers in on_all_cores(scan_files, chunks, most=self._processes):
            for file, seen in zip(chunk, answers, strict=True):
                yield self._take_in(file, seen)
            self._cache.commit()

    def look_at_one(self, file: File) -> tuple[Stored, bytes] | Problem:
        """A trace in short, and the digest of its content."""
        known = self._with_known(file)
        found = self._take_in(known, scan_file(known))
        return found if isinstance(found, Problem) else (found, self.files[-1][1][:DIGEST])

    def stored(self, number: int) -> Stored:
        """A trace in short once more. Raises ScanError."""
        if number in self._loose:
            return self._loose[number]
        file, _ = self.files[number]
        kept = self._kept(file.key)
        stored = from_bytes(kept[1], file.name) if kept is not None else None
        if stored is None:
            raise ScanError("the cache can no longer be read; try again")
        return stored

    def _with_known(self, file: File) -> File:
        where = os.path.abspath(file.path)  # noqa: PTH100 - that would follow links
        named = (where, repr(file.settings))
        key = digest(program(), *(each.encode("utf-8", "surrogatepass") for each in named))
        kept = self._kept(key)
        return file._replace(key=key, known=kept[0] if kept is not None else None)

    def _kept(self, key: bytes) -> tuple[Fingerprint, bytes] | None:
        """What is kept of a file: what it was, and the trace in short."""
        value = self._cache.get(key)
        if value is None:
            return None
        version, _, rest = value.partition(b"\n")
        digests, data = rest[: 2 * DIGEST], rest[2 * DIGEST :]
        return Fingerprint(version.decode("ascii", "replace"), digests), data

    def _take_in(self, file: File, seen: Scanned | Problem) -> Stored | Problem:
        if isinstance(seen, Problem):
            return seen
        data = seen.stored
        if data is None:
            kept = self._kept(file.key)
            data = kept[1] if kept is not None else b""
        stored = from_bytes(data, file.name) if isinstance(data, bytes) else data
        if stored is None:  # what was kept is nothing of ours, or JSON does not tell it
            anew = scan_file(file._replace(known=None), as_json=seen.stored is None)
            return self._take_in(file, anew)
        if seen.fingerprint != file.known or seen.stored is not None:
            value = b"%b\n%b" % (seen.fingerprint.version.encode(), seen.fingerprint.digest)
            if not (isinstance(data, bytes) and self._cache.put(file.key, value + data)):
                self._loose[len(self.files)] = stored
        self.files.append((file._replace(known=None), seen.fingerprint.digest))
        return stored
