"""What commands that write to a trace share: their options, and telling what came of it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TypeVar

import click

from drive_trace.authoring.drafts import Refused
from drive_trace.commands.completing import complete_files, complete_runs
from drive_trace.storage.traces import STDIN, Problem, read_bytes
from drive_trace.text.escaping import printable

Command = TypeVar("Command", bound=Callable[..., object])
Outcome = TypeVar("Outcome")

EXIT_REFUSED = 1
EXIT_UNUSABLE = 2


def not_empty(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    """Refuse what a shell variable that is not set leaves behind, and what is no text."""
    if value is not None and not value.strip():
        raise click.BadParameter("is empty")
    return value


def is_text(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """Refuse also what has no place in a trace, which is UTF-8."""
    try:
        (value or "").encode()
    except UnicodeEncodeError as error:
        raise click.BadParameter("is not UTF-8") from error
    return not_empty(ctx, param, value)


def _is_file(ctx: click.Context, param: click.Parameter, value: str) -> str:
    """Refuse the name that elsewhere means a stream: nothing is appended to one."""
    if value == STDIN:
        raise click.BadParameter(
            "- is no file to append to; emit --dry-run prints the line (a file called - is ./-)"
        )
    not_empty(ctx, param, value)
    return value


def target_options(command: Command) -> Command:
    """``--trace-file`` and ``--project-run-id``."""
    run = click.option(
        "--project-run-id",
        metavar="ID",
        required=True,
        callback=is_text,
        shell_complete=complete_runs,
        help="The run that the event belongs to.",
    )
    trace = click.option(
        "--trace-file",
        metavar="FILE",
        required=True,
        callback=_is_file,
        shell_complete=complete_files,
        help="The trace to append to.",
    )
    return trace(run(command))


def new_run_option(command: Command) -> Command:
    """``--new-run``."""
    return click.option(
        "--new-run",
        is_flag=True,
        help="Take a run that the trace has no event of, and make the trace if it is not there.",
    )(command)


def read_text(source: str, most: int) -> str:
    """A file, or standard input for ``-``; ends the command where it cannot be read, or has more
    than ``most`` bytes.
    """
    data = done(read_bytes(source, most), source)
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        found = f"byte 0x{data[error.start]:02x} in line {line}"
        say(f"{source}: is not UTF-8 ({found}); save it as UTF-8 and try again")
        sys.exit(EXIT_UNUSABLE)


def done(outcome: Outcome | Refused | Problem, path: str) -> Outcome:
    """What came of it; ends the command where it was nothing, and says why."""
    if isinstance(outcome, Problem):
        say(outcome.message)
        sys.exit(EXIT_UNUSABLE)
    if isinstance(outcome, Refused):
        for reason in outcome.reasons:
            say(reason)
        if outcome.for_unknown_run:
            say("--new-run takes it all the same")
        say(f"nothing was written to {path}")
        sys.exit(EXIT_REFUSED)
    return outcome


def say(words: str) -> None:
    """Tell the person or program that called, beside the output."""
    click.echo(f"drive-trace: {printable(words, 8192)}", err=True)
