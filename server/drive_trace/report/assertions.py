"""The 31 assertions of the Drive method: rules that a trace may confirm or break.

Some assertions cannot be decided from a trace, and say why. One that does not apply is no pass;
the reference calls it one, except BD-8.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from drive_trace.report.event_log import Event, EventLog


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


@dataclass(frozen=True, slots=True)
class Assertion:
    """The declaration of one assertion."""

    id: str
    title: str
    """What it demands, as a statement."""
    check: Callable[[EventLog], AssertionResult]


class Checked(NamedTuple):
    """An assertion with its outcome."""

    assertion: Assertion
    outcome: AssertionResult


def assertion(id_: str, title: str) -> Callable[[Callable[[EventLog], AssertionResult]], Assertion]:
    """Declare an assertion by the function that checks it."""

    def declare(check: Callable[[EventLog], AssertionResult]) -> Assertion:
        return Assertion(id_, title, check)

    return declare


def outcome_of(
    looked_at: Sequence[Event], broken_by: Sequence[Event], failed: str, passed: str
) -> AssertionResult:
    """Fails with the events that break it, else passes with those that were looked at; it does not
    apply where there were none.
    """
    if broken_by:
        return AssertionResult(CheckResult.FAIL, broken_by, failed)
    if not looked_at:
        return AssertionResult(CheckResult.NOT_APPLICABLE, (), "It does not apply here.")
    return AssertionResult(CheckResult.PASS, looked_at, passed)


def not_checkable(
    id_: str,
    title: str,
    reason: str,
    supporting: Callable[[EventLog], Sequence[Event]] | None = None,
) -> Assertion:
    """An assertion that no trace can decide; ``supporting`` are events for a person to look at."""

    def check(log: EventLog) -> AssertionResult:
        return AssertionResult(
            CheckResult.NOT_CHECKABLE, supporting(log) if supporting else (), reason
        )

    return Assertion(id_, title, check)


_BRIEF_TEXT = "A trace holds a brief's length and hash, not its text."


def falsified_assumptions(log: EventLog) -> Sequence[Event]:
    """The halts: each called for a discussion or an amendment."""
    return log.of("falsified-assumption")


def amended_briefs(log: EventLog) -> Sequence[Event]:
    """The briefs whose content changed within a dispatch."""
    return [
        event for event in log.of("brief-issued") if event.text("brief_disposition") == "amended"
    ]


_DIRECT = "direct-"
"""How the ids of runs begin that make one change directly, without a spec or plan."""
_CHANGE = "direct-change"


@assertion("I1", "A slice delivers one pull request")
def one_pull_request_a_slice(log: EventLog) -> AssertionResult:
    """I1: no ``slice_slug`` has two ``slice-completed``."""
    completed = log.of("slice-completed")
    times = Counter(event.text("slice_slug") for event in completed)
    again = [event for event in completed if times[event.text("slice_slug")] > 1]
    return outcome_of(
        completed,
        again,
        "A slice_slug has more than one slice-completed, in one run or in several.",
        "Each slice was completed once.",
    )


@assertion("I4", "A project has slices, or is a direct change")
def projects_have_slices(log: EventLog) -> AssertionResult:
    """I4: a run with ``project-started`` has a slice, or was triaged as a direct change."""
    delivering = {event.run_id for event in log.of("slice-started")} | {
        event.run_id for event in log.of("triage-verdict") if event.text("verdict") == _CHANGE
    }
    firsts: dict[str, Event] = {}
    for event in log.of("project-started"):
        firsts.setdefault(event.run_id, event)
    without = [event for run_id, event in firsts.items() if run_id not in delivering]
    return outcome_of(
        list(firsts.values()),
        without,
        "A project has neither a slice-started nor a direct-change triage-verdict.",
        "Each project has a slice, or was triaged as a direct change.",
    )


@assertion("I6", "Spec and plan come before implementation")
def spec_and_plan_come_first(log: EventLog) -> AssertionResult:
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
    return outcome_of(
        starts,
        early,
        "Dispatches started before their run had both a spec-authored and a plan-authored.",
        "Each dispatch started after its run's spec and plan; runs named direct-… need none.",
    )


def _earliest(events: Sequence[Event]) -> dict[str, str]:
    first: dict[str, str] = {}
    for event in events:
        first[event.run_id] = min(first.get(event.run_id, event.ts), event.ts)
    return first


@assertion("I8", "A brief comes before each dispatch")
def brief_before_each_dispatch(log: EventLog) -> AssertionResult:
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
    return outcome_of(
        starts,
        unbriefed,
        "No brief was issued by the time these dispatches started. Most traces fail this: "
        "the protocol itself issues a brief after the dispatch has started, within a round.",
        "Each dispatch had a brief by the time it started.",
    )


@assertion("I10", "A project spec has a definition of done")
def projects_define_done(log: EventLog) -> AssertionResult:
    """I10: each project-kind spec has items in its definition of done, whenever it is written.

    It rests on the authored specs alone, but an amendment can break it.
    """
    specs = [
        event
        for event in log.of("spec-authored", "spec-amended")
        if event.text("spec_kind") == "project"
    ]
    without = [event for event in specs if event.number("dod_items_count") == 0]
    passed = "Each project spec has items in its definition of done."
    if specs and not without:
        authored = [event for event in specs if event.name == "spec-authored"]
        return AssertionResult(CheckResult.PASS, authored, passed)
    return outcome_of(
        specs, without, "A project spec has no item in its definition of done.", passed
    )


@assertion("Cascade-3", "Triage ends in a delivery shape")
def triage_ends_in_a_shape(log: EventLog) -> AssertionResult:
    """Cascade-3: the vocabulary lets a ``triage-verdict`` be nothing but a delivery shape."""
    passed = "Each triage-verdict names a delivery shape; the vocabulary allows nothing else."
    return outcome_of(log.of("triage-verdict"), (), "", passed)


@assertion("BD-8", "A brief is shorter than the slice's spec")
def briefs_are_shorter_than_specs(log: EventLog) -> AssertionResult:
    """BD-8: a brief is shorter than the shortest slice-kind ``spec-authored`` of its run."""
    shortest: dict[str, int] = {}
    for event in log.of("spec-authored"):
        if event.text("spec_kind") == "slice":
            length = event.number("byte_length")
            shortest[event.run_id] = min(shortest.get(event.run_id, length), length)
    briefs = [event for event in log.of("brief-issued") if event.run_id in shortest]
    if not briefs:
        note = "No run here has both a brief and a slice's spec, so there is nothing to compare."
        return AssertionResult(CheckResult.NOT_CHECKABLE, (), note)
    long = [
        event for event in briefs if event.number("brief_byte_length") >= shortest[event.run_id]
    ]
    return outcome_of(
        briefs,
        long,
        "A brief is not shorter than the shortest slice spec of its run.",
        "Each brief is shorter than the shortest slice spec of its run.",
    )


ASSERTIONS: Sequence[Assertion] = (
    one_pull_request_a_slice,
    not_checkable(
        "I2",
        "Scope is bounded by the spec",
        "A trace holds neither the spec's text nor the changes that were made.",
    ),
    not_checkable(
        "I3",
        "The kind of a spec or plan never changes",
        "A trace records the kind with each event, not the artefact that it is a fact about.",
    ),
    projects_have_slices,
    not_checkable(
        "I5",
        "Orphan slices are allowed",
        "It permits something, so that nothing in a trace could break it.",
    ),
    spec_and_plan_come_first,
    not_checkable(
        "I7",
        "The purpose is immutable once work starts",
        "A trace records that a spec changed, not whether its purpose did.",
    ),
    brief_before_each_dispatch,
    not_checkable(
        "I9",
        "Every slice has or inherits a definition of done",
        "A trace does not say which spec a slice is built from, nor what it inherits.",
    ),
    projects_define_done,
    not_checkable(
        "I11",
        "Work is sized by coherence",
        "A trace records sizes, not what belongs together.",
    ),
    not_checkable(
        "I12",
        "No silent amendment after the first dispatch",
        "A silent amendment is one that left no event. "
        "The falsified assumptions that were recorded are listed.",
        falsified_assumptions,
    ),
    not_checkable(
        "Cascade-1",
        "Each level has its template",
        "A trace does not hold the texts of specs and plans.",
    ),
    not_checkable(
        "Cascade-2",
        "Content stands at the lowest level that loses nothing",
        "A trace does not hold the texts of specs and plans.",
    ),
    triage_ends_in_a_shape,
    not_checkable(
        "Cascade-4",
        "Discussion is triggered by a signal",
        "Discussions are not recorded. "
        "The falsified assumptions, which are such signals, are listed.",
        falsified_assumptions,
    ),
    not_checkable(
        "Cascade-5",
        "The executor has its standing instruction",
        "What a sub-agent was told beside its brief is not recorded.",
    ),
    not_checkable(
        "Cascade-6",
        "The reviewer does not run validation again",
        "The commands that sub-agents run are not recorded.",
    ),
    not_checkable(
        "Cascade-7",
        "The team's definition of done lives in project context",
        "A trace does not hold the project's context files.",
    ),
    not_checkable(
        "Cascade-8",
        "Internal labels stay out of messages to people",
        "Messages to people are not recorded.",
    ),
    not_checkable("BD-1", 'No brief says "do what\'s needed"', _BRIEF_TEXT),
    not_checkable("BD-2", 'Every brief says "completed when"', _BRIEF_TEXT),
    not_checkable("BD-3", 'Every brief says "out of scope"', _BRIEF_TEXT),
    not_checkable("BD-4", "No brief decomposes the work file by file", _BRIEF_TEXT),
    not_checkable("BD-5", "No brief walks through every edge case", _BRIEF_TEXT),
    not_checkable("BD-6", "Completion criteria are verifiable", _BRIEF_TEXT),
    not_checkable(
        "BD-7",
        "The brief names the model tier",
        f"{_BRIEF_TEXT} The model of a dispatch is recorded, but not whether the brief named it.",
    ),
    briefs_are_shorter_than_specs,
    not_checkable(
        "BD-9",
        "The executor does not rewrite the brief",
        "A trace does not say who changed a brief. The briefs marked amended are listed.",
        amended_briefs,
    ),
    not_checkable("BD-10", 'No brief says "minimise changes"', _BRIEF_TEXT),
    not_checkable(
        "BD-11", "Briefs are not written by sub-agents", "A trace does not say who wrote a brief."
    ),
)
"""Every assertion, in the order in which they are shown."""


def check_all(log: EventLog) -> tuple[Checked, ...]:
    """Hold the events against every assertion."""
    return tuple(Checked(assertion, assertion.check(log)) for assertion in ASSERTIONS)
