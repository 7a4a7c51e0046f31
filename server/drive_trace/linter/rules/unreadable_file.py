"""A file is not read.

A file or folder cannot be read at all: it is not there, may not be read, is a folder or a pipe
in a file's place, holds no trace, is UTF-16 or UTF-32, or is packed, as by gzip. Whatever it says
of a run is missing from every result, and may be the grade that decides.

It is the one error that is about no line: it stands on line 1, column 1. No configuration, baseline
or `--fail-on` hides it, and the exit code is 2. `score` and `report` name the file, too, and call
no run CORRECT without saying so. In `check`, the traces whose configuration or baseline cannot be
used are not read either, as nobody knows how to check them: that is told once, on what is wrong.

A file that looks like a trace, but has another name, is a warning: a search does not read it. So is
a trace that git tracks and that was deleted or emptied, or is behind a link to something else. With
`--history` or `--since` that is an error, as is a run that a commit has and of which no line is
left: the exit code is 2.

In an editor it is also told of a document with more than 200,000 lines, or with a line of more than
250,000 characters, which `check` reads: once it is smaller, close it and open it again.

**Fix.** None is offered: make the file readable, mend the configuration, or leave it out on the
command line.

Examples:
@encoding utf-16
EVENT{"event_type":"slice-completed"}
| … not read: is UTF-16; save it as UTF-8
---
EVENT{"event_type":"slice-completed"}
"""

from drive_trace.linter.rule import Findings, Line, Rule, Severity, Span, UnreadFile
from drive_trace.text.wording import printable

_MOST_SHOWN = 8192


def _check(subject: UnreadFile) -> Findings:
    message = f"not read: {printable(subject.reason.removeprefix('not read: '), _MOST_SHOWN)}"
    yield RULE.finding(Line("", None, ()), Span(0, 0), message)


RULE = Rule(Severity.ERROR, _check)
