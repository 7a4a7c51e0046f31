"""The extension's own messages, and the conversion of JSON to the types of messages.

The conversion does not guess. cattrs reads ``"0"`` as 0, ``1.5`` as 1 and a string as a list of
letters, so that a client's mistake would get a response about some other place.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, Self, get_args

import cattrs
import msgspec
from cattrs.cols import is_sequence, list_structure_factory
from lsprotocol import types
from lsprotocol.converters import get_converter

from drive_trace.features.results import JsonText

CHANGED = "driveTrace/changed"
"""The notification that what was shown may be out of date."""
CONTENT_SCHEME = "drive-trace"
"""Of the page of a run as a document, ``drive-trace:/NAME.md?[URI, ID]``."""


class RunsParams(msgspec.Struct, frozen=True, rename="camel"):
    """Requests every run of the workspace."""

    again: bool = False
    """Whether the folders are searched, all traces looked at, and from now on their findings
    counted, before it is answered.
    """


class ReportParams(msgspec.Struct, frozen=True, rename="camel"):
    """Requests a report on a run, over all its files. Without a run it is the page of all runs of
    the workspace folder that the trace is in; the files of its body are those of the runs.
    """

    uri: str
    run_id: str | None = None
    format: str = "html"
    """``html`` is a whole page, ``body`` is for a page that the client has already; ``otlp`` and
    ``perfetto`` are files for other viewers, of one run.
    """


class RunParams(msgspec.Struct, frozen=True, rename="camel"):
    """Requests one run of a trace."""

    uri: str
    run_id: str


class NextEventsParams(msgspec.Struct, frozen=True, rename="camel"):
    """Requests the events that can be appended to a run; without a run, to the last one."""

    uri: str
    run_id: str | None = None


class ComposeEventParams(msgspec.Struct, frozen=True, rename="camel"):
    """Requests an event to append."""

    uri: str
    event: str
    run_id: str | None = None
    kind: str | None = None
    """The kind of the event, if it has several."""


class EventsParams(msgspec.Struct, frozen=True, rename="camel"):
    """Requests a page of the lines of an open trace, as rows."""

    uri: str
    first: int = 0
    """The record that the page begins with, from 0."""


class EventParams(msgspec.Struct, frozen=True, rename="camel"):
    """Requests what a line of an open trace says."""

    uri: str
    line: int
    """Of the protocol, from 0."""


class CompareParams(msgspec.Struct, frozen=True, rename="camel"):
    """Requests whether the candidate's runs are better than the baseline's, as their traces are on
    disk. Each side is traces and folders of the workspace, or some of the runs in these.
    """

    baseline: list[str]
    candidate: list[str]
    baseline_runs: list[str] | None = None
    candidate_runs: list[str] | None = None
    allowed: list[str] = []
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


_ACCEPTED: dict[type, tuple[type, ...]] = {
    bool: (bool,),
    float: (float, int),
    int: (int, float),
    str: (str,),
}
"""By the declared type those of the values that mean one."""


def strict_converter() -> cattrs.Converter:
    """A converter that raises for a value of another type than the declared one."""
    converter = get_converter(cattrs.Converter(detailed_validation=False))
    # cattrs uses those of int and str for enumerations of numbers and strings as well.
    for kind, accepted in _ACCEPTED.items():
        converter.register_structure_hook(kind, partial(_scalar, accepted))
    converter.register_structure_hook_factory(is_sequence, _array)
    tokens = types.ProgressToken, types.ProgressToken | None
    converter.register_structure_hook_func(lambda declared: declared in tokens, _token)
    return converter


def _token(value: object, declared: object) -> object:
    if isinstance(value, str) or (value is None and declared != types.ProgressToken):
        return value
    return _scalar(_ACCEPTED[int], value, int)


def _scalar(accepted: tuple[type, ...], value: object, declared: Any) -> Any:
    is_other = isinstance(value, bool) and declared is not bool  # Python counts it among integers
    if is_other or not isinstance(value, accepted):
        raise TypeError(f"not of the declared type: {type(value).__name__}")
    if isinstance(value, float) and declared is not float:
        if not value.is_integer():  # 1.0 is one: JSON makes no difference
            raise TypeError("not an integer")
        value = int(value)
    return value if isinstance(value, declared) else declared(value)


def _array(declared: Any, converter: cattrs.Converter) -> Callable[[object, Any], Any]:
    each = list_structure_factory(declared, converter) if get_args(declared) else None

    def structure(value: object, kind: Any) -> Any:
        if not isinstance(value, list | tuple):
            raise TypeError(f"not an array: {type(value).__name__}")
        return each(value, kind) if each is not None else list(value)

    return structure
