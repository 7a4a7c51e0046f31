"""What SECURITY.md promises of the package as a whole, and that each promise has its test."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "server/drive_trace"

STARTS = {"subprocess", "pty", "multiprocessing", "concurrent", "pickle", "marshal"}
RUNS = {"eval", "exec", "compile", "__import__", "system", "popen", "fork", "startfile"}
SPAWNS = re.compile(r"exec[lv]p?e?|spawn[lv]p?e?|posix_spawnp?|create_subprocess_\w+")
CONNECTS = {"http", "ftplib", "smtplib", "ssl", "requests", "httpx", "httpx2", "urllib3", "aiohttp"}
ASKED = {"commands/gate.py", "commands/models.py", "storage/git.py"}
"""What runs a command that a person gave, or git."""
PROCESSES = "storage/processes.py"
"""It runs what it is given, forks, and unpickles only what its own processes send."""
WAITS = "lsp/rpc/threads.py"
"""It waits for its own threads, and takes the future of the library, and no pool."""
ENGINE = "fleet/engine.py"
"""It unpickles only what its own functions made, on the cluster that a person named."""


def trees() -> Iterator[tuple[str, ast.AST]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        yield path.relative_to(PACKAGE).as_posix(), ast.parse(path.read_text("utf-8"))


def imported(tree: ast.AST) -> set[str]:
    """All modules, and what is used of them, by their whole names."""
    names: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {each.asname or each.name: each.name for each in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            names[node.module] = node.module
            names |= {e.asname or e.name: f"{node.module}.{e.name}" for e in node.names}
    used = (each for each in ast.walk(tree) if isinstance(each, ast.Attribute))
    of = ((names.get(ast.unparse(each.value)), each.attr) for each in used)
    return {*names.values(), *(f"{module}.{name}" for module, name in of if module is not None)}


def called(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Name):
                yield node.func.id
            elif isinstance(node.func, ast.Attribute) and not is_pattern(node.func):
                yield node.func.attr


def is_pattern(function: ast.Attribute) -> bool:
    return isinstance(function.value, ast.Name) and function.value.id == "re"


def test_the_package_starts_only_what_is_asked_for_and_evaluates_no_text() -> None:
    for path, tree in trees():
        names = imported(tree)
        if path == WAITS:
            names -= {"concurrent.futures", "concurrent.futures.Future"}
        started = STARTS & {name.partition(".")[0] for name in names}
        if path != PROCESSES:
            assert started <= ({"pickle"} if path == ENGINE else set()), path
        if names & {f"drive_trace.storage.processes.{name}" for name in ("run_shell", "Program")}:
            assert path in ASKED
        found = {name for name in called(tree) if name in RUNS or SPAWNS.fullmatch(name)}
        assert not found, f"{path}: {found}"


def test_the_package_connects_to_nothing_but_a_judges_provider_and_a_cluster() -> None:
    for path, tree in trees():
        names = imported(tree)
        if path != "commands/http_models.py":
            assert not CONNECTS & {name.partition(".")[0] for name in names}, path
        if "drive_trace.commands.http_models.HttpModel" in names:
            assert path == "commands/models.py"
        assert "urllib.request" not in names, path
        if {"daft", "ray"} & names:
            assert path == ENGINE
        elif "socket" in names:
            assert path == "lsp/serving.py"
            assert "connect" not in set(called(tree))
            (address,) = (
                ast.literal_eval(node.args[0].elts[0])
                for node in ast.walk(tree)
                if isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr == "create_server"
                and isinstance(node.args[0], ast.Tuple)
            )
            assert address == "127.0.0.1"


def test_each_promise_names_tests_that_there_are() -> None:
    text = (ROOT / "SECURITY.md").read_text("utf-8")
    promises = text[text.index("## What is never run") :]
    for line in re.findall(r"(?m)^- .*", promises):
        assert re.search(r"`[\w./-]+::\w+`", line), f"without a test: {line}"
    for path, name in re.findall(r"`([\w./-]+)::(\w+)`", text):
        source = (ROOT / path).read_text("utf-8")
        assert re.search(rf"\b(?:def|function) {name}\(", source), f"{path} has no {name}"
