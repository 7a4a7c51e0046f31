"""Old."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from drive_trace.text.document import Html
from drive_trace.text.html import Content, filter_of, scrolling, tag

Row = Sequence[Content]


def table(  # noqa: PLR0913 - keywords, each a fact
    caption: Content,
    headers: Sequence[str],
    rows: Iterable[Row],
    *,
    label: str,
    numbers_from: int | None = None,
    wide: Sequence[int] = (),
    sortable: bool = False,
) -> Html:
    """A table whose first cells name their rows. It scrolls by itself where it is too wide, by
    keyboard as well; ``label`` is what a screen reader calls that. One that is ``sortable`` is so
    by its headers, and can be filtered.
    """
    from_ = len(headers) if numbers_from is None else numbers_from
    kinds = [_kind(at, from_, wide) for at in range(len(headers))]
    head = tag(
        "tr", [tag("th", each, scope="col", class_=kinds[at]) for at, each in enumerate(headers)]
    )
    body = [
        tag(
            "tr",
            tag("th", first, scope="row"),
            [tag("td", cell, class_=kinds[at]) for at, cell in enumerate(cells, 1)],
            "\n",
        )
        for first, *cells in rows
    ]
    parts = (tag("caption", caption), tag("thead", head), "\n", tag("tbody", body))
    whole = scrolling(label, tag("table", *parts, class_="sortable" if sortable else None))
    return tag("div", filter_of(label), whole, class_="filtered") if sortable else whole


def folded(summary: Content, *content: Content, id_: str | None = None) -> Html:
    """Content that a person unfolds."""
    return tag("details", tag("summary", summary), *content, "\n", id=id_)


def sorted_by(value: float, *content: Content) -> Html:
    """The content of a cell that is sorted by a figure, and not by what it says."""
    return tag("div", *content, data_v=value)


def _kind(at: int, numbers_from: int, wide: Sequence[int]) -> str | None:
    if at >= numbers_from:
        return "n"
    return "wide" if at in wide else None


def left_out(count: int, what: str) -> Html | None:
    """A sentence on what is not shown; None if all is."""
    if count <= 0:
        return None
    return tag("p", f"… and {count:,} more {what}: the JSON report has them all.", class_="soft")
