"""Draws the timeline of a run as SVG.

Widths are shares of the drawing, so that the page's script zooms by making it wider and draws
nothing itself. What needs more room than there is has a level of zoom, from which on it is shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from drive_trace.report.chart import REJECTED, Bar, Chart, LineId, Mark, Piece
from drive_trace.report.html.lines import Places
from drive_trace.report.html.markup import Html, scrolling, tag
from drive_trace.report.time_axis import as_date, as_time, days, spaced, ticks
from drive_trace.report.timeline import Outcome
from drive_trace.text.escaping import plain
from drive_trace.text.wording import duration
from drive_trace.vocabulary import EVENTS
from drive_trace.vocabulary.types import Family

_MARKS = 46
_LANES = 58
_LANE = 40
_MAP = 120
"""Columns of the small picture of the whole."""
_MOST_NAME = 60
_GLYPHS = {
    REJECTED: "✕",
    "spec-authored": "◆",
    "spec-amended": "◇",
    "plan-authored": "▲",
    "plan-amended": "△",
    "correctness-recorded": "★",
    "tokens-recorded": "●",
    "brief-issued": "·",
}
_FAMILIES = {Family.FEEDS: "●", Family.LIFECYCLE: "▮"}
_SIGNS = {
    Outcome.PASSED: "✓",
    Outcome.FAILED: "✗",
    Outcome.AGAIN: "↻",
    Outcome.HALTED: "■",
    Outcome.OPEN: "…",
}
_TEXTURED = {
    Outcome.FAILED: "url(#t-failed)",
    Outcome.AGAIN: "url(#t-again)",
    Outcome.HALTED: "url(#t-halted)",
}
_KEY = {
    Outcome.PASSED: "completed, satisfied",
    Outcome.AGAIN: "another round needed",
    Outcome.FAILED: "failed",
    Outcome.HALTED: "aborted, escalated, stopped",
    Outcome.OPEN: "no end recorded",
}


def textures() -> Html:
    """What the bars of a page are filled with; once a page."""
    made = [
        _texture("failed", tag("path", d="M-2,8 8,-2 M4,14 14,4", class_="ink"), 10),
        _texture("again", tag("path", d="M4,0V8", class_="ink"), 8),
        _texture("halted", tag("path", d="M0,4H8 M4,0V8", class_="ink"), 8),
        _texture("fold", tag("path", d="M-1,5 5,-1 M2,8 8,2", class_="ink"), 6),
    ]
    return tag("svg", tag("defs", made), class_="textures", aria_hidden="true")


def _texture(name: str, lines: Html, size: int) -> Html:
    ground = tag("rect", width=size, height=size)
    return tag(
        "pattern",
        ground,
        lines,
        id=f"t-{name}",
        class_=f"t-{name}",
        width=size,
        height=size,
        patternUnits="userSpaceOnUse",
    )


def key() -> Html:
    """What the shapes mean."""
    swatches = [
        tag("li", _swatch(outcome), f" {_SIGNS[outcome]} {words}")
        for outcome, words in _KEY.items()
    ]
    others = "◆ spec ▲ plan (hollow: amended) ★ grade ● tokens ✕ rejected line · other"
    claims = tag("li", _swatch(None), " as claimed, under what the clock says")
    return tag("ul", swatches, claims, tag("li", others), class_="key")


def _swatch(outcome: Outcome | None) -> Html:
    fill = _TEXTURED.get(outcome) if outcome else None
    kind = str(outcome) if outcome else "claimed"
    height = 10 if outcome else 3
    bar = tag("rect", x=1, y=1, width=20, height=height, class_=kind, fill=fill)
    return tag("svg", bar, width=22, height=12, aria_hidden="true")


def timeline_chart(chart: Chart, name: str, number: int, places: Places) -> Html:
    """The timeline with what zooms it."""
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
        tag("g", [_mark(each, places) for each in chart.marks], class_="marks"),
        tag("g", [_dispatch(each, places) for each in chart.bars], class_="bars"),
        class_="timeline",
        height=height,
        role="group",
        aria_label=f"{title}: {described}",
    )
    return tag(
        "div",
        _controls(number),
        _map(chart),
        scrolling(title, drawing),
        class_="chart",
        data_levels=chart.axis.levels,
    )


def _controls(number: int) -> Html:
    words = (
        "Drag or Ctrl with the wheel zooms; so do + and −, and 0 shows all. Arrows walk, Enter "
        "leads to the line."
    )
    buttons = [
        tag(
            "button",
            sign,
            type="button",
            data_zoom=factor,
            aria_label=f"{what}, timeline {number + 1}",
        )
        for sign, factor, what in (
            ("+", 2, "Zoom in"),
            ("−", 0.5, "Zoom out"),
            ("all", 0, "Show all"),
        )
    ]
    return tag("p", buttons, tag("span", words, class_="soft"), class_="scripted zoom")


def _ground(chart: Chart, height: int) -> Iterator[Html]:
    if chart.stale_from is not None:
        width = _share(1 - chart.stale_from)
        after = tag("title", "after the grade, which is stale")
        x = _share(chart.stale_from)
        yield tag("rect", after, x=x, y=0, width=width, height=height, class_="stale")
    folds = sorted(chart.axis.folds, key=lambda fold: -fold.milliseconds)
    levels = spaced(((each.left + each.right) / 2 for each in folds), 52 / 900, chart.axis.levels)
    for fold, level in zip(folds, levels, strict=True):
        x, width = _share(fold.left), _share(fold.right - fold.left)
        yield tag(
            "rect",
            x=x,
            width=width,
            y=_LANES - 8,
            height=height,
            class_="fold",
            fill="url(#t-fold)",
        )
        middle = _share((fold.left + fold.right) / 2)
        words = f"// {duration(fold.milliseconds)}"
        kind = f"soft{_from(level)}"
        yield tag("text", words, x=middle, y=height - 5, text_anchor="middle", class_=kind)
    for day in days(chart.axis):
        words = as_date(day.moment)
        yield tag("text", words, x=_share(day.place), y=12, class_=_from(day.level).strip() or None)
    for tick in ticks(chart.axis):
        x, kind = _share(tick.place), _from(tick.level)
        yield tag("line", x1=x, x2=x, y1=18, y2=height - 18, class_=f"grid{kind}")
        yield tag("text", as_time(tick.moment), x=x, y=28, class_=f"soft{kind}")


def _mark(mark: Mark, places: Places) -> Html:
    kind = mark.kind
    family = EVENTS[kind].family if kind in EVENTS else None
    glyph = _GLYPHS.get(kind) or _FAMILIES.get(family) or "•"  # type: ignore[arg-type]
    text = tag("text", glyph, x=_share(mark.place), y=_MARKS)
    words = "rejected line" if kind == REJECTED else kind
    shown = (kind * (kind == REJECTED) + _from(mark.level)).strip() or None
    return _link(text, f"{words} · line {mark.line.number}", [mark.line], places, shown)


def _dispatch(bar: Bar, places: Places) -> Html:
    y = _LANES + bar.lane * _LANE
    x, width = _share(bar.left), _share(bar.right - bar.left)
    whole = tag(
        "rect", width="100%", height=17, class_=bar.outcome, fill=_TEXTURED.get(bar.outcome)
    )
    name = f"{_SIGNS[bar.outcome]} {plain(bar.name, _MOST_NAME)}"
    label = tag("text", name, x=4, y=13)
    box = tag("svg", whole, label, x=x, y=y, width=width, height=17)
    parts = [_link(box, bar.words, bar.lines, places)]
    parts += (_round(each, y + 19, places) for each in bar.rounds)
    if bar.claimed is not None:
        width = _share(max(bar.claimed - bar.left, 0))
        parts.append(tag("rect", x=x, y=y + 31, width=width, height=3, class_="claimed"))
    return tag("g", parts, "\n")


def _round(piece: Piece, y: int, places: Places) -> Html:
    x, width = _share(piece.left), _share(piece.right - piece.left)
    fill = _TEXTURED.get(piece.outcome)
    rect = tag("rect", x=x, y=y, width=width, height=10, class_=piece.outcome, fill=fill)
    return _link(rect, piece.words, piece.lines, places)


def _link(
    shape: Html, words: str, lines: Sequence[LineId], places: Places, kind: str | None = None
) -> Html:
    """A shape that leads to its first line; a dispatch that only rounds name has none."""
    title = tag("title", plain(words, 300))
    if not lines:
        return tag("g", title, shape)
    line = lines[0]
    there, here = f"#{places.id_of(line)}", places.id_of(line, "b")
    return tag("a", title, shape, href=there, id=here, class_=kind)


def _map(chart: Chart) -> Html:
    """The whole in small: in how many dispatches something went on, and where one failed."""
    columns: list[list[Outcome]] = [[] for _ in range(_MAP)]
    for bar in chart.bars:
        first, last = int(bar.left * _MAP), min(int(bar.right * _MAP), _MAP - 1)
        for column in range(min(first, _MAP - 1), last + 1):
            columns[column].append(bar.outcome)
    most = max((len(each) for each in columns), default=0) or 1
    steps: dict[Outcome, list[str]] = {Outcome.PASSED: [], Outcome.FAILED: []}
    for column, outcomes in enumerate(columns):
        if outcomes:
            high = max(3, round(22 * len(outcomes) / most))
            kind = Outcome.FAILED if Outcome.FAILED in outcomes else Outcome.PASSED
            steps[kind].append(f"M{column},23v{-high}h1v{high}")
    paths = [tag("path", d="".join(each), class_=f"map-{kind}") for kind, each in steps.items()]
    window = tag("rect", class_="window", width="100%", height=24)
    return tag(
        "svg",
        paths,
        window,
        class_="map scripted",
        viewBox=f"0 0 {_MAP} 24",
        preserveAspectRatio="none",
        height=24,
        aria_hidden="true",
    )


def _from(level: int) -> str:
    """The class of what is shown from a level of zoom on."""
    return f" z{level}" if level else ""


def _share(share: float) -> str:
    return f"{share * 100:.3f}".rstrip("0").rstrip(".") + "%"
