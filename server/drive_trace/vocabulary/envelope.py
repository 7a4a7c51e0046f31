"""The envelope: the six fields every event carries, flat beside its payload."""

from typing import Annotated, Literal

from typing_extensions import TypedDict

from drive_trace.vocabulary.types import Entity, Form, Names, Null, Prose, Written

ENVELOPE_EXAMPLE: dict[str, object] = {
    "event_id": "0b6f2c5e-8f0d-4c1b-9a3e-5d2f6a7b8c90",
    "schema_version": "1",
    "ts": "2026-05-28T14:00:00.000Z",
    "project_run_id": "checkout-retry",
    "orchestrator_agent_id": None,
    "event_type": "",
}


class Envelope(TypedDict):
    """The fields that every event carries, in the order in which the reference emitter writes them:
    the payload follows.
    """

    event_id: Annotated[
        str,
        Names(Entity.EVENT),
        Written(Form.UUID),
        Prose("Identifies this one event; a UUID v4, unique in the trace."),
    ]
    schema_version: Annotated[
        Literal["1"], Prose('The vocabulary\'s version: exactly the string `"1"`.')
    ]
    ts: Annotated[
        str,
        Written(Form.TIMESTAMP),
        Prose(
            "The wall clock when the event was emitted: ISO 8601 in UTC, "
            "such as `2026-05-28T14:00:00.000Z`."
        ),
    ]
    project_run_id: Annotated[
        str,
        Names(Entity.RUN),
        Prose(
            "The run this event belongs to: a project's slug, `orphan-<slice>` or "
            "`direct-<ISO time>`. The scorecard is computed per run."
        ),
    ]
    orchestrator_agent_id: Annotated[
        str | None,
        Prose("The orchestrator's session, or null where it is not known."),
        Null("the session is not known"),
    ]
    event_type: Annotated[str, Prose("Which of the vocabulary's events this is.")]
