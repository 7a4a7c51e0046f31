"""The server inside the extension, laid out from wheels."""

import json
import zipfile
from pathlib import Path

import pytest
from tools.bundle import PLATFORMS, BundleError, lay_out, this_target

from drive_trace import __version__

GNU = "x86_64-linux-gnu.so"


def wheel(folder: Path, name: str, *files: str) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / f"{name}.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for file in files:
            archive.writestr(file, file)
    return path


@pytest.fixture
def own(tmp_path: Path) -> Path:
    return wheel(tmp_path / "own", "drive_trace-1-py3-none-any", "drive_trace/analysis.py")


def compiled_for(tmp_path: Path, python: str, *modules: str) -> list[Path]:
    folder = tmp_path / python
    return [
        wheel(folder, "pure-1-py3-none-any", "pure.py"),
        wheel(folder, f"fast-1-cp{python}-cp{python}-any_platform", "fast/__init__.py", *modules),
    ]


def files(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_pure_wheels_are_there_once_and_compiled_ones_for_each_python(
    tmp_path: Path, own: Path
) -> None:
    wheels = {
        python: compiled_for(tmp_path, python, f"fast/_fast.cpython-{python}-{GNU}")
        for python in ("311", "312")
    }
    lay_out(tmp_path / "server", "linux-x64", own, wheels)
    assert files(tmp_path / "server") == {
        "bundle.json",
        "pure/drive_trace/analysis.py",
        "pure/pure.py",
        "cp311/fast/__init__.py",
        f"cp311/fast/_fast.cpython-311-{GNU}",
        "cp312/fast/__init__.py",
        f"cp312/fast/_fast.cpython-312-{GNU}",
    }


def test_for_browsers_nothing_is_left_that_takes_a_python(tmp_path: Path, own: Path) -> None:
    wheels = {"314": compiled_for(tmp_path, "314", f"fast/_fast.cpython-314-{GNU}")}
    lay_out(tmp_path / "server", "linux-x64", own, wheels)
    lay_out(tmp_path / "server", "web", own, {})
    assert files(tmp_path / "server") == {"bundle.json"}


def test_a_bundle_says_which_interpreters_it_is_for(tmp_path: Path, own: Path) -> None:
    wheels = {"314": compiled_for(tmp_path, "314", "fast/_fast.cpython-314-darwin.so")}
    lay_out(tmp_path / "server", "darwin-arm64", own, wheels)
    assert json.loads((tmp_path / "server/bundle.json").read_text()) == {
        "version": __version__,
        "target": "darwin-arm64",
        "machine": "arm64",
        "compiled": {".cpython-314-darwin.so": "cp314"},
    }


def test_what_an_earlier_bundle_left_is_gone(tmp_path: Path, own: Path) -> None:
    wheels = {"311": compiled_for(tmp_path, "311", "_fast.cp311-win_amd64.pyd")}
    stale = tmp_path / "server/cp311/stale.py"
    stale.parent.mkdir(parents=True)
    stale.touch()
    lay_out(tmp_path / "server", "win32-x64", own, wheels)
    assert not stale.exists()


def test_modules_for_two_interpreters_are_no_bundle(tmp_path: Path, own: Path) -> None:
    mixed = compiled_for(tmp_path, "311", "a.cp311-win_amd64.pyd", "b.cp312-win_amd64.pyd")
    with pytest.raises(BundleError, match=r"cp311: modules for .*cp311-win_amd64.*cp312"):
        lay_out(tmp_path / "server", "win32-x64", own, {"311": mixed})


def test_a_package_without_its_license_is_not_bundled(tmp_path: Path, own: Path) -> None:
    info = "their-1.dist-info"
    wheels = compiled_for(tmp_path, "311", "_fast.cp311-win_amd64.pyd")
    wheels.append(wheel(tmp_path / "their", "their-1-py3-none-any", f"{info}/METADATA"))
    with pytest.raises(BundleError, match=r"their-1 has no license file"):
        lay_out(tmp_path / "server", "win32-x64", own, {"311": wheels})
    wheel(tmp_path / "their", "their-1-py3-none-any", f"{info}/licenses/COPYING")
    lay_out(tmp_path / "server", "win32-x64", own, {"311": wheels})


def test_this_machine_has_a_target() -> None:
    assert this_target() in PLATFORMS
