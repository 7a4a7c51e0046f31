"""The assertions that a trace can decide. One that does not apply passes, except BD-8."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from drive_trace.report.assertions.base import Assertion, Outcome, Status, verdict_on
from drive_trace.report.event_log import Event, EventLog

_DIRECT = "direct-"
"""How the ids of runs begin that make one change directly, without a spec or plan."""


def one_pull_request_a_slice(log: EventLog) -> Outcome:
    """I1: no ``slice_slug`` has two ``slice-completed``."""
    completed = log.of("slice-completed")
    times = Counter(event.text("slice_slug") for event in completed)
    again = [event for event in completed if times[event.text("slice_slug")] > 1]
    note = (
        "A slice_slug has more than one slice-completed, in one run or in several."
        if again
        else "Each slice was completed once."
    )
    return verdict_on(completed, again, note)


def projects_have_slices(log: EventLog) -> Outcome:
    """I4: a run with ``project-started`` has a slice, or was triaged as a direct change."""
    delivering = {event.run_id for event in log.of("slice-started")} | {
        event.run_id for event in log.of("triage-verdict") if event.text("verdict") == _CHANGE
    }
    firsts: dict[str, Event] = {}
    for event in log.of("project-started"):
        firsts.setdefault(event.run_id, event)
    without = [event for run_id, event in firsts.items() if run_id not in delivering]
    note = (
        "A project has neither a slice-started nor a direct-change triage-verdict."
        if without
        else "Each project has a slice, or was triaged as a direct change."
    )
    return verdict_on(list(firsts.values()), without, note)


def spec_and_plan_come_first(log: EventLog) -> Outcome:
    """I6: each ``dispatch-start`` has a spec and a plan of its run with an earlier ``ts``."""
    specs, plans = _earliest(log.of("spec-authored")), _earliest(log.of("plan-authored"))
    starts = log.of("dispatch-start")
    early = [
        event
        for event in starts
        if not event.run_id.startswith(_DIRECT)
        and not all(
            event.run_id in authored and authored[event.run_id] < event.ts
            for authored in (specs, plans)
        )
    ]
    note = (
        "Dispatches started before their run had both a spec-authored and a plan-authored."
        if early
        else "Each dispatch started after its run's spec and plan; runs named direct-… need none."
    )
    return verdict_on(starts, early, note)


def _earliest(events: Sequence[Event]) -> dict[str, str]:
    first: dict[str, str] = {}
    for event in events:
        first[event.run_id] = min(first.get(event.run_id, event.ts), event.ts)
    return first


def brief_before_each_dispatch(log: EventLog) -> Outcome:
    """I8: each ``dispatch-start`` has a ``brief-issued`` of its dispatch, no later than it."""
    briefs: dict[tuple[str, str], str] = {}
    for event in log.of("brief-issued"):
        key = event.run_id, event.text("dispatch_id")
        briefs[key] = min(briefs.get(key, event.ts), event.ts)
    starts = log.of("dispatch-start")
    unbriefed = []
    for event in starts:
        issued = briefs.get((event.run_id, event.text("dispatch_id")))
        if issued is None or issued > event.ts:
            unbriefed.append(event)
    note = (
        "No brief was issued by the time these dispatches started. Most traces fail this: "
        "the protocol itself issues a brief after the dispatch has started, within a round."
        if unbriefed
        else "Each dispatch had a brief by the time it started."
    )
    return verdict_on(starts, unbriefed, note)


def projects_define_done(log: EventLog) -> Outcome:
    """I10: each project-kind spec has items in its definition of done, whenever it is written.

    It rests on the authored specs alone, but an amendment can break it.
    """
    specs = [
        event
        for event in log.of("spec-authored", "spec-amended")
        if event.text("spec_kind") == "project"
    ]
    without = [event for event in specs if event.number("dod_items_count") == 0]
    note = (
        "A project spec has no item in its definition of done."
        if without
        else "Each project spec has items in its definition of done."
    )
    if specs and not without:
        authored = [event for event in specs if event.name == "spec-authored"]
        return Outcome(Status.PASS, authored, note)
    return verdict_on(specs, without, note)


def triage_ends_in_a_shape(log: EventLog) -> Outcome:
    """Cascade-3: the vocabulary lets a ``triage-verdict`` be nothing but a delivery shape."""
    note = "Each triage-verdict names a delivery shape; the vocabulary allows nothing else."
    return verdict_on(log.of("triage-verdict"), (), note)


def briefs_are_shorter_than_specs(log: EventLog) -> Outcome:
    """BD-8: a brief is shorter than the shortest slice-kind ``spec-authored`` of its run."""
    shortest: dict[str, int] = {}
    for event in log.of("spec-authored"):
        if event.text("spec_kind") == "slice":
            length = event.number("byte_length")
            shortest[event.run_id] = min(shortest.get(event.run_id, length), length)
    briefs = [event for event in log.of("brief-issued") if event.run_id in shortest]
    if not briefs:
        note = "No run here has both a brief and a slice's spec, so there is nothing to compare."
        return Outcome(Status.NOT_CHECKABLE, (), note)
    long = [
        event for event in briefs if event.number("brief_byte_length") >= shortest[event.run_id]
    ]
    note = (
        "A brief is not shorter than the shortest slice spec of its run."
        if long
        else "Each brief is shorter than the shortest slice spec of its run."
    )
    return verdict_on(briefs, long, note)


_CHANGE = "direct-change"

I1 = Assertion("I1", "A slice delivers one pull request", one_pull_request_a_slice)
I4 = Assertion("I4", "A project has slices, or is a direct change", projects_have_slices)
I6 = Assertion("I6", "Spec and plan come before implementation", spec_and_plan_come_first)
I8 = Assertion("I8", "A brief comes before each dispatch", brief_before_each_dispatch)
I10 = Assertion("I10", "A project spec has a definition of done", projects_define_done)
CASCADE_3 = Assertion("Cascade-3", "Triage ends in a delivery shape", triage_ends_in_a_shape)
BD_8 = Assertion("BD-8", "A brief is shorter than the slice's spec", briefs_are_shorter_than_specs)
