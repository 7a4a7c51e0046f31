"""What git's commits made of traces: the versions of which one lost a line, and what has been
touched since a commit. git lists the commits of a repository once, and the contents of a trace are
asked for together.
"""

import os
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import msgspec

from drive_trace.json_text import first_string
from drive_trace.storage import git, other_files
from drive_trace.storage.files import LARGEST, STDIN, Problem, read_regular, records_of
from drive_trace.storage.patterns import RECORD_SUFFIXES, is_trace
from drive_trace.text.wording import short_hash
from drive_trace.trace.history import Fate, History, Version, compare
from drive_trace.trace.line import RUN_FIELD

_AT_ONCE = 32
"""So many contents are asked for together."""
_NAMES = ("jsonl", "ndjson", "trace")
"""What is in the names of traces. A rename is seen between files that have it."""
# Nothing that a configuration says of how commits are shown may change this, or run.
_RAW = (
    *("--raw", "-z", "--no-abbrev", "-M", "-l1000", f"-O{os.devnull}"),
    *("--no-ext-diff", "--no-textconv", "--no-relative", "--no-color"),
)
_LOG = (
    *("-c", "log.showRoot=true", "log", *_RAW, "--first-parent", "--no-show-signature"),
    *("--no-notes", "--no-mailmap", "--encoding=UTF-8", "--format=%x01%H%x00%P%x00%s"),
)
_BETWEEN = "in a merge after this commit"
"""Stands for the subject where a commit is compared with the last one."""


class _Changed(NamedTuple):
    """What a commit made of a file."""

    before: str
    """What git calls its content; empty where there was none."""
    after: str
    old_name: str
    name: str


class _Commit(NamedTuple):
    commit: str
    is_cut: bool
    """Whether git tells of no parent although there may be one."""
    subject: str
    changed: list[_Changed]


_Deleted = tuple[Version, Sequence[set[str]]]
"""What a deleted trace was, with the names of each of its lines."""
_Names = Callable[[Path], Iterable[str]]
_Listed = tuple[str, Sequence[_Commit], Sequence[_Deleted]]


