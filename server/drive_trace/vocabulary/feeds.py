"""The experiment feeds: recorded about a run from outside, after it; the last of each counts."""

from typing import Annotated, Literal

from drive_trace.vocabulary.declaring import Envelope, IsOutcome, Null, Tokens, event
from drive_trace.vocabulary.types import Family

Outcome = Annotated[Literal["pass", "fail"], IsOutcome()]
Component = Annotated[Outcome | None, Null("not recorded, so that the verdict cannot be computed")]
TokenCount = Annotated[Tokens | None, Null("not known, which is not 0")]


@event(
    Family.FEEDS,
    glyph="●",
    leads_to=("correctness-recorded",),
)
class TokensRecorded(Envelope):
    """What the run cost in tokens. Appended once after the run; a later one replaces it whole.
    The fields mirror the Cursor SDK's `TurnEndedUpdate.usage` (`inputTokens`, `outputTokens`,
    `cacheReadTokens`, `cacheWriteTokens`). Runs made by hand never have it.

    Example: {"input_tokens": 1912408, "output_tokens": 42117, "cache_read_tokens": 1204551,
    "cache_write_tokens": null}
    """

    event_type: Literal["tokens-recorded"]  # type: ignore[misc]
    input_tokens: TokenCount
    """Tokens read by the models; null where not known."""
    output_tokens: TokenCount
    """Tokens written by the models; null where not known."""
    cache_read_tokens: TokenCount
    """Tokens read from the cache; null where not known."""
    cache_write_tokens: TokenCount
    """Tokens written to the cache; null where not known."""


@event(
    Family.FEEDS,
    glyph="★",
)
class CorrectnessRecorded(Envelope):
    """The external correctness signal of the run. Appended after the run; a later one replaces
    it whole, nulls included, so that recording one component means repeating the others.

    Example: {"mechanical": "pass", "qa": "pass", "intent": "pass"}
    """

    event_type: Literal["correctness-recorded"]  # type: ignore[misc]
    mechanical: Component
    """The mechanical gates: type check, tests, lint. Null: not recorded.

    - `pass`: the check ran and passed
    - `fail`: the check ran and failed
    """
    qa: Component
    """The QA run. Null: not recorded.

    - `pass`: the check ran and passed
    - `fail`: the check ran and failed
    """
    intent: Component
    """The judge's verdict on whether the work does what was meant. Null: not recorded.

    - `pass`: the check ran and passed
    - `fail`: the check ran and failed
    """


FeedEvent = TokensRecorded | CorrectnessRecorded
