"""The formats in which agents' tools log token usage, and how each is recognised: by its shape.

The figures have the meaning of the vocabulary: input tokens are those that were not read from a
cache. OpenAI's tools and ATIF count these within the input, and they are taken out of it.

A trajectory in ATIF, the format of Harbor, is a document with steps, the sums of their metrics, and
the trajectories of subagents. It is left open whether the sums are of these, too, so they are held
against the steps.
"""

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

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
_READ_WRITTEN = ("input_tokens", "output_tokens")
_CLAUDE: Names = (*_READ_WRITTEN, "cache_read_input_tokens", "cache_creation_input_tokens")
_CLAUDE_MODEL: Names = (*SDK[:2], "cacheReadInputTokens", "cacheCreationInputTokens")
_CHAT: Names = ("prompt_tokens", "completion_tokens", "prompt_tokens_details.cached_tokens")
_RESPONSES: Names = (*_READ_WRITTEN, "input_tokens_details.cached_tokens")
_CODEX: Names = (*_READ_WRITTEN, "cached_input_tokens")
Figures: TypeAlias = Mapping[str, int | None]
"""By the vocabulary's names; None is not known."""


class UsageLogError(Exception):
    """The usage cannot be summed up; ``args`` are the reasons, a sentence each."""


class Shape(NamedTuple):
    """A message that tells usage."""

    name: str
    """As a person calls what it stands in."""
    marks: Mapping[Path, str]
    """What it has where, as a regular expression."""
    usage: Path
    """Where its usage object is; empty where that is the message itself."""
    names: Names
    ids: Names = ()
    """Where the message's id is, else the next one; of the SDK's each identifies it. Of messages
    with one id, and of those without a place for any in one session, the last counts: tools log
    them again while they grow.
    """
    model: Path = "model"
    replaces: str | None = None
    """The shape of messages that this one adds up."""
    is_log: bool = False
    """Whether it stands in a log whose other messages tell nothing that counts."""
    by_model: bool = False
    """Whether there is a usage object for each model, by its name."""
    cost: Path | None = None
    """Where the provider's own cost is, in US dollars: of a model, in its usage object."""


DISPATCHERS = ("Task", "Agent")
"""Tools of Claude Code that start a subagent."""
CLAUDE_SESSION = "Claude Code session"
CODEX_SESSION = "Codex session"
_CODEX_EXEC = "Codex exec"
_ID = ("id",)
_METRICS: Names = ("total_prompt_tokens", "total_completion_tokens", "total_cached_tokens")
_COST = "total_cost_usd"
TRAJECTORY = Shape(
    *("ATIF trajectory", {"schema_version": r"ATIF-v1\..*"}, "final_metrics", _METRICS),
    *(("trajectory_id", "session_id"), "agent.model_name"),
    cost=f"final_metrics.{_COST}",
)
_RESULT = Shape(
    *("Claude Code result", {"type": "result"}, "usage", _CLAUDE, ("session_id",)),
    replaces=CLAUDE_SESSION,
    cost="total_cost_usd",
)
"""What it has are sums of the session so far, with those of its subagents."""
_RESPONSE = Shape("OpenAI response", {"object": "response"}, "usage", _RESPONSES, _ID)
_CODEX_TURN = Shape(_CODEX_EXEC, {"type": r"turn\.completed"}, "usage", _CODEX, is_log=True)
"""Both of Codex' are sums of the session so far."""
SHAPES = (
    TRAJECTORY,
    _RESULT._replace(usage="modelUsage", names=_CLAUDE_MODEL, by_model=True, cost="costUSD"),
    _RESULT,
    Shape(
        CLAUDE_SESSION,
        {"type": "assistant", "message.role": "assistant"},
        *("message.usage", _CLAUDE, ("message.id", "requestId"), "message.model"),
        is_log=True,
        cost="costUSD",
    ),
    Shape("Claude API response", {"type": "message", "role": "assistant"}, "usage", _CLAUDE, _ID),
    Shape(
        "OpenAI chat completion",
        {"object": r"chat\.completion(\.chunk)?"},
        *("usage", _CHAT, _ID),
        cost="usage.cost",
    ),
    _RESPONSE,
    _RESPONSE._replace(
        marks={"type": r"response\.(completed|incomplete)", "response.object": "response"},
        usage="response.usage",
        ids=("response.id",),
        model="response.model",
        is_log=True,
    ),
    _CODEX_TURN,
    _CODEX_TURN._replace(
        name=CODEX_SESSION,
        marks={"type": "event_msg", "payload.type": "token_count"},
        usage="payload.info.total_token_usage",
        replaces=_CODEX_EXEC,
    ),
)
_IDS = ("messageId", "message_id", "id", "uuid", "turnId", "turn_id")
SDK_SHAPE = Shape("usage of an SDK", {}, "usage", SDK, _IDS)
"""What has no other shape, wherever its usage object is."""


