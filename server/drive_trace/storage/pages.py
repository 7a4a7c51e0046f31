"""The rules' pages and the JSON Schemas that are installed with the package."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

PAGES = Path(__file__).resolve().parent.parent / "rule_pages"


def rule_url(code: str, template: str = "") -> str | None:
    """Where a rule is documented: by ``template``, whose ``{code}`` is replaced, else the
    installed page; None where there is no such page, never a link that leads nowhere.
    """
    if template:
        return template.replace("{code}", code)
    return _installed_page(code)


@cache
def _installed_page(code: str) -> str | None:
    page = PAGES / f"{code}.md"
    return page.as_uri() if page.is_file() else None


def rule_page(code: str) -> str | None:
    """A rule's page in Markdown; None where it is not installed."""
    try:
        return (PAGES / f"{code}.md").read_text(encoding="utf-8")
    except OSError:
        return None


SCHEMAS = Path(__file__).resolve().parent.parent / "event_schemas.json"
"""All of them in one file: by the name of the event, and ``event`` for any."""


def event_schema(name: str | None) -> str:
    """The JSON Schema of an event of the vocabulary, or for None of any, as in ``schemas/``."""
    schemas = json.loads(SCHEMAS.read_text(encoding="utf-8"))
    return json.dumps(schemas[name or "event"], indent=2, ensure_ascii=False) + "\n"
