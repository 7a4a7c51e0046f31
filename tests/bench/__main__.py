"""`python -m tests.bench`: measure, and print a table of measurements beside their floors."""

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests.bench.files import BenchFiles
from tests.bench.programs import Program
from tests.bench.rows import PARTS, rows_of
from tests.bench.table import machine, render

_ROOT = Path(__file__).parents[2]
_PAGE = _ROOT / "docs" / "performance.md"
_MARK = "<!-- figures -->\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure; the exit code is 1 if a row is more than a tenth worse than at `--base`."""
    options = _parse(arguments)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="drive-trace-bench-")))
        files = BenchFiles(folder.resolve(), options.lines, options.traces)
        program = Program(_ROOT, _made(folder / "now"))
        base = None
        if options.base:
            tree = stack.enter_context(_checked_out(options.base, folder / "tree"))
            base = Program(tree, _made(folder / "base"))
        where = machine()
        sys.stdout.write(f"{where}\n\n")
        parts = [PARTS[name](files) for name in options.only or PARTS]
        rows = rows_of(parts)
        for _ in range(options.repeats):
            for row in rows:
                row.sample(program, base)
    missed, worse = (sum(getattr(row, name) for row in rows) for name in ("is_missed", "is_worse"))
    table = render(parts)
    if options.write:
        before, _, after = _PAGE.read_text(encoding="utf-8").split(_MARK)
        shown = f"```text\n{where}\n```\n\n{table}\n"
        _PAGE.write_text(before + _MARK + shown + _MARK + after, encoding="utf-8")
    sys.stdout.write(f"{table}\n\n{missed} rows miss their aim")
    sys.stdout.write(f"; {worse} are worse than at {options.base}\n" if base else "\n")
    return 1 if worse else 0


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("--lines", type=int, default=100_000, help="of the long traces (100,000)")
    parser.add_argument("--traces", type=int, default=2_000, help="in the folder (2,000)")
    parser.add_argument("--repeats", type=int, default=5, help="tries of a row, at most (5)")
    parser.add_argument("--only", nargs="+", choices=PARTS, help="measure these parts alone")
    parser.add_argument("--base", help="a commit to compare with, in pairs")
    parser.add_argument("--write", action="store_true", help="put the table into the docs")
    return parser.parse_args(arguments)


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


@contextmanager
def _checked_out(commit: str, folder: Path) -> Iterator[Path]:
    """The tree of a commit. Its libraries are those of this environment."""
    git = ["git", "-C", str(_ROOT), "worktree"]
    subprocess.run([*git, "add", "--quiet", "--detach", str(folder), commit], check=True)
    try:
        yield folder
    finally:
        subprocess.run([*git, "remove", "--force", str(folder)], check=True)


if __name__ == "__main__":
    sys.exit(main())
