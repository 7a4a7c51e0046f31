"""The Markdown pages that show a run, one file a run, in the user's cache folder."""

from __future__ import annotations

import hashlib
import os
import tempfile
from functools import cache
from pathlib import Path
from threading import Lock

from platformdirs import user_cache_path

_one_at_a_time = Lock()


def write_run_page(uri: str, run_id: str, text: str) -> Path:
    """Write the page of a run, and give its path. Raises OSError where no folder takes it.

    The name is a digest: nothing from a trace becomes part of a path.
    """
    digest = hashlib.sha256(f"{uri}\n{run_id}".encode("utf-8", "surrogatepass")).hexdigest()[:16]
    name = f"run-{digest}.md"
    folder = user_cache_path("drive-trace") / "runs"
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
    """Write a file that is whole whenever it is read, also while others write the same."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f"{path.stem}.", suffix=".tmp")
    temporary = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return path
