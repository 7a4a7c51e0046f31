"""The baseline: findings that are known already, and not shown again.

A finding is known by its rule and the text of its line, so that it stays known
when lines are added above it, and is new when its line changes. How many lines
of that text have it is known, too: one more is new.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import chain
from types import MappingProxyType

from drive_trace.storage.baseline_faults import (
    FINGERPRINT,
    UNCOUNTED_VERSION,
    VERSION,
    Fault,
    first_fault,
)

BASELINE_NAME = "drive-trace-baseline.json"

ANY_NUMBER = sys.maxsize
"""How many lines an uncounted fingerprint hides; null in the file."""

Known = Mapping[str, Mapping[str, int]]
"""The findings in one file by the code of their rule: on how many lines, by fingerprint."""


class BaselineError(Exception):
    """A text is no baseline; says why, and where in it."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.message)
        self.at = fault.at


class _NoBaselineError(Exception):
    """A text is no baseline; why, is looked for then."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """What is known, by the files' paths from the baseline's folder, with ``/`` in between."""

    files: Mapping[str, Known] = field(default_factory=lambda: MappingProxyType({}))

    def known(self, path: str) -> Mapping[str, int]:
        """The fingerprints of the findings that are known of a file, and on how many lines."""
        return dict(chain.from_iterable(each.items() for each in self.files.get(path, {}).values()))

    def with_files(self, files: Mapping[str, Known]) -> Baseline:
        """The baseline with other findings of some files; one without any is left out."""
        return Baseline({path: known for path, known in {**self.files, **files}.items() if known})


def read_baseline(text: str) -> Baseline:
    """Read a baseline. Raises BaselineError for anything else."""
    try:
        return _read(json.loads(text, object_pairs_hook=_once))
    except json.JSONDecodeError as error:
        raise BaselineError(Fault(error.pos, f"it is not JSON: {error.msg}")) from None
    except (_NoBaselineError, RecursionError, ValueError):
        raise BaselineError(first_fault(text)) from None


def write_baseline(baseline: Baseline) -> str:
    """The text of a baseline: sorted, and a line a finding, so that a difference is readable."""
    files = {
        path: {
            code: {
                each: None if count == ANY_NUMBER else count
                for each, count in sorted(known[code].items())
            }
            for code in sorted(known)
        }
        for path, known in sorted(baseline.files.items())
    }
    return json.dumps({"version": VERSION, "files": files}, indent=2, ensure_ascii=False) + "\n"


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """An object. Of two members with one name readers take one; which, nobody should guess."""
    members = dict(pairs)
    if len(members) != len(pairs):
        raise _NoBaselineError
    return members


def _read(data: object) -> Baseline:
    version = _object(data).get("version")
    if type(version) is not int or version not in (VERSION, UNCOUNTED_VERSION):
        raise _NoBaselineError
    read = _counted if version == VERSION else _uncounted
    return Baseline(
        {
            path: {code: read(found) for code, found in _object(known).items()}
            for path, known in _object(_object(data).get("files")).items()
        }
    )


def _object(value: object) -> dict[str, object]:
    if not isinstance(value, dict):
        raise _NoBaselineError
    return value


def _counted(found: object) -> Mapping[str, int]:
    if not isinstance(found, dict) or not all(map(_is_counted, found.items())):
        raise _NoBaselineError
    return {each: ANY_NUMBER if count is None else count for each, count in found.items()}


def _is_counted(pair: tuple[object, object]) -> bool:
    found_by, count = pair
    is_count = type(count) is int and count > 0
    return _is_fingerprint(found_by) and (count is None or is_count)


def _uncounted(found: object) -> Mapping[str, int]:
    if not isinstance(found, list) or not all(map(_is_fingerprint, found)):
        raise _NoBaselineError
    return dict.fromkeys(found, ANY_NUMBER)


def _is_fingerprint(value: object) -> bool:
    return isinstance(value, str) and FINGERPRINT.fullmatch(value) is not None
