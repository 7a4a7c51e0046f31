"""One record → one line: the fast path for clean events, the exact path for the rest.

Measured on hostile lines: what fast JSON parsers accept, the reference reader
accepts; they refuse about 1.3 % of the lines that the reference accepts. So the
fast path may only ever say *valid and clean*.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from functools import cache, reduce
from itertools import islice
from operator import attrgetter, or_
from typing import Annotated, Any, Literal

import msgspec

from drive_trace import vocabulary
from drive_trace.json_text import Node, NodeKind, ProblemKind, Syntax, compacted, parse, space_count
from drive_trace.text.codec import bounded, dumps, loads
from drive_trace.text.spans import BrokenText, is_blank
from drive_trace.trace import line as trace_line
from drive_trace.trace.exact import diagnostics_of_object, whole_number
from drive_trace.trace.line import Diagnostic, DiagnosticKind, Facts, FlaggedLine, Line, LineStatus
from drive_trace.trace.places import node_at, syntax_of
from drive_trace.vocabulary import EVENTS, EventType, Form, IntegerShape, ObjectShape

Json = dict[str, object]

_TOGETHER = 500
"""How many records are read at once: more do not fit into the processor's cache."""

_UNREADABLE = frozenset(
    {DiagnosticKind.INVALID_JSON, DiagnosticKind.BYTE_ORDER_MARK, DiagnosticKind.NOT_AN_OBJECT}
)
"""What keeps a record from being laid out anew."""

_BLANK = (Diagnostic(DiagnosticKind.BLANK_LINE),)
"""Of every blank line: a trace may have ten million."""


def read_lines(texts: Iterable[str], *, only_score: bool = False) -> list[Line]:
    """Read records, given without the newline that ends them. Never raises.

    ``only_score`` leaves out what the scorecard does not need: diagnostics of valid
    lines, and most facts of events that it does not use.
    """
    decode, conversions = event_decoder(only_score=only_score)
    lines: list[Line] = []
    run_ids: dict[str, str] = {}
    """One string for all lines of a run."""
    rest = iter(texts)
    while some := list(islice(rest, _TOGETHER)):
        events, read = _decoded(some, decode), list[Line]()
        for text, event in zip(some, events, strict=True):
            if event is None:
                read.append(read_exactly(text))
                continue
            event_type, facts, _ = conversions[event.__class__]
            run_id = event.project_run_id
            event.project_run_id = run_ids.setdefault(run_id, run_id)
            read.append(Line(text, event_type, facts(event)))
        if not only_score:
            _read_unclean_again(read, events, conversions)
        lines += read
    return lines


def _decoded(texts: Sequence[str], decode: Callable[[str], Any]) -> list[Any]:
    """The typed events of records; None of those that are not surely valid."""
    events: list[Any] = []
    rest = iter(texts)
    while len(events) < len(texts):
        try:  # all in one go, up to the next that is refused
            events.extend(map(decode, rest))
        except (ValueError, RecursionError, TypeError):  # the last one for a BrokenText
            events.append(None)
    return events


def _read_unclean_again(
    lines: list[Line], events: Sequence[Any], conversions: Mapping[type, Conversion]
) -> None:
    """Read again, exactly, what is not clean. A look at all events of a type at once tells."""
    alike = defaultdict[type, list[int]](list)
    for place, event in enumerate(events):
        if event is not None:
            alike[event.__class__].append(place)
    unclean = {
        places[at]
        for typed, places in alike.items()
        for at in conversions[typed][2]([events[place] for place in places])
    }
    for place in unclean:
        lines[place] = read_exactly(lines[place].text)
    clean = [at for at, each in enumerate(events) if each is not None and at not in unclean]
    # No text is shorter than what is written back: an escape is longer than the bytes that it
    # stands for. So all are compact, with no key twice, if together they are as long.
    # They are encoded one by one, as one emoji would make a joined text four times as large.
    sizes = map(len, map(str.encode, [lines[at].text for at in clean]))
    if sum(sizes) != written_length(*(events[at] for at in clean)):
        for place in clean:
            lines[place] = _checked_length(lines[place], events[place])


