"""One record → one line: the fast path for clean events, the exact path for the rest.

Measured on hostile lines: what pydantic-core's own JSON parser accepts, the
reference reader accepts; it refuses about 1.3 % of the lines that the reference
accepts. So the fast path may only ever say *valid and clean*.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from functools import cache
from operator import itemgetter
from typing import NamedTuple

import orjson
from pydantic_core import CoreSchema, SchemaValidator, core_schema

from drive_trace.text import is_blank
from drive_trace.trace.exact import remarks_of_object, whole_number
from drive_trace.trace.line import REJECTING, Concern, Facts, Line, OddLine, Remark, Status
from drive_trace.trace.spacing import space_count
from drive_trace.trace.syntax import Kind, Node, ProblemKind, Syntax, find_member, parse
from drive_trace.vocabulary import (
    AGREEMENTS,
    ALWAYS_KEPT,
    EVENTS,
    BooleanShape,
    EventType,
    FieldType,
    Form,
    IntegerShape,
    ListShape,
    ObjectShape,
    OneOfShape,
    Shape,
    StringShape,
)

Json = dict[str, object]

_CONCERNS = {ProblemKind.BYTE_ORDER_MARK: Concern.BYTE_ORDER_MARK}
"""Problems that have a rule of their own."""


class _Reader(NamedTuple):
    event: EventType
    keep: Callable[[Mapping[str, object]], Facts]


def read_lines(texts: Iterable[str], *, only_score: bool = False) -> list[Line]:
    """Read records, given without the newline that ends them. Never raises.

    With ``only_score`` what the scorecard does not depend on is left out: remarks
    on lines that are valid, and most facts of events that it does not look into.
    """
    readers = _readers(only_score)
    accept, dumps, new = _validator(only_score).validate_json, orjson.dumps, Line
    lines: list[Line] = []
    append = lines.append
    for text in texts:
        try:
            data = accept(text)
        except ValueError:
            append(read_exactly(text))
            continue
        event, keep = readers[data["event_type"]]
        if only_score:
            append(new(text, event, keep(data)))
            continue
        # As long as what is written back: compact, and no key twice. (An escape is longer than
        # the bytes that it stands for, so that in ASCII text bytes tell, too.)
        written = dumps(data)
        surplus = len(text) - len(written if text.isascii() else written.decode())
        if surplus:
            append(_longer_line(text, event, keep(data), surplus))
        else:
            append(new(text, event, keep(data)))
    return lines


def _longer_line(text: str, event: EventType, facts: Facts, surplus: int) -> Line:
    """A valid line that takes ``surplus`` characters more than what it says."""
    if surplus == 1 and text.endswith("\r"):
        return Line(text, event, facts)
    if surplus == space_count(text):
        remarks = (Remark(Concern.NOT_COMPACT),)
        return OddLine(text, Status.VALID, event=event, facts=facts, remarks=remarks)
    return read_exactly(text)


def read_exactly(text: str) -> Line:
    """Read one record as the reference reader does, with everything to be said of it."""
    if is_blank(text):
        return OddLine(text, Status.BLANK, remarks=(Remark(Concern.BLANK_LINE),))
    syntax: Syntax | None = None
    try:
        data = orjson.loads(text)
    except ValueError:
        syntax = parse(text)
        if syntax.problems:
            return _broken(text, syntax)
        data = syntax.to_python()
    if not isinstance(data, dict):
        remark = Remark(Concern.NOT_AN_OBJECT, found=data)
        return OddLine(text, Status.INVALID, remarks=(remark,))
    return _object_line(text, data, syntax)


def _object_line(text: str, data: Json, syntax: Syntax | None) -> Line:
    remarks = tuple(remarks_of_object(data))
    space = space_count(text)
    if syntax is not None or _may_repeat_keys(len(text) - space, data):
        remarks += tuple(_duplicates((syntax or parse(text)).root))
    if space > text.endswith("\r"):
        remarks += (Remark(Concern.NOT_COMPACT),)
    name = data.get("event_type")
    reader = _readers(False).get(name) if isinstance(name, str) else None
    if any(remark.concern in REJECTING for remark in remarks):
        return OddLine(
            text,
            Status.INVALID,
            remarks=remarks,
            event_name=_string(name),
            run_id=_string(data.get("project_run_id")),
        )
    if reader is None:
        return OddLine(
            text,
            Status.UNKNOWN,
            remarks=remarks,
            event_name=_string(name),
            run_id=_string(data.get("project_run_id")),
        )
    facts = reader.keep(_with_whole_numbers(reader.event, data))
    if not remarks:
        return Line(text, reader.event, facts)
    return OddLine(text, Status.VALID, event=reader.event, facts=facts, remarks=remarks)


def _broken(text: str, syntax: Syntax) -> OddLine:
    return OddLine(
        text,
        Status.INVALID,
        remarks=tuple(
            Remark(_CONCERNS.get(each.kind, Concern.INVALID_JSON), problem=each)
            for each in syntax.problems
        ),
        event_name=_string(_recovered(syntax, "event_type")),
        run_id=_string(_recovered(syntax, "project_run_id")),
    )


def _recovered(syntax: Syntax, key: str) -> object:
    """What a broken line says of a key; a string that is cut off says nothing for sure."""
    member = find_member(syntax.root, key) if syntax.root is not None else None
    value = member.value if member is not None else None
    return value.value if value is not None and value.kind is Kind.STRING else None


def _may_repeat_keys(length: int, data: Json) -> bool:
    """Whether an object of so many characters, without white space, says more than its data."""
    try:
        return length > len(orjson.dumps(data).decode())
    except (TypeError, ValueError):
        return True


def _duplicates(root: Node | None) -> Iterable[Remark]:
    """Every key that stands again later in its object, top level and declared objects."""
    if root is None or root.kind is not Kind.OBJECT:
        return
    for path, node in (
        ((), root),
        *(((member.key,), member.value) for member in root.members if member.value is not None),
    ):
        seen: dict[str, int] = {}
        total: dict[str, int] = {}
        for member in node.members:
            total[member.key] = total.get(member.key, 0) + 1
        for member in node.members:
            occurrence = seen[member.key] = seen.get(member.key, -1) + 1
            if occurrence < total[member.key] - 1:
                yield Remark(Concern.DUPLICATE_KEY, (*path, member.key), occurrence=occurrence)


def _with_whole_numbers(event: EventType, data: Json) -> Json:
    changed = {
        name: whole_number(data[name])
        for name, field in event.fields.items()
        if isinstance(field.shape, IntegerShape) and isinstance(data[name], float)
    }
    return {**data, **changed} if changed else data


def _string(value: object) -> str | None:
    return value if isinstance(value, str) else None


@cache
def _readers(only_score: bool) -> Mapping[str, _Reader]:
    return {event.name: _Reader(event, _keeper(event, only_score)) for event in EVENTS.values()}


def _keeper(event: EventType, only_score: bool) -> Callable[[Mapping[str, object]], Facts]:
    counts = event.is_feed or event.opens or event.closes
    return itemgetter(*(ALWAYS_KEPT if only_score and not counts else event.keeps))


@cache
def _validator(only_score: bool) -> SchemaValidator:
    """Accepts valid events without undeclared keys, and none that the reference rejects; unless
    the score alone matters, none of which something is to be said.
    """
    events: dict[Hashable, CoreSchema] = {
        event.name: core_schema_of(ObjectShape(event.fields))
        if only_score
        else _clean_event_schema(event)
        for event in EVENTS.values()
    }
    union = core_schema.tagged_union_schema(events, "event_type")
    forms: list[CoreSchema] = [
        core_schema.str_schema(strict=True, pattern=f"^(?:{form.expression})$", ref=form.name)
        for form in Form
    ]
    return SchemaValidator(union if only_score else core_schema.definitions_schema(union, forms))


def _clean_event_schema(event: EventType) -> CoreSchema:
    schema = core_schema_of(ObjectShape(event.fields), forms=True)
    agreements = AGREEMENTS[event.name]
    if not agreements:
        return schema
    holds = [agreement.holds for agreement in agreements]

    def agreeing(data: Json) -> Json:
        for each in holds:
            if not each(data):
                raise ValueError
        return data

    return core_schema.no_info_after_validator_function(agreeing, schema)


def core_schema_of(shape: Shape, *, forms: bool = False) -> CoreSchema:
    """The pydantic-core schema of a declared shape: what pydantic makes of the declaration, but
    strict about undeclared keys and large integers, and without the time that importing all of
    pydantic takes. With ``forms``, strings refer to the definitions of how they are written.
    """
    match shape:
        case StringShape(Form() as form) if forms:
            return core_schema.definition_reference_schema(form.name)
        case StringShape():
            return core_schema.str_schema(strict=True)
        case IntegerShape(minimum):
            # What a double cannot hold exactly is for the exact path to judge.
            least = -(2**53) if minimum is None else minimum
            return core_schema.int_schema(strict=True, ge=least, le=2**53)
        case BooleanShape():
            return core_schema.bool_schema(strict=True)
        case OneOfShape(meanings):
            return core_schema.literal_schema(list(meanings))
        case ListShape(item):
            return core_schema.list_schema(core_schema_of(item, forms=forms), strict=True)
        case ObjectShape(fields):
            return core_schema.typed_dict_schema(
                {name: _field_schema(field, forms) for name, field in fields.items()},
                strict=True,
                extra_behavior="forbid",
            )


def _field_schema(field: FieldType, forms: bool) -> core_schema.TypedDictField:
    schema = core_schema_of(field.shape, forms=forms)
    return core_schema.typed_dict_field(
        core_schema.nullable_schema(schema) if field.nullable else schema, required=True
    )
