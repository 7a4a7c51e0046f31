"""The runs of many traces, joined by Daft: in processes of this machine, or on a cluster of Ray.

Daft moves bytes between our functions, and groups and sorts them by numbers and ids. It sees no
verdict and no component of one, so that it cannot mix those of different grades.
"""

from __future__ import annotations

import logging
import os
import pickle
import socket
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from drive_trace import __version__
from drive_trace.fleet import DAFT, RAY
from drive_trace.fleet.kept import AllFiles, File, FindingCounts, ScanError, read, summarized
from drive_trace.fleet.scan import Group, Inputs, Joiner
from drive_trace.grading.judgements import Verdicts
from drive_trace.report.fleet import Row
from drive_trace.scorecard.card import CHANGED, ILLEGIBLE
from drive_trace.scorecard.caveats import Uncounted
from drive_trace.scorecard.run_lines import copied_runs
from drive_trace.scorecard.run_score import RunScore
from drive_trace.storage.files import Problem, why

_EXTRAS = {DAFT: "fleet", RAY: "fleet-ray"}
_QUIET = {
    "DO_NOT_TRACK": "1",
    "SCARF_NO_ANALYTICS": "1",
    "DAFT_ANALYTICS_ENABLED": "0",
    "DAFT_PROGRESS_BAR": "0",
    "RAY_USAGE_STATS_ENABLED": "0",
}
"""The environment in which Daft and Ray report to nobody. Daft reports its very import."""
_AT_ONCE = 16
"""Files that are handed over together."""
_GROUPS_AT_ONCE = 64
_CHUNKS = 512
"""A worker of a cluster gets at most so many times that many files as one task: to start its
process takes as long as to read hundreds.
"""
_LAST = 1 << 62
"""The place of runs without a valid event."""
_PATIENCE = 10.0
"""Seconds to wait for a cluster to answer."""


class _PickledRun(NamedTuple):
    """A run in a file, scored as if it stood there alone."""

    file: File
    digest: bytes
    run: RunScore
    verdicts: Verdicts
    findings: FindingCounts | None


