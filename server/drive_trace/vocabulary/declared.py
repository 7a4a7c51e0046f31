"""The events, declared family by family; and put together: for pydantic, and to be written down."""

from typing import Annotated, Literal

from msgspec.structs import replace
from pydantic import Field
from typing_extensions import TypedDict

from drive_trace.vocabulary import declaring, types
from drive_trace.vocabulary.declaring import (
    DECLARED,
    ENVELOPE,
    Envelope,
    IsOutcome,
    Null,
    Tokens,
    event,
)
from drive_trace.vocabulary.registry import EventType, Vocabulary
from drive_trace.vocabulary.types import Entity, Family

# The build loop: dispatches to sub-agents, the rounds within them, and their briefs


class _OfDispatch(Envelope):
    dispatch_id: Annotated[str, declaring.Names(Entity.DISPATCH)]
    """The dispatch this event belongs to (UUID)."""


class _OfRound(_OfDispatch):
    round_id: Annotated[str, declaring.Names(Entity.ROUND)]
    """The round this event belongs to (UUID)."""


@event(Family.BUILD_LOOP, is_work=True, opens=Entity.DISPATCH, keeps=("dispatch_name", "model"))
class DispatchStart(Envelope):
    """One delegation to a sub-agent begins. Emitted just before delegating.

    Example: {"dispatch_id": "77ce3f13-a067-4f13-a4e0-93dbae3137ae",
    "dispatch_name": "implementer D1 R1", "subagent_type": "generalPurpose", "model": "composer-2",
    "parent_dispatch_id": null}
    """

    event_type: Literal["dispatch-start"]  # type: ignore[misc]
    dispatch_id: Annotated[
        str, declaring.Names(Entity.DISPATCH), declaring.Written(types.Form.UUID)
    ]
    """Names the dispatch that starts (UUID)."""
    dispatch_name: str
    """What people call the dispatch, such as `implementer D1 R1`."""
    subagent_type: str
    """The kind of sub-agent delegated to, such as `generalPurpose`."""
    model: Annotated[str | None, Null("the model was not recorded")]
    """The model that the sub-agent runs on, or null."""
    parent_dispatch_id: Annotated[
        str | None, declaring.Names(Entity.DISPATCH), Null("no earlier dispatch is resumed")
    ]
    """The earlier dispatch that this one resumes, or null."""


@event(Family.BUILD_LOOP, is_work=True, closes=Entity.DISPATCH, keeps=("result", "wall_clock_ms"))
class DispatchEnd(_OfDispatch):
    """A dispatch is over. Emitted when the sub-agent has returned for the last time.

    Example: {"dispatch_id": "77ce3f13-a067-4f13-a4e0-93dbae3137ae", "result": "completed",
    "wall_clock_ms": 1680000}
    """

    event_type: Literal["dispatch-end"]  # type: ignore[misc]
    result: Annotated[Literal["completed", "failed", "aborted"], declaring.IsOutcome()]
    """How the dispatch ended.

    - `completed`: the sub-agent delivered
    - `failed`: the sub-agent could not deliver
    - `aborted`: the dispatch was stopped before it could deliver
    """
    wall_clock_ms: declaring.Milliseconds
    """How long the dispatch took: this event's `ts` minus its start's."""


@event(Family.BUILD_LOOP, is_work=True, opens=Entity.ROUND, keeps=("round_number",))
class RoundStart(_OfDispatch):
    """One round of a dispatch begins: implement, review, triage.

    Example: {"dispatch_id": "77ce3f13-a067-4f13-a4e0-93dbae3137ae",
    "round_id": "5cd5061c-9c5f-419e-834c-1b69573ac59a", "round_number": 1}
    """

    event_type: Literal["round-start"]  # type: ignore[misc]
    round_id: Annotated[str, declaring.Names(Entity.ROUND), declaring.Written(types.Form.UUID)]
    """Names the round that starts (UUID)."""
    round_number: declaring.Ordinal
    """The round's place in its dispatch, counted from 1."""


