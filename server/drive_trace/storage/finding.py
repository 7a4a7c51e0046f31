"""Finds the traces that paths name, and says what it leaves out."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from enum import StrEnum
from functools import cache
from itertools import chain, takewhile
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import msgspec

from drive_trace.scorecard import caveats
from drive_trace.storage import files as disk
from drive_trace.storage import git
from drive_trace.storage.patterns import RECORD_SUFFIXES, MoreFiles, in_wip, is_trace, patterns_of
from drive_trace.storage.projects import Above, Projects, absolute, relative
from drive_trace.text.quick import Frozen
from drive_trace.text.spans import is_blank
from drive_trace.trace import line, provenance

if TYPE_CHECKING:  # few look at the commits of git
    from drive_trace.storage.histories import Touched

NO_MORE = MoreFiles()
_MOST_OF_BLANK = 64
"""Bytes; a file that is longer holds something."""
_ON_WINDOWS = os.name == "nt"
"""There a folder on the way may be a junction, which is no link to Python."""
_MAY_BE_TRACE = r"(?i)jsonl|ndjson|^trace(\.(json|txt|log|bak|old|orig))?$"
"""The names of files that are looked into, as somebody may have moved a trace there."""
_CONFIGURED = Projects(".", with_baseline=False)


T = TypeVar("T")


class Omission(StrEnum):
    """Why a search leaves something out."""

    HIDDEN = "in a hidden folder"
    IGNORED = "ignored by git"
    LINKED = "a linked folder"
    OTHER_NAME = "looks like a trace, but has another name"
    CONFIGURED = "excluded by a drive-trace.toml that is not trusted"
    TRUSTED = "excluded by a trusted drive-trace.toml"
    EXCLUDED = "excluded"
    REPOSITORY = "another repository"
    REPOSITORY_WITH_TRACES = "another repository, which has traces"
    LIBRARY = "a library"
    LIBRARY_WITH_TRACES = "a library, which has traces"
    DELETED = "deleted, though git tracks it"
    EMPTIED = "emptied, though git tracks its content"
    LINK = "a link to something else, though git tracks its content"
    SPARSE = "not checked out, though git tracks it"


GONE = frozenset({Omission.DELETED, Omission.EMPTIED, Omission.LINK})
"""What git's index has and the disk has no more."""
NOT_HERE = GONE | {Omission.HIDDEN, Omission.IGNORED, Omission.SPARSE}
"""Why a trace is not read that a commit may have."""
_CHOSEN = (Omission.TRUSTED, Omission.EXCLUDED, Omission.REPOSITORY, Omission.LIBRARY)
MISSED = frozenset(Omission).difference(_CHOSEN)
"""What may hold a part of any run, and nobody has excluded: no verdict is sure without it."""
_HELD = {
    Omission.REPOSITORY: Omission.REPOSITORY_WITH_TRACES,
    Omission.LIBRARY: Omission.LIBRARY_WITH_TRACES,
}
"""What is not searched, and the same if a trace stands in it."""
NOBODYS = (None, Omission.CONFIGURED)
"""Why something is excluded, if nobody who may do so has excluded it."""


class SearchOptions(msgspec.Struct):
    """What a search leaves out."""

    everywhere: bool = False
    """Whether it reads what is hidden, ignored or in a library, too."""
    exclude: tuple[str, ...] = ()
    """Patterns as in a .gitignore, from the current folder on."""
    projects: Projects | None = _CONFIGURED
    """Whose configurations have an ``exclude``, too; None if none counts."""
    above: Above = {}
    runs: tuple[str, ...] = ()
    """Globs of the ids of the runs that are looked at; all where there is none."""
    since: Touched | None = None
    """What has been touched since a commit, where nothing else is looked at."""

    def excluded(self, path: str) -> Omission | None:
        """Why a file is not read although it is found; None if it is."""
        if self.exclude and patterns_of(self.exclude).hold(relative(path, ".")):
            return Omission.EXCLUDED
        if self.projects is None or not self.projects.may_configure(path, self.above):
            return None
        project = self.projects.of(path, self.above)
        globs = project.configuration.exclude
        if not (globs and patterns_of(globs).hold(project.path_of(path))):
            return None
        return Omission.TRUSTED if project.trusted else Omission.CONFIGURED


