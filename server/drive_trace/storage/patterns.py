"""Patterns of paths: those of traces and of ``.gitignore``, and editors' globs of further traces;
and what git ignores by them in the repositories of a search.

Both kinds are matched step by step (:func:`_match`), in time that grows with the pattern and the
path alone: patterns come with traces that others wrote. That is why the library pathspec does not
do it: its expressions backtrack, and one name of 200 letters takes ``*a*a*a*ax`` two seconds, and
each further star a hundred times that. It also reads brackets otherwise than git, which the tests
hold this module against. ``git check-ignore`` is not asked: what is ignored must not
depend on whether git is installed, nor on a user's own ignore file. Whether git tracks what is
ignored all the same, only git knows; without it such a trace is left out, and a gate fails.

Editors' globs are different: they match whole paths of files, have ``{a,b}``, and no ``!``.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import translate
from functools import cache, cached_property
from pathlib import Path
from typing import NamedTuple

from drive_trace.storage.boundary import git_folder_of
from drive_trace.storage.files import read_regular

TRACE_GLOBS = ("**/trace.jsonl", "**/wip/drive-trace/*.jsonl")
"""The files that a search of a folder takes for traces."""
JUDGEMENTS_SUFFIX = ".judgements.ndjson"
"""Behind a trace's name: the record of the judging, which no pattern makes a trace."""


def is_trace(path: Path) -> bool:
    """Whether a search takes a file of that name for a trace."""
    return path.name == "trace.jsonl" or (in_wip(path) and path.name.endswith(".jsonl"))


def in_wip(path: Path) -> bool:
    """Whether a file is where those of runs without a project are."""
    return path.parent.parts[-2:] == ("wip", "drive-trace")


# Matching

Step = re.Pattern[str]
"""Matches one name of a path."""
Wanted = Sequence[Sequence[Step]]
"""A pattern: runs of steps with any number of folders between them, as ``**`` stands for."""


def _match(wanted: Wanted, names: Sequence[str]) -> bool:
    """Whether a pattern matches a whole path. The first match of a run is as good as any other, but
    that of the last one, which stands at the end.
    """
    first, *others = wanted
    if not _fit(first, names, 0):
        return False
    if not others:
        return len(first) == len(names)
    *middle, last = others
    at = len(first)
    for run in middle:
        places = range(at, len(names) - len(run) + 1)
        found = next((each for each in places if _fit(run, names, each)), None)
        if found is None:
            return False
        at = found + len(run)
    end = len(names) - len(last)
    return end >= at and _fit(last, names, end)


def _fit(run: Sequence[Step], names: Sequence[str], at: int) -> bool:
    if len(names) - at < len(run):
        return False
    return all(step.match(names[at + place]) for place, step in enumerate(run))


def _wanted(steps: Iterable[Step | None]) -> Wanted:
    """A pattern of steps, of which None is a ``**``."""
    runs: list[list[Step]] = [[]]
    for step in steps:
        if step is not None:
            runs[-1].append(step)
        elif runs[-1] or len(runs) == 1:  # several in a row are as good as one
            runs.append([])
    return runs


# Patterns of .gitignore

_TOKEN = re.compile(
    r"(?s)\\(?P<escaped>.)|(?P<slash>/)|(?P<stars>\*+)|(?P<any>\?)"
    r"|\[(?P<negation>[!^]?)(?P<inside>\]?(?:\[:\w+:\]|\\.|[^\]\\])*)\]"
    r"|(?P<unclosed>[\[\\])|(?P<plain>.)"
)
_IN_BRACKETS = re.compile(
    r"(?s)\[:(?P<named>\w+):\]|(?P<low>\\?.)(?:-(?P<high>\\.|[^\]\\]))?",
)
_NAMED = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "blank": r" \t",
    "cntrl": r"\x00-\x1f\x7f",
    "digit": "0-9",
    "graph": r"\x21-\x7e",
    "lower": "a-z",
    "print": r"\x20-\x7e",
    "punct": r"!-/:-@\[-`{-~",
    "space": r"\s",
    "upper": "A-Z",
    "xdigit": "0-9A-Fa-f",
}
_MOST = 4000
"""The most patterns of a file: each is matched with each path."""
_ANY_NAME = re.compile("")


