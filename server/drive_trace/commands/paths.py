"""What commands that read traces share: the PATH argument, and reports of what is not read."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from functools import wraps
from pathlib import PurePath

import click

from drive_trace.commands.completion import complete_files
from drive_trace.commands.terminal import Progress, notify, say_waiting
from drive_trace.scorecard.caveats import Unread
from drive_trace.storage.files import STDIN, LeftOut, Problem, TraceRecords, read_trace
from drive_trace.storage.finding import NoTraces, SearchOptions, find_traces, omitted
from drive_trace.storage.projects import Projects

paths_argument = click.argument(
    "paths", metavar="[PATH]...", nargs=-1, shell_complete=complete_files
)
"""Files, folders to search, or ``-`` for standard input."""
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

    ctx.meta["trust-config-at"] = found = value and commit_named(value)
    if value is not None and not found:
        raise click.BadParameter(f"{value} is no commit that is here; fetch it")


trust_config_option = click.option(
    "--trust-config",
    is_flag=True,
    expose_value=False,
    callback=lambda ctx, _, value: ctx.meta.update({"trust-config": value}),
    help="Believe what the drive-trace.toml of the tree says of judges and of what is left out, "
    "although whoever is judged may have written it.",
)
_trust_commit_option = click.option(
    "--trust-config-at",
    metavar="COMMIT",
    expose_value=False,
    callback=_commit,
    help="Take each drive-trace.toml and baseline as it stands in this commit, and believe that: "
    "in CI, the commit that a change is based on.",
)


def trusted() -> bool | str:
    """Whether configurations are trusted, or the commit as of which they are."""
    meta = click.get_current_context().meta
    found: bool | str = meta.get("trust-config-at") or meta["trust-config"]
    return found


exclude_option = click.option(
    "--exclude",
    metavar="PATTERN",
    multiple=True,
    expose_value=False,
    callback=lambda ctx, _, value: ctx.meta.update({"exclude": value}),
    help="Leave out what a search of a folder finds there, as a line of a .gitignore does.",
)
_SUFFIXES = {".md": "markdown", ".json": "json", ".html": "html", ".htm": "html"}


def search_options(command: Callable[..., None]) -> Callable[..., None]:
    """The options of a search, which the command gets as one argument, ``search``."""

    @click.option(
        "--no-ignore",
        is_flag=True,
        help="Search hidden folders, libraries and what git ignores, too.",
    )
    @exclude_option
    @trust_config_option
    @_trust_commit_option
    @wraps(command)
    def searching(no_ignore: bool, **others: object) -> None:
        projects = Projects(".", with_baseline=False, trusted=trusted())
        command(
            search=SearchOptions(no_ignore, click.get_current_context().meta["exclude"], projects),
            **others,
        )

    return searching


def format_of(out: str | None, default: str) -> str:
    """The format of a report that the name of its file says."""
    return _SUFFIXES.get(PurePath(out or "").suffix.lower(), default)


class Reading:
    """Reads the traces that paths mean, one after another, and reports what it cannot read."""

    def __init__(self, paths: Sequence[str], search: SearchOptions) -> None:
        self.unread: list[Unread] = []
        """What could not be read so far."""
        self.tells_unread = True
        """Whether that is told on standard error as it is found."""
        self.left_out: list[LeftOut] = []
        """What the search of folders found and did not read."""
        self._paths = paths or (".",)
        self._search = search
        self.progress = Progress("reading traces")

    def __iter__(self) -> Iterator[TraceRecords]:
        for found in self.progress.over(find_traces(self._paths, options=self._search)):
            if isinstance(found, str):
                say_waiting(found)
            trace = found if isinstance(found, Problem) else read_trace(found)
            if isinstance(trace, LeftOut):
                self.left_out.append(trace)
                continue
            if isinstance(trace, TraceRecords):
                yield trace
                continue
            self.progress.clear()
            if isinstance(trace, NoTraces):
                notify(f"warning: {trace.message}")
                continue
            if self.tells_unread:
                notify(trace.message)
            self.unread.append(Unread(trace.path, trace.reason))

    def notes(self) -> list[str]:
        """What a person must know about the search."""
        sentence = omitted(self.left_out).sentence()
        return [sentence] if sentence else []
