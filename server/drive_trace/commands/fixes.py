"""What ``check --fix`` writes, and the diff that ``check --diff`` shows instead."""

import os
import stat
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from difflib import Match, SequenceMatcher
from itertools import zip_longest

import click

from drive_trace.analysis import Analysis
from drive_trace.authoring.fixing import fix_all, with_fixes, withheld
from drive_trace.commands.terminal import in_colour
from drive_trace.linter.rule import Level
from drive_trace.storage import files, replace
from drive_trace.text.spans import Span, common_start, encode_exactly, exact
from drive_trace.text.wording import cells, plural, printable
from drive_trace.trace.line import Line, run_of

_RUNNERS = ("CI", "GITHUB_ACTIONS", "TF_BUILD")
"""A CI runner sets one of these variables."""


class Fixes:
    """Fixes traces, one after another, and counts the fixes."""

    def __init__(self, *, suggestions: bool, only_show: bool) -> None:
        self._suggestions = suggestions
        self._only_show = only_show
        self._fixed = self._in_part = self._places = 0
        self._left = Counter[Level]()
        self._withheld: Counter[str] = Counter()

    def fix(self, trace: files.TraceRecords, analysis: Analysis, name: str) -> files.Problem | None:
        """Fix a trace in its file, or return why the file stays as it was, or Unsynced.
        ``analysis`` is fixed in each case. The fixed text of standard input goes to standard
        output, and so does a diff, which has the ``name``.
        """
        before, problem = list(analysis.document.lines), None
        told, places = _told(analysis)
        fixed = fix_all(analysis, suggestions=self._suggestions)
        after = analysis.document.lines
        if self._only_show:
            _show(_unified_diff(printable(name, 4096), before, after))
        elif trace.path == files.STDIN:
            _write_exactly([_as_recorded(line.text for line in after)])
        elif fixed:
            old = encode_exactly(_as_recorded(trace.records))
            new = encode_exactly(_as_recorded(line.text for line in after))
            problem = replace.replace_content(trace.path, old, new)
        if problem is None or isinstance(problem, replace.Unsynced):
            left, places_left = _told(analysis)
            self._fixed += (told - left).total()
            in_part = (places - places_left).keys() - (told - left).keys()
            self._in_part += len(in_part)
            self._places += sum(places[each] - places_left[each] for each in in_part)
        return problem

    def count(self, analysis: Analysis) -> None:
        """Take in what is left in a trace that was fixed."""
        self._left += with_fixes(analysis)
        self._withheld += withheld(analysis)

    def note(self) -> str:
        """How many findings were fixed, and how many are left to a person."""
        one = self._fixed == 1
        were = "would be" if self._only_show else "was" if one else "were"
        message = f"{plural(self._fixed, 'finding')} {were} fixed"
        part = f", and {self._in_part} in part ({plural(self._places, 'place')})"
        message += part * bool(self._in_part)
        if self._left:
            message += f"; {self._left.total()} more can be fixed in an editor, one at a time"
            in_bulk = self._left[Level.IN_BULK] if not self._suggestions else 0
            message += f", or up to {in_bulk} of them with --unsafe-fixes" * bool(in_bulk)
        for reason, count in self._withheld.items():
            message += f"; {reason} ({plural(count, 'finding')})"
        return message


def _told(analysis: Analysis) -> Sequence[Counter[tuple[str, str | None]]]:
    """How many findings are told of each rule in each run, as the report counts them, and of how
    many places.
    """
    told, places = (Counter[tuple[str, str | None]]() for _ in range(2))
    for finding, others, _ in analysis.told():
        key = finding.rule.code, run_of(finding.line)
        told[key] += 1
        places[key] += 1 + len(others)
    return told, places


def _as_recorded(texts: Iterable[str]) -> str:
    return "\n".join(map(exact, texts))


def _show(diff: Iterable[tuple[str, Span]]) -> None:
    """Print a diff. It is exact, so that it can be applied; but for a terminal, and for the log of
    a CI runner, what these would obey is replaced, and what changed within a line is marked.
    """
    if not (sys.stdout.isatty() or _is_log() or in_colour(sys.stdout)):
        _write_exactly(line for line, _ in diff)
        return
    for line, changed in diff:
        click.echo(_coloured(line, changed))


def _is_log() -> bool:
    """Whether a CI runner may read standard output line by line. It reads no file."""
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


# The diff

