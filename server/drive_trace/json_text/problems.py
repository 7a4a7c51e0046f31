"""Collects the syntax problems of one record: one problem a kind, one repair a problem."""

from __future__ import annotations

import json
import re
from operator import attrgetter

from drive_trace.json_text import Node, NodeKind, ProblemKind, Repair, SyntaxProblem
from drive_trace.json_text.pairs import WHITESPACE
from drive_trace.text.escaping import visible
from drive_trace.text.spans import Span

_LONGEST_QUOTE = 40
_MARKS = {
    ",": (ProblemKind.MISSING_COMMA, "comma"),
    ":": (ProblemKind.MISSING_COLON, "colon"),
}
_WORD_END = re.compile(r"[ \t]*+[,}\]]")
_NO_RECORD = re.compile(
    r"(?P<conflict>(?:<{7}|>{7}|\|{7})(?: .*)?|={7})\Z"
    r"|(?P<fence>[ ]{0,3}(?:`{3,}|~{3,})[ \t]*[\w+-]*)[ \t\r]*\Z"
    r"|(?P<array>\[|\][,;]?)[ \t\r]*\Z",
    re.DOTALL,
)
_NO_RECORD_PROBLEMS = {
    "conflict": (
        ProblemKind.MERGE_CONFLICT,
        "a merge conflict: choose one side and remove its markers",
    ),
    "fence": (ProblemKind.FENCE, "a Markdown fence: a trace has nothing around its records"),
    "array": (
        ProblemKind.ARRAY,
        "a bracket alone on its line: a trace is no array, but a record on each line",
    ),
}
"""The problems of lines that hold nothing of a record."""


def quote(text: str) -> str:
    """Text of the record for use in a message: short, and every character visible."""
    cut = text[:_LONGEST_QUOTE]
    shown = cut if cut.isprintable() else "".join(c if c.isprintable() else name(c) for c in cut)
    return f"`{visible(shown)}{'…' if len(text) > len(cut) else ''}`"


def name(character: str) -> str:
    """A character as ``U+00A0``."""
    return f"U+{ord(character):04X}"


def no_record_at_all(text: str) -> SyntaxProblem | None:
    """The problem of a line that holds nothing of a record; None if it may hold some of one."""
    found = _NO_RECORD.match(text)
    if found is None or found.lastgroup is None:
        return None
    kind, message = _NO_RECORD_PROBLEMS[found.lastgroup]
    return SyntaxProblem(kind, Span(0, len(text.rstrip(WHITESPACE))), message)


class _Cause:
    """All mistakes of one kind: the first gives the message, and all are repaired together."""

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


class MergedProblems:
    """The problems of one record, merged by kind: forty single quotes are one mistake."""

    def __init__(self, text: str) -> None:
        self._text = text
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

    def _quoted(self, span: Span) -> str:
        return quote(self._text[span.start : span.end])

    def unexpected(self, span: Span, expected: str) -> None:
        """Something else should stand at ``span``."""
        message = f"unexpected {self._quoted(span)}: {expected} is expected here"
        self.add(ProblemKind.UNEXPECTED, span, message)

    def missing(self, mark: str, end: int, behind: Span) -> None:
        """A comma or a colon should stand at ``end``, where a token ends, before ``behind``."""
        kind, what = _MARKS[mark]
        message = f"missing {what}: `{mark}` is expected before {self._quoted(behind)}"
        self.add(kind, behind, message, f"Add the {what}", (Span(end, end), mark))

    def missing_quote(self, span: Span, what: str, *edits: tuple[Span, str]) -> None:
        """A string is opened or closed only; ``what`` says which."""
        message = f"missing quote: the string {self._quoted(span)} {what}"
        self.add(ProblemKind.MISSING_QUOTE, span, message, "Add the quote", *edits)

    def missing_bracket(self, bracket: str, behind: Span) -> None:
        """A bracket should stand before the one at ``behind``."""
        kind, place = ProblemKind.MISSING_BRACKET, Span(behind.start, behind.start)
        message = f"missing bracket: `{bracket}` is expected before {self._quoted(behind)}"
        self.add(kind, behind, message, f"Add `{bracket}`", (place, bracket))

    def missing_brace(self, start: int) -> None:
        """An object begins at ``start`` with its first key."""
        kind, place = ProblemKind.MISSING_BRACKET, Span(start, start)
        message = "missing brace: `{` is expected before the first key"
        self.add(kind, place, message, "Add the brace", (place, "{"))

    def closes_nothing(self, bracket: Span) -> None:
        """A closing bracket where none of its kind is open."""
        kind, found = ProblemKind.MISSING_BRACKET, self._quoted(bracket)
        message = f"{found} closes nothing: no bracket of its kind is open"
        self.add(kind, bracket, message, f"Remove {found}", (bracket, ""))

    def missing_value(self, key: str, span: Span) -> None:
        """A key, with the colon behind it or without, has no value: nobody knows which it had."""
        self.add(ProblemKind.MISSING_VALUE, span, f"missing value: {quote(key)} has none")

    def unquoted_key(self, key: Span, *, safe: bool) -> None:
        """A key without quotes; safe to quote where it is a plain name."""
        written = self._text[key.start : key.end]
        message = f"{quote(written)} is not JSON: a key stands in double quotes"
        edit = (key, json.dumps(written, ensure_ascii=False))
        title = "Put double quotes around it"
        self.add(ProblemKind.UNQUOTED_KEY, key, message, title, edit, safe=safe)

    def left_out(self, dots: Span) -> None:
        """Dots stand for keys or values."""
        message = f"{self._quoted(dots)} stands for what was left out: write all of it"
        self.add(ProblemKind.LEFT_OUT, dots, message)

    def text_after(self, rest: Span) -> None:
        """Something that is no part of the object follows it."""
        found = self._quoted(rest)
        message = f"{found} after the end of the object: a record is one object and nothing else"
        self.add(ProblemKind.TEXT_AFTER, rest, message, "Remove what follows", (rest, ""))

    def unfinished(self, end: int, before: str, *, can_close: bool) -> None:
        """The line ends too early; ``can_close`` says that no more than its brace is missing."""
        place, message = Span(end, end), f"unfinished: the line ends before {before}"
        edits = [(place, "}")] if can_close else []
        self.add(ProblemKind.UNFINISHED, place, message, "Add `}`", *edits)

    def is_ended(self, word: Span) -> bool:
        """Whether a word without quotes ends where the record goes on, and not where it is torn."""
        return _WORD_END.match(self._text, word.end) is not None

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
        if root is None or root.kind is NodeKind.OBJECT:
            self.trailing_comma(comma)
        else:
            self.spread(root.span, is_start=False)

    def drop_repairs(self) -> None:
        """Nothing of the record is repaired."""
        for cause in self._causes.values():
            cause.repair = ""

    def cut_off(self, rest: Span) -> None:
        """A rest that is not read. Nothing is repaired, as the rest may hold more of each kind."""
        self.drop_repairs()
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
