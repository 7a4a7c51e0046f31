"""Hover on values: when, how long, how much, and what is meant by an id, a path or a hash."""

import re
from datetime import UTC, datetime, timedelta, timezone

import pytest
from lsprotocol import types

from drive_trace.analysis import Analysis
from drive_trace.features.hover import hover
from drive_trace.features.referents import HoverOptions
from drive_trace.features.results import View
from drive_trace.features.runs import JoinedRun
from drive_trace.scorecard.card import score
from drive_trace.text.spans import PositionEncoding
from drive_trace.trace.document import Point
from drive_trace.vocabulary import EVENTS, EventType
from tests.support.aids import hover_text
from tests.support.fixtures import URI, dumps, trace
from tests.support.scored import summarize_text

HASH = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
BRIEFS = """
        EVENT{"event_type":"dispatch-start","dispatch_id":"d-1","dispatch_name":"coder"}
        EVENT{"event_type":"brief-issued","dispatch_id":"d-1","brief_content_hash":"HASH"}
"""


def said(fixture: str) -> str:
    """What is said of the value at the cursor, behind what is wrong with it, and before what its
    field means.
    """
    text = hover_text(fixture)
    return _WRONG.sub("", text).partition("\n\n**")[0]


_WRONG = re.compile(r"\*\*(?:error|warning|information|hint)\*\* .*?\n\n---\n\n", re.DOTALL)


def line(number: int) -> str:
    return f"[line {number}]({URI}#L{number})"


# When


SAID = {
    "a timestamp is told in words and from what happened before": (
        """
        EVENT{"event_type":"project-started","ts":"2026-05-28T14:00:00Z"}
        EVENT{"event_type":"dispatch-start","ts":"2026-05-28T15:00:00Z","dispatch_id":"d-1"}
        EVENT{"event_type":"round-start","ts":"2026-05-28T15:02:00Z","dispatch_id":"d-1"}
        EVENT{"event_type":"project-started","project_run_id":"another"}
        EVENT{"event_type":"dispatch-end","ts":"2026-$005-28T15:14:05.250Z","dispatch_id":"d-1"}
        """,
        "\n".join(
            (
                "**Thursday 28 May 2026, 15:14:05 UTC** · 17:14 local (UTC+2) · 2 days ago",
                "",
                f"- **+1h 14m** since the run's start ({line(1)})",
                f"- **+14m 05s** since the start of `implementer D1 R1` ({line(2)})",
                f"- **+12m 05s** since the event before ({line(3)})",
            )
        ),
    ),
    "the first event of a run has nothing before it": (
        'EVENT{"event_type":"project-started","ts":"$02026-05-31T13:30:00Z"}',
        "**Sunday 31 May 2026, 13:30:00 UTC** · 15:30 local (UTC+2) · 30 minutes ago",
    ),
    "what is short already is not told again": (
        'EVENT{"event_type":"round-end","wall_clock_ms":75$00}',
        "**wall_clock_ms** — "
        + (
            "How long the round took: this event's `ts` minus its start's. Counted in milliseconds."
            "\n\n*an integer of at least 0*"
        ),
    ),
    "a slice has the number that its start gives it": (
        'EVENT{"event_type":"slice-started","slice_slug":"retry$0-queue"}',
        "Slice 1: started on this line, not ended.",
    ),
    "an id that nothing starts": (
        'EVENT{"event_type":"round-end","dispatch_id":"d$0-1","round_id":"r-1"}',
        "No event of this trace starts this dispatch.",
    ),
    "a field within a field": (
        'EVENT{"event_type":"plan-authored","dispatch_size_distribution":{"S":1,"X$0L":0}}',
        "**XL** — Extra large dispatches.\n\n*an integer of at least 0*",
    ),
    "a path lists the events that wrote it": (
        """
        EVENT{"event_type":"spec-authored","spec_path":"a/spec.md","byte_length":8705}
        EVENT{"event_type":"spec-authored","spec_path":"b/spec.md"}
        EVENT{"event_type":"spec-amended","spec_path":"a/$0spec.md","byte_length":9120}
        EVENT{"event_type":"falsified-assumption","artifact_path":"a/spec.md"}
        """,
        "\n".join(
            (
                f"- {line(1)}: `spec-authored`, 8,705 bytes",
                "- this line: `spec-amended`, 9,120 bytes (+415), new-edge-case",
                f"- {line(4)}: `falsified-assumption`",
            )
        ),
    ),
}