class Histories:
    """The histories of traces since a commit, or from their beginnings."""

    def __init__(self, since: str = "") -> None:
        """``since`` names the commit; empty for none."""
        self.since = since
        self.base = Touched(since or "HEAD")
        """What there was at that commit; without one, what is committed now."""
        self._listed = cache(self._list)
        self._heads = git.CommittedTraces()

    def of(self, path: str, records: Sequence[str] = ()) -> History | Problem:
        """The history of a trace that has some records now; a problem where git does not tell the
        whole, as outside of a repository.
        """
        place = git.place_of(path)
        if place is None:
            what = "standard input is no file" if path == STDIN else "it is in no repository of git"
            return Problem(path, f"its history cannot be read: {what}")
        root, name = place
        listed = self._listed_with(root, name)
        if isinstance(listed, Problem):
            return Problem(path, f"its history cannot be read: {listed.reason}")
        base, found, deleted = listed
        changes = [*_changes_of(name, found)]
        if any(commit.is_cut for commit, _ in changes):
            how = "git fetch --unshallow, or fetch-depth: 0 in CI"
            return Problem(path, f"its history is cut off, as the clone is shallow: {how}")
        versions = _versions(root, changes)
        if isinstance(versions, Problem):
            return Problem(path, f"its history cannot be read: {versions.reason}")
        versions = [*versions, *(each for each in _lost_with(deleted, records) if each.lost)]
        head = self._heads.records(path, records)
        commits = [commit.commit for commit, _ in changes if commit.commit != base]
        known = commits or [each.commit for each in versions]
        since = (base or known[-1]) if known or head is not None else ""
        mended = sum(each.mended for each in versions)
        return History(versions, since, frozenset(commits), head, mended)

    def touches(self, path: str) -> bool:
        """Whether a commit since the one that is named, if any, touched a trace, or git does not
        tell.
        """
        place = git.place_of(path)
        if not self.since or place is None:
            return False
        listed = self._listed_with(*place)
        return isinstance(listed, Problem) or any(_changes_of(place[1], listed[1]))

    def gone(
        self, folders: Sequence[str], seen: Collection[str]
    ) -> Iterator[tuple[str, Mapping[str, str]]]:
        """What was a trace by its name in some folders, and is not among the ``seen`` ones by their
        real paths, with the runs that commits recorded in it, see :func:`_recorded`. It has become
        something else, as a link; or is no more, which is told since a commit alone. What git does
        not tell of it is a problem of the ``base``.
        """
        for around, name in _unseen(folders, seen, self._changed_in):
            path, listed = around.root / name, self._listed(around.root, "")
            if (self.since or os.path.lexists(path)) and not isinstance(listed, Problem):
                recorded = _recorded(around.root, name, listed[1])
                if isinstance(recorded, Problem):
                    self.base.problems.append(recorded)
                else:
                    yield str(path), recorded

    def _changed_in(self, root: Path) -> Iterable[str]:
        listed = self._listed(root, "")
        commits = () if isinstance(listed, Problem) else listed[1]
        return dict.fromkeys(each.name for commit in commits for each in commit.changed)

    def _listed_with(self, root: Path, name: str) -> _Listed | Problem:
        return self._listed(root, name * (not any(each in name.lower() for each in _NAMES)))

    @staticmethod
    def lost_in(path: str, history: History) -> Iterator[tuple[str, str, str]]:
        """The runs of a trace when commits did not leave all its lines as they were, each with the
        path that it had and the commit that has it, the latest first. A line that is gone may be
        of any of them.
        """
        for each in reversed(history.versions):
            was = other_files.from_here(each.old_path) if each.old_path else path
            lost = each.records if each.lost and not each.path else ()
            for run_id in other_files.run_ids_in(lost):
                yield was, run_id, each.short + "~1" * (each.subject != _BETWEEN)

    def _list(self, root: Path, name: str) -> _Listed | Problem:
        """The commit to begin with, what git tells of those since, the latest first, and the traces
        that they deleted.
        """
        folder, paths = str(root), [f":(top,icase)*{each}*" for each in _NAMES]
        paths += [f":(top,literal){name}"] * bool(name)
        base = git.commit_named(self.since, folder) if self.since else ""
        if base is None:
            return Problem("", git.why_no_commit(self.since, folder))
        tips = ("HEAD", "HEAD^@", f"^{base}") if base else ("HEAD",)
        is_shallow = git.is_shallow(folder)
        commits = git.run_git(folder, *_LOG, *tips, "--", *paths)
        between: bytes | Problem = b""
        if base and not is_shallow:  # there the two may have nothing in common
            left = self.base.base_in(root)
            between = git.run_git(folder, "diff", *_RAW, left, "HEAD", "--", *paths)
        if isinstance(commits, Problem):
            unborn = git.run_git(folder, "rev-parse", "--quiet", "--verify", "HEAD", codes=(1,))
            return commits if isinstance(unborn, Problem) else ("", (), ())
        if isinstance(between, Problem):
            return between
        told = f"\1{base}\0-\0{_BETWEEN}\0".encode() + between + commits
        found = _commits_in(told, is_shallow=is_shallow)
        deleted = _deleted(root, found)
        return deleted if isinstance(deleted, Problem) else (base, found, deleted)


def _commits_in(told: bytes, *, is_shallow: bool) -> list[_Commit]:
    """What git's log tells, the latest commit first."""
    found: list[_Commit] = []
    words = iter(told.split(b"\0"))
    for word in words:
        kind, facts = word.lstrip(b"\n")[:1], word.lstrip(b"\n")[1:].decode()
        if kind == b"\1":
            is_cut, subject = not next(words) and is_shallow, next(words).decode("utf-8", "replace")
            found.append(_Commit(facts, is_cut, subject, []))
        elif kind == b":":
            mode, new_mode, before, after, status = facts.split()
            old_name = os.fsdecode(next(words))
            name = os.fsdecode(next(words)) if status[0] in "RC" else old_name
            before = before if mode.startswith(git.MODE_OF_FILE) else ""
            after = after if new_mode.startswith(git.MODE_OF_FILE) else ""
            found[-1].changed.append(_Changed(before, after, old_name, name))
    return found


