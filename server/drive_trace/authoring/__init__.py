"""Events composed for a place of a trace: what is known is filled in, the rest is left blank.

A composed event is a list of *slots* in the order of the vocabulary. Ids, the time, measured
durations and whatever the vocabulary leaves no choice about are *known*; what can be told with some
likelihood is offered first; everything else is *open*, with the values that are allowed or were
used before. No fact is made up: what only a person can know stays open.
"""

from __future__ import annotations

from drive_trace.authoring.events import Composed, asked_for, compose, variants
from drive_trace.authoring.names import about, clock
from drive_trace.authoring.next_events import Next, next_events
from drive_trace.authoring.slots import Asked, Carried, Carrying, Certainty, Choice, Slot, open_slot
from drive_trace.authoring.values import choices_of, is_null_here, slot_of

__all__ = [
    "Asked",
    "Carried",
    "Carrying",
    "Certainty",
    "Choice",
    "Composed",
    "Next",
    "Slot",
    "about",
    "asked_for",
    "choices_of",
    "clock",
    "compose",
    "is_null_here",
    "next_events",
    "open_slot",
    "slot_of",
    "variants",
]
