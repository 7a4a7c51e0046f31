"""The formats in which agents' tools log their token usage, each recognised by its shape.

The figures have the meaning of the vocabulary: input tokens are those that were not read from a
cache. OpenAI's tools count these within the input, and they are taken out of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias

from drive_trace.vocabulary import TOKEN_FIELDS

INPUT, OUTPUT, CACHE_READ, CACHE_WRITE = TOKEN_FIELDS
Path: TypeAlias = tuple[str, ...]


class Names(NamedTuple):
    """Where a usage object has its figures."""

    paths: Mapping[str, Path]
    """By the vocabulary's names. One that is not named is never known."""
    cached_within: bool = False
    """Whether the input counts what was read from the cache, too."""


SDK = Names(
    {
        INPUT: ("inputTokens",),
        OUTPUT: ("outputTokens",),
        CACHE_READ: ("cacheReadTokens",),
        CACHE_WRITE: ("cacheWriteTokens",),
    }
)
"""The agents' SDK, after which the vocabulary is made."""
CLAUDE = Names(
    {
        INPUT: ("input_tokens",),
        OUTPUT: ("output_tokens",),
        CACHE_READ: ("cache_read_input_tokens",),
        CACHE_WRITE: ("cache_creation_input_tokens",),
    }
)
CLAUDE_MODEL = Names(
    {
        INPUT: ("inputTokens",),
        OUTPUT: ("outputTokens",),
        CACHE_READ: ("cacheReadInputTokens",),
        CACHE_WRITE: ("cacheCreationInputTokens",),
    }
)
CHAT = Names(
    {
        INPUT: ("prompt_tokens",),
        OUTPUT: ("completion_tokens",),
        CACHE_READ: ("prompt_tokens_details", "cached_tokens"),
    },
    cached_within=True,
)
RESPONSES = Names(
    {
        INPUT: ("input_tokens",),
        OUTPUT: ("output_tokens",),
        CACHE_READ: ("input_tokens_details", "cached_tokens"),
    },
    cached_within=True,
)
CODEX = Names(
    {
        INPUT: ("input_tokens",),
        OUTPUT: ("output_tokens",),
        CACHE_READ: ("cached_input_tokens",),
    },
    cached_within=True,
)


class Shape(NamedTuple):
    """A message that tells usage."""

    name: str
    """As a person calls what it stands in."""
    marks: Mapping[Path, Sequence[str]]
    """What it has where: one of some texts."""
    usage: Path
    names: Names
    id: Path | None = None
    """Where the message's id is. Of messages with one id, and of those without any in one session,
    the last counts: tools log them again while they grow.
    """
    request: Path = ()
    """Where the id of the request is, which identifies a message that has none."""
    model: Path | None = None
    replaces: str | None = None
    """The shape of messages that this one adds up."""
    is_log: bool = False
    """Whether it stands in a log whose other messages tell nothing that counts."""
    by_model: bool = False
    """Whether there is a usage object for each model, by its name."""


CLAUDE_SESSION = "Claude Code session"
SHAPES = (
    # Sums of the session so far, with those of its subagents.
    Shape(
        "Claude Code result",
        {("type",): ("result",)},
        ("modelUsage",),
        CLAUDE_MODEL,
        id=("session_id",),
        replaces=CLAUDE_SESSION,
        by_model=True,
    ),
    Shape(
        "Claude Code result",
        {("type",): ("result",)},
        ("usage",),
        CLAUDE,
        id=("session_id",),
        replaces=CLAUDE_SESSION,
    ),
    Shape(
        CLAUDE_SESSION,
        {("type",): ("assistant",), ("message", "role"): ("assistant",)},
        ("message", "usage"),
        CLAUDE,
        id=("message", "id"),
        request=("requestId",),
        model=("message", "model"),
        is_log=True,
    ),
    Shape(
        "Claude API response",
        {("type",): ("message",), ("role",): ("assistant",)},
        ("usage",),
        CLAUDE,
        id=("id",),
        model=("model",),
    ),
    Shape(
        "OpenAI chat completion",
        {("object",): ("chat.completion", "chat.completion.chunk")},
        ("usage",),
        CHAT,
        id=("id",),
        model=("model",),
    ),
    Shape(
        "OpenAI response",
        {("object",): ("response",)},
        ("usage",),
        RESPONSES,
        id=("id",),
        model=("model",),
    ),
    Shape(
        "OpenAI response",
        {
            ("type",): ("response.completed", "response.incomplete"),
            ("response", "object"): ("response",),
        },
        ("response", "usage"),
        RESPONSES,
        id=("response", "id"),
        model=("response", "model"),
        is_log=True,
    ),
    # Both of Codex' are sums of the session so far.
    Shape(
        "Codex session",
        {("type",): ("event_msg",), ("payload", "type"): ("token_count",)},
        ("payload", "info", "total_token_usage"),
        CODEX,
        is_log=True,
    ),
    Shape("Codex exec", {("type",): ("turn.completed",)}, ("usage",), CODEX, is_log=True),
)


def at(message: object, path: Path) -> object:
    """What stands at a path; None where nothing does."""
    for key in path:
        message = message.get(key) if isinstance(message, Mapping) else None
    return message


def shape_of(message: object) -> Shape | None:
    """The shape of a message that tells usage."""
    return next((shape for shape in SHAPES if _has_shape(message, shape)), None)


def _has_shape(message: object, shape: Shape) -> bool:
    if any(at(message, path) not in texts for path, texts in shape.marks.items()):
        return False
    usage = at(message, shape.usage)
    if shape.by_model:
        return isinstance(usage, Mapping) and bool(usage)
    return any(at(usage, path) is not None for path in shape.names.paths.values())
