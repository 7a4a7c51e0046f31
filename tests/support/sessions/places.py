"""Which document a step is about, and where: numbers, taken modulo what is there."""

from typing import Any

from tests.support.client_text import position
from tests.support.sessions.conversation import Conversation

NOWHERE = (
    "file:///nowhere/trace.jsonl",
    "untitled:🚀-1",
    "file:///a%20b/%C3%A9.jsonl#x",
    "file:///%00/trace.jsonl",
    "file:///\ud800/trace.jsonl",
    "http://[x/trace.jsonl",
)
"""Documents of which the disk knows nothing, some of them under names that cannot be."""
IDS = (None, None, 0, 1, 2, 1, -7, 2**31 - 1, "1", "", "é🚀", "\ud800")
"""None takes one that is new; the others come again, most of them after they were answered."""


ANY = 100
"""From this number on, one of all documents is meant, open or not."""


def uri_of(conversation: Conversation, number: int) -> str:
    """One of the open documents, if there are any; see `ANY`."""
    every = (*conversation.world.disk, *NOWHERE)
    uris = tuple(conversation.world.buffers) if number < ANY else every
    return (uris or every)[number % len(uris or every)]


def place(conversation: Conversation, uri: str, number: int) -> dict[str, int]:
    """Some position of a document's text; of one that is not open, one all the same."""
    buffer = conversation.buffer(uri)
    if buffer is None:
        return {"line": number % 7, "character": number % 11}
    offset = number % (len(buffer.text) + 1)
    return position(buffer.text, offset, conversation.world.client.encoding)


def whole(conversation: Conversation, uri: str) -> dict[str, Any]:
    end = place(conversation, uri, len(buffer.text) if (buffer := conversation.buffer(uri)) else 0)
    return {"start": {"line": 0, "character": 0}, "end": end}
