"""Planning: specs, plans, triage and the assumptions that turned out false."""

from typing import Annotated, Literal

from typing_extensions import TypedDict

from drive_trace.vocabulary import declaring, types
from drive_trace.vocabulary.declaring import Envelope, Null, Prose, event
from drive_trace.vocabulary.types import Family

_SPEC_REASONS = {
    "falsified-assumption": "something taken for granted turned out false",
    "new-edge-case": "a case came up that was not covered",
    "scope-shift": "the scope changed",
    "operator-correction": "the operator corrected it",
    "replan-from-discussion": "a discussion led to another plan",
}
_PLAN_REASONS = {
    **_SPEC_REASONS,
    "dispatch-resize": "a dispatch was given another size",
    "dispatch-added": "a dispatch was added",
    "dispatch-removed": "a dispatch was removed",
}

Kind = Annotated[
    str,
    declaring.OneOf(("project", "covers a whole project"), ("slice", "covers one slice")),
]
OfSlicePlan = Annotated[declaring.Count | None, Null("only slice plans plan dispatches")]
BytesDelta = Annotated[
    int,
    declaring.Unit("bytes"),
    Prose("How much longer (or shorter: negative) it is than before."),
]


class DispatchSizes(TypedDict):
    """How many dispatches a slice plan has of each size."""

    S: Annotated[declaring.Count, Prose("Small dispatches.")]
    M: Annotated[declaring.Count, Prose("Medium dispatches.")]
    L: Annotated[declaring.Count, Prose("Large dispatches.")]
    XL: Annotated[declaring.Count, Prose("Extra large dispatches.")]


DispatchSizes.__pydantic_config__ = {"extra": "forbid", "strict": True}  # type: ignore[attr-defined]


class _Spec(Envelope):
    spec_path: Annotated[declaring.ArtifactPath, Prose("Where the spec lies.")]
    spec_kind: Annotated[Kind, Prose("What the spec covers.")]
    byte_length: Annotated[declaring.Bytes, Prose("The spec's length.")]
    edge_cases_count: Annotated[
        declaring.Count | None,
        Prose("How many edge cases it lists; null for project specs."),
        Null("only slice specs list edge cases"),
    ]
    open_questions_count: Annotated[declaring.Count, Prose("How many questions it leaves open.")]
    dod_items_count: Annotated[declaring.Count, Prose("How many items its definition of done has.")]


class _Plan(Envelope):
    plan_path: Annotated[declaring.ArtifactPath, Prose("Where the plan lies.")]
    plan_kind: Annotated[Kind, Prose("What the plan covers.")]
    byte_length: Annotated[declaring.Bytes, Prose("The plan's length.")]
    dispatch_count: Annotated[
        OfSlicePlan, Prose("How many dispatches a slice plan has; else null.")
    ]
    slice_count: Annotated[
        declaring.Count | None,
        Prose("How many slices a project plan has; else null."),
        Null("only project plans plan slices"),
    ]
    dispatch_size_distribution: Annotated[
        DispatchSizes | None,
        Prose("How many dispatches of each size a slice plan has; else null."),
        Null("only slice plans plan dispatches"),
    ]
    open_items_count: Annotated[declaring.Count, Prose("How many items it leaves open.")]


_SPEC_EXAMPLE = {
    "spec_path": "projects/checkout-retry/slices/retry-queue/spec.md",
    "spec_kind": "slice",
    "byte_length": 8_705,
    "edge_cases_count": 4,
    "open_questions_count": 0,
    "dod_items_count": 5,
}
_PLAN_EXAMPLE = {
    "plan_path": "projects/checkout-retry/slices/retry-queue/plan.md",
    "plan_kind": "slice",
    "byte_length": 4_747,
    "dispatch_count": 6,
    "slice_count": None,
    "dispatch_size_distribution": {"S": 3, "M": 3, "L": 0, "XL": 0},
    "open_items_count": 0,
}


@event(
    Family.PLANNING,
    glyph="◆",
    is_work=True,
    keeps=("spec_kind", "byte_length", "dod_items_count"),
    leads_to=("plan-authored",),
    example=_SPEC_EXAMPLE,
)
class SpecAuthored(_Spec):
    """A spec was written for the first time."""

    event_type: Literal["spec-authored"]  # type: ignore[misc]


@event(
    Family.PLANNING,
    glyph="◇",
    is_work=True,
    keeps=("spec_kind", "byte_length", "bytes_delta", "reason", "dod_items_count"),
    leads_to=("plan-amended",),
    example={
        **_SPEC_EXAMPLE,
        "byte_length": 9_120,
        "bytes_delta": 415,
        "reason": "new-edge-case",
        "sections_changed": ["Edge cases"],
    },
)
class SpecAmended(_Spec):
    """An existing spec was changed."""

    event_type: Literal["spec-amended"]  # type: ignore[misc]
    bytes_delta: BytesDelta
    reason: Annotated[
        str, declaring.OneOf(*_SPEC_REASONS.items()), Prose("Why the spec had to be changed.")
    ]
    sections_changed: Annotated[list[str], Prose("The headings of the sections that changed.")]


