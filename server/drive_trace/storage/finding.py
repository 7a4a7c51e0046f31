"""Finds the traces that paths name, and says what it leaves out."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from drive_trace.scorecard.caveats import Omitted
from drive_trace.storage.boundary import leads_out
from drive_trace.storage.files import STDIN, LinkOutError, Problem, why, why_not_read
from drive_trace.storage.patterns import MoreFiles
from drive_trace.storage.repositories import Repositories
from drive_trace.text.wording import plural

TRACE_GLOBS = ("**/trace.jsonl", "**/wip/drive-trace/*.jsonl")
"""The files that a search of a folder takes for traces."""
NO_MORE = MoreFiles()
_HISTORIES = {".git", ".hg", ".svn"}
"""The folders of version control systems."""
_LIBRARIES = "node_modules"
_ON_WINDOWS = os.name == "nt"
"""There a folder on the way may be a junction, which is no link to Python."""
_ENVIRONMENT = "pyvenv.cfg"
"""A Python environment has this file."""
_INSTALLED = frozenset({"lib", "lib64", "Lib", "bin", "Scripts", "include", "Include", "share"})
"""The folders of an environment that are not searched; others in it are."""


class Reason(StrEnum):
    """Why a search leaves something out."""

    HIDDEN = "in a hidden folder"
    IGNORED = "ignored by git"
    LINKED = "a linked folder"
    OUT = "a linked folder outside"
    PATTERNS = "a .gitignore of too many patterns"


class LeftOut(NamedTuple):
    """What a search found and does not read: a trace, a link to a folder, or patterns."""

    path: str
    reason: Reason


class LinkOut(Problem):
    """A link leads out of what is searched."""

    __slots__ = ()


class NoTraces(Problem):
    """A folder was searched and holds no trace."""


Found = str | Problem | LeftOut


def find_traces(
    paths: Sequence[str], more: MoreFiles = NO_MORE, *, everywhere: bool = False
) -> Iterator[Found]:
    """The traces that paths name, each once, in the order given; at the end those left out.

    A file is a trace, whatever its name. A folder is searched for ``trace.jsonl``,
    ``wip/drive-trace/*.jsonl`` and ``more``, in the order of their paths. A folder with such a name
    is found, too, so that a user sees that no trace is there. Traces in hidden folders, and those
    that git ignores, are left out, unless git tracks them or they are in ``wip/drive-trace``.
    Libraries and Python environments are not searched. With ``everywhere``, nothing is left out but
    links to folders. Those are never followed, and are reported unless they lead into a folder that
    is searched. A link that leads out of the repository, or else out of the folder, is a Problem.
    """
    seen: set[str] = set()
    searched = [Path(_identity(each)) for each in paths if each != STDIN]
    left_out: dict[str, LeftOut] = {}
    for path in paths:
        for found in _expand(path, more, everywhere=everywhere):
            if isinstance(found, LeftOut):
                left_out.setdefault(_identity(found.path), found)
                continue
            key = found.message if isinstance(found, Problem) else _identity(found)
            if key not in seen:
                seen.add(key)
                yield found
    for key, each in left_out.items():
        is_inside = any(map(Path(key).is_relative_to, searched))
        is_read = is_inside and not _leads_to_wip(Path(each.path))
        is_link = each.reason in {Reason.LINKED, Reason.OUT}
        if key not in seen and not (is_link and is_read):
            yield each if each.reason is not Reason.OUT else _link_out(each.path)


def omitted(left_out: Sequence[LeftOut]) -> Omitted:
    """What a search left out, in words: ``2 traces left out: 1 in a hidden folder, 1 ignored by git
    (--no-ignore reads them)``.
    """
    counts = Counter(each.reason for each in left_out)
    traces = [f"{counts[each]} {each}" for each in (Reason.HIDDEN, Reason.IGNORED) if counts[each]]
    count, links, patterns = (
        counts[Reason.HIDDEN] + counts[Reason.IGNORED],
        counts[Reason.LINKED],
        counts[Reason.PATTERNS],
    )
    phrases = []
    if count:
        of_those = f"{', '.join(traces)} (--no-ignore reads them)"
        phrases.append(f"{plural(count, 'trace')} left out: {of_those}")
    if links:
        phrases.append(f"{plural(links, 'linked folder')} not searched: name it to search it")
    if patterns:
        phrases.append(f"{patterns} .gitignore not read: too many patterns")
    return Omitted(len(left_out), "; ".join(phrases))


def is_trace(path: Path) -> bool:
    """Whether a search takes a file of that name for a trace."""
    return path.name == "trace.jsonl" or (_in_wip(path) and path.name.endswith(".jsonl"))


def project_of(trace: str) -> str:
    """The folder that a trace's project is called after: what ``projects/x/trace.jsonl`` and
    ``wip/drive-trace/x.jsonl`` stand in, and of others the folder of the run or of the file.
    """
    path = Path(trace)
    if _in_wip(path):
        return str(path.parent.parent.parent)
    folder = path.parent.parent if path.name == "trace.jsonl" else path.parent
    return str(folder.parent if folder.name == "projects" else folder)


def _in_wip(path: Path) -> bool:
    return path.parent.parts[-2:] == ("wip", "drive-trace")


def _link_out(path: str) -> LinkOut:
    return LinkOut(path, why_not_read(LinkOutError(path)))


def _leads_to_wip(link: Path) -> bool:
    """Whether a search would find traces behind a link by the link's own path."""
    return link.name == "wip" or link.parts[-2:] == ("wip", "drive-trace")


def _identity(path: str) -> str:
    """One spelling for all paths to a file, as far as links can be followed."""
    try:
        return path if path == STDIN else os.path.realpath(path)
    except (OSError, ValueError):  # as in a current folder that is gone
        return path


def _expand(path: str, more: MoreFiles, *, everywhere: bool) -> Iterator[Found]:
    if not path:
        yield Problem("", "the empty path names no file or folder")
    # Not Path.is_dir, which raises for names that the system refuses.
    elif path == STDIN or not os.path.isdir(path):  # noqa: PTH112
        yield path
    else:
        try:
            yield from _in_folder(path, _Search(path, more, everywhere=everywhere))
        except OSError as error:
            yield _not_searched(path, error)


def _in_folder(path: str, search: _Search) -> Iterator[Found]:
    left_out: list[LeftOut] = []
    found = False
    for each in search:
        if isinstance(each, LeftOut):
            left_out.append(each)
        found = found or not isinstance(each, LeftOut)
        yield each
    yield from search.problems
    if not found and not search.problems:
        phrase = omitted(left_out).phrase
        others = sum(1 for _ in Path(path).glob("*.jsonl"))
        hint = f"; name its {others} other .jsonl files to read them" if others else ""
        hint = f"; {phrase}" if phrase else hint
        yield NoTraces(
            path,
            f"holds no trace (looked for trace.jsonl and wip/drive-trace/*.jsonl in it){hint}",
        )


class _Search:
    """The traces in one folder, in the order of their paths."""

    def __init__(self, root: str, more: MoreFiles, *, everywhere: bool) -> None:
        self.problems: list[Problem] = []
        """What could not be searched."""
        self._root = root
        self._more = more
        self._everywhere = everywhere
        self._repositories = Repositories(Path(os.path.abspath(root)))  # noqa: PTH100 - follows links

    def __iter__(self) -> Iterator[Found]:
        for folder, folders, files in os.walk(self._root, onerror=self._note):
            if not self._everywhere and _ENVIRONMENT in files and folder != self._root:
                for name in _INSTALLED.intersection(folders):
                    folders.remove(name)
                    yield from self._tracked_below(Path(folder, name))
            for name in sorted(files):
                if name.endswith(".jsonl") or self._more.may_name(name):
                    yield from self._judge(Path(folder, name))
            for name in sorted(folders):
                if name.endswith(".jsonl"):  # reading a trace reports that it is a folder
                    yield from self._judge(Path(folder, name))
            folders[:] = sorted(each for each in folders if each not in _HISTORIES)
            for name in folders:
                if os.path.islink(f"{folder}/{name}"):  # noqa: PTH114 - raises for some names
                    yield from self._links(Path(folder, name))
            if _LIBRARIES in folders and not self._everywhere:
                folders.remove(_LIBRARIES)
                yield from self._tracked_below(Path(folder, _LIBRARIES))

        yield from (LeftOut(str(each), Reason.PATTERNS) for each in self._repositories.unread)

    def _links(self, folder: Path) -> Iterator[LeftOut]:
        """A link to a folder, unless the folder would be left out anyway."""
        if is_trace(folder):
            return
        if self._everywhere or (folder.name != _LIBRARIES and self._reason(folder / "-") is None):
            is_out = leads_out(folder, self._root)
            yield LeftOut(self._shown(folder), Reason.OUT if is_out else Reason.LINKED)

    def _shown(self, path: Path) -> str:
        return os.path.relpath(path, self._root) if self._root == "." else str(path)

    def _tracked_below(self, folder: Path) -> Iterator[Found]:
        """The traces that git tracks in a folder that is not searched: those are always read."""
        for path in self._repositories.tracked_below(_absolute(folder)):
            # Not Path.exists, which raises for names that the system refuses.
            if os.path.exists(path):  # noqa: PTH110
                yield from self._judge(folder / path.relative_to(_absolute(folder)))

    def _judge(self, path: Path) -> Iterator[Found]:
        if is_trace(path) or self._more.hold(path, Path(self._root)):
            shown = self._shown(path)
            reason = None if self._everywhere else self._reason(path)
            # Links are few, and to follow one takes as long as to read a small trace.
            if reason is not None:
                yield LeftOut(shown, reason)
            elif (_ON_WINDOWS or os.path.islink(path)) and leads_out(path, self._root):  # noqa: PTH114
                yield _link_out(shown)
            else:
                yield shown

    def _reason(self, path: Path) -> Reason | None:
        """Why a trace is left out; None if it is not."""
        inner, absolute = path.relative_to(self._root), _absolute(path)
        reason = None
        if any(each.startswith(".") for each in inner.parts[:-1]):
            reason = Reason.HIDDEN
        elif not _in_wip(path) and self._repositories.ignore(absolute):
            reason = Reason.IGNORED
        return reason if reason is not None and not self._repositories.track(absolute) else None

    def _note(self, error: OSError) -> None:
        self.problems.append(_not_searched(error.filename, error))


def _absolute(path: Path) -> Path:
    return Path(os.path.abspath(path))  # noqa: PTH100 - that would follow links


def _not_searched(path: str, error: OSError) -> Problem:
    return Problem(path, f"cannot be searched: {why(error)}")
