"""``report``: the scorecard, the metrics and the assertions on one page; ``export``: runs for the
viewers of other tools.
"""

import os
import sys
from collections.abc import Mapping

import click

from drive_trace import __version__
from drive_trace.commands import options, terminal
from drive_trace.commands.checking import Checking
from drive_trace.commands.reading import MOST_NAMED, Reading, tell_others
from drive_trace.report import contents, event_log, sections
from drive_trace.report.export import WRITERS, exported
from drive_trace.scorecard.caveats import ILLEGIBLE
from drive_trace.storage import git, session_logs
from drive_trace.storage.finding import SearchOptions, omitted
from drive_trace.storage.projects import Projects
from drive_trace.text.html import file_address
from drive_trace.text.wording import first_of, json_document, plain


@click.command(cls=options.WithHistory)
@options.paths
@options.search
@options.touched
@options.output_format(
    ["markdown", "json", "html"], help="By default what the name of --out says, else markdown."
)
@options.out(check=options.of_document)
@options.history
@options.no_config
def report(
    paths: tuple[str, ...],
    search: SearchOptions,
    output_format: str | None,
    out: str | None,
    no_config: bool,
) -> None:
    """Write a report on the traces at PATH: the scorecard, metrics, assertions, and what was
    rejected.

    The metrics are facts, not a score. Nothing in a report says that a run is good, but the
    verdict CORRECT. The html format is one file that loads nothing and runs its own script only.

    Several traces are joined by run id, and otherwise read as if they were one file. As for score,
    the other files of their runs are read, too, and named on standard error. --history is as for
    score. --out replaces a file
    that is there, but never a trace, a configuration or a baseline.

    Exit code: 0 whatever the verdicts, 2 some input could not be read, or is gone that a commit has
    (--history, --since; the report is on the rest), or the report could not be written.

    \b
    Examples:
      drive-trace report projects/checkout-retry/trace.jsonl
      drive-trace report projects --out report.html
      drive-trace report --format json . > report.json
    """
    chosen = output_format or terminal.format_of(out, "markdown")
    search.projects = None if no_config else Projects(".", trusted=options.trusted())
    reading = Reading(paths, search, options.histories(paths))
    run_ids = reading.read_whole()
    logs: dict[str, event_log.TraceLog] = {}
    findings = _findings(reading, search.projects, logs) if chosen != "json" else None
    traces, sources = _logs_of(reading, logs)
    reading.note_lost()
    made = contents.report_on(traces, reading.unread, omitted(reading.left_out), findings, run_ids)
    if chosen == "html":
        addresses = {each.path: file_address(os.path.abspath(each.path)) for each in made.traces}  # noqa: PTH100 - that would follow links
        known = {path: to for path, to in addresses.items() if to is not None and path != "-"}
        places = {path: place[0] for path in known if (place := git.place_of(path)) is not None}
        pages = {root: git.pages_of(root) for root in {*places.values()}}
        shown = {path: pages[root] for path, root in places.items()}
        logs_of = {source: session_logs.log_named(source) for source in {*sources.values()}}
        opened = {id_: file_address(path) for id_, of in sources.items() if (path := logs_of[of])}
        made = made._replace(addresses=known, pages=shown, transcripts=opened)
    inputs = [*(trace.path for trace in made.traces), *(each.path for each in reading.unread)]
    terminal.write_document(_rendered(made, chosen), out, traces=inputs, is_html=chosen == "html")
    tell_others(reading.others_found)
    sys.exit(2 if made.card.unread or reading.fails_as_gone else 0)


def _logs_of(
    reading: Reading, known: Mapping[str, event_log.TraceLog]
) -> tuple[list[event_log.TraceLog], dict[str, str]]:
    """The logs of the traces, some of which are known; and by the ids of events what they were
    measured from.
    """
    traces, sources = [], dict[str, str]()
    for each in reading:
        # What was not checked, or by another process, is read here.
        log = known.get(each.path) or event_log.read_log(each.records, each.path, each.provenance)
        traces.append(log._replace(summary=reading.vouched(log.summary, each.records)))
        entries = each.provenance.entries if each.provenance is not None else {}
        sources |= {id_: entry.source for id_, entry in entries.items() if entry.source}
    return traces, sources


def _findings(
    reading: Reading, projects: Projects | None, logs: dict[str, event_log.TraceLog]
) -> contents.FindingsByPath:
    """What ``check`` finds, by the paths of the traces that it could check, and their logs."""
    checking = Checking(projects)
    checking.logs = logs
    found: dict[str, list[contents.LineFinding]] = {}
    for each in checking.reports(reading):
        path, line = each.location.path, each.location.line
        finding = contents.LineFinding(path, line, each.severity.label, each.code, each.message)
        found.setdefault(path, []).append(finding)
    return {path: found.get(path, ()) for path in checking.checked}


def _rendered(report: contents.FullReport, output_format: str) -> str:
    if output_format == "html":
        from drive_trace.report.html import report_html  # noqa: PLC0415 - the largest of them

        return report_html(report, f"drive-trace {__version__}")
    if output_format == "json":
        return json_document({**contents.to_json(report), "version": 1}) + "\n"
    return sections.report_markdown(report) + "\n"


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
    traces, _ = _logs_of(reading, {})
    made = contents.report_on(traces, reading.unread, omitted(reading.left_out), only=run_ids)
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
