"""Draws the timeline of a run as SVG.

Widths are shares of the drawing, so that the page's script zooms by making it wider and draws
nothing itself. What needs more room than there is has a level of zoom, from which on it is shown.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import NamedTuple

from drive_trace.report.chart import (
    REJECTED,
    Bar,
    Chart,
    ChartMark,
    Cluster,
    Levels,
    RoundBar,
    TimeAxis,
    room_of,
    together,
)
from drive_trace.report.sections import Places
from drive_trace.scorecard.caveats import LineRef
from drive_trace.scorecard.dispatches import SPANNING, Outcome
from drive_trace.text.document import Html
from drive_trace.text.html import Attribute, scrolling, tag
from drive_trace.text.wording import duration, listed, plain
from drive_trace.vocabulary import EVENTS

_MARKS = 46
_LANES = 58
_LANE = 40
_MOST_NAME = 60
_CHARACTERS = 240
"""That fit into a drawing on the widest desk."""
_LABEL = 76 / 616
"""From one tick to the next, also where a phone leaves the drawing this many pixels; and what is
written in the middle of less than this, at either end, does not fit into the drawing.
"""
_STEPS = tuple(
    each * 1000 for each in (86_400, 43_200, 21_600, 10_800, 3600, 1800, 900, 300, 60, 30, 15, 5, 1)
)
_DAY = 86_400_000
_MOST_DAYS = 1000
"""Of one stretch that are named."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LAST = datetime.max.replace(tzinfo=UTC) - _EPOCH
"""An event may be said to have taken until later."""
GLYPHS: dict[str, str] = {REJECTED: "✕", Outcome.HALTED: "■", Outcome.AGAIN: "↻"} | {
    event.name: event.glyph for event in EVENTS.values() if event.name not in SPANNING
}
"""The mark of what is no bar, in the order of the legend."""
_TEXTURES = {
    "failed": (10, "M-2,8 8,-2 M4,14 14,4"),
    "again": (8, "M4,0V8"),
    "halted": (8, "M0,4H8 M4,0V8"),
    "fold": (6, "M-1,5 5,-1 M2,8 8,2"),
}
"""What fills a bar of such an outcome, or a fold: the size of the pattern, and its lines."""
_HOW_TO_ZOOM = (
    "Drag or Ctrl with the wheel zooms; so do + and −, and 0 shows all. Arrows walk, Enter "
    "leads to the line."
)
_DWARFS = 10
"""A log scale is offered where a dispatch is longer than so many of the usual length."""
_KEY = {
    Outcome.PASSED: ("✓", "completed, satisfied"),
    Outcome.AGAIN: ("↻", "another round needed"),
    Outcome.FAILED: ("✗", "failed"),
    Outcome.HALTED: ("■", "aborted, escalated, stopped"),
    Outcome.OPEN: ("…", "no end recorded"),
}


def textures() -> Html:
    """What the bars of a page are filled with; once a page."""
    made = []
    for name, (size, lines) in _TEXTURES.items():
        parts = tag("rect", width=size, height=size), tag("path", d=lines, class_="ink")
        names = {"id": f"t-{name}", "class_": f"t-{name}"}
        units: dict[str, Attribute] = {
            "width": size,
            "height": size,
            "patternUnits": "userSpaceOnUse",
        }
        made.append(tag("pattern", *parts, **names, **units))
    return tag("svg", tag("defs", made), class_="textures", aria_hidden="true")


def _bar(kind: str, **places: Attribute) -> Html:
    """A rectangle in the colour and texture of its kind."""
    fill = f"url(#t-{kind})" if kind in _TEXTURES else None
    return tag("rect", **places, class_=kind, fill=fill)


def key(charts: Iterable[Chart]) -> Html:
    """What the shapes that occur mean."""
    outcomes, kinds = set[Outcome](), set[str]()
    has_claims = has_stale = False
    for chart in charts:
        outcomes.update(each.outcome for each in chart.drawn())
        kinds.update(kind for mark in chart.marks for kind in mark.kinds)
        has_claims |= any(bar.claimed is not None for bar in chart.bars)
        has_stale |= chart.stale_from is not None
    parts = [
        tag("li", _swatch(outcome), f" {sign} {words}")
        for outcome, (sign, words) in _KEY.items()
        if outcome in outcomes
    ]
    if has_claims:
        parts.append(tag("li", _swatch("claimed"), " as claimed, under what the clock says"))
    if has_stale:
        parts.append(tag("li", _swatch("stale"), " after the grade, which is stale"))
    parts += (
        tag("li", f"{glyph} {_called(kind)}")
        for kind, glyph in GLYPHS.items()
        if kind in kinds and kind not in outcomes
    )
    return tag("ul", parts, class_="key")


