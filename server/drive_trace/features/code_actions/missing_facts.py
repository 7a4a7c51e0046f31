"""``textDocument/codeAction`` and ``codeAction/resolve``: what a line leaves out and its run tells,
as ids, the time, or how long something took. What only a person can know is left to the person.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lsprotocol import types

from drive_trace.analysis import Analysis
from drive_trace.authoring import Certainty, compose
from drive_trace.authoring.drafts import Stamp
from drive_trace.features.code_actions.offers import CannotMake, Offer, asks_for, other_by_now
from drive_trace.features.code_actions.record_edits import Replacement
from drive_trace.linter.edits import as_json, insert_fields, replace_value, values_of
from drive_trace.trace.document import Point
from drive_trace.trace.line import FlaggedLine, Line
from drive_trace.trace.structure import scope_at
from drive_trace.vocabulary import EVENTS, EventType

KNOWN = "known"
_KIND = types.CodeActionKind.QuickFix.value
_MOST_NAMED = 3


def known_offers(analysis: Analysis, at: Point, only: object) -> list[Offer]:
    """One where a line lacks something that is known."""
    if not asks_for(only, _KIND):
        return []
    names = list(_known(analysis, at.record, None))
    if not names:
        return []
    return [Offer(_called(names), _KIND, {"make": KNOWN, "record": at.record})]


def filled_in(
    analysis: Analysis, data: Mapping[str, Any], stamp: Stamp
) -> list[Replacement] | CannotMake:
    """What changes on the line of an offer. Raises KeyError or TypeError for other data."""
    record, lines = data["record"], analysis.document.lines
    if not isinstance(record, int):
        raise TypeError("a line has a number")
    known = _known(analysis, record, stamp) if 0 <= record < len(lines) else {}
    if not known:
        return CannotMake("The line has changed meanwhile: ask again.")
    refused = other_by_now(data, _called([*_known(analysis, record, None)]))
    if refused is not None:
        return refused
    line = lines[record]
    there = values_of(line)
    edits = [replace_value(line, (name,), known[name]) for name in known if name in there]
    missing = [(name, text) for name, text in known.items() if name not in there]
    added = insert_fields(line, (), missing)
    return [
        Replacement(Point(record, edit.span.start), Point(record, edit.span.end), edit.text)
        for edit in (*edits, *((added,) if added is not None else ()))
    ]


def _known(analysis: Analysis, record: int, stamp: Stamp | None) -> dict[str, str]:
    """JSON text by field, of those that the line lacks or has null where that is no value. A menu
    asks no clock: without a stamp it shows what would be known.
    """
    lines = analysis.document.lines
    line = lines[record]
    event = _event(line)
    if event is None:
        return {}
    values = values_of(line)
    lacking = {
        name
        for name, field in event.fields.items()
        if (name not in values and field.is_required)
        or (name in values and values[name] is None and not field.nullable)
    }
    if not lacking:
        return {}
    given = {
        name: value
        for name, value in values.items()
        if name not in lacking and isinstance(value, str | int | None)
    }
    run_id = given.get("project_run_id")
    scope = scope_at(analysis.index, lines, record, run_id if isinstance(run_id, str) else None)
    if stamp is None:
        stamp = Stamp("", scope.last.text_fact("ts") if scope.last is not None else "")
    return {
        slot.field.name: as_json(slot.value)
        for slot in compose(event, scope, stamp, given).slots
        if slot.field.name in lacking and slot.certainty is Certainty.KNOWN
    }


def _event(line: Line) -> EventType | None:
    """What a rejected line was meant to record, if it is JSON."""
    if not isinstance(line, FlaggedLine) or any(each.problem for each in line.diagnostics):
        return None
    return EVENTS.get(line.event_name or "")


def _called(names: list[str]) -> str:
    shown = [f"`{name}`" for name in names[:_MOST_NAMED]]
    more = len(names) - len(shown)
    if more:
        return f"Fill in {', '.join(shown)} and {more} more from the run"
    listed = " and ".join(filter(None, (", ".join(shown[:-1]), shown[-1])))
    return f"Fill in {listed} from the run"
