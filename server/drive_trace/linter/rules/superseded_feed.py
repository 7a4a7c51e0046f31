"""A later event of the same feed replaces this one.

A feed event counts until a later event of the same feed and run replaces it, as a whole. An
event that was replaced is history: it has no effect on the verdict or the token figures.

**Fix.** None is needed: a trace is append-only, and the history is part of it.

Examples:
EVENT{"event_type":"tokens-recorded"}
                   ^^^^^^^^^^^^^^^^^ … superseded by line 3, the one that counts
EVENT{"event_type":"correctness-recorded"}
EVENT{"event_type":"tokens-recorded"}
--- A line that readers reject replaces nothing; nor does another run's.
EVENT{"event_type":"correctness-recorded"}
EVENT{"event_type":"correctness-recorded","qa":"failed"}
EVENT{"event_type":"correctness-recorded","project_run_id":"search-index"}
"""

from itertools import pairwise

from drive_trace.linter.rule import Findings, Line, Rule, Run, Severity
from drive_trace.trace.joined import file_by_file
from drive_trace.vocabulary import FEEDS


def _check(run: Run) -> Findings:
    for feed in FEEDS:
        counted = file_by_file(run).counted(feed)
        for line, following in pairwise(run.events(feed)):
            if counted and not _stands_for(line, counted) and not following.is_copy_of(line):
                message = ("superseded by line ", counted, ", the one that counts")
                counts = (counted, "event_type", "this event counts")
                yield RULE.finding(line, "event_type", message, counts)


def _stands_for(line: Line, counted: Line) -> bool:
    """Whether a line has what counts, if only as a copy in another file."""
    return line is counted or (line.file != counted.file and line.is_copy_of(counted))


RULE = Rule(
    Severity.HINT, _check, unnecessary=True, sums="events of this feed are history", sums_by="value"
)
