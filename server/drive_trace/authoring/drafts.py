"""Makes events to append, and refuses those that readers would not accept.

A draft is an event that readers accept, without anything that they would ignore. Anything else is
refused, with one message of a rule for each problem. A fresh id and the time belong to the moment
of writing, and are put in last.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import cast

import msgspec

from drive_trace.json_text import STRICT, as_json, from_json, parse, refuse_number
from drive_trace.scorecard.feed_state import JoinedFeed
from drive_trace.text.quick import Frozen
from drive_trace.text.wording import are, shown
from drive_trace.trace.line import REJECTING, DiagnosticKind
from drive_trace.trace.reading import read_exactly
from drive_trace.vocabulary import ENVELOPE, EVENTS, GRADE, SCHEMA_VERSION, EventType

REFUSED = REJECTING | {
    DiagnosticKind.UNKNOWN_EVENT_TYPE,
    DiagnosticKind.UNDECLARED_FIELD,
    DiagnosticKind.DUPLICATE_KEY,
}
"""What is refused: what readers reject, and also what they would keep apart or ignore."""


class Refused(Frozen, frozen=True):
    """Why something is not appended."""

    reasons: tuple[str, ...]
    """A sentence each, for the person or program that wants to append it."""
    for_unknown_run: bool = False
    """Whether that is because the trace does not know the run."""


class Stamp(Frozen, frozen=True):
    """What belongs to the moment of writing."""

    event_id: str
    ts: str
    """ISO 8601 in UTC, such as ``2026-05-28T14:00:00.000Z``."""
    opened_id: str = ""
    """For what the event starts; empty where that is known."""


class Draft(msgspec.Struct, frozen=True):
    """An event that readers accept, but for its stamp."""

    event: EventType
    run_id: str
    agent_id: str | None
    payload: Mapping[str, object]

    def record(self, stamp: Stamp) -> str:
        """The event as one compact record, without its newline: the envelope first, then the
        payload, in the order of the vocabulary.
        """
        envelope = _envelope(self.event.name, self.run_id, self.agent_id, stamp)
        fields = {**self.payload, **envelope}
        return as_json({name: fields[name] for name in self.event.fields if name in fields})


_ANY_STAMP = Stamp(*(str(EVENTS[GRADE].example[name]) for name in ("event_id", "ts")))


def draft_event(name: str, run_id: str, agent_id: str | None, payload: str) -> Draft | Refused:
    """Make an event of a payload, given as the text of a JSON object. Never raises."""
    # The exact reader, which can say what is wrong, takes as long to load as half of all else.
    values = plain_object(payload)
    if values is not None and name in EVENTS:
        draft = Draft(EVENTS[name], run_id, agent_id, values)
        is_its_own = values.keys() <= draft.event.fields.keys() - ENVELOPE.keys()
        if is_its_own and not _objections(draft.record(_ANY_STAMP)):
            return draft
    if not payload.strip():
        return Refused(("the payload is empty: expected a JSON object, if only {}",))
    syntax = parse(payload)
    if syntax.problems:
        return Refused(
            tuple(f"the payload cannot be read: {problem.message}" for problem in syntax.problems)
        )
    fields = syntax.to_python()
    if not isinstance(fields, dict):
        expected = "the payload must be an object {…} with the event's own fields"
        return Refused((f"{expected}; found {shown(fields)}",))
    reasons = [
        f"`{key}` belongs to the envelope, which drive-trace writes itself: leave it out"
        for key in fields
        if key in ENVELOPE
    ]
    # Its text, as parsed values have no key twice. The envelope comes last, so that it counts.
    inner = payload.strip()[1:-1].strip()
    envelope = as_json(_envelope(name, run_id, agent_id, _ANY_STAMP))
    reasons += _objections(f"{{{inner}{',' if inner else ''}{envelope[1:]}")
    if reasons:
        return Refused(tuple(dict.fromkeys(reasons)))
    return Draft(EVENTS[name], run_id, agent_id, fields)


def draft_of_record(record: str) -> Draft | Refused:
    """Make an event of a whole record, whose id and time are not taken over. Never raises."""
    fields = plain_object(record)
    own = {name: fields.pop(name, None) for name in ENVELOPE} if fields is not None else {}
    name, run_id = own.get("event_type"), own.get("project_run_id")
    agent_id = own.get("orchestrator_agent_id")
    is_one = isinstance(name, str) and isinstance(run_id, str)
    if not is_one or not isinstance(agent_id, str | None):
        return Refused(("it is no record of an event",))
    return draft_event(cast("str", name), cast("str", run_id), agent_id, as_json(fields))


def plain_object(text: str) -> dict[str, object] | None:
    """The object that a text is: without a key twice, or a number written as a fraction."""
    with suppress(ValueError, RecursionError):
        value = from_json(text, **STRICT, parse_float=refuse_number)
        return value if isinstance(value, dict) else None
    return None


def draft_merged(
    feed: EventType,
    run_id: str,
    joined: JoinedFeed,
    changes: Mapping[str, object],
    *,
    new_run: bool = False,
) -> Draft | Refused:
    """The next event of a feed: what counts so far, with some of its components changed.

    Refused where the trace does not know the run, but for ``new_run``, and where a line that
    does not count may be the newest of the feed: its meaning would be lost, unless all components
    are given anew.
    """
    names = [name for name in feed.fields if name not in ENVELOPE]
    if not joined.own.knows_run and not new_run:
        return Refused((f"the trace has no valid event of the run {shown(run_id)}",), True)
    unnamed = [name for name in names if name not in changes]
    doubtful = _doubtful(joined, unnamed) if unnamed else None
    if doubtful is not None:
        return doubtful
    counted = joined.counted.values if joined.counted is not None else {}
    merged = {**dict.fromkeys(names), **counted, **changes}
    payload = {
        name: value
        for name, value in merged.items()
        if value is not None or feed.fields[name].is_required
    }
    draft = Draft(feed, run_id, joined.own.agent_id, payload)
    reasons = _objections(draft.record(_ANY_STAMP))
    return Refused(tuple(reasons)) if reasons else draft


def outranked(draft: Draft, joined: JoinedFeed, now: str) -> Refused | None:
    """Why an event of a feed may not be appended now: that of another file would still count."""
    later = joined.outranking(now)
    if later is None or later.counted is None:
        return None
    line, ts = later.counted.line, later.counted.ts
    called = "grade" if draft.event.name == GRADE else "cost"
    return Refused(
        (
            f"{later.path}: line {line} has the ts {shown(ts)}, which is later than now: a "
            f"{called} recorded now would not count; a clock was wrong, so correct that ts by hand",
        )
    )


def may_erase(draft: Draft) -> bool:
    """Whether an event that is given as a whole could take back what a grade has recorded."""
    return draft.event.name == GRADE and None in draft.payload.values()


def erasures(draft: Draft, joined: JoinedFeed) -> Refused | None:
    """Why a grade that is given as a whole may not be appended: it would take back what another
    one has recorded.
    """
    if not may_erase(draft):
        return None
    nulls = [name for name, value in draft.payload.items() if value is None]
    doubtful = _doubtful(joined, nulls)
    if doubtful is not None:
        return doubtful
    decider, counted = joined.deciding, joined.counted
    where = f" of {decider.path}" if decider is not joined.own else ""
    erased = tuple(
        f"`{name}` was {shown(counted.values[name])} on line {counted.line}{where}; this null "
        "would erase it: repeat it, or use `drive-trace record`, which does"
        for name in nulls
        if counted is not None and counted.values[name] is not None
    )
    return Refused(erased) if erased else None


def cautions(record: str) -> list[str]:
    """The findings of a record that do not refuse it, each with its severity."""
    return [
        f"{label}: {message}" for kind, label, message in _diagnoses(record) if kind not in REFUSED
    ]


def _doubtful(joined: JoinedFeed, unnamed: list[str]) -> Refused | None:
    """Why components that are not given cannot be taken from what counts so far, if that may not be
    the latest.
    """
    decider, counted = joined.deciding, joined.counted
    reasons = []
    for path, phrase, is_event in joined.doubts:
        counting = "nothing counts so far"
        if counted is not None:
            where = f" of {decider.path}" if decider.path != path else ""
            # Of a rejected line we say that it does not count; a valid event counts in its file.
            counting = f"{'' if is_event else 'only '}line {counted.line}{where} counts so far"
        in_file = f"{path}: " if len(joined.files) > 1 else ""
        reasons.append(
            f"{in_file}{phrase}: {counting}; mend that first, or give every component anew "
            f"({', '.join(unnamed)} {are(len(unnamed))} not given)"
        )
    return Refused(tuple(reasons)) if reasons else None


# What is wrong with an event


def _objections(record: str) -> list[str]:
    """Why a record is refused."""
    return [message for kind, _, message in _diagnoses(record) if kind in REFUSED]


def _diagnoses(record: str) -> Iterator[tuple[str, str, str]]:
    """The findings of a record by itself: the kind, the severity and the message. That a key of the
    envelope stands there twice is not told: a payload was put into a record that has them.
    """
    # Nearly all have none, and the rest of this costs more than to write the record.
    if not read_exactly(record).diagnostics:
        return
    from drive_trace.analysis import Analysis  # noqa: PLC0415 - few events need the rules

    analysis = Analysis([record])
    for finding in analysis.findings():
        found = finding.diagnostic
        if found is None or (
            found.kind is DiagnosticKind.DUPLICATE_KEY and found.path[0] in ENVELOPE
        ):
            continue
        yield found.kind, finding.rule.severity.label, analysis.message(finding.message)


def _envelope(name: str, run_id: str, agent_id: str | None, stamp: Stamp) -> dict[str, object]:
    return {
        "event_id": stamp.event_id,
        "schema_version": SCHEMA_VERSION,
        "ts": stamp.ts,
        "project_run_id": run_id,
        "orchestrator_agent_id": agent_id,
        "event_type": name,
    }
