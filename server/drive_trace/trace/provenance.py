"""The record of provenance: where each event of a trace comes from, in a file beside it.

Whoever appends an event to a trace appends an :class:`Entry` to the record: which event that was,
by a digest of what it says, and which of its fields were measured or computed. Each entry names the
one before it by its digest, so that the record shows where entries are missing. It can be forged
like any file, and takes nothing away from what is found in the trace.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from itertools import chain
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple, TypeAlias

import msgspec

from drive_trace.json_text import as_json, first_string
from drive_trace.text.codec import bounded, dumps_sorted, loads
from drive_trace.text.quick import Frozen, sha256_of

if TYPE_CHECKING:
    from drive_trace.trace.index import Index
    from drive_trace.trace.line import Line

PROVENANCE_VERSION = "provenance_version"
"""The key that an entry begins with."""
_BYTE_ORDER_MARK = "\ufeff"
"""Some editors put it before the first line. It says nothing."""
Sha256: TypeAlias = Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$", max_length=64)]


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

    provenance_version: Literal["1"] = "1"
    ts: str
    """The event's own, as it was written."""
    event_id: str
    event_type: str
    project_run_id: str
    event_digest: Sha256
    """See :func:`digest_of_event`."""
    previous: Sha256 | None = None
    """SHA-256 of the line before, without white space around it; null for the first."""
    tool: str
    """The version of drive-trace that wrote it."""


def entry_line(record: str, origin: Origin, previous: str | None, tool: str) -> str:
    """The line of a record of provenance, without its end, on an event that was appended, given as
    its own line; ``previous`` is the digest of the line before.
    """
    event = json.loads(record)
    told = {name: event[name] for name in ("ts", "event_id", "event_type", "project_run_id")}
    said = {PROVENANCE_VERSION: "1", **told, "event_digest": digest_of_event(record)}
    return as_json({**said, **msgspec.to_builtins(origin), "previous": previous, "tool": tool})


def digest_of_line(line: bytes) -> str:
    """By what the next entry names a line of a record."""
    return sha256_of(_plain(line))


def _plain(line: bytes) -> bytes:
    return line.strip().removeprefix(_BYTE_ORDER_MARK.encode())


@lru_cache(maxsize=1 << 14)  # an editor asks for those of all lines at each keystroke
def digest_of_event(text: str) -> str:
    """SHA-256 of what a line of a trace says: of its JSON with sorted keys and without white space,
    so that it may be laid out anew; of what is none, of its text. A byte order mark says nothing.
    """
    text = text.removeprefix(_BYTE_ORDER_MARK)
    try:
        plain = dumps_sorted(loads(text))
    except (ValueError, TypeError, RecursionError):  # or it is deep, or has a lone surrogate
        plain = text.strip().encode("utf-8", "surrogatepass")
    return sha256_of(plain)


# What the record says of the trace as it is


_ENTRY = bounded(partial(msgspec.json.decode, type=Entry))  # few traces have a record
_UNREADABLE = "a line of it cannot be read"
_BEGINNING = f'{{"{PROVENANCE_VERSION}"'.encode()
"""Of an entry, of which a writer that was killed has left a part."""


class ProvenanceRecord(Frozen, frozen=True):
    """A record of provenance that was read."""

    entries: Mapping[str, Entry]
    """By event id, in their order; of several on one event the first."""
    above: Mapping[str, str | None]
    """By event id that of the entry before it in its branch: two branches that were merged stand
    in no order.
    """
    damage: str | None
    """Why the record does not tell all that was recorded, in a few words; None if it may."""
    digest: str
    """Of its bytes."""
    is_apart: Callable[[], bool | None] = bool  # which gives False
    """Whether it does not go with the trace: where git changes the trace alone, as when another
    branch is checked out, the record says nothing. It may take long, and is asked only where
    something is to be told.
    """

    def settled(self) -> ProvenanceRecord | None:
        """The same, so that nobody has to be asked again; None where it says nothing."""
        return None if self.is_apart() else self._replace(is_apart=bool)

    def entry_of(self, line: Line) -> Entry | None:
        """The entry on the event of a line; None where there is none, or the line says something
        else than what was recorded.
        """
        entry = self.entries.get(line.text_fact("event_id")) if line.event is not None else None
        return entry if entry and entry.event_digest == digest_of_event(line.text) else None

    def measured(self, line: Line) -> Sequence[str]:
        """The fields of a line that were measured; none where the record is damaged."""
        entry = self.entry_of(line)
        return entry.measured if entry is not None and self.damage is None else ()


