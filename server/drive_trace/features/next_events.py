"""``driveTrace/nextEvents`` and ``driveTrace/composeEvent``: events to append to a run."""

from __future__ import annotations

from collections.abc import Iterator

from drive_trace.analysis import Analysis
from drive_trace.authoring.drafts import Stamp
from drive_trace.authoring.events import Composed, compose, next_events, variant_name, variants
from drive_trace.features.appending import at_the_end
from drive_trace.features.code_actions import CannotMake
from drive_trace.features.positions import range_between
from drive_trace.features.run_feeds import carrying, feed_at
from drive_trace.features.runs import Joined, nothing_joined
from drive_trace.features.snippets import Piece, Stop, pairs, render
from drive_trace.text.escaping import printable
from drive_trace.text.spans import PositionEncoding
from drive_trace.trace.scope import Scope, scope_at
from drive_trace.vocabulary import EVENTS


def next_events_json(analysis: Analysis, run_id: str | None, stamp: Stamp) -> dict[str, object]:
    """Every event. Those that can come next in the run are first."""
    scope = _scope(analysis, run_id)
    label = printable(scope.run_id) if scope.run_id is not None else None
    return {"runId": scope.run_id, "label": label, "events": list(_choices(scope, stamp))}


def _choices(scope: Scope, stamp: Stamp) -> Iterator[dict[str, object]]:
    carried = carrying(nothing_joined)
    for event, is_next in next_events(scope):
        for given in variants(event, scope):
            composed = compose(event, scope, stamp, given, carried)
            about = variant_name(event, given, scope)
            yield {
                "event": event.name,
                "kind": next(iter(given.values()), None),
                "about": printable(about) if about is not None else None,
                "isNext": is_next,
                "description": event.prose,
                "blanks": [slot.field.name for slot in composed.blanks],
            }


def can_append(analysis: Analysis, run_id: str) -> bool:
    """Whether a trace names a run, or its next event would be of that run. A misspelt id is not to
    start another run.
    """
    return analysis.index.names(run_id) or run_id == _scope(analysis, None).run_id


def composed_at_end(  # noqa: PLR0913, PLR0917 - which event, of which moment, and beside what
    analysis: Analysis,
    run_id: str | None,
    event: str,
    kind: str | None,
    stamp: Stamp,
    joined: Joined = nothing_joined,
) -> Composed | CannotMake | None:
    """An event for the end of a trace, of its last run if none is named; None if there is no such
    event, or no such kind of it. An event of a feed repeats what counts over all files of the run.
    """
    scope = _scope(analysis, run_id)
    given = variants(EVENTS[event], scope) if event in EVENTS else []
    chosen = [each for each in given if kind is None or kind in each.values()]
    if not chosen:
        return None
    if is_feed(event):
        known = feed_at(scope, event, joined)
        if isinstance(known, CannotMake):
            return known
    return compose(EVENTS[event], scope, stamp, chosen[0], carrying(joined))


def is_feed(event: str) -> bool:
    """Whether an event of that name repeats what other files of its run may hold."""
    return event in EVENTS and EVENTS[event].is_feed


def composed_json(
    analysis: Analysis, made: Composed, encoding: PositionEncoding
) -> dict[str, object]:
    """The place of the event, and its text: plain, with placeholders for what a person has to fill
    in, and as a snippet, null if there is nothing to fill in.
    """
    start, end, text = at_the_end(analysis, _RECORD)
    before, _, after = text.partition(_RECORD)
    pieces: list[Piece] = [before, "{", *pairs(made.slots), "}", after]
    has_stops = any(isinstance(piece, Stop) for piece in pieces)
    return {
        "range": range_between(analysis, start, end, encoding),
        "snippet": render(pieces, snippets=True)[0] if has_stops else None,
        "text": render(pieces, snippets=False)[0],
        "blanks": [slot.field.name for slot in made.blanks],
    }


_RECORD = "{}"
"""Stands for the record until its place is known."""


def _scope(analysis: Analysis, run_id: str | None) -> Scope:
    lines = analysis.document.lines
    return scope_at(analysis.index, lines, len(lines), run_id)
