"""What rules look at that compare files which are checked together. No trace has these."""

from __future__ import annotations

from typing import NamedTuple

from drive_trace.text.escaping import printable
from drive_trace.trace.line import Line
from drive_trace.trace.places import Place
from drive_trace.trace.times import latest_recorded

EVENT_ID = Place.value("event_id")


class GradeInFile(NamedTuple):
    """The grade of a run that counts in one of the files that are checked together."""

    path: str
    number: int
    """The line's number, from 1."""
    line: Line
    erased: frozenset[str] = frozenset()
    """The components that are null there, though the file had recorded them before."""


class RunInFiles(NamedTuple):
    """A run that several files grade. No trace has it: it is looked at when all are read."""

    grades: tuple[GradeInFile, ...]
    """In the order of the files."""

    def latest(self, name: str | None = None) -> GradeInFile | None:
        """The grade with the latest ``ts``, the later file's on a tie; of a component, among those
        that record it.
        """
        having = (each for each in self.grades if name is None or each.line.fact(name) is not None)
        return latest_recorded(having, lambda each: each.line.text_fact("ts"))


class UnreadFile(NamedTuple):
    """A file, or a folder, of which nothing could be read."""

    reason: str
    """In a few words."""


class SharedEvents(NamedTuple):
    """The events of a file with ids of an earlier one. No trace has it: it is looked at as each
    file is read.
    """

    line: Line
    """The first of them."""
    size: int
    """How many they are."""
    are_copies: bool
    """Whether all of them are the same there, or each is another."""
    path: str
    """The earlier file."""
    number: int
    """The line there with the id of ``line``, from 1."""

    @property
    def other(self) -> str:
        """The earlier file, as a message names it."""
        return printable(self.path, 4096)
