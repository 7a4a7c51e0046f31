"""Answers that help to write: completion."""

from __future__ import annotations

import re
from pathlib import Path

from lsprotocol import types

from drive_trace.features.completion import Entry, completion
from drive_trace.features.completion.items import resolve_completion
from drive_trace.lsp.handlers.base import Answer, Asked, Resolve
from drive_trace.lsp.rpc.capabilities import Client, path_of
from drive_trace.storage.linked_files import list_folder
from drive_trace.storage.recording import new_stamp

_HOME = re.compile(r"^(.+)/(?:projects|wip)/")


def _completion(asked: Asked, params: types.CompletionParams) -> object:
    return asked.merging(
        lambda joined: completion(
            asked.analysis,
            asked.point(params.position),
            asked.encoding,
            client=asked.client.completion,
            stamp=new_stamp(),
            listing=_Listing(asked),
            joined=joined,
        )
    )


class _Listing:
    """The folders that paths in a trace start from, read when somebody writes one."""

    def __init__(self, asked: Asked) -> None:
        self._trace = path_of(asked.trace.uri)
        self._folders = asked.folders

    def __call__(self, typed: str) -> list[Entry]:
        """What lies in the folder that a half-written path names. Where none is written yet, also
        what lies beside the trace.
        """
        base = self._base()
        if base is None or self._trace is None:
            return []
        folder = typed[: typed.rfind("/") + 1]
        found = list_folder(base, folder)
        if not folder and self._trace.parent != base:
            found = [*list_folder(base, f"{_below(self._trace.parent, base)}/"), *found]
        return [Entry(*each) for each in found]

    def _base(self) -> Path | None:
        """The workspace's folder that the trace is in; of a file that is opened without one, what
        is above ``projects/``.
        """
        trace = self._trace
        if trace is None:
            return None
        if self._folders:
            within = [folder for folder in self._folders if trace.is_relative_to(folder)]
            return max(within, key=lambda folder: len(folder.parts), default=None)
        home = _HOME.match(trace.as_posix())
        return Path(home[1]) if home is not None else None


def _below(folder: Path, base: Path) -> str:
    return folder.relative_to(base).as_posix()


def _resolve(
    client: Client, _asked: Asked | None, item: types.CompletionItem
) -> types.CompletionItem:
    return resolve_completion(item, client.completion.documentation)


ANSWERS = (
    Answer(
        types.TEXT_DOCUMENT_COMPLETION,
        _completion,
        types.CompletionOptions(
            trigger_characters=['"', "{", ":", ",", "/"], resolve_provider=True
        ),
    ),
)

RESOLVES = (Resolve(types.COMPLETION_ITEM_RESOLVE, _resolve),)
