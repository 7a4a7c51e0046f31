"""Events composed for a place of a trace: what is known is filled in, the rest is left blank.

A composed event is a list of *slots* in the order of the vocabulary. Ids, the time, measured
durations and whatever the vocabulary leaves no choice about are *known*; what can be told with some
likelihood is offered first; everything else is *open*, with the values that are allowed or were
used before. No fact is made up: what only a person can know stays open.
"""

from __future__ import annotations

from drive_trace.composing.events import Composed, compose, variants
from drive_trace.composing.order import Next, next_events
from drive_trace.composing.slots import Certainty, Choice, Slot
from drive_trace.composing.values import slot_of
from drive_trace.composing.words import about, clock

__all__ = [
    "Certainty",
    "Choice",
    "Composed",
    "Next",
    "Slot",
    "about",
    "clock",
    "compose",
    "next_events",
    "slot_of",
    "variants",
]
