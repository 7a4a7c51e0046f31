"""The options that several commands have. Each is declared once, with its help and its checks.

A command takes them as ``@options.paths``. What is remembered instead of passed to the command,
like ``--exclude``, is asked for by a function here.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial, reduce, wraps
from itertools import islice
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, TypeVar

import click

from drive_trace.commands.terminal import EXIT_UNUSABLE, Ended
from drive_trace.storage.files import STDIN, inside, leads_out, read_regular, why_not_read
from drive_trace.text.wording import listed

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from drive_trace.storage.histories import Histories

Command = TypeVar("Command", bound=Callable[..., Any])
FILE = click.Path(readable=False)
"""A path that the shell completes. Nothing is asked of it here: whoever opens it says why not."""
_HARMLESS = r"[A-Za-z0-9][A-Za-z0-9._:@+/-]{0,199}"
"""What stays one word, and itself, in every shell."""
_MOST = 64 << 20
"""In bytes: a person who presses a key waits for no more to be read."""
_MOST_FILES = 100
_NOT_OURS = (".csv", ".tsv", ".xlsx", ".parquet", ".xml", ".pdf", ".yaml", ".yml")
"""Endings of files that would not hold what they promise."""

# How options are declared


def flag(name: str, description: str, **others: Any) -> Callable[[Command], Command]:
    """An option that is there or not."""
    return click.option(name, is_flag=True, help=description, **others)


def value(
    flag: str, metavar: str, description: str, *, name: str | None = None, **others: Any
) -> Callable[[Command], Command]:
    """An option with a value; ``name`` is that of the argument, where it is another one."""
    names = (flag,) if name is None else (flag, name)
    return click.option(*names, metavar=metavar, help=description, **others)


def file(flag: str, description: str, **others: Any) -> Callable[[Command], Command]:
    """An option that names a file; the others are those of :func:`value`."""
    return value(flag, "FILE", description, type=FILE, **others)


def all_of(*given: Callable[[Command], Command]) -> Callable[[Command], Command]:
    """Several options, in the order in which the help has them."""
    return lambda command: reduce(lambda last, option: option(last), reversed(given), command)


# What is refused


class Number(click.FloatRange):
    """A number in a range, whose errors say in words what was expected."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number; neither infinity nor NaN is one."""
        number = math.inf
        with suppress(click.BadParameter):
            number = super().convert(value, param, ctx)
        if number < math.inf:
            return number
        expected = f"expected a {self.name} {self._describe_range()}"
        raise click.BadParameter(f"{expected}, found {value!r}", ctx, param)

    def _describe_range(self) -> str:
        low = f"{'above' if self.min_open else 'from'} {self.min}"
        if self.max is None:
            return low if self.min_open else f"{low} up"
        return f"{low} {'and below' if self.max_open else 'up to'} {self.max}"


class Whole(Number):
    """The same of a whole number."""

    name = "whole number"
    _number_class: Any = int


