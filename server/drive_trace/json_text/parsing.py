"""Reads one record, and says which of its repairs are certain."""

from __future__ import annotations

from drive_trace.json_text.nodes import Syntax, SyntaxProblem
from drive_trace.json_text.reader import read
from drive_trace.json_text.report import apply, essential, is_safe


def parse(text: str) -> Syntax:
    """Read one record, given without the newline that ends it."""
    root, problems = read(text)
    if not problems or _is_certain(text, problems):
        return Syntax(text, root, tuple(problems))
    return Syntax(text, root, tuple(map(_suggestion, essential(problems))))


def _is_certain(text: str, problems: list[SyntaxProblem]) -> bool:
    """Whether safe repairs alone make JSON of the record, in whatever order they are made.

    A line that is understood in part only is not repaired in part: what looks
    like a comment or a trailing comma there may be something else.
    """
    if not all(map(is_safe, problems)) or _most_problems(apply(text, problems)):
        return False
    return len(problems) == 1 or all(
        _most_problems(apply(text, [problem])) < len(problems) for problem in problems
    )


def _most_problems(text: str) -> int:
    """The problems of the worst of some records."""
    return max(len(read(each)[1]) for each in text.split("\n"))


def _suggestion(problem: SyntaxProblem) -> SyntaxProblem:
    if not is_safe(problem):
        return problem
    return problem._replace(
        repairs=tuple(repair._replace(safe=False) for repair in problem.repairs)
    )