class _Pattern(NamedTuple):
    wanted: Wanted
    ignores: bool
    """False for one with a ``!``."""
    folders_only: bool


class Patterns:
    """The patterns of one file, for the paths below its folder."""

    def __init__(self, lines: Iterable[str]) -> None:
        """Lines of text, or of bytes that were read as Latin-1."""
        self._patterns = [found for line in lines if (found := _pattern(line)) is not None]
        self._patterns.reverse()

    @classmethod
    def of_file(cls, data: bytes) -> Patterns:
        """The patterns of a ``.gitignore``. Raises ValueError where they are too many."""
        text = data.removeprefix(b"\xef\xbb\xbf").decode("latin-1")
        lines = [line.removesuffix("\r") for line in text.split("\n")]
        if sum(bool(line) and not line.startswith("#") for line in lines) > _MOST:
            raise ValueError(f"has more than {_MOST} patterns")
        return cls(lines)

    def decide(self, path: str) -> bool | None:
        """Whether a path itself is ignored, whatever is decided of the folders above it; None if no
        pattern matches it. The path has ``/`` between its steps, and at its end if it is a
        folder's; it comes from :func:`as_bytes`.
        """
        if not self._patterns:
            return None
        names, is_folder = path.removesuffix("/").split("/"), path.endswith("/")
        for pattern in self._patterns:  # the last one decides
            # The name alone rules most patterns out.
            if (
                pattern.wanted[-1][-1].match(names[-1])
                and (is_folder or not pattern.folders_only)
                and _match(pattern.wanted, names)
            ):
                return pattern.ignores
        return None

    def hold(self, path: str) -> bool:
        """Whether a pattern matches a file, or a folder above it."""
        steps = as_bytes(path).split("/")
        above = ("/".join(steps[:count]) + "/" for count in range(1, len(steps)))
        return any(self.decide(each) for each in (*above, "/".join(steps)))


@cache
def patterns_of(lines: tuple[str, ...]) -> Patterns:
    """The patterns of some lines of text, compiled once."""
    return Patterns(as_bytes(each) for each in lines)


def is_pattern(line: str) -> bool:
    """Whether a line is a pattern that can match anything."""
    return _pattern(as_bytes(line)) is not None


def as_bytes(path: str) -> str:
    """A path with each byte as a character, as git's ``?`` matches one byte."""
    return os.fsencode(path).decode("latin-1")


def _pattern(line: str) -> _Pattern | None:
    """The pattern of a line; None for a comment, and for what matches nothing."""
    kept = _without_trailing_spaces(line)
    body = kept.removeprefix("!")
    # No path begins with a /, and an escaped one at the end is no folder's.
    if line.startswith("#") or body.startswith("\\/") or body.endswith("\\/"):
        return None
    folders_only = body.endswith("/")
    is_anchored = "/" in body.removesuffix("/")  # also by one in brackets, which matches nothing
    steps: list[list[re.Match[str]]] = [[]]
    for token in _TOKEN.finditer(body.removesuffix("/").removeprefix("/")):
        if token["unclosed"]:
            return None
        if token["slash"] or token["escaped"] == "/":
            steps.append([])
        else:
            steps[-1].append(token)
    if not all(steps):  # no path has nothing between two slashes
        return None
    wanted = [None if is_anchored and _is_any_folders(each) else _step(each) for each in steps]
    if not is_anchored:
        wanted.insert(0, None)
    if wanted[-1] is None:  # behind a folder, it means what is in it
        wanted.append(_ANY_NAME)
    return _Pattern(_wanted(wanted), not kept.startswith("!"), folders_only)


def _is_any_folders(step: Sequence[re.Match[str]]) -> bool:
    return len(step) == 1 and len(step[0]["stars"] or "") > 1


def _step(tokens: Iterable[re.Match[str]]) -> Step:
    """An expression that never goes back: for all but the last ``*`` of a name, the first match is
    as good as any other.
    """
    parts = [""]
    for token in tokens:
        if token["stars"]:
            parts.append("")
        elif token["inside"] is not None:
            parts[-1] += _bracket(token["negation"], token["inside"])
        else:
            parts[-1] += "." if token["any"] else re.escape(token["escaped"] or token[0])
    first, *others = parts
    if others:
        *middle, last = others
        first += "".join(f"(?>.*?{each})" for each in middle) + f".*{last}"
    return re.compile(rf"{first}\Z", re.DOTALL)


