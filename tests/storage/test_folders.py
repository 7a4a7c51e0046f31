"""What is told of a project's folders to somebody who writes a path, and what never is."""

from pathlib import Path

import pytest

from drive_trace.storage.linked_files import list_folder


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """A project beside something that is none of its business."""
    project = tmp_path / "shop"
    (project / "docs" / "deep").mkdir(parents=True)
    (project / ".git").mkdir()
    (project / "README.md").touch()
    (project / "docs" / "日本 🚀.md").touch()
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "key").touch()
    return project


def test_folders_come_first_and_hidden_ones_never(base: Path) -> None:
    assert list_folder(base, "") == ["docs/", "README.md"]
    assert list_folder(base, "docs/") == ["docs/deep/", "docs/日本 🚀.md"]
    assert list_folder(base, "docs/deep/") == []


@pytest.mark.parametrize(
    "folder", ["../", "docs/../../secret/", "/", "/etc/", "no/", "README.md/", "a\0b/", "..\\"]
)
def test_nothing_outside_and_nothing_that_cannot_be_read(base: Path, folder: str) -> None:
    assert list_folder(base, folder) == []


def test_links_are_followed_within_the_project_only(base: Path) -> None:
    (base / "out").symlink_to(base.parent / "secret")
    (base / "key").symlink_to(base.parent / "secret" / "key")
    (base / "in").symlink_to(base / "docs")
    (base / "round").symlink_to(base / "round")
    assert list_folder(base, "") == ["docs/", "in/", "README.md"]
    assert list_folder(base, "out/") == []
    assert list_folder(base, "in/") == ["in/deep/", "in/日本 🚀.md"]


def test_a_large_folder_is_told_of_in_part(base: Path) -> None:
    for number in range(300):
        (base / "docs" / f"{number}.md").touch()
    assert len(list_folder(base, "docs/")) == 200
