"""Texts that people read: rule pages, JSON Schemas and classes to sort by, which are installed with
the package, and the pages of runs, which are Markdown files in the user's cache folder.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from functools import cache
from pathlib import Path
from threading import Lock

from drive_trace.storage.files import cache_folder
from drive_trace.storage.replace import file_beside

_PACKAGE = Path(__file__).resolve().parent.parent
_INSTALLED = _PACKAGE / "rule_pages"
PAGES = _INSTALLED if _INSTALLED.is_dir() else _PACKAGE.parent.parent / "docs/rules"
"""In a checkout they stand where people read them, and the package is made with them."""
SCHEMAS = _PACKAGE / "event_schemas.json"
"""All schemas in one file: by the name of the event, and ``event`` for any."""
CLASSES = _PACKAGE / "class_texts"
"""A file for each kind of thing that ``judge`` sorts."""


def rule_url(code: str, template: str = "") -> str | None:
    """The address of a rule's page: ``template`` with its ``{code}`` replaced, else the installed
    page. None if that is missing, as no link may lead nowhere.
    """
    if template:
        return template.replace("{code}", code)
    return _installed_page(code)


def shared_rule_url(code: str, template: str = "") -> str | None:
    """The same for what people on other machines read: without a ``template`` as the package's
    metadata say, by ``Project-URL: Rules, https://…/{code}.md``.
    """
    return rule_url(code, template or _template_of_package())


@cache
def _template_of_package() -> str:
    from importlib.metadata import PackageNotFoundError, metadata  # noqa: PLC0415 - slow to load

    try:
        urls = metadata("drive-trace").get_all("Project-URL") or []
    except PackageNotFoundError:
        return ""
    named = (str(each).partition(", ") for each in urls)
    return next((url for label, _, url in named if label == "Rules" and "{code}" in url), "")


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


def event_schema(name: str | None) -> str:
    """The JSON Schema of an event of the vocabulary, or for None of any, as in ``schemas/``."""
    schemas = json.loads(SCHEMAS.read_text(encoding="utf-8"))
    return json.dumps(schemas[name or "event"], indent=2, ensure_ascii=False) + "\n"


# Pages of runs

_one_at_a_time = Lock()


def write_run_page(uri: str, run_id: str, text: str) -> Path:
    """Write the page of a run, and return its path. Raises OSError if no folder takes it.

    The name is a digest: nothing from a trace becomes part of a path.
    """
    digest = hashlib.sha256(f"{uri}\n{run_id}".encode("utf-8", "surrogatepass")).hexdigest()[:16]
    name = f"run-{digest}.md"
    folder = cache_folder() / "runs"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return _write(folder / name, text)
    except OSError:
        return _write(_fallback_folder() / name, text)


def _fallback_folder() -> Path:
    """The one folder of this process for pages that the cache folder does not take."""
    with _one_at_a_time:
        if not _new_folder().is_dir():  # as after a clean-up of old temporary files
            _new_folder.cache_clear()
        return _new_folder()


@cache
def _new_folder() -> Path:
    return Path(tempfile.mkdtemp(prefix="drive-trace-"))


def _write(path: Path, text: str) -> Path:
    # The file stays private to the user, and a page that a crash loses is simply made again.
    with file_beside(path, text.encode("utf-8", "backslashreplace"), sync=False) as temporary:
        temporary.replace(path)
    return path
