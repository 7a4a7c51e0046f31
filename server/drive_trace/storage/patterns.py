"""The names of traces, and patterns of paths: those that exclude files or choose settings, and
editors' globs of further traces.

A pattern is matched step by step, in time that grows with the pattern and the path alone, as
patterns come with traces that others wrote. What git ignores, git says (``storage/git.py``).
"""

import os
import re
from collections.abc import Sequence
from fnmatch import translate
from functools import cache, cached_property
from pathlib import Path

import msgspec

TRACE_GLOBS = ("**/trace.jsonl", "**/wip/drive-trace/*.jsonl")
"""The files that a search of a folder takes for traces."""
JUDGEMENTS_SUFFIX = ".judgements.ndjson"
"""Behind a trace's name: the record of the judging, which no pattern makes a trace."""
PROVENANCE_SUFFIX = ".provenance.ndjson"
"""The same of the record of where its events come from."""
RECORD_SUFFIXES = (JUDGEMENTS_SUFFIX, PROVENANCE_SUFFIX)
"""Of all that stands beside a trace."""
BASELINE_NAME = "drive-trace-baseline.json"


def is_trace(path: Path | str) -> bool:
    """Whether a search takes a file of that name for a trace."""
    name = os.path.basename(path)  # noqa: PTH119 - fast
    return name == "trace.jsonl" or (name.endswith(".jsonl") and in_wip(path))


def in_wip(path: Path | str) -> bool:
    """Whether a file is where those of runs without a project are."""
    above, inner = os.path.split(os.path.dirname(path))  # noqa: PTH120 - fast
    return inner == "drive-trace" and os.path.basename(above) == "wip"  # noqa: PTH119 - fast


_Steps = Sequence["re.Pattern[str]"]
"""What each of some neighbouring names of a path has to match."""


class _Glob:
    """A pattern of whole paths: ``*``, ``?`` and ``[a-z]`` stay within a name, ``**`` stands for
    any number of folders.
    """

    def __init__(self, steps: Sequence[str]) -> None:
        self.runs: list[list[re.Pattern[str]]] = [[]]
        """The steps between those that are ``**``."""
        for step in steps:
            if step != "**":
                # Its expressions never go back, so that no name takes long.
                self.runs[-1].append(re.compile(translate(step.replace("[^", "[!"))))
            elif self.runs[-1] or len(self.runs) == 1:  # several in a row are as good as one
                self.runs.append([])

    def may_name(self, name: str) -> bool:
        """Whether a file of that name may match, in whatever folder."""
        return not self.runs[-1] or self.runs[-1][-1].match(name) is not None

    def matches(self, names: Sequence[str]) -> bool:
        """Whether all of a path matches. The first match of a run is as good as any other, but that
        of the last one, which stands at the end.
        """
        first, *others = self.runs
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


def _fit(run: _Steps, names: Sequence[str], at: int) -> bool:
    if len(names) - at < len(run):
        return False
    return all(step.match(names[at + place]) for place, step in enumerate(run))


# Patterns of a configuration, as in .gitignore


class _Pattern(msgspec.Struct, frozen=True):
    glob: _Glob
    holds: bool
    """False for one with a ``!``."""
    folders_only: bool


class Patterns:
    """Some patterns, for the paths below a folder. Of several that match, the last one decides."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._patterns = [found for line in reversed(lines) if (found := _pattern(line))]

    def hold(self, path: str) -> bool:
        """Whether a file or a folder above it matches; the path has ``/`` between its steps."""
        names = path.split("/")
        ends = range(1, len(names) + 1)
        return any(self._decide(names[:end], is_folder=end < len(names)) for end in ends)

    def _decide(self, names: Sequence[str], *, is_folder: bool) -> bool:
        for pattern in self._patterns:
            if pattern.folders_only and not is_folder:
                continue
            if pattern.glob.may_name(names[-1]) and pattern.glob.matches(names):
                return pattern.holds
        return False


@cache
def patterns_of(lines: tuple[str, ...]) -> Patterns:
    """The patterns of some lines, compiled once."""
    return Patterns(lines)


def is_pattern(line: str) -> bool:
    """Whether a line is a pattern that can match anything."""
    return _pattern(line) is not None


def _pattern(line: str) -> _Pattern | None:
    """The pattern of a line; None for a comment, and for what matches nothing."""
    line = line.rstrip(" ")
    body = line.removeprefix("!")
    steps = body.removesuffix("/").removeprefix("/").split("/")
    # No path has nothing between two slashes. With a bracket that no other closes a pattern matches
    # nothing, as in .gitignore.
    if line.startswith("#") or not all(steps) or body.rfind("[") > body.rfind("]"):
        return None
    if "/" not in body.removesuffix("/"):  # it means a name in any folder
        steps.insert(0, "**")
    if steps[-1] == "**":  # behind a folder, it means what is in it
        steps.append("*")
    return _Pattern(_Glob(steps), not line.startswith("!"), body.endswith("/"))


# Globs of editors

_MOST_ALTERNATIVES = 64
"""The most patterns that one with alternatives stands for."""
_ALTERNATIVES = r"\{([^{}]*)\}"


class MoreFiles(msgspec.Struct, frozen=True, dict=True):
    """Some globs, in which ``{a,b}`` stands for one of the two. Each matches a path from a folder
    on, or a whole path.
    """

    patterns: tuple[str, ...] = ()

    @cached_property
    def _globs(self) -> list[_Glob]:
        plain = [each for pattern in self.patterns for each in _alternatives(pattern)]
        steps = ([step for step in each.split("/") if step not in ("", ".")] for each in plain)
        return [_Glob(each) for each in steps if each]

    def may_name(self, name: str) -> bool:
        """Whether a file of that name may match, in whatever folder. This is fast."""
        return any(each.may_name(name) for each in self._globs)

    def hold(self, path: Path, folder: Path) -> bool:
        """Whether a path inside a folder matches."""
        if not self._globs or path.name.endswith(RECORD_SUFFIXES):
            return False
        inner, whole = path.relative_to(folder).parts, path.parts[1:]
        return any(each.matches(inner) or each.matches(whole) for each in self._globs)


def _alternatives(pattern: str) -> list[str]:
    """The patterns that one with ``{a,b}`` stands for, the innermost braces first."""
    done: list[str] = []
    left = [pattern]
    while left and len(done) + len(left) <= _MOST_ALTERNATIVES:
        each = left.pop(0)
        braces = re.search(_ALTERNATIVES, each)
        if braces is None:
            done.append(each)
        else:
            before, after = each[: braces.start()], each[braces.end() :]
            left += [f"{before}{one}{after}" for one in braces[1].split(",")]
    return list(dict.fromkeys(done + left))[:_MOST_ALTERNATIVES]