def _changes_of(name: str, commits: Sequence[_Commit]) -> Iterator[tuple[_Commit, _Changed]]:
    """What commits made of a file, whatever it was called."""
    names = {name}
    for commit in commits:
        for each in commit.changed:
            if each.name in names:
                names.add(each.old_name)
                yield commit, each


def _recorded(root: Path, name: str, commits: Sequence[_Commit]) -> Mapping[str, str] | Problem:
    """The runs that commits recorded in a file, each with the last one that has it."""
    changes = [
        (each.after, short_hash(commit.commit))
        for commit in commits
        for each in commit.changed
        if each.name == name and each.after and commit.subject != _BETWEEN
    ]
    contents = _contents(root, [*{after for after, _ in changes}])
    if isinstance(contents, Problem):
        return Problem(str(root / name), f"its history cannot be read: {contents.reason}")
    return {
        run_id: commit
        for after, commit in reversed(changes)
        for run_id in other_files.run_ids_in(records_of(contents[after]))
    }


def _versions(
    root: Path, changes: Sequence[tuple[_Commit, _Changed]]
) -> Sequence[Version] | Problem:
    """The versions of which a commit did not leave every line as it was, the oldest first."""
    pairs = [each for each in reversed(changes) if each[1].before not in ("", each[1].after)]
    names = [name for _, each in pairs for name in (each.before, each.after) if name]
    contents = _contents(root, [*dict.fromkeys(names)])
    if isinstance(contents, Problem):
        return contents
    versions = []
    for commit, each in pairs:
        old, new = contents[each.before], contents.get(each.after, b"")
        if old.endswith(b"\n") and new.startswith(old):  # as good as always
            continue
        records = records_of(old)
        changed = compare(records, records_of(new))
        lost = frozenset(at for fate, at, _ in changed if fate is not Fate.MENDED)
        mended = len(changed) - len(lost)
        if changed:
            was = "" if each.old_name == changes[0][1].name else str(root / each.old_name)
            said = (commit.commit, commit.subject)
            versions.append(Version(records, *said, lost, mended=mended, old_path=was))
    return versions


def _deleted(root: Path, commits: Sequence[_Commit]) -> Sequence[_Deleted] | Problem:
    """The traces that commits deleted, the latest first. git does not call it a rename where much
    was written on the way.
    """
    changes = [(commit, each) for commit in commits for each in commit.changed]
    # Of several commits the first one counts, which comes last.
    gone = {old.before: (by, old) for by, old in changes if old.before and not old.after}
    now = dict[str, str]()
    for _, each in reversed(changes) if gone else ():
        now |= {each.old_name: "", each.name: each.after}
    left = {*now.values()} - {""}
    contents = _contents(root, [*gone, *left - gone.keys()])
    if isinstance(contents, Problem):
        return contents
    texts = {name: records_of(data) for name, data in contents.items()}
    kept = {each for name in left for text in texts[name] for each in _names(text)}
    return [
        (
            Version(texts[name], by.commit, by.subject, path=old.name),
            [_names(each, kept) for each in texts[name]],
        )
        for name, (by, old) in gone.items()
    ]


def _names(text: str, kept: Container[str] = ()) -> set[str]:
    """By what a line is known: its event, and its run unless that event is among those kept."""
    key = first_string(text, "event_id") or text
    return {key, "" if key in kept else first_string(text, RUN_FIELD) or ""} - {""}


def _lost_with(deleted: Sequence[_Deleted], records: Sequence[str]) -> Iterator[Version]:
    """What a trace may have lost with others: the lines that it has, too, and those of its runs
    that no trace has.
    """
    own = {each for text in records for each in _names(text)}
    for version, names in deleted:
        lost = frozenset(at for at, each in enumerate(names) if each & own)
        yield msgspec.structs.replace(version, lost=lost)


def _contents(root: Path, names: Sequence[str]) -> Mapping[str, bytes] | Problem:
    """The contents that git has by their hashes."""
    found = dict[str, bytes]()
    for first in range(0, len(names), _AT_ONCE):
        asked, at = names[first : first + _AT_ONCE], 0
        text = "".join(f"{name}\n" for name in asked).encode()
        told = git.run_git(str(root), "cat-file", "--batch", text=text)
        if isinstance(told, Problem):
            return told
        for name in asked:
            start = told.find(b"\n", at) + 1
            facts = told[at:start].split()
            if facts[1:2] != [b"blob"]:
                return Problem("", "git lacks a version of it; fetch it")
            at = start + int(facts[2]) + 1
            found[name] = told[start : at - 1]
    return found


