"""The Drive trace vocabulary: its events, declared once as types that pydantic reads.

Types, limits, prose and examples stand in ``declared.py`` and nowhere else. Types of msgspec's
(``trace/reading.py``), the exact validator (``trace/exact.py``), JSON Schemas and docs are made of
them. Here they are put together, with what goes over several fields: how those of one event have to
agree, and which describe a file.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from operator import eq, ge

import msgspec
from msgspec.structs import replace

from drive_trace.vocabulary.registry import (
    ALWAYS_KEPT,
    NULL_TEXTS,
    BooleanShape,
    EventType,
    FieldType,
    IntegerShape,
    Lifetime,
    ListShape,
    ObjectShape,
    OneOfShape,
    Shape,
    StringShape,
    Vocabulary,
    lifetime_of,
    says_nothing,
)
from drive_trace.vocabulary.types import (
    Entity,
    Family,
    Form,
    Reference,
    invented_ids,
    looks_invented,
)

TOKEN_FIELDS = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")
"""The components of the token feed, in the order in which they are shown."""

GRADE = "correctness-recorded"
"""The event that the correctness gate reads."""

COST = "tokens-recorded"
"""The event that the token figures come from."""

FEEDS = (COST, GRADE)
"""All feeds."""

CORRECTNESS_FIELDS = ("mechanical", "qa", "intent")
"""The components of the correctness gate, in the order in which missing ones are named."""

WRITERS = {
    "spec_path": ("spec-authored", "spec-amended"),
    "plan_path": ("plan-authored", "plan-amended"),
}
"""By the field that names a file: the events that author and that amend it."""

# How the fields of one event have to agree, beyond what the type of each says. Readers do not check
# this: an event that contradicts itself is valid. An agreement applies to every event that has all
# the fields that it compares.

KINDS: Mapping[str, Mapping[str, str]] = {
    "spec_kind": {"edge_cases_count": "slice"},
    "plan_kind": {
        "dispatch_count": "slice",
        "slice_count": "project",
        "dispatch_size_distribution": "slice",
        "dispatches_added": "slice",
        "dispatches_removed": "slice",
        "dispatches_resized": "slice",
    },
}
"""By the field with the event's kind: the fields that have a value for one kind only, and are null
for the others.
"""

SIZES = ("S", "M", "L", "XL")
"""The sizes of dispatches, in the order in which they are written."""


class Agreement(msgspec.Struct, frozen=True):
    """How some fields of a valid event should agree."""

    code: str
    """The code of the rule that reports a breach of it."""
    fields: tuple[str, ...]
    """All that it compares; the value of the last one is to blame for a breach."""
    holds: Callable[..., bool]
    """Whether the values of these fields, in this order, agree."""


def _has_value_as(kind: str, found: str, value: object) -> bool:
    return (found == kind) is (value is not None)


def _is_sum(count: float | None, sizes: Mapping[str, float] | None) -> bool:
    if sizes is None or count is None:
        return True
    # An integer may be written as a float, and the sum of both kinds could overflow.
    return sum([int(sizes[size]) for size in SIZES]) == count


def _is_named(what: str, found: str, reference: str | None) -> bool:
    return found != what or reference is not None


_PLAN_CHANGES = {
    "dispatch-added": "dispatches_added",
    "dispatch-removed": "dispatches_removed",
    "dispatch-resize": "dispatches_resized",
}
"""By the reason of an amendment: the field that counts such changes."""
_HASH = "brief_content_hash"
_EMPTY_HASH = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
"""The sha256 of the empty text."""


def _is_counted(change: str, reason: str, count: float | None) -> bool:
    return reason != change or count != 0


_AGREEMENTS = (
    *(
        Agreement("kind-mismatch", (kind_field, name), partial(_has_value_as, kind))
        for kind_field, kinds in KINDS.items()
        for name, kind in kinds.items()
    ),
    Agreement("size-distribution-sum", ("dispatch_count", "dispatch_size_distribution"), _is_sum),
    Agreement(
        "drift-severity-mismatch",
        ("drift_signal_count", "max_drift_severity"),
        lambda signals, severity: (signals == 0) is (severity == "none"),
    ),
    Agreement(
        "mandatory-final-mismatch",
        ("trigger_class", "is_mandatory_final"),
        lambda trigger, is_final: is_final is (trigger == "mandatory-final"),
    ),
    Agreement("project-slug-mismatch", ("project_run_id", "project_slug"), eq),
    Agreement("merged-without-pr", ("result", "pr_ref"), partial(_is_named, "merged")),
    Agreement(
        "ticket-without-ref", ("input_shape", "input_ref"), partial(_is_named, "linear-ticket")
    ),
    Agreement("retro-without-surface", ("landing_surfaces",), bool),
    Agreement("impossible-bytes-delta", ("byte_length", "bytes_delta"), ge),
    Agreement("empty-brief", ("brief_byte_length",), bool),
    Agreement("empty-brief", (_HASH,), lambda digits: digits.lower() != _EMPTY_HASH),
    *(
        Agreement("plan-change-mismatch", ("reason", count), partial(_is_counted, reason))
        for reason, count in _PLAN_CHANGES.items()
    ),
    Agreement("invented-hash", (_HASH,), lambda digits: not looks_invented(digits)),
    Agreement("zero-tokens", TOKEN_FIELDS[::-1], lambda *counts: any(each != 0 for each in counts)),
)


# The events

WRITTEN = f"{__path__[0]}/events.json"
"""The vocabulary as ``make generate`` writes it down: each start of a command feels how long it
takes to make it of its declarations.
"""


def _vocabulary() -> Vocabulary:
    try:
        data = __loader__.get_data(WRITTEN)  # type: ignore[name-defined]
        return msgspec.json.decode(data, type=Vocabulary)
    except (OSError, msgspec.MsgspecError):  # as where it is missing, torn or of another version
        from drive_trace.vocabulary.declared import VOCABULARY  # noqa: PLC0415 - see above

        return VOCABULARY


_VOCABULARY = _vocabulary()
ENVELOPE = _VOCABULARY.envelope
"""The fields that every event carries."""

EVENTS: Mapping[str, EventType] = {
    each.name: replace(each, fields={**ENVELOPE, **each.fields}) for each in _VOCABULARY.events
}
"""Every event by its ``event_type``, family by family."""

AGREEMENTS: Mapping[str, tuple[Agreement, ...]] = {
    name: tuple(each for each in _AGREEMENTS if event.fields.keys() >= {*each.fields})
    for name, event in EVENTS.items()
}
"""How the fields of each event have to agree, by its ``event_type``."""

LIFETIMES: Mapping[Entity, Lifetime] = {
    entity: lifetime_of(entity, EVENTS) for entity in (Entity.DISPATCH, Entity.ROUND, Entity.SLICE)
}
"""The entities that start and end within a run."""

DISPATCH, ROUND, SLICE = LIFETIMES.values()
OPENING = {"triage-verdict", *(authored for authored, _ in WRITERS.values())} | {
    each.name for each in EVENTS.values() if each.is_feed or each.opens not in (None, Entity.ROUND)
}
"""With these events a run may begin."""

NAMING: Mapping[str, Entity] = {
    field.name: field.names
    for event in EVENTS.values()
    for field in event.fields.values()
    if field.names is not None
}
"""What each field names that names something: a field name means the same in every event."""

SCHEMA_VERSION = "1"
"""The only value of ``schema_version`` that readers accept."""

# What an event says of a file, and what the path of a trace says of its run. Fact: a project's
# trace is `projects/<run>/trace.jsonl`, that of one of its slices
# `projects/<run>/slices/<slice>/trace.jsonl`. What belongs to no project is in
# `wip/drive-trace/<run>.jsonl`, where the run is called `orphan-…` or `direct-…` (the vocabulary).


class FileFacts(msgspec.Struct, frozen=True):
    """The fields of an event that describe one file."""

    path: str
    """The file's path from the root of the repository. A brief's path is not declared, but writers
    that know it write it.
    """
    length: str
    """Its length in bytes."""
    sha256: str | None = None
    """Its sha256 in hexadecimal."""


FILES = (
    FileFacts("spec_path", "byte_length"),
    FileFacts("plan_path", "byte_length"),
    FileFacts("brief_path", "brief_byte_length", "brief_content_hash"),
)
"""Each field that holds a path, with the other fields that describe the file at that path."""

_PROMISES = (
    r"(?:^|/)(?:projects/([^/]+)/(?:slices/[^/]+/)?trace"
    r"|wip/drive-trace/((?:orphan|direct)-[^/]+))\.jsonl$"
)
_HINTS = r"([^/:]+)/trace\.jsonl$|/wip/drive-trace/([^/]+)\.jsonl$"


@lru_cache(maxsize=16)
def promised_run(path: str) -> str | None:
    """The run id that a path promises, or None."""
    return _named(_PROMISES, path)


def likely_run(path: str) -> str | None:
    """The run id to expect in a trace without events, or None."""
    return promised_run(path) or _named(_HINTS, path)


def _named(pattern: str, path: str) -> str | None:
    found = re.search(pattern, path.replace("\\", "/"))
    return found and (found[1] or found[2])
