"""The assertions that no trace can decide, each with why."""

from __future__ import annotations

from collections.abc import Sequence

from drive_trace.report.assertions.base import not_checkable
from drive_trace.report.event_log import Event, EventLog

_BRIEF_TEXT = "A trace holds a brief's length and hash, not its text."


def falsified_assumptions(log: EventLog) -> Sequence[Event]:
    """The halts, which are where a discussion or an amendment was called for."""
    return log.of("falsified-assumption")


def amended_briefs(log: EventLog) -> Sequence[Event]:
    """The briefs whose content changed within a dispatch."""
    return [
        event for event in log.of("brief-issued") if event.text("brief_disposition") == "amended"
    ]


I2 = not_checkable(
    "I2",
    "Scope is bounded by the spec",
    "A trace holds neither the spec's text nor the changes that were made.",
)
I3 = not_checkable(
    "I3",
    "The kind of a spec or plan never changes",
    "A trace records the kind with each event, not the artefact that it is a fact about.",
)
I5 = not_checkable(
    "I5",
    "Orphan slices are allowed",
    "It permits something, so that nothing in a trace could break it.",
)
I7 = not_checkable(
    "I7",
    "The purpose is immutable once work starts",
    "A trace records that a spec changed, not whether its purpose did.",
)
I9 = not_checkable(
    "I9",
    "Every slice has or inherits a definition of done",
    "A trace does not say which spec a slice is built from, nor what it inherits.",
)
I11 = not_checkable(
    "I11",
    "Work is sized by coherence",
    "A trace records sizes, not what belongs together.",
)
I12 = not_checkable(
    "I12",
    "No silent amendment after the first dispatch",
    "A silent amendment is one that left no event. "
    "The falsified assumptions that were recorded are listed.",
    falsified_assumptions,
)
CASCADE_1 = not_checkable(
    "Cascade-1",
    "Each level has its template",
    "A trace does not hold the texts of specs and plans.",
)
CASCADE_2 = not_checkable(
    "Cascade-2",
    "Content stands at the lowest level that loses nothing",
    "A trace does not hold the texts of specs and plans.",
)
CASCADE_4 = not_checkable(
    "Cascade-4",
    "Discussion is triggered by a signal",
    "Discussions are not recorded. The falsified assumptions, which are such signals, are listed.",
    falsified_assumptions,
)
CASCADE_5 = not_checkable(
    "Cascade-5",
    "The executor has its standing instruction",
    "What a sub-agent was told beside its brief is not recorded.",
)
CASCADE_6 = not_checkable(
    "Cascade-6",
    "The reviewer does not run validation again",
    "The commands that sub-agents run are not recorded.",
)
CASCADE_7 = not_checkable(
    "Cascade-7",
    "The team's definition of done lives in project context",
    "A trace does not hold the project's context files.",
)
CASCADE_8 = not_checkable(
    "Cascade-8",
    "Internal labels stay out of messages to people",
    "Messages to people are not recorded.",
)
BD_1 = not_checkable("BD-1", 'No brief says "do what\'s needed"', _BRIEF_TEXT)
BD_2 = not_checkable("BD-2", 'Every brief says "completed when"', _BRIEF_TEXT)
BD_3 = not_checkable("BD-3", 'Every brief says "out of scope"', _BRIEF_TEXT)
BD_4 = not_checkable("BD-4", "No brief decomposes the work file by file", _BRIEF_TEXT)
BD_5 = not_checkable("BD-5", "No brief walks through every edge case", _BRIEF_TEXT)
BD_6 = not_checkable("BD-6", "Completion criteria are verifiable", _BRIEF_TEXT)
BD_7 = not_checkable(
    "BD-7",
    "The brief names the model tier",
    f"{_BRIEF_TEXT} The model of a dispatch is recorded, but not whether the brief named it.",
)
BD_9 = not_checkable(
    "BD-9",
    "The executor does not rewrite the brief",
    "A trace does not say who changed a brief. The briefs marked amended are listed.",
    amended_briefs,
)
BD_10 = not_checkable("BD-10", 'No brief says "minimise changes"', _BRIEF_TEXT)
BD_11 = not_checkable(
    "BD-11", "Briefs are not written by sub-agents", "A trace does not say who wrote a brief."
)