def _without_trailing_spaces(line: str) -> str:
    kept = line.rstrip(" ")
    is_escaped = (len(kept) - len(kept.rstrip("\\"))) % 2 == 1
    return f"{kept} " if is_escaped and kept != line else kept


def _bracket(negation: str, content: str) -> str:
    """The expression of ``[…]``."""
    inside = ""
    for each in _IN_BRACKETS.finditer(content):
        if each["named"] is not None:
            inside += _NAMED.get(each["named"], "")
            continue
        low, high = each["low"][-1], (each["high"] or each["low"])[-1]
        if low <= high:
            inside += f"{re.escape(low)}-{re.escape(high)}"
        else:  # git looks at the first alone before it sees the range
            inside += re.escape(low)
    if not inside:
        return "." if negation else "(?!)"
    return f"[^{inside}]" if negation else f"[{inside}]"


# Globs of editors

_MOST_ALTERNATIVES = 64
"""The most patterns that one with alternatives stands for."""
_ALTERNATIVES = re.compile(r"\{([^{}]*)\}")


@dataclass(frozen=True)
class MoreFiles:
    """Some patterns: ``*`` and ``?`` stay within a step of a path, ``**`` stands for any number
    of steps, ``{a,b}`` for one of them, ``[a-z]`` for a character. A pattern matches a path from a
    folder on, or a whole path.
    """

    patterns: tuple[str, ...] = ()

    @cached_property
    def _all_wanted(self) -> list[Wanted]:
        plain = [each for pattern in self.patterns for each in _alternatives(pattern)]
        steps = ([step for step in each.split("/") if step not in ("", ".")] for each in plain)
        return [_wanted(map(_glob_step, each)) for each in steps if each]

    def may_name(self, name: str) -> bool:
        """Whether a file of that name may match, in whatever folder. This is fast."""
        return any(not each[-1] or each[-1][-1].match(name) for each in self._all_wanted)

    def hold(self, path: Path, folder: Path) -> bool:
        """Whether a path inside a folder matches."""
        if not self._all_wanted or path.name.endswith(JUDGEMENTS_SUFFIX):
            return False
        inner, whole = path.relative_to(folder).parts, path.parts[1:]
        return any(_match(each, inner) or _match(each, whole) for each in self._all_wanted)


def _glob_step(step: str) -> Step | None:
    return None if step == "**" else re.compile(translate(step))


def _alternatives(pattern: str) -> list[str]:
    """The patterns that one with ``{a,b}`` stands for, the innermost braces first."""
    done: list[str] = []
    left = [pattern]
    while left and len(done) + len(left) <= _MOST_ALTERNATIVES:
        each = left.pop(0)
        braces = _ALTERNATIVES.search(each)
        if braces is None:
            done.append(each)
        else:
            before, after = each[: braces.start()], each[braces.end() :]
            left += [f"{before}{one}{after}" for one in braces[1].split(",")]
    return list(dict.fromkeys(done + left))[:_MOST_ALTERNATIVES]


# What git ignores and tracks in a folder that is searched


_MOST_OF_PATTERNS = 1 << 16
"""The most bytes of a file of patterns: each of them is held against each path."""