def read_provenance(data: bytes, damage: str | None = None, name: str = "it") -> ProvenanceRecord:
    """Read the bytes of a record, which is called by a ``name``. ``damage`` is why they could not
    be had. A line that its writer could not end, as it was killed, is no damage: it is the last
    one, or the entry below names it.
    """
    entries: dict[str, Entry] = {}
    above: dict[str, str | None] = {}
    known: dict[str | None, str | None] = {None: None}
    """By the digest of a line the id of the last event up to it."""
    last, torn = None, None
    for text in filter(None, map(_plain, data.split(b"\n"))):
        digest = digest_of_line(text)
        if text.startswith((b"<<<<<<< ", b">>>>>>> ")):
            damage = f"{name} has conflict markers, and is whole without them: keep both sides"
        try:
            entry = _ENTRY(text)
        except (msgspec.ValidationError, RecursionError):
            damage = damage or _UNREADABLE
        except ValueError:
            torn = digest
        else:
            if torn not in (None, entry.previous):
                damage = damage or _UNREADABLE
            elif entry.previous not in known:
                damage = damage or "entries of it are missing"
            last, torn = entry.event_id, None
            above.setdefault(last, known.get(entry.previous))
            entries.setdefault(last, entry)
        known[digest] = last
    if not entries and not _BEGINNING.startswith(_plain(data)[: len(_BEGINNING)]):
        damage = damage or "not one line of it is an entry"
    return ProvenanceRecord(entries, above, damage, digest_of_line(data))


Fate: TypeAlias = Literal["gone", "changed", "copied", "contradicted", "moved"]
"""What became of a line that was recorded; ``contradicted`` by another one with its id."""


class Change(NamedTuple):
    """One recorded line that is not what or where it was."""

    fate: Fate
    entry: Entry
    line: Line | None
    """As it is now, or the other one with its id; None where it is gone."""
    beside: Line | None
    """The line that it was recorded below, or that has the id, too; None if there is none."""

    @property
    def run_ids(self) -> set[str]:
        """The runs that the line was and is of."""
        is_event = self.line is not None and self.line.event is not None
        return {self.entry.project_run_id, *([self.line.run] if self.line and is_event else [])}


def changes_in(record: ProvenanceRecord, index: Index) -> Sequence[Change]:
    """What became of the recorded lines of a trace, in the order in which they were recorded, but
    for those that are as they were. What was never recorded is nothing of it. Nothing where the
    record does not go with the trace.
    """
    found: list[Change] = []
    lowest: dict[str | None, Line | None] = {}
    """By event id, the lowest line of those that were recorded up to it."""
    odd = {
        first_string(line.text, "event_id"): [line]
        for line in chain(index.unknown, *index.rejected.values())
    }
    """What readers do not count: it stands under no id."""
    for event_id, entry in record.entries.items():
        above, lines = lowest.get(record.above[event_id]), index.ids.get(event_id, ())
        lines, digest = lines or odd.get(event_id, ()), entry.event_digest
        line = next((each for each in lines if digest_of_event(each.text) == digest), None)
        is_below = line is not None and (above is None or line.order > above.order)
        lowest[event_id] = line if is_below else above
        if line is None:
            line = next(iter(lines), None)
            found.append(Change("changed" if line else "gone", entry, line, above))
        elif not is_below:
            found.append(Change("moved", entry, line, above))
        for each in lines:
            if line is not None and each is not line:
                is_same = digest_of_event(each.text) == digest_of_event(line.text)
                fate: Fate = "copied" if is_same else "contradicted"
                found.append(Change(fate, entry, each, line))
    return [] if found and record.is_apart() else found
