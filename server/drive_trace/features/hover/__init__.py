"""``textDocument/hover``: the meaning of a token, and the scorecard of its run."""

from __future__ import annotations

from lsprotocol import types

from drive_trace.analysis import Analysis
from drive_trace.features.hover.fields import (
    about_event,
    about_field,
    about_null,
    about_undeclared,
    about_unknown_event,
    field_at,
)
from drive_trace.features.hover.pointed import HoverOptions, Pointed
from drive_trace.features.hover.quantities import about_moment, about_quantity
from drive_trace.features.hover.references import about_reference
from drive_trace.features.markup import markup
from drive_trace.features.positions import range_of
from drive_trace.features.runs import JoinedRun, of_one_file
from drive_trace.json_text import NodeKind
from drive_trace.text.escaping import code
from drive_trace.text.spans import PositionEncoding, Span
from drive_trace.trace.document import Point
from drive_trace.trace.line import Line, event_of
from drive_trace.trace.mentions import run_id_of
from drive_trace.trace.places import Part, node_at, path_at, resolve, syntax_of
from drive_trace.vocabulary import GRADE, Form, StringShape

_RULE = "\n\n---\n\n"
_ALONE = HoverOptions()


def hover(
    analysis: Analysis,
    point: Point,
    encoding: PositionEncoding,
    kind: types.MarkupKind = types.MarkupKind.Markdown,
    options: HoverOptions = _ALONE,
) -> types.Hover | None:
    """The hover at a point; None if there is nothing to show."""
    line = analysis.document.lines[point.record]
    at = _pointed(analysis, line, point.offset, options)
    if at is None:
        return None
    parts = [part for part in (card(at), _about(at)) if part]
    if not parts:
        return None
    span = resolve(line.text, at.place)
    text = _RULE.join(parts) + _findings(at, span)
    return types.Hover(
        contents=markup(text, kind),
        range=range_of(analysis, point.record, span, encoding),
    )


def _pointed(analysis: Analysis, line: Line, offset: int, options: HoverOptions) -> Pointed | None:
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
    field = field_at(event, place)
    return Pointed(analysis, line, place, event, field, value, is_null, options)


def _about(at: Pointed) -> str | None:
    """The meaning of the value, then that of its field."""
    if at.place.path == ("event_type",) and at.place.part is Part.VALUE:
        return about_event(at.event) if at.event is not None else about_unknown_event(at)
    if at.field is None:
        return about_undeclared(at)
    return "\n\n".join(part for part in (about_value(at), _about_field(at)) if part)


def _about_field(at: Pointed) -> str:
    assert at.field is not None
    return about_field(at.field, at.value, is_null=at.is_null)


def about_value(at: Pointed) -> str | None:
    """The meaning of a value; None if its field says it all."""
    if at.place.part is not Part.VALUE or at.field is None:
        return None
    shape = at.field.shape
    if isinstance(shape, StringShape) and shape.form is Form.TIMESTAMP:
        return about_moment(at)
    return about_null(at) or about_quantity(at) or about_reference(at)


def _findings(at: Pointed, span: Span) -> str:
    """The rules with findings on the token. Editors show the findings beside the hover."""
    codes = dict.fromkeys(
        finding.rule.code
        for finding in at.analysis.findings_of(at.line)
        if _touches(at.analysis.where(finding).span, span)
    )
    if not codes:
        return ""
    urls = ((code, at.options.url_of(code)) for code in codes)
    named = [f"[{code}]({url})" if url else f"`{code}`" for code, url in urls]
    return f"\n\n{'Rules' if len(named) > 1 else 'Rule'}: {', '.join(named)}"


def _touches(one: Span, other: Span) -> bool:
    """Whether a finding is on a token, not on the line around it."""
    return other.start <= one.start and one.end <= other.end and one.start < other.end


# The scorecard


def card(at: Pointed) -> str | None:
    """The run's scorecard over all its files, on all tokens of feed events and on any run id."""
    event = at.event
    if at.place.path != ("project_run_id",) and (event is None or not event.is_feed):
        return None
    run_id = run_id_of(at.line)
    if run_id is None:
        return None
    run, joined = at.analysis.score_run(run_id), at.options.joined
    if joined is None and run is not None:
        joined = of_one_file(run, at.options.uri)
    if joined is None:
        text = "**not computable — missing: external correctness signal**"
    else:
        text = joined.markdown
    if run is None:
        text += f"\n\nNo valid event of run {code(run_id)} stands in this trace."
    return text + _standing(at, joined)


def _standing(at: Pointed, joined: JoinedRun | None) -> str:
    """Why a line of a feed does not count, if it does not."""
    line, event = at.line, at.line.event
    if line.is_rejected:
        return "\n\nThis line is rejected: it counts for nothing."
    if event is None or not event.is_feed:
        return ""
    following = at.analysis.index.runs[line.run].events(event.name).after(line)
    if following is not None:
        return f"\n\nThis event counts no more: {at.link(following)} supersedes it."
    other = joined.supersedes if joined is not None and event.name == GRADE else None
    return f"\n\nThis event counts no more: {code(other)} supersedes it." if other else ""
