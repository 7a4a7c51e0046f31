"""The line is not valid JSON, so readers drop it.

A line of a trace holds one JSON object and nothing else. Readers drop a line that is not
valid JSON, so the event that it was meant to record is lost to every figure and to the
verdict.

The message says what broke and where: a trailing comma, single quotes, a comment, two objects
on a line, an object spread over lines, `NaN`, `1,900` for a number, a line that ends too early.

**Fix.** Where the repair is certain (a trailing comma, quotes, a missing line break) it is offered
and safe; where it would have to guess at a value it is a suggestion. A comment is deleted one at a
time, and so is mended what is wrong with a line that names one of the two feeds, as that can change
a verdict. An object that is spread over several lines (pretty-printed JSON), up to 200, is one
finding over all of them, with a suggestion that joins them. So is one that was wrapped, as by a
mail client or a terminal; it is joined where several lines were cut at one width, as between words
a space may be lost. A Markdown fence is removed, which is
safe; a bracket that stands alone by a suggestion. Where a run is graded, a person removes either,
as a grade before a rejected line is stale. Around a file that is one array, all brackets and commas
are one finding, and safe to remove.

The marks of a merge conflict are one finding, and what the lines of both sides would seem to do
wrong to each other is not told beside it: whoever resolves it knows what happened. So are the lines
of an object that has no beginning, or no end.

Every whole record of a line is lifted out of it, by a suggestion: what is around it goes where it
says nothing (quotes, brackets, a bullet, the number of the line, a time and a level of a log), and
gets a line of its own where it may say something, as a record that was torn does. It is safe where
that is brackets and commas, and beside a sentence for a person. What stands in a comment, is
crossed out, or is removed by a diff stays.

Examples:
EVENT{"event_type":"slice-completed","result":"merged",}
                                                      ^ … trailing comma
=> Remove the comma
EVENT{"event_type":"slice-completed","result":"merged"}
--- Here the repair would make a verdict of a line that counted for nothing: a suggestion.
EVENT{"event_type":"correctness-recorded","qa":"fail",}
                                                     ^
=>
EVENT{"event_type":"correctness-recorded","qa":"fail"}
---
EVENT{"event_type":"slice-completed","result":'merged'}
                                              ^^^^^^^^ … single quotes
=>
EVENT{"event_type":"slice-completed","result":"merged"}
---
EVENT{"event_type":"dispatch-end","wall_clock_ms":NaN}
                                                  ^^^ … NaN
=>
EVENT{"event_type":"dispatch-end","wall_clock_ms":null}
---
EVENT{"event_type":"tokens-recorded","cache_write_tokens":1,900,000}
                                                          ^^^^^^^^^ … write `1900000`
=> Write it as a JSON number
EVENT{"event_type":"tokens-recorded","cache_write_tokens":1900000}
--- A record that was torn stays, on a line of its own.
EVENT{"event_type":"project-closed"}{"event_type":"slice-completed","result":"mer
                                    ^ … two objects on one line
=> Put each object on a line of its own
EVENT{"event_type":"project-closed"}
{"event_type":"slice-completed","result":"mer
---
EVENT{"event_type":"project-closed"}}];
                                    ^^^ … after the end of the object
=> Keep the record alone
EVENT{"event_type":"project-closed"}
--- Copied out of Markdown.
EVENT{"event_type":"project-closed"}
```
^^^ … a Markdown fence
=> Remove the line
EVENT{"event_type":"project-closed"}
--- The rest of an array.
EVENT{"event_type":"slice-started"}
EVENT{"event_type":"project-closed"}
]
^ … a bracket alone on its line
=> Remove the line
EVENT{"event_type":"slice-started"}
EVENT{"event_type":"project-closed"}
--- Readers drop each of its lines, but it is one mistake.
{
^ … unfinished, or spread over several lines
  "event_type": "tool-called",
  "tools": ["grep"]
}
=> Join lines 1–4 into one
{"event_type":"tool-called","tools":["grep"]}
--- What has no end is still being written.
{"event_type":"project-closed",
                              ^ … unfinished, or spread over several lines
--- What looks like a mistake inside a string is a part of the string.
EVENT{"event_type":"dispatch-start","dispatch_name":"{'D1',} // NaN"}
"""

from drive_trace.linter.edits import Fixes
from drive_trace.linter.records import AROUND, join, kind_of, remove_around, repairs
from drive_trace.linter.rule import Finding, Findings, LineDiagnostic, Rule, Severity, WholeTrace


def _check(subject: LineDiagnostic) -> Findings:
    yield subject.not_json(RULE)


def _around(finding: Finding, trace: WholeTrace) -> Fixes:
    if kind_of(finding) in AROUND:
        yield remove_around(finding, trace)
    fix = join(finding, trace)
    if fix is not None:
        yield fix


RULE = Rule(Severity.ERROR, _check, fixes=repairs, fixes_around=_around, sums="", sums_by="line")
