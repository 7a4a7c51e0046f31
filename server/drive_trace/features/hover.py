"""``textDocument/hover``, ``textDocument/inlayHint`` and ``inlayHint/resolve``: the meaning of a
token, and the scorecard of its run.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime

from lsprotocol import types

from drive_trace import vocabulary
from drive_trace.analysis import Analysis
from drive_trace.features import HintOptions, referents, runs
from drive_trace.features.results import View, markup, point_at, range_of, without_markup
from drive_trace.json_text import NodeKind
from drive_trace.linter.edits import object_on
from drive_trace.linter.rules import wall_clock_below_timestamps, wall_clock_exceeds_timestamps
from drive_trace.scorecard.scoring import score_in
from drive_trace.text.spans import Span
from drive_trace.text.wording import byte_size, code, compact, duration, in_full, plural, printable
from drive_trace.trace import reading, times
from drive_trace.trace.document import Point
from drive_trace.trace.line import Line, Path, event_of, name_of, run_id_of, run_of
from drive_trace.trace.places import Part, Place, node_at, pair_at, path_at, resolve, syntax_of
from drive_trace.trace.run import TimeSpan, span_ended_by
from drive_trace.vocabulary import ENVELOPE, EventType, FieldType, ListShape, OneOfShape, slips

_ALONE = referents.HoverOptions()
_MOST_FINDINGS = 5
_LONGEST_MESSAGE = 400
"""In characters."""


def hover(
    view: View,
    point: Point,
    kind: types.MarkupKind = types.MarkupKind.Markdown,
    options: referents.HoverOptions = _ALONE,
) -> types.Hover | None:
    """The hover at a point; None if there is nothing to show."""
    line = view.lines[point.record]
    at = _pointed(view.analysis, line, point.offset, options)
    if at is None:
        return None
    span = resolve(line.text, at.place)
    wrong = _findings(at, span) if options.messages else ""
    # The verdict stands first, and right below it what is wrong with the token.
    verdict, _, scorecard = (card(at) or "").partition("\n\n")
    # The meaning of what is in no vocabulary would say the same once more.
    about = _about(at, has_card=bool(verdict)) if at.field is not None or not wrong else ""
    first = "\n\n".join(part for part in (verdict, wrong, scorecard) if part)
    text = "\n\n---\n\n".join(part for part in (first, about) if part)
    if not text:
        return None
    return types.Hover(contents=markup(text, kind), range=range_of(view, point.record, span))


def _pointed(
    analysis: Analysis, line: Line, offset: int, options: referents.HoverOptions
) -> referents.Pointed | None:
    """The key or scalar at an offset; None on white space and punctuation."""
    place = path_at(line.text, offset)
    if place is None:
        return None
    value, is_null = None, False
    if place.part is Part.VALUE:
        node = node_at(syntax_of(line.text).root, place.path)
        if node is None or node.kind in (NodeKind.OBJECT, NodeKind.ARRAY):
            return None
        value, is_null = node.value, node.kind is NodeKind.NULL
    event = event_of(line)
    field = field_at(event, place.path)
    return referents.Pointed(analysis, line, place, event, field, value, is_null, options)


def _about(at: referents.Pointed, *, has_card: bool) -> str | None:
    """The meaning of the value, then that of its field, unless a run's card is shown and the field
    is one of every event.
    """
    if at.place.path == ("event_type",) and at.place.part is Part.VALUE:
        return about_event(at.event) if at.event is not None else about_unknown_event(at)
    if at.field is None:
        return about_undeclared(at)
    is_common = has_card and at.field.name in ENVELOPE
    field = None if is_common else about_field(at.field, at.value, is_null=at.is_null)
    return "\n\n".join(part for part in (about_value(at), field) if part)


def about_value(at: referents.Pointed) -> str | None:
    """The meaning of a value; None if its field says it all."""
    if at.place.part is not Part.VALUE or at.field is None:
        return None
    shape = at.field.shape
    if isinstance(shape, vocabulary.StringShape) and shape.form is vocabulary.Form.TIMESTAMP:
        return about_moment(at)
    return about_null(at) or about_quantity(at) or referents.about_reference(at)


def _findings(at: referents.Pointed, span: Span) -> str:
    """What is wrong with the token, not with the line around it, and what its most likely fix would
    do.
    """
    analysis, found = at.analysis, list[str]()
    for finding in analysis.findings_of(at.line):
        place = analysis.where(finding).span
        is_on_token = span.start <= place.start < span.end and place.end <= span.end
        if len(found) == _MOST_FINDINGS:
            break
        if is_on_token:
            url = at.options.url_of(finding.rule.code)
            rule = f"[{finding.rule.code}]({url})" if url else f"`{finding.rule.code}`"
            text = code(analysis.message(finding.message), _LONGEST_MESSAGE)
            said = f"**{analysis.severity_of(finding).label}** {text} ({rule})"
            likely = (f"Fix: {code(fix.title)}" for fix in analysis.fixes(finding)[:1])
            found.append("\n\n".join([said, *likely]))
    return "\n\n".join(found)


# The scorecard


def card(at: referents.Pointed) -> str | None:
    """The run's scorecard over all its files, on all tokens of feed events and on any run id."""
    event = at.event
    if at.place.path != ("project_run_id",) and (event is None or not event.is_feed):
        return None
    run_id = run_id_of(at.line)
    if run_id is None:
        return None
    run, joined = score_in(at.analysis.index, run_id), at.options.joined
    if joined is None and run is not None:
        joined = runs.of_one_file(run, at.options.uri)
    if joined is None:
        text = "**not computable — missing: external correctness signal**"
    else:
        text = joined.markdown
    if run is None:
        text += f"\n\nNo valid event of run {code(run_id)} stands in this trace."
    return text + _standing(at, joined)


