"""What commands read: the traces that paths mean, and the text of other files."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import TypeVar

from drive_trace.commands.terminal import EXIT_UNUSABLE, Ended, ProgressBar, notify, say_waiting
from drive_trace.scorecard.caveats import Unread
from drive_trace.storage.files import LeftOut, Problem, TraceRecords, read_bytes, read_trace
from drive_trace.storage.finding import NoTraces, SearchOptions, find_traces, omitted, traces_beside

T = TypeVar("T")


def usable(outcome: T | Problem) -> T:
    """What was read, if it was. Otherwise ends the command."""
    if isinstance(outcome, Problem):
        raise Ended(EXIT_UNUSABLE, outcome.message)
    return outcome


def read_text(source: str, most: int) -> str:
    """The text of a file, or of standard input for ``-``. Ends the command if it cannot be read, or
    has more than ``most`` bytes.
    """
    say_waiting(source)
    data = usable(read_bytes(source, most))
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        found = f"byte 0x{data[error.start]:02x} in line {line}"
        what = f"{source}: is not UTF-8 ({found}); save it as UTF-8 and try again"
        raise Ended(EXIT_UNUSABLE, what) from error


class Reading:
    """Reads the traces that paths mean, one after another, and reports what it cannot read."""

    def __init__(self, paths: Sequence[str], search: SearchOptions) -> None:
        self.unread: list[Unread] = []
        """What could not be read so far."""
        self.tells_unread = True
        """Whether that is told on standard error as it is found."""
        self.left_out: list[LeftOut] = []
        """What the search of folders found and did not read."""
        self.search = search
        self._paths = paths or (".",)
        self._found: list[str] = []
        self.progress = ProgressBar("reading traces")

    def __iter__(self) -> Iterator[TraceRecords]:
        for found in self.progress.over(find_traces(self._paths, options=self.search)):
            if isinstance(found, str):
                say_waiting(found)
            trace = found if isinstance(found, Problem) else read_trace(found)
            if isinstance(trace, LeftOut):
                self.left_out.append(trace)
                continue
            if isinstance(trace, TraceRecords):
                self._found.append(trace.path)
                yield trace
                continue
            self.progress.clear()
            if isinstance(trace, NoTraces):
                notify(f"warning: {trace.message}")
            else:
                self.note_unread(trace)

    def note_unread(self, problem: Problem) -> None:
        """Note what cannot be read."""
        if self.tells_unread:
            notify(problem.message)
        self.unread.append(Unread(problem.path, problem.reason))

    def beside(
        self, run_ids: Callable[[], Collection[str]], most: float = math.inf
    ) -> Iterator[TraceRecords | Problem]:
        """The other traces of runs in what was read, see :func:`traces_beside`."""
        return traces_beside(self._paths, self._found, run_ids, self.search, most)

    def notes(self) -> list[str]:
        """What a person must know about the search."""
        sentence = omitted(self.left_out).sentence()
        return [sentence] if sentence else []
