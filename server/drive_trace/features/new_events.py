"""``driveTrace/nextEvents``, ``driveTrace/composeEvent``, and the events that
``textDocument/codeAction`` offers to add: a grade, or the end of an open round or dispatch.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from itertools import chain, count, islice
from typing import NamedTuple, cast

from lsprotocol import types

from drive_trace import vocabulary
from drive_trace.analysis import Analysis
from drive_trace.authoring import events
from drive_trace.authoring.drafts import Refused, Stamp, draft_merged, outranked
from drive_trace.authoring.values import Certainty, Slot, entity_name
from drive_trace.features import findings, runs
from drive_trace.features.results import CannotMake, TextChange, View, range_between
from drive_trace.json_text import as_json
from drive_trace.linter import edits, rule
from drive_trace.linter.rules import unclosed_dispatch, unclosed_round
from drive_trace.scorecard.feed_state import JoinedFeed, feed_state
from drive_trace.scorecard.run_score import RunScore
from drive_trace.scorecard.scoring import score_in
from drive_trace.text.spans import is_blank
from drive_trace.text.wording import printable
from drive_trace.trace.document import Point
from drive_trace.trace.line import Line, run_of
from drive_trace.trace.scope import Opened, Scope, scope_at
from drive_trace.vocabulary import EVENTS, GRADE, BooleanShape, Entity, FieldType, OneOfShape

# The text of events, with places to fill in


_SPACE = re.compile(r"\s")
_SPECIAL = re.compile(r"([\\$])")
_SPECIAL_IN_STOP = re.compile(r"([\\$}])")
_SPECIAL_IN_CHOICE = re.compile(r"([\\,|])")


_MOST_CHOICES = 6
"""The most choices of a place in a snippet."""


class Stop(NamedTuple):
    """A place that the editor moves the cursor to, to fill it in."""

    choices: tuple[str, ...]
    """The texts that can stand there. The first is the default."""
    plain: str
    """The text for editors without snippets."""
    quoted: bool = False
    """Whether it is in quotes, which are no part of the choices."""

    def marked(self, number: int) -> str:
        """As it stands in a snippet."""
        if not self.choices:
            return "$0"
        if len(self.choices) > 1 and not any("$" in each or "}" in each for each in self.choices):
            inner = ",".join(_SPECIAL_IN_CHOICE.sub(r"\\\1", each) for each in self.choices)
            text = f"${{{number}|{inner}|}}"
        else:
            inner = _SPECIAL_IN_STOP.sub(r"\\\1", self.choices[0])
            text = f"${{{number}:{inner}}}" if inner else f"${number}"
        return f'"{text}"' if self.quoted else text


END = Stop((), "")
"""The final place of the cursor."""
Piece = str | Stop


def render(pieces: Iterable[Piece], *, snippets: bool) -> tuple[str, bool]:
    """The text of some pieces, and whether it is a snippet.

    A text with white space is one, too, if that is possible: Neovim cuts other texts there.
    """
    pieces = list(pieces)
    plain = "".join(each.plain if isinstance(each, Stop) else each for each in pieces)
    if not snippets or not (has_stops(pieces) or _SPACE.search(plain)):
        return plain, False
    numbers = count(1)
    parts = (
        each.marked(next(numbers)) if isinstance(each, Stop) else _SPECIAL.sub(r"\\\1", each)
        for each in pieces
    )
    return "".join(parts), True


def has_stops(pieces: Iterable[Piece]) -> bool:
    """Whether there is something to fill in."""
    return any(isinstance(each, Stop) and each is not END for each in pieces)


def pair(slot: Slot) -> Iterator[Piece]:
    """A key with its value."""
    yield f'"{slot.field.name}":'
    yield from value(slot)


def pairs(slots: Iterable[Slot]) -> Iterator[Piece]:
    """Keys with their values, one after the other."""
    for place, slot in enumerate(slots):
        if place:
            yield ","
        yield from pair(slot)


def value(slot: Slot) -> Iterator[Piece]:
    """The value of a field, or the places to fill it in."""
    if slot.certainty is Certainty.KNOWN:
        yield as_json(slot.value)
        return
    texts = tuple(as_json(choice.value) for choice in slot.choices)
    if slot.certainty is Certainty.LIKELY:
        yield _one_of(_readable(slot.field, texts), texts[0])
    else:
        yield from _blank(slot.field, texts)


def _readable(field: FieldType, texts: tuple[str, ...]) -> tuple[str, ...]:
    """Few ids, which mean nothing in a list without their names. Completion of a value lists them
    all, with names.
    """
    if field.nullable and field.names is not None:
        return (texts[0], *("null" for _ in texts[:1] if texts[0] != "null"))
    return texts[:_MOST_CHOICES]


def _one_of(texts: tuple[str, ...], plain: str) -> Stop:
    if all(text.startswith('"') for text in texts):
        return Stop(tuple(text[1:-1] for text in texts), plain, quoted=True)
    return Stop(texts, plain)


def _blank(field: FieldType, texts: tuple[str, ...]) -> Iterator[Piece]:
    plain = edits.placeholder(field)
    shape = field.shape
    if isinstance(shape, OneOfShape | BooleanShape) and texts:
        yield _one_of(texts, plain)
    elif isinstance(shape, vocabulary.ObjectShape):
        yield "{"
        yield from pairs(
            Slot(each, (), Certainty.OPEN) for each in shape.fields.values() if each.is_required
        )
        yield "}"
    elif isinstance(shape, vocabulary.ListShape):
        items = (text[1:-1] for text in texts if text.startswith('"'))
        yield "["
        yield Stop(tuple(items) or ("",), "", quoted=True)
        yield "]"
    elif "null" in texts:
        yield Stop(("null", *(text for text in texts[:_MOST_CHOICES] if text != "null")), plain)
    elif isinstance(shape, vocabulary.StringShape):
        yield Stop(("",), plain, quoted=True)
    else:
        assert field.gap is not None
        yield Stop((field.gap,), plain)


# Events to append to a run


def next_events_json(analysis: Analysis, run_id: str | None, stamp: Stamp) -> dict[str, object]:
    """Every event. Those that can come next in the run are first."""
    scope = _scope(analysis, run_id)
    label = printable(scope.run_id) if scope.run_id is not None else None
    return {"runId": scope.run_id, "label": label, "events": list(_choices(scope, stamp))}


def _choices(scope: Scope, stamp: Stamp) -> Iterator[dict[str, object]]:
    for event, is_next in events.next_events(scope):
        carried = runs.carried_at(scope, event, stamp.ts, runs.nothing_joined)
        for given in events.variants(event, scope):
            composed = events.compose(event, scope, stamp, given, carried)
            about = events.variant_name(event, given, scope)
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
    joined: runs.Joined = runs.nothing_joined,
) -> events.Composed | CannotMake | None:
    """An event for the end of a trace, of its last run if none is named; None if there is no such
    event, or no such kind of it. An event of a feed repeats what counts over all files of the run.
    """
    scope = _scope(analysis, run_id)
    given = events.variants(EVENTS[event], scope) if event in EVENTS else []
    chosen = [each for each in given if kind is None or kind in each.values()]
    if not chosen:
        return None
    if is_feed(event):
        known = _without_doubt(runs.feed_at(scope, event, joined))
        if isinstance(known, CannotMake):
            return known
    carried = runs.carried_at(scope, EVENTS[event], stamp.ts, joined)
    return events.compose(EVENTS[event], scope, stamp, chosen[0], carried)


def is_feed(event: str) -> bool:
    """Whether an event of that name repeats what other files of its run may hold."""
    return event in EVENTS and EVENTS[event].is_feed


def composed_json(view: View, made: events.Composed) -> dict[str, object]:
    """The place of the event, and its text: plain, with placeholders for what a person has to fill
    in, and as a snippet, null if there is nothing to fill in.
    """
    start, end, text = at_the_end(view.analysis, _RECORD)
    before, _, after = text.partition(_RECORD)
    pieces: list[Piece] = [before, "{", *pairs(made.slots), "}", after]
    return {
        "range": range_between(view, start, end),
        "snippet": render(pieces, snippets=True)[0] if has_stops(pieces) else None,
        "text": render(pieces, snippets=False)[0],
        "blanks": [slot.field.name for slot in made.blanks],
    }


_RECORD = "{}"
"""Stands for the record until its place is known."""


def _scope(analysis: Analysis, run_id: str | None) -> Scope:
    lines = analysis.document.lines
    return scope_at(analysis.index, lines, len(lines), run_id)


# Code actions


_REFACTORINGS = types.CodeActionKind.Refactor.value
_CLOSED = (Entity.ROUND, Entity.DISPATCH)
"""What can be closed, in this order: a round ends before its dispatch."""
UNCLOSED = {unclosed_round.RULE.code: Entity.ROUND, unclosed_dispatch.RULE.code: Entity.DISPATCH}
_MOST_CLOSED = 4
"""Of so many open rounds and dispatches the ends are offered, the latest first."""


def appending_offers(
    analysis: Analysis,
    at: Point,
    only: object,
    joined: runs.Joined = runs.nothing_joined,
    *,
    is_crowded: bool,
) -> list[findings.Offer]:
    """The events that can be added to the run of a line. Grades are offered where a request names
    their kind, and nowhere else: who takes the first offer must not grade a run. Unless the request
    names the kind, ends are offered on the lines of an open round or dispatch, but not beside a
    finding or for several lines, which is ``is_crowded``.
    """
    lines = analysis.document.lines
    line = lines[at.record]
    is_end = at.record == len(lines) - 1 and is_blank(line.text)
    scope = scope_at(analysis.index, lines, len(lines), None if is_end else run_of(line))
    if scope.run is None or (not is_end and run_of(line) is None):
        return []
    offers: list[findings.Offer] = []
    record = at.record
    # A menu of all refactorings names no kind of ours.
    if findings.asks_for(only, findings.RECORD_KIND) and not findings.asks_for(only, _REFACTORINGS):
        offers += _grades(analysis, record, scope, joined)
    if findings.names(only, findings.CLOSE_KIND) or (
        findings.asks_for(only, "") and not is_crowded
    ):
        offers += _ends(analysis, record, scope, None if is_end else line)
    return offers


def closing_offers(analysis: Analysis, finding: rule.Finding, only: object) -> list[findings.Offer]:
    """The ends of what a finding says was never ended, as its quick fixes."""
    entity, line = UNCLOSED.get(finding.rule.code), finding.line
    if entity is None or not findings.asks_for(only, types.CodeActionKind.QuickFix.value):
        return []
    lines = analysis.document.lines
    scope = scope_at(analysis.index, lines, len(lines), run_of(line))
    if scope.run is None:
        return []
    kind = types.CodeActionKind.QuickFix.value
    ends = _ends(analysis, analysis.document.number(line), scope, line)
    return [each._replace(kind=kind) for each in ends if each.id.startswith(f"{entity.value} ")]


def at_the_end(analysis: Analysis, record: str) -> TextChange:
    """The change that adds a record at the end, with a newline before it if one is missing."""
    lines = analysis.document.lines
    number, last = len(lines) - 1, lines[-1].text
    before = lines[-2].text if number else ""
    ending = "\r\n" if before.endswith("\r") else "\n"
    if not last and number:
        # In front of the last newline: behind it, Neovim would put an empty line there, too.
        end = Point(number - 1, len(before.removesuffix("\r")))
        return TextChange(end, end, ending + record)
    if is_blank(last):
        return TextChange(Point(number, 0), Point(number, len(last)), record + ending)
    end = Point(number, len(last))
    newline = "\n" if last.endswith("\r") else ending
    return TextChange(end, end, newline + record + ending)


# Grades


def _grades(
    analysis: Analysis, record: int, scope: Scope, joined: runs.Joined
) -> Iterator[findings.Offer]:
    """The grades to record, missing components first, without those that change nothing."""
    assert scope.run is not None
    run_id = scope.run.run_id
    feed = _without_doubt(runs.feed_at(scope, GRADE, joined))
    if isinstance(feed, CannotMake):
        why, kind = feed, findings.RECORD_KIND
        yield findings.Offer("Record a grade", kind, record, lambda _: why, disabled=why.reason)
        return
    counted = feed.counted.values if feed.counted is not None else {}
    values = {**dict.fromkeys(runs.choices()), **counted}
    run = _scored(analysis, run_id, joined)
    for name in sorted(values, key=lambda name: values[name] is not None):
        for value in runs.choices()[name]:
            if value != values[name]:
                changes = {name: value}
                title = _grade_title(analysis, feed, changes, {**values, name: value}, run)
                make = partial(graded, analysis, run_id, changes, joined)
                id_ = f"{name}: {value}"
                yield findings.Offer(title, findings.RECORD_KIND, record, make, id_)


def _without_doubt(feed: JoinedFeed | CannotMake) -> JoinedFeed | CannotMake:
    """A feed, or why no event of it is offered: a rejected or unknown line may be meant as one."""
    if isinstance(feed, JoinedFeed) and feed.doubts:
        path, phrase, _ = feed.doubts[0]
        where = "" if path == feed.own.path else f"{printable(path)}: "
        what = f"{where}{phrase}: mend that first, so that what it was meant to say is not lost."
        return CannotMake(what)
    return feed


def _scored(analysis: Analysis, run_id: str, joined: runs.Joined) -> RunScore | None:
    """The run over all known files; None if it has no event."""
    run = joined(run_id)
    return run.run if run is not None else score_in(analysis.index, run_id)


def _grade_title(
    analysis: Analysis,
    feed: JoinedFeed,
    changes: Mapping[str, object],
    merged: Mapping[str, object],
    run: RunScore | None,
) -> str:
    """The title of an offer. It names the components that it keeps of a stale grade, or of a grade
    in another file.
    """
    changed = ", ".join(f"{name}: {value}" for name, value in changes.items())
    kept = [name for name, value in merged.items() if name not in changes and value is not None]
    decider = feed.deciding
    is_own = decider is feed.own
    stale = run.stale if run is not None else None
    keeps = " and ".join(kept) + ("" if is_own else f" of {printable(decider.path)}")
    if stale is not None:
        keeps += f"; {stale.short}"
    keeps = f" (keeps {keeps})" if kept and not (is_own and stale is None) else ""
    of_run = f" (run {printable(run.run_id)})" if run and len(analysis.index.runs) > 1 else ""
    return f"Record {changed}{runs.consequence(merged)}{keeps}{of_run}"


def graded(
    analysis: Analysis,
    run_id: str,
    changes: Mapping[str, object],
    joined: runs.Joined,
    stamp: Stamp,
) -> list[TextChange] | CannotMake:
    """The change that records some components of a grade, merged with what counts over all files of
    the run.
    """
    feed = EVENTS[GRADE]
    own = feed_state(analysis.index, feed, run_id)
    counted = runs.with_others(own, GRADE, joined(run_id))
    if isinstance(counted, CannotMake):
        return counted
    draft = draft_merged(feed, run_id, counted, changes)
    if not isinstance(draft, Refused):
        draft = outranked(draft, counted, stamp.ts) or draft
    if isinstance(draft, Refused):
        return CannotMake("; ".join(draft.reasons))
    superseded = counted.superseded(_scored(analysis, run_id, joined), GRADE)
    if superseded is not None:
        return CannotMake(superseded)
    return [at_the_end(analysis, draft.record(stamp))]


# Ends


def _ends(
    analysis: Analysis, record: int, scope: Scope, line: Line | None
) -> Iterator[findings.Offer]:
    """The ends of the open rounds and dispatches that a line names; without a line, of the last."""
    for opened in chain.from_iterable(
        islice((each for each in scope.opened[entity] if _is_of(each, line)), _MOST_CLOSED)
        for entity in _CLOSED
    ):
        closer = EVENTS[opened.of.closer]
        field = next(
            each
            for each in closer.fields.values()
            if isinstance(each.shape, OneOfShape) and len(each.shape.meanings) > 1
        )
        for outcome in cast("OneOfShape", field.shape).meanings:
            values = {field.name: outcome}
            title = _end_title(scope, opened, values)
            make = partial(_ended, analysis, scope, opened, values)
            id_ = f"{opened.of.entity.value} {opened.id}: {outcome}"
            yield findings.Offer(title, findings.CLOSE_KIND, record, make, id_)


def _ended(
    analysis: Analysis, scope: Scope, opened: Opened, outcome: Mapping[str, str], stamp: Stamp
) -> list[TextChange]:
    """The change that ends something."""
    closer = EVENTS[opened.of.closer]
    composed = events.compose(closer, scope, stamp, {**events.ids_of(closer, opened), **outcome})
    # A value that only a person knows stays a gap, which is an error until it is filled.
    text, _ = render(("{", *pairs(composed.slots), "}"), snippets=False)
    return [at_the_end(analysis, text)]


def _is_of(opened: Opened, line: Line | None) -> bool:
    if line is None:
        return True
    event, field = line.event, opened.of.field
    return event is not None and field in event.keeps and line.fact(field) == opened.id


def _end_title(scope: Scope, opened: Opened, outcome: Mapping[str, object]) -> str:
    closer, stamp = EVENTS[opened.of.closer], Stamp("", opened.start.text_fact("ts"))
    composed = events.compose(closer, scope, stamp, events.ids_of(closer, opened))
    names = (slot.field.name for slot in composed.blanks)
    blanks = [name for name in names if name not in outcome]
    then = f", then fill in {' and '.join(blanks)}" if blanks else ""
    called = printable(entity_name(scope, opened.of, opened.start))
    what = "dispatch " * (opened.of.entity is Entity.DISPATCH)
    return f"Close {what}{called}: {', '.join(map(str, outcome.values()))}{then}"
