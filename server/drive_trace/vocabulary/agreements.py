"""How the fields of one event have to agree, beyond what the type of each says.

Readers do not check this: an event that contradicts itself is valid. An
agreement applies to every event that has all the fields that it compares.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from drive_trace.vocabulary.feeds import TOKEN_FIELDS
from drive_trace.vocabulary.registry import FieldType

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


_FEW_DIGITS = 8
"""A hash or an id of random digits has more different ones: one in a million billion has not."""
_TURNS = re.compile(r"(?:[0-9][a-f])+[0-9]?|(?:[a-f][0-9])+[a-f]?", re.IGNORECASE)

Values = Mapping[str, Any]


def looks_invented(digits: str) -> bool:
    """Whether hexadecimal digits are a pattern that somebody typed: of few different digits, the
    same part over and over, or letters and digits in turns.
    """
    return (
        digits[:8] in digits[8:]
        or _TURNS.fullmatch(digits) is not None
        # The first ones tell it of nearly all, in less time.
        or len(set(digits[:24])) <= _FEW_DIGITS >= len(set(digits))
    )


class Agreement(NamedTuple):
    """How some fields of a valid event should agree."""

    code: str
    """The code of the rule that reports a breach of it."""
    at: str
    """The field whose value is to blame for a breach."""
    fields: tuple[str, ...]
    """All that it compares."""
    holds: Callable[[Values], bool]
    """Whether a valid event's values agree."""


def _of_kind(kind_field: str, kind: str, name: str) -> Agreement:
    def holds(values: Values) -> bool:
        return (values[kind_field] == kind) is (values[name] is not None)

    return Agreement("kind-mismatch", name, (kind_field, name), holds)


def _sizes_add_up(values: Values) -> bool:
    sizes, count = values["dispatch_size_distribution"], values["dispatch_count"]
    if sizes is None or count is None:
        return True
    # An integer may be written as a float, and the sum of both kinds could overflow.
    return bool(sum([int(sizes[size]) for size in SIZES]) == count)


def _severity_is_none_without_signals(values: Values) -> bool:
    return (values["drift_signal_count"] == 0) is (values["max_drift_severity"] == "none")


def _final_is_mandatory_final(values: Values) -> bool:
    return values["is_mandatory_final"] is (values["trigger_class"] == "mandatory-final")


def _slug_is_the_run(values: Values) -> bool:
    return bool(values["project_slug"] == values["project_run_id"])


def _merged_by_a_pull_request(values: Values) -> bool:
    return values["result"] != "merged" or values["pr_ref"] is not None


def _delta_fits_in_the_file(values: Values) -> bool:
    return bool(values["bytes_delta"] <= values["byte_length"])


def _brief_has_text(values: Values) -> bool:
    return bool(values["brief_byte_length"] != 0)


def _hash_is_computed(values: Values) -> bool:
    return not looks_invented(values["brief_content_hash"])


def _tokens_are_counted(values: Values) -> bool:
    return any(values[name] != 0 for name in TOKEN_FIELDS)


_AGREEMENTS = (
    *(
        _of_kind(kind_field, kind, name)
        for kind_field, kinds in KINDS.items()
        for name, kind in kinds.items()
    ),
    Agreement(
        "size-distribution-sum",
        "dispatch_size_distribution",
        ("dispatch_size_distribution", "dispatch_count"),
        _sizes_add_up,
    ),
    Agreement(
        "drift-severity-mismatch",
        "max_drift_severity",
        ("drift_signal_count", "max_drift_severity"),
        _severity_is_none_without_signals,
    ),
    Agreement(
        "mandatory-final-mismatch",
        "is_mandatory_final",
        ("trigger_class", "is_mandatory_final"),
        _final_is_mandatory_final,
    ),
    Agreement(
        "project-slug-mismatch",
        "project_slug",
        ("project_slug", "project_run_id"),
        _slug_is_the_run,
    ),
    Agreement("merged-without-pr", "pr_ref", ("result", "pr_ref"), _merged_by_a_pull_request),
    Agreement(
        "impossible-bytes-delta",
        "bytes_delta",
        ("byte_length", "bytes_delta"),
        _delta_fits_in_the_file,
    ),
    Agreement("empty-brief", "brief_byte_length", ("brief_byte_length",), _brief_has_text),
    Agreement("invented-hash", "brief_content_hash", ("brief_content_hash",), _hash_is_computed),
    Agreement("zero-tokens", TOKEN_FIELDS[0], TOKEN_FIELDS, _tokens_are_counted),
)


def agreements_among(fields: Mapping[str, FieldType]) -> tuple[Agreement, ...]:
    """The agreements that apply to an event with these fields."""
    return tuple(
        each if all(fields[name].is_required for name in each.fields) else _where_given(each)
        for each in _AGREEMENTS
        if all(name in fields for name in each.fields)
    )


def _where_given(agreement: Agreement) -> Agreement:
    def holds(values: Values) -> bool:
        return not all(name in values for name in agreement.fields) or agreement.holds(values)

    return agreement._replace(holds=holds)
