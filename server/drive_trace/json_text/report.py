"""Collecting what is wrong with one record: one problem a kind, one repair a problem."""

from __future__ import annotations

from operator import attrgetter

from drive_trace.escaping import visible
from drive_trace.json_text.nodes import Kind, Node, ProblemKind, Repair, SyntaxProblem
from drive_trace.text import Span

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
    shown = cut if cut.isprintable() else "".join(c if c.isprintable() else name(c) for c in cut)
    return f"`{visible(shown)}{'…' if len(text) > len(cut) else ''}`"


def name(character: str) -> str:
    """A character as ``U+00A0``."""
    return f"U+{ord(character):04X}"


class _Cause:
    """All mistakes of one kind: said of the first, repaired together."""

    __slots__ = ("edits", "message", "repair", "safe", "span")

    def __init__(self, span: Span, message: str, repair: str, *, safe: bool) -> None:
        self.span = span
        self.message = message
        self.repair = repair
        self.safe = safe
        self.edits: list[tuple[Span, str]] = []

    def problem(self, kind: ProblemKind) -> SyntaxProblem:
        repair = Repair(self.repair, self.safe, tuple(sorted(self.edits)))
        return SyntaxProblem(kind, self.span, self.message, (repair,) if self.repair else ())


class Report:
    """The problems of one record, merged by kind: forty single quotes are one mistake."""

    def __init__(self) -> None:
        self._causes: dict[ProblemKind, _Cause] = {}

    def __bool__(self) -> bool:
        return bool(self._causes)

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
        cause = self._causes.get(kind)
        if cause is None:
            cause = self._causes[kind] = _Cause(span, message, repair, safe=safe)
        cause.edits.extend(edits)
        cause.safe = cause.safe and safe
        if not edits:
            # A repair that leaves some of its kind as they are is none.
            cause.repair = ""

    def two_objects(self, start: Span, *edits: tuple[Span, str], safe: bool = False) -> None:
        """A second object begins with the brace at ``start``."""
        self.add(
            ProblemKind.TWO_OBJECTS,
            start,
            "two objects on one line: each event stands on a line of its own",
            "Put each object on a line of its own",
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
        self.add(kind, comma, message, "Remove the comma", (comma, ""), safe=True)

    def comma_behind(self, root: Node | None, comma: Span) -> None:
        """A comma behind a whole value: behind any but an object, more of an array follows."""
        if root is None or root.kind is Kind.OBJECT:
            self.trailing_comma(comma)
        else:
            self.spread(root.span, is_start=False)

    def cut_off(self, rest: Span) -> None:
        """A rest that nobody looks at: nothing is repaired, as more of its kind may stand there."""
        for cause in self._causes.values():
            cause.repair = ""
        self.add(ProblemKind.UNEXPECTED, rest, "this line is not JSON, and too long to tell why")

    def extra_comma(self, comma: Span) -> None:
        """A comma with nothing before it."""
        message = "extra comma: nothing stands before this comma"
        self.add(ProblemKind.EXTRA_COMMA, comma, message, "Remove the comma", (comma, ""))

    def spread(self, span: Span, *, is_start: bool) -> None:
        """A line that is a part of an object; its start may as well be all there is so far."""
        what = "unfinished, or spread" if is_start else "an object spread"
        message = f"{what} over several lines: a record must stand on one line"
        self.add(ProblemKind.SPREAD_OBJECT, span, message)

    def problems(self) -> list[SyntaxProblem]:
        """All problems with their repairs, in text order."""
        found = [cause.problem(kind) for kind, cause in self._causes.items()]
        return sorted(found, key=attrgetter("span"))


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
