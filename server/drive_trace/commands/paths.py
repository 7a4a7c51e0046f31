"""What commands that read traces share: the PATH argument, and reports of what is not read."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import PurePath

import click

from drive_trace.commands.completion import complete_files
from drive_trace.commands.terminal import Progress, notify, say_waiting
from drive_trace.scorecard.caveats import Unread
from drive_trace.storage.files import STDIN, Problem, TraceRecords, read_trace
from drive_trace.storage.finding import LeftOut, NoTraces, find_traces, omitted
from drive_trace.storage.patterns import patterns_of

paths_argument = click.argument(
    "paths", metavar="[PATH]...", nargs=-1, shell_complete=complete_files
)
"""Files, folders to search, or ``-`` for standard input."""
no_ignore_option = click.option(
    "--no-ignore",
    is_flag=True,
    help="Search hidden folders, libraries and what git ignores, too.",
)

follow_links_option = click.option(
    "--follow-links",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=lambda ctx, _, value: ctx.meta.update({"follow-links": value}),
    help="Write to what a link that is named leads to, also out of its repository.",
)


def followed(path: str) -> str:
    """A path that somebody named; with ``--follow-links``, where its links lead."""
    follows = path != STDIN and click.get_current_context().meta["follow-links"]
    return os.path.realpath(path) if follows else path


def _commit(ctx: click.Context, _: click.Parameter, value: str | None) -> None:
    from drive_trace.storage.git import commit_named  # noqa: PLC0415 - few need git

    ctx.meta["trusted"] = ctx.meta["trusted"] if value is None else commit_named(value)
    if ctx.meta["trusted"] is None:
        raise click.BadParameter(f"{value} is no commit that is here; fetch it")


trust_config_option = click.option(
    "--trust-config",
    is_flag=True,
    expose_value=False,
    callback=lambda ctx, _, value: ctx.meta.update({"trusted": value}),
    help="Believe what the drive-trace.toml of the tree says of judges and of what is left out, "
    "although whoever is judged may have written it.",
)
trust_commit_option = click.option(
    "--trust-config-at",
    metavar="COMMIT",
    expose_value=False,
    callback=_commit,
    help="Take each drive-trace.toml and baseline as it stands in this commit, and believe that: "
    "in CI, the commit that a change is based on.",
)


def trusted() -> bool | str:
    """Whether configurations are trusted, or the commit as of which they are."""
    found: bool | str = click.get_current_context().meta["trusted"]
    return found


_SUFFIXES = {".md": "markdown", ".json": "json", ".html": "html", ".htm": "html"}


def format_of(out: str | None, default: str) -> str:
    """The format of a report that the name of its file says."""
    return _SUFFIXES.get(PurePath(out or "").suffix.lower(), default)


class Reading:
    """Reads the traces that paths mean, one after another, and reports what it cannot read."""

    def __init__(
        self, paths: Sequence[str], *, no_ignore: bool = False, exclude: Sequence[str] = ()
    ) -> None:
        """``exclude`` are patterns as in a .gitignore, for what a search finds."""
        self.unread: list[Unread] = []
        """What could not be read so far."""
        self.left_out: list[LeftOut] = []
        """What the search of folders found and did not read."""
        self._paths = paths or (".",)
        self._no_ignore = no_ignore
        self._excluded = patterns_of(tuple(exclude)) if exclude else None
        self.progress = Progress("reading traces")

    def __iter__(self) -> Iterator[TraceRecords]:
        for found in self.progress.over(find_traces(self._paths, everywhere=self._no_ignore)):
            if isinstance(found, LeftOut):
                self.left_out.append(found)
                continue
            if isinstance(found, str) and self._is_excluded(found):
                continue
            if isinstance(found, str):
                say_waiting(found)
            trace = found if isinstance(found, Problem) else read_trace(found)
            if isinstance(trace, TraceRecords):
                yield trace
                continue
            self.progress.clear()
            if isinstance(trace, NoTraces):
                notify(f"warning: {trace.message}")
                continue
            notify(trace.message)
            self.unread.append(Unread(trace.path, trace.reason))

    def _is_excluded(self, path: str) -> bool:
        """Whether a search found what is not wanted. What is named is always read."""
        if self._excluded is None or path in self._paths:
            return False
        return self._excluded.hold(os.path.relpath(path).replace(os.sep, "/"))

    def notes(self) -> list[str]:
        """What a person must know about the search."""
        phrase = omitted(self.left_out).phrase
        return [phrase] if phrase else []
