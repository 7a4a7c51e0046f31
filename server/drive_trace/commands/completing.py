"""What a shell completes: for the options and arguments of several commands.

What is offered is put on a command line, where bash runs a ``$(…)`` that stands in it. So ids,
which strangers write, are offered only where they mean nothing to any shell. Files are left to the
shell, which quotes their names.
"""

from __future__ import annotations

import re

import click
from click.shell_completion import CompletionItem

from drive_trace.scorecard.feed_state import runs_named
from drive_trace.storage.regular_files import read_regular
from drive_trace.vocabulary import EVENTS

_HARMLESS = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:@+/-]{0,199}")
"""What stays one word, and itself, in every shell."""
_MOST = 64 << 20
"""In bytes; whoever presses a key waits for no more to be read."""


def complete_files(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Files and folders, which the shell knows best."""
    return [CompletionItem(incomplete, type="file")]


def complete_events(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The events of the vocabulary."""
    return [
        CompletionItem(event.name, help=event.prose.partition(". ")[0])
        for event in EVENTS.values()
        if event.name.startswith(incomplete)
    ]


def complete_runs(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The runs in the trace that stands before on the command line."""
    try:
        data = read_regular(ctx.params.get("trace_file") or "", _MOST)
    except (OSError, ValueError):
        return []
    return [
        CompletionItem(run)
        for run in runs_named(data)
        if run.startswith(incomplete) and _HARMLESS.fullmatch(run)
    ]