class LinkOut(disk.Problem):
    """A link leads out of what is searched."""

    __slots__ = ()


class LinkedFolderOut(LinkOut):
    """The same of a link to a folder."""

    __slots__ = ()


class NoTraces(disk.Problem):
    """A folder was searched and holds no trace."""


Found = str | disk.Problem


class NotRead:
    """What cannot be read of what was found, and what a search left out."""

    def __init__(self, tell: Callable[[str], object] = lambda _: None) -> None:
        """``tell`` is told each in one sentence, as it is come upon."""
        self.unread: list[caveats.Unread] = []
        """What could not be read so far."""
        self.left_out: list[disk.LeftOut] = []
        """What the search of folders found and did not read."""
        self._told: set[str] = set()
        """The paths of both."""
        self.tells_unread = True
        self._tell = tell

    def usable(self, found: Iterable[T | disk.Problem]) -> Iterator[T]:
        """What is no Problem; those are noted."""
        for each in found:
            if isinstance(each, disk.Problem):
                self.note(each)
            else:
                yield each

    def note(self, problem: disk.Problem) -> None:
        """Note what cannot be read, or is not."""
        if isinstance(problem, disk.LeftOut):
            # A link that leads out is told already, and what a commit has more exactly.
            if problem.reason not in GONE or problem.path not in self._told:
                self.left_out.append(problem)
        elif isinstance(problem, NoTraces):
            self._tell(f"warning: {problem.message}")
        else:
            if self.tells_unread:
                self._tell(problem.message)
            self.unread.append(caveats.Unread(*problem))
        self._told.add(problem.path)


def find_traces(
    paths: Sequence[str], more: MoreFiles = NO_MORE, options: SearchOptions | None = None
) -> Iterator[Found]:
    """The traces that paths name, each once, in the order given; at the end those left out.

    A file is a trace, whatever its name, unless it is called ``trace.jsonl`` and is something else.
    A folder is searched for ``trace.jsonl``, ``wip/drive-trace/*.jsonl`` and ``more``, in the order
    of their paths. A folder with such a name is found, too, so that a user sees that no trace is
    there. Traces in hidden folders, and those that git ignores, are left out, unless git tracks
    them or they are in ``wip/drive-trace``. So are ``node_modules`` and repositories inside that of
    the folder, each as a whole. With ``everywhere``, nothing of that is left out. Without git,
    nothing is ignored.

    Traces that git tracks and that have been deleted or emptied, or are now behind a link to
    something else, are left out, too: of an emptied one, the file is found as well.

    Files of other names that look like traces are left out, and so are links to folders, unless
    they lead into a folder that is searched; and what is excluded. A link that leads out of the
    repository, or else out of the folder, is a Problem.
    """
    return (found for _, found in find_real_traces(paths, more, options))


def find_real_traces(
    paths: Sequence[str], more: MoreFiles = NO_MORE, options: SearchOptions | None = None
) -> Iterator[tuple[str, Found]]:
    """The same, each with its :func:`identity`, or with the message of a Problem."""
    options = options or SearchOptions()
    seen: set[str] = set()
    searched = [Path(identity(each)) for each in paths if each != disk.STDIN]
    left_out: dict[str, disk.Problem] = {}
    known = cache(git.Repository)  # git is not asked for each path what a repository tracks
    for path in paths:
        behind = (  # what git tracks where somebody has made a link
            ("", each)
            for place in git.standing(path)[1:]
            for around in git.repositories_around(place, known)
            for each in _gone(around, path, place, more, options)
        )
        for real, found in chain(_expand(path, more, options, known), behind):
            if isinstance(found, disk.LeftOut | LinkedFolderOut):
                # What a link leads to is something else.
                place = absolute if found.reason == Omission.LINK else identity
                left_out.setdefault(place(found.path), found)
                continue
            key = found.message if isinstance(found, disk.Problem) else real
            if key not in seen:
                seen.add(key)
                yield key, found
    for key, each in left_out.items():
        is_inside = any(map(Path(key).is_relative_to, searched))
        is_read = is_inside and not _leads_to_wip(Path(each.path))
        is_link = each.reason == Omission.LINKED or isinstance(each, LinkedFolderOut)
        is_known = key in seen and each.reason not in GONE  # an emptied file is there
        if not is_known and not (is_link and is_read):
            yield each.message, each


