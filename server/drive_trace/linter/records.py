"""Lines that are no record: what mends them, the records on them, and objects that are spread over
several of them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from drive_trace.json_text import WHITESPACE, ProblemKind, line_count
from drive_trace.linter.edits import names_a_feed, remove_line
from drive_trace.linter.rule import LINES_BELOW, Edit, Finding, Fix, Fixes, Level, WholeTrace
from drive_trace.text.spans import Span, replace_spans
from drive_trace.trace.line import Diagnostic, Line
from drive_trace.trace.reading import read_lines
from drive_trace.vocabulary import GRADE, slips

if TYPE_CHECKING:
    from drive_trace.json_text.salvage import Salvage

AROUND = {ProblemKind.FENCE: Level.SAFE, ProblemKind.ARRAY: Level.IN_BULK}
"""Lines that hold nothing of a record, and how they may be removed."""
_OF_RECORD = re.compile(r'[{}"]')
_CUT_NUMBER = re.compile(r"[0-9]\s*[}\]]\s*[0-9.]")
"""A number that ends a record, and digits behind it, which may be its rest."""
_DATA = re.compile(r"[\d\"'{:]|pass|fail")
"""What no repair deletes: a number, a string, an object, a field, a grade."""


def repairs(finding: Finding) -> Fixes:
    """What can be done about a line that is not JSON. Nothing of it is safe on a line that names
    a feed: there it can change a verdict or a figure.
    """
    problem, text = finding.cause.problem, finding.line.text
    assert problem is not None
    if problem.kind in AROUND:
        return
    is_certain = any(repair.safe for repair in problem.repairs)
    if not is_certain and _salvage(text.removesuffix("\r")) is not None:
        yield from lift_out(finding)
        return
    for repair in problem.repairs:
        is_comment = problem.kind is ProblemKind.COMMENT
        if is_comment and any(_DATA.search(text, *span) for span, _ in repair.edits):
            continue
        # A torn line that lacks a field has lost values: closed, it would ask for nulls instead.
        mended = replace_spans(text, repair.edits)
        if problem.kind is ProblemKind.UNFINISHED and read_lines([mended])[0].event is None:
            continue
        edits = tuple(Edit(finding.line, *edit) for edit in repair.edits)
        level = Level.SAFE if repair.safe else Level.IN_BULK
        is_number = problem.kind is ProblemKind.MALFORMED_NUMBER
        is_cut = is_number and any(text[: span.end].endswith(".") for span, _ in repair.edits)
        if is_comment or is_cut or names_a_feed(text):
            level = Level.BY_HAND
        yield Fix(repair.title, level, edits)


def remove_around(finding: Finding, trace: WholeTrace) -> Fix:
    """Removes a line that holds nothing of a record. The brackets around a whole trace go with the
    commas in it. Else, where a run is graded, a person does: a grade with a rejected line after it
    is stale, and counts without the line.
    """
    problem, kept = finding.cause.problem, trace.index.kept
    assert problem is not None
    if "brackets" not in kept:  # not for each of the lines
        kept["brackets"] = _brackets(trace.lines)
    if problem.kind is ProblemKind.ARRAY and finding.line in kept["brackets"]:
        return remove_line(finding, Level.SAFE)
    if "is graded" not in kept:
        kept["is graded"] = any(run.events(GRADE) for run in trace.index.runs.values())
    return remove_line(finding, Level.BY_HAND if kept["is graded"] else AROUND[problem.kind])


def _brackets(lines: Sequence[Line]) -> Sequence[Line]:
    """The first and last line of a trace that is one array, unless objects in it are spread over
    lines, which a suggestion joins.
    """
    both = [next((each for each in way if each.text.strip()), None) for way in (lines, lines[::-1])]
    kinds = [one.problem and one.problem.kind for line in both if line for one in line.diagnostics]
    is_array = kinds == [ProblemKind.ARRAY] * 2 and both[0] is not both[1]
    return [*filter(None, both)] if is_array and not spread_objects(lines, lines) else ()


def _salvage(text: str) -> Salvage | None:
    # Most traces need none of it.
    from drive_trace.json_text.salvage import salvage  # noqa: PLC0415

    return salvage(text, _is_record)


def _is_record(data: Mapping[str, Any]) -> bool:
    """Whether an object is a record by its keys: it has a type, be it under another name."""
    return isinstance(data.get("event_type"), str) or slips.event_under_alias(data) is not None


def lift_out(finding: Finding) -> Fixes:
    """Puts each record of a line, and what else it says, on lines of their own. Only the first
    mistake of the line has the fix.
    """
    line = finding.line
    text = line.text.removesuffix("\r")
    found = _salvage(text)
    if found is None or finding.diagnostic is not line.diagnostics[0]:
        return
    rest = text
    for each in found.lines:
        rest = rest.replace(each, "", 1)
    # The brackets and commas of an array go from its other lines, too.
    is_array = found.is_whole and not rest.strip("[], \t")
    level = Level.SAFE if found.is_glued or is_array else Level.IN_BULK
    # A record may be named in a sentence, which may say that it is wrong.
    is_said = not all(map(_OF_RECORD.search, found.lines))
    if is_said or names_a_feed(text) or _CUT_NUMBER.search(text):
        level = Level.BY_HAND
    is_one = found.is_whole and len(found.lines) == 1
    title = "Keep the record alone" if is_one else "Put each object on a line of its own"
    end = "\r\n" if text != line.text else "\n"
    edit = Edit(line, Span(0, len(text)), end.join(found.lines))
    yield Fix(title, level, (edit,), is_layout=found.is_glued)


# Objects that are spread over several lines, as in pretty-printed JSON: each is one finding


def is_cut_off(diagnostic: Diagnostic) -> bool:
    """Whether it is what is wrong with the first line of such an object."""
    kinds = (ProblemKind.SPREAD_OBJECT, ProblemKind.UNFINISHED)
    return diagnostic.problem is not None and diagnostic.problem.kind in kinds


def spread_objects(
    lines: Sequence[Line], among: Iterable[Line]
) -> Mapping[Line, tuple[Line, Line]]:
    """By each line of an object that begins on one of some lines of a trace, and is spread over
    several: the object's first line, where what is wrong with all of them is said, and its last.
    """
    found: dict[Line, tuple[Line, Line]] = {}
    for line in among:
        if line.diagnostics and any(map(is_cut_off, line.diagnostics)):
            below = lines[line.order : line.order + LINES_BELOW]
            count = line_count(each.text for each in below)
            found.update(dict.fromkeys(below[:count], (line, below[count - 1])))
    return found


def until(last: Line | None, finding: Finding) -> Finding:
    """The finding on the first line of such an object, given its last one."""
    if last is not None and kind_of(finding) is ProblemKind.UNFINISHED:
        finding = finding._replace(message="a record that is wrapped: it must stand on one line")
    return finding._replace(last=last)


def kind_of(finding: Finding) -> ProblemKind | None:
    """Why its record is not JSON, where that is what was found."""
    problem = finding.diagnostic.problem if finding.diagnostic is not None else None
    return problem.kind if problem is not None else None


def first_lines(findings: Iterable[Finding], *, is_array: bool) -> Mapping[int, Line]:
    """By the findings, in order, on the marks of a merge conflict, and on lines of an object that
    is neither whole nor in an array: the line where that begins.
    """
    begins, last = dict[int, Line](), dict[ProblemKind | None, Finding]()
    for each in findings:
        kind, line = kind_of(each), each.line
        goes_on = kind in last and not last[kind].line.text.startswith(">")
        goes_on = goes_on and not line.text.lstrip().startswith(("<", "{"))
        if kind is ProblemKind.SPREAD_OBJECT and each.last is None and not is_array:
            goes_on = goes_on and last[kind].line.order == line.order - 1
        elif kind is not ProblemKind.MERGE_CONFLICT:
            continue
        begins[id(each)] = begins[id(last[kind])] if goes_on else line
        last[kind] = each
    return begins


def join(finding: Finding, trace: WholeTrace) -> Fix | None:
    """Puts the object that begins on a line on one line, if the lines below complete it."""
    first, last = finding.line, finding.last
    if last is None:
        return None
    lines = trace.lines[first.order : last.order + 1]
    found = _salvage("\n".join(line.text.strip(WHITESPACE) for line in lines))
    if "width" not in trace.index.kept:
        lengths = Counter(len(line.text) for line in trace.lines if line.event is None)
        trace.index.kept["width"] = max(lengths.items())
    # Between words a space may be lost, but not where several lines were cut at one width.
    width, count = trace.index.kept["width"]
    if count > 1 and all(len(line.text) == width for line in lines[:-1]):
        found = _salvage("".join(line.text.removesuffix("\r") for line in lines)) or found
    if found is None or not found.is_whole or len(found.lines) != 1:
        return None
    edits = [Edit(first, Span(0, len(first.text.removesuffix("\r"))), *found.lines)]
    for line in lines[1:]:
        has_newline = line is not trace.lines[-1]
        edits.append(Edit(line, Span(0, len(line.text) + has_newline), ""))
    title = f"Join lines {first.order + 1:,}–{last.order + 1:,} into one"
    return Fix(title, Level.IN_BULK, tuple(edits), is_layout=True)
