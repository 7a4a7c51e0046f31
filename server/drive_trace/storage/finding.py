"""Finds the traces that paths name, and says what it leaves out."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from drive_trace.scorecard.caveats import Omitted, Unread
from drive_trace.storage.boundary import HISTORIES, git_folder_of, leads_out
from drive_trace.storage.files import (
    STDIN,
    LeftOut,
    LinkOutError,
    Problem,
    open_regular,
    read_trace,
    why,
    why_not_read,
)
from drive_trace.storage.patterns import MoreFiles, Repositories, in_wip, is_trace, patterns_of
from drive_trace.storage.projects import Above, Projects, absolute, relative
from drive_trace.trace.recognising import HEAD, fields_named

NO_MORE = MoreFiles()
_LIBRARY = "node_modules"
_ON_WINDOWS = os.name == "nt"
"""There a folder on the way may be a junction, which is no link to Python."""
_MAY_BE_TRACE = re.compile(r"jsonl|ndjson|^trace(\.(json|txt|log|bak|old|orig))?$", re.IGNORECASE)
"""The names of files that are looked into, as somebody may have moved a trace there."""
_CONFIGURED = Projects(".", with_baseline=False)


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
    PATTERNS = "a .gitignore of too many patterns"
    LIBRARY = "a library"


MISSED = frozenset(
    {
        Omission.HIDDEN,
        Omission.IGNORED,
        Omission.LINKED,
        Omission.OTHER_NAME,
        Omission.CONFIGURED,
    }
)
"""What may hold a part of any run, and nobody has excluded: no verdict is sure without it."""


@dataclass
class SearchOptions:
    """What a search leaves out."""

    everywhere: bool = False
    """Whether it reads what is hidden, ignored or in a library, too."""
    exclude: tuple[str, ...] = ()
    """Patterns as in a .gitignore, from the current folder on."""
    projects: Projects | None = _CONFIGURED
    """Whose configurations have an ``exclude``, too; None if none counts."""
    _above: Above = field(default_factory=dict)

    def excluded(self, path: str) -> Omission | None:
        """Why a file is not read although it is found; None if it is."""
        if self.exclude and patterns_of(self.exclude).hold(relative(path, ".")):
            return Omission.EXCLUDED
        project = self.projects.of(path, self._above) if self.projects is not None else None
        globs = project.configuration.exclude if project is not None else ()
        if project is None or not (globs and patterns_of(globs).hold(project.path_of(path))):
            return None
        return Omission.TRUSTED if project.trusted else Omission.CONFIGURED


class LinkOut(Problem):
    """A link leads out of what is searched."""

    __slots__ = ()


class LinkedFolderOut(LinkOut):
    """The same of a link to a folder."""

    __slots__ = ()


class NoTraces(Problem):
    """A folder was searched and holds no trace."""


Found = str | Problem


def find_traces(
    paths: Sequence[str],
    more: MoreFiles = NO_MORE,
    options: SearchOptions | None = None,
) -> Iterator[Found]:
    """The traces that paths name, each once, in the order given; at the end those left out.

    A file is a trace, whatever its name, unless it is called ``trace.jsonl`` and is something else.
    A folder is searched for ``trace.jsonl``, ``wip/drive-trace/*.jsonl`` and ``more``, in the order
    of their paths. A folder with such a name is found, too, so that a user sees that no trace is
    there. Traces in hidden folders, and those that git ignores, are left out, unless git tracks
    them or they are in ``wip/drive-trace``. ``node_modules`` and repositories inside that of the
    folder are not searched. With ``everywhere``, nothing of that is left out.

    Files of other names that look like traces are left out, and so are links to folders, unless
    they lead into a folder that is searched; and what is excluded. A link that leads out of the
    repository, or else out of the folder, is a Problem.
    """
    options = options or SearchOptions()
    seen: set[str] = set()
    searched = [Path(identity(each)) for each in paths if each != STDIN]
    left_out: dict[str, Problem] = {}
    for path in paths:
        for found in _expand(path, more, options):
            if isinstance(found, LeftOut | LinkedFolderOut):
                left_out.setdefault(identity(found.path), found)
                continue
            key = found.message if isinstance(found, Problem) else identity(found)
            if key not in seen:
                seen.add(key)
                yield found
    for key, each in left_out.items():
        is_inside = any(map(Path(key).is_relative_to, searched))
        is_read = is_inside and not _leads_to_wip(Path(each.path))
        is_link = each.reason == Omission.LINKED or isinstance(each, LinkedFolderOut)
        if key not in seen and not (is_link and is_read):
            yield each


def omitted(left_out: Sequence[LeftOut]) -> Omitted:
    """What a search left out, for people and programs."""
    told = tuple(Unread(*each) for each in left_out if each.reason != Omission.LIBRARY)
    missed = tuple(each for each in told if each.reason in MISSED)
    libraries = tuple(each.path for each in left_out if each.reason == Omission.LIBRARY)
    return Omitted(told, missed, libraries)


def project_of(trace: str) -> str:
    """The folder that a trace's project is called after: what ``projects/x/trace.jsonl`` and
    ``wip/drive-trace/x.jsonl`` stand in, and of others the folder of the run or of the file.
    """
    path = Path(trace)
    if in_wip(path):
        return str(path.parent.parent.parent)
    folder = path.parent.parent if path.name == "trace.jsonl" else path.parent
    return str(folder.parent if folder.name == "projects" else folder)


def link_out(path: str) -> LinkOut:
    """Why a link is not read, and what can be done about it."""
    return LinkOut(path, _why_out(leads_out(path) or LinkOutError(path)))


def _why_out(error: LinkOutError) -> str:
    return f"{why_not_read(error)}; exclude it to do without it"


def _leads_to_wip(link: Path) -> bool:
    """Whether a search would find traces behind a link by the link's own path."""
    return link.name == "wip" or link.parts[-2:] == ("wip", "drive-trace")


def identity(path: str) -> str:
    """One spelling for all paths to a file, as far as links can be followed."""
    try:
        return path if path == STDIN else os.path.realpath(path)
    except (OSError, ValueError):  # as in a current folder that is gone
        return path


def _expand(path: str, more: MoreFiles, options: SearchOptions) -> Iterator[Found]:
    if not path:
        yield Problem("", "the empty path names no file or folder")
    # Not Path.is_dir, which raises for names that the system refuses.
    elif path == STDIN or not os.path.isdir(path):  # noqa: PTH112
        yield path
    else:
        search, found = _Search(path, more, options), False
        try:
            for each in search:
                found = found or not isinstance(each, LeftOut)
                yield each
        except OSError as error:
            search.note(error)
        yield from search.problems
        if not found and not search.problems:
            looked_for = "trace.jsonl and wip/drive-trace/*.jsonl"
            yield NoTraces(path, f"holds no trace (looked for {looked_for} in it)")


class _Search:
    """The traces in one folder, in the order of their paths."""

    def __init__(self, root: str, more: MoreFiles, options: SearchOptions) -> None:
        self.problems: list[Problem] = []
        """What could not be searched."""
        self._root = root
        self._more = more
        self._options = options
        self._repositories = Repositories(_absolute(root))

    def __iter__(self) -> Iterator[Found]:
        everywhere = self._options.everywhere
        for folder, folders, files in os.walk(self._root, onerror=self.note):
            is_inner = folder != self._root and not everywhere
            is_root = ".git" in (*folders, *files) and git_folder_of(Path(folder)) is not None
            if is_inner and is_root and self._repositories.has_base:
                folders.clear()
                yield from self._unsearched(Path(folder), Omission.REPOSITORY)
                continue
            if _LIBRARY in folders and not everywhere:
                folders.remove(_LIBRARY)
                yield from self._unsearched(Path(folder, _LIBRARY), Omission.LIBRARY)
            for name in sorted(files):
                if _MAY_BE_TRACE.search(name) or self._more.may_name(name):
                    yield from self._decide(Path(folder, name))
            for name in sorted(folders):
                if name.endswith(".jsonl"):  # reading a trace reports that it is a folder
                    yield from self._decide(Path(folder, name))
            folders[:] = sorted(each for each in folders if each not in HISTORIES)
            for name in folders:
                if os.path.islink(f"{folder}/{name}"):  # noqa: PTH114 - raises for some names
                    yield from self._links(Path(folder, name))
        yield from (LeftOut(str(each), Omission.PATTERNS) for each in self._repositories.unread)

    def _links(self, folder: Path) -> Iterator[Problem]:
        """A link to a folder, unless the folder would be left out anyway."""
        if is_trace(folder) or self._reason(folder / "-") is not None:
            return
        shown = self._shown(folder)
        excluded = self._options.excluded(f"{shown}/-")
        out = leads_out(folder, self._root) if excluded is None else None
        if out is not None:
            yield LinkedFolderOut(shown, _why_out(out))
        else:
            yield LeftOut(shown, excluded or Omission.LINKED)

    def _shown(self, path: Path) -> str:
        return os.path.relpath(path, self._root) if self._root == "." else str(path)

    def _unsearched(self, folder: Path, reason: Omission) -> Iterator[Found]:
        """A folder that is not searched. The traces in it that git tracks are read all the same."""
        yield LeftOut(self._shown(folder), reason)
        for path in self._repositories.tracked_below(_absolute(folder)):
            # Not Path.exists, which raises for names that the system refuses.
            if os.path.exists(path):  # noqa: PTH110
                yield from self._decide(folder / path.relative_to(_absolute(folder)))

    def _decide(self, path: Path) -> Iterator[Found]:
        # Links are few, and to follow one takes as long as to read a small trace.
        may_lead = _ON_WINDOWS or os.path.islink(path)  # noqa: PTH114 - raises for some names
        is_out = may_lead and leads_out(path, self._root) is not None
        is_named = is_trace(path) or self._more.hold(path, Path(self._root))
        if not is_named and (is_out or not _looks_like_trace(path)):
            return
        shown, other = self._shown(path), None if is_named else Omission.OTHER_NAME
        reason = self._options.excluded(shown) or other or self._reason(path)
        if is_out and reason is None:
            yield link_out(shown)
            return
        kept = {Omission.HIDDEN, Omission.IGNORED}
        found = read_trace(shown) if reason in kept and not is_out else None
        # What is no trace at all is no reason to fail.
        left_out = found if isinstance(found, LeftOut) else LeftOut(shown, reason or "")
        yield shown if reason is None else left_out

    def _reason(self, path: Path) -> Omission | None:
        """Why a trace is left out by where it is; None if it is not."""
        if self._options.everywhere:
            return None
        inner, absolute = path.relative_to(self._root), _absolute(path)
        reason = None
        if any(each.startswith(".") for each in inner.parts[:-1]):
            reason = Omission.HIDDEN
        elif not in_wip(path) and self._repositories.ignore(absolute):
            reason = Omission.IGNORED
        return reason if reason is not None and not self._repositories.track(absolute) else None

    def note(self, error: OSError) -> None:
        """Take in why a folder cannot be searched."""
        self.problems.append(
            Problem(error.filename or self._root, f"cannot be searched: {why(error)}")
        )


def _absolute(path: str | Path) -> Path:
    return Path(absolute(path))


def _looks_like_trace(path: Path) -> bool:
    """Whether a file has a trace's fields where it begins, after blanks."""
    if not _MAY_BE_TRACE.search(path.name):
        return False
    try:
        with open_regular(path) as file:
            while (head := file.read(HEAD)).isspace():
                pass
            return len(fields_named((head + file.read(HEAD)).decode("latin-1"))) > 1
    except (OSError, ValueError):
        return False
