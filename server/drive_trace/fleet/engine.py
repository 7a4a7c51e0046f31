"""Daft in place of this machine's cores: in processes of this machine, or on a cluster of Ray.

Daft moves bytes between our functions. It sees no verdict and no component of one, so that it
cannot mix those of different grades.
"""

import logging
import os
import pickle
import socket
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from drive_trace import __version__
from drive_trace.fleet import DAFT, RAY
from drive_trace.fleet.kept import OnAll, ScanError
from drive_trace.storage.files import why

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
"""Items that a worker gets at a time."""
_TASK = 256
"""A worker of a cluster gets at most so many items as one task: to start its process takes as long
as to read hundreds of files.
"""
_PATIENCE = 10.0
"""Seconds to wait for a cluster to answer."""


def engine(runner: str, address: str | None) -> OnAll:
    """What does the same work on many items by an engine, as ``on_all_cores`` does it without one.
    ``runner`` is DAFT or RAY, with the address of a cluster. Raises ScanError, and so does what it
    gives.
    """
    daft, cores = _started(runner, address)
    here, binary = pickle.dumps((__version__, str(Path.cwd()))), daft.DataType.binary()
    in_processes = daft.func.batch(return_dtype=binary, use_process=True, batch_size=_AT_ONCE)
    on_some = in_processes(_on_some)

    def on_all(work: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
        asked = [*items]
        if not asked:  # which Daft gives no types
            return
        packed = daft.Series.from_pylist([*map(pickle.dumps, asked)], dtype=binary)
        with _engine_errors():
            given = daft.from_pydict({"item": packed, "at": [*range(len(asked))]})
            if cores:
                tasks = min(len(asked), max(2 * cores, len(asked) // _TASK))
                given = given.into_partitions(max(tasks, 1))
            done = on_some(daft.col("item"), pickle.dumps(work), here).alias("result")
            # A cluster keeps no order over functions.
            results = given.select("at", done).sort("at").iter_rows()
            for item, each in zip(asked, results, strict=True):
                yield item, pickle.loads(each["result"])  # noqa: S301 - of our own function

    return on_all


# In the processes of the engine


def _on_some(items: Any, work: bytes, here: bytes) -> list[bytes]:
    _check_worker(here)
    do = _work(work)
    return [pickle.dumps(do(pickle.loads(each))) for each in items.to_pylist()]  # noqa: S301 - of our own process


@lru_cache(maxsize=1)
def _work(packed: bytes) -> Callable[[Any], Any]:
    work: Callable[[Any], Any] = pickle.loads(packed)  # noqa: S301 - as above
    return work


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
