"""The Markdown pages that show a run, one file a run, in the user's cache folder."""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path

from platformdirs import user_cache_path


def write_run_page(uri: str, run_id: str, text: str) -> Path:
    """Write the page of a run, and give its path. Raises OSError where no folder takes it.

    The name is a digest: nothing from a trace becomes part of a path.
    """
    digest = hashlib.sha256(f"{uri}\n{run_id}".encode("utf-8", "surrogatepass")).hexdigest()[:16]
    folder = user_cache_path("drive-trace") / "runs"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return _write(folder / f"run-{digest}.md", text)
    except OSError:
        folder = Path(tempfile.mkdtemp(prefix="drive-trace-"))
        return _write(folder / f"run-{digest}.md", text)


def _write(path: Path, text: str) -> Path:
    temporary = path.with_suffix(f".{os.getpid()}.tmp")
    temporary.write_text(text, encoding="utf-8", errors="backslashreplace")
    temporary.replace(path)
    return path
