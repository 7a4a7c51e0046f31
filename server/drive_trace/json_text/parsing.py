"""Reads one record, and decides which of its repairs are safe."""

from __future__ import annotations

from drive_trace.json_text.nodes import ProblemKind, Syntax, SyntaxProblem
from drive_trace.json_text.reader import read
from drive_trace.text.spans import replace_spans

_MOST_PROBLEMS = 3
_LOST = {
    ProblemKind.MISSING_QUOTE,
    ProblemKind.MISSING_BRACKET,
    ProblemKind.UNEXPECTED,
    ProblemKind.UNFINISHED,
    ProblemKind.TWO_OBJECTS,
    ProblemKind.TEXT_AFTER,
}
"""After one of these the reading is a guess, and later problems are mostly consequences of it."""


def parse(text: str) -> Syntax:
    """Read one record, given without the newline that ends it."""
    root, problems = read(text)
    if not problems or _is_certain(text, problems):
        return Syntax(text, root, tuple(problems))
    return Syntax(text, root, tuple(map(_suggestion, _essential(problems))))


def _is_certain(text: str, problems: list[SyntaxProblem]) -> bool:
    """Whether safe repairs alone make JSON of the record, in whatever order they are made.

    A line that is understood in part only is not repaired in part: what looks
    like a comment or a trailing comma there may be something else.
    """
    if not all(map(_is_safe, problems)) or _most_problems(_apply(text, problems)):
        return False
    return len(problems) == 1 or all(
        _most_problems(_apply(text, [problem])) < len(problems) for problem in problems
    )


def _most_problems(text: str) -> int:
    """The problems of the worst of some records."""
    return max(len(read(each)[1]) for each in text.split("\n"))


def _suggestion(problem: SyntaxProblem) -> SyntaxProblem:
    if not _is_safe(problem):
        return problem
    return problem._replace(
        repairs=tuple(repair._replace(safe=False) for repair in problem.repairs)
    )


def _essential(problems: list[SyntaxProblem]) -> tuple[SyntaxProblem, ...]:
    """The first few problems, without those that mostly follow from another one."""
    kept = []
    for problem in problems[:_MOST_PROBLEMS]:
        kept.append(problem)
        if problem.kind in _LOST:
            break
    return tuple(kept)


def _is_safe(problem: SyntaxProblem) -> bool:
    """Whether the problem has a safe repair."""
    return any(repair.safe for repair in problem.repairs)


def _apply(text: str, problems: list[SyntaxProblem]) -> str:
    """The text after the first repair of each problem."""
    edits = [edit for each in problems for repair in each.repairs[:1] for edit in repair.edits]
    return replace_spans(text, sorted(edits))
