"""The vocabulary's types once more, in short, as msgspec structs and as pydantic TypedDicts.

They stand apart from the product's own types because they measure what libraries can do at best.
"""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import Annotated, Any, Literal

import msgspec
from pydantic import Field, TypeAdapter
from typing_extensions import TypedDict

_STR: dict[str, Any] = {"msgspec": str, "pydantic": str}
_INT: dict[str, Any] = {"msgspec": int, "pydantic": Annotated[int, Field(strict=True)]}
_COUNT: dict[str, Any] = {
    "msgspec": Annotated[int, msgspec.Meta(ge=0)],
    "pydantic": Annotated[int, Field(ge=0, strict=True)],
}
_BOOL: dict[str, Any] = {"msgspec": bool, "pydantic": Annotated[bool, Field(strict=True)]}
_STRINGS: dict[str, Any] = {"msgspec": list[str], "pydantic": list[str]}


class _Sizes(TypedDict):
    S: int
    M: int
    L: int
    XL: int


_SIZES: dict[str, Any] = {"msgspec": _Sizes, "pydantic": _Sizes}


def _or_null(field: dict[str, Any]) -> dict[str, Any]:
    return {library: type_ | None for library, type_ in field.items()}


def _one_of(*values: str) -> dict[str, Any]:
    return dict.fromkeys(("msgspec", "pydantic"), Literal[values])


_KIND = _one_of("project", "slice")
_GRADE = _or_null(_one_of("pass", "fail"))
_IDS = {"dispatch_id": _STR, "round_id": _STR}
_REASONS = (
    "falsified-assumption",
    "new-edge-case",
    "scope-shift",
    "operator-correction",
    "replan-from-discussion",
)
_RESIZED = ("dispatch-resize", "dispatch-added", "dispatch-removed")
_SPEC = {
    "spec_path": _STR,
    "spec_kind": _KIND,
    "byte_length": _COUNT,
    "edge_cases_count": _or_null(_COUNT),
    "open_questions_count": _COUNT,
    "dod_items_count": _COUNT,
}
_PLAN = {
    "plan_path": _STR,
    "plan_kind": _KIND,
    "byte_length": _COUNT,
    "dispatch_count": _or_null(_COUNT),
    "slice_count": _or_null(_COUNT),
    "dispatch_size_distribution": _or_null(_SIZES),
    "open_items_count": _COUNT,
}
_TOKENS = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")

_EVENTS: dict[str, dict[str, Any]] = {
    "dispatch-start": {
        "dispatch_id": _STR,
        "dispatch_name": _STR,
        "subagent_type": _STR,
        "model": _or_null(_STR),
        "parent_dispatch_id": _or_null(_STR),
    },
    "dispatch-end": {
        "dispatch_id": _STR,
        "result": _one_of("completed", "failed", "aborted"),
        "wall_clock_ms": _COUNT,
    },
    "round-start": {**_IDS, "round_number": _COUNT},
    "round-end": {
        **_IDS,
        "verdict": _one_of(
            "satisfied", "another-round-needed", "escalating-to-user", "stop-condition"
        ),
        "findings_filed": _COUNT,
        "wall_clock_ms": _COUNT,
    },
    "brief-issued": {
        **_IDS,
        "brief_byte_length": _COUNT,
        "brief_content_hash": _STR,
        "brief_disposition": _one_of("initial", "reissue", "amended"),
    },
    "spec-authored": _SPEC,
    "spec-amended": {
        **_SPEC,
        "bytes_delta": _INT,
        "reason": _one_of(*_REASONS),
        "sections_changed": _STRINGS,
    },
    "plan-authored": _PLAN,
    "plan-amended": {
        **_PLAN,
        "bytes_delta": _INT,
        "reason": _one_of(*_REASONS, *_RESIZED),
        "dispatches_added": _or_null(_COUNT),
        "dispatches_removed": _or_null(_COUNT),
        "dispatches_resized": _or_null(_COUNT),
    },
    "triage-verdict": {"verdict": _STR, "input_shape": _STR, "input_ref": _or_null(_STR)},
    "falsified-assumption": {
        "artifact_path": _STR,
        "triggered_by": _STR,
        "assumption_summary": _or_null(_STR),
    },
    "project-started": {
        "project_slug": _STR,
        "origin": _one_of("new-project", "promote"),
        "has_linear_project": _BOOL,
    },
    "project-closed": {
        "dod_status": _one_of("all-met", "some-deferred", "some-cancelled"),
        "slices_completed": _COUNT,
        "final_retro_done": _BOOL,
    },
    "slice-started": {"slice_slug": _STR, "slice_index": _COUNT, "linear_ref": _or_null(_STR)},
    "slice-completed": {
        "slice_slug": _STR,
        "result": _one_of("merged", "abandoned"),
        "pr_ref": _or_null(_STR),
    },
    "health-check-fired": {
        "cadence": _STR,
        "drift_signal_count": _COUNT,
        "max_drift_severity": _one_of("none", "low", "medium", "high"),
        "recommended_next": _or_null(_STR),
    },
    "retro-landed": {
        "trigger_class": _STR,
        "landing_surfaces": _STRINGS,
        "is_mandatory_final": _BOOL,
    },
    "tokens-recorded": dict.fromkeys(_TOKENS, _or_null(_COUNT)),
    "correctness-recorded": dict.fromkeys(("mechanical", "qa", "intent"), _GRADE),
}
_ENVELOPE = {
    "event_id": _STR,
    "schema_version": _one_of("1"),
    "ts": _STR,
    "project_run_id": _STR,
    "orchestrator_agent_id": _or_null(_STR),
}


def _types(event_type: str, library: str) -> dict[str, Any]:
    fields = {**_ENVELOPE, **_EVENTS[event_type]}
    return {name: field[library] for name, field in fields.items()}


def msgspec_decoder() -> msgspec.json.Decoder[Any]:
    """A decoder of a union of structs, tagged by `event_type`."""
    structs: list[Any] = []
    for name in _EVENTS:
        fields = list(_types(name, "msgspec").items())
        structs.append(msgspec.defstruct(name, fields, tag_field="event_type", tag=name))
    return msgspec.json.Decoder(reduce(or_, structs))


def pydantic_adapter() -> TypeAdapter[Any]:
    """A validator of a union of typed dicts, discriminated by `event_type`."""
    dicts: list[Any] = []
    for name in _EVENTS:
        fields = {"event_type": Literal[name], **_types(name, "pydantic")}
        dicts.append(TypedDict(name, fields))  # type: ignore[operator]
    union: Any = Annotated[reduce(or_, dicts), Field(discriminator="event_type")]
    return TypeAdapter(union)
