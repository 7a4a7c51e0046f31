"""The formats in which agents' tools log token usage, and how each is recognised: by its shape.

The figures have the meaning of the vocabulary: input tokens are those that were not read from a
cache. OpenAI's tools and ATIF count these within the input, and they are taken out of it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple, TypeAlias

from drive_trace.text.wording import shown
from drive_trace.trace.exact import whole_number
from drive_trace.vocabulary import COST, EVENTS, TOKEN_FIELDS

_INPUT, _, _CACHE_READ, _ = TOKEN_FIELDS
Path: TypeAlias = str
"""Keys from a message down to a value, with dots in between: ``message.usage``."""
Names: TypeAlias = tuple[Path, ...]
"""Where a usage object has its figures, in the order of the vocabulary. Where there are three, what
was written to a cache is never known, and the input counts what was read from it, too.
"""
SDK: Names = ("inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens")
"""The agents' SDK, after which the vocabulary is made."""
_CLAUDE: Names = (
    "input_tokens",
    "output_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
)
_CLAUDE_MODEL: Names = (
    "inputTokens",
    "outputTokens",
    "cacheReadInputTokens",
    "cacheCreationInputTokens",
)
_CHAT: Names = ("prompt_tokens", "completion_tokens", "prompt_tokens_details.cached_tokens")
_RESPONSES: Names = ("input_tokens", "output_tokens", "input_tokens_details.cached_tokens")
_CODEX: Names = ("input_tokens", "output_tokens", "cached_input_tokens")
Figures: TypeAlias = Mapping[str, int | None]
"""By the vocabulary's names; None is not known."""


class Shape(NamedTuple):
    """A message that tells usage."""

    name: str
    """As a person calls what it stands in."""
    marks: Mapping[Path, str]
    """What it has where: one of some texts, with ``|`` in between."""
    usage: Path
    """Where its usage object is; empty where that is the message itself."""
    names: Names
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
    cost: Path | None = None
    """Where the provider's own cost is, in US dollars: of a model, in its usage object."""


CLAUDE_SESSION = "Claude Code session"
CODEX_SESSION = "Codex session"
_CODEX_EXEC = "Codex exec"
_IN_RESULT = {"type": "result"}
"""What it has are sums of the session so far, with those of its subagents."""
SHAPES = (
    Shape(
        *("Claude Code result", _IN_RESULT, "modelUsage", _CLAUDE_MODEL, "session_id"),
        replaces=CLAUDE_SESSION,
        by_model=True,
        cost="costUSD",
    ),
    Shape(
        *("Claude Code result", _IN_RESULT, "usage", _CLAUDE, "session_id"),
        replaces=CLAUDE_SESSION,
        cost="total_cost_usd",
    ),
    Shape(
        CLAUDE_SESSION,
        {"type": "assistant", "message.role": "assistant"},
        *("message.usage", _CLAUDE, "message.id", "requestId", "message.model"),
        is_log=True,
        cost="costUSD",
    ),
    Shape("Claude API response", {"type": "message", "role": "assistant"}, "usage", _CLAUDE, "id"),
    Shape(
        "OpenAI chat completion",
        {"object": "chat.completion|chat.completion.chunk"},
        *("usage", _CHAT, "id"),
        cost="usage.cost",
    ),
    Shape("OpenAI response", {"object": "response"}, "usage", _RESPONSES, "id"),
    Shape(
        "OpenAI response",
        {"type": "response.completed|response.incomplete", "response.object": "response"},
        *("response.usage", _RESPONSES, "response.id"),
        model="response.model",
        is_log=True,
    ),
    # Both of Codex' are sums of the session so far.
    Shape(
        CODEX_SESSION,
        {"type": "event_msg", "payload.type": "token_count"},
        *("payload.info.total_token_usage", _CODEX),
        replaces=_CODEX_EXEC,
        is_log=True,
    ),
    Shape(_CODEX_EXEC, {"type": "turn.completed"}, "usage", _CODEX, is_log=True),
)
SDK_SHAPE = Shape("usage of an SDK", {}, "", SDK)
METRICS = ("total_prompt_tokens", "total_completion_tokens", "total_cached_tokens")
TRAJECTORY = Shape(
    *("ATIF trajectory", {}, "final_metrics", METRICS, "trajectory_id", "session_id"),
    model="agent.model_name",
    cost="final_metrics.total_cost_usd",
)
"""Of Harbor's format, see :mod:`trajectories`."""


def at(message: object, path: Path) -> object:
    """What stands at a path; None where nothing does."""
    for key in path.split(".") if path else ():
        message = message.get(key) if isinstance(message, Mapping) else None
    return message


def has_shape(message: object, shape: Shape) -> bool:
    """Whether a message is one of a shape, and tells usage."""
    if any(at(message, path) not in texts.split("|") for path, texts in shape.marks.items()):
        return False
    usage = at(message, shape.usage)
    if shape.by_model:
        return isinstance(usage, Mapping) and bool(usage)
    return any(at(usage, path) is not None for path in shape.names)


def figures_of(name: str, usage: object, names: Names) -> Figures | list[str]:
    """The figures of a usage object, or what is wrong with some."""
    figures: dict[str, int | None] = dict.fromkeys(TOKEN_FIELDS)
    wrong = []
    for known, path in zip(TOKEN_FIELDS, names, strict=False):
        found = at(usage, path)
        figures[known] = count = whole_number(found)
        if found is not None and (count is None or count < 0):
            expected = EVENTS[COST].fields[known].describe()
            wrong.append(f"`{path}` of {name} must be {expected}; found {shown(found)}")
    read, cached = figures[_INPUT], figures[_CACHE_READ]
    if len(names) < len(TOKEN_FIELDS) and not wrong and read is not None and cached is not None:
        if cached > read:
            wrong.append(f"{name} has {read:,} input tokens, of which {cached:,} were cached")
        figures[_INPUT] = read - cached
    return wrong or figures


def cost_of(message: object, usage: object, shape: Shape) -> float | None:
    """What a provider says that a message cost, in US dollars."""
    cost = at(usage if shape.by_model else message, shape.cost) if shape.cost else None
    is_one = isinstance(cost, int | float) and not isinstance(cost, bool)
    return float(cost) if is_one and 0 <= cost < math.inf else None  # type: ignore[arg-type, operator]
