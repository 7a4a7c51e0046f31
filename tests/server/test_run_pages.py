"""The files of the runs' pages: whole at any time, and no others left behind."""

import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from drive_trace.storage import linked_files as pages
from drive_trace.storage.linked_files import write_run_page


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's cache folder; temporary folders are made beside it."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    monkeypatch.setenv("DRIVE_TRACE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(pages, "_temporary", [])
    return tmp_path / "cache"


def test_many_may_write_one_page_at_once(cache: Path) -> None:
    texts = [str(each) * 200_000 for each in range(8)]

    def write(text: str) -> Path:
        return write_run_page("file:///trace.jsonl", "run-1", text)

    with ThreadPoolExecutor(8) as pool:
        (page,) = set(pool.map(write, texts * 4))
    assert page.read_text(encoding="utf-8") in texts
    assert list((cache / "runs").iterdir()) == [page]


def test_a_page_that_cannot_be_put_in_place_leaves_nothing(cache: Path) -> None:
    page = write_run_page("file:///trace.jsonl", "run-1", "one")
    page.unlink()
    page.mkdir()  # no file can replace it
    elsewhere = write_run_page("file:///trace.jsonl", "run-1", "two")
    assert elsewhere.read_text(encoding="utf-8") == "two"
    assert list(page.parent.iterdir()) == [page]
    assert list(elsewhere.parent.iterdir()) == [elsewhere]


def test_one_folder_a_process_where_the_cache_cannot_be_written(cache: Path) -> None:
    cache.write_text("not a folder", encoding="utf-8")
    with ThreadPoolExecutor(8) as pool:
        runs = [f"run-{each}" for each in range(8)] * 3
        pages = list(pool.map(lambda run: write_run_page("file:///x", run, run), runs))
    (folder,) = {page.parent for page in pages}
    assert list((cache.parent / "temporary").iterdir()) == [folder]
    assert len(list(folder.iterdir())) == 8
    # It is made anew when it was cleaned away.
    for page in folder.iterdir():
        page.unlink()
    folder.rmdir()
    page = write_run_page("file:///x", "run-1", "again")
    assert page.read_text(encoding="utf-8") == "again"
    assert list((cache.parent / "temporary").iterdir()) == [page.parent]
