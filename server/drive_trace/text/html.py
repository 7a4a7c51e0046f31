"""HTML in which nobody can forget to escape text, and documents as HTML.

Content of an element that is no :class:`Html` is text, and is escaped. Only this module makes
``Html``: of one element, or of several.
"""

import re
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from html import escape
from typing import TypeAlias
from urllib.parse import quote
from zlib import compress

from drive_trace.text import document as doc
from drive_trace.text.document import Html
from drive_trace.text.quick import sha256_of
from drive_trace.text.wording import plain, visible

_PLAIN = r"[A-Za-z0-9 .,;()/#%_+=·✓↻✗-]"
_SAFE = re.compile(rf"{_PLAIN}*(?::{_PLAIN}+)*")
"""Text that stands on a page as it is: without what is escaped, or what a runner may obey."""
_VOID = {"meta", "line", "rect", "path", "input"}
"""Elements that never hold anything."""
_ENDED = {"td", "th", "tr", "li"}
"""Elements that end with what follows, where a page has thousands."""
_OUTSIDE = re.compile(r"(?:https?|vscode)://[A-Za-z0-9._~:/?#@!$&()*+,;=%-]{1,4000}")
_AT_ONCE = 300
"""So many rows of a table that can be sorted are elements; more are made where they are seen."""
_REFUSED = {"script", "iframe", "object", "embed", "link", "base", "form", "img", "style"}
"""Elements that a report has no use for, or only from this module."""


Content: TypeAlias = str | Iterable["Content"] | None
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
    return f"'sha256-{b64encode(bytes.fromhex(sha256_of(code.encode()))).decode()}'"


