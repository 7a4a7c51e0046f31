"""What rules look at that compare files which are checked together. No trace has these."""

from __future__ import annotations

from typing import NamedTuple

from drive_trace.text.escaping import printable
from drive_trace.trace.line import Line
from drive_trace.trace.places import Place

EVENT_ID = Place.value("event_id")


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
