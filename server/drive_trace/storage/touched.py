"""Which traces and runs have been touched since a commit, as those of a pull request."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

from drive_trace.storage import git
from drive_trace.storage.files import LARGEST, Problem, read_regular
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
        self.problems: list[Problem] = []
        """What git did not tell of the commit, so that nobody knows what has been deleted."""
        self._files = cache(self._files_in)

    def _files_in(self, root: Path) -> Mapping[str, str]:
        """What git calls the contents that the files of a repository had; of one that does not have
        the commit, nothing: all of it is new.
        """
        commit = git.commit_named(self.since, str(root))
        if commit is None:
            return {}
        asked = ("merge-base", commit, "HEAD")
        found = git.run_git(str(root), *asked, seconds=_SECONDS, most=_MOST, codes=(0, 1, 128))
        base = found.decode().split()[:1] if isinstance(found, bytes) else []
        hashes = git.known_hashes(root, base[0] if base else commit, _SECONDS, git.MODE_OF_FILE)
        if isinstance(hashes, Problem):
            self.problems.append(hashes)
            return {}
        return hashes

    def has(self, path: str) -> bool:
        """Whether a trace was touched, or what is recorded beside it."""
        place = git.place_of(path)
        return place is None or any(self._differs(*place, each) for each in ("", *RECORD_SUFFIXES))

    def _differs(self, root: Path, name: str, suffix: str) -> bool:
        before = self._files(root).get(name + suffix)
        try:
            data = read_regular(root / (name + suffix), LARGEST)
        except (OSError, ValueError):
            return before is not None
        return before is None or not git.has_content(data, before)

    def before(self, path: str) -> Sequence[str]:
        """The records that a trace had; none where it was not there."""
        place = git.place_of(path)
        return self._records(*place) if place is not None else ()

    def _records(self, root: Path, name: str) -> Sequence[str]:
        hashed = self._files(root).get(name)
        found = git.records_in(root, hashed, _SECONDS) if hashed is not None else ()
        if found is None:
            self.problems.append(Problem(str(root / name), "git does not tell what it held before"))
        return found or ()

    def changed(self, path: str, before: Sequence[str], now: Sequence[str]) -> Iterable[str]:
        """The records of a trace that are new, are no more, or stand in another order: that
        decides which grade counts. All where what is recorded beside it was touched.
        """
        place = git.place_of(path)
        if place is None or any(self._differs(*place, each) for each in RECORD_SUFFIXES):
            return [*before, *now]
        new, old = Counter(now) - Counter(before), Counter(before) - Counter(now)
        kept = zip(_without(before, old), _without(now, new), strict=True)
        return [*new, *old, *(was for was, is_now in kept if was != is_now)]

    def gone(
        self, folders: Sequence[str], seen: Collection[str], now: Iterable[str]
    ) -> Iterator[tuple[str, Sequence[str], bool]]:
        """The traces in some folders that there were, and that are not among the ``seen`` ones by
        their real paths, with the records that they had. Also whether all these are among those
        that there are ``now``: such a trace was moved.
        """
        kept = set(now)
        for folder in (Path(each).resolve() for each in folders):
            around = git.repository_around(folder)
            if around is None:
                continue
            for name in self._files(around.root):
                path = around.root / name
                if not is_trace(path) or not path.is_relative_to(folder) or str(path) in seen:
                    continue
                if self._differs(around.root, name, ""):
                    before = self._records(around.root, name)
                    was_moved = kept.issuperset(each for each in before if each.strip())
                    yield str(path), before, was_moved and bool(before)


def _without(records: Iterable[str], some: Counter[str]) -> Iterator[str]:
    """Records without so many of some of them: the first ones."""
    left = Counter(some)
    for each in records:
        if left[each] > 0:
            left[each] -= 1
        else:
            yield each