@event(
    Family.BUILD_LOOP,
    is_work=True,
    closes=Entity.ROUND,
    keeps=("verdict", "findings_filed", "wall_clock_ms"),
)
class RoundEnd(_OfRound):
    """A round is over. Emitted when its findings are triaged and it is known what comes next.

    Example: {"dispatch_id": "77ce3f13-a067-4f13-a4e0-93dbae3137ae",
    "round_id": "5cd5061c-9c5f-419e-834c-1b69573ac59a", "verdict": "satisfied", "findings_filed": 0,
    "wall_clock_ms": 1260000}
    """

    event_type: Literal["round-end"]  # type: ignore[misc]
    verdict: Annotated[
        Literal["satisfied", "another-round-needed", "escalating-to-user", "stop-condition"],
        declaring.IsOutcome(),
    ]
    """What the round's review decided.

    - `satisfied`: the work is accepted; the dispatch can end
    - `another-round-needed`: findings remain; the dispatch goes another round
    - `escalating-to-user`: a person has to decide
    - `stop-condition`: a stop condition was met; the dispatch ends unaccepted
    """
    findings_filed: declaring.Count
    """How many findings the review filed."""
    wall_clock_ms: declaring.Milliseconds
    """How long the round took: this event's `ts` minus its start's."""


@event(
    Family.BUILD_LOOP,
    glyph="▫",
    is_work=True,
    keeps=("brief_byte_length", "brief_content_hash", "brief_disposition"),
)
class BriefIssued(_OfRound):
    """A brief is handed to the sub-agent. Emitted between round-start and the delegation.

    Example: {"dispatch_id": "77ce3f13-a067-4f13-a4e0-93dbae3137ae",
    "round_id": "5cd5061c-9c5f-419e-834c-1b69573ac59a", "brief_byte_length": 4182,
    "brief_content_hash": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "brief_disposition": "initial"}
    """

    event_type: Literal["brief-issued"]  # type: ignore[misc]
    brief_byte_length: declaring.Bytes
    """The brief's length."""
    brief_content_hash: Annotated[str, declaring.Written(types.Form.HASH)]
    """The brief's sha256, in hexadecimal."""
    brief_disposition: Literal["initial", "reissue", "amended"]
    """How the brief relates to the earlier briefs of its dispatch.

    - `initial`: the first brief of the dispatch
    - `reissue`: the same content as an earlier brief of the dispatch
    - `amended`: different content from every earlier brief of the dispatch
    """


BuildLoopEvent = DispatchStart | DispatchEnd | RoundStart | RoundEnd | BriefIssued


# Planning: specs, plans, triage and the assumptions that turned out false


Kind = Literal["project", "slice"]
SpecReason = Literal[
    "falsified-assumption",
    "new-edge-case",
    "scope-shift",
    "operator-correction",
    "replan-from-discussion",
]
OfSlicePlan = Annotated[declaring.Count | None, Null("only slice plans plan dispatches")]
BytesDelta = Annotated[int, declaring.Unit("bytes")]


class DispatchSizes(TypedDict):
    """How many dispatches a slice plan has of each size."""

    S: declaring.Count
    """Small dispatches."""
    M: declaring.Count
    """Medium dispatches."""
    L: declaring.Count
    """Large dispatches."""
    XL: declaring.Count
    """Extra large dispatches."""


declaring.in_schema(DispatchSizes, declaring.fields_of(DispatchSizes), extra="forbid")


class _Spec(Envelope):
    spec_path: declaring.ArtifactPath
    """Where the spec lies."""
    spec_kind: Kind
    """What the spec covers.

    - `project`: covers a whole project
    - `slice`: covers one slice
    """
    byte_length: declaring.Bytes
    """The spec's length."""
    edge_cases_count: Annotated[declaring.Count | None, Null("only slice specs list edge cases")]
    """How many edge cases it lists; null for project specs."""
    open_questions_count: declaring.Count
    """How many questions it leaves open."""
    dod_items_count: declaring.Count
    """How many items its definition of done has."""


class _Plan(Envelope):
    plan_path: declaring.ArtifactPath
    """Where the plan lies."""
    plan_kind: Kind
    """What the plan covers.

    - `project`: covers a whole project
    - `slice`: covers one slice
    """
    byte_length: declaring.Bytes
    """The plan's length."""
    dispatch_count: OfSlicePlan
    """How many dispatches a slice plan has; else null."""
    slice_count: Annotated[declaring.Count | None, Null("only project plans plan slices")]
    """How many slices a project plan has; else null."""
    dispatch_size_distribution: Annotated[
        DispatchSizes | None, Null("only slice plans plan dispatches")
    ]
    """How many dispatches of each size a slice plan has; else null."""
    open_items_count: declaring.Count
    """How many items it leaves open."""


