"""The files of the runs' pages: whole at any time, and no others left behind."""

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from drive_trace.storage.linked_files import write_run_page


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's cache folder."""
    monkeypatch.setenv("DRIVE_TRACE_CACHE", str(tmp_path / "cache"))
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
    with pytest.raises(OSError, match=page.name):
        write_run_page("file:///trace.jsonl", "run-1", "two")
    assert list(page.parent.iterdir()) == [page]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
def test_nobody_else_reads_the_folder_also_where_it_was_there(cache: Path) -> None:
    (cache / "runs").mkdir(parents=True, mode=0o755)
    page = write_run_page("file:///trace.jsonl", "run-1", "one")
    assert page.parent.stat().st_mode & 0o777 == 0o700
