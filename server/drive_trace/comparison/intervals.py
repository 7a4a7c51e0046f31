"""Draws the 95 % intervals of a comparison."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from drive_trace.comparison.statistics import Interval
from drive_trace.text.document import Html
from drive_trace.text.escaping import plain
from drive_trace.text.html import join, tag

_LEFT, _WIDTH, _ROW = 20, 320, 34


class Drawn(NamedTuple):
    """A point with its interval, to be drawn; None is not known, and not drawn."""

    label: str
    """Untrusted."""
    value: float | None
    interval: Interval | None


def intervals(title: str, drawn: Sequence[Drawn], farthest: float | None) -> Html:
    """A line for each interval below its name, and a square at its value. Where the values are
    ratios, ``farthest`` is the largest: they go from its inverse to it. None for shares.
    """
    marks = (0, 0.5, 1) if farthest is None else (1 / farthest, 1, farthest)

    def x(value: float) -> float:
        share = value if farthest is None else (math.log(value, farthest) + 1) / 2
        return round(_LEFT + _WIDTH * min(max(share, 0.0), 1.0), 1)

    bottom = _ROW * len(drawn)
    shapes = []
    for at in marks:
        kind = "axis" if farthest is None or at != 1 else "same"
        shapes.append(tag("line", x1=x(at), x2=x(at), y1=0, y2=bottom, class_=kind))
        said, y = f"{at:.2f}", bottom + 14
        shapes.append(tag("text", said, x=x(at), y=y, text_anchor="middle", class_="soft"))
    for number, each in enumerate(drawn):
        y = _ROW * number + 24
        shapes.append(tag("text", plain(each.label, 50), x=_LEFT, y=y - 10))
        if each.interval is not None:
            low, high = each.interval
            shapes.append(tag("line", x1=x(low), x2=x(high), y1=y, y2=y))
        if each.value is not None:
            shapes.append(tag("rect", x=x(each.value) - 3, y=y - 3, width=6, height=6))
    box = f"0 0 {2 * _LEFT + _WIDTH} {bottom + 20}"
    label = f"{title}: 95 % intervals, which the table below has"
    return tag("svg", join(shapes), viewBox=box, class_="intervals", role="img", aria_label=label)