def _standing(at: referents.Pointed, joined: runs.JoinedRun | None) -> str:
    """Why a line of a feed does not count, if it does not."""
    line, event = at.line, at.line.event
    if line.is_rejected:
        return "\n\nThis line is rejected: it counts for nothing."
    if event is None or not event.is_feed:
        return ""
    other = joined.supersedes if joined is not None and event.name == vocabulary.GRADE else None
    last = at.analysis.index.runs[line.run].events(event.name).last
    counts = code(other) if other else at.link(last) if last and last is not line else ""
    return f"\n\nThis event counts no more: {counts} supersedes it." if counts else ""


# Events and fields


def field_at(event: EventType | None, path: Path) -> FieldType | None:
    """The declaration of the field at a path. For an item of a list, that of the list."""
    fields = event.fields if event is not None else ENVELOPE
    field = fields.get(str(path[0]))
    for step in path[1:]:
        shape = field.shape if field is not None else None
        if isinstance(step, str):
            field = shape.fields.get(step) if isinstance(shape, vocabulary.ObjectShape) else None
        elif not isinstance(shape, ListShape):
            field = None
    return field


def about_event(event: EventType) -> str:
    """The prose of an event, and its fields."""
    lines = [f"**{event.name}** · {event.family}", "", event.prose, ""]
    lines += [
        f"- `{field.name}` — {field.prose} *{field.describe()}*"
        for name, field in event.fields.items()
        if name not in ENVELOPE
    ]
    return "\n".join(lines)


def about_unknown_event(at: referents.Pointed) -> str | None:
    """How readers treat an event outside the vocabulary."""
    name = name_of(at.line)
    if name is None:
        return None
    guess = slips.event_meant(name)
    hint = f" Did you mean `{guess}`?" if guess else ""
    return f"{code(name)} is not an event of the vocabulary: readers keep it apart.{hint}"


def about_undeclared(at: referents.Pointed) -> str | None:
    """How readers treat a key that its event does not declare."""
    if at.event is None:
        return None
    name = next(step for step in reversed(at.place.path) if isinstance(step, str))
    return f"{code(name)} is not declared for this event: readers ignore it."


def about_field(field: FieldType, value: object = None, *, is_null: bool = False) -> str:
    """The meaning of a field, and its allowed values, with ``value`` in bold."""
    unit = f" Counted in {field.unit}." if field.unit else ""
    text = f"**{field.name}** — {field.prose}{unit}\n\n"
    shape = field.shape.item if isinstance(field.shape, ListShape) else field.shape
    if not isinstance(shape, OneOfShape) or len(shape.meanings) == 1:
        return f"{text}*{field.describe()}*"
    head = "*an array, each item one of*\n\n" if isinstance(field.shape, ListShape) else ""
    meanings = [(name, what, name == value) for name, what in shape.meanings.items()]
    if field.nullable:
        meanings.append(("null", field.null_means or "", is_null))
    bullets = (
        f"- {f'**`{name}`**' if stands_there else f'`{name}`'} — {what}"
        for name, what, stands_there in meanings
    )
    return text + head + "\n".join(bullets)


def about_null(at: referents.Pointed) -> str | None:
    """The meaning of a null that stands there."""
    field = at.field
    if field is None or field.null_means is None or not at.is_null:
        return None
    if isinstance(field.shape, OneOfShape):
        return None  # it stands among the other values
    return f"`null`: {field.null_means}."


# Numbers


_SHORTENED: Mapping[str, Callable[[int], str]] = {"milliseconds": duration, "bytes": byte_size}
_LONG = 1000
"""Smaller numbers are easy to read."""


