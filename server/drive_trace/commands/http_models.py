"""Models over HTTP: chat completions as OpenAI and many others serve them, and Anthropic's
messages. Needs the extra ``drive-trace[judge]``.
"""

import asyncio
import contextlib
import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, NamedTuple, TypeAlias
from urllib.parse import urlsplit

import httpx2

from drive_trace import __version__
from drive_trace.commands import models
from drive_trace.commands.models import Asked, ModelError, Reply, TransportError, without_keys
from drive_trace.text.wording import printable

_MOST_TOKENS = 16_000
"""Of a reply to Anthropic, which wants a number; the model's thinking counts."""
_TRY_AGAIN = {408, 409, 425, 429}
_SERVER_FAULT = 500
_REFUSES = {400, 422}
"""As models and servers do that know no schemas; they say so in their own ways."""
_COSTLIEST = 1e9
_SHOWN = 300
"""Characters of a provider's message that are shown."""


Schema: TypeAlias = Mapping[str, Any]


class Provider(NamedTuple):
    """How a kind of provider is asked."""

    path: str
    """What comes behind the base URL."""
    base: str
    """The base URL of those who invented it."""
    headers: Callable[[str], Mapping[str, str]]
    """Of a key."""
    body: Callable[[str, str], Mapping[str, Any]]
    """Of a model and a prompt."""
    structured: Callable[[Schema], Mapping[str, Any]]
    """What more of a body asks for a reply of a JSON Schema."""
    reply: Callable[[Any], Reply]
    """Of a response; raises LookupError, TypeError or ValueError for another shape."""


def _completion_reply(response: Any) -> Reply:
    (choice,) = response["choices"]
    message, usage = choice["message"], response.get("usage") or {}
    finish = choice["finish_reason"]
    if message.get("refusal"):
        finish = "refusal"
    return Reply(
        _text(message["content"] or ""),
        model=_name(response.get("model")),
        cut_off=None if finish == "stop" else str(finish),
        input_tokens=_count(usage.get("prompt_tokens")),
        output_tokens=_count(usage.get("completion_tokens")),
        cost=_cost(usage.get("cost")),
    )


def _message_reply(response: Any) -> Reply:
    usage, finish = response.get("usage") or {}, response["stop_reason"]
    texts = [_text(each["text"]) for each in response["content"] if each["type"] == "text"]
    return Reply(
        "".join(texts),
        model=_name(response.get("model")),
        cut_off=None if finish in {"end_turn", "stop_sequence"} else str(finish),
        input_tokens=_count(usage.get("input_tokens")),
        output_tokens=_count(usage.get("output_tokens")),
    )


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _name(value: object) -> str | None:
    return value if isinstance(value, str) and value.strip() else None


def _count(value: object) -> int | None:
    # True is a whole number to Python.
    return value if type(value) is int and 0 <= value < 2**53 else None


def _cost(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value < _COSTLIEST else None


def _messages(model: str, prompt: str) -> dict[str, Any]:
    return {"model": model, "messages": [{"role": "user", "content": prompt}]}


PROVIDERS: Mapping[str, Provider] = {
    "openai": Provider(
        "/chat/completions",
        "https://api.openai.com/v1",
        lambda key: {"Authorization": f"Bearer {key}"},
        _messages,
        lambda schema: {
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "answer", "strict": True, "schema": schema},
            }
        },
        _completion_reply,
    ),
    "anthropic": Provider(
        "/messages",
        "https://api.anthropic.com/v1",
        lambda key: {"x-api-key": key, "anthropic-version": "2023-06-01"},
        lambda model, prompt: {**_messages(model, prompt), "max_tokens": _MOST_TOKENS},
        lambda schema: {"output_config": {"format": {"type": "json_schema", "schema": schema}}},
        _message_reply,
    ),
}


