"""Standard output and error: how a command ends, width, colours and progress for a person, where a
document is written, and writes that fail.
"""

import errno
import io
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path, PurePath
from time import monotonic
from typing import IO, Any, ClassVar, TextIO, TypeVar

import click

from drive_trace.storage.files import STDIN
from drive_trace.text.wording import printable

T = TypeVar("T")

EXIT_REFUSED = 1
EXIT_UNUSABLE = 2

_STYLES: dict[str, dict[str, Any]] = {
    "correct": {"fg": "green", "bold": True},
    "qualified": {"fg": "yellow", "bold": True},
    "incorrect": {"fg": "red", "bold": True},
    "not-computable": {"bold": True},
    "heading": {"dim": True},
    "warning": {"fg": "yellow"},
}
_SUFFIXES = {".md": "markdown", ".json": "json", ".html": "html", ".htm": "html"}
_NARROWEST, _COLUMNS, _WIDEST = 60, 80, 100
_FORCING = ("FORCE_COLOR", "CLICOLOR_FORCE")
_PATIENCE = 1.0
"""Seconds before a bar is shown."""
_PAUSE = 0.1
_HAS_ENOUGH = {errno.EPIPE, errno.ECONNRESET, *([errno.EINVAL] if os.name == "nt" else ())}
"""The reader of a pipe has gone. Windows calls that an invalid argument, too."""


def is_terminal(stream: TextIO | None) -> bool:
    """Whether a person reads the stream."""
    return stream is not None and stream.isatty()


def notify(message: str) -> None:
    """Write a message to standard error, beside the output."""
    click.echo(f"drive-trace: {printable(message, 8192)}", err=True)


class Ended(click.ClickException):
    """A command ends, as it cannot do what it was asked for."""

    def __init__(self, code: int, *reasons: str, notes: Sequence[str] = ()) -> None:
        """The reasons are sentences, and the notes say what that means. All are printed."""
        super().__init__("; ".join(reasons))
        self.exit_code = code  # type: ignore[misc]
        self.lines = (*reasons, *notes)

    def show(self, file: IO[Any] | None = None) -> None:  # noqa: ARG002 - click's interface
        """Print it on standard error."""
        for line in self.lines:
            notify(line)


def format_of(out: str | None, default: str) -> str:
    """The format of a document that the name of its file says."""
    return _SUFFIXES.get(PurePath(out or "").suffix.lower(), default)


def write_document(
    text: str,
    out: str | None,
    *,
    traces: Sequence[str],
    inputs: Sequence[str] = (),
    is_html: bool = False,
) -> None:
    """Write a document to the file of ``--out``, or to standard output. Ends the command where that
    would take the place of one of the ``traces`` or ``inputs``, or cannot be done.
    """
    from drive_trace.storage.replace import write_report  # noqa: PLC0415 - only those with --out

    data = text.encode("utf-8", "backslashreplace")
    if out is not None and out != STDIN:
        problem = write_report(out, data, traces, inputs)
        if problem is not None:
            raise Ended(EXIT_UNUSABLE, problem.message)
    elif is_html:  # it says that it is UTF-8, whatever the terminal takes
        sys.stdout.buffer.write(data)
    else:
        click.echo(data.decode(), nl=False)


def say_waiting(source: str) -> None:
    """Say that a person has to type what is read, where that is so."""
    if source == STDIN and is_terminal(sys.stdin):
        notify("reading standard input, which is a terminal; end it with Ctrl-D")


def _terminal_columns() -> int:
    """As ``shutil`` has it, which takes long to load."""
    told = os.environ.get("COLUMNS", "")
    with suppress(ValueError, OSError):  # as where the output is no terminal
        return (told.isdecimal() and int(told)) or os.get_terminal_size().columns or _COLUMNS
    return _COLUMNS


def columns() -> int:
    """How wide a table may be: as the terminal is, within reason."""
    return min(max(_terminal_columns(), _NARROWEST), _WIDEST)


def frame_columns(stream: TextIO) -> int | None:
    """How wide a frame around a line may be; None where nobody says."""
    return _terminal_columns() if is_terminal(stream) else None


def fitting(text: str, stream: TextIO, used: int) -> str:
    """As much of a text as fits a line of which some columns are used; all of it where nobody says
    how wide a line is.
    """
    columns = frame_columns(stream)
    room = len(text) if columns is None else max(columns - used, 1)
    return text if len(text) <= room else f"{text[: room - 1]}…"