def is_missed(reason: str) -> bool:
    """Whether what is left out for a reason may hold a part of any run."""
    return reason in MISSED or isinstance(reason, caveats.Gone)


def is_gone(reason: str) -> bool:
    """Whether git has what is left out for a reason, and the disk has it no more."""
    return reason in GONE or isinstance(reason, caveats.Gone)


def omitted(left_out: Sequence[disk.LeftOut]) -> caveats.Omitted:
    """What a search left out, for people and programs."""
    told = tuple(caveats.Unread(*each) for each in left_out if each.reason != Omission.LIBRARY)
    missed = tuple(each for each in told if is_missed(each.reason))
    of_library = (Omission.LIBRARY, Omission.LIBRARY_WITH_TRACES)
    libraries = tuple(each.path for each in left_out if each.reason in of_library)
    return caveats.Omitted(told, missed, libraries)


def link_out(path: str) -> LinkOut:
    """Why a link is not read, and what can be done about it."""
    return LinkOut(path, _why_out(disk.leads_out(path) or disk.LinkOutError(path)))


def _why_out(error: disk.LinkOutError) -> str:
    return f"{disk.why_not_read(error)}; exclude it to do without it"


def _leads_to_wip(link: Path) -> bool:
    """Whether a search would find traces behind a link by the link's own path."""
    return link.name == "wip" or link.parts[-2:] == ("wip", "drive-trace")


def identity(path: str) -> str:
    """One spelling for all paths to a file, as far as links can be followed."""
    try:
        known = path if path == disk.STDIN else getattr(path, "real", "")
        return known or os.path.realpath(path)
    except (OSError, ValueError):  # as in a current folder that is gone
        return path


def _expand(
    path: str,
    more: MoreFiles,
    options: SearchOptions,
    known: Callable[[Path, Path], git.Repository],
) -> Iterator[tuple[str, Found]]:
    if not path:
        yield "", disk.Problem("", "the empty path names no file or folder")
    # Not Path.is_dir, which raises for names that the system refuses.
    elif path == disk.STDIN or not os.path.isdir(path):  # noqa: PTH112
        yield identity(path), path
    else:
        search, found = _Search(path, more, options, known), is_trace(Path(path))
        if found:  # what should be a trace is read as one, which says that it is none
            yield identity(path), path
        try:
            for real, each in search:
                found = found or not isinstance(each, disk.LeftOut)
                yield real, each
        except OSError as error:
            search.note(error)
        yield from (("", each) for each in search.problems)
        if not found and not search.problems:
            looked_for = "trace.jsonl and wip/drive-trace/*.jsonl"
            yield "", NoTraces(path, f"holds no trace (looked for {looked_for} in it)")


class _FolderPlace(Frozen, frozen=True):
    """Where a folder of a search is."""

    repository: git.Repository | None
    inner: str = ""
    """Its path from the folder that is searched, with a separator at the end; empty for that."""
    is_hidden: bool = False
    unsearched: str | None = None
    """The library or other repository that it is in, as a path for people."""


class _FoundEntry(Frozen, frozen=True):
    """What may be a trace, or lead to some."""

    name: str
    place: _FolderPlace
    is_link: bool
    is_folder: bool
    """Whether it leads to some."""
    is_alone: bool
    """As of a FoundPath."""
    real: str
    """Where it stands, as git knows it: behind no link to the folder that is searched."""
    shown: str
    """Its path for people. Plain text, as there are many of them."""


