"""The traces that a scan was given, each with the settings of its configuration."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from drive_trace.fleet.scanning import File
from drive_trace.scorecard.caveats import Unread
from drive_trace.storage.files import LeftOut, Problem
from drive_trace.storage.finding import Found, NoTraces, omitted
from drive_trace.storage.projects import Above, Projects


class Inputs:
    """Goes once through what was found, and notes what cannot be used."""

    def __init__(self, found: Iterable[Found], say: Callable[[str], None]) -> None:
        """What a person should know at once is said, in one sentence."""
        self.unread: list[Unread] = []
        """What could not be read so far."""
        self.left_out: list[LeftOut] = []
        """What the search of folders found and did not read."""
        self.failed = False
        """Whether a configuration could not be used."""
        self._found = found
        self._say = say
        self._said: set[str] = set()
        self._projects = Projects(".")
        self._above = Above()

    def __iter__(self) -> Iterator[File]:
        for each in self._found:
            if isinstance(each, NoTraces):
                self._say(f"warning: {each.message}")
            elif isinstance(each, Problem):
                self.cannot_read(each)
            else:
                yield self._file(each)

    @property
    def not_read(self) -> tuple[Unread, ...]:
        """What may hold a part of any run."""
        return (*self.unread, *omitted(self.left_out).missed)

    def cannot_read(self, problem: Problem) -> None:
        """Note a trace that could not be read, or is none."""
        if isinstance(problem, LeftOut):
            self.left_out.append(problem)
            return
        self._say(problem.message)
        self.unread.append(Unread(problem.path, problem.reason))

    def _file(self, path: str) -> File:
        project = self._projects.of(path, self._above)
        for each in project.problems:
            self.failed = True
            if each.problem.message not in self._said:
                self._said.add(each.problem.message)
                self._say(each.problem.message)
        return File(path, path, None if project.problems else project.settings_for(path))
