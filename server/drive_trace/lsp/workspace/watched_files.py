"""Which files the client is asked to tell of."""

from __future__ import annotations

from collections.abc import Sequence

from lsprotocol import types


def watched(name: str, globs: Sequence[str]) -> types.Registration:
    """A registration, by a name of ours, for files that change on disk."""
    watchers = [types.FileSystemWatcher(glob) for glob in globs]
    options = types.DidChangeWatchedFilesRegistrationOptions(watchers)
    return types.Registration(name, types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)


def from_any_folder(globs: Sequence[str]) -> list[str]:
    """Patterns as clients match them, with whole paths. They may find more than is meant."""
    return [each if each.startswith(("/", "**/")) else f"**/{each}" for each in globs]