def paint(text: str, role: str) -> str:
    """The text in the colours of its role; click takes them out where no colour is wanted."""
    return click.style(text, **_STYLES[role])


def _choose_colour(ctx: click.Context, _: click.Parameter, choice: str | None) -> None:
    if choice is not None:
        ctx.color = {"always": True, "never": False}.get(choice)


colour_option = click.option(
    "--color",
    type=click.Choice(["auto", "always", "never"]),
    expose_value=False,
    is_eager=True,
    callback=_choose_colour,
    help="When to colour the output; auto is for terminals.",
)


def wanted_colour() -> bool | None:
    """What the environment says of colours; None where it leaves them to the terminal."""
    if os.environ.get("NO_COLOR"):
        return False
    if any(os.environ.get(name, "0") not in {"", "0"} for name in _FORCING):
        return True
    return False if os.environ.get("TERM") == "dumb" else None


def in_colour(stream: TextIO) -> bool:
    """Whether what is written to the stream is coloured."""
    chosen = click.get_current_context().color
    return is_terminal(stream) if chosen is None else chosen


class ProgressBar:
    """Shows a bar on standard error while something takes long, if that is a terminal."""

    def __init__(self, label: str) -> None:
        self._label = label
        self._is_shown = False

    def over(self, items: Iterable[T], count: int | None = None) -> Iterator[T]:
        """The items, one after another. Without their ``count`` they are listed first."""
        if not is_terminal(sys.stderr):
            yield from items
            return
        if count is None:
            items = list(items)
            count = len(items)
        start, done = monotonic(), 0
        bar: Any = click.progressbar(
            length=count,
            label=self._label,
            file=sys.stderr,
            item_show_func=lambda _: f"{done / max(monotonic() - start, 0.001):,.0f}/s",
        )
        due = start + _PATIENCE
        for item in items:
            if monotonic() >= due:
                bar.render_progress()
                self._is_shown, due = True, monotonic() + _PAUSE
            yield item
            done += 1
            bar.make_step(1)
        self.clear()

    def clear(self) -> None:
        """Remove the bar, so that something else can be written."""
        if self._is_shown:
            click.echo("\r\x1b[K", nl=False, err=True)
            self._is_shown = False


class _Output(io.BufferedWriter):
    """Below the text layer, so that every write to the stream comes by. From the first write that
    fails nothing is written any more: what a command finds and records, and its exit code, are the
    same whoever reads of it.
    """

    failure: ClassVar[OSError | None] = None
    """Why some output was lost, unless its reader had enough."""

    def write(self, data: Any, /) -> int:
        """Write, or take it for written."""
        try:
            return super().write(data)
        except OSError as error:
            self._give_up(error)
        return memoryview(data).nbytes

    def flush(self) -> None:
        """Flush, or take it for written."""
        try:
            super().flush()
        except OSError as error:
            self._give_up(error)

    def _give_up(self, error: OSError) -> None:
        if error.errno not in _HAS_ENOUGH:
            _Output.failure = _Output.failure or error
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self.fileno())
        os.close(nowhere)
        super().flush()


def open_streams() -> None:
    """Let standard output and error take any character, and never fail: see take_failure."""
    sys.stdout = _opened(sys.stdout)
    sys.stderr = _opened(sys.stderr)


def take_failure() -> OSError | None:
    """Why some output is lost, and nothing more from then on; None where it is written, or where
    its reader has gone.
    """
    sys.stdout.flush()
    failure, _Output.failure = _Output.failure, None
    return failure


def _opened(stream: TextIO | None) -> TextIO:
    if not isinstance(stream, io.TextIOWrapper):  # our parent closed it
        return Path(os.devnull).open("w", encoding="utf-8")
    raw: Any = getattr(stream.buffer, "raw", stream.buffer)  # python -u leaves out the buffer
    return io.TextIOWrapper(
        _Output(raw),
        encoding=_encoding(stream),
        errors="backslashreplace",
        newline="\n",  # a diff or a page that goes into a file has the same bytes on every system
        line_buffering=stream.line_buffering or stream.write_through,
    )


def _encoding(stream: TextIO, platform: str = sys.platform) -> str:
    # Windows writes to files and pipes in a code page of 256 characters, which no reader of JSON
    # or HTML expects. Its consoles take all characters.
    if platform == "win32" and not os.environ.get("PYTHONIOENCODING"):
        return "utf-8"
    return stream.encoding
