"""Pieces that the sections of a report are made of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from drive_trace.report.html.markup import Content, Html, tag

Row = Sequence[Content]


def section(id_: str, title: str, *content: Content) -> Html:
    """A part of the page that the navigation leads to."""
    heading = tag("h2", title, id=id_)
    return tag("section", heading, *content, "\n", aria_labelledby=id_)


def table(  # noqa: PLR0913 - keywords, each a fact
    caption: Content,
    headers: Sequence[str],
    rows: Iterable[Row],
    *,
    label: str,
    numbers_from: int | None = None,
    wide: Sequence[int] = (),
) -> Html:
    """A table whose first cells name their rows. It scrolls by itself where it is too wide, by
    keyboard as well; ``label`` is what a screen reader calls that.
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
    whole = tag("table", tag("caption", caption), tag("thead", head), "\n", tag("tbody", body))
    return scrolling(label, whole)


def _kind(at: int, numbers_from: int, wide: Sequence[int]) -> str | None:
    if at >= numbers_from:
        return "n"
    return "wide" if at in wide else None


def scrolling(label: str, content: Html) -> Html:
    """Something that may be wider than the page, and can be reached and scrolled by keyboard."""
    return tag("div", content, class_="scroll", role="region", aria_label=label, tabindex="0")


def left_out(count: int, what: str) -> Html | None:
    """Says what was cut; None where nothing was."""
    if count <= 0:
        return None
    return tag("p", f"… and {count:,} more {what}: the JSON report has them all.", class_="soft")