def _checked_length(line: Line, event: Any) -> Line:
    """The line itself, or if it is valid and longer than its compact JSON, the line read again."""
    text = line.text
    surplus = len(text.encode()) - written_length(event)
    if not surplus or (surplus == 1 and text.endswith("\r")):
        return line
    if surplus == space_count(text):
        found = (Diagnostic(DiagnosticKind.NOT_COMPACT),)
        return FlaggedLine(text, line.event, line.facts, status=LineStatus.VALID, diagnostics=found)
    return read_exactly(text)


def read_exactly(text: str) -> Line:
    """Read one record as the reference reader does, with all its diagnostics."""
    if is_blank(text):
        return FlaggedLine(text, status=LineStatus.BLANK, diagnostics=_BLANK)
    syntax: Syntax | None = None
    try:
        data = loads(text)
    except ValueError:  # it takes no BrokenText either
        syntax = parse(text)
        if syntax.problems:
            return _broken(text, syntax)
        data = syntax.to_python()
    if not isinstance(data, dict):
        diagnostic = Diagnostic(DiagnosticKind.NOT_AN_OBJECT, found=data)
        return FlaggedLine(text, status=LineStatus.INVALID, diagnostics=(diagnostic,))
    return _object_line(text, data, syntax)


def _object_line(text: str, data: Json, syntax: Syntax | None) -> Line:
    found = [*diagnostics_of_object(data)]
    space = space_count(text)
    if syntax is not None or _may_repeat_keys(len(text) - space, data):
        # Not `parse`: who words the findings needs the tree, too.
        found += _duplicates((syntax or syntax_of(text)).root)
    if space > text.endswith("\r"):
        found.append(Diagnostic(DiagnosticKind.NOT_COMPACT))
    if isinstance(text, BrokenText):
        found += (Diagnostic(DiagnosticKind.INVALID_UTF8, broken=each) for each in text.broken())
    diagnostics = _told(found)
    name = _string(data.get("event_type"))
    event = EVENTS.get(name or "")
    is_rejected = any(diagnostic.kind in trace_line.REJECTING for diagnostic in diagnostics)
    if is_rejected or event is None:
        status = LineStatus.INVALID if is_rejected else LineStatus.UNKNOWN
        run_id = _string(data.get("project_run_id"))
        return FlaggedLine(
            text, status=status, diagnostics=diagnostics, event_name=name, run_id=run_id
        )
    facts = tuple([_exact(event.fields[each].shape, data.get(each)) for each in event.keeps])
    if not diagnostics:
        return Line(text, event, facts)
    return FlaggedLine(text, event, facts, status=LineStatus.VALID, diagnostics=diagnostics)


def _told(found: list[Diagnostic]) -> tuple[Diagnostic, ...]:
    """The diagnostics of a line, of many the first: those for which readers reject it before the
    others, so that an error is among them. The last ones say how many more there are of each kind.
    """
    if len(found) <= trace_line.MOST_DIAGNOSTICS:
        return tuple(found)
    found.sort(key=lambda each: each.kind not in trace_line.REJECTING)
    more = Counter[str]()
    for each in found[trace_line.MOST_DIAGNOSTICS :]:
        more[each.kind] += each.more or 1
    rest = (Diagnostic(kind, more=count) for kind, count in more.items())
    return (*found[: trace_line.MOST_DIAGNOSTICS], *rest)


def _broken(text: str, syntax: Syntax) -> FlaggedLine:
    found = []
    for each in syntax.problems:
        is_mark = each.kind is ProblemKind.BYTE_ORDER_MARK  # which has a rule of its own
        kind = DiagnosticKind.BYTE_ORDER_MARK if is_mark else DiagnosticKind.INVALID_JSON
        found.append(Diagnostic(kind, problem=each))
    name, run_id = (_recovered(syntax, each) for each in ("event_type", "project_run_id"))
    return FlaggedLine(
        text, status=LineStatus.INVALID, diagnostics=tuple(found), event_name=name, run_id=run_id
    )


def _recovered(syntax: Syntax, key: str) -> str | None:
    """The string behind a key of a broken line. None if it is cut off, as it may be another one."""
    node = node_at(syntax.root, (key,))
    return str(node.value) if node is not None and node.kind is NodeKind.STRING else None


