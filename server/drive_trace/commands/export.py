"""``drive-trace export``: runs for the viewers of other tools."""

import sys

import click

from drive_trace import __version__
from drive_trace.commands import options, terminal
from drive_trace.commands.reading import MOST_NAMED, Reading, tell_others
from drive_trace.report.contents import report_on
from drive_trace.report.event_log import read_log
from drive_trace.report.export import WRITERS, exported
from drive_trace.scorecard.caveats import ILLEGIBLE
from drive_trace.storage.finding import SearchOptions, omitted
from drive_trace.text.wording import first_of, plain


@click.command
@options.paths
@options.search
@click.option(
    "--to",
    "target",
    type=click.Choice([*WRITERS]),
    required=True,
    help="otlp is OpenTelemetry's JSON (Jaeger, Langfuse, a Collector), perfetto Chrome's trace "
    "event format (ui.perfetto.dev, Speedscope, Firefox).",
)
@options.out()
def export(paths: tuple[str, ...], search: SearchOptions, target: str, out: str | None) -> None:
    """Write the runs of the traces at PATH for the viewers of other tools.

    Runs, slices, dispatches and rounds are spans with the fields of their events; every other event
    is one without a length. Times are the timestamps of the events. The verdict stands on the run,
    with what is missing, and its caveats. Lines that readers reject are named there, and not shown.

    The ids follow from those of the events, so that a second export replaces the first.

    Exit code: 0 whatever the verdicts, 2 some input could not be read (the rest is exported), or
    the file could not be written.

    \b
    Examples:
      drive-trace export projects/checkout-retry --to perfetto --out run.json
      drive-trace export . --to otlp | curl -H 'Content-Type: application/json' \\
          --data-binary @- http://localhost:4318/v1/traces
    """
    reading = Reading(paths, search)
    run_ids = reading.read_whole()
    traces = []
    for each in reading:
        log = read_log(each.records, each.path, each.provenance)
        traces.append(log._replace(summary=reading.vouched(log.summary, each.records)))
    made = report_on(traces, reading.unread, omitted(reading.left_out), only=run_ids)
    inputs = [*(trace.path for trace in traces), *(each.path for each in reading.unread)]
    terminal.write_document(exported(made, target, __version__), out, traces=inputs)
    for unread in made.card.unread:
        if unread.reason == ILLEGIBLE:
            terminal.notify(f"{unread.path}: {unread.reason}")
    shown = made.by_run()
    if not shown:
        terminal.notify("nothing was exported, as no run has a valid event")
    if timeless := [plain(run.run_id) for run in made.card.runs if run.run_id not in shown]:
        terminal.notify(f"left out, as they have no valid event: {first_of(timeless, MOST_NAMED)}")
    tell_others(reading.others_found)
    sys.exit(2 if made.card.unread else 0)