def not_empty(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """Refuse an empty value, as an unset shell variable leaves behind."""
    if value is not None and not value.strip():
        raise click.UsageError(f"{param.get_error_hint(ctx)} is empty", ctx)
    return value


def is_text(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """Refuse an empty value, and one that is not UTF-8 and so has no place in a trace."""
    try:
        (value or "").encode()
    except UnicodeEncodeError as error:
        raise click.BadParameter("is not UTF-8") from error
    return not_empty(ctx, param, value)


def _appendable(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """Refuse ``-``, which means a stream elsewhere: nothing can be appended to one."""
    if value is None:
        return None
    if value == STDIN:
        raise click.BadParameter(
            "- is no file to append to; emit --dry-run prints the line (a file called - is ./-)"
        )
    not_empty(ctx, param, value)
    path = followed(value)
    error = leads_out(path)
    if error is not None:
        said = f"not written: {error.strerror}"
        raise click.BadParameter(f"{said} (--follow-links writes to what it leads to)")
    return path


# What shells complete. bash runs a ``$(…)`` that stands on a command line. So ids, which strangers
# write, are offered only where they mean nothing to any shell.


def complete_events(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The events of the vocabulary."""
    from drive_trace.vocabulary import EVENTS  # noqa: PLC0415 - only when a shell asks

    said = {event.name: event.prose.partition(". ")[0] for event in EVENTS.values()}
    return _beginning(said, incomplete)


def complete_rules(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The rules by their codes."""
    from drive_trace.linter.rules import RULES  # noqa: PLC0415 - only when a shell asks

    return _beginning({rule.code: rule.summary for rule in RULES.values()}, incomplete)


def _beginning(said: Mapping[str, str], incomplete: str) -> list[CompletionItem]:
    from click.shell_completion import CompletionItem  # noqa: PLC0415 - only when a shell asks

    return [CompletionItem(each, help=said[each]) for each in said if each.startswith(incomplete)]


def complete_words(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Any]:
    """The events of the vocabulary; after one its fields, each with its ``=``."""
    from drive_trace.vocabulary import ENVELOPE, EVENTS  # noqa: PLC0415 - only when a shell asks

    if not ctx.params.get("words"):
        return [*complete_events(ctx, param, incomplete)]
    event = EVENTS.get(ctx.params["words"][0])
    names = [f"{name}=" for name in (event.fields if event else ()) if name not in ENVELOPE]
    return [each for each in names if each.startswith(incomplete)]


def _complete_runs(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """The runs in the trace that stands before on the command line; for ``--run`` in those that the
    command would look at.
    """
    from drive_trace.storage.finding import find_traces  # noqa: PLC0415 - only when a shell asks
    from drive_trace.storage.recording import runs_named  # noqa: PLC0415 - as above

    named = ctx.params.get("trace_file") or ctx.params.get("into") or ""
    paths = ctx.params.get("paths") or ctx.args or (".",)
    found = find_traces(paths) if param.name == "runs" else [named]
    runs, left = dict[str, None](), _MOST
    for path in islice(found, _MOST_FILES):
        with suppress(OSError, ValueError):
            data = read_regular(path if isinstance(path, str) else path.path, left)
            left -= len(data)
            runs |= dict.fromkeys(runs_named(data))
    return [each for each in runs if each.startswith(incomplete) and re.fullmatch(_HARMLESS, each)]


# What is read


def _remember(ctx: click.Context, param: click.Parameter, value: object) -> None:
    assert param.name is not None
    ctx.meta[param.name] = value


_REMEMBERED: dict[str, Any] = {"expose_value": False, "callback": _remember}
_EMPTY_NAME = "the empty text names no commit; name one, such as main"


def _remember_commit(ctx: click.Context, param: click.Parameter, value: str | None) -> None:
    from drive_trace.storage.git import commit_named, why_no_commit  # noqa: PLC0415 - few need git

    found = commit_named(value) if value is not None else None
    if value is not None and not found:
        raise click.BadParameter(why_no_commit(value) if value else _EMPTY_NAME)
    _remember(ctx, param, found)


paths = click.argument("paths", metavar="[PATH]...", nargs=-1, type=FILE)
"""Files, folders to search, or ``-`` for standard input."""
follow_links = flag(
    "--follow-links",
    "Write to what a link that is named leads to, also out of its repository.",
    is_eager=True,
    **_REMEMBERED,
)
exclude = value(
    "--exclude",
    "PATTERN",
    "Leave out what a search of a folder finds there, as a line of a .gitignore does.",
    multiple=True,
    **_REMEMBERED,
)
trust_config = flag(
    "--trust-config",
    "Believe what the drive-trace.toml of the tree says of judges and of what is left out, "
    "although whoever is judged may have written it.",
    **_REMEMBERED,
)
_trust_config_at = value(
    "--trust-config-at",
    "COMMIT",
    "Take each drive-trace.toml and baseline as it stands in this commit, and believe that: "
    "in CI, the commit that a change is based on.",
    expose_value=False,
    callback=_remember_commit,
)
no_config = flag("--no-config", "Use no drive-trace.toml and no baseline.")


class WithHistory(click.Command):
    """A command with ``--history[=REF]``: what follows the option is no part of it."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments."""
        end = args.index("--") if "--" in args else len(args)
        if "--history=" in args[:end]:  # a variable that is not set in CI
            raise click.BadParameter(_EMPTY_NAME, ctx, param_hint="'--history'")
        own = ("--history=" if each == "--history" else each for each in args[:end])
        return super().parse_args(ctx, [*own, *args[end:]])


history = value(
    "--history",
    "[=REF]",
    "Hold each line against all commits that changed its trace, or against those since REF.",
    **_REMEMBERED,
)


_RUN = value(
    "--run",
    "GLOB",
    "Look at the runs with such an id alone; may be repeated.",
    name="runs",
    multiple=True,
    shell_complete=_complete_runs,
    **_REMEMBERED,
)
_SINCE = value(
    "--since",
    "REF",
    "Look at the traces and runs alone that differ from where HEAD left REF. It does not "
    "tell of a run that came and went since then: --history=REF does.",
    expose_value=False,
    callback=_remember_commit,
)


touched = all_of(_RUN, _SINCE)
"""Which of the traces and runs that are found are looked at."""


def histories(paths: Sequence[str]) -> Histories | None:
    """What ``--history`` asks git for. Raises BadParameter where no repository of the paths has the
    commit that it names.
    """
    since = click.get_current_context().meta["history"]
    if since is None:
        return None
    from drive_trace.storage.git import commit_named, why_no_commit  # noqa: PLC0415 - few ask
    from drive_trace.storage.histories import Histories  # noqa: PLC0415 - as above

    if since and not any(commit_named(since, each) for each in paths or (".",)):
        raise click.BadParameter(why_no_commit(since, *paths[:1]), param_hint="'--history'")
    return Histories(since)


def followed(path: str) -> str:
    """A path that somebody named; with ``--follow-links``, where its links lead."""
    follows = path != STDIN and click.get_current_context().meta["follow_links"]
    return os.path.realpath(path) if follows else path


def excluded() -> tuple[str, ...]:
    """The patterns of ``--exclude``."""
    patterns: tuple[str, ...] = click.get_current_context().meta["exclude"]
    return patterns


def trusted() -> bool | str:
    """Whether configurations are trusted, or the commit as of which they are."""
    meta = click.get_current_context().meta
    found: bool | str = meta.get("trust_config_at") or meta["trust_config"]
    return found


def search(command: Command) -> Command:
    """The options of a search, which the command gets as one argument, ``search``."""

    @flag("--no-ignore", "Search hidden folders, libraries and what git ignores, too.")
    @exclude
    @trust_config
    @_trust_config_at
    @wraps(command)
    def searching(no_ignore: bool, **others: object) -> None:
        from drive_trace.storage.finding import SearchOptions  # noqa: PLC0415 - only for a search
        from drive_trace.storage.projects import Projects  # noqa: PLC0415 - as above

        projects = Projects(".", with_baseline=False, trusted=trusted())
        meta = click.get_current_context().meta
        search = SearchOptions(no_ignore, excluded(), projects, runs=meta.get("runs", ()))
        if since := meta.get("since"):
            from drive_trace.storage.histories import Touched  # noqa: PLC0415 - few ask for it

            search.since = Touched(since)
        command(search=search, **others)

    return searching  # type: ignore[return-value]


# What is written


def output_format(formats: Sequence[str], **described: Any) -> Callable[[Command], Command]:
    """In which format a document is written."""
    return click.option(
        "--output-format", "--format", "output_format", type=click.Choice(formats), **described
    )


outcome_format = output_format(
    ["text", "json"], default="text", help="How the outcome is shown; json is for programs."
)


def of_document(context: click.Context, _: click.Parameter, value: str | None) -> str | None:
    """The name of a document's file. Raises BadParameter where it promises another format."""
    ending = PurePath(value or "").suffix.lower()
    if ending in _NOT_OURS:
        known = "end FILE with .txt, .json, .md or .html"
        raise click.BadParameter(f"{context.command.name} does not write {ending}; {known}")
    return value


def out(
    description: str = "Write to a file instead of standard output.",
    check: Callable[[click.Context, click.Parameter, str | None], str | None] | None = None,
) -> Callable[[Command], Command]:
    """Where a document is written. ``check`` refuses names."""
    names = ("--out", "--output-file", "out")
    return click.option(*names, metavar="FILE", type=FILE, callback=check, help=description)


# What is appended to


def trace_file(command: Command, flag: str = "--trace-file", **more: Any) -> Command:
    """The trace, whether its links are followed, and what is not searched beside it."""
    named = {"required": True, "envvar": "DRIVE_TRACE_FILE", "show_envvar": True}
    described = {**named, "help": "The trace to append to.", **more}
    option = click.option(flag, metavar="FILE", callback=_appendable, type=FILE, **described)
    return option(follow_links(exclude(command)))


def _recorded_trace() -> str | None:
    """The trace that the project of the current folder records, if it names one. Its run is
    remembered.
    """
    from drive_trace.storage.projects import Projects  # noqa: PLC0415 - where no other is named

    ctx = click.get_current_context()
    if ctx.resilient_parsing:  # as where a shell asks
        return None
    project = Projects(".", with_baseline=False).of(STDIN)
    try:
        for each in project.problems:
            raise Ended(EXIT_UNUSABLE, each.problem.message)
        record = project.configuration.record
        if record is None:
            named = "name one with --trace-file, DRIVE_TRACE_FILE or [record] in drive-trace.toml"
            raise click.UsageError(f"no trace to append to: {named}")
        ctx.meta["recorded_run"] = record.run
        return str(inside(project.folder / record.trace, project.folder))
    except OSError as error:
        raise Ended(EXIT_UNUSABLE, f"the trace of [record] is {why_not_read(error)}") from error


trace_file_or_recorded = partial(
    trace_file,
    default=_recorded_trace,
    help="The trace to append to; by default that of [record] in drive-trace.toml.",
)


into = partial(
    trace_file,
    flag="--into",
    required=False,
    envvar=None,
    help="Append the events to this trace, or what is missing there.",
)
_run_id = partial(
    click.option,
    "--project-run-id",
    metavar="ID",
    envvar="DRIVE_TRACE_RUN",
    show_envvar=True,
    callback=is_text,
    shell_complete=_complete_runs,
)
run_id = _run_id(required=True, help="The run that the event belongs to.")
run_id_of_session = _run_id(
    help="The run that the session is of. By default the session's id, as of a new run."
)
run_id_or_open = _run_id(
    default=lambda: click.get_current_context().meta.get("recorded_run"),
    help="The run that the event belongs to; by default that of [record] with its trace, or else "
    "the one that is open.",
)
new_run = flag(
    "--new-run", "Take a run that the trace has no event of, and make the trace if it is not there."
)
only_this_file = flag(
    "--only-this-file", "Keep what FILE alone says of the run, whatever its other files do."
)


# What is asked


def timeout(seconds: float, what: str) -> Callable[[Command], Command]:
    """How many ``seconds`` something may take, and what that is."""
    return value(
        "--timeout",
        "SECONDS",
        f"How long each {what} may take.",
        type=Number(min=0, min_open=True),
        default=seconds,
        show_default=True,
    )


API_KEYS = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY"}
"""By provider (``commands/http_models.py``), the environment variable with its key."""
model = all_of(
    value("--model", "ID", "The model that is asked.", required=True, callback=not_empty),
    click.option(
        "--api",
        type=click.Choice(list(API_KEYS)),
        help="How the model is asked over HTTP: chat completions, or Anthropic's messages. The key "
        f"is in {listed(API_KEYS.values(), 'or')}. Needs the extra drive-trace[judge].",
    ),
    value("--base-url", "URL", "Another provider of the --api.", callback=not_empty),
    value(
        "--model-command",
        "CMD",
        "Ask the model by a command for sh -c, with the prompt on its standard input.",
        callback=not_empty,
    ),
    timeout(300.0, "call"),
)
"""Which model is asked, and how."""
