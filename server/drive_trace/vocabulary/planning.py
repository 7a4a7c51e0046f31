"""Planning: specs, plans, triage and the assumptions that turned out false."""

from typing import Annotated, Literal

from typing_extensions import TypedDict

from drive_trace.vocabulary import declaring, types
from drive_trace.vocabulary.declaring import Envelope, Null, event
from drive_trace.vocabulary.types import Family

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
    Family.PLANNING,
    glyph="▲",
    is_work=True,
    keeps=("plan_kind", "byte_length", "dispatch_count"),
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


@event(
    Family.PLANNING,
    glyph="!",
    keeps=("triggered_by",),
    leads_to=("spec-amended",),
)
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
