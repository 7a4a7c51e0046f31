"""Requests of the server's own, and what the client answers."""

from __future__ import annotations

import asyncio
from typing import NamedTuple

from pygls.exceptions import JsonRpcException

from drive_trace.lsp.rpc.protocol import TraceProtocol

PATIENCE = 10.0
"""Seconds that a client has to answer."""


class Reply(NamedTuple):
    """What a client has answered, which may be null."""

    result: object


async def ask(protocol: TraceProtocol, method: str, params: object) -> Reply | None:
    """The client's answer; None where it refuses, or says nothing in time."""
    asked = protocol.send_request(method, params)
    try:
        return Reply(await asyncio.wait_for(asyncio.wrap_future(asked), PATIENCE))
    except (TimeoutError, JsonRpcException):
        return None
    finally:
        protocol.give_up(asked)