@event(
    Family.PLANNING,
    glyph="◆",
    is_work=True,
    keeps=("spec_kind", "byte_length", "dod_items_count"),
    leads_to=("plan-authored",),
)
class SpecAuthored(_Spec):
    """A spec was written for the first time.

    Example: {"spec_path": "projects/checkout-retry/slices/retry-queue/spec.md",
    "spec_kind": "slice", "byte_length": 8705, "edge_cases_count": 4, "open_questions_count": 0,
    "dod_items_count": 5}
    """

    event_type: Literal["spec-authored"]  # type: ignore[misc]


@event(
    Family.PLANNING,
    glyph="◇",
    is_work=True,
    keeps=("spec_kind", "byte_length", "bytes_delta", "reason", "dod_items_count"),
    leads_to=("plan-amended",),
)
class SpecAmended(_Spec):
    """An existing spec was changed.

    Example: {"spec_path": "projects/checkout-retry/slices/retry-queue/spec.md",
    "spec_kind": "slice", "byte_length": 9120, "edge_cases_count": 4, "open_questions_count": 0,
    "dod_items_count": 5, "bytes_delta": 415, "reason": "new-edge-case",
    "sections_changed": ["Edge cases"]}
    """

    event_type: Literal["spec-amended"]  # type: ignore[misc]
    bytes_delta: BytesDelta
    """How much longer (or shorter: negative) it is than before."""
    reason: SpecReason
    """Why the spec had to be changed.

    - `falsified-assumption`: something taken for granted turned out false
    - `new-edge-case`: a case came up that was not covered
    - `scope-shift`: the scope changed
    - `operator-correction`: the operator corrected it
    - `replan-from-discussion`: a discussion led to another plan
    """
    sections_changed: list[str]
    """The headings of the sections that changed."""


@event(
    Family.PLANNING, glyph="▲", is_work=True, keeps=("plan_kind", "byte_length", "dispatch_count")
)
class PlanAuthored(_Plan):
    """A plan was written for the first time.

    Example: {"plan_path": "projects/checkout-retry/slices/retry-queue/plan.md",
    "plan_kind": "slice", "byte_length": 4747, "dispatch_count": 6, "slice_count": null,
    "dispatch_size_distribution": {"S": 3, "M": 3, "L": 0, "XL": 0}, "open_items_count": 0}
    """

    event_type: Literal["plan-authored"]  # type: ignore[misc]


@event(
    Family.PLANNING,
    glyph="△",
    is_work=True,
    keeps=(
        *("plan_kind", "byte_length", "bytes_delta", "reason"),
        *("dispatch_count", "dispatches_added", "dispatches_removed"),
    ),
)
class PlanAmended(_Plan):
    """An existing plan was changed.

    Example: {"plan_path": "projects/checkout-retry/slices/retry-queue/plan.md",
    "plan_kind": "slice", "byte_length": 4990, "dispatch_count": 7, "slice_count": null,
    "dispatch_size_distribution": {"S": 4, "M": 3, "L": 0, "XL": 0}, "open_items_count": 0,
    "bytes_delta": 243, "reason": "dispatch-added", "dispatches_added": 1, "dispatches_removed": 0,
    "dispatches_resized": 0}
    """

    event_type: Literal["plan-amended"]  # type: ignore[misc]
    bytes_delta: BytesDelta
    """How much longer (or shorter: negative) it is than before."""
    reason: Literal[SpecReason, "dispatch-resize", "dispatch-added", "dispatch-removed"]
    """Why the plan had to be changed.

    - `falsified-assumption`: something taken for granted turned out false
    - `new-edge-case`: a case came up that was not covered
    - `scope-shift`: the scope changed
    - `operator-correction`: the operator corrected it
    - `replan-from-discussion`: a discussion led to another plan
    - `dispatch-resize`: a dispatch was given another size
    - `dispatch-added`: a dispatch was added
    - `dispatch-removed`: a dispatch was removed
    """
    dispatches_added: OfSlicePlan
    """Dispatches added to a slice plan; else null."""
    dispatches_removed: OfSlicePlan
    """Dispatches removed from a slice plan; else null."""
    dispatches_resized: OfSlicePlan
    """Dispatches of a slice plan given another size; else null."""