class _Search:
    """The traces in one folder, in the order of their paths."""

    def __init__(
        self,
        root: str,
        more: MoreFiles,
        options: SearchOptions,
        known: Callable[[Path, Path], git.Repository],
    ) -> None:
        self.problems: list[disk.Problem] = []
        """What could not be searched."""
        self._root = root
        self._base = Path(identity(root))
        self._real_base = os.path.join(self._base, "")  # noqa: PTH118 - with a separator
        plain = str(Path(root))
        self._absolute_base = os.path.join(absolute(root), "")  # noqa: PTH118 - as above
        self._shown_base = "" if plain == "." else os.path.join(plain, "")  # noqa: PTH118 - as above
        self._more = more
        self._options = options
        self._known = known
        around = git.repository_around(self._base, known)
        self._repositories = [around] if around is not None else []
        """All that were come upon; the first one is around the folder, if any is."""
        self._ignored: set[str] = set()
        """The real paths of the files that git ignores."""
        self._unsearched: dict[str, Omission] = {}
        """The libraries and other repositories, by their paths for people."""

    def __iter__(self) -> Iterator[tuple[str, Found]]:
        candidates = [*self._walk()]
        for repository in self._repositories:  # git is asked once, as starting it takes long
            self._ignored |= self._ignored_in(repository, candidates)
        for each in candidates:
            found = self._of_link(each) if each.is_link and each.is_folder else self._of_file(each)
            if found is not None:
                yield found.real if isinstance(found, disk.FoundPath) else each.real, found
        named = self._root, self._base, self._more, self._options
        for repository in self._repositories:
            yield from (("", each) for each in _gone(repository, *named))
        read = {each.place.unsearched for each in candidates if self._is_tracked(each)}
        for shown, why in self._unsearched.items():
            if why != Omission.REPOSITORY or shown not in read:
                yield "", disk.LeftOut(shown, why)

    def _walk(self) -> Iterator[_FoundEntry]:
        left = [_FolderPlace(next(iter(self._repositories), None))]
        while left:
            place = left.pop()
            files, folders = self._entries(place)
            names = {each.name.casefold() for each in (*files, *folders)}
            if place.inner:
                place = self._place(place, names)
            for each in sorted(files, key=lambda entry: entry.name):
                if re.search(_MAY_BE_TRACE, each.name) or self._more.may_name(each.name):
                    yield self._entry(each, place, names)
            inside: list[_FolderPlace] = []
            for each in sorted(folders, key=lambda entry: entry.name):
                name, is_link = each.name, each.is_symlink()
                if name == ".git":  # git tracks nothing in it, but anything in .svn
                    continue
                # Reading what is called as a trace reports that it is a folder.
                if name.endswith(".jsonl") or (is_link and place.unsearched is None):
                    yield self._entry(each, place, names, not name.endswith(".jsonl"))
                if not is_link:
                    is_hidden = place.is_hidden or name.startswith(".")
                    inner = f"{place.inner}{name}{os.sep}"
                    inside.append(place._replace(inner=inner, is_hidden=is_hidden))
            left += reversed(inside)

    def _entry(
        self, entry: os.DirEntry[str], place: _FolderPlace, names: set[str], is_folder: bool = False
    ) -> _FoundEntry:
        name, inner, is_link = entry.name, place.inner + entry.name, entry.is_symlink()
        records = (f"{name.casefold()}{suffix}" for suffix in RECORD_SUFFIXES)
        is_alone = not is_link and names.isdisjoint(records)
        paths = self._real_base + inner, self._shown_base + inner
        return _FoundEntry(name, place, is_link, is_folder, is_alone, *paths)

    def _entries(
        self, place: _FolderPlace
    ) -> tuple[list[os.DirEntry[str]], list[os.DirEntry[str]]]:
        """The files and the folders in a folder, links to such included."""
        found: tuple[list[os.DirEntry[str]], list[os.DirEntry[str]]] = [], []
        try:
            folder = os.path.join(self._root, place.inner[:-1]) if place.inner else self._root  # noqa: PTH118 - fast
            with os.scandir(folder) as entries:
                for each in entries:
                    found[_is_folder(each)].append(each)
        except OSError as error:
            self.note(error)
        return found

    def _place(self, place: _FolderPlace, names: Container[str]) -> _FolderPlace:
        """A place, given the names that are in it, as the walk comes upon it."""
        if place.unsearched is not None:
            return place
        folder = Path(place.inner) if ".git" in names else None
        git_folder = disk.git_folder_of(self._root / folder) if folder is not None else None
        if folder is not None and git_folder is not None and place.repository is None:
            self._repositories.append(self._known(self._base / folder, git_folder))
            return place._replace(repository=self._repositories[-1])
        name = place.inner[:-1].rpartition(os.sep)[2]
        reason = Omission.LIBRARY if name == "node_modules" else None
        reason = Omission.REPOSITORY if git_folder is not None else reason
        if reason is None or self._options.everywhere:
            return place
        shown = f"{self._shown_base}{place.inner}"[:-1]
        self._unsearched[shown] = reason
        return place._replace(unsearched=shown)

    def _ignored_in(
        self, repository: git.Repository, candidates: Sequence[_FoundEntry]
    ) -> set[str]:
        """What git ignores in a repository; nothing where it ignores the folder that a person has
        named.
        """
        if self._options.everywhere:
            return set()
        asked = [
            each.real
            for each in candidates
            if each.place.repository is repository and each.place.unsearched is None
            if not self._is_tracked(each) and not in_wip(each.real)
        ]
        if asked and repository.root in self._base.parents:
            asked.append(str(self._base))
        ignored = repository.ignored(asked)
        return set() if str(self._base) in ignored else {*ignored}

    def _of_link(self, link: _FoundEntry) -> disk.Problem | None:
        """A link to a folder, unless the folder would be left out anyway."""
        if is_trace(link.real) or self._reason(link) is not None:
            return None
        shown = link.shown
        excluded = self._options.excluded(f"{shown}/-")
        out = disk.leads_out(shown, self._root) if excluded is None else None
        if out is not None:
            return LinkedFolderOut(shown, _why_out(out))
        return disk.LeftOut(shown, excluded or Omission.LINKED)

    def _of_file(self, candidate: _FoundEntry) -> Found | None:
        place, shown, real = candidate.place, candidate.shown, candidate.real
        is_out = False
        if _ON_WINDOWS or candidate.is_link:  # few are, and to follow one takes long
            try:
                real = str(disk.inside(shown, self._root))
            except disk.LinkOutError:
                is_out = True
        path = disk.FoundPath(shown)
        path.real, path.base, path.is_alone = real, self._root, candidate.is_alone
        is_named = _is_named(shown, self._root, self._more)
        if not is_named and (is_out or not _looks_like_trace(candidate.name, real)):
            return None
        inner = candidate.real[len(self._real_base) :]
        excluded = self._options.excluded(self._absolute_base + inner)
        if place.unsearched is not None and not self._is_tracked(candidate):
            if not is_out and excluded in NOBODYS:
                self._note_held(path, place.unsearched)
            return None
        other = None if is_named else Omission.OTHER_NAME
        reason = excluded or other or self._reason(candidate)
        if reason is None:
            return link_out(shown) if is_out else path
        kept = {Omission.HIDDEN, Omission.IGNORED}
        found = disk.read_trace(path) if reason in kept and not is_out else None
        # What is no trace at all is no reason to fail.
        return found if isinstance(found, disk.LeftOut) else disk.LeftOut(shown, reason)

    def _note_held(self, trace: str, unsearched: str) -> None:
        """Take in that a trace stands in what is not searched, unless it is no trace at all."""
        held = _HELD.get(self._unsearched[unsearched])
        if held is not None and not isinstance(disk.read_trace(trace), disk.LeftOut):
            self._unsearched[unsearched] = held

    def _is_tracked(self, candidate: _FoundEntry) -> bool:
        repository = candidate.place.repository
        if repository is None:
            return False
        inner = candidate.real[len(os.path.join(repository.root, "")) :]  # noqa: PTH118 - fast
        return inner.replace(os.sep, "/") in repository.tracked

    def _reason(self, candidate: _FoundEntry) -> Omission | None:
        """Why a trace is left out by where it is; None if it is not."""
        if self._options.everywhere:
            return None
        reason, name = None, candidate.name
        is_link_to_folder = candidate.is_link and candidate.is_folder
        if candidate.place.is_hidden or (is_link_to_folder and name.startswith(".")):
            reason = Omission.HIDDEN
        elif candidate.real in self._ignored:
            reason = Omission.IGNORED
        return reason if reason is not None and not self._is_tracked(candidate) else None

    def note(self, error: OSError) -> None:
        """Take in why a folder cannot be searched."""
        self.problems.append(
            disk.Problem(error.filename or self._root, f"cannot be searched: {disk.why(error)}")
        )


