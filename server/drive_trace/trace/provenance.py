"""The record of provenance: where each event of a trace comes from, in a file beside it.

Whoever appends an event to a trace appends an :class:`Entry` to the record: which event that was,
by a digest of what it says, and which of its fields were measured or computed. Each entry names the
one before it by its digest, so that the record shows where entries are missing. It can be forged
like any file, and takes nothing away from what is found in the trace.
"""

from __future__ import annotations

import json

import msgspec
import orjson

from drive_trace.json_text import as_json

PROVENANCE_VERSION = "provenance_version"
"""The key that an entry begins with."""


class Origin(msgspec.Struct, frozen=True):
    """Where an event comes from. All of its fields that are neither measured nor computed are
    claimed: somebody gave them.
    """

    writer: str
    """What wrote it: ``emit``, ``record``, ``tokens``, ``gate``, ``judge``, ``editor``, ``hook`` or
    ``reconstruct``.
    """
    measured: tuple[str, ...] = ()
    """The fields whose values were observed: by the clock, in a file, or in the log of a
    session.
    """
    computed: tuple[str, ...] = ()
    """The fields that follow from other events of the trace."""
    source: str | None = None
    """What it was measured from: the id of a session. No path, and nothing secret."""
    lines: tuple[int, ...] = ()
    """The lines of the session's log that it was measured from, from 1."""


class Entry(Origin, frozen=True, kw_only=True):
    """One event with its origin: one line of the record. All texts are untrusted."""

    provenance_version: str = "1"
    ts: str
    """The event's own, as it was written."""
    event_id: str
    event_type: str
    project_run_id: str
    event_digest: str
    """See :func:`digest_of_event`."""
    previous: str | None = None
    """SHA-256 of the line before, without white space around it; null for the first."""
    tool: str
    """The version of drive-trace that wrote it."""


def entry_line(record: str, origin: Origin, previous: str | None, tool: str) -> str:
    """The line of a record of provenance, without its end, on an event that was appended, given as
    its own line; ``previous`` is the digest of the line before.
    """
    event = json.loads(record)
    entry = Entry(
        **msgspec.structs.asdict(origin),
        ts=event["ts"],
        event_id=event["event_id"],
        event_type=event["event_type"],
        project_run_id=event["project_run_id"],
        event_digest=digest_of_event(record) or "",
        previous=previous,
        tool=tool,
    )
    return as_json({PROVENANCE_VERSION: entry.provenance_version, **msgspec.to_builtins(entry)})


def digest_of_line(line: bytes) -> str:
    """By what the next entry names a line of a record."""
    from hashlib import sha256  # noqa: PLC0415 - takes long to load, and most commands need none

    return sha256(line.strip()).hexdigest()


def digest_of_event(text: str) -> str | None:
    """SHA-256 of what a line of a trace says: of its JSON with sorted keys and without white space,
    so that it may be laid out anew. None of what is no JSON.
    """
    from hashlib import sha256  # noqa: PLC0415 - as above

    try:
        plain = orjson.dumps(orjson.loads(text), option=orjson.OPT_SORT_KEYS)
    except ValueError:  # a lone surrogate, or no JSON
        try:
            plain = json.dumps(json.loads(text), sort_keys=True, separators=(",", ":")).encode()
        except (ValueError, RecursionError):
            return None
    return sha256(plain).hexdigest()
