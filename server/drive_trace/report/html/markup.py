"""HTML that cannot be forgotten to be escaped.

Whatever is put into an element and is no :class:`Html` is text, and is escaped. An
``Html`` is made here alone: of an element, or of several.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable
from hashlib import sha256
from html import escape

from drive_trace.scorecard.render import plain
from drive_trace.text.escaping import visible

_VOID = {"meta", "line", "rect", "path"}
"""Elements that never hold anything."""
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


def document(css: str, title: str, *body: Html) -> Html:
    """A whole page that may apply this one style sheet, and may do nothing else."""
    digest = b64encode(sha256(css.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
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
    return Html("<!DOCTYPE html>\n" + tag("html", head, "\n", tag("body", *body), lang="en") + "\n")


def _element(name: str, content: Iterable[Content], attributes: dict[str, Attribute]) -> Html:
    written = "".join(
        f' {_attribute_name(key)}="{_escaped(_checked(key, str(value)))}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in _VOID:
        return Html(f"<{name}{written}>" if name == "meta" else f"<{name}{written}/>")
    return Html(f"<{name}{written}>{''.join(map(_content, content))}</{name}>")


def _content(content: Content) -> str:
    if content is None:
        return ""
    if isinstance(content, Html):
        return content
    if isinstance(content, str):
        return content if content == "\n" else _escaped(content)
    return "".join(map(_content, content))


def _attribute_name(key: str) -> str:
    return key.rstrip("_").replace("_", "-")


def _checked(key: str, value: str) -> str:
    if key.startswith("on") or key in {"style", "src", "srcset", "action", "xlink_href"}:
        raise ValueError(f"a report has no attribute {key}")
    if key == "href" and not value.startswith("#"):
        raise ValueError("a report links to its own parts alone")
    return value


def _escaped(text: str) -> str:
    return escape(visible(text), quote=True)
