"""Requests and a notification of our own, for editors that show runs in views of theirs.

They are declared to clients under ``capabilities.experimental.driveTrace``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields
from functools import partial
from typing import Any

import cattrs
from cattrs.gen import make_dict_structure_fn, override
from lsprotocol import types

RUNS = "driveTrace/runs"
RUN = "driveTrace/run"
RUN_AT = "driveTrace/runAt"
REPORT = "driveTrace/report"
TIMELINE = "driveTrace/timeline"
NEXT_EVENTS = "driveTrace/nextEvents"
COMPOSE_EVENT = "driveTrace/composeEvent"
CHANGED = "driveTrace/changed"


@dataclass(frozen=True, slots=True)
class RunsParams:
    """Asks for every run of the workspace."""


@dataclass(frozen=True, slots=True)
class ReportParams:
    """Asks for a report on a run of a trace, over all files of the run; where no run is named, on
    all traces of the workspace folder that the trace is in.
    """

    uri: str
    run_id: str | None = None
    format: str = "html"
    """``html``, a page of its own, or ``body``, for a page that the client has already."""


@dataclass(frozen=True, slots=True)
class RunParams:
    """Asks about one run of a trace."""

    uri: str
    run_id: str


@dataclass(frozen=True, slots=True)
class NextEventsParams:
    """Asks which events can be appended to a trace, to its last run where none is named."""

    uri: str
    run_id: str | None = None


@dataclass(frozen=True, slots=True)
class ComposeEventParams:
    """Asks for an event to be appended."""

    uri: str
    event: str
    run_id: str | None = None
    kind: str | None = None
    """Which of its kinds, of an event that comes in several."""


OWN_REQUESTS: dict[str, type] = {
    RUNS: RunsParams,
    RUN: RunParams,
    RUN_AT: types.TextDocumentPositionParams,
    REPORT: ReportParams,
    TIMELINE: RunParams,
    NEXT_EVENTS: NextEventsParams,
    COMPOSE_EVENT: ComposeEventParams,
}
"""The types of their params, by method."""

DECLARED = {"driveTrace": {"requests": list(OWN_REQUESTS), "notifications": [CHANGED]}}
"""What clients are told of them."""


@dataclass(frozen=True, slots=True)
class OwnRequest:
    """A request of ours, read."""

    params: Any


def register(converter: cattrs.Converter) -> None:
    """Have a converter read the params as they are written in JSON."""
    for params in OWN_REQUESTS.values():
        if params.__module__ == __name__:
            renamed: Any = {
                each.name: override(rename=_camel(each.name)) for each in fields(params)
            }
            hook: Any = make_dict_structure_fn(params, converter, **renamed)
            converter.register_structure_hook(params, partial(_object, hook))


def members_of(method: str) -> str | None:
    """The members that the params of a request of ours have: ``{uri, runId?}, all strings``; None
    for params of the protocol's.
    """
    params = OWN_REQUESTS.get(method)
    if params is None or params.__module__ != __name__:
        return None
    names = [
        _camel(each.name) + ("" if each.default is MISSING else "?") for each in fields(params)
    ]
    return f"{{{', '.join(names)}}}" + (", all strings" if names else "")


def _object(hook: Callable[[object, type], object], value: object, kind: type) -> object:
    if not isinstance(value, dict):
        raise TypeError(f"not an object: {type(value).__name__}")
    return hook(value, kind)


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(each.capitalize() for each in rest)
