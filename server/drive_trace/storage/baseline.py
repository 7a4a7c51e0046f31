"""The baseline: findings that are known already, and not shown again.

A finding is known by its rule and the text of its line, so that it stays known
when lines are added above it, and is new when its line changes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

BASELINE_NAME = "drive-trace-baseline.json"
_VERSION = 1
_FINGERPRINT = re.compile(r"[0-9a-f]{32}")

Known = Mapping[str, frozenset[str]]
"""Fingerprints of the findings in one file, by the code of their rule."""


class BaselineError(ValueError):
    """A text is no baseline; says why."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """What is known, by the files' paths from the baseline's folder, with ``/`` in between."""

    files: Mapping[str, Known] = field(default_factory=lambda: MappingProxyType({}))

    def known(self, path: str) -> frozenset[str]:
        """The fingerprints of the findings that are known of a file."""
        return frozenset().union(*self.files.get(path, {}).values())

    def with_files(self, files: Mapping[str, Known]) -> Baseline:
        """The baseline with other findings of some files; one without any is left out."""
        return Baseline({path: known for path, known in {**self.files, **files}.items() if known})


def read_baseline(text: str) -> Baseline:
    """Read a baseline. Raises BaselineError for anything else."""
    try:
        data = json.loads(text)
    except RecursionError:
        raise BaselineError("it is nested too deeply") from None
    except ValueError as error:
        raise BaselineError(f"it is not JSON: {error}") from None
    if not isinstance(data, dict) or data.get("version") != _VERSION:
        raise BaselineError(f'it must be an object with "version": {_VERSION}')
    files = data.get("files")
    if not isinstance(files, dict) or not all(map(_is_known, files.values())):
        raise BaselineError('"files" must hold fingerprints by file and rule')
    return Baseline(
        {
            path: {code: frozenset(fingerprints) for code, fingerprints in known.items()}
            for path, known in files.items()
        }
    )


def write_baseline(baseline: Baseline) -> str:
    """The text of a baseline: sorted, and a line a finding, so that a difference is readable."""
    files = {
        path: {code: sorted(known[code]) for code in sorted(known)}
        for path, known in sorted(baseline.files.items())
    }
    return json.dumps({"version": _VERSION, "files": files}, indent=2, ensure_ascii=False) + "\n"


def _is_known(value: object) -> bool:
    return isinstance(value, dict) and all(map(_are_fingerprints, value.values()))


def _are_fingerprints(value: object) -> bool:
    return isinstance(value, list) and all(
        isinstance(each, str) and _FINGERPRINT.fullmatch(each) for each in value
    )
