"""Models over HTTP, against a server that speaks both formats, and misbehaves."""

import gzip
import json
import threading
from typing import Any

import pytest

from drive_trace.commands.http_models import HttpModel
from drive_trace.commands.models import Asked, ModelError, Reply, TransportError, ask
from drive_trace.commands.options import API_KEYS
from tests.judging.servers import Behave, Provider, Request, fails, provider, replies, response

KEY = "sk-secret-1234"
KINDS = ["openai", "anthropic"]


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in API_KEYS.values():
        monkeypatch.setenv(name, KEY)


def http_model(
    url: str | None = None, kind: str = "openai", seconds: float = 300.0, **options: Any
) -> HttpModel:
    return HttpModel(Asked("x-1", kind, url, None, seconds, None), KEY, **options)


def asked(server: Provider, kind: str, **options: Any) -> Reply:
    model = http_model(server.url, kind, 20.0, **options)
    return ask(model.grade, "Judge.", sleep=lambda _: None)


@pytest.mark.parametrize("kind", KINDS)
def test_a_reply_comes_with_what_the_provider_says_of_it(kind: str) -> None:
    with provider(replies("ok")) as server:
        reply = asked(server, kind)
        (request,) = server.seen
    assert (reply.text, reply.input_tokens, reply.output_tokens, reply.cut_off) == (
        "ok",
        120,
        30,
        None,
    )
    assert reply.model in {"gpt-x-2", "claude-x-2"}
    assert request.body["model"] == "x-1"
    assert request.body["messages"] == [{"role": "user", "content": "Judge."}]
    assert KEY in str(request.headers)
    assert KEY not in json.dumps(request.body)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["", " \n", None, 5])
def test_a_name_that_says_nothing_is_none(kind: str, name: object) -> None:
    with provider(replies("ok", model=name)) as server:
        assert asked(server, kind).model is None


def choice(finish: str, **message: Any) -> dict[str, Any]:
    return {"choices": [{"finish_reason": finish, "message": message}]}


@pytest.mark.parametrize(
    ("kind", "changes"),
    [
        ("openai", {"choices": [{"finish_reason": "length", "message": {"content": "{"}}]}),
        (
            "openai",
            {"choices": [{"finish_reason": "stop", "message": {"content": None, "refusal": "no"}}]},
        ),
        ("openai", {"choices": [{"finish_reason": "content_filter", "message": {"content": ""}}]}),
        ("anthropic", {"stop_reason": "max_tokens"}),
        ("anthropic", {"stop_reason": "refusal", "content": []}),
    ],
)
def test_a_reply_that_is_not_whole_says_so(kind: str, changes: dict[str, Any]) -> None:
    with provider(replies("x", **changes)) as server:
        assert asked(server, kind).cut_off


def cut(request: Request) -> None:
    request.send_response(200)
    request.send_header("content-type", "application/json")
    request.send_header("content-length", "1000")
    request.end_headers()
    request.wfile.write(b'{"choices"')


def no_response(request: Request) -> None:
    request.connection.close()


_DATE_FAR_OFF = "Fri, 01 Jan 2100 00:00:00 +99999999999999"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "fault",
    [
        *(fails(429, retry_after="1"), fails(429, retry_after=_DATE_FAR_OFF)),
        *(fails(500), fails(503), fails(529), cut, no_response),
    ],
)
def test_where_the_way_fails_the_model_is_asked_again(kind: str, fault: Behave) -> None:
    with provider(fault, fault, replies("ok")) as server:
        assert asked(server, kind).text == "ok"
        assert len(server.seen) == 3
    with provider(fault) as server:
        with pytest.raises(TransportError):
            asked(server, kind)
        assert len(server.seen) == 5


