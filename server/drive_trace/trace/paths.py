"""What the path of a trace says of the run in it.

Fact: a project's trace is ``projects/<run>/trace.jsonl``, that of one of its slices
``projects/<run>/slices/<slice>/trace.jsonl``; what belongs to no project is
``wip/drive-trace/<run>.jsonl``, the run being called ``orphan-…`` or ``direct-…`` (the vocabulary).
"""

from __future__ import annotations

import re
from functools import lru_cache

_PROMISES = re.compile(
    r"(?:^|/)(?:projects/([^/]+)/(?:slices/[^/]+/)?trace"
    r"|wip/drive-trace/((?:orphan|direct)-[^/]+))\.jsonl$"
)
_HINTS = re.compile(r"([^/:]+)/trace\.jsonl$|/wip/drive-trace/([^/]+)\.jsonl$")


@lru_cache(maxsize=16)
def promised_run(path: str) -> str | None:
    """The run id that a path promises, if it does."""
    return _named(_PROMISES, path)


def likely_run(path: str) -> str | None:
    """The run id that is to be expected in a trace that has no events yet, if there is one."""
    return promised_run(path) or _named(_HINTS, path)


def _named(pattern: re.Pattern[str], path: str) -> str | None:
    found = pattern.search(path.replace("\\", "/"))
    return found and (found[1] or found[2])
