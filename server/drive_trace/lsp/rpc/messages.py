"""The extension's own messages, and the conversion of JSON to the types of messages.

The conversion does not guess. cattrs reads ``"0"`` as 0, ``1.5`` as 1 and a string as a list of
letters, so that a client's mistake would get a response about some other place.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import MISSING, dataclass, field, fields
from functools import partial
from typing import Any, NamedTuple, Self, get_args

import cattrs
from cattrs.cols import is_sequence, list_structure_factory
from cattrs.gen import make_dict_structure_fn, override
from lsprotocol import types
from lsprotocol.converters import get_converter

from drive_trace.features.options import camel
from drive_trace.features.results import JsonText

RUNS = "driveTrace/runs"
RUN = "driveTrace/run"
RUN_AT = "driveTrace/runAt"
REPORT = "driveTrace/report"
TIMELINE = "driveTrace/timeline"
NEXT_EVENTS = "driveTrace/nextEvents"
COMPOSE_EVENT = "driveTrace/composeEvent"
EVENTS = "driveTrace/events"
EVENT = "driveTrace/event"
COMPARE = "driveTrace/compare"
CHANGED = "driveTrace/changed"


@dataclass(frozen=True, slots=True)
class RunsParams:
    """Requests every run of the workspace."""

    again: bool = False
    """Whether the folders are searched, and all traces looked at, before it is answered."""


@dataclass(frozen=True, slots=True)
class ReportParams:
    """Requests a report on a run, over all its files. Without a run, the report is
    on all traces of the workspace folder that the trace is in.
    """

    uri: str
    run_id: str | None = None
    format: str = "html"
    """``html`` is a whole page, ``body`` is for a page that the client has already."""


@dataclass(frozen=True, slots=True)
class RunParams:
    """Requests one run of a trace."""

    uri: str
    run_id: str


@dataclass(frozen=True, slots=True)
class NextEventsParams:
    """Requests the events that can be appended to a run; without a run, to the last one."""

    uri: str
    run_id: str | None = None


@dataclass(frozen=True, slots=True)
class ComposeEventParams:
    """Requests an event to append."""

    uri: str
    event: str
    run_id: str | None = None
    kind: str | None = None
    """The kind of the event, if it has several."""


@dataclass(frozen=True, slots=True)
class EventsParams:
    """Requests a page of the lines of an open trace, as rows."""

    uri: str
    first: int = 0
    """The record that the page begins with, from 0."""


@dataclass(frozen=True, slots=True)
class EventParams:
    """Requests what a line of an open trace says."""

    uri: str
    line: int
    """Of the protocol, from 0."""


@dataclass(frozen=True, slots=True)
class CompareParams:
    """Requests whether the candidate's runs are better than the baseline's, as their traces are on
    disk. Each side is traces and folders of the workspace, or some of the runs in these.
    """

    baseline: list[str]
    candidate: list[str]
    baseline_runs: list[str] | None = None
    candidate_runs: list[str] | None = None
    allowed: list[str] = field(default_factory=list)
    """What may be unknown, by its names."""


class DiagnosticReport(NamedTuple):
    """The diagnostics of one document, as pulled by a client."""

    uri: str
    result_id: str
    items: bytes | None
    """A list as JSON text; None if the client has it already."""

    @classmethod
    def of(cls, uri: str, items: bytes) -> Self:
        """A report whose id is a hash of its content: equal diagnostics have equal ids."""
        return cls(uri, hashlib.blake2b(items, digest_size=12).hexdigest(), items)

    def unless(self, previous: str | None) -> Self:
        """The report, without its items if the client has the same ones."""
        return self._replace(items=None) if previous == self.result_id else self

    def as_document_report(self) -> dict[str, Any]:
        """The response to ``textDocument/diagnostic``."""
        if self.items is None:
            return {"kind": "unchanged", "resultId": self.result_id}
        items = JsonText(self.items)
        return {"kind": "full", "resultId": self.result_id, "items": items}

    def as_workspace_report(self, version: int | None) -> dict[str, Any]:
        """An item of the response to ``workspace/diagnostic``."""
        return {"uri": self.uri, "version": version, **self.as_document_report()}


OWN_REQUESTS: dict[str, type] = {
    RUNS: RunsParams,
    RUN: RunParams,
    RUN_AT: types.TextDocumentPositionParams,
    REPORT: ReportParams,
    TIMELINE: RunParams,
    NEXT_EVENTS: NextEventsParams,
    COMPOSE_EVENT: ComposeEventParams,
    EVENTS: EventsParams,
    EVENT: EventParams,
    COMPARE: CompareParams,
}
"""The methods of the extension's own requests, with the types of their params."""

