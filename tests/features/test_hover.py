"""Hover: what a token means, and the scorecard of the run that it belongs to."""

import json
import re

import pytest

from drive_trace.vocabulary import ENVELOPE, EVENTS, EventType, ListShape, OneOfShape
from tests.support.fixtures import check_hover, dumps


def hover_over(fixture: str) -> str:
    said = check_hover(fixture)
    assert said is not None
    return said


@pytest.mark.parametrize(
    "fixture",
    [
        # blank lines, and the one behind the final newline
        """
        EVENT{"event_type":"project-started"}
        $0
        EVENT{"event_type":"project-closed"}
        """,
        """
        EVENT{"event_type":"project-started"}
        $0
        """,
        # the object itself, and what stands between its tokens
        """
        $0EVENT{"event_type":"project-started"}
        """,
        """
        EVENT{"event_type":"project-started"}$0
        """,
        """
        {"event_id":$0 "e-1"}
        """,
        # no events, and what nothing is known of
        """
        ["correctness$0-recorded"]
        """,
        """
        not $0json
        """,
        """
        EVENT{"event_type":"tool-called","to$0ol":"grep"}
        """,
    ],
)
def test_where_there_is_nothing_to_say_nothing_is_said(fixture: str) -> None:
    assert check_hover(fixture) is None


@pytest.mark.parametrize("event", EVENTS.values(), ids=list(EVENTS))
def test_every_event_and_field_is_explained(event: EventType) -> None:
    said = hover_over(f'EVENT{{"event_type":"$0{event.name}"}}')
    assert event.prose in said
    for name, field in event.fields.items():
        pair = f'"$0{name}":{dumps(event.example.get(name))}'
        said = hover_over(f'EVENT{{"event_type":"{event.name}",{pair}}}')
        if name == "project_run_id" or (event.is_feed and name in ENVELOPE):
            assert field.prose not in said, "the run's card is there to be read"
            continue
        assert field.prose in said
        shape = field.shape.item if isinstance(field.shape, ListShape) else field.shape
        if not isinstance(shape, OneOfShape) or len(shape.meanings) == 1:
            assert field.describe() in said
            continue
        assert field.describe() not in said, "what is listed below needs no other list"
        null = {"null": field.null_means} if field.nullable else {}
        for word, meaning in {**shape.meanings, **null}.items():
            assert f"`{word}`" in said
            assert f" — {meaning}" in said


@pytest.mark.parametrize(
    "pair",
    [
        '"$0event_id":"e"',
        '"orchestrator_agent_id":n$0ull',
        '"$0qa":"fail"',
        '"qa":"f$0ail"',
        '"$0x":1',
    ],
)
def test_every_token_of_a_feed_event_begins_with_the_verdict(pair: str) -> None:
    said = hover_over(f'EVENT{{"event_type":"correctness-recorded","intent":null,{pair}}}')
    assert said.startswith("**not computable — missing: intent**")


@pytest.mark.parametrize("event", ["correctness-recorded", "tokens-recorded"])
def test_a_superseded_event_says_which_one_counts(event: str) -> None:
    here, there = f'EVENT{{"event_type":"$0{event}"}}', f'EVENT{{"event_type":"{event}"}}'
    assert "counts no more: line 3 supersedes it." in hover_over(f"{here}\n{there}\n{there}")
    assert "counts no more" not in hover_over(f"{there}\n{here}")


RUNS = {
    "a rejected line counts for nothing": (
        """
        EVENT{"event_type":"correctness-recorded"}
        EVENT{"event_type":"correctness-recorded","qa":"fai$0led"}
        """,
        "**CORRECT, but 1 correctness line rejected (line 2), not counted** · run `checkout-retry`"
        "\n\n**error** `` `qa` must be ",
        "This line is rejected: it counts for nothing.",
    ),
    "no run, but what is wrong with a key": (
        'EVENT{"event_type":"brief-issued","brief$0_path":"briefs/d1.md"}',
        "**warning** `` `brief_path` is not declared for `brief-issued`",
        "\n\nFix: `` Delete `brief_path` ``",
    ),
    "no run, but what is wrong with an event": (
        'EVENT{"event_type":"tool$0-called"}',
        '**warning** `"tool-called" is not an event of the vocabulary',
        "\n\n---\n\n`tool-called` is not an event of the vocabulary: readers keep it apart.",
    ),
    "a run id on any event": (
        """
        EVENT{"event_type":"dispatch-start","project_run_id":"checkout$0-retry"}
        EVENT{"event_type":"correctness-recorded","intent":"fail"}
        """,
        "**INCORRECT — intent failed**",
        "Decided by line 2.",
    ),
    "a run id on an event outside the vocabulary": (
        """
        EVENT{"event_type":"tool-called","project_run_id":"checkout$0-retry"}
        EVENT{"event_type":"correctness-recorded"}
        """,
        "**CORRECT**",
        "",
    ),
    "a run without a valid event": (
        """
        EVENT{"event_type":"correctness-recorded","qa":"pass$0ed","project_run_id":"search-index"}
        EVENT{"event_type":"correctness-recorded"}
        """,
        "**not computable: its only line is rejected** · run `search-index`",
        "Repair its lines",
    ),
    "a broken line of a feed": (
        """
        EVENT{"event_type":"correctness-recorded"}
        EVENT{"event_type":"correctness-recorded","q$0a":"fail",}
        """,
        "**CORRECT, but 1 correctness line rejected (line 2), not counted**",
        "1 correctness line rejected (line 2), not counted",
    ),
    "no run, but a value of a line that is broken further on": (
        'EVENT{"event_type":"round-end","verdict":"$0satisfied",',
        "**verdict**",
        "stop-condition",
    ),
}


