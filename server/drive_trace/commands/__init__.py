"""The command line."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import click

from drive_trace import __version__
from drive_trace.commands.check import check
from drive_trace.commands.score import score
from drive_trace.commands.serve import serve

EXIT_FINDINGS = 1
EXIT_UNUSABLE = 2


class _OutputError(Exception):
    """The output cannot be written; its cause says why."""


class _Commands(click.Group):
    """Passes on that output cannot be written: click would make an error of a broken pipe."""

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        """Read the arguments; ``--help`` writes here."""
        with _output_errors():
            return super().make_context(*args, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command."""
        with _output_errors():
            return super().invoke(ctx)


@contextmanager
def _output_errors() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise _OutputError from error


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="drive-trace")
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Validates Drive trace.jsonl files line by line, and scores their runs.

    \b
    Examples:
      drive-trace check                     every trace below this folder
      drive-trace score projects/x          the verdict of every run in there
      drive-trace serve                     the language server, for editors
    """
    if os.environ.get("NO_COLOR"):
        ctx.color = False  # by default, colour is for terminals


cli.add_command(check)
cli.add_command(score)
cli.add_command(serve)


def main() -> None:
    """Run the command line: exit code 0 fine, 1 errors found, 2 usage or unreadable input."""
    gc.disable()  # a command ends before garbage matters, and collecting costs a third of its time
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed by whoever started us
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115
        else:
            stream.reconfigure(errors="backslashreplace")
    code: int | str | None = None
    try:
        try:
            cli(prog_name="drive-trace")
        except SystemExit as end:
            code = end.code
        sys.stdout.flush()
    except (_OutputError, OSError) as error:
        # At exit, Python would complain about the output it had: give it another one.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        cause = error.__cause__ or error
        code = 0  # whoever read our output has enough
        if not isinstance(cause, BrokenPipeError):
            code = EXIT_UNUSABLE
            why = getattr(cause, "strerror", None) or cause
            click.echo(f"drive-trace: cannot write the output: {why}", err=True)
    _leave(code)


def _leave(code: int | str | None) -> NoReturn:
    """End the process without taking everything apart that it made: the system is faster."""
    if not isinstance(code, int):
        sys.exit(code)
    sys.stderr.flush()
    os._exit(code)
