"""The experiment feeds: recorded about a run from outside, after it; the last of each counts."""

from typing import Annotated, Literal

from drive_trace.vocabulary.registry import event
from drive_trace.vocabulary.types import Envelope, Family, IsOutcome, Null, OneOf, Prose, Tokens

TOKEN_FIELDS = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")
"""The components of the token feed, in the order in which they are shown."""

GRADE = "correctness-recorded"
"""The event that the correctness gate reads."""

COST = "tokens-recorded"
"""The event that the token figures come from."""

CORRECTNESS_FIELDS = ("mechanical", "qa", "intent")
"""The components of the correctness gate, in the order in which missing ones are named."""

Outcome = Annotated[
    str,
    OneOf({"pass": "the check ran and passed", "fail": "the check ran and failed"}),
    IsOutcome(),
]


@event(
    Family.FEEDS,
    glyph="●",
    leads_to=("correctness-recorded",),
    example={
        "input_tokens": 1_912_408,
        "output_tokens": 42_117,
        "cache_read_tokens": 1_204_551,
        "cache_write_tokens": None,
    },
)
class TokensRecorded(Envelope):
    """What the run cost in tokens. Appended once after the run; a later one replaces it whole.
    The fields mirror the Cursor SDK's `TurnEndedUpdate.usage` (`inputTokens`, `outputTokens`,
    `cacheReadTokens`, `cacheWriteTokens`). Runs made by hand never have it.
    """

    event_type: Literal["tokens-recorded"]  # type: ignore[misc]
    input_tokens: Annotated[
        Tokens | None,
        Prose("Tokens read by the models; null where not known."),
        Null("not known, which is not 0"),
    ]
    output_tokens: Annotated[
        Tokens | None,
        Prose("Tokens written by the models; null where not known."),
        Null("not known, which is not 0"),
    ]
    cache_read_tokens: Annotated[
        Tokens | None,
        Prose("Tokens read from the cache; null where not known."),
        Null("not known, which is not 0"),
    ]
    cache_write_tokens: Annotated[
        Tokens | None,
        Prose("Tokens written to the cache; null where not known."),
        Null("not known, which is not 0"),
    ]


@event(
    Family.FEEDS,
    glyph="★",
    example={"mechanical": "pass", "qa": "pass", "intent": "pass"},
)
class CorrectnessRecorded(Envelope):
    """The external correctness signal of the run. Appended after the run; a later one replaces
    it whole, nulls included, so that recording one component means repeating the others.
    """

    event_type: Literal["correctness-recorded"]  # type: ignore[misc]
    mechanical: Annotated[
        Outcome | None,
        Prose("The mechanical gates: type check, tests, lint. Null: not recorded."),
        Null("not recorded, so that the verdict cannot be computed"),
    ]
    qa: Annotated[
        Outcome | None,
        Prose("The QA run. Null: not recorded."),
        Null("not recorded, so that the verdict cannot be computed"),
    ]
    intent: Annotated[
        Outcome | None,
        Prose("The judge's verdict on whether the work does what was meant. Null: not recorded."),
        Null("not recorded, so that the verdict cannot be computed"),
    ]


FeedEvent = TokensRecorded | CorrectnessRecorded
