"""What commands that read traces share: the PATH argument, and reports of what is not read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import click

from drive_trace.commands.completion import complete_files
from drive_trace.commands.terminal import ProgressLine, notify
from drive_trace.scorecard.caveats import Unread
from drive_trace.storage.files import Problem, TraceRecords, read_trace
from drive_trace.storage.finding import LeftOut, find_traces, omitted

paths_argument = click.argument(
    "paths", metavar="[PATH]...", nargs=-1, shell_complete=complete_files
)
"""Files, folders to search, or ``-`` for standard input."""
no_ignore_option = click.option(
    "--no-ignore",
    is_flag=True,
    help="Search hidden folders, libraries and what git ignores, too.",
)


class Reading:
    """Reads the traces that paths mean, one after another, and reports what it cannot read."""

    def __init__(self, paths: Sequence[str], *, no_ignore: bool = False) -> None:
        self.unread: list[Unread] = []
        """What could not be read so far."""
        self.left_out: list[LeftOut] = []
        """What the search of folders found and did not read."""
        self._paths = paths or (".",)
        self._no_ignore = no_ignore

    def __iter__(self) -> Iterator[TraceRecords]:
        progress = ProgressLine("reading traces")
        for found in progress.over(find_traces(self._paths, everywhere=self._no_ignore)):
            if isinstance(found, LeftOut):
                self.left_out.append(found)
                continue
            trace = found if isinstance(found, Problem) else read_trace(found)
            if isinstance(trace, Problem):
                self.unread.append(Unread(trace.path, trace.reason))
                progress.clear()
                notify(trace.message)
            else:
                yield trace

    def notes(self) -> list[str]:
        """What a person must know about the search."""
        phrase = omitted(self.left_out).phrase
        return [phrase] if phrase else []
