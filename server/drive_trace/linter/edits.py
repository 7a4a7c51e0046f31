"""Edits that several rules' fixes are made of, and values that other lines of a run determine."""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from itertools import pairwise
from operator import attrgetter
from typing import Any, cast

from drive_trace import vocabulary
from drive_trace.json_text import WHITESPACE, as_json
from drive_trace.linter.rule import Edit, Finding, Fix, Fixes, Level
from drive_trace.text import codec, spans
from drive_trace.text.quick import sha256_of
from drive_trace.text.wording import shown
from drive_trace.trace.index import Index
from drive_trace.trace.line import Diagnostic, DiagnosticKind, Line, Path, name_of, run_of
from drive_trace.trace.places import Part, Place, pair_at, resolve, syntax_of
from drive_trace.trace.run import FORGOTTEN_MS, MOMENT_MS, TIMED, Run
from drive_trace.trace.times import milliseconds_between
from drive_trace.vocabulary import DISPATCH, EVENTS, FEEDS, FieldType, Form, Lifetime, OneOfShape
from drive_trace.vocabulary.slips import nearest, said_in_type

_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})")
_LATEST = 24
"""So many of the latest starts are searched for the id that was meant."""
_END = 4
"""A slip leaves at least so many characters at the start or the end of an id as they were."""
_BRIEF = "brief-issued"
_MOST_BRIEFS = 100
_ZONE_MS = 30 * 60_000
"""Zones of time differ by multiples of this."""
_COMMA = re.compile(r"[ \t\r\n]*,[ \t\r\n]*")


def replace_value(line: Line, path: Path, text: str) -> Edit:
    """Put JSON text in place of the value at ``path``."""
    return Edit(line, resolve(line.text, Place(Part.VALUE, path)), text)


def replacing(
    finding: Finding, text: str, level: Level, title: str = "", field: str | None = None
) -> Fix:
    """The fix that puts JSON text in place of the token that a finding marks, or of the value of
    another ``field`` of its line.
    """
    place = finding.place if field is None else Place.value(field)
    title = title or (f"Replace with {text}" if field is None else f"Change `{field}` to {text}")
    edit = Edit(finding.line, resolve(finding.line.text, place), text)
    return Fix(title, level, (edit,))


def say_in_type(finding: Finding) -> Fixes:
    """Suggests what says the same in the type, or the form, that a field takes."""
    field = finding.cause.field
    assert field is not None
    text = said_in_type(field, finding.cause.found)
    if text is not None:
        is_of_weight = field.names is not None or field.is_outcome
        yield replacing(finding, text, Level.BY_HAND if is_of_weight else Level.IN_BULK)


def new_event_id(finding: Finding) -> Fix:
    """The fix that gives the event of a finding an id of its own: the same one each time that it is
    asked for, and another one for each line.
    """
    from uuid import UUID  # noqa: PLC0415 - takes long to load, and is seldom needed

    text = f"{finding.line.order} {finding.line.text}".encode("utf-8", "surrogatepass")
    new = UUID(sha256_of(text)[:32], version=4)
    edit = replace_value(finding.line, ("event_id",), as_json(str(new)))
    return Fix("Give the event a new UUID", Level.BY_HAND, (edit,))


def remove_line(finding: Finding, level: Level, title: str = "Remove the line") -> Fix:
    """The fix that takes out the line of a finding, with the newline that ends it."""
    line = finding.line
    return Fix(title, level, (Edit(line, spans.Span(0, len(line.text) + 1), ""),))


def replace_with_expected(finding: Finding, why: str = "") -> Fixes:
    """Suggests what should stand in place of the token that a finding marks, where it is known."""
    if finding.expected is not None:
        title = f"Replace with {shown(finding.expected)}{why}"
        yield replacing(finding, as_json(finding.expected), Level.BY_HAND, title)