def about_quantity(at: referents.Pointed) -> str | None:
    """A number with a unit; None if there is nothing to add to it."""
    field, value = at.field, at.value
    if field is None or not field.unit or not isinstance(value, int) or isinstance(value, bool):
        return None
    parts = []
    if abs(value) >= _LONG:
        parts.append(
            f"= {in_full(value)} {field.unit} · {_SHORTENED.get(field.unit, compact)(value)}"
        )
    record = at.analysis.index.provenance
    if record is not None and field.name in record.measured(at.line):
        parts.append("Measured, as the record beside the trace says.")
    clock = _clock(at, value) if at.place == Place.value("wall_clock_ms") else None
    return "\n\n".join([*parts, clock] if clock else parts) or None


def _clock(at: referents.Pointed, value: int) -> str | None:
    found = measured(at.analysis, at.line)
    if found is None:
        return None
    between = f"from {at.link(found.start)} to {at.link(found.end)}"
    text = f"The clock says **{duration(found.measured_ms)}**, {between}"
    if not is_off(at.analysis, found):
        return f"{text}."
    how = "less" if found.excess_ms > 0 else "more"
    return f"{text}: {duration(abs(found.measured_ms - value))} {how}."


def measured(analysis: Analysis, line: Line) -> TimeSpan | None:
    """The claimed duration of a dispatch or round, and the one by the timestamps."""
    return span_ended_by(analysis.index.runs[line.run], line) if line.event is not None else None


def is_off(analysis: Analysis, found: TimeSpan) -> bool:
    """Whether a claimed duration is far from the one by the timestamps, by the options of the rules
    that compare them, even if these rules are off.
    """
    exceeds = found.excess_ms > 0
    module = wall_clock_exceeds_timestamps if exceeds else wall_clock_below_timestamps
    options = analysis.settings.values(module.RULE).items()
    return found.is_off(**{name: float(value) for name, value in options})


# Moments


_DAY = 86_400
_UNITS = ((365 * _DAY, "year"), (30 * _DAY, "month"), (_DAY, "day"), (3600, "hour"), (60, "minute"))


def about_moment(at: referents.Pointed) -> str | None:
    """A timestamp in words; None if it is invalid."""
    if not isinstance(at.value, str):
        return None
    when = times.moment(at.value)
    if when is None:
        return None
    try:
        utc = when.astimezone(UTC)
        text = f"**{utc:%A} {utc.day} {utc:%B %Y, %H:%M:%S} UTC**{_local(at, when)}"
    except (OverflowError, ValueError, OSError):  # at the limits of the calendar
        return None
    now = at.options.now
    lines = [text + (f" · {_related(when, now)}" if now is not None else "")]
    for what, line in _landmarks(at):
        passed = times.milliseconds_between(line.text_fact("ts"), at.value)
        if passed is not None:
            sign = "+" if passed >= 0 else ""
            lines.append(f"- **{sign}{duration(passed)}** since {what} ({at.link(line)})")
    return "\n".join([lines[0], "", *lines[1:]]).rstrip()


def _landmarks(at: referents.Pointed) -> Iterator[tuple[str, Line]]:
    """Earlier events: the starts of its run and its dispatch, and the event before."""
    run = referents.run_at(at.analysis, run_of(at.line))
    if run is None:
        return
    seen = [at.line]
    first, start, before = run.lines[0], _dispatch_start(at), run.lines.before(at.line)
    name = code(start.text_fact("dispatch_name"), 60) if start is not None else ""
    for what, line in (("the run's start", first), (f"the start of {name}", start)):
        if line is not None and line.order < at.line.order and line not in seen:
            seen.append(line)
            yield what, line
    if before is not None and before not in seen:
        yield "the event before", before


def _dispatch_start(at: referents.Pointed) -> Line | None:
    found = referents.dispatch_of(at.analysis, at.line)
    return found.starts.before(at.line) if found is not None else None


def _local(at: referents.Pointed, when: datetime) -> str:
    """The reader's time, unless it is the same."""
    local = when.astimezone(at.options.zone)
    offset = local.utcoffset()
    if not offset:
        return ""
    minutes = int(offset.total_seconds()) // 60
    zone = f"UTC{'+' if minutes >= 0 else '−'}{abs(minutes) // 60}"
    zone += f":{abs(minutes) % 60:02}" if minutes % 60 else ""
    day = "" if local.date() == when.astimezone(UTC).date() else f"{local:%A} "
    return f" · {day}{local:%H:%M} local ({zone})"


