"""Other processes: a shell command that a person asked for, and the same work on all cores."""

from __future__ import annotations

import errno
import os
import re
import select
import signal
import sys
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from drive_trace.interrupts import raising_when_ended

if TYPE_CHECKING:
    import subprocess
    from concurrent.futures import Future
    from multiprocessing.process import BaseProcess


_TOGETHER = 1000
"""So many items are made, and packed, as one."""
_AT_ONCE = 1 << 20
"""Bytes; a pipe holds no more at one time."""
_GRACE = 2.0
"""Seconds between asking a command to end and killing it."""
_SIGNALLED = range(129, 193)
"""Exit codes with which a shell says that a signal ended a command."""
_NOT_STARTED = {126: "is not executable", 127: "was not found"}


class Ran(msgspec.Struct, frozen=True):
    """How a command ended."""

    code: int | None
    """Its exit code; None where it has none that says anything."""
    problem: str | None
    """Why it has none, in one phrase."""


def runs_nothing(command: str) -> bool:
    """Whether a command is space and comments alone, for a shell."""
    return re.fullmatch(r"(?:\s|#.*\n)*(?:#.*)?", command) is not None


def run_shell(  # noqa: PLR0913 - a command and its ends
    command: str,
    *,
    seconds: float,
    take: Callable[[bytes], object],
    text: bytes = b"",
    folder: str | None = None,
    environment: Mapping[str, str] | None = None,
    errors: Callable[[bytes], object] | None = None,
) -> Ran:
    """Run a command with ``sh -c``, with ``text`` on its standard input, and hand over what it
    writes as it comes: its standard output to ``take``, and its standard error to ``errors``, or
    to ``take``, too, where there are none. What is in ``environment`` is added to ours.

    The command and all that it started end with the call, except what left its process group; on
    Windows, except what outlived its parent.
    Both may raise to end it. Raises OSError where there is no ``sh``, or no such folder, and in
    WebAssembly.
    """
    if sys.platform == "emscripten":
        raise OSError(errno.ENOTSUP, "no program can be started in WebAssembly")
    import subprocess  # noqa: PLC0415 - takes long to load, and is seldom needed
    import tempfile  # noqa: PLC0415

    # Without what tells git of another repository, as in a hook.
    ours = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    with tempfile.TemporaryFile() as file:
        file.write(text)
        file.seek(0)
        process = subprocess.Popen(  # noqa: S603 - as asked
            [_shell(), "-c", command],
            stdin=file,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT if errors is None else subprocess.PIPE,
            cwd=folder,
            env=None if environment is None else {**ours, **environment},
            start_new_session=True,
        )
    both = (process.stdout, take), (process.stderr, errors)
    with raising_when_ended(), ExitStack() as streams:
        takes = {
            streams.enter_context(stream).fileno(): each
            for stream, each in both
            if stream is not None and each is not None
        }
        try:
            is_late = _follow(process, takes, seconds)
        finally:
            _end(process)
    if is_late:
        return Ran(None, f"took longer than {seconds:g} second{'s' * (seconds != 1)}")
    return _result(process.returncode)


def _shell() -> str:
    """Windows would look for it in the current folder first, where a stranger may have put one."""
    name = "sh.exe" if sys.platform == "win32" else "sh"
    paths = (Path(each, name) for each in os.get_exec_path() if Path(each).is_absolute())
    found = next((each for each in paths if os.access(each, os.X_OK)), None)
    if found is None:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name)
    return str(found)


def _result(code: int) -> Ran:
    number = -code if code < 0 else code - 128 if code in _SIGNALLED else 0
    if number:
        try:
            name = signal.Signals(number).name
        except ValueError:
            name = f"signal {number}"
        if code > 0:
            return Ran(None, f"exited with {code}, as where {name} ended it")
        return Ran(None, f"was ended by {name}")
    if code in _NOT_STARTED:
        return Ran(None, _NOT_STARTED[code])
    return Ran(code, None)


def _follow(
    process: subprocess.Popen[bytes], takes: dict[int, Callable[[bytes], object]], seconds: float
) -> bool:
    """Read until the command ends; whether it took too long."""
    import subprocess  # noqa: PLC0415 - see above

    end = time.monotonic() + seconds
    while True:
        has_ended = process.poll() is not None
        wait = 0.0 if has_ended else min(0.05, max(end - time.monotonic(), 0))
        for stream in _readable(takes, wait) if takes else ():
            data = os.read(stream, _AT_ONCE)
            takes[stream](data) if data else takes.pop(stream)
        if has_ended:
            # What it left running may go on writing: what was there has been read.
            return False
        if not takes:  # it has closed its output, and ends any moment
            with suppress(subprocess.TimeoutExpired):
                process.wait(wait)
        if time.monotonic() > end:
            return True


if sys.platform == "win32":
    import _winapi
    import msvcrt

    _STEP = 0.005
    """Seconds between two looks at pipes: ``select`` knows sockets alone."""

    def _readable(streams: Iterable[int], seconds: float) -> list[int]:
        end = time.monotonic() + seconds
        while True:
            found = [each for each in streams if _holds_data(each)]
            if found or time.monotonic() >= end:
                return found
            time.sleep(_STEP)

    def _holds_data(pipe: int) -> bool:
        try:
            available, _ = _winapi.PeekNamedPipe(msvcrt.get_osfhandle(pipe), 0)
        except OSError:  # all writers have gone: a read tells that at once
            return True
        return bool(available)

    def _end(process: subprocess.Popen[bytes]) -> None:
        """End the command and those that it started, unless it has ended before them."""
        import subprocess  # noqa: PLC0415 - see above

        if process.poll() is None:
            program = str(Path(os.environ["SYSTEMROOT"], "System32", "taskkill.exe"))
            tree = (program, "/T", "/F", "/PID", str(process.pid))
            with suppress(OSError):
                subprocess.run(tree, capture_output=True, check=False)  # noqa: S603 - a pid
            process.kill()
        process.wait()

