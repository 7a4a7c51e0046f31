"""The rules' pages that are installed with the package."""

from __future__ import annotations

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
