"""The traces that are measured, as files in a folder of their own."""

from dataclasses import dataclass
from pathlib import Path

from tests.bench.traces import TraceOptions, trace_bytes

FEW_DEFECTS, MOST_DEFECTS = 0.01, 0.95
SMALL_LINES = 30


@dataclass(frozen=True)
class BenchFiles:
    """Files in `folder`; unless said otherwise they have `lines` lines."""

    folder: Path
    lines: int
    traces: int

    def trace(
        self, defects: float = 0.0, *, lines: int | None = None, runs: int | None = None
    ) -> Path:
        """A trace file with these defects, written when first asked for."""
        options = TraceOptions(lines or self.lines, runs=runs, defects=defects)
        path = self.folder / f"{options.lines}-{options.number_of_runs}-{defects}.jsonl"
        if not path.exists():
            path.write_bytes(trace_bytes(options))
        return path

    def workspace(self) -> Path:
        """A folder of traces of 30 to 60 lines, each of a run of its own."""
        root = self.folder / "workspace"
        for number in range(self.traces):
            options = TraceOptions(30 + number % 31, runs=1, first_run=number)
            path = root / f"project-{number:05}" / "trace.jsonl"
            path.parent.mkdir(parents=True)
            path.write_bytes(trace_bytes(options))
        return root
