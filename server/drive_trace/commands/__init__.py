"""The command line."""

from __future__ import annotations

import gc
import os
import sys

import click

from drive_trace import __version__
from drive_trace.commands.check import check
from drive_trace.commands.score import score
from drive_trace.commands.serve import serve

EXIT_FINDINGS = 1
EXIT_UNUSABLE = 2


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="drive-trace")
def cli() -> None:
    """Validates Drive trace.jsonl files line by line, and scores their runs.

    \b
    Examples:
      drive-trace check                     every trace below this folder
      drive-trace score projects/x          the verdict of every run in there
      drive-trace serve                     the language server, for editors
    """


cli.add_command(check)
cli.add_command(score)
cli.add_command(serve)


def main() -> None:
    """Run the command line: exit code 0 fine, 1 errors found, 2 usage or unreadable input."""
    gc.disable()  # a command ends before garbage matters, and collecting costs a third of its time
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    try:
        cli(prog_name="drive-trace")
    except BrokenPipeError:
        # Whoever read our output has enough. Python would complain at exit: give it another out.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