def _may_repeat_keys(length: int, data: Json) -> bool:
    """Whether an object of this length, without white space, is longer than its data as JSON."""
    try:
        return length > len(dumps(data).decode())
    except (TypeError, ValueError):
        return True


def _duplicates(root: Node | None) -> Iterable[Diagnostic]:
    """Every key that its object repeats later, at the top level and one level below; of many in one
    object the first, and how many more there are.
    """
    kind = DiagnosticKind.DUPLICATE_KEY
    inner = ((each.key, each.value) for each in root.members) if root is not None else ()
    for path, node in (((), root), *(((key,), value) for key, value in inner)):
        keys = [member.key for member in node.members] if node is not None else []
        total, seen = Counter(keys), Counter[str]()
        told, dead = 0, len(keys) - len(total)
        for key in keys if dead else ():
            occurrence, seen[key] = seen[key], seen[key] + 1
            if occurrence < total[key] - 1:
                yield Diagnostic(kind, (*path, key), occurrence=occurrence)
                told += 1
            if told == trace_line.MOST_DIAGNOSTICS < dead:
                yield Diagnostic(kind, more=dead - told)
                break


def _string(value: object) -> str | None:
    return value if isinstance(value, str) else None


# The whole event, of which the index keeps a part


Values = Mapping[str, object]
"""An event's declared fields, by name."""


def values_of(line: Line) -> Values:
    """The declared fields of a valid line's event, in any order. Every integer is an ``int``."""
    assert line.event is not None
    try:
        data = loads(line.text)
    except ValueError:  # what only the exact path reads, as a lone surrogate
        data = parse(line.text).to_python()
    declared = line.event.fields
    values: dict[str, object] = data
    if not data.keys() <= declared.keys():
        values = {name: data[name] for name in declared if name in data}
    for name, shape in _READ_ANEW[line.event.name]:
        if type(values.get(name)) in (float, dict):
            values[name] = _exact(shape, values[name])
    return values


_READ_ANEW = {
    event.name: [
        (name, field.shape)
        for name, field in event.fields.items()
        if isinstance(field.shape, IntegerShape | ObjectShape)
    ]
    for event in EVENTS.values()
}
"""The fields of each event with values that may not be what JSON readers make of them."""


def _exact(shape: vocabulary.Shape, value: object) -> object:
    if isinstance(shape, IntegerShape) and isinstance(value, float):
        return whole_number(value)
    if isinstance(shape, ObjectShape) and isinstance(value, dict):
        declared = shape.fields.items()
        return {name: _exact(field.shape, value[name]) for name, field in declared if name in value}
    return value


def laid_out(line: Line) -> str:
    """The record as it should be written: without white space between its tokens.

    Nothing else changes, not even the order of the keys, as a trace is append-only. A record that
    is no JSON object stays as it is, and so does the ``\\r`` of a line break.
    """
    kinds = {diagnostic.kind for diagnostic in line.diagnostics}
    if DiagnosticKind.NOT_COMPACT not in kinds or not _UNREADABLE.isdisjoint(kinds):
        return line.text
    return compacted(line.text) + ("\r" if line.text.endswith("\r") else "")


# The fast path: the declared events as msgspec types, so that a record is parsed and validated in
# one go. What it accepts, the reference reader accepts: it is strict about undeclared keys, numbers
# that are not written as integers, integers that a double may not hold exactly, lone surrogates.


_MOST = 2**53
"""The largest integer of which a double holds all smaller ones exactly."""


Conversion = tuple[EventType, Callable[[Any], Facts], Callable[[Sequence[Any]], Iterable[int]]]
"""How typed events of one class become lines: as what, with which facts, and the places of those of
some that are not clean: how a string is written, what means null, how fields agree.
"""


EventDecoder = tuple[Callable[[str], Any], dict[type, Conversion]]
"""The typed event of a record, or ValueError or RecursionError if it is not surely valid; and by
the class of typed events how they become lines.
"""


@cache
def event_decoder(*, only_score: bool) -> EventDecoder:
    """A decoder of events. ``only_score`` leaves out most facts of events that the scorecard does
    not use.
    """
    types: dict[type, EventType] = {}
    for event in EVENTS.values():
        payload = {name: field for name, field in event.fields.items() if name != "event_type"}
        types[_struct(event.name, payload, tag_field="event_type")] = event
    conversions = {typed: _conversion(event, only_score) for typed, event in types.items()}
    return bounded(msgspec.json.Decoder(reduce(or_, types)).decode), conversions


