"""``drive-trace check``: what is wrong with traces."""

from __future__ import annotations

import sys

import click

from drive_trace.api import Analysis
from drive_trace.commands.output import FORMATS
from drive_trace.commands.paths import Reading, paths_argument
from drive_trace.rules.base import Severity

_THRESHOLDS = {severity.label: severity for severity in Severity}


@click.command(short_help="Report what is wrong with traces.")
@paths_argument
@click.option(
    "--output-format",
    type=click.Choice(sorted(FORMATS)),
    default="full",
    show_default=True,
    help="full shows the line with a caret, concise one line a finding, json is for programs.",
)
@click.option(
    "--fail-on",
    type=click.Choice([*_THRESHOLDS, "never"]),
    default="error",
    show_default=True,
    help="Exit with 1 when there is a finding at least this bad.",
)
def check(paths: tuple[str, ...], output_format: str, fail_on: str) -> None:
    """Report everything that is wrong with the traces at PATH.

    PATH is a file, a folder (searched for trace.jsonl and wip/drive-trace/*.jsonl) or - for
    standard input; without one, the current folder is searched.

    Exit code: 0 nothing found at the level of --fail-on, 1 something found, 2 some input could
    not be read (the rest is still checked).

    \b
    Examples:
      drive-trace check
      drive-trace check projects/checkout-retry/trace.jsonl --output-format concise
      tail -n 20 trace.jsonl | drive-trace check -
    """
    threshold = _THRESHOLDS.get(fail_on, 0)
    reading = Reading(paths)
    writer = FORMATS[output_format](sys.stdout)
    found = False
    for trace in reading:
        analysis = Analysis(trace.records)
        worst = writer.write(analysis, trace.path)
        found = found or (worst is not None and worst <= threshold)
    writer.finish()
    if reading.failed:
        sys.exit(2)
    sys.exit(1 if found else 0)
