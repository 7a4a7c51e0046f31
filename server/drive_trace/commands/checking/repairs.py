"""What ``check --fix`` does with the files."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterable

import click

from drive_trace.analysis import Analysis
from drive_trace.authoring.fixing import fix_all, with_fixes, withheld
from drive_trace.commands.formats.diff import unified_diff
from drive_trace.storage.replace import replace_content
from drive_trace.storage.traces import STDIN, Problem, Trace
from drive_trace.text.escaping import cells, printable
from drive_trace.text.spans import encode_exactly, exact

_RUNNERS = ("CI", "GITHUB_ACTIONS", "TF_BUILD")
"""Variables of which a CI runner sets one."""


class Repairs:
    """Fixes traces, one after another, and counts."""

    def __init__(self, *, suggestions: bool, only_show: bool) -> None:
        self._suggestions = suggestions
        self._only_show = only_show
        self._fixed = 0
        self._left = 0
        self._withheld = 0

    def fix(self, trace: Trace, analysis: Analysis) -> Problem | None:
        """Fix a trace where it stands; or say why it stays as it was, whatever ``analysis`` is now.

        The fixed text of standard input goes to standard output, and so does a diff.
        """
        before = list(analysis.document.lines)
        fixed = fix_all(analysis, suggestions=self._suggestions)
        if self._only_show:
            _show(unified_diff(printable(trace.path, 4096), before, analysis.document.lines))
        elif trace.path == STDIN:
            _write_exactly([_as_recorded(line.text for line in analysis.document.lines)])
        elif fixed:
            old = encode_exactly(_as_recorded(trace.records))
            new = encode_exactly(_as_recorded(line.text for line in analysis.document.lines))
            problem = replace_content(trace.path, old, new)
            if problem is not None:
                return problem
        self._fixed += fixed
        self._left += with_fixes(analysis)
        self._withheld += withheld(analysis)
        return None

    def note(self) -> str:
        """How many findings were fixed, and how many are left to a person."""
        one = self._fixed == 1
        were = "would be" if self._only_show else "was" if one else "were"
        said = f"{self._fixed} finding{'s' * (not one)} {were} fixed"
        if self._left:
            said += f"; {self._left} more can be in an editor, one at a time"
        if self._withheld:
            said += (
                f"; lines with bytes that are not UTF-8 stay as they are "
                f"({self._withheld} finding{'s' * (self._withheld > 1)})"
            )
        return said


def _as_recorded(texts: Iterable[str]) -> str:
    return "\n".join(map(exact, texts))


def _show(diff: Iterable[str]) -> None:
    """Print a diff: to the last byte, so that it can be applied; but for a terminal, and for the
    log of a CI runner, without what these obey.
    """
    if not (sys.stdout.isatty() or _is_log()):
        _write_exactly(diff)
        return
    colours = {"+": "green", "-": "red", "@": "cyan"}
    for line in diff:
        shown = line[:1] + cells(line[1:-1])
        click.secho(shown, fg=colours.get(line[0]))


def _is_log() -> bool:
    """Whether a runner may read standard output, line by line: it does not read what goes into a
    file.
    """
    if not any(map(os.environ.get, _RUNNERS)):
        return False
    try:
        return not stat.S_ISREG(os.fstat(sys.stdout.fileno()).st_mode)
    except OSError:  # a stream of this process alone
        return False


def _write_exactly(texts: Iterable[str]) -> None:
    """Write text to standard output as UTF-8 and with its own line ends, whatever the locale, and
    bytes that are not UTF-8 as they are.
    """
    sys.stdout.flush()
    for text in texts:
        sys.stdout.buffer.write(encode_exactly(text))
    sys.stdout.buffer.flush()
