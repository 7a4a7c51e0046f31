"""Two files grade one run differently, and neither grade is later.

A run whose events are spread over several files is graded in more than one of them, the grades
contradict each other, and their `ts` do not say which is the later one: they are equal, or no
moment can be read from one. One file says that a component passed, another that it failed. Of the
files' grades one counts, as a whole, and the other is lost on readers: that of the later file, by
its path. Where the grade that counts is null for a component, `erased-verdict` speaks.

In each file it is the last `correctness-recorded` of the run that counts. A null is no grade: a
file that knows less than another contradicts nothing. A grade with a later `ts` in another file is
no contradiction either: somebody graded the run again.

**Fix.** None is offered: somebody has to decide which grade holds, and record it.

Examples:
EVENT{"event_type":"correctness-recorded","qa":"fail","ts":"2026-05-28T13:00:00.000"}
                                               ^^^^^^ … but "pass" on line 1 of other.jsonl
@beside
EVENT{"event_type":"correctness-recorded","qa":"pass","ts":"2026-05-28T14:00:00.000Z"}
--- The other file grades the run again, beyond doubt.
EVENT{"event_type":"correctness-recorded","qa":"fail","ts":"2026-05-28T14:00:00.000Z"}
@beside
EVENT{"event_type":"correctness-recorded","qa":"pass","ts":"2026-05-28T14:00:00.001Z"}
--- The other file knows more, and contradicts nothing.
EVENT{"event_type":"correctness-recorded","mechanical":"pass","qa":null,"intent":null}
@beside
EVENT{"event_type":"correctness-recorded","mechanical":"pass","qa":"fail","intent":"pass"}
"""

from drive_trace.linter.rule import Findings, Rule, Run, Severity, shown
from drive_trace.trace.joined import file_by_file
from drive_trace.vocabulary import CORRECTNESS_FIELDS


def _check(run: Run) -> Findings:
    files = file_by_file(run)
    counted = files.grade
    for grade in (files.grades[file] for file in sorted(files.latest)):
        if grade is None or counted is None:
            continue
        for name in CORRECTNESS_FIELDS:
            both = {counted.fact(name), grade.fact(name)}
            if len(both) > 1 and None not in both:
                here, there = shown(grade.fact(name)), shown(counted.fact(name))
                why = ": by their `ts` either grade may be the later one"
                message = (f"`{name}` is {here} here, but {there} on line ", counted, why)
                related = (counted, name, f"`{name}` is {there} here")
                yield RULE.finding(grade, name, message, related)


RULE = Rule(Severity.WARNING, _check)
