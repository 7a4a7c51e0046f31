"""``textDocument/hover``: the meaning of a token, and the scorecard of its run."""

from __future__ import annotations

from itertools import islice

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
from drive_trace.linter.rule import Finding
from drive_trace.text.escaping import code
from drive_trace.text.spans import PositionEncoding, Span
from drive_trace.trace.document import Point
from drive_trace.trace.line import Line, event_of
from drive_trace.trace.mentions import run_id_of
from drive_trace.trace.places import Part, node_at, path_at, resolve, syntax_of
from drive_trace.vocabulary import ENVELOPE, GRADE, Form, StringShape

_RULE = "\n\n---\n\n"
_ALONE = HoverOptions()
_MOST_FINDINGS = 5
_LONGEST_MESSAGE = 400
"""In characters."""


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
    span = resolve(line.text, at.place)
    wrong = _findings(at, span) if options.messages else ""
    # The verdict stands first, and right below it what is wrong with the token.
    verdict, _, scorecard = (card(at) or "").partition("\n\n")
    # The meaning of what is in no vocabulary would say the same once more.
    about = _about(at, has_card=bool(verdict)) if at.field is not None or not wrong else ""
    first = "\n\n".join(part for part in (verdict, wrong, scorecard) if part)
    text = _RULE.join(part for part in (first, about) if part)
    if not text:
        return None
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


def _about(at: Pointed, *, has_card: bool) -> str | None:
    """The meaning of the value, then that of its field, unless a run's card is shown and the field
    is one of every event.
    """
    if at.place.path == ("event_type",) and at.place.part is Part.VALUE:
        return about_event(at.event) if at.event is not None else about_unknown_event(at)
    if at.field is None:
        return about_undeclared(at)
    is_common = has_card and at.field.name in ENVELOPE
    parts = (about_value(at), None if is_common else _about_field(at))
    return "\n\n".join(part for part in parts if part)


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
    """What is wrong with the token, and what its most likely fix would do."""
    found = (
        finding
        for finding in at.analysis.findings_of(at.line)
        if _touches(at.analysis.where(finding).span, span)
    )
    return "\n\n".join(_finding(at, each) for each in islice(found, _MOST_FINDINGS))


def _finding(at: Pointed, finding: Finding) -> str:
    url = at.options.url_of(finding.rule.code)
    rule = f"[{finding.rule.code}]({url})" if url else f"`{finding.rule.code}`"
    text = code(at.analysis.message(finding.message), _LONGEST_MESSAGE)
    said = f"**{at.analysis.severity_of(finding).label}** {text} ({rule})"
    likely = (f"Fix: {code(fix.title)}" for fix in at.analysis.fixes(finding)[:1])
    return "\n\n".join([said, *likely])


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
