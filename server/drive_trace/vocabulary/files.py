"""Files: what an event says of one, and what the path of a trace says of its run.

Fact: a project's trace is ``projects/<run>/trace.jsonl``, that of one of its slices
``projects/<run>/slices/<slice>/trace.jsonl``. What belongs to no project is in
``wip/drive-trace/<run>.jsonl``, where the run is called ``orphan-…`` or ``direct-…`` (the
vocabulary).
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple


class FileFacts(NamedTuple):
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

_PROMISES = re.compile(
    r"(?:^|/)(?:projects/([^/]+)/(?:slices/[^/]+/)?trace"
    r"|wip/drive-trace/((?:orphan|direct)-[^/]+))\.jsonl$"
)
_HINTS = re.compile(r"([^/:]+)/trace\.jsonl$|/wip/drive-trace/([^/]+)\.jsonl$")


@lru_cache(maxsize=16)
def promised_run(path: str) -> str | None:
    """The run id that a path promises, or None."""
    return _named(_PROMISES, path)


def likely_run(path: str) -> str | None:
    """The run id to expect in a trace without events, or None."""
    return promised_run(path) or _named(_HINTS, path)


def _named(pattern: re.Pattern[str], path: str) -> str | None:
    found = pattern.search(path.replace("\\", "/"))
    return found and (found[1] or found[2])
