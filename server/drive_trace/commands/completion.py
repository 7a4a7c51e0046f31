"""``drive-trace completion``: make a shell complete."""

from __future__ import annotations

import click
from click.shell_completion import ShellComplete, get_completion_class

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
