"""``driveTrace/compare``: whether one side of the workspace's runs is better than another."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pygls.exceptions import JsonRpcInvalidParams

from drive_trace.lsp.rpc.capabilities import path_of
from drive_trace.lsp.rpc.messages import COMPARE, CompareParams
from drive_trace.lsp.rpc.threads import in_thread
from drive_trace.lsp.workspace.trace_folders import TraceFolders, real_path
from drive_trace.storage.files import Problem, TraceRecords

if TYPE_CHECKING:
    from drive_trace.comparison.runs import Side


class Comparing:
    """Handles this request."""

    def __init__(self, folders: TraceFolders) -> None:
        self._folders = folders
        self.handlers: Mapping[str, Callable[[Any], object]] = {COMPARE: self._compare}

    async def _compare(self, params: CompareParams) -> dict[str, object]:
        return await in_thread(self._compared, params)

    def _compared(self, params: CompareParams) -> dict[str, object]:
        # Nothing else needs these, and they take a moment to load.
        from drive_trace.comparison.answer import compare  # noqa: PLC0415
        from drive_trace.comparison.comparability import State, allowed_of  # noqa: PLC0415
        from drive_trace.comparison.render import HTML_STYLE, html_body  # noqa: PLC0415

        try:
            allowed = allowed_of(params.allowed)
        except ValueError as error:
            raise JsonRpcInvalidParams(str(error)) from error
        baseline = self._side("baseline", params.baseline, params.baseline_runs)
        candidate = self._side("candidate", params.candidate, params.candidate_runs)
        found = compare(baseline, candidate, allowed)
        unknown = [each.name for each in found.known if each.state is State.UNVERIFIABLE]
        return {
            "answer": str(found.answer),
            "title": found.answer.words,
            "body": html_body(found),
            "style": HTML_STYLE,
            "unverified": unknown,
        }

    def _side(self, name: str, uris: Sequence[str], runs: Collection[str] | None) -> Side:
        from drive_trace.storage.compared_sides import read_side  # noqa: PLC0415 - as above

        given = [path for uri in uris if (path := path_of(uri)) is not None]
        traces = self._traces(given)
        if not traces:
            raise JsonRpcInvalidParams(f"the {name} has no trace of the workspace")
        side = read_side(name, [*map(str, given)], map(_read, traces), only=runs)
        if isinstance(side, Problem):
            raise JsonRpcInvalidParams(side.message)
        return side

    def _traces(self, given: Sequence[Path]) -> list[Path]:
        """The traces of the workspace that these are, or that are in these folders."""
        wanted = [*map(real_path, given)]
        return [
            path
            for real, path in self._folders.search().items()
            if any(Path(real).is_relative_to(each) for each in wanted)
        ]


def _read(path: Path) -> TraceRecords | Problem:
    from drive_trace.fleet.scanning import read  # noqa: PLC0415 - as above

    trace = read(str(path))
    return trace if isinstance(trace, Problem) else trace[0]
