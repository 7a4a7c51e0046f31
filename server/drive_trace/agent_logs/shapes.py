"""The formats in which agents' tools log their token usage, each recognised by its shape.

The figures have the meaning of the vocabulary: input tokens are those that were not read from a
cache. OpenAI's tools count these within the input, and they are taken out of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias

from drive_trace.vocabulary import TOKEN_FIELDS

INPUT, OUTPUT, CACHE_READ, CACHE_WRITE = TOKEN_FIELDS
Path: TypeAlias = str
"""Keys from a message down to a value, with dots in between: ``message.usage``."""


class UsageNames(NamedTuple):
    """Where a usage object has its figures."""

    paths: Mapping[str, Path]
    """By the vocabulary's names. One that is not named is never known."""
    cached_within: bool = False
    """Whether the input counts what was read from the cache, too."""


def _separate(given: Path, made: Path, read: Path, written: Path) -> UsageNames:
    """Names of the input without what the cache had, of the output, and of the cache."""
    return UsageNames({INPUT: given, OUTPUT: made, CACHE_READ: read, CACHE_WRITE: written})


def _within(given: Path, made: Path, cached: Path) -> UsageNames:
    """Names of OpenAI's tools, whose input counts what was cached, too."""
    return UsageNames({INPUT: given, OUTPUT: made, CACHE_READ: cached}, cached_within=True)


SDK = _separate("inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens")
"""The agents' SDK, after which the vocabulary is made."""
CLAUDE = _separate(
    "input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"
)
CLAUDE_MODEL = _separate(
    "inputTokens", "outputTokens", "cacheReadInputTokens", "cacheCreationInputTokens"
)
CHAT = _within("prompt_tokens", "completion_tokens", "prompt_tokens_details.cached_tokens")
RESPONSES = _within("input_tokens", "output_tokens", "input_tokens_details.cached_tokens")
CODEX = _within("input_tokens", "output_tokens", "cached_input_tokens")


class Shape(NamedTuple):
    """A message that tells usage."""

    name: str
    """As a person calls what it stands in."""
    marks: Mapping[Path, Sequence[str]]
    """What it has where: one of some texts."""
    usage: Path
    """Where its usage object is; empty where that is the message itself."""
    names: UsageNames
    id: Path | None = None
    """Where the message's id is. Of messages with one id, and of those without any in one session,
    the last counts: tools log them again while they grow.
    """
    request: Path = ""
    """Where the id of the request is, which identifies a message that has none."""
    model: Path = "model"
    replaces: str | None = None
    """The shape of messages that this one adds up."""
    is_log: bool = False
    """Whether it stands in a log whose other messages tell nothing that counts."""
    by_model: bool = False
    """Whether there is a usage object for each model, by its name."""


CLAUDE_SESSION = "Claude Code session"
_RESULT = Shape(
    "Claude Code result",
    {"type": ("result",)},
    "usage",
    CLAUDE,
    id="session_id",
    replaces=CLAUDE_SESSION,
)
"""Sums of the session so far, with those of its subagents."""
SHAPES = (
    _RESULT._replace(usage="modelUsage", names=CLAUDE_MODEL, by_model=True),
    _RESULT,
    Shape(
        CLAUDE_SESSION,
        {"type": ("assistant",), "message.role": ("assistant",)},
        "message.usage",
        CLAUDE,
        id="message.id",
        request="requestId",
        model="message.model",
        is_log=True,
    ),
    Shape(
        "Claude API response",
        {"type": ("message",), "role": ("assistant",)},
        "usage",
        CLAUDE,
        id="id",
    ),
    Shape(
        "OpenAI chat completion",
        {"object": ("chat.completion", "chat.completion.chunk")},
        "usage",
        CHAT,
        id="id",
    ),
    Shape("OpenAI response", {"object": ("response",)}, "usage", RESPONSES, id="id"),
    Shape(
        "OpenAI response",
        {
            "type": ("response.completed", "response.incomplete"),
            "response.object": ("response",),
        },
        "response.usage",
        RESPONSES,
        id="response.id",
        model="response.model",
        is_log=True,
    ),
    # Both of Codex' are sums of the session so far.
    Shape(
        "Codex session",
        {"type": ("event_msg",), "payload.type": ("token_count",)},
        "payload.info.total_token_usage",
        CODEX,
        is_log=True,
    ),
    Shape("Codex exec", {"type": ("turn.completed",)}, "usage", CODEX, is_log=True),
)


def at(message: object, path: Path) -> object:
    """What stands at a path; None where nothing does."""
    for key in path.split(".") if path else ():
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
