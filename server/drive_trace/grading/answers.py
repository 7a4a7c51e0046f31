"""A model's reply, read strictly: it is one JSON object of the shape that was asked for, or it is
no answer. What is no answer never becomes a verdict.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from typing import Any, NamedTuple, NoReturn

from drive_trace.text.wording import listed, shown

LARGEST = 100_000
"""Characters. A longer reply is not read."""

_FENCED = re.compile(r"```(?:json)?[ \t]*\r?\n(.*)\n```", re.DOTALL | re.IGNORECASE)


class Answer(NamedTuple):
    """What a model answered."""

    value: str
    """One of the values that were allowed."""
    reasons: tuple[str, ...]
    """At least one, none of them blank. Untrusted."""


class NoAnswer(NamedTuple):
    """A reply that does not count."""

    reason: str
    """Why, in one clause without a full stop."""


class _RefusedError(Exception):
    """The reply is JSON of another shape."""


def read_answer(reply: str, key: str, allowed: Collection[str]) -> Answer | NoAnswer:
    """Read ``{"reasons": ["…"], key: value}``, bare or in one Markdown fence and nothing else.

    The reasons come first: a model that names its verdict first finds reasons for it afterwards.
    """
    text = reply.strip()
    if not text:
        return NoAnswer("the reply is empty")
    if len(text) > LARGEST:
        return NoAnswer(f"the reply has more than {LARGEST:,} characters")
    fenced = _FENCED.fullmatch(text)
    if fenced is not None:
        text = fenced[1]
    try:
        value = json.loads(text, object_pairs_hook=_members, parse_constant=_no)
        return _answer(value, key, allowed)
    except _RefusedError as refused:
        return NoAnswer(str(refused))
    except (ValueError, RecursionError):
        return NoAnswer("the reply is not one JSON object and nothing else")


def _answer(value: Any, key: str, allowed: Collection[str]) -> Answer:
    if not isinstance(value, dict):
        raise _RefusedError("the reply is JSON, but no object")
    if list(value) != ["reasons", key]:
        raise _RefusedError(f'the object has to have "reasons" and then "{key}", and nothing else')
    reasons, verdict = value.values()
    if not isinstance(reasons, list) or not reasons:
        raise _RefusedError('"reasons" is no array with at least one reason')
    if not all(isinstance(each, str) and _says_something(each) for each in reasons):
        raise _RefusedError("a reason is empty or no string")
    if not isinstance(verdict, str) or verdict not in allowed:
        choice = listed((f'"{each}"' for each in allowed), "or")
        raise _RefusedError(f'"{key}" is {shown(verdict)}, and has to be {choice}')
    reasons = [each.encode("utf-8", "replace").decode() for each in reasons]
    return Answer(verdict, tuple(reasons))


def _says_something(text: str) -> bool:
    return any(each.isprintable() and not each.isspace() for each in text)


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise _RefusedError("a key stands twice in one object of the reply")
    return members


def _no(constant: str) -> NoReturn:
    raise _RefusedError(f"{constant} is not JSON")