_CONTEXT = 3
_COLOURS = {"+": "green", "-": "red", "@": "cyan"}
_ALIKE = Span(0, 0)
_NO_NEWLINE = "\\ No newline at end of file\n"


class _Stayed(SequenceMatcher[str]):
    """Knows what stayed by its :class:`Line`, so that only what is between two such lines has to be
    compared with each other: of many changes that would take minutes.
    """

    def __init__(self, before: Sequence[Line], after: Sequence[Line]) -> None:
        self._before, self._after = before, after
        self.old, self.new = _texts(before), _texts(after)
        super().__init__(None, self.old, self.new)

    def get_matching_blocks(self) -> list[Match]:
        """See :class:`SequenceMatcher`."""
        place_of = {line: place for place, line in enumerate(self._before[: len(self.old)])}
        blocks = [Match(0, 0, 0)]

        def stays(place: int, new_place: int, size: int) -> None:
            start, new_start, before = blocks[-1]
            if (place, new_place) == (start + before, new_start + before):
                blocks[-1] = Match(start, new_start, before + size)
            else:
                blocks.append(Match(place, new_place, size))

        at = new_at = 0
        for new_place, line in enumerate([*self._after[: len(self.new)], None]):
            place = place_of.get(line, -1) if line is not None else len(self.old)
            # The last line stays the same also where it gets its newline.
            if line is not None and (place < 0 or self.old[place] != self.new[new_place]):
                continue
            if place > at and new_place > new_at:  # lines that were read again may be the same
                between = SequenceMatcher(None, self.old[at:place], self.new[new_at:new_place])
                for start, new_start, size in between.get_matching_blocks():
                    stays(at + start, new_at + new_start, size)
            stays(place, new_place, int(line is not None))
            at, new_at = place + 1, new_place + 1
        return blocks


def _unified_diff(
    path: str, before: Sequence[Line], after: Sequence[Line]
) -> Iterator[tuple[str, Span]]:
    """The diff's lines, each with its newline, as :func:`encode_exactly` takes them, and with what
    is not alike in the line in its place, where there are as many of both.
    """
    matcher = _Stayed(before, after)
    for number, hunk in enumerate(matcher.get_grouped_opcodes(_CONTEXT)):
        if number == 0:
            yield f"--- {path}\n", _ALIKE
            yield f"+++ {path}\n", _ALIKE
        (_, start, _, new_start, _), (_, _, stop, _, new_stop) = hunk[0], hunk[-1]
        yield f"@@ -{_range(start, stop)} +{_range(new_start, new_stop)} @@\n", _ALIKE
        for tag, *place in hunk:
            old, new = matcher.old[place[0] : place[1]], matcher.new[place[2] : place[3]]
            marked = [(" ", old)] if tag == "equal" else [("-", old), ("+", new)]
            pairs = [*zip(old, new, strict=True)] if len(old) == len(new) else []
            for mark, texts in marked:
                for text, pair in zip_longest(texts, pairs):
                    yield mark + text, _changed(text, pair)
                    if not text.endswith("\n"):
                        yield f"\n{_NO_NEWLINE}", _ALIKE


def _texts(lines: Sequence[Line]) -> list[str]:
    *whole, last = (exact(line.text) for line in lines)
    return [f"{text}\n" for text in whole] + ([last] if last else [])


def _range(start: int, stop: int) -> str:
    """As GNU diff writes it: an empty range names the line before it."""
    count = stop - start
    if count == 1:
        return str(start + 1)
    return f"{start + 1 if count else start},{count}"


def _coloured(line: str, changed: Span) -> str:
    """A line for a person to look at: without what a terminal obeys, and with a mark on what
    changed within it.
    """
    shown, colour = line[:1] + cells(line[1:].removesuffix("\n")), _COLOURS.get(line[0])
    parts = shown[: changed.start], shown[changed.start : changed.end], shown[changed.end :]
    return "".join(
        click.style(part, fg=colour, reverse=True if number == 1 else None)
        for number, part in enumerate(parts)
        if part
    )


def _changed(text: str, pair: tuple[str, str] | None) -> Span:
    """Where a line of a diff differs from the other one of its pair, behind its mark."""
    if pair is None or pair[0] == pair[1]:
        return _ALIKE
    head = common_start(*pair)
    tail = common_start(*(each[head:][::-1] for each in pair))
    return Span(1 + head, 1 + len(text) - tail)