@event(
    Family.PLANNING,
    glyph="▷",
    keeps=("verdict", "input_ref"),
    leads_to=("project-started", "slice-started", "spec-authored"),
)
class TriageVerdict(Envelope):
    """It was decided what shape a piece of incoming work takes.

    Example: {"verdict": "in-project-slice", "input_shape": "linear-ticket",
    "input_ref": "SHOP-214"}
    """

    event_type: Literal["triage-verdict"]  # type: ignore[misc]
    verdict: Annotated[
        Literal[
            "direct-change",
            "orphan-slice",
            "in-project-slice",
            "new-project",
            "promote",
            "demote",
            "spike-first",
            "defer",
        ],
        declaring.IsOutcome(),
    ]
    """The shape the work takes.

    - `direct-change`: small enough to be changed directly
    - `orphan-slice`: one slice that belongs to no project
    - `in-project-slice`: a slice of an existing project
    - `new-project`: a project of its own
    - `promote`: a slice or change becomes a project
    - `demote`: a project becomes a slice or change
    - `spike-first`: to be explored before it can be decided
    - `defer`: not now
    """
    input_shape: Literal[
        "linear-ticket",
        "chat-ask",
        "customer-ask",
        "bug-report",
        "mid-flight-scope-signal",
        "i-should-do-x-thought",
    ]
    """The shape in which the work came in.

    - `linear-ticket`: a ticket in Linear
    - `chat-ask`: a request in a chat
    - `customer-ask`: a customer's request
    - `bug-report`: a report of a defect
    - `mid-flight-scope-signal`: something that came up during other work
    - `i-should-do-x-thought`: somebody's own idea
    """
    input_ref: Annotated[
        str | None, declaring.Refers(types.Reference.TICKET), Null("it came from no ticket")
    ]
    """The ticket it came from, or null."""


@event(Family.PLANNING, glyph="!", keeps=("triggered_by",), leads_to=("spec-amended",))
class FalsifiedAssumption(Envelope):
    """Something that a spec or plan took for granted turned out false, and work halted for it
    (an "I12 halt").

    Example: {"artifact_path": "projects/checkout-retry/spec.md",
    "triggered_by": "implementer-pushback",
    "assumption_summary": "The payment gateway does not repeat its callbacks after all."}
    """

    event_type: Literal["falsified-assumption"]  # type: ignore[misc]
    artifact_path: declaring.ArtifactPath
    """The spec or plan that rests on the assumption."""
    triggered_by: Literal[
        "implementer-pushback",
        "wip-inspection",
        "dispatch-blocked",
        "health-check-drift",
        "orchestrator-self-detected",
        "operator-flagged",
    ]
    """How it came to light.

    - `implementer-pushback`: the implementer objected
    - `wip-inspection`: work in progress was inspected
    - `dispatch-blocked`: a dispatch could not go on
    - `health-check-drift`: a health check found drift
    - `orchestrator-self-detected`: the orchestrator noticed
    - `operator-flagged`: the operator pointed it out
    """
    assumption_summary: Annotated[str | None, Null("it was not put into words")]
    """The assumption in a sentence, or null."""


PlanningEvent = (
    SpecAuthored | SpecAmended | PlanAuthored | PlanAmended | TriageVerdict | FalsifiedAssumption
)


# The lifecycle of a project and its slices, health checks and retros


@event(
    Family.LIFECYCLE, glyph="⊢", opens=Entity.RUN, keeps=("origin",), leads_to=("spec-authored",)
)
class ProjectStarted(Envelope):
    """A project begins.

    Example: {"project_slug": "checkout-retry", "origin": "new-project", "has_linear_project": true}
    """

    event_type: Literal["project-started"]  # type: ignore[misc]
    project_slug: str
    """The project's short name, as its folder is called."""
    origin: Literal["new-project", "promote"]
    """How the project came about.

    - `new-project`: triage called for a project from the start
    - `promote`: a smaller piece of work grew into a project
    """
    has_linear_project: bool
    """Whether the project has a counterpart in Linear."""


