"""``drive-trace fleet``: a table of many runs."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from glob import has_magic, iglob
from itertools import chain
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

import click

from drive_trace import __version__
from drive_trace.commands import options, terminal
from drive_trace.commands.terminal import EXIT_UNUSABLE, Ended, ProgressBar, notify, write_document
from drive_trace.fleet import DAFT, RAY
from drive_trace.storage.files import STDIN, leads_out

# What reads traces and writes tables is loaded in the functions: its help needs none of it.
if TYPE_CHECKING:
    from drive_trace.fleet.kept import OnAll
    from drive_trace.fleet.scan import FleetScan
    from drive_trace.report.fleet import FleetSummary, Row
    from drive_trace.scorecard.card import ScoreCard
    from drive_trace.storage.finding import Found, SearchOptions

_PATIENCE = 2.0
"""Seconds that a scan waits for the cache, which an editor may have open for a moment."""
_CSV, _PARQUET = ".csv", ".parquet"
_FORMATS = (".jsonl", ".ndjson", _CSV, _PARQUET)
_LOCAL = "local"


def _out(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    if value not in {None, STDIN} and _suffix(value) not in _FORMATS:
        raise click.BadParameter(f"ends with none of {', '.join(_FORMATS)}")
    return value


@click.command()
@options.paths
@options.search
@options.out(
    "Write the table to a file, as .jsonl, .csv or .parquet (which needs the extra "
    "drive-trace[fleet]), or to standard output (-, as JSON Lines).",
    check=_out,
)
@options.file(
    "--html",
    "Write the page of the fleet: the runs in a table that can be searched, the share of CORRECT "
    "over time, what a CORRECT run costs, and what is slow, reworked and flaky.",
)
@options.flag(
    "--findings",
    "Run the rules, too, and count what they find. Findings are not looked at otherwise.",
)
@options.flag("--no-cache", "Read every trace, and keep nothing.")
@click.option(
    "--runner",
    type=click.Choice([_LOCAL, DAFT, RAY]),
    default=_LOCAL,
    show_default=True,
    help="What reads and joins: processes of this machine, with what is kept; or Daft, here or on "
    "a cluster of Ray, keeping nothing (needs the extra drive-trace[fleet] or [fleet-ray]).",
)
@options.value(
    "--address",
    "HOST:PORT",
    "The cluster of Ray; else that of RAY_ADDRESS, or one that is started here and ends.",
    callback=options.not_empty,
)
def fleet(  # noqa: PLR0913, PLR0917 - one for each option
    paths: tuple[str, ...],
    search: SearchOptions,
    out: str | None,
    html: str | None,
    findings: bool,
    no_cache: bool,
    runner: str,
    address: str | None,
) -> None:
    """Make a table with a row for each run in the traces at PATH, joined by run id, and sum it up:
    runs that went on after their grade and runs without one, how many are CORRECT by project and
    month (with 95 % Wilson intervals), and with --findings the commonest findings. --html writes
    the same as a page, with all runs and with what changed, took longest and came out both ways.

    PATH is a file, a folder, or a pattern such as 'runs/**/*.jsonl'. The verdicts are those that
    score gives for the folder of the same files: unlike score, fleet takes no files in that nobody
    named. What was found in a file is kept in the user's cache folder until the file changes.

    Exit code: 0 whatever the verdicts, 2 some input could not be read or some configuration used
    (the rest is still in the table), or the table could not be written.

    \b
    Examples:
      drive-trace fleet .
      drive-trace fleet runs --out runs.csv --html runs.html
      drive-trace fleet 'teams/*/projects' --out - | jq .verdict
      drive-trace fleet /shared/runs --runner ray --address head:6379 --out runs.parquet
    """
    for is_refused, message in (
        (STDIN in paths, "- is no file: a fleet is read from files"),
        (html is not None and html == out, "--html and --out name the same file"),
        (address is not None and runner != RAY, "--address is for --runner ray"),
    ):
        if is_refused:
            raise click.UsageError(message)
    from drive_trace.fleet.kept import ScanError  # noqa: PLC0415 - see above
    from drive_trace.fleet.scan import FleetScan, Inputs  # noqa: PLC0415
    from drive_trace.report.fleet import FleetSummary  # noqa: PLC0415
    from drive_trace.scorecard.card import ScoreCard  # noqa: PLC0415
    from drive_trace.storage.finding import find_traces, link_out, omitted  # noqa: PLC0415
    from drive_trace.storage.fleet_cache import Cache, open_cache  # noqa: PLC0415

    gc.set_threshold(100_000, 100)  # most traces leave nothing
    gc.enable()  # this may go on for hours, see __main__.py
    reading, joining = ProgressBar("reading traces"), ProgressBar("joining runs")

    def say(message: str) -> None:
        reading.clear()
        joining.clear()
        notify(message)

    table = _table(out)
    named, refused = _expanded(paths or (".",))
    found = chain(find_traces(named, options=search), map(link_out, refused))
    inputs = Inputs(_but_not((out, html), found), say, search.above, findings=findings)
    summary = FleetSummary(has_findings=findings)
    kept: list[Row] = []

    def rows(scan: FleetScan) -> Iterator[Row]:
        count = scan.read()
        for row in joining.over(scan.rows(), count):
            summary.add(row)
            if html is not None:
                kept.append(row)
            yield row

    try:
        on_all, keeps = _on_all(runner, address), runner == _LOCAL and not no_cache
        with closing(
            open_cache(lambda each: notify(f"warning: {each}"), _PATIENCE) if keeps else Cache(None)
        ) as cache:
            scan = FleetScan(inputs, cache, reading.over, on_all)
            _write(table(rows(scan)), out)
    except ScanError as error:
        raise Ended(EXIT_UNUSABLE, str(error)) from error
    if inputs.left_out:
        notify(omitted(inputs.left_out).sentence())
    unread = len({each.path for each in inputs.unread})
    if html is not None:
        card = ScoreCard((), (), (*inputs.unread,), omitted(inputs.left_out))
        _write_page(html, kept, summary, scan.file_count, card)
    stream = sys.stderr if STDIN in {out, html} else sys.stdout
    width = terminal.columns() if terminal.is_terminal(stream) else 100
    click.echo(summary.text(scan.file_count, unread, width), file=stream)
    sys.exit(EXIT_UNUSABLE if inputs.unread or inputs.failed else 0)


def _on_all(runner: str, address: str | None) -> OnAll:
    if runner == _LOCAL:
        from drive_trace.storage.processes import on_all_cores  # noqa: PLC0415 - see above

        return on_all_cores
    from drive_trace.fleet.engine import engine  # noqa: PLC0415 - an extra

    return engine(runner, address)


def _write_page(
    out: str, rows: Sequence[Row], summary: FleetSummary, files: int, card: ScoreCard
) -> None:
    from drive_trace.fleet.page import Fleet, fleet_html  # noqa: PLC0415 - see above
    from drive_trace.storage.compared_sides import MANIFEST_SUFFIX  # noqa: PLC0415

    paths = {row.run_id: os.path.abspath(row.files[0]) for row in rows}  # noqa: PTH100 - follows links
    page = fleet_html(Fleet(rows, summary, files, card, paths), f"drive-trace {__version__}")
    is_manifest = os.path.realpath(out).endswith(MANIFEST_SUFFIX)
    write_document(page, out, traces=[], inputs=[out] * is_manifest, is_html=True)


def _but_not(written: Iterable[str | None], found: Iterable[Found]) -> Iterator[Found]:
    """What was found, unless what is written would take the place of a trace."""
    targets = {os.path.realpath(each): each for each in written if each not in {None, STDIN}}
    for each in found:
        if targets and isinstance(each, str) and os.path.realpath(each) in targets:
            name = targets[os.path.realpath(each)]
            raise Ended(EXIT_UNUSABLE, f"{name}: is not written: it is one of the traces")
        yield each


def _suffix(out: str | None) -> str:
    return PurePath(out or "").suffix.lower()


def _table(out: str | None) -> Callable[[Iterable[Row]], Iterable[bytes]]:
    """What makes the table of rows, by the name of its file."""
    from drive_trace.report import fleet as table  # noqa: PLC0415 - see above

    if out is None:
        return lambda rows: (b"" for _ in rows)
    if _suffix(out) == _PARQUET:
        try:
            import pyarrow.parquet  # noqa: F401, PLC0415 - an extra
        except ImportError as error:
            needed = f"--out {out} needs an extra: pip install 'drive-trace[fleet]'"
            raise Ended(EXIT_UNUSABLE, needed) from error
        return table.as_parquet
    is_csv = _suffix(out) == _CSV
    as_text, head = (table.as_csv, (table.csv_header(),)) if is_csv else (table.as_jsonl, ())
    return lambda rows: (
        line.encode("utf-8", "backslashreplace") for line in chain(head, map(as_text, rows))
    )


def _write(pieces: Iterable[bytes], out: str | None) -> None:
    if out in {None, STDIN}:
        for piece in filter(None, pieces):
            click.echo(piece, nl=False)
        return
    assert out is not None
    from drive_trace.storage.replace import write_table  # noqa: PLC0415 - see above

    problem = write_table(out, pieces)
    if problem is not None:
        raise Ended(EXIT_UNUSABLE, problem.message)


def _expanded(paths: Sequence[str]) -> tuple[list[str], list[str]]:
    """The paths, and what the patterns among them match; then the matches that links lead out."""
    named: list[str] = []
    refused: list[str] = []
    for path in paths:
        if not has_magic(path) or os.path.lexists(path):
            named.append(path)
            continue
        fixed = next(at for at, part in enumerate(Path(path).parts) if has_magic(part))
        root = Path(*Path(path).parts[:fixed])
        found = sorted(iglob(path, recursive=True))  # noqa: PTH207 - as it was written
        for each in found or [path]:
            (refused if leads_out(each, root) else named).append(each)
    return named, refused