def _element(name: str, content: Iterable[Content], attributes: dict[str, Attribute]) -> Html:
    written = "".join(
        [
            f'{_opening(key)}{_escaped(_checked(key, str(value)))}"'
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
def _opening(key: str) -> str:
    if key.startswith("on") or key in {"style", "src", "srcset", "action", "xlink_href"}:
        raise ValueError(f"a report has no attribute {key}")
    return f' {key.rstrip("_").replace("_", "-")}="'


def _checked(key: str, value: str) -> str:
    if key == "href" and not (value.startswith("#") or _OUTSIDE.fullmatch(value)):
        raise ValueError("a report links to its own parts, to pages and to files in VS Code alone")
    if key == "fill" and not value.startswith("url(#"):
        raise ValueError("a report has its colours from its style sheet")
    return value


def _escaped(text: str, *, quote: bool = True) -> str:
    # Most are numbers, classes and ids; a page has a million.
    return text if _SAFE.fullmatch(text) else escape(visible(text), quote=quote)


def web_address(text: object) -> str | None:
    """What a stranger wrote, if it is the address of a page."""
    is_one = isinstance(text, str) and text.startswith("http") and _OUTSIDE.fullmatch(text)
    return str(text) if is_one else None


def file_address(path: str) -> str | None:
    """Where VS Code opens a file, given its whole path; None for one with a step out of it."""
    parts = path.replace("\\", "/").lstrip("/").split("/")
    quoted = quote("/".join(parts), errors="surrogateescape")
    return None if ".." in parts else f"vscode://file/{quoted}"


# Documents


def words(said: doc.Words) -> list[Content]:
    """doc.Words as content of an element: what is marked as an element, all else as text."""
    return [_mark(each) if isinstance(each, doc.Mark) else each for each in doc.pieces(said)]


def _mark(mark: doc.Mark) -> Html:
    kind, target, text = mark
    text = f"“{text}”" if kind == "quoted" else text
    # A name may turn the direction of what stands around it.
    said = tag("bdi", text) if kind in {"name", "named", "quoted"} else text
    if kind in {"link", "named"}:
        return tag("a", said, href=target if "://" in target else f"#{target}")
    if isinstance(said, Html):
        return said
    if kind == "strong":
        return tag("strong", text)
    return tag("span", text, class_=f"chip {target}" if kind == "chip" else kind)


def as_html(blocks: Iterable[doc.Block], level: int = 2, title: str = "") -> Html:
    """Blocks as elements. Sections have headings of this level and below; ``title`` is that of the
    section around them.
    """
    return join(_blocks(blocks, level, title))


def _blocks(blocks: Iterable[doc.Block], level: int, title: str) -> Iterator[Html]:
    for each in blocks:
        match each:
            case Html():
                yield each
            case doc.Paragraph(said, is_warning):
                yield tag("p", words(said), class_="warn" if is_warning else None)
            case doc.Bullets(items) if items:
                yield tag("ul", [tag("li", words(item)) for item in items])
            case doc.Code(commands):
                yield tag("pre", [[plain(command, 2000), "\n"] for command in commands])
            case doc.Table():
                yield table(each, title)
                cut = doc.more(each.left_out, each.what)
                yield tag("p", cut, class_="soft") if cut else join(())
            case doc.Section(heading, inner, id_, is_folded=True):
                content = as_html(inner, level, doc.unmarked(heading))
                yield tag("details", tag("summary", words(heading)), content, "\n", id=id_ or None)
            case doc.Section(heading, inner, id_):
                content = as_html(inner, level + 1, doc.unmarked(heading))
                head = tag(f"h{level}", words(heading), id=id_)
                yield tag("section", head, content, "\n", aria_labelledby=id_)


def navigation(
    what: str, parts: Iterable[doc.Section], below: Mapping[str, Html] | None = None
) -> Html:
    """Links to the parts of a page, some with what stands ``below`` them, by their ids."""
    inner = below or {}
    links = [
        tag("li", tag("a", words(each.title), href=f"#{each.id}"), inner.get(each.id))
        for each in parts
    ]
    return tag("nav", tag("ul", links), aria_label=f"Parts of the {what}")


def table(shown: doc.Table, title: str = "") -> Html:
    """A table that scrolls by itself where it is too wide, by keyboard as well. One that is
    sortable is so by its headers, and can be filtered.
    """
    label = shown.label or f"{title}, table"
    kinds = [_kind(at, shown) for at in range(max(map(len, (shown.headers, *shown.rows[:1]))))]
    head = [tag("th", each, scope="col", class_=kinds[at]) for at, each in enumerate(shown.headers)]
    body = [
        tag(
            "tr",
            tag("th", _cell(first), "\n", scope="row"),
            [tag("td", _cell(cell), "\n", class_=kinds[at]) for at, cell in enumerate(cells, 1)],
            "\n",
        )
        for first, *cells in shown.rows
    ]
    top = tag("caption", label), tag("thead", tag("tr", head)) if head else None, "\n"
    if not shown.is_sortable:
        return scrolling(label, tag("table", *top, tag("tbody", body)))
    whole = tag("table", *top, tag("tbody", body[:_AT_ONCE]), class_="sortable")
    parts = [filter_of(label), scrolling(label, whole)]
    cut = len(body) - _AT_ONCE
    if cut > 0:
        more = f"… and {cut:,} more {shown.what}, which the script of this page shows."
        parts += [tag("p", more, class_="cut"), tag("data", value=packed(body), hidden="")]
    return tag("div", *parts, class_="filtered many" if cut > 0 else "filtered")


def packed(texts: Iterable[str]) -> str:
    """Texts for the script of a page, a line each: no record has a line feed. Half of a surrogate
    pair, which an editor may have, is U+FFFD there.
    """
    data = "\n".join(each.replace("\n", " ") for each in texts).encode("utf-8", "surrogatepass")
    return b64encode(compress(data, 9)).decode()


def _kind(at: int, shown: doc.Table) -> str | None:
    if shown.is_figure(at):
        return "n"
    return "wide" if at in shown.wide else None


def _cell(cell: doc.Cell) -> Content:
    if isinstance(cell, str):
        return words(cell)
    lines = [tag("div", words(line), "\n") for line in cell.lines]
    return lines if cell.order is None else tag("div", lines, data_v=cell.order)


def filter_of(label: str) -> Html:
    """What filters the rows of the next table, once the page's script runs."""
    box = tag("input", type="search", aria_label=f"Filter: {label}", placeholder="Filter")
    return tag("p", box, tag("output"), class_="filter scripted")


def scrolling(label: str, content: Html) -> Html:
    """Something that may be wider than the page, and can be reached and scrolled by keyboard."""
    return tag("div", content, class_="scroll", role="region", aria_label=label, tabindex="0")
