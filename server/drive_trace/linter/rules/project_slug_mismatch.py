"""The slug of a project that starts is not the run id.

A project's run id is its slug: `projects/<slug>/trace.jsonl` holds the run `<slug>`. An event
`project-started` with another slug starts a project that no other event names, and the run seems to
have no start: its wall-clock time is then a sum of dispatches.

**Fix.** The run id is suggested as the slug, and the slug as the run id. Where the line seems to be
of the run that is called like the slug, the latter alone.

Examples:
EVENT{"event_type":"project-started","project_run_id":"cart-tax","project_slug":"cart"}
… the slug "cart" is not the run id "cart-tax"                                  ^^^^^^
=> Change `project_slug` to "cart-tax"
EVENT{"event_type":"project-started","project_run_id":"cart-tax","project_slug":"cart-tax"}
--- Other lines are of the run that is called like the slug.
EVENT{"event_type":"project-started","project_run_id":"cart-typo","project_slug":"cart"}
                                                                                 ^^^^^^
EVENT{"event_type":"spec-authored","project_run_id":"cart"}
EVENT{"event_type":"plan-authored","project_run_id":"cart"}
EVENT{"event_type":"retro-landed","project_run_id":"cart"}
EVENT{"event_type":"health-check-fired","project_run_id":"cart"}
=> Change `project_run_id` to "cart"
EVENT{"event_type":"project-started","project_run_id":"cart","project_slug":"cart"}
EVENT{"event_type":"spec-authored","project_run_id":"cart"}
EVENT{"event_type":"plan-authored","project_run_id":"cart"}
EVENT{"event_type":"retro-landed","project_run_id":"cart"}
EVENT{"event_type":"health-check-fired","project_run_id":"cart"}
---
EVENT{"event_type":"project-started","project_run_id":"cart","project_slug":"cart"}
"""

from drive_trace.linter.edits import Fixes, Level, as_json, object_on, replacing
from drive_trace.linter.rule import Finding, Findings, LineDiagnostic, Rule, Severity, WholeTrace
from drive_trace.text.wording import shown

_RUN = "project_run_id"


def _check(subject: LineDiagnostic) -> Findings:
    message = f"the slug {shown(subject.diagnostic.found)} is not the run id {shown(_run(subject))}"
    yield subject.finding(RULE, message, None, (_RUN, "the run id"))


def _run(finding: LineDiagnostic | Finding) -> object:
    return object_on(finding.line)[_RUN]


def _fixes(finding: Finding, trace: WholeTrace) -> Fixes:
    slug, run_id = finding.cause.found, _run(finding)
    runs, slips = trace.index.runs, trace.index.slips
    is_alone = slug in runs and len(runs.get(str(run_id), ())) == 1
    is_slip = is_alone or slips.get(str(run_id)) == slug
    for field, name in (("project_slug", run_id), (_RUN, slug))[is_slip:]:
        if name:  # nothing is called by an empty one
            yield replacing(finding, as_json(name), Level.BY_HAND, field=field)


RULE = Rule(Severity.WARNING, _check, fixes_around=_fixes)
