"""The declarations of all events, put together: for pydantic, and to be written down."""

from __future__ import annotations

from typing import Annotated

from msgspec.structs import replace
from pydantic import Field

from drive_trace.vocabulary import build_loop, lifecycle, planning
from drive_trace.vocabulary.declaring import DECLARED, ENVELOPE
from drive_trace.vocabulary.registry import EventType, Vocabulary
from drive_trace.vocabulary.types import Family

AnyEvent = (
    build_loop.BuildLoopEvent
    | planning.PlanningEvent
    | lifecycle.LifecycleEvent
    | lifecycle.FeedEvent
)
TraceEvent = Annotated[AnyEvent, Field(discriminator="event_type")]
"""Any event: a dictionary, whose other fields follow from its ``event_type``. Type checkers narrow
it, and pydantic validates it, by itself or as a part of other models.
"""


def _own(event: EventType) -> EventType:
    fields = event.fields.items()
    return replace(event, fields=dict(each for each in fields if each not in ENVELOPE.items()))


VOCABULARY = Vocabulary(
    ENVELOPE,
    tuple(_own(each) for family in Family for _, each in DECLARED if each.family is family),
)
