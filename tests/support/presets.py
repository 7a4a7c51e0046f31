"""What editors declare in `initialize`: one for each position encoding.

Neovim and Emacs are pytest-lsp's recordings. Its newest VS Code is of 2022, so that one is written
down in `vscode.json`, after vscode-languageclient 9 (LSP 3.17), without what this server does not
look at.
"""

import json
from pathlib import Path
from typing import Any, NamedTuple

from lsprotocol.converters import get_converter
from pytest_lsp import client_capabilities

VSCODE: dict[str, Any] = json.loads(Path(__file__).with_name("vscode.json").read_text("utf-8"))


class Preset(NamedTuple):
    """An editor."""

    name: str
    declared: Any
    encoding: str
    """The one that it prefers."""

    def can(self, *path: str) -> Any:
        """What it declares below these names; None if it says nothing."""
        found = self.declared
        for name in path:
            found = found.get(name) if isinstance(found, dict) else None
        return found


def _recorded(name: str) -> Any:
    return get_converter().unstructure(client_capabilities(name))


PRESETS = (
    Preset("vscode", VSCODE, "utf-16"),
    Preset("neovim", _recorded("neovim@v0.11"), "utf-8"),
    Preset("emacs", _recorded("emacs"), "utf-32"),
)
