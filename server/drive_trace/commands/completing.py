"""What a shell completes: for the options and arguments of several commands."""

from __future__ import annotations

import click
from click.shell_completion import CompletionItem

from drive_trace.scorecard.feeds import runs_named
from drive_trace.storage.traces import read_bytes
from drive_trace.vocabulary import EVENTS


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
    data = read_bytes(ctx.params.get("trace_file") or "")
    runs = runs_named(data) if isinstance(data, bytes) else []
    return [CompletionItem(run) for run in runs if run.startswith(incomplete)]
