"""``drive-trace fleet``: a table of many runs."""

from __future__ import annotations

import gc
import os
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from glob import has_magic, iglob
from itertools import chain
from pathlib import Path, PurePath

import click

from drive_trace.commands.paths import no_ignore_option, paths_argument
from drive_trace.commands.terminal import Progress, notify
from drive_trace.commands.writing import EXIT_UNUSABLE, Ended
from drive_trace.fleet.inputs import Inputs
from drive_trace.fleet.kept import CacheLostError
from drive_trace.fleet.scan import FleetScan
from drive_trace.report.fleet import FleetSummary, Row, as_csv, as_jsonl, csv_header
from drive_trace.storage.files import STDIN
from drive_trace.storage.finding import Found, find_traces, omitted
from drive_trace.storage.fleet_cache import Cache, cache_folder
from drive_trace.storage.replace import write_table

_PATIENCE = 2.0
"""Seconds that a scan waits for the cache, which an editor may have open for a moment."""
_SUFFIXES = {".jsonl": as_jsonl, ".ndjson": as_jsonl, ".csv": as_csv}


def _out(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    if value not in {None, STDIN} and PurePath(value or "").suffix.lower() not in _SUFFIXES:
        raise click.BadParameter(f"ends with none of {', '.join(_SUFFIXES)}")
    return value


@click.command(short_help="Make a table of the runs of many traces.")
@paths_argument
@no_ignore_option
@click.option(
    "--out",
    metavar="FILE",
    callback=_out,
    help="Write the table to a file, as .jsonl or .csv, or to standard output (-, as JSON Lines).",
)
@click.option("--no-cache", is_flag=True, help="Read every trace, and keep nothing.")
def fleet(paths: tuple[str, ...], no_ignore: bool, out: str | None, no_cache: bool) -> None:
    """Make a table with a row for each run in the traces at PATH, joined by run id, and sum it up:
    runs that went on after their grade and runs without one, how many are CORRECT by project and
    month (with 95 % Wilson intervals), and the commonest findings.

    PATH is a file, a folder, or a pattern such as 'runs/**/*.jsonl'. The verdicts are those of
    score. What was found in a file is kept in the user's cache folder until the file changes.

    Exit code: 0 whatever the verdicts, 2 some input could not be read or some configuration used
    (the rest is still in the table), or the table could not be written.

    \b
    Examples:
      drive-trace fleet .
      drive-trace fleet runs --out runs.csv
      drive-trace fleet 'teams/*/projects' --out - | jq .verdict
    """
    if STDIN in paths:
        raise click.UsageError("- is no file: a fleet is read from files")
    gc.enable()  # this may go on for hours, see main
    reading, joining = Progress("reading traces"), Progress("joining runs")

    def say(message: str) -> None:
        reading.clear()
        joining.clear()
        notify(message)

    found = find_traces([*_expanded(paths or (".",))], everywhere=no_ignore)
    inputs = Inputs(_but_not(out, reading.over(found)), say)
    cache = _cache(None if no_cache else cache_folder())
    scan = FleetScan(inputs, cache)
    summary = FleetSummary()

    def rows() -> Iterator[Row]:
        count = scan.read()
        for row in joining.over(scan.rows(), count):
            summary.add(row)
            yield row

    try:
        _write(rows(), out)
    except CacheLostError as error:
        raise Ended(EXIT_UNUSABLE, "the cache can no longer be read; try again") from error
    finally:
        cache.close()
    if inputs.left_out:
        notify(omitted(inputs.left_out).phrase)
    click.echo(summary.text(scan.file_count), err=out == STDIN)
    sys.exit(EXIT_UNUSABLE if inputs.unread or inputs.failed else 0)


def _but_not(out: str | None, found: Iterable[Found]) -> Iterator[Found]:
    """What was found, unless the table would take the place of a trace."""
    target = os.path.realpath(out) if out not in {None, STDIN} else None
    for each in found:
        if target is not None and isinstance(each, str) and os.path.realpath(each) == target:
            raise Ended(EXIT_UNUSABLE, f"{out}: is not written: it is one of the traces")
        yield each


def _write(rows: Iterable[Row], out: str | None) -> None:
    as_text = _SUFFIXES.get(PurePath(out or "").suffix.lower(), as_jsonl)
    lines = chain((csv_header(),) if as_text is as_csv else (), map(as_text, rows))
    if out is None:
        deque(rows, maxlen=0)
        return
    if out == STDIN:
        for line in lines:
            click.echo(line, nl=False)
        return
    problem = write_table(out, (line.encode("utf-8", "backslashreplace") for line in lines))
    if problem is not None:
        raise Ended(EXIT_UNUSABLE, problem.message)


def _expanded(paths: Sequence[str]) -> Iterator[str]:
    """The paths, and what the patterns among them match; of ``**`` what no link leads out to."""
    for path in paths:
        if not has_magic(path) or os.path.lexists(path):
            yield path
            continue
        fixed = next(at for at, part in enumerate(Path(path).parts) if has_magic(part))
        root = Path(os.path.realpath(Path(*Path(path).parts[:fixed])))
        found = sorted(iglob(path, recursive=True))  # noqa: PTH207 - as it was written
        yield from [
            each for each in found if Path(os.path.realpath(each)).is_relative_to(root)
        ] or [path]


def _cache(folder: Path | None) -> Cache:
    import sqlite3  # noqa: PLC0415 - no other command needs it

    try:
        return Cache(folder, _PATIENCE)
    except (OSError, sqlite3.Error) as error:
        notify(f"warning: {folder}: nothing is kept: {error}")
        return Cache(None)
