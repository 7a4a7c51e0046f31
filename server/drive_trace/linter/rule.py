"""What a rule is, what it looks at, and what it finds.

A rule is one file. It declares ``RULE``; its module docstring is its documentation; its examples
are run as tests. Its check is a plain function of what it looks at: a line with a diagnostic, a
run, events of any run that name one thing, or a whole trace.

A rule imports from here what it needs to find something, such as ``Run`` and ``Place``, and from
``edits.py`` what it needs to mend it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import pairwise
from typing import Any, Concatenate, Generic, Literal, NamedTuple, TypeVar

import msgspec

from drive_trace.linter.settings import OptionValue, Severity
from drive_trace.stopping import cached_property
from drive_trace.text.spans import Span
from drive_trace.text.wording import plural, printable, shown
from drive_trace.trace.index import Index
from drive_trace.trace.line import Diagnostic, Line, name_of
from drive_trace.trace.places import Part, Place
from drive_trace.trace.run import Run, any_between
from drive_trace.vocabulary import WRITERS, StringShape

LINES_BELOW = 200
"""How far below its finding a fix may look."""


class Edit(NamedTuple):
    """Put ``text`` in place of ``span`` of ``line``; one past the line is the newline behind it."""

    line: Line
    span: Span
    text: str


class Level(StrEnum):
    """How a fix may be made."""

    SAFE = "safe"
    """Unasked, with all others: it repairs form alone and cannot change what the event says."""
    IN_BULK = "in bulk on request"
    """With all others, where somebody asks for suggestions too: it hardly can be wrong, deletes
    nothing that somebody wrote, and changes no id, no outcome and no number.
    """
    BY_HAND = "one at a time"
    """By a person who has looked at it."""


class Fix(NamedTuple):
    """A way to mend a finding."""

    title: str
    level: Level
    edits: tuple[Edit, ...]
    is_preferred: bool = False
    """Whether an editor may apply it at a keystroke, though it is not safe."""
    is_layout: bool = False
    """Whether nothing but white space and commas between records changes: formatting makes it."""

    @property
    def safe(self) -> bool:
        """Whether it may be made unasked."""
        return self.level is Level.SAFE


Message = str | tuple[str | Line, ...]
"""A text, or its parts: a line stands for its number, which is put in when somebody looks."""


At = str | Place | Span
"""What of a line is marked: the value of a field, by its name; or another place of it."""

Explained = tuple[Line, At, Message]
"""Another line, a place of it, and what it explains of a finding."""


class Related(NamedTuple):
    """Another place that explains a finding."""

    line: Line
    place: Place | Span
    message: Message


class Finding(NamedTuple):
    """What one rule found on one token."""

    rule: Rule[Any]
    line: Line
    place: Place | Span
    message: Message
    related: tuple[Related, ...] = ()
    diagnostic: Diagnostic | None = None
    """For findings on one line: what the reader noticed."""
    expected: object = None
    """What should stand there, where that is known: what a fix puts there."""
    run: Run | None = None
    """Where a fix looks for what can have been meant."""
    last: Line | None = None
    """The line with which it ends, where it is about several."""
    joined: tuple[Finding, Mapping[Line, Line]] | None = None
    """Where files are joined: the finding on the lines there, and by these the lines of files."""

    @property
    def cause(self) -> Diagnostic:
        """What the reader noticed; only for findings on one line."""
        assert self.diagnostic is not None
        return self.diagnostic


Findings = Iterable[Finding]
Fixes = Iterable[Fix]


class LineDiagnostic(NamedTuple):
    """A line and one diagnostic of it, of the kind named like the rule."""

    line: Line
    diagnostic: Diagnostic

    def finding(
        self, rule: Rule[Any], message: str, at: At | None = None, *related: tuple[At, str]
    ) -> Finding:
        """The finding on the diagnostic. It marks the value at its path, or another place.
        ``related`` are other places of the line, each with what it explains.
        """
        at = Place(Part.VALUE, self.diagnostic.path) if at is None else _place(at)
        others = tuple([Related(self.line, _place(what), why) for what, why in related])
        return Finding(rule, self.line, at, message, others, self.diagnostic)

    def not_json(self, rule: Rule[Any]) -> Finding:
        """The finding on a line that is not JSON."""
        problem = self.diagnostic.problem
        assert problem is not None
        return self.finding(rule, problem.message, problem.span)

    def malformed(self, rule: Rule[Any]) -> Finding:
        """The finding on a string that does not follow the convention of its field."""
        diagnostic = self.diagnostic
        assert diagnostic.field is not None
        assert isinstance(diagnostic.field.shape, StringShape)
        assert diagnostic.field.shape.form is not None
        expected = diagnostic.field.shape.form.words
        message = f"`{diagnostic.path[-1]}` should be {expected}; found {shown(diagnostic.found)}"
        return self.finding(rule, message)

    def wrong_value(self, rule: Rule[Any], hint: str = "") -> Finding:
        """The finding on a value that its field does not take."""
        diagnostic = self.diagnostic
        assert diagnostic.field is not None
        name = next(str(step) for step in reversed(diagnostic.path) if isinstance(step, str))
        what = f"an item of `{name}`" if isinstance(diagnostic.path[-1], int) else f"`{name}`"
        expected = diagnostic.field.describe()
        message = f"{what} must be {expected}; found {shown(diagnostic.found)}{hint}"
        return self.finding(rule, message)


def more_of(rule: Rule[Any], line: Line, diagnostic: Diagnostic) -> Finding:
    """The finding that stands for all that a rule finds on a crowded line beyond the first few."""
    message = f"{plural(diagnostic.more, 'more finding')} of this rule on this line"
    return Finding(rule, line, Place(Part.LINE_END), message, diagnostic=diagnostic)


class _Same(NamedTuple):
    value: Any
    """What they name."""
    lines: Sequence[Line]
    """In their order, one at least."""
    trace: Index


class SameId(_Same):
    """The events of a trace with one ``event_id``."""


class SameFile(_Same):
    """The events of a trace, of whatever run, that write the spec or plan at one path."""

    def amendments(self, *fields: str) -> Iterator[tuple[Line, Line]]:
        """Each amendment of a file that one of some fields names, with the event of its run that
        wrote it before: not copies, nor where a line between the two that cannot be read may have
        written it as well.
        """
        for field in fields if len(self.lines) > 1 else ():
            writers = WRITERS[field]
            writes = [each for each in self.lines if name_of(each) in writers]
            for before, line in pairwise(writes):
                if name_of(line) != writers[1] or line.run != before.run or line.is_copy_of(before):
                    continue
                in_doubt = self.trace.runs[line.run].in_doubt(field, self.value)
                if not any_between(in_doubt, before, line):
                    yield before, line


class SameDispatch(_Same):
    """The events of a trace, of whatever run, that start dispatches which resume one."""


class WholeTrace(msgspec.Struct, frozen=True, eq=False):
    """A whole trace, looked at anew after each edit."""

    lines: Sequence[Line]
    """All of them; the last one is empty after a final newline."""
    index: Index


Subject = TypeVar("Subject")


class Option(msgspec.Struct, frozen=True):
    """A setting of one rule, a number of at least 0; its type is its default's."""

    name: str
    """Kebab-case, with the unit as its last word."""
    default: OptionValue
    prose: str
    """One sentence: what it changes."""