def _conversion(event: EventType, only_score: bool) -> Conversion:
    counts = event.is_feed or event.opens or event.closes
    keeps = vocabulary.ALWAYS_KEPT if only_score and not counts else event.keeps
    return event, _facts(event, keeps), _unclean(event)


def _facts(event: EventType, keeps: tuple[str, ...]) -> Callable[[Any], Facts]:
    read = attrgetter(*keeps)
    if all(event.fields[name].is_required for name in keeps):
        return read
    return lambda typed: tuple([None if each is msgspec.UNSET else each for each in read(typed)])


def _unclean(event: EventType) -> Callable[[Sequence[Any]], Iterable[int]]:
    texts = [
        (attrgetter(each.name), each.shape.form)
        for each in event.fields.values()
        if isinstance(each.shape, vocabulary.StringShape) and each.name != "event_type"
    ]
    checks = [
        ([*map(attrgetter, each.fields)], each.holds) for each in vocabulary.AGREEMENTS[event.name]
    ]

    def unclean(typed: Sequence[Any]) -> Iterator[int]:
        for read, form in texts:
            values = [*map(read, typed)]
            if odd := _odd({*values}, form):
                yield from (at for at, each in enumerate(values) if each in odd)
        for fields, holds in checks:
            columns = (
                [None if each is msgspec.UNSET else each for each in map(read, typed)]
                for read in fields
            )
            agree = [*map(holds, *map(msgspec.to_builtins, columns))]
            if not all(agree):
                yield from (at for at, each in enumerate(agree) if not each)

    return unclean


def _type_of(shape: vocabulary.Shape) -> Any:
    """The type of a shape's values that are written as they should be."""
    match shape:
        case vocabulary.StringShape(Form() as form):
            return Annotated[str, msgspec.Meta(pattern=rf"\A(?:{form.expression})\Z")]
        case vocabulary.StringShape():
            return str
        case IntegerShape(minimum):
            least = -_MOST if minimum is None else minimum
            return Annotated[int, msgspec.Meta(ge=least, le=_MOST)]
        case vocabulary.BooleanShape():
            return bool
        case vocabulary.OneOfShape(meanings):
            return Literal[tuple(meanings)]
        case vocabulary.ListShape(item):
            return list[_type_of(item)]  # type: ignore[misc]
        case ObjectShape(fields):
            return _struct("Object", fields)


def _struct(
    name: str, fields: Mapping[str, vocabulary.FieldType], *, tag_field: str | None = None
) -> type[msgspec.Struct]:
    typed: list[Any] = []
    for each in fields.values():
        # How an event's own strings are written is looked at many at a time, see _unclean.
        is_text = tag_field and isinstance(each.shape, vocabulary.StringShape)
        type_ = str if is_text else _type_of(each.shape)
        type_ = type_ | None if each.nullable else type_
        absent = (msgspec.UNSET,) if not each.is_required else ()
        typed.append((each.name, type_ | msgspec.UnsetType if absent else type_, *absent))
    return msgspec.defstruct(
        name,
        typed,
        tag_field=tag_field,
        tag=name if tag_field else None,
        forbid_unknown_fields=True,
        kw_only=True,
        gc=False,
    )


def _odd(values: Set[Any], form: Form | None) -> Set[Any]:
    """Those of some values that mean null, or are not written in a form."""
    if form is None:
        return values & vocabulary.NULL_TEXTS
    values -= {None, msgspec.UNSET}
    # All at once: no form has a backslash, though a path may have a newline.
    texts = "\\".join((*values, ""))
    is_written = texts.count("\\") == len(values) and _repeated(form).fullmatch(texts)
    return set() if is_written else {each for each in values if each not in form}


def written_length(*events: Any) -> int:
    """How many bytes typed events take as compact JSON, without anything between them."""
    brackets_and_commas = len(events) + 1 if events else 2
    return len(msgspec.json.encode(events)) - brackets_and_commas


@cache
def _repeated(form: Form) -> re.Pattern[str]:
    return re.compile(rf"(?:{form.expression}\\)*")
