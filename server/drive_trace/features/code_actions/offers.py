"""Code actions whose edits are made when somebody picks them: their titles, kinds and data."""

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
    """What the edit is made from. It comes back from the client, so it is untrusted."""
    disabled: str | None = None
    """Why it cannot be picked now, if it cannot."""


class CannotMake(NamedTuple):
    """Why a picked action is not carried out."""

    reason: str


def other_by_now(data: Mapping[str, Any], title: str) -> CannotMake | None:
    """A refusal if an offer would now do something else than its title says."""
    if data.get("title", title) == title:
        return None
    return CannotMake(f"This has changed meanwhile, and would now be “{title}”: ask again.")


def asks_for(only: object, kind: str) -> bool:
    """Whether a request includes a kind. A request that names no kinds includes all."""
    kinds = only if isinstance(only, list | tuple) else None
    return kinds is None or any(_covers(str(getattr(each, "value", each)), kind) for each in kinds)


def asks_for_all(only: object) -> bool:
    """Whether a request includes all kinds."""
    return asks_for(only, "")


def names(only: object, kind: str) -> bool:
    """Whether a request names a kind, or a group that it is in."""
    return asks_for(only, kind) and not asks_for_all(only)


def _covers(wanted: str, kind: str) -> bool:
    return wanted in ("", kind) or kind.startswith(f"{wanted}.")
