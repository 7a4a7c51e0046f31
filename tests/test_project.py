"""What holds the project together: arrows, generated files, one thing a module."""

import ast
import asyncio
import re
import subprocess
import sys
from collections import Counter
from importlib import metadata
from pathlib import Path

import pytest
from hypothesis import settings
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from tools.sizes import allowed, sizes

from drive_trace.vocabulary import EVENTS

ROOT = Path(__file__).parent.parent


def run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_imports_follow_the_arrows() -> None:
    done = run(str(Path(sys.executable).with_name("lint-imports")), "--no-cache")
    assert done.returncode == 0, done.stdout + done.stderr


def test_generated_files_are_fresh() -> None:
    done = run(sys.executable, "tools/generate.py", "--check")
    assert done.returncode == 0, f"{done.stderr}\nrun `make generate`"


def test_captures_show_an_event_without_its_envelope_but_where_the_cursor_is_in_it() -> None:
    from tools.captures import trace_shown

    shown = trace_shown('EVENT{"event_type":"retro-landed"}\nEVENT{"event_type":"retro-landed"$0}')
    assert [each.startswith('{…,"event_type":"retro-landed"') for each in shown[1:-1]] == [True] * 2
    (_, shown_whole, _) = trace_shown('EVENT{"project_run_id":"$0","event_type":"retro-landed"}')
    assert '"project_run_id":"▮","orchestrator_agent_id":null,"event_type"' in shown_whole


def test_every_feature_names_the_methods_that_it_answers_and_these_are_served() -> None:
    from drive_trace.lsp.server import TraceServer

    async def methods_served() -> set[str]:
        return {*TraceServer().protocol.fm.features}

    served = asyncio.run(methods_served())
    support = {"__init__", "options", "referents", "results"}
    features = ROOT / "server/drive_trace/features"
    for path in (*features.glob("*.py"), *features.glob("*/__init__.py")):
        prose = ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""
        methods = re.findall(r"``(\w+/\w+(?:/\w+)*)``", prose.partition("\n\n")[0])
        assert path.stem in support or methods, f"{path.stem} names no method"
        assert served.issuperset(methods), f"{path.stem}: not served"


def test_event_names_stand_where_events_are_declared_judged_scored_or_told() -> None:
    package = ROOT / "server/drive_trace"
    at_home = {package / name for name in ("vocabulary", "linter", "scorecard", "report")}
    tell = {package / f"authoring/{name}.py" for name in ("transcripts", "sessions")}
    strays = [
        f"{path.relative_to(package)}: {node.value}"
        for path in package.rglob("*.py")
        if not at_home & set(path.parents) and path not in tell
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Constant) and node.value in EVENTS
    ]
    assert strays == []


def test_the_server_is_no_larger_than_architecture_allows() -> None:
    limits, every = allowed(), sizes()
    assert limits.keys() == every.keys()
    too_large = {
        name: f"{size.lines} lines in {size.files} files, allowed are {limits[name]}"
        for name, size in every.items()
        if size.lines > limits[name].lines or size.files > limits[name].files
    }
    assert not too_large, "delete, or raise the number in ARCHITECTURE.md and say why in the commit"


def test_every_command_module_is_a_command() -> None:
    from drive_trace.commands import COMMANDS

    support = {"__init__", "baselines", "checking", "evidence", "fixes"}
    support |= {"formats", "http_models", "looking_back", "machine_formats", "models", "options"}
    support |= {"planned", "reading", "terminal"}
    modules = {path.stem for path in (ROOT / "server/drive_trace/commands").glob("*.py")}
    assert {module for module, _ in COMMANDS.values()} == modules - support


def test_the_changelog_tells_each_change_once_below_the_heading_of_its_kind() -> None:
    entries = re.findall(r"(?m)^- .+", (ROOT / "CHANGELOG.md").read_text("utf-8"))
    assert entries
    again = [each for each, count in Counter(entries).items() if count > 1]
    assert again + [each for each in entries if re.search(r"\*\*\w+:\*\*", each)] == []


def test_property_tests_draw_the_same_each_time_and_no_busy_machine_breaks_them(
    request: pytest.FixtureRequest,
) -> None:
    drawn = settings.get_profile("same")
    assert (drawn.derandomize, drawn.deadline, drawn.database) == (True, None, None)
    if request.config.getoption("--hypothesis-profile") is None:
        assert settings().derandomize


# What is locked for the engines is installed where these are tested, and held there to the same.
LOCKS = {path.name for path in ROOT.glob("requirements*.lock")} - {"requirements-fleet.lock"}
PYTHONS = ["3.11", "3.12", "3.13", "3.14"]
SYSTEMS = [("linux", "posix"), ("darwin", "posix"), ("win32", "nt")]


@pytest.mark.parametrize("lock", sorted(LOCKS))
@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize(("system", "family"), SYSTEMS)
def test_a_lock_file_holds_all_that_its_packages_need_there(
    lock: str, python: str, system: str, family: str
) -> None:
    there = {
        "python_version": python,
        "python_full_version": f"{python}.0",
        "sys_platform": system,
        "os_name": family,
        "platform_system": {"linux": "Linux", "darwin": "Darwin", "win32": "Windows"}[system],
        "extra": "",
    }
    text = (ROOT / lock).read_text("utf-8")
    pins = map(Requirement, re.findall(r"(?m)^([\w.\[\]-]+==[^\\\n]+)", text))
    held = {
        canonicalize_name(pin.name) for pin in pins if not pin.marker or pin.marker.evaluate(there)
    }
    needs = {
        canonicalize_name(need.name): name
        for name in held
        if name != "colorama"  # it needs nothing, and is not installed here
        for need in map(Requirement, metadata.requires(name) or ())
        if not need.marker or need.marker.evaluate(there)
    }
    missing = {f"{name}, for {by}" for name, by in needs.items() if name not in held}
    assert not missing, "run `make lock`"
    assert held