@pytest.mark.parametrize("case", RUNS)
def test_a_hover_begins_with_the_verdict_of_its_run(case: str) -> None:
    fixture, first, further = RUNS[case]
    said = hover_over(fixture)
    assert said.startswith(first)
    assert further in said


def test_the_value_that_stands_there_is_the_one_that_stands_out() -> None:
    said = hover_over('EVENT{"event_type":"round-end","verdict":"stop-$0condition"}')
    assert "- **`stop-condition`** — a stop condition was met" in said
    assert "- `satisfied` — " in said


@pytest.mark.parametrize(
    ("correctness", "reason"),
    [
        ('"qa":"fail"', "hidden: not graded CORRECT (qa failed)."),
        ('"qa":"fail","intent":"fail"', "hidden: not graded CORRECT (qa and intent failed)."),
        ('"intent":null', "hidden: not graded CORRECT (intent is missing)."),
        ('"qa":"fail","intent":null', "hidden: not graded CORRECT (intent is missing)."),
        ('"qa":null,"intent":null', "hidden: not graded CORRECT (qa and intent are missing)."),
    ],
)
def test_tier_2_is_hidden_with_a_reason_unless_the_run_is_correct(
    correctness: str, reason: str
) -> None:
    said = hover_over(
        f"""
        EVENT{{"event_type":"tokens-recorded","input_tokens":1912408}}
        EVENT{{"event_type":"correctness-recorded","$0event_id":"e-2",{correctness}}}
        """
    )
    assert reason in said
    assert "1,912,408" not in said
    assert "1.9M" not in said


def test_on_the_token_feed_the_raw_number_is_a_fact_and_no_score() -> None:
    said = hover_over('EVENT{"event_type":"tokens-recorded","input_tokens":19$012408}')
    card, about = said.split("\n\n---\n\n")
    assert "hidden: no correctness signal was recorded." in card
    assert "= 1,912,408 tokens" in about


# A trace is untrusted: whatever its strings hold, the card is the same but for the name.

HOSTILE = [
    "`code` ``more`` ```",
    "`",
    "**bold** _it_ [a](http://example.com) ![i](http://example.com/i.png)",
    '<script>alert(1)</script><img src="x">',
    "a | b\n\n# CORRECT\n\n---",
    "line\u2028separator\u2029\x85\r",
    "\x1b]8;;http://example.com\x07link\x1b[31m\x9b",
    "right\u202eto left\u2066",
    "command:workbench.action.quit $(alert)",
    "\ud800 lone",
    " padded ",
    "   ",
    "",
    "x" * 5000,
]


@pytest.mark.parametrize("run_id", HOSTILE, ids=range(len(HOSTILE)))
def test_a_run_id_is_shown_as_inert_code(run_id: str) -> None:
    plain = hover_over('EVENT{"event_type":"tokens-recorded","$0project_run_id":"NAME"}')
    written = json.dumps(run_id)
    said = hover_over(f'EVENT{{"event_type":"tokens-recorded","$0project_run_id":{written}}}')
    before, after = plain.split("`NAME`")
    assert said.startswith(before)
    assert said.endswith(after)
    shown = said[len(before) : len(said) - len(after)]
    assert shown.isprintable()
    assert len(shown) < 250
    # One CommonMark code span: as many back quotes as nowhere within stand on each side.
    fence = re.match("`+", shown)
    assert fence is not None
    assert shown.endswith(fence[0])
    within = shown[len(fence[0]) : -len(fence[0])]
    assert fence[0] not in re.findall("`+", within)
    assert within
    assert not within.startswith("`")
    assert not within.endswith("`")


@pytest.mark.parametrize(
    "fixture",
    [
        'EVENT{"event_type":"brief-issued","$0HOSTILE":1}',
        'EVENT{"event_type":"$0HOSTILE"}',
        """
        EVENT{"event_type":"dispatch-start","dispatch_id":"$0d-1","dispatch_name":"HOSTILE"}
        """,
        'EVENT{"event_type":"correctness-recorded","$0qa":"HOSTILE"}',
    ],
)
@pytest.mark.parametrize("text", HOSTILE[:-4], ids=range(len(HOSTILE) - 4))
def test_other_names_are_as_inert(fixture: str, text: str) -> None:
    said = hover_over(fixture.replace("HOSTILE", json.dumps(text)[1:-1]))
    outside = re.sub(r"(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)", "", said)
    assert all(line.isprintable() for line in said.split("\n"))
    for mark in ("<", "](", "**bold**", "# CORRECT", "$(", "\u202e"):
        assert mark not in outside