def delete_member(line: Line, path: Path, occurrence: int = -1) -> Edit | None:
    """Take a whole pair out, with one of the commas beside it."""
    text = line.text
    pair = pair_at(text, path, occurrence)
    if pair is None or pair.value is None:
        return None
    after = _COMMA.match(text, pair.value.end)
    if after is not None:
        return Edit(line, spans.Span(pair.key.start, after.end()), "")
    before = text[: pair.key.start].rstrip(WHITESPACE)
    start = len(before[:-1].rstrip(WHITESPACE)) if before.endswith(",") else pair.key.start
    return Edit(line, spans.Span(start, pair.value.end), "")


def insert_fields(line: Line, path: Path, fields: Iterable[tuple[str, str]]) -> Edit | None:
    """Add pairs, given as key and JSON text, at the end of the object at ``path``."""
    pairs = ",".join(f"{as_json(key)}:{value}" for key, value in fields)
    end = resolve(line.text, Place(Part.END, path))
    if not pairs or line.text[end.start : end.end] != "}":
        return None
    before = line.text[: end.start].rstrip(WHITESPACE)
    comma = "" if before.endswith("{") else ","
    return Edit(line, spans.Span(len(before), len(before)), comma + pairs)


def nearest_started(run: Run, of: Lifetime, line: Line, name: str) -> str | None:
    """The id that a wrong one is most likely a slip of: of what was started last before a line."""
    starts = run.events(of.opener).nearest_before(line, _LATEST)
    place = EVENTS[of.opener].positions[of.field]
    ids: list[str] = [start.facts[place] for start in starts if start.facts[place] != name]
    name = name.strip(" {}")
    begun = [each for each in ids if each.lower().startswith(name.lower())]
    if len(begun) == 1 and len(name) >= 2 * _END:
        return begun[0]
    likely = [each for each in ids if each[:_END] == name[:_END] or each[-_END:] == name[-_END:]]
    return nearest(name, reversed(likely)) if likely else None


def replace_id(finding: Finding, of: Lifetime) -> Fixes:
    """Suggests the nearest id for one that was never started, or the id for a start that nothing
    goes on with.
    """
    line, place = finding.line, finding.place
    assert finding.run is not None
    assert isinstance(place, Place)
    named = line.text_fact(str(place.path[0]))
    found = nearest_started(finding.run, of, line, named)
    if found is not None:
        yield replacing(finding, as_json(found), Level.BY_HAND, f"Replace with {shown(found)}")
    for start in (each for each in finding.related if name_of(each.line) == of.opener):
        edit = Edit(start.line, resolve(start.line.text, start.place), as_json(named))
        yield Fix(f"Replace the id of the start with {shown(named)}", Level.BY_HAND, (edit,))


@lru_cache(maxsize=2)  # asked for each undeclared key of a line in turn
def object_on(line: Line) -> Mapping[str, Any]:
    """The keys and values of the object on a line; none where there is no object."""
    try:
        data = codec.loads(line.text)
    except ValueError:
        data = syntax_of(line.text).to_python()
    return data if isinstance(data, dict) else {}


def undeclared(line: Line) -> list[Diagnostic]:
    """The keys of a line that no event declares: each may be what a rejected line lacks."""
    return [each for each in line.diagnostics if each.kind is DiagnosticKind.UNDECLARED_FIELD]


def capped(fix: Fix, *, by_hand: bool = False) -> Fix:
    """The fix as it may be made: in bulk, nothing is changed that says something of a feed, nor of
    a line with more findings than are told, which nobody wrote by hand. Nor is what the settings
    leave to be mended ``by_hand``.
    """
    lines = dict.fromkeys(edit.line for edit in fix.edits)
    if not by_hand and not any(line.is_crowded for line in lines):
        if fix.level is not Level.IN_BULK:
            return fix
        if not names_a_feed("".join(line.text for line in lines)):
            return fix
    return fix._replace(level=Level.BY_HAND)


def names_a_feed(text: str) -> bool:
    """Whether the name of a feed stands anywhere on a line, be it in escapes: of a broken line
    nobody knows for sure which event it was meant to be.
    """
    if "\\u" in text:
        text = _ESCAPE.sub(lambda escape: chr(int(escape[1], 16)), text)
    return any(feed in text for feed in FEEDS)


