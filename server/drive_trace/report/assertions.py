"""The 31 assertions of the Drive method: rules that a trace may confirm or break.

Some assertions cannot be decided from a trace, and say why. One that does not apply is no pass;
the reference calls it one, except BD-8.
"""

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType
from typing import Any, NamedTuple

from drive_trace.report.event_log import EventLog
from drive_trace.scorecard.dispatches import Event
from drive_trace.text.quick import shipped
from drive_trace.text.wording import numbered_lines

_MOST_LINES = 5


class CheckResult(StrEnum):
    """The result of checking an assertion."""

    PASS = "pass"  # noqa: S105 - no password
    FAIL = "fail"
    NOT_APPLICABLE = "not-applicable"
    NOT_CHECKABLE = "not-checkable"


class AssertionResult(NamedTuple):
    """An assertion's status, the events that it rests on, and a sentence on why."""

    status: CheckResult
    evidence: Sequence[Event]
    note: str


class Assertion(NamedTuple):
    """The declaration of one assertion."""

    id: str
    title: str
    """What it demands, as a statement."""
    check: Callable[[EventLog], AssertionResult]


class Checked(NamedTuple):
    """An assertion with its outcome."""

    assertion: Assertion
    outcome: AssertionResult


class Considered(NamedTuple):
    """The events that an assertion is about."""

    at: Sequence[Event]
    """Without these, it does not apply."""
    broken_by: Sequence[Event] = ()
    borne_out_by: Sequence[Event] | None = None
    """The evidence where nothing breaks it, if that is not all that was looked at."""


_ASSERTIONS: list[Assertion] = []
_DOES_NOT_APPLY = AssertionResult(CheckResult.NOT_APPLICABLE, (), "It does not apply here.")


def assertion(
    id_: str,
    title: str,
    *,
    passed: str,
    failed: str = "",
    without: AssertionResult = _DOES_NOT_APPLY,
) -> Callable[[Callable[[EventLog], Considered]], Callable[[EventLog], Considered]]:
    """Declare an assertion by the function that says which events it is about, and which of these
    break it. It says so in the words of ``passed`` and ``failed``; where there are no such events,
    its result is ``without``.
    """

    def declare(look: Callable[[EventLog], Considered]) -> Callable[[EventLog], Considered]:
        def check(log: EventLog) -> AssertionResult:
            looked_at, broken_by, borne_out_by = look(log)
            if broken_by:
                return AssertionResult(CheckResult.FAIL, broken_by, failed)
            if not looked_at:
                return without
            evidence = looked_at if borne_out_by is None else borne_out_by
            return AssertionResult(CheckResult.PASS, evidence, passed)

        _ASSERTIONS.append(Assertion(id_, title, check))
        return look

    return declare


def _least(values: Iterable[tuple[Hashable, Any]]) -> dict[Hashable, Any]:
    """The smallest value of each key."""
    found: dict[Hashable, Any] = {}
    for key, value in values:
        found[key] = min(found.get(key, value), value)
    return found


# Those that a trace decides


@assertion(
    "I1",
    "A slice delivers one pull request",
    passed="Each slice was completed once.",
    failed="A slice_slug has more than one slice-completed, in one run or in several.",
)
def one_pull_request_a_slice(log: EventLog) -> Considered:
    """I1: no ``slice_slug`` has two ``slice-completed``."""
    completed = log.of("slice-completed")
    times = Counter(event.text("slice_slug") for event in completed)
    return Considered(completed, [each for each in completed if times[each.text("slice_slug")] > 1])


@assertion(
    "I4",
    "A project has slices, or is a direct change",
    passed="Each project has a slice, or was triaged as a direct change.",
    failed="A project has neither a slice-started nor a direct-change triage-verdict.",
)
def projects_have_slices(log: EventLog) -> Considered:
    """I4: a run with ``project-started`` has a slice, or was triaged as a direct change."""
    delivering = {event.run_id for event in log.of("slice-started")} | {
        event.run_id for event in log.of("triage-verdict") if event.text("verdict") == _CHANGE
    }
    firsts: dict[str, Event] = {}
    for event in log.of("project-started"):
        firsts.setdefault(event.run_id, event)
    without = [event for run_id, event in firsts.items() if run_id not in delivering]
    return Considered(list(firsts.values()), without)


_DIRECT = "direct-"
"""How the ids of runs begin that make one change directly, without a spec or plan."""
_CHANGE = "direct-change"


@assertion(
    "I6",
    "Spec and plan come before implementation",
    passed="Each dispatch started after its run's spec and plan; runs named direct-… need none.",
    failed="Dispatches started before their run had both a spec-authored and a plan-authored.",
)
def spec_and_plan_come_first(log: EventLog) -> Considered:
    """I6: each ``dispatch-start`` has a spec and a plan of its run with an earlier ``ts``."""
    specs, plans = (
        _least((event.run_id, event.ts) for event in log.of(name))
        for name in ("spec-authored", "plan-authored")
    )
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
    return Considered(starts, early)


