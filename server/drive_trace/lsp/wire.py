"""Framing: messages out of a byte stream and back into one.

Tolerant where the specification lets clients differ (header names in any case,
``Content-Type``, other headers), strict where a mistake would swallow the
messages behind it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

MAX_LENGTH = 1 << 30
"""No message is longer, in bytes; a larger ``Content-Length`` is a broken stream."""
_MAX_HEADER = 1 << 16


class Pipes(NamedTuple):
    """Where the client's messages come from, and where ours go."""

    source: BinaryIO
    out: BinaryIO


def claim_pipes() -> Pipes | None:
    """Take standard input and output for the protocol alone: what anybody prints from now on goes
    to standard error. None where there is no standard input: a client that is gone already.
    """
    if sys.stdin is None:
        return None
    out = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    source = os.fdopen(os.dup(sys.stdin.fileno()), "rb")
    for pipe in (source, out):  # a client may share its own non-blocking ones
        os.set_blocking(pipe.fileno(), True)
    return Pipes(source, out)


class BrokenStreamError(Exception):
    """The stream cannot be read on: where the next message starts is not known."""


def read_messages(stream: BinaryIO) -> Iterator[bytes]:
    """The bodies of the messages in a stream, until it ends; the last may be cut short.

    Header blocks without a usable ``Content-Length`` are passed over: what
    follows them is looked through for the next one.
    """
    while (length := _read_headers(stream)) is not None:
        # Not held here while the next one is waited for: a message can be as large as a trace.
        yield stream.read(length)


def header(length: int) -> bytes:
    """What goes before a body of that many bytes."""
    return b"Content-Length: %d\r\n\r\n" % length


def _read_headers(stream: BinaryIO) -> int | None:
    """The length of the next body; None at the end of the stream."""
    length: int | None = None
    while True:
        line = stream.readline(_MAX_HEADER)
        if not line:
            return None
        if line.strip():
            name, _, value = line.partition(b":")
            if name.strip().lower() == b"content-length" and value.strip().isdigit():
                length = int(value)
                if length > MAX_LENGTH:
                    raise BrokenStreamError(f"Content-Length {length} is more than {MAX_LENGTH}")
        elif length is not None:
            return length
