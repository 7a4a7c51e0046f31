"""Which traces and runs have been touched since a commit, as those of a pull request."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

from drive_trace.storage.files import LARGEST, TraceRecords, read_regular
from drive_trace.storage.git import (
    commit_named,
    has_content,
    hashes_in,
    place_of,
    records_in,
    repository_around,
    run_git,
)
from drive_trace.storage.patterns import RECORD_SUFFIXES, is_trace

_SECONDS = 60.0
"""How long git may take for one answer."""
_MOST = 1 << 12


class Touched:
    """What differs from the merge base of ``HEAD`` and a commit. Where the two have none that is
    here, as in a shallow clone, from the commit itself: more is touched then, never less.
    """

    def __init__(self, since: str) -> None:
        """``since`` names a commit of the repository of the current folder."""
        self.since = since
        self._files = cache(self._files_in)

    def _files_in(self, root: Path) -> Mapping[str, str]:
        """What git calls the contents that the files of a repository had; of one that does not have
        the commit, nothing: all of it is new.
        """
        commit = commit_named(self.since, str(root))
        if commit is None:
            return {}
        asked = ("merge-base", commit, "HEAD")
        found = run_git(str(root), *asked, seconds=_SECONDS, most=_MOST, codes=(0, 1, 128))
        base = found.decode().split()[:1] if isinstance(found, bytes) else []
        return hashes_in(root, base[0] if base else commit, _SECONDS)

    def has(self, path: str) -> bool:
        """Whether a trace was touched, or what is recorded beside it."""
        place = place_of(path)
        return place is None or any(self._differs(*place, each) for each in ("", *RECORD_SUFFIXES))

    def _differs(self, root: Path, name: str, suffix: str) -> bool:
        before = self._files(root).get(name + suffix)
        try:
            data = read_regular(root / (name + suffix), LARGEST)
        except (OSError, ValueError):
            return before is not None
        return before is None or not has_content(data, before)

    def records(self, trace: TraceRecords) -> Iterable[str]:
        """The records of a trace that are new, or are no more; all where what is recorded beside it
        was touched.
        """
        place = place_of(trace.path)
        if place is None or any(self._differs(*place, each) for each in RECORD_SUFFIXES):
            return trace.records
        root, name = place
        hashed = self._files(root).get(name)
        before = Counter(records_in(root, hashed, _SECONDS) or () if hashed else ())
        now = Counter(trace.records)
        return [*(now - before), *(before - now)]

    def gone(self, folders: Sequence[str], now: Iterable[str]) -> Iterator[str]:
        """The traces in some folders that have been deleted, unless all their records are among
        those that there are ``now``: they were moved.
        """
        kept = set(now)
        for folder in (Path(each).resolve() for each in folders):
            around = repository_around(folder)
            if around is None:
                continue
            for name, hashed in self._files(around.root).items():
                path = around.root / name
                if is_trace(path) and path.is_relative_to(folder) and not path.exists():
                    before = records_in(around.root, hashed, _SECONDS)
                    if before is None or not kept.issuperset(before):
                        yield str(path)