def _related(when: datetime, now: datetime) -> str:
    seconds = int((now - when).total_seconds())
    for size, unit in _UNITS:
        if abs(seconds) >= size:
            count = plural(abs(seconds) // size, unit)
            return f"{count} ago" if seconds > 0 else f"in {count}"
    return "just now"


# Hints


MOST_LINES = 1000
"""Editors request what a window shows. Of a longer range, the first lines get hints."""
_ALL_HINTS = HintOptions()
_SHORT_NAME = 24
_NUMBER = re.compile(r"\b[A-Z][0-9]{1,3}[a-z]?(?:\.[0-9]{1,3})?(?: R[0-9]{1,3})?\b")
_SHORT_NUMBER = 1000
_SHORT_SIZE = 10_000
"""Smaller numbers need no hint."""


def inlay_hints(
    view: View,
    where: types.Range,
    options: HintOptions = _ALL_HINTS,
    explained_later_of: str | None = None,
) -> list[types.InlayHint]:
    """The hints of the lines in a range. With the URI of an open trace, their explanations can be
    requested later.
    """
    document = view.document
    first = point_at(view, where.start).record
    last = min(point_at(view, where.end).record, first + MOST_LINES - 1)
    hints = []
    for record in range(first, last + 1):
        line = document.lines[record]
        above = document.lines[record - 1] if record else None
        for place, label, field in sorted(_of_line(view.analysis, line, above, options)):
            position = types.Position(*document.position_of(Point(record, place), view.encoding))
            data = {"uri": explained_later_of, "order": line.order, "field": field}
            hint = types.InlayHint(position, label, padding_left=True)
            hint.data = data if explained_later_of is not None else None
            hints.append(hint)
    return hints


def resolve_hint(analysis: Analysis | None, hint: types.InlayHint) -> types.InlayHint:
    """A hint with its explanation. If its line has changed meanwhile, the hint stays as it is."""
    data = hint.data if isinstance(hint.data, dict) else {}
    order, name = data.get("order"), data.get("field")
    if analysis is None or not isinstance(name, str) or not isinstance(order, int):
        return hint
    lines = analysis.document.lines
    line = lines[order] if 0 <= order < len(lines) else None
    event = event_of(line) if line is not None else None
    field = event.fields.get(name) if event is not None else None
    if line is None or field is None:
        return hint
    value = _values(line).get(name)
    if str(hint.label) not in (_hint_label(analysis, line, field, value, _ALL_HINTS) or ""):
        return hint
    place = Place(Part.VALUE, (name,))
    about = about_value(
        referents.Pointed(
            analysis, line, place, event, field, value, value is None, referents.HoverOptions()
        )
    )
    hint.tooltip = without_markup(about) if about is not None else None
    return hint


def _of_line(
    analysis: Analysis, line: Line, above: Line | None, options: HintOptions
) -> Iterator[tuple[int, str, str]]:
    """The hints of a line: the code point before each, its label and its field. What an id names
    is said where it is another than on the line above.
    """
    event = event_of(line)
    if event is None:
        return
    known = _values(above) if above is not None and run_of(above) == run_of(line) else {}
    for name, value in _values(line).items():
        field = event.fields.get(name)
        if field is None or not (field.unit or field.names) or referents.introduces(event, field):
            continue
        if field.names and known.get(name) == value:
            continue
        label = _hint_label(analysis, line, field, value, options)
        pair = pair_at(line.text, (name,)) if label else None
        if label and pair is not None and pair.value is not None:
            yield pair.value.end, label, name


def _values(line: Line) -> Mapping[str, object]:
    """The fields of a line, as far as it can be read."""
    if line.event is not None:
        return reading.values_of(line)
    return object_on(line) if line.is_rejected else {}


def _hint_label(
    analysis: Analysis, line: Line, field: FieldType, value: object, options: HintOptions
) -> str | None:
    if isinstance(value, str):
        found = referents.referent_of(analysis, line, field, value) if options.names else None
        name = found.name_for(line) if found is not None else None
        return _short_name(name) if name else None
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    if field.unit == "milliseconds":
        return " · ".join(_times(analysis, line, field, value, options)) or None
    if field.unit == "tokens":
        return compact(value) if options.tokens and value >= _SHORT_NUMBER else None
    if field.unit == "bytes":
        return byte_size(value) if options.sizes and abs(value) >= _SHORT_SIZE else None
    return None


def _short_name(name: str) -> str:
    """The number that a plan gives a dispatch, if its name has one: ``D4``, ``D4 R1``."""
    number = _NUMBER.search(name)
    return number[0] if number else printable(name, _SHORT_NAME)


def _times(
    analysis: Analysis, line: Line, field: FieldType, value: int, options: HintOptions
) -> Iterator[str]:
    """A duration in hours and minutes, and the one by the timestamps if that is far from it."""
    if options.durations and value >= _SHORT_NUMBER:
        yield duration(value)
    found = measured(analysis, line) if options.clock else None
    if found is not None and field.name == "wall_clock_ms" and is_off(analysis, found):
        yield f"clock says {duration(found.measured_ms)}"
