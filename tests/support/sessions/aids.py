"""A task that asks for what helps to read a trace: hints, and tokens."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lsprotocol import types
from lsprotocol.converters import get_converter

from drive_trace.analysis import Analysis
from drive_trace.features.hover import inlay_hints
from drive_trace.features.results import View
from drive_trace.features.semantic_tokens import TokenLook, tokens
from drive_trace.text.spans import PositionEncoding
from tests.support.sessions.conversation import MODIFIED, OK
from tests.support.sessions.places import place, uri_of

if TYPE_CHECKING:
    from tests.support.sessions.conversation import Conversation

PLAIN = get_converter()


@dataclass(frozen=True)
class Aids:
    """Hints of a range, and all tokens."""

    uri: int
    places: tuple[int, int]
    message_id: Any

    def play(self, conversation: Conversation) -> None:
        uri = uri_of(conversation, self.uri)
        start, end = (place(conversation, uri, each) for each in self.places)
        buffer, client = conversation.buffer(uri), conversation.world.client
        encoding = PositionEncoding(client.encoding)
        analysis = Analysis(buffer.text) if buffer else None
        document = {"uri": uri}
        where = {"start": start, "end": end}

        def check_hints(result: Any) -> None:
            asked = PLAIN.structure(where, types.Range)
            hints = inlay_hints(View(analysis, encoding), asked) if analysis else []
            assert result == PLAIN.unstructure(hints)

        params: dict[str, Any] = {"textDocument": document, "range": where}
        conversation.ask("textDocument/inlayHint", params, check=check_hints)

        def check_tokens(result: Any) -> None:
            wanted = tokens(analysis, TokenLook(encoding)) if analysis else None
            assert result == (json.loads(wanted.text) if wanted is not None else None)

        method, params = "textDocument/semanticTokens/full", {"textDocument": document}
        conversation.ask(
            method, params, message_id=self.message_id, codes={OK, MODIFIED}, check=check_tokens
        )
