"""How large the server is: lines of code and files by package, beside what ARCHITECTURE.md allows.

``python -m tools.sizes`` prints them. A line of code is one that is not blank, no comment and
no docstring.
"""

from __future__ import annotations

import ast
import re
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "server" / "drive_trace"
TOP = "(top)"
"""Stands for the modules that are in no package."""
_ROW = re.compile(r"^\| `([\w()]+)` \| .*? \| ([\d,]+) \| (\d+) \|", re.MULTILINE)
_NO_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
}


class Size(NamedTuple):
    """How large a package is, or may be."""

    lines: int
    files: int


def code_lines(path: Path) -> int:
    """The lines of code in a module."""
    lines: set[int] = set()
    with path.open("rb") as file:
        for token in tokenize.tokenize(file.readline):
            if token.type not in _NO_CODE:
                lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        is_value = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if is_value and isinstance(node.value.value, str):
            lines.difference_update(range(node.lineno, node.end_lineno + 1))
    return len(lines)


def sizes() -> dict[str, Size]:
    """How large each package is."""
    found = {TOP: _size(PACKAGE.glob("*.py"))}
    for folder in sorted(PACKAGE.iterdir()):
        if (folder / "__init__.py").exists():
            found[folder.name] = _size(folder.rglob("*.py"))
    return found


def allowed() -> dict[str, Size]:
    """How large each package may be, by the table in ARCHITECTURE.md, which has a row for each."""
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    rows = _ROW.findall(text)
    limits = {name: Size(int(lines.replace(",", "")), int(files)) for name, lines, files in rows}
    assert len(limits) == len(rows), "ARCHITECTURE.md has a row twice"
    return limits


def _size(paths: Iterator[Path]) -> Size:
    lines = [code_lines(path) for path in paths]
    return Size(sum(lines), len(lines))


def main() -> None:
    """Print how large each package is, as the table has it."""
    for name, size in sizes().items():
        sys.stdout.write(f"| `{name}` | {size.lines:,} | {size.files} |\n")


if __name__ == "__main__":
    main()
