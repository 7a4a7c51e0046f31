"""Plain SVG charts. Each has a title and a description; a table beside it says the same."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from drive_trace.report.figures import dispatch_name, short_time
from drive_trace.report.html.markup import Html, scrolling, tag
from drive_trace.report.timeline import DispatchSpan, RoundSpan
from drive_trace.text.escaping import plain
from drive_trace.text.wording import duration
from drive_trace.trace.times import moment

_WIDTH = 900
_LABELS = 250
"""Where the bars begin."""
_RIGHT = 90
"""What is left free for figures behind them."""
_ROW = 26
_TOP = 22
_MILLISECOND = timedelta(milliseconds=1)


class Bar(NamedTuple):
    """One bar of a bar chart; the label is untrusted."""

    label: str
    value: int
    phrase: str


class _Axis(NamedTuple):
    """Milliseconds from ``start`` on, over the width of the bars."""

    start: datetime
    length: int

    def offset(self, ts: str | None) -> int | None:
        """Milliseconds from the start of the axis."""
        at = moment(ts) if ts is not None else None
        return None if at is None else (at - self.start) // _MILLISECOND

    def x(self, offset: int) -> float:
        share = min(max(offset, 0), self.length) / self.length
        return round(_LABELS + share * (_WIDTH - _LABELS - _RIGHT), 1)


def bar_chart(id_: str, title: str, description: str, bars: Sequence[Bar]) -> Html:
    """Horizontal bars, all against the longest."""
    longest = max((bar.value for bar in bars), default=0)
    room = _WIDTH - _LABELS - _RIGHT
    rows = []
    for number, bar in enumerate(bars):
        y = _TOP - 12 + number * _ROW
        width = round(room * (bar.value / longest), 1) if longest else 0
        rows.append(
            tag(
                "g",
                _label(bar.label, y),
                tag("rect", x=_LABELS, y=y + 5, width=width, height=12, class_="clock"),
                tag("text", bar.phrase, x=_LABELS + width + 6, y=y + 15),
            )
        )
    return _svg(id_, title, description, _TOP + len(bars) * _ROW, rows)


def timeline_chart(id_: str, title: str, dispatches: Sequence[DispatchSpan]) -> Html | None:
    """Dispatches against time: rounds by the clock above, what was claimed below. None where no
    dispatch has a time that can be read.
    """
    axis = _axis(dispatches)
    if axis is None:
        return None
    height = _TOP + len(dispatches) * _ROW + 6
    rows = [
        _dispatch(axis, dispatch, _TOP + number * _ROW)
        for number, dispatch in enumerate(dispatches)
    ]
    description = (
        f"{len(dispatches)} dispatches from {axis.start.isoformat()} on, over "
        f"{duration(axis.length)}. The upper bar of each is its time by the clock, with a piece "
        "for every round; the lower one is the time that the trace claims."
    )
    return _svg(id_, title, description, height, [*_ticks(axis, height), *rows])


def _axis(dispatches: Sequence[DispatchSpan]) -> _Axis | None:
    spans: list[DispatchSpan | RoundSpan] = [*dispatches]
    spans += [each for dispatch in dispatches for each in dispatch.rounds]
    stamps = [ts for span in spans for ts in (span.started, span.ended) if ts is not None]
    moments = [at for ts in stamps if (at := moment(ts)) is not None]
    if not moments:
        return None
    first = min(moments)
    clock = (max(moments) - first) // _MILLISECOND
    claims = [
        (begin - first) // _MILLISECOND + span.claimed_ms
        for span in dispatches
        if span.claimed_ms is not None and (begin := moment(span.started or "")) is not None
    ]
    # A claim may be far out; it must not squeeze all that the clock has seen.
    longest = max([clock, *(min(claim, 2 * clock or 86_400_000) for claim in claims)])
    return _Axis(first, max(longest, 1))


def _ticks(axis: _Axis, height: int) -> list[Html]:
    ticks = []
    for part in range(5):
        offset = axis.length * part // 4
        x = axis.x(offset)
        ticks.append(tag("line", x1=x, x2=x, y1=_TOP - 6, y2=height, class_="grid"))
        ticks.append(
            tag("text", f"+{duration(offset)}" if offset else "start", x=x, y=12, class_="soft")
        )
    return ticks


def _dispatch(axis: _Axis, dispatch: DispatchSpan, y: int) -> Html:
    parts = [_label(dispatch_name(dispatch), y)]
    begin, end = axis.offset(dispatch.started), axis.offset(dispatch.ended)
    if begin is not None:
        parts.append(_bar(axis, begin, end, y + 4, "clock" if end is not None else "open"))
        if dispatch.claimed_ms is not None:
            parts += _claim(axis, begin, dispatch.claimed_ms, y + 15)
    for number, each in enumerate(dispatch.rounds):
        start, stop = axis.offset(each.started), axis.offset(each.ended)
        if start is not None and stop is not None:
            parts.append(_bar(axis, start, stop, y + 4, "clock" if number % 2 else "clock even"))
    if begin is None:
        parts.append(tag("text", "no time recorded", x=_LABELS, y=y + 15, class_="soft"))
    return tag("g", parts, "\n")


def _claim(axis: _Axis, begin: int, claimed: int, y: int) -> list[Html]:
    bar = _bar(axis, begin, begin + claimed, y, "claimed", height=4)
    if begin + claimed <= axis.length:
        return [bar]
    phrase = f"▸ {short_time(claimed)} claimed"
    return [bar, tag("text", phrase, x=_WIDTH - 4, y=y - 3, text_anchor="end")]


def _bar(  # noqa: PLR0913 - a rectangle has as many
    axis: _Axis, begin: int, end: int | None, y: int, kind: str, *, height: int = 9
) -> Html:
    left, right = axis.x(begin), axis.x(axis.length if end is None else end)
    width = max(round(right - left, 1), 1.0)
    return tag("rect", x=left, y=y, width=width, height=height, class_=kind)


def _label(text: str, y: int) -> Html:
    return tag("text", plain(text, 38), x=8, y=y + 15, unicode_bidi="isolate")


def _svg(id_: str, title: str, description: str, height: int, content: Sequence[Html]) -> Html:
    drawing = tag(
        "svg",
        tag("title", title, id=f"{id_}-title"),
        tag("desc", description, id=f"{id_}-desc"),
        content,
        viewBox=f"0 0 {_WIDTH} {height}",
        role="img",
        aria_labelledby=f"{id_}-title {id_}-desc",
    )
    return scrolling(title, drawing)
