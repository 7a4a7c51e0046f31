"""A model's reply, read strictly: it is one JSON object of the shape that was asked for, or it is
no answer. What is no answer never becomes a verdict.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from typing import Any, NamedTuple, NoReturn

from drive_trace.text.wording import listed, shown, writable

LARGEST = 100_000
"""Characters. A longer reply is not read."""
MOST_REASONS = 20
LONGEST_REASON = 2_000
"""Characters."""

_FENCED = re.compile(r"```(?:json)?[ \t]*\r?\n(.*)\n```", re.DOTALL | re.IGNORECASE)


class ModelAnswer(NamedTuple):
    """What a model answered."""

    values: tuple[str, ...]
    """Of those that were allowed, each once: one, unless it may name several, or none."""
    reasons: tuple[str, ...]
    """At least one, none of them blank. Untrusted."""


class NoAnswer(NamedTuple):
    """A reply that does not count."""

    reason: str
    """Why, in one clause without a full stop."""
    is_final: bool = False
    """Whether it is what was asked for all the same, so that nothing is to be asked again."""


class _RefusedError(Exception):
    """The reply is JSON of another shape."""


def read_answer(
    reply: str, key: str, allowed: Collection[str], *, many: bool = False
) -> ModelAnswer | NoAnswer:
    """Read ``{"reasons": ["…"], key: value}``, bare or in one Markdown fence and nothing else;
    ``many`` with an array of values, which are all different.

    The reasons come first: a model that names its verdict first finds reasons for it afterwards.
    """
    try:
        reasons, said = _read(reply, key)
        if many:
            return ModelAnswer(_all_allowed(said, key, allowed), reasons)
        return ModelAnswer((_allowed(said, said, key, allowed),), reasons)
    except _RefusedError as refused:
        return NoAnswer(str(refused))


def _read(reply: str, key: str) -> tuple[tuple[str, ...], Any]:
    """The reasons, and what stands behind the key."""
    text = reply.strip(" \t\r\n")  # what JSON takes for white space, and no more
    if not text:
        raise _RefusedError("the reply is empty")
    if len(text) > LARGEST:
        raise _RefusedError(f"the reply has more than {LARGEST:,} characters")
    fenced = _FENCED.fullmatch(text)
    if fenced is not None:
        text = fenced[1]
    try:
        value = json.loads(text, object_pairs_hook=_members, parse_constant=_no)
    except (ValueError, RecursionError) as error:
        raise _RefusedError("the reply is not one JSON object and nothing else") from error
    if not isinstance(value, dict):
        raise _RefusedError("the reply is JSON, but no object")
    if list(value) != ["reasons", key]:
        raise _RefusedError(f'the object has to have "reasons" and then "{key}", and nothing else')
    reasons, said = value.values()
    if not isinstance(reasons, list) or not reasons:
        raise _RefusedError('"reasons" is no array with at least one reason')
    if len(reasons) > MOST_REASONS:
        raise _RefusedError(f'"reasons" has more than {MOST_REASONS} reasons')
    if not all(isinstance(each, str) and _says_something(each) for each in reasons):
        raise _RefusedError("a reason is empty or no string")
    if any(len(each) > LONGEST_REASON for each in reasons):
        raise _RefusedError(f"a reason has more than {LONGEST_REASON:,} characters")
    return tuple(writable(each) for each in reasons), said


def _allowed(value: Any, said: Any, key: str, allowed: Collection[str]) -> str:
    if not isinstance(value, str) or value not in allowed:
        choice = listed((f'"{each}"' for each in allowed), "or")
        raise _RefusedError(f'"{key}" is {shown(said)}, and has to be {choice}')
    return value


def _all_allowed(said: Any, key: str, allowed: Collection[str]) -> tuple[str, ...]:
    if not isinstance(said, list):
        raise _RefusedError(f'"{key}" is {shown(said)}, and has to be an array')
    values = [_allowed(each, said, key, allowed) for each in said]
    if len(set(values)) < len(values):
        raise _RefusedError(f'"{key}" has a value twice')
    return tuple(values)


def _says_something(text: str) -> bool:
    return any(each.isprintable() and not each.isspace() for each in text)


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise _RefusedError("a key stands twice in one object of the reply")
    return members


def _no(constant: str) -> NoReturn:
    raise _RefusedError(f"{constant} is not JSON")
