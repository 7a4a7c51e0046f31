"""What commands that read traces share: the PATH argument and telling what cannot be read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

import click

from drive_trace.commands.completing import complete_files
from drive_trace.commands.terminal import Progress
from drive_trace.rules.base import printable
from drive_trace.scorecard.caveats import Unread
from drive_trace.storage.traces import Problem, Trace, find_traces, read_trace

Command = TypeVar("Command", bound=Callable[..., object])


def paths_argument(command: Command) -> Command:
    """``[PATH]…``: files, folders to search, or ``-`` for standard input."""
    return click.argument("paths", metavar="[PATH]...", nargs=-1, shell_complete=complete_files)(
        command
    )


class Reading:
    """Reads the traces that paths mean, one after another, and tells of what it cannot read."""

    def __init__(self, paths: Sequence[str]) -> None:
        self.unread: list[Unread] = []
        """What could not be read so far."""
        self._paths = paths or (".",)

    def __iter__(self) -> Iterator[Trace]:
        progress = Progress("reading traces")
        for found in progress.over(find_traces(self._paths)):
            trace = found if isinstance(found, Problem) else read_trace(found)
            if isinstance(trace, Problem):
                self.unread.append(Unread(trace.path, trace.reason))
                progress.clear()
                click.echo(f"drive-trace: {printable(trace.message, 8192)}", err=True)
            else:
                yield trace
