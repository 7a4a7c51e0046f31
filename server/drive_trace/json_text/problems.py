"""Collects the syntax problems of one record: one problem a kind, one repair a problem."""

import re
from operator import attrgetter

import msgspec

from drive_trace.json_text import WHITESPACE, ProblemKind, Repair, SyntaxProblem
from drive_trace.text.spans import Span
from drive_trace.text.wording import visible

_LONGEST_QUOTE = 40
_WORD_END = re.compile(r"[ \t]*+[,}\]\uff0c\uff5d\uff3d]")
_JOINED = re.compile(r"[\w.+-][]}\uff3d\uff5d]+[\w.+-]")
"""Brackets that alone keep what stands before them from being one word with what follows."""
_NO_RECORD = re.compile(
    r"(?P<MERGE_CONFLICT>\ufeff?(?:<{7}|>{7}|\|{7})(?: .*)?|={7})\r?\Z"
    r"|(?P<FENCE>[ ]{0,3}(?:`{3,}|~{3,})[ \t]*[\w+-]*)[ \t\r]*\Z"
    r'|(?P<ARRAY>(?:\{\s*"(?:data|events|items|lines|records|trace)"\s*:\s*)?\[|\]\}?[,;]?)'
    r"[ \t\r]*\Z",
    re.DOTALL,
)
"""Lines that hold nothing of a record, by the kinds of their problems."""


def quote(text: str) -> str:
    """Text of the record for use in a message: short, and every character visible."""
    nuls = len(text) - len(text.lstrip("\0"))
    if nuls > 1:  # as a disk leaves that lost power
        return f"{nuls:,} NUL bytes"
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
    kind = ProblemKind[found.lastgroup]
    return SyntaxProblem(kind, Span(0, len(text.rstrip(WHITESPACE))), kind.message)


def putting(text: str, at: int) -> tuple[Span, str]:
    """The edit that puts text in at a place."""
    return Span(at, at), text


class _Cause(msgspec.Struct):
    """All mistakes of one kind: the first gives the message, and all are repaired together."""

    span: Span
    message: str
    repair: str
    safe: bool
    edits: list[tuple[Span, str]] = []

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
        *edits: tuple[Span, str],
        what: str = "",
        repair: str = "",
        safe: bool = False,
    ) -> None:
        """One more mistake. ``edits`` repair it, if they are known; their title is ``repair``, or
        the usual one of the kind.
        """
        cause = self._causes.get(kind)
        if cause is None:
            found = quote(self._text[span.start : span.end])
            message = kind.message.format(found=found, what=what)
            cause = _Cause(span, message, repair or kind.repair, safe)
            self._causes[kind] = cause
        cause.edits.extend(edits)
        cause.safe = cause.safe and safe
        if not edits:
            # A repair that leaves some of its kind as they are is none.
            cause.repair = ""

    def missing_value(self, key: str, span: Span) -> None:
        """A key, with the colon behind it or without, has no value: nobody knows which it had."""
        self.add(ProblemKind.MISSING_VALUE, span, what=f"missing value: {quote(key)} has none")

    def closes_nothing(self, bracket: Span) -> None:
        """A closing bracket where none of its kind is open."""
        found = quote(self._text[bracket.start : bracket.end])
        what = f"{found} closes nothing: no bracket of its kind is open"
        # Without it, `2]17` would be a number that nobody wrote.
        parts_words = _JOINED.match(self._text, max(bracket.start - 1, 0))
        edits = () if parts_words else ((bracket, ""),)
        title = f"Remove {found}"
        self.add(ProblemKind.MISSING_BRACKET, bracket, *edits, what=what, repair=title)

    def missing_bracket(self, bracket: str, behind: Span) -> None:
        """A bracket should stand before the one at ``behind``."""
        found = quote(self._text[behind.start : behind.end])
        what = f"missing bracket: `{bracket}` is expected before {found}"
        edit, title = putting(bracket, behind.start), f"Add `{bracket}`"
        self.add(ProblemKind.MISSING_BRACKET, behind, edit, what=what, repair=title)

    def spread(self, span: Span, *, is_start: bool, is_array: bool = False) -> None:
        """A line that is a part of an object, or of an array with one; the start of an object may
        as well be all there is so far.
        """
        what = "unfinished, or spread" if is_start else "an object spread"
        if is_array:
            what = "a JSON array spread"
        self.add(ProblemKind.SPREAD_OBJECT, span, what=what)

    def trailing_comma(self, comma: Span, closer: str = "") -> None:
        """A comma with nothing but ``closer``, or the end of the line, behind it."""
        what = "no comma stands behind a record"
        if closer:
            what = f"nothing follows this comma before `{closer}`"
        self.add(ProblemKind.TRAILING_COMMA, comma, (comma, ""), what=what, safe=True)

    def is_ended(self, word: Span) -> bool:
        """Whether a word without quotes ends where the record goes on, and not where it is torn."""
        return _WORD_END.match(self._text, word.end) is not None

    def drop_repairs(self) -> None:
        """Nothing of the record is repaired."""
        for cause in self._causes.values():
            cause.repair = ""

    def cut_off(self, rest: Span) -> None:
        """A rest that is not read. Nothing is repaired, as the rest may hold more of each kind."""
        self.drop_repairs()
        kind, message = ProblemKind.UNEXPECTED, "this line is not JSON, and too long to tell why"
        self._causes.setdefault(kind, _Cause(rest, message, "", False))

    def problems(self) -> list[SyntaxProblem]:
        """All problems with their repairs, in text order."""
        found = [cause.problem(kind) for kind, cause in self._causes.items()]
        return sorted(found, key=attrgetter("span"))
