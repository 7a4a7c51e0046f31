"""A client that gives and takes whole messages, where there are no streams: as in WebAssembly."""

import asyncio
import json
from typing import Any

from drive_trace.lsp.serving import run_over_messages


def body(**message: object) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **message}).encode()


async def test_a_client_is_served_message_by_message() -> None:
    sent = asyncio.Queue[dict[str, Any]]()

    def send(message: bytes) -> None:
        header, _, text = message.partition(b"\r\n\r\n")
        assert header == b"Content-Length: %d" % len(text)
        sent.put_nowait(json.loads(text))

    async def one(method_or_id: object) -> dict[str, Any]:
        while True:
            message = await sent.get()
            if method_or_id in (message.get("method"), message.get("id")):
                return message

    receive = run_over_messages(send)
    pushed = {"textDocument": {"publishDiagnostics": {}}}
    params = {"processId": None, "rootUri": None, "capabilities": pushed}
    assert receive(body(id="first", method="initialize", params=params)) is None
    assert (await one("first"))["result"]["serverInfo"]["name"] == "drive-trace"
    receive(body(method="initialized", params={}))
    document = {
        "uri": "file:///trace.jsonl",
        "languageId": "drive-trace",
        "version": 1,
        "text": "{",
    }
    receive(body(method="textDocument/didOpen", params={"textDocument": document}))
    published = (await one("textDocument/publishDiagnostics"))["params"]
    assert [each["code"] for each in published["diagnostics"]] == ["invalid-json"]
    receive(body(id="last", method="shutdown"))
    assert (await one("last"))["result"] is None
    assert receive(body(method="exit")) == 0