@pytest.mark.parametrize("case", SAID)
def test_a_value_is_explained(case: str) -> None:
    fixture, expected = SAID[case]
    assert said(fixture) == expected


def test_a_time_that_goes_back_is_told_as_such() -> None:
    assert "- **−5m** since the run's start" in said(
        """
        EVENT{"event_type":"project-started","ts":"2026-05-28T14:00:00Z"}
        EVENT{"event_type":"project-closed","ts":"$02026-05-28T13:55:00Z"}
        """
    )


@pytest.mark.parametrize(
    ("ts", "words"),
    [
        ("2026-05-31T13:59:30Z", "just now"),
        ("2026-05-31T13:58:59Z", "1 minute ago"),
        ("2026-05-31T08:00:00Z", "6 hours ago"),
        ("2026-05-30T14:00:00Z", "1 day ago"),
        ("2026-02-01T14:00:00Z", "3 months ago"),
        ("2023-05-31T14:00:00Z", "3 years ago"),
        ("2026-05-31T14:05:00Z", "in 5 minutes"),
        ("2026-05-31T23:30:00Z", "Monday 01:30 local (UTC+2) · in 9 hours"),
        ("2026-05-31T13:00:00+02:00", "**Sunday 31 May 2026, 11:00:00 UTC** · 13:00 local"),
    ],
)
def test_a_time_is_related_to_the_reader(ts: str, words: str) -> None:
    assert words in said(f'EVENT{{"event_type":"project-started","ts":"$0{ts}"}}')


def test_a_reader_in_utc_is_told_once() -> None:
    text = hover_text(
        'EVENT{"event_type":"project-started","ts":"$02026-05-28T14:00:00Z"}',
        HoverOptions(zone=UTC),
    )
    assert text.startswith("**Thursday 28 May 2026, 14:00:00 UTC**\n\n**ts**")


