"""The command line."""

from __future__ import annotations

import gc
import os
import sys
from functools import cache
from importlib import import_module
from typing import NoReturn

import click

from drive_trace import __version__
from drive_trace.commands.terminal import (
    EXIT_UNUSABLE,
    colour_option,
    notify,
    open_streams,
    take_failure,
    wanted_colour,
)
from drive_trace.interrupts import (
    EXIT_INTERRUPTED,
    Interrupted,
    end_when_interrupted,
    raise_when_interrupted,
)

TRACEBACK = "DRIVE_TRACE_TRACEBACK"
"""Environment variable: set, an unforeseen error is shown in full."""


COMMANDS = (
    "calibrate",
    "check",
    "compare",
    "completion",
    "emit",
    "explain",
    "fleet",
    "gate",
    "judge",
    "reconstruct",
    "record",
    "report",
    "schema",
    "score",
    "serve",
    "tokens",
)


class _Commands(click.Group):
    """Loads a command when it is asked for: most of them need what the others do without."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's interface
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        return _command(cmd_name) if cmd_name in COMMANDS else None


@cache
def _command(name: str) -> click.Command:
    module = import_module(f"drive_trace.commands.{name}")
    command: click.Command = getattr(module, name)
    # Not before: an exception in the midst of loading can crash what is written in C.
    raise_when_interrupted()
    return colour_option(command)


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="drive-trace")
@colour_option
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Validates Drive trace.jsonl files line by line, scores their runs, and appends to them.

    \b
    Examples:
      drive-trace check                     every trace below this folder
      drive-trace score projects/x          the verdict of every run in there
      drive-trace explain unknown-value     what a rule is about, and how to fix it
      drive-trace report . --out runs.html  scorecard, metrics and assertions on one page
      drive-trace emit --help               append an event
      drive-trace record --help             grade a run
      drive-trace gate --help               run a gate, and record what came of it
      drive-trace serve                     the language server, for editors
    """
    if ctx.color is None:
        ctx.color = wanted_colour()


def main() -> None:
    """Run the command line: exit code 0 fine, 1 errors found, 2 usage or unreadable input, 130
    after Ctrl-C.
    """
    gc.disable()  # a command ends before garbage matters, and collecting costs a third of its time
    open_streams()
    try:
        code = _run()
    except Interrupted:
        code = EXIT_INTERRUPTED
    _leave(code)


def _run() -> int | str | None:
    """The exit code. Whoever reads the output has no say in it."""
    code: int | str | None = None
    try:
        try:
            cli(prog_name="drive-trace")
        except SystemExit as end:
            code = end.code
        failure = take_failure()
        if failure is not None:
            code = EXIT_UNUSABLE
            notify(f"cannot write the output: {failure.strerror or failure}")
    except Exception as error:
        if os.environ.get(TRACEBACK):
            raise
        code = EXIT_UNUSABLE
        notify(
            f"a defect of drive-trace itself ({type(error).__name__}); "
            f"set {TRACEBACK}=1 to see where, and report it"
        )
    finally:
        end_when_interrupted()
    return code


def _leave(code: int | str | None) -> NoReturn:
    """End the process without freeing its objects one by one, which the system does faster."""
    if not isinstance(code, int):
        sys.exit(code)
    sys.stderr.flush()
    os._exit(code)