# What was touched since a commit, as by a pull request


class Touched:
    """What differs from the merge base of ``HEAD`` and a commit. Where there is none, or several,
    and where a shallow clone may lack it, from the commit itself: more is touched then, never less.
    """

    def __init__(self, since: str) -> None:
        """``since`` names a commit of the repository of the current folder."""
        self.since = since
        self.problems: list[Problem] = []
        """What git did not tell of the commit, so that nobody knows what has been deleted."""
        self._files = cache(self._files_in)
        self.base_in = cache(self._base_in)
        """The hash of the commit in a repository; empty where that does not have it."""

    def _base_in(self, root: Path) -> str:
        commit = git.commit_named(self.since, str(root)) or ""
        found = git.run_git(str(root), "merge-base", "--all", commit, "HEAD", codes=(0, 1, 128))
        bases = found.decode().split() if isinstance(found, bytes) else []
        # Of several, whoever made the commits of a change could have chosen the first one.
        return bases[0] if len(bases) == 1 and not git.is_shallow(str(root)) else commit

    def _files_in(self, root: Path) -> Mapping[str, str]:
        """What git calls the contents that the files of a repository had; of one that does not have
        the commit, nothing: all of it is new.
        """
        base = self.base_in(root)
        if not base:
            return {}
        hashes = git.known_hashes(root, base, git.MODE_OF_FILE)
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

    def before(self, path: str) -> tuple[str, Sequence[str]]:
        """The beginning of the hash of the commit that is compared with, and the records that a
        trace had; none where it was not there.
        """
        place = git.place_of(path)
        return (short_hash(self.base_in(place[0])), self._records(*place)) if place else ("", ())

    def _records(self, root: Path, name: str) -> Sequence[str]:
        hashed = self._files(root).get(name)
        found = git.records_in(root, hashed) if hashed is not None else ()
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
        self, folders: Sequence[str], seen: Collection[str]
    ) -> Iterator[tuple[str, str, Sequence[str], bool]]:
        """The traces in some folders that there were, and that are not among the ``seen`` ones by
        their real paths, with the beginning of the hash of the commit, as a link may lead out of
        its repository by now, and the records that they had. Also whether one is there and not
        tracked any more: a clone of the change does not have it.
        """
        for around, name in dict.fromkeys(_unseen(folders, seen, self._files)):
            path, is_tracked = around.root / name, name in around.tracked
            if self._differs(around.root, name, "") or not is_tracked:
                commit = short_hash(self.base_in(around.root))
                is_there = str(path) in seen and git.vouching_for(path) == (around.root, name)
                yield str(path), commit, self._records(around.root, name), is_there


def _unseen(
    paths: Iterable[str], seen: Collection[str], names_in: _Names
) -> Iterator[tuple[git.Repository, str]]:
    """Of names in repositories, given by their roots, the traces at or below some paths that are
    not among the ``seen`` ones by their real paths.
    """
    in_order = cache(lambda root: sorted(names_in(root)))
    for place in dict.fromkeys(chain.from_iterable(map(git.standing, paths))):
        for around in git.repositories_around(place, git.while_indexed):
            names = in_order(around.root)
            if place != around.root and place.is_relative_to(around.root):
                inner = place.relative_to(around.root).as_posix()
                # From its own name to all those below it, as thousands of files may be named.
                names = names[bisect_left(names, inner) : bisect_left(names, f"{inner}0")]
            for name in names:
                path = around.root / name
                is_ours = path == place or (is_trace(path) and path.is_relative_to(place))
                # What stands there and git tracks no more, as what another repository has that was
                # put there, a clone of the change does not have.
                if is_ours and not (str(path) in seen and name in around.tracked):
                    yield around, name


def _without(records: Iterable[str], some: Counter[str]) -> Iterator[str]:
    """Records without so many of some of them: the first ones."""
    left = Counter(some)
    for each in records:
        if left[each] > 0:
            left[each] -= 1
        else:
            yield each