else:

    def _readable(streams: Iterable[int], seconds: float) -> list[int]:
        """Those that can be read without waiting, as soon as there is one."""
        return select.select([*streams], [], [], seconds)[0]

    def _end(process: subprocess.Popen[bytes]) -> None:
        """End the command's process group, whatever of it is left: first it is asked to."""
        group = process.pid
        if _send(group, signal.SIGTERM):
            end = time.monotonic() + _GRACE
            while time.monotonic() < end and (process.poll() is None or _send(group, 0)):
                time.sleep(0.01)
            _send(group, signal.SIGKILL)
        process.wait()

    def _send(group: int, number: int) -> bool:
        """Send a signal to a process group; whether there is one."""
        try:
            os.killpg(group, number)
        except (ProcessLookupError, PermissionError):
            return False
        return True


# The same work on many items, on all cores


Item = TypeVar("Item")
Result = TypeVar("Result")


def on_all_cores(
    work: Callable[[Item], Result], items: Iterable[Item]
) -> Generator[tuple[Item, Result]]:
    """Each item with what ``work`` gives for it, in their order. Items and results are pickled.

    The work is done in forked processes: they know what this one knows, and hash strings alike.
    Where a process dies, or none can be forked, the work is done in this one, as for one item.
    """
    # macOS forks, too, but its libraries may not bear it.
    count = len(os.sched_getaffinity(0)) if sys.platform == "linux" else 1
    remaining = iter(items)
    first = list(islice(remaining, 2))
    items = chain(first, remaining)
    if min(count, len(first)) < 2:
        for item in items:
            yield item, work(item)
        return
    from concurrent.futures import ProcessPoolExecutor  # noqa: PLC0415 - little work needs none
    from concurrent.futures.process import BrokenProcessPool  # noqa: PLC0415
    from multiprocessing import active_children, get_context  # noqa: PLC0415

    others = active_children()
    # A forked process gets what the executor begins with as it is; what is submitted is pickled.
    pool = ProcessPoolExecutor(count, get_context("fork"), _begin, (work,))
    asked = deque[tuple[Item, "Future[Result] | None"]]()

    is_whole = True

    def ask(item: Item) -> None:
        nonlocal is_whole
        future = None
        try:
            future = pool.submit(_work_on, item) if is_whole else None
        except BrokenProcessPool:
            is_whole = False
        except OSError:
            is_whole = False
            _end_all_but(others)
        asked.append((item, future))

    def answer() -> tuple[Item, Result]:
        item, future = asked.popleft()
        try:
            return item, work(item) if future is None else future.result()
        except BrokenProcessPool:
            return item, work(item)

    try:
        for item in items:
            # No more at once than there are processes: an item may be a whole trace.
            answered = answer() if len(asked) == count else None
            ask(item)  # before the last answer is used, so that no process waits meanwhile
            if answered is not None:
                yield answered
        while asked:
            yield answer()
    finally:
        pool.shutdown(cancel_futures=True)


def in_batches(items: Iterable[Item], size: int = _TOGETHER) -> Iterator[list[Item]]:
    """Items, some at once: to make each between other work takes longer, as caches are small."""
    rest = iter(items)
    return iter(lambda: list(islice(rest, size)), [])


class Packed(Iterable[Item]):
    """Items that go to another process in a tenth of their memory."""

    def __init__(self, items: Iterable[Item]) -> None:
        import pickle  # noqa: PLC0415 - little work needs no other process
        import zlib  # noqa: PLC0415

        self._parts = [zlib.compress(pickle.dumps(part), 1) for part in in_batches(items)]

    def __iter__(self) -> Iterator[Item]:
        import pickle  # noqa: PLC0415 - see above
        import zlib  # noqa: PLC0415

        for part in self._parts:
            yield from pickle.loads(zlib.decompress(part))  # noqa: S301 - of our own process


def _end_all_but(others: Sequence[BaseProcess]) -> None:
    """End the processes of a pool that could not fork all of them: it has begun nothing that would
    end those that it could.
    """
    from multiprocessing import active_children  # noqa: PLC0415

    for each in active_children():
        if each not in others:
            each.kill()
            each.join()


_work: Callable[[Any], Any]
"""In a process of the pool: what it does."""


def _begin(work: Callable[[Any], Any]) -> None:
    from threading import Thread  # noqa: PLC0415 - only in the processes

    global _work  # noqa: PLW0603 - there is no other way into a process of a pool
    _work = work
    # The terminal sends Ctrl-C to all processes; it is the first one that has something to say.
    signal.signal(signal.SIGINT, lambda *_: os._exit(130))
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """End this process when the one that forked it was killed: the pool itself would wait on."""
    from multiprocessing import parent_process  # noqa: PLC0415

    parent = parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def _work_on(item: Any) -> Any:
    return _work(item)
