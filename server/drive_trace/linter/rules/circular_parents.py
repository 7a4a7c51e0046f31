"""Dispatches resume each other in a circle.

`parent_dispatch_id` names the dispatch that this one resumes, which came before it. Where the
parents lead back to the dispatch itself, an id was copied into the wrong place, and the chain has
no beginning.

A dispatch that names itself is `unknown-parent-dispatch`.

**Fix.** None is offered: which of the parents is wrong, only the writer knows.

Examples:
EVENT{"event_type":"dispatch-start","dispatch_id":"D1","parent_dispatch_id":"D2"}
… the parents of this dispatch lead back to it, by line 2                   ^^^^
EVENT{"event_type":"dispatch-start","dispatch_id":"D2","parent_dispatch_id":"D1"}
---
EVENT{"event_type":"dispatch-start","dispatch_id":"D1"}
EVENT{"event_type":"dispatch-start","dispatch_id":"D2","parent_dispatch_id":"D1"}
EVENT{"event_type":"dispatch-start","dispatch_id":"D3","parent_dispatch_id":"D2"}
"""

from itertools import chain

from drive_trace.linter.rule import Findings, Rule, Run, Severity
from drive_trace.trace.run import in_order
from drive_trace.vocabulary import DISPATCH

_PARENT = "parent_dispatch_id"


def _check(run: Run) -> Findings:
    named = chain.from_iterable(run.table(DISPATCH.opener, _PARENT).values())
    by_child = ((line.fact(DISPATCH.field), line) for line in named)
    children = {each: line for each, line in by_child if each != line.fact(_PARENT)}
    if not children:
        return
    from graphlib import CycleError, TopologicalSorter  # noqa: PLC0415 - few runs have parents

    try:
        TopologicalSorter({each: {line.fact(_PARENT)} for each, line in children.items()}).prepare()
    except CycleError as error:
        line, parent = in_order({children[each] for each in error.args[1]})[:2]
        message = ("the parents of this dispatch lead back to it, by line ", parent)
        yield RULE.finding(line, _PARENT, message, (parent, _PARENT, "a parent of its own"))


RULE = Rule(Severity.WARNING, _check)
