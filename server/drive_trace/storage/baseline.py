"""The baseline: findings that are known already, and not shown again.

A finding is known by its rule and the text of its line, so that it stays known
when lines are added above it, and is new when its line changes. How many lines
of that text have it is known, too: one more is new.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import chain
from types import MappingProxyType

BASELINE_NAME = "drive-trace-baseline.json"
_VERSION = 2
_UNCOUNTED_VERSION = 1
"""It held lists of fingerprints, each of which hid any number of lines."""
_FINGERPRINT = re.compile(r"[0-9a-f]{32}")
_WRONG_FILES = '"files" must hold numbers of lines by file, rule and fingerprint'

ANY_NUMBER = sys.maxsize
"""How many lines an uncounted fingerprint hides; null in the file."""

Known = Mapping[str, Mapping[str, int]]
"""The findings in one file by the code of their rule: on how many lines, by fingerprint."""


class BaselineError(ValueError):
    """A text is no baseline; says why."""


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
        data = json.loads(text)
    except RecursionError:
        raise BaselineError("it is nested too deeply") from None
    except ValueError as error:
        raise BaselineError(f"it is not JSON: {error}") from None
    version = data.get("version") if isinstance(data, dict) else None
    if version not in (_VERSION, _UNCOUNTED_VERSION):
        raise BaselineError(f'it must be an object with "version": {_VERSION}')
    read = _counted if version == _VERSION else _uncounted
    files = data.get("files")
    if not isinstance(files, dict) or not all(isinstance(each, dict) for each in files.values()):
        raise BaselineError(_WRONG_FILES)
    return Baseline(
        {
            path: {code: read(found) for code, found in known.items()}
            for path, known in files.items()
        }
    )


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
    return json.dumps({"version": _VERSION, "files": files}, indent=2, ensure_ascii=False) + "\n"


def _counted(found: object) -> Mapping[str, int]:
    if not isinstance(found, dict) or not all(map(_is_counted, found.items())):
        raise BaselineError(_WRONG_FILES)
    return {each: ANY_NUMBER if count is None else count for each, count in found.items()}


def _is_counted(pair: tuple[object, object]) -> bool:
    found_by, count = pair
    is_count = type(count) is int and count > 0
    return _is_fingerprint(found_by) and (count is None or is_count)


def _uncounted(found: object) -> Mapping[str, int]:
    if not isinstance(found, list) or not all(map(_is_fingerprint, found)):
        raise BaselineError(_WRONG_FILES)
    return dict.fromkeys(found, ANY_NUMBER)


def _is_fingerprint(value: object) -> bool:
    return isinstance(value, str) and _FINGERPRINT.fullmatch(value) is not None
