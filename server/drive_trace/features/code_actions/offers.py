"""Code actions whose edits are made when one is picked: what they are called, and what is to be
remembered of each until then.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from lsprotocol import types

FIX_ALL_KIND = "source.fixAll.driveTrace"
FORMAT_KIND = "source.format.driveTrace"
RECORD_KIND = "refactor.driveTrace.record"
CLOSE_KIND = "refactor.driveTrace.close"
FILL_KIND = "refactor.driveTrace.fill"
KINDS = (
    types.CodeActionKind.QuickFix.value,
    FIX_ALL_KIND,
    FORMAT_KIND,
    RECORD_KIND,
    CLOSE_KIND,
    FILL_KIND,
)
"""Every kind that is offered."""


class Offer(NamedTuple):
    """A code action without its edit."""

    title: str
    kind: str
    data: dict[str, Any]
    """What the edit is made from: comes back from the client, which may have changed it."""
    disabled: str | None = None
    """Why it cannot be picked now."""


class CannotMake(NamedTuple):
    """Why a picked action is not carried out."""

    reason: str


def other_by_now(data: Mapping[str, Any], title: str) -> CannotMake | None:
    """Refuses an offer that does something else by now than it was called after."""
    if data.get("title", title) == title:
        return None
    return CannotMake(f"This has changed meanwhile, and would now be “{title}”: ask again.")


def asks_for(only: object, kind: str) -> bool:
    """Whether a request for some kinds is one for this kind; none given are all."""
    kinds = only if isinstance(only, list | tuple) else None
    return kinds is None or any(_covers(str(getattr(each, "value", each)), kind) for each in kinds)


def asks_for_all(only: object) -> bool:
    """Whether a request is for whatever there is."""
    return asks_for(only, "")


def names(only: object, kind: str) -> bool:
    """Whether a request names this kind, or for a group that it is in."""
    return asks_for(only, kind) and not asks_for_all(only)


def _covers(wanted: str, kind: str) -> bool:
    return wanted in ("", kind) or kind.startswith(f"{wanted}.")