@pytest.mark.parametrize("ts", ["yesterday", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", ""])
@pytest.mark.parametrize("hours", [-12, 14])
def test_no_timestamp_is_too_odd(ts: str, hours: int) -> None:
    zone = timezone(timedelta(hours=hours))
    options = HoverOptions(now=datetime(2026, 5, 31, tzinfo=UTC), zone=zone)
    text = hover_text(f'EVENT{{"event_type":"project-started","ts":$0"{ts}"}}', options)
    assert "**ts** — " in text


# How long, how much


def test_a_duration_is_told_in_full_beside_the_clock() -> None:
    fixture = """
        EVENT{"event_type":"dispatch-start","ts":"2026-05-28T14:00:00Z"}
        EVENT{"event_type":"dispatch-end","ts":"2026-05-28T14:28:00Z","wall_clock_ms":$0CLAIM}
    """
    assert said(fixture.replace("CLAIM", "1680250")) == (
        f"= 1,680,250 milliseconds · 28m\n\nThe clock says **28m**, from {line(1)} to this line."
    )
    assert said(fixture.replace("CLAIM", "3600000")).endswith(
        f"The clock says **28m**, from {line(1)} to this line: 32m less."
    )
    assert said(fixture.replace("CLAIM", "0")).endswith("to this line: 28m more.")


@pytest.mark.parametrize(
    ("pair", "words"),
    [
        ('"input_tokens":19$012408', "= 1,912,408 tokens · 1.9M"),
        ('"input_tokens":1$0e6', "= 1,000,000 tokens · 1.0M"),
    ],
)
def test_tokens_are_told_in_full_and_in_short(pair: str, words: str) -> None:
    text = hover_text(f'EVENT{{"event_type":"tokens-recorded",{pair}}}')
    assert words in text


# What is meant


def test_an_id_leads_to_the_lines_that_start_and_end_what_it_names() -> None:
    fixture = """
        EVENT{"event_type":"dispatch-start","dispatch_id":"d-1","dispatch_name":"coder"}
        EVENT{"event_type":"round-start","dispatch_id":"d-1","round_id":"r-1"}
        EVENT{"event_type":"round-end","dispatch_id":"d-1","round_id":"r$0-1"}
        EVENT{"event_type":"dispatch-end","dispatch_id":"d-1","result":"failed"}
        EVENT{"event_type":"dispatch-start","dispatch_id":"d-2","parent_dispatch_id":"d-1"}
    """
    assert said(fixture) == (
        f"Round 1 of `coder`: started on {line(2)}, ended on this line after 21m, satisfied."
    )
    parent = fixture.replace("$0", "").replace('"parent_dispatch_id":"', '"parent_dispatch_id":"$0')
    assert said(parent) == (
        f"`coder` on `composer-2`: started on {line(1)}, ended on {line(4)} after 28m, failed. "
        "1 round."
    )
    child = fixture.replace("$0", "").replace('"d-2"', '"d$0-2"')
    assert said(child).endswith(f"not ended. It resumes `coder`, {line(1)}.")


def test_the_name_of_a_dispatch_leads_where_its_id_does() -> None:
    fixture = """
        EVENT{"event_type":"dispatch-start","dispatch_id":"d-1","dispatch_name":"co$0der"}
        EVENT{"event_type":"dispatch-end","dispatch_id":"d-1","result":"failed"}
    """
    assert said(fixture) == said(fixture.replace("$0", "").replace("d-1", "d$0-1", 1))


def test_an_end_that_is_rejected_is_named() -> None:
    assert said(
        """
        EVENT{"event_type":"dispatch-start","dispatch_id":"d$0-1","dispatch_name":"coder"}
        EVENT{"event_type":"dispatch-end","dispatch_id":"d-1","wall_clock_ms":null}
        """
    ).endswith(f"started on this line, not ended as far as readers know: {line(2)} is rejected.")


def test_an_event_id_tells_the_place_in_the_run() -> None:
    fixture = """
        EVENT{"event_type":"project-started"}
        EVENT{"event_type":"project-started","project_run_id":"another"}
        EVENT{"event_type":"project-closed","event_id":"$0e-1"}
        EVENT{"event_type":"retro-landed","event_id":"e-1"}
    """
    assert said(fixture) == (
        f"Event 2 of 3 of run `checkout-retry`. Also the id of the event on {line(4)}."
    )


def test_a_hash_leads_to_the_brief_that_had_the_same_content() -> None:
    brief = 'EVENT{"event_type":"brief-issued","brief_content_hash":"$0HASH"}'
    assert said(brief.replace("HASH", HASH)) == "No other brief of the run has this content."
    again = f"{BRIEFS}        {brief}".replace("HASH", HASH)
    assert said(again) == f"The same content as on {line(2)}, a brief of `coder`."
    first = f"""
        {brief}
        EVENT{{"event_type":"brief-issued","brief_content_hash":"HASH"}}
    """
    assert said(first.replace("HASH", HASH)) == (
        f"No earlier brief of the run has this content; {line(2)} has it again."
    )


def test_of_many_writers_those_nearby_are_listed() -> None:
    amended = 'EVENT{"event_type":"spec-amended","spec_path":"spec.md"}\n'
    here = amended.replace("spec.md", "sp$0ec.md")
    listed = said(amended * 30 + here + amended * 30).split("\n")
    assert listed[4].startswith("- this line:")
    assert listed[-1] == "- and 53 more events"


@pytest.mark.parametrize("event", EVENTS.values(), ids=list(EVENTS))
def test_null_is_explained_wherever_it_may_stand(event: EventType) -> None:
    for name, field in event.fields.items():
        assert (field.null_means is not None) == field.nullable
        if field.nullable:
            text = hover_text(f'EVENT{{"event_type":"{event.name}","{name}":n$0ull}}')
            listed = f"- **`null`** — {field.null_means}"
            assert f"`null`: {field.null_means}." in text or listed in text


def test_null_that_is_not_allowed_has_no_meaning() -> None:
    text = hover_text('EVENT{"event_type":"dispatch-end","wall_clock_ms":nu$0ll}')
    assert "`null`" not in text
    assert text.startswith("**error** ")


@pytest.mark.parametrize(
    ("pair", "words"),
    [
        ('"landing_surfaces":["a$0dr"]', "- **`adr`** — an architecture decision record"),
        ('"is_mandatory_final":tr$0ue', "True exactly when `trigger_class`"),
        ('"schema_version":"$01"', "The vocabulary's version"),
    ],
)
def test_items_and_booleans_are_explained(pair: str, words: str) -> None:
    text = hover_text(f'EVENT{{"event_type":"retro-landed",{pair}}}')
    assert words in text


# Every token


@pytest.mark.parametrize("event", EVENTS.values(), ids=list(EVENTS))
def test_every_key_and_value_says_something_and_punctuation_nothing(event: EventType) -> None:
    text = dumps({**event.example, "orchestrator_agent_id": "🚀"})
    analysis, encoding = Analysis(text), PositionEncoding.UTF32
    inside = [match.span() for match in re.finditer(r'"[^"]*"|[\w.-]+', text)]
    for offset in range(len(text)):
        is_token = any(start <= offset < end for start, end in inside)
        assert (hover(View(analysis, encoding), Point(0, offset)) is not None) == is_token, text[
            offset:
        ]


# How it is shown


def test_what_is_wrong_with_the_token_comes_first_with_its_fix_and_the_rules_page() -> None:
    options = HoverOptions(url_of=lambda code: f"https://example.org/{code}")
    wrong = 'EVENT{"event_type":"round-end","verdict":"$0another-round"}'
    text = hover_text(wrong, options)
    message, fix, line, _ = text.split("\n\n", 3)
    assert message.startswith("**error** `` `verdict` must be ")
    assert message.endswith(" ([unknown-value](https://example.org/unknown-value))")
    assert (fix, line) == ('Fix: `Replace with "another-round-needed"`', "---")
    text = hover_text(wrong, options._replace(messages=False))
    assert text.startswith("**verdict**")
    text = hover_text('EVENT{"event_type":"round-end","verdict":"$0satisfied","x":1}', options)
    assert text.startswith("**verdict**")


def test_a_null_that_the_clock_can_replace_shows_what_it_says() -> None:
    text = hover_text(
        """
        EVENT{"event_type":"dispatch-start","ts":"2026-05-28T14:00:00.000Z"}
        EVENT{"event_type":"dispatch-end","ts":"2026-05-28T14:12:24.000Z","wall_clock_ms":nu$0ll}
        """
    )
    assert "Fill in `wall_clock_ms`: 744000 (12m 24s)" in text


def test_a_client_without_markdown_gets_plain_words() -> None:
    text = hover_text(
        """
        EVENT{"event_type":"dispatch-start","dispatch_id":"d-1","dispatch_name":"[a](b)"}
        EVENT{"event_type":"round-start","dispatch_id":"d$0-1"}
        """,
        kind=types.MarkupKind.PlainText,
    )
    assert text.startswith(
        "[a](b) on composer-2: started on line 1, not ended. 1 round.\n\ndispatch_id — The"
    )


@pytest.mark.parametrize(
    ("uri", "link"),
    [
        ("file:///a%20b/(x)/[y].jsonl", "[line 1](file:///a%20b/%28x%29/%5By%5D.jsonl#L1)"),
        ("vscode-remote://wsl/trace.jsonl", "[line 1](vscode-remote://wsl/trace.jsonl#L1)"),
        ("untitled:Untitled-1", "line 1,"),
        ("file:///a b", "line 1,"),
        ("file:///\ud800", "line 1,"),
        ("", "line 1,"),
    ],
)
def test_links_lead_to_the_trace_where_it_can_be_opened(uri: str, link: str) -> None:
    text = hover_text(
        """
        EVENT{"event_type":"round-start","round_id":"r-1"}
        EVENT{"event_type":"round-end","round_id":"r$0-1"}
        """,
        HoverOptions(uri=uri),
    )
    assert f"started on {link}" in text


def test_a_grade_that_another_file_supersedes_says_so_below_the_card_of_all_files() -> None:
    here = 'EVENT{"event_type":"correctness-recorded","qa":"pass","ts":"2026-05-28T15:00:00.000Z"}'
    there = here.replace("T15", "T16").replace("pass", "fail")
    texts = {"a.jsonl": here, "b.jsonl": there}
    traces = [summarize_text(trace(text), name) for name, text in texts.items()]
    (run,), (own,) = score(traces).runs, traces[0].runs
    uris = [f"file:///{name}" for name in texts]
    joined = JoinedRun(run, own, uris, uris[0])
    text = hover_text(here.replace('"qa"', '"q$0a"'), HoverOptions(joined=joined))
    card, _, _ = text.partition("\n\n---\n\n")
    assert card.startswith("**INCORRECT — qa failed** · run")
    assert card.endswith("\n\nThis event counts no more: `line 1 of b.jsonl` supersedes it.")


def test_a_broken_line_and_one_of_another_run_are_explained_too() -> None:
    fixture = """
        EVENT{"event_type":"dispatch-start","dispatch_id":"d-1","project_run_id":"a"}
        EVENT{"event_type":"dispatch-end","dispatch_id":"d$0-1","project_run_id":"RUN",}
    """
    assert said(fixture.replace("RUN", "a")).startswith("`implementer D1 R1` on `composer-2`")
    assert said(fixture.replace('"RUN"', '"b"')).startswith("`implementer D1 R1` on `composer-2`")
    assert hover_text("$0") == ""
