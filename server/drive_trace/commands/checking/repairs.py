"""What ``check --fix`` does with the files."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping

import click

from drive_trace.api import Analysis
from drive_trace.commands.formats.diff import unified_diff
from drive_trace.fixing import Fixable, fix_all, fixable, withheld
from drive_trace.rules.base import printable
from drive_trace.scorecard.verdict import Verdict
from drive_trace.storage.replace import replace_content
from drive_trace.storage.traces import STDIN, Problem, Trace
from drive_trace.text import encode_exactly, exact

_NAMED = 3
"""So many runs are named at the most."""


class Repairs:
    """Fixes traces, one after another, and counts."""

    def __init__(self, *, suggestions: bool, only_show: bool) -> None:
        self._suggestions = suggestions
        self._only_show = only_show
        self._fixed = 0
        self._left: list[Fixable] = []
        self._withheld = 0
        self._regraded: list[str] = []

    def fix(self, trace: Trace, analysis: Analysis) -> Problem | None:
        """Fix a trace where it stands; or say why it stays as it was, whatever ``analysis`` is now.

        The fixed text of standard input goes to standard output, and so does a diff.
        """
        before = list(analysis.document.lines)
        verdicts = _verdicts(analysis) if self._suggestions else {}
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
        self._left.append(fixable(analysis))
        self._withheld += withheld(analysis)
        if self._suggestions:
            after, none = _verdicts(analysis), Verdict.NOT_COMPUTABLE
            self._regraded += [
                run
                for run in dict.fromkeys([*verdicts, *after])
                if verdicts.get(run, none) is not after.get(run, none)
            ]
        return None

    def note(self) -> str:
        """How many findings were fixed, and how many more can be."""
        one = self._fixed == 1
        were = "would be" if self._only_show else "was" if one else "were"
        said = f"{self._fixed} finding{'s' * (not one)} {were} fixed"
        said += self._more()
        if self._withheld:
            said += (
                f"; lines with bytes that are not UTF-8 stay as they are "
                f"({self._withheld} finding{'s' * (self._withheld > 1)})"
            )
        if self._regraded:
            named = ", ".join(printable(run) for run in self._regraded[:_NAMED])
            more = len(self._regraded) - _NAMED
            said += f"; verdicts that change: {named}{f' and {more} more' if more > 0 else ''}"
        return said

    def _more(self) -> str:
        """What is left of which something can be done, and how."""
        by_suggestions = sum(each.by_suggestions for each in self._left)
        by_hand = sum(each.by_hand for each in self._left)
        if not by_suggestions:
            return f"; {by_hand} more can be in an editor, one at a time" if by_hand else ""
        some_of = "" if all(each.is_exact for each in self._left) else "some of "
        said = f"; {some_of}{by_suggestions} more can be, by suggestions (--unsafe-fixes)"
        return f"{said}, and {by_hand} in an editor, one at a time" if by_hand else said


def _verdicts(analysis: Analysis) -> Mapping[str, Verdict]:
    return {run.run_id: run.gate.verdict for run in analysis.score().runs}


def _as_recorded(texts: Iterable[str]) -> str:
    return "\n".join(map(exact, texts))


def _show(diff: Iterable[str]) -> None:
    """Print a diff: for a terminal without what could speak to it, else to the last byte."""
    if not sys.stdout.isatty():
        _write_exactly(diff)
        return
    colours = {"+": "green", "-": "red", "@": "cyan"}
    for line in diff:
        shown = "".join(each if each.isprintable() else "\ufffd" for each in line[:-1])
        click.secho(shown, fg=colours.get(line[0]))


def _write_exactly(texts: Iterable[str]) -> None:
    """Write text to standard output as UTF-8 and with its own line ends, whatever the locale, and
    bytes that are not UTF-8 as they are.
    """
    sys.stdout.flush()
    for text in texts:
        sys.stdout.buffer.write(encode_exactly(text))
    sys.stdout.buffer.flush()
