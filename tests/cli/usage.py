"""Gives logs of usage to `tokens --usage`, and reads what it records."""

import json
from pathlib import Path
from typing import Any

from tests.cli.support import Ran, run
from tests.support.client_text import triage

COUNTS = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")


def add(trace: Path, text: str) -> Ran:
    target = ("--trace-file", trace, "--project-run-id", "run-1")
    return run("tokens", *target, "--usage", "-", stdin=text)


def recorded(trace: Path, text: str) -> tuple[list[int | None], list[str]]:
    """The figures that count then, and what is said beside."""
    ran = add(trace, text)
    assert ran.code == 0, ran.err
    event = json.loads(trace.read_text().splitlines()[-1])
    return [event[name] for name in COUNTS], [
        line.removeprefix("drive-trace: ") for line in ran.err.splitlines()
    ]


def refused(trace: Path, text: str) -> list[str]:
    """The reasons why nothing is recorded."""
    ran = add(trace, text)
    assert (ran.code, ran.out, trace.read_text()) == (1, "", triage())
    *reasons, last = ran.err.splitlines()
    assert last == f"drive-trace: nothing was written to {trace}"
    return [each.removeprefix("drive-trace: ") for each in reasons]


def usage(*counts: int) -> dict[str, int]:
    names = ("inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens")
    return dict(zip(names, counts, strict=False))


def log(*messages: Any) -> str:
    return "".join(json.dumps(each) + "\n" for each in messages)
