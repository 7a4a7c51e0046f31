"""Lays out the server inside the VS Code extension: drive-trace and all that it imports.

    python tools/bundle.py [TARGET]

TARGET is a platform as VS Code names it; without one it is this machine's. For ``web`` there is
only what runs in WebAssembly, which ``vscode-client/wasm.mjs`` lays out. Pure wheels are
unpacked once, compiled ones once for each supported Python, so that the extension starts the
server on whichever interpreter a machine has, and installs nothing there::

    vscode-client/server/bundle.json    what is in there: see Bundle
    vscode-client/server/pure/          drive_trace, pygls, lsprotocol ...
    vscode-client/server/cp311/         orjson, msgspec

Wheels are the ones of requirements-bundle.lock, by their hashes: the extra ``judge`` is with them,
as nobody can install it into an extension. They are kept in ``.cache/``, and are not asked for
again until the lock file changes.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import platform
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "server"))

from drive_trace import __version__  # noqa: E402

LOCK = ROOT / "requirements-bundle.lock"
SERVER = ROOT / "vscode-client/server"

PYTHONS = ("311", "312", "313", "314")

PLATFORMS: Mapping[str, tuple[str, ...]] = {
    "linux-x64": ("manylinux_2_28_x86_64", "manylinux_2_17_x86_64"),
    "linux-arm64": ("manylinux_2_28_aarch64", "manylinux_2_17_aarch64"),
    "alpine-x64": ("musllinux_1_2_x86_64", "musllinux_1_1_x86_64"),
    "alpine-arm64": ("musllinux_1_2_aarch64", "musllinux_1_1_aarch64"),
    "darwin-x64": ("macosx_12_0_x86_64",),
    "darwin-arm64": ("macosx_12_0_arm64",),
    "win32-x64": ("win_amd64",),
    "win32-arm64": ("win_arm64",),
}
"""The wheels that run on a target of VS Code, the best ones first."""

WEB = "web"
"""The target for browsers, which have no Python."""

_MACHINES = {"darwin-x64": "x86_64", "darwin-arm64": "arm64"}
"""Where the names of compiled modules do not tell one machine from the other."""

_LEFT_OUT = {"annotated_types", "pydantic", "pydantic_core", "typing_inspection"}
"""What only `compare --cases`, suites and the Python API need: two thirds of all the modules."""

_LICENSE = re.compile(r"(?i)licen[cs]e|copying")


class BundleError(Exception):
    """Wheels that do not come to a bundle."""


class Bundle(NamedTuple):
    """What the extension has to know of the server that it carries."""

    version: str
    target: str
    machine: str
    """What ``os.uname`` must say; empty where the suffixes say it already."""
    compiled: Mapping[str, str]
    """The folder for an interpreter, by the suffix that this has for compiled modules."""


def main() -> int:
    """Write the bundle of a target; exit code 1 if its wheels cannot be had."""
    parser = argparse.ArgumentParser(description="Lay out the server inside the extension.")
    parser.add_argument("target", nargs="?", choices=[*PLATFORMS, WEB], default=this_target())
    target = parser.parse_args().target
    try:
        pythons = () if target == WEB else PYTHONS
        wheels = {python: wheels_for(target, python) for python in pythons}
        bundle = lay_out(SERVER, target, own_wheel(), wheels)
    except (BundleError, subprocess.CalledProcessError) as error:
        print(f"no server for {target}: {error}", file=sys.stderr)  # noqa: T201
        return 1
    pythons = ", ".join(bundle.compiled) or "WebAssembly"
    print(f"{bundle.target}: drive-trace {bundle.version} for {pythons}")  # noqa: T201
    return 0


def this_target() -> str:
    """The target of this machine, whether or not there are wheels for it."""
    system = {"linux": "linux", "darwin": "darwin", "win32": "win32"}.get(sys.platform, "unknown")
    if system == "linux" and platform.libc_ver()[0] != "glibc":
        system = "alpine"
    machine = platform.machine().lower()
    return f"{system}-{'arm64' if machine in {'arm64', 'aarch64'} else 'x64'}"


def own_wheel() -> Path:
    """The wheel of this checkout."""
    folder = ROOT / "build/bundled-wheel"
    shutil.rmtree(folder, ignore_errors=True)
    command = [sys.executable, "-m", "build", "--quiet", "--no-isolation", "--wheel"]
    subprocess.run([*command, "--outdir", str(folder), str(ROOT)], check=True)  # noqa: S603
    return next(folder.glob("*.whl"))


def wheels_for(target: str, python: str) -> list[Path]:
    """The locked wheels for one version of Python, downloaded unless they are in the cache."""
    digest = hashlib.sha256(LOCK.read_bytes()).hexdigest()[:16]
    kept = ROOT / f".cache/wheels/{digest}/{target}-cp{python}"
    if not kept.exists():
        fresh = kept.with_name(f"{kept.name}.partial")
        shutil.rmtree(fresh, ignore_errors=True)
        _download(target, python, fresh)
        fresh.rename(kept)
    return [each for each in sorted(kept.glob("*.whl")) if each.name.split("-")[0] not in _LEFT_OUT]


def _download(target: str, python: str, folder: Path) -> None:
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "-qq", "download"]
    which = ["--implementation", "cp", "--python-version", python, "--abi", f"cp{python}"]
    for name in PLATFORMS[target]:
        which += ["--platform", name]
    what = ["--no-deps", "--only-binary=:all:", "--require-hashes", "-r", str(LOCK)]
    subprocess.run([*pip, *which, *what, "--dest", str(folder)], check=True)  # noqa: S603


def lay_out(folder: Path, target: str, own: Path, wheels: Mapping[str, Iterable[Path]]) -> Bundle:
    """Unpack the wheels, given by version of Python, below a folder, and describe them there.

    Raises ``BundleError`` where compiled modules are not made for exactly one interpreter, or a
    package comes without its license, which has to go with it.
    """
    for stale in folder.glob("cp3*"):
        shutil.rmtree(stale)
    pure = {own, *(wheel for each in wheels.values() for wheel in each if _is_pure(wheel))}
    _unpack(
        folder / "pure", {} if target == WEB else {wheel.name: wheel for wheel in pure}.values()
    )
    compiled = {}
    for python, each in wheels.items():
        name = f"cp{python}"
        _unpack(folder / name, (wheel for wheel in each if not _is_pure(wheel)))
        compiled[_suffix(folder / name)] = name
    for package in folder.glob("*/*.dist-info"):
        if not any(_LICENSE.match(path.name) for path in package.rglob("*")):
            raise BundleError(f"{package.stem} has no license file")
    bundle = Bundle(__version__, target, _MACHINES.get(target, ""), compiled)
    text = json.dumps(bundle._asdict(), indent=2) + "\n"
    (folder / "bundle.json").write_text(text, encoding="utf-8", newline="\n")
    return bundle


def _is_pure(wheel: Path) -> bool:
    return wheel.stem.endswith("-none-any")


def _unpack(folder: Path, wheels: Iterable[Path]) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    for wheel in sorted(wheels):
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder)


def _suffix(folder: Path) -> str:
    """What follows the names of all compiled modules: ``.cpython-311-x86_64-linux-gnu.so``."""
    modules = [path for path in folder.rglob("*") if path.suffix in {".so", ".pyd"}]
    suffixes = {path.name[path.name.index(".") :] for path in modules}
    if len(suffixes) != 1:
        raise BundleError(f"{folder.name}: modules for {sorted(suffixes) or 'nothing'}")
    return suffixes.pop()


if __name__ == "__main__":
    sys.exit(main())