def _is_named(path: str, root: str, more: MoreFiles) -> bool:
    return path == root or is_trace(path) or more.hold(Path(path), Path(root))


def _gone(
    repository: git.Repository, root: str, base: Path, more: MoreFiles, options: SearchOptions
) -> Iterator[disk.LeftOut]:
    """The traces that git tracks at or below what somebody named, which stands at ``base``, and
    that have been deleted or emptied, or are now behind a link to something else: whoever is judged
    may have done that. Also those that a sparse checkout leaves out.
    """
    is_link = cache(Path.is_symlink)
    for name, content in repository.tracked.items():
        path = repository.root / name
        may_be = path == base or re.search(_MAY_BE_TRACE, path.name) or more.may_name(path.name)
        if not (may_be and content and path.is_relative_to(base)):
            continue
        shown = str(Path(root, path.relative_to(base)))
        below = takewhile(lambda each: each != repository.root, path.parents)
        is_named = _is_named(shown, str(Path(root)), more)
        reason = _why_gone(path, content, map(is_link, below)) if is_named else None
        if reason is not None:
            excluded = options.excluded(shown)
            if reason == Omission.DELETED and repository.is_sparse(name):
                reason = Omission.SPARSE
            yield disk.LeftOut(shown, reason if excluded in NOBODYS else excluded or reason)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # as where a link leads in a circle
        return False


