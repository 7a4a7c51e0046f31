"""What a shell completes: for the options and arguments of several commands."""

from __future__ import annotations

from pathlib import Path

import click
from click.shell_completion import CompletionItem

from drive_trace.scorecard.feeds import runs_named
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
    try:
        data = Path(ctx.params.get("trace_file") or "").read_bytes()
    except OSError:
        return []
    return [CompletionItem(run) for run in runs_named(data) if run.startswith(incomplete)]