def _swatch(kind: str) -> Html:
    bar = _bar(kind, x=1, y=1, width=20, height=3 if kind == "claimed" else 10)
    return tag("svg", bar, width=22, height=12, aria_hidden="true")


def timeline_chart(
    chart: Chart, name: str, number: int, places: Places, said: Mapping[LineRef, str]
) -> Html:
    """The timeline with what zooms it. ``said`` are the reasons of halts, by their lines."""
    title = f"Timeline of {plain(name, _MOST_NAME)}"
    height = _LANES + max(chart.lanes, 1) * _LANE + 18
    first, last = chart.axis.moments[0], chart.axis.moments[-1]
    count = len(chart.bars)
    described = (
        f"{count:,} dispatch{'es' * (count != 1)} from {as_date(first)} {as_time(first)} "
        f"to {as_date(last)} {as_time(last)} UTC."
    )
    drawing = tag(
        "svg",
        tag("title", title),
        tag("desc", described),
        *_ground(chart, height),
        tag("g", [_mark(each, places, said) for each in chart.marks], class_="marks"),
        tag("g", _bars(chart, places), class_="bars"),
        class_="timeline",
        height=height,
        role="group",
        aria_label=f"{title}: {described}",
    )
    names = [tag("li", tag("bdi", plain(each, 200))) for each in chart.names]
    beside = tag("ul", names, class_="names", aria_hidden="true") if names else None
    lanes = tag("div", beside, scrolling(title, drawing), class_="lanes")
    parts = _controls(chart, number), lanes
    folds = " ".join(f"{each.left},{each.right},{each.milliseconds}" for each in chart.axis.folds)
    axis: dict[str, Attribute] = {"data_scale": chart.axis.scale, "data_folds": folds}
    return tag("div", *parts, class_="chart", data_levels=chart.axis.levels, **axis)


