"""What only some systems have, so that a skipped test says which of it is missing."""

import os
import sys

import pytest


def not_on_windows(reason: str) -> pytest.MarkDecorator:
    """Skip a test on Windows: it looks at something that there is not there."""
    return pytest.mark.skipif(sys.platform == "win32", reason=reason)


def skip_on_windows(missing: str) -> None:
    """Skip the test that runs on Windows, which lacks something."""
    if sys.platform == "win32":
        pytest.skip(missing)


def is_root() -> bool:
    """Whether nothing is forbidden to the tests."""
    return sys.platform != "win32" and os.geteuid() == 0


NO_FIFOS = "there are no named pipes on Windows"
NO_DEVICES = "there are no named pipes and no devices on Windows"
NO_MODES = "files on Windows have no modes that keep somebody from reading"
NO_SIGNALS = "no signal ends a process on Windows"
OTHER_IDS = "a shell on Windows has ids of its own for processes"
NO_SCRIPTS = "Windows runs no shell scripts by their first line"
NO_FLOCK = "another program locks a trace by flock"
POSIX_SHELL = "what is tried is how a POSIX shell starts a command"
