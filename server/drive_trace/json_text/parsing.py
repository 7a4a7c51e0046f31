"""Reads one record, strictly first, and tolerantly where it is not JSON."""

from __future__ import annotations

import orjson

from drive_trace.json_text.nodes import Syntax, SyntaxProblem
from drive_trace.json_text.recovery import recover
from drive_trace.json_text.report import apply, essential, is_safe
from drive_trace.json_text.strict import read


def parse(text: str) -> Syntax:
    """Read one record, given without the newline that ends it."""
    root = read(text)
    if root is not None:
        return Syntax(text, root)
    root, problems = recover(text)
    if _is_certain(text, problems):
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
    return max(0 if _is_json(each) else len(recover(each)[1]) for each in text.split("\n"))


def _is_json(text: str) -> bool:
    try:
        orjson.loads(text)
    except ValueError:
        # It refuses some records that JSON.parse accepts, and accepts none that it refuses.
        return read(text) is not None
    return True


def _suggestion(problem: SyntaxProblem) -> SyntaxProblem:
    if not is_safe(problem):
        return problem
    return problem._replace(
        repairs=tuple(repair._replace(safe=False) for repair in problem.repairs)
    )