@assertion(
    "I8",
    "A brief comes before each dispatch",
    passed="Each dispatch had a brief by the time it started.",
    failed="No brief was issued by the time these dispatches started. Most traces fail this: "
    "the protocol itself issues a brief after the dispatch has started, within a round.",
)
def brief_before_each_dispatch(log: EventLog) -> Considered:
    """I8: each ``dispatch-start`` has a ``brief-issued`` of its dispatch, no later than it."""

    def of(event: Event) -> tuple[str, str]:
        return event.run_id, event.text("dispatch_id")

    issued = _least((of(event), event.ts) for event in log.of("brief-issued"))
    starts = log.of("dispatch-start")
    unbriefed = [each for each in starts if of(each) not in issued or issued[of(each)] > each.ts]
    return Considered(starts, unbriefed)


@assertion(
    "I10",
    "A project spec has a definition of done",
    passed="Each project spec has items in its definition of done.",
    failed="A project spec has no item in its definition of done.",
)
def projects_define_done(log: EventLog) -> Considered:
    """I10: each project-kind spec has items in its definition of done, whenever it is written.

    It rests on the authored specs alone, but an amendment can break it.
    """
    specs = [
        event
        for event in log.of("spec-authored", "spec-amended")
        if event.text("spec_kind") == "project"
    ]
    without = [event for event in specs if event.number("dod_items_count") == 0]
    return Considered(specs, without, [event for event in specs if event.name == "spec-authored"])


@assertion(
    "Cascade-3",
    "Triage ends in a delivery shape",
    passed="Each triage-verdict names a delivery shape; the vocabulary allows nothing else.",
)
def triage_ends_in_a_shape(log: EventLog) -> Considered:
    """Cascade-3: the vocabulary lets a ``triage-verdict`` be nothing but a delivery shape."""
    return Considered(log.of("triage-verdict"))


@assertion(
    "BD-8",
    "A brief is shorter than the slice's spec",
    passed="Each brief is shorter than the shortest slice spec of its run.",
    failed="A brief is not shorter than the shortest slice spec of its run.",
    without=AssertionResult(
        CheckResult.NOT_CHECKABLE,
        (),
        "No run here has both a brief and a slice's spec, so there is nothing to compare.",
    ),
)
def briefs_are_shorter_than_specs(log: EventLog) -> Considered:
    """BD-8: a brief is shorter than the shortest slice-kind ``spec-authored`` of its run."""
    shortest = _least(
        (event.run_id, event.number("byte_length"))
        for event in log.of("spec-authored")
        if event.text("spec_kind") == "slice"
    )
    briefs = [event for event in log.of("brief-issued") if event.run_id in shortest]
    long = [each for each in briefs if each.number("brief_byte_length") >= shortest[each.run_id]]
    return Considered(briefs, long)


# Those that no trace decides

_LISTED: dict[str, Callable[[EventLog], Sequence[Event]]] = {
    "I12": lambda log: log.of("falsified-assumption"),
    "Cascade-4": lambda log: log.of("falsified-assumption"),
    "BD-9": lambda log: [
        each for each in log.of("brief-issued") if each.text("brief_disposition") == "amended"
    ],
}
"""The events that a person may look at: halts that call for a discussion or an amendment, and
briefs whose content changed within a dispatch.
"""


def _undecided() -> Iterable[Assertion]:
    """Lines that begin with an id each, over the reason that they share, which is indented."""
    text = shipped(__package__, "undecided.txt")
    for titles, reason in re.findall(r"((?:^\S.*\n)+)((?:^ .*\n)+)", text, re.MULTILINE):
        for title in titles.splitlines():
            id_, _, demand = title.partition(": ")
            yield Assertion(id_, demand, _not_checkable(id_, " ".join(reason.split())))


def _not_checkable(id_: str, reason: str) -> Callable[[EventLog], AssertionResult]:
    listed = _LISTED.get(id_)
    return lambda log: AssertionResult(
        CheckResult.NOT_CHECKABLE, listed(log) if listed else (), reason
    )


def _place(each: Assertion) -> tuple[int, int]:
    group, number = re.findall("[A-Za-z]+|[0-9]+", each.id)
    return ("I", "Cascade", "BD").index(group), int(number)


ASSERTIONS: Sequence[Assertion] = sorted([*_ASSERTIONS, *_undecided()], key=_place)
"""Every assertion, in the order in which they are shown."""


_LACKING = {
    "I4": ("slice-started", "triage-verdict"),
    "I6": ("spec-authored", "plan-authored"),
    "I8": ("brief-issued",),
}
"""The events that are missing where these fail."""


def check_all(
    log: EventLog, rejected: Mapping[str, Sequence[int]] = MappingProxyType({})
) -> tuple[Checked, ...]:
    """Hold the events against every assertion. ``rejected`` are the lines by event that readers
    reject: where one fails, these may be what is missing, and its note says so.
    """
    found = []
    for each in ASSERTIONS:
        result = each.check(log)
        for name in _LACKING.get(each.id, ()) if result.status is CheckResult.FAIL else ():
            if name in rejected:
                lines = numbered_lines(rejected[name], _MOST_LINES)
                missing = f" Readers reject {name} on {lines}, which may be what is missing."
                result = result._replace(note=result.note + missing)
        found.append(Checked(each, result))
    return tuple(found)
