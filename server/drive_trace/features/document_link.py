"""``textDocument/documentLink``: specs, plans and other files of the workspace, tickets and pull
requests. A path without a file is no link; the caller looks for the files.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, cast
from urllib.parse import quote

from drive_trace.analysis import Analysis
from drive_trace.features.options import LinkOptions
from drive_trace.features.positions import plain_range
from drive_trace.features.raw_json import JsonText, dumps
from drive_trace.json_text.lexemes import strings_named
from drive_trace.stopping import unless_stopped
from drive_trace.text.escaping import plain
from drive_trace.text.spans import PositionEncoding, Span
from drive_trace.trace.line import FlaggedLine, Line
from drive_trace.trace.places import inside, pair_at
from drive_trace.vocabulary import EVENTS, Entity, FieldType, Reference


class Link(NamedTuple):
    """A string that is a link, if the file that it names exists."""

    line: Line
    span: Span
    value: str
    target: str | None
    """A web address; None if ``value`` is the path of a file."""
    tooltip: str


def find_links(analysis: Analysis, options: LinkOptions, folders: Sequence[str]) -> list[Link]:
    """The links of a trace, in order. A path is a link if it can be in one of the workspace's
    folders, which are absolute paths.
    """
    links = (_link(each, options, folders) for each in unless_stopped(_strings(analysis)))
    found = [link for link in links if link is not None]
    return sorted(found, key=lambda each: (each.line.order, each.span))


def paths_in(links: Iterable[Link]) -> list[str]:
    """The paths among links, each once."""
    return list(dict.fromkeys(link.value for link in links if link.target is None))


def document_links(
    analysis: Analysis,
    links: Sequence[Link],
    files: Mapping[str, str],
    encoding: PositionEncoding,
    *,
    with_tooltips: bool = False,
) -> JsonText:
    """The protocol's links to web addresses and to files. ``files`` are the existing ones: URIs by
    the paths in the trace.
    """
    number = analysis.document.number
    answer = []
    for link in unless_stopped(links):
        target = link.target or files.get(link.value)
        if target is None:
            continue
        where = plain_range(analysis, number(link.line), link.span, encoding)
        shown: dict[str, object] = {"range": where, "target": target}
        if with_tooltips:
            shown["tooltip"] = link.tooltip
        answer.append(shown)
    return JsonText(dumps(answer))


_String = tuple[Line, FieldType, str, Span]
"""A string that may be a link: its line, its field, its value, and its span between the quotes."""


def _strings(analysis: Analysis) -> Iterator[_String]:
    for run in analysis.index.runs.values():
        for name, fields in _LINKING.items():
            for line in run.by_event.get(name, ()):
                for field in fields:
                    pair = pair_at(line.text, (field.name,))
                    span = pair.value if pair is not None else None
                    if span is not None and line.text.startswith('"', span.start):
                        value = json.loads(line.text[span.start : span.end])
                        yield line, field, value, inside(span)
    for lines in analysis.index.rejected.values():
        for line in lines:
            for field in _LINKING.get(cast("FlaggedLine", line).event_name or "", ()):
                for value, span in strings_named(line.text, field.name):
                    yield line, field, value, inside(span)


def _link(string: _String, options: LinkOptions, folders: Sequence[str]) -> Link | None:
    line, field, value, span = string
    if _WEB_ADDRESS.fullmatch(value):
        return Link(line, span, value, value, f"Open {plain(value)}")
    if field.names is Entity.PATH:
        if not any(_may_be_in(folder, value) for folder in folders):
            return None
        return Link(line, span, value, None, "Open the file")
    is_ticket = field.refers_to is Reference.TICKET
    template = options.ticket_url if is_ticket else options.pull_request_url
    reference = value.strip().lstrip("#!")
    if not template or not any(map(str.isalnum, reference)):
        return None
    address = template.replace("{ref}", quote(reference, safe="", errors="replace"))
    return Link(line, span, value, address, f"Open {field.refers_to} {plain(reference)}")


def _may_be_in(folder: str, path: str) -> bool:
    """Whether a path, by its text alone, leads nowhere out of a folder."""
    steps = re.split(r"[/\\]", path)
    if not path.strip() or "\0" in path or ".." in steps:
        return False
    if path.startswith(("/", "\\")) or path[1:2] == ":":
        return path.startswith((f"{folder}/", f"{folder}\\"))
    return "://" not in path


_WEB_ADDRESS = re.compile(r"https://[A-Za-z0-9.-]+(?::[0-9]{1,5})?(?:/[!#-;=?-\[\]_a-z~]*)?")
"""Without a user's name or password before the host, which can mislead about the host."""
_LINKING = {
    name: fields
    for name, event in EVENTS.items()
    if (
        fields := tuple(
            field
            for field in event.fields.values()
            if field.names is Entity.PATH or field.refers_to is not None
        )
    )
}
"""The fields of each event that can be links."""