def _why_gone(path: Path, content: str, links: Iterable[bool]) -> Omission | None:
    """Whether a file that git tracks, with this content, is there no more, has become blank, or is
    something else behind a link; ``links`` has whether the folders on the way are any.
    """
    is_link = False
    try:
        is_link = path.is_symlink() or any(links)
        if path.lstat().st_size > _MOST_OF_BLANK and not is_link:
            return None
        data = disk.read_regular(disk.inside(path), disk.LARGEST)
    except (FileNotFoundError, NotADirectoryError):
        return Omission.DELETED
    except (OSError, ValueError) as error:
        if getattr(error, "errno", None) == errno.ENAMETOOLONG:
            return Omission.DELETED
        return Omission.LINK if is_link else None  # of others, reading it says why
    is_lost = is_link or is_blank(data.decode(errors="replace"))
    lost = Omission.LINK if is_link else Omission.EMPTIED
    return lost if is_lost and not git.has_content(data, content) else None


def _looks_like_trace(name: str, path: str) -> bool:
    """Whether a file of this name has a trace's fields where it begins, after blanks, and is no
    record of where events come from, which names them, too.
    """
    if not re.search(_MAY_BE_TRACE, name):
        return False
    try:
        with disk.open_regular(path, is_real=True) as file:
            while (head := file.read(line.HEAD)).isspace():
                pass
            text = (head + file.read(line.HEAD)).decode("latin-1")
            return len(line.fields_named(text)) > 1 and provenance.PROVENANCE_VERSION not in text
    except (OSError, ValueError):
        return False
