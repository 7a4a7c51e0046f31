"""The grade that decides is null for a component that was recorded before.

Of several `correctness-recorded` events of a run the last one counts, as a whole: its nulls
replace what was recorded before. A writer that knows only one component and leaves the others
null erases them, and a run that was graded becomes *not computable*.

Judged is what holds in the end: the null, of several the first, is marked on the last
`correctness-recorded` of the run, which decides, however many lines with the same null stand above
it. Where a later event records the component again, the rule is silent. Of a run in several files
the grade with the latest `ts` decides, and its nulls erase what another file has recorded.

**Fix.** None is offered: work that nobody saw when the component was recorded may stand between the
two grades, in other files of the run as well. Append a `correctness-recorded` with every component,
as `drive-trace record` does, which looks at them all.

Examples:
EVENT{"event_type":"correctness-recorded","mechanical":"pass","qa":"fail","intent":null}
EVENT{"event_type":"correctness-recorded","mechanical":"pass","qa":null,"intent":"pass"}
… `qa` was "fail" on line 1; this null erases it                   ^^^^
--- All that a line erases is one finding, which explains that the other one is superseded.
EVENT{"event_type":"correctness-recorded","mechanical":"fail","qa":"pass","intent":"pass"}
EVENT{"event_type":"correctness-recorded","mechanical":null,"qa":null,"intent":"pass"}
… "fail" on line 1 and `qa` was "pass" on line 1       ^^^^
--- Another file had recorded more.
EVENT{"event_type":"correctness-recorded","mechanical":null,"qa":"pass","intent":"pass"}
… `mechanical` was "fail" on line 1 of other.jsonl     ^^^^
@beside
EVENT{"event_type":"correctness-recorded","mechanical":"fail","ts":"2020-01-01T00:00:00.000Z"}
--- The last line decides: that is where the null is marked, also where others were null before.
EVENT{"event_type":"correctness-recorded","mechanical":"pass","qa":"fail","intent":"pass"}
EVENT{"event_type":"correctness-recorded","mechanical":"pass","qa":null,"intent":"pass"}
EVENT{"event_type":"correctness-recorded","mechanical":"pass","qa":null,"intent":"pass"}
… `qa` was "fail" on line 1; this null erases it                   ^^^^
--- Recorded again in a line that was appended: nothing is lost.
EVENT{"event_type":"correctness-recorded","mechanical":"pass","qa":"fail","intent":null}
EVENT{"event_type":"correctness-recorded","mechanical":"pass","qa":null,"intent":"pass"}
EVENT{"event_type":"correctness-recorded","mechanical":"pass","qa":"pass","intent":"pass"}
--- What was never recorded is not erased, and a component may be graded anew.
EVENT{"event_type":"correctness-recorded","mechanical":"pass","qa":null,"intent":null}
EVENT{"event_type":"correctness-recorded","mechanical":"fail","qa":null,"intent":"pass"}
--- Another run's verdicts are its own.
EVENT{"event_type":"correctness-recorded","project_run_id":"checkout-retry"}
EVENT{"event_type":"correctness-recorded","project_run_id":"search-index","qa":null}
--- A token count that is not known any more is no verdict.
EVENT{"event_type":"tokens-recorded","input_tokens":100}
EVENT{"event_type":"tokens-recorded","input_tokens":null}
"""

from drive_trace.linter.rule import Explained, Findings, Line, Rule, Run, Severity, shown
from drive_trace.trace.joined import file_by_file
from drive_trace.vocabulary import CORRECTNESS_FIELDS, GRADE


def _check(run: Run) -> Findings:
    grade = file_by_file(run).grade
    erased: list[Explained] = []
    words: list[str | Line] = []
    for name in CORRECTNESS_FIELDS if grade is not None else ():
        recorded = [line for line in run.events(GRADE) if line.fact(name) in ("pass", "fail")]
        if grade is not None and grade.fact(name) is None and recorded:
            line, was = recorded[-1], shown(recorded[-1].fact(name))
            words += [f"{' and ' * bool(erased)}`{name}` was {was} on line ", line]
            erased.append((line, name, f"`{name}` recorded here"))
    if grade is not None and erased:
        nulls = "this null erases it" if len(erased) == 1 else "these nulls erase them"
        yield RULE.finding(grade, erased[0][1], (*words, f"; {nulls}"), *erased)


RULE = Rule(Severity.WARNING, _check)
