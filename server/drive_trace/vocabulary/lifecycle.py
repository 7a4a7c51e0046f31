"""The lifecycle of a project and its slices, health checks and retros."""

from typing import Annotated, Literal

from drive_trace.vocabulary import declaring, types
from drive_trace.vocabulary.declaring import Envelope, IsOutcome, Null, Tokens, event
from drive_trace.vocabulary.types import Entity, Family


@event(
    Family.LIFECYCLE,
    glyph="⊢",
    opens=Entity.RUN,
    keeps=("origin",),
    leads_to=("spec-authored",),
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


# The experiment feeds: recorded about a run from outside, after it; the last of each counts.

Outcome = Annotated[Literal["pass", "fail"], IsOutcome()]
Component = Annotated[Outcome | None, Null("not recorded, so that the verdict cannot be computed")]
TokenCount = Annotated[Tokens | None, Null("not known, which is not 0")]


@event(
    Family.FEEDS,
    glyph="●",
    leads_to=("correctness-recorded",),
)
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


@event(
    Family.FEEDS,
    glyph="★",
)
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
