"""The server in plain JSON-RPC: ranges in three encodings, and edits of an open document."""

from collections.abc import Callable

import pytest

from tests.server.support import ODD, PASSED, REJECTED, published
from tests.support.client_text import ENCODINGS, apart, graded, range_at, triage
from tests.support.editor import Document
from tests.support.raw_client import RawClient

CODES = ("unknown-value", "undeclared-field", "invalid-json")


# Ranges


@pytest.mark.parametrize(("encoding", "character"), [("utf-8", 16), ("utf-16", 10), ("utf-32", 9)])
def test_a_range_counted_by_hand(
    encoding: str, character: int, servers: Callable[[str], RawClient]
) -> None:
    document = Document(servers(encoding), '{"é\u2028\x85🚀":1,}\n', encoding)
    (comma,) = document.diagnostics()
    assert comma["range"] == {
        "start": {"line": 0, "character": character},
        "end": {"line": 0, "character": character + 1},
    }


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r \n"], ids=["lf", "crlf", "cr"])
def test_ranges(encoding: str, end: str, servers: Callable[[str], RawClient]) -> None:
    text = (
        "\x0b\x0c\u2028\n"
        + triage(input_ref=ODD)
        + triage(input_ref=ODD, verdict="direct-chance", severity=ODD)
        + '{"\x0b":1}\n'
    ).replace("\n", end)
    if end == "\r \n":  # white space to JSON, the end of a line to an editor
        text = text.replace(',"verdict"', ',\r"verdict"')
    document = Document(servers(encoding), text, encoding)
    assert [each for each in document.shown() if each[0] in CODES] == [
        ("unknown-value", document.range_of('"direct-chance"')),
        ("undeclared-field", document.range_of('"severity"')),
        ("invalid-json", document.range_of("\x0b"))
        if text.count("\x0b") == 1
        else (
            "invalid-json",
            range_at(text, text.rindex("\x0b"), text.rindex("\x0b") + 1, encoding),
        ),
    ]
    diagnostic = next(each for each in document.diagnostics() if each["code"] == CODES[0])
    assert diagnostic["source"] == "drive-trace"
    assert diagnostic["severity"] == 1
    assert document.hover('"direct-chance"')["range"] == document.range_of('"direct-chance"')
    (action,) = document.actions('"direct-chance"')
    assert document.applied(action) == text.replace('"direct-chance"', '"direct-change"')


def test_related_places_and_tags(client: RawClient) -> None:
    document = Document(client, apart(graded("pass", None, None) + graded("fail", "pass", "pass")))
    (superseded,) = document.diagnostics()
    assert superseded["code"] == "superseded-feed"
    assert superseded["severity"] == 4
    assert superseded["tags"] == [1]
    assert "line 2" in superseded["message"]
    (related,) = superseded["relatedInformation"]
    assert related["message"] == "this event counts"
    assert related["location"]["uri"] == document.uri
    assert related["location"]["range"]["start"]["line"] == 1
    # A line that comes before both moves what is said, too.
    (superseded,) = document.edit((0, 0, triage()))
    assert "line 3" in superseded["message"]
    assert superseded["relatedInformation"][0]["location"]["range"]["start"]["line"] == 2


# Edits


@pytest.mark.parametrize("removed", ["\r", "\n\r"], ids=["in-a-line", "with-a-line-end"])
def test_a_lone_carriage_return_that_goes_moves_what_is_below(
    removed: str, client: RawClient
) -> None:
    """It ends a line for an editor, though not one of the trace."""
    document = Document(client, triage()[:-2] + " " + removed + " }\n" + REJECTED)
    assert document.shown()[-1] == ("unknown-value", document.range_of(PASSED))
    document.replace(removed, "")
    assert document.shown()[-1] == ("unknown-value", document.range_of(PASSED))
    document.edit((2, 2, "\r"))
    assert document.shown()[-1] == ("unknown-value", document.range_of(PASSED))


def test_every_version_of_a_burst_but_the_last_may_be_skipped(client: RawClient) -> None:
    document = Document(client, triage())
    client.diagnostics(document.uri, 1)
    last = 60
    for version in range(2, last + 1):
        where = range_at(document.text, 0, 0, "utf-16")
        client.change(
            document.uri, version, {"range": where, "text": "{" if version == last else " "}
        )
    (found,) = client.diagnostics(document.uri, last)
    assert found["code"] == "invalid-json"
    versions = [each["version"] for each in published(client, document.uri)]
    assert versions == sorted(set(versions))
    assert (versions[0], versions[-1]) == (1, last)