@pytest.mark.parametrize(
    ("header", "seconds"),
    [("3600", "3,600"), ("Fri, 01 Jan 2100 00:00:00 GMT", r"\d,\d{3},[\d,]+")],
)
def test_a_wait_that_is_too_long_is_not_waited(header: str, seconds: str) -> None:
    with provider(fails(429, retry_after=header)) as server:
        with pytest.raises(ModelError, match=f"answered 429: no; it asks to wait {seconds} s"):
            asked(server, "openai")
        assert len(server.seen) == 1


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("ALL_PROXY", "socks5://u:hidden@127.0.0.1:1", "the proxy or the CA bundle"),
        ("HTTPS_PROXY", "ftp://u:hidden@127.0.0.1:1", "the proxy or the CA bundle"),
        ("HTTPS_PROXY", "::", "the proxy or the CA bundle"),
        ("SSL_CERT_FILE", "/no/such/file", "the proxy or the CA bundle"),
    ],
)
def test_what_the_environment_names_wrongly_is_told(
    name: str, value: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(ModelError, match=message) as error:
        http_model().grade("Judge.")
    assert "hidden" not in str(error.value)


def packed(request: Request) -> None:
    request.respond(gzip.compress(b" " * 20_000_000), content_encoding="gzip")


def typed(kind: str, content: bytes = b"{}") -> Behave:
    return lambda request: request.respond(content, content_type=kind)


def without(*path: str) -> Behave:
    def behave(request: Request) -> None:
        whole = inner = response(request.path, "x")
        for each in path[:-1]:
            inner = inner[each]
        inner.pop(path[-1], None)
        request.respond(json.dumps(whole).encode())

    return behave


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (fails(400, "bad model"), "answered 400: bad model"),
        (fails(401, f"Incorrect key {KEY}"), r"answered 401: Incorrect key \[key\]"),
        (fails(404), "answered 404"),
        (lambda each: each.respond(b"", 302, location="http://127.0.0.2/v1"), "redirects"),
        (lambda each: each.respond(b"", 307, location="https://example.org/"), "redirects"),
        (typed("text/html", b"<html>"), "is text/html, and no JSON"),
        (typed("application/json", b""), "another shape"),
        (typed("application/json", b"null"), "another shape"),
        (typed("application/json", b"{"), "another shape"),
        (typed("application/json", b"[" * 100_000), "another shape"),
        (typed("application/json", b"\xff"), "another shape"),
        (typed("application/json", b" " * 5_000_000), "more than 1,048,576 bytes"),
        (packed, r"the response is packed \(gzip\), which is not read"),
        (replies("x", choices=[], content=None), "another shape"),
        (replies("x", choices=[{}, {}], content=[{}]), "another shape"),
        (replies("x", choices={}, content="x"), "another shape"),
        (replies("x", choices=None, content=[{"type": "text", "text": 1}]), "another shape"),
    ],
)
def test_what_is_no_reply_is_told_in_one_clause(kind: str, fault: Behave, message: str) -> None:
    with provider(fault) as server:
        with pytest.raises(ModelError, match=message) as error:
            asked(server, kind)
        assert len(server.seen) == 1
    assert not isinstance(error.value, TransportError)
    assert KEY not in str(error.value)


def test_a_response_that_drips_is_not_waited_for() -> None:
    done = threading.Event()

    def drip(request: Request) -> None:
        request.send_response(200)
        request.end_headers()
        while not done.wait(0.01):
            request.wfile.write(b" ")

    with provider(drip) as server:
        model = http_model(server.url, seconds=0.5)
        with pytest.raises(TransportError, match=r"within 0\.5 seconds"):
            model.grade("Judge.")
        done.set()


def test_the_key_is_in_no_reply() -> None:
    with provider(replies(f"your key is {KEY}")) as server:
        assert asked(server, "openai").text == "your key is [key]"


@pytest.mark.parametrize(
    "base",
    [
        "http://example.org/v1",
        "http://127.0.0.1.example.org",
        "ftp://127.0.0.1",
        "https://user:pass@example.org",
        "https://example.org/v1?key=1",
        "https://",
        "example.org",
        "http://[",
    ],
)
def test_a_key_is_sent_over_tls_or_to_this_machine(base: str) -> None:
    with pytest.raises(ModelError, match="the base URL"):
        http_model(base)


def test_where_prompts_go_is_told() -> None:
    assert http_model().url == "https://api.openai.com/v1/chat/completions"
    assert http_model("http://[::1]:1/v1/").url == "http://[::1]:1/v1/chat/completions"


SCHEMA = {"type": "object", "properties": {"intent": {"enum": ["pass", "fail"]}}}


@pytest.mark.parametrize(
    ("kind", "asked_for"),
    [
        (
            "openai",
            {
                "response_format": {
                    "type": "json_schema",
                    "json_schema": {"name": "answer", "strict": True, "schema": SCHEMA},
                }
            },
        ),
        ("anthropic", {"output_config": {"format": {"type": "json_schema", "schema": SCHEMA}}}),
    ],
)
def test_a_reply_of_a_schema_is_asked_for(kind: str, asked_for: dict[str, Any]) -> None:
    with provider(replies("{}")) as server:
        assert asked(server, kind, schema=SCHEMA).schema_held is True
        assert asked(server, kind).schema_held is False
        with_schema, without = (request.body for request in server.seen)
    assert with_schema == {**without, **asked_for}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("code", [400, 422])
def test_who_knows_no_schema_is_asked_without(kind: str, code: int) -> None:
    with provider(fails(code), replies("ok")) as server:
        reply = asked(server, kind, schema=SCHEMA)
        assert (reply.text, reply.schema_held) == ("ok", False)
        first, second = (request.body for request in server.seen)
    assert first.keys() > second.keys()
    with provider(fails(code)) as server:
        with pytest.raises(ModelError, match=f"the provider answered {code}: no"):
            asked(server, kind, schema=SCHEMA)
        assert len(server.seen) == 2
