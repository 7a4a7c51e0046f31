"""Collecting what is wrong with one record: one problem a kind, one repair a problem."""

from __future__ import annotations

from drive_trace.text import Span
from drive_trace.trace.syntax_nodes import ProblemKind, Repair, SyntaxProblem

_LONGEST_QUOTE = 40
_MOST_PROBLEMS = 3
_LOST = {
    ProblemKind.MISSING_QUOTE,
    ProblemKind.MISSING_BRACKET,
    ProblemKind.UNEXPECTED,
    ProblemKind.UNFINISHED,
    ProblemKind.TWO_OBJECTS,
    ProblemKind.TEXT_AFTER,
}
"""After one of these the reading is a guess, and what else it finds is mostly its echo."""


def quote(text: str) -> str:
    """Text of the record for use in a message: short, and every character visible."""
    cut = text[:_LONGEST_QUOTE]
    shown = "".join(c if c.isprintable() else name(c) for c in cut)
    return f"`{shown}{'…' if len(text) > len(cut) else ''}`"


def name(character: str) -> str:
    """A character as ``U+00A0``."""
    return f"U+{ord(character):04X}"


class Report:
    """The problems of one record, merged by kind: forty single quotes are one mistake."""

    def __init__(self) -> None:
        self._found: dict[ProblemKind, SyntaxProblem] = {}
        self._edits: dict[ProblemKind, list[tuple[Span, str]]] = {}

    def __contains__(self, kind: ProblemKind) -> bool:
        return kind in self._found

    def __bool__(self) -> bool:
        return bool(self._found)

    def add(
        self,
        kind: ProblemKind,
        span: Span,
        message: str,
        repair: str = "",
        *edits: tuple[Span, str],
        safe: bool = False,
    ) -> None:
        """One more mistake; ``repair`` is the title of what ``edits`` do, if they are known."""
        problem = self._found.setdefault(kind, SyntaxProblem(kind, span, message))
        known = self._edits.setdefault(kind, [])
        known.extend(edits)
        if not edits:
            # A repair that leaves some of its kind as they are is none.
            self._found[kind] = problem._replace(repairs=(Repair("", False, ()),))
        elif not problem.repairs:
            self._found[kind] = problem._replace(repairs=(Repair(repair, safe, ()),))
        elif problem.repairs[0].safe and not safe:
            self._found[kind] = problem._replace(repairs=(problem.repairs[0]._replace(safe=False),))

    def two_objects(self, start: Span, *edits: tuple[Span, str], safe: bool = False) -> None:
        """A second object begins with the brace at ``start``."""
        self.add(
            ProblemKind.TWO_OBJECTS,
            start,
            "two objects on one line: each event stands on a line of its own",
            "put each object on a line of its own",
            *edits,
            (Span(start.start, start.start), "\n"),
            safe=safe,
        )

    def trailing_comma(self, comma: Span, closer: str = "") -> None:
        """A comma with nothing but ``closer``, or the end of the line, behind it."""
        message = "trailing comma: no comma stands behind a record"
        if closer:
            message = f"trailing comma: nothing follows this comma before `{closer}`"
        kind = ProblemKind.TRAILING_COMMA
        self.add(kind, comma, message, "remove the comma", (comma, ""), safe=True)

    def extra_comma(self, comma: Span) -> None:
        """A comma with nothing before it."""
        message = "extra comma: nothing stands before this comma"
        self.add(ProblemKind.EXTRA_COMMA, comma, message, "remove the comma", (comma, ""))

    def spread(self, span: Span) -> None:
        """A line that is a part of an object."""
        message = "an object spread over several lines: a record must stand on one line"
        self.add(ProblemKind.SPREAD_OBJECT, span, message)

    def problems(self) -> list[SyntaxProblem]:
        """All problems with their repairs, in text order."""
        done = []
        for problem in self._found.values():
            first = problem.repairs[0]
            edits = tuple(sorted(self._edits[problem.kind]))
            repairs = (first._replace(edits=edits),) if first.title else ()
            done.append(problem._replace(repairs=repairs))
        return sorted(done, key=lambda problem: problem.span)


def essential(problems: list[SyntaxProblem]) -> tuple[SyntaxProblem, ...]:
    """The first few causes; their echoes are left out."""
    kept = []
    for problem in problems[:_MOST_PROBLEMS]:
        kept.append(problem)
        if problem.kind in _LOST:
            break
    return tuple(kept)


def is_safe(problem: SyntaxProblem) -> bool:
    """Whether the problem has a repair that may be made unasked."""
    return any(repair.safe for repair in problem.repairs)


def apply(text: str, problems: list[SyntaxProblem]) -> str:
    """The text after the first repair of each problem."""
    edits = [edit for each in problems for repair in each.repairs[:1] for edit in repair.edits]
    parts: list[str] = []
    at = 0
    for span, replacement in sorted(edits):
        parts += (text[at : span.start], replacement)
        at = max(at, span.end)
    return "".join([*parts, text[at:]])