@event(
    Family.PLANNING,
    glyph="▲",
    is_work=True,
    keeps=("plan_kind", "byte_length", "dispatch_count"),
    example=_PLAN_EXAMPLE,
)
class PlanAuthored(_Plan):
    """A plan was written for the first time."""

    event_type: Literal["plan-authored"]  # type: ignore[misc]


@event(
    Family.PLANNING,
    glyph="△",
    is_work=True,
    keeps=(
        *("plan_kind", "byte_length", "bytes_delta", "reason"),
        *("dispatch_count", "dispatches_added", "dispatches_removed"),
    ),
    example={
        **_PLAN_EXAMPLE,
        "byte_length": 4_990,
        "bytes_delta": 243,
        "dispatch_count": 7,
        "dispatch_size_distribution": {"S": 4, "M": 3, "L": 0, "XL": 0},
        "reason": "dispatch-added",
        "dispatches_added": 1,
        "dispatches_removed": 0,
        "dispatches_resized": 0,
    },
)
class PlanAmended(_Plan):
    """An existing plan was changed."""

    event_type: Literal["plan-amended"]  # type: ignore[misc]
    bytes_delta: BytesDelta
    reason: Annotated[
        str, declaring.OneOf(*_PLAN_REASONS.items()), Prose("Why the plan had to be changed.")
    ]
    dispatches_added: Annotated[OfSlicePlan, Prose("Dispatches added to a slice plan; else null.")]
    dispatches_removed: Annotated[
        OfSlicePlan, Prose("Dispatches removed from a slice plan; else null.")
    ]
    dispatches_resized: Annotated[
        OfSlicePlan, Prose("Dispatches of a slice plan given another size; else null.")
    ]


@event(
    Family.PLANNING,
    glyph="▷",
    keeps=("verdict", "input_ref"),
    leads_to=("project-started", "slice-started", "spec-authored"),
    example={
        "verdict": "in-project-slice",
        "input_shape": "linear-ticket",
        "input_ref": "SHOP-214",
    },
)
class TriageVerdict(Envelope):
    """It was decided what shape a piece of incoming work takes."""

    event_type: Literal["triage-verdict"]  # type: ignore[misc]
    verdict: Annotated[
        str,
        declaring.OneOf(
            ("direct-change", "small enough to be changed directly"),
            ("orphan-slice", "one slice that belongs to no project"),
            ("in-project-slice", "a slice of an existing project"),
            ("new-project", "a project of its own"),
            ("promote", "a slice or change becomes a project"),
            ("demote", "a project becomes a slice or change"),
            ("spike-first", "to be explored before it can be decided"),
            ("defer", "not now"),
        ),
        declaring.IsOutcome(),
        Prose("The shape the work takes."),
    ]
    input_shape: Annotated[
        str,
        declaring.OneOf(
            ("linear-ticket", "a ticket in Linear"),
            ("chat-ask", "a request in a chat"),
            ("customer-ask", "a customer's request"),
            ("bug-report", "a report of a defect"),
            ("mid-flight-scope-signal", "something that came up during other work"),
            ("i-should-do-x-thought", "somebody's own idea"),
        ),
        Prose("The shape in which the work came in."),
    ]
    input_ref: Annotated[
        str | None,
        declaring.Refers(types.Reference.TICKET),
        Prose("The ticket it came from, or null."),
        Null("it came from no ticket"),
    ]


@event(
    Family.PLANNING,
    glyph="!",
    keeps=("triggered_by",),
    leads_to=("spec-amended",),
    example={
        "artifact_path": "projects/checkout-retry/spec.md",
        "triggered_by": "implementer-pushback",
        "assumption_summary": "The payment gateway does not repeat its callbacks after all.",
    },
)
class FalsifiedAssumption(Envelope):
    """Something that a spec or plan took for granted turned out false, and work halted for it
    (an "I12 halt").
    """

    event_type: Literal["falsified-assumption"]  # type: ignore[misc]
    artifact_path: Annotated[
        declaring.ArtifactPath, Prose("The spec or plan that rests on the assumption.")
    ]
    triggered_by: Annotated[
        str,
        declaring.OneOf(
            ("implementer-pushback", "the implementer objected"),
            ("wip-inspection", "work in progress was inspected"),
            ("dispatch-blocked", "a dispatch could not go on"),
            ("health-check-drift", "a health check found drift"),
            ("orchestrator-self-detected", "the orchestrator noticed"),
            ("operator-flagged", "the operator pointed it out"),
        ),
        Prose("How it came to light."),
    ]
    assumption_summary: Annotated[
        str | None,
        Prose("The assumption in a sentence, or null."),
        Null("it was not put into words"),
    ]


PlanningEvent = (
    SpecAuthored | SpecAmended | PlanAuthored | PlanAmended | TriageVerdict | FalsifiedAssumption
)