def _controls(chart: Chart, number: int) -> Html:
    widths = sorted(bar.right - bar.left for bar in chart.bars)
    is_dwarfed = bool(widths) and widths[-1] > _DWARFS * widths[len(widths) // 2]
    switches = {"clock": "Unfold idle time"} if chart.axis.folds else {}
    switches |= {"log": "Log scale"} if is_dwarfed else {}
    buttons = [
        tag("button", words, type="button", data_axis=kind, aria_pressed="false")
        for kind, words in switches.items()
    ]
    for sign, factor, what in (("+", 2, "Zoom in"), ("−", 0.5, "Zoom out"), ("all", 0, "Show all")):
        label = f"{what}, timeline {number + 1}"
        buttons.append(tag("button", sign, type="button", data_zoom=factor, aria_label=label))
    said = tag("span", _HOW_TO_ZOOM, class_="soft"), tag("output")
    return tag("p", buttons, *said, class_="scripted zoom")


def _ground(chart: Chart, height: int) -> Iterator[Html]:
    if chart.stale_from is not None:
        width = _share(1 - chart.stale_from)
        after = tag("title", "after the grade, which is stale")
        x = _share(chart.stale_from)
        yield tag("rect", after, x=x, y=0, width=width, height=height, class_="stale")
    folds = sorted(chart.axis.folds, key=lambda fold: -fold.milliseconds)
    levels = Levels(_LABEL, chart.axis.levels)
    for fold in folds:
        middle = min(max((fold.left + fold.right) / 2, _LABEL / 2), 1 - _LABEL / 2)
        found = levels.take(middle)
        level = chart.axis.levels if found is None else found
        x, width = _share(fold.left), _share(fold.right - fold.left)
        yield _bar("fold", x=x, width=width, y=_LANES - 8, height=height - 10 - _LANES)
        words, kind = f"// {duration(fold.milliseconds)}", f"soft{_from(level)}"
        at = _share(middle)
        yield tag("text", words, x=at, y=height - 5, text_anchor="middle", class_=kind)
    for day in days(chart.axis):
        shown = f"day {_between(day.level, day.until) or ''}".rstrip()
        is_last = day.place + _LABEL / 2**day.level > 1
        x, anchor = ("100%", "end") if is_last else (_share(day.place), "start")
        yield tag("text", day.words, x=x, y=12, text_anchor=anchor, class_=shown)
    for tick in ticks(chart.axis):
        x, kind = _share(tick.place), _from(tick.level)
        yield tag("line", x1=x, x2=x, y1=18, y2=height - 18, class_=f"grid{kind}")
        yield tag("text", as_time(tick.moment), x=x, y=28, class_=f"soft tick{kind}")


def _called(kind: str) -> str:
    known = {REJECTED: "rejected line"} | {str(each): words for each, (_, words) in _KEY.items()}
    return known.get(kind, kind)


def _mark(mark: ChartMark, places: Places, said: Mapping[LineRef, str]) -> Html:
    """The signs of what happened; where there is no room for all, how many more there are."""
    signs, more = "".join(GLYPHS[kind] for kind in mark.kinds), len(mark.lines) - len(mark.kinds)
    is_one, is_last = len(mark.lines) == 1, mark.until is None
    is_end = not is_one and mark.place + room_of(len(mark.lines), mark.level) > 1
    kind = "" if is_one else "end " if is_end else "some "
    kind += "cluster " * (not is_one and not is_last) + "rejected " * (REJECTED in mark.kinds)
    text = tag(
        "text",
        signs + f"+{more}" * (more > 0),
        x="100%" if is_end else _share(mark.place),
        y=_MARKS,
    )
    about = said.get(mark.lines[0], "")
    words = f"{_called(mark.kinds[0])} · line {mark.lines[0].line}{about and f': {about}'}"
    if not is_one:
        words = f"{len(mark.lines):,} events: {listed(map(_called, mark.kinds))}" + ", …" * bool(
            more
        )
    shown = f"{kind}{_between(mark.level, mark.until) or ''}".strip() or None
    there, here = places.id_of(mark.lines[0]), places.id_of(mark.lines[0], "b")
    title = tag("title", plain(words, 500))
    return tag("a", title, text, href=f"#{there}", id=here if is_last else None, class_=shown)


def _between(level: int, until: int | None) -> str | None:
    """The class of what is shown from a level of zoom on until another one."""
    return f"{_from(level)}{f' u{until}' if until else ''}".strip() or None


def _bars(chart: Chart, places: Places) -> Iterator[Html]:
    yield from (_cluster(each, places) for each in chart.clusters)
    yield from (_dispatch(each, places, chart) for each in chart.bars)


def _cluster(cluster: Cluster, places: Places) -> Html:
    """A stack in which each outcome has its share, with how many bars it stands for."""
    counts = Counter(bar.look for bar in cluster.bars)
    first, *others = (outcome for outcome in Outcome if outcome in counts)
    whole, top, stack = len(cluster.bars), 17, list[Html]()
    for outcome in (*others, first):
        height = top if outcome is first else max(3, 17 * counts[outcome] // whole)
        top -= height
        stack.append(_bar(outcome, width="100%", y=top, height=height))
    if whole > 1:
        stack.append(tag("text", f"{whole:,}", x="50%", y=13, text_anchor="middle"))
        said = listed(f"{counts[each]:,} {_KEY[each][1].partition(',')[0]}" for each in counts)
        words, kind = f"{whole:,} dispatches: {said}", "cluster "
    else:
        words, kind = cluster.bars[0].words, ""
    x, width = _share(cluster.left), _share(cluster.right - cluster.left)
    box = tag("svg", stack, x=x, y=_LANES + cluster.lane * _LANE, width=width, height=17)
    kind += _between(cluster.level, cluster.level + 1) or ""
    title, lines = tag("title", plain(words, 300)), cluster.bars[0].lines
    there = f"#{places.id_of(lines[0])}" if lines else None
    return tag("a", title, box, href=there, class_=kind)


def _dispatch(bar: Bar, places: Places, chart: Chart) -> Html:
    y = _LANES + bar.lane * _LANE
    x, width = _share(bar.left), _share(bar.right - bar.left)
    works = None if bar.rounds else ""
    whole = _bar(bar.outcome, width="100%", height=17)
    # No more of the name than there is ever room for.
    room = int((bar.right - bar.left) * 2**chart.axis.levels * _CHARACTERS)
    again = f" ↻{bar.round_starts}" * (bar.round_starts > 1)
    name = "" if chart.names else plain(bar.name, min(max(room, 1), _MOST_NAME))
    name = f"{_KEY[bar.outcome][0]}{again} {name}".rstrip()
    label = tag("text", name, x=4, y=13)
    box = tag("svg", whole, label, x=x, y=y, width=width, height=17, data_works=works)
    rounds = [_round(each, y + 19, places) for each in bar.rounds]
    if bar.claimed is not None:
        width = _share(max(bar.claimed - bar.left, 0))
        rounds.append(tag("rect", x=x, y=y + 31, width=width, height=3, class_="claimed"))
    parts = _link(box, bar.words, bar.lines, places), rounds
    return tag("g", *parts, "\n", class_=_between(bar.level, None))


def _round(piece: RoundBar, y: int, places: Places) -> Html:
    x, width = _share(piece.left), _share(piece.right - piece.left)
    rect = _bar(piece.outcome, x=x, y=y, width=width, height=10, data_works="")
    return _link(rect, piece.words, piece.lines, places, _between(piece.level, None))


def _link(
    shape: Html, words: str, lines: Sequence[LineRef], places: Places, shown: str | None = None
) -> Html:
    """A shape that leads to its first line; a dispatch that only rounds name has none."""
    title = tag("title", plain(words, 300))
    if not lines:
        return tag("g", title, shape)
    line = lines[0]
    there, here = f"#{places.id_of(line)}", places.id_of(line, "b")
    return tag("a", title, shape, href=there, id=here, class_=shown)


def _from(level: int) -> str:
    """The class of what is shown from a level of zoom on."""
    return f" z{level}" if level else ""


def _share(share: float) -> str:
    return f"{share * 100:.3f}".rstrip("0").rstrip(".") + "%"


# Ticks and dates


class DayLabel(NamedTuple):
    """A date, or those from one to another where there is room for one label alone."""

    place: float
    words: str
    level: int
    """Of zoom, from which on it is shown ..."""
    until: int | None
    """... and from which on it is no more."""


class Tick(NamedTuple):
    """A round moment, with the level of zoom from which on there is room for it."""

    place: float
    moment: int
    level: int


def ticks(axis: TimeAxis) -> list[Tick]:
    """Round moments, the roundest first, as many as there is room for at each level of zoom."""
    levels = Levels(_LABEL, axis.levels)
    found = []
    folded = {each.left for each in axis.folds}
    segments = [
        (start, end, left, right)
        for (start, end), (left, right) in zip(
            pairwise(axis.moments), pairwise(axis.places), strict=True
        )
        if left not in folded
    ]
    for step in _STEPS:
        for start, end, left, right in segments:
            width = (right - left) * step / (end - start)
            if width * 2**axis.levels < _LABEL and end - start > step:
                continue
            for moment in range(-(-start // step) * step, end + 1, step):
                place = left + (right - left) * (moment - start) / (end - start)
                level = levels.take(place)
                if level is not None and place < 1 - _LABEL / 2 ** (level + 1):
                    found.append(Tick(place, moment, level))
    return found


def days(axis: TimeAxis) -> list[DayLabel]:
    """Where each day begins that the axis crosses, at each level of zoom: none is without a name,
    and those without room are the end of the one before. What a fold hides of days is spanned.
    """
    begun: dict[int, float] = {}
    folded = {each.left for each in axis.folds}
    ends = zip(pairwise(axis.moments), axis.places, strict=False)
    for (start, end), left in ends:
        begun.setdefault(start // _DAY, left)
        if left not in folded:
            for day in range(start // _DAY + 1, end // _DAY + 1)[:_MOST_DAYS]:
                begun.setdefault(day, axis.place(day * _DAY))
    begun.setdefault(axis.moments[-1] // _DAY, axis.places[-1])
    known, rooms = [*begun], (_LABEL, 2 * _LABEL, 2 * _LABEL)
    found = []
    for first, end, level, until in together([*begun.values()], axis.levels, rooms):
        words, last = as_date(known[first] * _DAY), as_date(known[end - 1] * _DAY)
        if end - first > 1:
            words += f" – {last.removeprefix(words[:5])}"
        found.append(DayLabel(begun[known[first]], words, level, until))
    return found


def as_date(moment: int) -> str:
    """``2026-06-08``."""
    return _at(moment).strftime("%Y-%m-%d")


def as_time(moment: int) -> str:
    """``14:05``, with seconds where there are some."""
    at = _at(moment)
    return at.strftime("%H:%M:%S" if at.second else "%H:%M")


def _at(moment: int) -> datetime:
    return _EPOCH + min(timedelta(milliseconds=moment), _LAST)
