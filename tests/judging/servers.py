"""A provider of models on this machine, which misbehaves as it is told to."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Behave = Callable[["Request"], None]


class Request(BaseHTTPRequestHandler):
    """One request; ``server.script`` says what becomes of each, the last one of all further."""

    server: Provider
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self.body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.seen.append(self)
        script = self.server.script
        self.close_connection = True
        (script.pop(0) if len(script) > 1 else script[0])(self)

    def respond(self, content: bytes, code: int = 200, **headers: str) -> None:
        self.send_response(code)
        for name, value in {"content_type": "application/json", **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


class Provider(ThreadingHTTPServer):
    daemon_threads = True
    seen: list[Request]
    script: list[Behave]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"

    def handle_error(self, *_: object) -> None:
        """A client that has gone is no matter."""


@contextmanager
def provider(*script: Behave) -> Iterator[Provider]:
    with Provider(("127.0.0.1", 0), Request) as server:
        server.seen, server.script = [], list(script)
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def response(path: str, text: str, **changes: Any) -> dict[str, Any]:
    """A response as OpenAI's or Anthropic's API has it."""
    if path.endswith("/messages"):
        usage = {"input_tokens": 120, "output_tokens": 30}
        content = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": text}]
        whole = {"model": "claude-x-2", "stop_reason": "end_turn", "content": content}
    else:
        usage = {"prompt_tokens": 120, "completion_tokens": 30}
        choice = {"finish_reason": "stop", "message": {"role": "assistant", "content": text}}
        whole = {"model": "gpt-x-2", "choices": [choice]}
    return {**whole, "usage": usage, **changes}


def replies(text: str, **changes: Any) -> Behave:
    return lambda request: request.respond(
        json.dumps(response(request.path, text, **changes)).encode()
    )


def fails(code: int, message: str = "no", **headers: str) -> Behave:
    content = json.dumps({"error": {"message": message}}).encode()
    return lambda request: request.respond(content, code, **headers)