DECLARED = {"driveTrace": {"requests": list(OWN_REQUESTS), "notifications": [CHANGED]}}
"""The own messages, as ``experimental`` capabilities of the server declare them."""


def _register(converter: cattrs.Converter) -> None:
    """Let a converter read the params of own requests, which are camel case in JSON."""
    for params in OWN_REQUESTS.values():
        if params.__module__ == __name__:
            renamed: Any = {each.name: override(rename=camel(each.name)) for each in fields(params)}
            hook: Any = make_dict_structure_fn(params, converter, **renamed)
            converter.register_structure_hook(params, partial(_object, hook))


def expected_members(method: str) -> str:
    """The members of the params of an own request, for an error: ``: expected {uri, runId?}, all
    strings``; empty for params of the protocol.
    """
    params = OWN_REQUESTS.get(method)
    if params is None or params.__module__ != __name__:
        return ""
    names = [camel(each.name) + ("" if each.default is MISSING else "?") for each in fields(params)]
    are_strings = names and all(str(each.type).startswith("str") for each in fields(params))
    return f": expected {{{', '.join(names)}}}" + (", all strings" if are_strings else "")


def _object(hook: Callable[[object, type], object], value: object, kind: type) -> object:
    if not isinstance(value, dict):
        raise TypeError(f"not an object: {type(value).__name__}")
    return hook(value, kind)


def strict_converter() -> cattrs.Converter:
    """A converter that raises for a value of another type than the declared one."""
    converter = get_converter(cattrs.Converter(detailed_validation=False))
    converter.register_structure_hook(bool, _boolean)
    converter.register_structure_hook(float, _number)
    # cattrs uses these two for enumerations of numbers and strings as well.
    converter.register_structure_hook(int, _integer)
    converter.register_structure_hook(str, _string)
    converter.register_structure_hook_factory(is_sequence, _array)
    converter.register_structure_hook_func(_is_token, _token)
    _register(converter)
    return converter


def _is_token(declared: object) -> bool:
    return declared in (types.ProgressToken, types.ProgressToken | None)


def _token(value: object, declared: object) -> object:
    if isinstance(value, str) or (value is None and declared != types.ProgressToken):
        return value
    return _integer(value, int)


def _integer(value: object, declared: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"not an integer: {type(value).__name__}")
    number = int(value)
    if number != value:  # 1.0 is one: JSON makes no difference
        raise TypeError("not an integer")
    return number if declared is int else declared(number)


def _string(value: object, declared: Any) -> Any:
    if not isinstance(value, str):
        raise TypeError(f"not a string: {type(value).__name__}")
    return value if declared is str else declared(value)


def _number(value: object, _: object) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    raise TypeError(f"not a number: {type(value).__name__}")


def _boolean(value: object, _: object) -> bool:
    if isinstance(value, bool):
        return value
    raise TypeError(f"not a boolean: {type(value).__name__}")


def _array(declared: Any, converter: cattrs.Converter) -> Callable[[object, Any], Any]:
    each = list_structure_factory(declared, converter) if get_args(declared) else None

    def structure(value: object, kind: Any) -> Any:
        if not isinstance(value, list | tuple):
            raise TypeError(f"not an array: {type(value).__name__}")
        return each(value, kind) if each is not None else list(value)

    return structure