def at(message: object, path: Path) -> object:
    """What stands at a path; None where nothing does."""
    for key in path.split(".") if path else ():
        message = message.get(key) if isinstance(message, dict) else None
    return message


def every(value: object, path: Path) -> list[Any]:
    """All that stands at a path, in whichever lists, but for what is null or empty."""
    found: list[Any] = [value]
    for key in path.split("."):
        inner = [each[key] for each in found if isinstance(each, dict) and key in each]
        if not inner:
            return inner
        found = [one for each in inner for one in (each if isinstance(each, list) else [each])]
    return [each for each in found if each]


def has_shape(message: object, shape: Shape) -> bool:
    """Whether a message is one of a shape, and tells usage, as a trajectory has to."""
    for path, mark in shape.marks.items():
        text = at(message, path)
        if not isinstance(text, str) or not re.fullmatch(mark, text):
            return False
    usage = at(message, shape.usage)
    if shape.by_model:
        return isinstance(usage, Mapping) and bool(usage)
    return shape is TRAJECTORY or any(at(usage, path) is not None for path in shape.names)


def parts_of(value: Any) -> Iterator[object]:
    """What adds up to what a value has cost: itself, or of a trajectory this and those that it
    holds, each with its own sums only. Raises UsageLogError where these cannot be told.
    """
    if not has_shape(value, TRAJECTORY):
        yield value
        return
    sums, steps = at(value, TRAJECTORY.usage), _summed(every(value, "steps.metrics"), "total_")
    # They may share the session's id, which then identifies none of them.
    own = {"schema_version": value["schema_version"], "session_id": None}
    embedded = [each for each in every(value, "subagent_trajectories") if isinstance(each, Mapping)]
    inner: list[Any] = [part for each in embedded for part in parts_of({**each, **own})]
    told = sums if isinstance(sums, Mapping) and not sums.keys().isdisjoint(_METRICS) else steps
    if inner and _compared(told) != _compared(steps):
        if _compared(told) != _compared(_summed([steps, *(at(p, "final_metrics") for p in inner)])):
            raise UsageLogError(
                "`final_metrics` adds up neither the steps nor these with the subagents' "
                "trajectories: what counts cannot be told; mend them"
            )
        inner = []
    yield {**value, TRAJECTORY.usage: told}
    yield from inner


def _summed(metrics: Sequence[object], prefix: str = "") -> Mapping[str, Any]:
    """The sums of those figures that all metrics have. Steps call them without a prefix."""
    told = [each for each in metrics if isinstance(each, Mapping) and each]
    names = (*_METRICS, _COST)
    columns = {name: [each.get(name.removeprefix(prefix)) for each in told] for name in names}
    return {
        name: sum(counts)
        for name, counts in columns.items()
        if counts and all(type(each) in (int, float) for each in counts)
    }


def _compared(sums: Mapping[str, Any]) -> Sequence[object]:
    return [sums.get(name) for name in _METRICS[:2]]


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
    return float(cost) if is_one and 0 <= cost <= sys.float_info.max else None  # type: ignore[arg-type, operator]
