"""``drive-trace completion``: make a shell complete, and what it completes.

What is offered is put on a command line, where bash runs a ``$(…)`` that stands in it. So ids,
which strangers write, are offered only where they mean nothing to any shell. Files are left to the
shell, which quotes their names.
"""

from __future__ import annotations

import re

import click
from click.shell_completion import CompletionItem, ShellComplete, get_completion_class

from drive_trace.storage.files import read_regular
from drive_trace.storage.run_files import runs_named
from drive_trace.vocabulary import EVENTS

VARIABLE = "_DRIVE_TRACE_COMPLETE"
"""The environment variable by which a shell asks for completions; click derives its name."""


@click.command(short_help="Print what makes a shell complete.")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print a script that makes SHELL complete commands, options, events, runs and paths.

    bash 4.4 or newer: put  eval "$(drive-trace completion bash)"  into ~/.bashrc. zsh: the same in
    ~/.zshrc, below compinit, with zsh in place of bash. fish: write it once to
    ~/.config/fish/completions/drive-trace.fish.

    \b
    Examples:
      drive-trace completion bash
      drive-trace completion fish > ~/.config/fish/completions/drive-trace.fish
    """
    kind = get_completion_class(shell)
    assert kind is not None
    # Not the class's own: that of bash starts a bash to see how old it is.
    completer = kind(ctx.find_root().command, {}, "drive-trace", VARIABLE)
    click.echo(ShellComplete.source(completer))


_HARMLESS = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:@+/-]{0,199}")
"""What stays one word, and itself, in every shell."""
_MOST = 64 << 20
"""In bytes: a person who presses a key waits for no more to be read."""


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