class HttpModel:
    """A model of a provider. The key is in no message, reply or representation of it."""

    def __init__(self, asked: Asked, key: str, schema: Schema | None = None) -> None:
        """The timeout bounds a call as a whole, however slowly the response drips. A reply of the
        ``schema`` is asked for, and any where the provider refuses that. Raises ModelError for a
        base URL that the key may not be sent to.
        """
        self._provider, self._model, self._key = PROVIDERS[str(asked.api)], asked.model, key
        self._seconds, self._schema = asked.timeout, schema
        if not (key.isascii() and key.isprintable()):
            raise ModelError("the key has characters in it that no key has")
        base = (asked.base_url or self._provider.base).rstrip("/")
        self.url = _checked(base) + self._provider.path
        """Where prompts go."""

    def grade(self, prompt: str) -> Reply:
        """See :data:`Model`."""
        try:
            return asyncio.run(self._asked(prompt))
        except TimeoutError as error:
            raise TransportError(f"no response within {self._seconds:g} seconds") from error
        except httpx2.TransportError as error:
            why = _shown(str(error)) or type(error).__name__
            raise TransportError(f"the connection failed ({why})") from error
        except (httpx2.HTTPError, httpx2.InvalidURL, ValueError) as error:
            raise ModelError(f"the request failed ({_shown(str(error))})") from error

    async def _asked(self, prompt: str) -> Reply:
        provider, body = self._provider, {**self._provider.body(self._model, prompt)}
        body |= provider.structured(self._schema) if self._schema is not None else {}
        if urlsplit(self.url).hostname == "openrouter.ai":
            # Another provider's model is not the one that was calibrated.
            body["provider"] = {"allow_fallbacks": False}
        headers = {
            "User-Agent": f"drive-trace/{__version__}",
            "Accept-Encoding": "identity",  # what is packed may unpack to any size
            **provider.headers(self._key),
        }
        async with (
            asyncio.timeout(self._seconds),
            self._client() as client,
            client.stream("POST", self.url, json=body, headers=headers) as response,
        ):
            content = bytearray()
            async for chunk in response.aiter_raw():
                content += chunk
                if len(content) > models.LARGEST:
                    raise ModelError(f"the response has more than {models.LARGEST:,} bytes")
            if response.status_code in _REFUSES and self._schema is not None:
                self._schema = None
                return await self._asked(prompt)
            return self._reply(response, bytes(content))

    def _client(self) -> httpx2.AsyncClient:
        # What goes to this machine goes through no proxy, which would read the key.
        through = self.url.startswith("https://")
        try:
            return httpx2.AsyncClient(
                timeout=self._seconds, follow_redirects=False, trust_env=through
            )
        except (ImportError, httpx2.InvalidURL, ValueError, OSError) as error:
            why = _shown(str(error))
            what = f"the proxy or the CA bundle of the environment cannot be used ({why})"
            raise ModelError(what) from error

    def _reply(self, response: httpx2.Response, content: bytes) -> Reply:
        code = response.status_code
        if response.is_redirect:
            raise ModelError("the provider redirects to another address, which is not followed")
        if code != httpx2.codes.OK:
            said = f"the provider answered {code}{_message(content)}"
            if code in _TRY_AGAIN or code >= _SERVER_FAULT:
                raise TransportError(said, _wait(response.headers.get("retry-after", "")))
            raise ModelError(said)
        if (packed := response.headers.get("content-encoding", "identity")) != "identity":
            raise ModelError(f"the response is packed ({printable(packed)}), which is not read")
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != "application/json":
            raise ModelError(f"the response is {printable(kind) or 'of no type'}, and no JSON")
        try:
            reply = self._provider.reply(json.loads(content))
        except (LookupError, TypeError, ValueError, AttributeError, RecursionError) as error:
            raise ModelError("the response has another shape than the provider's API") from error
        model, cut_off = (each and _shown(each) for each in (reply.model, reply.cut_off))
        held = self._schema is not None
        text = without_keys(reply.text)
        return reply._replace(text=text, model=model, cut_off=cut_off, schema_held=held)


def _message(content: bytes) -> str:
    """What a provider says of a failure, where that can be read."""
    with contextlib.suppress(Exception):
        message = json.loads(content)["error"]["message"]
        return f": {_shown(message)}"
    return ""


def _shown(text: str) -> str:
    return printable(without_keys(text), _SHOWN)


def _checked(base: str) -> str:
    try:
        parts = urlsplit(base)
        host = parts.hostname or ""
    except ValueError as error:
        raise ModelError("the base URL is no URL") from error
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        raise ModelError("the base URL may not have a user, a query or a fragment in it")
    if parts.scheme == "https" and host:
        return base
    if parts.scheme == "http" and host in {"localhost", "127.0.0.1", "::1"}:
        return base
    raise ModelError("the base URL has to begin with https://, or with http:// on this machine")


def _wait(header: str) -> float | None:
    """The seconds of a Retry-After header, or those until its date; None of any other."""
    if header.strip().isdecimal():
        return float(header)
    with contextlib.suppress(ValueError, TypeError, OverflowError):  # its zone is none, or far off
        return (parsedate_to_datetime(header) - datetime.now(UTC)).total_seconds()
    return None
