"""A run whose events are spread over several files is graded in more than one of them, and the
grades contradict each other: one file says that a component passed, another that it failed. Of the
files' grades the one with the latest `ts` counts, as a whole, and the other is lost on readers.
Where that one is null for a component, `erased-verdict` speaks.

In each file it is the last `correctness-recorded` of the run that counts. A null is no grade: a
file that knows less than another contradicts nothing. This is looked for by `drive-trace check`
among the files that are checked together.

**Fix.** None is offered: somebody has to decide which grade holds, and record it.
"""

from collections.abc import Iterable

from drive_trace.linter.checked_files import GradeInFile, RunInFiles
from drive_trace.linter.rule import Finding, Related, Rule, Severity
from drive_trace.text.escaping import printable
from drive_trace.text.wording import shown
from drive_trace.trace.places import Place
from drive_trace.vocabulary import CORRECTNESS_FIELDS


def _check(subject: RunInFiles) -> Iterable[Finding]:
    latest = subject.latest()
    for name in CORRECTNESS_FIELDS:
        if latest is None or latest.line.fact(name) is None:  # erased-verdict speaks
            continue
        for grade in subject.grades:
            if grade.line.fact(name) not in (None, latest.line.fact(name)):
                yield _finding(name, grade, latest)


def _finding(name: str, grade: GradeInFile, latest: GradeInFile) -> Finding:
    place = Place.value(name)
    here, there = shown(grade.line.fact(name)), shown(latest.line.fact(name))
    where = f"on line {latest.number} of {printable(latest.path, 4096)}"
    message = f"`{name}` is {here} here, but {there} {where}: the grade with the latest `ts` counts"
    related = Related(latest.line, place, f"`{name}` is {there} here")
    return Finding(RULE, grade.line, place, message, related=(related,))


RULE = Rule(
    Severity.WARNING, "Two files that are checked together grade one run differently.", _check
)

EXAMPLES = """
EVENT{"event_type":"correctness-recorded","mechanical":"pass","qa":"fail","intent":"pass"}
… `qa` is "fail" here, but "pass" on line 1 of other.jsonl         ^^^^^^
@beside
EVENT{"event_type":"correctness-recorded","qa":"pass","ts":"2030-01-01T00:00:00.000Z"}
--- The other file knows more, and contradicts nothing.
EVENT{"event_type":"correctness-recorded","mechanical":"pass","qa":null,"intent":null}
@beside
EVENT{"event_type":"correctness-recorded","mechanical":"pass","qa":"fail","intent":"pass"}
"""