@event(
    Family.LIFECYCLE,
    glyph="⊣",
    closes=Entity.RUN,
    keeps=("dod_status", "slices_completed", "final_retro_done"),
)
class ProjectClosed(Envelope):
    """A project is over.

    Example: {"dod_status": "all-met", "slices_completed": 2, "final_retro_done": true}
    """

    event_type: Literal["project-closed"]  # type: ignore[misc]
    dod_status: Annotated[
        Literal["all-met", "some-deferred", "some-cancelled"], declaring.IsOutcome()
    ]
    """What became of the project's definition of done.

    - `all-met`: every item of the definition of done is met
    - `some-deferred`: some items were put off to later work
    - `some-cancelled`: some items were dropped
    """
    slices_completed: declaring.Count
    """How many slices were completed."""
    final_retro_done: Annotated[bool, declaring.IsOutcome()]
    """Whether the mandatory final retro has been held."""


class _OfSlice(Envelope):
    slice_slug: Annotated[str, declaring.Names(Entity.SLICE)]
    """The slice's short name, as its folder under `slices/` is called."""


@event(
    Family.LIFECYCLE,
    glyph="◖",
    opens=Entity.SLICE,
    keeps=("slice_index",),
    leads_to=("spec-authored",),
)
class SliceStarted(_OfSlice):
    """Work on a slice begins. A slice delivers one pull request.

    Example: {"slice_slug": "retry-queue", "slice_index": 1, "linear_ref": "SHOP-214"}
    """

    event_type: Literal["slice-started"]  # type: ignore[misc]
    slice_index: declaring.Ordinal
    """The slice's place in its project, counted from 1."""
    linear_ref: Annotated[
        str | None, declaring.Refers(types.Reference.TICKET), Null("it has no ticket")
    ]
    """The slice's Linear ticket, or null."""


@event(
    Family.LIFECYCLE,
    glyph="◗",
    closes=Entity.SLICE,
    keeps=("result",),
    leads_to=("health-check-fired",),
)
class SliceCompleted(_OfSlice):
    """Work on a slice is over.

    Example: {"slice_slug": "retry-queue", "result": "merged", "pr_ref": "#481"}
    """

    event_type: Literal["slice-completed"]  # type: ignore[misc]
    result: Annotated[Literal["merged", "abandoned"], declaring.IsOutcome()]
    """How the slice ended.

    - `merged`: its pull request was merged
    - `abandoned`: it was given up
    """
    pr_ref: Annotated[
        str | None, declaring.Refers(types.Reference.PULL_REQUEST), Null("it has no pull request")
    ]
    """The slice's pull request, or null."""


@event(
    Family.LIFECYCLE,
    glyph="✚",
    keeps=("cadence", "drift_signal_count", "max_drift_severity"),
    leads_to=("slice-started", "retro-landed"),
)
class HealthCheckFired(Envelope):
    """The project was checked for drift between its plans and what is being built.

    Example: {"cadence": "per-slice-merge", "drift_signal_count": 1, "max_drift_severity": "low",
    "recommended_next": "amend the plan of slice 2"}
    """

    event_type: Literal["health-check-fired"]  # type: ignore[misc]
    cadence: Literal[
        "opening-rollup", "per-slice-merge", "closing-rollup", "session-bookend", "trigger-fired"
    ]
    """What made the check fire.

    - `opening-rollup`: at the start of the project
    - `per-slice-merge`: after a slice was merged
    - `closing-rollup`: at the end of the project
    - `session-bookend`: at the start or end of a working session
    - `trigger-fired`: because something called for it
    """
    drift_signal_count: declaring.Count
    """How many signs of drift were found."""
    max_drift_severity: Annotated[Literal["none", "low", "medium", "high"], declaring.IsOutcome()]
    """How serious the worst sign was.

    - `none`: no drift (exactly when the count is 0)
    - `low`: drift that can wait
    - `medium`: drift to deal with soon
    - `high`: drift to deal with before going on
    """
    recommended_next: Annotated[str | None, Null("it recommends nothing")]
    """What the check recommends to do next, or null."""