class Repositories:
    """The repositories in and around a folder that is searched. Each is read when it is needed, and
    git is asked only whether it tracks what would be left out.
    """

    def __init__(self, base: Path) -> None:
        """``base`` is absolute. A person named it to search it, so no repository ignores it."""
        self._base = base
        self._around: dict[Path, tuple[_Repository, ...]] = {}
        self.unread: list[Path] = []
        """The ``.gitignore`` files that are too large to be applied."""

    @property
    def has_base(self) -> bool:
        """Whether the folder that is searched is in a repository."""
        return bool(self._of(self._base))

    def ignore(self, path: Path) -> bool:
        """Whether git ignores a file that it may or may not track."""
        return any(repository.ignores(each) for repository, each in self._pairs(path))

    def track(self, path: Path) -> bool:
        """Whether git tracks a file, as it says. Where git does not say, it tracks none: what is
        left out is named then, and a gate fails.
        """
        innermost = next(iter(self._of(path.parent)), None)
        return (
            innermost is not None
            and path.relative_to(innermost.root).as_posix() in innermost.tracked
        )

    def tracked_below(self, folder: Path) -> list[Path]:
        """The files that git tracks in a folder, which may be another repository itself."""
        innermost = next(iter(self._of(folder.parent)), None)
        if innermost is None:
            return []
        inner = f"{folder.relative_to(innermost.root).as_posix()}/"
        below = sorted(each for each in innermost.tracked if each.startswith(inner))
        return [innermost.root / each for each in below]

    def _pairs(self, path: Path) -> list[tuple[_Repository, Path]]:
        """The repositories around a path, each with the path that it decides on: an outer one sees
        the inner one as a folder.
        """
        repositories = self._of(path.parent)
        return list(zip(repositories, (path, *(each.root for each in repositories)), strict=False))

    def _of(self, folder: Path) -> tuple[_Repository, ...]:
        """The repositories around a folder, the innermost first. Of those around all of the base,
        only the innermost counts.
        """
        found = self._around.get(folder)
        if found is None:
            git_folder = git_folder_of(folder)
            found = (
                ()
                if git_folder is None
                else (_Repository(folder, git_folder, self._base, self.unread),)
            )
            is_outermost = bool(found) and self._base.is_relative_to(folder)
            if not is_outermost and folder.parent != folder:
                found += self._of(folder.parent)
            self._around[folder] = found
        return found


class _Repository:
    def __init__(self, root: Path, git_folder: Path, base: Path, unread: list[Path]) -> None:
        self.root = root
        self._unread = unread
        self._git_folder = git_folder
        self._steps_to_base = len(base.relative_to(root).parts) if base.is_relative_to(root) else 0
        """The number of steps from the root to the base."""
        self._ignored_folders: dict[str, bool] = {}
        self._patterns: dict[str, Patterns] = {}

    def ignores(self, path: Path) -> bool:
        steps = self._steps(path)
        for count in range(self._steps_to_base + 1, len(steps)):
            folder = "/".join(steps[:count]) + "/"
            if folder not in self._ignored_folders:
                self._ignored_folders[folder] = self._decide(steps[:count], "/")
            if self._ignored_folders[folder]:  # what is in it cannot be taken back
                return True
        # Not Path.is_dir, which raises for names that the system refuses.
        end = "/" if os.path.isdir(path) else ""  # noqa: PTH112
        return len(steps) > self._steps_to_base and self._decide(steps, end)

    @cached_property
    def tracked(self) -> frozenset[str]:
        """The files that git tracks here: paths from the root, with ``/`` in between."""
        from drive_trace.storage.git import tracked_files  # noqa: PLC0415 - few need git

        return tracked_files(self.root, self._git_folder)

    @cached_property
    def _common_folder(self) -> Path:
        """The git folder of the main working tree, if this is a further one."""
        try:
            there = read_regular(self._git_folder / "commondir").decode().rstrip("\n")
        except (OSError, ValueError):
            return self._git_folder
        return self._git_folder / there

    def _decide(self, steps: list[str], end: str) -> bool:
        """Whether a path is ignored: the nearest file with a pattern that matches decides."""
        for above in range(len(steps) - 1, -1, -1):
            patterns = self._patterns_in("".join(f"{each}/" for each in steps[:above]))
            decided = patterns.decide("/".join(steps[above:]) + end)
            if decided is not None:
                return decided
        return bool(self._excluded.decide("/".join(steps) + end))

    def _patterns_in(self, folder: str) -> Patterns:
        if folder not in self._patterns:
            path = self.root / os.fsdecode(folder.encode("latin-1")) / ".gitignore"
            self._patterns[folder] = (
                Patterns(()) if os.path.islink(path) else self._read(path)  # noqa: PTH114
            )
        return self._patterns[folder]

    @cached_property
    def _excluded(self) -> Patterns:
        return self._read(self._common_folder / "info" / "exclude")

    def _steps(self, path: Path) -> list[str]:
        return [as_bytes(each) for each in path.relative_to(self.root).parts]

    def _read(self, path: Path) -> Patterns:
        """The patterns of a file; none if it cannot be read, or has more than anybody writes."""
        try:
            return Patterns.of_file(read_regular(path, _MOST_OF_PATTERNS))
        except (OSError, ValueError) as error:
            if not isinstance(error, OSError) or error.errno == errno.EFBIG:
                self._unread.append(path)
            return Patterns(())
