"""Caveats: why a verdict, or a figure beside it, may be worth less than it seems.

A caveat is computed once, with the run's score, and shown wherever the verdict is shown. One that
*qualifies* could overturn the verdict: a CORRECT with it is never green, never bare, and fails
``--require-correct``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum, StrEnum
from typing import NamedTuple

from drive_trace.scorecard.uncounted import MOST
from drive_trace.text.escaping import plain
from drive_trace.text.wording import first_of


class CaveatCode(StrEnum):
    """What a caveat is about. Users meet these in JSON: they are added to, never renamed."""

    STALE = "stale"
    UNREAD_INPUT = "unread-input"
    REJECTED_GRADE = "rejected-grade"
    LOOKALIKE_GRADE = "lookalike-grade"
    CONTRADICTING_GRADES = "contradicting-grades"
    UNCALIBRATED_JUDGE = "uncalibrated-judge"
    REJECTED_COST = "rejected-cost"
    LOOKALIKE_COST = "lookalike-cost"
    REJECTED_LINE = "rejected-line"
    COPIED_EVENTS = "copied-events"
    CONFLICTING_EVENT_ID = "conflicting-event-id"
    PARTIAL_COVERAGE = "partial-coverage"


class Qualifies(Enum):
    """When a caveat could overturn the verdict; each in words."""

    ALWAYS = "always"
    AFTER_GRADE = "where it stands after the grade that decides, or may"
    ORDER_UNCERTAIN = "where it is uncertain which grade is the latest"
    COPY_MATTERS = "where a copied line is the grade that decides, or another run has the events"
    NEVER = "never"


TABLE: Mapping[CaveatCode, tuple[str, Qualifies]] = {
    CaveatCode.STALE: ("The run went on after it was graded.", Qualifies.ALWAYS),
    CaveatCode.UNREAD_INPUT: ("An input was not read.", Qualifies.ALWAYS),
    CaveatCode.REJECTED_GRADE: (
        "Readers reject a line that grades the run, or may.",
        Qualifies.AFTER_GRADE,
    ),
    CaveatCode.LOOKALIKE_GRADE: (
        "A line without a type, or of an unknown one, looks like a grade of the run.",
        Qualifies.AFTER_GRADE,
    ),
    CaveatCode.CONTRADICTING_GRADES: (
        "Several files grade the run differently, or an earlier line has a later grade.",
        Qualifies.ORDER_UNCERTAIN,
    ),
    CaveatCode.UNCALIBRATED_JUDGE: (
        "The intent was judged by an uncalibrated judge.",
        Qualifies.NEVER,
    ),
    CaveatCode.REJECTED_COST: (
        "Readers reject a line that says what the run cost, or may.",
        Qualifies.NEVER,
    ),
    CaveatCode.LOOKALIKE_COST: (
        "A line without a type, or of an unknown one, looks like one that says what it cost.",
        Qualifies.NEVER,
    ),
    CaveatCode.REJECTED_LINE: ("Readers reject another line of the run.", Qualifies.NEVER),
    CaveatCode.COPIED_EVENTS: (
        "Events of the run stand in several files, several times in one, or in another run.",
        Qualifies.COPY_MATTERS,
    ),
    CaveatCode.CONFLICTING_EVENT_ID: (
        "One event id stands for different events.",
        Qualifies.NEVER,
    ),
    CaveatCode.PARTIAL_COVERAGE: ("A figure covers a part of the run.", Qualifies.NEVER),
}
"""What each caveat is about, and whether it qualifies the verdict."""


class LineRef(NamedTuple):
    """A line of a trace."""

    path: str
    line: int
    """From 1."""


class Unread(NamedTuple):
    """An input that could not be read at all."""

    path: str
    reason: str
    """In a few words, as ``permission denied``; without the path."""


def by_reason(unread: Sequence[Unread]) -> Mapping[str, Sequence[str]]:
    """The paths of inputs, by their reasons."""
    reasons = dict.fromkeys(each.reason for each in unread)
    return {reason: [each.path for each in unread if each.reason == reason] for reason in reasons}


class Omitted(NamedTuple):
    """What a search of folders came upon and did not read."""

    files: tuple[Unread, ...] = ()
    """Each with its reason."""
    missed: tuple[Unread, ...] = ()
    """Those of them that may hold a part of any run, and that nobody has excluded."""
    libraries: tuple[str, ...] = ()
    """The folders of libraries, which are not searched."""

    def sentence(self, name: Callable[[str], str] = plain) -> str:
        """All of it on one line, without a full stop; ``name`` writes a path."""
        said = (
            f"{why}: {first_of([*map(name, s)], 5)}" for why, s in by_reason(self.files).items()
        )
        hint = " (name a path to read it, or leave it out with --exclude)" if self.missed else ""
        return f"{len(self.files):,} left out: {'; '.join(said)}{hint}" if self.files else ""

    def as_json(self) -> dict[str, object]:
        """The keys of it in JSON."""
        return {
            "left_out": len(self.files),
            "left_out_files": [each._asdict() for each in self.files],
            "unsearched_libraries": self.libraries,
        }


NOTHING_OMITTED = Omitted()


class Caveat(NamedTuple):
    """One caveat of one run."""

    code: CaveatCode
    short: str
    """In a few words, to stand behind the verdict: ``stale: 3 events after the grade``."""
    message: str
    """One sentence, without its full stop, apart from the files that :meth:`sentence` names.
    Nothing in it comes from a trace.
    """
    qualifies: bool
    """Whether it could overturn the verdict."""
    lines: tuple[LineRef, ...] = ()
    """The lines that it is about."""
    path: str = ""
    """The one file that it is about, where the message does not say so. Untrusted."""
    others: tuple[str, ...] = ()
    """Further files, to be named behind the message. Untrusted."""

    def sentence(self, name: Callable[[str], str] = str) -> str:
        """The message with its files, as ``name`` writes them."""
        phrases = f"{name(self.path)}: {self.message}" if self.path else self.message
        return f"{phrases} {' and '.join(map(name, self.others))}" if self.others else phrases


def make_caveat(  # noqa: PLR0913 - the parts of a caveat
    code: CaveatCode,
    short: str,
    message: str = "",
    *,
    holds: bool = False,
    lines: Sequence[LineRef] = (),
    path: str = "",
    others: Iterable[str] = (),
) -> Caveat:
    """A caveat; ``holds`` where the condition holds under which its code qualifies. It names the
    first few of ``others``.
    """
    named = tuple(dict.fromkeys(others))[:MOST]
    when = TABLE[code][1]
    qualifies = when is Qualifies.ALWAYS or (when is not Qualifies.NEVER and holds)
    return Caveat(code, short, message or short, qualifies, tuple(lines), path, named)
