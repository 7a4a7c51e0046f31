"""The run went on after it was graded.

The run went on after it was graded: a dispatch, round, brief, spec or plan event stands after
the `correctness-recorded` that decides the verdict. What was graded is no longer what is there.
Feeds, retros, health checks and `project-closed` do not count: they belong after the work. Between
files `ts` says what is later; what has none that can be read may be.

An event of an unknown type may be work, and counts. A line that readers reject makes the verdict
stale, too, in every score; here its own error says so, as it has to be mended in any case.

**Fix.** None is offered. Grade the run again, and append what was found.

Examples:
EVENT{"event_type":"correctness-recorded"}
                   ^^^^^^^^^^^^^^^^^^^^^^ … the run went on after this verdict, up to line 3
EVENT{"event_type":"dispatch-start"}
EVENT{"event_type":"round-start"}
--- What belongs after the work does not go on with it; nor does another run.
EVENT{"event_type":"dispatch-end"}
EVENT{"event_type":"correctness-recorded"}
EVENT{"event_type":"tokens-recorded"}
EVENT{"event_type":"retro-landed"}
EVENT{"event_type":"health-check-fired"}
EVENT{"event_type":"project-closed"}
EVENT{"event_type":"round-start","project_run_id":"search-index"}
--- Nobody knows whether it is work.
EVENT{"event_type":"correctness-recorded"}
                   ^^^^^^^^^^^^^^^^^^^^^^ … the run may have gone on after this verdict
EVENT{"event_type":"dispatch-paused"}
EVENT{"event_type":"project-closed"}
--- What was meant for a feed is no work; what readers reject has its own finding.
EVENT{"event_type":"correctness-recorded"}
EVENT{"event_type":"token-recorded"}
EVENT{"event_type":"dispatch-end","wall_clock_ms":"x"}
--- Only the verdict that counts can be stale.
EVENT{"event_type":"correctness-recorded"}
EVENT{"event_type":"round-start"}
EVENT{"event_type":"correctness-recorded"}
"""

from itertools import chain

from drive_trace.linter.rule import Findings, Rule, Run, Severity
from drive_trace.scorecard.caveats import meant_feed
from drive_trace.trace.joined import file_by_file
from drive_trace.trace.line import latest


def _check(run: Run) -> Findings:
    files = file_by_file(run)
    work = latest(chain.from_iterable(files.work_after)) if files.work_count else None
    odd = chain.from_iterable(map(files.unknown_after, range(len(files.runs))))
    last = latest([work, *(line for line in odd if meant_feed(line) is None)])
    if files.grade is not None and last is not None:
        went = "may have gone" if work is None else "went"
        message = (f"the run {went} on after this verdict, up to line ", last, ": grade it again")
        what = "the run's latest work" if last is work else "may be work: its type is unknown"
        yield RULE.finding(files.grade, "event_type", message, (last, "event_type", what))


RULE = Rule(Severity.WARNING, _check)