class EngineScan:
    """Reads traces, and joins their runs. This process keeps paths, lines that may grade any run,
    and the hashes of events; where Daft runs on this machine, Daft keeps all that the score needs.
    """

    def __init__(self, inputs: Inputs, runner: str, address: str | None) -> None:
        """``runner`` is DAFT or RAY, with the address of a cluster. Raises ScanError."""
        self.file_count = 0
        """How many traces were read."""
        self._inputs = inputs
        self._daft, self._cores = _started(runner, address)
        self._here = pickle.dumps((__version__, str(Path.cwd())))
        self._pieces: Any = None
        self._all = AllFiles()

    def read(self) -> int:
        """Read all traces. Returns how many runs they have. Raises ScanError."""
        daft, kinds, col = self._daft, self._daft.DataType, self._daft.col
        work = list(self._work())
        piece = {"run": kinds.binary(), "number": kinds.int64(), "place": kinds.int64()}
        made = kinds.list(kinds.struct(piece | {"data": kinds.binary()}))
        look = daft.func.batch(return_dtype=made, use_process=True, batch_size=1)(_scan_files)
        with _engine_errors():
            files = daft.from_pydict({"work": daft.Series.from_pylist(work, dtype=kinds.binary())})
            if self._cores:
                tasks = min(len(work), max(2 * self._cores, len(work) // _CHUNKS))
                files = files.into_partitions(max(tasks, 1))
            pieces = files.select(look(col("work"), self._here).alias("piece")).explode("piece")
            columns = [col("piece")[name].alias(name) for name in piece]
            self._pieces = pieces.where(col("piece").not_null()).select(*columns, "piece").collect()
            noted = self._pieces.where(col("run").is_null()).sort("number")
            notes = [pickle.loads(each["piece"]["data"]) for each in noted.iter_rows()]  # noqa: S301
            placed = self._pieces.where(col("run").not_null())
            count: int = placed.select("run").distinct().count_rows()
        strays: list[Uncounted] = []
        hashes: list[tuple[str, Mapping[str, bytes]]] = []
        for each in notes:
            if isinstance(each, Problem):
                self._inputs.note(each)
                self.file_count -= each.reason != ILLEGIBLE
            else:
                strays += each[0]
                hashes.append(each[1])
        self._all = AllFiles(self._inputs.not_read, tuple(strays), copied_runs(hashes))
        return count

    def rows(self) -> Iterator[Row]:
        """The rows of all runs, in the order of their first events. Raises ScanError."""
        daft, col = self._daft, self._daft.col
        made, known = daft.DataType.binary(), pickle.dumps(self._all)
        join = daft.func.batch(return_dtype=made, use_process=True, batch_size=_GROUPS_AT_ONCE)(
            _join_each
        )
        runs = (
            self._pieces.where(col("run").not_null())
            .groupby("run")
            .agg(col("place").min(), col("piece").list_agg().alias("pieces"))
            .sort("place")  # before the join: runs that follow each other are in the same files
            .select("place", join(col("pieces"), known, self._here).alias("row"))
            .sort("place")  # after it, too: a cluster keeps no order over functions
        )
        with _engine_errors():
            for each in runs.iter_rows():
                row, changed = pickle.loads(each["row"])  # noqa: S301 - of our own function
                if changed is not None:
                    self._inputs.note(Problem(changed, CHANGED))
                yield row

    def _work(self) -> Iterator[bytes]:
        files = iter(self._inputs)
        while chunk := list(islice(files, _AT_ONCE)):
            yield pickle.dumps((self.file_count, chunk))
            self.file_count += len(chunk)


# In the processes of the engine


def _scan_files(work: Any, here: bytes) -> list[list[dict[str, Any]]]:
    """For each chunk of files what was found in them: of each part of a run its id, the number of
    the file, the run's place among all, and the part.
    """
    _check_worker(here)
    found = []
    for each in work.to_pylist():
        first, files = pickle.loads(each)  # noqa: S301 - of our own process
        numbered = enumerate(files, first)
        found.append([piece for number, file in numbered for piece in _pieces(number, file)])
    return found


def _pieces(number: int, file: File) -> Iterator[dict[str, Any]]:
    note = {"run": None, "number": number, "place": None}
    trace = read(file.path)
    if isinstance(trace, Problem):
        yield note | {"data": pickle.dumps(trace)}
        return
    records, digest = trace
    summary, findings, _ = summarized(records, file)
    if summary.is_illegible:
        yield note | {"data": pickle.dumps(Problem(summary.path, ILLEGIBLE))}
    yield note | {"data": pickle.dumps((summary.strays, (summary.path, summary.hashes)))}
    for at, run in enumerate(summary.runs, number << 32):
        run_id = run.run_id
        own = None if findings is None else {run_id: findings.get(run_id, {})}
        part = _PickledRun(file, digest, run, summary.verdicts.get(run_id, ()), own)
        yield {
            "run": run_id.encode("utf-8", "surrogatepass"),
            "number": number,
            "place": at if run.event_count else at | _LAST,
            "data": pickle.dumps(part),
        }


def _join_each(groups: Any, known: bytes, here: bytes) -> list[bytes]:
    """For each run its row, and the path of a file that is no longer what it was, or None."""
    _check_worker(here)
    files: AllFiles = pickle.loads(known)  # noqa: S301 - of our own process
    joiner = _joiner(known)
    return [pickle.dumps(_joined(each, joiner, files)) for each in groups.to_pylist()]


@lru_cache(maxsize=1)
def _joiner(known: bytes) -> Joiner:
    return Joiner(pickle.loads(known))  # noqa: S301 - as above


def _joined(
    pieces: Sequence[dict[str, Any]], joiner: Joiner, known: AllFiles
) -> tuple[Row, str | None]:
    in_order = sorted(pieces, key=lambda each: each["number"])
    parts: list[_PickledRun] = [pickle.loads(each["data"]) for each in in_order]  # noqa: S301 - as above
    first = parts[0]
    group = Group(first.run.run_id, [(each.file, each.digest) for each in parts])
    made = joiner(group) if len(parts) > 1 else None
    if isinstance(made, Row):
        return made, None
    known = known.and_changed(made) if made is not None else known
    return group.in_all(known.row(first.run, [first.verdicts], first.findings)), made


def _check_worker(here: bytes) -> None:
    """Be where the command was started, as its paths may be relative."""
    version, folder = pickle.loads(here)  # noqa: S301 - as above
    if version != __version__:
        raise ScanError(f"a worker has drive-trace {__version__}; {version} is needed there")
    try:
        os.chdir(folder)
    except OSError as error:
        raise ScanError(f"a worker does not see the folder {folder}") from error


# The engine


def _started(runner: str, address: str | None) -> tuple[Any, int]:
    """Daft, and how many cores its cluster has; 0 without one."""
    os.environ.update(_QUIET, DAFT_RUNNER="ray" if runner == RAY else "native")
    logging.getLogger().addHandler(logging.NullHandler())  # what they log is in their exceptions
    try:
        import daft  # noqa: PLC0415 - an extra

        if runner == RAY:
            import ray  # noqa: PLC0415 - another one
    except ImportError as error:
        raise ScanError(
            f"--runner {runner} needs an extra: pip install 'drive-trace[{_EXTRAS[runner]}]'"
        ) from error
    if runner == DAFT:
        return daft, 0
    with _engine_errors():
        # Ray itself would join whatever cluster of anybody's was started last on this machine.
        address = address or os.environ.get("RAY_ADDRESS") or "local"
        _reach(address)
        environment = {"env_vars": _QUIET}
        ray.init(address, runtime_env=environment, log_to_driver=False, logging_level=logging.ERROR)
        return daft, int(ray.cluster_resources().get("CPU", 1))


def _reach(address: str) -> None:
    """Raise ScanError if nothing answers: Ray tries for minutes."""
    parts = urlsplit(address if "://" in address else f"//{address}")
    try:
        if parts.hostname and parts.port:
            socket.create_connection((parts.hostname, parts.port), _PATIENCE).close()
    except (OSError, ValueError) as error:
        raise ScanError(f"no cluster answers at {address}: {why(error)}") from error


@contextmanager
def _engine_errors() -> Iterator[None]:
    try:
        yield
    except ScanError:
        raise
    except Exception as error:  # the libraries declare none
        # They say all that happened in between, and at the end what was the cause.
        *_, cause = f"{type(error).__name__}\n{error}".strip().splitlines()
        raise ScanError(
            cause.removeprefix(f"{ScanError.__module__}.{ScanError.__name__}: ")
        ) from error