def placeholder(field: FieldType) -> str:
    """JSON text for a field still to be filled in: null where that is a value, else a gap
    that stays an error, so that no fix can make up a fact. An empty string or array is no gap:
    readers accept it.
    """
    if field.nullable:
        return "null"
    if isinstance(field.shape, vocabulary.ObjectShape):
        inner = (
            f"{as_json(key)}:{placeholder(each)}"
            for key, each in field.shape.fields.items()
            if each.is_required
        )
        return "{" + ",".join(inner) + "}"
    if isinstance(field.shape, OneOfShape) and len(field.shape.meanings) == 1:
        return as_json(next(iter(field.shape.meanings)))
    return '""' if isinstance(field.shape, OneOfShape) else "null"


def is_gap(field: FieldType) -> bool:
    """Whether what :func:`placeholder` puts in still has to be filled in."""
    return not field.nullable and not (
        isinstance(field.shape, OneOfShape) and len(field.shape.meanings) == 1
    )


def measured_ms(index: Index, line: Line) -> int | None:
    """How long a dispatch or round took by its timestamps that a rejected line was meant to end.
    None where they tell nothing: if one is missing, or both were written at one moment, or more
    than a day apart.
    """
    of = next((of for of in TIMED if of.closer == name_of(line)), None)
    run = index.runs.get(run_of(line) or "")
    if of is None or run is None:
        return None
    values = object_on(line)
    named, ts = values.get(of.field), values.get("ts")
    if not isinstance(named, str) or not isinstance(ts, str):
        return None
    start = run.open_at(of, named, line)
    if start is None:
        return None
    passed = milliseconds_between(start.text_fact("ts"), ts)
    return passed if passed is not None and MOMENT_MS < passed <= FORGOTTEN_MS else None


def replace_with_measured(finding: Finding) -> Fixes:
    """Suggests the time between two timestamps for a duration, unless they are in doubt: more than
    a day lies between them, or about a multiple of what zones differ by is the difference; or a
    time of the run goes back beside one of them.
    """
    run, ends = finding.run, (finding.related[0].line, finding.line)
    assert run is not None
    beside = {near for line in ends for near in (run.lines.before(line), run.lines.after(line))}
    lines = sorted(filter(None, beside.union(ends)), key=attrgetter("order"))
    stamps = pairwise(line.text_fact("ts") for line in lines)
    goes_back = any((milliseconds_between(*two) or 0) < 0 for two in stamps)
    passed = cast("int", finding.expected)
    off = abs(cast("int", finding.line.fact("wall_clock_ms")) - passed) + MOMENT_MS
    # A local time that is marked as UTC is off by a zone, and what is claimed is right.
    is_zone = off >= _ZONE_MS and off % _ZONE_MS <= 2 * MOMENT_MS
    if not goes_back and not is_zone and passed <= FORGOTTEN_MS:
        yield from replace_with_expected(finding, ", as the timestamps say")


def disposition(index: Index, line: Line) -> str | None:
    """What the hashes of its dispatch's briefs say that the brief on a rejected line is; None where
    they cannot be compared.
    """
    of = DISPATCH
    run = index.runs.get(run_of(line) or "")
    values = object_on(line)
    named = values.get(of.field)
    if run is None or name_of(line) != _BRIEF or not isinstance(named, str):
        return None
    unread = [
        each
        for each in index.unread_naming(run.run_id, of.field, named)[:_MOST_BRIEFS]
        if each.order < line.order and name_of(each) == _BRIEF
    ]
    briefs = run.of(_BRIEF, of.field, named).nearest_before(line, _MOST_BRIEFS)
    event_id = values.get("event_id")
    earlier = [
        each
        for each in map(object_on, (*briefs, *unread))
        if event_id is None or each.get("event_id") != event_id  # else it is a copy
    ]
    hashes = [each.get("brief_content_hash") for each in (*earlier, values)]
    if not all(isinstance(each, str) and each in Form.HASH for each in hashes):
        return None
    *before, own = (str(each).lower() for each in hashes)
    return "reissue" if own in before else "amended" if before else "initial"
