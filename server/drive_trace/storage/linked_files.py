"""What people are led to: the files of the workspace that a trace names, and texts to read: rule
pages, JSON Schemas and classes to sort by, which are installed with the package, and the pages of
runs, which are Markdown files in the user's cache.

A trace is untrusted, so nothing outside the workspace is looked at. Paths are strings here: one
trace may name thousands, and ``Path`` objects take several times as long.
"""

# ruff: noqa: PTH113, PTH115, PTH118, PTH120, PTH206
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import islice
from pathlib import Path

from drive_trace.storage.files import cache_folder, read_regular
from drive_trace.storage.replace import write_whole
from drive_trace.text.quick import sha256_of

_MOST_NAMES = 10_000
"""The most names that are looked for. No project has as many specs and plans."""


def linked_files(
    names: Iterable[str], trace: Path | None, folders: Sequence[Path]
) -> Mapping[str, Path]:
    """The files that paths in a trace mean, by path; without those that have no file in the
    workspace's folders.

    A relative path is looked for from the top of each folder, then from the folders between the top
    and the trace, then from those above, as somebody may have opened one project of a repository.
    No link in the workspace is followed, so that nothing outside is looked at. Never raises.
    """
    bases = [(str(folder), str(base)) for folder in folders for base in _bases(folder, trace)]
    behind_no_link = cache(_behind_no_link)  # names share a few folders
    files: dict[str, Path] = {}
    for name in islice(names, _MOST_NAMES):
        for folder, base in bases if "\0" not in name else ():
            path = os.path.normpath(os.path.join(base, name))
            if not (_below(path, folder) and behind_no_link(folder, os.path.dirname(path))):
                continue
            if not _is_link(path) and os.path.isfile(path):
                files[name] = Path(path)
                break
    return files


def _bases(folder: Path, trace: Path | None) -> Iterator[Path]:
    between = reversed(trace.parents) if trace is not None else ()
    yield from (folder, *(each for each in between if folder in each.parents), *folder.parents)


def _behind_no_link(folder: str, path: str) -> bool:
    """Whether no link leads from a folder to a path in it."""
    at = folder
    for step in (_below(path, folder) or "").split(os.sep):
        at = os.path.join(at, step)
        if _is_link(at):
            return False
    return True


def _is_link(path: str) -> bool:
    try:
        return bool(os.readlink(path))  # which a junction of Windows has, too
    except (OSError, ValueError):
        return False


def _below(path: str, folder: str) -> str | None:
    """The path from a folder on; None if it is not below the folder."""
    head = folder if folder.endswith(os.sep) else folder + os.sep
    is_below = os.path.normcase(path).startswith(os.path.normcase(head))
    return path[len(head) :] if is_below else None


_LARGEST = 16 * 1024 * 1024
"""In bytes; no spec, plan or brief is that long."""


def length_and_sha256(file: Path) -> tuple[int, str]:
    """Length in bytes and sha256 in hexadecimal. Raises OSError, also where it is too large."""
    data = read_regular(file, _LARGEST)
    return len(data), sha256_of(data)


# Texts to read


_PACKAGE = Path(__file__).resolve().parent.parent
_INSTALLED = _PACKAGE / "rule_pages"
PAGES = _INSTALLED if _INSTALLED.is_dir() else _PACKAGE.parent.parent / "docs/rules"
"""In a checkout they stand where people read them, and the package is made with them."""
SCHEMAS = _PACKAGE / "event_schemas.json"
"""All schemas in one file: by the name of the event, ``event`` for any, and ``output:score`` for
what a command writes.
"""
CLASSES = _PACKAGE / "class_texts"
"""A file for each kind of thing that ``judge`` sorts."""


@cache
def rule_url(code: str, template: str = "") -> str | None:
    """The address of a rule's page: ``template`` with its ``{code}`` replaced, else the installed
    page. None if that is missing, as no link may lead nowhere.
    """
    if template:
        return template.replace("{code}", code)
    page = PAGES / f"{code}.md"
    return page.as_uri() if page.is_file() else None


def shared_rule_url(code: str, template: str = "") -> str | None:
    """The same for what people on other machines read: without a ``template`` as the package's
    metadata say, by ``Project-URL: Rules, https://…/docs/rules``, the folder of the pages.
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
    return next((f"{url}/{{code}}.md" for label, _, url in named if label == "Rules"), "")


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


def write_run_page(uri: str, run_id: str, text: str) -> Path:
    """Write the page of a run, and return its path. Raises OSError.

    The name is a digest: nothing from a trace becomes part of a path. Nobody else reads the folder.
    """
    digest = sha256_of(f"{uri}\n{run_id}".encode("utf-8", "surrogatepass"))[:16]
    path = cache_folder() / "runs" / f"run-{digest}.md"
    data = text.encode("utf-8", "backslashreplace")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.parent.chmod(0o700)
    write_whole(path, data)
    return path
