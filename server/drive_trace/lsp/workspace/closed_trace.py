"""A trace that is on disk but not open, and what it takes to follow it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

from drive_trace.analysis import Analysis
from drive_trace.linter.rules import RULES
from drive_trace.linter.settings import RuleSettings
from drive_trace.scorecard.card import ILLEGIBLE
from drive_trace.scorecard.summary import RunSummary, Unplaced
from drive_trace.storage.files import LeftOut, Problem
from drive_trace.storage.followed_file import FollowedFile

MOST_BYTES = 64 << 20
"""Larger files are left to the command line, as editors do not open them either. It is also the
most bytes of text that are kept of all traces together.
"""
_NO_RULES = RuleSettings(dict.fromkeys(RULES))
"""For traces whose findings nobody has requested."""


class ClosedTrace(NamedTuple):
    """A trace as it was when it was last looked at."""

    real: str
    """Its real path, by which it is known here."""
    path: Path
    content: bytes | None = None
    """Identifies the text that was read last; None if none was read."""
    problem: Problem | None = None
    """Why it cannot be read."""
    is_gone: bool = False
    """Whether that is because there is no such file any more."""
    parts: Mapping[str, RunSummary] = {}
    """The part of each run in it, by the run's id."""
    unplaced: Sequence[Unplaced] = ()
    """See :func:`unplaced_grades`."""
    is_illegible: bool = False
    """See :attr:`TraceSummary.is_illegible`."""
    is_short: bool = False
    """Whether its parts have no events, which only runs that stand in several traces need."""

    @property
    def unread_because(self) -> str:
        """Why runs may lack a part that is in it; empty if they do not."""
        if self.problem is not None:
            return "" if self.is_gone or isinstance(self.problem, LeftOut) else self.problem.reason
        return ILLEGIBLE if self.is_illegible else ""

    @property
    def is_unread(self) -> bool:
        """Whether nobody has tried to read it yet."""
        return self.content is None and self.problem is None


class Changes(NamedTuple):
    """What has changed since the last call."""

    runs: frozenset[str] = frozenset()
    """The ids of the runs of which some trace has another part now."""
    has_new_text: bool = False
    """Whether a trace that had been read has another text now."""
    may_touch_any_run: bool = False
    """Whether traces became readable or unreadable, or other lines may grade any run."""


class Entry:
    """One trace, and what it takes to follow it."""

    def __init__(self, real: str, path: Path, folder: Path | None) -> None:
        self.lock = Lock()
        self.seen = ClosedTrace(real, path)
        """Replaced as a whole, with both locks held."""
        self.file = FollowedFile(path, MOST_BYTES, folder)
        self.analysis: Analysis | None = None
        self.rules = _NO_RULES
        """The rules of the analysis."""
        self.results: dict[str, tuple[object, Any]] = {}
        """What was made of the text, by a name, each with what else it depends on."""
        self.keeps = False
        """Whether the analysis is kept when nobody works with it."""

    def judge_by(self, rules: RuleSettings) -> None:
        """Let the analysis use these rules."""
        if rules != self.rules:
            self.rules = rules
            if self.analysis is not None:
                self.analysis.use(rules)

    def drop(self) -> None:
        """Let go of the text."""
        self.analysis = None
