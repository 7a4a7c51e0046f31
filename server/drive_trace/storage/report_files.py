"""Where a report is written: never over a trace, and whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import orjson

from drive_trace.storage.replace import write_whole
from drive_trace.storage.traces import STDIN, Problem, why


def write_report(path: str, data: bytes, traces: Sequence[str]) -> Problem | None:
    """Write a report made of ``traces``, or say why it is not written.

    A link stays a link: what it leads to is written. What is no regular file, as
    a pipe, is written to and not replaced.
    """
    try:
        real = Path(os.path.realpath(path))
        if _is_trace(path, real, traces):
            return Problem(path, "is not written: a report must not take the place of a trace")
        if real.is_dir():
            return Problem(path, "is not written: it is a folder")
        if Path(path).exists() and not Path(path).is_file():
            # By its own name: what a name such as /dev/stdout leads to may have none.
            Path(path).write_bytes(data)
        else:
            write_whole(real, data)
    except (OSError, ValueError) as error:
        return Problem(path, f"is not written: {why(error)}")
    return None


def _is_trace(path: str, real: Path, traces: Sequence[str]) -> bool:
    if any(name.casefold().endswith((".jsonl", ".ndjson")) for name in (path, real.name)):
        return True
    if _holds_events(real):
        return True
    for trace in traces:
        with suppress(OSError):  # as where the report's file is not there yet
            if trace != STDIN and real.samefile(trace):
                return True
    return False


def _holds_events(path: Path) -> bool:
    """Whether a file that is there begins like a trace, whatever it is called."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        first = next((line for line in file if line.strip()), b"")
    try:
        event = orjson.loads(first)
    except ValueError:
        return False
    return isinstance(event, dict) and "event_type" in event