@event(
    Family.LIFECYCLE,
    glyph="✎",
    keeps=("trigger_class", "is_mandatory_final"),
    leads_to=("project-closed",),
)
class RetroLanded(Envelope):
    """What was learnt in a retro has been written down where it will be found.

    Example: {"trigger_class": "mandatory-final", "landing_surfaces": ["canonical-skill", "adr"],
    "is_mandatory_final": true}
    """

    event_type: Literal["retro-landed"]  # type: ignore[misc]
    trigger_class: Literal[
        "dispatch-failure",
        "drift-event",
        "scope-shift-escapee",
        "wip-inspection-finding",
        "operator-flagged-surprise",
        "mandatory-final",
    ]
    """What the retro was held for.

    - `dispatch-failure`: a dispatch failed
    - `drift-event`: drift was found
    - `scope-shift-escapee`: a shift of scope went unnoticed
    - `wip-inspection-finding`: an inspection of work in progress found something
    - `operator-flagged-surprise`: the operator was surprised
    - `mandatory-final`: the retro that every project ends with
    """
    landing_surfaces: list[Literal["canonical-skill", "project-context-readme", "adr"]]
    """Where the lessons were written down.

    - `canonical-skill`: a skill that every project uses
    - `project-context-readme`: the project's own context file
    - `adr`: an architecture decision record
    """
    is_mandatory_final: bool
    """True exactly when `trigger_class` is `mandatory-final`."""


LifecycleEvent = (
    ProjectStarted | ProjectClosed | SliceStarted | SliceCompleted | HealthCheckFired | RetroLanded
)


# The experiment feeds: recorded about a run from outside, after it; the last of each counts

Outcome = Annotated[Literal["pass", "fail"], IsOutcome()]
Component = Annotated[Outcome | None, Null("not recorded, so that the verdict cannot be computed")]
TokenCount = Annotated[Tokens | None, Null("not known, which is not 0")]


@event(Family.FEEDS, glyph="●", leads_to=("correctness-recorded",))
class TokensRecorded(Envelope):
    """What the run cost in tokens. Appended once after the run; a later one replaces it whole.
    The fields mirror the Cursor SDK's `TurnEndedUpdate.usage` (`inputTokens`, `outputTokens`,
    `cacheReadTokens`, `cacheWriteTokens`). Runs made by hand never have it.

    Example: {"input_tokens": 1912408, "output_tokens": 42117, "cache_read_tokens": 1204551,
    "cache_write_tokens": null}
    """

    event_type: Literal["tokens-recorded"]  # type: ignore[misc]
    input_tokens: TokenCount
    """Tokens read by the models; null where not known."""
    output_tokens: TokenCount
    """Tokens written by the models; null where not known."""
    cache_read_tokens: TokenCount
    """Tokens read from the cache; null where not known."""
    cache_write_tokens: TokenCount
    """Tokens written to the cache; null where not known."""


@event(Family.FEEDS, glyph="★")
class CorrectnessRecorded(Envelope):
    """The external correctness signal of the run. Appended after the run; a later one replaces
    it whole, nulls included, so that recording one component means repeating the others.

    Example: {"mechanical": "pass", "qa": "pass", "intent": "pass"}
    """

    event_type: Literal["correctness-recorded"]  # type: ignore[misc]
    mechanical: Component
    """The mechanical gates: type check, tests, lint. Null: not recorded.

    - `pass`: the check ran and passed
    - `fail`: the check ran and failed
    """
    qa: Component
    """The QA run. Null: not recorded.

    - `pass`: the check ran and passed
    - `fail`: the check ran and failed
    """
    intent: Component
    """The judge's verdict on whether the work does what was meant. Null: not recorded.

    - `pass`: the check ran and passed
    - `fail`: the check ran and failed
    """


FeedEvent = TokensRecorded | CorrectnessRecorded


# All events

AnyEvent = BuildLoopEvent | PlanningEvent | LifecycleEvent | FeedEvent
TraceEvent = Annotated[AnyEvent, Field(discriminator="event_type")]
"""Any event: a dictionary, whose other fields follow from its ``event_type``. Type checkers narrow
it, and pydantic validates it, by itself or as a part of other models.
"""


def _own(event: EventType) -> EventType:
    fields = event.fields.items()
    return replace(event, fields=dict(each for each in fields if each not in ENVELOPE.items()))


VOCABULARY = Vocabulary(
    ENVELOPE,
    tuple(_own(each) for family in Family for _, each in DECLARED if each.family is family),
)
