"""The build loop: dispatches to sub-agents, the rounds within them, and their briefs."""

from typing import Annotated, Literal

from drive_trace.vocabulary import declaring, types
from drive_trace.vocabulary.declaring import Envelope, Null, event
from drive_trace.vocabulary.types import Entity, Family


class _OfDispatch(Envelope):
    dispatch_id: Annotated[str, declaring.Names(Entity.DISPATCH)]
    """The dispatch this event belongs to (UUID)."""


class _OfRound(_OfDispatch):
    round_id: Annotated[str, declaring.Names(Entity.ROUND)]
    """The round this event belongs to (UUID)."""


@event(
    Family.BUILD_LOOP,
    is_work=True,
    opens=Entity.DISPATCH,
    keeps=("dispatch_name", "model"),
)
class DispatchStart(Envelope):
    """One delegation to a sub-agent begins. Emitted just before delegating.

    Example: {"dispatch_id": "77ce3f13-a067-4f13-a4e0-93dbae3137ae",
    "dispatch_name": "implementer D1 R1", "subagent_type": "generalPurpose", "model": "composer-2",
    "parent_dispatch_id": null}
    """

    event_type: Literal["dispatch-start"]  # type: ignore[misc]
    dispatch_id: Annotated[
        str, declaring.Names(Entity.DISPATCH), declaring.Written(types.Form.UUID)
    ]
    """Names the dispatch that starts (UUID)."""
    dispatch_name: str
    """What people call the dispatch, such as `implementer D1 R1`."""
    subagent_type: str
    """The kind of sub-agent delegated to, such as `generalPurpose`."""
    model: Annotated[str | None, Null("the model was not recorded")]
    """The model that the sub-agent runs on, or null."""
    parent_dispatch_id: Annotated[
        str | None, declaring.Names(Entity.DISPATCH), Null("no earlier dispatch is resumed")
    ]
    """The earlier dispatch that this one resumes, or null."""


@event(
    Family.BUILD_LOOP,
    is_work=True,
    closes=Entity.DISPATCH,
    keeps=("result", "wall_clock_ms"),
)
class DispatchEnd(_OfDispatch):
    """A dispatch is over. Emitted when the sub-agent has returned for the last time.

    Example: {"dispatch_id": "77ce3f13-a067-4f13-a4e0-93dbae3137ae", "result": "completed",
    "wall_clock_ms": 1680000}
    """

    event_type: Literal["dispatch-end"]  # type: ignore[misc]
    result: Annotated[Literal["completed", "failed", "aborted"], declaring.IsOutcome()]
    """How the dispatch ended.

    - `completed`: the sub-agent delivered
    - `failed`: the sub-agent could not deliver
    - `aborted`: the dispatch was stopped before it could deliver
    """
    wall_clock_ms: declaring.Milliseconds
    """How long the dispatch took: this event's `ts` minus its start's."""


@event(
    Family.BUILD_LOOP,
    is_work=True,
    opens=Entity.ROUND,
    keeps=("round_number",),
)
class RoundStart(_OfDispatch):
    """One round of a dispatch begins: implement, review, triage.

    Example: {"dispatch_id": "77ce3f13-a067-4f13-a4e0-93dbae3137ae",
    "round_id": "5cd5061c-9c5f-419e-834c-1b69573ac59a", "round_number": 1}
    """

    event_type: Literal["round-start"]  # type: ignore[misc]
    round_id: Annotated[str, declaring.Names(Entity.ROUND), declaring.Written(types.Form.UUID)]
    """Names the round that starts (UUID)."""
    round_number: declaring.Ordinal
    """The round's place in its dispatch, counted from 1."""


@event(
    Family.BUILD_LOOP,
    is_work=True,
    closes=Entity.ROUND,
    keeps=("verdict", "findings_filed", "wall_clock_ms"),
)
class RoundEnd(_OfRound):
    """A round is over. Emitted when its findings are triaged and it is known what comes next.

    Example: {"dispatch_id": "77ce3f13-a067-4f13-a4e0-93dbae3137ae",
    "round_id": "5cd5061c-9c5f-419e-834c-1b69573ac59a", "verdict": "satisfied", "findings_filed": 0,
    "wall_clock_ms": 1260000}
    """

    event_type: Literal["round-end"]  # type: ignore[misc]
    verdict: Annotated[
        Literal["satisfied", "another-round-needed", "escalating-to-user", "stop-condition"],
        declaring.IsOutcome(),
    ]
    """What the round's review decided.

    - `satisfied`: the work is accepted; the dispatch can end
    - `another-round-needed`: findings remain; the dispatch goes another round
    - `escalating-to-user`: a person has to decide
    - `stop-condition`: a stop condition was met; the dispatch ends unaccepted
    """
    findings_filed: declaring.Count
    """How many findings the review filed."""
    wall_clock_ms: declaring.Milliseconds
    """How long the round took: this event's `ts` minus its start's."""


@event(
    Family.BUILD_LOOP,
    glyph="▫",
    is_work=True,
    keeps=("brief_byte_length", "brief_content_hash", "brief_disposition"),
)
class BriefIssued(_OfRound):
    """A brief is handed to the sub-agent. Emitted between round-start and the delegation.

    Example: {"dispatch_id": "77ce3f13-a067-4f13-a4e0-93dbae3137ae",
    "round_id": "5cd5061c-9c5f-419e-834c-1b69573ac59a", "brief_byte_length": 4182,
    "brief_content_hash": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "brief_disposition": "initial"}
    """

    event_type: Literal["brief-issued"]  # type: ignore[misc]
    brief_byte_length: declaring.Bytes
    """The brief's length."""
    brief_content_hash: Annotated[str, declaring.Written(types.Form.HASH)]
    """The brief's sha256, in hexadecimal."""
    brief_disposition: Literal["initial", "reissue", "amended"]
    """How the brief relates to the earlier briefs of its dispatch.

    - `initial`: the first brief of the dispatch
    - `reissue`: the same content as an earlier brief of the dispatch
    - `amended`: different content from every earlier brief of the dispatch
    """


BuildLoopEvent = DispatchStart | DispatchEnd | RoundStart | RoundEnd | BriefIssued