class Rule(msgspec.Struct, Generic[Subject], frozen=True, eq=False, dict=True):
    """A rule: a code, a default severity and a pure function of what it looks at."""

    severity: Severity
    """By default. ERROR means that readers reject the line."""
    check: Callable[Concatenate[Subject, ...], Iterable[Finding]]
    """Called with one of these and, by keyword, with the values of the rule's options: of one
    called ``tolerance-ms`` as ``tolerance_ms``.
    """
    fixes: Callable[[Finding], Iterable[Fix]] = lambda _: ()
    """Works out the fixes of one of its findings, when somebody asks for them."""
    fixes_around: Callable[[Finding, WholeTrace], Iterable[Fix]] | None = None
    """Further fixes, which look at other lines as well."""
    unnecessary: bool = False
    """Whether what it marks has no effect (shown faded)."""
    options: tuple[Option, ...] = ()
    """What can be set of it, beside its severity."""
    distrusts: str | None = None
    """The cost of a run that nobody should believe where it finds something: the ``clock`` or the
    ``claims``, by which a wall-clock is measured, or a metric of ``compare``.
    """
    sums: str | None = None
    """What is so of all that it finds in a run, after their number: "dispatches have no brief". It
    is told as one finding then, with what other rules find by the same words. Empty: the message
    says it. None: each is told.
    """
    sums_as: str = ""
    """What is so of its own, where another rule has the same words: "too long"."""
    sums_among: tuple[str, ...] = ()
    """The events that could be so, where it is told how many of them are."""
    sums_by: Literal["field", "value", "line", "run"] = "field"
    """What those share that are told as one: the field that they mark, its value, the line, or no
    more than the run.
    """

    def finding(
        self,
        line: Line,
        at: At,
        message: Message,
        *related: Explained,
        expected: object = None,
        run: Run | None = None,
    ) -> Finding:
        """A finding of the rule, on a place of a line; with other lines that explain it, what
        should stand there, and the run in which a fix looks for what can have been meant.
        """
        others = tuple(Related(where, _place(what), why) for where, what, why in related)
        return Finding(self, line, _place(at), message, others, expected=expected, run=run)

    @cached_property
    def code(self) -> str:
        """Its name in findings and configurations: that of its file, in kebab-case."""
        return self.check.__module__.rpartition(".")[2].replace("_", "-")

    @cached_property
    def summary(self) -> str:
        """One sentence: what it finds. It is the first paragraph of its file's docstring."""
        page = sys.modules[self.check.__module__].__doc__ or ""
        return " ".join(page.partition("\n\n")[0].split())

    @cached_property
    def looks_at(self) -> type[Any]:
        """What its check is called with, by the type of its first parameter."""
        # Not by `get_type_hints`, which takes as long for all rules as to load ten of them.
        return next(iter(self.check.__annotations__.values()))  # type: ignore[no-any-return]


def _place(at: At) -> Place | Span:
    return Place.value(at) if isinstance(at, str) else at


def type_or_line(line: Line) -> At:
    """Where to mark a line as a whole: its type, or all of what is no event."""
    is_event = line.event is not None
    return "event_type" if is_event else Span(0, len(line.text.removesuffix("\r")))


# Files that are checked together


class UnreadFile(NamedTuple):
    """A file, or a folder, of which nothing could be read."""

    reason: str
    """In a few words."""


class SharedEvents(NamedTuple):
    """The events of a file with ids of an earlier one. No trace has it: it is looked at as each
    file is read.
    """

    line: Line
    """The first of them."""
    size: int
    """How many they are."""
    are_copies: bool
    """Whether all of them are the same there, or each is another."""
    path: str
    """The earlier file."""
    number: int
    """The line there with the id of ``line``, from 1."""

    @property
    def other(self) -> str:
        """The earlier file, as a message names it."""
        return printable(self.path, 4096)
