"""What trajectories cost in ATIF, the format of Harbor: a document with steps, the sums of their
metrics, and the trajectories of subagents.

It is left open whether the sums are of the subagents, too. So they are held against the steps.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from drive_trace.authoring.usage_shapes import METRICS, at

_COST = "total_cost_usd"
_OF_STEPS = {
    **dict(zip(METRICS, ("prompt_tokens", "completion_tokens", "cached_tokens"), strict=True)),
    _COST: "cost_usd",
}
"""How a step calls what the sums add up."""
_COMPARED = METRICS[:2]


def is_trajectory(value: object) -> bool:
    """Whether a value is a document in ATIF of any version 1."""
    version = at(value, "schema_version")
    return isinstance(version, str) and version.startswith("ATIF-v1.")


def parts_of(trajectory: Mapping[str, Any]) -> Iterator[Mapping[str, Any] | str]:
    """What adds up to the cost of a trajectory and its subagents: each as if it were one, with its
    own sums only; or why that cannot be told.
    """
    sums, steps = at(trajectory, "final_metrics"), _summed(_metrics(trajectory), _OF_STEPS)
    inner = [part for each in _embedded(trajectory) for part in parts_of(_without_run(each))]
    parts = [each["final_metrics"] for each in inner if not isinstance(each, str)]
    every = _summed([steps, *parts], {name: name for name in _OF_STEPS})
    own = sums if isinstance(sums, Mapping) and any(name in sums for name in METRICS) else steps
    if not inner or _same(own, steps):
        yield {**trajectory, "final_metrics": own}
        yield from inner
    elif _same(own, every):
        yield {**trajectory, "final_metrics": own}
    else:
        yield (
            "`final_metrics` adds up neither the steps nor these with the subagents' "
            "trajectories: what counts cannot be told; mend them"
        )


def ids_in(trajectory: Mapping[str, Any]) -> Iterator[str]:
    """By which a trajectory and those that it holds are known."""
    yield from (str(trajectory.get(key) or "") for key in ("trajectory_id", "session_id"))
    for each in _embedded(trajectory):
        yield from ids_in(each)


def named_in(trajectory: Mapping[str, Any]) -> Iterator[str]:
    """The trajectories that a trajectory names: by their ids, or the names of their files. No path
    is followed.
    """
    if path := at(trajectory, "continued_trajectory_ref"):
        yield file_name(path)
    for step in _objects(at(trajectory, "steps")):
        for result in _objects(at(step, "observation.results")):
            for each in _objects(at(result, "subagent_trajectory_ref")):
                id_ = at(each, "trajectory_id")
                path = file_name(at(each, "trajectory_path") or "")
                yield str(id_ or path or at(each, "session_id") or "")
    for each in _embedded(trajectory):
        yield from named_in(each)


def file_name(path: object) -> str:
    """The last part of a path of any system, or of an address."""
    return str(path).replace("\\", "/").rpartition("/")[2]


def _embedded(trajectory: object) -> Sequence[Mapping[str, Any]]:
    return _objects(at(trajectory, "subagent_trajectories"))


def _without_run(trajectory: Mapping[str, Any]) -> Mapping[str, Any]:
    """Subagents may share the session's id, which then identifies none of them."""
    return {key: value for key, value in trajectory.items() if key != "session_id"}


def _metrics(trajectory: object) -> Sequence[object]:
    return [at(step, "metrics") for step in _objects(at(trajectory, "steps"))]


def _summed(metrics: Sequence[object], names: Mapping[str, str]) -> dict[str, Any]:
    """The sums of those figures that all metrics have."""
    told = [each for each in metrics if isinstance(each, Mapping) and each]
    columns = {name: [each.get(key) for each in told] for name, key in names.items()}
    return {
        name: sum(counts)
        for name, counts in columns.items()
        if counts and all(type(each) in (int, float) for each in counts)
    }


def _same(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return all(one.get(name) == other.get(name) for name in _COMPARED)


def _objects(value: object) -> Sequence[Mapping[str, Any]]:
    found = value if isinstance(value, list) else [value]
    return [each for each in found if isinstance(each, Mapping)]
