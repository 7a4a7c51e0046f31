"""The command line."""

import os
import sys
from functools import cache
from importlib import import_module
from typing import NoReturn

import click

from drive_trace import __version__, interrupts
from drive_trace.commands import terminal

TRACEBACK = "DRIVE_TRACE_TRACEBACK"
"""Environment variable: set, an unforeseen error is shown in full."""

COMMANDS = {
    "calibrate": ("calibrate", "Hold a judge's verdicts against people's labels."),
    "check": ("check", "Report what is wrong with traces."),
    "compare": ("compare", "Say whether one side of runs is better than another."),
    "completion": ("integration", "Print what makes a shell complete."),
    "emit": ("emit", "Append an event to a trace."),
    "explain": ("explain", "Explain a rule, or list them all."),
    "export": ("report", "Write runs for the viewers of other tools."),
    "fleet": ("fleet", "Make a table of the runs of many traces."),
    "gate": ("gate", "Run a gate, and record whether it passed."),
    "hook": ("integration", "Record a session of a coding agent."),
    "judge": ("judge", "Have a model judge the intent of a run."),
    "plan": ("plan", "Say how many runs a comparison takes."),
    "reconstruct": ("reconstruct", "Tell from a session's logs what a run did."),
    "record": ("writing", "Grade a run, keeping what was graded before."),
    "report": ("report", "Write a report on the runs of traces."),
    "schema": ("integration", "Print the JSON Schema of an event."),
    "score": ("score", "Show the verdict of every run."),
    "serve": ("integration", "Run the language server."),
    "suite": ("suite", "Gate and judge the runs that a suite plans."),
    "tokens": ("tokens", "Record what a run cost in tokens."),
}
"""By name, the module of each command in this package, and what it does in a few words."""


class _Commands(click.Group):
    """Loads a command when it is asked for: most of them need what the others do without."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        return _command(cmd_name) if cmd_name in COMMANDS else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl([(name, what) for name, (_, what) in COMMANDS.items()])


@cache
def _command(name: str) -> click.Command:
    module, what = COMMANDS[name]
    command: click.Command = getattr(import_module(f"{__name__}.{module}"), name)
    command.short_help = what
    # Not before: an exception in the midst of loading can crash what is written in C.
    interrupts.raise_when_interrupted()
    return terminal.colour_option(command)


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="drive-trace")
@terminal.colour_option
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
        ctx.color = terminal.wanted_colour()


# By these names click lists commands, and guesses which one was meant.
cli.commands.update(dict.fromkeys(COMMANDS))  # type: ignore[arg-type]


def main() -> None:
    """Run the command line: exit code 0 fine, 1 errors found, 2 usage or unreadable input, 130
    after Ctrl-C.
    """
    terminal.open_streams()
    try:
        end = _run()
    except interrupts.Interrupted:
        end = SystemExit(interrupts.EXIT_INTERRUPTED)
    _leave(end.code)


def _run() -> SystemExit:
    """The end, with its exit code. Whoever reads the output has no say in it."""
    end = SystemExit()
    try:
        try:
            cli(prog_name="drive-trace")
        except SystemExit as raised:
            end = raised  # its frames keep what was read, which would take long to free
        failure = terminal.take_failure()
        if failure is not None:
            end.code = terminal.EXIT_UNUSABLE
            terminal.notify(f"cannot write the output: {failure.strerror or failure}")
    except Exception as error:
        if os.environ.get(TRACEBACK):
            raise
        end.code = terminal.EXIT_UNUSABLE
        terminal.notify(
            f"a defect of drive-trace itself ({type(error).__name__}); "
            f"set {TRACEBACK}=1 to see where, and report it"
        )
    finally:
        interrupts.end_when_interrupted()
    return end


def _leave(code: int | str | None) -> NoReturn:
    """End the process without freeing its objects one by one, which the system does faster."""
    if not isinstance(code, int):
        sys.exit(code)
    sys.stderr.flush()
    os._exit(code)
