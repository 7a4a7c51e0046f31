"""HTML in which nobody can forget to escape text.

Content of an element that is no :class:`Html` is text, and is escaped. Only this module makes
``Html``: of one element, or of several.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable, Sequence
from functools import cache
from hashlib import sha256
from html import escape

from drive_trace.text.escaping import plain, visible

_SAFE = re.compile(r"[A-Za-z0-9. -]*")
_VOID = {"meta", "line", "rect", "path", "input"}
"""Elements that never hold anything."""
_ENDED = {"td", "th", "tr", "li"}
"""Elements that end with what follows, where a page has thousands."""
_REFUSED = {"script", "iframe", "object", "embed", "link", "base", "form", "img", "style"}
"""Elements that a report has no use for, or only from this module."""


class Html(str):
    """Markup, safe to be put into other markup as it is."""

    __slots__ = ()


Content = str | Iterable[Html] | None
Attribute = str | int | float | None


def tag(name: str, /, *content: Content, **attributes: Attribute) -> Html:
    """An element. Text is escaped; an attribute ``aria_label`` is ``aria-label``, ``class_`` is
    ``class``; one that is None is left out. ValueError for what could run or fetch something.
    """
    if name in _REFUSED:
        raise ValueError(f"a report holds no <{name}>")
    return _element(name, content, attributes)


def join(parts: Iterable[Html]) -> Html:
    """Several pieces of markup, one after another."""
    return Html("".join(parts))


def untrusted(text: str, most: int = 120) -> Html:
    """Text from a trace: cut, and kept from turning the direction of what stands around it."""
    return tag("bdi", plain(text, most))


def document(css: str, script: str, title: str, *body: Html) -> Html:
    """A whole page that may apply this one style sheet and run this one module, and may do nothing
    else.
    """
    policy = (
        f"default-src 'none'; style-src {_digest(css)}; script-src {_digest(script)}; "
        "base-uri 'none'; form-action 'none'"
    )
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        _element("meta", (), {"http_equiv": "Content-Security-Policy", "content": policy}),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="referrer", content="no-referrer"),
        tag("title", title),
        Html(f"<style>{css}</style>"),
    )
    module = Html(f'<script type="module">{script}</script>\n')
    page = tag("html", head, "\n", tag("body", *body, module), lang="en")
    return Html(f"<!DOCTYPE html>\n{page}\n")


def _digest(code: str) -> str:
    return f"'sha256-{b64encode(sha256(code.encode()).digest()).decode()}'"


def _element(name: str, content: Iterable[Content], attributes: dict[str, Attribute]) -> Html:
    written = "".join(
        [
            f' {_attribute_name(key)}="{_escaped(_checked(key, str(value)))}"'
            for key, value in attributes.items()
            if value is not None
        ]
    )
    if name in _VOID:
        return Html(f"<{name}{written}{'' if name in ('meta', 'input') else '/'}>")
    end = "" if name in _ENDED else f"</{name}>"
    return Html(f"<{name}{written}>{''.join(map(_content, content))}{end}")


def _content(content: Content) -> str:
    if content is None:
        return ""
    if isinstance(content, Html):
        return content
    if isinstance(content, str):
        return content if content == "\n" else _escaped(content, quote=False)
    return "".join(map(_content, content))


@cache
def _attribute_name(key: str) -> str:
    return key.rstrip("_").replace("_", "-")


def _checked(key: str, value: str) -> str:
    if key.startswith("on") or key in {"style", "src", "srcset", "action", "xlink_href"}:
        raise ValueError(f"a report has no attribute {key}")
    if key == "href" and not value.startswith("#"):
        raise ValueError("a report links to its own parts alone")
    if key == "fill" and not value.startswith("url(#"):
        raise ValueError("a report has its colours from its style sheet")
    return value


def _escaped(text: str, *, quote: bool = True) -> str:
    # Most are numbers, classes and ids; a page has a million.
    return text if _SAFE.fullmatch(text) else escape(visible(text), quote=quote)


Row = Sequence[Content]


def section(id_: str, title: Content, *content: Content, level: int = 2) -> Html:
    """A part of the page that the navigation leads to."""
    heading = tag(f"h{level}", title, id=id_)
    return tag("section", heading, *content, "\n", aria_labelledby=id_)


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


def filter_of(label: str) -> Html:
    """What filters the rows of the next table, once the page's script runs."""
    box = tag("input", type="search", aria_label=f"Filter: {label}", placeholder="Filter")
    return tag("p", box, tag("output"), class_="filter scripted")


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


def scrolling(label: str, content: Html) -> Html:
    """Something that may be wider than the page, and can be reached and scrolled by keyboard."""
    return tag("div", content, class_="scroll", role="region", aria_label=label, tabindex="0")


def left_out(count: int, what: str) -> Html | None:
    """A sentence on what is not shown; None if all is."""
    if count <= 0:
        return None
    return tag("p", f"… and {count:,} more {what}: the JSON report has them all.", class_="soft")
