"""`tokens --usage`: what an agent SDK logs is summed up, and never counted wrongly."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.cli.support import run, write
from tests.cli.usage import log, recorded, refused, usage

Ids = Mapping[str, str]


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ('{"inputTokens":5}', [5, None, None, None]),
        ('{"inputTokens":5,"outputTokens":null}', [5, None, None, None]),
        ('[{"inputTokens":5},{"inputTokens":6.0}]', [11, None, None, None]),
        ('{"inputTokens":5}\r\n\n{"inputTokens":6}\n', [11, None, None, None]),
        ('{"usage":{"cacheReadTokens":5}}\n{"cacheReadTokens":6}', [None, None, 11, None]),
        ('{\n "inputTokens": 0,\n "usage": 7\n}', [0, None, None, None]),
        ('{\n "inputTokens": 5\n}\n{\n "inputTokens": 6\n}\n', [11, None, None, None]),
        ('\ufeff{"inputTokens":5}{"inputTokens":6}', [11, None, None, None]),
        ('{"inputTokens":1e30}', [int(1e30), None, None, None]),
        ('{"inputTokens":5,"text":"\\ud800"}', [5, None, None, None]),
    ],
)
def test_usage_objects_are_summed_up(trace: Path, text: str, counts: list[int | None]) -> None:
    assert recorded(trace, text) == (counts, [])
    path = write(trace.parent, "usage.json", text)
    target = ("--trace-file", trace, "--project-run-id", "run-1")
    assert run("tokens", *target, "--usage", path).code == 0
    ran = run("tokens", *target, "--usage", trace.parent)
    assert (ran.code, "is a folder, not a file\n" in ran.err) == (2, True)


def test_messages_without_usage_are_passed_over(trace: Path) -> None:
    text = log(
        {"type": "thinking-delta", "text": "hm", "maxTokens": 9},
        {"type": "turn-ended", "usage": usage(1200, 80, 900, 0)},
        {"type": "tool-call-started", "args": [{"path": "x"}], "usage": None},
        {"type": "turn-ended", "usage": usage(800, 20, 100, 0)},
    )
    assert recorded(trace, text) == (
        [2000, 100, 1000, 0],
        ["2 of 4 objects tell no usage: passed over"],
    )


def test_a_figure_that_some_turns_do_not_have_is_not_known(trace: Path) -> None:
    text = log({**usage(5, 1), "totalTokens": 6}, {"inputTokens": None, "outputTokens": 2})
    assert recorded(trace, text) == (
        [None, 3, None, None],
        [
            "`input_tokens` is in 1 of 2 usage objects only: their sum is not known, and not "
            "recorded; --input-tokens records it if you know it"
        ],
    )


@pytest.mark.parametrize(
    ("one", "again"),
    [
        ({"messageId": "m1"}, {"messageId": "m1"}),
        ({"id": "m1", "uuid": "u1"}, {"uuid": "u1"}),
        ({"id": "m1"}, {"id": "m1", "messageId": "x1"}),
    ],
)
def test_a_message_that_is_streamed_again_counts_once(trace: Path, one: Ids, again: Ids) -> None:
    messages = [{**ids, "usage": usage(5, 1)} for ids in (one, again, {"messageId": "m2"})]
    assert recorded(trace, log(*messages)) == (
        [10, 2, None, None],
        ["1 of 3 usage objects only repeat a message: counted once"],
    )


def test_a_message_that_has_grown_is_refused(trace: Path) -> None:
    text = log({"id": "m1", "usage": usage(5, 1)}, {}, {"id": "m1", "usage": usage(5, 9)})
    assert refused(trace, text) == [
        "object 3 (line 3) repeats object 1 (line 1) with other figures: which one counts cannot "
        "be told; hand over only that, or one session at a time"
    ]


def test_a_total_is_not_added_to_what_it_adds_up(trace: Path) -> None:
    turns = [{"type": "turn", "usage": usage(5, 1)}, {"type": "turn", "usage": usage(6, 2)}]
    total = {"type": "result", "usage": usage(11, 3)}
    assert recorded(trace, log(*turns, total)) == (
        [11, 3, None, None],
        ["object 3 (line 3) adds up the 2 others, which are not counted again"],
    )
    assert recorded(trace, log(total, total))[0] == [22, 6, None, None]


def test_a_total_of_something_else_is_refused(trace: Path) -> None:
    text = log({"type": "turn", "usage": usage(5)}, {"type": "result", "usage": usage(9)})
    (reason,) = refused(trace, text)
    assert reason.startswith("object 2 (line 2) is of the type `result`, which adds up others, but")
    assert reason.endswith("""hand over one kind, as by jq -c 'select(.type == "result")'""")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "-: no message tells usage; expected the log of a session"),
        ("[]", "-: no message tells usage; expected the log of a session"),
        ("{}", "-: no message tells usage; expected the log of a session"),
        ('{"type":"thinking-delta"}', "-: no message tells usage; expected the log of a session"),
        (
            '{"input_tokens":5}',
            "the usage of object 1 (line 1) has none of inputTokens, outputTokens, "
            "cacheReadTokens, cacheWriteTokens; found `input_tokens`: rename them",
        ),
        ('{"usage":{"prompt_tokens":5}}', "found `prompt_tokens`: rename them"),
        ('{"usage":{}}', "the usage of object 1 (line 1) has none of"),
        ('{"inputTokens":5}\n7', "object 2 (line 2) must be an object; found 7"),
        (
            '{"inputTokens":-5}',
            "`inputTokens` of object 1 (line 1) must be an integer of at least 0, or null; "
            "found -5",
        ),
        ('{"inputTokens":"5"}', 'found "5"'),
        ('{"inputTokens":true}', "found true"),
        ('{"inputTokens":1.5}', "found 1.5"),
        ('{"inputTokens":NaN}', "line 1 of the usage cannot be read"),
        ('{"inputTokens":5}\n{"inputTokens":', "line 2 of the usage is not JSON"),
        ('{"inputTokens":5}\noops', "line 2 of the usage is not JSON"),
        ("[" * 100_000, "line 1 of the usage is nested too deeply"),
        (
            f'{{"inputTokens":{"9" * 4000}}}',
            "`inputTokens` of object 1 (line 1) must be an integer of at least 0, or null; found a "
            "number too large for a double",
        ),
        ("[" + "[]," * 1_000_000 + "{}]", "line 1 of the usage has more than 2,000,000 lists,"),
        ("9" * 5000, "cannot be read: a number has more than 4,300 digits"),
        (
            '{"usage":{"inputTokens":5},"inputTokens":9}',
            "object 1 (line 1) tells usage at the top, `usage`, and it is read at the top or at "
            "`usage`: hand over what counts there, with its message's id",
        ),
        (
            '\n\n{"inputTokens":5,"inputTokens":6}',
            'line 3 of the usage cannot be read: a key stands twice in one object ("inputTokens")',
        ),
        ('{"message":{"usage":{"inputTokens":5}}}', "(line 1) tells usage at `message.usage`, and"),
        (
            '{"usage":{"inputTokens":5},"models":[{"inputTokens":5}]}',
            "tells usage at `usage`, `models.0`, and it is read",
        ),
        ('{"a\\u001b b":{"inputTokens":5}}', "tells usage at `a<U+001B> b`, and it is read"),
    ],
)
def test_usage_that_is_none(trace: Path, text: str, why: str) -> None:
    (reason,) = refused(trace, text)
    assert why in reason
    assert reason.isprintable()


def test_every_reason_is_named(trace: Path) -> None:
    assert len(refused(trace, log({"inputTokens": -1, "outputTokens": "x"}, {"usage": {}}))) == 3
