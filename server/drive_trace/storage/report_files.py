"""Where a report is written: never over a trace, and whole or not at all."""

from __future__ import annotations

import io
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import orjson

from drive_trace.storage.regular_files import SMALL, is_open_already, open_regular
from drive_trace.storage.replace import inside, write_whole
from drive_trace.storage.traces import STDIN, Problem, why

_DEVICES = ("/dev/stdout", "/dev/stderr", "/dev/null")


def write_report(path: str, data: bytes, traces: Sequence[str]) -> Problem | None:
    """Write a report made of ``traces``, or say why it is not written.

    A link stays a link, and what it leads to is written, if that is in the link's folder. What a
    shell has opened, as ``/dev/stdout``, is written to; nothing else that is no regular file is.
    """
    try:
        if is_open_already(path, *_DEVICES):
            Path(path).write_bytes(data)
            return None
        real = inside(Path(path), Path(path).parent)
        if _is_trace(path, real, traces):
            return Problem(path, "is not written: a report must not take the place of a trace")
        if real.is_dir():
            return Problem(path, "is not written: it is a folder")
        if real.exists() and not real.is_file():
            return Problem(path, "is not written: it is no regular file")
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
    with io.BufferedReader(open_regular(path)) as file:
        head = file.read(SMALL)
    first = next(filter(bytes.strip, head.split(b"\n")), b"")
    try:
        event = orjson.loads(first)
    except ValueError:
        return len(first) == SMALL and b'"event_type"' in first
    return isinstance(event, dict) and "event_type" in event
