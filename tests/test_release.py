"""A release: the same bytes from the same commit, and a list of what it is made of."""

import hashlib
import json
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tools.release import bill_of_materials, sums, tagged, why_not

from drive_trace import __version__
from tests.cli.support import commit, git
from tests.support.systems import not_on_windows

ROOT = Path(__file__).parent.parent
PLACES = {
    "CHANGELOG.md": "## [1.2.3] - 2026-11-23\n",
    "docs/ci.md": "  rev: v1.2.3   # or a commit\n",
    "vscode-client/CHANGELOG.md": "## 1.2.3\n",
    "vscode-client/package.json": '{\n  "version": "1.2.3",\n}\n',
    "vscode-client/package-lock.json": '{\n  "version": "1.2.3",\n}\n',
    "editors/emacs/drive-trace-mode.el": ";; Version: 1.2.3\n",
}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name, text in PLACES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, "utf-8")
    commit(tmp_path, "Release 1.2.3")
    return tmp_path


def test_a_committed_version_that_all_places_have_is_released(tree: Path) -> None:
    assert [*why_not(tree, "1.2.3")] == []
    assert len([*why_not(tree, "1.2.4")]) == len(PLACES)


def test_a_tree_with_changes_and_a_section_without_a_date_are_not_released(tree: Path) -> None:
    (tree / "CHANGELOG.md").write_text("## [1.2.3]\n", "utf-8")
    assert [*why_not(tree, "1.2.3")] == [
        "the tree has changes: commit them first",
        "CHANGELOG.md does not have version 1.2.3",
    ]


def test_the_docs_name_a_tag_once_there_is_one() -> None:
    page = (ROOT / "docs/ci.md").read_text("utf-8")
    first = tagged(page, "1.2.3")
    assert first.count("v1.2.3") == 2
    assert "<tag>" not in first
    assert tagged(first, "1.3.0") == first.replace("v1.2.3", "v1.3.0")


def test_manifests_have_the_version_of_the_package() -> None:
    """A changelog gets its section with the release."""
    with_release = ("CHANGELOG", "tree", "docs/ci.md")
    lacking = [each for each in why_not(ROOT) if not any(word in each for word in with_release)]
    assert lacking == []


@not_on_windows("modes of files are part of what has to be the same")
def test_two_clones_build_the_same_sdist_and_wheel(tmp_path: Path) -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    built = []
    for name, mask in (("one", 0o022), ("two", 0o077)):
        clone, out = tmp_path / name / "clone", tmp_path / name / "out"
        before = os.umask(mask)
        try:
            git(tmp_path, "clone", "--quiet", "--shared", str(ROOT), str(clone))
            subprocess.run(
                [sys.executable, "-m", "hatchling", "build", "--directory", str(out)],
                cwd=clone,
                env={**os.environ, "SOURCE_DATE_EPOCH": "1700000000"},
                check=True,
                capture_output=True,
            )
        finally:
            os.umask(before)
        built.append(sums(out.iterdir()))
    assert built[0] == built[1]
    assert [line.rpartition(".")[2] for line in built[0].splitlines()] == ["whl", "gz"]


def test_sums_are_those_of_sha256sum(tmp_path: Path) -> None:
    (tmp_path / "b.whl").write_bytes(b"b")
    (tmp_path / "a.vsix").write_bytes(b"a")
    (tmp_path / "SHA256SUMS").write_bytes(b"old")
    expected = [f"{hashlib.sha256(each).hexdigest()}  " for each in (b"a", b"b")]
    assert sums(tmp_path.iterdir()) == f"{expected[0]}a.vsix\n{expected[1]}b.whl\n"


def test_the_bill_names_what_is_locked_and_what_the_extension_takes_in() -> None:
    lock = (ROOT / "requirements-bundle.lock").read_text("utf-8")
    packages = json.loads((ROOT / "vscode-client/package-lock.json").read_text("utf-8"))
    version = packages["packages"]["node_modules/vscode-languageclient"]["version"]
    notices = f"Intro.\n{'-' * 80}\n\nvscode-languageclient {version} (MIT)\nhttps://example.com\n"
    bill = bill_of_materials(lock, packages, notices, datetime(2026, 11, 23, tzinfo=UTC))
    by_name = {each["name"]: each for each in bill["components"]}
    direct = {"click", "lsprotocol", "msgspec", "orjson", "pydantic", "pygls", "httpx2"}
    assert by_name.keys() >= direct | {"vscode-languageclient"}
    assert "httpx2-jsfetch" not in by_name
    assert all(each["licenses"] for each in by_name.values())
    pygls = by_name["pygls"]
    assert pygls["purl"].startswith("pkg:pypi/pygls@")
    assert pygls["licenses"] == [{"expression": "Apache-2.0"}]
    assert pygls["externalReferences"][0]["hashes"][0]["content"] in lock
    (npm,) = by_name["vscode-languageclient"]["hashes"]
    assert (npm["alg"], len(npm["content"])) == ("SHA-512", 128)
    assert bill["metadata"]["component"]["version"] == __version__
    assert bill["metadata"]["timestamp"] == "2026-11-23T00:00:00+00:00"
