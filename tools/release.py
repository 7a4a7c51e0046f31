"""Builds what a release consists of, into ``dist/``: the same bytes from the same commit.

    python tools/release.py [--check] [--again] [--unready] [--tags]

sdist, wheel, a .vsix for every target of VS Code, a bill of materials (CycloneDX), and SHA256SUMS.
It refuses a tree with changes, and a version that the changelogs and manifests do not have.
``--check`` builds nothing, and needs no package but the standard library.
``--again`` builds a second time, from a clone in another folder, and fails where a hash differs.
``--unready`` builds whatever the tree and the changelogs say.
``--tags`` builds nothing, and writes the tag of the version into the pages that name it. Before the
first release they name none, as nobody can use a tag that is not there.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from base64 import b64decode
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "server")]

from tools.bundle import PLATFORMS, WEB  # noqa: E402

from drive_trace import __version__  # noqa: E402

_PIN = re.compile(r"(?m)^([\w.-]+)==([\w.!+]+)(?: ; ([^\\\n]+?))? \\\n((?: +--hash=.+\n)+)")
_NOTICE = re.compile(r"(?m)^-{80}\n\n(\S+) (\S+) \((.*)\)$")
_TAGGED = "docs/ci.md"
_TAG = re.compile(r"(?m)(^  rev: |<name>@<commit> # )(<tag>|v[\d.]+)")
_ELSEWHERE = "emscripten"
"""The platform of packages in the lock file that no release has."""


def main() -> int:
    """Build the release; exit code 1 if it is not to be released, or differs the second time."""
    parser = argparse.ArgumentParser(description="Build what a release consists of.")
    parser.add_argument("--check", action="store_true", help="only say what is not ready")
    parser.add_argument("--again", action="store_true", help="build twice, and compare")
    parser.add_argument("--unready", action="store_true", help="build whatever is not ready")
    parser.add_argument("--tags", action="store_true", help="write the tag into the docs")
    chosen = parser.parse_args()
    if chosen.tags:
        page = ROOT / _TAGGED
        page.write_text(tagged(page.read_text("utf-8")), "utf-8", newline="\n")
        return 0
    problems = [] if chosen.unready else [*why_not(ROOT)]
    if not problems:
        if chosen.check:
            return 0
        build(ROOT)
        if chosen.again:
            problems = [*differences(ROOT, ROOT / "build/again")]
    print(*problems or [(ROOT / "dist/SHA256SUMS").read_text("utf-8")], sep="\n")  # noqa: T201
    return 1 if problems else 0


def tagged(text: str, version: str = __version__) -> str:
    """A page with the tag of a version where it names the one of this project."""
    return _TAG.sub(rf"\g<1>v{version}", text)


def why_not(root: Path, version: str = __version__) -> Iterator[str]:
    """What keeps a tree from being released: changes, and places without the version."""
    if _output("git", "status", "--porcelain", folder=root):
        yield "the tree has changes: commit them first"
    in_places = {
        "CHANGELOG.md": rf"(?m)^## \[{re.escape(version)}\] - \d{{4}}-\d\d-\d\d$",
        _TAGGED: rf"(?m)^  rev: v{re.escape(version)}(?= )",
        "vscode-client/CHANGELOG.md": rf"(?m)^## {re.escape(version)}$",
        "vscode-client/package.json": rf'(?m)^  "version": "{re.escape(version)}",$',
        "vscode-client/package-lock.json": rf'(?m)^  "version": "{re.escape(version)}",$',
        "editors/emacs/drive-trace-mode.el": rf"(?m)^;; Version: {re.escape(version)}$",
    }
    for name, pattern in in_places.items():
        if not re.search(pattern, (root / name).read_text("utf-8")):
            yield f"{name} does not have version {version}"


def build(root: Path) -> None:
    """Build all files of a release of a checkout into its ``dist/``. Raises CalledProcessError."""
    committed = _output("git", "log", "-1", "--format=%ct", folder=root)
    # What archives record: the time of the commit, in no zone, and files that everybody may read.
    environment = {**os.environ, "SOURCE_DATE_EPOCH": committed, "TZ": "UTC"}
    os.umask(0o022)
    for name in _output("git", "ls-files", folder=root).splitlines():
        path = root / name
        path.chmod(0o755 if path.stat().st_mode & 0o100 else 0o644)
    dist = root / "dist"
    _run("make", "package", folder=root, environment=environment)
    for target in (*PLATFORMS, WEB):
        _run("make", "vsix", f"TARGET={target}", folder=root, environment=environment)
        made = f"drive-trace-{target}.vsix"
        shutil.move(
            root / "vscode-client" / made, dist / f"drive-trace-{__version__}-{target}.vsix"
        )
    bill = bill_of_materials(
        (root / "requirements-bundle.lock").read_text("utf-8"),
        json.loads((root / "vscode-client/package-lock.json").read_text("utf-8")),
        (root / "vscode-client/dist/ThirdPartyNotices.txt").read_text("utf-8"),
        datetime.fromtimestamp(int(committed), UTC),
    )
    text = json.dumps(bill, indent=2, ensure_ascii=False) + "\n"
    (dist / f"drive-trace-{__version__}.cdx.json").write_text(text, "utf-8", newline="\n")
    (dist / "SHA256SUMS").write_text(sums(dist.iterdir()), "utf-8", newline="\n")


def sums(files: Iterable[Path]) -> str:
    """Names and hashes, as ``sha256sum --check`` reads them."""
    return "".join(
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n"
        for path in sorted(files)
        if path.name != "SHA256SUMS"
    )


def differences(root: Path, clone: Path) -> Iterator[str]:
    """Build the release of ``root`` once more, in a clone. What is not the same."""
    shutil.rmtree(clone, ignore_errors=True)
    _run("git", "clone", "--quiet", str(root), str(clone), folder=root)
    _run("make", "release", "UNREADY=1", "AGAIN=", folder=clone)
    first, second = (
        {*(each / "dist/SHA256SUMS").read_text("utf-8").splitlines()} for each in (root, clone)
    )
    yield from sorted(f"built twice, but differs: {line}" for line in first ^ second)


def bill_of_materials(
    lock: str, packages: Mapping[str, Any], notices: str, committed: datetime
) -> dict[str, Any]:
    """What a release is made of, as CycloneDX 1.6: the Python packages of a lock file, and the
    packages that the extension's notices name, with npm's hashes. ``committed`` is its time.
    """
    python, npm = [*_python_packages(lock)], [*_npm_packages(packages, notices)]
    components = sorted([*python, *npm], key=lambda each: str(each["bom-ref"]))
    own = f"pkg:pypi/drive-trace@{__version__}"
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "timestamp": committed.isoformat(),
            "component": {
                "bom-ref": own,
                "type": "application",
                "name": "drive-trace",
                "version": __version__,
                "purl": own,
                "licenses": [{"license": {"id": "Apache-2.0"}}],
            },
        },
        "components": components,
        "dependencies": [{"ref": own, "dependsOn": [each["bom-ref"] for each in components]}],
    }


def _python_packages(lock: str) -> Iterator[dict[str, Any]]:
    for name, version, marker, hashes in _PIN.findall(lock):
        if f"== '{_ELSEWHERE}'" in marker:
            continue
        about = metadata.metadata(name)
        if about["Version"] != version:
            raise LookupError(f"{name} {about['Version']} is installed, but {version} is locked")
        files = [
            {"url": f"pkg:pypi/{name}@{version}", "type": "distribution", "hashes": [each]}
            for each in _hashes(hashes)
        ]
        yield {
            **_component("pypi", name, version),
            **_licensed(
                about.get("License-Expression") or about.get("License") or _classified(about)
            ),
            "externalReferences": files,
        }


def _npm_packages(packages: Mapping[str, Any], notices: str) -> Iterator[dict[str, Any]]:
    locked = {
        (path.rpartition("node_modules/")[2], each["version"]): each
        for path, each in packages["packages"].items()
    }
    for name, version, license_ in sorted({*_NOTICE.findall(notices)}):
        digest = locked[name, version]["integrity"].removeprefix("sha512-")
        yield {
            **_component("npm", name, version),
            **_licensed(license_),
            "hashes": [{"alg": "SHA-512", "content": b64decode(digest).hex()}],
        }


def _component(kind: str, name: str, version: str) -> dict[str, Any]:
    purl = f"pkg:{kind}/{name.replace('@', '%40')}@{version}"
    return {"bom-ref": purl, "type": "library", "name": name, "version": version, "purl": purl}


def _hashes(lines: str) -> Iterator[dict[str, str]]:
    for digest in re.findall(r"--hash=sha256:(\w+)", lines):
        yield {"alg": "SHA-256", "content": digest}


def _licensed(expression: str) -> dict[str, Any]:
    return {"licenses": [{"expression": expression}]}


def _classified(about: Any) -> str:
    found = next(each for each in about.get_all("Classifier") or () if "License ::" in each)
    return {"MIT License": "MIT", "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0"}[
        found.rpartition(" :: ")[2]
    ]


def _output(*command: str, folder: Path) -> str:
    done = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)  # noqa: S603
    return done.stdout.strip()


def _run(*command: str, folder: Path, environment: Mapping[str, str] | None = None) -> None:
    subprocess.run(command, cwd=folder, env=environment, check=True)  # noqa: S603


if __name__ == "__main__":
    sys.exit(main())
